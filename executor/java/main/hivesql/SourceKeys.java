package hivesql;

import java.io.Serializable;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow$;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BindReferences$;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.expressions.XxHash64Function$;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.package$;
import org.apache.spark.sql.catalyst.optimizer.ConstantFolding$;
import org.apache.spark.sql.catalyst.trees.TreePattern$;
import org.apache.spark.sql.catalyst.util.TypeUtils$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Range;
import scala.collection.immutable.Range$;
import scala.collection.immutable.Seq;
import scala.math.Ordering;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction2;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** What a row of the source says that must be found in the target. */
final class SourceKey implements Serializable {
    private static final long HASH_SEED = 42L;

    final transient Expression target;
    final Expression source;
    final DataType type;

    private SourceKey(Expression target, Expression source) {
        this.target = target;
        this.source = source;
        type = source.dataType();
    }

    /** Null where only Spark can tell it, or where what is equal may have other bits. */
    static SourceKey of(Expression target, Expression source, Seq columns) {
        Expression plain = (Expression) source.transformUp(new ReplacementResolver());
        if (!isPlain(plain) || !isColumn(target)) return null;
        Expression placed = (Expression) BindReferences$.MODULE$.bindReference(
                plain, package$.MODULE$.AttributeSeq(columns), false);
        SourceKey key = new SourceKey(target, placed);
        return key.isExact() ? key : null;
    }

    /** Whether it can be asked of all rows, also of those that the rest of ON keeps from others. */
    private static boolean isColumn(Expression one) {
        return one instanceof AttributeReference
                || one instanceof Cast && isColumn(((Cast) one).child());
    }

    /** Whether it gives the same now as in the statement's join. */
    private static boolean isPlain(Expression one) {
        return ScanCondition.isPlain(one)
                && !one.containsPattern(TreePattern$.MODULE$.CURRENT_LIKE());
    }

    private boolean isExact() {
        return target.dataType().equals(type)
                && (type.equals(DataTypes.ByteType) || type.equals(DataTypes.ShortType)
                || type.equals(DataTypes.IntegerType) || type.equals(DataTypes.LongType)
                || type.equals(DataTypes.DateType) || type.equals(DataTypes.TimestampType)
                || type.equals(DataTypes.StringType) || type instanceof DecimalType);
    }

    /** What {@link #hash} gives for its value in the target. */
    Expression hashed() {
        return new XxHash64(Seqs.appended((Seq) Nil$.MODULE$, target), HASH_SEED);
    }

    /** Whether its values are kept as they are; of others hashes are. */
    boolean isNumber() {
        return type.equals(DataTypes.ByteType) || type.equals(DataTypes.ShortType)
                || type.equals(DataTypes.IntegerType) || type.equals(DataTypes.LongType);
    }

    /** What is kept of a value: the number, or its hash. */
    long mark(Object value) {
        return isNumber() ? ((Number) value).longValue() : hash(value);
    }

    /** The hash of what was kept. */
    long hashOf(long mark) {
        if (!isNumber()) return mark;
        // All but the longest are hashed as ints.
        return type.equals(DataTypes.LongType)
                ? hash(Long.valueOf(mark)) : hash(Integer.valueOf((int) mark));
    }

    private long hash(Object value) {
        return XxHash64Function$.MODULE$.hash(value, type, HASH_SEED);
    }

    Ordering order() {
        return TypeUtils$.MODULE$.getInterpretedOrdering(type);
    }
}

/** The expressions that Spark's optimizer puts in the places of others, which cannot be evaluated. */
final class ReplacementResolver extends AbstractPartialFunction {
    public boolean isDefinedAt(Object node) {
        return node instanceof RuntimeReplaceable;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        return isDefinedAt(node)
                ? ((RuntimeReplaceable) node).replacement() : otherwise.apply(node);
    }
}

/**
 * A constant of bytes that plans, which Spark keeps as texts, do not show.
 *
 * <p>No class of Java can be a Literal: Scala's compiler and javac see the types of its methods in
 * other ways.
 */
final class BinaryConstant extends Expression implements Serializable {
    private final byte[] bytes;
    /** What the bytes are the Bloom filter of: numbers, and values as Spark keeps them; null for too many. */
    final transient long[] numbers;
    final transient Object[] values;

