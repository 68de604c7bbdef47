"""Objects of Hive that no statement here makes, changes or shows: each is refused by its name."""

from __future__ import annotations

from hivesql.dialect.tokens import Cursor

_OBJECTS = {
    ("scheduled",): "SCHEDULED QUERY",
    ("resource",): "RESOURCE PLAN",
    ("pool",): "POOL",
    ("trigger",): "TRIGGER",
    ("user", "mapping"): "USER MAPPING",
    ("group", "mapping"): "GROUP MAPPING",
    ("application", "mapping"): "APPLICATION MAPPING",
    ("dataconnector",): "DATACONNECTOR",
    ("connector",): "CONNECTOR",
    ("catalog",): "CATALOG",
}
_STATEMENTS = {
    ("enable", "workload"): "ENABLE WORKLOAD MANAGEMENT",
    ("disable", "workload"): "DISABLE WORKLOAD MANAGEMENT",
    ("replace", "resource"): "REPLACE RESOURCE PLAN",
    ("replace", "active"): "REPLACE ACTIVE RESOURCE PLAN",
}


def refuse_object(cursor: Cursor, verb: str) -> None:
    """Refuse what a verb such as CREATE is said of, where it is nothing that is known here."""
    for words, name in _OBJECTS.items():
        if cursor.at(*words):
            cursor.refuse(f"{verb} {name}")


def refuse_statement(cursor: Cursor) -> None:
    """Refuse the statements of workload management that begin with a word of their own."""
    for words, name in _STATEMENTS.items():
        if cursor.at(*words):
            cursor.refuse(name)
