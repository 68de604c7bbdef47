"""ALTER TABLE of partitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from hivesql.binder.targets import (
    base_table,
    existing,
    new_values,
    partitioned_table,
    with_named_format,
    written_value,
)
from hivesql.binding import Binding, partition_value
from hivesql.dialect.nodes.alter import AlterPartitionsBody
from hivesql.dialect.nodes.commands import ChosenPartitions
from hivesql.dialect.nodes.parts import (
    filters_of,
    items_of,
    name_of,
    partition_of,
    properties_of,
    table_of,
)
from hivesql.dialect.slices import (
    IS_NULL,
    RANGE,
    CombinedFilters,
    PartitionCondition,
    PartitionFilter,
    PartitionItems,
)
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import HiveSqlError, NoSuchObject, NotSupported, SemanticError
from hivesql_planner.model.hive_type import (
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    TIMESTAMPS,
    HiveType,
    Kind,
)
from hivesql_planner.model.partition_values import default_partition, normal_value
from hivesql_planner.model.statistics import BASICS, read_stated_statistics
from hivesql_planner.model.table import (
    DEFAULT_PARTITION,
    Partition,
    Table,
    default_value,
    partition_name,
    uncommented,
)
from hivesql_planner.predicates.constants import NUMBER
from hivesql_planner.predicates.partitions import PartitionTest
from hivesql_planner.predicates.predicate import (
    AllOf,
    AnyOf,
    Compare,
    IsNull,
    Not,
    Predicate,
    Value,
)
from hivesql_planner.predicates.pruning import PartitionPruner, partition_tests
from hivesql_planner.predicates.wildcards import ANY, ONE, compile_wildcards, literal
from hivesql_planner.statements.alter import ChangeFormat, apply_to_partition
from hivesql_planner.statements.ddl import (
    AddPartitions,
    AlterPartitions,
    DropPartitions,
    ExchangePartitions,
    LoadData,
    MovePartition,
    RenamePartition,
    TellStatistics,
    Touch,
)


def bind_rename_partition(node: exp.Expr, binding: Binding) -> RenamePartition:
    """PARTITION … RENAME TO PARTITION."""
    table = partitioned_table(table_of(node.this), binding)
    partition = existing(table, items_of(node.args["partition"]), binding)
    to = items_of(node.args["to"])
    values = new_values(table, to, binding)
    if binding.catalog.partition(table.name, values) is not None:
        name = partition_name(table.partition_names, values)
        error = SemanticError(f"Partition already exists: {table.name} {name}", code=10118)
        binding.fail(error, to[0].key.start)
    return RenamePartition(table=table, partition=partition, values=values)


def bind_move_partition(node: exp.Expr, binding: Binding) -> MovePartition:
    """PARTITION … SET LOCATION."""
    table = partitioned_table(table_of(node.this), binding)
    items = items_of(node.args["partition"])
    if len(binding.partition_values(table, items)) < len(table.partition_columns):
        what = "Alter table partition type set location does not allow partial partition spec"
        binding.fail(SemanticError(what, code=10299), items[0].key.start)
    partition = existing(table, items, binding)
    return MovePartition(table=table, partition=partition, location=node.args["location"].name)


def bind_alter_partitions(body: AlterPartitionsBody, binding: Binding) -> AlterPartitions:
    """PARTITION … SET FILEFORMAT, SERDE or SERDEPROPERTIES, of all partitions that match."""
    table = partitioned_table(body.table, binding)
    partitions = binding.matching(table, body.partition)
    change = body.change
    if isinstance(change, ChangeFormat):
        change = with_named_format(change, binding, body.start)
    try:
        after = tuple(apply_to_partition(table, partition, change) for partition in partitions)
    except HiveSqlError as error:
        binding.fail(error, body.start)
    return AlterPartitions(table=table, change=change, partitions=partitions, altered=after)


def bind_tell_statistics(node: exp.Expr, binding: Binding) -> TellStatistics:
    """UPDATE STATISTICS."""
    ref, items = table_of(node.this), partition_of(node.args["partition"])
    properties, (start, _) = properties_of(node.args["properties"]), node.meta[RANGE]
    table = base_table(ref, binding)
    partitions = None
    if items is not None:
        partitions = binding.matching(partitioned_table(ref, binding), items)
    if node.args["column"] is None:
        basics = {key: properties[key] for key in BASICS if key in properties}
        wrong = next((key for key, value in basics.items() if not value.isdecimal()), None)
        if wrong is not None:
            error = SemanticError(f"{wrong} is no number: {basics[wrong]}")
            binding.fail(error, start)
        numbers = {key: int(value) for key, value in basics.items()}
        return TellStatistics(table=table, partitions=partitions, basics=numbers)
    column_name = name_of(node.args["column"])
    name = column_name.text
    column = next((candidate for candidate in table.columns if candidate.name == name), None)
    if column is None:
        error = SemanticError(f"Column {name} is not found in {table.name}", code=10002)
        binding.fail(error, column_name.start)
    try:
        statistics = read_stated_statistics(column, properties)
    except SemanticError as error:
        binding.fail(error, start)
    return TellStatistics(table=table, partitions=partitions, column=statistics)


def bind_touch(node: exp.Expr, binding: Binding) -> Touch:
    """TOUCH."""
    ref, items = table_of(node.this), partition_of(node.args["partition"])
    if items:
        table = partitioned_table(ref, binding)
        return Touch(table=table, partition=existing(table, items, binding))
    return Touch(table=base_table(ref, binding))


def bind_exchange(node: exp.Expr, binding: Binding) -> ExchangePartitions:
    """EXCHANGE PARTITION: both tables alike, the partitions only in the source."""
    ref, other = table_of(node.this), table_of(node.args["source"])
    items = items_of(node.args["partition"])
    table = partitioned_table(ref, binding)
    source = partitioned_table(other, binding)
    if table.is_transactional or source.is_transactional:
        error = SemanticError(
            "Exchange partition is not allowed with transactional tables. Alternatively, shall "
            "use load data or insert overwrite to move partitions.",
            code=10236,
        )
        binding.fail(error, ref.start)
    alike = all(
        uncommented(ours) == uncommented(theirs)
        for ours, theirs in (
            (table.columns, source.columns),
            (table.partition_columns, source.partition_columns),
        )
    )
    if not alike or table.format != source.format:
        error = SemanticError(
            "Tables have incompatible schemas and their partitions  cannot be exchanged.",
            code=10235,
        )
        binding.fail(error, other.start)
    values = binding.partition_values(table, items)
    if set(values) != set(table.partition_names[: len(values)]):
        error = SemanticError(
            "Partition values specified are not continuous. A subpartition value is specified "
            "without specifying the parent partition's value",
            code=10234,
        )
        binding.fail(error, items[0].key.start)
    moved = binding.matching(source, items)
    for clash in binding.partitions_of(table, values):
        name = partition_name(table.partition_names, clash.values)
        error = SemanticError(f"Partition already exists [{table.name.name}({name})]", code=10118)
        binding.fail(error, items[0].key.start)
    return ExchangePartitions(table=table, source=source, partitions=moved)


def bind_add_partitions(node: exp.Expr, binding: Binding) -> AddPartitions | LoadData:
    """ADD PARTITION: every one with a value for each partition column.

    A transactional table takes the files of a LOCATION as those of LOAD DATA, as in Hive.
    """
    table = partitioned_table(table_of(node.this), binding, view=node.args["kind"] == "VIEW")
    added = []
    for new in node.expressions:
        items, location = items_of(new.this), new.args["location"]
        values = new_values(table, items, binding)
        reserved = default_partition(binding.settings)
        for item in items:
            if reserved in (item.value or ""):
                error = SemanticError(
                    f"Partition value contains a reserved substring (User value: {item.value} "
                    f"Reserved substring: {reserved}): rows without a value make this partition",
                    code=10111,
                )
                binding.fail(error, item.key.start, item.end)
        added.append(Partition(values=values, location=location.name if location else ""))
    looked_up = added if node.args["exists"] else ()
    there = (binding.catalog.partition(table.name, partition.values) for partition in looked_up)
    if table.is_transactional and len(added) == 1 and added[0].location:
        values, path = added[0].values, added[0].location
        if binding.catalog.partition(table.name, values) is None:
            return LoadData(
                table=table, path=path, values=values, adds_partition=True,
                if_not_exists=node.args["exists"],
            )  # fmt: skip
        if not node.args["exists"]:
            name = partition_name(table.partition_names, values)
            error = SemanticError(f"Partition already exists: {table.name} {name}", code=10073)
            binding.fail(error, items[0].key.start, items[-1].end)
    return AddPartitions(
        table=table, partitions=tuple(added), if_not_exists=node.args["exists"],
        known=tuple(filter(None, there)),
    )  # fmt: skip


def bind_drop_partitions(node: exp.Expr, binding: Binding) -> DropPartitions:
    """DROP PARTITION: all that match."""
    table = partitioned_table(table_of(node.this), binding, view=node.args["kind"] == "VIEW")
    doomed: dict[Partition, None] = {}
    may_miss = node.args["exists"] or binding.settings.flag("hive.exec.drop.ignorenonexistent")
    for filters in map(filters_of, node.expressions):
        condition = _Condition.of(CombinedFilters("and", filters), table, binding, _no_column)
        chosen = condition.choose(binding.catalog.partitions(table.name, condition.tests))
        if not chosen and not may_miss:
            text = ", ".join(
                f"{filter_.key.text}{filter_.operator}{filter_.value}" for filter_ in filters
            )
            error = NoSuchObject(f"Partition not found ({text}) in {table.name}", code=10006)
            binding.fail(error, filters[0].key.start, filters[-1].end)
        doomed |= dict.fromkeys(chosen)
    return DropPartitions(table=table, partitions=tuple(doomed), purge=node.args["purge"])


def condition_of(filters: tuple[PartitionFilter, ...], table: Table, binding: Binding) -> Predicate:
    """Return what MSCK … PARTITIONS (…) says of partitions, which may not be known yet."""
    condition = _Condition.of(CombinedFilters("and", filters), table, binding, _no_column)
    for filter_ in condition.texts.values():
        what = f"MSCK … PARTITIONS ({filter_.key.text} {filter_.operator.upper()} …)"
        binding.fail(NotSupported(what), filter_.key.start, filter_.end)
    return condition.predicate


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition on a table's partitions, as a predicate.

    What compares texts, whatever the column's type, is in it as a column of its own: true or false.
    """

    table: Table
    predicate: Predicate
    texts: Mapping[str, PartitionFilter]

    @classmethod
    def of(
        cls,
        condition: PartitionCondition,
        table: Table,
        binding: Binding,
        unknown: Callable[[str, Table], SemanticError],
    ) -> _Condition:
        """Understand a condition; ``unknown`` makes the error of a column that is not there."""
        types = {column.name: column.type for column in table.partition_columns}
        texts: dict[str, PartitionFilter] = {}

        def understand(part: PartitionCondition) -> Predicate:
            if isinstance(part, CombinedFilters):
                parts = tuple(map(understand, part.parts))
                if part.operator == "not":
                    return Not(*parts)
                return AnyOf(parts) if part.operator == "or" else AllOf(parts)
            if part.key.text not in types:
                binding.fail(unknown(part.key.text, table), part.key.start)
            type_ = types[part.key.text]
            if not _is_of_text(part, type_, binding):
                return _filter(part, type_, binding)
            # No column has a name with a blank at its end.
            texts[name := f"text {len(texts)} "] = part
            return Compare(name, "=", True)

        return cls(table, understand(condition), texts)

    @property
    def tests(self) -> tuple[PartitionTest, ...]:
        """Return what the catalog can test of it."""
        return partition_tests(self.table, [self.predicate])

    def choose(self, listed: Iterable[Partition]) -> list[Partition]:
        """Return the partitions of which it is known to be true."""
        types = {column.name: _kind(column.type) for column in self.table.partition_columns}
        pruner = PartitionPruner(self.predicate, {**types, **dict.fromkeys(self.texts, BOOLEAN)})
        return [partition for partition in listed if pruner.is_certain(self._values(partition))]

    def _values(self, partition: Partition) -> dict[str, str | None]:
        table = self.table
        values = dict(zip(table.partition_names, table.read_values(partition), strict=True))
        answers = {
            name: str(_satisfies(values[filter_.key.text], filter_)).lower()
            for name, filter_ in self.texts.items()
        }
        return {**values, **answers}


