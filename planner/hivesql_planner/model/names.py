"""Which names Hive's metastore takes, and the directories that tables' names become."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import HiveType, Kind
from hivesql_planner.model.materialized import MATERIALIZED
from hivesql_planner.model.skew import SKEWED, check_skew
from hivesql_planner.model.table import Column, Database, Table, directory_of
from hivesql_planner.settings.retention import RETENTION, read_retention

LONGEST_DATABASE = 128
LONGEST_TABLE = 256
LONGEST_COLUMN = 767
LONGEST_PARTITION_COLUMN = 128
LONGEST_CONSTRAINT = 255
# As Hive's schema for PostgreSQL has it; a Hive Metastore on another database may refuse 257.
_LONGEST_COMMENT = 4000
_LONGEST_KEY = 256
_LONGEST_DIRECTORY = 255
_JOINED = re.compile(r"((?:\\[\\,]|[^,])+)(?:,|$)")
_ESCAPED_IN_JOINED = re.compile(r"\\([\\,])")
_WORD = re.compile(r"[A-Za-z0-9_]+")
# Hive's metastore takes these in names of tables while hive.support.special.characters.tablename.
_SPECIAL = re.compile(r"[A-Za-z0-9_ \"%&'()*+,\-/:;<=>?\[\]|{}$^!~#@`]+")
# Between these the reader of Parquet's schemas, which Hive has, takes the text of one apart.
_ENDS_IN_PARQUET = frozenset(" ,;{}()\n\t=")
_VIRTUAL = frozenset(
    """input__file__name block__offset__inside__file raw__data__size row__id row__is__deleted
    partition__spec__id partition__hash file__path row__position snapshot__id
    partition__projection grouping__id""".split()  # noqa: SIM905 - words read better
)


def join_names(names: Iterable[str]) -> str:
    r"""Put names of columns into one text, commas between them; one inside of a name is ``\\,``."""
    return ",".join(name.replace("\\", "\\\\").replace(",", "\\,") for name in names)


def split_names(text: str | None) -> tuple[str, ...]:
    """Return the names that ``join_names`` put together; texts of before escape nothing."""
    names = (match[1] for match in _JOINED.finditer(text)) if text else ()
    return tuple(_ESCAPED_IN_JOINED.sub(r"\1", name) for name in names)


def check_table_name(name: str, *, special: bool = True) -> None:
    """Refuse what Hive refuses as the name of a table or view.

    ``special`` is hive.support.special.characters.tablename.
    """
    if "." in name:
        raise SemanticError(
            f"Table or database name may not contain dot(.) character '{name}'", code=40000
        )
    if not name.strip() or not (_SPECIAL if special else _WORD).fullmatch(name):
        raise SemanticError(
            f"[{name}]: is not a valid table name. {_allowed(special=special)}", code=40000
        )
    _check_length("table name", name, LONGEST_TABLE)


def check_database_name(name: str, *, special: bool = True) -> None:
    """Refuse what cannot name a database.

    Hive also takes dots, slashes and colons; then it refuses the database's tables, or makes
    directories elsewhere.
    """
    allowed = _SPECIAL if special else _WORD
    if not name.strip() or not allowed.fullmatch(name) or frozenset(":/") & frozenset(name):
        raise SemanticError(
            f"{name} is not a valid database name. Names are made of letters (a to z), digits and "
            "_, and in back quotes of printable ASCII but . : / and backslashes",
            code=40000,
        )
    _check_length("database name", name, LONGEST_DATABASE)


def check_column_name(name: str, *, in_partition: bool = False) -> None:
    """Refuse what cannot name a column of a table."""
    if name in _VIRTUAL:
        raise SemanticError(
            f"Invalid column name {name}: it is a virtual column of every table",
            code=10328,
            about=name,
        )
    if not name or not name.isprintable():
        raise NotSupported(f"the column name {name!r} (control characters)")
    _check_length("column name", name, LONGEST_COLUMN)
    if in_partition:
        _check_length("partition column's name", name, LONGEST_PARTITION_COLUMN)


def check_constraint_name(name: str) -> None:
    """Refuse a constraint's name that is too long, as error 10326."""
    if len(name) > LONGEST_CONSTRAINT:
        raise SemanticError(
            f"Invalid Constraint syntax Constraint name: {name} exceeded maximum allowed length: "
            f"{LONGEST_CONSTRAINT}",
            code=10326,
        )


