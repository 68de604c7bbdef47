package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.CompressionKind;
import org.apache.orc.OrcFile;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.SerializableConfiguration;
import scala.collection.Iterator;

/**
 * Writes the rows of one task into ACID ORC files.
 *
 * <p>Rows come sorted by file: new files begin where the branch, the writer number or a key changes. A
 * branch has one write or two: a row of an update goes into a file of deletes and one of inserts, so
 * nobody has to sort the one from the other. Where nobody may change a row twice, rows come by their ids
 * and not by branch, and the files of all branches are open together. The answer is a line for each file: its name, rows,
 * bytes, write, writer number, upload and keys, each encoded as in URLs, with blanks between them. Files
 * of attempts that fail are in no answer, so nobody takes them for written.
 */
public final class AcidWriter implements Serializable {
    /** Where files are written aside; or the places to which they are uploaded, else null. */
    final String directory;
    final UploadPlaces uploads;
    final String schema;
    final String sparkVersion;
    final StructType input;
    final Broadcast settings;
    final long writeId;
    /** The statement id of each write, and whether its events are deletes. */
    final int[] statements;
    final boolean[] deletes;
    /** The writes that a row of each branch goes to. */
    final int[][] branches;
    final int branchAt;
    final int writerAt;
    final int idAt;
    final int byAt;
    final int rowAt;
    final int nanosecondsAt;
    final int keysAt;
    final boolean evenEmpty;
    /** Whether rows come by writer, key and row id, and no id may come twice. */
    final boolean once;
    /** Up to how many bytes of values a file of one batch is left uncompressed; 0 for none at all. */
    final long uncompressedBytes;

    /** The plan as JSON; its entries that end in "at" are ordinals of the input, -1 for what it has not. */
    public AcidWriter(String text, StructType input, Configuration settings) throws IOException {
        JsonNode plan = new ObjectMapper().readTree(text);
        this.directory = plan.get("directory").asText();
        this.uploads = plan.hasNonNull("uploads") ? new UploadPlaces(plan.get("uploads")) : null;
        this.schema = plan.get("schema").asText();
        this.sparkVersion = plan.get("spark version").asText();
        this.input = input;
        this.settings = Settings.share(settings);
        this.writeId = plan.get("write id").asLong();
        JsonNode writes = plan.get("writes");
        this.statements = new int[writes.size()];
        this.deletes = new boolean[writes.size()];
        for (int i = 0; i < statements.length; i++) {
            JsonNode write = SortedInput.item(writes, i);
            statements[i] = write.get("statement").asInt();
            deletes[i] = write.get("deletes").asBoolean();
        }
        JsonNode lists = plan.get("branches");
        this.branches = new int[lists.size()][];
        for (int i = 0; i < branches.length; i++) {
            JsonNode list = SortedInput.item(lists, i);
            branches[i] = new int[list.size()];
            for (int j = 0; j < branches[i].length; j++) {
                branches[i][j] = SortedInput.item(list, j).asInt();
            }
        }
        this.branchAt = plan.get("branch at").asInt();
        this.writerAt = plan.get("writer at").asInt();
        this.idAt = plan.get("row_id at").asInt();
        this.byAt = plan.get("by at").asInt();
        this.rowAt = plan.get("row at").asInt();
        this.nanosecondsAt = plan.get("nanoseconds at").asInt();
        this.keysAt = plan.get("keys at").asInt();
        this.evenEmpty = plan.get("even empty").asBoolean();
        this.once = plan.get("once").asBoolean();
        this.uncompressedBytes = plan.get("uncompressed bytes").asLong();
    }

    /** The answer for the rows of a task, a line for each file, and those that are nowhere yet. */
    Object[] write(int partition, Iterator rows) throws Exception {
        WriterTask task = new WriterTask(this, partition);
        try {
            while (rows.hasNext()) {
                task.add((InternalRow) rows.next());
            }
            if (evenEmpty) {
                task.beginFiles();
            }
            task.finishFiles();
        } catch (Exception | Error failed) {
            task.abandonFiles();
            throw failed;
        }
        return TaskAnswers.answer(task.written.toString(), task.contents);
    }
}

