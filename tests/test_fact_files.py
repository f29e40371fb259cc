"""Files of facts: what is read, what is refused, and how the options name them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fact_files import FACTS, Case, FactsError, default_cases, default_traces, read_cases, read_traces


def test_kept_files_are_complete() -> None:
    cases = [case for path in default_cases() for case in read_cases(path)]
    variants = [case.variant for case in cases]
    assert len(cases) == 112
    assert [variants.count(name) for name in ("colored", "gray", "jokers")] == [92, 8, 12]
    assert [len(read_traces(path)) for path in default_traces()] == [120, 60, 80]


def test_trace_is_turned_into_seats_sources_and_lines_of_azulsim(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    displays = "1 0 0 0 3 " + "0 4 0 0 0 " * 4
    path.write_text(f"G 2 1\nR {displays}\nM 0 0 5\nM 5 4 0\nS 3 1 U 3 -1 N 0 W 2 1\nE 5 1 U 5 -1\n")
    (trace,) = read_traces(path)
    (first,) = trace.rounds
    assert first.displays == ["BWWW", "YYYY", "YYYY", "YYYY", "YYYY"]
    assert first.moves == [(1, "B", 0), (0, "W", 1)]
    assert (first.scores, first.taker, trace.scores) == ([1, 3], 1, [1, 5])
    assert [wall[0] for wall in first.walls] == ["B....", ".Y..."]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no recorded game"),
        ("G 2 0\nR 1 2 3\n", "line 1: this game has no line 'E'"),
        ("G 2 0\nR 1 2 3\nE 0 0\n", "line 2: not a line"),
        ("G 2 0\nM 0 x 1\nE 0 0\n", "line 2: not a line"),
        ("G 2 0\nM 0 5 1\nE 0 0\n", "line 2: not a line"),
        ("R 2 0\nE 0 0\n", "line 1: not a line"),
    ],
)
def test_bad_traces_are_refused_with_the_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(FactsError, match=complaint) as caught:
        read_traces(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not valid JSON"),
        ("{}", "no list of 'cases'"),
        ('{"cases": [{"id": "a"}]}', "every case needs 'id', 'kind'"),
        ('{"cases": []}', "holds no case"),
        (
            '{"cases": [{"id": "a", "kind": "flor", "given": {}, "expect": {}}]}',
            "unknown kind 'flor'; did you mean 'floor'",
        ),
        ('{"cases": [{"id": "a", "kind": "floor", "given": {}, "expect": {}}]}', "case a: 'expect' is empty"),
        (
            '{"cases": [{"id": "a", "kind": "floor", "given": {"x": 1}, "expect": {"penalty": 4}}]}',
            "unknown key 'x' in 'given'",
        ),
        (
            '{"cases": [{"id": "a", "kind": "floor", "given": {}, "expect": {"penaltie": 4}}]}',
            "'penaltie' in 'expect'; did you",
        ),
    ],
)
def test_bad_cases_are_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(FactsError, match=complaint):
        read_cases(path)


@pytest.mark.parametrize(
    ("kind", "given", "variant"),
    [
        ("bonus", {"wall": ["B....", ".B...", ".....", ".....", "....."]}, "colored"),
        ("bonus", {"wall": ["B....", "..B..", ".....", ".....", "....."]}, "gray"),
        ("legal_dest", {"wall": ["....."] * 5, "color": "R", "side": "gray"}, "gray"),
        ("legal_dest", {"wall": ["....."] * 5, "color": "J", "side": "colored"}, "jokers"),
        ("setup", {"players": 3, "joker_set": True}, "jokers"),
        ("take", {"factories": ["JJRK"]}, "jokers"),
    ],
)
def test_case_knows_its_variant(kind: str, given: dict[str, object], variant: str) -> None:
    assert Case("x", kind, given, {}).variant == variant


def run_pytest(*options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest from this folder on the facts, for the reference only."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "reference and case", *options]
    return subprocess.run(
        [*command, "test_facts.py"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )


def test_cases_option_runs_other_files_instead(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
    case = {"id": "mine", "kind": "floor", "given": {"occupied": 3}, "expect": {"penalty": 4}}
    right.write_text(json.dumps({"cases": [case]}))
    wrong.write_text(json.dumps({"cases": [case | {"id": "false", "expect": {"penalty": 5}}]}))
    done = run_pytest("--cases", str(right), "--cases", str(wrong))
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 1 passed" in done.stdout
    assert "test_case[false-reference]" in done.stdout


def test_options_of_the_readme_are_known_for_a_file_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "cases.json"
    elsewhere.write_text("{")
    options = ["tests", "-k", "case or trace", f"--cases={elsewhere}"]
    assert 'pytest tests -k "case or trace" --cases=FILE' in (FACTS / "README.md").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=FACTS.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"{elsewhere}: " in done.stderr
    assert "unrecognized" not in done.stderr


def test_file_that_cannot_be_read_is_a_usage_error() -> None:
    done = run_pytest("--cases", "no_such_file.json")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no_such_file.json: cannot be read: No such file or directory" in done.stderr
