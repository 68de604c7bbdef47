package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.CompressionKind;
import org.apache.orc.OrcConf;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.StripeInformation;
import org.apache.orc.StripeStatistics;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.util.SerializableConfiguration;

/**
 * One output file of a compaction, merged from files that are in order already.
 *
 * <p>Called with a line of JSON for each file, and answers with one. Stripes that stay whole are
 * copied as they are.
 */
public final class MergeFiles implements Function, Serializable {
    /** A stripe of so many rows is worth its overhead, however few bytes it has. */
    private static final long MANY_ROWS = 50000L;

    private final SerializableConfiguration settings;

    public MergeFiles(Configuration settings) {
        this.settings = new SerializableConfiguration(settings);
    }

    public Object call(Object plan) throws Exception {
        JsonNode line = new ObjectMapper().readTree((String) plan);
        return new Merge(line, new Configuration(settings.value())).run();
    }

    /** Merge files, a task for each plan, whose answers come in the plans' order, a line for each. */
    public TaskAnswers run(JavaSparkContext context, List<String> plans) {
        TaskAnswers answers = new TaskAnswers();
        List merged = context.parallelize(plans, plans.size()).map(this).collect();
        merged.forEach(answers::add);
        return answers;
    }

    static final class Merge {
        final JsonNode plan;
        final Configuration conf;
        final String output;
        /** Null where the output is no upload. */
        Uploads.Target upload;
        boolean done;
        final String kind;
        final long smallestCopy;
        final Snapshot snapshot;
        final Deletes deletes;
        final StringBuilder index = new StringBuilder();
        Writer writer;
        TypeDescription schema;
        boolean proleptic;
        boolean copies;
        int bufferSize;
        boolean pending;
        int stripes;
        int copied;
        long rows;
        Key last;

        Merge(JsonNode plan, Configuration conf) throws IOException {
            this.plan = plan;
            this.conf = conf;
            for (Iterator i = plan.get("conf").fields(); i.hasNext();) {
                java.util.Map.Entry entry = (java.util.Map.Entry) i.next();
                conf.set((String) entry.getKey(), ((JsonNode) entry.getValue()).asText());
            }
            // Another attempt of this task must find no file of ours in its way.
            output = plan.hasNonNull("upload to")
                    ? plan.get("upload to").asText()
                    : plan.get("output").asText() + "/" + java.util.UUID.randomUUID();
            kind = plan.get("kind").asText();
            smallestCopy = plan.get("smallest_copy").asLong();
            snapshot = new Snapshot(plan);
            deletes = new Deletes(plan.get("deletes"), conf, snapshot);
        }

        Object[] run() throws IOException {
            try {
                describe();
                for (int i = 0; i < plan.get("groups").size(); i++) {
                    JsonNode group = SortedInput.item(plan.get("groups"), i);
                    if (group.size() == 1) {
                        readAlone(SortedInput.item(group, 0));
                    } else {
                        readTogether(group);
                    }
                }
                finish();
                done = true;
            } finally {
                deletes.close();
                if (!done && upload != null) {
                    upload.stream().abort();
                }
            }
            List<byte[]> contents = new ArrayList<>();
            if (upload != null && upload.stream().content() != null) {
                contents.add(upload.stream().content());
            }
            String line = "{\"path\":" + new ObjectMapper().writeValueAsString(writer == null ? "" : output)
                + ",\"upload\":\"" + (upload == null ? "" : upload.stream().told()) + "\""
                + ",\"length\":" + (upload == null ? 0 : upload.stream().length())
                + ",\"rows\":" + rows
                    + ",\"stripes\":" + stripes + ",\"copied\":" + copied + "}\n";
            return TaskAnswers.answer(line, contents);
        }

        /** Schema, calendar and size of the chunks are those of the first input. */
        void describe() throws IOException {
            Reader first = 
                    SortedInput.open(SortedInput.item(SortedInput.item(plan.get("groups"), 0), 0), conf, null);
            try {
                schema = first.getSchema();
                proleptic = first.writerUsedProlepticGregorian();
                // A file without a codec names no size: tiny ones have none, whatever the table has.
                bufferSize = first.getCompressionKind() == CompressionKind.NONE
                        ? OrcConf.BUFFER_SIZE.getInt(conf)
                        : first.getCompressionSize();
                boolean sized = plan.get("conf").has(OrcConf.BUFFER_SIZE.getAttribute());
                copies = smallestCopy >= 0 && !sized;
            } finally {
                first.close();
            }
        }

