package hivesql;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BBPartHandle;
import org.apache.hadoop.fs.BBUploadHandle;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.spark.TaskContext;

/**
 * Files that tasks upload to where they belong, and that are there once the driver completes them.
 *
 * <p>An object store has no cheap rename, and whoever runs a task a second time must not be seen: so
 * what a task leaves is an upload that waits, told as one word without blanks. All of a small file
 * comes with its word.
 */
final class Uploads {
    /** The word of a file that is nowhere yet, and comes with it; or, with all of it behind, from the driver. */
    static final String WHOLE = "=";
    /** Files that are no longer are told whole: the driver writes each by one request, not by three. */
    private static final String MOST = "fs.hivesql.whole.bytes";
    private static final int USUAL_MOST = Stream.PART;
    /** The driver's memory holds no more of all tasks' files of a job together. */
    private static final long MOST_OF_JOB = 32 << 20;
    /** The number of the task that ran last in this thread, and how much it has told whole. */
    private static final ThreadLocal<long[]> OF_TASK =
            ThreadLocal.withInitial(() -> new long[] {-1, 0});

    private Uploads() {}

    /** What is done with an upload. */
    interface Step {
        void take(String path, String upload, Configuration settings) throws IOException;
    }

    private static MultipartUploader uploader(FileSystem system, Path path) throws IOException {
        return (MultipartUploader) system.createMultipartUploader(path.getParent()).build();
    }

    /** Whether a task may tell so many bytes more whole, as its share of what all of them may. */
    private static boolean takeShare(int bytes) {
        TaskContext task = TaskContext.get();
        if (task == null) return true;
        long[] taken = OF_TASK.get();
        if (taken[0] != task.taskAttemptId()) {
            taken[0] = task.taskAttemptId();
            taken[1] = 0;
        }
        if (taken[1] + bytes > MOST_OF_JOB / task.numPartitions()) return false;
        taken[1] += bytes;
        return true;
    }

    /** Begin an upload to a path. */
    static Stream begin(FileSystem system, Path path) throws IOException {
        if (ObjectStore.isGoogles(system)) return new GoogleUpload(system, path);
        if (ObjectStore.isMicrosofts(system)) return new BesideIt(system, path);
        return new ByParts(system, path);
    }

    /** Let a file be seen, with all that was uploaded for it, or told of it. */
    static void complete(String path, String upload, Configuration settings) throws IOException {
        Path target = new Path(path);
        if (upload.startsWith(WHOLE)) {
            byte[] content = Base64.getUrlDecoder().decode(upload.substring(WHOLE.length()));
            ObjectStore.write(target.getFileSystem(settings), target, content);
            return;
        }
        if (ObjectStore.isGoogles(target.getFileSystem(settings))) {
            GoogleUpload.complete(upload);
            return;
        }
        if (ObjectStore.isMicrosofts(target.getFileSystem(settings))) {
            BesideIt.complete(upload, target, settings);
            return;
        }
        try (MultipartUploader uploader = uploader(target.getFileSystem(settings), target)) {
            ObjectStore.result(uploader.complete(handle(upload), target, parts(upload)));
        }
    }

    /** Give up an upload; nothing happens when it was completed or given up before. */
    static void abort(String path, String upload, Configuration settings) throws IOException {
        if (upload.startsWith(WHOLE)) return;
        Path target = new Path(path);
        if (ObjectStore.isGoogles(target.getFileSystem(settings))) {
            GoogleUpload.abort(upload);
            return;
        }
        if (ObjectStore.isMicrosofts(target.getFileSystem(settings))) {
            Path beside = BesideIt.path(upload);
            beside.getFileSystem(settings).delete(beside, false);
            return;
        }
        try (MultipartUploader uploader = uploader(target.getFileSystem(settings), target)) {
            ObjectStore.result(uploader.abort(handle(upload), target));
        } catch (FileNotFoundException done) {
            return;
        }
    }

