package hivesql;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockResult;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * A query's rows as messages of Arrow, which the driver takes block by block.
 *
 * <p>Spark gives the driver a partition as a whole, in memory. Of one that is large, the task puts its
 * messages onto its executor's disk, and gives a ticket instead: the driver asks for the blocks one
 * after the other. The blocks are called as parts of a broadcast, for Spark removes those from all
 * executors at once, also when nobody is left who would.
 */
public final class WaitingRows {
    private static final int MOST_AT_ONCE = 1 << 20;
    private static final int BLOCK_BYTES = 4 << 20;
    private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

    private final Broadcast<Integer> owner;
    private final JavaRDD<byte[]> messages;

    public WaitingRows(RDD<byte[]> batches) {
        owner = JavaSparkContext.fromSparkContext(batches.context()).broadcast(0);
        messages = batches.toJavaRDD().mapPartitions(new Task(owner.id()), true);
    }

    /** Messages of Arrow, or one ticket in a partition: a task's attempt, and how many blocks it has. */
    public RDD<byte[]> messages() {
        return messages.rdd();
    }

    /** The messages of a block, one behind the other; null where its executor was lost. */
    public byte[] block(long attempt, int number) {
        BlockManager store = SparkEnv.get().blockManager();
        BlockId name = nameOf(owner.id(), attempt, number);
        Option<BlockResult> found = store.get(name, BYTES);
        if (found.isEmpty()) return null;
        scala.collection.Iterator<?> values = found.get().data();
        byte[] block = (byte[]) values.next();
        // The lock on the block goes with the iterator's end, and without that it cannot be removed.
        if (values.hasNext()) throw new IllegalStateException(name + " has more than one value");
        store.master().removeBlock(name);
        return block;
    }

    /** Removes the blocks that nobody has asked for. */
    public void close() {
        owner.destroy();
    }

    private static BlockId nameOf(long owner, long attempt, int number) {
        return new BroadcastBlockId(owner, "rows" + attempt + "_" + number);
    }

    private static final class Task implements FlatMapFunction<Iterator<byte[]>, byte[]> {
        private final long owner;

        Task(long owner) {
            this.owner = owner;
        }

        public Iterator<byte[]> call(Iterator<byte[]> batches) {
            List<byte[]> first = new ArrayList<>();
            for (long size = 0; size < MOST_AT_ONCE; ) {
                if (!batches.hasNext()) return first.iterator();
                byte[] batch = batches.next();
                size += batch.length;
                first.add(batch);
            }
            if (!batches.hasNext() && first.size() == 1) return first.iterator();
            return List.of(put(first.iterator(), batches)).iterator();
        }

        private byte[] put(Iterator<byte[]> first, Iterator<byte[]> others) {
            long attempt = TaskContext.get().taskAttemptId();
            ByteArrayOutputStream block = new ByteArrayOutputStream();
            int count = 0;
            while (first.hasNext() || others.hasNext()) {
                block.writeBytes((first.hasNext() ? first : others).next());
                if (block.size() >= BLOCK_BYTES || !first.hasNext() && !others.hasNext()) {
                    put(nameOf(owner, attempt, count++), block.toByteArray());
                    block.reset();
                }
            }
            return ByteBuffer.allocate(Long.BYTES + Integer.BYTES).putLong(attempt).putInt(count).array();
        }

        private static void put(BlockId name, byte[] block) {
            BlockManager store = SparkEnv.get().blockManager();
            if (!store.putSingle(name, block, StorageLevel.DISK_ONLY(), true, BYTES)) {
                throw new IllegalStateException("a block of rows cannot be put onto the disk: " + name);
            }
        }
    }
}
