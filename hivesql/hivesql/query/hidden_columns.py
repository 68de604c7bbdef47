"""What Hive's virtual columns are in Spark's words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from hivesql.dialect.tokens import Token, first_from
from hivesql.query.scope import FILE_NAME, IS_DELETED, LINE_OFFSET, TableUse
from hivesql_planner.errors import NotSupported
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import LINES_IN_PLACE

_ROW_ID_TYPE = "STRUCT<writeid:BIGINT,bucketid:INT,rowid:BIGINT>"
_BUCKET_IDS = "insertonly.fetch.bucketid"
_DELETED_ROWS = "acid.fetch.deleted.rows"
# Of a file's name alone, as in Hive: all rows are the first one.
_OF_FILE = (
    "named_struct('writeid', "
    "CAST(regexp_extract({0}, '.*/(?:base|delta)_0*([0-9]+)', 1) AS BIGINT), "
    "'bucketid', CAST(regexp_extract({0}, '/0*([0-9]+)_[^/]*$', 1) AS INT), 'rowid', 0L)"
)


def hidden_text(hidden: str, use: TableUse, alias: str) -> str | None:
    """Return what stands for a virtual column, and note what has to be read for it.

    None where it is among the columns that are read. Raises NotSupported for rows that are not
    read from files, or not from lines of text.
    """
    is_full_acid = use.table.is_full_acid
    if hidden in (FILE_NAME, LINE_OFFSET):
        _check_has_files(hidden, use)
        use.with_file_name |= hidden == FILE_NAME
        use.with_line_offset |= hidden == LINE_OFFSET
        return None
    if hidden == IS_DELETED:
        if use.with_deleted:
            return None
        return "false" if is_full_acid else "CAST(NULL AS BOOLEAN)"
    if is_full_acid:
        use.with_row_id = True
        return None
    if not (use.has_bucket_ids and use.table.is_transactional):
        return f"CAST(NULL AS {_ROW_ID_TYPE})"
    use.with_file_name = True
    return _OF_FILE.format(f"{quote_name(alias)}.{FILE_NAME}")


def _check_has_files(hidden: str, use: TableUse) -> None:
    if use.changes is not None or use.table.is_frame:
        raise NotSupported(f"{hidden.upper()} of rows that are not read from a table's files")
    if hidden == LINE_OFFSET and use.table.format not in LINES_IN_PLACE:
        raise NotSupported(
            f"{hidden.upper()} of {use.table.name}: in {use.table.format} files it does not tell "
            "where a row is"
        )


def note_properties(use: TableUse, tokens: Sequence[Token], end: int) -> None:
    """Note what a table's properties ask for, its own or those behind its name, which ends there.

    In FROM they stand in brackets: ``t('key'='value', …)``.
    """
    properties = dict(use.table.properties)
    first = first_from(tokens, end)
    if tokens[first].is_("("):
        inside = islice(tokens, first + 1, None)
        # Key, =, value, and a comma or the end.
        for key, _, value, after in zip(inside, inside, inside, inside, strict=False):
            properties[key.value.lower()] = value.value
            if after.is_(")"):
                break
    switched_on = {key for key, value in properties.items() if value.lower() == "true"}
    use.with_deleted = use.table.is_full_acid and _DELETED_ROWS in switched_on
    use.has_bucket_ids = _BUCKET_IDS in switched_on