def _no_column(name: str, table: Table) -> SemanticError:
    return SemanticError(
        f"{table.name} has no partition column {name}", code=10006, choices=table.partition_names
    )


def _no_filter(name: str, table: Table) -> SemanticError:
    return SemanticError(
        f"Not a filter expr: Invalid table alias or column reference '{name}': (possible "
        f"column names are: {', '.join(table.partition_names)})",
        code=10004,
    )


def _filter(filter_: PartitionFilter, type_: HiveType, binding: Binding) -> Predicate:
    if filter_.operator == IS_NULL:
        return _is_default(filter_, type_, binding)
    value = partition_value(filter_.value)
    if filter_.value is None or (value == "" and type_.kind in (Kind.STRING, Kind.VARCHAR)):
        error = SemanticError(
            f"Partition spec is incorrect: {filter_.key.text} is compared with nothing. The "
            f"partition of rows without a value is '{DEFAULT_PARTITION}'"
        )
        binding.fail(error, filter_.key.start, filter_.end)
    if value is None:
        return _is_default(filter_, type_, binding)
    text = type_.is_text or type_.kind in (Kind.DATE, *TIMESTAMPS)
    if type_ in (BOOLEAN, DATE, FLOAT):
        value = normal_value(value, type_) or value
    constant = value if text else value == "true" if type_ == BOOLEAN else _number(value)
    operator = "<>" if filter_.operator == "!=" else filter_.operator
    compare = Compare(filter_.key.text, operator, constant)
    # What cannot be decided must not be dropped.
    decided = PartitionPruner(AnyOf((compare, Not(compare))), {filter_.key.text: _kind(type_)})
    if not decided.is_certain({filter_.key.text: value}):
        error = SemanticError(f"cannot compare the {type_} {filter_.key.text} with {value!r}")
        binding.fail(error, filter_.key.start, filter_.end)
    return compare


