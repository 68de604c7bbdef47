"""DESCRIBE: a table, partition, column or database, in the rows that Hive 4 gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timezone

from hivesql_executor.metastore.database.catalog.storage_formats import STORAGE
from hivesql_executor.outcome import Outcome
from hivesql_executor.statements.show.create_table import commented
from hivesql_executor.statements.show.lines import (
    BLANK,
    HEADER,
    Line,
    column,
    detail,
    further,
    heading,
    outcome_of_lines,
    unfilled,
)
from hivesql_executor.statements.show.nested_columns import fields_inside
from hivesql_planner.model.hive_type import FLOATS, INTEGERS, Kind
from hivesql_planner.model.materialized import Materialized
from hivesql_planner.model.skew import Skew
from hivesql_planner.model.statistics import (
    ACCURATE,
    ColumnStatistics,
    Statistics,
    accuracy_text,
    written_basics,
)
from hivesql_planner.model.table import (
    Column,
    Constraint,
    ConstraintKind,
    Database,
    Partition,
    Table,
)
from hivesql_planner.statements.bound import Describe

_COLUMNS = ("col_name", "data_type", "comment")
_PARTITIONS = heading("# Partition Information")
_NO_SNAPSHOT = "N/A"
_MEASURES = (
    ("min", "low"), ("max", "high"), ("num_nulls", "nulls"), ("distinct_count", "distinct"),
    ("avg_col_len", "average_length"), ("max_col_len", "longest"), ("num_trues", "trues"),
    ("num_falses", "falses"),
)  # fmt: skip
_TITLES: dict[ConstraintKind, str] = {
    "primary key": "Primary Key",
    "foreign key": "Foreign Keys",
    "unique": "Unique Constraints",
    "not null": "Not Null Constraints",
    "default": "Default Constraints",
    "check": "Check Constraints",
}
_EXTENDED = {"Check Value": "Check Expression "}
"""What DESCRIBE EXTENDED calls otherwise than DESCRIBE FORMATTED."""
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\n": "\\n",
    "\t": "\\t",
    "\f": "\\f",
    "\r": "\\r",
}
_READ, _READ_AND_WRITE = 2, 8
"""What Hive calls a client's access to views and to tables."""
_Pairs = tuple[tuple[str, str], ...]


def describe_table(
    table: Table,
    partition: Partition | None,
    style: str,
    statistics: Statistics | None = None,
    *,
    separately: bool = True,
    is_outdated: bool | None = None,
) -> Outcome:
    """Columns, partition columns (also ``separately``), and with a style everything else.

    ``is_outdated`` is told of a materialized view; None where nobody knows.
    """
    table = table.described_as(partition)
    if style == "formatted":
        lines = _formatted(table, partition, basics_shown(statistics), separately=separately)
        if table.materialized is not None:
            lines += _of_materialized(table.materialized, is_outdated=is_outdated)
        return outcome_of_lines(lines, header=True)
    lines = _columns(commented(table).all_columns)
    if table.partition_columns and separately:
        lines += [BLANK, _PARTITIONS, HEADER, *_columns(table.partition_columns)]
    if style == "extended":
        what = "Partition" if partition else "Table"
        basics = basics_shown(statistics)
        text = (
            _partition_text(table, partition, basics) if partition else _table_text(table, basics)
        )
        lines += [BLANK, unfilled(f"Detailed {what} Information", text, "")]
        lines += [unfilled("Constraints", text) if i == 0 else heading(text)
                  for i, text in enumerate(_constraint_texts(table))]  # fmt: skip
    return outcome_of_lines(lines)


