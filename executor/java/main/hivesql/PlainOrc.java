package hivesql;

import java.io.IOException;
import java.io.Serializable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.mapreduce.Job;
import org.apache.orc.OrcFile;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * Writes ORC files without row ids. Spark's own writer turns times into the wall clock of its JVM's
 * time zone, which leaves out an hour of each year; here they are that of UTC in any JVM.
 *
 * <p>The option {@code type} is ORC's of the columns; others are settings of ORC.
 */
public final class PlainOrc implements FileFormat, Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public Option<StructType> inferSchema(
            SparkSession session, Map<String, String> options,
            Seq<org.apache.hadoop.fs.FileStatus> files) {
        return Option.empty();
    }

    @Override
    public OutputWriterFactory prepareWrite(
            SparkSession session, Job job, Map<String, String> options, StructType data) {
        return new PlainOrcWriters(options.apply("type"));
    }
}

/** Makes the writer of each file. */
final class PlainOrcWriters extends FileWriters {
    private static final long serialVersionUID = 1;
    private final String type;

    PlainOrcWriters(String type) {
        super(".orc");
        this.type = type;
    }

    @Override
    FileWriter open(String path, StructType columns, Configuration settings) throws IOException {
        return new PlainOrcWriter(path, type, columns, settings);
    }
}

/** One file. */
final class PlainOrcWriter extends FileWriter {
    private static final int BATCH = 1024;
    private final ColumnSetter[] setters;
    private final VectorizedRowBatch batch;
    private final Writer file;

    PlainOrcWriter(String path, String type, StructType columns, Configuration settings)
            throws IOException {
        super(path);
        TypeDescription schema = TypeDescription.fromString(type);
        batch = schema.createRowBatch(TypeDescription.RowBatchVersion.USE_DECIMAL64, BATCH);
        setters = new ColumnSetter[columns.length()];
        for (int i = 0; i < setters.length; i++) {
            setters[i] = ColumnSetter.of(columns.apply(i).dataType(), new boolean[1]);
        }
        Path place = new Path(path);
        file = SortedDictionary.use(
                OrcFile.createWriter(place, OrcOutput.options(place, settings).setSchema(schema)),
                settings);
    }

    @Override
    void append(InternalRow row) throws IOException {
        int at = batch.size++;
        for (int i = 0; i < setters.length; i++) {
            setters[i].set(row, i, batch.cols[i], at);
        }
        if (batch.size == BATCH) {
            flush();
        }
    }

    private void flush() throws IOException {
        file.addRowBatch(batch);
        batch.reset();
    }

    @Override
    void finish() throws IOException {
        flush();
        file.close();
    }
}
