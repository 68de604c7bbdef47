"""Queries, and the statements that change rows: INSERT, UPDATE, DELETE and MERGE."""

from __future__ import annotations

from hivesql.dialect.edits import Spans
from hivesql.dialect.nodes.dml import DirectoryBody, MultiInsert, take_apart
from hivesql.dialect.reading import StatementReader
from hivesql.dialect.slices import SPANS, Slice
from hivesql.dialect.statements.storage import parse_file_format, parse_written_rows
from hivesql.dialect.tokens import Kind, Token
from hivesql.python_sqlglot import exp

SOURCE = "SELECT * FROM "
"""What stands before the source of MERGE where it is a query of its own."""


class QueryStatements(StatementReader):
    """Reads queries, and INSERT."""

    def read_rows(self) -> exp.Expr | DirectoryBody:
        """Read a query, or an INSERT that begins with FROM or WITH."""
        return self.read_insert() if self._inserts() else self.rest_as_query()

    def _inserts(self) -> bool:
        """Tell whether FROM or WITH leads to INSERT."""
        if self.peek().value not in ("from", "with"):
            return False
        start = self.position
        self.find("insert", "update", "delete", "merge", "select", "map", "reduce")
        if self.at_end and self.tokens[start].is_("from"):
            self.fail("expected SELECT or INSERT")
        self.position = start
        self.find("insert", "update", "delete", "merge")
        verb, self.position = self.peek(), start
        if verb.value in ("update", "delete", "merge") and verb.kind is Kind.WORD:
            self.fail(f"WITH cannot go before {verb.text.upper()}", verb)
        return verb.is_("insert")

    def read_insert(self) -> exp.Expr | DirectoryBody:
        """INSERT, WITH … INSERT, and FROM … INSERT … INSERT …."""
        shared: Spans = ()
        if self.at("with"):
            start = self.expect("with").start
            shared += ((start, self.find("insert", "from")),)
        has_from = self.at("from")
        if has_from:
            start = self.peek().start
            shared += ((start, self.find("insert")),)
        if self.at("insert", "overwrite", "directory") or self.at("insert", "overwrite", "local"):
            return self._directory(shared, many=has_from)
        inserts: list[exp.Insert] = []
        while self.at("insert"):
            inserts.append(self._insert(shared, many=has_from))
            if not has_from:
                break
        self.end()
        has_with = len(inserts[0].expression.meta[SPANS]) - 1 > has_from
        before = [take_apart(insert.expression, with_=has_with, from_=has_from)
                  for insert in inserts]  # fmt: skip
        if has_from:
            return MultiInsert(**before[0], expressions=inserts)
        for key, node in before[0].items():
            inserts[0].set(key, node)
        return inserts[0]

    def _directory(self, shared: Spans, *, many: bool) -> DirectoryBody:
        """INSERT OVERWRITE [LOCAL] DIRECTORY '…' [ROW FORMAT …] [STORED AS …] query."""
        self.expect("insert", "overwrite")
        local = self.take("local")
        self.expect("directory")
        start = self.peek()
        path = self.location()
        with_rows = self.take("row", "format")
        by_serde, properties = parse_written_rows(self) if with_rows else (None, {})
        stored = parse_file_format(self) if self.take("stored", "as") else "textfile"
        query = self._inserted(shared, many=many)
        if self.at("insert"):
            self.refuse("INSERT OVERWRITE DIRECTORY beside other INSERTs")
        self.end()
        return DirectoryBody(
            path=path, path_start=start.start, local=local, format=by_serde or stored,
            serde_properties=properties, query=Slice(query.meta[SPANS], query),
        )  # fmt: skip

    def _insert(self, shared: Spans, *, many: bool) -> exp.Insert:
        start = self.expect("insert").start
        overwrite = self.take("overwrite")
        if not overwrite:
            self.expect("into")
        elif not any(self.at(word) for word in ("table", "directory", "local")):
            self.fail("expected TABLE")
        if overwrite and (self.at("directory") or self.at("local", "directory")):
            self.refuse("INSERT OVERWRITE DIRECTORY beside other INSERTs")
        self.take("table")
        into: exp.Expr = self.table_name()
        partition = self.partition() if self.at("partition") else None
        exists = self.at("if")
        if exists:
            if not overwrite:
                self.fail("IF NOT EXISTS needs OVERWRITE")
            self.expect("if", "not", "exists")
        if self.at("(") and self.peek(1).is_name:
            if overwrite:
                self.fail("INSERT OVERWRITE takes no list of columns")
            into = exp.Schema(this=into, expressions=self.identifiers())
        query = self._inserted(shared, many=many)
        insert = exp.Insert(
            this=into, expression=query, overwrite=overwrite, partition=partition, exists=exists
        )
        return self.mark_range(insert, start)

    def _inserted(self, shared: Spans, *, many: bool) -> exp.Expr:
        token = self.peek()
        if token.is_("with"):
            self.fail("WITH goes before INSERT")
        begins_query = () if many else ("values", "from", "(")
        allowed = ("select", "map", "reduce", *begins_query)
        if token.value not in allowed or token.kind in (Kind.STRING, Kind.QUOTED):
            self.fail("expected SELECT" if many else "expected VALUES or a query")
        end = self.find(*(("insert",) if many else ()))
        if shared and token.is_("values"):
            # VALUES cannot name what is before it, which is read for its mistakes alone.
            self.read_query((*shared, (token.start, end)), SOURCE)
            shared = ()
        return self.read_query((*shared, (token.start, end)))