    BinaryConstant(byte[] bytes, long[] numbers, Object[] values) {
        this.bytes = bytes;
        this.numbers = numbers;
        this.values = values;
        // Else Spark would make a literal of it, which plans show.
        setTagValue(ConstantFolding$.MODULE$.FAILED_TO_EVALUATE(), BoxedUnit.UNIT);
    }

    public boolean foldable() {
        return true;
    }

    public boolean nullable() {
        return false;
    }

    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    public Object eval(InternalRow row) {
        return bytes;
    }

    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return new Literal(bytes, dataType()).doGenCode(context, code);
    }

    public Seq children() {
        return (Seq) Nil$.MODULE$;
    }

    public Expression withNewChildrenInternal(IndexedSeq children) {
        return this;
    }

    public int productArity() {
        return 1;
    }

    public Object productElement(int place) {
        return bytes;
    }

    public boolean canEqual(Object other) {
        return other instanceof BinaryConstant;
    }

    public boolean equals(Object other) {
        return other instanceof BinaryConstant && Arrays.equals(bytes, ((BinaryConstant) other).bytes);
    }

    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    public String toString() {
        return "keys";
    }

    public String sql() {
        return "keys";
    }
}

/** Marks of keys: see SourceKey. */
final class HashList {
    long[] all = new long[16];
    int count;

    void add(long[] others) {
        int size = others.length;
        if (count + size > all.length) {
            all = Arrays.copyOf(all, Math.max(count + size, 2 * all.length));
        }
        System.arraycopy(others, 0, all, count, size);
        count += size;
    }
}

/** What some rows of the source have: how much, and of each key the ends and the hashes. */
final class KeySummary {
    /** Bytes of a text that is listed: a search argument has no room for many long ones. */
    private static final int LONGEST = 1000;
    long rows;
    long bytes;
    final Object[] least;
    final Object[] greatest;
    /** Null where there are too many. */
    final HashList[] hashes;
    /** The values themselves, each once; null where there are more than may be listed. */
    final Set[] listed;
    private final int mostListed;
    /** Keys that a row could not tell: the join will say why. */
    final boolean[] unknown;

    KeySummary(int keys, int mostListed) {
        this.mostListed = mostListed;
        listed = new Set[keys];
        least = new Object[keys];
        greatest = new Object[keys];
        hashes = new HashList[keys];
        unknown = new boolean[keys];
        for (int i = 0; i < keys; i++) {
            hashes[i] = new HashList();
            listed[i] = mostListed > 0 ? new HashSet() : null;
        }
    }

    /** As others take it, whose classes come from another loader. */
    Object[] values() {
        long[][] told = new long[hashes.length][];
        for (int i = 0; i < told.length; i++) {
            told[i] = hashes[i] == null ? null : Arrays.copyOf(hashes[i].all, hashes[i].count);
        }
        Object[][] values = new Object[listed.length][];
        for (int i = 0; i < values.length; i++) {
            values[i] = listed[i] == null ? null : listed[i].toArray();
        }
        return new Object[] {
            Long.valueOf(rows), Long.valueOf(bytes), least, greatest, told, unknown, values};
    }

    void refuse(int key) {
        unknown[key] = true;
        hashes[key] = null;
        listed[key] = null;
    }

    /** Add values to those of a key, unless they become too many; null for more than may be listed. */
    void list(int key, Object[] values) {
        if (listed[key] == null) return;
        if (values == null) {
            listed[key] = null;
            return;
        }
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof UTF8String text && text.numBytes() > LONGEST) {
                listed[key] = null;
                return;
            }
            if (!listed[key].contains(values[i])) {
                listed[key].add(InternalRow$.MODULE$.copyValue(values[i]));
            }
        }
        if (listed[key].size() > mostListed) {
            listed[key] = null;
        }
    }

    void add(int key, Object low, Object high, long[] others, Ordering order, long most) {
        if (low != null && (least[key] == null || order.compare(low, least[key]) < 0)) {
            least[key] = InternalRow$.MODULE$.copyValue(low);
        }
        if (high != null && (greatest[key] == null || order.compare(high, greatest[key]) > 0)) {
            greatest[key] = InternalRow$.MODULE$.copyValue(high);
        }
        if (hashes[key] == null) return;
        if (others == null || (long) (hashes[key].count + others.length) > most) {
            hashes[key] = null;
        } else {
            hashes[key].add(others);
        }
    }
}

/** What a task finds in rows that are kept. */
final class SummarizeTask extends AbstractFunction2 implements Serializable {
    /** Bytes of a column, where a row does not tell. */
    private static final long USUAL = 20L;

