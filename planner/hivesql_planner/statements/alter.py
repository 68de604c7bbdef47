"""ALTER TABLE as pure functions: a table, what to change, the table that comes of it.

The checks are those of Hive 4.1's DDL operations and of its metastore, with their codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.avro_schema import LITERAL, names_schema, with_schema_columns
from hivesql_planner.model.constraints import with_constraints, without_constraint
from hivesql_planner.model.materialized import NEEDS_ACID, Materialized
from hivesql_planner.model.skew import Skew
from hivesql_planner.model.table import (
    Column,
    Constraint,
    FileFormat,
    OwnerType,
    Partition,
    Table,
    columns_of_format,
)
from hivesql_planner.statements.convert import altered_properties, check_compatible, with_type

_ORC_LIKE = ("orc",)
# How columns are found in files: those of ORC by name, but of full ACID by place.
_BY_PLACE = (
    "textfile", "sequencefile", "rctext", "rcfile", "regex", "lazybinary", "sequencebinary",
)  # fmt: skip
_BY_NAME = ("parquet", "json")
_OF_ONE_CONTAINER = (
    {"textfile", "csv", "json", "regex", "lazybinary"}, {"rcfile", "rctext"},
    {"sequencefile", "sequencebinary"},
)  # fmt: skip
_CLASS = "serialization.class"
"""The property that names the class of Thrift whose fields are a table's columns."""
_IN_SEQUENCES: dict[FileFormat, FileFormat] = {
    "textfile": "sequencefile", "lazybinary": "sequencebinary",
}  # fmt: skip
"""The SerDes that text and SequenceFile share, by what they stand for in text."""


@dataclass(frozen=True, slots=True)
class AddColumns:
    """ADD COLUMNS."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ReplaceColumns:
    """REPLACE COLUMNS."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ChangeColumn:
    """CHANGE COLUMN ``name`` to ``column``; ``after`` or ``first`` moves it."""

    name: str
    column: Column
    first: bool = False
    after: str | None = None
    constraint: Constraint | None = None


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """RENAME COLUMN: rows keep its values, or it is refused."""

    name: str
    to: str


