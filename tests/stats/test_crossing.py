"""Where a response crosses a target: exact answers, coverage, and honesty at the ends of the range."""

from __future__ import annotations

import numpy as np
import pytest

from azulsim.errors import InputError
from azulsim.stats import estimate_crossing, estimate_mean

FACTOR = np.array([0.0, 1.0, 2.0, 4.0])


def draw(
    truth: np.ndarray, rng: np.random.Generator, *, deals: int = 60, share: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw skewed responses at each factor value; deals have luck of their own, and take part with chance `share`."""
    luck = rng.exponential(size=(deals, 1)) - 1
    rows = truth + luck + 0.7 * rng.normal(size=(deals, len(truth)))
    deal, column = np.nonzero(rng.random(rows.shape) < share)
    return FACTOR[column], rows[deal, column], deal


def test_without_noise_it_is_linear_interpolation() -> None:
    factor = np.tile(FACTOR, 10)
    values = np.tile([3.0, 2.0, -2.0, -4.0], 10)
    found = estimate_crossing(factor, values, np.repeat(np.arange(10), 4))
    assert (found.value, found.low, found.high) == pytest.approx((1.5, 1.5, 1.5))
    assert not found.is_open_below
    assert not found.is_open_above
    assert estimate_crossing(factor, values, np.repeat(np.arange(10), 4), target=-3.0).value == pytest.approx(3.0)
    assert estimate_crossing(factor, values, np.repeat(np.arange(10), 4), target=2.0).value == 1.0


@pytest.mark.parametrize(("slope", "share"), [(1.0, 1.0), (0.2, 1.0), (1.0, 0.5), (-0.5, 0.8)])
def test_intervals_cover_the_true_crossing(slope: float, share: float) -> None:
    rng = np.random.default_rng(3)
    where, hits, n = 1.4, 0, 1000
    truth = slope * (FACTOR - where)
    for _ in range(n):
        found = estimate_crossing(*draw(truth, rng, share=share))
        assert found.low is None or found.low >= 0
        hits += found.low is not None and found.low <= where <= found.high
    # Nominal .95; skewed luck on 60 deals costs t intervals about a point, a flat response joins pieces and adds some.
    assert 0.93 <= hits / n <= 0.97


@pytest.mark.long
def test_ten_thousand_intervals_cover_within_the_band() -> None:
    rng = np.random.default_rng(13)
    where, hits, n, deals = 1.4, 0, 10_000, 60
    deal = np.repeat(np.arange(deals), 4)
    for _ in range(n):
        rows = FACTOR - where + rng.normal(size=(deals, 1)) + 0.7 * rng.normal(size=(deals, 4))
        found = estimate_crossing(np.tile(FACTOR, deals), rows.ravel(), deal)
        hits += found.low is not None and found.low <= where <= found.high
    assert 0.9435 <= hits / n <= 0.9565


def test_interval_is_where_the_interval_of_the_response_holds_the_target() -> None:
    factor, values, deals = draw(0.5 * (FACTOR - 1.4), np.random.default_rng(4), deals=200)
    found = estimate_crossing(factor, values, deals)
    table = values.reshape(200, 4)
    for x in np.linspace(1.0, 2.0, 41):
        mean = estimate_mean((2 - x) * table[:, 1] + (x - 1) * table[:, 2])
        assert (mean.low <= 0 <= mean.high) == (found.low <= x <= found.high)


def test_common_deals_make_it_precise_and_a_shift_of_the_target_is_a_shift_of_the_response() -> None:
    factor, values, deals = draw(0.5 * (FACTOR - 1.4), np.random.default_rng(5), deals=300)
    found = estimate_crossing(factor, values, deals)
    shifted = estimate_crossing(factor, values + 7, deals, target=7.0)
    assert (shifted.value, shifted.low) == pytest.approx((found.value, found.low))
    order = np.random.default_rng(6).permutation(len(values))
    shuffled = estimate_crossing(factor[order], values[order], deals[order])
    assert (shuffled.value, shuffled.high) == pytest.approx((found.value, found.high))


def test_what_lies_outside_the_range_is_not_extrapolated() -> None:
    rng = np.random.default_rng(7)
    far = estimate_crossing(*draw(FACTOR + 3.0, rng))
    assert (far.value, far.low, far.high, far.is_reached) == (None, None, None, False)
    assert str(far) == "not reached within 0 to 4"
    factor, values, deals = draw(FACTOR, rng)
    near = estimate_crossing(factor, values - values[factor == 0].mean() + 0.05, deals)
    assert near.value is None
    assert near.is_open_below
    assert near.low == 0
    assert str(near).startswith("not reached within 0 to 4, though 0 or less to")
    flat = estimate_crossing(factor, values - factor - values[factor == 0].mean() + 0.05, deals)
    assert flat.is_open_below
    assert flat.is_open_above
    assert not flat.is_determined
    assert str(flat) == "not determined (neither 0 nor 4 is excluded)"
    assert "do not determine" in flat.note


def test_several_crossings_are_said() -> None:
    values = np.array([1.0, -1.0, 1.0, -1.0]) + 0.01 * np.random.default_rng(8).normal(size=(40, 4))
    found = estimate_crossing(np.tile(FACTOR, 40), values.ravel(), np.repeat(np.arange(40), 4))
    assert len(found.crossings) == 3
    assert found.value == found.crossings[1]
    assert found.low < found.crossings[0] < found.crossings[2] < found.high
    assert "several" in found.note
    steady = estimate_crossing(np.tile(FACTOR[:3], 40), values[:, :3].ravel(), np.repeat(np.arange(40), 3))
    assert str(steady).endswith("), one of 0.501, 1.5")


def test_a_weight_is_that_many_rows() -> None:
    rng = np.random.default_rng(9)
    factor, values, deals = draw(0.5 * (FACTOR - 1.4), rng, share=0.8)
    weights = rng.integers(1, 4, len(values))
    weighed = estimate_crossing(factor, values, deals, weights=weights)
    repeated = estimate_crossing(*(np.repeat(column, weights) for column in (factor, values, deals)))
    assert (weighed.value, weighed.low, weighed.high) == pytest.approx((repeated.value, repeated.low, repeated.high))
    with pytest.raises(InputError, match="rows"):
        estimate_crossing(factor, values, deals, weights=weights[1:])


def test_one_deal_excludes_nothing() -> None:
    found = estimate_crossing([0.0, 1.0], [1.0, -1.0], [5, 5])
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)
    assert found.is_open_below
    assert found.is_open_above
    assert "one cluster" in found.note


@pytest.mark.parametrize(
    ("factor", "values", "target", "words"),
    [
        ([1.0, 1.0], [1.0, 2.0], 0.0, "two"),
        ([1.0], [1.0, 2.0], 0.0, "rows"),
        ([0.0, 1.0], [1.0, 2.0], np.nan, "target"),
    ],
)
def test_bad_input_gets_one_sentence(factor: list[float], values: list[float], target: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        estimate_crossing(factor, values, [0, 1][: len(values)], target=target)
