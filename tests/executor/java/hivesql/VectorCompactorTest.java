package hivesql;

import static hivesql.RunTests.same;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DecimalColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.orc.TypeDescription;

final class VectorCompactorTest {
    private static final int SIZE = 10;
    private static final int[] KEPT = {0, 3, 4, 9};

    private VectorCompactorTest() {}

    /** Ten rows of every kind of column; the fourth is NULL. */
    private static ColumnVector[] columns() {
        ColumnVector[] columns = TypeDescription.fromString(
                "struct<a:bigint,b:double,c:string,d:decimal(20,2),e:timestamp,f:array<int>,"
                + "g:struct<x:int>>").createRowBatch(SIZE).cols;
        ListColumnVector list = (ListColumnVector) columns[5];
        list.child.ensureSize(2 * SIZE, false);
        for (int i = 0; i < SIZE; i++) {
            ((LongColumnVector) columns[0]).vector[i] = i;
            ((DoubleColumnVector) columns[1]).vector[i] = i / 2.0;
            ((BytesColumnVector) columns[2]).setVal(i, ("s" + i).getBytes(StandardCharsets.UTF_8));
            ((DecimalColumnVector) columns[3]).set(i, HiveDecimal.create(i));
            ((TimestampColumnVector) columns[4]).time[i] = i * 1000L;
            ((TimestampColumnVector) columns[4]).nanos[i] = i;
            list.offsets[i] = 2L * i;
            list.lengths[i] = 2L;
            ((LongColumnVector) list.child).vector[2 * i] = i;
            ((LongColumnVector) ((StructColumnVector) columns[6]).fields[0]).vector[i] = i;
        }
        for (ColumnVector column : columns) {
            column.noNulls = false;
            column.isNull[3] = true;
        }
        return columns;
    }

    private static Object at(ColumnVector column, int row) {
        int at = column.isRepeating ? 0 : row;
        if (!column.noNulls && column.isNull[at]) return "NULL";
        if (column instanceof LongColumnVector longs) return longs.vector[at];
        if (column instanceof DoubleColumnVector doubles) return doubles.vector[at];
        if (column instanceof BytesColumnVector bytes) return bytes.toString(at);
        if (column instanceof DecimalColumnVector decimals) return decimals.vector[at].toString();
        if (column instanceof TimestampColumnVector times) return times.time[at] + "." + times.nanos[at];
        if (column instanceof ListColumnVector lists) {
            return lists.lengths[at] + ":" + at(lists.child, (int) lists.offsets[at]);
        }
        return at(((StructColumnVector) column).fields[0], at);
    }

    static void keptRowsMoveToTheBeginning() {
        for (int kind = 0; kind < columns().length; kind++) {
            ColumnVector column = columns()[kind];
            List<Object> expected = new ArrayList<>();
            for (int row : KEPT) {
                expected.add(at(column, row));
            }
            VectorCompactor.keep(column, KEPT, KEPT.length);
            List<Object> found = new ArrayList<>();
            for (int i = 0; i < KEPT.length; i++) {
                found.add(at(column, i));
            }
            same(found, expected);
        }
    }

    static void oneValueOfAllRowsStays() {
        LongColumnVector column = new LongColumnVector(SIZE);
        column.fill(7L);
        VectorCompactor.keep(column, KEPT, KEPT.length);
        same(column.isRepeating, true);
        same(at(column, 2), 7L);
    }

    /** The objects of decimals are used again by the next batch: none may be in two places. */
    static void decimalsStayDistinct() {
        DecimalColumnVector column = (DecimalColumnVector) columns()[3];
        VectorCompactor.keep(column, KEPT, KEPT.length);
        same(new java.util.HashSet<>(List.of(
                java.util.Arrays.stream(column.vector).map(System::identityHashCode).toArray())).size(), SIZE);
    }
}
