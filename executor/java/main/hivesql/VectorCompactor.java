package hivesql;

import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DecimalColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MultiValuedColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.UnionColumnVector;
import org.apache.hadoop.hive.serde2.io.HiveDecimalWritable;

/** Leaves some rows in ORC's vectors. */
final class VectorCompactor {
    private VectorCompactor() {}

    /** Move the values that are kept to the beginning. */
    static void keep(ColumnVector column, int[] kept, int count) {
        if (column instanceof StructColumnVector struct) {
            for (ColumnVector field : struct.fields) {
                keep(field, kept, count);
            }
        }
        if (column instanceof UnionColumnVector union) {
            for (ColumnVector member : union.fields) {
                keep(member, kept, count);
            }
        }
        if (column.isRepeating) return;
        if (!column.noNulls) {
            for (int i = 0; i < count; i++) {
                column.isNull[i] = column.isNull[kept[i]];
            }
        }
        if (column instanceof LongColumnVector longs) {
            keep(longs.vector, kept, count);
        } else if (column instanceof DoubleColumnVector doubles) {
            double[] values = doubles.vector;
            for (int i = 0; i < count; i++) {
                values[i] = values[kept[i]];
            }
        } else if (column instanceof BytesColumnVector bytes) {
            for (int i = 0; i < count; i++) {
                int from = kept[i];
                bytes.vector[i] = bytes.vector[from];
                bytes.start[i] = bytes.start[from];
                bytes.length[i] = bytes.length[from];
            }
        } else if (column instanceof DecimalColumnVector decimals) {
            // The objects are used again: each stays in the vector once.
            HiveDecimalWritable[] values = decimals.vector;
            for (int i = 0; i < count; i++) {
                HiveDecimalWritable value = values[kept[i]];
                values[kept[i]] = values[i];
                values[i] = value;
            }
        } else if (column instanceof TimestampColumnVector times) {
            keep(times.time, kept, count);
            for (int i = 0; i < count; i++) {
                times.nanos[i] = times.nanos[kept[i]];
            }
        } else if (column instanceof UnionColumnVector union) {
            for (int i = 0; i < count; i++) {
                union.tags[i] = union.tags[kept[i]];
            }
        } else if (column instanceof MultiValuedColumnVector lists) {
            keep(lists.offsets, kept, count);
            keep(lists.lengths, kept, count);
        } else if (!(column instanceof StructColumnVector)) {
            throw new IllegalStateException("no way to leave out rows of " + column.getClass());
        }
    }

    private static void keep(long[] values, int[] kept, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = values[kept[i]];
        }
    }
}
