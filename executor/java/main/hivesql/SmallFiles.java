package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What tells a file of an object store from another one of its path, and what the driver knows of it.
 *
 * @param version is another for another file, and empty when nothing tells
 * @param digest of all its bytes, as {@link SmallFiles#digest}; empty where the driver has none
 * @param content all of it, of a tiny file that the driver remembers; else null
 */
record KnownFile(String version, String digest, byte[] content) implements Serializable {
    static final KnownFile UNKNOWN = new KnownFile("", "", null);

    /** Of a file in a plan, where each of these may be missing. */
    static KnownFile of(JsonNode file) {
        String content = file.path("content").asText();
        return new KnownFile(
                file.path("version").asText(), file.path("digest").asText(),
                content.isEmpty() ? null : Base64.getDecoder().decode(content));
    }
}

/**
 * Small files of object stores that tasks have read or written, for those that read them next.
 *
 * <p>Files of ACID tables never change, and to ask a store takes longer than the bytes do.
 */
final class SmallFiles {
    /** Files that are no longer are read by one request. */
    static final int LARGEST = 4 << 20;

    /** Bytes that all of them take. */
    private static final long MOST =
            Math.min(64L << 20, Runtime.getRuntime().maxMemory() >> 4);

    /** By path and version, or path and digest; those that nobody asked for longest come first. */
    private static final Map<String, byte[]> REMEMBERED = new LinkedHashMap<>(16, 0.75f, true);
    private static long bytes;

    private SmallFiles() {}

    /** All of a file; null where nobody here has read or written it. */
    static synchronized byte[] recall(String path, KnownFile known) {
        if (known.content() != null) return known.content();
        byte[] found =
                known.version().isEmpty() ? null : REMEMBERED.get(path + '|' + known.version());
        if (found == null && !known.digest().isEmpty()) {
            found = REMEMBERED.get(path + '|' + known.digest());
        }
        return found;
    }

    /** Remember what a task has read. */
    static void remember(String path, KnownFile known, byte[] content) {
        if (!known.version().isEmpty()) put(path + '|' + known.version(), content);
    }

    /** Remember what a task has written, which nobody sees yet, and whose version is not known. */
    static void remember(String path, byte[] content) {
        if (content.length <= LARGEST) put(path + '|' + digest(content), content);
    }

    private static synchronized void put(String name, byte[] content) {
        if (content.length > LARGEST) return;
        byte[] before = REMEMBERED.put(name, content);
        bytes += content.length - (before == null ? 0 : before.length);
        Iterator<byte[]> oldest = REMEMBERED.values().iterator();
        while (bytes > MOST && oldest.hasNext()) {
            bytes -= oldest.next().length;
            oldest.remove();
        }
    }

    /** A number of the bytes that no other bytes have, as small_contents.py tells it. */
    static String digest(byte[] content) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
            return String.format("%064x", new BigInteger(1, hash));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
