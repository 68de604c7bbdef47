"""The structs of the Thrift interface, made from its description when they are first needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from hivesql_planner.errors import SemanticError

CATALOG = "hive"
"""The only catalog that tables are looked for in."""


@cache
def idl() -> Any:
    """The module with all structs and the service; SemanticError without the extra ``hms``."""
    try:
        import thriftpy2
    except ImportError as error:
        raise SemanticError(
            "a Hive Metastore needs the package thriftpy2: pip install 'hivesql[hms]'"
        ) from error
    path = Path(__file__).with_name("hive_metastore.thrift")
    return thriftpy2.load(str(path), module_name="hivesql_hive_metastore_thrift")
