"""Scripts that go on where an earlier run of them ended."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from hivesql import HiveSqlError, NotSupported, Session
from hivesql.dialect.nodes.ddl import CreateTableBody
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql.sessions.open_transaction import changes_session
from hivesql_executor.metastore.api import Once


@dataclass
class Checkpoint:
    """Which statements of a script need not run again, in a file that survives a crash.

    A statement is noted after its commit. One whose note was lost is known by its idempotency key,
    which its commit recorded, where the metastore keeps keys and the statement can have one.
    """

    path: Path
    id: str
    done: dict[str, str]
    """The digest of each statement that has run, by its number in the run."""
    _keys: bool | None = None
    """Whether the metastore keeps keys; None until it is asked."""
    _number: int = 0
    _pending: dict[str, str] = field(default_factory=dict)
    """Those of an open transaction, whose end decides."""

    @classmethod
    def open(cls, name: str) -> Checkpoint:
        """Read the checkpoint of a file, or begin one. ValueError when it is something else."""
        path = Path(name)
        if path.exists():
            try:
                saved = json.loads(path.read_text(encoding="utf-8"))
                return cls(path, str(saved["id"]), dict(saved["done"]))
            except OSError as error:
                raise ValueError(f"cannot read {name}: {error.strerror}") from error
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{name} is not a checkpoint of hivesql ({error})") from error
        fresh = cls(path, uuid.uuid4().hex, {})
        # Its id must outlive what commits under it.
        fresh._keep()
        return fresh

    def skips(self, statement: StatementText) -> bool:
        """Tell whether the next statement of the run has run before.

        ValueError when the script has changed, NotSupported for what cannot be gone on with.
        """
        self._number += 1
        before = self.done.get(str(self._number))
        if before is not None and before != _digest(statement):
            raise ValueError(
                f"{statement.file}:{statement.line}: this is not the statement that ran before "
                f"(number {self._number} of {self.path}); the script has changed. "
                f"Delete {self.path} to start from the beginning"
            )
        kind = _kind(statement)
        if isinstance(kind, CreateTableBody) and kind.temporary:
            raise NotSupported(
                "a temporary table with --checkpoint: its rows would be gone when the script goes "
                "on. Make a table and drop it at the end of the script"
            ).at(statement.file, statement.line, statement.column)
        return before is not None and not changes_session(statement)

    def key(self, statement: StatementText, session: Session) -> Once | None:
        """Give the key under which the statement that runs now is recorded by its commit.

        None where the metastore keeps no keys.
        """
        if self._keys is None:
            self._keys = session.keeps_keys
        if not self._keys:
            return None
        return Once(key=f"{self._root}/{self._number}", text=statement.text, required=False)

    def note(self, statement: StatementText, *, open_transaction: bool) -> None:
        """Note that the statement has succeeded, perhaps in a transaction that goes on."""
        self._pending[str(self._number)] = _digest(statement)
        if open_transaction:
            return
        self.done |= self._pending
        self._pending.clear()
        self._keep()

    def drop_pending(self) -> None:
        """Note that a statement has failed, and with it the transaction that it was in."""
        self._pending.clear()

    def finish(self, session: Session) -> None:
        """All has run: the next run starts from the beginning."""
        self.path.unlink(missing_ok=True)
        session.forget(self._root)

    @property
    def _root(self) -> str:
        return f"checkpoint/{self.id}"

    def _keep(self) -> None:
        fresh = self.path.with_name(f"{self.path.name}.tmp")
        with fresh.open("w", encoding="utf-8") as out:
            json.dump({"id": self.id, "done": self.done}, out)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self.path)
        directory = os.open(self.path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _digest(statement: StatementText) -> str:
    return hashlib.sha256(statement.text.encode()).hexdigest()


def _kind(statement: StatementText) -> object:
    """Tell what the statement is; None for a client's command, and where running tells why."""
    if statement.text.startswith("!"):
        return None
    try:
        return parse(statement).body
    except HiveSqlError:
        return None
