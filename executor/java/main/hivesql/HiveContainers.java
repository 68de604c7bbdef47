package hivesql;

import java.io.Closeable;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.io.RCFile;
import org.apache.hadoop.hive.ql.io.RCFileInputFormat;
import org.apache.hadoop.hive.ql.io.RCFileOutputFormat;
import org.apache.hadoop.hive.serde2.AbstractSerDe;
import org.apache.hadoop.hive.serde2.Deserializer;
import org.apache.hadoop.hive.serde2.SerDeException;
import org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SequenceFileInputFormat;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.TaskCompletionListener;
import scala.Function1;
import scala.Option;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * SequenceFile, RCFile and text of other SerDes as one column of lines, by Hive's own classes.
 *
 * <p>A second column, if one is asked for, is the key of the record: of text, the byte of the file
 * at which the line begins.
 *
 * <p>Without the option {@code serde} a record of a SequenceFile is the line. With it a line has the
 * default delimiters of LazySimpleSerDe and is escaped by a backslash; {@code types} are the columns'
 * and {@code property:…} what the SerDe is told. Where it {@code gives} values, a row has the
 * table's columns themselves.
 */
public final class HiveContainers implements FileFormat, Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public Option<StructType> inferSchema(
            SparkSession session, Map<String, String> options,
            Seq<org.apache.hadoop.fs.FileStatus> files) {
        return Option.empty();
    }

    /** The rows of a SerDe with these properties as a type of Hive's, which it alone knows. */
    public static String rowType(SparkSession session, String serde, String[] keys, String[] values)
            throws ReflectiveOperationException, SerDeException {
        ClassLoader loader = session.sharedState().jarClassLoader();
        Configuration configuration = session.sessionState().newHadoopConf();
        configuration.setClassLoader(loader);
        Properties properties = new Properties();
        for (int i = 0; i < keys.length; i++) {
            properties.setProperty(keys[i], values[i]);
        }
        Deserializer made = (Deserializer)
                Class.forName(serde, true, loader).getConstructor().newInstance();
        made.initialize(configuration, properties);
        return TypeInfoUtils.getTypeInfoFromObjectInspector(made.getObjectInspector()).getTypeName();
    }

    @Override
    public boolean isSplitable(SparkSession session, Map<String, String> options, Path path) {
        Configuration configuration = session.sessionState().newHadoopConf();
        return !new Container(options).isText()
                || new CompressionCodecFactory(configuration).getCodec(path) == null;
    }

    @Override
    public Function1<PartitionedFile, Iterator<InternalRow>> buildReader(
            SparkSession session, StructType data, StructType partitions, StructType required,
            Seq<org.apache.spark.sql.sources.Filter> filters, Map<String, String> options,
            Configuration configuration) {
        FileLines lines =
                new FileLines(new Container(options), required, Settings.share(configuration));
        return SizedReader.of(lines, false, configuration);
    }

    @Override
    public OutputWriterFactory prepareWrite(
            SparkSession session, Job job, Map<String, String> options, StructType data) {
        return new LineWriters(new Container(options));
    }
}

