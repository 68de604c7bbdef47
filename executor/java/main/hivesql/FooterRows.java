package hivesql;

import java.io.IOException;
import java.util.OptionalLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import scala.collection.Iterator;

/**
 * How many rows plain files have, by their footers.
 *
 * <p>Their length tells little: a million numbers that follow each other are a few thousand bytes of ORC.
 */
final class FooterRows {
    /** A footer takes a millisecond. */
    private static final int MOST_FILES = 16;

    private FooterRows() {}

    /** Bytes of the rows in memory; empty where footers do not tell, or to ask them costs more. */
    static OptionalLong bytes(LogicalRelation plain, SparkSession session) {
        if (!(plain.relation() instanceof HadoopFsRelation relation)
                || !(relation.location() instanceof PartitioningAwareFileIndex index)) {
            return OptionalLong.empty();
        }
        String format = relation.fileFormat().toString();
        boolean isOrc = format.equals("ORC");
        if (!isOrc && !format.equals("Parquet")) return OptionalLong.empty();
        Configuration settings = session.sessionState().newHadoopConf();
        long rows = 0L;
        int files = 0;
        try {
            for (Iterator all = index.allFiles().iterator(); all.hasNext();) {
                FileStatus file = (FileStatus) all.next();
                Path path = file.getPath();
                if (++files > MOST_FILES || ObjectStore.is(path.getFileSystem(settings))) {
                    return OptionalLong.empty();
                }
                rows += isOrc ? ofOrc(path, settings) : ofParquet(file, settings);
            }
        } catch (IOException | RuntimeException unreadable) {
            // Who reads the rows will say what is wrong with the file.
            return OptionalLong.empty();
        }
        return OptionalLong.of(rows * (AcidScan.ROW_HEADER + plain.schema().defaultSize()));
    }

    private static long ofOrc(Path path, Configuration settings) throws IOException {
        try (Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(settings))) {
            return reader.getNumberOfRows();
        }
    }

    private static long ofParquet(FileStatus file, Configuration settings) throws IOException {
        try (ParquetFileReader reader =
                ParquetFileReader.open(HadoopInputFile.fromStatus(file, settings))) {
            return reader.getRecordCount();
        }
    }
}
