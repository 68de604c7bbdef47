package hivesql;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.Date;
import org.apache.spark.SparkContext;
import org.apache.spark.status.AppStatusStore;
import org.apache.spark.status.api.v1.JobData;
import org.apache.spark.status.api.v1.StageData;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;
import scala.collection.Iterator;

/** What the scans and jobs of a statement took, as JSON. */
final class Measured {
    private static final long MOST_MILLIS = 10_000;

    private Measured() {}

    /** Of the statement whose scans were counted under a name, and whose jobs have it as a tag. */
    static String of(SparkSession session, String statement) throws Exception {
        SparkContext context = session.sparkContext();
        context.listenerBus().waitUntilEmpty(MOST_MILLIS);
        ObjectNode all = new ObjectMapper().createObjectNode();
        ArrayNode scans = all.putArray("scans");
        ScanCounts.take(statement).forEach(counts -> counts.write(scans.addObject()));
        ArrayNode jobs = all.putArray("jobs");
        AppStatusStore store = context.statusStore();
        int[] ids = context.statusTracker().getJobIdsForTag(statement);
        Arrays.stream(ids).sorted().forEach(id -> write(store, store.job(id), jobs.addObject()));
        return all.toString();
    }

    private static void write(AppStatusStore store, JobData job, ObjectNode into) {
        Date from = (Date) orNull(job.submissionTime());
        Date to = (Date) orNull(job.completionTime());
        into.put("millis", from == null || to == null ? 0L : to.getTime() - from.getTime());
        long tasks = 0L;
        long cpu = 0L;
        long rows = 0L;
        long bytes = 0L;
        long shuffled = 0L;
        for (Iterator ids = job.stageIds().iterator(); ids.hasNext();) {
            Option known = store.asOption(new LastAttempt(store, ((Integer) ids.next()).intValue()));
            if (known.isEmpty()) continue;
            StageData stage = (StageData) known.get();
            tasks += stage.numCompleteTasks();
            cpu += stage.executorCpuTime();
            rows += stage.inputRecords();
            bytes += stage.inputBytes();
            shuffled += stage.shuffleWriteBytes();
        }
        into.put("tasks", tasks).put("cpuMillis", cpu / 1_000_000L).put("rows", rows)
                .put("bytes", bytes).put("shuffled", shuffled);
    }

    private static Object orNull(Option found) {
        return found.isEmpty() ? null : found.get();
    }

    /** Asks for a stage, which Spark may have forgotten. */
    private static final class LastAttempt extends scala.runtime.AbstractFunction0 {
        private final AppStatusStore store;
        private final int stage;

        LastAttempt(AppStatusStore store, int stage) {
            this.store = store;
            this.stage = stage;
        }

        public Object apply() {
            return store.lastStageAttempt(stage);
        }
    }
}
