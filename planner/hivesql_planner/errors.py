"""Every error a user can see.

HiveSqlError
├── ParseError              the text is not a statement we know
├── NotSupported            the statement is Hive's, and we refuse it by name
├── SemanticError           the statement cannot be planned (Hive codes 10xxx)
│   ├── NoSuchObject            unknown database, table, column or partition
│   └── AmbiguousColumn         several tables or subqueries of FROM have it
├── DataError               the warehouse's files are not what they should be
└── ExecutionError          the plan could not be run
    ├── CardinalityViolation    two source rows of a MERGE match one target row
    ├── ConstraintViolation     a row breaks a NOT NULL or CHECK constraint
    ├── LockTimeout             another transaction kept the lock        (retry)
    ├── WriteConflict           another transaction committed first      (retry)
    ├── StaleSnapshot           the data moved while we waited for locks (retry)
    ├── ExecutorsLost           Spark's executors ended with rows in them (retry)
    ├── SparkEnded              Spark's JVM ended, or takes no calls     (retry)
    ├── OfAnotherProcess        it belongs to the process that this one was forked from
    ├── MetastoreReplaced       its database failed over, nobody has looked yet (retry)
    ├── TransactionLost         we were aborted, or stopped heartbeating (retry)
    │   └── Deadlock                aborted to end a circle of waits         (retry)
    ├── AlreadyCommitted        another run with the same idempotency key was first
    ├── CommitUnknown           the commit's answer was lost: look before running again
    ├── Cancelled               its user stopped it
    └── SessionClosed           the session was closed before

An error says what failed, why, and what to do next: in its message or, where the message is Hive's
and does not, in a note. ``code`` is Hive's ErrorMsg code, ``retryable`` tells whether running the
same statement again may succeed. All of them pickle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hivesql_planner.older_python import add_note


class HiveSqlError(Exception):
    """Root of every error raised on purpose."""

    code: int | None = None
    retryable: bool = False
    statement_id: str | None = None
    """The id of the statement that failed, as log lines and spans have it."""
    meant: str | None = None
    """What may have been meant at the error's place; a note of the error has it too."""

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        about: str | None = None,
        choices: Iterable[str] = (),
    ) -> None:
        """Say what failed; ``about`` is the column's name in the statement that it is about.

        ``choices`` are the names that there are, where one was not among them.
        """
        super().__init__(message)
        self.choices: tuple[str, ...] = tuple(choices)
        self.message = message
        self.about = about
        if code is not None:
            self.code = code
        if self.remedy is not None:
            add_note(self, self.remedy)
        self.file: str | None = None
        self.line: int | None = None
        self.column: int | None = None
        self.end: tuple[int, int] | None = None
        self.text: str | None = None
        self.fragment: str | None = None
        """The part of the query that it is about, as Spark was given it."""

    @property
    def remedy(self) -> str | None:
        """Say what helps where the message does not; a note of the error has it too."""
        if self.code is None:
            return None
        try:
            # Most sessions meet no error.
            from hivesql_planner.error_help import remedy_of
        except (OSError, ImportError, MemoryError):
            # No file can be opened any more, or no memory is left: the error itself tells enough.
            return None
        return remedy_of(self.code)

    def at(
        self,
        file: str | None,
        line: int,
        column: int,
        end: tuple[int, int] | None = None,
        *,
        text: str | None = None,
    ) -> HiveSqlError:
        """Remember where in the script it happened (1-based line and column).

        ``end`` is the place behind the offending text's last character, when it is known. ``text``
        is what the lines count in where that is no script: the text of a view.
        """
        if self.line is None:
            self.file, self.line, self.column, self.end = file, line, column, end
            self.text = text
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Rebuild from the dictionary: subclasses have other constructors.
        return _rebuild, (type(self), self.args, dict(self.__dict__))

    def __str__(self) -> str:
        where = f"{self.file or '<input>'}:{self.line}:{self.column}: " if self.line else ""
        code = f"[Error {self.code}] " if self.code else ""
        return f"{where}{code}{self.message}"


def _rebuild(cls: type[HiveSqlError], args: tuple[Any, ...], state: dict[str, Any]) -> HiveSqlError:
    error = cls.__new__(cls)
    Exception.__init__(error, *args)
    error.__dict__.update(state)
    return error


