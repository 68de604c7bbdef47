"""Functions in a Hive Metastore."""

from __future__ import annotations

from typing import Any

from hivesql_executor.metastore.hms.catalog import CatalogCalls
from hivesql_executor.metastore.hms.client import CATALOG, idl
from hivesql_planner.errors import NoSuchObject, SemanticError
from hivesql_planner.model.functions import ResourceKind, StoredFunction, check_function_name

_RESOURCES: tuple[ResourceKind, ...] = ("jar", "file", "archive")
_EXISTS = 10073


class FunctionCalls(CatalogCalls):
    """Calls of Metastore about functions."""

    def create_function(self, function: StoredFunction) -> None:
        """Add a function; SemanticError when its database has one of that name."""
        name, wire = function.name.lower(), idl()
        check_function_name(name)
        self.database(function.database)
        new = wire.Function(
            functionName=name,
            dbName=function.database.lower(),
            className=function.java_class,
            ownerName=function.owner or "",
            ownerType=wire.PrincipalType.USER,
            createTime=function.created_at,
            functionType=wire.FunctionType.JAVA,
            resourceUris=[
                wire.ResourceUri(resourceType=_RESOURCES.index(kind) + 1, uri=place)
                for kind, place in function.resources
            ],
            catName=CATALOG,
        )
        try:
            self._client.call("create_function", new)
        except SemanticError as error:
            if error.code == _EXISTS:
                raise SemanticError(f"Function {name} already exists") from error
            raise

    def drop_function(self, database: str, name: str) -> None:
        """Drop a function; nothing where there is none."""
        try:
            self._client.call("drop_function", database.lower(), name.lower())
        except NoSuchObject:
            return

    def function(self, database: str, name: str) -> StoredFunction | None:
        """Return the function of that name; None where there is none."""
        try:
            answer = self._client.call("get_function", database.lower(), name.lower(), again=True)
        except NoSuchObject:
            return None
        return _read(answer)

    def function_names(self) -> tuple[str, ...]:
        """Return the names of all functions with their databases, sorted."""
        answers = self._client.call("get_all_functions", again=True).functions or ()
        return tuple(sorted(_read(answer).full_name for answer in answers))


def _read(answer: Any) -> StoredFunction:
    return StoredFunction(
        database=answer.dbName, name=answer.functionName, java_class=answer.className,
        owner=answer.ownerName or None, created_at=answer.createTime or 0,
        resources=tuple(
            (_RESOURCES[entry.resourceType - 1], entry.uri) for entry in answer.resourceUris or ()
        ),
    )  # fmt: skip
