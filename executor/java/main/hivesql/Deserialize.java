package hivesql;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.GZIPInputStream;
import org.apache.hadoop.hive.ql.exec.UDF;

/** Hive 4's deserialize: a message of the metastore's notification log as plain text. */
public final class Deserialize extends UDF {
    /** The text of a message; null where one of the two is null. */
    public String evaluate(String message, String packing) throws IOException {
        if (message == null || packing == null) {
            return null;
        }
        switch (packing) {
            case "json-0.2":
                return message;
            case "gzip":
            case "gzip(json-2.0)":
                byte[] packed = Base64.getDecoder().decode(message.getBytes(StandardCharsets.UTF_8));
                try (GZIPInputStream plain = new GZIPInputStream(new ByteArrayInputStream(packed))) {
                    return new String(plain.readAllBytes(), StandardCharsets.UTF_8);
                }
            default:
                throw new IllegalArgumentException(
                        "compressionFormat: " + packing + " is not supported.");
        }
    }
}
