"""Metrics against plain pandas, and against runs whose truth is planted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import synthetic

import azulsim
from azulsim import metrics, schema
from azulsim.errors import InputError
from azulsim.log import Run, Shard, read_run, write_shard
from azulsim.metrics._estimate import contrast
from azulsim.metrics._tables import collect
from azulsim.metrics.games import BY
from azulsim.rules import Bonus, Rules
from azulsim.stats import compare_paired

pytestmark = pytest.mark.xdist_group("metrics")

SKILLS = {"strong": 8.0, "weak": -4.0, "'; DROP TABLE games; --": 0.0}
STRONG, WEAK, ODD = SKILLS
LINEUPS = [(STRONG,) * 2, (WEAK,) * 2, (STRONG, WEAK), (STRONG, ODD), (WEAK, ODD), (STRONG,) * 3, (STRONG, WEAK, ODD)]
STARTER = 5.0


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with known skills and a known advantage of the starter."""
    folder = tmp_path_factory.mktemp("runs") / "planted"
    return read_run(synthetic.write_run(folder, LINEUPS, skills=SKILLS, deals=300, starter=STARTER))


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small run of real games."""
    return azulsim.run("demo", out=tmp_path_factory.mktemp("runs") / "real", deals=12, jobs=1, progress=False)


def pick(frame: pd.DataFrame, **values: object) -> pd.Series:
    for name, value in values.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def add_margin(games: pd.DataFrame) -> pd.DataFrame:
    def best_other(scores: pd.Series) -> pd.Series:
        return pd.Series([scores.drop(i).max() for i in scores.index], index=scores.index)

    return games.assign(margin=games["score"] - games.groupby("game")["score"].transform(best_other))


def test_means_and_errors_equal_cluster_robust_least_squares(real: Run) -> None:
    games = add_margin(real.games())
    frame = metrics.summarize(real, ["score", "margin"], by=("players", "spec"))
    for (players, spec), rows in games.groupby(["players", "spec"], observed=True):
        for outcome in ("score", "margin"):
            row = pick(frame, players=players, spec=spec, outcome=outcome)
            fit = sm.OLS(rows[outcome].astype(float), np.ones(len(rows))).fit(
                cov_type="cluster", cov_kwds={"groups": rows["deal"].astype(int)}
            )
            # statsmodels multiplies the variance by (n - 1) / (n - k) more, which is 1 for a constant.
            assert row["estimate"] == pytest.approx(fit.params.iloc[0])
            assert row["se"] == pytest.approx(fit.bse.iloc[0])
            assert (row["n"], row["n_deals"]) == (len(rows), rows["deal"].nunique())
            assert row["low"] < row["estimate"] < row["high"]
            assert row["mde"] == pytest.approx(2.8 * row["se"], rel=0.01)


def test_numbers_of_a_game_equal_those_found_by_hand(real: Run) -> None:
    games = real.games()
    by_game = games.groupby("game")
    ended = by_game["termination"].first() == "ROW_COMPLETED"
    ender = games[games["is_ender"]].groupby("game")["win_share"].sum().reindex(ended.index, fill_value=0.0)
    tied = by_game["win_share"].max() < 1
    winners = add_margin(games).query("placement == 1")
    frame = metrics.summarize(real, ["ender_wins", "tied", "rounds", "winning_margin"], by=["players"])
    players = by_game["players"].first()
    for count in (2, 3, 4):
        here = players == count
        assert pick(frame, players=count, outcome="ender_wins")["estimate"] == pytest.approx(ender[here & ended].mean())
        assert pick(frame, players=count, outcome="tied")["estimate"] == pytest.approx(tied[here].mean())
        assert pick(frame, players=count, outcome="rounds")["estimate"] == pytest.approx(
            by_game["rounds"].first()[here].mean()
        )
        assert pick(frame, players=count, outcome="winning_margin")["estimate"] == pytest.approx(
            winners.query("players == @count")["margin"].mean()
        )


def test_short_refills_equal_those_found_by_hand(planted: Run) -> None:
    rounds = planted.rounds(columns=["game", "players", "seat", "is_short"])
    games = rounds[rounds["seat"] == 0].groupby("game").agg({"players": "first", "is_short": ["max", "mean"]})
    frame = metrics.short_refills(planted, by=["players"])
    for count in (2, 3):
        here = games[games["players", "first"] == count]["is_short"]
        assert 0 < here["max"].mean() < 1
        assert pick(frame, players=count, outcome="short_games")["estimate"] == pytest.approx(here["max"].mean())
        assert pick(frame, players=count, outcome="short_rounds")["estimate"] == pytest.approx(here["mean"].mean())


def test_takings_equal_those_found_by_hand(real: Run) -> None:
    moves = real.moves(columns=["game", "round", "ply", "seat", "marker", "floor", "tiles", "players", "spec"])
    moves["move"] = moves.groupby(["game", "round"])["ply"].rank().astype(int)
    takings = moves[moves["marker"]]
    rounds = real.rounds().query("holder == seat")
    takings = takings.merge(
        rounds[["game", "round", "forced", "marker_price", "marker_price_paid"]], on=["game", "round"]
    )
    takings["space_price"] = np.array([1, 1, 2, 2, 2, 3, 3, 0, 0, 0])[takings["floor"]]
    assert len(takings) == len(rounds) > 1000
    frame = metrics.takings(real, by=("players", "spec"))
    hand = {"move": "move", "price": "marker_price", "price_paid": "marker_price_paid", "tiles": "tiles",
            "floor_before": "floor", "space_price": "space_price", "forced": "forced"}  # fmt: skip
    for (players, spec), rows in takings.groupby(["players", "spec"], observed=True):
        for outcome, column in hand.items():
            row = pick(frame, players=players, spec=spec, outcome=outcome)
            assert row["estimate"] == pytest.approx(rows[column].mean()), outcome
            assert row["n"] == len(rows)


def test_shares_of_a_distribution_sum_to_one(real: Run) -> None:
    for frame in (
        metrics.game_length_distribution(real),
        metrics.score_distribution(real),
        metrics.taking_moves(real),
    ):
        sums = frame.groupby(["players", "spec"], observed=True)["estimate"].sum()
        assert np.allclose(sums, 1)


def test_seats_and_takers_share_out_the_whole(real: Run) -> None:
    seats = metrics.win_shares(real, by=["players", "seat"])
    assert np.allclose(seats.groupby("players")["estimate"].sum(), 1)
    takes = metrics.marker_rates(real, by=["players"])
    for _, row in takes[takes["outcome"] == "takes"].iterrows():
        unclaimed = pick(takes, players=row["players"], outcome="unclaimed")["estimate"]
        assert row["estimate"] * row["players"] + unclaimed == pytest.approx(1)


def test_planted_starter_effect_is_found(planted: Run) -> None:
    frame = metrics.starter_effects(planted)
    scores = frame[frame["outcome"] == "score"]
    assert len(scores) == 6
    assert ((scores["estimate"] - STARTER).abs() < 3.5 * scores["se"]).all()
    assert (scores["estimate"] / scores["se"] > 5).all()
    tests = metrics.seat_tests(planted, outcome="score")
    assert (tests["p_value"] < 0.001).all()


def test_starter_effect_is_paired_by_deal(planted: Run) -> None:
    games = planted.games()
    rows = games[(games["players"] == 3) & (games["spec"] == WEAK)]
    by_deal = rows.pivot_table(index="deal", columns="seat", values="score", aggfunc="mean")
    effect = by_deal[0] - (by_deal[1] + by_deal[2]) / 2
    row = pick(metrics.starter_effects(planted), players=3, spec=WEAK, outcome="score")
    assert row["estimate"] == pytest.approx(effect.mean())
    assert row["se"] == pytest.approx(effect.std() / np.sqrt(len(effect)))


def test_shares_that_never_varied_are_not_said_to_be_certain(planted: Run) -> None:
    levels = metrics.summarize(planted, ["unfinished"], by=("players", "seat"))
    level = pick(levels, players=2, seat=0)
    assert (level["estimate"], level["se"]) == (0, 0)
    outcome = [metrics.OUTCOMES["unfinished"]]
    sums = collect(planted, outcome, ("players", "seat"))
    row = pick(contrast(sums, outcome, "seat", lambda seats: [1.0, -1.0, 0.0][: len(seats)]), players=2)
    assert row["estimate"] == 0
    assert row["high"] == pytest.approx(-row["low"])
    assert row["high"] == pytest.approx(np.hypot(0, level["high"]))


def test_no_planted_effect_gives_uniform_p_values(tmp_path: Path) -> None:
    lineups = [(STRONG,) * 2] * 60
    run = read_run(synthetic.write_run(tmp_path / "null", lineups, skills=SKILLS, deals=30, depth="games"))
    p = metrics.seat_tests(run, by=("cell",), outcome="score")["p_value"]
    assert len(p) == 60
    assert 0.35 < p.mean() < 0.65
    assert (p < 0.05).mean() < 0.2


def test_associations_compare_takers_with_the_same_group_when_it_did_not_take(planted: Run) -> None:
    rounds = planted.rounds(columns=["game", "round", "seat", "holder", "starter", "gain", "deal", "players", "spec"])
    games = planted.games(columns=["game", "seat", "win_share"])
    both = rounds.merge(games, on=["game", "seat"]).query("players == 2 and spec == @STRONG and round == 2")
    taker = both["holder"] == both["seat"]
    expected = both[taker]["win_share"].mean() - both[~taker]["win_share"].mean()
    row = pick(metrics.holder_associations(planted), players=2, spec=STRONG, round=2, outcome="win_share")
    assert row["estimate"] == pytest.approx(expected)
    starts = both["starter"] == both["seat"]
    expected = both[starts]["gain"].mean() - both[~starts]["gain"].mean()
    row = pick(metrics.next_round_associations(planted), players=2, spec=STRONG, round=2, outcome="gain")
    assert row["estimate"] == pytest.approx(expected)


def test_ranking_finds_the_planted_order(planted: Run) -> None:
    ratings = metrics.ratings(planted)
    for _, rows in ratings.groupby("players"):
        assert list(rows.sort_values("estimate", ascending=False)["spec"]) == [STRONG, ODD, WEAK]
        assert rows["estimate"].sum() == pytest.approx(0, abs=1e-6)
    leads = metrics.leads(planted)
    assert list(zip(leads["spec"], leads["next"], strict=True)) == [(STRONG, ODD), (ODD, WEAK)] * 2
    assert (leads["low"] > 0).all()


def test_lead_of_a_sure_winner_is_as_wide_as_that_of_a_share_that_never_varied(tmp_path: Path) -> None:
    skills = {STRONG: 500.0, WEAK: 0.0}
    run = read_run(synthetic.write_run(tmp_path / "sure", [(STRONG, WEAK)], skills=skills, deals=30, depth="games"))
    games = run.games()
    ours, theirs = (games[games["spec"] == spec] for spec in skills)
    expected = compare_paired(
        ours["win_share"].to_numpy(),
        theirs["win_share"].to_numpy(),
        ours["deal"].to_numpy(),
        theirs["deal"].to_numpy(),
        bounds=(0.0, 1.0),
    )
    lead = pick(metrics.leads(run))
    assert (lead["estimate"], lead["high"]) == (1, 1)
    assert lead["low"] == pytest.approx(expected.low)
    assert lead["mde"] == pytest.approx(expected.mde)


def test_ranks_and_cycles_are_those_of_the_planted_order(planted: Run) -> None:
    ranks = metrics.ranks(planted)
    for _, rows in ranks.groupby("players"):
        assert list(rows["spec"]) == [STRONG, ODD, WEAK]
        assert list(rows["rank"]) == list(rows["rank_low"]) == list(rows["rank_high"]) == [1, 2, 3]
        first = pick(metrics.leads(planted), players=rows["players"].iloc[0], spec=STRONG)
        assert rows["lead"].iloc[0] == pytest.approx(first["estimate"])
        assert rows["lead_low"].iloc[0] < first["low"]
        assert (rows["lead_high"].iloc[1:] < 0).all()
    cycles = metrics.cycles(planted)
    assert list(cycles["players"]) == [2, 3]
    assert (cycles["low"] <= 0.01).all()
    assert (cycles["estimate"] < 0.1).all()


def test_nash_averages_and_the_fit_of_ratings_know_the_planted_best(planted: Run) -> None:
    nash = metrics.nash_averages(planted)
    for _, rows in nash.groupby("players"):
        skills = rows[rows["outcome"] == "nash_skill"]
        assert list(skills.sort_values("estimate", ascending=False)["spec"]) == [STRONG, ODD, WEAK]
        assert skills["estimate"].max() == pytest.approx(0, abs=1e-6)
        assert pick(rows, spec=STRONG, outcome="nash_weight")["estimate"] == pytest.approx(1)
    fits = metrics.rating_fits(planted)
    assert list(fits["players"]) == [2, 3]
    assert fits["misfit"].max() < 0.05
    assert (fits["p_value"] > 1e-3).all()
    payoffs = metrics.payoffs(planted)
    worst = fits.iloc[0]
    pair = pick(payoffs, players=2, spec=worst["spec"], opponent=worst["opponent"])
    assert worst["observed"] == pytest.approx(pair["estimate"])


def test_payoffs_are_mirrored_and_equal_those_found_by_hand(planted: Run) -> None:
    payoffs = metrics.payoffs(planted)
    for _, row in payoffs.iterrows():
        mirror = pick(payoffs, players=row["players"], spec=row["opponent"], opponent=row["spec"])
        assert row["estimate"] + mirror["estimate"] == pytest.approx(1)
        assert row["se"] == pytest.approx(mirror["se"])
    games = planted.games().query("cell == 2")
    places = games.pivot(index="game", columns="spec", values="placement")
    ahead = (places[STRONG] < places[WEAK]) + 0.5 * (places[STRONG] == places[WEAK])
    assert pick(payoffs, players=2, spec=STRONG, opponent=WEAK)["estimate"] == pytest.approx(ahead.mean())


def test_results_leave_out_self_play_and_multiply_the_fair_share(planted: Run) -> None:
    results = metrics.strategy_results(planted)
    games = planted.games().query("cell in [2, 3, 4, 6]")
    for (players, spec), rows in games.groupby(["players", "spec"], observed=True):
        share = pick(results, players=players, spec=spec, outcome="win_share")
        times = pick(results, players=players, spec=spec, outcome="times_fair")
        assert share["estimate"] == pytest.approx(rows["win_share"].mean())
        assert times["estimate"] == pytest.approx(players * share["estimate"])


def count_offers(run: Run) -> pd.DataFrame:
    """Find the offers of the marker by hand: follow center and displays through each round."""
    moves = run.moves(columns=["game", "round", "ply", "seat", "source", "tiles", "marker", "floor", "players", "spec"])
    rounds = run.rounds(columns=["game", "round", "seat", "displays", "forced"])
    displays = rounds[rounds["seat"] == 0].set_index(["game", "round"])["displays"].to_dict()
    forced = set(map(tuple, rounds.loc[rounds["forced"], ["game", "round"]].to_numpy().tolist()))
    offers = []
    for key, rows in moves.groupby(["game", "round"]):
        center, lies = 0, True
        dealt = [displays[key][at : at + 4].replace(".", "") for at in range(0, len(displays[key]), 4)]
        for row in rows.itertuples():
            if lies and center and not (row.marker and key in forced):
                price = [1, 1, 2, 2, 2, 3, 3, 0][min(row.floor, 7)]
                offers.append((row.players, row.spec, min(row.round, 8), price, row.marker))
            center += len(dealt[row.source - 1]) - row.tiles if row.source else -row.tiles
            lies = lies and not row.marker
    return pd.DataFrame(offers, columns=["players", "spec", "round", "price", "taken"])


def test_offers_of_the_marker_equal_those_found_by_hand(real: Run) -> None:
    offers = count_offers(real)
    assert 0.1 < offers["taken"].mean() < 0.6
    for key in ("round", "price"):
        frame = metrics.marker_offers(real, by=("players", "spec", key))
        groups = offers.groupby(["players", "spec", key], observed=True)["taken"]
        assert len(frame) == len(groups)
        for (players, spec, value), rows in groups:
            row = pick(frame, players=players, spec=spec, **{key: value})
            assert (row["estimate"], row["n"]) == (pytest.approx(rows.mean()), len(rows))


def test_fingerprints_equal_those_found_by_hand(real: Run) -> None:
    moves, rounds = real.moves(), real.rounds(columns=["game", "seat", "holder", "tiled"])
    who = real.games(columns=["game", "seat", "players", "spec", "is_ender", "rows", "wall_points"])
    who = who[(who["players"] == 3) & (who["spec"] == "uniform")]
    mine = moves.merge(who, on=["game", "seat"]).assign(tiles=lambda rows: rows["placed"] + rows["overflow"])
    tiled = rounds.merge(who, on=["game", "seat"]).astype({"tiled": "int64"})
    done = {row: (tiled["tiled"] // 64 ** (row - 1) % 64 > 0) for row in range(1, 6)}
    n_done = sum(map(int, (rows.sum() for rows in done.values())))
    on_line = mine.pivot_table(index=["game", "seat"], columns="line", values="placed", aggfunc="sum", fill_value=0)
    left = pd.DataFrame(
        {
            row: on_line[row] - row * done[row].groupby([tiled["game"], tiled["seat"]]).sum().reindex(on_line.index)
            for row in done
        }
    )
    assert left.min(axis=None) == 0
    to_line = mine["line"] > 0
    hand = {
        "center": (mine["source"] == 0).mean(),
        "tiles": mine["tiles"].mean(),
        "waste": mine["overflow"].sum() / mine["tiles"].sum(),
        "fallen": mine["overflow"].sum() / len(tiled),
        "floor_moves": (~to_line).mean(),
        "completes": n_done / to_line.sum(),
        "line_4": mine.loc[mine["line"] == 4, "placed"].sum() / mine["placed"].sum(),
        "open_lines": (left > 0).sum(axis=1).mean(),
        "stranded": left.sum(axis=1).mean(),
        "holds": (tiled["holder"] == tiled["seat"]).mean(),
        "tile_points": who["wall_points"].sum() / n_done,
        "rows": who["rows"].mean(),
        "ends": who["is_ender"].mean(),
    }
    frame = metrics.fingerprints(real)
    for outcome, value in hand.items():
        row = pick(frame, players=3, spec="uniform", outcome=outcome)
        assert row["estimate"] == pytest.approx(value), outcome
        assert row["low"] < value < row["high"]
    offers = pick(metrics.marker_offers(real, by=BY), players=3, spec="uniform")
    assert pick(frame, players=3, spec="uniform", outcome="accepts")["estimate"] == pytest.approx(offers["estimate"])
    assert "denies" not in set(frame["outcome"])


def test_walls_and_points_equal_those_found_by_hand(real: Run) -> None:
    placed = real.placements(columns=["game", "seat", "row", "column", "players", "spec"])
    here = placed[(placed["players"] == 2) & (placed["spec"] == "greedy")]
    games = real.games(filters={"players": 2, "spec": "greedy"})
    frame = metrics.wall_occupancy(real)
    for row, column in ((1, 1), (3, 2), (5, 5)):
        found = pick(frame, players=2, spec="greedy", row=row, column=column)
        count = ((here["row"] == row) & (here["column"] == column)).sum()
        assert found["estimate"] == pytest.approx(count / len(games))
    points = metrics.point_sources(real)
    scores = metrics.scores(real)
    sums = points.groupby(["players", "spec"], observed=True)["estimate"].sum()
    assert sums.to_numpy() == pytest.approx(scores["estimate"].to_numpy())
    found = pick(points, players=2, spec="greedy", outcome="column_bonus")
    assert found["estimate"] == pytest.approx(7 * games["columns"].mean())


def test_two_names_of_the_same_play_are_no_distance_apart(tmp_path: Path) -> None:
    same, other = ["greedy", "row_builder(love=0)"], "uniform"
    experiment = azulsim.Experiment(strategies=[*same, "hoarder", other], deals=40, log="moves", denial=True)
    run = azulsim.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    frame = metrics.distances(run)
    assert len(frame) == 12
    row = pick(frame, spec=same[0], other=same[1])
    assert row["low"] == 0
    assert row["high"] < 0.3
    far = pick(frame, spec=same[0], other=other)
    assert far["low"] > 1
    assert pick(frame, spec=other, other=same[0])["estimate"] == far["estimate"]
    denies = metrics.fingerprints(run).query("outcome == 'denies'")
    moves = run.moves(columns=["denial", "spec"])
    assert denies.set_index("spec")["estimate"].to_dict() == pytest.approx(
        (moves["denial"] > 0).groupby(moves["spec"], observed=True).mean().to_dict()
    )


def test_rules_are_never_mixed(tmp_path: Path) -> None:
    rules = [Rules(), Rules(bonus=Bonus(column=5), max_rounds=9)]
    lineups = [(STRONG, WEAK)] * 2
    run = read_run(synthetic.write_run(tmp_path / "rules", lineups, skills=SKILLS, deals=20, rules=rules))
    frame = metrics.scores(run)
    assert list(frame["rules"].unique()) == ["standard", "bonus.column=5, max_rounds=9"]
    for label, cell in (("standard", 0), ("bonus.column=5, max_rounds=9", 1)):
        mean = run.games(filters={"cell": cell, "spec": STRONG})["score"].mean()
        assert pick(frame, rules=label, spec=STRONG)["estimate"] == pytest.approx(mean)
    assert set(metrics.ratings(run)["rules"]) == set(frame["rules"])
    assert len(metrics.leads(run)) == 2


def test_no_interval_is_made_up(tmp_path: Path) -> None:
    run = read_run(synthetic.write_run(tmp_path / "one", [(STRONG, WEAK)], skills=SKILLS, deals=1))
    frame = metrics.summarize(run, ["score", "win_share", "unfinished"])
    assert frame.loc[frame["outcome"] == "score", ["low", "high", "se", "mde"]].isna().all(axis=None)
    assert frame["note"].astype(bool).all()
    shares = frame[frame["outcome"] == "win_share"]
    assert (shares["low"] < shares["estimate"]).any()
    assert shares["high"].between(0, 1).all()


def test_player_counts_are_compared_as_independent_samples(planted: Run) -> None:
    frame = metrics.scores(planted)
    row = pick(metrics.compare_levels(frame, "players", 2, 3), spec=STRONG)
    two, three = (pick(frame, players=n, spec=STRONG) for n in (2, 3))
    assert row["estimate"] == pytest.approx(three["estimate"] - two["estimate"])
    assert row["se"] == pytest.approx(np.hypot(two["se"], three["se"]))
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * row["se"], rel=0.02)
    assert row["mde"] == pytest.approx(2.8 * row["se"], rel=0.02)


def test_what_never_varied_is_compared_with_a_note(planted: Run) -> None:
    frame = metrics.summarize(planted, ["unfinished", "colors"])
    rows = metrics.compare_levels(frame, "players", 2, 3).set_index("outcome")
    assert (rows["estimate"] == 0).all()
    assert rows.loc["colors", "low"].isna().all()
    assert (rows.loc["unfinished", "high"] > 0).all()
    assert rows["note"].str.contains("no variation").all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda run: metrics.scores(run, by=["playrs"]), "did you mean 'players'"),
        (lambda run: metrics.summarize(run, ["scores"]), "did you mean 'score'"),
        (lambda run: metrics.takings(run), "log of depth 'moves'"),
        (lambda run: metrics.short_refills(run), "log of depth 'rounds'"),
        (lambda run: metrics.scores(run, by=[]), "at least one"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, call: object, words: str) -> None:
    run = read_run(synthetic.write_run(tmp_path / "games", [(STRONG, WEAK)], skills=SKILLS, deals=2, depth="games"))
    with pytest.raises(InputError, match=words):
        call(run)  # type: ignore[operator]


def test_denied_demand_of_a_log_made_by_hand(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("a", "b")], skills={"a": 0.0, "b": 0.0}, deals=1)
    tables = synthetic.make_tables([(0, 1)], skills=[0.0, 0.0], deals=1)
    # Seat, color, line, placed; 4 tiles of each color are dealt in round 1, one blue and four yellow ones in round 2.
    rounds = {
        1: [(0, "B", 3, 2), (1, "B", 2, 2), (0, "R", 5, 1), (1, "R", 4, 1), (0, "R", 5, 1), (1, "R", 4, 1)],
        2: [(1, "Y", 0, 0), (0, "Y", 1, 1), (1, "Y", 0, 0), (0, "B", 3, 1)],
    }
    moves = np.zeros(2 * 10, tables["moves"].dtype)
    listed = [(number, *move) for number, played in rounds.items() for move in played]
    for place, (seating, (ply, move)) in enumerate((s, each) for s in (0, 1) for each in enumerate(listed)):
        number, seat, color, line, placed = move
        row = moves[place]
        row["game"], row["ply"], row["round"], row["seat"] = seating, ply, number, seat
        row["color"], row["line"], row["placed"] = schema.MOVE_COLOR_NAMES.index(color), line, placed
        row["overflow"] = placed == 0
    dealt = tables["rounds"].copy()
    dealt["displays"] = np.where(dealt["round"] == 1, b"BBBBYYYYRRRRKKKKWWWW", b"BYYYY" + b"." * 15)
    dealt["displays"][dealt["seat"] > 0] = b""
    kept = {"games": tables["games"], "rounds": dealt, "moves": moves}
    write_shard(folder, Shard(0, 0, 1), kept, [], depth="moves", specs=("a", "b"))
    frame = metrics.denied_demand(read_run(folder), ("players", "seat"))
    found = frame.pivot_table(index="seat", columns="outcome", values="estimate")
    # Seat 0 wants 1 B, 3 R, 1 R, none, 1 B and none after its moves, and loses 1, 1, 1 and nothing of round 2.
    assert found.loc[0, ["wanted", "lost", "lost_share"]].tolist() == pytest.approx([6 / 5, 3 / 5, 3 / 6])
    # Seat 1 wants 2 R after its second move, of which one is left; the rest of the table nobody needs.
    assert found.loc[1, ["wanted", "lost", "lost_share"]].tolist() == pytest.approx([2 / 5, 1 / 5, 1 / 2])


def test_denied_demand_equals_what_plain_code_finds(tmp_path: Path) -> None:
    one = azulsim.run("demo", out=tmp_path / "run", deals=1, jobs=1, progress=False)
    moves, rounds = one.moves(), one.rounds()
    specs = one.games().astype({"spec": str}).set_index(["game", "seat"])["spec"].to_dict()
    offers = rounds[rounds["seat"] == 0].set_index(["game", "round"])["displays"]
    wanted, lost, n_moves = Counter[str](), Counter[str](), Counter[str]()
    for game, played in moves.groupby("game"):
        lines: dict[tuple[int, int], tuple[str, int]] = {}
        for number, part in played.groupby("round"):
            offer = Counter(str(offers[game, number]))
            open_: dict[int, Counter[str]] = {}
            for move in part.itertuples():
                if move.seat in open_:
                    lost[specs[game, move.seat]] += sum((open_.pop(move.seat) - offer).values())
                offer[move.color] -= move.placed + move.overflow
                if move.line:
                    held = lines.get((move.seat, move.line), ("", 0))[1] % move.line
                    lines[move.seat, move.line] = (move.color, held + move.placed)
                need: Counter[str] = Counter()
                for (seat, line), (color, held) in lines.items():
                    if seat == move.seat:
                        need[color] += -held % line
                open_[move.seat] = need & offer
                wanted[specs[game, move.seat]] += sum(open_[move.seat].values())
                n_moves[specs[game, move.seat]] += 1
            for seat, rest in open_.items():
                lost[specs[game, seat]] += sum(rest.values())
    frame = metrics.denied_demand(one, ("spec",))
    for spec, total in wanted.items():
        assert pick(frame, spec=spec, outcome="wanted")["estimate"] == pytest.approx(total / n_moves[spec])
        assert pick(frame, spec=spec, outcome="lost_share")["estimate"] == pytest.approx(lost[spec] / total)


def test_denied_demand_of_a_long_run_is_that_of_its_first_deals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, short = (
        azulsim.run("demo", out=tmp_path / str(deals), deals=deals, jobs=1, progress=False) for deals in (8, 2)
    )
    monkeypatch.setattr("azulsim.metrics.demand.MOST_MOVES", long.n_moves // 4)
    pd.testing.assert_frame_equal(metrics.denied_demand(long), metrics.denied_demand(short))