@dataclass(frozen=True, slots=True)
class DropColumns:
    """DROP COLUMN and DROP COLUMNS: other columns keep their values, or it is refused."""

    names: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ChangePartitionColumn:
    """PARTITION COLUMN (name type)."""

    column: Column


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeProperties:
    """SET and UNSET TBLPROPERTIES; keys of ``transactional…`` are lower case."""

    set: Mapping[str, str] = field(default_factory=dict, hash=False)
    unset: tuple[str, ...] = ()
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ChangeFormat:
    """SET FILEFORMAT, or the serde that makes the same of it."""

    format: FileFormat
    is_named: bool = False
    """Said by its name, not by classes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSerde:
    """SET SERDE (``format`` is what it makes of the table), SET and UNSET SERDEPROPERTIES."""

    serde: str | None = None
    format: FileFormat | None = None
    set: Mapping[str, str] = field(default_factory=dict, hash=False)
    unset: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeLocation:
    """SET LOCATION of the table."""

    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBuckets:
    """CLUSTERED BY … INTO; without ``columns`` NOT CLUSTERED."""

    columns: tuple[str, ...] = ()
    sort_columns: tuple[str, ...] = ()
    descending: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class ChangeBucketCount:
    """INTO n BUCKETS."""

    count: int


@dataclass(frozen=True, slots=True)
class Unsort:
    """NOT SORTED."""


@dataclass(frozen=True, slots=True)
class ChangeSkew:
    """SKEWED BY … ON; None is NOT SKEWED."""

    skew: Skew | None


@dataclass(frozen=True, slots=True)
class LeaveDirectories:
    """NOT STORED AS DIRECTORIES."""


@dataclass(frozen=True, slots=True)
class ChangeOwner:
    """SET OWNER."""

    owner: str
    owner_type: OwnerType


@dataclass(frozen=True, slots=True)
class ChangeRewrite:
    """ENABLE or DISABLE REWRITE of a materialized view."""

    enabled: bool


@dataclass(frozen=True, slots=True)
class AddConstraint:
    """ADD CONSTRAINT."""

    constraint: Constraint


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """DROP CONSTRAINT."""

    name: str


Change = (
    AddColumns
    | ReplaceColumns
    | ChangeColumn
    | RenameColumn
    | DropColumns
    | ChangePartitionColumn
    | ChangeProperties
    | ChangeFormat
    | ChangeSerde
    | ChangeLocation
    | ChangeBuckets
    | ChangeBucketCount
    | Unsort
    | ChangeSkew
    | LeaveDirectories
    | ChangeOwner
    | ChangeRewrite
    | AddConstraint
    | DropConstraint
)


def apply_change(  # noqa: C901 - one flat list of changes
    table: Table, change: Change, *, any_type: bool = False
) -> Table:
    """Return the table after the change; SemanticError where Hive refuses it.

    With ``any_type`` columns may get types that their values do not convert to.
    """
    if table.format == "thrift":
        _check_of_class(table, change)
    match change:
        case AddColumns(columns=columns):
            return _add_columns(table, columns_of_format(table.format, columns))
        case ReplaceColumns(columns=columns):
            return _replace_columns(
                table, columns_of_format(table.format, columns), any_type=any_type
            )
        case ChangeColumn():
            return _change_column(table, change, any_type=any_type)
        case RenameColumn(name=name, to=to):
            return _rename_column(table, name, to)
        case DropColumns():
            return _drop_columns(table, change)
        case ChangePartitionColumn(column=column):
            return _change_partition_column(table, column)
        case ChangeProperties():
            typed = with_type(table, change.set)
            properties = altered_properties(
                typed, change.set, change.unset, if_exists=change.if_exists
            )
            return _with_new_schema(replace(typed, properties=properties), change)
        case ChangeFormat(format=format_):
            return _change_format(table, format_)
        case ChangeSerde():
            return _with_new_schema(_change_serde(table, change), change)
        case ChangeLocation(location=location):
            return replace(table, location=location)
        case ChangeBuckets():
            return _change_buckets(table, change)
        case ChangeBucketCount(count=count):
            if not table.is_bucketed:
                raise SemanticError("Table is not bucketized.", code=10145)
            _check_count(count)
            return replace(table, bucket_count=count)
        case Unsort():
            return replace(table, sort_columns=(), sort_descending=())
        case ChangeSkew(skew=skew):
            return replace(table, skew=skew)
        case LeaveDirectories():
            if table.skew is None:
                what = "This operation is only valid on skewed table."
                raise SemanticError(f"{what} {table.name}", code=10196)
            return replace(table, skew=replace(table.skew, in_directories=False))
        case ChangeOwner(owner=owner, owner_type=owner_type):
            return replace(table, owner=owner, owner_type=owner_type)
        case ChangeRewrite(enabled=enabled):
            return replace(table, materialized=_rewritten(table, enabled=enabled))
        case AddConstraint(constraint=constraint):
            return with_constraints(table, (constraint,))
        case DropConstraint(name=name):
            return without_constraint(table, name)


def _rewritten(table: Table, *, enabled: bool) -> Materialized:
    """Tell that Hive may rewrite queries to read a view, or may not."""
    materialized = table.materialized
    if materialized is None:
        raise SemanticError(f"{table.name} is no materialized view")
    if enabled and None in materialized.sources.values():
        raise SemanticError(NEEDS_ACID)
    return replace(materialized, rewrite=enabled)


def apply_to_partition(table: Table, partition: Partition, change: Change) -> Partition:
    """Store the partition otherwise; SemanticError where Hive refuses it.

    As Hive, its columns may get any type: only those of a table are compared with the older ones.
    """
    stored = apply_change(table.described_as(partition), change, any_type=True)
    return replace(partition, storage=table.storage_of(stored))


def _check_new_names(table: Table, columns: tuple[Column, ...]) -> None:
    names: set[str] = set()
    for column in columns:
        if column.name in names:
            raise SemanticError(
                f"Duplicate column name: {column.name}", code=10036, about=column.name
            )
        if column.name in table.partition_names:
            raise SemanticError(
                f"Partition column name {column.name} conflicts with table columns.",
                code=40000,
                about=column.name,
            )
        names.add(column.name)


def _with_new_schema(table: Table, change: ChangeProperties | ChangeSerde) -> Table:
    if LITERAL not in change.set:
        return table
    return with_other_columns(table, with_schema_columns(table).columns)


def with_other_columns(table: Table, columns: tuple[Column, ...]) -> Table:
    """Return the table with other columns, and those of its constraints that are about them.

    SemanticError where two have a name, or one that places the table's rows is not among them.
    """
    _check_new_names(table, columns)
    _check_layout_columns(table, columns)
    names = {column.name for column in columns}
    stay = tuple(constraint for constraint in table.constraints if set(constraint.columns) <= names)
    return replace(table, columns=columns, constraints=stay)


def _check_schema(table: Table) -> None:
    """Columns that an Avro schema tells are no others."""
    if names_schema(table):
        raise SemanticError(
            "Not allowed to alter schema of Avro stored table having external schema. Consider "
            "removing avro.schema.literal or avro.schema.url from table properties.",
            code=40000,
        )


def _add_columns(table: Table, columns: tuple[Column, ...]) -> Table:
    _check_schema(table)
    both = table.columns + columns
    _check_new_names(table, both)
    return replace(table, columns=both)


def _unknown_column(name: str, names: Iterable[str]) -> SemanticError:
    """Return the error of a column that is not among those that there are."""
    return SemanticError(f"Invalid column reference {name}", code=10002, about=name, choices=names)


def _check_layout_columns(table: Table, columns: tuple[Column, ...]) -> None:
    """Columns that place the rows of a table cannot go."""
    names = {column.name for column in columns}
    for name in (*table.bucket_columns, *table.sort_columns):
        if name not in names:
            raise _unknown_column(name, names)


def _replace_columns(table: Table, columns: tuple[Column, ...], *, any_type: bool) -> Table:
    if table.format in _ORC_LIKE:
        if len(columns) < len(table.columns):
            raise SemanticError(
                f"Replacing columns cannot drop columns for table {table.name}. "
                "SerDe may be incompatible",
                code=10313,
            )
    elif table.format not in ("textfile", "json", "parquet", "regex", "sequencefile", "rctext"):
        raise SemanticError(
            f"Replace columns is not supported for table {table.name}. SerDe may be incompatible.",
            code=10243,
        )
    names = [column.name for column in columns]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SemanticError(
            f"Duplicate column name {twice} in the table definition.", code=40000, about=twice
        )
    _check_new_names(table, columns)
    for old, new in zip(table.columns, columns, strict=False):
        _check_type(table, old, new, any_type=any_type)
    return with_other_columns(table, columns)


def _check_type(table: Table, old: Column, new: Column, *, any_type: bool) -> None:
    if not any_type and not check_compatible(old.type, new.type):
        raise SemanticError(
            f"The following columns have types incompatible with the existing columns of "
            f"{table.name} in their respective positions: {new.name} "
            f"({old.type} to {new.type})",
            code=40013,
            about=new.name,
        )


def _change_column(table: Table, change: ChangeColumn, *, any_type: bool) -> Table:
    _check_schema(table)
    names = table.column_names
    if change.column.name != change.name and change.column.name in names:
        raise SemanticError(
            f"Duplicate column name: {change.column.name}", code=10036, about=change.column.name
        )
    if change.name not in names:
        raise _unknown_column(change.name, names)
    at = names.index(change.name)
    old = table.columns[at]
    new = change.column if change.column.comment is not None else replace(
        change.column, comment=old.comment
    )  # fmt: skip
    rest = table.columns[:at] + table.columns[at + 1 :]
    target = at
    if change.first:
        target = 0
    elif change.after is not None:
        others = [column.name for column in rest]
        if change.after not in others:
            raise _unknown_column(change.after, others)
        target = others.index(change.after) + 1
    columns = (*rest[:target], new, *rest[target:])
    _check_new_names(table, columns)
    if (change.first or change.after is not None) and table.format in _ORC_LIKE:
        raise SemanticError(
            f"Reordering columns is not supported for table {table.name}. "
            "SerDe may be incompatible",
            code=10311,
        )
    # The metastore compares position by position, so that a move must keep the types in place.
    for before, after in zip(table.columns, columns, strict=True):
        _check_type(table, before, after, any_type=any_type)
    changed = _renamed_everywhere(replace(table, columns=columns), change.name, new.name)
    if change.constraint is None:
        return changed
    return with_constraints(changed, (change.constraint,))


def _check_of_class(table: Table, change: Change) -> None:
    """Refuse what gives a table of Thrift other columns than its class has."""
    of_columns = (AddColumns, ReplaceColumns, ChangeColumn, RenameColumn, DropColumns)
    if isinstance(change, of_columns) or (
        isinstance(change, ChangeSerde) and _CLASS in {*change.set, *change.unset}
    ):
        raise SemanticError(
            f"Unable to alter table. The columns of {table.name} are those of the class "
            f"{table.serde_properties.get(_CLASS)}. Create a table of another class",
            code=40013,
        )


def _rename_column(table: Table, name: str, to: str) -> Table:
    """Rename a column of files that find columns by their place."""
    if not (table.is_full_acid or table.format in _BY_PLACE):
        raise NotSupported(
            f"RENAME COLUMN of {table.name}: files of {table.format} find columns by name, so that "
            f"rows would lose their values of {name}. INSERT OVERWRITE a table with other columns, "
            f"or let them go by ALTER TABLE … CHANGE, as in Hive"
        )
    columns = [column for column in table.columns if column.name == name]
    if not columns:
        raise _unknown_column(name, table.column_names)
    renamed = replace(columns[0], name=to)
    return _change_column(table, ChangeColumn(name, renamed), any_type=False)


def _drop_columns(table: Table, change: DropColumns) -> Table:
    """Drop columns of files that find the others by name."""
    if table.format not in _BY_NAME:
        raise NotSupported(
            f"DROP COLUMN of {table.name}: not all files of {table.format} find columns by name, "
            "so that others would take over the values. CREATE TABLE … AS SELECT the other columns"
        )
    for name in change.names:
        if name not in table.column_names and not change.if_exists:
            raise _unknown_column(name, table.column_names)
    left = tuple(column for column in table.columns if column.name not in change.names)
    if not left:
        raise SemanticError(f"{table.name} has no columns but these: a table needs one")
    return with_other_columns(table, left)


def _renamed_everywhere(table: Table, old: str, new: str) -> Table:
    """Bucketing and sorting go by name."""

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new if name == old else name for name in names)

    return replace(
        table,
        bucket_columns=renamed(table.bucket_columns),
        sort_columns=renamed(table.sort_columns),
        sort_descending=renamed(table.sort_descending),
        skew=table.skew and table.skew.renamed(old, new),
        constraints=tuple(
            replace(constraint, columns=renamed(constraint.columns))
            for constraint in table.constraints
        ),
    )


def _change_partition_column(table: Table, column: Column) -> Table:
    if column.name not in table.partition_names:
        raise _unknown_column(column.name, table.partition_names)
    if column.type.is_nested:
        raise cannot_convert(column, "it is of no primitive type")
    columns = tuple(
        replace(old, type=column.type, comment=column.comment or old.comment)
        if old.name == column.name
        else old
        for old in table.partition_columns
    )
    return replace(table, partition_columns=columns)


def cannot_convert(column: Column, problem: str) -> SemanticError:
    """Return the error of values of partitions that are none of their column's new type."""
    return SemanticError(
        "Exception while checking type conversion of existing partition values to "
        f"{column.name} {column.type}: {problem}",
        code=40000,
    )