def describe_column(
    table: Table, statement: Describe, style: str, statistics: Statistics | None = None
) -> Outcome:
    """Give one column, or with FORMATTED its properties one below the other."""
    name, written = statement.column or "", statement.column_text
    key = next((key for key in table.partition_columns if key.name == name), None)
    # As in Hive, the serde answers, and it knows no comments.
    comment = "from deserializer"
    if key is not None and style and not statement.inside:
        fields, comment = [(key.name, key.type)], key.comment or ""
    else:
        columns = [(column.name, column.type) for column in table.columns]
        fields = fields_inside(columns, (written, *statement.inside))
    statistics = statistics or Statistics()
    accurate = accuracy_text(statistics)
    if style != "formatted":
        marks = [unfilled(ACCURATE, escaped(accurate))] if accurate else []
        lines = [unfilled(field, str(type_), comment) for field, type_ in fields]
        return outcome_of_lines([*lines, *marks])
    written, type_ = fields[0]
    own = next(
        (measured_column for measured_column in statistics.columns if measured_column.name == name),
        None,
    )
    if statement.inside or type_.kind is Kind.STRUCT:
        own = None
    rows = [("col_name", written), ("data_type", str(type_))]
    is_empty = own is not None and (own.distinct == 0 or _is_empty_binary(own))
    if key is not None and key.type.is_text:
        is_empty = False
    measured = _without_values(own) if own and is_empty else own
    if key is not None and measured is not None:
        measured = _of_key(measured)
    rows += [(label, _shown(getattr(measured, field, None))) for label, field in _MEASURES]
    rows += [("bit_vector", ""), ("comment", comment)]
    if statement.partition is None and statistics.partitions is not None:
        is_known = key is not None or name in statistics.known_everywhere
        accurate = f'{{"COLUMN_STATS":{{"{name}":"true"}}}}' if is_known else "{}"
    headings = ("column_property", "value")
    # Of a partition's column Hive does not say whether its statistics are those of the present.
    if not accurate or statement.partition is not None:
        return Outcome.of_table(headings, rows)
    mark = detail(ACCURATE, escaped(accurate)).sent
    return Outcome.of_table(
        headings, [*rows, (ACCURATE, escaped(accurate))], of_server=[*rows, (ACCURATE, mark[1])]
    )


def _is_empty_binary(measured: ColumnStatistics) -> bool:
    return measured.type.kind is Kind.BINARY and not measured.longest


def _without_values(measured: ColumnStatistics) -> ColumnStatistics:
    """Tell Hive's zeros of a column that holds nothing, or nothing but NULL."""
    kind = measured.type.kind
    if kind in INTEGERS:
        return replace(measured, low="0", high="0")
    if kind in FLOATS:
        return replace(measured, low="0.0", high="0.0")
    if measured.type.is_text or kind is Kind.BINARY:
        return replace(measured, average_length=0.0, longest=0)
    return measured


def _of_key(measured: ColumnStatistics) -> ColumnStatistics:
    """Leave out what Hive does not say of partition columns, whose values it knows by name."""
    if measured.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        return replace(measured, low=None, high=None)
    if measured.type.kind is Kind.BOOLEAN:
        return replace(measured, distinct=None, trues=0, falses=0)
    return measured


def _shown(value: object) -> str:
    return "" if value is None else str(value)


def describe_database(database: Database, *, extended: bool) -> Outcome:
    """Give one row for the database."""
    columns = ["db_name", "comment", "location", "managedlocation", "owner_name", "owner_type",
               "connector_name", "remote_dbname"]  # fmt: skip
    managed = database.managed_location or ""
    row = [database.name, database.comment or "", database.location, managed,
           database.owner, database.owner_type, "", ""]  # fmt: skip
    if extended:
        columns.append("parameters")
        row.append(_braces(database.properties) if database.properties else "")
    return Outcome.of_table(columns, [row])


def _columns(columns: Iterable[Column]) -> list[Line]:
    return [column(own.name, str(own.type), own.comment or "") for own in columns]


def _query(title: str, text: str) -> list[Line]:
    first, *more = text.split("\n")
    return [detail(title, first), *map(further, more)]


