"""Idempotency keys of a session's statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivesql_executor.metastore.idempotence_api import Once
from hivesql_planner.errors import NotSupported

if TYPE_CHECKING:
    from hivesql.script import StatementText
    from hivesql_executor.runtime import Runtime


class KeyCalls:
    """What has been committed under keys, and under which key a statement commits."""

    runtime: Runtime
    _key: str | None
    _statements: int

    def forget(self, idempotency_key: str) -> int:
        """Forget what was committed under a key, so that it can run again; how many statements."""
        return self.runtime.metastore.forget_key(idempotency_key)

    @property
    def keeps_keys(self) -> bool:
        """Whether the metastore records keys: a Hive Metastore has no place for them."""
        try:
            self.runtime.metastore.done(Once(key=""))
        except NotSupported:
            return False
        return True

    def _once(self, text: StatementText, key: str | Once | None) -> Once | None:
        """Under which key the statement is recorded: its own, or the session's and a number."""
        if isinstance(key, Once) and key.number is not None:
            return key
        self._statements += 1
        if key is None and self._key is not None:
            key = f"{self._key}/{self._statements}"
        if key is None:
            return None
        if self._statements == 1:
            kept = self.runtime.settings.seconds("hivesql.idempotency.retention")
            self.runtime.metastore.forget_keys(kept)
        return key if isinstance(key, Once) else Once(key=key, text=text.text)