def _change_format(table: Table, format_: FileFormat) -> Table:
    if format_ == table.format:
        return table
    if table.format in _ORC_LIKE:
        raise SemanticError(
            f"Changing file format (from {table.format.upper()}) is not supported for table "
            f"{table.name}",
            code=40000,
        )
    return replace(table, format=format_)


def _change_serde(table: Table, change: ChangeSerde) -> Table:
    format_ = change.format
    if format_ in _IN_SEQUENCES and table.format in _IN_SEQUENCES.values():
        format_ = _IN_SEQUENCES[format_]
    if format_ is not None and format_ != table.format:
        if table.format in _ORC_LIKE:
            raise SemanticError(
                f"Changing SerDe (from OrcSerde) is not supported for table {table.name}. "
                "File format may be incompatible",
                code=40000,
            )
        if not any({table.format, format_} <= formats for formats in _OF_ONE_CONTAINER):
            feature = f"SET SERDE '{change.serde}' for the {table.format} table {table.name}"
            raise NotSupported(feature)
        table = replace(table, format=format_)
    properties = {
        key: value for key, value in table.serde_properties.items() if key not in change.unset
    }
    return replace(table, serde_properties={**properties, **change.set})


def _change_buckets(table: Table, change: ChangeBuckets) -> Table:
    for name in (*change.columns, *change.sort_columns):
        if name not in table.column_names:
            raise _unknown_column(name, table.column_names)
    if change.columns:
        _check_count(change.count)
    if change.sort_columns and table.is_full_acid:
        raise SemanticError(
            f"Table {table.name} cannot support full ACID functionality since it is sorted.",
            code=40013,
        )
    return replace(
        table,
        bucket_columns=change.columns,
        sort_columns=change.sort_columns,
        sort_descending=change.descending,
        bucket_count=change.count,
    )


def _check_count(count: int) -> None:
    if count <= 0:
        raise SemanticError("Bucket count must be greater than zero")
