"""The questions of a cold start as texts for SQLite, made from those that all others ask.

``python -m hivesql_executor.metastore.sqlite_fast_start.compile_questions`` writes them anew; a
test holds that they are up to date.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.dialects import sqlite

from hivesql_executor.metastore.database import housekeeping, schema
from hivesql_executor.metastore.database.catalog import (
    constraint_rows,
    functions,
    partition_storage,
    partitions,
    statistics_rows,
    table_rows,
    tables,
)
from hivesql_executor.metastore.database.transactions import locks, transactions

PLACE = Path(__file__).with_name("compiled_questions.py")
QUESTIONS: dict[str, Select[Any]] = {
    "REVISION": select(schema.revision.c.revision.label("revision")),
    "DATABASE": tables.DATABASE,
    "DATABASES": tables.DATABASES,
    "TABLE": tables.TABLE,
    "TABLES": tables.TABLES,
    "SOME_TABLES": tables.SOME_TABLES,
    "STORAGE": table_rows.STORED,
    "DATABASE_PARAMETERS": table_rows.parameters(schema.database_params),
    "TABLE_PARAMETERS": table_rows.parameters(schema.table_params),
    "SERDE_PARAMETERS": table_rows.parameters(schema.serde_params),
    "COLUMNS": table_rows.columns_of(schema.columns_v2),
    "PARTITION_COLUMNS": table_rows.columns_of(schema.partition_keys),
    "BUCKET_COLUMNS": table_rows.names_of(schema.bucketing_cols),
    "SORTING": table_rows.SORTING,
    "CONSTRAINTS": constraint_rows.CONSTRAINTS,
    "MEASURED": statistics_rows.measured_of(schema.table_statistics),
    "FUNCTION_NAMES": functions.NAMES,
    "MARKED": partition_storage.MARKED,
    "PARTITIONS": partitions.OF_TABLE,
    "PARTITION_COUNT": partitions.COUNT,
    "LOCKS": locks.ACQUIRED_IN,
    "TRANSACTIONS": transactions.UNENDED,
    "HOUSEKEEPING_IS_DUE": housekeeping.DUE,
}
_HEAD = '''"""Questions of a cold start: written by ``compile_questions.py``."""

from __future__ import annotations
'''


def compiled_questions() -> str:
    """Return the text of the module that a cold start reads."""
    texts = (f'{name} = """\\\n{_text(query)}\n"""' for name, query in QUESTIONS.items())
    return "\n".join((_HEAD, *texts, ""))


def _text(query: Select[Any]) -> str:
    """Return a query with its constants in place; what is asked for stays ``:name``."""
    compiled = query.compile(dialect=sqlite.dialect(paramstyle="named"))
    text = str(compiled)
    for name, bind in compiled.binds.items():
        if not bind.required:
            value = bind.value
            literal = str(value) if isinstance(value, int) else f"'{value}'"
            text = re.sub(rf":{name}\b", literal, text)
    lines = (textwrap.wrap(line, 96, break_long_words=False) for line in text.splitlines())
    return "\n".join(part.rstrip() for line in lines for part in line)


if __name__ == "__main__":
    PLACE.write_text(compiled_questions(), encoding="utf-8")
