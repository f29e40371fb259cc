"""Metrics of continued games: against plain pandas, against planted truth, and what must not matter."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from probed import Truth, make_games, make_probes, write_probed
from scipy import stats

from azulsim import metrics, schema
from azulsim.errors import InputError
from azulsim.log import Cell, Manifest, Run, Shard, create_run, read_run, write_shard
from azulsim.rules import Rules

pytestmark = pytest.mark.xdist_group("probes")

TRUTH = Truth(slope=0.5, per_game=2)
LINEUPS = [("strong", "strong"), ("weak", "weak", "weak"), ("strong", "weak")]
VALUES = ["estimate", "low", "high", "se", "n", "n_deals"]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with known effects."""
    folder = tmp_path_factory.mktemp("runs") / "planted"
    return read_run(write_probed(folder, LINEUPS, TRUTH, deals=250, skills={"strong": 6.0, "weak": 0.0}))


def pick(frame: pd.DataFrame, **values: object) -> pd.Series:
    for name, value in values.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def is_near(row: pd.Series, truth: float, strength: float = 5.0) -> bool:
    return abs(row["estimate"] - truth) < 3.5 * row["se"] and (not truth or abs(truth) > strength * row["se"])


def test_tempo_equals_that_found_by_hand(planted: Run) -> None:
    probes = planted.probes(
        columns=["game", "deal", "round", "arm", "seat", "players", "spec", "win_share", "score"],
        filters={"kind": "tempo", "players": 3},
    )
    means = probes.groupby(["deal", "game", "round", "seat", "arm"])["win_share"].mean().unstack("arm")
    seats = means.index.get_level_values("seat").to_numpy()
    own = means.to_numpy()[np.arange(len(means)), seats]
    rest = (means.sum(axis=1) - own) / 2
    effects = (own - rest).rename("effect").reset_index()
    row = pick(metrics.tempo_values(planted, ["players"]), players=3, outcome="win_share")
    assert row["estimate"] == pytest.approx(effects["effect"].mean())
    assert (row["n"], row["n_deals"]) == (len(effects), effects["deal"].nunique())
    by_deal = effects.groupby("deal")["effect"].agg(["sum", "size"])
    error = by_deal["sum"] - row["estimate"] * by_deal["size"]
    g = len(by_deal)
    assert row["se"] == pytest.approx(np.sqrt(g / (g - 1) * (error**2).sum()) / by_deal["size"].sum())
    following = means.to_numpy()[np.arange(len(means)), (seats + 1) % 3]
    row = pick(metrics.tempo_values(planted, ["players"], against="next"), players=3, outcome="win_share")
    assert row["estimate"] == pytest.approx((own - following).mean())
    holders = planted.roots(columns=["game", "round", "seat"], filters={"kind": "tempo"}).assign(is_holder=True)
    held = effects.merge(holders, on=["game", "round", "seat"])
    row = pick(metrics.tempo_values(planted, ["players"], holder_only=True), players=3, outcome="win_share")
    assert row["estimate"] == pytest.approx(held["effect"].mean())
    assert row["n"] == len(held)


def test_planted_tempo_is_recovered_round_by_round(planted: Run) -> None:
    frame = metrics.tempo_values(planted)
    scores = frame[(frame["outcome"] == "score") & (frame["n_deals"] > 100) & (frame["round"] < 8)]
    assert len(scores) >= 18
    assert all(is_near(row, TRUTH.tempo + TRUTH.slope * (row["round"] - 1), 10) for _, row in scores.iterrows())
    assert not frame["note"].astype(bool).any() or frame["n_deals"].min() < 20


def test_planted_decision_value_is_recovered_and_split(planted: Run) -> None:
    frame = metrics.decision_values(planted, ["players"])
    for players in (2, 3):
        parts = {part: pick(frame, players=players, part=part, outcome="score") for part in ("value", "tempo", "rest")}
        assert is_near(parts["value"], TRUTH.value)
        assert parts["value"]["estimate"] == pytest.approx(parts["tempo"]["estimate"] + parts["rest"]["estimate"])
        # Tempo only where the game goes on (one half) and another player would start.
        assert is_near(parts["tempo"], TRUTH.share * TRUTH.value / 2 * (players - 1) / players)
    one_sided = metrics.decision_values(planted, ["players"], weights="games")
    row = pick(one_sided, players=2, part="value", outcome="score")
    assert is_near(row, TRUTH.value)


