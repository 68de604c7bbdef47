package hivesql;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BBPartHandle;
import org.apache.hadoop.fs.BBUploadHandle;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Files that tasks upload to where they belong, and that are there once the driver completes them.
 *
 * <p>An object store has no cheap rename, and whoever runs a task a second time must not be seen: so
 * what a task leaves is an upload that waits, told as one word without blanks.
 */
final class Uploads {
    private Uploads() {}

    /** What is done with an upload. */
    interface Step {
        void take(String path, String upload, Configuration settings) throws IOException;
    }

    private static MultipartUploader uploader(FileSystem system, Path path) throws IOException {
        return (MultipartUploader) system.createMultipartUploader(path.getParent()).build();
    }

    /** Let a file be seen, with all that was uploaded for it. */
    static void complete(String path, String upload, Configuration settings) throws IOException {
        Path target = new Path(path);
        try (MultipartUploader uploader = uploader(target.getFileSystem(settings), target)) {
            ObjectStore.result(uploader.complete(handle(upload), target, parts(upload)));
        }
    }

    /** Give up an upload; nothing happens when it was completed or given up before. */
    static void abort(String path, String upload, Configuration settings) throws IOException {
        Path target = new Path(path);
        try (MultipartUploader uploader = uploader(target.getFileSystem(settings), target)) {
            ObjectStore.result(uploader.abort(handle(upload), target));
        } catch (FileNotFoundException done) {
            return;
        }
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

    /** What is uploaded to one path. */
    static final class Stream extends OutputStream {
        /** Bytes of a part: a store takes 10,000, and each lies in memory until it is there. */
        private static final int PART = 16 << 20;

        private final Path path;
        private final MultipartUploader uploader;
        private final UploadHandle upload;
        private final Map<Integer, PartHandle> parts = new TreeMap<>();
        private ByteArrayOutputStream part = new ByteArrayOutputStream(1 << 16);
        private CompletableFuture<PartHandle> sent;
        private boolean ended;
        private long length;

        Stream(FileSystem system, Path path) throws IOException {
            this.path = path;
            uploader = uploader(system, path);
            upload = ObjectStore.result(uploader.startUpload(path));
        }

        @Override
        public void write(int b) throws IOException {
            if (part.size() >= PART) send(false);
            part.write(b);
            length++;
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            if (part.size() >= PART) send(false);
            part.write(bytes, from, count);
            length += count;
        }

        /** Send a part while the next one is filled. */
        private void send(boolean isLast) throws IOException {
            await();
            byte[] bytes = part.toByteArray();
            part = new ByteArrayOutputStream(1 << 16);
            sent = UploadParts.send(uploader, upload, parts.size() + 1, isLast, path, bytes);
        }

        private void await() throws IOException {
            if (sent == null) return;
            CompletableFuture<PartHandle> last = sent;
            sent = null;
            parts.put(parts.size() + 1, ObjectStore.result(last));
        }

        /** All parts are there; nobody sees the file. */
        @Override
        public void close() throws IOException {
            if (ended) return;
            ended = true;
            send(true);
            await();
            uploader.close();
        }

        /** Give up what was uploaded. */
        void abort() throws IOException {
            ended = true;
            ObjectStore.result(uploader.abort(upload, path));
            uploader.close();
        }

        long length() {
            return length;
        }

        /** The upload as a word for the driver. */
        String told() {
            StringJoiner words = new StringJoiner(":");
            words.add(word(upload.toByteArray()));
            parts.values().forEach(handle -> words.add(word(handle.toByteArray())));
            return words.toString();
        }

        private static String word(byte[] bytes) {
            return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
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
            stream = new Stream(fs, path);
            return new FSDataOutputStream(stream, statistics);
        }

        /** The upload, which is whole once the file was closed. */
        Stream stream() {
            return stream;
        }
    }
}
