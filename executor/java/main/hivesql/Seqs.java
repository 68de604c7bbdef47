package hivesql;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import scala.collection.JavaConverters;
import scala.collection.immutable.Seq;

/** Scala's collections by what Scala 2.12 and 2.13 have alike; Spark 3.5 is made for the former. */
final class Seqs {
    private Seqs() {}

    static <T> Seq<T> of(List<T> items) {
        return JavaConverters.asScalaBuffer(items).toList();
    }

    static <T> Seq<T> appended(Seq<? extends T> items, T last) {
        List<T> all = new ArrayList<>(toJava(items));
        all.add(last);
        return of(all);
    }

    static <T> Seq<T> updated(Seq<T> items, int at, T item) {
        List<T> all = new ArrayList<>(toJava(items));
        all.set(at, item);
        return of(all);
    }

    static <T> List<T> toJava(Seq<T> items) {
        return JavaConverters.seqAsJavaList(items);
    }

    static <T> Set<T> toJava(scala.collection.immutable.Set<T> items) {
        return JavaConverters.setAsJavaSet(items);
    }

    static <K, V> Map<K, V> toJava(scala.collection.Map<K, V> items) {
        return JavaConverters.mapAsJavaMap(items);
    }
}
