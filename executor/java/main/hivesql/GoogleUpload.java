package hivesql;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A resumable upload to Google Cloud Storage that lacks its end, which the driver sends.
 *
 * <p>Hadoop's connectors end their uploads when a stream is closed, in the task. Nobody sees an
 * upload without its end, and a week later it is gone. Whoever knows its address may go on with it.
 */
final class GoogleUpload extends Uploads.Stream {
    /** All but the last bytes come in multiples of this. */
    private static final int UNIT = 256 << 10;

    private static final int TRIES = 6;
    private static final long PAUSE = 500;
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Pattern LAST = Pattern.compile("bytes=0-(\\d+)");
    private static final String PLACE = "https://storage.googleapis.com";
    private static final int INCOMPLETE = 308;
    /** What says how requests are made that are not made here. */
    private static final String[] OTHERWISE = {
        "fs.gs.encryption.", "fs.gs.requester.pays.mode", "fs.gs.proxy.", "fs.gs.auth.impersonation."
    };

    private final FileSystem system;
    private String address;
    private long from;
    private byte[] rest = new byte[0];

    GoogleUpload(FileSystem system, Path path) {
        super(system, path);
        this.system = system;
    }

    @Override
    void begin() throws IOException {
        Configuration settings = system.getConf();
        URI place = system.makeQualified(path).toUri();
        String name = encoded(place.getPath().substring(1));
        String root = settings.getTrimmed("fs.gs.storage.root.url", PLACE).replaceAll("/+$", "");
        // On condition that there is none.
        String asked = root + "/upload/storage/v1/b/" + place.getAuthority()
                + "/o?uploadType=resumable&ifGenerationMatch=0&name=" + name;
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(asked))
                .POST(HttpRequest.BodyPublishers.noBody());
        credentials(system, URI.create(asked)).forEach(
                (key, values) -> values.forEach(value -> request.header(key, value)));
        HttpResponse<String> answer = ask(request);
        address = answer.headers().firstValue("Location").orElse("");
        if (answer.statusCode() / 100 != 2 || address.isEmpty()) {
            throw refused(path.toString(), answer);
        }
    }

    /** Whether requests can be made as the connector would. */
    static boolean canAsk(FileSystem system) throws IOException {
        for (String begin : OTHERWISE) {
            if (!system.getConf().getPropsWithPrefix(begin).isEmpty()) return false;
        }
        return asksAsNobody(system.getConf()) || giver(system) != null;
    }

    private static boolean asksAsNobody(Configuration settings) {
        return settings.getBoolean("fs.gs.auth.null.enable", false)
                || "UNAUTHENTICATED".equalsIgnoreCase(settings.getTrimmed("fs.gs.auth.type"));
    }

    /** What gives the connector its credentials, by its method's name; null where it is another. */
    private static Method giver(FileSystem system) {
        String place = system.getClass().getPackageName();
        try {
            Class<?> type = system.getClass().getClassLoader()
                    .loadClass(place + ".HadoopCredentialsConfiguration");
            for (Class<?> each = type; each != null; each = each.getSuperclass()) {
                for (Method method : each.getDeclaredMethods()) {
                    if (!method.getName().equals("getCredentials") || !method.isVarArgs()) continue;
                    method.setAccessible(true);
                    return method;
                }
            }
            return null;
        } catch (ClassNotFoundException | RuntimeException unlike) {
            return null;
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, List<String>> credentials(FileSystem system, URI asked)
            throws IOException {
        if (asksAsNobody(system.getConf())) return Map.of();
        try {
            Object given = giver(system).invoke(null, system.getConf(), new String[] {"fs.gs"});
            if (given == null) return Map.of();
            Method headers = given.getClass().getMethod("getRequestMetadata", URI.class);
            return (Map<String, List<String>>) headers.invoke(given, asked);
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof IOException reason) throw reason;
            throw new IOException(failed.getCause());
        } catch (ReflectiveOperationException unlike) {
            throw new IOException(system.getClass() + " does not give its credentials", unlike);
        }
    }

    /** Send all but the last bytes, which wait for the driver. */
    @Override
    byte[] send(byte[] bytes, boolean isLast) throws IOException {
        // One byte at least is left: with it the driver tells how long the file is.
        int whole = bytes.length == 0 ? 0 : (bytes.length - 1) / UNIT * UNIT;
        if (whole > 0) {
            put(address, from, Arrays.copyOf(bytes, whole), -1);
            from += whole;
        }
        rest = Arrays.copyOfRange(bytes, whole, bytes.length);
        return isLast ? new byte[0] : rest;
    }

    @Override
    void giveUp() throws IOException {
        abort(uploadAsWord());
    }

    @Override
    String uploadAsWord() {
        return Uploads.word(address.getBytes(StandardCharsets.UTF_8)) + ":" + from + ":"
                + Uploads.word(rest);
    }

    /** Send the end of a file, which is seen from then on. */
    static void complete(String upload) throws IOException {
        String[] words = upload.split(":", -1);
        byte[] rest = Base64.getUrlDecoder().decode(words[2]);
        long from = Long.parseLong(words[1]);
        put(address(words[0]), from, rest, from + rest.length);
    }

    /** Forget an upload; what the store answers is no matter. */
    static void abort(String upload) throws IOException {
        ask(HttpRequest.newBuilder(URI.create(address(upload.split(":", -1)[0]))).DELETE());
    }

    private static String address(String word) {
        return new String(Base64.getUrlDecoder().decode(word), StandardCharsets.UTF_8);
    }

    /** Send bytes of an upload; {@code total} is the file's length, -1 where more will come. */
    private static void put(String address, long from, byte[] bytes, long total) throws IOException {
        long end = from + bytes.length;
        String all = total < 0 ? "*" : Long.toString(total);
        for (int number = 0, sent = 0; ; number++) {
            String range = sent < bytes.length
                    ? "bytes " + (from + sent) + "-" + (end - 1) + "/" + all
                    : "bytes */" + all;
            HttpResponse<String> answer = ask(HttpRequest.newBuilder(URI.create(address))
                    .header("Content-Range", range)
                    .PUT(HttpRequest.BodyPublishers.ofByteArray(bytes, sent, bytes.length - sent)));
            int status = answer.statusCode();
            if (status / 100 == 2) return;
            if (status != INCOMPLETE || number == TRIES) throw refused(address, answer);
            Matcher last = LAST.matcher(answer.headers().firstValue("Range").orElse(""));
            long there = last.find() ? Long.parseLong(last.group(1)) + 1 : 0;
            if (total < 0 && there == end) return;
            // It took less than was sent.
            sent = (int) Math.max(0, there - from);
        }
    }

    /** Ask, again where the store failed: to send the same bytes twice does no harm. */
    private static HttpResponse<String> ask(HttpRequest.Builder request) throws IOException {
        HttpRequest asked = request.timeout(TIMEOUT).build();
        for (int number = 1; ; number++) {
            try {
                HttpResponse<String> answer =
                        Client.HTTP.send(asked, HttpResponse.BodyHandlers.ofString());
                int status = answer.statusCode();
                boolean hasFailed = status >= 500 || status == 429 || status == 408;
                if (!hasFailed || number == TRIES) return answer;
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw (IOException) new InterruptedIOException(stopped.toString()).initCause(stopped);
            } catch (IOException failed) {
                if (number == TRIES) throw failed;
            }
            pause(number);
        }
    }

    private static void pause(int number) throws IOException {
        try {
            Thread.sleep(PAUSE << number);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException(stopped.toString()).initCause(stopped);
        }
    }

    private static IOException refused(String what, HttpResponse<String> answer) {
        // An address lets everybody go on with the upload: it is told to nobody.
        String place = what.replaceAll("\\?.*", "");
        return new IOException("Google Cloud Storage did not take " + place + ": HTTP "
                + answer.statusCode() + " " + answer.body());
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Made when it is first needed. */
    private static final class Client {
        static final HttpClient HTTP = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(20))
                .build();
    }
}
