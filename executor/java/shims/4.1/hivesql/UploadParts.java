package hivesql;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UploadHandle;

/** Parts of uploads, as Hadoop sends them from 3.4.2 on. */
final class UploadParts {
    private UploadParts() {}

    /** Send a part, numbered from 1, without waiting for it. */
    static CompletableFuture<PartHandle> send(
            MultipartUploader uploader, UploadHandle upload, int number, boolean isLast, Path path,
            byte[] bytes) throws IOException {
        return uploader.putPart(
                upload, number, isLast, path, new ByteArrayInputStream(bytes), bytes.length);
    }
}
