package hivesql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.ArrayContains;
import org.apache.spark.sql.catalyst.expressions.CreateArray;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.collection.Iterator;

/**
 * Puts the terms of a long AND into groups that Spark's optimizer does not look into.
 *
 * <p>Many of its rules take a condition apart into its terms and put it together again, each in a time
 * that grows with the square of their number: 10,000 terms took 40 seconds. That no term of a group is
 * false is the same as their AND for all three truth values.
 */
final class LongConditions {
    /** So many terms are left as they are. */
    private static final int LONG = 500;

    /** Terms at the front that stay, and those of a group: rows are thrown away after the first. */
    private static final int GROUP = 64;

    private LongConditions() {}

    /** Group the terms of a condition, before its names are resolved; a short one is left as it is. */
    static Expression grouped(Expression condition) {
        if (!(condition instanceof And)) return condition;
        List<Expression> terms = terms(condition);
        if (terms.size() < LONG) return condition;
        List<Expression> parts = new ArrayList<>(terms.subList(0, GROUP));
        Map<Set<String>, List<Expression>> byTable = new LinkedHashMap<>();
        for (Expression term : terms.subList(GROUP, terms.size())) {
            Set<String> tables = tables(term);
            if (tables == null) {
                parts.add(term);
                continue;
            }
            List<Expression> group = byTable.computeIfAbsent(tables, any -> new ArrayList<>());
            group.add(term);
            if (group.size() == GROUP) {
                parts.add(allTrue(group));
                group.clear();
            }
        }
        byTable.values().stream().filter(group -> !group.isEmpty()).forEach(group -> parts.add(allTrue(group)));
        return balanced(parts);
    }

    private static List<Expression> terms(Expression condition) {
        List<Expression> terms = new ArrayList<>();
        Deque<Expression> left = new ArrayDeque<>();
        left.push(condition);
        while (!left.isEmpty()) {
            Expression next = left.pop();
            if (next instanceof And) {
                left.push(((And) next).right());
                left.push(((And) next).left());
            } else {
                terms.add(next);
            }
        }
        return terms;
    }

    /**
     * Return what qualifies the columns of a term: filters are pushed below joins by that.
     *
     * <p>Null for what Spark must see: subqueries, and equalities of columns, by which it joins.
     */
    private static Set<String> tables(Expression term) {
        Set<String> tables = new TreeSet<>();
        int columns = 0;
        Deque<TreeNode> left = new ArrayDeque<>();
        left.push(term);
        while (!left.isEmpty()) {
            TreeNode next = left.pop();
            if (next instanceof PlanExpression) return null;
            if (next instanceof UnresolvedAttribute) {
                columns++;
                tables.add(String.valueOf(((UnresolvedAttribute) next).nameParts().init()));
            }
            for (Iterator children = next.children().iterator(); children.hasNext();) {
                left.push((TreeNode) children.next());
            }
        }
        return term instanceof EqualTo && columns > 1 ? null : tables;
    }

    private static Expression allTrue(List<Expression> terms) {
        CreateArray truths = new CreateArray(Seqs.of(new ArrayList<>(terms)));
        return new Not(new ArrayContains(truths, Literal$.MODULE$.FalseLiteral()));
    }

    private static Expression balanced(List<Expression> parts) {
        if (parts.size() == 1) return parts.get(0);
        int middle = parts.size() / 2;
        return new And(balanced(parts.subList(0, middle)), balanced(parts.subList(middle, parts.size())));
    }
}
