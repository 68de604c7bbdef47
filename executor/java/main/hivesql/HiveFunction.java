package hivesql;

import org.apache.hadoop.hive.ql.exec.Description;
import org.apache.hadoop.hive.ql.exec.UDAF;
import org.apache.hadoop.hive.ql.exec.UDF;
import org.apache.hadoop.hive.ql.udf.generic.AbstractGenericUDAFResolver;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDAFResolver;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDTF;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.hive.HiveUDFExpressionBuilder;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** Makes calls of a class that Hive runs as a function, by the wrappers of Spark's Hive module. */
public final class HiveFunction extends AbstractFunction1 {
    private final String name;
    private final Class implementation;

    private HiveFunction(String name, Class implementation) {
        this.name = name;
        this.implementation = implementation;
    }

    public Object apply(Object arguments) {
        Expression made = HiveUDFExpressionBuilder.makeExpression(name, implementation, (Seq) arguments);
        return made;
    }

    /**
     * From now on a session's queries may call the class by this name; which kind of function it is.
     *
     * <p>One of scalar, aggregate and rows; null where there is no such class, empty for a class that
     * is no function, resolver for an aggregate that Spark cannot run.
     */
    public static String register(SparkSession session, String name, String shown, String className) {
        Class implementation;
        try {
            implementation = Class.forName(className, true, loaderOf(session, className));
        } catch (ClassNotFoundException | LinkageError none) {
            return null;
        }
        String kind = kindOf(implementation);
        if (!kind.isEmpty() && !kind.equals("resolver")) {
            session.sessionState().functionRegistry().createOrReplaceTempFunction(
                    name, new HiveFunction(shown, implementation), "hive");
        }
        return kind;
    }

    /** What a class says of itself: its usage and its details, each perhaps null; null for no words. */
    public static String[] description(SparkSession session, String className) {
        Class implementation;
        try {
            implementation = Class.forName(className, true, session.sharedState().jarClassLoader());
        } catch (ClassNotFoundException | LinkageError none) {
            return null;
        }
        Description said = (Description) implementation.getAnnotation(Description.class);
        return said == null ? null : new String[] {said.value(), said.extended()};
    }

    /** Where a class lies: among those of the session's jars, or beside this one. */
    private static ClassLoader loaderOf(SparkSession session, String className) {
        boolean isOurs = className.startsWith(HiveFunction.class.getPackageName() + ".");
        return isOurs ? HiveFunction.class.getClassLoader() : session.sharedState().jarClassLoader();
    }

    private static String kindOf(Class implementation) {
        if (UDF.class.isAssignableFrom(implementation) || GenericUDF.class.isAssignableFrom(implementation)) return "scalar";
        if (GenericUDTF.class.isAssignableFrom(implementation)) return "rows";
        boolean gathers = UDAF.class.isAssignableFrom(implementation)
                || AbstractGenericUDAFResolver.class.isAssignableFrom(implementation);
        if (gathers) return "aggregate";
        return GenericUDAFResolver.class.isAssignableFrom(implementation) ? "resolver" : "";
    }
}