def test_roots_stand_for_the_decisions_they_were_drawn_from(planted: Run) -> None:
    probes = planted.probes(filters={"kind": "decision"}, columns=["game", "ply", "arm", "seat", "players", "margin"])
    roots = planted.roots(filters={"kind": "decision"}, columns=["game", "ply", "seat", "n_choices", "floor"])
    means = probes.merge(roots, on=["game", "ply", "seat"]).groupby(["players", "game", "ply", "arm"])["margin"].mean()
    values = (means.unstack("arm")[1] - means.unstack("arm")[0]).rename("value").reset_index()
    values = values.merge(roots, on=["game", "ply"])
    values["drawn"] = values.groupby("game")["ply"].transform("size")
    assert set(values["drawn"]) == {1, 2}
    for name, weight in {"decisions": values["n_choices"] / values["drawn"], "games": 1 / values["drawn"]}.items():
        for players in (2, 3):
            here = values["players"] == players
            row = pick(
                metrics.decision_values(planted, ["players"], weights=name),
                players=players, part="value", outcome="margin",
            )  # fmt: skip
            assert row["estimate"] == pytest.approx(np.average(values["value"][here], weights=weight[here]))
            assert row["n"] == here.sum()
    by_floor = metrics.decision_values(planted, ["players", "floor"])
    row = pick(by_floor, players=2, floor=4, part="value", outcome="margin")
    here = (values["players"] == 2) & (values["floor"] >= 4)
    weights = (values["n_choices"] / values["drawn"])[here]
    assert row["estimate"] == pytest.approx(np.average(values["value"][here], weights=weights))


def test_how_often_taking_is_right_is_corrected_for_noise(planted: Run) -> None:
    truth = stats.norm.cdf(TRUTH.value / np.hypot(TRUTH.spread, TRUTH.shift))
    frame = metrics.decision_signs(planted, ["players"])
    for players in (2, 3):
        naive, corrected = (
            pick(frame, players=players, outcome="score", noise=noise) for noise in ("ignored", "corrected")
        )
        assert abs(corrected["estimate"] - truth) < 3.5 * corrected["se"]
        assert abs(naive["estimate"] - 0.5) < abs(corrected["estimate"] - 0.5)
        assert 0.5 < corrected["reliability"] < 0.9


def test_what_deciding_wrong_costs_lies_between_its_two_bounds(planted: Run) -> None:
    # Taking is done in 40 % of roots, whatever it is worth.
    spread = np.hypot(TRUTH.spread, TRUTH.shift)
    z = TRUTH.value / spread
    gain = spread * stats.norm.pdf(z) + TRUTH.value * stats.norm.cdf(z)  # E max(V, 0)
    truth = 0.6 * gain + 0.4 * (gain - TRUTH.value)
    frame = metrics.decision_losses(planted, ["players"])
    for players in (2, 3):
        low, high = (pick(frame, players=players, outcome="score", bound=bound) for bound in ("low", "high"))
        assert low["estimate"] - 3 * low["se"] < truth < high["estimate"] + 3 * high["se"]
        assert 0.5 * truth < low["estimate"] < high["estimate"] < 1.5 * truth


def test_noise_alone_costs_nothing(tmp_path: Path) -> None:
    run = read_run(write_probed(tmp_path / "run", LINEUPS, Truth(value=0, spread=0, shift=0), deals=300, rounds=5))
    frame = metrics.decision_losses(run, ["players"])
    for players in (2, 3):
        low, high = (pick(frame, players=players, outcome="score", bound=bound) for bound in ("low", "high"))
        assert abs(low["estimate"]) < 3 * low["se"]
        assert high["estimate"] > 5 * high["se"]


def test_how_alike_arms_are_equals_that_found_by_hand(planted: Run) -> None:
    frame = metrics.arm_correlations(planted, ["players"])
    probes = planted.probes(
        filters={"kind": "decision", "players": 3}, columns=["game", "ply", "seat", "arm", "continuation", "score"]
    ).merge(planted.roots(filters={"kind": "decision"}, columns=["game", "ply", "seat"]), on=["game", "ply", "seat"])
    ends = probes.pivot_table(index=["game", "ply", "continuation"], columns="arm", values="score")
    ends -= ends.groupby(level=[0, 1]).transform("mean")
    row = pick(frame, kind="decision", players=3, outcome="score")
    assert row["estimate"] == pytest.approx(ends.corr().loc[0, 1])
    # Luck that arms share has the standard deviation 8, their own noise 3.
    row = pick(frame, kind="tempo", players=2, outcome="score")
    assert row["estimate"] == pytest.approx(64 / 73, abs=0.02)


def test_controls_are_exact_where_they_must_be(planted: Run) -> None:
    frame = metrics.probe_controls(planted)
    exact = frame[frame["control"].isin(["the round is the last", "the same player would start anyway"])]
    assert len(exact) == 4
    assert (exact["found"] == 0).all()
    assert (exact["verdict"] == "exact").all()
    assert (exact["n"] > 100).all()


