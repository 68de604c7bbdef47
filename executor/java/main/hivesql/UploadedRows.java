package hivesql;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * Lets tasks of Spark's writers upload files of a table without row ids to where they belong.
 *
 * <p>What Spark did not take of their attempts nobody completes, and so nobody sees it.
 */
public final class UploadedRows extends FileCommitProtocol implements Serializable {
    private static final long serialVersionUID = 1;
    /** Of the job's settings: UploadPlaces, and what the driver calls the job. */
    private static final String PLACES = "hivesql.upload.places";
    /** Below a staging directory, which nobody makes. */
    private static final String JOB = "job";
    /** What a file is, of those that count, by the name of the job; see ``take``. */
    private static final Map<String, TaskAnswers> COMMITTED = new ConcurrentHashMap<>();
    /** How many parts there are of a file. */
    private static final int PARTS = 5;
    /** Stands in names of directories before what they cannot hold. */
    private static final char ESCAPE = '\uffff';

    private final String directory;
    /** Of the driver: what tasks have committed so far. */
    private transient List<String[]> committed;
    /** Of a task. */
    private transient UploadPlaces places;
    private transient boolean isBucketed;
    private transient List<String[]> begun;

    public UploadedRows(String job, String directory) {
        this.directory = directory;
    }

    /**
     * A job's files, all their parts ended by zeros: name by partition and task, path (both encoded),
     * word of the upload, length, ends of lines; told once.
     */
    public static TaskAnswers take(String directory) {
        TaskAnswers files = COMMITTED.remove(UploadedFiles.path(new Path(directory), JOB).toString());
        if (files == null) throw new IllegalStateException(directory + ": no job has ended there");
        return files;
    }

    /** Where Spark is told to write, so that files are uploaded from there. */
    public static String aside(String directory) {
        return UploadedFiles.path(new Path(directory), JOB).toString();
    }

    @Override
    public void setupJob(JobContext context) {
        committed = new ArrayList<>();
    }

    @Override
    public void onTaskCommit(TaskCommitMessage task) {
        String[] parts = ((String) ((Object[]) task.obj())[0]).split("\0");
        for (int at = 0; at + PARTS <= parts.length; at += PARTS) {
            committed.add(Arrays.copyOfRange(parts, at, at + PARTS));
        }
    }

    @Override
    public void commitJob(JobContext context, Seq<TaskCommitMessage> tasks) {
        TaskAnswers all = COMMITTED.computeIfAbsent(directory, job -> new TaskAnswers());
        Seqs.toJava(tasks).forEach(task -> all.add(task.obj()));
    }

    /** Give up what tasks have uploaded; what cannot be now the cleaner gives up. */
    @Override
    public void abortJob(JobContext context) {
        for (String[] file : committed) {
            try {
                String path = URLDecoder.decode(file[1], StandardCharsets.UTF_8);
                Uploads.abort(path, file[2], context.getConfiguration());
            } catch (IOException left) {
                continue;
            }
        }
    }

    @Override
    public void setupTask(TaskAttemptContext context) {
        begun = new ArrayList<>();
        Configuration settings = context.getConfiguration();
        try {
            places = new UploadPlaces(new ObjectMapper().readTree(settings.get(PLACES)));
        } catch (IOException wrong) {
            throw new UncheckedIOException(wrong);
        }
        isBucketed = settings.getBoolean("hivesql.upload.buckets", false);
    }

    @Override
    public String newTaskTempFile(
            TaskAttemptContext context, Option<String> below, FileNameSpec name) {
        return newTaskTempFile(context, below, name.suffix());
    }

    public String newTaskTempFile(TaskAttemptContext context, Option<String> below, String suffix) {
        int task = context.getTaskAttemptID().getTaskID().getId();
        String[] parts = below.isEmpty() ? new String[0] : below.get().split("/");
        int first = isBucketed && parts.length > 0 ? 1 : 0;
        int writer = first == 0 ? task : Integer.parseInt(value(parts[0]));
        UTF8String[] keys = new UTF8String[parts.length - first];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = UTF8String.fromString(value(parts[first + i]));
        }
        Path place = new Path(places.directory(0, keys), String.format("%06d_0", writer));
        String attempt = Integer.toString(context.getTaskAttemptID().getId());
        String path = UploadedFiles.path(place, attempt).toString();
        String name = String.format("part-%05d-%s", task, suffix);
        begun.add(new String[] {below.isEmpty() ? name : below.get() + "/" + name, place.toString(), path});
        return path;
    }

    /** The value of a directory's name as Spark has it. */
    private static String value(String directory) {
        String escaped = ExternalCatalogUtils.unescapePathName(
                directory.substring(directory.indexOf('=') + 1));
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < escaped.length(); i++) {
            char letter = escaped.charAt(i);
            if (letter == ESCAPE) {
                letter = escaped.charAt(++i) == '0' ? '\0' : ESCAPE;
            }
            text.append(letter);
        }
        return text.toString();
    }

    public String newTaskTempFileAbsPath(
            TaskAttemptContext context, String absolute, String suffix) {
        throw new UnsupportedOperationException("files belong into " + directory);
    }

    @Override
    public TaskCommitMessage commitTask(TaskAttemptContext context) {
        StringBuilder files = new StringBuilder();
        List<byte[]> contents = new ArrayList<>();
        try {
            for (String[] file : begun) {
                Path path = new Path(file[2]);
                FileSystem system = path.getFileSystem(context.getConfiguration());
                byte[] told = system.getXAttr(path, UploadedFiles.UPLOAD);
                String upload = new String(told, StandardCharsets.UTF_8);
                if (upload.startsWith(Uploads.WHOLE)) {
                    contents.add(system.getXAttr(path, UploadedFiles.CONTENT));
                }
                system.removeXAttr(path, UploadedFiles.UPLOAD);
                files.append(URLEncoder.encode(file[0], StandardCharsets.UTF_8)).append('\0');
                files.append(URLEncoder.encode(file[1], StandardCharsets.UTF_8)).append('\0');
                files.append(upload).append('\0');
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return new TaskCommitMessage(TaskAnswers.answer(files.toString(), contents));
    }

    @Override
    public void abortTask(TaskAttemptContext context) {
        try {
            for (String[] file : begun) {
                Path path = new Path(file[2]);
                path.getFileSystem(context.getConfiguration()).delete(path, false);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
