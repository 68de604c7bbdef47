"""The shell in a real terminal: keys in, screen out."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pyte
import pytest
from prompt_toolkit.document import Document

import hivesql
from hivesql_repl.shell.shell import MOST_COLOURED, ShortTexts, ends
from programs import free_port
from tables import LONG

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
PATIENCE = 60

ENDS = {
    "statement": ("SELECT 1;", True),
    "open": ("SELECT 1", False),
    "semicolon in a text": ("SELECT ';", False),
    "semicolon in a comment": ("SELECT 1 -- ;", False),
    "vertical": ("SELECT 1\\G", True),
    "psql's vertical": ("SELECT 1 \\gx", True),
    "psql's end": ("SELECT 1 \\g", True),
    "command": ("!tables", True),
    "leaving": ("quit", True),
    "another shell's": ("\\dt", True),
    "nothing": ("  ", True),
    "two": ("SELECT 1; SELECT 2", False),
}


@pytest.mark.parametrize(("text", "ended"), ENDS.values(), ids=ENDS)
def test_what_enter_runs(text: str, ended: bool) -> None:
    assert ends(text) is ended


def test_long_texts_have_no_colours() -> None:
    def styles(text: str) -> set[str]:
        return {style for style, *_ in ShortTexts().lex_document(Document(text))(0)}

    assert len(styles("SELECT 1")) > 1
    assert styles("SELECT 1" + " + 1" * MOST_COLOURED) == {""}


class Terminal:
    """A shell in a pseudo-terminal, and the screen that a person would see."""

    def __init__(self, home: Path, pager: str = "cat", **environment_of_own: str) -> None:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(home),
            "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": ":".join(sys.path),
            "PAGER": pager, "PROMPT_TOOLKIT_NO_CPR": "1",
            **environment_of_own,
        }  # fmt: skip
        # High enough for a whole test: what scrolls away could not be searched.
        self.screen = pyte.Screen(100, 300)
        self._stream = pyte.Stream(self.screen)
        self._before = ""
        self._lines: dict[int, str] = {}
        self.process = pexpect.spawn(
            sys.executable, ["-m", "hivesql_repl", "--master", "local[1]"],
            cwd=str(home), env=environment, dimensions=(300, 100), encoding="utf-8",
            timeout=PATIENCE,
        )  # fmt: skip

    @property
    def text(self) -> str:
        """The lines of the screen; only those that have changed are put together anew."""
        screen = self.screen
        while screen.dirty:
            number = screen.dirty.pop()
            cells = screen.buffer[number]
            line = "".join(cells[column].data for column in range(screen.columns))
            self._lines[number] = line.rstrip()
        return "\n".join(self._lines[number] for number in range(screen.lines)).rstrip()

    def send(self, keys: str) -> None:
        """Press keys."""
        self._before = self.text
        self.process.send(keys)

    def expect(self, text: str) -> str:
        """Wait until the text is on the screen once more than before the last keys; the screen."""
        known = self._before.count(text)
        while self.text.count(text) <= known:
            try:
                self._stream.feed(self.process.read_nonblocking(4096, PATIENCE))
            except (pexpect.TIMEOUT, pexpect.EOF) as error:
                raise AssertionError(f"{text!r} did not come; the screen:\n{self.text}") from error
        return self.text

    def expect_prompt(self, prompt: str = "default>") -> None:
        """Wait until nothing but the prompt is on the last line."""
        while not self.text.endswith(f"\n{prompt}"):
            self._stream.feed(self.process.read_nonblocking(4096, PATIENCE))

    def run(self, text: str, told: str) -> str:
        """Type a line, press Enter and wait for what comes of it; the screen."""
        self.send(f"{text}\r")
        return self.expect(told)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A shell that has shown its first prompt."""
    opened = Terminal(tmp_path)
    opened.expect("default>")
    yield opened
    opened.process.close(force=True)


@pytest.mark.slow
def test_the_prompt_and_colours_of_ones_own(tmp_path: Path) -> None:
    place = tmp_path / ".config" / "hivesql" / "config.toml"
    place.parent.mkdir(parents=True)
    place.write_text("[shell]\nprompt = '<{database}{star}> '\nstyle = 'monokai'\n")
    terminal = Terminal(tmp_path)
    terminal.expect("<default>")
    terminal.run("START TRANSACTION;", "<default*>")
    terminal.process.close(force=True)
    place.write_text("[shell]\nstyle = 'nosuch'\n")
    terminal = Terminal(tmp_path)
    terminal.expect("there is no 'nosuch' (known: ")
    terminal.process.close(force=True)


