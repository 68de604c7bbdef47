"""CREATE and ALTER DATABASE."""

from __future__ import annotations

from dataclasses import replace

from hivesql.binding import Binding
from hivesql.dialect.nodes.parts import name_of, properties_of
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import HiveSqlError
from hivesql_planner.model.names import check_database_name
from hivesql_planner.model.table import Database
from hivesql_planner.statements.bound import CreateDatabase
from hivesql_planner.statements.ddl import AlterDatabase


def bind_create_database(node: exp.Expr, binding: Binding) -> CreateDatabase:
    """CREATE DATABASE."""
    name, comment = name_of(node.this), node.args["comment"]
    binding.check_not_system(name.text, name.start)
    try:
        special = binding.settings.flag("hive.support.special.characters.tablename")
        check_database_name(name.text, special=special)
    except HiveSqlError as error:
        binding.fail(error, name.start)
    managed = node.args["managed_location"]
    database = Database(
        name=name.text, location=node.text("location"), comment=comment and comment.name,
        properties=properties_of(node.args["properties"]),
        managed_location=managed and managed.name,
    )  # fmt: skip
    return CreateDatabase(
        database=database, if_not_exists=node.args["exists"],
        home=binding.catalog.database_home(database),
        exists=binding.known_database(database.name) is not None,
    )  # fmt: skip


def bind_alter_database(node: exp.Expr, binding: Binding) -> AlterDatabase:
    """ALTER DATABASE: properties are added, the rest is replaced."""
    name = name_of(node.this)
    binding.check_not_system(name.text, name.start)
    database = binding.catalog.database(binding.check_database(name))
    after = replace(
        database,
        properties={**database.properties, **properties_of(node.args.get("properties"))},
        owner=node.text("owner").lower() or database.owner,
        owner_type=node.args.get("owner_type") or database.owner_type,
        location=node.text("location") or database.location,
        managed_location=node.text("managed_location") or database.managed_location,
    )
    return AlterDatabase(database=database, altered=after)
