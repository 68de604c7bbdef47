"""Words of the protocol: its structs, statuses, and what an error is to a client."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from hivesql_executor.metastore.thrift_interface import load_interface
from hivesql_planner.errors import (
    Cancelled,
    CommitUnknown,
    ExecutionError,
    HiveSqlError,
    NoSuchObject,
    NotSupported,
    ParseError,
    SemanticError,
)

NEWEST_VERSION = 10
"""Of the protocol, counted from 0: HIVE_CLI_SERVICE_PROTOCOL_V11."""
COLUMNS_SINCE = 5
"""Since version 6 results are columns; before, rows."""
INTERVALS_SINCE = 7
"""Since version 8 clients know intervals; to others, PyHive and impyla, they are STRING."""
HANDLE_BYTES = 16
IDEMPOTENCY_KEY = "hivesql.idempotency.key"
"""What a client may give with a statement that shall commit at most once."""
POST_HOOKS = "hive.exec.post.hooks"
POST_PRINTER = "org.apache.hadoop.hive.ql.hooks.PostExecutePrinter"
LINEAGE_LOGGER = "org.apache.hadoop.hive.ql.hooks.LineageLogger"
"""Those of Hive's hooks that there are: they add a statement's tables, and which columns its
columns were made from, to its log."""
FACTS_LOGGER = "hivesql.lineage.StatementFacts"
"""Our own, in the place of both: all that OpenLineage wants to know."""
_LONGEST_NAME = 256

_NOT_SUPPORTED = "0A000"
_SYNTAX = "42000"
_UNKNOWN_TABLE = "42S02"
_EXISTS = "42S01"
_CANCELLED = "HY008"
_EXECUTION = "08S01"
_UNKNOWN_END = "40003"
"""As SQL has it for a commit without an answer, which Hive has no state for."""
_GENERAL = "HY000"
_STATES_BY_CODE = {10001: _UNKNOWN_TABLE, 10015: "21000", 10073: _EXISTS, 10074: _UNKNOWN_TABLE}
"""As Hive's ErrorMsg has them, but for 10073: Hive calls an object that is there an unknown one."""
_COMPILING = "Error while compiling statement: FAILED: "
_MISSING_TABLE = re.compile(r"(Table not found): (.+?)(?=\. |, | \(|\Z)", re.DOTALL)
_GENERIC = 40000
"""Hive's code of a text that is no statement, and of errors that have no code of their own."""


class BadHandleError(Exception):
    """The client names a session or operation that is not there, or not its own."""


class ProtocolError(Exception):
    """The client sends what is no message of the protocol, or too much of it."""


class LoginError(Exception):
    """The client does not come in."""


def check_name(user: str) -> None:
    """LoginError for a name that is none, or would break the lines of a log."""
    if not user or len(user) > _LONGEST_NAME or not user.isprintable():
        raise LoginError(f"the name {user[:_LONGEST_NAME]!r}")


@cache
def idl() -> Any:
    """Load the module with all structs and the service; SemanticError without ``serve``."""
    path = Path(__file__).with_name("tcli_service.thrift")
    return load_interface(path, needed_by="a server", extra="serve")


def success() -> Any:
    """Return the status of a call that did what it should."""
    thrift = idl()
    return thrift.TStatus(statusCode=thrift.TStatusCode.SUCCESS_STATUS)


def failure(error: Exception) -> Any:
    """Return the status of a call that failed."""
    thrift = idl()
    if isinstance(error, BadHandleError):
        # Hive says ERROR_STATUS too: drivers know no other.
        return thrift.TStatus(
            statusCode=thrift.TStatusCode.ERROR_STATUS,
            sqlState=_GENERAL,
            errorCode=0,
            errorMessage=f"Invalid handle: {error}",
        )
    state, code, message = describe_error(error)
    return thrift.TStatus(
        statusCode=thrift.TStatusCode.ERROR_STATUS,
        sqlState=state,
        errorCode=code,
        errorMessage=message,
    )


def describe_error(error: Exception) -> tuple[str, int, str]:
    """Tell an error's SQL state, Hive's code (0 where it has none), and what to show of it."""
    code = error.code or 0 if isinstance(error, HiveSqlError) else 0
    message = _hives_words(error) or type(error).__name__
    match error:
        case Cancelled():
            return _CANCELLED, code, message
        case ParseError():
            return _SYNTAX, code or _GENERIC, message
        case NotSupported():
            return _NOT_SUPPORTED, code, message
        case CommitUnknown():
            return _UNKNOWN_END, code or 1, message
        case ExecutionError():
            return _EXECUTION, code or 1, message
        case HiveSqlError():
            return _STATES_BY_CODE.get(code, _SYNTAX), code or _GENERIC, message
    return _GENERAL, code, message


def _hives_words(error: Exception) -> str:
    """Say what is wrong with a statement as HiveServer2 does: drivers look for its words.

    Hive counts columns from 0, and quotes the name of a table where it tells a place.
    """
    if isinstance(error, Cancelled):
        return error.message
    if not isinstance(error, ParseError | SemanticError | NotSupported):
        return str(error)
    if error.text is not None or not (error.line or error.code):
        return str(error)  # about a view's text, or no statement at all
    place = f"line {error.line}:{(error.column or 1) - 1} " if error.line else ""
    message = _MISSING_TABLE.sub(r"\1 '\2'" if place else r"\1 \2", error.message)
    if isinstance(error, ParseError):
        return f"{_COMPILING}ParseException {place}{message}"
    code = f" [Error {error.code}]:" if error.code else ""
    return f"{_COMPILING}SemanticException{code} {place.capitalize()}{message}"


def name_as_written(error: Exception, text: str) -> Exception:
    """Let an error call a table as the statement does: by its name alone, where it does so."""
    if isinstance(error, NoSuchObject) and (match := _MISSING_TABLE.match(error.message)):
        database, _, table = match[2].partition(".")
        if table and f"{database}." not in text.lower().replace("`", ""):
            error.message = f"{match[1]}: {table}{error.message[match.end() :]}"
    return error