        /** A file whose keys lie between those of all others: stripe by stripe. */
        void readAlone(JsonNode file) throws IOException {
            boolean filtered = file.get("filtered").asBoolean();
            Reader reader = SortedInput.open(file, conf, Boolean.valueOf(proleptic));
            try {
                if (filtered || !fits(reader)) {
                    readAll(new SortedInput(reader, SortedInput.path(file), null, filtered, kind, schema));
                    return;
                }
                Path path = SortedInput.path(file);
                FSDataInputStream bytes = ObjectStore.open(
                        path.getFileSystem(conf), path, file.get("length").asLong(),
                        KnownFile.of(file));
                try {
                    List statistics = reader.getStripeStatistics();
                    long row = 0;
                    for (int i = 0; i < reader.getStripes().size(); i++) {
                        StripeInformation stripe = (StripeInformation) reader.getStripes().get(i);
                        StripeStatistics about = (StripeStatistics) statistics.get(i);
                        if (!copy(reader, bytes, stripe, about, row)) {
                            readAll(new SortedInput(reader, SortedInput.path(file), stripe, filtered, kind, schema));
                        }
                        row += stripe.getNumberOfRows();
                    }
                } finally {
                    bytes.close();
                }
            } finally {
                reader.close();
            }
        }

        /** Whether stripes of this file may stand in the output as they are. */
        boolean fits(Reader reader) {
            return copies
                    && reader.getSchema().equals(schema)
                    && reader.getCompressionKind() == compression()
                    && reader.getRowIndexStride() == OrcConf.ROW_INDEX_STRIDE.getLong(conf)
                    && reader.getCompressionSize() <= bufferSize
                    && reader.getFileVersion() == OrcFile.Version.CURRENT
                    && reader.getWriterVersion() == OrcFile.CURRENT_WRITER
                    && reader.writerUsedProlepticGregorian() == proleptic
                    && reader.getColumnEncryptionKeys().length == 0;
        }

        CompressionKind compression() {
            return CompressionKind.valueOf(OrcConf.COMPRESS.getString(conf).toUpperCase());
        }

        boolean copy(
                Reader reader, FSDataInputStream bytes, StripeInformation stripe, StripeStatistics about,
                long row) throws IOException {
            boolean small = stripe.getLength() < smallestCopy && stripe.getNumberOfRows() < MANY_ROWS;
            if (small || stripe.getLength() > Integer.MAX_VALUE - 64) {
                return false;
            }
            Key end = null;
            if (!kind.equals("plain")) {
                Key[] ends = Key.ends(reader, about, row, stripe.getNumberOfRows());
                if (ends == null || deletes.touch(ends[0], ends[1])) {
                    return false;
                }
                inOrder(ends[0], reader);
                end = ends[1];
            }
            begin();
            byte[] content = new byte[(int) stripe.getLength()];
            bytes.readFully(stripe.getOffset(), content, 0, content.length);
            StripeStatistics[] statistics = new StripeStatistics[] {about};
            if (pending) {
                entry();
            }
            writer.appendStripe(content, 0, content.length, stripe, statistics);
            last = end;
            entry();
            copied++;
            rows += stripe.getNumberOfRows();
            return true;
        }

        void inOrder(Key next, Object source) {
            if (last != null && last.compareTo(next) > 0) {
                throw new IllegalStateException("keys are not in order: " + source);
            }
        }

        void readAll(SortedInput input) throws IOException {
            PriorityQueue queue = new PriorityQueue();
            if (input.more()) {
                queue.add(input);
            }
            merge(queue);
        }

        /** Files whose keys interleave, all at once. */
        void readTogether(JsonNode group) throws IOException {
            PriorityQueue queue = new PriorityQueue();
            Reader[] readers = new Reader[group.size()];
            try {
                for (int i = 0; i < readers.length; i++) {
                    JsonNode file = SortedInput.item(group, i);
                    readers[i] = SortedInput.open(file, conf, Boolean.valueOf(proleptic));
                    SortedInput input = new SortedInput(
                            readers[i], SortedInput.path(file), null, file.get("filtered").asBoolean(), kind, schema);
                    if (input.more()) {
                        queue.add(input);
                    }
                }
                merge(queue);
            } finally {
                for (int i = 0; i < readers.length; i++) {
                    if (readers[i] != null) {
                        readers[i].close();
                    }
                }
            }
        }