def write_broken(folder: Path, column: str) -> Run:
    """Write a run in which one continued game of arm 2 is not what it must be."""
    games = make_games(0, (0, 0), 60, 5)
    tables = {"games": games, **make_probes(games, Truth(), np.random.default_rng(5))}
    probes = tables["probes"]
    last = np.flatnonzero((probes["kind"] == 0) & (probes["arm"] == 2) & (probes["next_starter"] < 0))[7]
    probes[column][last] += 1
    cell = Cell(index=0, players=2, lineup=("a", "a"), seatings=((0, 1),), deals=60)
    manifest = Manifest(azulsim="0.1.0", name="broken", seed=1, log="games", cells=(cell,), specs=("a",), shards=1,
                        experiment={"probes": {"decision": {}}})  # fmt: skip
    create_run(folder, manifest, "")
    write_shard(folder, Shard(0, 0, 60), tables, [], depth="games", specs=("a",), is_probed=True)
    return read_run(folder)


@pytest.mark.parametrize("column", ["score", "rounds"])
def test_a_single_wrong_continuation_shows_in_the_controls(column: str, tmp_path: Path) -> None:
    frame = metrics.probe_controls(write_broken(tmp_path / "run", column))
    row = pick(frame, control="the round is the last")
    assert (row["verdict"], row["found"]) == ("differs", 1.0)


def test_planted_bonus_and_round_one_are_found(tmp_path: Path) -> None:
    rules = [Rules(), Rules(starter_bonus=3), Rules(), Rules(starter_bonus=3)]
    lineups = [("a",) * 2, ("a",) * 2, ("a",) * 3, ("a",) * 3]
    folder = write_probed(tmp_path / "run", lineups, deals=200, rules=rules, is_same_luck=True)
    frame = metrics.probe_controls(read_run(folder))
    for players in (2, 3):
        row = pick(frame, control="planted bonus of 3", players=players)
        assert row["verdict"] in ("exact", "agrees")
        assert row["found"] == pytest.approx(row["expected"], abs=0.15)
        assert row["expected"] == pytest.approx(3, abs=0.4)
        found = pick(frame, control="round 1: tempo is the effect of seats", players=players, outcome="score",
                     rules="standard")  # fmt: skip
        assert found["verdict"] == "agrees"
        assert found["found"] == pytest.approx(4, abs=0.5)


def test_fair_price_is_where_the_value_is_nothing(tmp_path: Path) -> None:
    costs = ["floor", 0, 1, 2, 3]
    rules = [Rules(marker_cost=cost) for cost in costs for _ in range(2)]
    truths = [Truth(value=1.6 - (1.5 if cost == "floor" else cost)) for cost in costs for _ in range(2)]
    lineups = [("a",) * 2, ("b",) * 3] * len(costs)
    run = read_run(write_probed(tmp_path / "run", lineups, truths, deals=250, rules=rules, rounds=5))
    frame = metrics.fair_prices(run)
    assert list(frame["players"]) == [2, 2, 2, 3, 3, 3]
    for players in (2, 3):
        row = pick(frame, players=players, outcome="score")
        assert row["low"] < 1.6 < row["high"]
        assert abs(row["estimate"] - 1.6) < 0.5
        assert (row["least"], row["greatest"]) == (0, 3)
    cheap = read_run(write_probed(tmp_path / "cheap", lineups[:4], Truth(value=9.0), deals=60, rounds=5,
                                  rules=[Rules(marker_cost=1)] * 2 + [Rules(marker_cost=2)] * 2))  # fmt: skip
    frame = metrics.fair_prices(cheap)
    assert frame["estimate"].isna().all()
    assert frame["text"].str.startswith("not reached within 1 to 2").all()


def test_differences_of_win_shares_on_few_deals_end_at_what_is_possible(tmp_path: Path) -> None:
    few = read_run(write_probed(tmp_path / "few", [("a",) * 2], Truth(noise=30.0), deals=2, rounds=2))
    frames = [metrics.tempo_values(few), metrics.decision_values(few), metrics.decision_losses(few)]
    shares = pd.concat([frame[frame["outcome"] == "win_share"] for frame in frames])
    assert (shares["low"].dropna() >= -1).all()
    assert (shares["high"].dropna() <= 1).all()
    assert (shares["mde"].dropna() <= 1).all()
    assert shares["note"].str.contains("cut off").any()


def test_one_price_has_no_fair_price(planted: Run) -> None:
    assert metrics.fair_prices(planted).empty