class ParseError(HiveSqlError):
    """The text is not a statement we know."""


class NotSupported(HiveSqlError):
    """A statement or clause of Hive that this release refuses by name."""

    def __init__(self, feature: str) -> None:
        super().__init__(f"not supported: {feature}")
        self.feature = feature


class SemanticError(HiveSqlError):
    """The statement cannot be planned; running it again is useless."""


class NoSuchObject(SemanticError):
    """An unknown database, table, column or partition."""


class AmbiguousColumn(SemanticError):
    """Several tables or subqueries of FROM have a column of that name."""

    def __init__(
        self, message: str, remedy: str = "Put the table's name or alias before the column"
    ) -> None:
        self._remedy = remedy
        super().__init__(message)

    @property
    def remedy(self) -> str:
        """Say how to name one of them."""
        return self._remedy


class DataError(HiveSqlError):
    """A file of the warehouse is missing, truncated or of the wrong kind."""


class ExecutionError(HiveSqlError):
    """The plan could not be run."""


class CardinalityViolation(ExecutionError):
    """Two source rows of a MERGE match one target row."""


def matched_twice(row_id: str) -> CardinalityViolation:
    """Return the error of a row with this id, in brackets with its partition's values."""
    return CardinalityViolation(
        f"Cardinality Violation in Merge statement: {row_id}: two source rows match one target "
        "row (row id and partition shown). Make the source unique on the ON condition; nothing "
        "was changed"
    )


class ConstraintViolation(ExecutionError):
    """A row breaks a NOT NULL or CHECK constraint."""


class LockTimeout(ExecutionError):
    """Another transaction kept the lock."""

    code: int | None = 10307
    retryable: bool = True


class WriteConflict(ExecutionError):
    """Another transaction changed the same partition and committed first."""

    code: int | None = 10263
    retryable: bool = True


class StaleSnapshot(ExecutionError):
    """The snapshot was outdated when the locks were acquired, again and again."""

    retryable: bool = True
    needs_reaping: bool = False
    """Whether what is in the way may be left by somebody who died."""


class ExecutorsLost(ExecutionError):
    """What a statement had computed ended with executors of Spark, again and again."""

    retryable: bool = True


class SparkEnded(ExecutionError):
    """Spark's JVM has ended before the statement had, or in one before."""

    retryable: bool = True

    def __init__(
        self,
        message: str = (
            "Spark's JVM has ended, short of memory (spark.driver.memory) perhaps: run the "
            "statement again, for which another one is started"
        ),
    ) -> None:
        super().__init__(message)


class TransactionLost(ExecutionError):
    """The transaction was aborted under us, or its heartbeats stopped."""

    code: int | None = 10263
    retryable: bool = True


class OfAnotherProcess(ExecutionError):
    """What a forked process has from the one that it was forked from, and may not use."""


class MetastoreReplaced(ExecutionError):
    """Another server of the metastore's database has taken over, and nobody has looked at files."""

    code: int | None = 10280
    retryable: bool = True
    known: str = ""
    now: str = ""

    @classmethod
    def of_servers(cls, known: str, now: str) -> MetastoreReplaced:
        """Make the error of a server that answers now, where another one is known."""
        error = cls(
            f"the metastore's database is another server ({now}) than the one before ({known}), "
            "and may have forgotten commits whose files are there. Open a session: what it first "
            "writes looks for them"
        )
        error.known, error.now = known, now
        return error


class Deadlock(TransactionLost):
    """The transaction was the youngest of several that waited for each other in a circle."""


class AlreadyCommitted(ExecutionError):
    """Another transaction committed under the same idempotency key; this one was aborted."""


class CommitUnknown(ExecutionError):
    """The metastore's answer to the commit was lost; it may or may not have happened."""


class Cancelled(ExecutionError):
    """The user stopped the statement; its transaction was aborted."""


class SessionClosed(ExecutionError):
    """The session, with its metastore and its Spark, was closed: nothing runs in it any more."""

    def __init__(
        self,
        message: str = (
            "the session is closed, and nothing was run: open another one with hivesql.connect(…)"
        ),
    ) -> None:
        super().__init__(message)
