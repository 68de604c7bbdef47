"""What drivers ask about the catalog, with Hive's columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hivesql.dialect.function_names import listed_functions
from hivesql.server.type_facts import TYPE_FACTS, facts_of
from hivesql.session import Session
from hivesql_executor.statements.show.tables import matching
from hivesql_planner.errors import HiveSqlError, NoSuchObject
from hivesql_planner.model.constraints import default_of
from hivesql_planner.model.hive_type import BOOLEAN, INT, SMALLINT, STRING, TINYINT, HiveType
from hivesql_planner.model.table import TEMPORARY, Constraint, Table, TableName
from hivesql_planner.settings.settings import TABLE_TYPE_MAPPING
from hivesql_planner.statements.bound import Describe

Fields = tuple[tuple[str, HiveType, str], ...]
Rows = list[tuple[Any, ...]]

_CATALOG = ""
_NO_NULLS, _NULLABLE = 0, 1
_NO_TABLE_FUNCTION = 1
_NO_ACTION, _NOT_DEFERRABLE = 3, 7
_CLASSIC_TYPES = {
    "MANAGED_TABLE": "TABLE",
    "EXTERNAL_TABLE": "TABLE",
    "VIRTUAL_VIEW": "VIEW",
    "MATERIALIZED_VIEW": "MATERIALIZED_VIEW",
}
_ESCAPE = "\\"


def _fields(texts: str, numbers: Sequence[str] = (), **others: HiveType) -> Fields:
    """Return columns by their names: texts, but for those that are numbers or of another type."""
    types = {**dict.fromkeys(numbers, INT), **others}
    return tuple((name, types.get(name, STRING), "") for name in texts.split())


CATALOGS = _fields("TABLE_CAT")
SCHEMAS = _fields("TABLE_SCHEM TABLE_CATALOG")
TABLE_TYPES = _fields("TABLE_TYPE")
TABLES = _fields(
    "TABLE_CAT TABLE_SCHEM TABLE_NAME TABLE_TYPE REMARKS TYPE_CAT TYPE_SCHEM TYPE_NAME "
    "SELF_REFERENCING_COL_NAME REF_GENERATION"
)
COLUMNS = _fields(
    "TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME DATA_TYPE TYPE_NAME COLUMN_SIZE BUFFER_LENGTH "
    "DECIMAL_DIGITS NUM_PREC_RADIX NULLABLE REMARKS COLUMN_DEF SQL_DATA_TYPE SQL_DATETIME_SUB "
    "CHAR_OCTET_LENGTH ORDINAL_POSITION IS_NULLABLE SCOPE_CATALOG SCOPE_SCHEMA SCOPE_TABLE "
    "SOURCE_DATA_TYPE IS_AUTO_INCREMENT",
    ("DATA_TYPE", "COLUMN_SIZE", "DECIMAL_DIGITS", "NUM_PREC_RADIX", "NULLABLE", "SQL_DATA_TYPE",
     "SQL_DATETIME_SUB", "CHAR_OCTET_LENGTH", "ORDINAL_POSITION"),
    BUFFER_LENGTH=TINYINT, SOURCE_DATA_TYPE=SMALLINT,
)  # fmt: skip
TYPES = _fields(
    "TYPE_NAME DATA_TYPE PRECISION LITERAL_PREFIX LITERAL_SUFFIX CREATE_PARAMS NULLABLE "
    "CASE_SENSITIVE SEARCHABLE UNSIGNED_ATTRIBUTE FIXED_PREC_SCALE AUTO_INCREMENT "
    "LOCAL_TYPE_NAME MINIMUM_SCALE MAXIMUM_SCALE SQL_DATA_TYPE SQL_DATETIME_SUB NUM_PREC_RADIX",
    ("DATA_TYPE", "PRECISION", "SQL_DATA_TYPE", "SQL_DATETIME_SUB", "NUM_PREC_RADIX"),
    NULLABLE=SMALLINT, SEARCHABLE=SMALLINT, MINIMUM_SCALE=SMALLINT, MAXIMUM_SCALE=SMALLINT,
    CASE_SENSITIVE=BOOLEAN, UNSIGNED_ATTRIBUTE=BOOLEAN, FIXED_PREC_SCALE=BOOLEAN,
    AUTO_INCREMENT=BOOLEAN,
)  # fmt: skip
FUNCTIONS = _fields(
    "FUNCTION_CAT FUNCTION_SCHEM FUNCTION_NAME REMARKS FUNCTION_TYPE SPECIFIC_NAME",
    ("FUNCTION_TYPE",),
)
PRIMARY_KEYS = _fields("TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME KEY_SEQ PK_NAME", ("KEY_SEQ",))
CROSS_REFERENCES = _fields(
    "PKTABLE_CAT PKTABLE_SCHEM PKTABLE_NAME PKCOLUMN_NAME FKTABLE_CAT FKTABLE_SCHEM FKTABLE_NAME "
    "FKCOLUMN_NAME KEY_SEQ UPDATE_RULE DELETE_RULE FK_NAME PK_NAME DEFERRABILITY",
    ("KEY_SEQ", "UPDATE_RULE", "DELETE_RULE", "DEFERRABILITY"),
)


def list_schemas(session: Session, pattern: str | None) -> Rows:
    """Return the databases of a pattern; None and the empty one stand for all."""
    return [(name, _CATALOG) for name in _databases(session, pattern)]


def list_table_types(session: Session) -> Rows:
    """Return the kinds of tables."""
    return [(name,) for name in dict.fromkeys(_table_types(session).values())]


def _table_types(session: Session) -> dict[str, str]:
    """Give the names that the session has for the kinds that the metastore stores."""
    mapping = session.settings.text(TABLE_TYPE_MAPPING).strip().upper()
    return _CLASSIC_TYPES if mapping == "CLASSIC" else {name: name for name in _CLASSIC_TYPES}


def list_tables(
    session: Session, schema: str | None, pattern: str | None, kinds: Sequence[str] | None
) -> Rows:
    """Return tables and views; ``kinds`` are of ``list_table_types``, or Hive's; None for all."""
    wanted = {kind.upper() for kind in kinds} if kinds else None
    names = _table_types(session)
    return [
        (_CATALOG, name.database, name.name, kind, _comment(table), None, None, None, None, None)
        for name, table in _tables(session, schema, pattern)
        if (kind := names[table.type]) and (wanted is None or wanted & {kind, table.type})
    ]