def check_table(table: Table, before: Table | None = None) -> None:
    """Check all names of a table that is made or, given what it was ``before``, altered.

    What a catalog of other origin has already stays as it is.
    """
    if before is None or before.name.name != table.name.name:
        check_table_name(table.name.name)
    if (before is None or before.location != table.location) and not table.is_view:
        _check_directory(table)
    if not table.is_view:
        _check_columns(table, before)
    for column in table.all_columns:
        _check_length(f"comment of column {column.name}", column.comment or "", _LONGEST_COMMENT)
    _check_properties(table.properties)
    _check_keys(table.serde_properties)
    if table.skew is not None and table.columns:
        # Those of a query are known when it has run.
        check_skew(table.skew, table.column_names)
    named = {constraint.name for constraint in before.constraints} if before else set()
    for constraint in table.constraints:
        if constraint.name not in named:
            check_constraint_name(constraint.name)


def _check_properties(properties: Mapping[str, str]) -> None:
    _check_keys(properties)
    for key in (MATERIALIZED, SKEWED):
        if key in properties:
            raise SemanticError(f"the property {key} is kept by HiveSQL itself: it cannot be set")
    if RETENTION in properties:
        read_retention(properties[RETENTION])


def _check_fields(kind: HiveType) -> None:
    """Refuse what Hive cannot read again in its own name of a type, as it does."""
    if any("`" in name for inside in kind.walk() for name in inside.names):
        raise SemanticError(f"Error: : expected in '{kind}' but '`' is found", code=40000)


def _check_format(table: Table, column: Column) -> None:
    """Refuse names that the format's own readers do not take, also those inside of types."""
    if table.format == "orc" and "`" in column.name and column in table.columns:
        # ORC's reader takes its own text of the schema apart at back quotes.
        feature = f"the column name {column.name!r} in an ORC table (back quotes)"
        raise NotSupported(f"{feature}: choose another format, or another name")
    if table.format != "parquet":
        return
    if column.type.holds(Kind.UNION):
        raise SemanticError(f"Unknown field type: {column.type}, in a Parquet table", code=40000)
    # Hive hands partition columns to Parquet's reader too.
    names = (column.name, *(name for inside in column.type.walk() for name in inside.names))
    for name in names:
        if _ENDS_IN_PARQUET & frozenset(name):
            feature = f"the column name {name!r} in a Parquet table (blanks and , ; {{ }} ( ) =)"
            raise NotSupported(
                f"{feature}, which Hive cannot read: choose another format, or another name"
            )


def _check_columns(table: Table, before: Table | None) -> None:
    old = {column.name for column in before.all_columns} if before else set()
    for column in table.all_columns:
        if column.name not in old:
            check_column_name(column.name, in_partition=column in table.partition_columns)
            _check_fields(column.type)
        if before is None or before.format != table.format or column.name not in old:
            _check_format(table, column)
    for column in table.partition_columns if before is None else ():
        if column.type.is_nested:
            raise SemanticError(
                "Partition column must be of primitive type. "
                f"Found {column.name} of type: {column.type}",
                code=10126,
                about=column.name,
            )


def check_database(database: Database) -> None:
    """Check the name of a database that is made."""
    check_database_name(database.name)
    _check_keys(database.properties)


def _check_directory(table: Table) -> None:
    if not table.location and len(directory_of(table.name.name)) > _LONGEST_DIRECTORY:
        raise SemanticError(
            f"{table.name}: its directory's name would be longer than {_LONGEST_DIRECTORY} bytes. "
            "Choose a shorter name, or give a LOCATION"
        )


def _check_length(what: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise SemanticError(
            f"the {what} has {len(text)} characters: at most {longest} can be kept. "
            f"Choose a shorter one than {text[:40]}…",
            code=40000,
        )


def _check_keys(keys: Iterable[str]) -> None:
    for key in keys:
        _check_length("property's key", key, _LONGEST_KEY)


def _allowed(*, special: bool) -> str:
    also = ", and in back quotes of printable ASCII but dots and backslashes" if special else ""
    return f"Names are made of letters (a to z), digits and _{also}"


def halves(name: str) -> tuple[str, str]:
    """Return the two halves of a name, one of which a single mistake leaves as it is."""
    middle = len(name) // 2
    return name[:middle], name[middle + len(name) % 2 :]