class ChangeStatements(StatementReader):
    """Reads the statements that change rows.

    Hive knows no alias in UPDATE and DELETE: they have one where they name a source of rows.
    """

    def read_update(self) -> exp.Expr:
        """UPDATE t SET c = e, … [WHERE e], and UPDATE t [AS a] SET … FROM s WHERE e."""
        self.expect("update")
        table, alias = self._target()
        self.expect("set")
        assigned = self._assignments(table.alias_or_name, "where", "from")
        source = exp.From(this=self._source()) if self.take("from") else None
        statement = exp.Update(
            this=table, expressions=assigned, from_=source, where=self._joining(alias, source)
        )
        self.end()
        return statement

    def read_delete(self) -> exp.Expr:
        """DELETE FROM t [WHERE e], and DELETE FROM t [AS a] USING s WHERE e."""
        self.expect("delete", "from")
        table, alias = self._target()
        source = self._source() if self.take("using") else None
        statement = exp.Delete(
            this=table, using=source and [source], where=self._joining(alias, source)
        )
        self.end()
        return statement

    def _target(self) -> tuple[exp.Table, Token | None]:
        """Take the table that a statement changes, and perhaps its alias, whose token is told."""
        table, token = self.table_name(), self.peek()
        alias = self._alias()
        if alias is None:
            return table, None
        table.set("alias", exp.TableAlias(this=alias))
        return table, token

    def _joining(self, alias: Token | None, source: exp.Expr | None) -> exp.Where | None:
        """Take WHERE, which tells which rows of a source belong to a row of the table."""
        if source is None and alias is not None:
            self.fail("only UPDATE … FROM and DELETE … USING give the table an alias", alias)
        if source is not None and not self.at("where"):
            self.fail("expected WHERE, which joins the table with its source; of more than one "
                      "table make a query: (SELECT …) alias")  # fmt: skip
        return self._where()

    def _where(self) -> exp.Where | None:
        if not self.take("where"):
            return None
        condition = self.piece()
        for clause in ("order", "limit", "returning"):
            if self.at(clause):
                self.fail("expected the end of the statement")
        return exp.Where(this=condition)

    def _assignments(self, qualifier: str, *stops: str) -> list[exp.Expr]:
        """``c = e, …``; a column may be named with the table, or its alias, before it."""
        return self.listed(lambda: self._assignment(qualifier.lower(), stops))

    def merges(self) -> bool:
        """Tell whether the WITH that begins here is that of a MERGE."""
        start = self.position
        self.find("insert", "update", "delete", "merge", "select", "from")
        merges, self.position = self.at("merge"), start
        return merges

    def find(self, *stops: str) -> int:
        """Move to the next of these words; the FROM of IS [NOT] DISTINCT FROM is none."""
        end = super().find(*stops)
        while self.at("from") and self.tokens[self.position - 1].is_("distinct"):
            self.position += 1
            end = super().find(*stops)
        return end

    def _assignment(self, qualifier: str, stops: tuple[str, ...]) -> exp.Expr:
        start = self.peek()
        column = exp.Column(this=self.identifier("a column name"))
        if start.value == qualifier and self.take("."):
            column = exp.Column(this=self.identifier("a column name"), table=column.this)
        self.mark_range(column, start.start)
        self.expect("=")
        return exp.EQ(this=column, expression=self.value(*stops))

    def read_merge(self) -> exp.Expr:
        """[WITH …] MERGE [WITH SCHEMA EVOLUTION] INTO t [AS a] USING s ON e WHEN …."""
        shared: Spans = ()
        if self.at("with"):
            start = self.peek().start
            shared = ((start, self.find("merge")),)
        self.expect("merge")
        evolves = self.take("with", "schema", "evolution")
        self.expect("into")
        table, _ = self._target()
        self.expect("using")
        source = self._source(shared)
        self.expect("on")
        on = self.piece("when")
        whens: list[exp.When] = []
        while self.at("when"):
            if whens and not whens[-1].args["matched"] and self.at("when", "matched"):
                self.fail("WHEN MATCHED must stand before WHEN NOT MATCHED")
            whens.append(self._when(table.alias_or_name))
        self.end()
        if not whens:
            self.fail("MERGE needs at least one WHEN clause")
        query = source.parent_select
        return exp.Merge(
            this=table, using=source, on=on, whens=exp.Whens(expressions=whens),
            with_=query and query.args.get("with_"), evolves=evolves,
        )  # fmt: skip

    def _source(self, shared: Spans = ()) -> exp.Expr:
        """Take rows that are joined with the table; ``shared`` is the WITH that they may name."""
        start = self.peek().start
        if self.at("table", "("):
            self.expect("table")
        if self.at("("):
            self.skip_group()
            if self._alias() is None:
                self.fail("expected an alias for the source of rows")
            if self.at("("):
                self.names()
        else:
            self.table(of_spark=True)
            self._alias()
        query = self.read_query((*shared, (start, self.last_end)), SOURCE)
        source: exp.Expr = query.args["from_"].this
        source.meta[SPANS] = query.meta[SPANS]
        return source

    def _alias(self) -> exp.Identifier | None:
        if self.take("as"):
            return self.identifier("an alias")
        return self.identifier() if self.peek().is_name else None

    def _when(self, qualifier: str) -> exp.When:
        start = self.expect("when").start
        matched = not self.take("not")
        self.expect("matched")
        by_source = not matched and self.take("by", "source")
        if not matched and not by_source and self.take("by"):
            self.expect("target")
        condition = self.piece("then") if self.take("and") else None
        self.expect("then")
        changes = matched or by_source
        then = self._then(qualifier, has_source=matched) if changes else self._insertion()
        when = exp.When(matched=matched, source=by_source, condition=condition, then=then)
        return self.mark_range(when, start)

    def _then(self, qualifier: str, *, has_source: bool) -> exp.Expr:
        if self.take("delete"):
            return exp.var("DELETE")
        if not self.at("update"):
            self.fail("expected UPDATE or DELETE after WHEN MATCHED")
        self.expect("update", "set")
        if self.at("*"):
            if not has_source:
                self.fail("rows that no row of the source matches have nothing to be set to: "
                          "name columns")  # fmt: skip
            return exp.Update(expressions=[self._star()])
        return exp.Update(expressions=self._assignments(qualifier, "when"))

    def _star(self) -> exp.Star:
        """Take ``*``: each column of the table from that of its name."""
        return self.mark_range(exp.Star(), self.next().start)

    def _insertion(self) -> exp.Insert:
        if not self.at("insert"):
            self.fail("expected INSERT after WHEN NOT MATCHED")
        self.expect("insert")
        if self.at("*"):
            return exp.Insert(this=self._star())
        columns = exp.Tuple(expressions=self.identifiers()) if self.at("(") else None
        self.expect("values", "(")
        values = exp.Tuple(expressions=self.listed(self.value))
        self.expect(")")
        if self.peek().kind is Kind.SYMBOL and self.at(","):
            self.fail("MERGE inserts one row for each source row")
        return exp.Insert(this=columns, expression=values)
