package hivesql;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.ProjectingInternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwritePartitionsDynamic;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.util.WriteDeltaProjections;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.write.V1Write;
import org.apache.spark.sql.execution.QueryExecution$;
import org.apache.spark.sql.execution.SQLExecutionRDD;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.adaptive.AdaptiveExecutionContext;
import org.apache.spark.sql.execution.adaptive.InsertAdaptiveSparkPlan;
import org.apache.spark.sql.execution.datasources.v2.AppendDataExecV1;
import org.apache.spark.sql.sources.InsertableRelation;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction0;
import scala.runtime.BoxedUnit;

/**
 * Hands the rows of a change, or of an overwrite of partitions, to the session in Python.
 *
 * <p>Spark finds which rows these are; left to itself it would have its own tasks write them, without the
 * transaction, the constraints and the files of Hive's that are a matter of Python here.
 */
final class CatalogStrategy extends SparkStrategy {
    private final SparkSession spark;

    private CatalogStrategy(SparkSession spark) {
        this.spark = spark;
    }

    /** Let a session of Spark plan changes of our tables so; more than once does no harm. */
    static void addTo(SparkSession spark) {
        ExperimentalMethods methods = spark.experimental();
        for (Object known : Seqs.toJava(methods.extraStrategies())) {
            if (known instanceof CatalogStrategy) return;
        }
        methods.extraStrategies_$eq(Seqs.appended(methods.extraStrategies(), new CatalogStrategy(spark)));
    }

    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
        if (plan instanceof WriteDelta change && change.write().isDefined()
                && change.write().get() instanceof CatalogChange write) {
            return planned(
                    write.table, change.originalTable(), change.query(), numbered(change.query()),
                    changed(write, change));
        }
        if (plan instanceof OverwritePartitionsDynamic overwrite && overwrite.write().isDefined()
                && overwrite.write().get() instanceof CatalogWrite write) {
            return planned(
                    write.table, overwrite.table(), overwrite.query(), write.table.schema(), write);
        }
        return Seqs.of(List.of());
    }

    private Seq<SparkPlan> planned(
            CatalogTable table, Object target, LogicalPlan query, StructType schema, V1Write write) {
        Dataset<?> rows = spark.internalCreateDataFrame(new PlanRows(spark, query), schema, false);
        AbstractFunction0<BoxedUnit> refresh = new AbstractFunction0<>() {
            @Override
            public BoxedUnit apply() {
                spark.sharedState().cacheManager().recacheByPlan(spark, (LogicalPlan) target);
                return BoxedUnit.UNIT;
            }
        };
        return Seqs.of(List.of(new AppendDataExecV1(table, rows.logicalPlan(), refresh, write)));
    }

    /** The query's columns by their numbers: two may have one name. */
    private static StructType numbered(LogicalPlan query) {
        StructType schema = new StructType();
        for (Attribute column : Seqs.toJava(query.output())) {
            schema = schema.add("c" + schema.length(), column.dataType(), true);
        }
        return schema;
    }

    private static V1Write changed(CatalogChange write, WriteDelta change) {
        WriteDeltaProjections places = change.projections();
        ObjectNode request = write.table.request("change").put("command", write.command);
        ArrayNode id = request.putArray("row id");
        add(id, places.rowIdProjection());
        ArrayNode row = request.putArray("row");
        if (places.rowProjection().isDefined()) add(row, places.rowProjection().get());
        return new V1Write() {
            @Override
            public InsertableRelation toInsertableRelation() {
                return (rows, overwrite) -> write.table.session.ask(request, rows);
            }

            @Override
            public String toString() {
                return write.description();
            }
        };
    }

    private static void add(ArrayNode to, ProjectingInternalRow columns) {
        scala.collection.Seq<Object> ordinals = columns.colOrdinals();
        for (int i = 0; i < columns.schema().length(); i++) {
            to.add((Integer) ordinals.apply(i));
        }
    }
}

/** The rows of a plan that Spark has optimized already, computed by its session's settings. */
final class PlanRows extends LazyRows {
    private final transient SparkSession spark;
    private final transient LogicalPlan plan;

    PlanRows(SparkSession spark, LogicalPlan plan) {
        super(spark);
        this.spark = spark;
        this.plan = plan;
    }

    @Override
    protected RDD<InternalRow> planned() {
        return within(spark, () -> {
            SparkPlan physical = spark.sessionState().planner().plan(plan).next();
            AdaptiveExecutionContext context = new AdaptiveExecutionContext(
                    spark, spark.emptyDataFrame().queryExecution());
            SparkPlan ready = QueryExecution$.MODULE$.prepareForExecution(
                    QueryExecution$.MODULE$.preparations(
                            spark, Option.apply(new InsertAdaptiveSparkPlan(context)), false),
                    physical);
            return new SQLExecutionRDD(ready.execute(), spark.sessionState().conf());
        });
    }
}
