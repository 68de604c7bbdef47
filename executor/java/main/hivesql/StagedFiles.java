package hivesql;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * Lets tasks of Spark's writers put files straight into a directory, and tells which of them count.
 *
 * <p>Spark's own protocols move each file twice, and an object store copies what is moved. What an
 * attempt left that Spark did not take lies there under a name of its own, and nobody is told of it.
 */
public final class StagedFiles extends FileCommitProtocol implements Serializable {
    private static final long serialVersionUID = 1;
    /** Names by the directory, of jobs that nobody has asked for yet. */
    private static final Map<String, String> COMMITTED = new ConcurrentHashMap<>();

    private final String job;
    private final String directory;
    /** Of a task: what it has begun. */
    private transient List<String> begun;

    public StagedFiles(String job, String directory) {
        this.job = job;
        this.directory = directory;
    }

    /** Names of a directory's files that count, below it, each ended by a zero; told once. */
    public static String take(String directory) {
        String names = COMMITTED.remove(directory);
        return names == null ? "" : names;
    }

    @Override
    public void setupJob(JobContext context) {
        // The directory comes with its first file.
    }

    @Override
    public void commitJob(JobContext context, Seq<TaskCommitMessage> tasks) {
        COMMITTED.merge(directory, joined(tasks), String::concat);
    }

    /** What the tasks of a job told of their files, each ended by a zero. */
    private static String joined(Seq<TaskCommitMessage> tasks) {
        StringBuilder files = new StringBuilder();
        for (Iterator<TaskCommitMessage> all = tasks.iterator(); all.hasNext();) {
            for (String file : (String[]) all.next().obj()) {
                files.append(file).append('\0');
            }
        }
        return files.toString();
    }

    @Override
    public void abortJob(JobContext context) {
        // Whoever asked for the files removes the directory.
    }

    @Override
    public void setupTask(TaskAttemptContext context) {
        begun = new ArrayList<>();
    }

    @Override
    public String newTaskTempFile(
            TaskAttemptContext context, Option<String> below, FileNameSpec name) {
        return newTaskTempFile(context, below, name.suffix());
    }

    public String newTaskTempFile(TaskAttemptContext context, Option<String> below, String suffix) {
        int task = context.getTaskAttemptID().getTaskID().getId();
        int attempt = context.getTaskAttemptID().getId();
        String name = String.format("part-%05d-%s-%d%s", task, job, attempt, suffix);
        String path = below.isEmpty() ? name : below.get() + "/" + name;
        begun.add(path);
        return directory + "/" + path;
    }

    public String newTaskTempFileAbsPath(
            TaskAttemptContext context, String absolute, String suffix) {
        throw new UnsupportedOperationException("files belong into " + directory);
    }

    @Override
    public TaskCommitMessage commitTask(TaskAttemptContext context) {
        return new TaskCommitMessage(begun.toArray(new String[0]));
    }

    @Override
    public void abortTask(TaskAttemptContext context) {
        for (String name : begun) {
            Path path = new Path(directory + "/" + name);
            try {
                path.getFileSystem(context.getConfiguration()).delete(path, false);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}
