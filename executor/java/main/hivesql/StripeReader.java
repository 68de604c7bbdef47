package hivesql;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;
import org.apache.orc.mapred.OrcInputFormat;

/** A batch that tells ORC which rows to decode; ORC itself would have it so only under filters of its own. */
final class SelectiveBatch extends VectorizedRowBatch {
    private int[] chosen;
    private int count;
    private int most;

    SelectiveBatch(VectorizedRowBatch made) {
        super(made.cols.length, made.getMaxSize());
        cols = made.cols;
        most = made.getMaxSize();
    }

    /** Rows of the next batch, by their places in it; null for all. */
    void choose(int[] chosen, int count) {
        this.chosen = chosen;
        this.count = count;
    }

    /** Let the next batch have at most so many rows. */
    void limit(int most) {
        this.most = most;
    }

    @Override
    public int getMaxSize() {
        return most;
    }

    @Override
    public boolean isSelectedInUse() {
        return chosen != null;
    }

    @Override
    public int[] getSelected() {
        return chosen;
    }

    @Override
    public int getSelectedSize() {
        return count;
    }
}

/**
 * Some columns of a piece of a file.
 *
 * <p>The columns that a filter needs are read first, then others for the rows that pass. ORC's row
 * filters are not used: they decode the columns of one struct, as all of a table's are, in two steps,
 * and StructBatchReader resets the whole struct when it skips rows in the second.
 */
final class StripeReader {
    static final int BATCH = 4096;
    /** Rows that take longer to decode and drop than to look for what comes after them. */
    private static final long FAR = 16384L;
    /** One in so many rows must be chosen at most, that choosing takes less than decoding all. */
    static final int SPARSE = 8;

    final SelectiveBatch batch;
    private final FileSchema schema;
    private final boolean[] include;
    private final List<ColumnVector> used = new ArrayList<>();
    private final Set<Integer> searched = new HashSet<>();
    private RecordReader rows;

    StripeReader(FileSchema schema) {
        this.schema = schema;
        batch = new SelectiveBatch(schema.root.createRowBatch(BATCH));
        include = new boolean[schema.root.getMaximumId() + 1];
        include[0] = true;
    }

    /** Read a column, of the events or of their rows. */
    void include(TypeDescription column) {
        for (TypeDescription one = column.getParent(); one != null; one = one.getParent()) {
            include[one.getId()] = true;
        }
        Arrays.fill(include, column.getId(), column.getMaximumId() + 1, true);
    }

    /** Let a search argument look at one of the table's columns, whose rows are not wanted. */
    void search(int at) {
        include(schema.column(at));
        searched.add(at);
    }

    /** Leave only rows that are kept in a vector. */
    void use(ColumnVector vector) {
        used.add(vector);
    }

    /** Begin with a file; the search argument and its columns are null where there is none. */
    void open(
            Reader reader, FileRange piece, Configuration settings, SearchArgument search,
            String[] columns) throws IOException {
        // The whole schema keeps columns in place.
        Reader.Options options = OrcInputFormat.buildOptions(
                settings, reader, piece.start(), piece.length());
        options.schema(schema.root).include(include);
        if (search != null) {
            options.searchArgument(search, columns);
        }
        if (schema.isChanged) {
            // Fields inside of columns are found by name, as Spark and Hive do.
            options.forcePositionalEvolution(true).isSchemaEvolutionCaseAware(false);
        }
        rows = reader.rows(options);
        DecimalReader.install(rows, batch, schema, searched);
    }

    /** The number in the file of the row that comes next. */
    long position() throws IOException {
        return rows.getRowNumber();
    }

    /** Read the next rows; how many, 0 at the end. */
    int read() throws IOException {
        if (!rows.nextBatch(batch)) return 0;
        SignedZeros.restore(batch);
        return batch.size;
    }

    /** Of as many rows from a position on, read those that are kept. */
    void read(long start, int size, int[] kept, int count) throws IOException {
        if (start - rows.getRowNumber() >= FAR) {
            rows.seekToRow(start);
        }
        batch.choose(kept, 0);
        while (rows.getRowNumber() < start) {
            batch.limit((int) Math.min((long) BATCH, start - rows.getRowNumber()));
            if (!rows.nextBatch(batch)) break;
        }
        batch.limit(size);
        batch.choose(count * SPARSE <= size ? kept : null, count);
        if (rows.getRowNumber() != start || !rows.nextBatch(batch) || batch.size != size) {
            throw new IllegalStateException("rows from " + start + " on are not where they were");
        }
        if (count * SPARSE > size) SignedZeros.restore(batch);
    }

    void keep(int[] kept, int count) {
        for (ColumnVector vector : used) {
            VectorCompactor.keep(vector, kept, count);
        }
    }

    void close() throws IOException {
        if (rows != null) {
            rows.close();
            rows = null;
        }
    }
}
