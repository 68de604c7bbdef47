package hivesql;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.CallMethodViaReflection;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** Functions of Spark's that a line does not have yet: here 3.5, which lacks try_reflect. */
public final class YoungerFunctions {
    private YoungerFunctions() {}

    /** Let a session's queries call them. */
    public static void register(SparkSession session) {
        session.sessionState().functionRegistry()
                .createOrReplaceTempFunction("try_reflect", new TryReflectBuilder(), "scala_udf");
    }
}

/** Calls a method; NULL where it throws something. */
final class TryReflect extends CallMethodViaReflection {
    TryReflect(Seq<Expression> children) {
        super(children);
    }

    @Override
    public Object evalInternal(InternalRow row) {
        try {
            return super.evalInternal(row);
        } catch (Exception thrown) {
            return null;
        }
    }

    @Override
    public CallMethodViaReflection withNewChildrenInternal(IndexedSeq<Expression> children) {
        return new TryReflect(children);
    }
}

final class TryReflectBuilder extends AbstractFunction1<Seq<Expression>, Expression> {
    @Override
    public Expression apply(Seq<Expression> children) {
        return new TryReflect(children);
    }
}