@pytest.mark.slow
def test_typing(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("CREATE DATABASE sales;", "ok (")
    terminal.run("USE sales;", "sales>")
    # A statement over several lines.
    terminal.run(f"CREATE TABLE stock (amount INT) {ACID}", "->")
    terminal.run(";", "ok (")
    # Tab completes the table, and the column of its alias.
    terminal.send("EXPLAIN SELECT * FROM sto")
    terminal.expect("stock  table sales")
    terminal.send("\t")
    terminal.expect("FROM stock")
    terminal.send(" x WHERE x.am")
    terminal.expect("amount  column int")
    terminal.send("\t")
    terminal.expect("x.amount")
    assert "└── sales__stock__1 = scan sales.stock" in terminal.run(" = 1;", "rows selected")
    # One value a line.
    assert "tab_name  stock" in terminal.run("SHOW TABLES\\G", "selected")
    # An open transaction shows in the prompt.
    terminal.run("START TRANSACTION;", "sales*>")
    terminal.run("COMMIT;", "sales>")
    # An error shows its place and the shell lives on.
    shown = terminal.run("DELETE FROM nosuch;", "^")
    assert "ERROR: <input>:1:13: [Error 10001]" in shown
    # Ctrl-C throws the input away.
    terminal.send("DROP TABLE stock")
    terminal.expect("DROP TABLE stock")
    terminal.send("\x03")
    terminal.expect("sales>")
    assert "│ stock" in terminal.run("!tables", "1 row selected")
    assert "!outputformat" in terminal.run("!help", "one value a line")
    # Commands as other shells call them.
    terminal.run("\\dt", "1 row selected")
    assert "did you mean !tables?" in terminal.run("!tabels", "!tabels is not a command")
    # Who holds the lock that is waited for, on one line; Ctrl-C ends the waiting.
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", f"{tmp_path}/warehouse") as other:
        other.sql("INSERT INTO sales.stock VALUES (1); START TRANSACTION; DELETE FROM sales.stock")
        terminal.send("DELETE FROM stock WHERE amount = 1;\r")
        terminal.expect(f"waiting for transaction {other.open_transaction} (")
        terminal.send("\x03")
        terminal.expect("nothing that the statement wrote is visible")
        # What cannot be read as a table has one value a line.
        assert "│ 1" not in terminal.run("SHOW LOCKS;", "\nhostname ")
        other.sql("ROLLBACK")
    assert "!nosuch is not a command" in terminal.run("!nosuch", "!sh runs a program")
    # What the next statement gives goes elsewhere, once.
    terminal.run("!once | tr a-z A-Z", "sales>")
    assert "│ STOCK" in terminal.run("SHOW TABLES;", "selected")
    terminal.run("!set maxColumnWidth 3", "sales>")
    assert "│ sto" in terminal.run("SHOW TABLES;", "selected")
    terminal.run("!set maxColumnWidth x", "is a number from 0 on")
    assert "maxColumnWidth    3" in terminal.run("!set", "verbose           false")
    terminal.run("!outputformat csv2", "sales>")
    assert "tab_name\nstock" in terminal.run("SHOW TABLES;", "selected")
    # A pasted script, with line breaks, runs statement by statement.
    terminal.send("\x1b[200~CREATE DATABASE a;\nUSE a;\x1b[201~\r")
    terminal.expect("\na>")
    terminal.process.setwinsize(300, 60)
    terminal.screen.resize(300, 60)
    assert "default" in terminal.run("SHOW DATABASES;", "selected")
    # Narrow now: what is watched is laid out anew, and Ctrl-C gives the prompt back.
    shown = terminal.run("SHOW LOCKS --watch 0.2", "Ctrl-C ends")
    assert "no rows" in shown
    with hivesql.connect(f"sqlite:///{tmp_path}/metastore.db", f"{tmp_path}/warehouse") as other:
        other.sql("START TRANSACTION; INSERT INTO sales.stock VALUES (1)")
        terminal.send("")
        terminal.expect("│ stock │ ACQUIRED ")
        other.sql("ROLLBACK")
    terminal.send("\x03")
    # What is drawn over what was watched may cover an earlier prompt.
    terminal.expect_prompt("a>")
    terminal.send("\x04")
    terminal.process.expect(pexpect.EOF)
    terminal.process.close()
    assert terminal.process.exitstatus == 0
    history = (tmp_path / ".local/state/hivesql/history").read_text()
    assert "+CREATE DATABASE sales;" in history


@pytest.fixture
def paged(tmp_path: Path) -> Iterator[Terminal]:
    """A shell whose results people read page by page."""
    opened = Terminal(tmp_path, "less" if shutil.which("less") else "head -n 300")
    opened.expect("default>")
    yield opened
    opened.process.close(force=True)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("less"), reason="needs less")
