package hivesql;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.FutureDataInputStreamBuilderImpl;

/**
 * A store's file system, in which readers of Spark's open files whose length a plan says: nobody asks
 * the store for it, and a small file is read by one request.
 *
 * <p>A length is told by an attribute, and holds for the thread that told it: Spark and Hadoop may
 * each have loaded classes of ours by itself, so that no method of this one can be called. Of any
 * other file the store is asked as ever.
 */
public final class SizedFiles extends FilterFileSystem {
    /** The attribute of a file that tells its length, and whether it is read here and there. */
    static final String LENGTH = "user.length";
    /** What the file system of a scheme is beside this one, empty where Hadoop finds it by itself. */
    static final String BENEATH = "fs.hivesql.beneath.";

    private static final String IMPLEMENTATION = "fs.%s.impl";
    private static final String UNCACHED = "fs.%s.impl.disable.cache";
    /** Files of one join that a task reads in turns. */
    private static final int MOST = 8;

    private static final ThreadLocal<Map<String, Sized>> SIZED =
            ThreadLocal.withInitial(() -> new LinkedHashMap<>() {
                private static final long serialVersionUID = 1;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Sized> oldest) {
                    return size() > MOST;
                }
            });

    /** The options under which Spark's readers open files of a store here; none elsewhere. */
    static Map<String, String> options(FileSystem system, Configuration configuration) {
        String scheme = system.getUri().getScheme();
        boolean isShared = !configuration.getBoolean(String.format(UNCACHED, scheme), false);
        if (!ObjectStore.is(system) || !isShared) return Map.of();
        String implementation = String.format(IMPLEMENTATION, scheme);
        return Map.of(
                BENEATH + scheme, configuration.get(implementation, ""),
                implementation, SizedFiles.class.getName(),
                String.format(UNCACHED, scheme), "true");
    }

    /** Whether settings have such options for a path. */
    static boolean isFor(Path path, Configuration settings) {
        String scheme = path.toUri().getScheme();
        return scheme != null && settings.get(BENEATH + scheme) != null;
    }

    /** What a thread knows of a file; {@code inPieces} remembers what was read. */
    private static final class Sized {
        private final long length;
        private final boolean isWhole;
        private final FileOfLength inPieces;

        Sized(FileSystem system, byte[] attribute) {
            ByteBuffer words = ByteBuffer.wrap(attribute);
            length = words.getLong();
            isWhole = length <= SmallFiles.LARGEST || words.get() != 0;
            inPieces = new FileOfLength(system, length, KnownFile.UNKNOWN);
        }
    }

    /** What {@link #LENGTH} says. */
    static byte[] attribute(long length, boolean isRandom) {
        return ByteBuffer.allocate(Long.BYTES + 1)
                .putLong(length).put((byte) (isRandom ? 1 : 0)).array();
    }

    @Override
    public void initialize(URI name, Configuration settings) throws IOException {
        setConf(settings);
        String scheme = name.getScheme();
        Configuration beneath = new Configuration(settings);
        beneath.unset(String.format(UNCACHED, scheme));
        String implementation = settings.get(BENEATH + scheme, "");
        if (implementation.isEmpty()) {
            beneath.unset(String.format(IMPLEMENTATION, scheme));
        } else {
            beneath.set(String.format(IMPLEMENTATION, scheme), implementation);
        }
        fs = FileSystem.get(name, beneath);
    }

    @Override
    public void setXAttr(Path path, String name, byte[] value) {
        SIZED.get().put(path.toString(), new Sized(fs, value));
    }

    @Override
    public void removeXAttr(Path path, String name) {
        SIZED.get().remove(path.toString());
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        Sized sized = SIZED.get().get(path.toString());
        if (sized == null) return fs.getFileStatus(path);
        return new FileStatus(sized.length, false, 1, getDefaultBlockSize(path), 0, path);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        Sized sized = SIZED.get().get(path.toString());
        if (sized == null) return fs.open(path, bufferSize);
        if (sized.isWhole) return sized.inPieces.open(path);
        return ObjectStore.result(openFile(path).build());
    }

    @Override
    public FutureDataInputStreamBuilder openFile(Path path) throws IOException {
        Sized sized = SIZED.get().get(path.toString());
        if (sized == null) return fs.openFile(path);
        if (!sized.isWhole) {
            return fs.openFile(path)
                    .opt("fs.option.openfile.length", Long.toString(sized.length));
        }
        return new FutureDataInputStreamBuilderImpl(fs, path) {
            @Override
            public CompletableFuture<FSDataInputStream> build() throws IOException {
                return CompletableFuture.completedFuture(sized.inPieces.open(path));
            }
        };
    }

    @Override
    public void close() {
        // What is beneath belongs to all of the process.
    }
}
