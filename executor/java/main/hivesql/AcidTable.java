package hivesql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.orc.OrcConf;
import org.apache.orc.mapred.OrcInputFormat;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.FieldReference$;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.connector.SupportsPushDownCatalystFilters;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.IsNotNull;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * ACID files of one layout, as a table that Spark reads in columns; deleted rows are left out.
 *
 * <p>Its columns are the user's, then write id, bucket property, row number, and the number of the
 * partition. The plan, as JSON: name, statistics (of columns, by name), parallelism, present (how
 * many of the columns the files have), searchable (names of columns by which stripes may be skipped),
 * files (path, length, rows, place, filtered, ids: write id and bucket property if
 * all rows have the same, else null; task: its number or null), deletes (path,
 * place, filtered, version), the snapshot (highest, hidden), and least (rows of a scan that filters them).
 */
public final class AcidTable implements SupportsRead {
    final JsonNode plan;
    final StructType schema;
    final Configuration settings;

    public AcidTable(String plan, StructType schema, Configuration settings) throws IOException {
        this.plan = new ObjectMapper().readTree(plan);
        this.schema = schema;
        this.settings = settings;
    }

    public String name() {
        return plan.get("name").asText();
    }

    public StructType schema() {
        return schema;
    }

    public Set capabilities() {
        return Collections.singleton(TableCapability.BATCH_READ);
    }

    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return new AcidScanBuilder(this);
    }
}

/** What a query wants of the table. */
final class AcidScanBuilder
        implements SupportsPushDownRequiredColumns, SupportsPushDownCatalystFilters {
    private final AcidTable table;
    private StructType wanted;
    private ScanCondition condition = new ScanCondition(Nil$.MODULE$);

    AcidScanBuilder(AcidTable table) {
        this.table = table;
        this.wanted = table.schema;
    }

    public void pruneColumns(StructType required) {
        StructType whole = new StructType();
        for (int i = 0; i < required.length(); i++) {
            // Spark would also leave out parts of structs.
            whole = whole.add(table.schema.apply(table.schema.fieldIndex(required.apply(i).name())));
        }
        wanted = whole;
    }

    /** Filters only help to read less: Spark applies all of them again. */
    public Seq pushFilters(Seq found) {
        condition = new ScanCondition(found);
        return found;
    }

    public Predicate[] pushedFilters() {
        return new Predicate[0];
    }

    public Scan build() {
        return new AcidScan(table, wanted, condition);
    }
}

/** One scan: which bytes each task reads. */
final class AcidScan implements SupportsReportStatistics, Batch, Statistics {
    private static final int MOST_LOOKED_UP = 1000;
    /** Bytes that Spark's own estimates add to a row's columns. */
    private static final long ROW_HEADER = 8L;

    private final AcidTable table;
    private final StructType wanted;
    private final ScanCondition condition;

    AcidScan(AcidTable table, StructType wanted, ScanCondition condition) {
        this.table = table;
        this.wanted = wanted;
        this.condition = condition;
    }

    public StructType readSchema() {
        return wanted;
    }

    public String description() {
        return "acid " + table.name() + " " + wanted.simpleString() + " " + Arrays.toString(condition.filters);
    }

    public Batch toBatch() {
        return this;
    }

    public Scan.ColumnarSupportMode columnarSupportMode() {
        return Scan.ColumnarSupportMode.SUPPORTED;
    }

    public boolean equals(Object other) {
        if (!(other instanceof AcidScan)) return false;
        AcidScan scan = (AcidScan) other;
        return table == scan.table && wanted.equals(scan.wanted)
                && condition.equals(scan.condition);
    }

    public int hashCode() {
        return System.identityHashCode(table) * 31 + wanted.hashCode();
    }

    public Statistics estimateStatistics() {
        return this;
    }

