package hivesql;

import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.io.sarg.PredicateLeaf;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
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
        for (int i = 0; i < truths.length; i++) {
            PredicateLeaf leaf = leaves.get(i);
            int at = place(leaf.getColumnName(), columns);
            truths[i] = at < 0 || leaf.getType() != PredicateLeaf.Type.LONG
                    ? SearchArgument.TruthValue.YES_NO_NULL
                    : RecordReaderImpl.evaluatePredicate(
                            reader.getStatistics()[schema.column(at).getId()], leaf, null);
        }
        return search.evaluate(truths).isNeeded();
    }

    private static int place(String name, String[] columns) {
        for (int i = 0; i < columns.length; i++) {
            if (columns[i].equals(name)) return i;
        }
        return -1;
    }
}
