package hivesql;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/** Leaves plans as they are: before Spark 4.0 nothing is grouped by maps. */
final class MapSorts extends Rule {
    @Override
    public TreeNode apply(TreeNode plan) {
        return plan;
    }
}
