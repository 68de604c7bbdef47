package hivesql;

import java.util.List;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.TypeDescription;

/**
 * What ORC is asked for: the columns of a file as they are, or as their table has them now.
 *
 * <p>Files of events keep a table's columns in a struct behind five of their own, originals at their
 * root. ORC converts what has another type, by position, as it does for Hive.
 */
final class FileSchema {
    /** The columns of an event. */
    static final int OPERATION = 0;
    static final int WRITE = 1;
    static final int BUCKET = 2;
    static final int ROW = 3;
    static final int WRITER = 4;
    private static final int COLUMNS = 5;

    final TypeDescription root;
    /** Whether it is another than the file's. */
    final boolean isChanged;
    private final boolean holdsEvents;

    private FileSchema(TypeDescription root, boolean isChanged, boolean holdsEvents) {
        this.root = root;
        this.isChanged = isChanged;
        this.holdsEvents = holdsEvents;
    }

    /** Of a file; names and types are a table's, the types null for those that the file has too. */
    static FileSchema of(
            TypeDescription file, boolean holdsEvents, String[] names, String[] types) {
        TypeDescription stored = holdsEvents ? file.getChildren().get(COLUMNS) : file;
        TypeDescription wanted = TypeDescription.createStruct();
        boolean same = true;
        for (int i = 0; i < types.length; i++) {
            same &= types[i] == null && names[i].equals(stored.getFieldNames().get(i));
            wanted.addField(names[i], types[i] == null
                    ? stored.getChildren().get(i).clone() : TypeDescription.fromString(types[i]));
        }
        if (same) return new FileSchema(file, false, holdsEvents);
        if (!holdsEvents) return new FileSchema(wanted, true, false);
        TypeDescription root = TypeDescription.createStruct();
        for (int i = 0; i < COLUMNS; i++) {
            root.addField(file.getFieldNames().get(i), file.getChildren().get(i).clone());
        }
        root.addField(file.getFieldNames().get(COLUMNS), wanted);
        return new FileSchema(root, true, true);
    }

    /** A column of the table. */
    TypeDescription column(int at) {
        return columns().get(at);
    }

    private List<TypeDescription> columns() {
        return (holdsEvents ? root.getChildren().get(COLUMNS) : root).getChildren();
    }

    /** A column of the events. */
    TypeDescription event(int column) {
        return root.getChildren().get(column);
    }

    /** The vectors of the table's columns. */
    ColumnVector[] vectors(VectorizedRowBatch batch) {
        return holdsEvents ? ((StructColumnVector) batch.cols[COLUMNS]).fields : batch.cols;
    }

    /** Where the table's columns are among the root's; -1 where they are the root's own. */
    int place() {
        return holdsEvents ? COLUMNS : -1;
    }
}
