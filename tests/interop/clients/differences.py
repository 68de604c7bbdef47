"""How answers to JDBC may differ from those of Hive 4.1's own HiveServer2, and why.

What is about a driver's questions is told to users too: the server's part of ``docs/LIMITS.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines that one side has, or both have otherwise: those that begin with a pattern."""

    asked: str
    """A pattern of the whole statement or question."""
    lines: str
    reason: str

    def is_about(self, asked: str) -> bool:
        """Whether the answers to it may differ so."""
        return re.fullmatch(self.asked, asked, re.DOTALL) is not None

    def without(self, lines: Sequence[str]) -> list[str]:
        """The other lines."""
        return [line for line in lines if not re.match(self.lines, line)]


_PLACE = "we say where in the text"
_NO_INDEXES = "to Hive 4 it is no statement, and we say that there is no such thing (0A000)"
IN_METADATA = (
    Difference("table types|kinds of tables, .*", "row (INDEX_TABLE|TABLE)$",
               "Hive has had no indexes since 3.0, and says TABLE once for each kind that is one"),
    Difference("types", "row (CHAR|VARCHAR)[|]", "Hive says that a case counts in STRING alone"),
    Difference("types", "row USER_DEFINED", "no column can have that type"),
    Difference("tables ('T_%'|of no kind|of a tree)", "row [|]doors[|]tmp[|]",
               "Hive hides temporary tables"),
    Difference("no such schema", "error ", _PLACE),
    Difference("set .*=other", "error ", "Hive has the code 1 for all that SET refuses"),
    Difference("a database that is not there", "error ", "other words behind the same beginning"),
    Difference("prepared index", "error ", _NO_INDEXES),
    Difference("tables 't[.]all'", "row ", "to Hive a dot is any character"),
    Difference("tables ''", "row ", "to Hive the empty pattern is the empty name, in getTables"),
    Difference("tables of kind (EXTERNAL|INDEX)_TABLE|views, (classic|other)", "row ",
               "Hive forgets kinds that it does not know, and lists all"),
    Difference("columns", "row null[|]doors[|]pk[|]u[|]", "Hive does not tell a column's default"),
    Difference("columns C_I%", "row null[|]doors[|]t_all[|]c_i[|]",
               "Hive compares names of columns with the pattern's capitals"),
    Difference("cross reference.*", "columns ", "Hive misspells KEY_SEQ"),
    Difference("cross reference.*", "row ",
               "Hive sends 0 as rules: that would be CASCADE, where JDBC has NO ACTION as 3"),
    Difference("functions .*", "row ", "Hive names one class for all functions"),
)  # fmt: skip
_TEXT = "the text is for people, and not all of Thrift's struct"
_CHECKED = "Hive notices it when it runs the statement (08S01), and we before"
IN_STATEMENTS = (
    Difference("(describe|show) .*",
               r".*\b(rawDataSize|transient_lastDdlTime|numFilesErasureCoded)\b",
               "facts that Hive alone stores"),
    Difference("describe extended .*", "row Detailed Table Information", _TEXT),
    Difference("describe formatted (t_ext|mv)|show tblproperties t_ext",
               "row [|]?(COLUMN_STATS_ACCURATE|numFiles|numRows|totalSize)",
               "Hive stores statistics of tables that nobody has written"),
    Difference("describe formatted mv", "row (Storage Desc Params:|[|]serialization.format)",
               "Hive stores less of a view"),
    Difference("describe formatted t_ro partition .*", "row CreateTime:",
               "we do not store when a partition was made"),
    Difference("(describe formatted t_ro nosuch|show partitions t_ext|show roles)", "error ",
               _CHECKED),
    Difference("(describe database|show create database) .*",
               "row (doors[|]|MANAGEDLOCATION|  'WAREHOUSE/doors.db')",
               "Hive has two directories for warehouses, and we one"),
    Difference("show create table .*t(_ro| quo)`?", "row   'trans", "the last line has no comma"),
    Difference("show table extended like t_ro", "row (totalNumberFiles|last(Access|Update)Time|m)",
               "Hive counts files of the layout too, and reads times off the disk"),
    Difference("show transactions", "row .*ABORTED", "they are those of statements before"),
    Difference("show conf .*", "row ", "settings are described in our own words"),
    Difference("show (formatted )?index(es)? .*", "error ", _NO_INDEXES),
    Difference("select 1 c;", "error ", "other words for a semicolon"),
    Difference(", 2 d", "error ", "other words for what is no statement"),
    Difference("show grant user .*", "error ", _CHECKED),
    Difference("explain (cbo )?select .*", ".*", "the plan is another"),
    Difference("explain locks update .*", "row doors[.]t_ro", "Hive lists them in no order"),
    Difference("truncate table t_ext", "error ", _PLACE),
    Difference("show table extended in doors .*", "error ", _PLACE),
)  # fmt: skip
_STATE = "a state that says it"
_MORE = "a code that says it"
IN_ERRORS = {
    "select i + array(1) from t_ro": "in Hive a ClassCastException",
    "create table t_ro (i int)": _STATE,
    "create view v as select 1 c": _STATE,
    "drop view t_ro": _CHECKED,
    "drop table v": _CHECKED,
    "drop database doors": _MORE,
    "describe t_ro nosuch": _CHECKED,
    "insert into nosuch values (1)": _MORE,
    "insert into t_ro partition (p='a', nosuch=1) values (1, 'a')": _MORE,
    "update t_ro set i = 1": "we can",
    "alter table t_ro drop partition (nosuch='a')": _MORE,
    "alter table t_ro add partition (p='a', q=1)": _STATE,
    "alter table t_ro rename to t_io": _CHECKED,
    "create role r": _CHECKED,
    "show grant user a on all": _CHECKED,
    "select assert_true(i > 100) from t_ro": "Hive gives no state to what fails while rows come",
}
