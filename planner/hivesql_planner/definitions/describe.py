"""Steps of a definition as EXPLAIN tells them: an action, on what, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

from hivesql_planner.acid.layout import delta_name
from hivesql_planner.definitions.steps import (
    AddEntry,
    AdoptFiles,
    AlterEntry,
    Definition,
    DropEntry,
    EmptyTable,
    Entry,
    FollowDirectories,
    HandOver,
    MakeDirectory,
    MoveDirectory,
    NewTable,
    Partitions,
    RemoveDirectory,
    RemoveIfEmpty,
    ReserveWriteIds,
    Step,
    StoreStatistics,
)
from hivesql_planner.model.table import Column, Constraint, Database, Table, partition_name

# What a catalog keeps for itself.
_OWN = ("id", "created_at", "materialized")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What EXPLAIN tells of one step."""

    action: str
    of: str
    details: Mapping[str, str] = field(default_factory=dict, hash=False)


def describe_steps(definition: Definition) -> Iterator[Description]:
    """Yield what is told of each step, in their order."""
    for step in definition.steps:
        yield from _described(step)
    if not definition.steps:
        yield Description(action="NOTHING TO DO", of=definition.notice.partition(":")[0])


def describe_new_table(new: NewTable) -> Description:
    """Tell of a table that is made, perhaps for rows that are to come."""
    home, (format_, path) = new.table.location or new.home, new.like_file or ("", "")
    details = {
        "directory": home or "where the metastore places it",
        "columns": f"of the {format_} file {path}" if path else _text(new.table.columns),
        "partitioned by": _text(new.table.partition_columns),
    }
    stated = {key: value for key, value in details.items() if value != _NONE}
    return Description(action=f"CREATE {_kind(new.table)}", of=str(new.table.name), details=stated)


def _described(step: Step) -> Iterator[Description]:  # noqa: C901 - one flat list of steps
    match step:
        case MakeDirectory(path=path, base=base):
            below = {"below": base} if base and not _is_absolute(path) else {}
            yield Description(action="MAKE DIRECTORY", of=path, details=below)
        case MoveDirectory(source=source, target=target):
            yield Description(action="MOVE DIRECTORY", of=source, details={"to": target})
        case RemoveDirectory(path=path):
            yield Description(action="REMOVE DIRECTORY", of=path)
        case RemoveIfEmpty(path=path):
            details = {"unless": "other files are in it"}
            yield Description(action="REMOVE DIRECTORY", of=path, details=details)
        case EmptyTable():
            yield from _emptied(step)
        case NewTable():
            yield describe_new_table(step)
        case AddEntry(entry=entry):
            yield from _each("ADD" if isinstance(entry, Partitions) else "CREATE", entry)
        case DropEntry(entry=entry):
            yield from _each("DROP", entry)
        case AlterEntry():
            yield from _altered(step)
        case HandOver(source=source, target=target):
            to = {"to": str(target.table.name)}
            for name in _names(source):
                yield Description(action="MOVE PARTITION", of=name, details=to)
        case ReserveWriteIds(table=table, next_write_id=next_id):
            details = {"for": "files that are there, which become original files"}
            of = f"below {next_id} in {table.name}"
            yield Description(action="RESERVE WRITE IDS", of=of, details=details)
        case AdoptFiles(table=table):
            to = {"to": f"{delta_name(1, 0)} of each directory"}
            yield Description(action="MOVE FILES", of=str(table.name), details=to)
        case StoreStatistics():
            yield from _statistics(step)
        case FollowDirectories():
            yield from _following(step)


def _emptied(step: EmptyTable) -> Iterator[Description]:
    table = step.table
    places = [table.location]
    if step.partitions is not None:
        places = [partition.location for partition in step.partitions]
    elif table.partition_columns:
        places = [f"{table.location}, each partition of it"]
    for place in places:
        if table.is_transactional:
            yield Description(action="EMPTY", of=str(table.name), details={"base_W": f"in {place}"})
        else:
            yield Description(action="REMOVE FILES", of=place)


