"""The page of the command line: what each command says of itself."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout, suppress

from hivesql_repl.arguments import COMMANDS
from hivesql_repl.cli import main

_WIDTH = "100"
_INTRODUCTION = """\
# Command line

`hivesql` takes the flags of `hive` and `beeline`; called by one of those names (a link to it) it
behaves as they do. In the shell, `!help` lists its own commands. A configuration file
(`~/.config/hivesql/config.toml`, or `--config FILE`) holds profiles: see
[operate](../guides/operate.md#configuration).

| exit code | meaning |
|---|---|
| 0 | all went well |
| 1 | arguments or the configuration are wrong; `check` and `doctor`: they told what is wrong |
| 2 | a statement or the command failed |
| 130, 143, 141 | ended by Ctrl-C, by SIGTERM, or as nobody read its output any more |
"""


def command_line_page() -> str:
    """Write the help of the command and of each of its commands."""
    parts = [_INTRODUCTION, f"## hivesql\n\n{_help()}"]
    for name, meaning in COMMANDS.items():
        title = f"## hivesql {name}\n\n{meaning[0].upper()}{meaning[1:]}."
        parts.append(f"{title}\n\n{_help(name)}")
    return "\n".join(parts)


def _help(*command: str) -> str:
    said = io.StringIO()
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ |= {"COLUMNS": _WIDTH, "NO_COLOR": "1"}
    try:
        with redirect_stdout(said), suppress(SystemExit):
            main([*command, "--help"])
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return f"```text\n{said.getvalue().strip()}\n```\n"