def coverage(folder: Path, cells: int, deals: int) -> float:
    """Return how often intervals of tempo hold the truth, over cells that share nothing."""
    truth = Truth(tempo=1.5, continuations=2, shift=3.0)
    run = read_run(write_probed(folder, [("a", "a")] * cells, truth, deals=deals, rounds=3))
    frame = metrics.tempo_values(run, ["cell"])
    scores = frame[frame["outcome"] == "score"]
    assert len(scores) == cells
    return float(((scores["low"] <= truth.tempo) & (truth.tempo <= scores["high"])).mean())


def test_intervals_cover_tempo(tmp_path: Path) -> None:
    assert 0.91 < coverage(tmp_path / "run", 300, 30) < 0.98


@pytest.mark.long
def test_intervals_cover_tempo_in_ten_thousand_runs(tmp_path: Path) -> None:
    found = np.mean([coverage(tmp_path / f"run{part}", 1000, 30) for part in range(10)])
    assert 0.9435 < found < 0.9565


def test_roots_of_a_deal_depend_on_each_other(tmp_path: Path) -> None:
    """The error of independent roots would be too small: deals share a part of the effect."""
    run = read_run(write_probed(tmp_path / "run", [("a", "a")], Truth(shift=5.0), deals=200, rounds=6))
    row = pick(metrics.tempo_values(run, ["players"]), outcome="score")
    assert row["se"] > 0.8 * np.sqrt(25 / 200)


def write_tables(folder: Path, tables: dict[str, np.ndarray], lineup: tuple[str, ...], specs: tuple[str, ...]) -> Run:
    n, deals = len(lineup), len(np.unique(tables["games"]["deal"]))
    cell = Cell(index=0, players=n, lineup=lineup, seatings=(tuple(range(n)),), deals=deals)
    manifest = Manifest(azulsim="0.1.0", name="tables", seed=1, log="games", cells=(cell,), specs=specs, shards=1,
                        experiment={"probes": {"tempo": {}, "decision": {}}})  # fmt: skip
    create_run(folder, manifest, "")
    write_shard(folder, Shard(0, 0, deals), tables, [], depth="games", specs=specs, is_probed=True)
    return read_run(folder)


def all_frames(run: Run) -> list[pd.DataFrame]:
    return [
        metrics.tempo_values(run),
        metrics.decision_values(run, ("players", "spec", "round", "took", "immediate")),
        metrics.decision_losses(run),
        metrics.decision_signs(run),
        metrics.arm_correlations(run),
        metrics.probe_controls(run),
    ]


def relabel(table: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Let the player of seat s sit in seat order[s]."""
    moved = table.copy()
    moved["seat"] = order[table["seat"]]
    if "arm" in moved.dtype.names:
        is_tempo = table["kind"] == 1
        moved["arm"][is_tempo] = order[table["arm"][is_tempo]]
        starts = table["next_starter"] >= 0
        moved["next_starter"][starts] = order[table["next_starter"][starts]]
    return moved


def test_seats_have_no_names_and_rows_no_order(tmp_path: Path) -> None:
    specs = ("a", "b", "c")
    games = make_games(0, (0, 1, 2), 60, 5)
    tables = {"games": games, **make_probes(games, Truth(per_game=3), np.random.default_rng(3))}
    plain = all_frames(write_tables(tmp_path / "plain", tables, specs, specs))
    rng = np.random.default_rng(4)
    shuffled = {name: rng.permutation(table) for name, table in tables.items()}
    for one, other in zip(plain, all_frames(write_tables(tmp_path / "rows", shuffled, specs, specs)), strict=True):
        pd.testing.assert_frame_equal(one, other)
    order = np.array([2, 0, 1])
    seated = {name: np.sort(relabel(table, order), order=schema.TABLES[name].key) for name, table in tables.items()}
    lineup = tuple(specs[seat] for seat in np.argsort(order))
    moved = all_frames(write_tables(tmp_path / "seats", seated, lineup, specs))
    for one, other in zip(plain[:5], moved[:5], strict=True):  # the last looks at seats themselves
        pd.testing.assert_frame_equal(one, other)


def test_a_run_without_probes_says_what_is_missing(tmp_path: Path) -> None:
    import synthetic

    run = read_run(synthetic.write_run(tmp_path / "run", [("a", "a")], skills={"a": 0.0}, deals=5, depth="games"))
    for metric, word in itertools.product((metrics.tempo_values,), ("tempo",)):
        with pytest.raises(InputError, match=rf"no {word} was probed: the experiment needs a table \[probes\]"):
            metric(run)
    with pytest.raises(InputError, match="no decision was probed"):
        metrics.decision_values(run)
    assert metrics.probe_controls(run).empty