def test_a_pager_that_has_all_rows_is_left_by_its_reader(tmp_path: Path) -> None:
    # One that stays though all fits on the screen.
    terminal = Terminal(tmp_path, "less -+F")
    terminal.expect("default>")
    terminal.run("SHOW DATABASES;", "(END)")
    # Ctrl-C is the pager's own now.
    for keys in ("\x03", "\x03", "q"):
        terminal.send(keys)
    terminal.expect("1 row selected")
    terminal.run("USE default;", "ok (")
    terminal.process.close(force=True)


@pytest.mark.slow
def test_nobody_waits_for_a_spark_that_he_does_not_need(tmp_path: Path) -> None:
    # A Java that never gets ready, until nobody speaks to it any more.
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\nexec cat > /dev/null\n")
    java.chmod(0o755)
    terminal = Terminal(tmp_path, JAVA_HOME=str(tmp_path / "java"))
    terminal.expect("default>")
    terminal.run(f"CREATE TABLE stock (id INT) {ACID};", "ok (")
    terminal.run("INSERT INTO stock VALUES (1);", "1 row affected")
    assert "starting Spark" not in terminal.text
    terminal.send("SELECT explode(array(1));\r")
    terminal.expect("starting Spark")
    terminal.send("\x03")
    terminal.expect(": cancelled")
    terminal.expect_prompt()
    terminal.send("\x04")
    terminal.process.expect(pexpect.EOF)
    terminal.process.close()
    assert terminal.process.exitstatus == 0


TYPED = (
    ("\\dt st*", "1 row selected"), (".tables st%", "1 row selected"),
    ("\\dt default.st*", "1 row selected"), ("\\l", "database_name"), ("\\dv", "0 rows selected"),
    ("\\df *date_a*", "date_add"), ("\\d stock", "int"), ("\\d+ stock", "# Detailed Table"),
    (".schema stock", "CREATE TABLE `stock`"), ("!columns stock", "col_name"),
    ("SHOW TABLES \\gx", "tab_name  stock"), ("SHOW TABLES \\g", "│ stock"),
    ("\\x on", "one value a line: yes"), ("SHOW TABLES;", "tab_name  stock"),
    ("\\x off", "where rows are too wide"), ("\\copy stock from v.csv", "LOAD DATA LOCAL INPATH"),
    (".import v.csv stock", "INTO TABLE t;"), (".dump", "rows are written by"),
    ("\\set a 1", "SET hivevar:NAME=VALUE;"), ("\\i nosuch.hql", "nosuch.hql: No such file"),
    ("\\o rows.txt", "results go to rows.txt"), ("\\o", "results are shown"),
    ("\\! echo a$((1+1))b", "a2b"), (".shell echo c$((1+1))d", "c2d"),
    ("\\timing off", "times: off"), (".timer on", "times: on"), ("\\pset pager off", "pager off"),
    ("\\ns names SHOW TABLES LIKE '$1'", "default>"), ("\\n names st*", "1 row selected"),
    ("\\nd names", "default>"), ("\\n names", "no statement is saved as names"),
    ("\\conninfo", "transaction  none is open"), (".show", "format       table"),
    ("\\c nosuch", "Database does not exist"), ("!histroy", "did you mean !history?"),
    ("SELECT nmae FROM stock;", "did you mean name?"),
)  # fmt: skip


@pytest.mark.slow
def test_what_users_of_other_shells_type(terminal: Terminal) -> None:
    terminal.run(f"CREATE TABLE stock (id INT, name STRING) {ACID};", "ok (")
    for typed, told in TYPED:
        terminal.run(typed, told)
    # What was typed is searched; before there is a prompt the key is the terminal's own.
    terminal.expect_prompt()
    terminal.send("\x12")
    terminal.expect("search")
    terminal.send("CREATE TAB")
    terminal.expect("CREATE TABLE stock (id")
    terminal.send("\x03")
    terminal.expect_prompt()
    # F4 changes to vi's keys, by which a line is deleted.
    terminal.send("\x1bOSnosuch word")
    terminal.expect("nosuch word")
    terminal.send("\x1b")
    terminal.send("ddi")
    terminal.run("SHOW DATABASES;", "1 row selected")


