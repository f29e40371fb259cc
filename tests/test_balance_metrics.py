"""Metrics of the balance reports: against sums made by hand, exact laws, statsmodels, and planted effects."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import synthetic
from scipy.stats import f_oneway

import azulsim
from azulsim import metrics
from azulsim.errors import InputError
from azulsim.log import Run, read_run
from azulsim.metrics.course import fold
from azulsim.rules import COLORS, Rules

pytestmark = pytest.mark.xdist_group("balance")

SKILLS = {"strong": 8.0, "weak": -4.0}


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small run of real games at all depths, with every order of seats at three players."""
    experiment = azulsim.Experiment(
        strategies=["greedy", "uniform", "connector"],
        players=[2, 3],
        deals=25,
        seatings="full",
        log="moves",
        denial=True,
    )
    return azulsim.run(experiment, out=tmp_path_factory.mktemp("runs") / "real", jobs=1, progress=False)


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Self-play at two to four players, logged by round."""
    experiment = azulsim.Experiment(
        strategies=["greedy", "uniform"], players=[2, 3, 4], schedule="self_play", deals=40, log="rounds"
    )
    return azulsim.run(experiment, out=tmp_path_factory.mktemp("runs") / "alone", jobs=1, progress=False)


def pick(frame: pd.DataFrame, **values: object) -> pd.Series:
    for name, value in values.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def standings_by_hand(run: Run) -> pd.DataFrame:
    """Return a row a game, round and seat, with its lead, its part in the first place, and how the game ended."""
    rounds = run.rounds(columns=["game", "round", "seat", "score_after", "starter", "players", "spec", "deal"])
    games = run.games(columns=["game", "seat", "win_share", "score", "rounds"])
    frame = rounds.merge(games, on=["game", "seat"]).astype({"spec": str, "score_after": int, "score": int})
    by_round, by_game = frame.groupby(["game", "round"]), frame.groupby("game")

    def find_lead(score: pd.Series) -> list[float]:
        return [value - score.drop(at).max() for at, value in score.items()]

    frame["lead"] = by_round["score_after"].transform(find_lead)
    frame["final"] = by_round["score"].transform(find_lead)
    is_first = frame["score_after"] == by_round["score_after"].transform("max")
    frame["first"] = is_first / is_first.groupby([frame["game"], frame["round"]]).transform("sum")
    frame["is_over"] = frame["round"] == by_game["round"].transform("max")
    return frame


def test_standings_equal_those_found_by_hand(real: Run) -> None:
    hand = standings_by_hand(real)
    frame = metrics.standings(real, ["players", "spec"])
    going = hand[~hand["is_over"]]
    for (players, spec, number), rows in going.groupby(["players", "spec", "round"]):
        if number > 4 or not rows["first"].any():
            continue
        wins = np.average(rows["win_share"], weights=rows["first"])
        lead = np.average(rows["lead"], weights=rows["first"])
        keys = {"players": players, "spec": spec, "round": number}
        assert pick(frame, **keys, outcome="leader_wins")["estimate"] == pytest.approx(wins)
        assert pick(frame, **keys, outcome="lead")["estimate"] == pytest.approx(lead)
        assert pick(frame, **keys, outcome="leader_wins")["n_deals"] == rows[rows["first"] > 0]["deal"].nunique()


def test_leader_and_last_share_two_player_games(alone: Run) -> None:
    frame = metrics.standings(alone).query("players == 2").pivot_table(
        index=["spec", "round"], columns="outcome", values="estimate", observed=True
    )  # fmt: skip
    np.testing.assert_allclose(frame["leader_wins"] + frame["last_wins"], 1)


def test_what_the_lead_decides_is_a_squared_correlation(real: Run) -> None:
    going = standings_by_hand(real).query("not is_over and round <= 8")
    frame = metrics.decided_by_lead(real, ["players"])
    for (players, number), rows in going.groupby(["players", "round"]):
        if number > 4:
            continue
        for outcome, x, y, power in (
            ("win_share", "lead", "win_share", 2), ("margin", "lead", "final", 2),
            ("runaway", "score_after", "win_share", 1),
        ):  # fmt: skip
            found = pick(frame, players=players, round=number, outcome=outcome)
            assert found["estimate"] == pytest.approx(np.corrcoef(rows[x], rows[y])[0, 1] ** power)


def test_error_of_a_correlation_is_that_of_the_jackknife_over_deals(alone: Run) -> None:
    going = standings_by_hand(alone).query("not is_over and players == 3 and spec == 'greedy' and round == 3")
    found = pick(metrics.decided_by_lead(alone), players=3, spec="greedy", round=3, outcome="margin")
    values = []
    for deal in going["deal"].unique():
        rest = going[going["deal"] != deal]
        values.append(np.corrcoef(rest["lead"], rest["final"])[0, 1] ** 2)
    n = len(values)
    jackknife = np.sqrt((n - 1) / n * ((values - np.mean(values)) ** 2).sum())
    assert found["se"] == pytest.approx(jackknife, rel=0.1)


def test_lead_changes_equal_those_found_by_hand(real: Run) -> None:
    hand = standings_by_hand(real)
    changes = {}
    for game, rows in hand.groupby("game"):
        leaders = [r.loc[r["first"] == 1, "seat"].iloc[0] for _, r in rows.groupby("round") if (r["first"] == 1).any()]
        changes[game] = sum(a != b for a, b in pairwise(leaders))
    games = hand.drop_duplicates("game").assign(changes=lambda frame: frame["game"].map(changes))
    frame = metrics.lead_changes(real, ["players"])
    for players, rows in games.groupby("players"):
        assert pick(frame, players=players, outcome="lead_changes")["estimate"] == pytest.approx(rows["changes"].mean())
    over = hand[hand["is_over"]].query("players == 3")
    wins = np.average(over["win_share"], weights=over["first"])
    assert pick(frame, players=3, outcome="bonus_leader_wins")["estimate"] == pytest.approx(wins)


def test_seat_parts_are_least_squares_clustered_by_deal(alone: Run) -> None:
    hand = standings_by_hand(alone).query("players == 4 and spec == 'greedy'")
    hand = hand.assign(later=(hand["round"] > 1) & (hand["starter"] == hand["seat"]))
    games = hand.groupby(["game", "seat"]).agg(
        y=("win_share", "first"), x=("later", "sum"), deal=("deal", "first")
    ).reset_index()  # fmt: skip
    games["x"] -= games.groupby("game")["x"].transform("mean")
    design = pd.get_dummies(games["seat"]).astype(float).assign(x=games["x"].astype(float))
    groups = {"groups": games["deal"].astype(int)}
    fit = sm.OLS(games["y"], design).fit(cov_type="cluster", cov_kwds=groups)
    slope = pick(metrics.later_starts(alone), players=4, spec="greedy")
    # statsmodels multiplies the variance by (n - 1) / (n - k) more.
    n, k = design.shape
    assert slope["estimate"] == pytest.approx(fit.params["x"])
    assert slope["se"] == pytest.approx(fit.bse["x"] * np.sqrt((n - k) / (n - 1)))
    parts = metrics.seat_parts(alone).query("players == 4 and spec == 'greedy'")
    for seat in range(4):
        row = parts[parts["seat"] == seat].set_index("outcome")["estimate"]
        assert row["order"] == pytest.approx(fit.params[seat] - 1 / 4)
        assert row["advantage"] == pytest.approx(row["order"] + row["later"])


def test_equivalence_of_seats_depends_on_the_margin(tmp_path: Path) -> None:
    lineups = [("strong",) * 2, ("weak",) * 2]
    run = read_run(synthetic.write_run(tmp_path / "run", lineups, skills=SKILLS, deals=1200, depth="games"))
    shares = metrics.win_shares(run)
    for margin, is_within in ((0.001, False), (0.06, True)):
        frame = metrics.seat_equivalence(run, margin=margin)
        assert (frame["is_within"] == is_within).all()
        np.testing.assert_allclose(frame["estimate"], shares["estimate"] - 0.5)
    planted = synthetic.write_run(tmp_path / "two", lineups, skills=SKILLS, deals=1200, starter=5.0, depth="games")
    frame = metrics.seat_equivalence(read_run(planted), margin=0.06)
    assert not frame["is_within"].any()
    assert (frame["p_within"] > 0.9).all()


def test_neighbours_equal_those_found_by_hand(real: Run) -> None:
    games = real.games().query("players == 3").astype({"spec": str, "seat": int})
    one, two = games, games[["game", "seat", "spec"]].rename(columns={"seat": "at", "spec": "other"})
    both = one.merge(two, on="game").query("seat != at and spec != other")
    both["turns_later"] = (both["at"] - both["seat"]) % 3
    frame, effects = metrics.neighbours(real), metrics.neighbour_effects(real)
    for spec, other in [("greedy", "uniform"), ("uniform", "connector")]:
        rows = both[(both["spec"] == spec) & (both["other"] == other)]
        means = rows.groupby("turns_later")["win_share"].mean()
        for later in (1, 2):
            keys = {"spec": spec, "other": other, "turns_later": later, "outcome": "win_share"}
            assert pick(frame, **keys)["estimate"] == pytest.approx(means[later])
        found = pick(effects, spec=spec, other=other, outcome="win_share")
        assert found["estimate"] == pytest.approx(means[2] - means[1])


def test_neighbours_need_every_order_of_seats(tmp_path: Path) -> None:
    lineup = ("strong", "weak", "weak")
    run = read_run(synthetic.write_run(tmp_path / "run", [lineup], skills=SKILLS, deals=5, depth="games"))
    assert metrics.neighbours(run).empty
    assert metrics.neighbour_effects(run).empty


def test_denials_equal_those_found_by_hand(real: Run) -> None:
    moves = real.moves(columns=["players", "spec", "denial"]).astype({"spec": str})
    frame = metrics.denials(real)
    for (players, spec), rows in moves.groupby(["players", "spec"]):
        known = rows["denial"].dropna().astype(float)
        keys = {"players": players, "spec": spec}
        assert pick(frame, **keys, outcome="denies")["estimate"] == pytest.approx((known > 0).mean())
        assert pick(frame, **keys, outcome="denied")["estimate"] == pytest.approx(known.clip(lower=0).mean())


def test_colors_dealt_equal_those_found_by_hand(real: Run) -> None:
    rounds = real.rounds(columns=["players", "seat", "round", "is_short", "displays"]).query(
        "seat == 0 and not is_short"
    )
    counts = np.array([[text.count(color) for color in COLORS] for text in rounds["displays"]])
    rounds = rounds.assign(fewest=counts.min(axis=1), most=counts.max(axis=1), squares=counts.var(axis=1) * 5)
    frame = metrics.color_scarcity(real, ["players"])
    for (players, number), rows in rounds.groupby(["players", "round"]):
        if number > 8:
            continue
        for name in ("fewest", "most"):
            row = pick(frame, players=players, round=number, outcome=name)
            assert row["estimate"] == pytest.approx(rows[name].mean())
            assert row["n"] == len(rows) * players
        row = pick(frame, players=players, round=number, outcome="unevenness")
        assert row["estimate"] == pytest.approx(rows["squares"].mean() / metrics.expect_offer(Rules(), players)[3])


def test_first_deals_follow_the_hypergeometric_law(alone: Run) -> None:
    frame = metrics.color_scarcity(alone, ["players"]).query("round == 1")
    assert ((frame["estimate"] - frame["expected"]).abs() < 4 * frame["se"]).all()
    rng = np.random.default_rng(1)
    bag = np.repeat(np.arange(5), 20)
    draws = np.array([np.bincount(rng.permutation(bag)[:28], minlength=5) for _ in range(20_000)])
    fewest, most, _, squares = metrics.expect_offer(Rules(), 3)
    assert fewest == pytest.approx(draws.min(axis=1).mean(), abs=0.03)
    assert most == pytest.approx(draws.max(axis=1).mean(), abs=0.03)
    assert squares == pytest.approx((draws.var(axis=1) * 5).mean(), rel=0.03)
    assert np.isnan(metrics.expect_offer(Rules(joker_tiles=True), 2)).all()


def test_games_to_tell_two_apart_tell_them_apart(tmp_path: Path) -> None:
    skills = {"a": 0.0, "b": -3.0, "c": 0.0}
    lineups = list(combinations(skills, 2))
    run = read_run(synthetic.write_run(tmp_path / "run", lineups, skills=skills, deals=1000, depth="games"))
    frame = metrics.games_to_tell(run)
    row = pick(frame, spec="a", opponent="b")
    assert row["to_tell_low"] < row["to_tell"] < row["to_tell_high"]
    assert row["games"] == 2 * row["to_tell"]
    games = run.games(filters={"cell": 0}).astype({"spec": str})
    ahead = games[games["spec"] == "a"].set_index(["deal", "seating"])["placement"].map({1: 1.0, 2: 0.0}).astype(float)
    tied = games.groupby(["deal", "seating"])["win_share"].max() < 1
    ahead[tied] = 0.5
    by_deal = ahead.groupby("deal").mean().to_numpy()
    rng = np.random.default_rng(2)
    leads = [rng.choice(by_deal, round(row["to_tell"])).mean() > 0.5 for _ in range(2000)]
    assert np.mean(leads) == pytest.approx(0.95, abs=0.03)
    equal = frame[frame["spec"].isin(["a", "c"]) & frame["opponent"].isin(["a", "c"])]
    assert equal["to_tell_high"].isna().all()
    assert equal["note"].str.contains("not told apart").all()


def test_variance_shares_find_planted_skill(tmp_path: Path) -> None:
    skills = {"a": 12.0, "b": -12.0}
    run = read_run(synthetic.write_run(tmp_path / "run", [("a", "b")], skills=skills, deals=400, depth="games"))
    frame = metrics.variance_shares(run, outcome="score")
    # Of a score: skill 12^2, luck of the deal 6^2, and 10^2 of everything else.
    for name, share in (("skill", 144), ("luck", 136), ("seat", 0), ("skill_seat", 0)):
        row = pick(frame, players=2, outcome=name)
        assert row["estimate"] == pytest.approx(share / 280, abs=max(4 * row["se"], 0.01))
    assert frame["estimate"].sum() == pytest.approx(1, abs=0.01)
    assert (metrics.variance_shares(run, ["players", "lineup"])["specs"] == "a, b").all()


def test_variance_shares_use_line_ups_that_were_rotated(real: Run, alone: Run) -> None:
    frame = metrics.variance_shares(real)
    assert set(frame["players"]) == {2, 3}
    assert set(frame["outcome"]) == set(metrics.VARIANCE)
    games = real.games().query("players == 2")
    skill = games.groupby(["cell", "spec"], observed=True)["win_share"].mean().groupby("cell").std(ddof=0).dropna()
    found = pick(frame, players=2, outcome="skill")
    share = (skill**2).mean() / games.groupby("cell")["win_share"].var(ddof=0).mean()
    assert found["estimate"] == pytest.approx(share, abs=0.05)
    assert metrics.variance_shares(alone).empty
    assert metrics.decided_by_round(alone).empty


def test_what_is_decided_is_a_one_way_analysis_of_variance(tmp_path: Path) -> None:
    experiment = azulsim.Experiment(
        lineup=["greedy"],
        grid={"rules.starter_bonus": [0, 3]},
        players=[2],
        deals=6,
        probes={"tempo": {"rounds": "all", "continuations": 3}},
    )
    run = azulsim.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    frame = metrics.decided_by_round(run, outcome="margin")
    probes = run.sql("SELECT * FROM probes WHERE kind = 'tempo' AND continuation > 0").df()
    roots = run.sql("SELECT game, ply, seat AS starter FROM roots WHERE kind = 'tempo'").df()
    rows = probes.merge(roots, on=["game", "ply"]).query("arm == starter and cell == 1")
    for number in (2, 4):
        here = rows[rows["round"] == number]
        samples = [part["margin"].astype(float) for _, part in here.groupby(["game", "seat"])]
        assert {len(sample) for sample in samples} == {3}
        ratio = f_oneway(*samples).statistic
        row = pick(frame, rules="starter_bonus=3", players=2, spec="greedy", round=number)
        assert row["estimate"] == pytest.approx(max((ratio - 1) / (ratio + 2), 0))
        assert row["n"] == len(here)


def test_sums_do_not_depend_on_the_size_of_the_pieces(real: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fold(real, ("players", "spec"), "all")
    monkeypatch.setattr("azulsim.metrics._rounds.CHUNK", 7)
    pieces = fold(read_run(real.path), ("players", "spec"), "all")
    for one, two in zip(whole, pieces, strict=True):
        pd.testing.assert_frame_equal(one.keys, two.keys)
        np.testing.assert_array_equal(one.total, two.total)
        np.testing.assert_array_equal(one.count, two.count)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda run: metrics.standings(run), "log of depth 'rounds'"),
        (lambda run: metrics.color_scarcity(run), "log of depth 'rounds'"),
        (lambda run: metrics.seat_parts(run), "log of depth 'rounds'"),
        (lambda run: metrics.denials(run), "log of depth 'moves'"),
        (lambda run: metrics.seat_equivalence(run, margin=0), "greater than 0"),
        (lambda run: metrics.seat_equivalence(run, by=["spce"]), "did you mean 'spec'"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, call: object, words: str) -> None:
    run = read_run(synthetic.write_run(tmp_path / "games", [("strong", "weak")], skills=SKILLS, deals=2, depth="games"))
    with pytest.raises(InputError, match=words):
        call(run)  # type: ignore[operator]
