package hivesql;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;

final class KeyFilterTest {
    private static final int ROWS = 1024;

    private KeyFilterTest() {}

    /** Few rows have one of the keys, which lie close to one another, far apart, or are given twice. */
    static void rowsWithKeysAreLeft() {
        Random random = new Random(5L);
        for (int size : new int[] {0, 1, 2, 9, 400, 5000}) {
            for (long spread : new long[] {1L, 1L << 32, 7919L << 40}) {
                long[] numbers = random.longs(size, -3L * size, 3L * size + 1L).map(one -> one * spread).toArray();
                KeyFilter.Table table = new KeyFilter(0, numbers).table();
                Set<Long> keys = new HashSet<>();
                for (long number : numbers) {
                    keys.add(number);
                }
                LongColumnVector vector = new LongColumnVector(ROWS);
                vector.noNulls = false;
                int[] chosen = new int[ROWS];
                Set<Integer> expected = new HashSet<>();
                for (int i = 0; i < ROWS; i++) {
                    boolean hits = size > 0 && i % 20 == 3;
                    vector.vector[i] = hits ? numbers[i % size] : random.nextLong();
                    vector.isNull[i] = i % 7 == 0;
                    chosen[i] = i;
                    if (!vector.isNull[i] && keys.contains(vector.vector[i])) {
                        expected.add(i);
                    }
                }
                int count = table.pass(vector, chosen, ROWS);
                Set<Integer> found = new HashSet<>();
                for (int i = 0; i < count; i++) {
                    found.add(chosen[i]);
                }
                check(found.equals(expected), size + " keys: " + found + " instead of " + expected);
            }
        }
    }

    /** One value stands for all rows, perhaps NULL. */
    static void repeatedValues() {
        for (boolean isNull : new boolean[] {false, true}) {
            for (long value : new long[] {4L, 5L}) {
                LongColumnVector vector = new LongColumnVector(ROWS);
                vector.isRepeating = true;
                vector.noNulls = !isNull;
                vector.isNull[0] = isNull;
                vector.vector[0] = value;
                int count = new KeyFilter(0, new long[] {4L}).table().pass(vector, new int[ROWS], ROWS);
                check(count == (isNull || value == 5L ? 0 : ROWS), value + " passed " + count + " times");
            }
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }
}
