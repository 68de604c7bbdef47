package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAlias;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.Iterable;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.math.BigInt;
import scala.runtime.AbstractFunction0;

/**
 * What Python asks of these classes, each in one call.
 *
 * <p>Calls from Python take a tenth of a millisecond, and a statement makes hundreds where each object
 * and each expression is one; Spark takes some milliseconds to analyse a plan again after each step.
 */
public final class Gateway {
    private final SparkSession session;
    private ObservedRows observed;

    /** From now on the session's groups of maps are right, and statements about our scans share code. */
    public Gateway(SparkSession session) {
        this.session = session;
        ExperimentalMethods methods = session.experimental();
        for (Rule rule : List.of(new MapSorts(), new LiteralParameterizer())) {
            methods.extraOptimizations_$eq(Seqs.appended(methods.extraOptimizations(), rule));
        }
    }

    /** The rows of ACID files, as AcidTable takes its plan, after some steps. */
    public Dataset scan(String plan, String columns, String steps) throws IOException {
        StructType schema = StructType.fromDDL(columns);
        AcidTable table = new AcidTable(session, plan, schema);
        LogicalPlan rows = DataSourceV2Relation.create(table, Option.empty(), Option.empty());
        return (Dataset) session.withActive(new PlannedQuery(session, rows, steps));
    }

    /** Rows after some steps. */
    public Dataset after(Dataset rows, String steps) throws IOException {
        return (Dataset) session.withActive(new PlannedQuery(session, rows.logicalPlan(), steps));
    }

    /** Rows in layers of columns that are mostly alike: see ShapedColumns. */
    public Dataset shaped(Dataset rows, List<Column> shapes, String layers) throws IOException {
        return (Dataset) session.withActive(
                new ShapedColumns(session, rows.logicalPlan(), shapes, layers));
    }

    /** The same rows whose columns are named c0, c1 and so on. */
    public Dataset numbered(Dataset rows) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < rows.schema().length(); i++) names.add("c" + i);
        return rows.toDF(Seqs.of(names));
    }

    /** A MERGE's source, computed now: see MergeSource; null where it is better read again. */
    public MergeSource settle(
            Dataset target, Dataset source, String on, long mostBytes, long mostKeys,
            int mostListed) {
        return (MergeSource) session.withActive(new MergeSourceQuery(
                session, target, source, on, mostBytes, mostKeys, mostListed));
    }

    /** Write rows as AcidWriter's plan says, with settings of ORC's; its answer. */
    public TaskAnswers write(Dataset rows, String plan, String settings) throws IOException {
        return new EventJob(rows.queryExecution(), writer(rows, plan, settings)).run();
    }

    /** The bytes that rows are made of, as far as their sources tell; many where one does not. */
    public long bytesRead(Dataset rows) {
        BigInt bytes = BigInt.apply(0);
        scala.collection.Iterator leaves = leavesOf(rows).iterator();
        while (leaves.hasNext()) {
            LogicalPlan leaf = (LogicalPlan) leaves.next();
            OptionalLong known = leaf instanceof LogicalRelation plain
                    ? FooterRows.bytes(plain, session) : bytesInText(leaf);
            bytes = bytes.$plus(known.isPresent()
                    ? BigInt.apply(known.getAsLong()) : leaf.stats().sizeInBytes());
        }
        return bytes.isValidLong() ? bytes.toLong() : Long.MAX_VALUE;
    }

    /** How many rows conditions choose from; many where all rows of a table are wanted, or none knows. */
    public long rowsFiltered(Dataset rows) {
        BigInt count = rowsFiltered(rows.queryExecution().analyzed(), false);
        return count.isValidLong() ? count.toLong() : Long.MAX_VALUE;
    }

    private BigInt rowsFiltered(LogicalPlan plan, boolean filtered) {
        Seq children = plan.children();
        if (children.isEmpty()) return filtered ? rowsOf(plan) : BigInt.apply(Long.MAX_VALUE);
        BigInt count = BigInt.apply(0);
        for (int i = 0; i < children.size(); i++) {
            LogicalPlan child = (LogicalPlan) children.apply(i);
            count = count.$plus(rowsFiltered(child, filtered || plan instanceof Filter));
        }
        return count;
    }

    private BigInt rowsOf(LogicalPlan leaf) {
        if (leaf instanceof LogicalRelation plain) {
            OptionalLong bytes = FooterRows.bytes(plain, session);
            return rowsIn(bytes, plain);
        }
        OptionalLong inText = bytesInText(leaf);
        if (inText.isPresent()) return rowsIn(inText, leaf);
        Option known = leaf.stats().rowCount();
        return known.isEmpty() ? BigInt.apply(Long.MAX_VALUE) : (BigInt) known.get();
    }

    private static BigInt rowsIn(OptionalLong bytes, LogicalPlan leaf) {
        return BigInt.apply(bytes.isEmpty() ? Long.MAX_VALUE
                : bytes.getAsLong() / (AcidScan.ROW_HEADER + leaf.schema().defaultSize()));
    }

    /**
     * The bytes of rows in a query's text that hold current_timestamp and its like, which Spark has not
     * calculated yet, and has no statistics of; empty for all else. Spark 3.5 has no such class.
     */
    private static OptionalLong bytesInText(LogicalPlan leaf) {
        if (!leaf.getClass().getSimpleName().equals("ResolvedInlineTable")) return OptionalLong.empty();
        long rows = ((Seq) leaf.productElement(0)).size();
        return OptionalLong.of(rows * (AcidScan.ROW_HEADER + leaf.schema().defaultSize()));
    }

    private static Iterable leavesOf(Dataset rows) {
        return rows.queryExecution().analyzed().collectLeaves();
    }

    /** Listen to what jobs measure from now on; a listener looks at every query of the session. */
    public synchronized void observe() {
        if (observed == null) observed = ObservedRows.of(session);
    }

    /** What was measured of rows that were observed: see ObservedRows. */
    public String observed(String name) {
        return observed.take(session, name);
    }

    /** What the scans and jobs of a statement took: see Measured. */
    public String measured(String statement) throws Exception {
        return Measured.of(session, statement);
    }

    /** Write no rows at all. */
    public TaskAnswers writeNothing(Dataset rows, String plan, String settings) throws IOException {
        JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
        return new EventJob(rows.queryExecution(), writer(rows, plan, settings))
                .write(context.parallelize(new ArrayList(), 1).rdd());
    }

    private AcidWriter writer(Dataset rows, String plan, String settings) throws IOException {
        Configuration all = new Configuration(session.sparkContext().hadoopConfiguration());
        JsonNode found = new ObjectMapper().readTree(settings);
        for (Iterator names = found.fieldNames(); names.hasNext();) {
            String name = (String) names.next();
            all.set(name, found.get(name).asText());
        }
        return new AcidWriter(plan, rows.schema(), all);
    }
}

