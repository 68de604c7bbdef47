"""`hivesql inspect`, `check`, `migrate` and `relocate`: tables' files, copies and places."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from hivesql import HiveSqlError, Session, connect
from hivesql.connections import relocate_metastore, require_metastore
from hivesql_repl.arguments import add_connection, command_parser, with_flags
from hivesql_repl.batch import FAILED
from hivesql_repl.configuration import read_profile
from hivesql_repl.output.errors import print_error
from hivesql_repl.output.layout import draw, report

_KINDS = ("iceberg", "delta")


def run_inspect(argv: Sequence[str]) -> int:
    """Draw a table's layout and say what a reader takes of it and why."""
    parser = _parser("inspect", run_inspect.__doc__)
    return _run(parser, argv, lambda session, options: draw(session.inspect(options.table)))


def run_check(argv: Sequence[str]) -> int:
    """Verify footers, order, row ids and deletes; end with 1 when something is wrong."""
    parser = _parser("check", run_check.__doc__)
    return _run(
        parser, argv, lambda session, options: report(options.table, session.check(options.table))
    )


def run_migrate(argv: Sequence[str]) -> int:
    """Copy a table to Iceberg or Delta, or back, and compare all rows before it is called done."""
    parser = _parser("migrate", run_migrate.__doc__)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--to", choices=_KINDS, help="what the copy is; its name has a catalog")
    way.add_argument("--from", dest="origin", choices=_KINDS, help="what the table is")
    parser.add_argument("--as", dest="name", required=True, help="the copy's name")
    parser.add_argument(
        "--partitioned-by", metavar="A,B", help="partition columns of a copy here (default: none)"
    )
    return _run(parser, argv, _migrate, makes=lambda options: options.origin is not None)


def run_relocate(argv: Sequence[str]) -> int:
    """Tell the metastore that what was at OLD, and below it, is at NEW; no file is touched.

    For a backup that was put in place elsewhere: before anybody opens it.
    """
    parser = command_parser("hivesql relocate", run_relocate.__doc__)
    parser.add_argument("old", metavar="OLD", help="directory or URI, as the metastore has it")
    parser.add_argument("new", metavar="NEW", help="directory or URI where its files are now")
    parser.add_argument("--dry-run", action="store_true", help="count what would be changed")
    add_connection(parser)
    arguments = parser.parse_args(argv)
    profile = with_flags(read_profile(arguments.config, arguments.profile), arguments)
    try:
        counts = relocate_metastore(
            profile.metastore, arguments.old, arguments.new, settings=profile.settings,
            dry_run=arguments.dry_run,
        )  # fmt: skip
    except HiveSqlError as error:
        print_error(error)
        return FAILED
    print(
        f"{'would be changed' if arguments.dry_run else 'changed'}: {counts.databases} locations "
        f"of databases, {counts.tables} of tables and partitions, {counts.others} others"
    )
    return 0


def _migrate(session: Session, options: argparse.Namespace) -> int:
    from hivesql import migrate_from, migrate_to

    if options.to:
        copied = migrate_to(session, options.table, options.to, options.name)
    else:
        keys = [key.strip() for key in (options.partitioned_by or "").split(",") if key.strip()]
        copied = migrate_from(session, options.table, options.name, keys)
    print(f"{copied.table} has the {copied.rows} rows of {options.table}: {copied.columns} columns")
    return 0


def _tell(notice: str) -> None:
    print(notice, file=sys.stderr)


def _parser(name: str, description: str | None) -> argparse.ArgumentParser:
    parser = command_parser(f"hivesql {name}", description)
    parser.add_argument("table", help="a table's name, with its database or without")
    parser.add_argument("--database", help="database of a name without one")
    add_connection(parser)
    return parser


def _look(
    look: Callable[[Session, argparse.Namespace], int],
    session: Session,
    arguments: argparse.Namespace,
) -> int:
    try:
        return look(session, arguments)
    except HiveSqlError as error:
        # Imported late: who makes no mistake needs no words of the grammar.
        from hivesql.hints.meant import add_hint_for_name

        add_hint_for_name(error, arguments.table, session)
        raise


def _run(
    parser: argparse.ArgumentParser,
    argv: Sequence[str],
    look: Callable[[Session, argparse.Namespace], int],
    *,
    makes: Callable[[argparse.Namespace], bool] = lambda _: False,
) -> int:
    """Run a command in a session; only one that ``makes`` a table here makes a metastore."""
    arguments = parser.parse_args(argv)
    profile = with_flags(read_profile(arguments.config, arguments.profile), arguments)
    try:
        if not makes(arguments):
            require_metastore(profile.metastore, profile.settings)
        with connect(
            profile.metastore,
            profile.warehouse,
            settings=profile.settings,
            database=arguments.database or profile.database or "default",
            notify=_tell,
        ) as session:
            return _look(look, session, arguments)
    except HiveSqlError as error:
        print_error(error)
        return FAILED
