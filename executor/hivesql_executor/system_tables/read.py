"""The rows of ``sys`` and ``information_schema`` that one statement reads, all at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hivesql_executor.runtime import Runtime
from hivesql_executor.statements.authorization import current_roles, is_admin
from hivesql_executor.statements.show.history import history_rows
from hivesql_executor.system_tables.described_rows import described_rows
from hivesql_executor.system_tables.table_layout import layout_rows
from hivesql_planner.model.privileges import Principal
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.relations import Scan
from hivesql_planner.settings.file_system_keys import HIDDEN_LIST, without_secrets
from hivesql_planner.settings.session_zone import fixed_zone
from hivesql_planner.settings.settings import KEYS
from hivesql_planner.system_tables.definitions import HISTORY, LAYOUT, SETTINGS
from hivesql_planner.system_tables.views import Stored, Viewer, stored_tables_of, system_rows

Rows = Sequence[Sequence[Any]]


@dataclass(slots=True)
class SystemReader:
    """What a statement's scans read of the metastore, asked for when the first of them runs."""

    scans: Sequence[Scan]
    runtime: Runtime
    _stored: Stored | None = None
    _viewer: Viewer = field(default_factory=Viewer)
    _rows: dict[TableName, Rows] = field(default_factory=dict)

    def rows(self, table: Table) -> Rows:
        """Return the rows of a table: the same ones however often the statement reads it."""
        if table.name not in self._rows:
            self._rows[table.name] = self._read(table)
        return self._rows[table.name]

    def _read(self, table: Table) -> Rows:
        if table.name == SETTINGS:
            settings = self.runtime.settings
            values = without_secrets({key: settings.text(key) for key in KEYS},
                                     settings.text(HIDDEN_LIST))  # fmt: skip
            return [
                (key, values.get(key), setting.default, setting.meaning)
                for key, setting in sorted(KEYS.items())
            ]
        if table.name == LAYOUT:
            hints = [scan.where for scan in self.scans if scan.table.name == LAYOUT]
            return layout_rows(hints, self.runtime)
        if table.name == HISTORY:
            return history_rows(self.runtime.metastore.writes(), self.runtime)
        if self._stored is None:
            self._viewer = _viewer(self.runtime)
            self._stored = self._read_stored()
        return system_rows(table, self._stored, self._viewer)

    def _read_stored(self) -> Stored:
        tables = {scan.table.name for scan in self.scans if scan.table.is_system}
        shown = sorted(tables - {HISTORY, LAYOUT, SETTINGS}, key=str)
        store = self.runtime.metastore
        if not store.keeps_rows:
            return described_rows(shown, store)
        names = dict.fromkeys(name for table in shown for name in stored_tables_of(table))
        stored: Mapping[str, Any] = store.stored_rows(names) if names else {}
        return stored


def _viewer(runtime: Runtime) -> Viewer:
    """Tell whose privileges count: everybody's rows are shown where none are asked for."""
    zone = fixed_zone(runtime.settings)
    if not runtime.settings.asks_for_privileges or is_admin(runtime):
        return Viewer(zone=zone)
    roles = (Principal(name, "ROLE") for name in current_roles(runtime))
    return Viewer(holders=frozenset((Principal(runtime.user), *roles)), zone=zone)
