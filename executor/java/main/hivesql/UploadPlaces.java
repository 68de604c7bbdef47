package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;
import org.apache.spark.unsafe.types.UTF8String;

/** Where files of events belong: what the driver names them too. */
final class UploadPlaces implements Serializable {
    private static final long serialVersionUID = 1;

    private final String table;
    /** Partition columns, and values of static ones, as directories have them; null for those of keys. */
    private final String[] columns;
    private final String[] values;
    /** Partitions that do not lie in the table's directory, by name. */
    private final Map<String, String> locations = new HashMap<>();
    /** The directory of each write. */
    private final String[] directories;

    UploadPlaces(JsonNode plan) {
        table = plan.get("table").asText();
        JsonNode partition = plan.get("partition");
        columns = new String[partition.size()];
        values = new String[columns.length];
        for (int i = 0; i < columns.length; i++) {
            JsonNode column = SortedInput.item(partition, i);
            columns[i] = column.get("name").asText();
            values[i] = column.hasNonNull("value") ? column.get("value").asText() : null;
        }
        plan.get("locations").fields().forEachRemaining(
                place -> locations.put(place.getKey(), place.getValue().asText()));
        JsonNode names = plan.get("directories");
        directories = new String[names.size()];
        for (int i = 0; i < directories.length; i++) {
            directories[i] = SortedInput.item(names, i).asText();
        }
    }

    /** The path of a writer's file of events; keys are the values of the columns without one, in order. */
    Path path(int write, int writer, UTF8String[] keys) {
        return new Path(directory(write, keys), String.format("bucket_%05d", writer));
    }

    /** The directory of a write, likewise. */
    String directory(int write, UTF8String[] keys) {
        if (columns.length == 0) return table + "/" + directories[write];
        StringBuilder name = new StringBuilder();
        int key = 0;
        for (int i = 0; i < columns.length; i++) {
            name.append(i == 0 ? "" : "/").append(columns[i]).append('=');
            name.append(values[i] == null ? escaped(keys[key++].toString()) : values[i]);
        }
        String partition = name.toString();
        return locations.getOrDefault(partition, table + "/" + partition) + "/" + directories[write];
    }

    private static String escaped(String value) {
        if (value.isEmpty()) return ExternalCatalogUtils.DEFAULT_PARTITION_NAME();
        // Spark leaves the first of all characters as it is, which no name in a store may have.
        return ExternalCatalogUtils.escapePathName(value).replace("\0", "%00");
    }
}
