package hivesql;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.Decimal64ColumnVector;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import scala.Option;

final class DecimalComparisonsTest {
    private static final int ROWS = 40;
    private static final int CASES = 400;
    private static final List<BiFunction<Expression, Expression, Expression>> COMPARED = List.of(
            LessThan::new, LessThanOrEqual::new, GreaterThan::new, GreaterThanOrEqual::new, EqualTo::new,
            EqualNullSafe::new);

    private DecimalComparisonsTest() {}

    private static Literal literal(Random random, int scale) {
        long number = random.nextInt(2000) - 1000;
        int precision = scale + 4 + random.nextInt(3);
        return new Literal(Decimal.apply(number, precision, scale), new DecimalType(precision, scale));
    }

    private static Expression column(Random random, int at, DecimalType type) {
        Expression column = new BoundReference(at, type, true);
        return random.nextBoolean() ? column : new Cast(
                column, new DecimalType(type.precision() + 4, type.scale() + 2), Option.empty(),
                EvalMode$.MODULE$.LEGACY());
    }

    private static Decimal64ColumnVector vector(Random random, DecimalType type, boolean repeats) {
        Decimal64ColumnVector vector = new Decimal64ColumnVector(ROWS, type.precision(), type.scale());
        vector.isRepeating = repeats;
        vector.noNulls = random.nextBoolean();
        for (int i = 0; i < ROWS; i++) {
            vector.vector[i] = random.nextInt(40) - 20L;
            vector.isNull[i] = !vector.noNulls && random.nextInt(4) == 0;
        }
        return vector;
    }

    /** As Spark compares objects: columns of one scale or two, literals of any, lists, casts, NULLs. */
    static void numbersCompareAsSparksDecimals() {
        Random random = new Random(17L);
        int changed = 0;
        for (int c = 0; c < CASES; c++) {
            int scale = random.nextInt(4);
            DecimalType[] types = {
                new DecimalType(18 - random.nextInt(8), scale),
                new DecimalType(16 + random.nextInt(6), random.nextInt(4) == 0 ? scale + 1 : scale)};
            StructType row = new StructType().add("a", types[0]).add("b", types[1]);
            Decimal64ColumnVector[] vectors = {
                vector(random, types[0], c % 5 == 0), vector(random, types[1], false)};
            Expression left = column(random, 0, types[0]);
            int kind = random.nextInt(3);
            List<Expression> list = new ArrayList<>();
            for (int i = 0; i < 5; i++) list.add(literal(random, scale + random.nextInt(3)));
            Expression given = kind == 0 ? new In(left, Seqs.of(list))
                    : COMPARED.get(random.nextInt(COMPARED.size())).apply(
                            left, kind == 1 ? column(random, 1, types[1]) : list.get(0));
            Expression made = DecimalComparisons.in(given);
            changed += made.equals(given) ? 0 : 1;
            check(given, made, row, types, vectors);
        }
        if (changed < CASES / 4) {
            throw new AssertionError("only " + changed + " of " + CASES + " were compared as numbers");
        }
    }

    private static void check(
            Expression given, Expression made, StructType types, DecimalType[] kinds,
            Decimal64ColumnVector[] vectors) {
        var shown = new org.apache.spark.sql.vectorized.ColumnVector[vectors.length];
        for (int i = 0; i < vectors.length; i++) shown[i] = new LongDecimals(kinds[i], vectors[i]);
        ColumnVector[] inner = vectors;
        VectorRow row = new VectorRow(types, inner, shown, new long[0]);
        row.begin();
        for (int i = 0; i < ROWS; i++) {
            Object[] values = new Object[vectors.length];
            for (int j = 0; j < values.length; j++) {
                int at = vectors[j].isRepeating ? 0 : i;
                values[j] = vectors[j].isNull[at] && !vectors[j].noNulls ? null
                        : Decimal.createUnsafe(vectors[j].vector[at], kinds[j].precision(), kinds[j].scale());
            }
            row.at(i);
            Object expected = given.eval(new GenericInternalRow(values));
            Object found = made.eval(row);
            if (!java.util.Objects.equals(expected, found)) {
                throw new AssertionError(given + " is " + expected + ", " + made + " is " + found
                        + " of " + java.util.Arrays.toString(values));
            }
        }
    }
}
