package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.orc.OrcConf;
import org.apache.orc.mapred.OrcInputFormat;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.FieldReference$;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.SupportsRuntimeV2Filtering;
import org.apache.spark.sql.connector.read.colstats.ColumnStatistics;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.IsNotNull;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * A file of rows: of events, or an original, whose rows get ids.
 *
 * <p>ids are write id and bucket property if all rows have the same, else null; first is the number of
 * an original's first row, and -1 for a file of events; values are those of its partition's columns,
 * which {@link PartitionColumns} describes.
 */
record AcidFile(
        String path, long length, long rows, int place, boolean filtered, long[] ids, long first,
        InternalRow values, KnownFile known) implements Serializable {
    boolean isOriginal() {
        return first >= 0L;
    }
}

/** Some bytes of such a file. */
record FileRange(AcidFile file, long start, long length)
        implements Serializable, Comparable<FileRange> {
    private static final int SHIFT = 12;

    /** Its weight in units of 4 KiB: writers of other versions leave some bytes more or less. */
    long weight(long cost) {
        return (length + cost) >> SHIFT;
    }

    /** The longest first. */
    @Override
    public int compareTo(FileRange other) {
        return Long.compare(other.weight(0L), weight(0L));
    }
}

/**
 * ACID files of one layout, as a table that Spark reads in columns; deleted rows are left out.
 *
 * <p>Its columns are the user's, then write id, bucket property, row number, the number of the partition,
 * and the columns of partitions. The plan, as JSON: name, columns (how many are the user's), statistics
 * (of columns, by name), parallelism, types (of the first columns, which the files have: ORC's to convert
 * them to, null where they have them as they are), values (by the partition's number: the texts of its
 * columns, null for none),
 * searchable (names of columns by which stripes may be skipped), files (as AcidFile, and task: its number
 * or null), deletes (as EndingFile, and place), whole (whether executors keep all deletes of a place, or
 * tasks read those of their rows), the snapshot (highest, hidden), and least (rows of a scan that filters
 * them).
 */
public final class AcidTable implements SupportsRead {
    final JsonNode plan;
    final StructType schema;
    final Configuration settings;
    final SparkContext spark;
    final List<AcidFile> files = new ArrayList<>();
    final PartitionColumns partitionColumns;

    /** The session's zone counts for values of partitions, whichever session is active. */
    public AcidTable(SparkSession session, String plan, StructType schema) throws IOException {
        this.plan = new ObjectMapper().readTree(plan);
        this.schema = schema;
        this.spark = session.sparkContext();
        this.settings = spark.hadoopConfiguration();
        String zone = session.sessionState().conf().sessionLocalTimeZone();
        this.partitionColumns = new PartitionColumns(schema, width() + AcidReaders.OWN, zone);
        Map<Integer, InternalRow> values = new HashMap<>();
        for (JsonNode file : this.plan.get("files")) {
            int place = file.get("place").asInt();
            files.add(new AcidFile(
                    file.get("path").asText(), file.get("length").asLong(), file.get("rows").asLong(),
                    place, file.get("filtered").asBoolean(),
                    longs(file.get("ids")), file.get("first").asLong(),
                    values.computeIfAbsent(place, number -> partitionColumns.values(
                            this.plan.get("values").get(Integer.toString(number)))),
                    KnownFile.of(file)));
        }
    }

    /** How many columns are the user's. */
    int width() {
        return plan.get("columns").asInt();
    }

    /** Null for null. */
    static long[] longs(JsonNode found) {
        if (found.isNull()) return null;
        long[] longs = new long[found.size()];
        for (int i = 0; i < longs.length; i++) {
            longs[i] = found.get(i).asLong();
        }
        return longs;
    }

    @Override
    public String name() {
        return plan.get("name").asText();
    }