def _is_of_text(filter_: PartitionFilter, type_: HiveType, binding: Binding) -> bool:
    """Tell whether texts are compared, whatever the type.

    So LIKE does, and the session's own name of the default partition that is none of the type.
    """
    if filter_.value is None:
        return False
    return filter_.operator == "like" or (
        filter_.value == default_partition(binding.settings) != DEFAULT_PARTITION
        and filter_.operator in ("=", "!=", "<>")
        and normal_value(filter_.value, type_) is None
    )


def _satisfies(text: str | None, filter_: PartitionFilter) -> bool:
    value = filter_.value or ""
    if filter_.operator == "like":
        return text is not None and compile_wildcards(_wildcards(value)).match(text) is not None
    return (text == value) is (filter_.operator == "=")


def _wildcards(pattern: str) -> str:
    """Return what LIKE means by a pattern: a backslash takes a mark's meaning away."""
    marks = {"%": ANY, "_": ONE}
    parts: list[str] = re.findall(r"\\[%_\\]|.", pattern, re.DOTALL)
    return "".join(marks.get(part) or literal(part[-1]) for part in parts)


def _kind(type_: HiveType) -> HiveType:
    """Return how values of a type are compared: a FLOAT's shortest text is that of one number."""
    return DOUBLE if type_ == FLOAT else type_


