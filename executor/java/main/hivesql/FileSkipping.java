package hivesql;

import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.io.sarg.PredicateLeaf;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.orc.ColumnStatistics;
import org.apache.orc.IntegerColumnStatistics;
import org.apache.orc.OrcConf;
import org.apache.orc.Reader;
import org.apache.orc.impl.RecordReaderImpl;
import org.apache.orc.mapred.OrcInputFormat;

/** Which files have no row that a search argument asks for, as their footers tell. */
final class FileSkipping {
    private FileSkipping() {}

    /** The search argument of its text in ORC's settings, which only the options of a reader read. */
    static SearchArgument argument(String text, Reader any) {
        Configuration settings = new Configuration(false);
        settings.set(OrcConf.KRYO_SARG.getAttribute(), text);
        settings.set(OrcConf.SARG_COLUMNS.getAttribute(), "");
        return OrcInputFormat.buildOptions(settings, any, 0L, 0L).getSearchArgument();
    }

    /**
     * Whether some row of a file may fulfil it, by the statistics of its columns.
     *
     * <p>Only whole numbers are looked at: what old writers noted of other types is not always true.
     */
    static boolean mayHold(SearchArgument search, Reader reader, FileSchema schema, String[] columns) {
        List<PredicateLeaf> leaves = search.getLeaves();
        SearchArgument.TruthValue[] truths = new SearchArgument.TruthValue[leaves.size()];
        ColumnStatistics[] statistics = reader.getStatistics();
        for (int i = 0; i < truths.length; i++) {
            PredicateLeaf leaf = leaves.get(i);
            int at = place(leaf.getColumnName(), columns);
            int id = at < 0 ? statistics.length : schema.column(at).getId();
            truths[i] = leaf.getType() == PredicateLeaf.Type.LONG && id < statistics.length
                            && tells(statistics[id])
                    ? RecordReaderImpl.evaluatePredicate(statistics[id], leaf, null)
                    : SearchArgument.TruthValue.YES_NO_NULL;
        }
        return search.evaluate(truths).isNeeded();
    }

    /** Whether both ends of the numbers of a column are told; what no writer told looks like none. */
    private static boolean tells(ColumnStatistics statistics) {
        return statistics instanceof IntegerColumnStatistics numbers
                && numbers.getNumberOfValues() > 0 && numbers.getMinimum() <= numbers.getMaximum();
    }

    private static int place(String name, String[] columns) {
        for (int i = 0; i < columns.length; i++) {
            if (columns[i].equals(name)) return i;
        }
        return -1;
    }
}
