"""Under which keys a session's statements commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivesql_executor.metastore.api import Once

if TYPE_CHECKING:
    from hivesql.script import StatementText
    from hivesql_executor.runtime import Runtime


@dataclass
class StatementKeys:
    """The session's own key, if it has one, and a number for each statement."""

    key: str | None
    statements: int = 0

    def next(self, text: StatementText, key: str | Once | None, runtime: Runtime) -> Once | None:
        """Choose the key of the statement's record: its own, or the session's and a number.

        None where neither has one.
        """
        if isinstance(key, Once) and key.number is not None:
            return key
        self.statements += 1
        if key is None and self.key is not None:
            key = f"{self.key}/{self.statements}"
        if key is None:
            return None
        if self.statements == 1:
            retention = runtime.settings.seconds("hivesql.idempotency.retention")
            runtime.metastore.forget_keys(retention)
        return key if isinstance(key, Once) else Once(key=key, text=text.text)
