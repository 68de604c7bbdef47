package hivesql;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.classic.Dataset;
import scala.Option;
import scala.collection.immutable.List$;
import scala.collection.immutable.Seq;

/**
 * Takes texts along with the columns that an analysed query passes on as they are.
 *
 * <p>A scan is known by its alias, which begins with a given text: the text of its column 3 is the
 * column "__nanoseconds3". A value that is computed has no text.
 */
public final class NanosecondTexts {
    private static final String PASSING =
        " SubqueryAlias View Filter Sort GlobalLimit LocalLimit Offset Window Generate Join"
            + " ResolvedHint Repartition RepartitionByExpression Sample ";

    private final Dataset frame;
    private final String scans;
    private final List reached = new ArrayList();
    private boolean looking;
    private Attribute text;

    public NanosecondTexts(Dataset frame, String scans) {
        this.frame = frame;
        this.scans = scans;
    }

    /** Lines "position in the output, column of the scan, alias of the scan". */
    public String reached() {
        looking = true;
        LogicalPlan plan = plan();
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < plan.output().length(); i++) {
            reached.clear();
            if (carry(plan, at(plan, i).exprId()) != null) {
                for (int j = 0; j < reached.size(); j++) {
                    lines.append(i).append(' ').append(reached.get(j)).append('\n');
                }
            }
        }
        looking = false;
        return lines.toString();
    }

    /** The same rows, and behind them the text of each of these columns, named as given. */
    public Dataset carried(List positions, List names) {
        LogicalPlan plan = plan();
        Seq output = plan.output();
        Seq shown = output;
        for (int i = 0; i < positions.size(); i++) {
            Attribute value = (Attribute) output.apply(((Integer) positions.get(i)).intValue());
            LogicalPlan with = carry(plan, value.exprId());
            if (with == null) {
                throw new IllegalStateException("no text for " + value);
            }
            plan = with;
            shown = Seqs.appended(shown, named(text, (String) names.get(i)));
        }
        return Dataset.ofRows(frame.sparkSession(), new Project(shown, plan));
    }

    private LogicalPlan plan() {
        // As the optimizer will do anyway.
        return ScanPlans.inlineCommonTables(frame.queryExecution().analyzed());
    }

    /** The node with a text for the column, which is then the field "text"; null if it has none. */
    private LogicalPlan carry(LogicalPlan node, ExprId id) {
        int place = place(node, id);
        if (place < 0) {
            return null;
        }
        if (node instanceof Project) {
            return carryItem((Project) node, place);
        }
        if (node instanceof Union) {
            return carryAll((Union) node, place);
        }
        if (node instanceof SubqueryAlias) {
            String alias = ((SubqueryAlias) node).identifier().name();
            if (alias.startsWith(scans)) {
                return scanned(node, place, alias);
            }
        }
        if (PASSING.indexOf(" " + node.getClass().getSimpleName() + " ") < 0) {
            return null;
        }
        Seq children = node.children();
        for (int i = 0; i < children.length(); i++) {
            LogicalPlan child = (LogicalPlan) children.apply(i);
            if (place(child, id) >= 0) {
                LogicalPlan with = carry(child, id);
                return with == null ? null : replaced(node, Seqs.updated(children, i, with));
            }
        }
        return null;
    }

    private LogicalPlan scanned(LogicalPlan scan, int place, String alias) {
        if (looking) {
            reached.add(place + " " + alias);
            text = at(scan, place);
            return scan;
        }
        for (int i = 0; i < scan.output().length(); i++) {
            if (at(scan, i).name().equals("__nanoseconds" + place)) {
                text = at(scan, i);
                return scan;
            }
        }
        return null;
    }

    private LogicalPlan carryItem(Project project, int place) {
        Expression item = (Expression) project.projectList().apply(place);
        Expression source = item instanceof Alias ? (Expression) ((Alias) item).child() : item;
        if (!(source instanceof AttributeReference)) {
            return null;
        }
        LogicalPlan child = carry(project.child(), ((AttributeReference) source).exprId());
        if (child == null) {
            return null;
        }
        Alias taken = named(text, text.name());
        text = taken.toAttribute();
        return new Project(Seqs.appended(project.projectList(), taken), child);
    }

    /** Where one of the branches has no text, the others keep theirs. */
    private LogicalPlan carryAll(Union union, int place) {
        Seq children = union.children();
        LogicalPlan[] with = new LogicalPlan[children.length()];
        Attribute[] texts = new Attribute[with.length];
        Attribute any = null;
        for (int i = 0; i < with.length; i++) {
            LogicalPlan child = (LogicalPlan) children.apply(i);
            with[i] = carry(child, at(child, place).exprId());
            if (with[i] != null) {
                texts[i] = text;
                any = any == null ? text : any;
            }
        }
        if (any == null) {
            return null;
        }
        for (int i = 0; i < with.length; i++) {
            LogicalPlan child = (LogicalPlan) children.apply(i);
            Expression last = texts[i] == null ? new Literal(null, any.dataType()) : texts[i];
            Seq items = Seqs.appended(child.output(), named(last, any.name()));
            LogicalPlan below = with[i] == null ? child : with[i];
            children = Seqs.updated(children, i, new Project(items, below));
        }
        LogicalPlan whole = replaced(union, children);
        text = at(whole, whole.output().length() - 1);
        return whole;
    }

    private static LogicalPlan replaced(LogicalPlan node, Seq children) {
        return (LogicalPlan) node.withNewChildren(children);
    }

    private static Alias named(Expression value, String name) {
        Seq none = List$.MODULE$.empty();
        ExprId id = NamedExpression$.MODULE$.newExprId();
        return new Alias(value, name, id, none, Option.empty(), none);
    }

    private static int place(LogicalPlan node, ExprId id) {
        for (int i = 0; i < node.output().length(); i++) {
            if (at(node, i).exprId().equals(id)) {
                return i;
            }
        }
        return -1;
    }

    private static Attribute at(LogicalPlan node, int place) {
        return (Attribute) node.output().apply(place);
    }
}