    /**
     * What the rows take in memory, since Spark broadcasts what is small: ORC may keep a narrow read
     * of millions of rows in a twentieth of it.
     */
    public OptionalLong sizeInBytes() {
        double share = (double) wanted.defaultSize() / (double) table.schema.defaultSize();
        long rows = sum("rows") * (ROW_HEADER + wanted.defaultSize());
        return OptionalLong.of(Math.max(rows, Math.max(1L, (long) (share * (double) sum("length")))));
    }

    public OptionalLong numRows() {
        return OptionalLong.of(sum("rows"));
    }

    /** What the catalog knows of columns; Spark asks for it where its cost-based optimizer is on. */
    public Map columnStats() {
        Map found = new HashMap();
        JsonNode known = table.plan.get("statistics");
        for (int i = 0; i < wanted.length(); i++) {
            StructField field = wanted.apply(i);
            JsonNode of = known.get(field.name());
            if (of != null) {
                found.put(
                        FieldReference$.MODULE$.column(field.name()),
                        new KnownColumnStatistics(of, field.dataType()));
            }
        }
        return found;
    }

    private long sum(String what) {
        JsonNode files = table.plan.get("files");
        long sum = 0L;
        for (int i = 0; i < files.size(); i++) {
            sum += SortedInput.item(files, i).get(what).asLong();
        }
        return sum;
    }

    public InputPartition[] planInputPartitions() {
        JsonNode files = table.plan.get("files");
        return files.size() > 0 && SortedInput.item(files, 0).get("task").isNull() ? cut(files) : given(files);
    }

    /** Each file where the plan says. */
    private InputPartition[] given(JsonNode files) {
        Map byTask = new TreeMap();
        for (int i = 0; i < files.size(); i++) {
            JsonNode file = SortedInput.item(files, i);
            Integer task = Integer.valueOf(file.get("task").asInt());
            listOf(byTask, task).add(piece(file, 0L, file.get("length").asLong()));
        }
        List partitions = new ArrayList();
        List tasks = new ArrayList(byTask.values());
        boolean local = files.size() > MOST_LOOKED_UP;
        for (int i = 0; i < tasks.size(); i++) {
            partitions.add(partition((List) tasks.get(i), local));
        }
        return (InputPartition[]) partitions.toArray(new InputPartition[0]);
    }

    private static FileRange piece(JsonNode file, long start, long length) {
        return new FileRange(
                file.get("path").asText(), start, length,
                file.get("place").asInt(), file.get("filtered").asBoolean(),
                longs(file.get("ids")));
    }

    /** Null for null. */
    private static long[] longs(JsonNode found) {
        if (found.isNull()) return null;
        long[] longs = new long[found.size()];
        for (int i = 0; i < longs.length; i++) {
            longs[i] = SortedInput.item(found, i).asLong();
        }
        return longs;
    }

    private ScanPartition partition(List pieces, boolean local) {
        return new ScanPartition(pieces, local ? new String[0] : hosts((FileRange) pieces.get(0)));
    }

    /** As Spark plans files: long ones are cut, short ones share a task. */
    private InputPartition[] cut(JsonNode files) {
        SQLConf conf = SQLConf.get();
        long cost = conf.filesOpenCostInBytes();
        Option least = conf.filesMinPartitionNum();
        long tasks = least.isDefined()
                ? ((Number) least.get()).longValue() : table.plan.get("parallelism").asLong();
        long share = (sum("length") + cost * (long) files.size()) / Math.max(1L, tasks);
        long most = Math.min(conf.filesMaxPartitionBytes(), Math.max(cost, share));
        List pieces = new ArrayList();
        for (int i = 0; i < files.size(); i++) {
            JsonNode file = SortedInput.item(files, i);
            long length = file.get("length").asLong();
            for (long start = 0L; start < length; start += most) {
                pieces.add(piece(file, start, Math.min(most, length - start)));
            }
        }
        Collections.sort(pieces);
        List partitions = new ArrayList();
        List open = new ArrayList();
        long size = 0L;
        boolean local = pieces.size() > MOST_LOOKED_UP;
        for (int i = 0; i < pieces.size(); i++) {
            FileRange piece = (FileRange) pieces.get(i);
            if (size + piece.length > most && !open.isEmpty()) {
                partitions.add(partition(open, local));
                open = new ArrayList();
                size = 0L;
            }
            size += piece.length + cost;
            open.add(piece);
        }
        if (!open.isEmpty()) {
            partitions.add(partition(open, local));
        }
        return (InputPartition[]) partitions.toArray(new InputPartition[0]);
    }