/** What kind of file it is, and how its rows become lines. */
final class Container implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String PROPERTY = "property:";
    final boolean columnar;
    private final boolean text;
    private final boolean values;
    private final String serde;
    private final String types;
    private final String codec;
    private final String unit;
    private final Properties properties = new Properties();

    Container(Map<String, String> options) {
        java.util.Map<String, String> given = Seqs.toJava(options);
        columnar = "rcfile".equals(given.get("container"));
        text = "text".equals(given.get("container"));
        values = "values".equals(given.get("gives"));
        serde = given.get("serde");
        types = given.get("types");
        codec = given.get("codec");
        unit = given.get("unit");
        given.forEach((key, value) -> {
            if (key.startsWith(PROPERTY)) {
                properties.setProperty(key.substring(PROPERTY.length()), value);
            }
        });
    }

    boolean isText() {
        return text;
    }

    /** By what new files are compressed; null for nothing. */
    CompressionCodec codec(Configuration configuration) {
        if (codec == null) return null;
        try {
            Class<?> named = configuration.getClassByName(codec);
            return (CompressionCodec) ReflectionUtils.newInstance(named, configuration);
        } catch (ClassNotFoundException none) {
            throw new IllegalStateException(none);
        }
    }

    SequenceFile.Writer.Option compression(Configuration configuration) {
        return codec == null
                ? SequenceFile.Writer.compression(SequenceFile.CompressionType.NONE)
                : SequenceFile.Writer.compression(
                        SequenceFile.CompressionType.valueOf(unit), codec(configuration));
    }

    RecordReader<?, ?> reader(FileSplit split, JobConf conf) throws IOException {
        if (text) {
            TextInputFormat format = new TextInputFormat();
            format.configure(conf);
            return format.getRecordReader(split, conf, Reporter.NULL);
        }
        return columnar
                ? new RCFileInputFormat<>().getRecordReader(split, conf, Reporter.NULL)
                : new SequenceFileInputFormat<>().getRecordReader(split, conf, Reporter.NULL);
    }

    /** Whether rows are the columns themselves, not lines of them. */
    boolean givesValues() {
        return values;
    }

    boolean isOfLines() {
        return serde == null;
    }

    int width() {
        return TypeInfoUtils.getTypeInfosFromTypeString(types).size();
    }

    Deserializer stored(Configuration configuration) {
        return started(serde, properties, configuration);
    }

    AbstractSerDe ofLines(Configuration configuration) {
        Properties delimited = new Properties();
        delimited.setProperty("escape.delim", "\\");
        return (AbstractSerDe) started(LazySimpleSerDe.class.getName(), delimited, configuration);
    }

    private Deserializer started(String name, Properties given, Configuration configuration) {
        Properties all = new Properties();
        given.forEach(all::put);
        // Names do not matter to these SerDes, and those of the user may hold any character.
        String[] names = new String[width()];
        Arrays.setAll(names, i -> "c" + i);
        all.setProperty("columns", String.join(",", names));
        all.setProperty("columns.types", types);
        all.setProperty("columns.comments", "\0".repeat(names.length - 1));
        try {
            Deserializer made = (Deserializer) Class.forName(name).getConstructor().newInstance();
            made.initialize(configuration, all);
            return made;
        } catch (ReflectiveOperationException | SerDeException error) {
            throw new IllegalStateException(error);
        }
    }
}

/** Where in a row the line and its place in the file go; -1 where nobody asks for them. */
record Columns(int line, int offset, int width) implements Serializable {
    /** The columns that a reader has to give, the place by its name. */
    static Columns of(StructType required) {
        int offset = Arrays.asList(required.fieldNames()).indexOf("__offset");
        int width = required.size();
        // Beside it there is one column, the line.
        int line = width == (offset < 0 ? 0 : 1) ? -1 : offset == 0 ? 1 : 0;
        return new Columns(line, offset, width);
    }
}

