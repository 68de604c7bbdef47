package hivesql;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.binaryfile.BinaryFileFormat;
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.datasources.text.TextFileFormat;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.TaskCompletionListener;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** Reads files as another reader does, which is told their lengths first: see SizedFiles. */
final class SizedReader extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>>
        implements Serializable {
    private static final long serialVersionUID = 1;
    private final Function1<PartitionedFile, Iterator<InternalRow>> reader;
    private final boolean isRandom;
    private final Broadcast<SerializableConfiguration> settings;

    private SizedReader(
            Function1<PartitionedFile, Iterator<InternalRow>> reader, boolean isRandom,
            Broadcast<SerializableConfiguration> settings) {
        this.reader = reader;
        this.isRandom = isRandom;
        this.settings = settings;
    }

    /** The reader itself where no store is asked. */
    static Function1<PartitionedFile, Iterator<InternalRow>> of(
            Function1<PartitionedFile, Iterator<InternalRow>> reader, boolean isRandom,
            Configuration configuration) {
        boolean isAsked = !configuration.getPropsWithPrefix(SizedFiles.BENEATH).isEmpty();
        return isAsked ? new SizedReader(reader, isRandom, Settings.share(configuration)) : reader;
    }

    @Override
    public Iterator<InternalRow> apply(PartitionedFile file) {
        Path path = file.toPath();
        Configuration configuration = settings.value().value();
        if (SizedFiles.isFor(path, configuration)) {
            try {
                FileSystem system = path.getFileSystem(configuration);
                byte[] length = SizedFiles.attribute(file.fileSize(), isRandom);
                system.setXAttr(path, SizedFiles.LENGTH, length);
                TaskCompletionListener forget = done -> forget(system, path);
                TaskContext.get().addTaskCompletionListener(forget);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
        return reader.apply(file);
    }

    private static void forget(FileSystem system, Path path) {
        try {
            system.removeXAttr(path, SizedFiles.LENGTH);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}

/** Lines of text. */
final class SizedText extends TextFileFormat {
    private static final long serialVersionUID = 1;
    static final FileFormat FORMAT = new SizedText();

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
            SparkSession session, StructType data, StructType partitions, StructType required,
            Seq<Filter> filters, Map<String, String> options, Configuration configuration) {
        return SizedReader.of(super.buildReaderWithPartitionValues(
                session, data, partitions, required, filters, options, configuration),
                false, configuration);
    }
}

/** Files as bytes. */
final class SizedBinary extends BinaryFileFormat {
    private static final long serialVersionUID = 1;
    static final FileFormat FORMAT = new SizedBinary();

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
            SparkSession session, StructType data, StructType partitions, StructType required,
            Seq<Filter> filters, Map<String, String> options, Configuration configuration) {
        return SizedReader.of(super.buildReaderWithPartitionValues(
                session, data, partitions, required, filters, options, configuration),
                false, configuration);
    }
}

/** ORC files, of which footers, indexes and columns are read here and there. */
final class SizedOrc extends OrcFileFormat {
    private static final long serialVersionUID = 1;
    static final FileFormat FORMAT = new SizedOrc();

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
            SparkSession session, StructType data, StructType partitions, StructType required,
            Seq<Filter> filters, Map<String, String> options, Configuration configuration) {
        return SizedReader.of(super.buildReaderWithPartitionValues(
                session, data, partitions, required, filters, options, configuration),
                true, configuration);
    }
}

/** Parquet files: what lies between the columns of large ones their own reader leaves out. */
final class SizedParquet extends ParquetFileFormat {
    private static final long serialVersionUID = 1;
    static final FileFormat FORMAT = new SizedParquet();

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
            SparkSession session, StructType data, StructType partitions, StructType required,
            Seq<Filter> filters, Map<String, String> options, Configuration configuration) {
        return SizedReader.of(super.buildReaderWithPartitionValues(
                session, data, partitions, required, filters, options, configuration),
                false, configuration);
    }
}
