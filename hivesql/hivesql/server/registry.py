"""All sessions of a server: how many there may be, whose they are, and which ones are idle."""

from __future__ import annotations

import hmac
import logging
import threading
import time
from collections.abc import Mapping
from itertools import count
from typing import Any

from hivesql.server.client_session import Caller, ClientSession
from hivesql.server.operation import Operation
from hivesql.server.options import ServerOptions
from hivesql.server.protocol import BadHandleError
from hivesql.server.row_spool import ResultMemory
from hivesql_executor.statements.authorization import is_admin
from hivesql_planner.errors import ExecutionError
from hivesql_planner.model.privileges import AuthorizationError

_LOG = logging.getLogger("hivesql.server")


class SessionRegistry:
    """Sessions by their handles. A handle is good on the connection that got it alone."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.memory: ResultMemory = ResultMemory(options.most_result_memory)
        self._sessions: dict[bytes, ClientSession] = {}
        self._opening: dict[int, str] = {}
        """The users of sessions that are being opened, by their numbers."""
        self._guard = threading.Lock()
        self._drains = False

    def open(self, caller: Caller, version: int, configuration: Mapping[str, str]) -> ClientSession:
        """Open a session; ExecutionError where there are too many, or the server is to stop."""
        with self._guard:
            self._check_room(caller.user)
            taken = {session.number for session in self._sessions.values()} | set(self._opening)
            number = next(number for number in count(1) if number not in taken)
            self._opening[number] = caller.user
        try:
            session = ClientSession(
                caller, version, self.options, memory=self.memory, number=number, kill=self.kill
            )
            try:
                session.configure(configuration)
                with self._guard:
                    self.check_running()
                    self._sessions[session.guid] = session
            except BaseException:
                session.close()
                raise
        finally:
            with self._guard:
                del self._opening[number]
        _LOG.info("session opened: user=%s address=%s", caller.user, caller.address)
        return session

    def session_count(self) -> int:
        """Tell how many sessions there are."""
        return len(self._sessions)

    def _check_room(self, user: str) -> None:
        self.check_running()
        users = [session.caller.user for session in self._sessions.values()]
        users += self._opening.values()
        if len(users) >= self.options.most_sessions:
            raise ExecutionError(f"the server has {len(users)} sessions, and takes no more")
        if users.count(user) >= self.options.most_sessions_of_user:
            raise ExecutionError(f"{user} has {users.count(user)} sessions, and may have no more")

    def session(self, handle: Any, caller: Caller) -> ClientSession:
        """Return the session of a handle; BadHandleError where it is not the caller's."""
        identifier = handle.sessionId
        session = self._sessions.get(identifier.guid or b"")
        if session is None or not _is_own(session, caller):
            raise BadHandleError("no such session")
        if not hmac.compare_digest(session.secret, identifier.secret or b""):
            raise BadHandleError("no such session")
        session.used = time.monotonic()
        return session

    def operation(self, handle: Any, caller: Caller) -> tuple[ClientSession, Operation]:
        """Return the operation of a handle, with its session; BadHandleError as of ``session``."""
        identifier = handle.operationId
        with self._guard:
            sessions = list(self._sessions.values())
        for session in sessions:
            if session.owns(identifier.guid) and _is_own(session, caller):
                return session, session.operation(identifier.guid, identifier.secret or b"")
        raise BadHandleError("no such operation")

    def kill(self, killer: ClientSession, query_id: str) -> None:
        """Cancel the statement of an id, which is the killer's own or the killer an admin.

        AuthorizationError where it is another's. As in Hive nothing fails where there is none.
        """
        with self._guard:
            sessions = list(self._sessions.values())
        for session in sessions:
            if (operation := session.running(query_id)) is None:
                continue
            user = killer.caller.user
            if session.caller.user != user and not is_admin(killer.session.runtime):
                raise AuthorizationError(
                    f"No privilege to kill the query {query_id}: it is another's than {user}'s, "
                    "and that takes the role ADMIN (SET ROLE ADMIN)"
                )
            _LOG.info("%s kills a query of %s: %s", user, session.caller.user, query_id)
            session.cancel(operation)
            return
        killer.tell(f"no statement of the id {query_id} runs at this server")

    def has_session(self, caller: Caller) -> bool:
        """Tell whether a connection has a session."""
        with self._guard:
            # Asked before each message, and with a secret that is the server's own.
            sessions = self._sessions.values()
            return any(other.caller.connection == caller.connection for other in sessions)

    def close(self, session: ClientSession) -> None:
        """End a session."""
        with self._guard:
            if self._sessions.pop(session.guid, None) is None:
                return
        session.close()
        caller = session.caller
        _LOG.info("session closed: user=%s address=%s", caller.user, caller.address)

    def close_of(self, caller: Caller) -> None:
        """End the sessions of a connection that has ended."""
        with self._guard:
            own = [session for session in self._sessions.values() if _is_own(session, caller)]
        for session in own:
            self.close(session)

    def close_idle(self) -> None:
        """End sessions and operations that nobody has used for long."""
        now = time.monotonic()
        with self._guard:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.close_idle_operations(now - self.options.operation_idle)
            if not session.is_busy and session.used < now - self.options.session_idle:
                _LOG.info("session idle for too long: user=%s", session.caller.user)
                self.close(session)

    def drain(self, seconds: float) -> None:
        """Let no session and no statement begin; end what still runs after so many seconds."""
        with self._guard:
            self._drains = True
            sessions = list(self._sessions.values())
        end = time.monotonic() + seconds
        while any(session.is_busy for session in sessions) and time.monotonic() < end:
            time.sleep(0.05)
        for session in sessions:
            session.cancel_all()
        for session in sessions:
            self.close(session)

    def check_running(self) -> None:
        """ExecutionError once the server is to stop."""
        if self._drains:
            raise ExecutionError("the server is being stopped")


def _is_own(session: ClientSession, caller: Caller) -> bool:
    own = session.caller
    return own.user == caller.user and hmac.compare_digest(own.connection, caller.connection)
