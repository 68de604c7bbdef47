package hivesql;

import java.io.Serializable;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.SerializableConfiguration;

/**
 * Writes the rows of one task into ACID ORC files.
 *
 * <p>Rows come sorted by file: a new file begins where the branch, the writer number or a key changes.
 * The answer is one text for each file: its name, rows, bytes, branch, writer number and keys, each
 * encoded as in URLs, with blanks between them. Files of attempts that fail are in no answer, so
 * nobody takes them for written.
 *
 * <p>Janino compiles this: it knows no lambdas and makes no bridge methods.
 */
public final class AcidWriter implements Function2, Serializable {
    private static final int BATCH = 1024;
    private static final int INSERT = 0;
    private static final int DELETE = 2;

    private final String directory;
    private final String schema;
    private final String sparkVersion;
    private final StructType input;
    private final Broadcast settings;
    private final long writeId;
    private final int[] statements;
    private final boolean[] deletes;
    private final int branchAt;
    private final int writerAt;
    private final int idAt;
    private final int byAt;
    private final int rowAt;
    private final int fineAt;
    private final int keysAt;
    private final boolean evenEmpty;

    /** The entries that end in "at" are ordinals of the input, -1 for what it has not. */
    public AcidWriter(Map plan, StructType input, Configuration settings) {
        this.directory = (String) plan.get("directory");
        this.schema = (String) plan.get("schema");
        this.sparkVersion = (String) plan.get("spark version");
        this.input = input;
        this.settings = Settings.share(settings);
        this.writeId = ((Number) plan.get("write id")).longValue();
        List statements = (List) plan.get("statements");
        List deletes = (List) plan.get("deletes");
        this.statements = new int[statements.size()];
        this.deletes = new boolean[statements.size()];
        for (int i = 0; i < this.statements.length; i++) {
            this.statements[i] = ((Number) statements.get(i)).intValue();
            this.deletes[i] = ((Boolean) deletes.get(i)).booleanValue();
        }
        this.branchAt = ordinal(plan, "branch at");
        this.writerAt = ordinal(plan, "writer at");
        this.idAt = ordinal(plan, "row_id at");
        this.byAt = ordinal(plan, "by at");
        this.rowAt = ordinal(plan, "row at");
        this.fineAt = ordinal(plan, "fine at");
        this.keysAt = ordinal(plan, "keys at");
        this.evenEmpty = ((Boolean) plan.get("even empty")).booleanValue();
    }

    private static int ordinal(Map plan, String name) {
        return ((Number) plan.get(name)).intValue();
    }

    public Object call(Object partition, Object rows) throws Exception {
        Task task = new Task(this, ((Integer) partition).intValue());
        Iterator iterator = (Iterator) rows;
        try {
            while (iterator.hasNext()) {
                task.add((InternalRow) iterator.next());
            }
            if (evenEmpty) {
                task.beginFile(null);
            }
            task.finishFile();
        } finally {
            task.abandonFile();
        }
        return task.written.iterator();
    }

    private static final class Task {
        private final AcidWriter plan;
        private final TaskContext context;
        private final int partition;
        private final Configuration settings;
        private final TypeDescription schema;
        private final ColumnSetter[] setters;
        private final ColumnSetter[] fineSetters;
        private final int[] fineOf;
        private final boolean[] finer = new boolean[1];
        private final VectorizedRowBatch batch;
        private final StructColumnVector row;
        private final UTF8String[] keys;
        final List written = new ArrayList();
        private KeyIndex index;
        private Writer file;
        private String name;
        private int branch;
        private int writer;
        private boolean deletes;
        private long bucket;
        private long count;