def _formatted(
    table: Table,
    partition: Partition | None,
    basics: Mapping[str, str],
    *,
    separately: bool,
) -> list[Line]:
    lines = [*_columns(commented(table).columns), BLANK]
    if table.partition_columns and separately:
        lines += [_PARTITIONS, HEADER, *_columns(table.partition_columns), BLANK]
    if partition:
        lines += _of_partition(table, partition, basics)
        if table.is_view:
            return lines
    else:
        lines += _of_table(table, basics)
    lines += _of_storage(table)
    if table.constraints:
        lines += _of_constraints(table)
    if table.view_text:
        lines += [
            BLANK,
            heading(f"# {'Materialized ' if table.is_materialized_view else ''}View Information"),
            *_query("Original Query:", table.view_original or table.view_text),
            *_query("Expanded Query:", table.view_text),
        ]
    return lines


def _of_materialized(view: Materialized, *, is_outdated: bool | None) -> list[Line]:
    outdated = {True: "Yes", False: "No", None: "Unknown"}[is_outdated]
    sources = [unfilled(name, _NO_SNAPSHOT if text is None else f":{text}")
               for name, text in view.sources.items()]  # fmt: skip
    return [
        detail("Rewrite Enabled:", "Yes" if view.rewrite else "No"),
        detail("Outdated for Rewriting:", outdated),
        BLANK,
        heading("# Materialized View Source table information"),
        unfilled("Table name", "Snapshot"),
        *sources,
    ]


def _of_table(table: Table, basics: Mapping[str, str]) -> list[Line]:
    location = [detail("Location:", table.location)] if not table.is_view else []
    return [
        heading("# Detailed Table Information"),
        detail("Database:", table.name.database),
        detail("OwnerType:", table.owner_type),
        detail("Owner:", table.owner),
        detail("CreateTime:", _time(table.created_at)),
        detail("LastAccessTime:", "UNKNOWN"),
        detail("Retention:", "0"),
        *location,
        detail("Table Type:", table.type),
        heading("Table Parameters:"),
        *_pairs({**stored_properties(table), **basics}),
        BLANK,
    ]


def _of_partition(table: Table, partition: Partition, parameters: Mapping[str, str]) -> list[Line]:
    values = ", ".join(value or "__HIVE_DEFAULT_PARTITION__" for value in partition.values)
    return [
        heading("# Detailed Partition Information"),
        detail("Partition Value:", f"[{values}]"),
        detail("Database:", table.name.database),
        detail("Table:", table.name.name),
        detail("LastAccessTime:", "UNKNOWN"),
        detail("Location:", "null" if table.is_view else partition.location),
        heading("Partition Parameters:"),
        *_pairs(parameters),
        BLANK,
    ]


def basics_shown(statistics: Statistics | None) -> dict[str, str]:
    """Nothing where nobody has counted anything, not even files."""
    if statistics is None:
        return {}
    if statistics.rows is None and not statistics.files:
        return dict(statistics.properties)
    count = statistics.partitions
    partitions = {} if count is None else {"numPartitions": str(count)}
    return {**statistics.properties, **written_basics(statistics), **partitions}


def _of_storage(table: Table) -> list[Line]:
    storage = STORAGE[table.format]
    lines = [
        heading("# Storage Information"),
        detail("SerDe Library:", "null" if table.is_view else storage.serde),
        detail("InputFormat:", storage.input_format),
        detail("OutputFormat:", storage.output_format),
        detail("Compressed:", "No"),
        detail("Num Buckets:", str(table.bucket_count or -1)),
        detail("Bucket Columns:", f"[{', '.join(table.bucket_columns)}]"),
        detail("Sort Columns:", f"[{', '.join(_orders(table))}]"),
    ]
    if table.skew is not None:
        if table.skew.in_directories:
            lines.append(detail("Stored As SubDirectories:", "Yes"))
        # Hive sorts them here, and nowhere else.
        skew = replace(table.skew, values=tuple(sorted(table.skew.values)))
        columns, values = _skew_texts(skew)
        lines += [detail("Skewed Columns:", columns), detail("Skewed Values:", values)]
    if properties := stored_serde_properties(table):
        pairs = sorted(properties.items())
        lines += [heading("Storage Desc Params:"), *(detail("", k, escaped(v)) for k, v in pairs)]
    return lines


