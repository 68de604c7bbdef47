"""The page of settings: each key that the planner knows."""

from __future__ import annotations

from collections.abc import Iterable

from hivesql_docs.markdown import code, plain, table
from hivesql_planner.settings.setting import Setting
from hivesql_planner.settings.settings import KEYS

_NO_EFFECT = "No effect here. In Hive: "
_INTRODUCTION = """\
# Settings

`SET key=value` in a script, `connect(settings={…})` in Python, `--hiveconf key=value` on the
command line, `[profiles.NAME.settings]` of the configuration file, or `hive-site.xml` in
`HIVE_CONF_DIR` give a setting its value. `SET -v` lists all with their present values. Keys that
begin with `spark.` go to Spark, those of file systems (`fs.…`) to Hadoop.

A *duration* is a number with a unit: `ms`, `s`, `m`, `h` or `d`; without one, the unit of the
table counts. *bool* is `true` or `false`. *since* is the
release of HiveSQL that first knew the name.
"""


def settings_page() -> str:
    """Write the settings in the order of their names: ours, Hive's, those without effect."""
    ours = [key for key in KEYS.values() if key.name.startswith("hivesql.")]
    idle = [key for key in KEYS.values() if key.meaning.startswith(_NO_EFFECT)]
    others = [key for key in KEYS.values() if key not in ours and key not in idle]
    parts = [
        _INTRODUCTION,
        f"## Of HiveSQL alone\n\n{_rows(ours)}",
        f"## Hive's\n\n{_rows(others)}",
        "## Known and without effect\n\nScripts and sites may set them; the values are checked.\n\n"
        + _rows(idle),
    ]
    return "\n".join(parts)


def _rows(keys: Iterable[Setting]) -> str:
    return table(
        ("name", "default", "type", "unit", "since", "meaning"),
        (
            (
                code(key.name),
                code(key.default) or "empty",
                key.kind,
                key.usual_unit,
                key.since,
                plain(key.meaning.removeprefix(_NO_EFFECT)),
            )
            for key in sorted(keys, key=lambda key: key.name)
        ),
    )
