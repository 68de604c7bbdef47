"""Random tables: columns of odd names, partitions, buckets, codecs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from fuzz.kinds import INT, NESTED, PARTITIONS, SCALAR, Kind
from fuzz.world import TableModel

NAMES = ("a", "b", "a b", "select", "x-y", "é", "日本", "a#b", "1a", "it's", "a$b", "a/b", "a%b",
         "a=b", "_c0", "row", "a+b", "(x)", "{y}", "from", "timestamp", "a'b", "_metadata", "c1",
         "operation", "bucket", "s", "t", "rowid", "currenttransaction")  # fmt: skip
PART_NAMES = ("p", "q", "p q", "date", "é", "p-1", "a=b", "p%")
_ENDS_IN_PARQUET = frozenset(" ,;{}()=")
CODECS = ("ZLIB", "SNAPPY", "NONE", "ZSTD", "LZ4")
NESTED_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Flavour:
    """What a walk may hold."""

    for_hive: bool = False
    """Only what real Hive runs as well, and in the same way."""
    acid_only: bool = False


OURS, FOR_HIVE = Flavour(), Flavour(for_hive=True, acid_only=True)


def in_hive(kind: Kind) -> Kind:
    """The type without values that real Hive loses on its way through a query.

    Folding constants it forgets the sign of -0.0, and escapes in partition specs stay as they are.
    """
    left = tuple(one for one in kind.constants if "-0.0" not in one.sql and "\\" not in one.sql)
    return replace(kind, constants=left)


def kinds_of(kinds: Sequence[Kind], flavour: Flavour) -> Sequence[Kind]:
    """The types that a walk of the flavour has."""
    return [in_hive(kind) for kind in kinds] if flavour.for_hive else kinds


def pick_table(chance: Random, name: str, flavour: Flavour) -> TableModel:
    """A random table."""
    kinds = [INT]
    for _ in range(chance.randint(1, 6)):
        some = NESTED if chance.random() < NESTED_SHARE else SCALAR
        kinds.append(chance.choice(kinds_of(some, flavour)))
    names = ["id", *chance.sample(NAMES, len(kinds) - 1)]
    data = tuple(zip(names, kinds, strict=True))
    parts: tuple[tuple[str, Kind], ...] = ()
    if chance.random() < 0.5:
        left = [one for one in PART_NAMES if one not in names]
        parts = tuple(
            (one, chance.choice(kinds_of(PARTITIONS, flavour)))
            for one in chance.sample(left, chance.choice((1, 1, 2)))
        )
    model = TableModel(name=name, data=data, parts=parts)
    if not flavour.acid_only and chance.random() < 0.25:
        model = chance.choice((_plain, _insert_only))(chance, model)
    else:
        model = replace(model, properties=_acid_properties(chance))
    hashed = [column for column, kind in data if "<" not in kind.type]
    if model.format != "ORC" or chance.random() < 0.7:
        return model
    buckets = tuple(chance.sample(hashed, min(len(hashed), chance.choice((1, 1, 2)))))
    return replace(model, buckets=buckets, bucket_count=chance.choice((1, 2, 4, 7)))


def names_of(format_name: str) -> tuple[str, ...]:
    """The names that columns of a format may have."""
    if format_name != "PARQUET":
        return NAMES
    return tuple(name for name in NAMES if not _ENDS_IN_PARQUET & frozenset(name))


def _format(chance: Random, model: TableModel) -> str:
    is_free = not any(_ENDS_IN_PARQUET & frozenset(name) for name in model.columns)
    return chance.choice(("ORC", "PARQUET") if is_free else ("ORC",))


def _plain(chance: Random, model: TableModel) -> TableModel:
    return replace(model, format=_format(chance, model))


def _insert_only(chance: Random, model: TableModel) -> TableModel:
    properties = {"transactional": "true", "transactional_properties": "insert_only"}
    return replace(model, format=_format(chance, model), properties=properties)


def _acid_properties(chance: Random) -> dict[str, str]:
    properties = {"transactional": "true"}
    if chance.random() < 0.5:
        properties["orc.compress"] = chance.choice(CODECS)
    if chance.random() < 0.2:
        properties |= {"orc.stripe.size": "65536", "orc.row.index.stride": "1000"}
    if chance.random() < 0.1:
        properties["bucketing_version"] = "1"
    return properties
