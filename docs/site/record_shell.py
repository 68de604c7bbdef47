"""Take pictures of the real shell in a pseudo-terminal, for docs/guides/shell.md.

``python docs/site/record_shell.py`` writes them anew. What differs from run to run (times, this
host, its user) is replaced, so that the same program gives the same pictures.
"""

from __future__ import annotations

import getpass
import io
import os
import re
import socket
import sys
import tempfile
import time
from pathlib import Path

import pexpect
import pyte
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parents[1] / "guides"
COLUMNS, LINES = 92, 30
PATIENCE = 120
PROMPT = "default>"
METASTORE = ("--metastore", "sqlite:///metastore.db", "--warehouse", "warehouse")
# The same number of characters, so that columns stay where they are.
VARYING = (
    (re.compile(r"(?<=│) +\d+ │ +\d+ (?=│ default)"), "   2 │         1 "),
    (re.compile(r"/tmp/tmp\w{8}"), "/home/ann/orders"),
    (re.compile(r"\(\d+\.\d{3} seconds\)"), "(0.012 seconds)"),
    (re.compile(re.escape(socket.gethostname())), "etl1"),
    (re.compile(rf"\b{re.escape(getpass.getuser())}\b"), "ann"),
)
TABLE = (
    "CREATE TABLE stock (id INT, item STRING, n INT) STORED AS ORC "
    "TBLPROPERTIES ('transactional'='true');\r"
)
TOP = "hivesql top --once --metastore sqlite:///metastore.db --outputformat table"
ROWS = "INSERT INTO stock VALUES (1, 'bolt', 10), (2, 'nut', 25), (3, 'washer', NULL);\r"


class Recorder:
    """A shell, and the screen that a person would see."""

    def __init__(self, home: Path) -> None:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(home),
            "TERM": "xterm-256color", "LANG": "C.UTF-8", "PAGER": "cat",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }  # fmt: skip
        self.screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.Stream(self.screen)
        self.process = pexpect.spawn(
            sys.executable, ["-m", "hivesql_repl", *METASTORE], cwd=str(home), env=environment,
            dimensions=(LINES, COLUMNS), encoding="utf-8", timeout=PATIENCE,
        )  # fmt: skip

    def press(self, keys: str, until: str) -> None:
        """Press keys, and read until the last line that has anything shows a text, and no more."""
        self.process.send(keys)
        while not self._is_shown(until):
            self._stream.feed(self.process.read_nonblocking(4096, PATIENCE))
        self._read_rest()

    def _is_shown(self, text: str) -> bool:
        shown = [line.rstrip() for line in self.screen.display if line.strip()]
        return bool(shown) and re.search(text, "\n".join(shown)) is not None

    def _read_rest(self) -> None:
        """Read what the shell draws later, suggestions for instance."""
        end = time.monotonic() + 2
        while time.monotonic() < end:
            try:
                self._stream.feed(self.process.read_nonblocking(4096, 0.5))
            except pexpect.TIMEOUT:
                continue

    def save(self, name: str, title: str) -> None:
        """Write the screen as it is now, without empty lines below."""
        console = Console(
            record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True,
            color_system="truecolor", legacy_windows=False,
        )  # fmt: skip
        lines = [_line(self.screen, number, console) for number in range(LINES)]
        while lines and not lines[-1].plain.strip():
            lines.pop()
        for line in lines:
            console.print(line, no_wrap=True, crop=True)
        drawn = console.export_svg(
            title=title, theme=MONOKAI, unique_id=name, code_format=_without_fonts()
        )
        (FOLDER / f"{name}.svg").write_text(drawn, encoding="utf-8")


def _without_fonts() -> str:
    """Give the frame of the picture without the fonts of another host."""
    from rich._export_format import CONSOLE_SVG_FORMAT

    return re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def _line(screen: pyte.Screen, number: int, console: Console) -> Text:
    text = Text()
    cells = screen.buffer[number]
    for column in range(screen.columns):
        cell = cells[column]
        style = Style(
            color=_color(cell.fg), bgcolor=_color(cell.bg), bold=cell.bold,
            underline=cell.underscore, reverse=cell.reverse, italic=cell.italics,
        )  # fmt: skip
        text.append(cell.data, style)
    for pattern, written in VARYING:
        for match in reversed(list(pattern.finditer(text.plain))):
            start, end = match.span()
            width = max(end - start, len(written))
            rest = text.plain[end:]
            room = len(rest) - len(rest.lstrip(" "))
            taken = min(room, width - (end - start))
            middle = Text(written.ljust(end - start), text.get_style_at_offset(console, start))
            text = Text.assemble(text[:start], middle, text[end + taken :])
    text.rstrip()
    return text


def _color(name: str) -> str | None:
    if name == "default":
        return None
    if re.fullmatch("[0-9a-f]{6}", name):
        return f"#{name}"
    return "yellow" if name == "brown" else name.replace("bright", "bright_", 1)


def record() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        home = Path(place)
        shell = Recorder(home)
        shell.press("", PROMPT)
        shell.press(TABLE, r"ok \(.*\n(.*\n)?default>$")
        shell.press(ROWS, r"affected.*\ndefault>$")
        shell.save("shell-start", "hivesql")
        shell.press("\x0c", rf"^{PROMPT}$")
        shell.press("SELECT * FROM st", "stock")
        shell.save("shell-completion", "Names are suggested")
        shell.press("\x03", rf"{PROMPT}$")
        shell.press("\x0c", rf"^{PROMPT}$")
        shell.press("SELECT item, n FROM stock WHERE id > 1;\r", r"selected.*\ndefault>$")
        shell.press("SELECT itme FROM stock;\r", r"\^[^$]*\ndefault>$")
        shell.press("SELECT * FROM stcok;\r", r"did you mean[^$]*\ndefault>$")
        shell.save("shell-rows", "Rows, and errors at their place")
        shell.press("\x0c", rf"^{PROMPT}$")
        shell.press("START TRANSACTION;\r", r"default\*>$")
        shell.press("INSERT INTO stock VALUES (4, 'screw', 7);\r", r"affected.*\ndefault\*>$")
        shell.press(f"!sh {TOP}\r", r"table\n[^$]*stock[^$]*default\*>$")
        shell.save("shell-top", "What runs now")
        shell.press("ROLLBACK;\r", rf"\n{PROMPT}$")
        shell.process.send("!quit\r")
        shell.process.expect(pexpect.EOF)
        shell.process.wait()


if __name__ == "__main__":
    record()
