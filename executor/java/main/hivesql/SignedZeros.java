package hivesql;

import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MapColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;

/**
 * Zeros with the sign that they were stored with.
 *
 * <p>ORC's reader of doubles (TreeReaderFactory) takes a batch of 0.0 and -0.0 for one value that comes
 * again and again, since the two are equal: all of them would have the sign of the first.
 */
final class SignedZeros {
    private SignedZeros() {}

    /** Tell apart what a batch that ORC has just filled calls one value. */
    static void restore(VectorizedRowBatch batch) {
        for (ColumnVector column : batch.cols) restore(column, batch.size);
    }

    private static void restore(ColumnVector column, int size) {
        if (column instanceof DoubleColumnVector doubles) {
            if (doubles.isRepeating && doubles.noNulls && doubles.vector[0] == 0.0) {
                doubles.isRepeating = !differ(doubles.vector, size);
            }
        } else if (column instanceof StructColumnVector struct) {
            for (ColumnVector field : struct.fields) restore(field, size);
        } else if (column instanceof ListColumnVector list) {
            restore(list.child, list.childCount);
        } else if (column instanceof MapColumnVector map) {
            restore(map.keys, map.childCount);
            restore(map.values, map.childCount);
        }
    }

    private static boolean differ(double[] zeros, int size) {
        long first = Double.doubleToRawLongBits(zeros[0]);
        boolean differ = false;
        for (int i = 1; i < size; i++) {
            // ORC has set all of them where it has found them equal.
            if (zeros[i] != 0.0) return false;
            differ |= Double.doubleToRawLongBits(zeros[i]) != first;
        }
        return differ;
    }
}
