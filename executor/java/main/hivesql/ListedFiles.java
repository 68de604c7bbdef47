package hivesql;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.NoopCache$;
import org.apache.spark.sql.execution.datasources.PartitionPath;
import org.apache.spark.sql.execution.datasources.PartitionSpec;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import org.apache.spark.sql.execution.datasources.binaryfile.BinaryFileFormat;
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.datasources.text.TextFileFormat;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.collection.mutable.LinkedHashMap;

/**
 * Files that are known already: Spark neither lists them nor asks for their lengths.
 *
 * <p>Each file's number stands in the place of the time of its last change, in milliseconds. Values
 * of partition columns are texts, which come with the files and are not looked for in their paths.
 */
public final class ListedFiles extends PartitioningAwareFileIndex {
    private static final int THREADS = 8;
    /** Plans of the same files are equal where their formats are. */
    private static final FileFormat ORC = new OrcFileFormat();
    private static final FileFormat PARQUET = new ParquetFileFormat();
    private static final FileFormat TEXT = new TextFileFormat();
    private static final FileFormat BINARY = new BinaryFileFormat();

    private final String description;
    private final List<FileStatus> files = new ArrayList<>();
    private final Map<String, String> byStore = new HashMap<>();
    private final PartitionSpec partitions;
    private scala.collection.immutable.Map<Path, FileStatus[]> byPartition = emptyMap();

    /**
     * Paths, lengths and numbers of files in one text, every part ended by a zero. Files of at least
     * {@code located} bytes know on which machines they are.
     *
     * <p>{@code columns} are those of partitions in Spark's DDL, and {@code groups} an array in JSON:
     * of files one after the other how many are in a partition, and the texts of its values.
     */
    public ListedFiles(
            SparkSession session, String text, Configuration configuration, Number located,
            String columns, String groups) throws Exception {
        super(session, emptyMap(), Option.empty(), NoopCache$.MODULE$);
        description = String.join("\n", columns, groups, text);
        List<Locating> unlocated = new ArrayList<>();
        Map<String, FileSystem> systems = new HashMap<>();
        int at = 0;
        while (at < text.length()) {
            int length = text.indexOf('\0', at);
            int number = text.indexOf('\0', length + 1);
            int end = text.indexOf('\0', number + 1);
            Path path = new Path(text.substring(at, length));
            long size = Long.parseLong(text.substring(length + 1, number));
            long mark = Long.parseLong(text.substring(number + 1, end));
            String root = path.toUri().getScheme() + "://" + path.toUri().getAuthority();
            FileSystem system = systems.get(root);
            if (system == null) {
                system = path.getFileSystem(configuration);
                systems.put(root, system);
            }
            Path whole = system.makeQualified(path);
            FileStatus status = new FileStatus(size, false, 1, 128L << 20, mark, whole);
            if (size >= located.longValue()) {
                unlocated.add(new Locating(system, status, files.size()));
            }
            files.add(status);
            at = end + 1;
        }
        locate(unlocated);
        for (FileSystem system : systems.values()) {
            byStore.putAll(SizedFiles.options(system, configuration));
        }
        partitions = columns.isEmpty() ? PartitionSpec.emptySpec() : partitions(columns, groups);
    }

    private PartitionSpec partitions(String columns, String groups) throws IOException {
        List<PartitionPath> paths = new ArrayList<>();
        int at = 0;
        for (String[] group : new ObjectMapper().readValue(groups, String[][].class)) {
            int end = at + Integer.parseInt(group[0]);
            Object[] values = new Object[group.length - 1];
            for (int i = 0; i < values.length; i++) {
                values[i] = UTF8String.fromString(group[i + 1]);
            }
            // A name for the partition: two of them may share a directory.
            Path name = new Path("/" + paths.size());
            paths.add(PartitionPath.apply(new GenericInternalRow(values), name));
            byPartition = updated(
                    byPartition, name, files.subList(at, end).toArray(new FileStatus[0]));
            at = end;
        }
        return PartitionSpec.apply(StructType.fromDDL(columns), Seqs.of(paths));
    }

    private static <K, V> scala.collection.immutable.Map<K, V> emptyMap() {
        return Map$.MODULE$.<K, V>empty();
    }

