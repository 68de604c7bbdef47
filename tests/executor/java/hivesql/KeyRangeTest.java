package hivesql;

import static hivesql.OrcFiles.BUCKET;
import static hivesql.RunTests.same;

import java.util.List;

final class KeyRangeTest {
    private static final KeyRange SOME = new KeyRange(2, 4, BUCKET, BUCKET, 10, 20);

    private KeyRangeTest() {}

    static void endsBelong() {
        same(SOME.has(2, BUCKET, 10), true);
        same(SOME.has(4, BUCKET, 20), true);
        same(SOME.has(1, BUCKET, 15), false);
        same(SOME.has(5, BUCKET, 15), false);
        same(SOME.has(3, BUCKET + 1, 15), false);
        same(SOME.has(3, BUCKET, 9), false);
        same(SOME.has(3, BUCKET, 21), false);
    }

    static void rangesOverlapWhereAllPartsDo() {
        same(SOME.overlaps(new KeyRange(4, 9, BUCKET, BUCKET, 20, 99)), true);
        same(SOME.overlaps(new KeyRange(5, 9, BUCKET, BUCKET, 20, 99)), false);
        same(SOME.overlaps(new KeyRange(4, 9, BUCKET + 1, BUCKET + 2, 20, 99)), false);
        same(SOME.overlaps(new KeyRange(4, 9, BUCKET, BUCKET, 21, 99)), false);
        same(KeyRange.ALL.overlapsAny(List.of(SOME)), true);
        same(SOME.overlapsAny(List.of()), false);
        same(KeyRange.of(null), KeyRange.ALL);
    }

    static void bucketsOfBothVersionsAreOne() {
        same(KeyRange.versioned(3), BUCKET | 3L << 16);
        same(KeyRange.versioned(BUCKET | 3L << 16), BUCKET | 3L << 16);
        same(new KeyRange(1, 1, 3, 3, 0, 9).has(1, BUCKET | 3L << 16, 5), true);
        same(KeyRange.anyHas(List.of(new KeyRange(1, 1, BUCKET, BUCKET, 0, 9)), 1, 0, 5), true);
        // Between a plain number and a property there is no order.
        same(new KeyRange(1, 1, 7, BUCKET, 0, 9).has(1, BUCKET | 9L << 16, 5), true);
        same(KeyRange.versioned(-1), -1L);
    }
}
