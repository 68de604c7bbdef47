"""Lines of CSV as Hive's OpenCSVSerde reads and writes them: every column is text."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as f

from hivesql_executor.spark.formats.malformed_csv import split_fields
from hivesql_executor.spark.lines import try_cast
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table

_WRITERS_ESCAPE = '"'
_READERS_ESCAPE = "\\"


@dataclass(frozen=True, slots=True)
class _Csv:
    separator: str
    quote: str
    escape: str
    """Escapes when written; the reader has another where this is CSVWriter's default."""

    @property
    def reads_escape(self) -> str:
        """Tell what escapes when read."""
        return _READERS_ESCAPE if self.escape == _WRITERS_ESCAPE else self.escape

    @property
    def patterns(self) -> tuple[str, str, str]:
        """Return patterns of a field, of a quoted one, and of what a backslash may precede."""
        quote, separator = _hex(self.quote), _hex(self.separator)
        escape = _hex(self.reads_escape)
        quoted = f"{quote}(?:[^{quote}{escape}]++|{quote}{quote}|{escape}.)*+{quote}"
        plain = f"(?:[^{separator}{quote}{escape}]++|{escape}(?:.|$))*+"
        return f"(?:{quoted}(?={separator}|$)|{plain})", quote, escape


def _hex(char: str) -> str:
    return f"\\x{{{ord(char):x}}}"


def _csv(table: Table) -> _Csv:
    serde = table.serde_properties
    return _Csv(
        separator=serde.get("separatorChar", ",")[:1],
        quote=serde.get("quoteChar", '"')[:1],
        escape=serde.get("escapeChar", _WRITERS_ESCAPE)[:1],
    )


def split_csv(table: Table, line: str) -> list[Column]:
    """Read data columns from a column of lines; a quote that does not end fails the job."""
    csv = _csv(table)
    field, quote, escape = csv.patterns
    separator, text = _hex(csv.separator), f.col(line)
    is_whole = text.rlike(f"(?s)^{field}(?:{separator}{field})*+$")
    begun = f.concat(f.lit(csv.separator), text)
    csv_fields = f.regexp_extract_all(begun, f.lit(f"(?s){separator}({field})"), 1)

    def plain(field_text: Column) -> Column:
        quoted = field_text.startswith(csv.quote)
        inner = f.substr(field_text, f.lit(2), f.length(field_text) - f.lit(2))
        inside = f.regexp_replace(inner, f"(?s)[{quote}{escape}](.)", "$1")
        outside = f.regexp_replace(field_text, f"(?s){escape}(.)?", "$1")
        return f.when(quoted, inside).otherwise(outside)

    # Hive finds no fields at all in an empty line.
    fields = f.when(text == "", f.array().cast("array<string>")).when(
        is_whole, f.transform(csv_fields, plain)
    )
    fields = fields.otherwise(
        split_fields(table.name, text, csv.separator, csv.quote, csv.reads_escape)
    )
    texts = [f.get(fields, i) for i in range(len(table.columns))]
    # A table, or partition, that has become CSV keeps the types of its columns.
    return [
        _typed(text, column.type.spark).alias(column.name)
        for text, column in zip(texts, table.columns, strict=True)
    ]


def _typed(text: Column, kind: str) -> Column:
    return text if kind == "string" else try_cast(text, kind)


def joined_csv(table: Table) -> Column:
    """Give one line of CSV from the table's data columns: all but NULL is quoted."""
    csv = _csv(table)
    special = f"([{_hex(csv.quote)}{_hex(csv.escape)}])"
    escape = f"\\{csv.escape}"
    texts = []
    for column in table.columns:
        text = f.regexp_replace(f.col(quote_name(column.name)), special, f"{escape}$1")
        quoted = f.concat(f.lit(csv.quote), text, f.lit(csv.quote))
        texts.append(f.coalesce(quoted, f.lit("")))
    return f.concat_ws(csv.separator, *texts)
