package hivesql;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.UnresolvedHaving;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.plans.logical.WithWindowDefinition;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.unsafe.Platform;
import scala.Function1;
import scala.Product;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractPartialFunction;

/**
 * Rows in the place of the relations of their names, and groups of long conditions, in a query that is not analysed yet.
 *
 * <p>Temporary views would do it too, but to make and drop one is a statement of its own, which takes
 * Spark as long as the rest of a short query's analysis, and all threads share their names. Names
 * within the query, of a WITH, are expected to be others.
 */
public final class RelationSubstitution extends AbstractPartialFunction {
    private final SparkSession session;
    private final Map rows = new HashMap();

    public RelationSubstitution(SparkSession session) {
        this.session = session;
    }

    public void put(String name, Dataset frame) {
        rows.put(name, frame);
    }

    /** The query's rows. */
    public Dataset query(String sql) {
        return (Dataset) session.withActive(new SubstitutedQuery(session, sql, this));
    }

    public boolean isDefinedAt(Object node) {
        return node instanceof UnresolvedRelation && named((UnresolvedRelation) node) != null
                || node instanceof UnresolvedWith
                || node instanceof WithWindowDefinition
                || node instanceof Filter
                || node instanceof UnresolvedHaving
                || node instanceof PlanExpression;
    }

    private Dataset named(UnresolvedRelation relation) {
        Seq name = relation.multipartIdentifier();
        return name.size() == 1 ? (Dataset) rows.get(name.head()) : null;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        if (node instanceof UnresolvedWith) return within((UnresolvedWith) node);
        if (node instanceof WithWindowDefinition) return windowed((WithWindowDefinition) node);
        if (node instanceof Filter) {
            Filter filter = (Filter) node;
            return new Filter(LongConditions.grouped(filter.condition()), filter.child());
        }
        if (node instanceof UnresolvedHaving) {
            UnresolvedHaving having = (UnresolvedHaving) node;
            Expression condition = LongConditions.grouped(having.havingCondition());
            return new UnresolvedHaving(condition, having.child());
        }
        if (node instanceof PlanExpression) {
            PlanExpression subquery = (PlanExpression) node;
            return subquery.withNewPlan(substitute((LogicalPlan) subquery.plan()));
        }
        UnresolvedRelation relation = (UnresolvedRelation) node;
        return SubqueryAlias$.MODULE$.apply(
                (String) relation.multipartIdentifier().head(), named(relation).logicalPlan());
    }

    LogicalPlan substitute(LogicalPlan query) {
        return (LogicalPlan) query.transformUpWithSubqueries(this);
    }

    /**
     * The queries of a WITH are no children of it.
     *
     * <p>What else it and they have differs between lines of Spark; it is copied as it is.
     */
    private LogicalPlan within(UnresolvedWith with) {
        List<Object> changed = new ArrayList<>();
        for (Iterator all = with.cteRelations().iterator(); all.hasNext();) {
            Product named = (Product) all.next();
            Object query = substitute((LogicalPlan) named.productElement(1));
            changed.add(named.productArity() == 2
                    ? new Tuple2<>(named.productElement(0), query)
                    : new Tuple3<>(named.productElement(0), query, named.productElement(2)));
        }
        Object[] parts = new Object[with.productArity()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = i == 1 ? Seqs.of(changed) : with.productElement(i);
        }
        return (LogicalPlan) with.makeCopy(parts);
    }

    /** Nor are the windows of a WINDOW its expressions: they may have subqueries. */
    private LogicalPlan windowed(WithWindowDefinition with) {
        scala.collection.immutable.Map found = with.windowDefinitions();
        for (Iterator all = with.windowDefinitions().iterator(); all.hasNext();) {
            Tuple2 one = (Tuple2) all.next();
            WindowSpecDefinition window = (WindowSpecDefinition) one._2();
            Object given = window.transformDown(this);
            found = (scala.collection.immutable.Map) (Object) found.updated(one._1(), given);
        }
        return LogicalPlans.withWindows(with, found);
    }
}

/** Makes a frame of a query. */
final class SubstitutedQuery extends AbstractFunction0 {
    private final SparkSession session;
    private final String sql;
    private final RelationSubstitution rows;

    SubstitutedQuery(SparkSession session, String sql, RelationSubstitution rows) {
        this.session = session;
        this.sql = sql;
        this.rows = rows;
    }

    public Object apply() {
        LogicalPlan parsed = null;
        try {
            parsed = session.sessionState().sqlParser().parsePlan(sql);
        } catch (ParseException wrong) {
            // Scala's functions do not declare what they throw.
            Platform.throwException(wrong);
        }
        return Dataset$.MODULE$.ofRows(session, rows.substitute(parsed));
    }
}
