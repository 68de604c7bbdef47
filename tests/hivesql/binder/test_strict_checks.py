"""What hive.strict.checks.* refuse; the outcomes are those of Hive 4.1."""

from __future__ import annotations

import pytest

from hivesql.binder.statement import bind
from hivesql.dialect.statements.statement import parse
from hivesql.script import StatementText
from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.settings import Settings
from memory_catalog import INSERT_ONLY, MemoryCatalog, table

CATALOG = MemoryCatalog.of(
    table("ro", "a int, b bigint, s string", "p int", properties={}),
    table("np", "a int, b int", properties={}),
    table("ac", "a int", "p int"),
    table("only", "a int", "p int", properties=INSERT_ONLY),
    table("whole", "a int, p int", properties={}, type="VIRTUAL_VIEW",
          view_text="SELECT a, p FROM default.ro"),
)  # fmt: skip
# Each statement with whether Hive runs it, by the check that is on.
ANSWERS = {
    "orderby.no.limit": {
        "select * from ro order by a": False,
        "select * from ro where p = 1 order by a": False,
        "select a from np order by a limit 1": True,
        "select * from (select * from ro order by a limit 3) q": True,
        "select * from (select a from np order by a) x": True,
        "with c as (select a from np order by a) select * from c": True,
        "select a from np sort by a": False,
        "select a from np cluster by a": True,
        "select a from np distribute by a": True,
        "select a, row_number() over (order by a) from np": True,
        "select a from np union all select b from np order by a": False,
        "select * from np where a in (select a from np order by a)": False,
        "create table ct as select * from ro order by a": False,
        "create view vo as select a from np order by a": False,
        "insert into np select a, 1 from np order by a": False,
        "explain select a from np order by a": False,
    },
    "no.partition.filter": {
        "select * from np": True,
        "select * from ro limit 1": False,
        "select * from ro where a = 1": False,
        "select * from ro where p > 0": True,
        "select * from ro where p = p": True,
        "select * from ro where p is not null": True,
        "select * from ro where p + 1 = 2": True,
        "select * from ro where p in (1, 2) and a = 1": True,
        "select * from ro where p = 1 or a = 1": False,
        "select * from ro where not (p <> 1 or a = 1)": True,
        "select * from ro where p > a": False,
        "select count(*) from ro": False,
        "select count(*) from ro where rand() > p": False,
        "select * from ro r join np n on r.a = n.a": False,
        "select * from ro r join np n on r.a = n.a where r.p = 1": True,
        "select * from ro r join np n on r.p = n.a": True,
        "select * from np left join ro on np.a = ro.p": True,
        "select * from ro left join np on np.a = ro.p": False,
        "select p, count(*) from ro group by p having p = 1": True,
        "select a, max(p) from ro group by a having max(p) = 1": False,
        "select * from (select * from ro) q where p = 1": True,
        "select * from (select a, p x from ro union all select a, p from ac) q where x = 1": True,
        "select * from (select a, p from ro limit 2) q where p = 1": False,
        "with c as (select * from ro) select * from c where p = 1": True,
        "with c as (select * from ro) select * from c": False,
        "select * from whole": False,
        "select * from whole where p = 1": True,
        "select * from np where a in (select a from ro)": False,
        "select * from np where b in (select p from ro)": True,
        "select * from ro where p in (select b from np)": True,
        "select * from ac": False,
        "update ac set a = 1": False,
        "update ac set a = 1 where p = 1": True,
        "delete from ac": True,
        "delete from ac where p = 1": True,
        "merge into ac using np on ac.a = np.a when matched then delete": False,
        "merge into ac using np on ac.a = np.a and ac.p = 1 when matched then delete": True,
        "insert into np select a, 1 from ro": False,
        "create table ct2 as select * from ro": False,
        "create view vp as select * from ro": False,
        "explain select * from ro": False,
        "analyze table ro compute statistics for columns": False,
        "analyze table ro compute statistics": True,
    },
    "cartesian.product": {
        "select * from ro x join np y": False,
        "select * from ro x, np y": False,
        "select * from ro x cross join np y": False,
        "select * from ro x join np y on x.a = y.a": True,
        "select * from ro x join np y on x.a > y.a": False,
        "select * from ro x, np y where x.a = y.a": True,
        "select * from ro x left join np y on x.a < y.a": False,
        "select * from ro x join np y on 1 = 1": False,
        "select * from ro x join np y using (a)": True,
        "select * from np x join np y on x.a = y.a and x.b > 1": True,
        "select * from np x, np y, np z where x.a = z.a and z.b = y.b": True,
        "select * from np x join np y on x.a = 1 and y.a = 1": False,
        "select * from np x join np y on x.a = y.a or x.b = y.b": False,
        "select * from np where a > (select count(*) from ro)": False,
        "select * from np where a = (select max(a) from ro)": True,
        "select * from np where a > (select max(a) from ro where ro.b = np.b)": True,
        "select * from np where exists (select 1 from ro)": False,
        "select * from np where a not in (select a from ro)": False,
        "select * from np where a in (select a from ro)": True,
    },
    "type.safety": {
        "select * from ro where b = '1'": False,
        "select * from ro where b = 1.5": True,
        "select * from ro where b = cast(1.5 as double)": False,
        "select * from ro where s = b": False,
    },
}
CODES = {"no.partition.filter": 10056, "type.safety": 10014}
OFF = Settings.of({f"hive.strict.checks.{check}": "false" for check in ANSWERS})


def outcome(sql: str, settings: Settings) -> SemanticError | None:
    """Bind a statement: the error, if it is refused."""
    try:
        bind(parse(StatementText(sql, "f.hql")), CATALOG, settings=settings)
    except SemanticError as error:
        return error
    return None


@pytest.mark.parametrize("check", ANSWERS)
def test_each_check_refuses_what_hive_refuses(check: str) -> None:
    key = f"hive.strict.checks.{check}"
    on = OFF.with_value(key, "true")
    for sql, runs in ANSWERS[check].items():
        error = outcome(sql, on)
        assert (error is None) == runs, (sql, error)
        if error is not None:
            assert error.code == CODES.get(check), sql
            assert f"set {key} to false" in error.message, sql
            assert error.line == 1, sql
            assert error.column > 1, sql
        assert outcome(sql, OFF) is None, sql


def test_the_mode_decides_about_all_checks() -> None:
    everything = Settings.of({f"hive.strict.checks.{check}": "true" for check in ANSWERS})
    for check, answers in ANSWERS.items():
        for sql, runs in answers.items():
            if not runs:
                assert outcome(sql, Settings.of({"hive.mapred.mode": "strict"})), (check, sql)
            assert outcome(sql, everything.with_value("hive.mapred.mode", "nonstrict")) is None


def test_only_type_safety_is_on_unless_set() -> None:
    refused = {check for check, answers in ANSWERS.items()
               if any(outcome(sql, Settings()) for sql in answers)}  # fmt: skip
    assert refused == {"type.safety"}


def test_the_error_names_the_table_and_its_place() -> None:
    error = outcome("select *\nfrom np join ac on np.a = ac.a",
                    Settings.of({"hive.mapred.mode": "strict"}))  # fmt: skip
    assert error is not None
    assert (error.line, error.column) == (2, 14)
    assert 'No partition predicate for Alias "default.ac" Table "ac"' in str(error)