/** Tells which rows go into the same files. */
final class WriterTask {
    private final AcidWriter plan;
    private final int partition;
    private final UTF8String[] keys;
    /** Of each write, once it has had a file; and those of each branch whose files are open. */
    private final EventFile[] ofWrites;
    private final EventFile[][] open;
    private boolean begins = true;
    private int branch;
    /** The id of the row before, of the same files. */
    private boolean hasLast;
    private final long[] last = new long[3];
    private int writer;
    private int begun;
    private final List<Uploads.Stream> uploads = new ArrayList<>();
    final StringBuilder written = new StringBuilder();
    final List<byte[]> contents = new ArrayList<>();

    WriterTask(AcidWriter plan, int partition) {
        this.plan = plan;
        this.partition = partition;
        this.keys = new UTF8String[plan.keysAt < 0 ? 0 : plan.input.length() - plan.keysAt];
        this.ofWrites = new EventFile[plan.statements.length];
        this.open = new EventFile[plan.branches.length][];
    }

    void add(InternalRow input) throws Exception {
        if (begins || !belongs(input)) {
            finishFiles();
            place(input);
        }
        branch = plan.branchAt < 0 ? 0 : input.getInt(plan.branchAt);
        if (plan.once) {
            refuseAgain(input);
            // Its row stays as it is.
            if (branch < 0) return;
        }
        if (open[branch] == null) {
            openFiles();
        }
        EventFile[] files = open[branch];
        for (int i = 0; i < files.length; i++) {
            files[i].add(input);
        }
    }

    /** Raise where a row has the id of the one before: two rows of a MERGE's source match it. */
    private void refuseAgain(InternalRow input) {
        boolean has = !input.isNullAt(plan.idAt);
        if (has) {
            long write = input.getLong(plan.idAt), row = input.getLong(plan.idAt + 2);
            long bucket = (long) input.getInt(plan.idAt + 1);
            if (hasLast && write == last[0] && bucket == last[1] && row == last[2]) {
                StringBuilder id = new StringBuilder();
                id.append(write).append(", ").append(bucket).append(", ").append(row);
                for (int i = 0; i < keys.length; i++) {
                    id.append(", ").append(keys[i]);
                }
                throw new IllegalStateException(
                        "Cardinality Violation in Merge statement: [" + id + "]");
            }
            last[0] = write;
            last[1] = bucket;
            last[2] = row;
        }
        hasLast = has;
    }

    private boolean belongs(InternalRow input) {
        if (!plan.once && plan.branchAt >= 0 && input.getInt(plan.branchAt) != branch) return false;
        if (plan.writerAt >= 0 && input.getInt(plan.writerAt) != writer) return false;
        for (int i = 0; i < keys.length; i++) {
            if (!input.getUTF8String(plan.keysAt + i).equals(keys[i])) return false;
        }
        return true;
    }

    /** Begin files although there is no row. */
    void beginFiles() throws Exception {
        finishFiles();
        branch = 0;
        writer = partition;
        openFiles();
    }

    /** Rows from here on belong to other files. */
    private void place(InternalRow input) {
        begins = false;
        hasLast = false;
        writer = plan.writerAt < 0 ? partition : input.getInt(plan.writerAt);
        for (int i = 0; i < keys.length; i++) {
            keys[i] = input.getUTF8String(plan.keysAt + i).clone();
        }
    }

    private void openFiles() throws Exception {
        int[] writes = plan.branches[branch];
        EventFile[] files = new EventFile[writes.length];
        open[branch] = files;
        for (int i = 0; i < files.length; i++) {
            if (ofWrites[writes[i]] == null) {
                ofWrites[writes[i]] = new EventFile(plan, writes[i]);
            }
            files[i] = ofWrites[writes[i]];
            files[i].begin(path(writes[i]), writer, uploads);
        }
    }

    private Path path(int write) {
        if (plan.uploads != null) return plan.uploads.path(write, writer, keys);
        String attempt = partition + "-" + TaskContext.get().taskAttemptId();
        return new Path(plan.directory, "part-" + attempt + "-" + begun++);
    }

    void finishFiles() throws Exception {
        for (int i = 0; i < open.length; i++) {
            if (open[i] == null) continue;
            for (int j = 0; j < open[i].length; j++) {
                written.append(open[i][j].finish(contents));
                for (int k = 0; k < keys.length; k++) {
                    written.append(' ').append(URLEncoder.encode(keys[k].toString(), "UTF-8"));
                }
                written.append('\n');
            }
            open[i] = null;
        }
        begins = true;
    }

