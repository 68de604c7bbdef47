package hivesql;

import java.io.Serializable;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Range$;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

/** Runs a query for its writer, as a query that Spark's listeners and its web page know. */
public final class EventJob extends AbstractFunction0 {
    private final QueryExecution query;
    private final AcidWriter writer;

    public EventJob(QueryExecution query, AcidWriter writer) {
        this.query = query;
        this.writer = writer;
    }

    /** The writer's answers, a line for each file. */
    public TaskAnswers run() {
        return (TaskAnswers) SQLExecution.withNewExecutionId(query, Option.apply("write events"), this);
    }

    public Object apply() {
        return write(query.toRdd());
    }

    /** The same for rows that are no query's. Spark takes functions of RDDs apart, and classes not. */
    public TaskAnswers write(RDD rows) {
        AnswersByTask answers = new AnswersByTask(rows.getNumPartitions());
        rows.sparkContext().runJob(
                rows, new WriteTask(writer), Range$.MODULE$.apply(0, answers.of.length), answers,
                ClassTag$.MODULE$.apply(Object[].class));
        TaskAnswers all = new TaskAnswers();
        for (Object answer : answers.of) {
            if (answer != null) all.add(answer);
        }
        return all;
    }
}

/** What a task does. */
final class WriteTask extends AbstractFunction2 implements Serializable {
    private final AcidWriter writer;

    WriteTask(AcidWriter writer) {
        this.writer = writer;
    }

    public Object apply(Object context, Object rows) {
        try {
            return writer.write(((TaskContext) context).partitionId(), (Iterator) rows);
        } catch (Exception failed) {
            // Scala's functions do not declare what they throw.
            Platform.throwException(failed);
            return null;
        }
    }
}

/** What tasks answered, by their numbers. */
final class AnswersByTask extends AbstractFunction2 {
    final Object[] of;

    AnswersByTask(int tasks) {
        of = new Object[tasks];
    }

    public Object apply(Object task, Object answer) {
        of[((Integer) task).intValue()] = answer;
        return BoxedUnit.UNIT;
    }
}
