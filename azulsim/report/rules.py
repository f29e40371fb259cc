"""What is said of rules held against each other, on the page and in the terminal."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from azulsim.metrics.whatif import RETUNED
from azulsim.report.shared import LABELS
from azulsim.report.words import MINUS, capitalize, format_number, join_words

ALPHA = 0.05
NEAR_ZERO = 0.1
"""Common deals that saved less than this part of the games saved next to nothing."""


def has_retuned(differences: pd.DataFrame) -> bool:
    """Tell whether re-tuned strategies are compared."""
    return bool((differences["tuning"] == RETUNED).any())


def count_seen(rows: pd.DataFrame) -> int:
    """Count the differences that are seen."""
    return int((rows["p_holm"] < ALPHA).sum())


def say_luck(differences: pd.DataFrame) -> str:
    """Say in half a sentence what the common deals saved, in the median, for fixed and for re-tuned play."""
    saved = differences.groupby("tuning", sort=False)["saved"].median().dropna()
    if saved.empty:
        return "what common deals saved cannot be told"
    parts = [
        f"{_say_saved(value)}{f' with {tuning} play' if len(saved) > 1 else ''}"
        for tuning, value in saved.astype(float).items()
    ]
    return f"common deals saved {join_words(parts)}"


def _say_saved(part: float) -> str:
    return f"{format_number(100 * part, 0)} % of the games" if abs(part) >= NEAR_ZERO else "next to nothing"


def describe_luck(differences: pd.DataFrame) -> str:
    """Say what the common deals saved, and why it may be little."""
    known = differences.dropna(subset=["correlation"])
    if known.empty:
        return "Nothing varied from deal to deal by which to judge what the common deals saved."
    said, correlation = say_luck(differences), known["correlation"]
    if "next to nothing" in said:
        said += ", since one move played otherwise makes another game"
    low, middle, high = (format_number(float(found), 2) for found in correlation.quantile([0, 0.5, 1]))
    return f"{capitalize(said)} (correlations from {low} to {high}, {middle} in the median)."


def describe_tuning(differences: pd.DataFrame) -> str:
    """Say whether strategies were tuned to the rules."""
    if has_retuned(differences):
        return (
            "Strategies play as they are (fixed), and beside it tuned to each set of rules (re-tuned), where the short "
            "search found something better."
        )
    return (
        "Strategies play as they are under all rules: made for the printed ones, they may be unfit for others, and "
        "part of a difference may be that."
    )


def describe_crossings(crossings: pd.DataFrame) -> str:
    """Say at which value of the rule the outcome meets its target."""
    first = crossings.iloc[0]
    fair = bool((abs(crossings["target"] - 1 / crossings["players"]) < 1e-9).all())
    target = "fair" if fair else format_number(float(first["target"]), 3)
    parts = []
    for row in crossings.to_dict("records"):
        rules = "" if row["rules"] == "standard" else f", {row['rules']}"
        parts.append(f"at {row['players']} players ({row['spec']}{rules}) {describe_crossing(row)}")
    met = f"{LABELS.get(first['outcome'])} is {target}"
    is_told = bool(crossings["estimate"].notna().all()) and not has_undetermined(crossings)
    return f"The {met} {'; '.join(parts)}." if is_told else f"Where the {met}: {'; '.join(parts)}."


def has_undetermined(crossings: pd.DataFrame) -> bool:
    """Tell whether some interval is open at both ends, so that the truth may lie anywhere."""
    return bool((crossings["is_open_below"] & crossings["is_open_above"]).any())


def describe_crossing(row: Mapping[Hashable, Any]) -> str:
    """Say with which value of the rule the target is met, with its interval, or why none can be named."""
    key = row["key"]
    first, last = (f"{row[end]:g}".replace("-", MINUS) for end in ("tried_from", "tried_to"))
    if row["is_open_below"] and row["is_open_above"]:
        return f"this run does not determine the {key} (neither {first} nor {last} is excluded)"
    low, high = format_number(row["low"], 2), format_number(row["high"], 2)
    ends = f"{low}{' or less' * row['is_open_below']} to {high}{' or more' * row['is_open_above']}"
    if math.isfinite(row["estimate"]):
        met = [format_number(value, 2) for value in row["crossings"]]
        several = f", one of the {len(met)} values that do: {join_words(met)}" if len(met) > 1 else ""
        return f"with {key} = {format_number(row['estimate'], 2)} ({ends}){several}"
    tried = f"with none of the {key} values tried, {first} to {last}"
    if math.isfinite(row["low"]):
        return f"{tried}, though {ends} is not excluded"
    scale, unit = (100, "%") if row["unit"] == "share" else (1, row["unit"])
    least, greatest = (format_number(scale * row[end], 1) for end in ("least", "greatest"))
    return f"{tried}, where it is within {least} to {greatest} {unit}"
