package hivesql;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * A file system in which Spark's writers make files, each of which becomes an upload to its place.
 *
 * <p>A path is that of the place, with its scheme in front of the store's name, and below it the task's
 * attempt: several may write one file at a time. What became of a file
 * is told by an attribute: Spark and Hadoop may each have loaded classes of ours by itself, so that no
 * method of this one can be called.
 */
public final class UploadedFiles extends FileSystem {
    /** The attribute of a file that tells its upload. */
    static final String UPLOAD = "user.upload";
    /** The attribute that is all of a file of which the other says that it is nowhere. */
    static final String CONTENT = "user.content";
    private static final String SCHEME = "hivesqlupload";
    /** What tasks of this process write, until it is asked for. */
    private static final Map<String, Counted> WRITTEN = new ConcurrentHashMap<>();

    private URI uri;

    /** The path here of what an attempt, or somebody else who is called so, writes to a place. */
    static Path path(Path place, String attempt) {
        URI there = place.toUri();
        String store = there.getScheme() + "@" + there.getAuthority();
        return new Path(SCHEME, store, there.getPath() + "/" + attempt);
    }

    private static Path place(Path path) {
        URI place = path.getParent().toUri();
        String[] store = place.getAuthority().split("@", 2);
        return new Path(store[0], store[1], place.getPath());
    }

    /** An upload that counts the ends of lines in it. */
    private static final class Counted extends OutputStream {
        private final Uploads.Stream stream;
        private long lines;

        Counted(Uploads.Stream stream) {
            this.stream = stream;
        }

        @Override
        public void write(int b) throws IOException {
            if (b == '\n') lines++;
            stream.write(b);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            for (int i = from; i < from + count; i++) {
                if (bytes[i] == '\n') lines++;
            }
            stream.write(bytes, from, count);
        }

        @Override
        public void close() throws IOException {
            stream.close();
        }

        String told() {
            return String.join("\0", stream.told(), Long.toString(stream.length()), Long.toString(lines));
        }
    }

    @Override
    public void initialize(URI name, Configuration settings) throws IOException {
        super.initialize(name, settings);
        uri = URI.create(SCHEME + "://" + name.getRawAuthority());
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    @Override
    public URI getUri() {
        return uri;
    }

    @Override
    public FSDataOutputStream create(
            Path path, FsPermission permission, boolean overwrite, int bufferSize,
            short replication, long blockSize, Progressable progress) throws IOException {
        Path place = place(path);
        Counted counted = new Counted(Uploads.begin(place.getFileSystem(getConf()), place));
        if (WRITTEN.putIfAbsent(path.toString(), counted) != null) {
            throw new FileAlreadyExistsException(path + " is written twice");
        }
        return new FSDataOutputStream(counted, statistics);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        return new FileStatus(
                written(path).stream.length(), false, 1, getDefaultBlockSize(path), 0, path);
    }

    private static Counted written(Path path) throws FileNotFoundException {
        Counted counted = WRITTEN.get(path.toString());
        if (counted == null) throw new FileNotFoundException(path + " is nowhere yet");
        return counted;
    }

    /** The word of an upload, its length, and ends of lines, with zeros in between; or its content. */
    @Override
    public byte[] getXAttr(Path path, String name) throws IOException {
        if (name.equals(CONTENT)) return written(path).stream.content();
        return written(path).told().getBytes(StandardCharsets.UTF_8);
    }

    /** What was told is known now by who asked. */
    @Override
    public void removeXAttr(Path path, String name) {
        WRITTEN.remove(path.toString());
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) {
        return true;
    }

    @Override
    public Path getWorkingDirectory() {
        return new Path(uri.getScheme(), uri.getAuthority(), "/");
    }

    @Override
    public void setWorkingDirectory(Path path) {
        // Paths are whole.
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) {
        throw new UnsupportedOperationException(path + " is only written");
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
        throw new UnsupportedOperationException(path + " is written once");
    }

    @Override
    public boolean rename(Path source, Path target) {
        throw new UnsupportedOperationException(source + " stays where it is");
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        Counted counted = WRITTEN.remove(path.toString());
        if (counted != null) counted.stream.abort();
        return counted != null;
    }

    @Override
    public FileStatus[] listStatus(Path path) {
        return new FileStatus[0];
    }
}
