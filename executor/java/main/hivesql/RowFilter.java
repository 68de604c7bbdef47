package hivesql;

import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Predicate$;

/** A scan's condition, by Spark's own code; Spark applies it again to the rows that pass. */
final class RowFilter {
    /** Batches that are left to Spark after one of which too many rows passed. */
    private static final int REST = 31;

    private final BasePredicate predicate;
    private VectorRow row;
    private int resting;

    RowFilter(Expression condition) {
        BasePredicate made = null;
        try {
            made = Predicate$.MODULE$.create(condition);
            made.initialize(0);
        } catch (RuntimeException unknown) {
            // Spark will say what is wrong with it.
            resting = Integer.MAX_VALUE;
        }
        predicate = made;
    }

    /** Look at other vectors from now on. */
    void over(VectorRow row) {
        this.row = row;
    }

    /** Leave those rows that may pass; how many. */
    int pass(int[] kept, int count) {
        if (resting > 0) {
            resting--;
            return count;
        }
        row.begin();
        int passed = 0, i = 0;
        try {
            for (; i < count; i++) {
                row.at(kept[i]);
                if (predicate.eval(row)) {
                    kept[passed++] = kept[i];
                }
            }
        } catch (RuntimeException raised) {
            // Spark raises it itself, where it comes to this row.
            while (i < count) {
                kept[passed++] = kept[i++];
            }
            resting = Integer.MAX_VALUE;
            return passed;
        }
        if (passed * StripeReader.SPARSE > count) {
            resting = REST;
        }
        return passed;
    }
}