    /** Let go of files that an error left open, and of all uploads; staging is removed as a whole. */
    void abandonFiles() {
        for (int i = 0; i < open.length; i++) {
            for (int j = 0; open[i] != null && j < open[i].length; j++) {
                // None where the first file could not be begun.
                if (open[i][j] != null) {
                    open[i][j].abandon();
                }
            }
        }
        for (Uploads.Stream upload : uploads) {
            try {
                upload.abort();
            } catch (IOException alreadyFailing) {
                // Whoever cleans the table gives it up.
                continue;
            }
        }
    }
}

/** The files of one write in a task, one after the other. */
final class EventFile {
    private static final int BATCH = 1024;
    private static final long FIXED = 8L;
    private static final int INSERT = 0;
    private static final int DELETE = 2;

    private final AcidWriter plan;
    private final int write;
    private final boolean deletes;
    private final TaskContext context = TaskContext.get();
    private final Configuration settings;
    private final TypeDescription schema;
    private final ColumnSetter[] setters;
    private final ColumnSetter[] nanosecondSetters;
    private final int[] nanosecondsOf;
    private final boolean[] finer = new boolean[1];
    private final VectorizedRowBatch batch;
    private final StructColumnVector row;
    private KeyIndex index;
    /** Null until the first batch is full, or the file ends before: only then its codec is known. */
    private Writer file;
    private Path path;
    private List<Uploads.Stream> uploads;
    /** Null where the file is no upload. */
    private Uploads.Target upload;
    private int writer;
    private long bucket;
    private long count;

    EventFile(AcidWriter plan, int write) {
        this.plan = plan;
        this.write = write;
        this.deletes = plan.deletes[write];
        this.settings = ((SerializableConfiguration) plan.settings.value()).value();
        this.schema = TypeDescription.fromString(plan.schema);
        StructType columns = plan.input;
        if (plan.rowAt >= 0) {
            columns = (StructType) columns.apply(plan.rowAt).dataType();
        }
        this.batch = schema.createRowBatch(TypeDescription.RowBatchVersion.USE_DECIMAL64, BATCH);
        this.row = (StructColumnVector) batch.cols[5];
        this.setters = new ColumnSetter[deletes ? 0 : row.fields.length];
        for (int i = 0; i < setters.length; i++) {
            setters[i] = ColumnSetter.of(columns.apply(i).dataType(), finer);
        }
        StructType nanoseconds = new StructType();
        if (plan.nanosecondsAt >= 0) {
            nanoseconds = (StructType) plan.input.apply(plan.nanosecondsAt).dataType();
        }
        this.nanosecondSetters = new ColumnSetter[nanoseconds.length()];
        this.nanosecondsOf = new int[row.fields.length];
        Arrays.fill(nanosecondsOf, -1);
        for (int i = 0; i < nanosecondSetters.length; i++) {
            nanosecondSetters[i] = ColumnSetter.of(nanoseconds.apply(i).dataType(), finer);
            nanosecondsOf[columns.fieldIndex(nanoseconds.apply(i).name())] = i;
        }
    }

    void begin(Path path, int writer, List<Uploads.Stream> uploads) throws Exception {
        this.path = path;
        this.writer = writer;
        bucket = (long) (1 << 29 | writer << 16 | plan.statements[write]);
        count = 0L;
        finer[0] = false;
        index = new KeyIndex(deletes, plan.sparkVersion, finer);
        this.uploads = uploads;
        upload = null;
    }

    private void open(boolean compressed) throws IOException {
        OrcFile.WriterOptions options;
        if (plan.uploads == null) {
            options = OrcOutput.options(path, settings);
        } else {
            upload = new Uploads.Target(path.getFileSystem(settings));
            options = OrcOutput.options(upload, settings);
        }
        if (!compressed) {
            options.compress(CompressionKind.NONE);
        }
        file = SortedDictionary.use(
            OrcFile.createWriter(path, options.setSchema(schema).callback(index)), settings);
        if (upload != null) {
            uploads.add(upload.stream());
        }
    }

