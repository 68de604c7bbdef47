package hivesql;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.classic.Dataset;
import scala.Function1;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * Rows in the place of the relations of their names, in a query that is not analysed yet.
 *
 * <p>Temporary views would do it too, but to make and drop one is a statement of its own, which takes
 * Spark as long as the rest of a short query's analysis, and all threads share their names. Names
 * within the query, of a WITH, are expected to be others.
 */
final class GivenRows extends AbstractPartialFunction {
    private final Map rows;

    /** Frames by name. */
    GivenRows(Map rows) {
        this.rows = rows;
    }

    public boolean isDefinedAt(Object node) {
        return node instanceof UnresolvedWith
                || node instanceof UnresolvedRelation && named((UnresolvedRelation) node) != null;
    }

    private Dataset named(UnresolvedRelation relation) {
        Seq name = relation.multipartIdentifier();
        return name.size() == 1 ? (Dataset) rows.get(name.head()) : null;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        if (node instanceof UnresolvedWith) return within((UnresolvedWith) node);
        UnresolvedRelation relation = (UnresolvedRelation) node;
        return SubqueryAlias$.MODULE$.apply(
                (String) relation.multipartIdentifier().head(), named(relation).logicalPlan());
    }

    /** The queries of a WITH are no children of it. */
    private LogicalPlan within(UnresolvedWith with) {
        List found = new ArrayList();
        for (int i = 0; i < with.cteRelations().size(); i++) {
            Tuple3 one = (Tuple3) with.cteRelations().apply(i);
            LogicalPlan query = (LogicalPlan) one._2();
            found.add(new Tuple3(
                    one._1(), (SubqueryAlias) query.transformUpWithSubqueries(this), one._3()));
        }
        Seq all = CollectionConverters.asScala(found).toSeq();
        return with.copy(with.child(), all, with.allowRecursion());
    }
}
