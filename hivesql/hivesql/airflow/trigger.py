"""The trigger: waits for a script that a server runs, so that no worker has to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from hivesql.airflow.hook import HiveSqlHook
from hivesql.airflow.served import ScriptRun, ServedSession, ServerPlace, Totals
from hivesql_planner.errors import HiveSqlError

_CLASS = "hivesql.airflow.trigger.HiveSqlTrigger"


class HiveSqlTrigger(BaseTrigger):
    """Runs statements at the server of a connection, and tells how that ended.

    When the triggerer ends, or the task is killed, its connection ends and the server rolls back
    what runs. The next triggerer begins again; under a ``key`` what is committed is not done again.
    """

    def __init__(
        self,
        *,
        statements: Sequence[str],
        hivesql_conn_id: str,
        schema: str | None,
        settings: Mapping[str, str],
        variables: Mapping[str, str],
        key: str | None,
        poll_interval: float,
    ) -> None:
        """``poll_interval`` is the longest pause between two questions, in seconds."""
        super().__init__()
        self._arguments: dict[str, Any] = {
            "statements": list(statements), "hivesql_conn_id": hivesql_conn_id, "schema": schema,
            "settings": dict(settings), "variables": dict(variables), "key": key,
            "poll_interval": poll_interval,
        }  # fmt: skip

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Give the class and the arguments by which another triggerer makes it anew."""
        return _CLASS, self._arguments

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event: what the script did, or its error."""
        try:
            totals = await self._run()
        except HiveSqlError as error:
            yield TriggerEvent({"error": str(error), "kind": type(error).__name__})
        else:
            yield TriggerEvent(asdict(totals))

    async def _run(self) -> Totals:
        arguments = self._arguments
        place = await sync_to_async(self._place)()
        session = await asyncio.to_thread(ServedSession, place)
        script = ScriptRun(session, arguments["statements"], arguments["key"])
        try:
            steps = script.steps()
            pause = 0.0
            # Each step asks the server, which answers within half a second.
            while (step := await asyncio.to_thread(next, steps, None)) is not None:
                lines, is_running = step
                self._log_lines(lines)
                pause = min(pause + 0.2, arguments["poll_interval"]) if is_running else 0.0
                await asyncio.sleep(pause)
        finally:
            # What is told of an error is not folded away with the statement's own lines.
            self._log_lines(await asyncio.to_thread(script.close))
        return script.totals

    def _log_lines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.log.info("%s", line)

    def _place(self) -> ServerPlace:
        arguments = self._arguments
        hook = HiveSqlHook(hivesql_conn_id=arguments["hivesql_conn_id"], schema=arguments["schema"])
        return hook.place(arguments["settings"], arguments["variables"])
