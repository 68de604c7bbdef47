"""Expressions of Hive as Spark understands them: types from the leaves up, edits where needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit, Span, filled
from hivesql.dialect.function_names import is_hive_function, is_refused
from hivesql.dialect.nodes.constants import BareInterval, Members
from hivesql.dialect.numbers import LEAST_NUMBERS, number
from hivesql.dialect.structure import RANGE, place_of
from hivesql.dialect.tokens import first_from, unescape
from hivesql.dialect.value_types import (
    TIMES,
    Type,
    arithmetic,
    common,
    concatenated,
    element,
    field_of,
    group_of,
    is_decimal,
    is_integer,
    is_interval,
    is_number,
    is_text,
)
from hivesql.expressions.calls import Call, require_arguments
from hivesql.expressions.casts import (
    cast_template,
    compared_template,
    compares_as_char,
    comparison,
    expand_members,
    membership_edit,
    rows_membership_edit,
    times_between,
    unsafe,
    with_digits,
    without_blanks,
)
from hivesql.expressions.checks import operands
from hivesql.expressions.comparisons import check_compared, is_row, list_of_equals
from hivesql.expressions.composed_functions import discrete_percentile
from hivesql.expressions.date_rules import extracted
from hivesql.expressions.function_rules import RULES, negated, text_of
from hivesql.expressions.function_types import type_of_call
from hivesql.expressions.intervals import UNITS_OF_MONTHS, check_terms, interval_of, interval_type
from hivesql.expressions.precedence import precedence_edits
from hivesql.expressions.quantified_comparisons import subquery_edit
from hivesql.expressions.session_zone import (
    OF_COMMON_TYPE,
    OF_WALL_CLOCKS,
    template_in_zone,
    templates_of_common,
)
from hivesql.expressions.strict_mode import refuses, strict_error
from hivesql.expressions.windows import Windows, grouping_edits, shift_edits
from hivesql.python_sqlglot import exp
from hivesql_planner.errors import HiveSqlError, NotSupported, ParseError, SemanticError
from hivesql_planner.model.cast_formats import format_template, parse_template
from hivesql_planner.model.conversions import (
    TEXT_TO_BOOLEAN,
    check_conversion,
    in_zone,
    text_to_instant,
)
from hivesql_planner.model.hive_type import (
    BIGINT,
    BOOLEAN,
    DATE,
    DAY_TIME,
    DOUBLE,
    FLOAT,
    INSTANT,
    INT,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VOID,
    YEAR_MONTH,
    HiveType,
    Kind,
)
from hivesql_planner.settings.session_zone import session_zone
from hivesql_planner.statements.functions import Macro, OwnFunction

_BACKSLASHES = "regexp_replace(@0, '\\\\\\\\(?![%_])', '\\\\\\\\\\\\\\\\')"
_ARITHMETIC = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_TRUTHS = (
    exp.And, exp.Or, exp.Not, exp.Is, exp.Like, exp.Escape, exp.RegexpLike, exp.In, exp.Between,
    exp.Exists, exp.Boolean,
)  # fmt: skip
_OF_ONE_TYPE: dict[type[exp.Expr], HiveType] = {exp.Null: VOID, exp.Concat: STRING}
_BITS = (exp.BitwiseAnd, exp.BitwiseNot, exp.BitwiseOr, exp.BitwiseXor)
BY_FORMAT = "by format"
"""Metadata key of a CAST with a FORMAT."""
OWN_KIND = "own kind"
"""Metadata key of a call of the user's own function: which kind it is."""


