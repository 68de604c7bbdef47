package hivesql;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BloomFilterMightContain;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
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
    /** Lists of keys, by which they may be skipped too: not shown, since they are long. */
    final List<Filter> lists = new ArrayList<>();
    /** Those that tasks may evaluate, in Spark's order: what stands before guards what comes after. */
    private final List<Expression> plain = new ArrayList<>();

    ScanCondition(Seq<Expression> found) {
        List<Filter> filters = new ArrayList<>();
        boolean guarded = true;
        for (Expression one : Seqs.toJava(found)) {
            Option<Filter> filter = DataSourceStrategy$.MODULE$.translateFilter(one, true);
            if (filter.isDefined()) {
                filters.add(filter.get());
            }
            BinaryConstant keys = keys(one);
            if (keys != null && keys.values != null) {
                addList(keyed(one), keys.values);
            }
            guarded = guarded && isPlain(one);
            if (guarded) {
                plain.add(one);
            }
        }
        this.filters = filters.toArray(Filter[]::new);
    }

    /** The keys that a column must be among, where that is what a term asks; else null. */
    private static BinaryConstant keys(Expression term) {
        return term instanceof BloomFilterMightContain bloom
                && bloom.bloomFilterExpression() instanceof BinaryConstant keys
                && keyed(term) != null ? keys : null;
    }

    /** The column that a term about keys asks of; null for what is made of one. */
    private static AttributeReference keyed(Expression term) {
        Expression hashed = ((BloomFilterMightContain) term).valueExpression();
        return hashed instanceof XxHash64 hash && hash.children().size() == 1
                && hash.children().apply(0) instanceof AttributeReference column ? column : null;
    }

    private void addList(AttributeReference column, Object[] values) {
        List<Expression> all = new ArrayList<>();
        for (Object value : values) {
            all.add(new Literal(value, column.dataType()));
        }
        Option<Filter> list = DataSourceStrategy$.MODULE$.translateFilter(
                new In(column, Seqs.of(all)), true);
        if (list.isDefined()) {
            lists.add(list.get());
        }
    }

    /** Whether it gives the same wherever, and however often, it is evaluated; users' code is not asked. */
    static boolean isPlain(Expression one) {
        if (one instanceof AttributeReference) return true;
        if (!one.deterministic() || one.stateful() || one instanceof Unevaluable
                || one instanceof UserDefinedExpression || one instanceof PlanExpression) {
            return false;
        }
        return Seqs.toJava(one.children()).stream().allMatch(ScanCondition::isPlain);
    }

    /** All of these as one, over rows of some columns and then of its own numbers; null for none. */
    TaskCondition over(StructType columns) {
        for (Filter filter : filters) {
            for (String name : filter.references()) {
                if (place(name, columns) < 0) return null;
            }
        }
        Expression all = null;
        List<KeyFilter> filtered = new ArrayList<>();
        for (Expression term : plain) {
            ColumnBinder bound = new ColumnBinder(columns);
            Expression one = term.transform(bound);
            if (bound.lacks) break;
            BinaryConstant keys = keys(term);
            if (keys != null && keys.numbers != null) {
                filtered.add(new KeyFilter(bound.used.iterator().next(), keys.numbers));
            }
            all = all == null ? one : new And(all, one);
        }
        return all == null ? null : new TaskCondition(all, columns.length(), filtered);
    }

    /** Whether rows may fulfil it all of which have these values in some of their columns. */
    boolean mayPass(StructType columns, InternalRow values) {
        for (Expression term : plain) {
            ColumnBinder bound = new ColumnBinder(columns);
            Expression one = term.transform(bound);
            if (bound.lacks) continue;
            try {
                if (!Boolean.TRUE.equals(one.eval(values))) return false;
            } catch (RuntimeException raised) {
                // Spark raises it itself, where rows come to it that others do not leave out before.
                continue;
            }
        }
        return true;
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
        for (Filter filter : filters) {
            for (String name : filter.references()) {
                int place = place(name, columns);
                if (place >= 0) {
                    uses[place] = true;
                }
            }
        }
        for (Expression term : plain) {
            ColumnBinder bound = new ColumnBinder(columns);
            term.transform(bound);
            for (int place : bound.used) {
                uses[place] = true;
            }
        }
        return uses;
    }

    /** Scans that leave out other rows must not be taken for one another. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ScanCondition one
                && Arrays.equals(filters, one.filters) && canonical().equals(one.canonical());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(filters);
    }

    /** Without the ids of columns, which each mention of a table numbers anew. */
    private List<Object> canonical() {
        List<Object> all = new ArrayList<>();
        for (Expression term : plain) {
            ColumnCanonicalizer named = new ColumnCanonicalizer();
            all.add(term.transform(named));
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
    /** What is asked before it: it says the same, and more. */
    final KeyFilter[] keys;

    TaskCondition(Expression condition, int width, List<KeyFilter> keys) {
        List<Long> found = new ArrayList<>();
        this.condition = ExpressionParameterizer.in(DecimalComparisons.in(condition), width, found);
        this.numbers = found.stream().mapToLong(Long::longValue).toArray();
        this.keys = keys.toArray(KeyFilter[]::new);
    }
}

/** Columns as places in a row. */
final class ColumnBinder extends AbstractPartialFunction<Expression, Expression> {
    final Set<Integer> used = new HashSet<>();
    boolean lacks;
    private final StructType columns;

    ColumnBinder(StructType columns) {
        this.columns = columns;
    }

    @Override
    public boolean isDefinedAt(Expression node) {
        return node instanceof AttributeReference;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <N extends Expression, R> R applyOrElse(N node, Function1<N, R> otherwise) {
        return node instanceof AttributeReference column ? (R) bound(column) : otherwise.apply(node);
    }

    private Expression bound(AttributeReference column) {
        Option<Object> place = columns.getFieldIndex(column.name());
        if (place.isEmpty()) {
            lacks = true;
            return column;
        }
        int at = (Integer) place.get();
        lacks |= !columns.apply(at).dataType().equals(column.dataType());
        used.add(at);
        return new BoundReference(at, column.dataType(), true);
    }
}

/** Columns as places in the order in which they are mentioned. */
final class ColumnCanonicalizer extends AbstractPartialFunction<Expression, Expression> {
    final List<String> names = new ArrayList<>();

    @Override
    public boolean isDefinedAt(Expression node) {
        return node instanceof AttributeReference;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <N extends Expression, R> R applyOrElse(N node, Function1<N, R> otherwise) {
        if (!(node instanceof AttributeReference column)) return otherwise.apply(node);
        names.add(column.name());
        return (R) new BoundReference(names.size() - 1, column.dataType(), true);
    }
}
