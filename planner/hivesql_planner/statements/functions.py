"""Functions and macros of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hivesql_planner.model.functions import ResourceKind, StoredFunction
from hivesql_planner.model.hive_type import HiveType

FunctionKind = Literal["scalar", "aggregate", "rows"]
"""Whether a function makes a value of one row, of many rows, or rows of one."""


_UDF = "org.apache.hadoop.hive.ql.udf"
BY_CLASS = {
    # Hive's classes of these two do not extend what Spark wants of an aggregate; ours hand on.
    "context_ngrams": "hivesql.ContextNGrams",
    "deserialize": "hivesql.Deserialize",  # Hive 2.3, which Spark ships, has none
    "get_json_object": f"{_UDF}.UDFJson",
    "in_file": f"{_UDF}.generic.GenericUDFInFile",
    "mask_first_n": f"{_UDF}.generic.GenericUDFMaskFirstN",
    "mask_last_n": f"{_UDF}.generic.GenericUDFMaskLastN",
    "mask_show_first_n": f"{_UDF}.generic.GenericUDFMaskShowFirstN",
    "mask_show_last_n": f"{_UDF}.generic.GenericUDFMaskShowLastN",
    "java_method": f"{_UDF}.generic.GenericUDFReflect",
    "ngrams": "hivesql.NGrams",
    "percentile": f"{_UDF}.UDAFPercentile",
    "percentile_approx": f"{_UDF}.generic.GenericUDAFPercentileApprox",
    "rand": f"{_UDF}.UDFRand",
    "reflect": f"{_UDF}.generic.GenericUDFReflect",
    "reflect2": f"{_UDF}.generic.GenericUDFReflect2",
    "soundex": f"{_UDF}.generic.GenericUDFSoundex",
}
"""Functions of Hive's that Spark has none for, or another: classes that it ships, and ours."""
CLASS_PREFIX = "hive_class_"
"""What stands before the names of such functions in Spark's queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro:
    """An expression with a name, as Spark understands it.

    ``pieces`` are texts, and the positions of parameters between them.
    """

    name: str
    parameters: tuple[tuple[str, HiveType], ...]
    pieces: tuple[str | int, ...]
    type: HiveType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFunction:
    """A class that queries may call by a name of the session's; ``called`` is that of Spark."""

    name: str
    java_class: str
    kind: FunctionKind = "scalar"
    called: str = ""
    is_stored: bool = False
    """The catalog keeps it, for all sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFunction:
    """CREATE TEMPORARY FUNCTION; ``resources`` are kinds and places of files that it needs."""

    name: str
    java_class: str
    resources: tuple[tuple[ResourceKind, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DropFunction:
    """DROP TEMPORARY FUNCTION or MACRO: no error where there is none, as in Hive."""

    name: str
    macro: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateMacro:
    """CREATE TEMPORARY MACRO."""

    macro: Macro


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFunction:
    """CREATE FUNCTION."""

    function: StoredFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class DropStoredFunction:
    """DROP FUNCTION of one that the catalog has, or had when names were looked up."""

    database: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadFunctions:
    """RELOAD FUNCTIONS: ask the catalog anew which functions there are."""
