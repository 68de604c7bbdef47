package hivesql;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.types.StructType;

/** Makes the writer of each file of a format of ours. */
abstract class FileWriters extends OutputWriterFactory {
    private static final long serialVersionUID = 1;
    private final String extension;

    FileWriters(String extension) {
        this.extension = extension;
    }

    abstract FileWriter open(String path, StructType columns, Configuration settings)
            throws IOException;

    @Override
    public final String getFileExtension(TaskAttemptContext context) {
        return extension;
    }

    @Override
    public final OutputWriter newInstance(
            String path, StructType columns, TaskAttemptContext context) {
        try {
            return open(path, columns, context.getConfiguration());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}

/** Rows into one file. Scala's writers do not declare what they throw. */
abstract class FileWriter extends OutputWriter {
    private final String path;

    FileWriter(String path) {
        this.path = path;
    }

    abstract void append(InternalRow row) throws IOException;

    abstract void finish() throws IOException;

    @Override
    public final void write(InternalRow row) {
        try {
            append(row);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public final void close() {
        try {
            finish();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    public final String path() {
        return path;
    }
}