    /** The list under a key, a new one where there is none. */
    private static List listOf(Map lists, Integer key) {
        List found = (List) lists.get(key);
        if (found == null) {
            found = new ArrayList();
            lists.put(key, found);
        }
        return found;
    }

    private String[] hosts(FileRange piece) {
        try {
            Path path = new Path(piece.path);
            FileSystem system = path.getFileSystem(table.settings);
            if (system.getUri().getScheme().equals("file")) return new String[0];
            BlockLocation[] blocks = system.getFileBlockLocations(path, piece.start, piece.length);
            return blocks.length == 0 ? new String[0] : blocks[0].getHosts();
        } catch (IOException unknown) {
            // The task will say what is wrong with the file.
            return new String[0];
        }
    }

    public PartitionReaderFactory createReaderFactory() {
        JsonNode plan = table.plan;
        Map deletes = new HashMap();
        JsonNode files = plan.get("deletes");
        for (int i = 0; i < files.size(); i++) {
            JsonNode file = SortedInput.item(files, i);
            Integer place = Integer.valueOf(file.get("place").asInt());
            listOf(deletes, place).add(new Object[] {
                file.get("path").asText(), Boolean.valueOf(file.get("filtered").asBoolean()),
                file.get("version").asText()});
        }
        int[] positions = new int[wanted.length()];
        for (int i = 0; i < positions.length; i++) {
            positions[i] = table.schema.fieldIndex(wanted.apply(i).name());
        }
        long least = plan.get("least").asLong();
        TaskCondition asked = sum("rows") < least ? null : condition.over(wanted);
        return new AcidReaders(
                wanted, positions, table.schema.length() - 4,
                plan.get("present").asInt(), deletes, plan.get("highest").asLong(), longs(plan.get("hidden")),
                table.settings, search(asked != null), asked, condition.uses(wanted), least);
    }

    /**
     * The search argument and its columns as settings of ORC; null where the filters give none, or
     * where tasks ask rows themselves and it would only leave out row groups of NULLs.
     */
    private String[] search(boolean asked) {
        JsonNode searchable = table.plan.get("searchable");
        Set names = new HashSet();
        for (int i = 0; i < searchable.size(); i++) {
            names.add(SortedInput.item(searchable, i).asText());
        }
        StructType columns = new StructType();
        for (int i = 0; i < table.schema.length(); i++) {
            StructField field = table.schema.apply(i);
            if (names.contains(field.name())) {
                columns = columns.add(field);
            }
        }
        List usable = new ArrayList();
        boolean worth = !asked;
        Filter[] filters = condition.filters;
        for (int i = 0; i < filters.length; i++) {
            if (!new StripeSkipping().isSound(filters[i])) continue;
            try {
                searchArgument(columns, Collections.singletonList(filters[i]));
                usable.add(filters[i]);
                worth |= !(filters[i] instanceof IsNotNull);
            } catch (RuntimeException unknown) {
                // Spark's translation stumbles over a NULL in a list, for one: the scan reads more.
                continue;
            }
        }
        if (!worth) return null;
        Option argument = searchArgument(columns, usable);
        if (argument.isEmpty()) return null;
        Configuration settings = new Configuration(false);
        OrcInputFormat.setSearchArgument(
                settings, (SearchArgument) argument.get(), columns.fieldNames());
        return new String[] {
            settings.get(OrcConf.KRYO_SARG.getAttribute()),
            settings.get(OrcConf.SARG_COLUMNS.getAttribute())};
    }

    private static Option searchArgument(StructType columns, List filters) {
        return ScanPlans.searchArgument(columns, Seqs.of(filters));
    }
}