def _number(text: str) -> Value:
    if text.removeprefix("-").isdecimal():
        return int(text)
    if NUMBER.fullmatch(text):
        return Decimal(text)
    return float(text) if text in ("NaN", "Infinity", "-Infinity") else text


def _is_default(filter_: PartitionFilter, type_: HiveType, binding: Binding) -> Predicate:
    """Tell whether a value is that of the default partition."""
    if filter_.operator not in ("=", "!=", "<>", IS_NULL):
        error = SemanticError(
            f"Cannot use {filter_.operator} in a default partition spec; only '=' and '!=' are "
            "allowed."
        )
        binding.fail(error, filter_.key.start, filter_.end)
    text = default_value(type_)
    is_default: Predicate = IsNull(filter_.key.text)
    if text is not None:
        is_default = Compare(filter_.key.text, "=", text)
    return is_default if filter_.operator in ("=", IS_NULL) else Not(is_default)


def chosen_names(
    part: PartitionItems | None, chosen: ChosenPartitions | None, table: Table, binding: Binding
) -> tuple[str, ...]:
    """Names of the partitions that SHOW PARTITIONS … PARTITION (…) WHERE … LIMIT asks for."""
    chosen = chosen or ChosenPartitions(None, (), None)
    types = {column.name: column.type for column in table.partition_columns}
    wanted = chosen.condition or CombinedFilters("and", ())
    condition = _Condition.of(wanted, table, binding, _no_filter)
    # A column without a value may have any.
    binding.partition_values(table, tuple(item for item in part or () if not item.is_static))
    part = tuple(item for item in part or () if item.is_static)
    for column in table.partition_columns:
        for item in part:
            if item.key.text == column.name and item.value:
                written_value(column, partition_value(item.value), part, binding)
    try:
        listed = (
            binding.matching(table, part)
            if part
            else binding.catalog.partitions(table.name, condition.tests)
        )
    except NoSuchObject:
        listed = ()
    partitions = condition.choose(listed)
    partitions.sort(key=lambda partition: partition_name(table.partition_names, partition.values))
    for name, descending in reversed(chosen.order):
        if name.text not in types:
            binding.fail(unsorted(name.text, table.partition_names), name.start)
        at = table.partition_names.index(name.text)
        partitions.sort(key=partial(_order_by, at), reverse=descending)
    names = (partition_name(table.partition_names, partition.values) for partition in partitions)
    return tuple(names)[: chosen.limit]


def unsorted(name: str, columns: Iterable[str] = ()) -> SemanticError:
    """Say that partitions cannot be sorted by something that is no column of theirs."""
    return SemanticError(
        f"Only partition keys are allowed for sorting partition names, not {name}",
        choices=columns,
    )


def _order_by(at: int, partition: Partition) -> str:
    """Order numbers by their text too, and rows without a value by their partition's, as Hive."""
    return partition.values[at] or DEFAULT_PARTITION
