"""The exceptions of PEP 249, and which of them an error of ours is."""

from __future__ import annotations

import hivesql
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.older_python import add_note


class Warning(Exception):
    """Never raised; the standard asks for it."""


class Error(Exception):
    """Any error. ``retryable``: running the statement again may succeed; ``code`` is Hive's."""

    retryable: bool = False
    code: int | None = None


class InterfaceError(Error):
    """The interface was used wrongly: a closed cursor, say."""


class DatabaseError(Error):
    """The statement could not be run."""


class DataError(DatabaseError):
    """A file of the warehouse is not what it should be."""


class OperationalError(DatabaseError):
    """A lock, a conflict, a lost transaction, a failed job, a cancelled statement."""


class IntegrityError(DatabaseError):
    """Two source rows of a MERGE match one target row, or a constraint is broken."""


class InternalError(DatabaseError):
    """Never raised; the standard asks for it."""


class ProgrammingError(DatabaseError):
    """The statement is wrong."""


class NotSupportedError(DatabaseError):
    """Hive has it, this release has not."""


_KINDS: tuple[tuple[type[hivesql.HiveSqlError], type[DatabaseError]], ...] = (
    (hivesql.NotSupported, NotSupportedError),
    (hivesql.ParseError, ProgrammingError),
    (hivesql.SemanticError, ProgrammingError),
    (hivesql.DataError, DataError),
    (hivesql.CardinalityViolation, IntegrityError),
    (hivesql.ExecutionError, OperationalError),
)


def as_dbapi(error: Exception) -> Exception:
    """Tell what leaves this interface: its own errors, also for what nobody has foreseen."""
    if isinstance(error, Error):
        return error
    # Whoever consumes rows here is ours.
    translation = translate_error(error, of_user_too=True)
    return translated(translation) if isinstance(translation, hivesql.HiveSqlError) else translation


def translated(error: hivesql.HiveSqlError) -> DatabaseError:
    """Return the exception that a DB-API user expects, with the code and the advice on retrying."""
    kind = next((theirs for ours, theirs in _KINDS if isinstance(error, ours)), DatabaseError)
    translation = kind(str(error))
    translation.retryable, translation.code = error.retryable, error.code
    for note in getattr(error, "__notes__", ()):
        add_note(translation, note)
    return translation
