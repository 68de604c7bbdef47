"""ALTER TABLE, VIEW and DATABASE."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from hivesql.dialect.nodes.alter import (
    AddPartitions,
    AlterBody,
    AlterPartitionsBody,
    DropPartitions,
    ExchangePartition,
    MovePartition,
    NewPartition,
    RefusedBody,
    Rename,
    RenamePartition,
    Touch,
    UpdateStatistics,
)
from hivesql.dialect.nodes.commands import Body
from hivesql.dialect.nodes.databases import AlterDatabase
from hivesql.dialect.nodes.files import Concatenate
from hivesql.dialect.nodes.parts import partition_of, table_of
from hivesql.dialect.nodes.views import AlterView, Rebuild
from hivesql.dialect.statements.clauses import parse_partition, refuse_object, refuse_replication
from hivesql.dialect.statements.commands import (
    parse_keys,
    parse_owner,
    parse_owner_type,
    parse_properties,
)
from hivesql.dialect.statements.constraints import parse_column_constraint, parse_constraint
from hivesql.dialect.statements.load import FileStatements
from hivesql.dialect.statements.storage import (
    parse_bucket_count,
    parse_buckets,
    parse_file_format,
    parse_serde,
    parse_skew,
)
from hivesql.dialect.statements.types import parse_columns, parse_type
from hivesql.dialect.tokens import Cursor, Kind, TableRef, at
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.table import Column
from hivesql_planner.statements.alter import (
    AddColumns,
    AddConstraint,
    Change,
    ChangeBucketCount,
    ChangeBuckets,
    ChangeColumn,
    ChangeFormat,
    ChangeLocation,
    ChangeOwner,
    ChangePartitionColumn,
    ChangeProperties,
    ChangeRewrite,
    ChangeSerde,
    ChangeSkew,
    DropColumns,
    DropConstraint,
    LeaveDirectories,
    RenameColumn,
    ReplaceColumns,
    Unsort,
)


def _add_partitions(cursor: FileStatements, table: exp.Table, kind: str) -> AddPartitions:
    """``ADD [IF NOT EXISTS] PARTITION (…) [LOCATION '…'] …``."""
    cursor.expect("add")
    exists = cursor.take("if", "not", "exists")
    partitions = []
    while cursor.at("partition"):
        partition = cursor.partition(dynamic=False)
        located = kind == "TABLE" and cursor.take("location")
        location = cursor.place() if located else None
        partitions.append(NewPartition(this=partition, location=location))
    if not partitions:
        cursor.fail("expected PARTITION")
    return AddPartitions(kind=kind, this=table, expressions=partitions, exists=exists)


def _drop_partitions(cursor: FileStatements, table: exp.Table, kind: str) -> DropPartitions:
    """``DROP [IF EXISTS] PARTITION (k op v, …), … [PURGE]``."""
    cursor.expect("drop")
    exists = cursor.take("if", "exists")
    filters = cursor.listed(cursor.filters)
    purge = kind == "TABLE" and cursor.take("purge")
    refuse_replication(cursor, f"ALTER {kind} … DROP PARTITION")
    return DropPartitions(kind=kind, this=table, expressions=filters, exists=exists, purge=purge)


_COUNTS = ("numRows", "rawDataSize")
_LOWERED = ("transactional", "transactional_properties")
_KNOWN = {
    "ADD", "ARCHIVE", "CHANGE", "CLUSTERED", "CONCATENATE", "CONVERT", "CREATE", "DISABLE",
    "DROP", "ENABLE", "EXCHANGE", "EXECUTE", "INTO", "NOT", "PARTITION", "RENAME", "REPLACE",
    "SET", "SKEWED", "TOUCH", "UNARCHIVE", "UNSET", "UPDATE",
}  # fmt: skip


def parse_alter(cursor: FileStatements) -> Body:
    """ALTER of what we know."""
    cursor.expect("alter")
    if cursor.at("index"):
        cursor.refuse("ALTER INDEX")
    refuse_object(cursor, "ALTER")
    if cursor.take("database") or cursor.take("schema"):
        body: Body = _alter_database(cursor)
    elif cursor.take("materialized"):
        cursor.expect("view")
        body = _alter_materialized(cursor)
    elif cursor.take("view"):
        body = _looked_up(cursor, _alter_view, view=True)
    else:
        cursor.expect("table")
        body = _looked_up(cursor, _alter_table, view=False)
    if not isinstance(body, RefusedBody):
        cursor.end()
    return body


def _looked_up(
    cursor: FileStatements, parse: Callable[[FileStatements], Body], *, view: bool
) -> Body:
    """Tell what is altered; of what is refused by name, the table is looked up first."""
    start = cursor.position
    try:
        return parse(cursor)
    except NotSupported as error:
        cursor.position = start
        table = cursor.table()
        archived = None
        unarchives = cursor.take("unarchive")
        if unarchives or cursor.take("archive"):
            archived = parse_partition(cursor, dynamic=False) if cursor.at("partition") else ()
        more = bool(archived) and cursor.at("partition")
        return RefusedBody(table, error, table.start, view, archived, more, unarchives)


def _alter_database(cursor: FileStatements) -> AlterDatabase:
    name = cursor.identifier("a database name")
    cursor.expect("set")
    if cursor.take("dbproperties"):
        return AlterDatabase(this=name, properties=cursor.properties())
    if cursor.take("owner"):
        owner_type = parse_owner_type(cursor)
        owner = cursor.identifier("an owner")
        return AlterDatabase(this=name, owner_type=owner_type, owner=owner)
    if cursor.take("managedlocation"):
        return AlterDatabase(this=name, managed_location=cursor.place())
    if not cursor.take("location"):
        cursor.fail("expected DBPROPERTIES, OWNER, LOCATION or MANAGEDLOCATION")
    return AlterDatabase(this=name, location=cursor.place())


def _alter_materialized(cursor: FileStatements) -> AlterBody | Rebuild:
    table = cursor.table_name()
    start = cursor.peek().start
    if cursor.take("rebuild"):
        return Rebuild(this=table)
    enabled = cursor.take("enable")
    if not enabled and not cursor.take("disable"):
        cursor.fail("expected REBUILD, ENABLE REWRITE or DISABLE REWRITE")
    cursor.expect("rewrite")
    return AlterBody(table_of(table), ChangeRewrite(enabled), start)


def _alter_view(cursor: FileStatements) -> Body:
    table = cursor.table_name()
    start = cursor.peek().start
    after = cursor.peek(1)
    if any(map(after.is_, ("add", "drop", "rename", "set", "unset"))):
        cursor.take("as")  # Hive takes it before these too
    if (body := _of_partitions(cursor, table, "VIEW")) is not None:
        return body
    if cursor.at("partition") or cursor.at("add") or cursor.at("drop"):
        cursor.refuse("ALTER VIEW … PARTITION and ALTER VIEW … COLUMNS")
    if cursor.take("rename", "to"):
        return Rename(kind="VIEW", this=table, to=cursor.table_name())
    if cursor.at("set", "tblproperties") or cursor.at("unset", "tblproperties"):
        return AlterBody(table_of(table), _properties(cursor), start, view=True)
    cursor.take("as")
    return AlterView(this=table, expression=cursor.rest_as_query())


def _alter_table(cursor: FileStatements) -> Body:
    named = cursor.table_name()
    table = table_of(named)
    if cursor.at("partition", "column"):
        return _partition_column(cursor, table)
    if cursor.at("partition"):
        return _alter_partition(cursor, named, cursor.partition())
    body = _of_contents(cursor, named, None) or _of_partitions(cursor, named, "TABLE")
    if body is not None:
        return body
    if cursor.take("rename", "to"):
        return Rename(kind="TABLE", this=named, to=cursor.table_name())
    if cursor.take("exchange"):
        partition = cursor.partition(dynamic=False)
        cursor.expect("with", "table")
        return ExchangePartition(this=named, partition=partition, source=cursor.table_name())
    if cursor.take("touch"):
        touched = cursor.partition(dynamic=False) if cursor.at("partition") else None
        return Touch(this=named, partition=touched)
    return _change(cursor, table)


def _of_partitions(cursor: FileStatements, table: exp.Table, kind: str) -> Body | None:
    """Read what adds or drops partitions; None for others."""
    if cursor.at("add", "partition") or cursor.at("add", "if"):
        return _add_partitions(cursor, table, kind)
    if cursor.at("drop", "partition") or cursor.at("drop", "if", "exists", "partition"):
        return _drop_partitions(cursor, table, kind)
    return None


def _change(cursor: Cursor, table: TableRef) -> AlterBody:
    start = cursor.peek().start
    if cursor.take("add", "column"):
        change: Change = AddColumns((_column(cursor),))
    elif cursor.at("add", "columns") or cursor.at("replace", "columns"):
        change = _columns(cursor)
    elif cursor.take("change"):
        change = _change_column(cursor)
    elif cursor.take("rename", "column"):
        name = cursor.name("a column name").text
        cursor.expect("to")
        return AlterBody(table, RenameColumn(name, cursor.new_column().text), start)
    elif cursor.at("drop", "column") or cursor.at("drop", "columns"):
        return AlterBody(table, _dropped_columns(cursor), start)
    else:
        return AlterBody(table, _storage_change(cursor), start)
    cascade = cursor.take("cascade")
    if not cascade:
        cursor.take("restrict")
    return AlterBody(table, change, start, cascade)


def _of_contents(
    cursor: FileStatements, named: exp.Table, partition: exp.Partition | None
) -> Body | None:
    """Read what is done to the files of a table or partition, or told of them; None for others."""
    if cursor.take("compact"):
        return cursor.read_compaction(named, partition)
    if cursor.at("concatenate"):
        start = cursor.next().start
        return cursor.mark_range(Concatenate(this=named, partition=partition), start)
    if cursor.at("update", "statistics", "for") or (
        partition and cursor.at("update", "statistics")
    ):
        return _update_statistics(cursor, named, partition)
    return None


def _alter_partition(cursor: FileStatements, named: exp.Table, partition: exp.Partition) -> Body:
    if (body := _of_contents(cursor, named, partition)) is not None:
        return body
    table, items = table_of(named), partition_of(partition) or ()
    start = cursor.peek().start
    change: Change | None = _storage_of_partition(cursor) or _clustering(cursor)
    if change is None and (cursor.at("add", "columns") or cursor.at("replace", "columns")):
        change = _columns(cursor)
    if change is None and cursor.take("change"):
        change = _change_column(cursor)
    if change is not None:
        if not cursor.take("cascade"):
            cursor.take("restrict")
        return AlterPartitionsBody(table, items, change, start)
    if any(not item.is_static for item in items):
        cursor.refuse("ALTER TABLE … PARTITION with keys that have no value")
    if cursor.take("rename", "to"):
        to = cursor.partition(dynamic=False)
        return RenamePartition(this=named, partition=partition, to=to)
    if not cursor.take("set", "location"):
        _refuse(cursor, "PARTITION … ")
    location = cursor.place()
    return MovePartition(this=named, partition=partition, location=location)


def _update_statistics(
    cursor: FileStatements, table: exp.Table, partition: exp.Partition | None
) -> UpdateStatistics:
    start = cursor.expect("update", "statistics").start
    column = None
    if cursor.take("for"):
        cursor.take("column")
        column = cursor.identifier("a column name")
    cursor.expect("set")
    properties = cursor.properties()
    if column is not None and cursor.take("comment"):
        cursor.string("a comment")  # Hive drops it
    statement = UpdateStatistics(
        this=table, partition=partition, column=column, properties=properties
    )
    return cursor.mark_range(statement, start)


def _partition_column(cursor: Cursor, table: TableRef) -> AlterBody:
    start = cursor.expect("partition", "column", "(").start
    name = cursor.name("a partition column")
    type_ = parse_type(cursor)
    column = Column(name.text, type_, cursor.string() if cursor.take("comment") else None)
    cursor.expect(")")
    return AlterBody(table, ChangePartitionColumn(column), start)


def _columns(cursor: Cursor) -> Change:
    if cursor.take("add", "columns"):
        return AddColumns(parse_columns(cursor))
    cursor.expect("replace", "columns")
    return ReplaceColumns(parse_columns(cursor))


def _column(cursor: Cursor) -> Column:
    name = cursor.new_column().text
    type_ = parse_type(cursor)
    return Column(name, type_, cursor.string() if cursor.take("comment") else None)


def _dropped_columns(cursor: Cursor) -> DropColumns:
    """``DROP COLUMN [IF EXISTS] c``, ``DROP COLUMNS [IF EXISTS] (c, d)``; CASCADE says nothing."""
    cursor.expect("drop")
    is_single = cursor.take("column")
    if not is_single:
        cursor.expect("columns")
    if_exists = cursor.take("if", "exists")
    names = (cursor.name("a column name"),) if is_single else cursor.names("a column name")
    if not cursor.take("cascade"):
        cursor.take("restrict")
    return DropColumns(tuple(name.text for name in names), if_exists)


def _change_column(cursor: Cursor) -> ChangeColumn:
    cursor.take("column")
    old = cursor.name("a column name").text
    new = cursor.new_column().text
    type_ = parse_type(cursor)
    constraint = parse_column_constraint(cursor, new)
    column = Column(new, type_, cursor.string() if cursor.take("comment") else None)
    first = cursor.take("first")
    after = None
    if not first and cursor.take("after"):
        after = cursor.name("a column name").text
    return ChangeColumn(old, column, first, after, constraint)


def _storage_change(cursor: Cursor) -> Change:  # noqa: C901 - one flat list
    if cursor.at("set", "tblproperties") or cursor.at("unset", "tblproperties"):
        return _properties(cursor)
    if cursor.take("add"):
        if not cursor.at("constraint"):
            cursor.position -= 1
            _refuse(cursor)
        return AddConstraint(parse_constraint(cursor))
    if cursor.take("convert", "to", "acid"):
        more = parse_properties(cursor) if cursor.take("tblproperties") else {}
        kind = {key.lower(): value for key, value in more.items() if key.lower() in _LOWERED}
        others = {key: value for key, value in more.items() if key.lower() not in _LOWERED}
        return ChangeProperties(
            set={"transactional_properties": "default", **others, **kind, "transactional": "true"}
        )
    if cursor.take("drop", "constraint"):
        return DropConstraint(cursor.name("a constraint's name").text)
    if cursor.take("update", "statistics", "set"):
        return ChangeProperties(set=_counts(cursor))
    if change := _storage_of_partition(cursor):
        return change
    if cursor.take("set", "location"):
        return ChangeLocation(cursor.location())
    if cursor.take("set", "owner"):
        return ChangeOwner(*parse_owner(cursor))
    if cursor.at("skewed", "by"):
        return ChangeSkew(parse_skew(cursor))
    if cursor.take("not", "skewed"):
        return ChangeSkew(None)
    if cursor.take("not", "stored", "as", "directories"):
        return LeaveDirectories()
    if (clustering := _clustering(cursor)) is None:
        _refuse(cursor)
    return clustering


def _clustering(cursor: Cursor) -> ChangeBuckets | ChangeBucketCount | Unsort | None:
    """CLUSTERED BY and its like, of a table or of partitions."""
    if cursor.take("clustered", "by"):
        buckets = parse_buckets(cursor)
        return ChangeBuckets(
            columns=tuple(column.text for column in buckets.columns),
            sort_columns=tuple(column.text for column in buckets.sorting),
            descending=buckets.descending,
            count=buckets.count,
        )
    if cursor.take("not", "clustered"):
        return ChangeBuckets()
    if cursor.take("not", "sorted"):
        return Unsort()
    return ChangeBucketCount(parse_bucket_count(cursor)) if cursor.at("into") else None


def _counts(cursor: Cursor) -> dict[str, str]:
    """Tell what UPDATE STATISTICS sets: numbers."""
    start = cursor.peek().start
    counts = parse_properties(cursor)
    for key, value in counts.items():
        if key not in _COUNTS:
            message = (
                f"AlterTable UpdateStats {key} failed because the only valid keys are "
                f"{' and '.join(_COUNTS)}"
            )
        elif not re.fullmatch(r"[+-]?\d+", value):
            message = f"AlterTable {key} failed with value {value}"
        else:
            continue
        raise at(SemanticError(message), cursor.text, start)
    return counts


def _storage_of_partition(cursor: Cursor) -> ChangeSerde | ChangeFormat | None:
    """Tell what partitions may have of their own, beside a location."""
    if cursor.take("set", "serdeproperties"):
        return ChangeSerde(set=parse_properties(cursor))
    if cursor.take("unset", "serdeproperties"):
        return ChangeSerde(unset=parse_keys(cursor))
    if cursor.take("set", "serde"):
        serde, format_ = parse_serde(cursor)
        properties = parse_properties(cursor) if cursor.take("with", "serdeproperties") else {}
        return ChangeSerde(serde=serde, format=format_, set=properties)
    if cursor.take("set", "fileformat"):
        is_named = not cursor.at("inputformat")
        return ChangeFormat(parse_file_format(cursor), is_named)
    return None


def _properties(cursor: Cursor) -> ChangeProperties:
    if cursor.take("set", "tblproperties"):
        properties = {
            (key.lower() if key.lower() in _LOWERED else key): value
            for key, value in parse_properties(cursor).items()
        }
        return ChangeProperties(set=properties)
    cursor.expect("unset", "tblproperties")
    if_exists = cursor.take("if", "exists")
    return ChangeProperties(unset=parse_keys(cursor), if_exists=if_exists)


def _refuse(cursor: Cursor, before: str = "") -> NoReturn:
    words: list[str] = []
    for token in cursor.tokens[cursor.position : cursor.position + 3]:
        if token.kind is not Kind.WORD or len(words) == 2:
            break
        words.append(token.value.upper())
    if not words or words[0] not in _KNOWN:
        cursor.fail("expected what to alter")
    cursor.refuse(f"ALTER TABLE … {before}{' '.join(words)}")
