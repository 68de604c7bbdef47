package hivesql;

import org.apache.spark.sql.classic.SparkSession;

/** Functions of Spark's that a line does not have yet: from 4.0 on none is missing. */
public final class YoungerFunctions {
    private YoungerFunctions() {}

    /** Let a session's queries call them. */
    public static void register(SparkSession session) {}
}
