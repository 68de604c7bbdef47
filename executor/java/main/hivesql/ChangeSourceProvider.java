package hivesql;

import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;

/** Makes the sources of streams of changes, of which Spark's options name the stream. */
public final class ChangeSourceProvider implements StreamSourceProvider {
    @Override
    public Tuple2<String, StructType> sourceSchema(
            SQLContext context, Option<StructType> schema, String provider,
            scala.collection.immutable.Map<String, String> options) {
        return new Tuple2<>("hivesql", columns(options));
    }

    @Override
    public Source createSource(
            SQLContext context, String metadata, Option<StructType> schema, String provider,
            scala.collection.immutable.Map<String, String> options) {
        CatalogSession session = ChangeStream.sessionOf(options.apply(ChangeStream.ID));
        return new ChangeSource((SparkSession) context.sparkSession(), session, columns(options));
    }

    private static StructType columns(scala.collection.immutable.Map<String, String> options) {
        return CharVarcharUtils.replaceCharVarcharWithStringInSchema(
                StructType.fromDDL(options.apply(ChangeStream.COLUMNS)));
    }
}
