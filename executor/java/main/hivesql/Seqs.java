package hivesql;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import scala.collection.JavaConverters;
import scala.collection.immutable.Seq;

/** Scala's collections by what Scala 2.12 and 2.13 have alike; Spark 3.5 is made for the former. */
final class Seqs {
    private Seqs() {}

    static Seq of(List items) {
        return JavaConverters.asScalaBuffer(items).toList();
    }

    static Seq appended(Seq items, Object last) {
        List all = new ArrayList(JavaConverters.seqAsJavaList(items));
        all.add(last);
        return of(all);
    }

    static Seq updated(Seq items, int at, Object item) {
        List all = new ArrayList(JavaConverters.seqAsJavaList(items));
        all.set(at, item);
        return of(all);
    }

    static Map toJava(scala.collection.Map items) {
        return JavaConverters.mapAsJavaMap(items);
    }
}
