"""An example for each function, and the answer, which a test compares with the program's."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hivesql_executor.statements.show.hive_descriptions import Described

_FILE = Path(__file__).with_name("function_examples.tsv")
# Where Hive's own text has no signature, or an essay behind it.
_SIGNATURES: Mapping[str, tuple[str, str]] = {
    "case": (
        "CASE a WHEN b THEN c [WHEN d THEN e]* [ELSE f] END",
        "c where a is b, e where a is d; else f, or NULL",
    ),
    "context_ngrams": (
        "context_ngrams(sentences, context, k[, pf])",
        "the k most frequent words in the places of NULLs of the context",
    ),
    "dense_rank": ("dense_rank() OVER (…)", "the rank of a row; ties leave no gap behind them"),
    "first_value": ("first_value(x) OVER (…)", "x of the first row of the window"),
    "java_method": ("java_method(class, method[, argument, …])", "calls a static method of Java"),
    "lag": ("lag(x[, n[, default]]) OVER (…)", "x of the row n rows before"),
    "last_value": ("last_value(x) OVER (…)", "x of the last row of the window"),
    "lead": ("lead(x[, n[, default]]) OVER (…)", "x of the row n rows behind"),
    "mask": ("mask(text[, upper[, lower[, digit]]])", "covers letters and digits"),
    "mask_first_n": ("mask_first_n(text[, n])", "covers the first n characters"),
    "mask_hash": ("mask_hash(text)", "a digest of the text"),
    "mask_last_n": ("mask_last_n(text[, n])", "covers the last n characters"),
    "mask_show_first_n": ("mask_show_first_n(text[, n])", "covers all but the first n characters"),
    "mask_show_last_n": ("mask_show_last_n(text[, n])", "covers all but the last n characters"),
    "ntile": ("ntile(n) OVER (…)", "in which of n parts of the same size a row is"),
    "percent_rank": (
        "percent_rank() OVER (…)",
        "the share of the other rows that rank before a row",
    ),
    "rank": ("rank() OVER (…)", "the rank of a row; ties leave gaps behind them"),
    "reflect": ("reflect(class, method[, argument, …])", "calls a static method of Java"),
    "reflect2": ("reflect2(x, method[, argument, …])", "calls a method of x"),
}  # fmt: skip


class Example(NamedTuple):
    """A statement, and its rows with ``; `` between them."""

    statement: str
    answer: str


def function_examples() -> Mapping[str, Example]:
    """Read the examples by the names of the functions."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return {name: Example(statement, answer) for name, statement, answer in rows}


def explain_function(name: str, function: Described | None) -> tuple[str, str]:
    """Return how a function is called, and in one line what it gives."""
    if name in _SIGNATURES:
        return _SIGNATURES[name]
    usage = " ".join((function.usage if function else "").replace("_FUNC_", name).split())
    signature, _, meaning = usage.partition(" - ")
    return signature, re.split(r"(?<=[a-z)])\. ", meaning)[0]
