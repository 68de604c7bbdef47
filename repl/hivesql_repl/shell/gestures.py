"""Commands that other shells have taught their users, done by our statements."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from hivesql import HiveSqlError, Session
from hivesql_repl.output.render import Printer
from hivesql_repl.shell.saved import Saved
from hivesql_repl.shell.screen_settings import change

ON = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}


class Gestures:
    """Each tells whether it went well, as those of ``Commands`` do."""

    def __init__(
        self,
        session: Session,
        printer: Printer,
        run: Callable[[str], bool],
        fail: Callable[[str], bool],
    ) -> None:
        """``run`` runs a text's statements, ``fail`` tells an error; both tell how it went."""
        self._session, self._printer = session, printer
        self._sql, self._fail = run, fail
        self._format = "table"
        """Where ``\\x off`` leads back to."""

    def known(self) -> dict[str, tuple[Callable[[str], bool], str]]:
        """Return them by name, with what ``!help`` says."""
        return {
            "tables": (self._listed("TABLES"), "tables here; !tables st*, !tables db.st*"),
            "views": (self._listed("VIEWS"), "views, likewise"),
            "materialized": (self._listed("MATERIALIZED VIEWS"), "materialized views, likewise"),
            "databases": (self._listed("DATABASES"), "databases; !databases s*"),
            "functions": (self._listed("FUNCTIONS"), "functions; !functions *date*"),
            "roles": (lambda argument: self._sql("SHOW ROLES"), "roles"),
            "formatted": (self._formatted, "all that is known of a table: !formatted t"),
            "ddl": (self._ddl, "CREATE statement of a table, or of all: !ddl t"),
            "use": (self._use, "go to another database: !use db"),
            "status": (self._status, "where one is: database, user, warehouse, transaction"),
            "expanded": (self._expanded, "one value a line, or not: !expanded on"),
            "header": (self._switch("showHeader"), "names above results, or not: !header off"),
            "null": (self._null, "what stands for NULL: !null -"),
            "delimiter": (self._delimiter, "what stands between values of the format dsv"),
            "echo": (self._echo, "print a text"),
            "cd": (self._cd, "go to another directory"),
            "save": (self._save, "keep a statement: !save big SELECT … WHERE n > $1"),
            "saved": (self._saved, "statements that are kept, or one run: !saved big 100"),
            "forget": (self._forget, "keep one no longer: !forget big"),
        }

    def hidden(self) -> dict[str, tuple[Callable[[str], bool], str]]:
        """Return what has a better name here, or nothing to do."""
        return {
            "dbinfo": (self._status, ""),
            "rehash": (lambda argument: True, ""),  # names are looked up anew each time
            "typeinfo": (lambda argument: self._instead("types are those of CREATE TABLE"), ""),
            "primarykeys": (self._formatted, ""),
            "importedkeys": (self._formatted, ""),
            "import": (
                lambda argument: self._instead(
                    "files are read by LOAD DATA LOCAL INPATH 'FILE' INTO TABLE t;"
                ),
                "",
            ),
            "export": (
                lambda argument: self._instead(
                    "!ddl prints definitions; rows are written by "
                    "INSERT OVERWRITE LOCAL DIRECTORY 'DIR' STORED AS PARQUET SELECT * FROM t;"
                ),
                "",
            ),
        }  # fmt: skip

    def _instead(self, advice: str) -> bool:
        return self._fail(f"there is no such command; {advice}")

    def _listed(self, kind: str) -> Callable[[str], bool]:
        def run(argument: str) -> bool:
            database, dot, pattern = argument.rpartition(".")
            text = f"SHOW {kind}"
            if dot and kind not in ("DATABASES", "FUNCTIONS"):
                text += f" IN {database.strip('`')}"
            else:
                pattern = argument
            # Those of sqlite have a percent sign, as in Hive these names alone.
            in_percent = kind in ("DATABASES", "FUNCTIONS")
            anything, other = ("%", "*") if in_percent else ("*", "%")
            pattern = pattern.strip("'\"`").replace(other, anything).replace("'", "\\'")
            return self._sql(f"{text} LIKE '{pattern}'" if pattern else text)

        return run

    def _formatted(self, argument: str) -> bool:
        if not argument:
            return self._fail("a table is wanted, as in: !formatted t")
        return self._sql(f"DESCRIBE FORMATTED {argument}")

    def _ddl(self, argument: str) -> bool:
        if argument:
            return self._sql(f"SHOW CREATE TABLE {argument}")
        session = self._session
        try:
            names = session.runtime.metastore.tables(session.database)
        except HiveSqlError as error:
            return self._fail(str(error))
        return all(self._sql(f"SHOW CREATE TABLE `{name.name}`") for name in names)

    def _use(self, argument: str) -> bool:
        # What psql's \\connect and beeline's URLs say beyond the database names a server.
        return self._sql(f"USE {argument.split()[0]}") if argument else self._status("")

    def _status(self, argument: str) -> bool:
        session = self._session
        try:
            location = session.runtime.metastore.database(session.database).location
        except HiveSqlError as error:
            location = str(error)
        facts = {
            "database": session.database, "location": location, "user": session.runtime.user,
            "transaction": session.open_transaction or "none is open",
            "format": self._printer.format,
        }  # fmt: skip
        for name, fact in facts.items():
            print(f"{name:<13}{fact}")
        return True

    def _expanded(self, argument: str) -> bool:
        printer = self._printer
        is_on = printer.format == "vertical"
        wanted = False if argument.lower() == "auto" else switched(argument, is_on)
        if wanted is None:
            return self._fail("on, off or auto is wanted, as in: !expanded on")
        if wanted and not is_on:
            self._format, printer.format = printer.format, "vertical"
        elif is_on and not wanted:
            printer.format = self._format
        printer.tell(f"one value a line: {'yes' if wanted else 'where rows are too wide'}")
        return True

    def _switch(self, setting: str) -> Callable[[str], bool]:
        def run(argument: str) -> bool:
            printer = self._printer
            wanted = switched(argument, printer.style.header)
            if wanted is None:
                return self._fail("on or off is wanted, as in: !header off")
            change(printer, setting, str(wanted).lower())
            return True

        return run

    def _null(self, argument: str) -> bool:
        from dataclasses import replace

        text = argument.strip("'\"")
        self._printer.style = replace(self._printer.style, null=text)
        return True

    def _delimiter(self, argument: str) -> bool:
        try:
            change(self._printer, "delimiterForDSV", argument.strip("'\""))
        except ValueError as error:
            return self._fail(str(error))
        return True

    def _echo(self, argument: str) -> bool:
        print(argument)
        return True

    def _cd(self, argument: str) -> bool:
        try:
            os.chdir(Path(argument or "~").expanduser())
        except OSError as error:
            return self._fail(f"cannot go to {argument}: {error.strerror}")
        return True

    def _save(self, argument: str) -> bool:
        name, _, text = argument.partition(" ")
        if not text.strip():
            return self._fail("a name and a statement are wanted: !save big SELECT 1")
        return self._change_saved(lambda saved: saved.add(name, text.strip()))

    def _saved(self, argument: str) -> bool:
        name, *values = argument.split() or [""]
        try:
            saved = Saved.read()
            if not name:
                for key, text in saved.texts.items():
                    print(f"{key:<13} {text}")
                return True
            text = saved.text(name, values)
        except (OSError, ValueError) as error:
            return self._fail(str(error))
        return self._sql(text)

    def _forget(self, argument: str) -> bool:
        return self._change_saved(lambda saved: saved.remove(argument))

    def _change_saved(self, work: Callable[[Saved], None]) -> bool:
        try:
            work(Saved.read())
        except (OSError, ValueError) as error:
            return self._fail(str(error))
        return True


def switched(argument: str, before: bool) -> bool | None:
    """Return what ``on``, ``off`` or nothing makes of a switch; None for another word."""
    return not before if not argument else ON.get(argument.lower())
