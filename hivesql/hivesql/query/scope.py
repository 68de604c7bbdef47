"""What names mean inside one SELECT, its tables, their columns; and a query that is bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hivesql.binding import Binding
from hivesql_planner.errors import AmbiguousColumn, NoSuchObject, SemanticError
from hivesql_planner.model.hive_type import UNKNOWN, HiveType
from hivesql_planner.model.table import Column, Partition, Table
from hivesql_planner.predicates.predicate import AllOf, Look, Predicate
from hivesql_planner.predicates.pruning import PartitionPruner, partition_tests
from hivesql_planner.relations import AsOf, Changes, Listing, Query, Scan, Source

ROW_ID = "row__id"
FILE_NAME = "input__file__name"
LINE_OFFSET = "block__offset__inside__file"
IS_DELETED = "row__is__deleted"
HIDDEN = (ROW_ID, FILE_NAME, LINE_OFFSET, IS_DELETED)
"""Columns that every table has and ``*`` does not give."""


class Output(NamedTuple):
    """A column that a query or table gives; its Hive type when that is known."""

    name: str
    type: HiveType | None = None
    origins: tuple[tuple[TableUse, str], ...] = ()
    """The partition columns that it is, of several tables below a UNION."""
    alias: str = ""
    """The alias by which a select list, or its ``*``, takes it from a relation."""
    twin: str = ""
    """What another column before it is called and it would be; Hive has numbered it."""


Outputs = tuple[Output, ...] | None
"""None when only Spark knows the columns."""


def outputs_of(table: Table) -> tuple[Output, ...]:
    """Return the columns of a table as SELECT * gives them."""
    types = (
        (column.name, column.type if column.type.is_known else None) for column in table.all_columns
    )
    return tuple(Output(name, type_) for name, type_ in types)


@dataclass(slots=True, eq=False)
class TableUse:
    """One mention of a table: what is read of it becomes known while the query is walked."""

    table: Table
    view: str
    with_row_id: bool = False
    with_file_name: bool = False
    with_line_offset: bool = False
    with_deleted: bool = False
    has_bucket_ids: bool = False
    """Whether a property asks to give insert-only rows their ROW__ID."""
    as_of: AsOf | None = None
    changes: Changes | None = None
    predicates: list[Predicate] = field(default_factory=list)
    start: int = 0
    """Where the statement's text names it, or the view that reads it."""
    is_filtered: bool = False
    """Whether some condition speaks of its partition columns alone."""
    through: tuple[Table, ...] = ()
    """The views whose text mentions it, outermost first."""

    @property
    def with_hidden(self) -> bool:
        """Tell whether its rows have columns that ``*`` does not give."""
        read = self.with_row_id or self.with_file_name or self.with_line_offset
        return read or self.with_deleted

    def scan(self, binding: Binding) -> Scan:
        """Return the scan, its partitions pruned by the predicates."""
        table = self.table
        partitions, count, listing = self._listed(binding)
        names = table.partition_names
        types = {column.name: column.type for column in table.partition_columns}
        where = AllOf(tuple(self.predicates)) if self.predicates else None
        if where is not None and partitions:
            pruner = PartitionPruner(where, types)
            partitions = tuple(
                partition
                for partition in partitions
                if pruner.may_hold(dict(zip(names, table.read_values(partition), strict=True)))
            )
        return Scan(
            table=table,
            partitions=partitions,
            partition_count=count,
            with_row_id=self.with_row_id,
            with_file_name=self.with_file_name,
            with_line_offset=self.with_line_offset,
            with_deleted=self.with_deleted,
            as_of=self.as_of,
            changes=self.changes,
            where=where,
            listing=listing,
            views=self.through,
        )

    def _listed(self, binding: Binding) -> tuple[tuple[Partition, ...], int, Listing | None]:
        """Return the partitions that the catalog could not leave out, and how many there are."""
        table, catalog = self.table, binding.catalog
        if not table.partition_columns:
            return (), 0, None
        tests = partition_tests(table, self.predicates)
        partitions = catalog.partitions(table.name, tests)
        count = catalog.partition_count(table.name) if tests else len(partitions)
        return partitions, count, Listing.of(tests, partitions)

    def source(self, binding: Binding) -> Source:
        """Return the scan under its view name."""
        return Source(view=self.view, scan=self.scan(binding))