def list_columns(
    session: Session, schema: str | None, table_pattern: str | None, pattern: str | None
) -> Rows:
    """Return the columns, those of partitions last, of tables that the user may describe."""
    rows: Rows = []
    for name, table in _tables(session, schema, table_pattern):
        if not _may_describe(session, table):
            continue
        required = {
            column
            for constraint in table.constraints
            if constraint.kind == "primary key"
            or (constraint.kind == "not null" and constraint.enabled)
            for column in constraint.columns
        }
        wanted = {row[0] for row in matching((c.name for c in table.all_columns), pattern or "%")}
        for position, column in enumerate(table.all_columns, 1):
            if column.name not in wanted:
                continue
            facts = facts_of(column.type)
            is_nullable = column.name not in required
            rows.append(
                (None, name.database, name.name, column.name, facts.number, facts.name, facts.size,
                 None, facts.digits, facts.radix, _NULLABLE if is_nullable else _NO_NULLS,
                 column.comment, default_of(table, column.name), None, None, None, position,
                 "YES" if is_nullable else "NO", None, None, None, None, "NO")
            )  # fmt: skip
    return rows


def list_types() -> Rows:
    """Return the types that columns may have."""
    return [
        (facts.name, facts.number, facts.precision, None, None, None, _NULLABLE,
         facts.is_case_sensitive, facts.searchable, not facts.is_number, False, False, None, 0, 0,
         None, None, facts.radix)
        for facts in TYPE_FACTS
    ]  # fmt: skip


