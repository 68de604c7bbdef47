"""Scripts without a person: run, resume, or only show what would run."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hivesql import HiveSqlError, Session
from hivesql.script import StatementText, split
from hivesql_repl.commands import Quit
from hivesql_repl.render import Printer
from hivesql_repl.running import Interrupted, Runner

DONE, BAD_ARGUMENTS, FAILED, INTERRUPTED = 0, 1, 2, 130
# What a statement of these kinds changes is gone with the process, so a resumed run repeats it.
_OF_THE_SESSION = ("set ", "reset", "use ", "add ", "source ")

Script = tuple[str, str]
"""A name and a text."""


@dataclass
class Checkpoint:
    """Statements of earlier runs that need not run again, in a file that survives a crash.

    A statement that was committed just before a crash may be missing here and run again.
    """

    path: Path
    done: list[str] = field(default_factory=list)
    _seen: int = 0

    @classmethod
    def open(cls, name: str) -> Checkpoint:
        """The checkpoint in a file, or a new one. ValueError when the file is something else."""
        path = Path(name)
        if not path.exists():
            return cls(path)
        try:
            done = json.loads(path.read_text(encoding="utf-8"))["done"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{name} is not a checkpoint of hivesql ({error})") from error
        return cls(path, done)

    def skips(self, file: str, statement: StatementText) -> bool:
        """Whether the next statement ran before. ValueError when the script has changed."""
        if self._seen >= len(self.done):
            return False
        if self.done[self._seen] != _fingerprint(file, statement):
            raise ValueError(
                f"{file}:{statement.line}: this is not the statement that ran before "
                f"(number {self._seen + 1} of {self.path}); the script has changed. "
                f"Delete {self.path} to start from the beginning"
            )
        self._seen += 1
        return True

    def add(self, file: str, statement: StatementText) -> None:
        """Note a statement that has succeeded."""
        self.done.append(_fingerprint(file, statement))
        self._seen += 1
        fresh = self.path.with_name(f"{self.path.name}.tmp")
        with fresh.open("w", encoding="utf-8") as out:
            json.dump({"done": self.done}, out)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self.path)

    def finish(self) -> None:
        """All has run: the next run starts from the beginning."""
        self.path.unlink(missing_ok=True)


def _fingerprint(file: str, statement: StatementText) -> str:
    import hashlib

    return hashlib.sha256(f"{file}\0{statement.text}".encode()).hexdigest()


def run_scripts(
    runner: Runner, scripts: Sequence[Script], *, force: bool, checkpoint: Checkpoint | None = None
) -> int:
    """Run scripts in order; without ``force`` the first error ends everything. The exit code."""
    code, text = DONE, ""
    try:
        for file, text in scripts:
            for statement in split(text, file, runner.session.variables):
                if not _run_once(runner, file, text, statement, checkpoint):
                    code = FAILED
                    if not force:
                        return code
    except HiveSqlError as error:
        runner.printer.fail(error, text)
        return FAILED
    except ValueError as error:
        runner.printer.fail(HiveSqlError(str(error)), None)
        return BAD_ARGUMENTS
    except (Interrupted, KeyboardInterrupt):
        return 128 + runner.ended_by if runner.ended_by else INTERRUPTED
    except Quit:
        return code
    if checkpoint and code == DONE:
        checkpoint.finish()
    return code


def _run_once(
    runner: Runner, file: str, text: str, statement: StatementText, checkpoint: Checkpoint | None
) -> bool:
    """Run a statement unless an earlier run did; False when it failed."""
    counted = None if _is_of_the_session(statement) else checkpoint
    if counted and counted.skips(file, statement):
        runner.printer.tell(f"{file}:{statement.line}: ran before, left out")
        return True
    done = runner.run(statement, text)
    if counted and done:
        counted.add(file, statement)
    return done


def _is_of_the_session(statement: StatementText) -> bool:
    return statement.text.lower().startswith(_OF_THE_SESSION)


def show_plans(session: Session, printer: Printer, scripts: Sequence[Script]) -> int:
    """Print plan and locks of every statement without running one; the exit code."""
    from hivesql.rehearsal import rehearse

    code = DONE
    for file, text in scripts:
        try:
            for step in rehearse(session, text, file):
                print(f"-- {step.place}\n{step.text}")
                if step.error:
                    printer.fail(step.error, text)
                    code = FAILED
                for line in step.lines:
                    print(f"   {line}")
        except HiveSqlError as error:
            printer.fail(error, text)
            return FAILED
    return code
