package hivesql;

import static hivesql.RunTests.same;

import org.apache.orc.TypeDescription;

final class FileSchemaTest {
    private static final TypeDescription EVENTS = OrcFiles.schema("a:int,b:string");
    private static final TypeDescription ORIGINAL = TypeDescription.fromString("struct<a:int,b:string>");

    private FileSchemaTest() {}

    private static FileSchema of(boolean holdsEvents, String[] names, String... types) {
        return FileSchema.of(holdsEvents ? EVENTS : ORIGINAL, holdsEvents, names, types);
    }

    static void aFileThatIsAsItsTableIsReadAsItIs() {
        for (boolean holdsEvents : new boolean[] {true, false}) {
            FileSchema schema = of(holdsEvents, new String[] {"a", "b", "added"}, null, null);
            same(schema.isChanged, false);
            same(schema.root == (holdsEvents ? EVENTS : ORIGINAL), true);
            same(schema.column(1).toString(), "string");
        }
    }

    static void columnsAreWhatTheTableHasAtTheirPlace() {
        FileSchema schema = of(true, new String[] {"x", "b"}, null, "varchar(3)");
        same(schema.isChanged, true);
        same(schema.root.toString(), OrcFiles.schema("x:int,b:varchar(3)").toString());
        same(schema.event(FileSchema.BUCKET).getId(), EVENTS.getChildren().get(2).getId());
        same(of(false, new String[] {"a", "b"}, "bigint", null).root.toString(), "struct<a:bigint,b:string>");
    }

    static void columnsThatWereDroppedAreNotAskedFor() {
        FileSchema schema = of(true, new String[] {"a"}, "bigint");
        same(schema.root.toString(), OrcFiles.schema("a:bigint").toString());
    }

    static void vectorsAreThoseOfTheColumns() {
        FileSchema events = of(true, new String[] {"a", "b"}, null, null);
        FileSchema original = of(false, new String[] {"a", "b"}, null, null);
        same(events.vectors(events.root.createRowBatch()).length, 2);
        same(original.vectors(original.root.createRowBatch()).length, 2);
        same(events.place() >= 0, true);
        same(original.place(), -1);
    }
}
