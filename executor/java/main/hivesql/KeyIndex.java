package hivesql;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.Writer;

/** The footer entries of an ACID file: the last key of each stripe, the numbers of events, the version. */
public final class KeyIndex implements OrcFile.WriterCallback {
    private final boolean deletes;
    private final String sparkVersion;
    private final boolean[] finer;
    private final StringBuilder keys = new StringBuilder();
    private String last;
    private boolean open;
    private long events;

    /** finer[0] tells in the end whether there are times that Spark would cut. */
    public KeyIndex(boolean deletes, String sparkVersion, boolean[] finer) {
        this.deletes = deletes;
        this.sparkVersion = sparkVersion;
        this.finer = finer;
    }

    /** Call before each batch is added: a stripe ends with the last row of a batch. */
    public void last(VectorizedRowBatch batch) {
        events += batch.size;
        open = true;
        int end = batch.size - 1;
        last = at(batch, 1, end) + "," + at(batch, 2, end) + "," + at(batch, 3, end) + ";";
    }

    private static long at(VectorizedRowBatch batch, int column, int row) {
        LongColumnVector vector = (LongColumnVector) batch.cols[column];
        return vector.vector[vector.isRepeating ? 0 : row];
    }

    public void preStripeWrite(OrcFile.WriterContext context) throws IOException {
        if (open) keys.append(last);
        open = false;
    }

    /** ORC writes its last stripe after this. */
    public void preFooterWrite(OrcFile.WriterContext context) throws IOException {
        preStripeWrite(context);
        Writer writer = context.getWriter();
        String stats = deletes ? "0,0," + events : events + ",0,0";
        writer.addUserMetadata("hive.acid.key.index", encoded(keys.toString()));
        writer.addUserMetadata("hive.acid.stats", encoded(stats));
        writer.addUserMetadata("hive.acid.version", encoded("2"));
        writer.addUserMetadata("org.apache.spark.version", encoded(sparkVersion));
        if (finer[0]) {
            writer.addUserMetadata("hivesql.nanoseconds", encoded("true"));
        }
    }

    private static ByteBuffer encoded(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
