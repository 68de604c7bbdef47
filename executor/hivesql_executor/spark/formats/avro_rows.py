"""Avro container files from and to Arrow batches, on Spark's workers.

A worker may lack this package, so nothing here is imported from it.
"""

from __future__ import annotations

import datetime
import decimal
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import fastavro
import pyarrow as pa

Convert = Callable[[Any], Any]
SYNC = b"hivesql avro \x00\xff\n"
"""The sync marker: sixteen bytes, the last of which is what ends a line of text."""
METADATA = {
    "writer.time.zone": "UTC",
    "writer.proleptic": "true",
    "writer.zone.conversion.legacy": "false",
}
_HEADER = {
    "type": "record",
    "name": "Header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "Magic", "size": 4}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "Sync", "size": 16}},
    ],
}
_CHUNK = 10_000
_GREGORIAN = -141_427
"""The day 1582-10-15, when the hybrid calendar becomes the proleptic one."""
_DAY = 86_400_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_UTC = ("UTC", "GMT", "Z", "Etc/UTC")


def decode_files(
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    names: Sequence[str],
    reader_fields: Mapping[str, Any],
) -> Iterator[pa.RecordBatch]:
    """Rows of files that come as ``path`` and ``content``; other columns are the same in each row.

    ``names``: those of the schema's fields that are in the files, by name without its case.
    ``reader_fields``: fields of the reader's schema, whose defaults fill in for what a file lacks.
    """
    for batch in batches:
        for file in batch.to_pylist():
            try:
                yield from _decoded(file, schema, names, reader_fields)
            except (ValueError, TypeError, LookupError, EOFError) as error:
                message = f"hivesql cannot read {file['path']}: {error or type(error).__name__}"
                raise ValueError(message) from error


def _decoded(
    file: dict[str, Any], schema: pa.Schema, names: Sequence[str], reader_fields: Mapping[str, Any]
) -> Iterator[pa.RecordBatch]:
    header, content = _numbers_for_times(file["content"])
    reader = fastavro.reader(content)
    convert = _decoders(header, schema, names, reader_fields)
    rows: list[Any] = []
    for row in reader:
        rows.append(row)
        if len(rows) == _CHUNK:
            yield _batch(rows, file, schema, convert)
            rows = []
    if rows:
        yield _batch(rows, file, schema, convert)


def _numbers_for_times(content: bytes) -> tuple[Mapping[str, Any], io.BytesIO]:
    """Return a file's metadata, and the file with a schema in which times are plain numbers.

    As in Hive: the calendar is that of the file, not of its schema. What fastavro makes of logical
    types is a table of the whole process, and a worker runs the user's functions too.
    """
    stream = io.BytesIO(content)
    header: Any = fastavro.schemaless_reader(stream, _HEADER, None)
    metadata = header["meta"]
    written = json.loads(metadata["avro.schema"])
    texts = {key: value.decode(errors="replace") for key, value in metadata.items()}
    plain = json.dumps(_without_times(written)).encode()
    changed = io.BytesIO()
    fastavro.schemaless_writer(
        changed, _HEADER, {**header, "meta": {**metadata, "avro.schema": plain}}
    )
    with stream.getbuffer() as buffer:
        changed.write(buffer[stream.tell() :])
    changed.seek(0)
    return {**texts, "avro.schema": written}, changed