def stored_serde_properties(table: Table) -> Mapping[str, str]:
    """Return what Hive stores for the table's serde, of which nobody has said all."""
    if table.is_view or table.is_full_acid:
        return table.serde_properties
    return {"serialization.format": "1", **table.serde_properties}


def _skew_texts(skew: Skew) -> tuple[str, str]:
    """Write the columns and the values as Java's lists."""
    values = ", ".join(f"[{', '.join(row)}]" for row in skew.values)
    return f"[{', '.join(skew.columns)}]", f"[{values}]"


def _of_constraints(table: Table) -> list[Line]:
    lines = [BLANK, heading("# Constraints")]
    for kind, constraints in _by_kind(table):
        lines += [BLANK, heading(f"# {_TITLES[kind]}"), detail("Table:", str(table.name))]
        for constraint in constraints:
            lines += [
                detail("Constraint Name:", constraint.name),
                *map(_line_of_pairs, _cells(constraint)),
            ]
            lines += [] if kind == "primary key" else [BLANK]
    return lines


def _by_kind(table: Table) -> list[tuple[ConstraintKind, list[Constraint]]]:
    """Return the constraints in the order in which Hive tells them."""
    by_kind = [
        (kind, sorted((o for o in table.constraints if o.kind == kind), key=lambda o: o.name))
        for kind in _TITLES
    ]
    return [(kind, constraints) for kind, constraints in by_kind if constraints]


def _cells(constraint: Constraint) -> list[_Pairs]:
    """Tell what is told of a constraint, a row for each of its columns."""
    columns = constraint.columns or ("null",)
    match constraint.kind:
        case "foreign key":
            pairs = enumerate(zip(constraint.parent_columns, columns, strict=True), 1)
            return [
                (("Parent Column Name", f"{constraint.parent}.{theirs}"), ("Column Name", ours),
                 ("Key Sequence", str(i)))
                for i, (theirs, ours) in pairs
            ]  # fmt: skip
        case "unique":
            keys = enumerate(columns, 1)
            return [(("Column Name", name), ("Key Sequence", str(i))) for i, name in keys]
        case "default":
            return [(("Column Name", columns[0]), ("Default Value", constraint.text))]
        case "check":
            return [(("Column Name", columns[0]), ("Check Value", constraint.text))]
    return [(("Column Name", name),) for name in columns]


def _line_of_pairs(pairs: _Pairs) -> Line:
    if len(pairs) == 1:
        return detail(f"{pairs[0][0]}:", pairs[0][1])
    return detail(*(f"{key}:{value}" for key, value in pairs))


def _constraint_texts(table: Table) -> list[str]:
    """Return the constraints as DESCRIBE EXTENDED tells them, a text for each kind."""
    texts = []
    for kind, constraints in _by_kind(table):
        title = _TITLES[kind]
        if kind == "primary key":
            (key,) = constraints
            names = ",".join(key.columns)
            texts.append(f"{title} for {table.name}:[{names}], Constraint Name: {key.name}")
            continue
        parts = []
        for constraint in constraints:
            cells = [", ".join(f"{_EXTENDED.get(key, key)}: {value}" for key, value in pairs)
                     for pairs in _cells(constraint)]  # fmt: skip
            columns_text = ", ".join(
                cells if kind == "not null" else [f"({cell})" for cell in cells]
            )
            parts.append(f" {{Constraint Name: {constraint.name}, {columns_text}}}")
        texts.append(f"{title} for {table.name}:[{','.join(parts)}]")
    return texts


def stored_properties(table: Table) -> dict[str, str]:
    """Return the table's parameters as Hive's metastore holds them."""
    parameters = dict(table.properties)
    if table.comment is not None:
        parameters["comment"] = table.comment
    if table.type == "EXTERNAL_TABLE":
        parameters["EXTERNAL"] = "TRUE"
    return parameters


