"""The calls of TCLIService, answered for one connection."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hivesql.server import metadata
from hivesql.server.client_session import Caller, ClientSession
from hivesql.server.operation import Operation
from hivesql.server.protocol import (
    NEWEST_VERSION,
    BadHandleError,
    LoginError,
    check_name,
    failure,
    idl,
    success,
)
from hivesql.server.registry import SessionRegistry
from hivesql_executor.translate_errors import translate_error
from hivesql_planner.errors import ExecutionError, HiveSqlError, NotSupported, SemanticError

_LOG = logging.getLogger("hivesql.server")
_LOOK_EVERY = 0.2
_LONGEST_POLL = 0.5
"""Seconds for which a question about a running statement may wait for its end."""
_ANSWERABLE_SECONDS = 2.0
"""How long a client that does not want to wait waits behind earlier statements of its session.

Its driver sends nothing else on that connection meanwhile, not even that they be cancelled."""
_ANONYMOUS = "anonymous"
_FETCH_NEXT, _FETCH_FIRST = 0, 4
_INFO = {
    2: "",
    13: "Hive",
    14: "\\",
    17: "Apache Hive",
    18: "4.1.0",
    29: "`",
    10003: "",
}
"""CLI_DATA_SOURCE_NAME, _SERVER_NAME, _SEARCH_PATTERN_ESCAPE, _DBMS_NAME, _DBMS_VER,
_IDENTIFIER_QUOTE_CHAR, _CATALOG_NAME."""
_LENGTHS = {30: 128, 31: 0, 32: 128, 34: 128, 35: 128, 10005: 128, 107: 128}
"""The longest names: CLI_MAX_…_NAME_LEN."""
_TRANSACTIONS = 46
_KEYWORDS = 10006

Method = Callable[["Handler", Any], Any]


def _answers(response: str) -> Callable[[Callable[..., Any]], Method]:
    """Make of what a method returns, or raises, the struct ``response`` of the protocol.

    It returns the struct's fields by name, a struct itself, or None.
    """

    def decorate(method: Callable[..., Any]) -> Method:
        @functools.wraps(method)
        def answer(self: Handler, request: Any) -> Any:
            struct = getattr(idl(), response)
            try:
                fields = method(self, request)
            except Exception as error:  # noqa: BLE001 - the client gets it
                return struct(status=failure(_translated(error)))
            if isinstance(fields, struct):
                fields.status = success()
                return fields
            return struct(status=success(), **(fields or {}))

        return answer

    return decorate


def _translated(error: Exception) -> Exception:
    if isinstance(error, (BadHandleError, LoginError, HiveSqlError)):
        return error
    if isinstance(error, AttributeError) and "NoneType" in str(error):
        return BadHandleError("a required field is missing")
    _LOG.exception("a request failed", exc_info=error)
    return translate_error(error, of_user_too=True)


class Handler:
    """Answers the calls of one connection, which is one ``caller``'s."""

    def __init__(
        self, registry: SessionRegistry, caller: Caller, *, is_named: bool,
        is_gone: Callable[[], bool],
    ) -> None:  # fmt: skip
        """``is_named``: the caller's user is known; else the client tells it with its session."""
        self.registry = registry
        self.caller: Caller = caller
        self._is_named = is_named
        self._is_gone = is_gone

    # -- sessions
    @_answers("TOpenSessionResp")
    def OpenSession(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        """Open a session in the newest version of the protocol that both sides know."""
        if not self._is_named and not self.caller.user:
            user = request.username or _ANONYMOUS
            check_name(user)
            self.caller = replace(self.caller, user=user)
        wanted = request.client_protocol
        version = min(NEWEST_VERSION if wanted is None else wanted, NEWEST_VERSION)
        if version < 0:
            raise SemanticError(f"no such version of the protocol: {version}")
        try:
            session = self.registry.open(self.caller, version, request.configuration or {})
        except HiveSqlError as error:
            # Hive's words; no statement is compiled yet.
            raise ExecutionError(f"Failed to open new session: {error}") from error
        thrift = idl()
        identifier = thrift.THandleIdentifier(guid=session.guid, secret=session.secret)
        return {
            "serverProtocolVersion": version,
            "sessionHandle": thrift.TSessionHandle(sessionId=identifier),
            "configuration": session.server_settings,
        }

    @_answers("TCloseSessionResp")
    def CloseSession(self, request: Any) -> None:  # noqa: N802
        """End a session."""
        self.registry.close(self._session(request))

    @_answers("TSetClientInfoResp")
    def SetClientInfo(self, request: Any) -> None:  # noqa: N802
        """Take note of what the client calls itself: nothing depends on it."""
        self._session(request)

    @_answers("TGetInfoResp")
    def GetInfo(self, request: Any) -> Any:  # noqa: N802
        """Tell what the server is."""
        thrift, kind = idl(), request.infoType
        self._session(request)
        if kind in _INFO:
            value = thrift.TGetInfoValue(stringValue=_INFO[kind])
        elif kind in _LENGTHS:
            value = thrift.TGetInfoValue(lenValue=_LENGTHS[kind])
        elif kind == _TRANSACTIONS:
            value = thrift.TGetInfoValue(smallIntValue=0)
        elif kind == _KEYWORDS:
            # Imported late: few drivers ask for them.
            from hivesql.server.keywords import KEYWORDS

            value = thrift.TGetInfoValue(stringValue=",".join(KEYWORDS))
        else:
            raise SemanticError(f"Unrecognized GetInfoType value: {kind}")
        return {"infoValue": value}

    # -- statements
    @_answers("TExecuteStatementResp")
    def ExecuteStatement(self, request: Any) -> Any:  # noqa: N802
        """Run a statement; its errors are those of this call as long as the client waits."""
        session = self._session(request)
        self.registry.check_running()
        operation = session.execute(
            request.statement or "",
            overlay=request.confOverlay or {},
            timeout=request.queryTimeout or 0,
        )
        self._await(session, operation, is_asynchronous=bool(request.runAsync))
        if operation.error is not None:
            session.close_operation(operation)
            raise operation.error
        return {"operationHandle": operation.handle()}

    def _await(
        self, session: ClientSession, operation: Operation, *, is_asynchronous: bool
    ) -> None:
        """Wait until an answer can be given, or the client has gone."""
        event = operation.answerable if is_asynchronous else operation.ended
        queued_until = time.monotonic() + _ANSWERABLE_SECONDS
        while not event.wait(_LOOK_EVERY):
            if self._is_gone():
                session.cancel(operation)
            if is_asynchronous and operation.state == "PENDING":
                if time.monotonic() > queued_until:
                    # Drivers ask whether there are rows once more when it has ended.
                    return
            elif session.session.closed:
                return

    @_answers("TGetOperationStatusResp")
    def GetOperationStatus(self, request: Any) -> Any:  # noqa: N802
        """Tell how far a statement is."""
        session, operation = self._operation(request)
        with_progress = bool(request.getProgressUpdate)
        if operation.is_running and not operation.ended.wait(_LONGEST_POLL) and with_progress:
            session.note_progress(operation)
        return operation.status(with_progress=with_progress)

    @_answers("TCancelOperationResp")
    def CancelOperation(self, request: Any) -> None:  # noqa: N802
        """End a statement."""
        session, operation = self._operation(request)
        session.cancel(operation)

    @_answers("TCloseOperationResp")
    def CloseOperation(self, request: Any) -> None:  # noqa: N802
        """Forget a statement and its rows."""
        session, operation = self._operation(request)
        session.close_operation(operation)

    @_answers("TGetResultSetMetadataResp")
    def GetResultSetMetadata(self, request: Any) -> Any:  # noqa: N802
        """Describe the columns of the rows."""
        session, operation = self._operation(request)
        while operation.is_running and not self._is_gone():
            operation.ended.wait(_LOOK_EVERY)
        if operation.error is not None:
            raise operation.error
        return {"schema": operation.schema(session.version)}

    @_answers("TFetchResultsResp")
    def FetchResults(self, request: Any) -> Any:  # noqa: N802
        """Return the next rows."""
        session, operation = self._operation(request)
        if request.orientation not in (_FETCH_NEXT, _FETCH_FIRST):
            raise NotSupported("fetching in another order than FETCH_NEXT and FETCH_FIRST")
        rows = operation.fetch(
            from_start=request.orientation == _FETCH_FIRST,
            most_rows=request.maxRows,
            fetch_type=request.fetchType or 0,
            version=session.version,
        )
        # As Hive: clients ask until no more rows come.
        return {"hasMoreRows": False, "results": rows}

    def GetQueryId(self, request: Any) -> Any:  # noqa: N802
        """Name a statement as logs do."""
        try:
            name = self._operation(request)[1].query_id
        except BadHandleError:
            name = ""
        return idl().TGetQueryIdResp(queryId=name)

    # -- tokens
    @_answers("TGetDelegationTokenResp")
    def GetDelegationToken(self, request: Any) -> None:  # noqa: N802
        """Refuse tokens: they are Kerberos'."""
        self._session(request)
        raise NotSupported("delegation tokens")

    @_answers("TCancelDelegationTokenResp")
    def CancelDelegationToken(self, request: Any) -> None:  # noqa: N802
        """Refuse tokens."""
        self._session(request)
        raise NotSupported("delegation tokens")

    @_answers("TRenewDelegationTokenResp")
    def RenewDelegationToken(self, request: Any) -> None:  # noqa: N802
        """Refuse tokens."""
        self._session(request)
        raise NotSupported("delegation tokens")

    # -- the catalog
    @_answers("TGetTypeInfoResp")
    def GetTypeInfo(self, request: Any) -> Any:  # noqa: N802
        """Describe the types."""
        return self._answer_question(
            request, "GET_TYPE_INFO", metadata.TYPES, lambda _: metadata.list_types()
        )

    @_answers("TGetCatalogsResp")
    def GetCatalogs(self, request: Any) -> Any:  # noqa: N802
        """List catalogs: there are none, as in Hive."""
        return self._answer_question(request, "GET_CATALOGS", metadata.CATALOGS, lambda _: [])

    @_answers("TGetSchemasResp")
    def GetSchemas(self, request: Any) -> Any:  # noqa: N802
        """List databases."""
        return self._answer_question(
            request, "GET_SCHEMAS", metadata.SCHEMAS,
            lambda session: metadata.list_schemas(session.session, request.schemaName),
        )  # fmt: skip

    @_answers("TGetTablesResp")
    def GetTables(self, request: Any) -> Any:  # noqa: N802
        """List tables and views."""
        return self._answer_question(
            request, "GET_TABLES", metadata.TABLES,
            lambda session: metadata.list_tables(
                session.session, request.schemaName, request.tableName, request.tableTypes
            ),
        )  # fmt: skip

    @_answers("TGetTableTypesResp")
    def GetTableTypes(self, request: Any) -> Any:  # noqa: N802
        """List the kinds of tables."""
        return self._answer_question(
            request, "GET_TABLE_TYPES", metadata.TABLE_TYPES,
            lambda session: metadata.list_table_types(session.session),
        )  # fmt: skip

    @_answers("TGetColumnsResp")
    def GetColumns(self, request: Any) -> Any:  # noqa: N802
        """Describe columns."""
        return self._answer_question(
            request, "GET_COLUMNS", metadata.COLUMNS,
            lambda session: metadata.list_columns(
                session.session, request.schemaName, request.tableName, request.columnName
            ),
        )  # fmt: skip

    @_answers("TGetFunctionsResp")
    def GetFunctions(self, request: Any) -> Any:  # noqa: N802
        """List functions."""
        return self._answer_question(
            request, "GET_FUNCTIONS", metadata.FUNCTIONS,
            lambda session: metadata.list_functions(
                session.session, request.schemaName, request.functionName
            ),
        )  # fmt: skip

    @_answers("TGetPrimaryKeysResp")
    def GetPrimaryKeys(self, request: Any) -> Any:  # noqa: N802
        """Describe a primary key."""
        return self._answer_question(
            request, "UNKNOWN", metadata.PRIMARY_KEYS,
            lambda session: metadata.list_primary_keys(
                session.session, request.schemaName, request.tableName
            ),
        )  # fmt: skip

    @_answers("TGetCrossReferenceResp")
    def GetCrossReference(self, request: Any) -> Any:  # noqa: N802
        """Describe foreign keys."""
        question = metadata.ReferenceQuestion(
            request.parentSchemaName, request.parentTableName,
            request.foreignSchemaName, request.foreignTableName,
        )  # fmt: skip
        return self._answer_question(
            request, "UNKNOWN", metadata.CROSS_REFERENCES,
            lambda session: metadata.list_cross_references(session.session, question),
        )  # fmt: skip

    def _answer_question(
        self, request: Any, kind: str, fields: metadata.Fields,
        ask: Callable[[ClientSession], metadata.Rows],
    ) -> Any:  # fmt: skip
        session = self._session(request)
        operation = Operation(kind, limits=session.limits)
        session.add(operation)
        try:
            operation.finish_with(fields, ask(session))
        except Exception:
            operation.cancelled.set()
            operation.ended.set()
            session.close_operation(operation)
            raise
        return {"operationHandle": operation.handle()}

    def _session(self, request: Any) -> ClientSession:
        return self.registry.session(request.sessionHandle, self.caller)

    def _operation(self, request: Any) -> tuple[ClientSession, Operation]:
        return self.registry.operation(request.operationHandle, self.caller)
