"""Which function binds an ALTER."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hivesql.binder.alter import bind_alter, bind_alter_database, bind_alter_view, bind_rename
from hivesql.binder.context import Binding
from hivesql.binder.partitions import (
    bind_add_partitions,
    bind_alter_partitions,
    bind_drop_partitions,
    bind_exchange,
    bind_move_partition,
    bind_rename_partition,
    bind_tell_statistics,
    bind_touch,
)
from hivesql.syntax.alter import (
    AddPartitionsBody,
    AlterBodies,
    AlterBody,
    AlterDatabaseBody,
    AlterPartitionsBody,
    AlterViewBody,
    DropPartitionsBody,
    ExchangeBody,
    MovePartitionBody,
    RenameBody,
    RenamePartitionBody,
    TellStatisticsBody,
    TouchBody,
)
from hivesql_planner.statements.bound import Statement

_BINDERS: dict[type, Callable[[Any, Binding], Statement]] = {
    AlterBody: bind_alter,
    AlterViewBody: bind_alter_view,
    AlterDatabaseBody: bind_alter_database,
    RenameBody: bind_rename,
    RenamePartitionBody: bind_rename_partition,
    MovePartitionBody: bind_move_partition,
    AlterPartitionsBody: bind_alter_partitions,
    ExchangeBody: bind_exchange,
    TellStatisticsBody: bind_tell_statistics,
    TouchBody: bind_touch,
    AddPartitionsBody: bind_add_partitions,
    DropPartitionsBody: bind_drop_partitions,
}


def bind_alteration(body: AlterBodies, binding: Binding) -> Statement:
    """Bind one of them."""
    return _BINDERS[type(body)](body, binding)
