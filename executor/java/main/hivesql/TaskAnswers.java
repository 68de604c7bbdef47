package hivesql;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonRDD;

/**
 * What the tasks of a job told of their files: a text, and all of those that are nowhere yet.
 *
 * <p>Python reads the files' bytes from a socket, as PySpark does the rows that it collects: in texts
 * they would be encoded, escaped and copied half a dozen times.
 */
public final class TaskAnswers {
    private final StringBuilder text = new StringBuilder();
    private final List<Object> contents = new ArrayList<>();

    /** An answer of classes that the driver knows however it loads ours: its text, then contents. */
    static Object[] answer(String text, List<byte[]> contents) {
        List<Object> all = new ArrayList<>();
        all.add(text);
        all.addAll(contents);
        return all.toArray();
    }

    public synchronized void add(Object answer) {
        Object[] parts = (Object[]) answer;
        text.append((String) parts[0]);
        for (int i = 1; i < parts.length; i++) {
            contents.add(parts[i]);
        }
    }

    public String text() {
        return text.toString();
    }

    /** Where PySpark reads the contents, in the order of the text, each once. */
    public Object[] serve() {
        return PythonRDD.serveIterator(Seqs.of(contents).iterator(), "files of tasks");
    }
}
