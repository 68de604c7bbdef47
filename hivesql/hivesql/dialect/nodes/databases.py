"""Nodes of what makes and changes databases."""

from __future__ import annotations

from typing import ClassVar

from hivesql.dialect.nodes.own import Own


class CreateDatabase(Own):
    """CREATE DATABASE."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "exists": False, "comment": False, "location": False,
        "managed_location": False, "properties": False,
    }  # fmt: skip
    written = (
        "CREATE DATABASE [IF NOT EXISTS ?exists] @this [COMMENT @comment] [LOCATION @location] "
        "[MANAGEDLOCATION @managed_location] [WITH DBPROPERTIES @properties]"
    )


class AlterDatabase(Own):
    """ALTER DATABASE … SET, which sets one of these; ``owner_type`` is USER, ROLE or GROUP."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True, "properties": False, "owner_type": False, "owner": False,
        "location": False, "managed_location": False,
    }  # fmt: skip
    written = (
        "ALTER DATABASE @this SET [DBPROPERTIES @properties] [OWNER @owner_type @owner] "
        "[LOCATION @location] [MANAGEDLOCATION @managed_location]"
    )
