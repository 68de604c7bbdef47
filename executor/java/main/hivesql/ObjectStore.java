package hivesql;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.orc.OrcFile;

/** What is otherwise where each question is a request, and a rename a copy. */
final class ObjectStore {
    private static final Set<String> AMAZONS = Set.of("s3a", "s3", "s3n");
    private static final Set<String> MICROSOFTS = Set.of("abfs", "abfss");

    private ObjectStore() {}

    /** Whether each question to a file system is a request to a store, which knows no hosts. */
    static boolean is(FileSystem system) {
        return isAmazons(system) || isGoogles(system) || isMicrosofts(system);
    }

    /** Whether a file system is Amazon's, which lists whole trees at once. */
    static boolean isAmazons(FileSystem system) {
        return AMAZONS.contains(system.getUri().getScheme());
    }

    /** Whether a file system is Google's. */
    static boolean isGoogles(FileSystem system) {
        return "gs".equals(system.getUri().getScheme());
    }

    /** Whether a file system is Microsoft's. */
    static boolean isMicrosofts(FileSystem system) {
        return MICROSOFTS.contains(system.getUri().getScheme());
    }

    /** Whether files can be uploaded by a task, and be seen once the driver says so. */
    static boolean takesUploads(FileSystem system, Path path) throws IOException {
        if (isGoogles(system)) return GoogleUpload.canAsk(system);
        if (isMicrosofts(system)) return true;
        return isAmazons(system)
                && system.hasPathCapability(path, CommonPathCapabilities.FS_MULTIPART_UPLOADER);
    }

    /** Options to read an ORC file of which is known how long it is. */
    static OrcFile.ReaderOptions readerOptions(
            Path path, long length, KnownFile known, Configuration settings) throws IOException {
        OrcFile.ReaderOptions options = OrcFile.readerOptions(settings).maxLength(length);
        FileSystem system = path.getFileSystem(settings);
        return is(system) ? options.filesystem(new FileOfLength(system, length, known)) : options;
    }

    /** Open a file without asking how long it is: {@code length} bytes of it, at least, are there. */
    static FSDataInputStream open(FileSystem system, Path path, long length) throws IOException {
        if (!is(system)) return system.open(path);
        // Older lines of Hadoop know neither, and ask.
        return result(system.openFile(path)
                .opt("fs.option.openfile.length", Long.toString(length))
                .opt("fs.option.openfile.read.policy", "random")
                .build());
    }

    /** The same of a file of an object store that may be remembered. */
    static FSDataInputStream open(FileSystem system, Path path, long length, KnownFile known)
            throws IOException {
        return is(system)
                ? new FileOfLength(system, length, known).open(path)
                : system.open(path);
    }

    /** Write a small file whole, where there is none of its name. */
    static void write(FileSystem system, Path target, byte[] data) throws IOException {
        // Older lines of Hadoop know no conditional write, and look before they write.
        FSDataOutputStreamBuilder<?, ?> builder =
                system.createFile(target).overwrite(false).recursive();
        builder.opt("fs.option.create.conditional.overwrite", "true");
        try (FSDataOutputStream stream = builder.build()) {
            stream.write(data);
        }
    }

    /** What a request gave, with its failure as it was. */
    static <T> T result(Future<T> request) throws IOException {
        try {
            return request.get();
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof IOException reason) throw reason;
            if (failed.getCause() instanceof RuntimeException reason) throw reason;
            throw new IOException(failed.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException(stopped.toString()).initCause(stopped);
        }
    }
}

/** The file system of one file whose length is known: a small one takes one request, others few. */
final class FileOfLength extends FilterFileSystem {
    private final long length;
    private final KnownFile known;
    private NearBytes.Pieces pieces;

    FileOfLength(FileSystem system, long length, KnownFile known) {
        super(system);
        this.length = length;
        this.known = known;
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return open(path);
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
        if (pieces == null) {
            pieces = length > SmallFiles.LARGEST
                    ? new NearBytes.Pieces(fs, path, length, known)
                    : new NearBytes.Pieces(path, whole(path));
        }
        return new FSDataInputStream(new StoreInput(pieces));
    }

    private byte[] whole(Path path) throws IOException {
        byte[] bytes = SmallFiles.recall(path.toString(), known);
        if (bytes == null || bytes.length != length) {
            bytes = new byte[(int) length];
            try (FSDataInputStream stream = ObjectStore.open(fs, path, length)) {
                stream.readFully(0L, bytes);
            }
            SmallFiles.remember(path.toString(), known, bytes);
        }
        return bytes;
    }
}
