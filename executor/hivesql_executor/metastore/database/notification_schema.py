"""The tables of Hive's notification log, under Hive's own names."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, String, Table, Text

from hivesql_executor.metastore.database.schema import metadata

notification_log = Table(
    "NOTIFICATION_LOG",
    metadata,
    Column("NL_ID", BigInteger().with_variant(Integer, "sqlite"), key="id", primary_key=True),
    Column("EVENT_ID", BigInteger(), key="event_id", nullable=False, unique=True),
    Column("EVENT_TIME", BigInteger(), key="time", nullable=False, index=True),
    Column("EVENT_TYPE", String(32), key="type", nullable=False),
    Column("CAT_NAME", String(256), key="catalog", server_default="hive"),
    Column("DB_NAME", String(128), key="database"),
    Column("TBL_NAME", String(256), key="table"),
    Column("MESSAGE", Text(), key="message", nullable=False),
    Column("MESSAGE_FORMAT", String(16), key="format"),
)
notification_sequence = Table(
    "NOTIFICATION_SEQUENCE",
    metadata,
    Column("NNI_ID", BigInteger().with_variant(Integer, "sqlite"), key="id", primary_key=True),
    Column("NEXT_EVENT_ID", BigInteger(), key="next", nullable=False),
)
"""One row once somebody has asked for a log, and none before."""
