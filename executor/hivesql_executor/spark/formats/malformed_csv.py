"""Lines of CSV with quotes where none should be, read character by character as opencsv does.

Source: CSVParser.parseLine of opencsv 5, which Hive's OpenCSVSerde calls. What a quote inside of
a field means depends on whether it is among the first characters of the line, and on both its
neighbours. Lines that are well-formed never come here.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_planner.model.table import TableName

_FROM = 3
"""In the first characters of a line a quote is never taken as a part of the text."""


def split_fields(name: TableName, text: Column, separator: str, quote: str, escape: str) -> Column:
    """Return the fields of one line as an array of strings; one whose last quote is open fails."""
    chars = f.split(text, "")
    pairs = f.arrays_zip(chars.alias("char"), f.slice(chars, 2, f.length(text)).alias("after"))
    pairs = pairs.cast("array<struct<char:string,after:string>>")
    start = f.struct(
        f.array().cast("array<string>").alias("fields"),
        f.lit("").alias("text"),
        f.lit(False).alias("quoted"),
        f.lit(False).alias("inside"),
        f.lit(False).alias("skipped"),
        f.lit("").alias("before"),
        f.lit(0).alias("place"),
    )

    def step(state: Column, pair: Column) -> Column:
        return _step(state, pair["char"], pair["after"], separator, quote, escape)

    odd = f.concat(f.lit(f"{name}: CSV with a quote that does not end: "), f.substring(text, 1, 80))

    def end(state: Column) -> Column:
        fields = f.array_append(state["fields"], state["text"])
        return f.when(state["quoted"], f.raise_error(odd).cast("array<string>")).otherwise(fields)

    return f.aggregate(pairs, start, step, end)


def _step(
    state: Column, char: Column, after: Column, separator: str, quote: str, escape: str
) -> Column:
    text, quoted, inside = state["text"], state["quoted"], state["inside"]
    follows = f.coalesce(after, f.lit(""))
    is_escape, is_quote = char == escape, (char == quote) & (char != escape)
    is_end = (char == separator) & ~is_escape & ~is_quote & ~quoted
    escapes = is_escape & follows.isin(quote, escape, separator)
    doubled = is_quote & (quoted | inside) & (follows == quote)
    lone = is_quote & ~doubled
    is_visible = (
        (state["place"] >= _FROM)
        & (state["before"] != separator)
        & after.isNotNull()
        & (follows != separator)
    )
    blank = (text != "") & (f.trim(text) == "")
    written = (
        f.when(escapes | doubled, f.concat(text, follows))
        .when(is_escape, text)
        .when(lone & is_visible & blank, f.lit(""))
        .when(lone & is_visible, f.concat(text, char))
        .when(lone, text)
        .when(is_end, f.lit(""))
        .otherwise(f.concat(text, char))
    )
    skipped = state["skipped"]
    return f.struct(
        f.when(is_end & ~skipped, f.array_append(state["fields"], text))
        .otherwise(state["fields"])
        .alias("fields"),
        f.when(skipped, text).otherwise(written).alias("text"),
        f.when(lone & ~skipped, ~quoted).otherwise(quoted).alias("quoted"),
        f.when(skipped, inside).when(is_quote, ~inside).otherwise(~is_end).alias("inside"),
        (~skipped & (escapes | doubled)).alias("skipped"),
        char.alias("before"),
        (state["place"] + 1).alias("place"),
    )