/** Makes a frame of a plan and steps: a JSON list of pairs of a word and its text, or texts. */
final class PlannedQuery extends AbstractFunction0 {
    private final SparkSession session;
    private final LogicalPlan rows;
    private final JsonNode steps;

    PlannedQuery(SparkSession session, LogicalPlan rows, String steps) throws IOException {
        this.session = session;
        this.rows = rows;
        this.steps = new ObjectMapper().readTree(steps);
    }

    public Object apply() {
        LogicalPlan plan = rows;
        for (int i = 0; i < steps.size(); i++) {
            JsonNode step = SortedInput.item(steps, i);
            plan = after(plan, SortedInput.item(step, 0).asText(), SortedInput.item(step, 1));
        }
        return Dataset$.MODULE$.ofRows(session, plan);
    }

    private LogicalPlan after(LogicalPlan plan, String word, JsonNode given) {
        if (word.equals("alias")) return SubqueryAlias$.MODULE$.apply(given.asText(), plan);
        if (word.equals("where")) {
            return new Filter(LongConditions.grouped(parsed(session, given.asText())), plan);
        }
        List found = new ArrayList();
        for (int i = 0; i < given.size(); i++) {
            Expression one = parsed(session, SortedInput.item(given, i).asText());
            if (word.equals("select")) found.add(named(one));
            else found.add(word.equals("sort") ? ascending(one) : one);
        }
        Seq all = Seqs.of(found);
        if (word.equals("select")) return new Project(all, plan);
        if (word.equals("sort")) return LogicalPlans.sorted(plan, all);
        if (word.equals("rebalance")) {
            return new RebalancePartitions(all, plan, Option.empty(), Option.empty());
        }
        throw new IllegalArgumentException(word);
    }

    static Expression parsed(SparkSession session, String text) {
        ParserInterface parser = session.sessionState().sqlParser();
        try {
            return parser.parseExpression(text);
        } catch (ParseException wrong) {
            // Scala's functions do not declare what they throw.
            Platform.throwException(wrong);
            return null;
        }
    }

    static NamedExpression named(Expression one) {
        if (one instanceof NamedExpression) return (NamedExpression) one;
        return new UnresolvedAlias(one, Option.empty());
    }

    private static SortOrder ascending(Expression one) {
        return new SortOrder(one, Ascending$.MODULE$, NullsFirst$.MODULE$, (Seq) Nil$.MODULE$);
    }
}

/** Computes a MERGE's source; without a condition nothing is asked of the target. */
final class MergeSourceQuery extends AbstractFunction0 {
    private final SparkSession session;
    private final Dataset target;
    private final Dataset source;
    private final String on;
    private final long mostBytes;
    private final long mostKeys;
    private final int mostListed;

    MergeSourceQuery(
            SparkSession session, Dataset target, Dataset source, String on, long mostBytes,
            long mostKeys, int mostListed) {
        this.session = session;
        this.target = target;
        this.source = source;
        this.on = on;
        this.mostBytes = mostBytes;
        this.mostKeys = mostKeys;
        this.mostListed = mostListed;
    }

    public Object apply() {
        Expression condition = on == null ? null : PlannedQuery.parsed(session, on);
        return MergeSource.of(
                session, target, source, condition, mostBytes, mostKeys, mostListed);
    }
}
