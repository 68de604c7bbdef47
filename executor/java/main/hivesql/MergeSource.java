package hivesql;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeMap$;
import org.apache.spark.sql.catalyst.expressions.BloomFilterMightContain;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.sketch.BloomFilter;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.math.BigInt;
import scala.math.BigInt$;

/**
 * A MERGE's source, computed once, and the rows of the target that its keys may find.
 *
 * <p>The statement joins the source twice. Computed anew, a source that is not the same each time
 * would be matched by rows other than those that are written.
 */
public final class MergeSource {
    /** The share of rows that pass although no key finds them. */
    private static final double PASSING = 0.003;

    private final SparkSession session;
    private final LogicalPlan target;
    private final RDD source;
    private final LogicalPlan rows;
    private final List keys;
    private final KeySummary summary;

    /** Rows that were computed, and what has been found in them. */
    private MergeSource(
            SparkSession session, LogicalPlan target, LogicalRDD made, List keys, KeySummary summary) {
        this.session = session;
        this.target = target;
        this.keys = keys;
        this.summary = summary;
        source = made.rdd();
        // Spark then knows whether to broadcast them.
        Statistics about = new Statistics(
                BigInt$.MODULE$.apply(Math.max(1L, summary.bytes)),
                Option.apply(BigInt$.MODULE$.apply(summary.rows)),
                AttributeMap$.MODULE$.empty(), false);
        rows = ScanPlans.withStatistics(made, source, session, about);
    }

    /** Compute the source now; null to leave what is read from files and more than some bytes. */
    static MergeSource of(
            SparkSession session, Dataset target, Dataset source, Expression on, long mostBytes,
            long mostKeys, int mostListed) {
        BigInt size = source.queryExecution().optimizedPlan().stats().sizeInBytes();
        boolean large = size.$greater(BigInt$.MODULE$.apply(mostBytes));
        if (large && isRead(source.queryExecution().analyzed())) return null;
        List keys = new ArrayList();
        if (on != null && mostKeys > 0L) {
            Join join = new Join(
                    target.logicalPlan(), source.logicalPlan(), LeftSemi$.MODULE$,
                    Option.apply(on), JoinHint$.MODULE$.NONE());
            LogicalPlan known = Dataset$.MODULE$.ofRows(session, join).queryExecution().analyzed();
            if (known instanceof Join && !((Join) known).condition().isEmpty()) {
                Expression condition = (Expression) ((Join) known).condition().get();
                addKeys(condition, ((Join) known).left(), ((Join) known).right(), keys);
            }
        }
        LogicalPlan made =
                LogicalPlans.checkpointed(source).logicalPlan();
        RDD rdd = ((LogicalRDD) made).rdd();
        MergeSource settled = null;
        try {
            KeySummary summary = (KeySummary) SQLExecution.withSQLConfPropagated(
                    session, new KeySummaryQuery(rdd, keys, mostKeys, mostListed));
            settled = new MergeSource(session, target.logicalPlan(), (LogicalRDD) made, keys, summary);
            return settled;
        } finally {
            if (settled == null) {
                rdd.unpersist(false);
            }
        }
    }

    /** Whether it is read from files as it is. */
    private static boolean isRead(LogicalPlan plan) {
        if (plan instanceof DataSourceV2Relation) {
            return ((DataSourceV2Relation) plan).table() instanceof AcidTable;
        }
        if (plan instanceof LogicalRelation) {
            return ((LogicalRelation) plan).relation() instanceof HadoopFsRelation;
        }
        boolean through = plan instanceof Project || plan instanceof Filter || plan instanceof Union
                || plan instanceof SubqueryAlias || plan instanceof View;
        if (!through) return false;
        Seq asked = plan.expressions();
        for (int i = 0; i < asked.size(); i++) {
            if (!ScanCondition.isPlain((Expression) asked.apply(i))) return false;
        }
        Seq children = plan.children();
        for (int i = 0; i < children.size(); i++) {
            if (!isRead((LogicalPlan) children.apply(i))) return false;
        }
        return true;
    }

    /** Where a condition asks that a column of the target equals something of the source. */
    private static void addKeys(
            Expression condition, LogicalPlan target, LogicalPlan source, List keys) {
        if (condition instanceof And) {
            addKeys(((And) condition).left(), target, source, keys);
            addKeys(((And) condition).right(), target, source, keys);
        } else if (condition instanceof EqualTo && condition.deterministic()) {
            Expression left = ((EqualTo) condition).left();
            Expression right = ((EqualTo) condition).right();
            boolean turned = isOf(source, left) && isOf(target, right);
            if (turned || isOf(target, left) && isOf(source, right)) {
                SourceKey key = SourceKey.of(
                        turned ? right : left, turned ? left : right, source.output());
                if (key != null) {
                    keys.add(key);
                }
            }
        }
    }

    private static boolean isOf(LogicalPlan plan, Expression one) {
        return !one.references().isEmpty() && one.references().subsetOf(plan.outputSet());
    }

    /** The source's rows. */
    public Dataset rows() {
        return Dataset$.MODULE$.ofRows(session, rows);
    }

    /** How many rows the source has. */
    public long count() {
        return summary.rows;
    }

    /** Whether few rows of the target are left beside those that the source's keys find. */
    public boolean isNarrow() {
        for (int i = 0; i < keys.size(); i++) {
            if (summary.hashes[i] != null) return true;
        }
        return false;
    }

    /** The target's rows that some row of the source may match, and others. */
    public Dataset target() throws IOException {
        LogicalPlan plan = target;
        for (int i = 0; i < keys.size(); i++) {
            if (summary.unknown[i]) continue;
            plan = new Filter(condition((SourceKey) keys.get(i), i), plan);
        }
        return Dataset$.MODULE$.ofRows(session, plan);
    }

    private Expression condition(SourceKey key, int place) throws IOException {
        Object least = summary.least[place];
        if (least == null) return new Literal(Boolean.FALSE, DataTypes.BooleanType);
        Expression all = new And(
                new GreaterThanOrEqual(key.target, new Literal(least, key.type)),
                new LessThanOrEqual(key.target, new Literal(summary.greatest[place], key.type)));
        HashList hashes = summary.hashes[place];
        if (hashes == null) return all;
        BloomFilter filter = BloomFilter.create(Math.max(1L, (long) hashes.count), PASSING);
        for (int i = 0; i < hashes.count; i++) {
            filter.putLong(key.hashOf(hashes.all[i]));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        filter.writeTo(bytes);
        long[] numbers = key.isNumber() && hashes.count <= KeyFilter.MOST
                ? Arrays.copyOf(hashes.all, hashes.count) : null;
        Object[] values = summary.listed[place] == null ? null : summary.listed[place].toArray();
        return new And(all, new BloomFilterMightContain(
                new BinaryConstant(bytes.toByteArray(), numbers, values), key.hashed()));
    }

    /** Forget the rows. */
    public void close() {
        source.unpersist(false);
    }
}
