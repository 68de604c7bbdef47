package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.InternalRow$;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.FieldReference$;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** The columns of partitions, whose values no file has: those of a scan that come last. */
final class PartitionColumns {
    /** Types whose equal values are equal objects: not so 0.0 and -0.0. */
    private static final Set<DataType> COMPARABLE = Set.of(
            DataTypes.BooleanType, DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType,
            DataTypes.LongType, DataTypes.DateType, DataTypes.TimestampType, DataTypes.StringType);

    private final StructType types;
    private final Option<String> zone;

    PartitionColumns(StructType schema, int first, String zone) {
        this.zone = Option.apply(zone);
        types = new StructType(Arrays.copyOfRange(schema.fields(), first, schema.length()));
    }

    /** The values of texts, as Spark keeps them: NULL for null, and for what is none of the type. */
    InternalRow values(JsonNode texts) {
        Object[] values = new Object[types.length()];
        for (int i = 0; i < values.length; i++) {
            String text = texts.get(i).asText(null);
            if (text == null) continue;
            Cast cast = new Cast(
                    Literal$.MODULE$.apply(text), types.apply(i).dataType(), zone,
                    EvalMode$.MODULE$.LEGACY());
            values[i] = cast.eval(InternalRow$.MODULE$.empty());
        }
        return new GenericInternalRow(values);
    }

    /** Those files whose partitions may have rows that fulfil a condition. */
    List<AcidFile> mayPass(ScanCondition condition, List<AcidFile> files) {
        if (types.length() == 0) return files;
        Map<Integer, Boolean> known = new HashMap<>();
        return files.stream().filter(file -> known.computeIfAbsent(
                file.place(), unknown -> condition.mayPass(types, file.values()))).toList();
    }

    /** Those of a scan's columns by whose values files can be left out. */
    NamedReference[] comparable(StructType wanted) {
        List<NamedReference> found = new ArrayList<>();
        for (StructField field : wanted.fields()) {
            if (COMPARABLE.contains(field.dataType()) && types.getFieldIndex(field.name()).isDefined()) {
                found.add(FieldReference$.MODULE$.column(field.name()));
            }
        }
        return found.toArray(NamedReference[]::new);
    }

    /** Those files whose partitions have a value that each of the lists (column IN values) names. */
    List<AcidFile> among(Predicate[] lists, List<AcidFile> files) {
        List<AcidFile> left = files;
        for (Predicate list : lists) {
            Expression[] parts = list.children();
            if (!list.name().equals("IN") || !(parts[0] instanceof NamedReference column)) continue;
            int place = types.fieldIndex(column.fieldNames()[0]);
            DataType type = types.apply(place).dataType();
            Set<Object> values = new HashSet<>();
            for (int i = 1; i < parts.length; i++) {
                values.add(((Literal<?>) parts[i]).value());
            }
            left = left.stream().filter(file -> values.contains(file.values().get(place, type))).toList();
        }
        return left;
    }

    /** The other columns of a scan. */
    StructType without(StructType schema) {
        return new StructType(Arrays.stream(schema.fields())
                .filter(field -> types.getFieldIndex(field.name()).isEmpty())
                .toArray(StructField[]::new));
    }
}