/** Gives the lines of a part of a file. */
final class FileLines extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>>
        implements Serializable {
    private static final long serialVersionUID = 1;
    private final Container container;
    private final StructType required;
    private final Broadcast<?> settings;

    FileLines(Container container, StructType required, Broadcast<?> settings) {
        this.container = container;
        this.required = required;
        this.settings = settings;
    }

    @Override
    public Iterator<InternalRow> apply(PartitionedFile file) {
        JobConf conf = new JobConf(((SerializableConfiguration) settings.value()).value());
        // Classes of jars that were added are known to the task alone. The file system's are those
        // that know the file's length.
        JobConf ofRecords = new JobConf(conf);
        ofRecords.setClassLoader(Thread.currentThread().getContextClassLoader());
        FileSplit split =
                new FileSplit(file.toPath(), file.start(), file.length(), file.locations());
        try {
            return new Lines<>(container.reader(split, conf), container, required, ofRecords);
        } catch (IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }
}

/** The lines of one reader, which is closed with its task. */
final class Lines<K, V> extends AbstractIterator<InternalRow> {
    private final RecordReader<K, V> reader;
    private final Deserializer stored;
    private final AbstractSerDe lines;
    private final SerdeValues values;
    private final Columns columns;
    private final K key;
    private final V value;
    private final GenericInternalRow row;
    private boolean isAhead;
    private boolean isOver;

    Lines(RecordReader<K, V> reader, Container container, StructType required, Configuration conf) {
        this.reader = reader;
        columns = container.givesValues() ? new Columns(-1, -1, 0) : Columns.of(required);
        stored = container.isOfLines() ? null : container.stored(conf);
        boolean asLines = !container.isOfLines() && !container.givesValues();
        lines = asLines ? container.ofLines(conf) : null;
        try {
            values = container.givesValues() ? new SerdeValues(stored, required) : null;
        } catch (SerDeException error) {
            throw new IllegalStateException(error);
        }
        key = reader.createKey();
        value = reader.createValue();
        row = new GenericInternalRow(columns.width());
        TaskContext task = TaskContext.get();
        if (task != null) {
            TaskCompletionListener closing = done -> close();
            task.addTaskCompletionListener(closing);
        }
    }

    private void close() {
        try {
            reader.close();
        } catch (IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    @Override
    public boolean hasNext() {
        if (!isAhead && !isOver) {
            try {
                isOver = !reader.next(key, value);
                isAhead = !isOver;
            } catch (IOException error) {
                throw new java.io.UncheckedIOException(error);
            }
        }
        return isAhead;
    }

    @Override
    public InternalRow next() {
        if (!hasNext()) {
            throw new java.util.NoSuchElementException();
        }
        isAhead = false;
        if (values != null) {
            try {
                return values.row((Writable) value);
            } catch (SerDeException error) {
                throw new IllegalStateException(error);
            }
        }
        if (columns.line() >= 0) {
            row.update(columns.line(), UTF8String.fromBytes(line()));
        }
        if (columns.offset() >= 0) {
            row.update(columns.offset(), ((LongWritable) key).get());
        }
        return row;
    }

    private byte[] line() {
        if (stored == null) {
            return bytes((Writable) value);
        }
        try {
            Object found = stored.deserialize((Writable) value);
            return bytes(lines.serialize(found, stored.getObjectInspector()));
        } catch (SerDeException error) {
            throw new IllegalStateException(error);
        }
    }

    private static byte[] bytes(Writable value) {
        if (value instanceof Text) {
            return ((Text) value).copyBytes();
        }
        if (value instanceof BytesWritable) {
            return ((BytesWritable) value).copyBytes();
        }
        throw new IllegalStateException("records are " + value.getClass().getName()
                + ", and Hive reads Text and BytesWritable");
    }
}

/** Makes the writer of each file. */
final class LineWriters extends FileWriters {
    private static final long serialVersionUID = 1;
    private final Container container;

    LineWriters(Container container) {
        super("");
        this.container = container;
    }

    @Override
    FileWriter open(String path, StructType columns, Configuration settings) throws IOException {
        if (container.columnar) return ColumnarWriter.open(path, container, settings);
        if (container.isOfLines()) return new SequenceWriter(path, Text.class, container, settings);
        return container.isText()
                ? BinaryLineWriter.open(path, container, settings)
                : new BinarySequenceWriter(path, container, settings);
    }
}

/** Lines into one file of a container. */
abstract class LineWriter extends FileWriter {
    private final Closeable writer;

    LineWriter(String path, Closeable writer) {
        super(path);
        this.writer = writer;
    }

    /** Add a line, which is the caller's to change afterwards. */
    abstract void append(byte[] line) throws IOException;

    @Override
    final void append(InternalRow row) throws IOException {
        append(row.getUTF8String(0).getBytes());
    }

    @Override
    final void finish() throws IOException {
        writer.close();
    }
}

/** Lines as records of a SequenceFile, with the empty keys that Hive gives them. */
class SequenceWriter extends LineWriter {
    private final SequenceFile.Writer writer;
    private final BytesWritable key = new BytesWritable();
    private final Text value = new Text();

    SequenceWriter(
            String path, Class<? extends Writable> records, Container container,
            Configuration configuration) throws IOException {
        this(path, SequenceFile.createWriter(
                configuration, SequenceFile.Writer.file(new Path(path)),
                SequenceFile.Writer.keyClass(BytesWritable.class),
                SequenceFile.Writer.valueClass(records),
                container.compression(configuration)));
    }

    private SequenceWriter(String path, SequenceFile.Writer writer) {
        super(path, writer);
        this.writer = writer;
    }

    @Override
    void append(byte[] line) throws IOException {
        value.set(line);
        append(value);
    }

    final void append(Writable record) throws IOException {
        writer.append(key, record);
    }
}

/** Makes the record that a SerDe stores of each line. */
final class Records {
    private final AbstractSerDe stored;
    private final AbstractSerDe lines;
    private final Text line = new Text();

    Records(Container container, Configuration configuration) {
        stored = (AbstractSerDe) container.stored(configuration);
        lines = container.ofLines(configuration);
    }

    Writable of(byte[] given) {
        line.set(given);
        try {
            return stored.serialize(lines.deserialize(line), lines.getObjectInspector());
        } catch (SerDeException error) {
            throw new IllegalStateException(error);
        }
    }
}

/** Rows as records of bytes of a SequenceFile. */
final class BinarySequenceWriter extends SequenceWriter {
    private final Records records;

    BinarySequenceWriter(String path, Container container, Configuration configuration)
            throws IOException {
        super(path, BytesWritable.class, container, configuration);
        records = new Records(container, configuration);
    }

    @Override
    void append(byte[] line) throws IOException {
        append(records.of(line));
    }
}

/** Rows as bytes, each in a line of text. */
final class BinaryLineWriter extends LineWriter {
    private final FSDataOutputStream file;
    private final Records records;

    static BinaryLineWriter open(String path, Container container, Configuration configuration)
            throws IOException {
        Path file = new Path(path);
        return new BinaryLineWriter(
                path, file.getFileSystem(configuration).create(file, false),
                new Records(container, configuration));
    }

    private BinaryLineWriter(String path, FSDataOutputStream file, Records records) {
        super(path, file);
        this.file = file;
        this.records = records;
    }

    @Override
    void append(byte[] line) throws IOException {
        BytesWritable record = (BytesWritable) records.of(line);
        for (int i = 0; i < record.getLength(); i++) {
            byte one = record.getBytes()[i];
            if (one == '\n' || one == '\r') {
                throw new IOException("the bytes that LazyBinarySerDe makes of a row hold a line break, which "
                        + "text files cannot keep, nor Hive read: store the table AS SEQUENCEFILE");
            }
        }
        file.write(record.getBytes(), 0, record.getLength());
        file.write('\n');
    }
}

/** Lines as rows of an RCFile. */
final class ColumnarWriter extends LineWriter {
    private final RCFile.Writer writer;
    private final Records records;

    static ColumnarWriter open(String path, Container container, Configuration given)
            throws IOException {
        Configuration configuration = new Configuration(given);
        RCFileOutputFormat.setColumnNumber(configuration, container.width());
        Records records = new Records(container, configuration);
        Path file = new Path(path);
        RCFile.Writer writer = new RCFile.Writer(
                file.getFileSystem(configuration), configuration, file, null,
                container.codec(configuration));
        return new ColumnarWriter(path, writer, records);
    }

    private ColumnarWriter(String path, RCFile.Writer writer, Records records) {
        super(path, writer::close);
        this.writer = writer;
        this.records = records;
    }

    @Override
    void append(byte[] line) throws IOException {
        writer.append(records.of(line));
    }
}
