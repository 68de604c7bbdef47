package hivesql;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import scala.Tuple2;

/** The queries of a WITH, which differ between lines of Spark: here 3.5. */
final class CommonTables {
    private CommonTables() {}

    /** Change the queries of a WITH. */
    static LogicalPlan withCommonTables(
            UnresolvedWith with, Function<LogicalPlan, SubqueryAlias> change) {
        List<Object> changed = new ArrayList<>();
        for (int i = 0; i < with.cteRelations().size(); i++) {
            Tuple2<String, SubqueryAlias> one = with.cteRelations().apply(i);
            changed.add(new Tuple2<>(one._1(), change.apply(one._2())));
        }
        return with.copy(with.child(), Seqs.of(changed));
    }
}