def _without_times(schema: Any) -> Any:
    """Return the schema without logical types, but those of decimals."""
    if isinstance(schema, list):
        return [_without_times(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_times(value) if key in ("type", "items", "values", "fields") else value
        for key, value in schema.items()
        if key != "logicalType" or value == "decimal"
    }


def _batch(
    rows: Sequence[Any], file: dict[str, Any], schema: pa.Schema, convert: dict[str, Any]
) -> pa.RecordBatch:
    arrays = []
    for field in schema:
        if field.name in convert:
            name, convert_one = convert[field.name]
            values = [convert_one(row[name] if name else None) for row in rows]
        else:
            values = [file[field.name]] * len(rows)
        arrays.append(pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _decoders(
    header: Mapping[str, Any],
    schema: pa.Schema,
    names: Sequence[str],
    reader_fields: Mapping[str, Any],
) -> dict[str, Any]:
    fields = {field["name"].lower(): field for field in header["avro.schema"]["fields"]}
    hybrid = header.get("writer.proleptic", "false") != "true"
    zone = header.get("writer.time.zone", "UTC")
    zone_info = None if zone in _UTC else ZoneInfo(zone)
    decoders: dict[str, Any] = {}
    for name in names:
        field = fields.get(name)
        kind = schema.field(name).type
        if field is None:
            decoders[name] = None, _constant(kind, reader_fields.get(name))
            continue
        stored = _micros(field["type"])
        reader_type = reader_fields[name]["type"] if name in reader_fields else None
        decoders[name] = field["name"], _decoder(kind, hybrid, zone_info, stored, reader_type)
    return decoders


def _constant(kind: pa.DataType, field: Any) -> Convert:
    """Return the default of a field, as Avro's JSON has it; NULL without one."""
    value = field.get("default") if field else None
    if field and value is not None:
        unit = _micros(field["type"])
        value = _decoder(kind, False, None, unit)(_default(field["type"], value))
    return lambda nothing: value


def _default(schema: Any, value: Any) -> Any:
    if isinstance(schema, list):
        # The default is of the first type.
        return _default(schema[0], value)
    inner = schema.get("type") if isinstance(schema, dict) else schema
    match inner:
        case "bytes" | "fixed":
            raw = value.encode("latin-1")
            if isinstance(schema, dict) and schema.get("logicalType") == "decimal":
                number = decimal.Decimal(int.from_bytes(raw, "big", signed=True))
                return number.scaleb(-schema.get("scale", 0))
            return raw
        case "array":
            return [_default(schema["items"], item) for item in value]
        case "map":
            return {key: _default(schema["values"], item) for key, item in value.items()}
        case "record":
            kinds = {field["name"]: field["type"] for field in schema["fields"]}
            return {key: _default(kinds[key], item) for key, item in value.items()}
        case dict():
            return _default(inner, value)
    return value


def _micros(schema: Any) -> int:
    """Microseconds of a stored unit of time."""
    return 1 if "timestamp-micros" in str(schema) else 1000


def _fields(schema: Any) -> dict[str, Any]:
    """Find the fields of a record in a type of a schema, by names in lower case; {} for none."""
    if isinstance(schema, list):
        return next((fields for branch in schema if (fields := _fields(branch))), {})
    if not isinstance(schema, dict):
        return {}
    if isinstance(schema["type"], (dict, list)):
        return _fields(schema["type"])
    return {field["name"].lower(): field for field in schema.get("fields", ())}


def _inside(schema: Any, what: str) -> Any:
    """Return the type of the items or values of a type of a schema; None where it has none."""
    if isinstance(schema, list):
        return next((inner for branch in schema if (inner := _inside(branch, what))), None)
    if not isinstance(schema, dict):
        return None
    nested = isinstance(schema["type"], (dict, list))
    return _inside(schema["type"], what) if nested else schema.get(what)


def _decoder(
    kind: pa.DataType, hybrid: bool, zone: ZoneInfo | None, unit: int, reader_type: Any = None
) -> Convert:
    """``reader_type``: the type in the reader's schema, which knows defaults."""
    if pa.types.is_date(kind):
        return lambda value: None if value is None else _day(value, hybrid)
    if pa.types.is_timestamp(kind):
        return lambda value: None if value is None else _instant(value * unit, hybrid, zone)
    if pa.types.is_list(kind):
        of_item = _decoder(kind.value_type, hybrid, zone, unit, _inside(reader_type, "items"))
        return lambda value: None if value is None else [of_item(inner) for inner in value]
    if pa.types.is_map(kind):
        of_item = _decoder(kind.item_type, hybrid, zone, unit, _inside(reader_type, "values"))
        return lambda value: None if value is None else [(k, of_item(v)) for k, v in value.items()]
    if pa.types.is_struct(kind):
        inner, missing, fields = {}, {}, _fields(reader_type)
        for part in (kind.field(i) for i in range(kind.num_fields)):
            field = fields.get(part.name.lower())
            inside = field["type"] if field else None
            inner[part.name] = _decoder(part.type, hybrid, zone, unit, inside)
            missing[part.name] = _constant(part.type, field)

        def struct(value: Any) -> Any:
            if value is None:
                return None
            lowered = {name.lower(): part for name, part in value.items()}
            return {
                name: decode(lowered[name]) if name in lowered else missing[name](None)
                for name, decode in inner.items()
            }

        return struct
    return lambda value: value


def _day(days: int, hybrid: bool) -> int:
    """Days of the proleptic calendar for the date that days of Hive's calendar show."""
    if not hybrid or days >= _GREGORIAN:
        return days
    # Julian day number to year, month, day of the Julian calendar, and these to days again.
    c = days + 2_440_588 + 32_082
    d = (4 * c + 3) // 1461
    e = c - 1461 * d // 4
    m = (5 * e + 2) // 153
    day, month, year = e - (153 * m + 2) // 5 + 1, m + 3 - 12 * (m // 10), d - 4800 + m // 10
    y, shifted = (year - 1, month + 9) if month <= 2 else (year, month - 3)
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * shifted + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _instant(micros: int, hybrid: bool, zone: ZoneInfo | None) -> int:
    if zone is not None:
        moment = (_EPOCH + datetime.timedelta(microseconds=micros)).astimezone(zone)
        offset = moment.utcoffset() or datetime.timedelta()
        micros += offset // datetime.timedelta(microseconds=1)
    day, rest = divmod(micros, _DAY)
    return _day(day, hybrid) * _DAY + rest


def encode_rows(
    batches: Iterator[pa.RecordBatch], schema: Any, columns: Sequence[str], keys: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Pieces of files, numbered in ``piece``, one file for each value of the keys.

    Each piece lacks its last byte, the end of a line, which a writer of text adds.
    """
    parsed = fastavro.parse_schema(schema)
    fields = {field["name"].lower(): field["name"] for field in schema["fields"]}
    header = _encoded([], parsed)
    begun: dict[tuple[Any, ...], int] = {}
    for batch in batches:
        groups: dict[tuple[Any, ...], list[Any]] = {}
        encoders = {name: _encoder(batch.schema.field(name).type) for name in columns}
        for row in batch.to_pylist():
            record = {fields[name]: encode(row[name]) for name, encode in encoders.items()}
            groups.setdefault(tuple(row[key] for key in keys), []).append(record)
        for key, records in groups.items():
            content = _encoded(records, parsed)
            pieces = [content[len(header) :]]
            if key not in begun:
                begun[key] = 0
                pieces.insert(0, header)
            number = begun[key]
            begun[key] += len(pieces)
            yield pa.RecordBatch.from_pydict(
                {
                    "value": pa.array([piece[:-1] for piece in pieces], pa.binary()),
                    "piece": pa.array(range(number, begun[key]), pa.int64()),
                    **{
                        name: pa.array([value] * len(pieces), batch.schema.field(name).type)
                        for name, value in zip(keys, key, strict=True)
                    },
                }
            )


def _encoded(records: Sequence[Any], schema: Any) -> bytes:
    file = io.BytesIO()
    fastavro.writer(file, schema, records, codec="deflate", metadata=METADATA, sync_marker=SYNC)
    return file.getvalue()


def _encoder(kind: pa.DataType) -> Convert:
    if pa.types.is_timestamp(kind):
        return lambda value: None if value is None else (
            (value - _EPOCH) // datetime.timedelta(milliseconds=1)
        )  # fmt: skip
    if pa.types.is_list(kind):
        of_item = _encoder(kind.value_type)
        return lambda value: None if value is None else [of_item(inner) for inner in value]
    if pa.types.is_map(kind):
        of_item = _encoder(kind.item_type)
        return lambda value: None if value is None else {k: of_item(v) for k, v in value}
    if pa.types.is_struct(kind):
        inner = {kind.field(i).name: _encoder(kind.field(i).type) for i in range(kind.num_fields)}
        return lambda value: None if value is None else (
            {name: encode(value[name]) for name, encode in inner.items()}
        )  # fmt: skip
    return lambda value: value