    void add(InternalRow input) throws Exception {
        int at = batch.size++;
        if (deletes || plan.byAt >= 0) {
            addId(input, at);
        }
        if (!deletes) {
            addRow(input, at);
        }
        if (batch.size == BATCH) {
            flush();
        }
    }

    private void addId(InternalRow input, int at) {
        if (plan.byAt >= 0) {
            ((LongColumnVector) batch.cols[4]).vector[at] = input.getLong(plan.byAt);
        }
        ((LongColumnVector) batch.cols[1]).vector[at] = input.getLong(plan.idAt);
        ((LongColumnVector) batch.cols[2]).vector[at] = (long) input.getInt(plan.idAt + 1);
        ((LongColumnVector) batch.cols[3]).vector[at] = input.getLong(plan.idAt + 2);
    }

    private void addRow(InternalRow input, int at) {
        InternalRow values = input;
        if (plan.rowAt >= 0) {
            values = input.getStruct(plan.rowAt, setters.length);
        }
        InternalRow texts = null;
        if (plan.nanosecondsAt >= 0 && !input.isNullAt(plan.nanosecondsAt)) {
            texts = input.getStruct(plan.nanosecondsAt, nanosecondSetters.length);
        }
        for (int i = 0; i < setters.length; i++) {
            int text = texts == null ? -1 : nanosecondsOf[i];
            if (text >= 0 && !texts.isNullAt(text)) {
                nanosecondSetters[text].set(texts, text, row.fields[i], at);
            } else {
                setters[i].set(values, i, row.fields[i], at);
            }
        }
    }

    private void flush() throws Exception {
        if (batch.size == 0) return;
        context.killTaskIfInterrupted();
        fill(batch.cols[0], deletes ? DELETE : INSERT);
        if (plan.byAt < 0) {
            fill(batch.cols[4], plan.writeId);
        }
        if (deletes) {
            row.isRepeating = true;
            row.noNulls = false;
            row.isNull[0] = true;
        } else if (plan.byAt < 0) {
            fill(batch.cols[1], plan.writeId);
            fill(batch.cols[2], bucket);
            long[] numbers = ((LongColumnVector) batch.cols[3]).vector;
            for (int i = 0; i < batch.size; i++) {
                numbers[i] = count + i;
            }
        }
        count += batch.size;
        index.last(batch);
        if (file == null) {
            open(plan.uncompressedBytes == 0 || batch.size == BATCH
                    || valueBytes() > plan.uncompressedBytes);
        }
        file.addRowBatch(batch);
        batch.reset();
    }

    /** How large the batch's rows are; counted as the planner's uncompressed_bytes says. */
    private long valueBytes() {
        long size = 0L;
        for (int i = 0; !deletes && i < row.fields.length; i++) {
            TypeDescription type = schema.getChildren().get(5).getChildren().get(i);
            switch (type.getCategory()) {
                case STRING, VARCHAR, BINARY -> {
                    BytesColumnVector texts = (BytesColumnVector) row.fields[i];
                    for (int at = 0; at < batch.size; at++) {
                        size += texts.isNull[at] ? 0 : texts.length[at];
                    }
                }
                case CHAR -> size += (long) batch.size * type.getMaxLength();
                default -> size += batch.size * FIXED;
            }
        }
        return size;
    }

    private static void fill(Object column, long value) {
        LongColumnVector vector = (LongColumnVector) column;
        vector.isRepeating = true;
        vector.vector[0] = value;
    }

    /** What there is to tell of the file, but the keys. */
    String finish(List<byte[]> contents) throws Exception {
        flush();
        if (file == null) {
            open(plan.uncompressedBytes == 0);
        }
        file.close();
        file = null;
        String counted = " " + write + " " + writer + " ";
        if (upload == null) {
            long length = path.getFileSystem(settings).getFileStatus(path).getLen();
            return path.getName() + " " + count + " " + length + counted + "-";
        }
        String name = URLEncoder.encode(path.toString(), "UTF-8");
        if (upload.stream().content() != null) contents.add(upload.stream().content());
        return name + " " + count + " " + upload.stream().length() + counted + upload.stream().told();
    }

    void abandon() {
        if (file == null) return;
        try {
            file.close();
        } catch (Exception alreadyFailing) {
            file = null;
        }
    }
}