    @Override
    public StructType schema() {
        return schema;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return Collections.singleton(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return new AcidScanBuilder(this);
    }
}

/** What a query wants of the table. */
final class AcidScanBuilder extends FilteredScanBuilder {
    private final AcidTable table;
    private StructType wanted;
    private ScanCondition condition = new ScanCondition(Seqs.of(List.of()));

    AcidScanBuilder(AcidTable table) {
        super(table.schema);
        this.table = table;
        this.wanted = table.schema;
    }

    @Override
    public void pruneColumns(StructType required) {
        StructType whole = new StructType();
        for (StructField field : required.fields()) {
            // Spark would also leave out parts of structs.
            whole = whole.add(table.schema.apply(table.schema.fieldIndex(field.name())));
        }
        wanted = whole;
    }

    /** Filters only help to read less: Spark applies all of them again. */
    @Override
    public Seq<Expression> pushFilters(Seq<Expression> found) {
        condition = new ScanCondition(found);
        return found;
    }

    @Override
    public Predicate[] pushedFilters() {
        return new Predicate[0];
    }

    @Override
    public Scan build() {
        return new AcidScan(table, wanted, condition);
    }
}

/** One scan: which bytes each task reads, of partitions that may hold what is asked for. */
final class AcidScan
        implements SupportsReportStatistics, SupportsRuntimeV2Filtering, Batch, Statistics {
    private static final int MOST_LOOKED_UP = 1000;
    /** Bytes that Spark's own estimates add to a row's columns. */
    static final long ROW_HEADER = 8L;

    private final AcidTable table;
    private final StructType wanted;
    private final ScanCondition condition;
    private List<AcidFile> files;

    AcidScan(AcidTable table, StructType wanted, ScanCondition condition) {
        this.table = table;
        this.wanted = wanted;
        this.condition = condition;
        this.files = table.partitionColumns.mayPass(condition, table.files);
    }

    private long rows() {
        return files.stream().mapToLong(AcidFile::rows).sum();
    }

    private long length() {
        return files.stream().mapToLong(AcidFile::length).sum();
    }

    /** The columns of partitions by whose values a join's other side may leave out files. */
    @Override
    public NamedReference[] filterAttributes() {
        return table.partitionColumns.comparable(wanted);
    }

    @Override
    public void filter(Predicate[] predicates) {
        files = table.partitionColumns.among(predicates, files);
    }

    @Override
    public StructType readSchema() {
        return wanted;
    }

    @Override
    public String description() {
        return "acid " + table.name() + " " + wanted.simpleString() + " " + Arrays.toString(condition.filters);
    }

    @Override
    public Batch toBatch() {
        return this;
    }

    @Override
    public Scan.ColumnarSupportMode columnarSupportMode() {
        return Scan.ColumnarSupportMode.SUPPORTED;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AcidScan scan && table == scan.table && wanted.equals(scan.wanted)
                && condition.equals(scan.condition);
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(table) * 31 + wanted.hashCode();
    }

    @Override
    public Statistics estimateStatistics() {
        return this;
    }

    /**
     * What the rows take in memory, since Spark broadcasts what is small: ORC may keep a narrow read
     * of millions of rows in a twentieth of it. Where Spark would take the same files of a plain
     * table for less, up to a half is believed: strings and decimals are narrower than their types
     * say, and a join shall not be shuffled that plain tables broadcast.
     */
    @Override
    public OptionalLong sizeInBytes() {
        double share = (double) table.partitionColumns.without(wanted).defaultSize()
                / table.partitionColumns.without(table.schema).defaultSize();
        double stored = share * length();
        double unpacked = stored * SQLConf.get().fileCompressionFactor();
        long rows = rows() * (ROW_HEADER + wanted.defaultSize());
        double believed = Math.max(rows / 2, Math.min(rows, unpacked));
        return OptionalLong.of(Math.max(1L, (long) Math.max(believed, stored)));
    }

    @Override
    public OptionalLong numRows() {
        return OptionalLong.of(rows());
    }

    /** What the catalog knows of columns; Spark asks for it where its cost-based optimizer is on. */
    @Override
    public Map<NamedReference, ColumnStatistics> columnStats() {
        Map<NamedReference, ColumnStatistics> found = new HashMap<>();
        JsonNode known = table.plan.get("statistics");
        for (StructField field : wanted.fields()) {
            JsonNode of = known.get(field.name());
            if (of != null) {
                found.put(
                        FieldReference$.MODULE$.column(field.name()),
                        new KnownColumnStatistics(of, field.dataType()));
            }
        }
        return found;
    }

    @Override
    public InputPartition[] planInputPartitions() {
        JsonNode planned = table.plan.get("files");
        return planned.size() > 0 && planned.get(0).get("task").isNull() ? cut() : ofFiles(planned);
    }

    /** Each file where the plan says. */
    private InputPartition[] ofFiles(JsonNode planned) {
        Map<Integer, List<FileRange>> byTask = new TreeMap<>();
        Set<AcidFile> wantedFiles = new HashSet<>(files);
        for (int i = 0; i < planned.size(); i++) {
            AcidFile file = table.files.get(i);
            if (!wantedFiles.contains(file)) continue;
            byTask.computeIfAbsent(planned.get(i).get("task").asInt(), unknown -> new ArrayList<>())
                    .add(new FileRange(file, 0L, file.length()));
        }
        boolean local = files.size() > MOST_LOOKED_UP;
        return byTask.values().stream().map(pieces -> new ScanPartition(
                pieces.toArray(FileRange[]::new), hosts(pieces.get(0), local)))
                .toArray(InputPartition[]::new);
    }

    /** The files of a task, in the making. */
    private static final class Share {
        final long number;
        final List<FileRange> pieces = new ArrayList<>();
        long weight = 0L;

        Share(long number) {
            this.number = number;
        }
    }

    /**
     * Long files are cut and short ones share a task, as Spark plans them; but each goes to the task
     * that has least. Spark fills one task after another, the longest files first: a few bases would
     * be the work of one, and their many small deltas that of another, which soon has nothing to do.
     */
    private InputPartition[] cut() {
        SQLConf conf = SQLConf.get();
        long cost = conf.filesOpenCostInBytes();
        Option<Object> least = conf.filesMinPartitionNum();
        long tasks = least.isDefined()
                ? ((Number) least.get()).longValue() : table.plan.get("parallelism").asLong();
        long all = length() + cost * files.size();
        long most = Math.min(
                conf.filesMaxPartitionBytes(), Math.max(cost, all / Math.max(1L, tasks) + 1L));
        List<FileRange> pieces = new ArrayList<>();
        for (AcidFile file : files) {
            for (long start = 0L; start < file.length(); start += most) {
                pieces.add(new FileRange(file, start, Math.min(most, file.length() - start)));
            }
        }
        Collections.sort(pieces);
        List<Share> shares = new ArrayList<>();
        for (long i = 0L; i < Math.min(all / most + 1L, pieces.size()); i++) {
            shares.add(new Share(i));
        }
        PriorityQueue<Share> lightest = new PriorityQueue<>(
                Comparator.comparingLong((Share share) -> share.weight)
                        .thenComparingLong(share -> share.number));
        lightest.addAll(shares);
        for (FileRange piece : pieces) {
            Share share = lightest.remove();
            share.pieces.add(piece);
            share.weight += piece.weight(cost);
            lightest.add(share);
        }
        boolean local = pieces.size() > MOST_LOOKED_UP;
        return shares.stream().map(share -> {
            String[] near = hosts(share.pieces.get(0), local);
            // Files of one place follow each other: executors remember the deletes of some places.
            share.pieces.sort(Comparator.comparingInt((FileRange piece) -> piece.file().place())
                    .thenComparing(piece -> piece.file().path()).thenComparingLong(FileRange::start));
            return new ScanPartition(share.pieces.toArray(FileRange[]::new), near);
        }).toArray(InputPartition[]::new);
    }

    /** Where a piece lies; nowhere in particular if all hosts are as good ({@code local}). */
    private String[] hosts(FileRange piece, boolean local) {
        if (local) return new String[0];
        try {
            Path path = new Path(piece.file().path());
            FileSystem system = path.getFileSystem(table.settings);
            // Neither has hosts, and a store would be asked for each file.
            if (ObjectStore.is(system) || system.getUri().getScheme().equals("file")) {
                return new String[0];
            }
            BlockLocation[] blocks = system.getFileBlockLocations(path, piece.start(), piece.length());
            return blocks.length == 0 ? new String[0] : blocks[0].getHosts();
        } catch (IOException unknown) {
            // The task will say what is wrong with the file.
            return new String[0];
        }
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        JsonNode plan = table.plan;
        Map<Integer, List<EndingFile>> deletes = new HashMap<>();
        for (JsonNode file : plan.get("deletes")) {
            deletes.computeIfAbsent(file.get("place").asInt(), unknown -> new ArrayList<>())
                    .add(new EndingFile(
                            file.get("path").asText(), file.get("length").asLong(),
                            file.get("filtered").asBoolean(), KnownFile.of(file),
                            file.get("changes").asBoolean(), AcidTable.longs(file.get("range"))));
        }
        int[] positions = new int[wanted.length()];
        for (int i = 0; i < positions.length; i++) {
            positions[i] = table.schema.fieldIndex(wanted.apply(i).name());
        }
        String[] types = new String[plan.get("types").size()];
        for (int i = 0; i < types.length; i++) {
            types[i] = plan.get("types").get(i).asText(null);
        }
        long least = plan.get("least").asLong();
        TaskCondition asked = rows() < least ? null : condition.over(wanted);
        return new AcidReaders(
                wanted, positions, Arrays.copyOf(table.schema.fieldNames(), table.width()), types,
                deletes, plan.get("whole").asBoolean(),
                plan.get("highest").asLong(), AcidTable.longs(plan.get("hidden")),
                Settings.share(table.settings), search(asked != null), asked, condition.uses(wanted), least,
                ScanCounts.begin(table.name(), table.spark));
    }

    /**
     * The search argument and its columns as settings of ORC; null where the filters give none, or
     * where tasks ask rows themselves and it would only leave out row groups of NULLs.
     */
    private String[] search(boolean asked) {
        Set<String> names = new HashSet<>();
        for (JsonNode name : table.plan.get("searchable")) {
            names.add(name.asText());
        }
        StructType columns = new StructType();
        for (StructField field : table.schema.fields()) {
            if (names.contains(field.name())) {
                columns = columns.add(field);
            }
        }
        List<Filter> usable = new ArrayList<>();
        boolean worth = !asked;
        List<Filter> filters = new ArrayList<>(Arrays.asList(condition.filters));
        filters.addAll(condition.lists);
        for (Filter filter : filters) {
            if (!StripeSkipping.isSound(filter)) continue;
            try {
                searchArgument(columns, Collections.singletonList(filter));
                usable.add(filter);
                worth |= !(filter instanceof IsNotNull);
            } catch (RuntimeException unknown) {
                // Spark's translation stumbles over a NULL in a list, for one: the scan reads more.
                continue;
            }
        }
        if (!worth) return null;
        Option<SearchArgument> argument = searchArgument(columns, usable);
        if (argument.isEmpty()) return null;
        Configuration settings = new Configuration(false);
        OrcInputFormat.setSearchArgument(settings, argument.get(), columns.fieldNames());
        return new String[] {
            settings.get(OrcConf.KRYO_SARG.getAttribute()),
            settings.get(OrcConf.SARG_COLUMNS.getAttribute())};
    }

    private static Option<SearchArgument> searchArgument(StructType columns, List<Filter> filters) {
        return ScanPlans.searchArgument(columns, Seqs.of(filters));
    }
}
