"""The operator: a script of Hive's SQL as a task that can be killed and tried again."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from airflow.providers.common.compat.sdk import conf
from airflow.sdk import AssetAlias, BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from airflow.sdk.execution_time.context import context_to_airflow_vars

import hivesql
from hivesql.airflow.assets import asset_of
from hivesql.airflow.hook import HiveSqlHook
from hivesql.airflow.served import (
    GROUP_END,
    GROUP_START,
    ScriptRun,
    ServedSession,
    Totals,
    statements_of,
)
from hivesql.lineage.statement_facts import facts_of
from hivesql.sessions.spark_start import LazySpark
from hivesql_executor.statement_log import carried
from hivesql_planner.model.table import TableName
from hivesql_planner.plan_facts import tables_written


class ServedOperator(BaseOperator):
    """A task whose statements a HiveSQL server may run: where, and who waits for it there.

    Where the connection has a host, a server runs the statements. With ``deferrable`` (Airflow's
    ``default_deferrable``) a trigger waits for it instead of a worker, and asks every
    ``poll_interval`` seconds at most.
    """

    def __init__(
        self,
        *,
        hivesql_conn_id: str = HiveSqlHook.default_conn_name,
        schema: str | None = None,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        poll_interval: float = 5.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.hivesql_conn_id = hivesql_conn_id
        self.schema = schema
        self.deferrable = deferrable
        self.poll_interval = poll_interval


class HiveSqlOperator(ServedOperator):
    """Runs the statements of ``hql`` (text, or the name of an ``.hql`` file) one after the other.

    ``hiveconfs`` are settings, ``hivevars`` variables; the task's own ``airflow.ctx.…`` are
    settings too. The result (XCom) says how many statements ran and how many rows they changed.

    A statement that a former attempt of the same task instance has committed is not run again:
    keys of dag, run, task, map index and statement number are recorded by the transactions
    themselves. So a retry never doubles rows, and neither does a task that was cleared: to run it
    again on purpose, forget its key (``Session.forget``), give another ``idempotency_key``, or none
    (``idempotent=False``).

    When the task is killed, Spark's jobs are cancelled and the transaction is aborted; after
    ``kill_timeout`` seconds it is aborted in the metastore, whatever Spark does.

    Where the connection ``hivesql_conn_id`` has a host, a HiveSQL server runs the statements, each
    under such a key: see ``ServedOperator`` for ``schema``, ``deferrable`` and ``poll_interval``.

    Tables written are added as asset events to every ``AssetAlias`` among the ``outlets``.
    """

    template_fields: Sequence[str] = (
        "hql", "schema", "hiveconfs", "hivevars", "hivesql_conn_id", "idempotency_key",
    )  # fmt: skip
    template_ext: Sequence[str] = (".hql", ".sql", ".q")
    template_fields_renderers: ClassVar[dict[str, str]] = {
        "hql": "sql", "hiveconfs": "json", "hivevars": "json",
    }  # fmt: skip
    ui_color = "#f0e4ec"

    def __init__(
        self,
        *,
        hql: str,
        hiveconfs: Mapping[str, str] | None = None,
        hivevars: Mapping[str, str] | None = None,
        idempotent: bool = True,
        idempotency_key: str | None = None,
        kill_timeout: float = 30.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.hql = hql
        self.hiveconfs: dict[str, str] = dict(hiveconfs or {})
        self.hivevars: dict[str, str] = dict(hivevars or {})
        self.idempotent = idempotent
        self.idempotency_key = idempotency_key
        self.kill_timeout = kill_timeout
        self._results: list[hivesql.Result] = []
        self._totals: Totals | None = None
        """What a server has done; None where this process ran the statements."""
        self._is_complete = False
        self._pages = ""
        self._killed = False

    def execute(self, context: Any) -> dict[str, int]:
        """Run the script in a thread of its own, so that a signal finds this one waiting."""
        hook = HiveSqlHook(hivesql_conn_id=self.hivesql_conn_id, schema=self.schema)
        if hook.is_served:
            return self._execute_served(hook, context)
        if self.deferrable:
            raise AirflowFailException(
                f"deferrable=True needs a connection with a host, where hivesql serve runs: "
                f"{self.hivesql_conn_id} has none"
            )
        failures: list[BaseException] = []
        self._results, self._is_complete = [], False
        with hook.get_session() as session:
            self._set_up(session, context)
            worker = threading.Thread(
                target=carried(self._work),
                args=[session, self._key(context), failures],
                daemon=True,
            )
            try:
                worker.start()
                while worker.is_alive() and not self._killed:
                    worker.join(0.2)
            finally:
                # Airflow's time-out is raised right here; the session outlives the statement.
                self._stop(session, worker)
        for error in failures:
            if self._fails_for_good(type(error).__name__):
                raise AirflowFailException(str(error)) from error
            raise error
        if not self._is_complete:
            raise AirflowException(f"killed; statements that had ended: {len(self._results)}")
        self._tell_assets(context)
        changed = sum(result.affected or 0 for result in self._results)
        return {"statements": len(self._results), "affected": changed}

    def _execute_served(self, hook: HiveSqlHook, context: Any) -> dict[str, int]:
        """Let the server run the script, and wait here or in a trigger."""
        settings = self._settings(context)
        variables = {key: str(text) for key, text in self.hivevars.items()}
        statements, key = statements_of(self.hql), self._key(context)
        if self.deferrable:
            # Imported late: workers need no triggers.
            from hivesql.airflow.trigger import HiveSqlTrigger

            self.defer(
                trigger=HiveSqlTrigger(
                    statements=statements,
                    hivesql_conn_id=self.hivesql_conn_id,
                    schema=self.schema,
                    settings=settings,
                    variables=variables,
                    key=key,
                    poll_interval=self.poll_interval,
                ),
                method_name="execute_complete",
                timeout=self.execution_timeout,
            )
        script = ScriptRun(ServedSession(hook.place(settings, variables)), statements, key)
        try:
            for lines, _ in script.steps():
                self._log_lines(lines)
                if self._killed:
                    raise AirflowException(
                        f"killed; statements that had ended: {script.totals.statements}"
                    )
        except hivesql.HiveSqlError as error:
            if self._fails_for_good(type(error).__name__):
                raise AirflowFailException(str(error)) from error
            raise
        finally:
            self._log_lines(script.close())
        return self._end_served(script.totals, context)

    def _log_lines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.log.info("%s", line)

    def execute_complete(self, context: Any, event: Mapping[str, Any]) -> dict[str, int]:
        """Go on when the trigger tells how the script ended."""
        if "error" in event:
            final = self._fails_for_good(event["kind"])
            raise (AirflowFailException if final else AirflowException)(event["error"])
        return self._end_served(Totals(**event), context)

    def _fails_for_good(self, kind: str) -> bool:
        """Tell whether an error is one that no other attempt would change, or that it might double.

        Without keys a statement whose commit has no answer would be done again.
        """
        is_unknown = kind == hivesql.CommitUnknown.__name__
        return kind in ("ParseError", "NotSupported") or (is_unknown and not self.idempotent)

    def _end_served(self, totals: Totals, context: Any) -> dict[str, int]:
        self._totals = totals
        self._tell_assets(context)
        return {"statements": totals.statements, "affected": totals.affected}

    def on_kill(self) -> None:
        """Let ``execute``, which waits, cancel the statement and abort what is open."""
        self._killed = True

    def _stop(self, session: hivesql.Session, worker: threading.Thread) -> None:
        """Cancel what runs, and what may begin meanwhile; abort it when its time is over."""
        self._killed = self._killed or worker.is_alive()
        until = time.monotonic() + self.kill_timeout
        while worker.is_alive() and time.monotonic() < until:
            session.cancel()
            worker.join(0.2)
        if worker.is_alive() and not session.stop(0):
            self.log.warning("the statement did not end by itself: its transaction was aborted")

    def dry_run(self) -> None:
        """Log the script as it was rendered."""
        self.log.info("%s", self.hql)

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """Collect inputs and outputs of the plans that were run."""
        from hivesql.airflow.lineage import lineage_of

        if self._totals is not None:
            facts = self._totals.facts()
        else:
            facts = [made for result in self._results if (made := facts_of(result)) is not None]
        return lineage_of(facts, self.hivesql_conn_id, self.hql)

    def _set_up(self, session: hivesql.Session, context: Any) -> None:
        for key, value in self._settings(context).items():
            session.set(key, value)
        for key, value in self.hivevars.items():
            session.set(f"hivevar:{key}", str(value))

    def _settings(self, context: Any) -> dict[str, str]:
        """Return the task's own settings, and those that it was given."""
        settings = context_to_airflow_vars(context) | self.hiveconfs
        return {key: str(value) for key, value in settings.items()}

    def _key(self, context: Any) -> str | None:
        if not self.idempotent:
            return None
        if self.idempotency_key is not None:
            return self.idempotency_key
        ti = context["ti"]
        return f"airflow/{ti.dag_id}/{ti.run_id}/{ti.task_id}/{ti.map_index}"

    def _work(
        self, session: hivesql.Session, key: str | None, failures: list[BaseException]
    ) -> None:
        count = len(statements_of(self.hql))
        self._log_group(count)
        try:
            for result in session.run(self.hql, idempotency_key=key):
                if len(self._results) < count:
                    self.log.info(GROUP_END)
                self._results.append(result)
                rows = "" if result.affected is None else f" ({result.affected} rows)"
                first, name = result.statement.strip().splitlines()[0], result.statement_id
                self.log.info("%s%s [%s]", first, rows, name)
                if result.message:
                    self.log.info("%s [%s]", result.message, name)
                self._tell_pages(session)
                if self._killed:
                    break
                self._log_group(count)
            else:
                self._is_complete = True
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            if len(self._results) < count:
                self.log.info(GROUP_END)
            failures.append(error)

    def _log_group(self, count: int) -> None:
        """Begin the group of the next statement; those of files that a script names have none."""
        if len(self._results) < count:
            self.log.info("%sstatement %d of %d", GROUP_START, len(self._results) + 1, count)

    def _tell_pages(self, session: hivesql.Session) -> None:
        """Log where Spark's own pages are, once it runs and has some (``spark.ui.enabled``)."""
        spark = session.runtime.spark
        if not self._pages and isinstance(spark, LazySpark) and spark.started:
            self._pages = spark().sparkContext.uiWebUrl or "none"
            self.log.info("pages of Spark: %s", self._pages)

    def _tell_assets(self, context: Any) -> None:
        aliases = [item for item in self.outlets if isinstance(item, AssetAlias)]
        tables = {
            table.name for item in self._results if item.plan for table in tables_written(item.plan)
        }
        for facts in self._totals.facts() if self._totals else ():
            tables |= {TableName(*name.split(".", 1)) for name in facts.written}
        for alias in aliases:
            for name in sorted(tables):
                context["outlet_events"][alias].add(asset_of(self.hivesql_conn_id, name))
