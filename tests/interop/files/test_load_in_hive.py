"""Files that LOAD DATA put into an ACID table, in real Hive."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interop import hive
from interop.ours import Warehouse

pytestmark = [pytest.mark.hive, pytest.mark.spark, pytest.mark.slow]

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def test_hive_sees_the_row_ids_that_we_see(open_ours: Callable[[str], Warehouse]) -> None:
    ours = open_ours("ours")
    ours.run(f"""
        CREATE TABLE staged (id INT, v STRING) STORED AS ORC
            TBLPROPERTIES ('transactional'='false');
        INSERT INTO staged VALUES (1, 'a'), (2, 'b'), (3, 'c');
        CREATE TABLE t (id INT, v STRING) {ACID};
        INSERT INTO t VALUES (100, 'pre');
        LOAD DATA LOCAL INPATH '{ours.directory("staged")}' INTO TABLE t;
        UPDATE t SET v = 'B' WHERE id = 2;
        DELETE FROM t WHERE id = 3;
        CREATE TABLE u (id INT, v STRING) {ACID};
        INSERT INTO u VALUES (100, 'gone');
        LOAD DATA INPATH '{ours.directory("staged")}' OVERWRITE INTO TABLE u;
        DELETE FROM u WHERE id = 1;
    """)
    for table, count in (("t", 3), ("u", 2)):
        assert len(ours.rows(table)) == count
        assert hive.read(ours.directory(table)) == ours.rows(table)