    @SuppressWarnings("unchecked")
    private static <K, V> scala.collection.immutable.Map<K, V> updated(
            scala.collection.immutable.Map<K, V> map, K key, V value) {
        return (scala.collection.immutable.Map<K, V>) map.updated(key, value);
    }

    private void locate(List<Locating> unlocated) throws Exception {
        if (unlocated.isEmpty()) return;
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            for (Future<Locating> done : pool.invokeAll(unlocated)) {
                Locating located = done.get();
                files.set(located.at, located.status);
            }
        } finally {
            pool.shutdown();
        }
    }

    /** A frame of the files' rows, with the columns of partitions after those of the schema. */
    public Object frame(
            org.apache.spark.sql.classic.SparkSession session, String format, String schema,
            Map<String, String> options) {
        scala.collection.immutable.Map<String, String> all = emptyMap();
        Map<String, String> both = new HashMap<>(byStore);
        both.putAll(options);
        for (Map.Entry<String, String> option : both.entrySet()) {
            all = updated(all, option.getKey(), option.getValue());
        }
        FileFormat reader = format(format, !byStore.isEmpty());
        StructType whole = format.equals("binaryFile")
                ? BinaryFileFormat.schema()
                : StructType.fromDDL(schema);
        return session.baseRelationToDataFrame(new Relation(
                this, partitionSchema(), whole, Option.empty(), reader, all, session,
                whole.defaultSize()));
    }

    /** Spark's own classes where no store is asked: what replaces its readers knows no others. */
    private static FileFormat format(String name, boolean isOfStore) {
        switch (name) {
            case "orc": return isOfStore ? SizedOrc.FORMAT : ORC;
            case "parquet": return isOfStore ? SizedParquet.FORMAT : PARQUET;
            case "text": return isOfStore ? SizedText.FORMAT : TEXT;
            case "binaryFile": return isOfStore ? SizedBinary.FORMAT : BINARY;
            case "hivesql.HiveContainers": return new HiveContainers();
            default: throw new IllegalArgumentException(name + " is no format of files");
        }
    }

    @Override
    public Seq<Path> rootPaths() {
        return Seqs.of(new ArrayList<>());
    }

    @Override
    public PartitionSpec partitionSpec() {
        return partitions;
    }

    @Override
    public LinkedHashMap<Path, FileStatus> leafFiles() {
        return new LinkedHashMap<>();
    }

    @Override
    public scala.collection.immutable.Map<Path, FileStatus[]> leafDirToChildrenFiles() {
        return byPartition;
    }

    @Override
    public Seq<FileStatus> allFiles() {
        return Seqs.of(files);
    }

    @Override
    public void refresh() {
        // What a snapshot sees never changes.
    }

    @Override
    public String toString() {
        return files.size() + " listed files";
    }

    /** The same files twice in a query are read once. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ListedFiles files && files.description.equals(description);
    }

    @Override
    public int hashCode() {
        return description.hashCode();
    }

    /**
     * A relation that is smaller when Spark has pruned fields of the row: it would otherwise take
     * each narrow read for one of whole files, and shuffle what can be broadcast.
     */
    private static final class Relation extends HadoopFsRelation {
        private final int width;

        private Relation(
                FileIndex index, StructType partition, StructType data, Option buckets,
                FileFormat format, scala.collection.immutable.Map options, SparkSession session,
                int width) {
            super(index, partition, data, buckets, format, options, session);
            this.width = width;
        }

        public HadoopFsRelation copy(
                FileIndex index, StructType partition, StructType data, Option buckets,
                FileFormat format, scala.collection.immutable.Map options, SparkSession session) {
            return new Relation(
                    index, partition, data, buckets, format, options, session, width);
        }

        public long sizeInBytes() {
            double part = dataSchema().defaultSize() / (double) width;
            return (long) (super.sizeInBytes() * Math.min(1.0, part));
        }
    }

    /** Asks where the blocks of a file are. */
    private static final class Locating implements Callable<Locating> {
        private final FileSystem system;
        private FileStatus status;
        private final int at;

        private Locating(FileSystem system, FileStatus status, int at) {
            this.system = system;
            this.status = status;
            this.at = at;
        }

        @Override
        public Locating call() throws IOException {
            status = new LocatedFileStatus(
                    status, system.getFileBlockLocations(status, 0, status.getLen()));
            return this;
        }
    }
}
