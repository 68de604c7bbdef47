package hivesql;

import static hivesql.RunTests.same;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;

final class SignedZerosTest {
    private static final TypeDescription SCHEMA =
            TypeDescription.fromString("struct<d:double,f:float,l:array<double>>");

    private SignedZerosTest() {}

    private static Path write(double... values) throws IOException {
        Path path = OrcFiles.fresh();
        try (Writer writer = OrcFile.createWriter(
                path, OrcFile.writerOptions(OrcFiles.SETTINGS).setSchema(SCHEMA))) {
            VectorizedRowBatch batch = SCHEMA.createRowBatch();
            ListColumnVector list = (ListColumnVector) batch.cols[2];
            for (double value : values) {
                ((DoubleColumnVector) batch.cols[0]).vector[batch.size] = value;
                ((DoubleColumnVector) batch.cols[1]).vector[batch.size] = value;
                list.offsets[batch.size] = batch.size;
                list.lengths[batch.size] = 1;
                ((DoubleColumnVector) list.child).vector[list.childCount++] = value;
                batch.size++;
            }
            writer.addRowBatch(batch);
        }
        return path;
    }

    private static double value(DoubleColumnVector column, int row) {
        return column.vector[column.isRepeating ? 0 : row];
    }

    static void zerosKeepTheirSigns() throws IOException {
        List<double[]> cases = List.of(
                new double[] {-0.0, 0.0}, new double[] {0.0, -0.0, 0.0}, new double[] {-0.0, -0.0},
                new double[] {1.5, 1.5}, new double[] {0.0});
        for (double[] values : cases) {
            try (Reader reader = OrcFile.createReader(
                            write(values), OrcFile.readerOptions(OrcFiles.SETTINGS));
                    RecordReader rows = reader.rows()) {
                VectorizedRowBatch batch = SCHEMA.createRowBatch();
                same(rows.nextBatch(batch), true);
                SignedZeros.restore(batch);
                for (int i = 0; i < values.length; i++) {
                    same(value((DoubleColumnVector) batch.cols[0], i), values[i]);
                    same(value((DoubleColumnVector) batch.cols[1], i), values[i]);
                    ListColumnVector list = (ListColumnVector) batch.cols[2];
                    same(value((DoubleColumnVector) list.child, i), values[i]);
                }
            }
        }
    }
}
