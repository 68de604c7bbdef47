"""The border that only errors of ours pass: what a library or the system raised, for the user.

Each public call is a door in this border, by ``translate_errors`` on its class or function. Nothing
inside needs to catch what it cannot mend.
"""

from __future__ import annotations

import errno
import functools
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

from hivesql_executor.files.refusals import PASSING, remedy_of_loading, remedy_of_system
from hivesql_executor.metastore.extras import to_install
from hivesql_executor.outcome import is_outside_years, outside_years
from hivesql_planner.errors import (
    DataError,
    ExecutionError,
    HiveSqlError,
    ParseError,
    SemanticError,
)
from hivesql_planner.older_python import add_note

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "None": type(None), "str": str, "bool": bool, "int": int, "float": (int, float),
    "bytes": bytes, "Mapping": Mapping, "Sequence": Sequence, "Iterable": Iterable,
    "PathLike": PathLike, "Parameters": (Mapping, Sequence),
}  # fmt: skip
_CALLABLE = ("Callable", "Consume")
_NO_THREAD = "can't start new thread"
"""What Python says where the system has no thread left."""


def wrong_argument(call: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> str | None:
    """Say which argument is missing, too many or of another kind; None where all may be right.

    Asked only when the call has failed, so it costs nobody anything. What an annotation says
    beyond the kinds above is not looked at.
    """
    signature = inspect.signature(call)
    try:
        bound = signature.bind(*arguments, **named).arguments
    except TypeError as why:
        takes = ", ".join(name for name in signature.parameters if name != "self")
        return f"{call.__name__}(): {why}. It takes {takes or 'no arguments'}"
    for name, value in bound.items():
        annotation = call.__annotations__.get(name)
        if isinstance(annotation, str) and not _is_of(annotation, value):
            # The value itself may be a secret.
            return f"{call.__name__}() takes {name} as {annotation}, not as {type(value).__name__}"
    return None


def _is_of(annotation: str, value: Any) -> bool:
    kinds = [part.strip().partition("[")[0] for part in _parts(annotation)]
    if any(kind in _CALLABLE for kind in kinds) and callable(value):
        return True
    checkable = [kind for kind in kinds if kind in _KINDS]
    if len(checkable) + sum(kind in _CALLABLE for kind in kinds) < len(kinds):
        return True
    return any(isinstance(value, _KINDS[kind]) for kind in checkable)


def _parts(annotation: str) -> list[str]:
    """Split an annotation into its alternatives: ``A[B | C] | D``: ``A[B | C]`` and ``D``."""
    parts, depth = [""], 0
    for mark in annotation:
        depth += (mark == "[") - (mark == "]")
        if mark == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += mark
    return parts


T = TypeVar("T")
Translate = Callable[[Exception], Exception]

_DATABASE_FAILED = 10280
_OF_USER = "__hivesql_of_user__"
_DATABASES = {"sqlalchemy", "sqlite3", "psycopg", "pymysql", "alembic"}
_THRIFT = {"thriftpy2"}
_SPARK = {"pyspark", "py4j"}
_FILES = {"pyarrow", "pyorc", "fastavro"}
_EXTRAS = {
    "psycopg": "postgres",
    "psycopg_binary": "postgres",
    "psycopg2": "postgres",
    "pymysql": "mysql",
    "thriftpy2": "hms",
    "airflow": "airflow",
    "prometheus_client": "metrics",
    "opentelemetry": "tracing",
    "obstore": "s3",
    "gssapi": "kerberos",
    "argon2": "serve",
    "ldap3": "ldap",
}


def translate_error(error: Exception, *, of_user_too: bool = False) -> Exception:
    """Tell the user of an error: itself, where it is ours or came from his own function.

    ``of_user_too``: the function was none of his. ``retryable`` is set where only the moment was
    wrong.
    """
    if isinstance(error, HiveSqlError) or (getattr(error, _OF_USER, False) and not of_user_too):
        return error
    translation = _translate(error)
    for note in getattr(error, "__notes__", ()):
        add_note(translation, note)
    return translation


def _translate(error: Exception) -> HiveSqlError:
    libraries = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    if libraries & _SPARK:
        return _of_spark(error)
    if libraries & _DATABASES:
        if isinstance(value := getattr(error, "orig", None), UnicodeError):
            return _of_python(value)
        return ExecutionError(
            f"the metastore's database failed: {_first_line(error)}. Check that it is reachable "
            "and whole, and run the statement again",
            code=_DATABASE_FAILED,
        )
    if libraries & _THRIFT:
        return _retryable(
            f"the connection to the Hive Metastore failed: {_first_line(error)}. Check that it "
            "runs, and run the statement again",
            code=_DATABASE_FAILED,
        )
    if libraries & _FILES and not isinstance(error, OSError):
        return DataError(
            f"a file or a frame cannot be read or written: {_first_line(error)}. It is damaged, or "
            "has values that its columns cannot hold"
        )
    return _of_python(error)


def translate_errors(door: T, translate: Translate = translate_error) -> T:
    """Make a function, or every public call and property of a class, a door in the border."""
    if not isinstance(door, type):
        guarded: T = _guarded(door, translate)
        return guarded
    for name in dir(door):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(door, name)
        if isinstance(member, property):
            setattr(door, name, property(_guarded(member.fget, translate), member.fset))
        elif inspect.isfunction(member):
            setattr(door, name, _guarded(member, translate))
    return door


@contextmanager
def as_user_errors(translate: Translate = translate_error) -> Iterator[None]:
    """Do the same for a block."""
    try:
        yield
    except Exception as error:
        translation = translate(error)
        if translation is error:
            raise
        raise translation from error


def marking_user_errors(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let the errors of the user's own function pass the border as they are, but those of Spark."""

    def called(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except Exception as error:
            libraries = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
            if not libraries & _SPARK:
                setattr(error, _OF_USER, True)
            raise

    return called


def _guarded(call: Any, translate: Translate) -> Any:
    if inspect.isgeneratorfunction(call):

        @functools.wraps(call)
        def generate(*arguments: Any, **named: Any) -> Iterator[Any]:
            with as_user_errors(lambda error: _of_door(error, call, arguments, named, translate)):
                yield from call(*arguments, **named)

        return generate

    @functools.wraps(call)
    def guarded(*arguments: Any, **named: Any) -> Any:
        try:
            return call(*arguments, **named)
        except Exception as error:
            translation = _of_door(error, call, arguments, named, translate)
            if translation is error:
                raise
            raise translation from error

    return guarded


def _of_door(
    error: Exception,
    call: Any,
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    translate: Translate,
) -> Exception:
    """Tell what to tell of a call that failed: perhaps an argument was of the wrong kind."""
    cause = error.__cause__ if isinstance(error, ExecutionError) else error
    if isinstance(cause, (AttributeError, TypeError, ValueError)) and not getattr(
        cause, _OF_USER, False
    ):
        wrong = wrong_argument(call, arguments, named)
        if wrong is not None:
            return translate(SemanticError(wrong))
    return translate(error)


def _of_spark(error: Exception) -> HiveSqlError:
    from hivesql_executor.spark.failure import translate_spark_error

    return translate_spark_error(error) or _retryable(
        f"Spark's JVM cannot be spoken to: {_first_line(error)}. It has ended, or runs out of "
        "memory (spark.driver.memory): close the session and open another one"
    )


def _of_python(error: Exception) -> HiveSqlError:
    match error:
        case OSError():
            return _of_system(error)
        case UnicodeEncodeError():
            return ParseError(
                f"{error.object[error.start : error.end]!a} is no text that can be stored as "
                f"{error.encoding} ({error.reason}). Read or write the text in the encoding that "
                "it has"
            )
        case UnicodeDecodeError():
            return DataError(
                f"the bytes at {error.start} are no {error.encoding} text: {error.reason}. Write "
                f"the file in {error.encoding}"
            )
        case RecursionError():
            return ParseError(
                "the statement is nested too deeply, or is too long. Make several of it, or keep a "
                "part of it in a table"
            )
        case MemoryError():
            return ExecutionError(
                "there is no memory left for the statement. Ask for fewer rows at a time, or give "
                "the process more"
            )
        case ImportError():
            return missing_package(error)
        case RuntimeError() if str(error) == _NO_THREAD:
            return _retryable(
                "the system starts no more threads for this process. Raise the limit of processes "
                "(ulimit -u, or pids of a container), or give it more memory, then run the "
                "statement again"
            )
    if is_outside_years(error):
        return outside_years()
    return ExecutionError(
        f"HiveSQL failed for a reason that it does not know, {type(error).__name__}: "
        f"{_first_line(error)}. Nothing that the statement wrote is visible; please report it with "
        "the traceback"
    )


def _of_system(error: OSError) -> HiveSqlError:
    why = error.strerror or _first_line(error)
    names = [os.fsdecode(name) for name in (error.filename, error.filename2)
             if isinstance(name, (str, bytes))]  # fmt: skip
    what = f"{' or '.join(names)} cannot be used" if names else "the system refused a call"
    if error.errno == errno.ENOENT and not names:
        return ExecutionError("the working directory is gone: go to one that is there")
    passing = error.errno in PASSING or isinstance(error, (ConnectionError, TimeoutError))
    message = f"{what}: {why}. {remedy_of_system(error)}"
    return _retryable(message) if passing else ExecutionError(message)


def missing_package(error: ImportError) -> HiveSqlError:
    """Tell which extra brings what is not there, or why what is there cannot be loaded."""
    cause: BaseException = error
    # numpy tells a page of advice, and the reason in the error behind it.
    while isinstance(cause.__cause__, ImportError):
        cause = cause.__cause__
    name = (getattr(cause, "name", None) or error.name or "").partition(".")[0]
    if name and not _is_installed(name):
        extra = _EXTRAS.get(name)
        return ExecutionError(
            f"the package {name} cannot be imported ({_first_line(error)}): "
            f"{to_install(extra) if extra else f'pip install {name}'}"
        )
    reason = _first_line(cause)  # type: ignore[arg-type]
    return ExecutionError(
        f"the package {name or 'hivesql'} is installed, and cannot be loaded: {reason}. "
        f"{remedy_of_loading(reason, name or 'hivesql')}"
    )


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        # A module that was made by hand says nothing of where it comes from.
        return package in sys.modules


def _retryable(message: str, *, code: int | None = None) -> ExecutionError:
    failure = ExecutionError(message, code=code)
    failure.retryable = True
    return failure


def _first_line(error: Exception) -> str:
    # SQLAlchemy tells the statement and a link behind what the driver said.
    report = str(getattr(error, "orig", None) or error)
    return next(
        (line for line in report.splitlines() if line.strip()), type(error).__name__
    ).strip()