def _pairs(values: Mapping[str, str]) -> list[Line]:
    lines = []
    for key, value in sorted(values.items()):
        text = "\n".join(map(escaped, value.split("\n")))
        lines.append(detail("", key, text))
    return lines


def escaped(text: str) -> str:
    """Write a property's value as DESCRIBE shows it: as a text of Java."""
    return "".join(_ESCAPES.get(c) or (c if c >= " " else f"\\u{ord(c):04X}") for c in text)


def _orders(table: Table) -> list[str]:
    return [
        f"Order(col:{name}, order:{0 if name in table.sort_descending else 1})"
        for name in table.sort_columns
    ]


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%a %b %d %H:%M:%S UTC %Y")


def _table_text(table: Table, basics: Mapping[str, str]) -> str:
    materialized = table.materialized
    rewrites = str(materialized is not None and materialized.rewrite).lower()
    return escaped(
        f"Table(tableName:{table.name.name}, dbName:{table.name.database}, owner:{table.owner}, "
        f"createTime:{table.created_at}, lastAccessTime:0, retention:0, "
        f"sd:{_storage_text(table, table.location)}, "
        f"partitionKeys:[{_fields_text(table.partition_columns)}], "
        f"parameters:{_braces({**stored_properties(table), **basics})}, "
        f"viewOriginalText:{table.view_original or table.view_text or 'null'}, "
        f"viewExpandedText:{table.view_text or 'null'}, tableType:{table.type}, "
        f"rewriteEnabled:{rewrites}, catName:hive, ownerType:{table.owner_type}, writeId:0, "
        f"accessType:{_READ if table.is_view else _READ_AND_WRITE}, id:{table.id})"
    )


def _partition_text(table: Table, partition: Partition, parameters: Mapping[str, str]) -> str:
    values = ", ".join(value or "__HIVE_DEFAULT_PARTITION__" for value in partition.values)
    storage = escaped(_storage_text(table, partition.location))
    # Of the parameters, Hive prints the quotes as they are.
    return (
        f"Partition(values:[{escaped(values)}], dbName:{table.name.database}, "
        f"tableName:{table.name.name}, lastAccessTime:0, sd:{storage}, "
        f"parameters:{_braces(parameters)}, catName:hive, writeId:-1)"
    )


def _storage_text(table: Table, location: str) -> str:
    storage = STORAGE[table.format]
    serde = "null" if table.is_view else storage.serde
    return (
        f"StorageDescriptor(cols:[{_fields_text(table.columns)}], location:{location or 'null'}, "
        f"inputFormat:{storage.input_format}, outputFormat:{storage.output_format}, "
        f"compressed:false, numBuckets:{table.bucket_count or -1}, "
        f"serdeInfo:SerDeInfo(name:null, serializationLib:{serde}, "
        f"parameters:{_braces(stored_serde_properties(table))}), "
        f"bucketCols:[{', '.join(table.bucket_columns)}], sortCols:[{', '.join(_orders(table))}]"
        f"{_skew_text(table.skew)})"
    )


def _skew_text(skew: Skew | None) -> str:
    columns, values = ("[]", "[]") if skew is None else _skew_texts(skew)
    in_directories = skew is not None and skew.in_directories
    return (
        ", parameters:{}, "
        f"skewedInfo:SkewedInfo(skewedColNames:{columns}, skewedColValues:{values}, "
        "skewedColValueLocationMaps:{}), "
        f"storedAsSubDirectories:{str(in_directories).lower()}"
    )


def _fields_text(columns: Iterable[Column]) -> str:
    return ", ".join(
        f"FieldSchema(name:{column.name}, type:{column.type}, comment:{column.comment or 'null'})"
        for column in columns
    )


def _braces(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}={value}" for key, value in sorted(values.items())) + "}"