    /**
     * Paths and uploads below a directory that nobody has completed, every part ended by a zero.
     *
     * <p>Only S3A itself can list them, and no PySpark brings it: so it is asked by its methods' names.
     * Google tells nobody of them, and forgets them after a week; in Azure they are hidden files.
     */
    static String waiting(FileSystem system, Path root) throws IOException {
        if (!ObjectStore.isAmazons(system)) return "";
        StringBuilder text = new StringBuilder();
        String key = system.makeQualified(root).toUri().getPath().substring(1) + "/";
        try {
            Method list = system.getClass().getMethod("listUploads", String.class);
            RemoteIterator<?> uploads = (RemoteIterator<?>) list.invoke(system, key);
            while (uploads.hasNext()) {
                Object upload = uploads.next();
                text.append(system.makeQualified(new Path("/" + ask(upload, "key")))).append('\0');
                byte[] id = ask(upload, "uploadId").getBytes(StandardCharsets.UTF_8);
                text.append(word(id)).append('\0');
            }
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof IOException reason) throw reason;
            throw new IOException(failed.getCause());
        } catch (ReflectiveOperationException unlike) {
            throw new IOException(system.getClass() + " does not tell its uploads", unlike);
        }
        return text.toString();
    }

    /** Ask as the second kit of AWS has it, or else the first. */
    private static String ask(Object upload, String what) throws ReflectiveOperationException {
        String older = "get" + what.substring(0, 1).toUpperCase() + what.substring(1);
        for (String name : new String[] {what, older}) {
            try {
                return (String) upload.getClass().getMethod(name).invoke(upload);
            } catch (NoSuchMethodException unlike) {
                continue;
            }
        }
        throw new NoSuchMethodException(upload.getClass() + " has no " + what);
    }

    private static UploadHandle handle(String upload) {
        return BBUploadHandle.from(bytes(upload.split(":")[0]));
    }

    private static Map<Integer, PartHandle> parts(String upload) {
        Map<Integer, PartHandle> parts = new HashMap<>();
        String[] words = upload.split(":");
        for (int i = 1; i < words.length; i++) {
            parts.put(i, BBPartHandle.from(bytes(words[i])));
        }
        return parts;
    }

    private static ByteBuffer bytes(String word) {
        return ByteBuffer.wrap(Base64.getUrlDecoder().decode(word));
    }

    static String word(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** What is uploaded to one path. */
    abstract static class Stream extends OutputStream {
        /** Bytes of a part: a store takes 10,000, and each lies in memory until it is there. */
        static final int PART = 16 << 20;

        private ByteArrayOutputStream part = new ByteArrayOutputStream(1 << 16);
        private final int most;
        private byte[] whole;
        private boolean begun;
        private boolean ended;
        private long length;
        final Path path;

        Stream(FileSystem system, Path path) {
            this.path = path;
            most = system.getConf().getInt(MOST, USUAL_MOST);
        }

        @Override
        public void write(int b) throws IOException {
            if (part.size() >= PART) flushPart(false);
            part.write(b);
            length++;
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            if (part.size() >= PART) flushPart(false);
            part.write(bytes, from, count);
            length += count;
        }

        private void flushPart(boolean isLast) throws IOException {
            if (!begun) {
                begin();
                begun = true;
            }
            byte[] rest = send(part.toByteArray(), isLast);
            part = new ByteArrayOutputStream(1 << 16);
            part.write(rest, 0, rest.length);
        }

        /** Begin the upload. */
        abstract void begin() throws IOException;

        /** Take a part; what is returned comes again with the next one. */
        abstract byte[] send(byte[] bytes, boolean isLast) throws IOException;

        /** All parts are there, or wait to be told; nobody sees the file. */
        @Override
        public void close() throws IOException {
            if (ended) return;
            ended = true;
            if (begun || part.size() > most || !takeShare(part.size())) {
                flushPart(true);
            } else {
                whole = part.toByteArray();
                SmallFiles.remember(path.toString(), whole);
            }
        }

        /** Give up what was uploaded, if anything was. */
        void abort() throws IOException {
            ended = true;
            if (begun) giveUp();
        }

        abstract void giveUp() throws IOException;

        long length() {
            return length;
        }

        /** The file as a word for the driver. */
        String told() {
            return whole == null ? uploadAsWord() : WHOLE;
        }

        /** All of a file that is nowhere yet; null of others. */
        byte[] content() {
            return whole;
        }

        abstract String uploadAsWord();
    }

    /** What is uploaded by Hadoop's own uploader. */
    private static final class ByParts extends Stream {
        private final FileSystem system;
        private final Map<Integer, PartHandle> parts = new TreeMap<>();
        private MultipartUploader uploader;
        private UploadHandle upload;
        private CompletableFuture<PartHandle> sent;

        ByParts(FileSystem system, Path path) {
            super(system, path);
            this.system = system;
        }

        @Override
        void begin() throws IOException {
            uploader = uploader(system, path);
            upload = ObjectStore.result(uploader.startUpload(path));
        }

        /** Send a part while the next one is filled. */
        @Override
        byte[] send(byte[] bytes, boolean isLast) throws IOException {
            await();
            sent = UploadParts.send(uploader, upload, parts.size() + 1, isLast, path, bytes);
            if (isLast) await();
            return new byte[0];
        }

        private void await() throws IOException {
            if (sent == null) return;
            CompletableFuture<PartHandle> last = sent;
            sent = null;
            parts.put(parts.size() + 1, ObjectStore.result(last));
        }

        @Override
        void giveUp() throws IOException {
            ObjectStore.result(uploader.abort(upload, path));
            uploader.close();
        }

        @Override
        String uploadAsWord() {
            StringJoiner words = new StringJoiner(":");
            words.add(word(upload.toByteArray()));
            parts.values().forEach(handle -> words.add(word(handle.toByteArray())));
            return words.toString();
        }
    }

    /**
     * A larger file where a connector gives nobody its uploads: hidden beside its place, and moved.
     *
     * <p>What a dead task leaves goes with the directory that it is in.
     */
    private static final class BesideIt extends Stream {
        private final FileSystem system;
        private final Path beside;
        private FSDataOutputStream out;

        BesideIt(FileSystem system, Path path) {
            super(system, path);
            this.system = system;
            beside = new Path(path.getParent(), "." + path.getName() + "-" + UUID.randomUUID());
        }

        static Path path(String upload) {
            return new Path(new String(Base64.getUrlDecoder().decode(upload), StandardCharsets.UTF_8));
        }

        static void complete(String upload, Path target, Configuration settings) throws IOException {
            FileSystem system = target.getFileSystem(settings);
            // A store's rename says no by its answer, and by an error.
            if (!system.rename(path(upload), target)) {
                throw new FileAlreadyExistsException(target + " cannot be put in its place");
            }
        }

        @Override
        void begin() throws IOException {
            out = system.create(beside, false);
        }

        @Override
        byte[] send(byte[] bytes, boolean isLast) throws IOException {
            out.write(bytes);
            if (isLast) out.close();
            return new byte[0];
        }

        @Override
        void giveUp() throws IOException {
            try {
                out.close();
            } finally {
                system.delete(beside, false);
            }
        }

        @Override
        String uploadAsWord() {
            return word(beside.toString().getBytes(StandardCharsets.UTF_8));
        }
    }

    /** A file system in which one file is written, as an upload. */
    static final class Target extends FilterFileSystem {
        private Stream stream;

        Target(FileSystem system) {
            super(system);
        }

        @Override
        public FSDataOutputStream create(
                Path path, FsPermission permission, boolean overwrite, int bufferSize,
                short replication, long blockSize, Progressable progress) throws IOException {
            stream = begin(fs, path);
            return new FSDataOutputStream(stream, statistics);
        }

        /** The upload, which is whole once the file was closed. */
        Stream stream() {
            return stream;
        }
    }
}