@dataclass(slots=True, eq=False)
class Relation:
    """Something in FROM: its alias, and its columns if they are known.

    ``nullable`` relations may be all NULL because of an outer join; ``hidden`` ones (right sides
    of semi and anti joins) give nothing to ``*``.
    """

    alias: str
    columns: Outputs
    use: TableUse | None = None
    nullable: bool = False
    hidden: bool = False
    _types: tuple[Outputs, dict[str, HiveType | None]] = field(
        default=(None, {}), init=False, repr=False
    )

    def has(self, name: str) -> bool:
        """Tell whether the column exists, or may exist."""
        return self.columns is None or name in self._types_by_name()

    def type_of(self, name: str) -> HiveType | None:
        """Return a column's type; None where it is not known."""
        return self._types_by_name().get(name)

    def _types_by_name(self) -> dict[str, HiveType | None]:
        """Return the columns' types, made once: wide tables' columns are asked for one by one."""
        if self._types[0] is not self.columns:
            types = {column.name: column.type for column in self.columns or ()}
            self._types = (self.columns, types)
        return self._types[1]

    def knows(self, name: str) -> bool:
        """Tell whether the column is known to exist."""
        return self.columns is not None and self.has(name)


class Meaning(NamedTuple):
    """What a dotted name means: ``used`` of its parts name the column, ``dropped`` a database.

    ``column`` is None when the name is of something whose columns are not known.
    """

    scope: Scope
    relation: Relation
    column: str | None
    used: int
    dropped: int = 0