        void merge(PriorityQueue queue) throws IOException {
            SortedInput first = (SortedInput) queue.peek();
            if (first != null && first.keyed) {
                inOrder(first.key, first.path);
            }
            if (kind.equals("delete")) {
                mergeDeletes(queue);
                return;
            }
            int[] kept = new int[1024];
            while (!queue.isEmpty()) {
                SortedInput input = (SortedInput) queue.poll();
                SortedInput other = (SortedInput) queue.peek();
                int count = 0;
                boolean more = true;
                while (more && (other == null || input.compareTo(other) <= 0)) {
                    if (input.isVisible(snapshot) && !(input.keyed && deletes.hold(input.key))) {
                        if (count == kept.length) {
                            kept = java.util.Arrays.copyOf(kept, count * 2);
                        }
                        kept[count++] = input.at;
                    }
                    if (input.isLastOfBatch()) {
                        write(input, kept, count);
                        count = 0;
                    }
                    more = input.more();
                }
                write(input, kept, count);
                if (more) {
                    queue.add(input);
                } else {
                    input.close();
                }
            }
        }

        /** Of several events that delete one row the earliest is kept. */
        void mergeDeletes(PriorityQueue queue) throws IOException {
            VectorizedRowBatch batch = schema.createRowBatchV2();
            Key before = null;
            while (!queue.isEmpty()) {
                SortedInput input = (SortedInput) queue.poll();
                if (input.isVisible(snapshot) && !input.key.equals(before)) {
                    before = input.key.copy();
                    long[] values = {2, before.write, before.bucket, before.row, input.writer()};
                    for (int i = 0; i < values.length; i++) {
                        ((LongColumnVector) batch.cols[i]).vector[batch.size] = values[i];
                    }
                    batch.cols[5].noNulls = false;
                    batch.cols[5].isNull[batch.size++] = true;
                    if (batch.size == batch.getMaxSize()) {
                        add(batch, before);
                        batch.reset();
                    }
                }
                if (input.more()) {
                    queue.add(input);
                } else {
                    input.close();
                }
            }
            add(batch, before);
        }

        void write(SortedInput input, int[] kept, int count) throws IOException {
            if (count == 0) {
                return;
            }
            VectorizedRowBatch batch = input.batch;
            int size = batch.size;
            if (count < size) {
                System.arraycopy(kept, 0, batch.selected, 0, count);
                batch.selectedInUse = true;
                batch.size = count;
            }
            add(batch, input.keyed ? input.keyAt(kept[count - 1]) : null);
            batch.selectedInUse = false;
            batch.size = size;
        }

        void add(VectorizedRowBatch batch, Key end) throws IOException {
            if (batch.size == 0) {
                return;
            }
            begin();
            writer.addRowBatch(batch);
            rows += batch.size;
            last = end;
            pending = true;
            // ORC ends a stripe only after all rows of a batch.
            if (writer.getStripes().size() > stripes) {
                entry();
            }
        }

        /** A stripe ends with the last key. */
        void entry() {
            stripes++;
            pending = false;
            if (last != null) {
                index.append(last.write).append(',').append(last.bucket).append(',').append(last.row);
                index.append(';');
            }
        }

        void begin() throws IOException {
            if (writer == null) {
                Path path = new Path(output);
                OrcFile.WriterOptions options;
                if (plan.hasNonNull("upload to")) {
                    upload = new Uploads.Target(path.getFileSystem(conf));
                    options = OrcOutput.options(upload, conf);
                } else {
                    options = OrcOutput.options(path, conf);
                }
                options.setSchema(schema).compress(compression()).setProlepticGregorian(proleptic);
                if (copies) {
                    options.bufferSize(bufferSize).enforceBufferSize();
                }
                writer = SortedDictionary.use(OrcFile.createWriter(path, options), conf);
            }
        }

        void finish() throws IOException {
            if (writer == null) {
                return;
            }
            if (pending) {
                entry();
            }
            for (Iterator i = plan.get("metadata").fields(); i.hasNext();) {
                java.util.Map.Entry one = (java.util.Map.Entry) i.next();
                tell((String) one.getKey(), ((JsonNode) one.getValue()).asText());
            }
            if (!kind.equals("plain")) {
                tell("hive.acid.version", "2");
                tell("hive.acid.stats", kind.equals("delete") ? "0,0," + rows : rows + ",0,0");
                tell("hive.acid.key.index", index.toString());
            }
            writer.close();
            if (writer.getStripes().size() != stripes || writer.getNumberOfRows() != rows) {
                throw new IllegalStateException("ORC made other stripes than were counted: " + output);
            }
        }

        void tell(String name, String text) throws IOException {
            writer.addUserMetadata(name, ByteBuffer.wrap(text.getBytes("UTF-8")));
        }
    }
}
