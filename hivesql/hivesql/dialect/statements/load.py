"""What is done with files: LOAD DATA, EXPORT, IMPORT, MSCK, ANALYZE, TRUNCATE and COMPACT."""

from __future__ import annotations

from hivesql.dialect.nodes.files import (
    Compact,
    ExportTable,
    ImportTable,
    Repair,
    Restore,
    SortKey,
    Truncate,
    ZOrder,
)
from hivesql.dialect.reading import StatementReader
from hivesql.dialect.statements.compaction import Order, parse_buckets, parse_order
from hivesql.dialect.statements.storage import parse_serde
from hivesql.dialect.tokens import Kind
from hivesql.python_sqlglot import exp
from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE


class FileStatements(StatementReader):
    """Reads what is done with a table's files."""

    def read_load(self) -> exp.Expr:
        """LOAD DATA [LOCAL] INPATH '…' [OVERWRITE] INTO TABLE t [PARTITION (…)]."""
        self.expect("load", "data")
        local = self.take("local")
        self.expect("inpath")
        path = self.place()
        overwrite = self.take("overwrite")
        self.expect("into", "table")
        table = self.table_name()
        partition = self.partition() if self.at("partition") else None
        input_format = serde = None
        if self.take("inputformat"):
            token = self.peek()
            input_format = exp.Literal.string(self.string("a class"))
            self.expect("serde")
            name, format_ = parse_serde(self)
            if STORAGE[format_].input_format != input_format.name:
                self.refuse(f"the INPUTFORMAT '{input_format.name}' with this SERDE", token)
            serde = exp.Literal.string(name)
        self.end()
        return exp.LoadData(
            this=table, inpath=path, local=local, overwrite=overwrite, partition=partition,
            input_format=input_format, serde=serde,
        )  # fmt: skip

    def read_export(self) -> exp.Expr:
        """EXPORT TABLE t [PARTITION (…)] TO '…'."""
        self.expect("export", "table")
        table = self.table_name()
        partition = self.partition(dynamic=False) if self.at("partition") else None
        self.expect("to")
        path = self.marked_place()
        if self.at("for"):
            self.refuse("EXPORT TABLE … FOR REPLICATION")
        self.end()
        return ExportTable(this=table, partition=partition, path=path)

    def read_import(self) -> exp.Expr:
        """IMPORT [[EXTERNAL] TABLE t [PARTITION (…)]] FROM '…' [LOCATION '…']."""
        self.expect("import")
        external = self.take("external")
        table = partition = location = None
        if external or self.at("table"):
            self.expect("table")
            table = self.table_name()
            partition = self.partition(dynamic=False) if self.at("partition") else None
        self.expect("from")
        path = self.marked_place()
        if self.take("location"):
            location = self.marked_place()
        self.end()
        return ImportTable(
            this=table, external=external, partition=partition, path=path, location=location
        )

    def marked_place(self) -> exp.Literal:
        """Take the text of a location, and note where it stands."""
        start = self.peek().start
        return self.mark_range(self.place(), start)

    def read_repair(self) -> exp.Expr:
        """MSCK [REPAIR] TABLE t [ADD | DROP | SYNC PARTITIONS [(k op v, …)]]."""
        self.expect("msck")
        repair = self.take("repair")
        self.expect("table")
        table = self.table_name()
        if self.at("partition"):
            self.refuse("MSCK … PARTITION")
        action = filters = None
        for word in ("add", "drop", "sync"):
            if self.take(word):
                self.expect("partitions")
                action = word.upper()
                filters = exp.Tuple(expressions=self.comparisons()) if self.at("(") else None
                break
        self.end()
        return Repair(this=table, repair=repair, action=action, filters=filters)

    def read_restore(self) -> exp.Expr:
        """RESTORE [TABLE] t [PARTITION (…)] TO VERSION | TIMESTAMP AS OF …."""
        self.expect("restore")
        self.take("table")
        table = self.table_name()
        partition = self.partition(dynamic=False) if self.at("partition") else None
        self.expect("to")
        kind = self.peek().text.upper()
        if not self.take("version"):
            self.expect("timestamp")
        self.expect("as", "of")
        start = self.peek().start
        if kind == "VERSION":
            self.integer("the number of a version")
        elif self.peek().kind is Kind.END:
            self.fail("expected a time")
        else:
            self.position = len(self.tokens) - 1
        self.end()
        moment = self.mark_range(exp.var(self.text.text[start : self.last_end]), start)
        return Restore(this=table, partition=partition, kind=exp.var(kind), moment=moment)

    def read_analyze(self) -> exp.Expr:
        """ANALYZE TABLE t [PARTITION (…)] COMPUTE STATISTICS [NOSCAN | FOR COLUMNS [c, …]]."""
        self.expect("analyze", "table")
        table = self.table_name()
        partition = self.partition() if self.at("partition") else None
        if self.at("cache"):
            self.refuse("ANALYZE TABLE … CACHE METADATA")
        self.expect("compute", "statistics")
        columns: list[exp.Identifier] = []
        what = "NOSCAN" if self.take("noscan") else None
        if what is None and self.take("for", "columns"):
            what = "FOR COLUMNS"
            columns = [] if self.at_end else self.listed_names()
        self.end()
        statistics = exp.AnalyzeStatistics(kind="COMPUTE", this=what, expressions=columns)
        return exp.Analyze(kind="TABLE", tables=[table], partition=partition, expression=statistics)

    def listed_names(self) -> list[exp.Identifier]:
        """Take names of columns, up to one without a comma behind it, or to the end."""
        names = [self.identifier("a column name")]
        while self.take(",") and not self.at_end:
            names.append(self.identifier("a column name"))
        return names

    def read_truncate(self) -> exp.Expr:
        """TRUNCATE [TABLE] t [PARTITION (…)] [COLUMNS (…)]."""
        self.expect("truncate")
        self.take("table")
        table = self.table_name()
        partition = self.partition() if self.at("partition") else None
        columns = self.identifiers() if self.take("columns") else []
        force = self.take("force")
        self.end()
        return Truncate(this=table, partition=partition, columns=columns, force=force)

    def read_compaction(self, table: exp.Table, partition: exp.Partition | None) -> Compact:
        """Read what follows COMPACT."""
        start = self.peek().start
        what = "the kind of compaction in quotes ('major', 'minor' or 'rebalance')"
        kind = self.mark_range(exp.Literal.string(self.string(what)), start)
        buckets = parse_buckets(self)
        wait = self.at("and")
        if wait:
            self.expect("and", "wait")
        pool = exp.Literal.string(self.string("a pool's name")) if self.take("pool") else None
        start = self.peek().start
        properties = None
        if self.take("with", "overwrite", "tblproperties"):
            properties = self.mark_range(self.properties(keys_alone=True), start)
        if self.at("where"):
            self.refuse("COMPACT … WHERE")
        return Compact(
            this=table, partition=partition, kind=kind, wait=wait, pool=pool,
            properties=properties, order=_sort_keys(parse_order(self, curves=True)),
            buckets=None if buckets is None else exp.Literal.number(buckets),
        )  # fmt: skip


def _sort_keys(order: Order) -> list[exp.Expr]:
    keys: list[exp.Expr] = []
    for name, key in order:
        column = exp.to_identifier(name.text, quoted=True)
        column.meta.update({"start": name.start, "end": name.start + len(name.text) - 1})
        keys.append(SortKey(this=column, desc=key.descending, nulls_first=key.nulls_first))
    if any(key.in_z_order for _, key in order):
        return [ZOrder(expressions=keys)]
    return keys
