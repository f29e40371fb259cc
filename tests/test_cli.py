"""The command line: what it prints where, its exit codes, and what it does with what cannot be used."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

import azulsim
from azulsim import cli
from azulsim.errors import InputError, RunError

AZULSIM = [sys.executable, "-c", "from azulsim.cli import main; main()"]
HEAVY = {"numpy", "numba", "pandas", "matplotlib", "pydantic", "scipy", "duckdb", "pyarrow", "joblib"}

NO_PAGE = ("--set", "players=[2]", "--set", 'strategies=["greedy", "uniform"]', "--set", "reports=[]")
ONE_PAGE = (*NO_PAGE, "--set", 'reports=["ranking"]')

RAISES = '''
"""Gives up at once."""
from azulsim.strategy import strategy

@strategy
def quitter(view, moves, rng):
    raise ValueError("no idea")
'''
SLOW = '''
"""Takes its time, and says when it has begun."""
import pathlib, time
from azulsim.strategy import strategy

@strategy
def sleeper(view, moves, rng):
    pathlib.Path("begun").touch()
    time.sleep(0.02)
    return 0
'''


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        return self.out.splitlines()[-1]


Command = Callable[..., Done]


@pytest.fixture
def azul(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process, in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["azulsim", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return Done(int(stop.value.code or 0), captured.out, captured.err)

    return run


def in_a_process(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*AZULSIM, *words], cwd=cwd, capture_output=True, text=True, check=False)


def write_strategy(folder: Path, name: str, text: str) -> Path:
    path = folder / "strategies" / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# Before anything is played


def commands(command: typer.core.TyperCommand | typer.core.TyperGroup, name: str = "") -> Iterator[tuple[str, str]]:
    for word, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {word}".strip())
    if not hasattr(command, "commands"):
        yield name, command.get_help(command.make_context(f"azulsim {name}", [], resilient_parsing=True))


def test_every_command_explains_itself_with_an_example_of_itself() -> None:
    found = dict(commands(typer.main.get_command(cli.app)))
    assert {"run", "resume", "report", "compare", "strategies list", "experiments list", "reports list"} <= set(found)
    for name, text in found.items():
        examples = text.rstrip().rpartition("\n\n")[2]
        assert examples.lstrip().startswith("Example"), name
        assert f"azulsim {name}" in examples, name


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["compar"], "azulsim has no command 'compar'; did you mean 'compare'?"),
        (["strategies", "shw"], "azulsim strategies has no command 'shw'; did you mean 'show'?"),
        (["run", "demo", "--jbos", "2"], "azulsim run has no option '--jbos'; did you mean '--jobs'?"),
        (["compare", "greedy", "uniform", "--players", "9"], "--players 9: "),
        (["compare", "greedy", "uniform", "--deals=many"], "--deals many: "),
        (["run", "demo", "-j0"], "--jobs 0: "),
        (["run", "demo", "--on-failure", "weep"], "--on-failure weep: "),
        (["run"], "azulsim run lacks EXPERIMENT"),
        (["tune", "greedy"], "azulsim tune lacks --against"),
        (["compare", "greedy", "uniform", "--deals"], "azulsim compare: option '--deals' requires an argument"),
        (["rules", "list", "gray"], "azulsim rules list: got unexpected extra argument"),
    ],
)
def test_words_that_no_command_takes_get_one_sentence(azul: Command, words: list[str], complaint: str) -> None:
    done = azul(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {complaint}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(option: str, tmp_path: Path) -> None:
    code = "import sys; from azulsim.cli import main; sys.argv[1:] = [sys.argv[1]]\ntry: main()\n"
    code += f"finally: print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, option], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_python_runs_the_package_as_the_command(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "azulsim", "--version"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"azulsim {azulsim.__version__}\n"


def test_version_is_the_version(azul: Command) -> None:
    assert azul("--version") == Done(0, f"azulsim {azulsim.__version__}\n", "")


def test_no_word_at_all_shows_help_as_usage(azul: Command) -> None:
    done = azul()
    assert done.code == 2
    assert "azulsim compare greedy uniform" in done.out + done.err


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["comapre", "greedy", "uniform"], "'compare'"),
        (["strategies", "lits"], "'list'"),
        (["run", "demo", "--jbos", "2"], "--jobs"),
        (["run", "demmo"], "'demo'"),
        (["compare", "gredy", "uniform"], "'greedy'"),
        (["compare", "row_builder(lov=2)", "uniform"], "love"),
        (["run", "demo", "--set", "rules.bonus.colum=5"], "'column'"),
    ],
)
def test_unknown_word_is_answered_with_the_nearest_one(azul: Command, words: list[str], answer: str) -> None:
    done = azul(*words)
    assert done.code == 2
    assert done.out == ""
    assert answer in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "demo", "--jobs", "0"],
        ["compare", "greedy", "uniform", "--jobs", "100000"],
        ["verify", "missing", "--jobs", "100000"],
        ["run", "demo", "--set", "deals"],
        ["run", "demo", "--set", "deals=0"],
        ["run", "demo", "--set", "rules.tiles_per_color=99"],
        ["run", "demo", "--rules", "missing.toml"],
        ["run", "missing.toml"],
        ["run", "demo", "--project", "missing"],
        ["resume", "missing"],
        ["report", "missing"],
        ["report", "."],
        ["compare", "greedy"],
        ["compare", "greedy", "greedy"],
        ["compare", "greedy", "uniform", "--players", "5"],
        ["compare", "greedy", "uniform", "--seatings", "random"],
        ["compare", "greedy", "missing.py:mine"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_used_gets_a_sentence_and_leaves_nothing_behind(
    azul: Command, tmp_path: Path, words: list[str]
) -> None:
    done = azul(*words)
    assert done.code == 2
    assert done.out == ""
    assert "rror: " in done.err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "greedy", "uniform", "--out", "a" * 300],
        ["run", "demo", "--out", "a" * 300],
        ["tune", "row_builder", "--against", "uniform", "--out", "a" * 300],
        ["strategies", "new", "a" * 300],
    ],
    ids=lambda words: words[0],
)
def test_name_that_is_too_long_for_a_file_is_refused(azul: Command, words: list[str]) -> None:
    done = azul(*words)
    assert done.code == 2
    assert re.fullmatch(r"error: .*a{300}.*: cannot be written: File name too long", done.err.strip())


def test_game_that_cannot_be_written_is_refused(azul: Command, tmp_path: Path) -> None:
    azul("run", "demo", "--deals", 1, *NO_PAGE, "--set", "log=moves", "--jobs", 1, "--out", "here")
    for name in (".", "", "none/x.txt"):
        done = azul("replay", "here", "--game", 0, "--text", name)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"error: {name or '.'}: cannot be written: ")


def test_no_game_has_a_negative_number(azul: Command) -> None:
    assert azul("replay", "missing", "--game", "-1") == Done(2, "", "error: game -1: games are numbered from 0\n")


def test_empty_name_of_a_report_is_refused(azul: Command) -> None:
    azul("run", "demo", "--deals", 1, *NO_PAGE, "--jobs", 1, "--out", "here")
    done = azul("report", "here", "--report", "")
    assert (done.code, done.out) == (2, "")
    assert "unknown report ''" in done.err


def test_bad_rules_file_is_named_with_key_and_value(azul: Command, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text("[bonus]\ncolumn = 1000\n")
    done = azul("run", "demo", "--rules", "odd.toml")
    assert done.code == 2
    for part in ("odd.toml", "bonus.column", "1000"):
        assert part in done.err


# Errors


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (InputError("no such thing"), 2, "error: no such thing\n"),
        (RunError("it failed"), 1, "error: it failed\n"),
        (OSError(28, "No space left on device"), 1, "error: [Errno 28] No space left on device\n"),
        (ZeroDivisionError("oh"), 1, "internal error: ZeroDivisionError: oh (azulsim --debug ... shows where)\n"),
    ],
)
def test_errors_are_one_sentence_and_a_code(
    azul: Command, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, text: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("azulsim.log.read_run", fail)
    assert azul("report", "anything") == Done(code, "", text)


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path: Path) -> None:
    words = ["reports", "list", "--project", "missing"]
    for debug in (["--debug", *words], [*words, "--debug"]):
        assert "Traceback" in in_a_process(*debug, cwd=tmp_path).stderr
    assert "Traceback" not in in_a_process(*words, cwd=tmp_path).stderr


def test_missing_package_is_named_without_a_traceback(tmp_path: Path) -> None:
    code = "import sys; sys.modules['duckdb'] = None; from azulsim.cli import main; main()"
    command = [sys.executable, "-c", code, "report", "runs/demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: the package 'duckdb' is missing")
    assert "Traceback" not in done.stderr


def test_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [*AZULSIM, "strategies", "list"], cwd=tmp_path, stdout=write_end, stderr=subprocess.PIPE, check=False
    )
    os.close(write_end)
    assert done.stderr == b""
    assert done.returncode == 1


# Lists


@pytest.mark.parametrize(("kind", "name"), [("strategies", "greedy"), ("experiments", "demo"), ("reports", "marker")])
def test_lists_name_everything_in_one_line_each(azul: Command, kind: str, name: str) -> None:
    done = azul(kind, "list")
    assert (done.code, done.err) == (0, "")
    names = [line.split()[0].removesuffix("(...)") for line in done.out.splitlines()]
    assert name in names
    entries = json.loads(azul(kind, "list", "--json").out)
    assert [entry["name"] for entry in entries] == names
    assert all(entry["summary"] for entry in entries)


def test_list_shows_own_files_without_importing_them(azul: Command, tmp_path: Path) -> None:
    write_strategy(tmp_path, "mine", RAISES + "\nraise SystemExit('imported')\n")
    assert "quitter" in azul("strategies", "list").out


# Runs


def test_run_ends_with_the_page_and_keeps_progress_off_stdout(azul: Command, tmp_path: Path) -> None:
    done = azul("run", "demo", "--deals", 4, *ONE_PAGE, "--seed", 5, "--jobs", 1)
    assert done.code == 0
    assert done.last == "runs/demo/report.html"
    assert (tmp_path / done.last).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert done.out.startswith("8 games, ")
    assert done.out.isascii()
    assert "seed 5" in done.err
    assert "\nplayed 8 games in " in done.err
    assert "\x1b" not in done.err + done.out


def test_run_without_a_page_ends_with_a_ranking_for_each_player_count(azul: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('strategies = ["greedy", "uniform"]\nplayers = [2, 3]\ndeals = 20\n')
    done = azul("run", "mine.toml", "-j1")
    assert done.code == 0
    assert done.out.isascii()
    assert re.findall(r"^\d players$", done.out, re.MULTILINE) == ["2 players", "3 players"]
    assert len(re.findall(r"^1 +greedy ", done.out, re.MULTILINE)) == 2
    one = azul("run", "mine.toml", "--set", "players=[2]", "--out", "one", "-j1").out
    assert "players" not in one
    assert "win share (95 %)" in one


def test_run_and_report_answer_in_json(azul: Command, tmp_path: Path) -> None:
    played = json.loads(azul("run", "demo", "--deals", 4, *ONE_PAGE, "--out", "here", "--json", "-j1").out)
    assert {key: played[key] for key in ("run", "games", "failures")} == {"run": "here", "games": 8, "failures": 0}
    document = json.loads(azul("report", "here", "--json").out)
    assert document == json.loads((tmp_path / "here" / "report.json").read_bytes())
    both = json.loads(azul("report", "here", "--report", "marker", "--report", "ranking", "--out", "two", "--json").out)
    assert [report["name"] for report in both["reports"]] == ["marker", "ranking"]
    assert (tmp_path / "two" / "marker" / "report.html").is_file()


def test_report_takes_the_nearest_name_and_leaves_the_run_untouched(azul: Command, tmp_path: Path) -> None:
    azul("run", "demo", "--deals", 2, *NO_PAGE, "--out", "here", "-j1")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "here").rglob("*") if path.is_file()}
    done = azul("report", "here", "--report", "rnaking")
    assert done.code == 2
    assert "'ranking'" in done.err
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "here").rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "greedy", "uniform"],
        ["tune", "row_builder", "--against", "greedy"],
        ["run", "demo"],
        ["plan", "demo"],
        ["play"],
        ["rules", "check"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_rules_are_named_alike_everywhere(azul: Command, tmp_path: Path, words: list[str]) -> None:
    option = [] if words[0] == "rules" else ["--rules"]
    for name, answer in [
        ("grey", "rules 'grey': neither a named variant nor a TOML file; did you mean 'gray'?"),
        ("a" * 300, "neither a named variant nor a TOML file; known: "),
        ("none.toml", "none.toml: no such file"),
        (tmp_path, f"{tmp_path}: is a folder, not a TOML file"),
    ]:
        done = azul(*words, *option, name)
        assert (done.code, done.out) == (2, "")
        assert answer in done.err


def test_named_variant_reaches_the_games(azul: Command) -> None:
    assert 'wall = "gray"' in azul("rules", "check", "gray").out
    assert "gray" in azul("experiments", "show", "demo", "--rules", "gray").out
    done = azul("compare", "greedy", "uniform", "--rules", "gray", "--deals", 2, "--jobs", 1, "--out", "here")
    assert done.last.endswith("--rules gray")
    assert {cell.rules.wall for cell in azulsim.read_run("here").manifest.cells} == {"gray"}


def test_rules_and_overrides_reach_the_games(azul: Command, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text("max_rounds = 1\n")
    azul("run", "demo", "--rules", "short.toml", "--deals", 2, *NO_PAGE, "--out", "short", "-j1")
    games = azulsim.read_run(tmp_path / "short").games()
    assert set(games["rounds"]) == {1}
    assert set(games["termination"]) == {"ROUND_LIMIT"}


def test_games_that_a_strategy_spoiled_make_the_run_fail(azul: Command, tmp_path: Path) -> None:
    write_strategy(tmp_path, "quitter", RAISES)
    done = azul("run", "demo", "--set", 'strategies=["quitter","uniform"]', "--set", "players=[2]", "--deals", 2, "-j1")
    assert done.code == 1
    assert "4 games failed, so that 2 of 2 deals are left out" in done.err
    assert "first quitter: raised: ValueError: no idea" in done.err
    assert "failures" not in done.out
    assert "Traceback" not in done.err


def test_comparison_in_which_no_game_was_finished_says_so(azul: Command, tmp_path: Path) -> None:
    write_strategy(tmp_path, "quitter", RAISES)
    done = azul("compare", "quitter", "uniform", "--deals", 2, "--jobs", 1, "--out", "here")
    assert (done.code, done.out) == (1, "")
    assert "no game between different strategies was finished; see here/failures" in done.err.splitlines()[-1]


@pytest.mark.parametrize(("deals", "times"), [(400, 1), (80, 1), (80, 40)], ids=["pilot", "once", "often"])
def test_interrupted_run_says_how_to_go_on(tmp_path: Path, deals: int, times: int) -> None:
    (tmp_path / "slow.toml").write_text(f'lineup = ["sleeper", "uniform"]\ndeals = {deals}\n')
    write_strategy(tmp_path, "sleeper", SLOW)
    # A shell's background jobs start with interrupts ignored; a person at a terminal has them on.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    code += "from azulsim.cli import main; main()"
    words = [sys.executable, "-c", code, "run", "slow.toml", "--jobs", "2"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(tmp_path / "begun")
            for _ in range(times):
                process.send_signal(signal.SIGINT)
                time.sleep(0.02)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out == ""
    assert "interrupted" in err
    assert "go on with: azulsim " in err
    assert "Traceback" not in err


def wait_for(path: Path, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.05)


def test_resume_plays_what_is_missing(azul: Command, tmp_path: Path) -> None:
    azul("run", "demo", "--deals", 3, *NO_PAGE, "--out", "here", "-j1")
    whole = azulsim.read_run(tmp_path / "here").games()
    lost = sorted((tmp_path / "here" / "commits").iterdir())[0]
    lost.unlink()
    done = azul("resume", "here", "--jobs", 1)
    assert done.code == 0
    assert lost.exists()
    assert azulsim.read_run(tmp_path / "here").games().equals(whole)


def test_report_of_an_unfinished_run_says_how_to_go_on(azul: Command, tmp_path: Path) -> None:
    words = ("--set", 'strategies=["greedy", "uniform"]', "--set", 'reports=["ranking"]', "--deals", 4, "-j1")
    azul("run", "demo", *words, "--out", "here")
    lost = sorted((tmp_path / "here" / "commits").iterdir())[1:]
    for marker in lost:
        marker.unlink()
    done = azul("report", "here")
    assert done.code == 0
    assert done.err == "note: 1 of 6 shards: the run is not finished; go on with: azulsim resume here\n"
    assert azul("resume", "here", "-j1").code == 0
    assert azul("report", "here").err == ""


# Comparisons


def test_compare_ranks_says_what_it_could_see_and_how_to_do_it_again(azul: Command, tmp_path: Path) -> None:
    done = azul("compare", "uniform", "greedy", "connector", "--deals", 20, "--seed", 3, "--jobs", 1)
    assert done.code == 0
    assert done.out.isascii()
    lines = done.out.splitlines()
    assert lines[0].split()[:2] == ["rank", "strategy"]
    assert lines[3].split()[:2] == ["3", "uniform"]
    assert any(line.startswith("smallest lead this could have seen: .") for line in lines)
    page = next(line.removeprefix("page: ") for line in lines if line.startswith("page: "))
    assert (tmp_path / page).is_file()
    assert done.last == "again: azulsim compare uniform greedy connector --players 2 --deals 20 --seed 3"
    again = azul(*done.last.split()[2:], "--jobs", 1)
    assert again.out.splitlines()[:8] == lines[:8]


def test_compare_answers_in_json(azul: Command) -> None:
    done = azul("compare", "uniform", "greedy", "--deals", 10, "--jobs", 1, "--json", "--out", "here")
    answer = json.loads(done.out)
    assert [row["spec"] for row in answer["ranking"]] == ["greedy", "uniform"]
    assert answer["ranking"][1]["lead"] is None
    assert answer["run"] == "here"


def test_an_answer_says_that_it_cannot_be_reproduced(azul: Command, tmp_path: Path) -> None:
    (tmp_path / "counter.py").write_text(
        "from azulsim.strategy import strategy\n\nplayed = [0]\n\n\n@strategy\ndef counter(view, moves, rng):\n"
        "    played[0] += 1\n    return played[0] % len(moves)\n"
    )
    done = azul("compare", "./counter.py:counter", "greedy", "--deals", 4, "--jobs", 1, "--timeout", 5, "--out", "run")
    assert done.code == 0
    assert "not reproducible: a game of ./counter.py:counter was another one when it was played again" in done.err
