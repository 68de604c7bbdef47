"""Nodes of what is done with a table's files."""

from __future__ import annotations

from typing import ClassVar

from hivesql.dialect.nodes.own import Own
from hivesql.python_sqlglot import exp


class Compact(Own):
    """ALTER TABLE … COMPACT 'kind' …; ``order`` has ``SortKey``s, or a ``ZOrder`` of them."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "partition": False, "kind": True, "buckets": False, "wait": False,
        "pool": False, "properties": False, "order": False,
    }  # fmt: skip
    written = (
        "ALTER TABLE @this [@partition] COMPACT @kind [CLUSTERED INTO @buckets BUCKETS] "
        "[AND WAIT ?wait] [POOL @pool] [WITH OVERWRITE TBLPROPERTIES @properties] "
        "[ORDER BY @order]"
    )


class SortKey(exp.Expression):
    """A column of ORDER BY; ``nulls_first`` is None where the statement does not say."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "desc": False, "nulls_first": False}


class ZOrder(Own):
    """ZORDER(…): columns of ORDER BY that count alike."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}
    written = "ZORDER(@expressions)"


class Repair(Own):
    """MSCK; ``action`` is ADD, DROP or SYNC, and ``filters`` tell of which partitions."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "repair": False, "action": False, "filters": False,
    }  # fmt: skip
    written = "MSCK [REPAIR ?repair] TABLE @this [@action PARTITIONS] [@filters]"


class Truncate(Own):
    """TRUNCATE TABLE."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "partition": False, "columns": False, "force": False,
    }  # fmt: skip
    written = "TRUNCATE TABLE @this [@partition] [COLUMNS (@columns)] [FORCE ?force]"


class Restore(Own):
    """RESTORE TABLE … TO: ``moment`` is the text that follows AS OF."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "partition": False, "kind": True, "moment": True,
    }  # fmt: skip
    written = "RESTORE TABLE @this [@partition] TO @kind AS OF @moment"


class ExportTable(Own):
    """EXPORT TABLE."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition": False, "path": True}
    written = "EXPORT TABLE @this [@partition] TO @path"


class ImportTable(Own):
    """IMPORT; without ``this`` the export tells the name."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": False, "external": False, "partition": False, "path": True, "location": False,
    }  # fmt: skip
    written = (
        "IMPORT [EXTERNAL ?external] [TABLE @this] [@partition] FROM @path [LOCATION @location]"
    )


class Concatenate(Own):
    """ALTER TABLE … CONCATENATE."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "partition": False}
    written = "ALTER TABLE @this [@partition] CONCATENATE"
