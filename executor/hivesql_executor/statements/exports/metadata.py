"""The file ``_metadata`` of an export, as Hive 4 writes it (EximUtil).

It is JSON, in which the table and each partition are texts: Thrift's structs of the metastore's
interface in Thrift's own JSON protocol.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hivesql_executor.bookkeeping.reachable_locations import named_path
from hivesql_executor.metastore.hms.client import idl
from hivesql_executor.metastore.hms.tables import (
    read_partition,
    read_table,
    write_partition,
    write_table,
)
from hivesql_executor.metastore.thrift_interface import require_thrift
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.statistics import ACCURATE, BASICS
from hivesql_planner.model.table import Partition, Table
from hivesql_planner.statements.export import METADATA, Dump

_VERSION = "0.2"
"""What Hive 3 and 4 write and read."""
_CATALOG = "hive"
_OF_REPLICATION = "repl.scope"
_NO_EXPORT = (ValueError, KeyError, TypeError, AttributeError, AssertionError, IndexError)


def require_package(statement: str) -> None:
    """SemanticError for EXPORT or IMPORT where the package of Thrift is missing."""
    require_thrift(needed_by=f"{statement}, whose metadata are Thrift's,", extra="hms")


def write_export(table: Table, partitions: tuple[Partition, ...]) -> bytes:
    """Return the contents of the file that describes a table and its partitions."""
    described = write_table(table)
    for key in (*BASICS, ACCURATE):
        # The metastore counts what comes in.
        described.parameters.pop(key, None)
    described.catName = _CATALOG
    parts = []
    for partition in partitions:
        part = write_partition(partition, table)
        part.catName = _CATALOG
        parts.append(_write_struct(part))
    document = {"version": _VERSION, "table": _write_struct(described), "partitions": parts}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def read_export(text: str, runtime: Runtime) -> Dump:
    """Describe the export at a path; SemanticError 10027 where there is none that is whole."""
    path = named_path(text, runtime, local=False)
    files, place = runtime.files(path), f"{path}/{METADATA}"
    if not files.is_file(place):
        raise SemanticError(f"Invalid path '{text}': there is no {place}", code=10027)
    require_package("IMPORT")
    contents = files.read(place, 0, files.size(place))
    try:
        document = json.loads(contents)
        version, is_of_replication = str(document["version"]), _OF_REPLICATION in document
        wire = idl()
        table = _read_struct(document["table"], wire.Table())
        parts = [_read_struct(part, wire.Partition()) for part in document["partitions"]]
    except _NO_EXPORT as error:
        raise SemanticError(
            f"Invalid path '{text}': {place} is no metadata of an export: {error!r}", code=10027
        ) from error
    if is_of_replication:
        raise NotSupported(f"IMPORT of {path}, which was made for replication")
    if version.split(".") > _VERSION.split("."):
        raise NotSupported(f"IMPORT of an export of version {version}: {place}")
    if table.sd is None or table.sd.serdeInfo is None:
        raise SemanticError(f"Invalid path '{text}': {place} describes no table", code=10027)
    described = replace(read_table(table, ()), location="", owner="", id=0)
    read = (read_partition(part, described) for part in parts)
    return Dump(path=path, table=described, partitions=tuple(read))


def _write_struct(struct: Any) -> str:
    """Return a struct in Thrift's JSON: the protocol writes messages, whose last part it is."""
    from thriftpy2.protocol.apache_json import TApacheJSONProtocol
    from thriftpy2.transport import TMemoryBuffer

    buffer = TMemoryBuffer()
    protocol = TApacheJSONProtocol(buffer)
    protocol.write_message_begin("", 0, 0)
    protocol.write_struct(struct)
    *_, written = json.loads(buffer.getvalue())
    return json.dumps(written, separators=(",", ":"), ensure_ascii=False)


def _read_struct(text: str, struct: Any) -> Any:
    """Fill a struct from Thrift's JSON, which the protocol reads as the last part of a message.

    Fields that are not known here are passed over, as Thrift's other protocols do.
    """
    from thriftpy2.protocol.apache_json import TApacheJSONProtocol
    from thriftpy2.transport import TMemoryBuffer

    class Lenient(TApacheJSONProtocol):
        def _dict_to_thrift(self, data: Any, base_type: Any) -> Any:
            known = getattr(base_type, "thrift_spec", None)
            if known is not None and isinstance(data, dict):
                data = {key: value for key, value in data.items() if int(key) in known}
            return super()._dict_to_thrift(data, base_type)

    message = json.dumps([1, "", 0, 0, json.loads(text)])
    protocol: Any = Lenient(TMemoryBuffer(message.encode()))  # type: ignore[no-untyped-call]
    protocol.read_message_begin()
    return protocol.read_struct(struct)
