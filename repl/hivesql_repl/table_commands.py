"""`hivesql inspect` and `hivesql check`: a look at a table's files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from hivesql import HiveSqlError, Session, connect
from hivesql_repl.arguments import add_places, pairs
from hivesql_repl.batch import FAILED
from hivesql_repl.configuration import read_profile
from hivesql_repl.output.layout import draw, report


def run_inspect(argv: Sequence[str]) -> int:
    """Draw a table's layout and say what a reader takes of it and why."""
    return _run("inspect", argv, lambda session, table: draw(session.inspect(table)))


def run_check(argv: Sequence[str]) -> int:
    """Verify footers, order, row ids and deletes; end with 1 when something is wrong."""
    return _run("check", argv, lambda session, table: report(table, session.check(table)))


def _run(name: str, argv: Sequence[str], look: Callable[[Session, str], int]) -> int:
    command = run_inspect if name == "inspect" else run_check
    parser = argparse.ArgumentParser(prog=f"hivesql {name}", description=command.__doc__)
    parser.add_argument("table", help="a table's name, with its database or without")
    parser.add_argument("--database", help="database of a name without one")
    add_places(parser)
    parser.add_argument("--hiveconf", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args(argv)
    profile = read_profile(arguments.config, arguments.profile)
    settings = {**profile.settings, **pairs(arguments.hiveconf)}
    if master := arguments.master or profile.master:
        settings["spark.master"] = master
    try:
        with connect(
            arguments.metastore or profile.metastore,
            arguments.warehouse or profile.warehouse,
            settings=settings,
            database=arguments.database or profile.database or "default",
        ) as session:
            return look(session, arguments.table)
    except HiveSqlError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return FAILED