    private final List keys;
    private final long most;
    private final int mostListed;

    SummarizeTask(List keys, long most, int mostListed) {
        this.keys = keys;
        this.most = most;
        this.mostListed = mostListed;
    }

    public Object apply(Object context, Object given) {
        KeySummary found = new KeySummary(keys.size(), mostListed);
        Ordering[] orders = new Ordering[keys.size()];
        for (int i = 0; i < orders.length; i++) {
            orders[i] = ((SourceKey) keys.get(i)).order();
        }
        long[] one = new long[1];
        Object[] single = new Object[1];
        for (Iterator rows = (Iterator) given; rows.hasNext();) {
            InternalRow row = (InternalRow) rows.next();
            found.rows++;
            found.bytes += row instanceof UnsafeRow
                    ? (long) ((UnsafeRow) row).getSizeInBytes() : USUAL * (long) row.numFields();
            for (int i = 0; i < orders.length; i++) {
                SourceKey key = (SourceKey) keys.get(i);
                if (found.unknown[i]) continue;
                Object value = null;
                try {
                    value = key.source.eval(row);
                } catch (RuntimeException raised) {
                    found.refuse(i);
                }
                if (value == null) continue;
                if (found.hashes[i] != null) {
                    one[0] = key.mark(value);
                }
                if (found.listed[i] != null) {
                    single[0] = value;
                    found.list(i, single);
                }
                found.add(i, value, value, one, orders[i], most);
            }
        }
        return found.values();
    }
}

/** What all tasks have found. */
final class SummaryMerger extends AbstractFunction2 {
    private final KeySummary all;
    private final List keys;
    private final long most;

    SummaryMerger(KeySummary all, List keys, long most) {
        this.all = all;
        this.keys = keys;
        this.most = most;
    }

    public Object apply(Object task, Object answer) {
        Object[] told = (Object[]) answer;
        all.rows += ((Long) told[0]).longValue();
        all.bytes += ((Long) told[1]).longValue();
        Object[] least = (Object[]) told[2], greatest = (Object[]) told[3];
        long[][] hashes = (long[][]) told[4];
        for (int i = 0; i < keys.size(); i++) {
            Ordering order = ((SourceKey) keys.get(i)).order();
            if (((boolean[]) told[5])[i]) {
                all.refuse(i);
            }
            all.add(i, least[i], greatest[i], hashes[i], order, most);
            all.list(i, ((Object[][]) told[6])[i]);
        }
        return BoxedUnit.UNIT;
    }
}

/** Computes rows that are to be kept. */
final class MaterializeTask extends AbstractFunction2 implements Serializable {
    public Object apply(Object context, Object given) {
        for (Iterator rows = (Iterator) given; rows.hasNext();) {
            rows.next();
        }
        return null;
    }
}

/** Does nothing with what tasks answer. */
final class IgnoredAnswers extends AbstractFunction2 {
    public Object apply(Object task, Object answer) {
        return BoxedUnit.UNIT;
    }
}

/**
 * Computes all rows of a source, and looks at them, by tasks with the session's settings.
 *
 * <p>In two jobs: at the end of the first Spark computes again what was lost with an executor, later it
 * does no more. Keys of rows that are others than those that are kept would hide what matches.
 */
final class KeySummaryQuery extends AbstractFunction0 {
    private final RDD rows;
    private final List keys;
    private final long most;
    private final int mostListed;

    KeySummaryQuery(RDD rows, List keys, long most, int mostListed) {
        this.rows = rows;
        this.keys = keys;
        this.most = most;
        this.mostListed = mostListed;
    }

    public Object apply() {
        KeySummary found = new KeySummary(keys.size(), mostListed);
        int tasks = rows.getNumPartitions();
        Range all = Range$.MODULE$.apply(0, tasks);
        rows.sparkContext().runJob(
                rows, new MaterializeTask(), all, new IgnoredAnswers(), ClassTag$.MODULE$.apply(Object.class));
        // Not all tasks have as many; together they must not be more than the driver takes.
        long each = Math.max(1000L, 4L * most / (long) Math.max(1, tasks));
        rows.sparkContext().runJob(
                rows, new SummarizeTask(keys, Math.min(each, most), mostListed),
                all, new SummaryMerger(found, keys, most),
                ClassTag$.MODULE$.apply(Object[].class));
        return found;
    }
}
