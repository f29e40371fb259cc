"""Measures azulsim and prints one row a figure: what, measured, wanted, met or not; run it by `make bench`.

Speeds are ratios of two programs run in turn, so that they hold on a machine whose speed drifts; the yardstick is
`azul_limit.c`, compiled here, whose luck is a plain stream instead of keyed deals. An interval is the
distribution-free 95 % interval of the median, and a figure is met if the whole interval is.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from playouts import playout_seconds
from scipy import stats

from azulsim import registry
from azulsim.arena import Block, play_block
from azulsim.experiment import Experiment
from azulsim.log import Run
from azulsim.replay import verify_run
from azulsim.rules import VARIANTS, Rules
from azulsim.runner import run
from azulsim.schema import Depth
from azulsim.strategy import Strategy
from azulsim.strategy.definition import Speed

HERE = Path(__file__).parent
PAIRS = 19
GREEDY_MOVE = f"{HERE / 'greedy_move.py'}:greedy_move"
PLAIN_COLUMNS = f"{HERE / 'plain_columns.py'}:plain_columns"


@dataclass(frozen=True)
class Figure:
    """One thing measured."""

    what: str
    value: float
    low: float
    high: float
    wanted: float
    is_at_most: bool
    unit: str = ""

    @property
    def is_met(self) -> bool:
        """True if the whole interval is on the right side."""
        return self.high <= self.wanted if self.is_at_most else self.low >= self.wanted

    def __str__(self) -> str:
        sign = "<=" if self.is_at_most else ">="
        measured = f"{_short(self.value)} ({_short(self.low)} to {_short(self.high)}) {self.unit}".rstrip()
        return f"{self.what:58} {measured:34} {sign} {_short(self.wanted):9} {'met' if self.is_met else 'not met'}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}" if number < 100 else f"{number:.0f}"


def summarize(what: str, samples: list[float], wanted: float, *, is_at_most: bool = True, unit: str = "") -> Figure:
    """Return the median of samples with its distribution-free 95 % interval."""
    interval = stats.quantile_test(samples, p=0.5).confidence_interval(0.95)
    low, high = (
        bound if np.isfinite(bound) else edge
        for bound, edge in ((interval.low, min(samples)), (interval.high, max(samples)))
    )
    return Figure(what, statistics.median(samples), float(low), float(high), wanted, is_at_most, unit)


# ---- pieces


@cache
def yardstick() -> Path:
    """Compile the yardstick."""
    program = HERE / "azul_limit"
    subprocess.run(["gcc", "-O3", "-march=native", "-o", program, HERE / "azul_limit.c"], check=True)
    return program


def yardstick_seconds(mode: str, players: int, games: int) -> float:
    """Return the yardstick's CPU seconds a game, or a playout in the mode `rollout`."""
    command = [str(yardstick()), mode, str(players), str(games), "1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"games/s (\d+)|P (\d+) /s", text)
    assert found is not None
    return 1 / float(found[1] or found[2])


def make_block(players: int, games: int, depth: Depth = "games") -> Block:
    """Return a block of self-play."""
    seats = tuple(range(players))
    return Block(0, players, Rules(), ("self",) * players, (0,) * players, (seats,), 1, 0, games, depth)


GAMES_PER_BLOCK = 16_667
"""What the runner plays in one call in a long run at 2 players."""


def own_seconds(strategy: Strategy, players: int, games: int) -> float:
    """Return azulsim's CPU seconds a game, the tables included; `games` are made whole blocks."""
    block = make_block(players, min(games, GAMES_PER_BLOCK))
    n_blocks = max(1, games // GAMES_PER_BLOCK)
    start = time.process_time()
    for _ in range(n_blocks):
        play_block(block, strategies=[strategy] * players)
    return (time.process_time() - start) / (n_blocks * block.n_deals)


def compare_with_yardstick(spec: str, mode: str, players: int, games: int) -> list[float]:
    """Return azulsim's time over the yardstick's, pair by pair."""
    strategy = registry.make_strategy(spec)
    own_seconds(strategy, players, 100)
    return [own_seconds(strategy, players, games) / yardstick_seconds(mode, players, games) for _ in range(PAIRS)]


@dataclass(frozen=True)
class Usage:
    """What a finished child used."""

    wall: float
    cpu: float
    megabytes: float


def run_child(*command: str | Path, environment: dict[str, str] | None = None, cwd: Path | None = None) -> Usage:
    """Run a command to its end and return what it used, by the operating system's own account."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [str(part) for part in command],
        env={**os.environ, **(environment or {})},
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {child.returncode}")
    wall = time.perf_counter() - start
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def azulsim(*words: str | Path, **options: Path | None) -> Usage:
    """Run the command line as a user does."""
    return run_child(Path(sys.executable).with_name("azulsim"), *words, **options)  # type: ignore[arg-type]


def write_experiment(folder: Path, spec: str, deals: int, depth: Depth) -> Path:
    """Write an experiment of 2-player self-play."""
    path = folder / f"{depth}-{deals}.toml"
    path.write_text(f'name = "bench"\nseed = 1\ndeals = {deals}\nplayers = [2]\nlineup = ["{spec}"]\nlog = "{depth}"\n')
    return path


# ---- figures


def measure_speed() -> Iterator[Figure]:
    """Whole games, keyed deals included, on one core, against the yardstick."""
    for players in (2, 3, 4):
        what = f"uniform play, {players} players, time over the yardstick's"
        yield summarize(what, compare_with_yardstick("uniform", "random", players, 40_000), 1.35)
    for spec, name, wanted in ((GREEDY_MOVE, "hand-written move", 1.3), ("greedy", "public score", 1.8)):
        for players in (2, 3, 4):
            what = f"greedy as {name}, {players} players, over the yardstick's"
            yield summarize(what, compare_with_yardstick(spec, "greedy", players, 10_000), wanted)


FEWER_PAIRS = 13
"""For what takes long."""
LIMITS = {"score": 1.8, "score_position": 2.2}


def measure_library() -> Iterator[Figure]:
    """Every bundled score, time a move over that of the yardstick's greedy play."""
    greedy, games = registry.make_strategy("greedy"), GAMES_PER_BLOCK
    plies = play_block(make_block(2, games), strategies=[greedy] * 2).games["plies"][::2].mean()
    for entry in registry.list_strategies():
        strategy = registry.make_strategy(entry.name)
        if strategy.definition.shape not in LIMITS:
            continue
        ratios = []
        for _ in range(1 + FEWER_PAIRS):  # the first may have to compile
            yardsticks = yardstick_seconds("greedy", 2, games) / plies
            ratios.append(_seconds_a_move(strategy, 2, "standard", games) / yardsticks)
        what = f"{entry.name}, 2 players, time a move over the yardstick's greedy play"
        yield summarize(what, ratios[1:], LIMITS[strategy.definition.shape])


def measure_variants() -> Iterator[Figure]:
    """Play under other rules over play under the printed ones, time a move."""
    for spec, players in product(("greedy", "uniform"), (2, 3, 4)):
        strategy = registry.make_strategy(spec)
        for name in ("gray", "joker", "gray-joker", "crystal-mosaic"):
            ratios = []
            for _ in range(PAIRS):
                printed, other = (_seconds_a_move(strategy, players, rules) for rules in ("standard", name))
                ratios.append(other / printed)
            yield summarize(f"{spec}, {name}, {players} players, time a move over the printed wall", ratios, 3)


def _seconds_a_move(strategy: Strategy, players: int, variant: str, games: int = 2000) -> float:
    block = replace(make_block(players, games), rules=VARIANTS[variant])
    start = time.process_time()
    tables = play_block(block, strategies=[strategy] * players)
    return (time.process_time() - start) / int(tables.games["plies"][::players].sum(dtype=np.int64))


def measure_search() -> Iterator[Figure]:
    """Uniform playouts of Monte Carlo tree search, the tree included, over bare ones of the yardstick, as a rate."""
    for players in (2, 4):
        ratios = [yardstick_seconds("rollout", players, 50_000) / playout_seconds(players) for _ in range(PAIRS)]
        yield summarize(f"mcts, {players} players, playouts over the yardstick's", ratios, 0.6, is_at_most=False)


def measure_log() -> Iterator[Figure]:
    """CPU time of a whole run that logs moves over one that logs games, start-up taken off both; and its bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {depth: write_experiment(folder, GREEDY_MOVE, 150_000, depth) for depth in ("games", "moves")}  # type: ignore[arg-type]
        start = statistics.median(
            azulsim("run", write_experiment(folder, GREEDY_MOVE, 1, "games"), "-j1", "--out", folder / f"start-{i}").cpu
            for i in range(5)
        )
        ratios, moves_bytes, all_bytes = [], 0.0, 0.0
        for _ in range(PAIRS):
            used = {}
            for depth, file in files.items():
                shutil.rmtree(folder / "run", ignore_errors=True)
                used[depth] = azulsim("run", file, "-j1", "--out", folder / "run").cpu
            ratios.append(100 * ((used["moves"] - start) / (used["games"] - start) - 1))
            n_moves = _count_moves(folder / "run")
            moves_bytes = _count_bytes(folder / "run" / "moves") / n_moves
            all_bytes = _count_bytes(folder / "run") / n_moves
        yield summarize(
            "logging every move, CPU of the whole process on top of play, start-up off", ratios, 75, unit="%"
        )
        for what, value in (("moves table", moves_bytes), ("whole run folder", all_bytes)):
            yield Figure(f"bytes a move, {what}, greedy at 2 players", value, value, value, 5, True)


def measure_verify() -> Iterator[Figure]:
    """CPU time of verifying a run over that of playing it: all in this process, with one worker, files included."""
    with tempfile.TemporaryDirectory() as name:
        file, folder = write_experiment(Path(name), "greedy", 20_000, "moves"), Path(name) / "run"
        ratios = []
        for _ in range(1 + PAIRS):  # the first may have to compile
            shutil.rmtree(folder, ignore_errors=True)
            start = time.process_time()
            run(file, out=folder, jobs=1, progress=False)
            played = time.process_time()
            assert verify_run(folder).is_good
            ratios.append((time.process_time() - played) / (played - start))
        yield summarize("azulsim verify, over the run that played and logged the games", ratios[1:], 2)


def _count_moves(run: Path) -> int:
    return sum(json.loads(path.read_text())["n_moves"] for path in (run / "commits").iterdir())


def _count_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure_slower_speeds() -> Iterator[Figure]:
    """Moves a second of strategies that are not compiled, at 2 players on one core."""
    cases: tuple[tuple[str, str, Speed | None, float], ...] = (
        ("plain Python over columns of moves", PLAIN_COLUMNS, None, 100_000),
        ("greedy, batched", "greedy", "batched", 800_000),
    )
    for what, spec, speed, wanted in cases:
        strategy = registry.make_strategy(spec, speed=speed)
        block = make_block(2, 2000, "games")
        rates = []
        for _ in range(PAIRS):
            start = time.process_time()
            tables = play_block(block, strategies=[strategy] * 2)
            plies = int(tables.games["plies"][::2].sum(dtype=np.int64))
            rates.append(plies / (time.process_time() - start))
        yield summarize(f"{what}, 2 players", rates, wanted, is_at_most=False, unit="moves/s")


_LOOP = """
import sys, time
from azulsim.arena import Block, play_block
from azulsim.registry import make_strategy
from azulsim.rules import VARIANTS, Rules
strategies = [make_strategy("greedy")] * 2
def play(first, deals):
    play_block(Block(0, 2, Rules(), ("self",) * 2, (0, 0), ((0, 1),), 1, first, deals), strategies=strategies)
play(0, 10)
print("ready", flush=True)
sys.stdin.readline()
start = time.perf_counter()
for first in range(0, {deals}, 5000):
    play(first, 5000)
print(time.perf_counter() - start, flush=True)
"""


def measure_workers() -> Iterator[Figure]:
    """Throughput of a run with two workers over that of two bare loops at the same time."""
    deals = 400_000  # enough that the start of the workers does not count
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = write_experiment(folder, "greedy", 2 * deals, "games")
        ratios = []
        for _ in range(15):
            bare = 2 * deals / _time_two_loops(deals)
            shutil.rmtree(folder / "run", ignore_errors=True)
            azulsim("run", file, "-j2", "--out", folder / "run")
            seconds = json.loads((folder / "run" / "manifest.json").read_text())["seconds"]
            ratios.append(100 * 2 * deals / seconds / bare)
        yield summarize("two workers, throughput over two bare loops", ratios, 90, is_at_most=False, unit="%")


def _time_two_loops(deals: int) -> float:
    loops = [
        subprocess.Popen(
            [sys.executable, "-c", _LOOP.format(deals=deals)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for loop in loops:
        assert loop.stdout is not None
        loop.stdout.readline()
    for loop in loops:
        assert loop.stdin is not None
        loop.stdin.write("\n")
        loop.stdin.flush()
    return max(float(loop.communicate()[0]) for loop in loops)


def measure_runs() -> Iterator[Figure]:
    """What a run costs beyond the playing, and before the first game."""
    with tempfile.TemporaryDirectory() as name:
        experiment = Experiment(name="run", lineup=("greedy",), players=(2,), deals=2_000_000)
        ratios = []
        for _ in range(FEWER_PAIRS):
            shutil.rmtree(Path(name) / "run", ignore_errors=True)
            start = time.process_time()
            played = run(experiment, out=Path(name) / "run", jobs=1, progress=False)
            ratios.append((time.process_time() - start) / _time_one_loop(played))
        yield summarize("a run of 2,000,000 games with one worker, CPU over that of a bare loop", ratios, 1.05)
        one, many = (write_experiment(Path(name), "greedy", deals, "moves") for deals in (4_167, 10_000 * 4_167))
        seconds = []
        for _ in range(PAIRS):
            for folder in ("one", "many"):
                shutil.rmtree(Path(name) / folder, ignore_errors=True)
            few = azulsim("run", one, "-j1", "--out", Path(name) / "one").cpu
            first = azulsim("run", many, "-j1", "--shard", "10000/10000", "--out", Path(name) / "many").cpu
            seconds.append(first - few)
        yield summarize("planning and starting 10,000 shards, not a few", seconds, 2, unit="s")


def _time_one_loop(played: Run) -> float:
    """Return the CPU seconds that playing the games of a run takes, in the same blocks."""
    strategies = [registry.make_strategy("greedy")] * 2
    block = make_block(2, 0)
    start = time.process_time()
    for commit in played.commits:
        play_block(replace(block, first_deal=commit.first_deal, n_deals=commit.n_deals), strategies=strategies)
    return time.process_time() - start


def measure_memory() -> Iterator[Figure]:
    """Peak memory of a run of a million games over one of ten thousand, moves logged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peaks = {}
        for deals in (10_000, 1_000_000):
            file = write_experiment(folder, "greedy", deals, "moves")
            peaks[deals] = azulsim("run", file, "-j2", "--out", folder / f"run-{deals}").megabytes
            shutil.rmtree(folder / f"run-{deals}")
        ratio = peaks[1_000_000] / peaks[10_000]
        yield Figure("peak memory, 1,000,000 games over 10,000, moves logged", ratio, ratio, ratio, 1.2, True)


def measure_start() -> Iterator[Figure]:
    """How long a person waits."""
    for word in ("--help", "--version"):
        times = [azulsim(word).wall for _ in range(PAIRS)]
        yield summarize(f"azulsim {word}", times, 0.4, unit="s")
    first_game = ("-c", "import azulsim; azulsim.play('greedy', 'uniform', seed=7)")
    with tempfile.TemporaryDirectory() as name:
        environment = {"AZULSIM_CACHE_DIR": name}
        first = run_child(sys.executable, *first_game, environment=environment).wall
        yield Figure("first game after a fresh install", first, first, first, 30, True, "s")
        times = [run_child(sys.executable, *first_game, environment=environment).wall for _ in range(PAIRS)]
        yield summarize("first game of a later start", times, 1.5, unit="s")


GROUPS: dict[str, Callable[[], Iterator[Figure]]] = {
    "speed": measure_speed,
    "slower": measure_slower_speeds,
    "variants": measure_variants,
    "library": measure_library,
    "search": measure_search,
    "log": measure_log,
    "verify": measure_verify,
    "workers": measure_workers,
    "runs": measure_runs,
    "memory": measure_memory,
    "start": measure_start,
}


def measure_memory_at_rest() -> tuple[float, float]:
    """Return the microseconds it takes to touch a page of memory a second after it was last touched, and at once.

    Where a host takes back what its guests leave alone, the first is a thousand times the second, and whatever is done
    only now and then, such as writing a shard, takes many times as long as when it is done again and again.
    """
    pages = np.zeros((2000, 4096), np.uint8)
    times = []
    for rest in (0.0, 1.0, 0.0):
        end = time.perf_counter() + rest
        while time.perf_counter() < end:
            pass
        start = time.perf_counter()
        pages[:, 0] += 1
        times.append((time.perf_counter() - start) / len(pages) * 1e6)
    return times[1], times[2]


def describe_machine() -> str:
    """Return processor, cores and versions in one line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and (found := re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())):
        model = found[1]
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def main() -> None:
    """Measure the groups named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; all if left out")
    parser.add_argument("--json", type=Path, default=HERE / "results.json", help="where the figures go as JSON")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"no group {sorted(unknown)[0]!r}; there are {', '.join(GROUPS)}")
    print(f"{describe_machine()}; {PAIRS} runs or pairs a figure, median and 95 % interval")
    rested, hot = measure_memory_at_rest()
    print(f"a page of memory takes {rested:.2g} us to touch after a second at rest, {hot:.2g} us at once after that\n")
    figures = []
    for name, measure in GROUPS.items():
        if options.groups and name not in options.groups:
            continue
        for figure in measure():
            figures.append(figure)
            print(figure, flush=True)
    rows = [{**asdict(figure), "met": figure.is_met} for figure in figures]
    facts = {"machine": describe_machine(), "page_after_rest_us": rested, "page_at_once_us": hot, "figures": rows}
    options.json.write_text(json.dumps(facts, indent=1) + "\n")
    print(f"\nas JSON: {options.json}")


if __name__ == "__main__":
    main()
