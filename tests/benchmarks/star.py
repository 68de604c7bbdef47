"""A fact table in partitions and its dimension: what a warehouse does in a day, as SQL texts.

``{fact}`` and ``{dim}`` are the tables, ``{rows}`` the number of the fact table's rows, which come
from the table ``numbers``. A MERGE of ``{few}`` rows changes one in ``{step}``.
"""

from __future__ import annotations

CUSTOMERS = 100_000
DAYS = 30
FACT = (
    "id bigint, cust int, qty int, price double, amount decimal(12,2), note string, "
    "code string, ts timestamp"
)
DAY = "day string"
DIMENSION = "cust int, name string, region string, since int, is_current boolean"

_DAY = f"concat('2024-01-', lpad(cast({{id}} % {DAYS} + 1 as string), 2, '0'))"
_FACT_OF = (
    f"{{id}} AS id, cast({{id}} * 31 % {CUSTOMERS} as int) AS cust, cast({{id}} % 17 as int) AS "
    "qty, {id} / 7.0D AS price, cast({id} % 1000000 / 100 as decimal(12,2)) AS amount, "
    "concat('note ', {id} % 5000) AS note, concat('c', {id} % 40) AS code, "
    "cast(date_add(DATE '2020-09-13', cast({id} % 5000 as int)) as timestamp) AS ts, "
    f"{_DAY} AS day"
)
_NAMES = "id, cust, qty, price, amount, note, code, ts, day"
_INSERT = f"INSERT ({_NAMES}) VALUES ({', '.join('s.' + name for name in _NAMES.split(', '))})"
_STAR = (
    "SELECT d.region, count(*), sum(f.amount), sum(f.qty) FROM {fact} f "
    "JOIN {dim} d ON f.cust = d.cust WHERE d.is_current GROUP BY d.region ORDER BY d.region"
)
_WIDE = (
    "SELECT count(*), sum(id), sum(cust), sum(qty), sum(cast(price AS bigint)), sum(amount), "
    "max(note), max(code), max(ts), max(day) FROM {fact}"
)
# Half of its rows are new, half change others, each of the five its own. With a {step} that is no
# multiple of the days they are in all of them.
_MERGE_FEW = (
    "MERGE INTO {fact} t USING (SELECT " + _FACT_OF + " FROM (SELECT if(i < {few} / 2, "
    "i * {step} + {shift}, {rows} * 2 + (i + {shift} * 1000) * 30) AS n FROM "
    "(SELECT posexplode(split(space({few} - 1), ' ')) AS (i, blank)) x) y) s ON t.id = s.id "
    "{of_day}WHEN MATCHED THEN UPDATE SET qty = s.qty + 1 WHEN NOT MATCHED THEN " + _INSERT
)
FEW = 100
MERGES = 5


def _merge_few(shift: int, of_day: str) -> str:
    text = _MERGE_FEW.replace("{id}", "n")
    return text.replace("{shift}", str(shift)).replace("{of_day}", of_day)


STATEMENTS: dict[str, tuple[str, ...]] = {
    "load": ("INSERT INTO {fact} SELECT " + _FACT_OF.replace("{id}", "id") + " FROM numbers",),
    "dimension": (
        "INSERT INTO {dim} SELECT cast(id as int), concat('customer ', id), "
        f"concat('region ', id % 25), 1, true FROM numbers WHERE id < {CUSTOMERS}",
    ),
    "star": (_STAR,),
    "wide": (_WIDE,),
    "bydays": ("SELECT day, count(*) FROM {fact} GROUP BY day ORDER BY day",),
    "updateday": ("UPDATE {fact} SET qty = qty + 1 WHERE day = '2024-01-07'",),
    "cdc": (
        "MERGE INTO {fact} t USING (SELECT " + _FACT_OF.replace(
            "{id}", "(id + if(id % 200 = 109, {rows}, 0))"
        ) + " FROM numbers WHERE id % 100 = 9) s ON t.id = s.id "
        "WHEN MATCHED AND s.id % 1000 = 9 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET qty = s.qty + 1, note = concat(s.note, '!') "
        "WHEN NOT MATCHED THEN " + _INSERT,
    ),
    "scd2": (
        "MERGE INTO {dim} t USING (SELECT cust AS key, cust, name, region FROM {dim} WHERE "
        "is_current AND cust % 50 = 3 UNION ALL SELECT cast(null as int), cust, name, region "
        "FROM {dim} WHERE is_current AND cust % 50 = 3) s "
        "ON t.cust = s.key AND t.is_current WHEN MATCHED THEN UPDATE SET is_current = false "
        "WHEN NOT MATCHED THEN INSERT (cust, name, region, since, is_current) "
        "VALUES (s.cust, s.name, concat(s.region, '!'), 2, true)",
    ),
    "deletecust": (
        "DELETE FROM {fact} WHERE cust IN (SELECT cust FROM {dim} WHERE cust % 100 = 8)",
    ),
    "fewmerges": tuple(_merge_few(100 + i, "") for i in range(MERGES)),
    "daymerges": tuple(
        _merge_few(121 + 30 * i, "AND t.day = '2024-01-02' ") for i in range(MERGES)
    ),
    "groups": (
        "SELECT cust % 1000 AS c, code, count(*), sum(amount), round(avg(price), 3) FROM {fact} "
        "GROUP BY cust % 1000, code ORDER BY c, code LIMIT 20",
    ),
    "distinct": (
        "SELECT count(DISTINCT cust), count(DISTINCT note), count(DISTINCT id) FROM {fact}",
    ),
    "window": (
        "SELECT max(r) FROM (SELECT row_number() OVER (PARTITION BY cust ORDER BY ts, id) AS r "
        "FROM {fact}) x",
    ),
    "texts": (
        "SELECT count(*) FROM {fact} WHERE note LIKE '%99%' AND upper(code) <> 'C3' AND price > 10",
    ),
}  # fmt: skip
QUERIES = ("star", "wide", "bydays", "groups", "distinct", "window", "texts")
OPERATIONS = (
    "load", "dimension", "star", "wide", "bydays", "updateday", "cdc", "scd2", "star changed",
    "wide changed", "deletecust", "fewmerges", "daymerges", "star changed again",
    "wide changed again",
)  # fmt: skip
ENGINES = (
    "load", "dimension", *QUERIES, "cdc", "deletecust",
    *(f"{query} changed" for query in QUERIES),
)  # fmt: skip