@pytest.mark.spark
@pytest.mark.slow
def test_ctrl_c_stops_a_statement_and_keeps_the_session(paged: Terminal) -> None:
    terminal = paged
    # While Spark starts, which takes seconds, the prompt comes back at once.
    terminal.send("SELECT explode(array(1, 2));\r")
    terminal.expect("starting Spark")
    terminal.send("\x03")
    # It wrote nothing that could be visible.
    terminal.expect(": cancelled")
    assert "visible" not in terminal.run("SHOW TABLES;", "0 rows selected")
    # Who leaves the pager early leaves nothing else.
    terminal.send("SELECT posexplode(split(space(99999), ' ')) AS (pos, val);\r")
    terminal.expect("│ 100 ")
    terminal.send("q")
    assert "100,000" not in terminal.expect("rows had been read")
    # Ctrl-C in the pager, while more rows come, ends both.
    terminal.send(
        "SELECT pos + 200000 FROM (SELECT posexplode(split(space(99999), ' ')) AS (pos, val));\r"
    )
    terminal.expect("│ 200100 ")
    terminal.send("\x03")
    terminal.expect_prompt()
    terminal.run("SHOW DATABASES;", "1 row selected")
    terminal.run(f"CREATE TABLE t (id BIGINT) {ACID};", "ok (")
    terminal.run("INSERT INTO t VALUES (1);", "1 row affected")
    terminal.run("SET spark.sql.adaptive.enabled=false;", "ok (")
    terminal.run("SET spark.sql.shuffle.partitions=200;", "ok (")
    terminal.send(f"INSERT INTO t {LONG};\r")
    terminal.expect("tasks, 1 running")
    terminal.send("\x03")
    shown = terminal.expect("nothing that the statement wrote is visible")
    assert "ERROR" in shown
    terminal.run("SET spark.sql.shuffle.partitions=1;", "ok (")
    # The one core is free again and the aborted transaction holds no lock.
    assert "│   1 │" in terminal.run("SELECT count(*) FROM t;", "1 row selected")
    assert "0 rows selected" in terminal.run("SHOW LOCKS;", "selected")
    assert "aborted" in terminal.run("SHOW TRANSACTIONS;", "selected").lower()
    terminal.run("UPDATE t SET id = 2;", "1 row affected")


@pytest.mark.slow
def test_beelines_connect_leads_to_a_server_and_back(terminal: Terminal, tmp_path: Path) -> None:
    serve, port = [sys.executable, "-m", "hivesql_repl", "serve"], free_port()
    users = ["--password-file", str(tmp_path / "users")]
    subprocess.run([*serve, *users, "--add-user", "ann"], input="hidden7\n", text=True, check=True)
    there = tmp_path / "there"
    there.mkdir()
    with subprocess.Popen(
        [*serve, *users, "--port", str(port), "--lazy-spark"],
        cwd=there, stderr=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stderr is not None
        while "serving" not in server.stderr.readline():
            assert server.poll() is None
        url = f"jdbc:hive2://127.0.0.1:{port}/"
        terminal.run("CREATE DATABASE here;", "ok (")
        assert "the URL of a HiveServer2 is wanted" in terminal.run("!connect", "--warehouse PLACE")
        terminal.run("!connect jdbc:hive2:///here", "here>")
        # A wrong password: beeline says so, and stays.
        terminal.run(f"!connect {url} ann wrong7", "Error validating the login")
        terminal.expect("beeline>")
        terminal.run("!quit", "here>")
        terminal.run(f"!connect {url} ann", "password of ann")
        terminal.run("hidden7", f"0: {url}>")
        terminal.run("CREATE DATABASE only_there;", "No rows affected")
        assert "| only_there" in terminal.run("SHOW DATABASES;", "2 rows selected")
        terminal.run("!quit", "here>")
        assert "│ only_there" not in terminal.run("SHOW DATABASES;", "2 rows selected (")
        server.terminate()
        assert server.wait(60) == 0
    # What a program says of its failure is on the screen, not in the file of Java's noise.
    terminal.run("!sh ls /nosuch7", "cannot access")
    history = (tmp_path / ".local/state/hivesql/history").read_text()
    assert f"+!connect {url} ann\n" in history
    assert "wrong7" not in history and "hidden7" not in terminal.text


@pytest.mark.slow
def test_a_dumb_terminal_and_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    """A pager would wait there for a key; history and log have no place."""
    terminal = Terminal(tmp_path, "less", TERM="dumb", HOME="/proc")
    terminal.expect("What is typed is forgotten at the end")
    terminal.expect("default>")
    terminal.run("SHOW DATABASES;", "1 row")
    terminal.send("!quit\r")
    terminal.process.expect(pexpect.EOF)
