package hivesql;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
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
import org.apache.spark.sql.catalyst.InternalRow$;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;

/**
 * ORC files that are known already: Spark neither lists them nor asks for their lengths.
 *
 * <p>Each file's number stands in the place of the time of its last change, in milliseconds.
 */
public final class ListedFiles implements FileIndex {
    private static final int THREADS = 8;

    private final FileStatus[] files;
    private final Seq directories;
    private long bytes = 0;

    /**
     * Paths, lengths and numbers of files in one text, every part ended by a zero. Files of at least
     * {@code located} bytes know on which machines they are.
     */
    public ListedFiles(String text, Configuration configuration, Number located) throws Exception {
        List found = new ArrayList();
        List asked = new ArrayList();
        Map systems = new HashMap();
        int at = 0;
        while (at < text.length()) {
            int length = text.indexOf('\0', at);
            int number = text.indexOf('\0', length + 1);
            int end = text.indexOf('\0', number + 1);
            Path path = new Path(text.substring(at, length));
            long size = Long.parseLong(text.substring(length + 1, number));
            long mark = Long.parseLong(text.substring(number + 1, end));
            String root = path.toUri().getScheme() + "://" + path.toUri().getAuthority();
            FileSystem system = (FileSystem) systems.get(root);
            if (system == null) {
                system = path.getFileSystem(configuration);
                systems.put(root, system);
            }
            Path whole = system.makeQualified(path);
            FileStatus status = new FileStatus(size, false, 1, 128L << 20, mark, whole);
            if (size >= located.longValue()) {
                asked.add(new Locating(system, status, found.size()));
            }
            found.add(status);
            bytes += size;
            at = end + 1;
        }
        files = (FileStatus[]) found.toArray(new FileStatus[0]);
        locate(asked);
        Object[] whole = {new PartitionDirectory(
                InternalRow$.MODULE$.empty(),
                PartitionDirectory.apply(InternalRow$.MODULE$.empty(), files).files())};
        directories = Seqs.of(Arrays.asList(whole));
    }

    private void locate(List asked) throws Exception {
        if (asked.isEmpty()) {
            return;
        }
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            for (Iterator done = pool.invokeAll(asked).iterator(); done.hasNext();) {
                Locating one = (Locating) ((Future) done.next()).get();
                files[one.at] = one.status;
            }
        } finally {
            pool.shutdown();
        }
    }

    /** A frame of the files' rows. */
    public Object frame(
            org.apache.spark.sql.classic.SparkSession session, String schema, Map options) {
        scala.collection.immutable.Map given = Map$.MODULE$.empty();
        for (Iterator all = options.entrySet().iterator(); all.hasNext();) {
            Map.Entry one = (Map.Entry) all.next();
            given = (scala.collection.immutable.Map) given.updated(one.getKey(), one.getValue());
        }
        StructType whole = StructType.fromDDL(schema);
        return session.baseRelationToDataFrame(new Relation(
                this, new StructType(), whole, Option.empty(), new OrcFileFormat(), given, session,
                whole.defaultSize()));
    }

    public Seq rootPaths() {
        return Seqs.of(new ArrayList());
    }

    public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
        return directories;
    }

    public String[] inputFiles() {
        String[] names = new String[files.length];
        for (int i = 0; i < files.length; i++) {
            names[i] = files[i].getPath().toUri().toString();
        }
        return names;
    }

    public void refresh() {
        // What a snapshot sees never changes.
    }

    public long sizeInBytes() {
        return bytes;
    }

    public StructType partitionSchema() {
        return new StructType();
    }

    public String toString() {
        return files.length + " listed files";
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
    private static final class Locating implements Callable {
        private final FileSystem system;
        private FileStatus status;
        private final int at;

        private Locating(FileSystem system, FileStatus status, int at) {
            this.system = system;
            this.status = status;
            this.at = at;
        }

        public Object call() throws IOException {
            status = new LocatedFileStatus(
                    status, system.getFileBlockLocations(status, 0, status.getLen()));
            return this;
        }
    }
}
