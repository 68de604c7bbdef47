"""Scripts without a person: run, resume, or only show what would run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hivesql import HiveSqlError, Session
from hivesql.script import StatementText, split
from hivesql.sessions.open_transaction import LostTransaction
from hivesql_planner.settings.file_system_keys import cover_secret
from hivesql_repl.output.render import Printer
from hivesql_repl.shell.commands import Quit
from hivesql_repl.shell.running import Interrupted, Runner

if TYPE_CHECKING:
    from hivesql_repl.checkpoint import Checkpoint

DONE, BAD_ARGUMENTS, FAILED, INTERRUPTED = 0, 1, 2, 130

Script = tuple[str, str]
"""A name and a text."""


def run_scripts(
    runner: Runner, scripts: Sequence[Script], *, force: bool, checkpoint: Checkpoint | None = None
) -> int:
    """Run scripts in order; without ``force`` the first error ends everything. The exit code.

    After an error within START TRANSACTION ``force`` goes on behind its COMMIT.
    """
    code, text, lost = DONE, "", LostTransaction()
    try:
        for file, text in scripts:
            for statement in split(text, file, runner.session.variables):
                if not _run_once(runner, file, text, statement, checkpoint, lost):
                    code = FAILED
                    if not force:
                        return code
    except HiveSqlError as error:
        runner.printer.fail(error, text)
        return FAILED
    except ValueError as error:
        return _refuse(runner, error)
    except (Interrupted, KeyboardInterrupt):
        return 128 + runner.ended_by if runner.ended_by else INTERRUPTED
    except Quit:
        return code
    if checkpoint and code == DONE:
        checkpoint.finish(runner.session)
    return code


def _refuse(runner: Runner, error: ValueError) -> int:
    """Tell of a script that cannot be taken apart; of output, whoever opened it tells."""
    if isinstance(error, UnicodeEncodeError):
        raise error
    runner.printer.fail(HiveSqlError(str(error)), None)
    return BAD_ARGUMENTS


def _run_once(
    runner: Runner, file: str, text: str, statement: StatementText,
    checkpoint: Checkpoint | None, lost: LostTransaction,
) -> bool:  # fmt: skip
    """Run a statement unless an earlier run did, or it shall not; False when it failed."""
    ran_before = checkpoint is not None and checkpoint.skips(statement)
    if ran_before or lost.leaves_out(statement):
        why = "ran before" if ran_before else "its transaction was rolled back"
        runner.printer.tell(f"{file}:{statement.line}: {why}, left out")
        return True
    was_open = runner.session.in_transaction
    succeeded = _run_noted(runner, text, statement, checkpoint)
    if not succeeded:
        lost.note_failure(statement, was_open=was_open)
    return succeeded


def _run_noted(
    runner: Runner, text: str, statement: StatementText, checkpoint: Checkpoint | None
) -> bool:
    """Run a statement, and note in a checkpoint how it went; False when it failed."""
    if checkpoint is None:
        return runner.run(statement, text)
    succeeded = runner.run(statement, text, checkpoint.key(statement, runner.session))
    if succeeded:
        checkpoint.note(statement, open_transaction=runner.session.in_transaction)
    else:
        checkpoint.drop_pending()
    return succeeded


def show_plans(session: Session, printer: Printer, scripts: Sequence[Script]) -> int:
    """Print plan and locks of every statement without running one; the exit code."""
    from hivesql.dry_run import rehearse

    code = DONE
    for file, text in scripts:
        try:
            for step in rehearse(session, text, file):
                print(f"-- {step.place}\n{cover_secret(step.text)}")
                if step.error:
                    printer.fail(step.error, text)
                    code = FAILED
                for line in step.lines:
                    print(f"   {line}")
        except HiveSqlError as error:
            printer.fail(error, text)
            return FAILED
    return code
