"""TABLESAMPLE (BUCKET x OUT OF y ON …): the rows of a table whose hash falls into a bucket."""

from __future__ import annotations

from collections.abc import Sequence

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, Span, filled
from hivesql.dialect.structure import place_of, span_of
from hivesql.dialect.value_types import Type
from hivesql.expressions.calls import Call
from hivesql.expressions.hash_functions import hash_template
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import HiveSqlError, NotSupported, SemanticError
from hivesql_planner.model.hive_type import quote_name
from hivesql_planner.model.table import Table

_MOST_KEYS = 2
"""By how many expressions Hive takes a sample."""


def bucket_sample(node: exp.Table, table: Table, binding: Binding) -> exp.TableSample | None:
    """Return the sample of buckets that is asked of a table, None where none is.

    Raises SemanticError 10039 (by too much), 10060 (of what) and 10061 (more than there are).
    """
    sample = node.args.get("sample")
    if not isinstance(sample, exp.TableSample) or not sample.args.get("bucket_denominator"):
        return None
    if table.is_view:
        binding.fail(NotSupported("TABLESAMPLE (BUCKET …) of a view"), *span_of(node))
    if sample.args.get("bucket_field") is None and not table.is_bucketed:
        message = f"Sampling expression needed for non-bucketed table {table.name.name}"
        binding.fail(SemanticError(message, code=10060), *span_of(node))
    if len(sampled_by(sample)) > _MOST_KEYS:
        message = "Cannot SAMPLE on more than two columns"
        binding.fail(SemanticError(message, code=10039), *span_of(sample))
    numerator, denominator = _numbers(sample)
    if numerator > denominator:
        message = (
            "Numerator should not be bigger than denominator in sample clause for table "
            f"{table.name.name}"
        )
        binding.fail(SemanticError(message, code=10061), *span_of(node))
    return sample


def sample_edit(
    sample: exp.TableSample, types: Sequence[Type], table: Table, names: tuple[str, str],
    span: Span, binding: Binding,
) -> Edit:  # fmt: skip
    """Return the edit that reads only the bucket's rows, of a view under an alias (``names``)."""
    view, alias = names
    values: list[str | Span] = [place_of(expression) for expression in sampled_by(sample)]
    if not values:
        column_types = {column.name: column.type for column in table.all_columns}
        types = [column_types[name] for name in table.bucket_columns]
        values = [f"{quote_name(alias)}.{quote_name(name)}" for name in table.bucket_columns]
    name = "murmur_hash" if table.bucketing_version == 2 else "hash"
    try:
        template = hash_template(Call(name, tuple(types), (None,) * len(types)))
    except HiveSqlError as error:
        binding.fail(error, *span)
    numerator, denominator = _numbers(sample)
    parts = (
        f"(SELECT * FROM `{view}` AS {quote_name(alias)} WHERE ((",
        *filled(template, values),
        f") & 2147483647) % {denominator} = {numerator - 1})",
    )
    return Edit(*span, "", parts)


def sampled_by(sample: exp.TableSample) -> list[exp.Expr]:
    """List the expressions whose hash decides; none where the table's own columns do."""
    field = sample.args.get("bucket_field")
    if isinstance(field, exp.Tuple):
        return field.expressions
    return [field] if isinstance(field, exp.Expr) else []


def _numbers(sample: exp.TableSample) -> tuple[int, int]:
    return int(sample.text("bucket_numerator")), int(sample.text("bucket_denominator"))