def _following(step: FollowDirectories) -> Iterator[Description]:
    table = step.table
    if not table.partition_columns:
        yield Description(action="NOTHING TO DO", of=f"{table.name} has no partitions")
        return
    yield Description(action="LIST DIRECTORIES", of=table.location)
    actions = {
        "ADD": (step.add, "those that have a directory and are unknown"),
        "DROP": (step.drop, "those that have no directory"),
    }
    for action, (is_wanted, which) in actions.items():
        if is_wanted:
            of = f"of {table.name}"
            yield Description(action=f"{action} PARTITIONS", of=of, details={"which": which})


def _statistics(step: StoreStatistics) -> Iterator[Description]:
    numbers = {key: str(value) for key, value in step.basics.items()}
    if step.column is not None:
        numbers = {"column": step.column.name}
    owners = [str(step.table.name)]
    if step.partitions is not None:
        owners = list(_names(Partitions(table=step.table, partitions=step.partitions)))
    for owner in owners:
        yield Description(action="STORE STATISTICS", of=owner, details=numbers)


def _each(action: str, entry: Entry) -> Iterator[Description]:
    match entry:
        case Partitions():
            for name, partition in zip(_names(entry), entry.partitions, strict=True):
                details = (
                    {"location": partition.location}
                    if action == "ADD" and partition.location
                    else {}
                )
                yield Description(action=f"{action} PARTITION", of=name, details=details)
        case Table():
            yield Description(action=f"{action} {_kind(entry)}", of=str(entry.name))
        case Database():
            yield Description(action=f"{action} DATABASE", of=entry.name)
        case _:
            details = {"class": entry.java_class} if entry.java_class else {}
            yield Description(action=f"{action} FUNCTION", of=entry.full_name, details=details)


def _altered(step: AlterEntry) -> Iterator[Description]:
    before, after = step.before, step.after
    place = {"location": step.to_location} if step.to_location else {}
    if isinstance(before, Partitions) and isinstance(after, Partitions):
        pairs = zip(_names(before), before.partitions, after.partitions, strict=True)
        for name, old, new in pairs:
            changed = _changes(old, new) | place
            yield Description(action="ALTER PARTITION", of=name, details=changed)
        return
    changed = {**_changes(before, after), **place}
    if isinstance(before, Table) and before.partition_columns and not step.cascade:
        changed["partitions"] = "keep their columns"
    (description,) = _each("ALTER", before)
    yield Description(action=description.action, of=description.of, details=changed)


def _changes(before: object, after: object) -> dict[str, str]:
    """Return what is another afterwards, as text, by the names of the fields."""
    changes = {}
    for attribute in fields(before):  # type: ignore[arg-type]
        old, new = getattr(before, attribute.name), getattr(after, attribute.name)
        if old != new and attribute.name not in _OWN:
            changes[attribute.name.replace("_", " ")] = _change(old, new)
    return changes


def _change(old: object, new: object) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        added = [f"{key}={value}" for key, value in new.items() if old.get(key) != value]
        return ", ".join(added + [f"without {key}" for key in old if key not in new])
    return _text(new)


_NONE = "none"


def _text(value: object) -> str:
    match value:
        case Column(name=name, type=type_):
            return f"{name} {type_}"
        case Constraint(kind=kind, name=name):
            return f"{kind} {name}".rstrip()
        case tuple():
            return ", ".join(map(_text, value)) or _NONE
        case None | "":
            return _NONE
        case str():
            return " ".join(value.split())
        case _:
            return str(value)


def _kind(table: Table) -> str:
    if table.is_materialized_view:
        return "MATERIALIZED VIEW"
    return "VIEW" if table.is_view else "TABLE"


def _names(entry: Partitions) -> Iterator[str]:
    for partition in entry.partitions:
        name = partition_name(entry.table.partition_names, partition.values)
        yield f"{name} of {entry.table.name}"


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or ":" in path.partition("/")[0]
