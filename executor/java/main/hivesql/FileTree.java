package hivesql;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.security.UserGroupInformation;

/** Trees of files, and ranges of them, in one call from Python each. */
public final class FileTree implements ThreadFactory {
    private static final int THREADS = 16;

    private final Configuration configuration;
    private final String[] hidden;
    private final String[] shown;
    private final ExecutorService pool;
    private final UserGroupInformation user;

    /** Names that start like one of {@code hidden} are left out, unless {@code shown} has them. */
    public FileTree(Configuration configuration, String hidden, String shown) {
        this.configuration = configuration;
        this.hidden = hidden.split("/");
        this.shown = shown.split("/");
        user = null;
        pool = Executors.newFixedThreadPool(THREADS, this);
    }

    private FileTree(FileTree other, UserGroupInformation user) {
        configuration = other.configuration;
        hidden = other.hidden;
        shown = other.shown;
        pool = other.pool;
        this.user = user;
    }

    /** The same in another user's name, whom this process' login may act for. */
    public FileTree as(String name) throws IOException {
        UserGroupInformation login = UserGroupInformation.getLoginUser();
        return new FileTree(this, UserGroupInformation.createProxyUser(name, login));
    }

    /** Who this works as. */
    public String userName() throws IOException {
        return (user == null ? UserGroupInformation.getCurrentUser() : user).getShortUserName();
    }

    /** Whose a file or directory is. */
    public String owner(String path) throws IOException {
        Path target = new Path(path);
        return system(target).getFileStatus(target).getOwner();
    }

    /** The file system of a path, which asks its server in the name of whoever opened it first. */
    public FileSystem system(Path path) throws IOException {
        if (user == null) return path.getFileSystem(configuration);
        try {
            return user.doAs(
                    (PrivilegedExceptionAction<FileSystem>)
                            () -> path.getFileSystem(configuration));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException(stopped);
        }
    }

    public Thread newThread(Runnable work) {
        Thread thread = new Thread(work, "hivesql-tree");
        thread.setDaemon(true);
        return thread;
    }

    /** Path, length and identity of every file below a directory: every part ended by a zero. */
    public String list(String location) throws Exception {
        Path root = new Path(location);
        FileSystem system = system(root);
        if (ObjectStore.isAmazons(system)) return listAtOnce(system, root);
        List level = new ArrayList();
        level.add(new Listing(system, root, ""));
        return list(system, level);
    }

    /** The same below some of the directories in it, whose names have a zero between them. */
    public String listSome(String location, String names) throws Exception {
        Path root = new Path(location);
        FileSystem system = system(root);
        List level = new ArrayList();
        for (String name : names.split("\0")) {
            level.add(new Listing(system, new Path(root + "/" + name), name + "/"));
        }
        return list(system, level);
    }

    /**
     * What is right below a directory, told like files; names of directories end with a slash. Null
     * of a store that lists a whole tree at once.
     */
    public String top(String location) throws Exception {
        Path root = new Path(location);
        FileSystem system = system(root);
        if (ObjectStore.isAmazons(system)) return null;
        Listing top = new Listing(system, root, "");
        top.call();
        StringBuilder text = new StringBuilder();
        for (FileStatus status : top.found) {
            String name = status.getPath().getName();
            if (!isHidden(name)) tell(name + (status.isDirectory() ? "/" : ""), status, text);
        }
        return text.toString();
    }

    private String list(FileSystem system, List level) throws Exception {
        StringBuilder text = new StringBuilder();
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
                        tell(one.prefix + name, status, text);
                    }
                }
            }
            level = next;
        }
        return text.toString();
    }

    /** The same of an object store, which lists a whole tree by one request for each page of it. */
    private String listAtOnce(FileSystem system, Path root) throws IOException {
        StringBuilder text = new StringBuilder();
        String above = system.makeQualified(root).toUri().getPath() + "/";
        try {
            RemoteIterator<LocatedFileStatus> all = system.listFiles(root, true);
            Set<String> listed = new HashSet<>();
            while (all.hasNext()) {
                FileStatus status = all.next();
                String whole = status.getPath().toUri().getPath();
                if (!listed.add(whole)) {
                    // The pages come again, and would for ever.
                    throw new IOException(root + " cannot be listed: what answers there names "
                            + whole + " again and again, as no store does");
                }
                // A location may be that of a file.
                if (!whole.startsWith(above)) continue;
                String path = whole.substring(above.length());
                if (Arrays.stream(path.split("/")).anyMatch(this::isHidden)) continue;
                tell(path, status, text);
            }
        } catch (FileNotFoundException nothing) {
            return "";
        }
        return text.toString();
    }

    private static void tell(String path, FileStatus status, StringBuilder text) {
        text.append(path).append('\0');
        text.append(status.getLen()).append('\0');
        text.append(identity(status)).append('\0');
    }

    /**
     * What changes with a file: of a store that has tags of contents that tag, as its times are of
     * whole seconds, and e before it; else the time of the last change.
     */
    private static String identity(FileStatus status) {
        String tag = status instanceof EtagSource source ? source.getEtag() : null;
        return tag == null ? Long.toString(status.getModificationTime()) : "e" + tag;
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
        long end = offset.longValue() + length.longValue();
        FSDataInputStream stream =
                ObjectStore.open(system(target), target, end);
        try {
            stream.seek(offset.longValue());
            return IOUtils.toByteArray(stream, length.longValue());
        } finally {
            stream.close();
        }
    }

    /** Write a small file whole, where there is none of its name. */
    public void write(String path, byte[] data) throws IOException {
        Path target = new Path(path);
        ObjectStore.write(system(target), target, data);
    }

    /** Whether tasks can upload files to below a path, for {@link #complete}. */
    public boolean takesUploads(String path) throws IOException {
        Path target = new Path(path);
        return ObjectStore.takesUploads(system(target), target);
    }

    /** Let uploaded files be seen: paths and uploads, every part ended by a zero. */
    public void complete(String uploads) throws Exception {
        each(uploads, Uploads::complete);
    }

    /** Give up uploads that are written the same way. */
    public void abort(String uploads) throws Exception {
        each(uploads, Uploads::abort);
    }

    /** Paths and uploads below a directory that wait, every part ended by a zero. */
    public String waiting(String location) throws Exception {
        Path root = new Path(location);
        return Uploads.waiting(system(root), root);
    }

    private void each(String uploads, Uploads.Step step) throws Exception {
        String[] words = uploads.split("\0");
        List<Callable<Void>> steps = new ArrayList<>();
        for (int i = 0; i + 1 < words.length; i += 2) {
            String path = words[i], upload = words[i + 1];
            steps.add(() -> {
                step.take(path, upload, configuration);
                return null;
            });
        }
        for (Future<Void> done : pool.invokeAll(steps)) {
            ObjectStore.result(done);
        }
    }

    /** Length and identity, with a blank between; null when there is none. */
    public String status(String path) throws IOException {
        Path target = new Path(path);
        try {
            FileStatus found = system(target).getFileStatus(target);
            return found.getLen() + " " + identity(found);
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
