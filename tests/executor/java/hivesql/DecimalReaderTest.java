package hivesql;

import static hivesql.OrcFiles.BUCKET;
import static hivesql.OrcFiles.SETTINGS;

import hivesql.OrcFiles.Event;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DecimalColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;

final class DecimalReaderTest {
    private static final int SCALE = 4;
    private static final int ROWS = 30_000;
    private static final String[] NAMES = {"d"};

    private DecimalReaderTest() {}

    /** Of all lengths, both signs, fewer digits than the scale, and every seventh NULL. */
    private static List<BigDecimal> values() {
        Random random = new Random(11L);
        List<BigDecimal> values = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            long unscaled = random.nextLong() % (long) Math.pow(10, 1 + random.nextInt(18));
            values.add(i % 7 == 0 ? null : BigDecimal.valueOf(unscaled, SCALE));
        }
        return values;
    }

    private static Path write(List<BigDecimal> values) throws IOException {
        Path path = OrcFiles.fresh();
        TypeDescription schema = OrcFiles.schema("d:decimal(18," + SCALE + ")");
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            events.add(new Event(0L, 1L, BUCKET, i, 1L));
        }
        OrcFile.WriterOptions options = OrcFile.writerOptions(SETTINGS).setSchema(schema)
                .rowIndexStride(OrcFiles.GROUP).stripeSize(1L << 16);
        int[] next = {0};
        try (Writer writer = OrcFile.createWriter(path, options)) {
            OrcFiles.write(writer, schema, events, batch -> {
                ColumnVector column = ((StructColumnVector) batch.cols[5]).fields[0];
                BigDecimal value = values.get(next[0]++);
                column.isNull[batch.size] = value == null;
                column.noNulls &= value != null;
                if (value != null) {
                    ((DecimalColumnVector) column).set(batch.size, HiveDecimal.create(value));
                }
            });
        }
        return path;
    }

    private static StripeReader open(Path path) throws IOException {
        Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(SETTINGS));
        FileSchema schema = FileSchema.of(reader.getSchema(), true, NAMES, new String[1]);
        StripeReader stripes = new StripeReader(schema);
        stripes.include(schema.column(0));
        schema.vectors(stripes.batch)[0] = new Decimal64ColumnVector(StripeReader.BATCH, 18, SCALE);
        AcidFile file = new AcidFile(
                path.toString(), OrcFiles.length(path), ROWS, 0, false, null, -1L, null,
                KnownFile.UNKNOWN);
        stripes.open(reader, new FileRange(file, 0L, file.length()), SETTINGS, null, null);
        return stripes;
    }

    private static void compare(StripeReader stripes, int row, BigDecimal expected, long number) {
        Decimal64ColumnVector found =
                (Decimal64ColumnVector) ((StructColumnVector) stripes.batch.cols[5]).fields[0];
        int at = found.isRepeating ? 0 : row;
        boolean missing = !found.noNulls && found.isNull[at];
        BigDecimal value = missing ? null : BigDecimal.valueOf(found.vector[at], SCALE);
        if (expected == null ? value != null : !expected.equals(value)) {
            throw new AssertionError("row " + number + " is " + value + ", not " + expected);
        }
    }

    static void everyValueIsWhatWasWritten() throws IOException {
        List<BigDecimal> values = values();
        StripeReader stripes = open(write(values));
        int row = 0;
        for (int size = stripes.read(); size > 0; size = stripes.read()) {
            for (int i = 0; i < size; i++, row++) {
                compare(stripes, i, values.get(row), row);
            }
        }
        stripes.close();
        RunTests.same(row, ROWS);
    }

    /** A few rows of each batch, with leaps over whole row groups between. */
    static void chosenValuesAreWhatWasWritten() throws IOException {
        List<BigDecimal> values = values();
        Path path = write(values);
        StripeReader all = open(path);
        StripeReader some = open(path);
        Random random = new Random(12L);
        int asked = 0;
        for (long start = all.position(); ; start = all.position()) {
            int size = all.read();
            if (size == 0) break;
            if (random.nextInt(3) == 0) continue;
            int[] kept = random.ints(size / 20, 0, size).sorted().distinct().toArray();
            some.read(start, size, kept, kept.length);
            for (int row : kept) {
                compare(some, row, values.get((int) start + row), start + row);
                asked++;
            }
        }
        all.close();
        some.close();
        if (asked < 500) throw new AssertionError("only " + asked + " rows were asked for");
    }
}
