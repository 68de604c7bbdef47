"""Nodes of what is done with a table's files, where sqlglot has none of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp


class Own(exp.Expression):
    """A statement that only Hive has: it is printed for ``hive_acid``."""

    def sql(self, dialect: Any = None, copy: bool = True, **options: Any) -> str:
        """Its text; sqlglot prints it for no other dialect."""
        return super().sql(dialect or "hive_acid", copy=copy, **options)


class Compact(Own):
    """ALTER TABLE … COMPACT 'kind' …; ``order`` has ``SortKey``s."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "partition": False, "kind": True, "buckets": False, "wait": False,
        "pool": False, "properties": False, "order": False,
    }  # fmt: skip


class SortKey(exp.Expression):
    """A column of ORDER BY; ``nulls_first`` is None where the statement does not say."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "desc": False, "nulls_first": False}


class Repair(Own):
    """MSCK [REPAIR] TABLE … [ADD | DROP | SYNC PARTITIONS]."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "repair": False, "action": False}


class Truncate(exp.TruncateTable):
    """TRUNCATE TABLE … [COLUMNS (…)] [FORCE]."""

    arg_types: ClassVar[dict[str, bool]] = {
        **exp.TruncateTable.arg_types, "columns": False, "force": False,
    }  # fmt: skip
