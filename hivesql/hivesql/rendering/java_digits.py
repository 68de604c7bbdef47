"""The decimal digits that Java 17 writes of a DOUBLE or FLOAT.

They are not always the fewest that tell the number apart: 2.0E23 is written 1.9999999999999998E23,
and 2147483647 as a FLOAT 2.14748365E9. Hive prints what its Java does.
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

_BITS_OF_FIVES: tuple[int, ...] = (
    0,
    *(int(5**power).bit_length() for power in range(1, 27)),
)


class _Binary(NamedTuple):
    """``fraction`` has its highest bit at place 52 and is worth ``1.… * 2 ** exponent``."""

    fraction: int
    exponent: int
    significant: int
    """Bits of the fraction that the number's format has."""


def java_digits(value: float, *, single: bool) -> tuple[str, int]:
    """Digits without zeros at the end, and the decimal exponent of the first of them.

    ``value`` is finite and above zero; ``single`` tells a FLOAT.
    """
    number = _single(value) if single else _double(value)
    zeros = (number.fraction & -number.fraction).bit_length() - 1
    width = 53 - zeros
    tiny = max(0, width - number.exponent - 1)
    if tiny == 0 and number.exponent <= 62 and width < 64:
        return _of_whole(number)
    digits, exponent = _generated(number, zeros, width, tiny)
    return digits.rstrip("0") or "0", exponent


def _double(value: float) -> _Binary:
    (bits,) = struct.unpack(">q", struct.pack(">d", value))
    return _normal(bits >> 52, bits & (2**52 - 1), 1023, 52)


def _single(value: float) -> _Binary:
    (bits,) = struct.unpack(">i", struct.pack(">f", value))
    return _normal(bits >> 23, bits & (2**23 - 1), 127, 23)


def _normal(exponent: int, fraction: int, bias: int, size: int) -> _Binary:
    if exponent:
        return _Binary((fraction | 1 << size) << (52 - size), exponent - bias, size + 1)
    length = fraction.bit_length()
    return _Binary(fraction << (53 - length), length - size - bias, length)


def _of_whole(number: _Binary) -> tuple[str, int]:
    """Return a whole number, rounded where its last digits mean nothing."""
    shift = number.exponent - 52
    integer = number.fraction << shift if shift >= 0 else number.fraction >> -shift
    beyond = number.exponent - number.significant - 1
    dropped = len(str(2**beyond)) - 1 if beyond > 1 else 0
    if dropped:
        integer, rest = divmod(integer, 10**dropped)
        integer += rest >= 10**dropped // 2
    text = str(integer)
    return text.rstrip("0"), len(text) - 1 + dropped


def _generated(number: _Binary, zeros: int, width: int, tiny: int) -> tuple[str, int]:
    """Digit by digit, until what is left is less than half of the distance to a neighbour."""
    exponent = _estimate(number)
    fives, tens = max(0, -exponent), max(0, exponent)
    b2 = fives + tiny + number.exponent
    s2 = tens + tiny
    m2 = b2 - number.significant
    b2 -= width - 1
    common = min(b2, s2)
    b2, s2, m2 = b2 - common, s2 - common, m2 - common
    if width == 1:
        # Below a power of two the next number is only half as far away.
        m2 -= 1
    if m2 < 0:
        b2, s2, m2 = b2 - m2, s2 - m2, 0
    rest = (number.fraction >> zeros) * 5**fives << b2
    unit = 5**tens << s2
    half = 5**fives << m2
    inclusive = not _is_short(width + b2, fives, s2, tens)
    digit, rest, half = rest // unit, rest % unit * 10, half * 10
    low, high = _near(rest, half, unit * 10, inclusive=inclusive)
    digits = []
    if digit == 0 and not high:
        exponent -= 1
    else:
        digits.append(digit)
    if exponent < -3 or exponent >= 8:
        # With an exponent there are always two digits.
        low = high = False
    while not low and not high:
        digit, rest, half = rest // unit, rest % unit * 10, half * 10
        low, high = _near(rest, half, unit * 10, inclusive=inclusive)
        digits.append(digit)
    if high and (not low or _rounds_up(2 * rest - 10 * unit, digits[-1])):
        text = str(int("".join(map(str, digits))) + 1)
        return text, exponent + len(text) - len(digits)
    return "".join(map(str, digits)), exponent


def _estimate(number: _Binary) -> int:
    """Java's guess of the decimal exponent."""
    (mantissa,) = struct.unpack(">d", struct.pack(">q", 1023 << 52 | number.fraction & 2**52 - 1))
    guess: float = (
        (mantissa - 1.5) * 0.289529654 + 0.176091259 + number.exponent * 0.301029995663981
    )
    return math.floor(guess)


def _is_short(bits: int, fives: int, s2: int, tens: int) -> bool:
    """Tell whether Java computes in 64 bits; beyond, it takes a tie for the neighbour."""
    return bits + _bits_of_five(fives) < 64 and s2 + 1 + _bits_of_five(tens + 1) < 64


def _bits_of_five(power: int) -> int:
    return _BITS_OF_FIVES[power] if power < len(_BITS_OF_FIVES) else 3 * power


def _near(rest: int, half: int, ten: int, *, inclusive: bool) -> tuple[bool, bool]:
    over = rest + half
    return rest < half, over >= ten if inclusive else over > ten


def _rounds_up(beyond_half: int, last: int) -> bool:
    return beyond_half > 0 or (beyond_half == 0 and last % 2 == 1)
