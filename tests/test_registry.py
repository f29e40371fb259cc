"""Specs: one canonical text, one sentence for every mistake, and strategies from any file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playing import assert_same, play

from azulsim.errors import AzulsimError, InputError
from azulsim.registry import Spec, canonical_spec, hash_sources, list_strategies, make_strategy, parse_spec
from azulsim.strategy import strategy

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: not _is_keyword(name))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def _is_keyword(name: str) -> bool:
    import keyword

    return keyword.iskeyword(name)


PARAMS = st.dictionaries(NAMES, NUMBERS, max_size=4)
SPECS = st.recursive(st.builds(Spec, NAMES, PARAMS), lambda inner: st.builds(Spec, NAMES, PARAMS, inner), max_leaves=5)


@given(SPECS)
def test_a_spec_goes_there_and_back(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec
    assert canonical_spec(str(spec)) == str(spec)


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("greedy", "greedy"),
        ("  greedy ( ) ", "greedy"),
        ("f( b = 2.0,a=.5 )", "f(a=0.5, b=2)"),
        ("f(a=-1e-7)", "f(a=-1e-07)"),
        ("f(a=-0.0)", "f(a=0)"),
        ("f(a=1_000)", "f(a=1000)"),
        ("f(a=+3)", "f(a=3)"),
        ("f(a=1e300)", "f(a=1e+300)"),
        ("f(a=1,)", "f(a=1)"),
        ("f(g)", "f(g)"),
        ("f( g( b = 2. ) , a = 1 )", "f(g(b=2), a=1)"),
        ("f(g(h(a=1)))", "f(g(h(a=1)))"),
        ("ideas/mine.py:f(a=1)", "ideas/mine.py:f(a=1)"),
        ("f(ideas/a=b/mine.py:g(c=3), a=1)", "f(ideas/a=b/mine.py:g(c=3), a=1)"),
    ],
)
def test_all_ways_of_writing_a_spec_have_one_text(spec: str, canonical: str) -> None:
    assert canonical_spec(spec) == canonical
    assert canonical_spec(canonical) == canonical


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("", "write a name"),
        ("   ", "write a name"),
        ("(a=1)", "write a name"),
        ("f(", "write a name, or name"),
        ("f(a=1", "write a name, or name"),
        ("f(a=1) and more", "write a name, or name"),
        ("f(a, b)", "name=number"),
        ("f(a=1, g)", "name=number"),
        ("f(g(a=1), h)", "name=number"),
        ("f(g,, a=1)", "write a name, or name"),
        ("f(" * 20 + "g" + ")" * 20, "more than 16 parts"),
        ("f(a=)", "finite number"),
        ("f(a=1)(b=2)", "write a name, or name"),
        ("f(a=1) + g(b=2)", "write a name, or name"),
        ("f(a=1)[f(b=1)]", "write a name, or name"),
        ("f(a='x')", "parameter 'a' needs a finite number"),
        ("f(a=b)", "parameter 'a' needs a finite number"),
        ("f(a=[1])", "parameter 'a' needs a finite number"),
        ("f(a=1j)", "parameter 'a' needs a finite number"),
        ("f(a={[]: 1})", "parameter 'a' needs a finite number"),
        ("f(a=None)", "parameter 'a' needs a finite number"),
        ("f(a=1e999)", "parameter 'a' needs a finite number"),
        ("f(a=1" + "0" * 400 + ")", "parameter 'a' needs a finite number"),
        ("f(a=1, a=2)", "given twice"),
        ("f(a=\0)", "finite number"),
        ("f(a=" + "(" * 300 + "1" + ")" * 300 + ")", "finite number"),
    ],
)
def test_a_bad_spec_is_one_sentence(spec: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        parse_spec(spec)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"strategy {spec!r}: ")


@given(st.text(max_size=30) | st.text("f(a=1,)*[]{}'\"-. \n", max_size=30).map("f({})".format))
def test_any_text_is_a_spec_or_one_error_of_ours(text: str) -> None:
    try:
        spec = parse_spec(text)
    except InputError:
        return
    for part in spec.parts():
        assert part.name == part.name.strip() != ""
        assert all(isinstance(value, float) and math.isfinite(value) for value in part.params.values())
    assert parse_spec(str(spec)) == spec


# ---- what a spec names


def test_bundled_strategies_are_made_with_their_parameters() -> None:
    player = make_strategy("row_builder( love = 2 )")
    assert (player.spec, player.params) == ("row_builder(love=2)", {"love": 2.0})
    assert make_strategy("row_builder").params == {"love": 0.5}
    with pytest.raises(InputError, match=r"row_builder\(lov=2\): 'row_builder' has no parameter 'lov'; did"):
        make_strategy("row_builder(lov=2)")
    with pytest.raises(InputError, match="unknown strategy 'gredy'; did you mean 'greedy'"):
        make_strategy("gredy")


def test_one_player_has_one_text_and_another_player_another() -> None:
    same = ["noisy(row_builder)", "noisy(row_builder(love=0.5), eps=0.1)", "noisy(row_builder, eps=.10)"]
    assert {make_strategy(spec).spec for spec in same} == {"noisy(row_builder, eps=0.1)"}
    assert make_strategy("row_builder(love=.5)").spec == "row_builder"
    others = ["noisy(row_builder(love=0.50001))", "noisy(row_builder, eps=0.10001)", "noisy(noisy(row_builder))"]
    texts = {make_strategy(spec).spec for spec in others}
    assert len(texts) == 3
    assert {make_strategy(text).spec for text in texts} == texts


def test_wrappers_are_made_with_what_is_inside_them() -> None:
    player = make_strategy("noisy( marker_never(row_builder(love=2)), eps=0.25 )")
    assert player.spec == "noisy(marker_never(row_builder(love=2)), eps=0.25)"
    assert (player.definition.name, player.params) == ("row_builder", {"love": 2.0})
    wraps = [(wrap.wrapper.name, wrap.params) for wrap in player.wraps]
    assert wraps == [("noisy", {"eps": 0.25}), ("marker_never", {})]
    with pytest.raises(InputError, match=r"noisy\(greedy, ep=1\): 'noisy' has no parameter 'ep'; did you mean 'eps'"):
        make_strategy("noisy(greedy, ep=1)")
    with pytest.raises(InputError, match=r"'noisy' is a wrapper; .* as in noisy\(greedy, eps=0.5\)"):
        make_strategy("noisy(eps=0.5)")
    with pytest.raises(InputError, match=r"'greedy' is no wrapper, so that no strategy can stand inside it"):
        make_strategy("greedy(uniform)")
    with pytest.raises(InputError, match="unknown strategy 'gredy'; did you mean 'greedy'"):
        make_strategy("noisy(gredy)")


def test_an_edit_of_any_part_of_a_spec_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(GOOD)
    (tmp_path / "b.py").write_text("from azulsim import wrapper\n@wrapper\ndef w(position, moves, key): pass\n")
    spec = f"{tmp_path}/b.py:w({tmp_path}/a.py:first)"
    hashes = [hash_sources(spec)]
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "#\n")
        hashes.append(hash_sources(spec))
    assert len(set(hashes)) == 3
    assert hash_sources("greedy") != hash_sources("noisy(greedy)")


GOOD = '''"""Two ideas."""
from azulsim.strategy import strategy

@strategy
def like_greedy(move, *, love=0):
    """As greedy."""
    return move.gain + love * move.placed

@strategy
def first(view, moves, rng):
    return 0
'''


def test_a_strategy_is_found_in_any_file(tmp_path: Path) -> None:
    file = tmp_path / "my ideas.py"
    file.write_text(GOOD)
    player = make_strategy(f"{file}:like_greedy(love=0)")
    assert (player.spec, player.definition.doc) == (f"{file}:like_greedy", "As greedy.")
    assert_same(play(player, players=2), play("greedy", players=2))
    assert make_strategy(f"{file}:first").definition.doc == "Two ideas."
    with pytest.raises(InputError, match="holds no strategy 'secnd'"):
        make_strategy(f"{file}:secnd")


def test_a_file_in_the_project_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "ideas.py").write_text(GOOD)
    assert make_strategy("like_greedy", project=tmp_path).spec == "like_greedy"
    assert "first" in {entry.name for entry in list_strategies(project=tmp_path)}
    monkeypatch.chdir(tmp_path)
    assert make_strategy("first").speed == "plain"


def test_a_bare_function_is_a_whole_strategy(tmp_path: Path) -> None:
    file = tmp_path / "bare.py"
    file.write_text("def mine(move, *, love=0):\n    return move.gain + love * move.placed\n")
    player = make_strategy(f"{file}:mine(love=0)")
    assert player.params == {"love": 0.0}
    assert_same(play(player, players=2), play("greedy", players=2))


def test_a_value_outside_its_limits_is_refused() -> None:
    with pytest.raises(InputError, match=r"noisy\(greedy, eps=2\): parameter eps = 2: must be from 0 to 1"):
        make_strategy("noisy(greedy, eps=2)")
    with pytest.raises(InputError, match=r"uniform\(love=1\): 'uniform' has no parameter 'love'; it has none"):
        make_strategy("uniform(love=1)")
    with pytest.raises(InputError, match=r"greedy\(2\).: write its parameters as name=number"):
        make_strategy("greedy(2)")
    with pytest.raises(InputError, match="many: parameter n = 9: must be from 0 to 5"):

        @strategy(limits={"n": (0, 5)})
        def many(move: Any, *, n: int = 9) -> float:
            return n


def test_an_edited_file_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    results = []
    for text in (GOOD, GOOD.replace("love * move.placed", "move.tiles")):
        file.write_text(text)
        results.append(play(make_strategy(f"{file}:like_greedy"), players=2).moves.tolist())
    assert results[0] != results[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from azulsim.strategy import strategy\n@strategy\ndef mine(move)\n    return 0\n", "line 3|cannot be read"),
        ("def mine(moves):\n    return 0\n", "parameters .moves. are of no known kind"),
        ("from azulsim.strategy import strategy\n@strategy\ndef mine(board):\n    return 0\n", "of no known kind"),
        (
            "from azulsim.strategy import strategy\n@strategy\ndef mine(move, *, love):\n    return 0\n",
            "parameter 'love' needs a number",
        ),
        (
            "from azulsim.strategy import strategy\nimport no_such_module\n@strategy\ndef mine(move):\n    return 0\n",
            "mine.py, line 2: ModuleNotFoundError",
        ),
        (
            "from azulsim.strategy import strategy\n@strategy\ndef mine(move):\n    return 0\nmine = 3\n",
            "'mine' is not a strategy; decorate it with @strategy",
        ),
        ("from azulsim.strategy import strategy\nraise SystemExit(3)\n@strategy\ndef mine(move): ...\n", "line 2"),
        ("\0", "mine"),
        ("", "mine"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(AzulsimError, match=message) as caught:
        make_strategy(f"{file}:mine")
    assert "\n" not in str(caught.value)
    assert "mine" in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        make_strategy(f"{tmp_path}/none.py:mine")
