package hivesql;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;

/** Small files of events. */
final class OrcFiles {
    static final Configuration SETTINGS = new Configuration();
    static final int GROUP = 1000;
    static final long BUCKET = 1L << 29;

    private OrcFiles() {}

    record Event(long operation, long write, long bucket, long row, long writer) {}

    static Path fresh() {
        try {
            return new Path(Files.createTempDirectory("hivesql-java-").toUri().toString(), "bucket_00000");
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    static TypeDescription schema(String row) {
        return TypeDescription.fromString(
                "struct<operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,"
                + "currentTransaction:bigint,row:struct<" + row + ">>");
    }

    static Path write(List<Event> events) {
        Path path = fresh();
        OrcFile.WriterOptions options = OrcFile.writerOptions(SETTINGS).setSchema(schema("a:int"))
                .rowIndexStride(GROUP).stripeSize(1L << 16).enforceBufferSize().bufferSize(1 << 12);
        try (Writer writer = OrcFile.createWriter(path, options)) {
            write(writer, schema("a:int"), events, batch -> {
                StructColumnVector row = (StructColumnVector) batch.cols[5];
                row.noNulls = false;
                row.isNull[batch.size] = true;
            });
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return path;
    }

    /** Write events; the row of each is set in the batch at the place of its size. */
    static void write(
            Writer writer, TypeDescription schema, List<Event> events, Consumer<VectorizedRowBatch> row)
            throws IOException {
        VectorizedRowBatch batch = schema.createRowBatch();
        for (Event event : events) {
            long[] ids = {event.operation, event.write, event.bucket, event.row, event.writer};
            for (int i = 0; i < ids.length; i++) {
                ((LongColumnVector) batch.cols[i]).vector[batch.size] = ids[i];
            }
            row.accept(batch);
            batch.size++;
            if (batch.size == batch.getMaxSize()) {
                writer.addRowBatch(batch);
                batch.reset();
            }
        }
        if (batch.size > 0) {
            writer.addRowBatch(batch);
        }
    }

    static long length(Path path) {
        try {
            return path.getFileSystem(SETTINGS).getFileStatus(path).getLen();
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
