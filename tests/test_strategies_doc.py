"""docs/STRATEGIES.md: its tables are those of the code, its examples run, and all kinds are in it."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest

import azulsim
from azulsim.catalog import Entry, list_entries
from azulsim.engine import move
from azulsim.registry import list_strategies, list_wrappers, load_definition
from azulsim.strategy import Definition, Move, Spot, Wrapper, toolbox

DOCUMENT = Path(__file__).parents[1] / "docs" / "STRATEGIES.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def describe_fields(of: type = Move) -> str:
    """The table of the fields of `Move` or `Spot`: a class body's strings are its fields' docstrings."""
    tree = ast.parse(inspect.getsource(move))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == of.__name__).body
    lines = ["| field | |", "|---|---|"]
    for field, doc in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            assert isinstance(doc, ast.Expr)
            lines.append(f"| `{field.target.id}` | {' '.join(ast.literal_eval(doc.value).split())} |")
    assert len(lines) == 2 + len(of._fields)  # type: ignore[attr-defined]
    return "\n".join(lines)


def describe_toolbox() -> str:
    """The table of the toolbox, from the first lines of docstrings."""
    lines = ["| function | |", "|---|---|"]
    for name in toolbox.__all__:
        function = getattr(toolbox, name)
        if not callable(function):
            continue
        plain = getattr(function, "py_func", None) or getattr(function, "_defn", function)
        arguments = [a for a in inspect.signature(plain).parameters if a != "typingctx"]
        doc = (inspect.getdoc(plain) or "").splitlines()[0]
        lines.append(f"| `{name}({', '.join(arguments)})` | {doc} |")
    return "\n".join(lines)


FAMILIES = ("uniform", "beginner", "greedy", "floor", "builders", "denial", "endgame", "tuned", "published")
"""The files of the library in the order of the document; any others follow by name."""
SEARCHES = re.compile(r"alpha_beta|mcts|search")
"""Files whose strategies take too long to be measured here."""
MEASURED = Path(__file__).parent / "facts" / "against_greedy.json"
DEALS = 1000


def group_families() -> dict[str, list[Entry]]:
    """The bundled strategies and wrappers by the name of their file."""
    bundled = [entry for entry in (*list_strategies(), *list_wrappers()) if entry.origin == "bundled"]
    names = sorted(
        {entry.path.stem for entry in bundled},
        key=lambda name: (FAMILIES.index(name) if name in FAMILIES else len(FAMILIES), name),
    )
    return {name: [entry for entry in bundled if entry.path.stem == name] for name in names}


def split_doc(definition: Definition | Wrapper) -> tuple[str, str, str]:
    """How a strategy plays, its source, and what it is bad at; the file may say the last two for all that is in it."""
    how, _, rest = " ".join(definition.doc.split()).partition(" Source: ")
    module = " ".join((inspect.getmodule(definition.function).__doc__ or "").split())  # type: ignore[union-attr]
    source, _, bad = (rest or module.partition(" Source: ")[2]).partition(" Bad at: ")
    return how, source, bad


def describe_strategies() -> str:
    """The bundled strategies by family, with parameters, and what was measured."""
    shares = json.loads(MEASURED.read_text(encoding="utf-8"))
    lines = []
    for family, entries in group_families().items():
        lines += ["", f"### {family}", ""]
        lines += ["| strategy | how it plays | source | bad at | against greedy |", "|---|---|---|---|---|"]
        for entry in entries:
            definition = load_definition(entry)
            params = ", ".join(f"{name}={value:g}" for name, value in definition.defaults.items())
            name = f"`{entry.name}{f'({params})' if params else ''}`"
            share = "{:.3f} ({:.3f} to {:.3f})".format(*shares[entry.name]) if entry.name in shares else ""
            lines.append(f"| {' | '.join([name, *split_doc(definition), share])} |")
    return "\n".join(lines[1:])


def measure_share(name: str) -> list[float]:
    """The win share of a strategy against greedy at two players, and its 95 % interval."""
    with tempfile.TemporaryDirectory() as folder:
        ranking = azulsim.compare([name, "greedy"], deals=DEALS, out=Path(folder) / "run").to_dict()["ranking"]
    row = next(row for row in ranking if row["spec"] == name)
    return [round(row[key], 4) for key in ("win_share", "win_share_low", "win_share_high")]


def list_measured() -> list[str]:
    """The strategies that are measured."""
    families = [entries for family, entries in group_families().items() if not SEARCHES.match(family)]
    return [one.name for entries in families for one in entries if not one.is_wrapper and one.name != "greedy"]


TABLES = {
    "fields": describe_fields,
    "spot": lambda: describe_fields(Spot),
    "functions": describe_toolbox,
    "strategies": describe_strategies,
}


@pytest.mark.parametrize("name", list(TABLES))
def test_the_tables_of_the_document_are_up_to_date(name: str) -> None:
    """If this fails, run `python tests/test_strategies_doc.py` to write them again."""
    assert TABLES[name]() in TEXT


def test_the_examples_of_the_document_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "strategies").mkdir()
    monkeypatch.chdir(tmp_path)
    names = []
    for example in EXAMPLES:
        if file := re.match(r"# (strategies/\w+\.py)\n", example):
            (tmp_path / file[1]).write_text(example, encoding="utf-8")
            names.append(re.findall(r"^def (\w+)", example, re.MULTILINE)[-1])
        else:
            exec(compile(example, str(DOCUMENT), "exec"), {})
    assert len(names) == 7
    printed = capsys.readouterr()
    assert "over after" in printed.out
    assert "runs" not in printed.err
    entries = {entry.name: entry for entry in list_entries("strategies")}
    definitions = [load_definition(entries[name]) for name in names]
    shapes = [definition.shape for definition in definitions if isinstance(definition, Definition)]
    assert shapes == ["score", "score_position", "score_position", "choose", "move", "score"]
    assert load_definition(entries["needy"]).prepare is not None
    assert load_definition(entries["columns_first"]).place is not None
    assert isinstance(definitions[6], Wrapper)
    assert azulsim.play("needy", f"{names[6]}({names[4]})").is_over


def write_tables(text: str) -> str:
    """Return the document with its tables made anew."""
    for name, describe in TABLES.items():
        end = text.index(f"<!-- end of {name} -->")
        start = text.rindex("-->\n", 0, end) + 4
        text = f"{text[:start]}{describe()}\n{text[end:]}"
    return text


@pytest.mark.long
@pytest.mark.parametrize("name", list_measured())
def test_what_was_measured_is_measured_again(name: str) -> None:
    """If this fails, run `python tests/test_strategies_doc.py measure`."""
    assert json.loads(MEASURED.read_text(encoding="utf-8"))[name] == pytest.approx(measure_share(name), abs=1e-4)


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        measured = {name: measure_share(name) for name in list_measured()}
        MEASURED.write_text(json.dumps(measured, indent=0) + "\n", encoding="utf-8")
    DOCUMENT.write_text(write_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
