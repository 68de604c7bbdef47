package hivesql;

import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.util.SerializableConfiguration;

/**
 * Settings that executors get once, and not with each task or each statement: to write and read more
 * than a thousand of them takes longer than many a task.
 */
final class Settings extends Configuration {
    private static final int MOST_CACHED = 8;
    private static final Map<Properties, Broadcast<SerializableConfiguration>> SHARED =
            new LinkedHashMap<>(16, 0.75f, true);
    /** The application whose broadcasts are kept: those of one that has ended are gone. */
    private static WeakReference<SparkContext> owner = new WeakReference<>(null);

    private Settings(Configuration settings) {
        super(settings);
    }

    private Properties all() {
        return getProps();
    }

    static Broadcast<SerializableConfiguration> share(Configuration settings) {
        Settings copy = new Settings(settings);
        Properties all = copy.all();
        SparkContext running = SparkContext.getOrCreate();
        synchronized (SHARED) {
            if (owner.get() != running) {
                SHARED.clear();
                owner = new WeakReference<>(running);
            }
            Broadcast<SerializableConfiguration> found = SHARED.get(all);
            if (found == null) {
                JavaSparkContext context = JavaSparkContext.fromSparkContext(running);
                found = context.broadcast(new SerializableConfiguration(copy));
                SHARED.put(all, found);
                if (SHARED.size() > MOST_CACHED) {
                    // Spark lets go of it when no task can ask for it any more.
                    SHARED.remove(SHARED.keySet().iterator().next());
                }
            }
            return found;
        }
    }
}
