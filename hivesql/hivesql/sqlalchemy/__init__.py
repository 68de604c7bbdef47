"""SQLAlchemy's dialect ``hivesql``: engines, reflection, DDL and DML.

``create_engine("hivesql:////data/warehouse?metastore=sqlite:////data/metastore.db")``: the path is
the warehouse's directory; ``metastore`` and ``database`` are arguments of ``hivesql.connect``, all
others are settings (``hive.lock.numretries=5``, ``spark.master=local[2]``).
"""

from sqlalchemy.dialects import registry

from hivesql.sqlalchemy.dialect import HiveSqlDialect
from hivesql.sqlalchemy.types import TINYINT, HiveType

__all__ = ["TINYINT", "HiveSqlDialect", "HiveType"]

# The entry point says the same where the distribution is installed.
for name in ("hivesql", "hivesql.hivesql"):
    registry.register(name, "hivesql.sqlalchemy", "HiveSqlDialect")
