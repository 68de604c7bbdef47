package hivesql;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Trees of files, and ranges of them, in one call from Python each. */
public final class FileTree implements ThreadFactory {
    private static final int THREADS = 16;

    private final Configuration configuration;
    private final String[] hidden;
    private final String[] shown;
    private final ExecutorService pool;

    /** Names that start like one of {@code hidden} are left out, unless {@code shown} has them. */
    public FileTree(Configuration configuration, String hidden, String shown) {
        this.configuration = configuration;
        this.hidden = hidden.split("/");
        this.shown = shown.split("/");
        pool = Executors.newFixedThreadPool(THREADS, this);
    }

    public Thread newThread(Runnable work) {
        Thread thread = new Thread(work, "hivesql-tree");
        thread.setDaemon(true);
        return thread;
    }

    /** Path, length and time of every file below a directory: every part ended by a zero. */
    public String list(String location) throws Exception {
        Path root = new Path(location);
        FileSystem system = root.getFileSystem(configuration);
        StringBuilder text = new StringBuilder();
        List level = new ArrayList();
        level.add(new Listing(system, root, ""));
        while (!level.isEmpty()) {
            List next = new ArrayList();
            if (level.size() == 1) {
                ((Listing) level.get(0)).call();
            } else {
                List done = pool.invokeAll(level);
                for (int i = 0; i < done.size(); i++) {
                    ((Future) done.get(i)).get();
                }
            }
            for (int i = 0; i < level.size(); i++) {
                Listing one = (Listing) level.get(i);
                for (int j = 0; j < one.found.length; j++) {
                    FileStatus status = one.found[j];
                    String name = status.getPath().getName();
                    if (isHidden(name)) {
                        continue;
                    }
                    if (status.isDirectory()) {
                        next.add(new Listing(system, status.getPath(), one.prefix + name + "/"));
                    } else {
                        text.append(one.prefix).append(name).append('\0');
                        text.append(status.getLen()).append('\0');
                        text.append(status.getModificationTime()).append('\0');
                    }
                }
            }
            level = next;
        }
        return text.toString();
    }

    private boolean isHidden(String name) {
        for (int i = 0; i < shown.length; i++) {
            if (name.equals(shown[i])) {
                return false;
            }
        }
        for (int i = 0; i < hidden.length; i++) {
            if (name.startsWith(hidden[i])) {
                return true;
            }
        }
        return false;
    }

    /** A range of a file. */
    public byte[] read(String path, Number offset, Number length) throws IOException {
        Path target = new Path(path);
        FSDataInputStream stream = target.getFileSystem(configuration).open(target);
        try {
            stream.seek(offset.longValue());
            return IOUtils.toByteArray(stream, length.longValue());
        } finally {
            stream.close();
        }
    }

    /** Length and time of the last change, with a blank between; null when there is none. */
    public String status(String path) throws IOException {
        Path target = new Path(path);
        try {
            FileStatus found = target.getFileSystem(configuration).getFileStatus(target);
            return found.getLen() + " " + found.getModificationTime();
        } catch (FileNotFoundException missing) {
            return null;
        }
    }

    /** One directory's own entries; none when a cleaner has removed it meanwhile. */
    private static final class Listing implements Callable {
        private final FileSystem system;
        private final Path directory;
        private final String prefix;
        private FileStatus[] found = new FileStatus[0];

        private Listing(FileSystem system, Path directory, String prefix) {
            this.system = system;
            this.directory = directory;
            this.prefix = prefix;
        }

        public Object call() throws IOException {
            try {
                found = system.listStatus(directory);
            } catch (FileNotFoundException gone) {
                found = new FileStatus[0];
            }
            return null;
        }
    }
}