def list_functions(session: Session, schema: str | None, pattern: str | None) -> Rows:
    """Return the functions that queries may call: as in Hive they are in no schema."""
    if schema:
        return []
    names = {*listed_functions(), *session.functions}
    return [
        (None, None, name, "", _NO_TABLE_FUNCTION, name)
        for (name,) in matching(names, pattern or "%")
    ]


def list_primary_keys(session: Session, schema: str | None, table: str | None) -> Rows:
    """Return the columns of a table's primary key."""
    return [
        (None, described.name.database, described.name.name, column, number, constraint.name)
        for described in _described(session, schema, table)
        for constraint in _keys(described, "primary key")
        for number, column in enumerate(constraint.columns, 1)
    ]


@dataclass(frozen=True, slots=True)
class ReferenceQuestion:
    """Which foreign keys are asked for: databases and tables; None for any."""

    parent_schema: str | None
    parent_table: str | None
    schema: str | None
    table: str | None


def list_cross_references(session: Session, question: ReferenceQuestion) -> Rows:
    """Return the columns of foreign keys from one table to another."""
    rows: Rows = []
    for described in _described(session, question.schema, question.table):
        for constraint in _keys(described, "foreign key"):
            parent = constraint.parent
            if parent is None or not _is_parent(parent, question):
                continue
            key_name = _primary_key_name(session, parent)
            pairs = zip(constraint.parent_columns, constraint.columns, strict=True)
            rows += [
                (None, parent.database, parent.name, parent_column, None,
                 described.name.database, described.name.name, column, number, _NO_ACTION,
                 _NO_ACTION, constraint.name, key_name, _NOT_DEFERRABLE)
                for number, (parent_column, column) in enumerate(pairs, 1)
            ]  # fmt: skip
    return rows


def _is_parent(parent: TableName, question: ReferenceQuestion) -> bool:
    return (not question.parent_schema or parent.database == question.parent_schema.lower()) and (
        not question.parent_table or parent.name == question.parent_table.lower()
    )


def _primary_key_name(session: Session, parent: TableName) -> str | None:
    try:
        keys = _keys(session.temporary.table(parent), "primary key")
    except NoSuchObject:
        return None
    return keys[0].name if keys else None


def _keys(table: Table, kind: str) -> list[Constraint]:
    constraints = [constraint for constraint in table.constraints if constraint.kind == kind]
    return sorted(constraints, key=lambda constraint: constraint.name)


def _databases(session: Session, pattern: str | None) -> list[str]:
    names = (
        name for name in session.runtime.metastore.databases() if not name.startswith(TEMPORARY)
    )
    return [name for (name,) in matching(names, pattern or "%")]


def _tables(
    session: Session, schema: str | None, pattern: str | None
) -> Iterator[tuple[TableName, Table]]:
    """Yield tables by the names that the session sees; one that is dropped meanwhile is none."""
    store = session.runtime.metastore
    for database in _databases(session, schema):
        names = {name.name for name in store.tables(database)}
        names |= {name.name for name in session.temporary.hidden if name.database == database}
        for (name,) in matching(names, pattern or "%"):
            visible = TableName(database, name)
            try:
                yield visible, session.temporary.table(visible)
            except NoSuchObject:
                continue


def _described(session: Session, schema: str | None, table: str | None) -> Iterator[Table]:
    """Yield the table of a name, or all of them without one, that the user may describe."""
    for name, described in _tables(session, _literal(schema), _literal(table)):
        if (not table or name.name == table.lower()) and _may_describe(session, described):
            yield described


def _literal(name: str | None) -> str | None:
    return name.replace("_", f"{_ESCAPE}_") if name else name


def _may_describe(session: Session, table: Table) -> bool:
    try:
        session.authorize(Describe(table=table))
    except HiveSqlError:
        return False
    return True


def _comment(table: Table) -> str | None:
    return table.comment or table.properties.get("comment") or None
