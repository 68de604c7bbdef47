"""SQLAlchemy: tables from Python, rows in and out, and pandas on top."""

from __future__ import annotations

import pandas as pd
import sqlalchemy as sa

# Where the distribution is installed the dialect is found without this line.
import hivesql.sqlalchemy  # noqa: F401

engine = sa.create_engine("hivesql:///warehouse?metastore=sqlite:///metastore.db")
metadata = sa.MetaData()
visits = sa.Table(
    "visits",
    metadata,
    sa.Column("who", sa.String, nullable=False),
    sa.Column("pages", sa.Integer),
    sa.Column("day", sa.String),
    hivesql_partitioned_by=["day"],
)
metadata.drop_all(engine)
metadata.create_all(engine)

with engine.begin() as connection:
    rows = [{"who": "ann", "pages": 2, "day": "mon"}, {"who": "bob", "pages": 1, "day": "mon"},
            {"who": "ann", "pages": 1, "day": "tue"}]  # fmt: skip
    connection.execute(visits.insert(), rows)

with engine.connect() as connection:
    total = sa.func.sum(visits.c.pages).label("total")
    query = sa.select(visits.c.who, total).group_by(visits.c.who).order_by(visits.c.who)
    print(connection.execute(query).all())
    connection.execute(visits.delete())
    connection.rollback()

found = sa.inspect(engine)
print("partitioned by", found.get_table_options("visits")["hivesql_partitioned_by"])
frame = pd.read_sql(sa.select(visits).where(visits.c.day == "mon"), engine)
print(len(frame), "rows")
engine.dispose()