@dataclass(slots=True, eq=False)
class Scope:
    """The relations of one SELECT, and the scope around it for correlated subqueries."""

    outer: Scope | None = None
    relations: list[Relation] = field(default_factory=list)
    is_joining: bool = True
    """Whether it is ON whose names are looked up: the right sides of semi joins are seen there."""
    sees_outer: bool = True
    """Whether the names may be of the query around it: in WHERE and ON, and nowhere else."""
    merges: bool = False
    """Whether tables are joined by USING, whose columns are of both."""
    _by_alias: dict[str, list[Relation]] = field(default_factory=dict)
    _by_column: dict[str, list[Relation]] = field(default_factory=dict)
    """The relations that are known to have the column."""
    _unknown: Relation | None = None
    """The first relation whose columns are not known."""
    _indexed: int = 0
    """How many of the relations are in the three above: there may be thousands."""

    def chain(self) -> Iterator[Scope]:
        """Yield the scope itself and, where Hive looks there, the one around it."""
        yield self
        if self.outer is not None and self.sees_outer:
            yield self.outer

    def meaning(self, parts: tuple[str, ...]) -> Meaning:
        """Tell what a dotted name means; innermost scope first.

        Raises NoSuchObject 10002 (no such column in that table) or 10004 (nothing of that
        name), SemanticError 10007 (more than one row__id), or without a code (a column of several).
        """
        for scope in self.chain():
            scope._index()
            meaning = scope._qualified(parts) or scope._plain(parts)
            if meaning:
                return meaning
        for scope in self.chain():
            for relation in scope.relations:
                if not scope._sees(relation):
                    continue
                if relation.alias == parts[0] and len(parts) > 1:
                    raise NoSuchObject(
                        f"Invalid column reference '{parts[1]}' in '{'.'.join(parts)}': "
                        f"{relation.alias} has {_names(relation)}",
                        code=10002,
                        choices=(column.name for column in relation.columns or ()),
                    )
        visible = [relation for relation in self.relations if self._sees(relation)]
        candidates = ", ".join(_names(relation) for relation in visible)
        is_qualified = len(parts) > 1
        raise NoSuchObject(
            f"Invalid table alias or column reference '{parts[0]}': "
            f"(possible column names are: {candidates})",
            code=10004,
            choices=(
                name
                for relation in visible
                for name in (
                    [relation.alias]
                    if is_qualified
                    else [column.name for column in relation.columns or ()]
                )
            ),
        )

    def _index(self) -> None:
        """Look at the relations that were added since the last call."""
        for relation in self.relations[self._indexed :]:
            self._by_alias.setdefault(relation.alias, []).append(relation)
            for column in relation.columns or ():
                self._by_column.setdefault(column.name, []).append(relation)
                if column.twin:
                    self._by_column.setdefault(column.twin, []).append(relation)
            if relation.columns is None and self._unknown is None:
                self._unknown = relation
        self._indexed = len(self.relations)

    def _sees(self, relation: Relation) -> bool:
        return self.is_joining or not relation.hidden

    def _check_unique(self, relation: Relation, name: str, parts: tuple[str, ...]) -> None:
        """Fail where a subquery gives two columns of the name that is asked for."""
        if self.is_joining or len(self._by_column.get(name, ())) < 2:
            return
        if sum(name in (column.name, column.twin) for column in relation.columns or ()) > 1:
            raise AmbiguousColumn(
                f"Ambiguous column reference: {'.'.join(parts)}",
                f"Give the columns of {relation.alias} names that differ: SELECT a.{name} AS "
                f"{name}_1, b.{name} AS {name}_2 …",
            )

    def _qualified(self, parts: tuple[str, ...]) -> Meaning | None:
        for dropped in (0, 1):
            if len(parts) < dropped + 2:
                return None
            for relation in self._by_alias.get(parts[dropped], ()):
                if not self._sees(relation):
                    continue
                if dropped and (relation.use is None
                                or relation.use.table.name.database != parts[0]):  # fmt: skip
                    continue
                name = parts[dropped + 1]
                is_hidden = name in HIDDEN and relation.use is not None
                if relation.has(name) or is_hidden:
                    has_columns = relation.columns is not None
                    self._check_unique(relation, name, parts)
                    return Meaning(
                        self, relation, name if has_columns else None, dropped + 2, dropped
                    )
        return None

    def _plain(self, parts: tuple[str, ...]) -> Meaning | None:
        name = parts[0]
        if relations := [
            relation for relation in self._by_column.get(name, ()) if self._sees(relation)
        ]:
            self._check_unique(relations[0], name, parts)
            if not self.is_joining and not self.merges and relations[0] is not relations[-1]:
                owned = list(dict.fromkeys(relation.alias for relation in relations))
                raise AmbiguousColumn(
                    f"Column {name} Found in more than One Tables/Subqueries: {', '.join(owned)}",
                    "Put the table's name or alias before the column: "
                    + " or ".join(f"{alias}.{name}" for alias in owned),
                )
            return Meaning(self, relations[0], name, 1)
        if name in HIDDEN:
            tables = [relation for relation in self.relations if relation.use]
            acid = [
                relation for relation in tables if relation.use and relation.use.table.is_full_acid
            ]
            owners = (acid if name == ROW_ID else []) or tables
            if len(owners) > 1:
                aliases = ", ".join(relation.alias for relation in owners)
                raise SemanticError(
                    f"Ambiguous column reference {name}: it may be of {aliases}", code=10007
                )
            if owners:
                return Meaning(self, owners[0], name, 1)
        return None if self._unknown is None else Meaning(self, self._unknown, None, 1)


def _names(relation: Relation) -> str:
    if relation.columns is None:
        return f"{relation.alias}.*"
    return ", ".join(column.name for column in relation.columns)


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """Spark SQL, what it gives, and what it reads; ``hive`` has the tables by full name."""

    sql: str
    columns: Outputs
    uses: tuple[TableUse, ...]
    hive: str
    look: Look | None = None
    is_empty: bool = False
    """Whether it says that it gives no rows, and Spark knows nothing more of it."""

    def query(self, binding: Binding, sql: str | None = None, columns: Outputs = None) -> Query:
        """Return the query of a plan; ``sql`` and its ``columns`` when it was wrapped."""
        outputs = self.columns if sql is None else columns
        return Query(
            sql=sql or self.sql,
            sources=tuple(use.source(binding) for use in self.uses),
            columns=tuple(Column(output.name, output.type or UNKNOWN) for output in outputs or ()),
            look=self.look if sql is None else None,
            is_empty=self.is_empty and sql is None,
        )
