package hivesql;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hive.serde2.Deserializer;
import org.apache.hadoop.hive.serde2.SerDeException;
import org.apache.hadoop.hive.serde2.objectinspector.ListObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.MapObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.StructField;
import org.apache.hadoop.hive.serde2.objectinspector.StructObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.UnionObjectInspector;
import org.apache.hadoop.io.Writable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Records of a SerDe that only reads as Spark's values, of the columns that are asked for.
 *
 * <p>A union is a struct of its tag and of all members, as HiveSQL has them elsewhere. Times are
 * not among the types: Thrift has none.
 */
final class SerdeValues {
    private final Deserializer stored;
    private final StructObjectInspector inspector;
    private final List<StructField> fields = new ArrayList<>();

    SerdeValues(Deserializer stored, StructType required) throws SerDeException {
        this.stored = stored;
        inspector = (StructObjectInspector) stored.getObjectInspector();
        for (String name : required.fieldNames()) {
            fields.add(inspector.getStructFieldRef(name));
        }
    }

    InternalRow row(Writable record) throws SerDeException {
        return struct(inspector, fields, stored.deserialize(record));
    }

    private static Object value(Object item, ObjectInspector inspector) {
        if (item == null) {
            return null;
        }
        switch (inspector.getCategory()) {
            case PRIMITIVE:
                return plain(((PrimitiveObjectInspector) inspector).getPrimitiveJavaObject(item));
            case LIST:
                return list((ListObjectInspector) inspector, item);
            case MAP:
                return map((MapObjectInspector) inspector, item);
            case STRUCT:
                StructObjectInspector struct = (StructObjectInspector) inspector;
                return struct(struct, struct.getAllStructFieldRefs(), item);
            case UNION:
                return union((UnionObjectInspector) inspector, item);
            default:
                throw new IllegalStateException("no value of Spark is " + inspector.getTypeName());
        }
    }

    private static Object plain(Object item) {
        if (item instanceof String) {
            return UTF8String.fromString((String) item);
        }
        boolean isSame = item instanceof Number || item instanceof Boolean || item instanceof byte[];
        if (!isSame) {
            throw new IllegalStateException("no value of Spark is a " + item.getClass().getName());
        }
        return item;
    }

    private static Object list(ListObjectInspector inspector, Object item) {
        List<?> items = inspector.getList(item);
        if (items == null) {
            return null;
        }
        ObjectInspector inside = inspector.getListElementObjectInspector();
        return new GenericArrayData(items.stream().map(one -> value(one, inside)).toArray());
    }

    private static Object map(MapObjectInspector inspector, Object item) {
        Map<?, ?> entries = inspector.getMap(item);
        if (entries == null) {
            return null;
        }
        List<Object> keys = new ArrayList<>();
        List<Object> values = new ArrayList<>();
        entries.forEach((key, inside) -> {
            keys.add(value(key, inspector.getMapKeyObjectInspector()));
            values.add(value(inside, inspector.getMapValueObjectInspector()));
        });
        return new ArrayBasedMapData(
                new GenericArrayData(keys.toArray()), new GenericArrayData(values.toArray()));
    }

    private static InternalRow struct(
            StructObjectInspector inspector, List<? extends StructField> fields, Object item) {
        Object[] values = new Object[fields.size()];
        for (int i = 0; i < values.length; i++) {
            StructField field = fields.get(i);
            values[i] = value(
                    inspector.getStructFieldData(item, field), field.getFieldObjectInspector());
        }
        return new GenericInternalRow(values);
    }

    private static Object union(UnionObjectInspector inspector, Object item) {
        Object member = inspector.getField(item);
        if (member == null) {
            return null;
        }
        byte tag = inspector.getTag(item);
        Object[] values = new Object[inspector.getObjectInspectors().size() + 1];
        values[0] = tag;
        values[tag + 1] = value(member, inspector.getObjectInspectors().get(tag));
        return new GenericInternalRow(values);
    }
}