@dataclass(slots=True)
class Translator:
    """Told of each expression after its parts; remembers types and collects edits."""

    binding: Binding
    edits: list[Edit]
    types: dict[int, Type] = field(default_factory=dict)

    def type_of(self, node: exp.Expr | None) -> Type:
        """Return the Hive type of an expression that has been left; None when not known."""
        return self.types.get(id(node)) if node is not None else None

    def leave(self, node: exp.Expr) -> None:
        """Note the type of an expression whose parts are done, and say it in Spark's words."""
        if isinstance(node, exp.Literal) and RANGE not in node.meta:
            return  # the digits of 1L, whose suffix has the type
        kind: Type = None
        try:
            kind = self._leave(node)
        except HiveSqlError as error:
            self.binding.fail(error, *place_of(node))
        text = self.binding.text.text
        self.edits += [*shift_edits(node, text), *grouping_edits(node, text)]
        self.edits += precedence_edits(node)
        if kind is not None:
            self.types[id(node)] = kind

    def _leave(self, node: exp.Expr) -> Type:  # noqa: C901 - one flat dispatch
        if isinstance(node, exp.Literal):
            return STRING if node.is_string else self._number(node)
        if edit := subquery_edit(node, self.binding.text.text, self.type_of):
            self.edits.append(edit)
            return BOOLEAN
        if isinstance(node, _COMPARISONS):
            self._compared([node.this, node.expression], node)
            return BOOLEAN
        for kind, operator in _ARITHMETIC.items():
            if type(node) is kind:
                return self._arithmetic(operator, node.this, node.expression, node)
        if isinstance(node, exp.Cast):
            return self._cast(node)
        if isinstance(node, BareInterval):
            return self._bare_interval(node)
        if isinstance(node, exp.Anonymous) or is_row(node):
            return self._call(str(node.this or "struct").lower(), node.expressions, node)
        if isinstance(node, exp.Trim) and node.args.get("position"):
            return STRING
        if type(node) in _GRAMMAR_CALLS and not isinstance(node.parent, exp.Case):
            name, parts = _GRAMMAR_CALLS[type(node)]
            word = re.match(r"\w+", self._text(node))
            arguments = [node.args[part] for part in parts if node.args.get(part) is not None]
            return self._call(word[0].lower() if word else name, arguments, node)
        if isinstance(node, Members):
            return node.kind
        if isinstance(node, exp.In) and node.expressions:
            self._members(node)
        if isinstance(node, exp.Between):
            self._compared([node.this, node.args["low"], node.args["high"]], node, safe=True)
        if isinstance(node, (exp.RegexpLike, exp.Like)):
            operands.check_pattern(node, self.type_of)
            (self._like if isinstance(node, exp.Like) else self._regexp)(node)
        if isinstance(node, (exp.BitwiseLeftShift, exp.BitwiseRightShift)):
            raise ParseError("unexpected shift: Hive has shiftleft and shiftright")
        if isinstance(node, (exp.And, exp.Or, exp.Not, exp.Where, exp.Having)):
            self.truth([node.this, node.expression] if isinstance(node, exp.Connector)
                        else [node.this])  # fmt: skip
            if (in_list := list_of_equals(node, self._text, self.type_of)) is not None:
                self._replace(node, in_list[0], [in_list[1]])
        if isinstance(node, _TRUTHS):
            return BOOLEAN
        if isinstance(node, exp.Case):
            return self._case(node)
        if isinstance(node, exp.Distinct):
            return self.type_of(node.expressions[0]) if node.expressions else None
        if isinstance(node, exp.WithinGroup):
            self._within_group(node)
        if isinstance(node, exp.Window):
            self.edits += Windows(self.binding.text.text, self.type_of).edits(node)
        if isinstance(node, (exp.Paren, exp.Alias, exp.Window, exp.WithinGroup)):
            return self.type_of(node.this)
        if isinstance(node, exp.Neg):
            inner = self.type_of(node.this)
            if isinstance(node.this, exp.Literal):
                if (least := LEAST_NUMBERS.get(node.this.name)) and not node.this.is_string:
                    self._replace(node, least, [node.this])
            elif template := negated(inner):
                self._replace(node, template, [node.this])
            return DOUBLE if is_text(inner) else inner
        return self._leave_rest(node)

    def _leave_rest(self, node: exp.Expr) -> Type:  # noqa: C901 - one flat dispatch
        if type(node) in _OF_ONE_TYPE:
            return _OF_ONE_TYPE[type(node)]
        match node:
            case exp.DPipe():
                sides = (node.this, node.expression)
                kinds = [self.type_of(side) for side in sides]
                operands.check_operands("concat", kinds)
                for part, kind in zip(sides, kinds, strict=True):
                    if (text := text_of(kind, "@0", self._zone)) != "@0":
                        self._replace(part, text, [part])
                return concatenated(kinds)
            case exp.IntDiv():
                return self._whole_division(node)
            case exp.Interval():
                return self._interval(node)
            case exp.Bracket():
                inside = self.type_of(node.this)
                if inside is not None and inside.kind not in (Kind.ARRAY, Kind.MAP):
                    what = f"[] not valid on non-collection types: {inside}"
                    raise SemanticError(what, code=10033)
                return element(self.type_of(node.this))
            case exp.Dot():
                return field_of(self.type_of(node.this), node.expression.name.lower())
            case exp.Extract():
                return self._extract(node)
            case exp.Floor() | exp.Ceil():
                return self._floor(node)
            case exp.CurrentDate():
                self._now(node, "CAST({} AS DATE)")
                return DATE
            case exp.CurrentTimestamp():
                self._now(node, "{}")
                return TIMESTAMP
        if isinstance(node, _BITS):
            kinds = [self.type_of(operand) for operand in node.iter_expressions()]
            operands.check_operands(node.key, kinds)
            return common(kinds)
        return None

    def unify_types(self, values: Sequence[exp.Expr]) -> None:
        """Make texts of all values of a column of VALUES where some are; else they must agree."""
        kinds = [self.type_of(value) for value in values]
        groups = {group_of(kind) for kind in kinds} - {"void"}
        if len(groups) < 2 or None in groups:
            return
        if "text" not in groups:
            first = next(kind for kind in kinds if kind != VOID)
            value, kind = next(
                pair for pair in zip(values, kinds, strict=True)
                if group_of(pair[1]) not in (group_of(first), "void")
            )  # fmt: skip
            error = SemanticError(
                f"Argument type mismatch: {kind} is different from the values before it in "
                f"VALUES, whose type is {first}"
            )
            self.binding.fail(error, *place_of(value))
        for value, kind in zip(values, kinds, strict=True):
            if group_of(kind) != "text":
                text = text_of(kind, "@0", self._zone)
                self._replace(value, "CAST(@0 AS STRING)" if text == "@0" else text, [value])

    # -- literals and casts
    def _number(self, node: exp.Expr) -> Type:
        kind, spark_text = number(self._text(node))
        if spark_text:
            self.edits.append(Edit(*place_of(node), spark_text))
        return kind

    def _cast(self, node: exp.Cast) -> Type:
        text = self._text(node)
        if text[:4].lower() != "cast":
            if not {"'", '"'} & set(text):
                return self._number(node)  # a number with a suffix: 1L, 1BD
            name, literal = re.split(r"(?=['\"])", text, maxsplit=1)  # DATE '2020-01-01'
            if (kind := HiveType.parse(name)) == INSTANT and self._zone is not None:
                self._replace(node, text_to_instant(self._zone).replace("@0", literal), [])
            return kind
        after = self.binding.text.text[place_of(node.this)[1] : place_of(node)[1]]
        match = re.search(r"\bas\s+(.*)\)", after, re.IGNORECASE | re.DOTALL)
        format_ = re.search(r"\sformat\s*(?=['\"])", match[1], re.IGNORECASE) if match else None
        if match and format_:
            pattern = match[1][format_.end() :].strip()
            target = HiveType.parse(match[1][: format_.start()])
            return self._cast_by(node, target, unescape(pattern))
        target = HiveType.parse(match[1]) if match else UNKNOWN
        source = self.type_of(node.this)
        check_conversion(source, target, strict=self._is_strict_of_times())
        operands.check_nested(node, source, target)
        literal = node.this.name if isinstance(node.this, exp.Literal) else None
        template = cast_template(self._call_of("cast", source, literal), target)
        if template is None and "precision" in after.lower():
            template = "CAST(@0 AS DOUBLE)"
        if template:
            self._replace(node, template, [node.this])
        return target

    def _cast_by(self, node: exp.Cast, target: HiveType, pattern: str) -> Type:
        """CAST … FORMAT: between texts and times."""
        source = self.type_of(node.this)
        if is_text(target) and (source in TIMES or source in (None, VOID)):
            template = format_template(pattern)
            cut = cast_template(Call("cast", (STRING,), (None,)), target)
            template = cut.replace("@0", template) if cut else template
        elif target in TIMES and (is_text(source) or source in (None, VOID)):
            template = parse_template(pattern, target.kind)
        else:
            raise SemanticError(
                "Function CAST...as ... FORMAT ... only converts datetime objects to string types "
                f"and string or void objects to datetime types, not {source} to {target}",
                code=10014,
            )
        node.meta[BY_FORMAT] = True
        self._replace(node, template, [node.this])
        return target

    def _is_strict_of_times(self) -> bool:
        return self.binding.settings.flag("hive.strict.timestamp.conversion")

    def _bare_interval(self, node: BareInterval) -> Type:
        """``1 DAY`` or ``(1) DAY``."""
        text = re.sub(r"^\((.*?)\)", r"\1", self._text(node), flags=re.DOTALL)
        self.edits.append(Edit(*place_of(node), f"INTERVAL {text}"))
        return YEAR_MONTH if text.lower().endswith(UNITS_OF_MONTHS) else DAY_TIME

    def _interval(self, node: exp.Interval) -> Type:
        kind = interval_type(node)
        if isinstance(node.this, exp.Paren):
            template = interval_of(self._text(node)[place_of(node.this)[1] - place_of(node)[0] :])
            self._replace(node, template, [node.this])
        return kind

    def _now(self, node: exp.Expr, template: str) -> None:
        if self._zone is not None:
            self._replace(node, template.format(in_zone("current_timestamp()", self._zone)), [])

    # -- operators
    def _arithmetic(self, operator: str, left: exp.Expr, right: exp.Expr, node: exp.Expr) -> Type:
        kinds = self.type_of(left), self.type_of(right)
        check_terms(operator, kinds)
        operands.check_bytes(operator, *kinds)
        operands.check_days(operator, *kinds)
        if operator in "+-" and (any(map(is_interval, kinds)) or set(kinds) <= set(TIMES)):
            return self._time_arithmetic(left, right)
        if kinds == (DATE, INT) and operator in "+-":
            return DATE
        for kind in kinds:
            if kind == BOOLEAN:
                raise SemanticError(
                    f"No matching method for {operator} with ({kinds[0]}, {kinds[1]})", code=10014
                )
        if any(map(is_decimal, kinds)):
            for part, kind in ((left, kinds[0]), (right, kinds[1])):
                if kind == BIGINT:
                    self._replace(part, "CAST(@0 AS DECIMAL(19,0))", [part])
                elif is_decimal(kind) and FLOAT in kinds and operator != "/":
                    self._replace(part, "CAST(@0 AS FLOAT)", [part])
        return arithmetic(operator, *with_digits((left, right), kinds))

    def _time_arithmetic(self, left: exp.Expr, right: exp.Expr) -> Type:
        kinds = self.type_of(left), self.type_of(right)
        if any(map(is_text, kinds)):
            raise SemanticError(f"No matching method for ({kinds[0]}, {kinds[1]})", code=10014)
        if None in kinds:
            return None
        if DAY_TIME in kinds:
            for part, kind in ((left, kinds[0]), (right, kinds[1])):
                if kind == DATE:
                    # A day added to a DATE makes a TIMESTAMP in Hive.
                    self._replace(part, "CAST(@0 AS TIMESTAMP)", [part])
        times = [kind for kind in kinds if kind in TIMES]
        if len(times) == 2:
            return DAY_TIME
        if not times:
            return kinds[0]
        return TIMESTAMP if DAY_TIME in kinds else times[0]

    def _whole_division(self, node: exp.Expr) -> Type:
        kinds = self.type_of(node.this), self.type_of(node.expression)
        for kind in kinds:
            if kind is not None and not is_integer(kind) and kind != VOID:
                raise SemanticError(f"No matching method for div with ({kinds[0]}, {kinds[1]}): "
                                    "it takes whole numbers", code=10014)  # fmt: skip
        return BIGINT if BIGINT in kinds else common(kinds)

    def _compared(self, parts: Sequence[exp.Expr], node: exp.Expr, *, safe: bool = False) -> None:
        """Bring operands to the type in which Hive compares them; ``safe`` skips its check."""
        kinds = [self.type_of(part) for part in parts]
        if None in kinds:
            return
        check_compared(node, kinds)
        strict = refuses("type.safety", self.binding.settings)
        if strict and not safe and unsafe(kinds[0], kinds[1]):
            raise strict_error("type.safety", f"{kinds[0]} and {kinds[1]}", code=10014)
        target = comparison(kinds)
        if target == DOUBLE and TIMESTAMP in kinds:
            check_conversion(TIMESTAMP, DOUBLE, strict=self._is_strict_of_times())
        as_char = compares_as_char(node, parts, kinds)
        for part, kind in zip(parts, kinds, strict=True):
            literal = part.name if isinstance(part, exp.Literal) and part.is_string else None
            template = compared_template(self._call_of("", kind, literal), target)
            if template == "@0" and literal and as_char:
                template = without_blanks(self._text(part))
            if template != "@0":
                self._replace(part, template, [part])
        for part, template in times_between(node, parts, kinds, self._text):
            self._replace(part, template, [part])

    def _members(self, node: exp.In) -> None:
        """Bring what stands before IN and its values together; rows of values, place by place."""
        expand_members(node, self.type_of, self.leave)
        rows = [node.this, *node.expressions]
        if not all(isinstance(row, exp.Tuple) for row in rows):
            operands.check_members(list(map(self.type_of, rows)))
            if edit := membership_edit(node, list(map(self.type_of, rows)), self._call_of):
                self.edits.append(edit)
            else:
                self._compared(rows, node, safe=True)
            return
        if len({len(row.expressions) for row in rows}) != 1:
            return
        for parts in zip(*(row.expressions for row in rows), strict=True):
            kinds = [self.type_of(part) for part in parts]
            self._compared(parts, node, safe=True)
            target = common(kinds)
            if comparison(kinds) is None and all(map(is_number, kinds)):
                for part, kind in zip(parts, kinds, strict=True):
                    if kind != target:
                        self._replace(part, f"CAST(@0 AS {target})", [part])
        self.edits.append(rows_membership_edit(node))

    def _regexp(self, node: exp.Expr) -> None:
        pattern = node.expression
        if isinstance(pattern, exp.Literal) and pattern.name:
            return
        self._replace(node, "(@0 RLIKE @1 AND @1 <> '')", [node.this, pattern])

    def truth(self, parts: Sequence[exp.Expr]) -> None:
        """Numbers and texts where a condition stands."""
        for part in parts:
            kind = self.type_of(part)
            if is_text(kind):
                self._replace(part, TEXT_TO_BOOLEAN, [part])
            elif is_number(kind) or kind == VOID:
                self._replace(part, "CAST(@0 AS BOOLEAN)", [part])

    def _like(self, node: exp.Expr) -> None:
        """Double each backslash for Spark that stands for itself: no % or _ follows it."""
        pattern = node.expression
        text = self._text(pattern)
        if self.type_of(pattern) != STRING or "\\" not in text:
            return
        self._replace(pattern, _BACKSLASHES, [pattern])

    def _case(self, node: exp.Case) -> Type:
        whens = node.args["ifs"]
        if node.this is not None:
            self._compared([node.this, *(when.this for when in whens)], node, safe=True)
        for when in whens if node.this is None else ():
            if (kind := self.type_of(when.this)) not in (None, BOOLEAN, VOID):
                error = SemanticError(
                    f'Argument type mismatch: "boolean" is expected after WHEN, but "{kind}" is '
                    "found", code=10016)  # fmt: skip
                self.binding.fail(error, *place_of(when.this))
        values = [when.args["true"] for when in whens]
        if node.args.get("default") is not None:
            values.append(node.args["default"])
        kinds = self._bring_instants(values)
        if any(map(is_text, kinds)):
            for value, kind in zip(values, kinds, strict=True):
                if kind == BOOLEAN:
                    self._replace(value, text_of(kind, "@0"), [value])
        return common(kinds)

    # -- calls
    def _call(self, name: str, arguments: Sequence[exp.Expr], node: exp.Expr) -> Type:
        if (own := self.binding.function(name)) is not None:
            return self._call_own(own, arguments, node)
        if not is_hive_function(name):
            raise SemanticError(f"Invalid function {name}", code=10011)
        if is_refused(name):
            raise NotSupported(f"the function {name}")
        literals = (
            argument.name if isinstance(argument, exp.Literal) and argument.is_string else None
            for argument in arguments
        )
        call = Call(
            name,
            self._argument_types(name, arguments),
            tuple(literals),
            tuple(map(self._text, arguments)),
            self.binding.settings,
        )
        operands.check_call(call, arguments)
        rule = RULES.get(name)
        template = self.binding.of_session(name) or (rule(call) if callable(rule) else rule)
        template = template_in_zone(call, template)
        if template is not None:
            require_arguments(call, template)
            self._replace(node, template, arguments)
        return type_of_call(call)

    def _argument_types(self, name: str, arguments: Sequence[exp.Expr]) -> tuple[Type, ...]:
        seen = self._on_clock if name in OF_WALL_CLOCKS else self.type_of
        first = OF_COMMON_TYPE.get(name, len(arguments))
        return (*map(seen, arguments[:first]), *self._bring_instants(arguments[first:]))

    def _bring_instants(self, values: Sequence[exp.Expr]) -> list[Type]:
        """Bring instants, and what stands where they do, to one type; tell the values' types."""
        kinds = list(map(self.type_of, values))
        for i, template in enumerate(templates_of_common(kinds, self._zone)):
            if template != "@0":
                self._replace(values[i], template, [values[i]])
                kinds[i] = common(kinds)
        return kinds

    def _on_clock(self, node: exp.Expr) -> Type:
        """Take an instant as the time on the clocks of the session's zone."""
        kind = self.type_of(node)
        if kind != INSTANT or self._zone is None:
            return kind
        self._replace(node, in_zone("@0", self._zone), [node])
        return TIMESTAMP

    def _call_own(
        self, own: OwnFunction | Macro, arguments: Sequence[exp.Expr], node: exp.Expr
    ) -> Type:
        if isinstance(own, Macro):
            return self._call_macro(own, arguments, node)
        node.meta[OWN_KIND] = own.kind
        start = place_of(node)[0]
        tokens = self.binding.tokens
        bracket = next(token for token in tokens[first_from(tokens, start) :] if token.is_("("))
        self.edits.append(Edit(start, bracket.start, f"`{own.called}`"))
        return None

    def _call_macro(self, macro: Macro, arguments: Sequence[exp.Expr], node: exp.Expr) -> Type:
        if len(arguments) != len(macro.parameters):
            raise SemanticError(
                f"Arguments length mismatch: The macro {macro.name} accepts exactly "
                f"{len(macro.parameters)} arguments.",
                code=10015,
            )
        values: list[tuple[str | Span, ...]] = []
        for value, (_, kind) in zip(arguments, macro.parameters, strict=True):
            source = self.type_of(value)
            check_conversion(source, kind, strict=self._is_strict_of_times())
            literal = value.name if isinstance(value, exp.Literal) and value.is_string else None
            template = cast_template(self._call_of("cast", source, literal), kind)
            if template is None:
                template = "@0" if source == kind else f"CAST(@0 AS {kind.spark})"
            values.append(tuple(filled(f"({template})", [place_of(value)])))
        parts: list[str | Span] = []
        for piece in macro.pieces:
            parts += [piece] if isinstance(piece, str) else values[piece]
        self.edits.append(Edit(*place_of(node), "", ("(", *parts, ")")))
        return macro.type

    def _within_group(self, node: exp.WithinGroup) -> None:
        if str(node.this.this).lower() == "percentile_disc":
            ordered = node.expression.expressions[0]
            descending = bool(ordered.args.get("desc"))
            template = discrete_percentile("@0", "@1", descending=descending)
            self._replace(node, template, [node.this.expressions[0], ordered.this])

    def _extract(self, node: exp.Extract) -> Type:
        unit, kind = operands.extracted_unit(node.name), self._on_clock(node.expression)
        if (template := extracted(unit, kind)) is not None:
            self._replace(node, template, [node.expression])
        return INT

    def _floor(self, node: exp.Expr) -> Type:
        unit = node.args.get("to")
        kind = self._on_clock(node.this) if unit else self.type_of(node.this)
        if unit is None:
            return type_of_call(Call("floor", (kind,), (None,)))
        if kind == DATE or is_text(kind):
            raise SemanticError(f"floor … TO takes a timestamp, not {kind}", code=10014)
        self._replace(node, f"date_trunc('{unit.name.lower()}', @0)", [node.this])
        return TIMESTAMP

    @property
    def _zone(self) -> str | None:
        return session_zone(self.binding.settings)

    def _call_of(self, name: str, kind: Type, literal: str | None) -> Call:
        return Call(name, (kind,), (literal,), settings=self.binding.settings)

    # -- edits
    def _text(self, node: exp.Expr) -> str:
        start, end = place_of(node)
        return self.binding.text.text[start:end]

    def _replace(self, node: exp.Expr, template: str, arguments: Sequence[exp.Expr]) -> None:
        spans = [place_of(argument) for argument in arguments]
        self.edits.append(Edit(*place_of(node), "", tuple(filled(template, spans))))


_GRAMMAR_CALLS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.If: ("if", ("this", "true", "false")),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Trim: ("trim", ("this", "expression")),
}
