"""Roles and privileges, in Hive's tables; owners get what they would have got from the first."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(128)


def upgrade() -> None:
    """Add the tables, the two roles that are always there, and the privileges of owners."""
    op.create_table(
        "ROLES",
        sa.Column("ROLE_ID", _ID, primary_key=True),
        sa.Column("CREATE_TIME", sa.Integer(), nullable=False),
        sa.Column("OWNER_NAME", _NAME),
        sa.Column("ROLE_NAME", _NAME, unique=True),
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    _create_grants(
        "ROLE_MAP", "ROLE_GRANT_ID",
        sa.Column("ADD_TIME", sa.Integer(), nullable=False), sa.Column("ROLE_ID", _ID),
    )  # fmt: skip
    for name, key, owner, privilege, index in (
        ("DB_PRIVS", "DB_GRANT_ID", "DB_ID", "DB_PRIV", "DBPRIVILEGEINDEX"),
        ("TBL_PRIVS", "TBL_GRANT_ID", "TBL_ID", "TBL_PRIV", "TABLEPRIVILEGEINDEX"),
    ):
        _create_grants(
            name, key,
            sa.Column("CREATE_TIME", sa.Integer(), nullable=False), sa.Column(owner, _ID),
            sa.Column(privilege, _NAME), sa.Column("AUTHORIZER", _NAME),
        )  # fmt: skip
        op.create_index(index, name, [owner], if_not_exists=True)
    db, now = op.get_bind(), int(time.time())
    for role in ("admin", "public"):
        db.execute(
            sa.text(
                'INSERT INTO "ROLES" ("CREATE_TIME", "OWNER_NAME", "ROLE_NAME") '
                "SELECT :now, :role, :role WHERE NOT EXISTS "
                '(SELECT 1 FROM "ROLES" WHERE "ROLE_NAME" = :role)'
            ).bindparams(sa.bindparam("role", role, _NAME)),
            {"now": now},
        )
    for privilege in ("SELECT", "INSERT", "UPDATE", "DELETE"):
        db.execute(
            sa.text(
                'INSERT INTO "TBL_PRIVS" ("CREATE_TIME", "TBL_ID", "TBL_PRIV", "AUTHORIZER", '
                '"GRANT_OPTION", "GRANTOR", "GRANTOR_TYPE", "PRINCIPAL_NAME", "PRINCIPAL_TYPE") '
                """SELECT "CREATE_TIME", "TBL_ID", :privilege, 'SQL', 1, "OWNER", 'USER', """
                """"OWNER", 'USER' FROM "TBLS" WHERE "OWNER" IS NOT NULL """
                """AND COALESCE("OWNER_TYPE", 'USER') = 'USER'"""
            ).bindparams(sa.bindparam("privilege", privilege, _NAME))
        )


def _create_grants(name: str, key: str, *columns: sa.Column[object]) -> None:
    op.create_table(
        name,
        sa.Column(key, _ID, primary_key=True),
        *columns,
        sa.Column("GRANT_OPTION", sa.SmallInteger(), nullable=False),
        sa.Column("GRANTOR", _NAME),
        sa.Column("GRANTOR_TYPE", _NAME),
        sa.Column("PRINCIPAL_NAME", _NAME),
        sa.Column("PRINCIPAL_TYPE", _NAME),
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
