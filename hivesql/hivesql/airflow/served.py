"""A session at a HiveSQL server: what a task runs there, statement by statement."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hivesql.lineage.statement_facts import FACTS_START, StatementFacts
from hivesql.script import split
from hivesql.server.protocol import (
    FACTS_LOGGER,
    IDEMPOTENCY_KEY,
    NEWEST_VERSION,
    POST_HOOKS,
    idl,
)
from hivesql_executor.metastore.hms.access.transports import Access, PasswordLogin
from hivesql_planner.errors import (
    Cancelled,
    CommitUnknown,
    ExecutionError,
    HiveSqlError,
    NotSupported,
    ParseError,
)

_ANSWER_SECONDS = 120.0
"""A server answers each call within a second, unless it is in trouble."""
_STATES: dict[str, type[HiveSqlError]] = {
    "42000": ParseError, "0A000": NotSupported, "HY008": Cancelled, "40003": CommitUnknown,
}  # fmt: skip
_LINES = 1000
_INFO = "INFO  : "
GROUP_START, GROUP_END = "::group::", "::endgroup::"
"""Around lines that Airflow's pages fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlace:
    """Where a server is, who logs in there, and with what its session begins."""

    host: str
    port: int
    user: str
    password: str = field(default="", repr=False)
    database: str = "default"
    tls: bool = False
    ca_file: str | None = None
    """PEM with the server's certificate authority; None for those of the system."""
    sasl: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def configuration(self) -> dict[str, str]:
        """Return what the call that opens a session says of it."""
        return {
            "use:database": self.database,
            **{f"set:hiveconf:{key}": text for key, text in self.settings.items()},
            **{f"set:hivevar:{key}": text for key, text in self.variables.items()},
        }


@dataclass(slots=True)
class Totals:
    """What the statements of a script have done so far."""

    statements: int = 0
    affected: int = 0
    lines: list[str] = field(default_factory=list)
    """What each statement read and wrote, as the server's log tells it."""

    def note(self, line: str) -> bool:
        """Take what a line of a statement's log tells of tables; False where it tells nothing."""
        if is_told := line.startswith(_INFO + FACTS_START):
            self.lines.append(line.removeprefix(_INFO))
        return is_told

    def facts(self) -> list[StatementFacts]:
        """Return what each statement read and wrote."""
        return [StatementFacts.from_json(line) for line in self.lines]


class ServedSession:
    """A session of one's own; calls of several threads wait for each other.

    When its connection ends, the server cancels what runs and rolls back what is open.
    """

    def __init__(self, place: ServerPlace) -> None:
        """Log in; ExecutionError, which may be tried again, where that does not work."""
        self.place: ServerPlace = place
        thrift = idl()
        # Imported late: DAGs are read where Thrift may be missing.
        from hivesql_executor.metastore.hms.access.connection import Connection
        from hivesql_executor.metastore.hms.access.limits import Limits

        limits = Limits()
        limits.begin(_ANSWER_SECONDS)
        self._guard = threading.Lock()
        self._operation: Any = None
        self.is_lost: bool = False
        """Whether the server did not answer: what it runs, it may have committed."""
        encryption = ssl.create_default_context(cafile=place.ca_file) if place.tls else None
        login = PasswordLogin(place.user, place.password or "-") if place.sasl else None
        try:
            transport = Access(encryption=encryption, login=login).open(
                place.host, place.port, limits
            )
        except HiveSqlError as error:
            raise ExecutionError(
                f"no login as {place.user} at the HiveSQL server at {place.host}:{place.port}. "
                "Check login and password of the connection, its extra tls, and that the server "
                "takes passwords"
            ) from error
        except Exception as error:
            raise _unreachable(place, error) from error
        self._client = Connection(thrift.TCLIService, transport, limits)
        try:
            self._session = self._call(
                "OpenSession",
                thrift.TOpenSessionReq(
                    client_protocol=NEWEST_VERSION,
                    username=place.user,
                    configuration={
                        f"set:hiveconf:{POST_HOOKS}": FACTS_LOGGER,
                        **place.configuration,
                    },
                ),
            ).sessionHandle
        except BaseException:
            self._client.close()
            raise

    def start(self, text: str, *, key: str | None) -> None:
        """Let the server run a statement, which commits at most once under its ``key``."""
        thrift = idl()
        self._operation = self._call(
            "ExecuteStatement",
            thrift.TExecuteStatementReq(
                sessionHandle=self._session,
                statement=text,
                confOverlay={} if key is None else {IDEMPOTENCY_KEY: key},
                runAsync=True,
            ),
        ).operationHandle

    def has_ended(self, totals: Totals) -> bool:
        """Wait up to half a second; the statement's error is raised, what it did is noted."""
        thrift = idl()
        status = self._call(
            "GetOperationStatus", thrift.TGetOperationStatusReq(operationHandle=self._operation)
        )
        states = thrift.TOperationState
        running = (states.INITIALIZED_STATE, states.PENDING_STATE, states.RUNNING_STATE)
        if status.operationState in running:
            return False
        if status.operationState != states.FINISHED_STATE:
            raise _error(status.sqlState, status.errorMessage or "the statement was ended")
        totals.statements += 1
        totals.affected += status.numModifiedRows or 0
        return True

    def new_lines(self) -> list[str]:
        """Return what the statement's log has beyond what was asked for before."""
        thrift = idl()
        rows = self._call(
            "FetchResults",
            thrift.TFetchResultsReq(
                operationHandle=self._operation,
                orientation=thrift.TFetchOrientation.FETCH_NEXT,
                maxRows=_LINES,
                fetchType=1,
            ),
        ).results
        return list(rows.columns[0].stringVal.values) if rows.columns else []

    def finish(self) -> None:
        """Let the server forget the statement; one that runs is cancelled."""
        operation, self._operation = self._operation, None
        if operation is not None:
            self._call("CloseOperation", idl().TCloseOperationReq(operationHandle=operation))

    def close(self) -> None:
        """Cancel what runs, and end the session; nothing more is raised."""
        try:
            self.finish()
            self._call("CloseSession", idl().TCloseSessionReq(sessionHandle=self._session))
        except HiveSqlError:
            pass  # The end of the connection does the same.
        finally:
            self._client.close()

    def _call(self, method: str, request: Any) -> Any:
        try:
            with self._guard:
                answer = self._client.ask(method, request, seconds=_ANSWER_SECONDS)
        except Exception as error:
            self.is_lost = True
            raise _unreachable(self.place, error) from error
        if answer.status.statusCode != idl().TStatusCode.SUCCESS_STATUS:
            raise _error(answer.status.sqlState, answer.status.errorMessage)
        return answer


