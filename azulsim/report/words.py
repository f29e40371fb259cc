"""Numbers and names as people read them: rounded to what is known, with their interval, and safe to show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from azulsim.notation.words import cut_names
from azulsim.stats.intervals import NO_VARIATION

MINUS = "\u2212"
MISSING = "\u2013"


def decimals_for(spread: float, *, most: int = 4) -> int:
    """Return how many decimals are worth showing when the standard error (or half-width) is `spread`.

    >>> decimals_for(0.3), decimals_for(12.0), decimals_for(0.004)
    (1, 0, 3)
    """
    if not spread or not math.isfinite(spread):
        return 2
    return min(max(-math.floor(math.log10(spread)), 0), most)


def format_number(value: float | None, decimals: int = 1, *, signed: bool = False) -> str:
    """Format a number with thousands separators and a real minus sign; a dash if there is none.

    >>> format_number(1234.5, 0), format_number(0.5, 1, signed=True), format_number(float("nan"))
    ('1,234', '+0.5', '–')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    rounded = round(value, decimals) or 0.0
    text = f"{rounded:{'+' if signed and rounded else ''},.{decimals}f}"
    return text.replace("-", MINUS)


def format_estimate(row: Any, *, signed: bool = False, unit: bool = True) -> str:
    """Say an estimate with its interval: `35.9 % (34.1 to 37.7)`; `row` is a row of a metric's frame.

    A signed share is a difference of shares, so its unit is percentage points. An estimate without an interval, such
    as that of one deal, is said to have none.
    """
    value, low, high, decimals = _scaled(row)
    name = {"share": " percentage points" if signed else " %"}.get(row["unit"], f" {row['unit']}") if unit else ""
    text = format_number(value, decimals, signed=signed)
    text += agree(text, name)
    if not math.isfinite(low):
        return f"{text} ({'the same in every deal' if NO_VARIATION in row.get('note', '') else 'no interval'})"
    return f"{text} ({format_number(low, decimals, signed=signed)} to {format_number(high, decimals, signed=signed)})"


def format_short(row: Any, *, signed: bool = False) -> tuple[str, str]:
    """Return an estimate and its interval as two short texts; the second is empty if there is no interval.

    `35.9` and `± 1.8`, half the width, or where the interval is lopsided its ends: `98` and `(71 to 100)`.
    """
    value, low, high, decimals = _scaled(row)
    text, half = format_number(value, decimals, signed=signed), (high - low) / 2
    if not math.isfinite(half):
        return text, ""
    if abs((low + high) / 2 - value) <= LOPSIDED * half:
        return text, f"± {format_number(half, decimals)}"
    return text, f"({format_number(low, decimals, signed=signed)} to {format_number(high, decimals, signed=signed)})"


LOPSIDED = 0.2
"""An interval whose middle is farther from the estimate than this part of its half-width is told by its ends."""


def _scaled(row: Any) -> tuple[float, float, float, int]:
    scale = 100.0 if row["unit"] == "share" else 1.0
    value, low, high = (float(row[name]) * scale for name in ("estimate", "low", "high"))
    if math.isfinite(high - low):
        return value, low, high, decimals_for((high - low) / 4, most=2)
    return value, low, high, 0 if value.is_integer() or row["unit"] == "share" else 2


def format_p(p: float) -> str:
    """Format a p-value: `p = 0.03`, `p < 0.001`.

    >>> format_p(0.0301), format_p(1e-9)
    ('p = 0.030', 'p < 0.001')
    """
    if not math.isfinite(p):
        return "no test possible"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def join_words(words: Iterable[str]) -> str:
    """Join words as in a sentence.

    >>> join_words(["2", "3", "4"])
    '2, 3 and 4'
    """
    items = list(words)
    return items[0] if len(items) == 1 else " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def agree(number: str, unit: str) -> str:
    """Return a unit as it stands after a number: `point` after 1.

    >>> agree("+1", "points"), agree("1.0", "points")
    ('point', 'points')
    """
    return unit.removesuffix("s") if number.strip("+" + MINUS) == "1" else unit


def capitalize(text: str) -> str:
    """Return a sentence as it begins: its first letter is made a capital, the others stay."""
    return text[:1].upper() + text[1:]


def uncapitalize(text: str) -> str:
    """Return a sentence as it goes on after a colon or in brackets: its first letter is made small."""
    return text[:1].lower() + text[1:]


def clean(text: str, width: int = 0) -> str:
    """Return untrusted text on one line of printable characters, cut to `width` (0: as long as it is)."""
    line = "".join(char if char.isprintable() else "\ufffd" for char in str(text))
    return line if not width or len(line) <= width else line[: width - 1] + "\u2026"


def clean_label(text: str, width: int = 30) -> str:
    """Return untrusted text for a figure: as `clean`, and no `$` of it starts a formula.

    >>> print(clean_label("a$x$"))
    a\\$x\\$
    """
    return clean(text, width).replace("$", r"\$")


def clean_labels(names: Sequence[str], width: int) -> list[str]:
    """Return untrusted names for a figure, as `clean_label` does; those that differ still do when they are cut.

    >>> print(*clean_labels(["noisy(greedy, eps=0.1)", "noisy(greedy, eps=0.2)"], 12))
    noisy(gre…1) noisy(gre…2)
    """
    return [name.replace("$", r"\$") for name in cut_names([clean(name) for name in names], width, "\u2026")]


def clean_cell(value: Any) -> Any:
    """Return a value for a CSV cell: text that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> clean_cell("=1+1"), clean_cell(-1.5)
    ("'=1+1", -1.5)
    """
    if isinstance(value, str) and value.lstrip().startswith(("=", "+", "-", "@", "\t", "\r", "|", "%")):
        return "'" + value
    return value