        Task(AcidWriter plan, int partition) {
            this.plan = plan;
            this.context = TaskContext.get();
            this.partition = partition;
            this.settings = ((SerializableConfiguration) plan.settings.value()).value();
            this.schema = TypeDescription.fromString(plan.schema);
            StructType columns = plan.input;
            if (plan.rowAt >= 0) {
                columns = (StructType) columns.apply(plan.rowAt).dataType();
            }
            this.batch = schema.createRowBatch(TypeDescription.RowBatchVersion.USE_DECIMAL64, BATCH);
            this.row = (StructColumnVector) batch.cols[5];
            this.setters = new ColumnSetter[row.fields.length];
            for (int i = 0; i < setters.length; i++) {
                setters[i] = ColumnSetter.of(columns.apply(i).dataType(), finer);
            }
            StructType fine = new StructType();
            if (plan.fineAt >= 0) {
                fine = (StructType) plan.input.apply(plan.fineAt).dataType();
            }
            this.fineSetters = new ColumnSetter[fine.length()];
            this.fineOf = new int[setters.length];
            Arrays.fill(fineOf, -1);
            for (int i = 0; i < fineSetters.length; i++) {
                fineSetters[i] = ColumnSetter.of(fine.apply(i).dataType(), finer);
                fineOf[columns.fieldIndex(fine.apply(i).name())] = i;
            }
            this.keys = new UTF8String[plan.keysAt < 0 ? 0 : plan.input.length() - plan.keysAt];
        }

        void add(InternalRow input) throws Exception {
            if (file == null || !belongs(input)) {
                finishFile();
                beginFile(input);
            }
            int at = batch.size++;
            if (deletes || plan.byAt >= 0) {
                addId(input, at);
            }
            if (!deletes) {
                InternalRow values = input;
                if (plan.rowAt >= 0) {
                    values = input.getStruct(plan.rowAt, setters.length);
                }
                InternalRow texts = null;
                if (plan.fineAt >= 0 && !input.isNullAt(plan.fineAt)) {
                    texts = input.getStruct(plan.fineAt, fineSetters.length);
                }
                for (int i = 0; i < setters.length; i++) {
                    int text = texts == null ? -1 : fineOf[i];
                    if (text >= 0 && !texts.isNullAt(text)) {
                        fineSetters[text].set(texts, text, row.fields[i], at);
                    } else {
                        setters[i].set(values, i, row.fields[i], at);
                    }
                }
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

        private boolean belongs(InternalRow input) {
            if (plan.branchAt >= 0 && input.getInt(plan.branchAt) != branch) return false;
            if (plan.writerAt >= 0 && input.getInt(plan.writerAt) != writer) return false;
            for (int i = 0; i < keys.length; i++) {
                if (!input.getUTF8String(plan.keysAt + i).equals(keys[i])) return false;
            }
            return true;
        }

        private void beginFile(InternalRow input) throws Exception {
            branch = plan.branchAt < 0 ? 0 : input.getInt(plan.branchAt);
            writer = plan.writerAt < 0 ? partition : input.getInt(plan.writerAt);
            for (int i = 0; i < keys.length; i++) {
                keys[i] = input.getUTF8String(plan.keysAt + i).clone();
            }
            deletes = plan.deletes[branch];
            bucket = (long) (1 << 29 | writer << 16 | plan.statements[branch]);
            count = 0L;
            name = "part-" + partition + "-" + context.taskAttemptId() + "-" + written.size();
            finer[0] = false;
            index = new KeyIndex(deletes, plan.sparkVersion, finer);
            Path path = new Path(plan.directory, name);
            file = SortedDictionary.use(
                OrcFile.createWriter(
                    path, Output.options(path, settings).setSchema(schema).callback(index)),
                settings);
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
            file.addRowBatch(batch);
            batch.reset();
        }

        private static void fill(Object column, long value) {
            LongColumnVector vector = (LongColumnVector) column;
            vector.isRepeating = true;
            vector.vector[0] = value;
        }

        void finishFile() throws Exception {
            if (file == null) return;
            flush();
            file.close();
            file = null;
            Path path = new Path(plan.directory, name);
            long length = path.getFileSystem(settings).getFileStatus(path).getLen();
            StringBuilder answer = new StringBuilder();
            answer.append(name).append(' ').append(count).append(' ').append(length);
            answer.append(' ').append(branch).append(' ').append(writer);
            for (int i = 0; i < keys.length; i++) {
                answer.append(' ').append(URLEncoder.encode(keys[i].toString(), "UTF-8"));
            }
            written.add(answer.toString());
        }

        /** Let go of a file that an error left open; staging is removed as a whole. */
        void abandonFile() {
            if (file == null) return;
            try {
                file.close();
            } catch (Exception alreadyFailing) {
                file = null;
            }
        }
    }
}