@dataclass(slots=True)
class ScriptRun:
    """A script that a server runs; what it has done stands in ``totals``.

    The n-th statement commits at most once under ``key/n``, whoever runs the script again.
    """

    session: ServedSession
    statements: Sequence[str]
    key: str | None
    totals: Totals = field(default_factory=Totals)
    is_in_group: bool = False

    def steps(self) -> Iterator[tuple[list[str], bool]]:
        """Run one statement after the other: new lines of the log, and whether one still runs."""
        for number, text in enumerate(self.statements, 1):
            try:
                yield from self._steps_of(number, text)
            except ExecutionError as error:
                if not self.session.is_lost:
                    raise
                raise self._unknown(number, error) from error

    def _steps_of(self, number: int, text: str) -> Iterator[tuple[list[str], bool]]:
        session = self.session
        session.start(text, key=None if self.key is None else f"{self.key}/{number}")
        self.is_in_group = True
        yield [f"{GROUP_START}statement {number} of {len(self.statements)}", text.strip()], False
        while not session.has_ended(self.totals):
            yield session.new_lines(), True
        lines = [line for line in session.new_lines() if not self.totals.note(line)]
        session.finish()
        self.is_in_group = False
        yield [*lines, GROUP_END], False

    def _unknown(self, number: int, error: ExecutionError) -> CommitUnknown:
        """Tell of a server that ended, or was cut off, within a statement."""
        what_to_do = (
            "without a key for it another attempt may do it twice: look what is there first"
            if self.key is None
            else "another attempt does not do again what was committed"
        )
        unknown = CommitUnknown(
            f"statement {number} of {len(self.statements)} has no answer, and may be committed: "
            f"{what_to_do}. {error.message[:1].upper()}{error.message[1:]}"
        )
        unknown.retryable = self.key is not None
        return unknown

    def close(self) -> list[str]:
        """End the session; the lines that the log lacks where the script has not ended."""
        was_in_group, self.is_in_group = self.is_in_group, False
        self.session.close()
        return [GROUP_END] if was_in_group else []


def connect_by_impyla(place: ServerPlace) -> Any:
    """Return a DB-API connection to a server, each of whose cursors is a session of its own."""
    try:
        from impala.dbapi import connect
    except ModuleNotFoundError as error:
        raise NotSupported(
            "Airflow's common SQL operators reach a HiveSQL server by impyla, which is missing "
            "here: pip install 'impyla>=0.24'"
        ) from error
    encryption = {"use_ssl": True, "ca_cert": place.ca_file, "verify_cert": True}
    try:
        connection = connect(
            place.host, place.port, auth_mechanism="PLAIN" if place.sasl else "NOSASL",
            user=place.user, password=place.password or "-", **(encryption if place.tls else {}),
        )  # fmt: skip
    except Exception as error:
        raise _unreachable(place, error) from error
    # Whoever asks for a cursor, as Airflow does, knows nothing of the session's settings.
    connection.cursor = partial(
        connection.cursor, user=place.user, configuration=place.configuration
    )
    return connection


def statements_of(hql: str) -> list[str]:
    """Split a script; variables are the server's to put in."""
    return [statement.text for statement in split(hql, None, {})]


def _error(state: str | None, message: str | None) -> HiveSqlError:
    return _STATES.get(state or "", ExecutionError)(message or "the server gives no reason")


def _unreachable(place: ServerPlace, error: Exception) -> ExecutionError:
    return ExecutionError(
        f"no answer of the HiveSQL server at {place.host}:{place.port} ({error}). Check host, port "
        "and the extra tls of the connection, and that hivesql serve runs there; try again"
    )
