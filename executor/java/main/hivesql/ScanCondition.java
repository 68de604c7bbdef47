package hivesql;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.execution.datasources.DataSourceStrategy$;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * What Spark's filter over a scan asks of its rows.
 *
 * <p>Spark applies the filter itself too, so it does no harm to know only some of it.
 */
final class ScanCondition {
    /** By which stripes may be skipped. */
    final Filter[] filters;
    /** Those that tasks may evaluate, in Spark's order: what stands before guards what comes after. */
    private final List plain = new ArrayList();

    ScanCondition(Seq found) {
        List filters = new ArrayList();
        boolean guarded = true;
        for (int i = 0; i < found.size(); i++) {
            Expression one = (Expression) found.apply(i);
            Option filter = DataSourceStrategy$.MODULE$.translateFilter(one, true);
            if (filter.isDefined()) {
                filters.add(filter.get());
            }
            guarded = guarded && isPlain(one);
            if (guarded) {
                plain.add(one);
            }
        }
        this.filters = (Filter[]) filters.toArray(new Filter[0]);
    }

    /** Whether it gives the same wherever, and however often, it is evaluated; users' code is not asked. */
    static boolean isPlain(Expression one) {
        if (one instanceof AttributeReference) return true;
        if (!one.deterministic() || one.stateful() || one instanceof Unevaluable
                || one instanceof UserDefinedExpression || one instanceof PlanExpression) {
            return false;
        }
        Seq children = one.children();
        for (int i = 0; i < children.size(); i++) {
            if (!isPlain((Expression) children.apply(i))) return false;
        }
        return true;
    }

    /** All of these as one, over rows of some columns and then of its own numbers; null for none. */
    TaskCondition over(StructType columns) {
        for (int i = 0; i < filters.length; i++) {
            String[] names = filters[i].references();
            for (int j = 0; j < names.length; j++) {
                if (place(names[j], columns) < 0) return null;
            }
        }
        Expression all = null;
        for (int i = 0; i < plain.size(); i++) {
            ColumnBinder bound = new ColumnBinder(columns);
            Expression one = (Expression) ((Expression) plain.get(i)).transform(bound);
            if (bound.lacks) break;
            all = all == null ? one : new And(all, one);
        }
        return all == null ? null : new TaskCondition(all, columns.length());
    }

    /** Where a column is that a filter names, or a part of; -1 for a name that is written otherwise. */
    private static int place(String name, StructType columns) {
        for (int i = 0; i < columns.length(); i++) {
            String column = columns.apply(i).name();
            if (name.equals(column) || name.startsWith(column + ".")) return i;
        }
        return -1;
    }

    /** The columns that {@link #over} and the filters need, by their places. */
    boolean[] uses(StructType columns) {
        boolean[] uses = new boolean[columns.length()];
        for (int i = 0; i < filters.length; i++) {
            String[] names = filters[i].references();
            for (int j = 0; j < names.length; j++) {
                int place = place(names[j], columns);
                if (place >= 0) {
                    uses[place] = true;
                }
            }
        }
        for (int i = 0; i < plain.size(); i++) {
            ColumnBinder bound = new ColumnBinder(columns);
            ((Expression) plain.get(i)).transform(bound);
            for (int j = 0; j < uses.length; j++) {
                uses[j] |= bound.used.contains(Integer.valueOf(j));
            }
        }
        return uses;
    }

    /** Scans that leave out other rows must not be taken for one another. */
    public boolean equals(Object other) {
        if (!(other instanceof ScanCondition)) return false;
        ScanCondition one = (ScanCondition) other;
        return Arrays.equals(filters, one.filters) && canonical().equals(one.canonical());
    }

    public int hashCode() {
        return Arrays.hashCode(filters);
    }

    /** Without the ids of columns, which each mention of a table numbers anew. */
    private List canonical() {
        List all = new ArrayList();
        for (int i = 0; i < plain.size(); i++) {
            ColumnCanonicalizer named = new ColumnCanonicalizer();
            all.add(((Expression) plain.get(i)).transform(named));
            all.add(named.names);
        }
        return all;
    }
}

/** What tasks ask of rows. */
final class TaskCondition implements Serializable {
    final Expression condition;
    /** What it finds in the columns after those of the rows. */
    final long[] numbers;

    TaskCondition(Expression condition, int width) {
        List found = new ArrayList();
        this.condition = ExpressionParameterizer.in(condition, width, found);
        this.numbers = new long[found.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = ((Long) found.get(i)).longValue();
        }
    }
}

/** Columns as places in a row. */
final class ColumnBinder extends AbstractPartialFunction {
    final Set used = new HashSet();
    boolean lacks;
    private final StructType columns;

    ColumnBinder(StructType columns) {
        this.columns = columns;
    }

    public boolean isDefinedAt(Object node) {
        return node instanceof AttributeReference;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        AttributeReference column = (AttributeReference) node;
        Option place = columns.getFieldIndex(column.name());
        if (place.isEmpty()) {
            lacks = true;
            return node;
        }
        int at = ((Integer) place.get()).intValue();
        lacks |= !columns.apply(at).dataType().equals(column.dataType());
        used.add(Integer.valueOf(at));
        return new BoundReference(at, column.dataType(), true);
    }
}

/** Columns as places in the order in which they are mentioned. */
final class ColumnCanonicalizer extends AbstractPartialFunction {
    final List names = new ArrayList();

    public boolean isDefinedAt(Object node) {
        return node instanceof AttributeReference;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        AttributeReference column = (AttributeReference) node;
        names.add(column.name());
        return new BoundReference(names.size() - 1, column.dataType(), true);
    }
}
