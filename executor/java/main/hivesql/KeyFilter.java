package hivesql;

import java.io.Serializable;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;

/**
 * The whole numbers that a column of a scan must be among, as a MERGE's source has them.
 *
 * <p>Asked of ORC's own vectors, before all else that a filter asks of a row: Spark's Bloom filter over
 * these numbers, which it asks of what is left, takes many times as long for each row.
 */
final class KeyFilter implements Serializable {
    /** More are left to the Bloom filter, which is smaller. */
    static final int MOST = 100_000;
    /** Batches that are passed on as they are after one of which too many rows passed. */
    private static final int REST = 31;
    private static final int SPREAD = 32;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    /** Among the wanted columns. */
    final int column;
    private final long[] numbers;

    KeyFilter(int column, long[] numbers) {
        this.column = column;
        this.numbers = numbers;
    }

    /** Those of one task: a table in which places without a number are told by marks. */
    Table table() {
        return new Table(numbers);
    }

    static final class Table {
        private final long[] slots;
        private final boolean[] taken;
        private int resting;

        Table(long[] numbers) {
            int size = Integer.highestOneBit(Math.max(8, numbers.length)) << 2;
            slots = new long[size];
            taken = new boolean[size];
            for (long number : numbers) {
                int at = place(number);
                while (taken[at] && slots[at] != number) {
                    at = at + 1 & size - 1;
                }
                slots[at] = number;
                taken[at] = true;
            }
        }

        private int place(long number) {
            return (int) (number * MULTIPLIER >>> SPREAD) & slots.length - 1;
        }

        boolean has(long number) {
            int at = place(number);
            while (taken[at]) {
                if (slots[at] == number) return true;
                at = at + 1 & slots.length - 1;
            }
            return false;
        }

        /** Leave those rows of a batch that have one of the numbers; how many. */
        int pass(LongColumnVector vector, int[] chosen, int count) {
            if (resting > 0) {
                resting--;
                return count;
            }
            int passed = 0;
            if (vector.isRepeating) {
                passed = (vector.noNulls || !vector.isNull[0]) && has(vector.vector[0]) ? count : 0;
            } else {
                for (int i = 0; i < count; i++) {
                    int row = chosen[i];
                    if ((vector.noNulls || !vector.isNull[row]) && has(vector.vector[row])) {
                        chosen[passed++] = row;
                    }
                }
            }
            if (passed * StripeReader.SPARSE > count) {
                resting = REST;
            }
            return passed;
        }
    }
}
