"""The catalog finds things by name without importing them, and never guesses."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from azulsim import catalog
from azulsim.errors import InputError

STRATEGIES = '''"""A family."""
import azulsim.strategy
from azulsim.strategy import strategy
raise RuntimeError("imported while listing")

@strategy
def plain(move):
    """Plain one.

    More.
    """

@strategy(speed="plain")
def called(move): ...

@azulsim.strategy.strategy
class Dotted: ...

@staticmethod
def helper(move): ...

def outer():
    @strategy
    def inner(move): ...
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for kind in catalog.KINDS:
        (tmp_path / kind).mkdir()
    (tmp_path / "strategies" / "family_file.py").write_text(STRATEGIES)
    (tmp_path / "strategies" / "_hidden.py").write_text(STRATEGIES)
    (tmp_path / "experiments" / "my-question.toml").write_text("# Does it?\n# Really?\n\nname = 'my-question'\n")
    (tmp_path / "reports" / "my_page.py").write_text('"""My page.\n\nMore."""\ndef build(run): ...\n')
    (tmp_path / "reports" / "no_page.py").write_text('"""No report."""\ndef other(run): ...\n')
    return tmp_path


def names(kind: catalog.Kind, project: Path) -> dict[str, str]:
    return {
        entry.name: entry.summary
        for entry in catalog.list_entries(kind, project=project)
        if entry.path.is_relative_to(project)
    }


def test_listing_reads_decorated_functions_without_importing(project: Path) -> None:
    assert names("strategies", project) == {"plain": "Plain one.", "called": "A family.", "Dotted": "A family."}
    assert names("experiments", project) == {"my-question": "Does it? Really?"}
    assert names("reports", project) == {"my_page": "My page."}


def test_working_directory_is_the_default_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    entry = catalog.find("strategies", "plain")
    assert (entry.origin, entry.path) == ("project", project / "strategies" / "family_file.py")


def test_bundled_folders_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout the working directory holds the very folders that are bundled."""
    (folder,) = catalog._bundled_folders("experiments")
    monkeypatch.chdir(folder.parent)
    listed = catalog.list_entries("experiments")
    assert listed, "experiments are bundled"
    assert {entry.origin for entry in listed} == {"bundled"}
    assert len({entry.name for entry in listed}) == len(listed)


def test_unknown_name_gets_the_nearest(project: Path) -> None:
    with pytest.raises(InputError, match=r"unknown strategy 'pline'; did you mean 'plain'\?"):
        catalog.find("strategies", "pline", project=project)
    with pytest.raises(InputError, match="no such project folder"):
        catalog.list_entries("reports", project=project / "nowhere")


def test_name_in_two_files_is_refused_naming_both(project: Path) -> None:
    (project / "strategies" / "other.py").write_text("@strategy\ndef plain(move): ...\n")
    with pytest.raises(InputError, match=r"family_file\.py and .*other\.py; rename one, or give the path: .*:plain"):
        catalog.find("strategies", "plain", project=project)
    entry = catalog.find("strategies", f"{project}/strategies/other.py:plain")
    assert (entry.origin, entry.path.name) == ("path", "other.py")


def test_paths(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "strategies")
    assert catalog.find("strategies", "family_file.py:called").name == "called"
    assert catalog.find("experiments", f"{project}/experiments/my-question.toml").name == "my-question"
    assert catalog.find("reports", "../reports/my_page.py").name == "my_page"
    for name, message in {
        "family_file.py:caled": "holds no strategy 'caled'; did you mean 'called'",
        "family_file.py": "holds 3 strategies; choose one as family_file.py:NAME",
        "missing.py:x": "missing.py: no such file",
        "../experiments/my-question.toml:x": "a strategy is a .py file",
    }.items():
        with pytest.raises(InputError, match=message):
            catalog.find("strategies", name)
    with pytest.raises(InputError, match=r"an experiment is a \.toml file"):
        catalog.find("experiments", "family_file.py")


def test_broken_file_is_listed_with_its_error_and_harms_no_other(project: Path) -> None:
    (project / "strategies" / "broken.py").write_text("x = 1\ndef f(:\n")
    assert names("strategies", project)["broken"].startswith("cannot be read: line 2")
    assert catalog.find("strategies", "plain", project=project).name == "plain"
    with pytest.raises(InputError, match=r"broken\.py, line 2: "):
        catalog.load_module(catalog.find("strategies", "broken", project=project))
    for name in ("broken.py:f", "broken.py"):
        with pytest.raises(InputError, match=r"strategies/broken\.py, line 2: invalid syntax"):
            catalog.find("strategies", f"{project}/strategies/{name}")


def test_edit_is_noticed(project: Path) -> None:
    file = project / "reports" / "my_page.py"
    before = catalog.load_module(catalog.find("reports", "my_page", project=project))
    assert catalog.load_module(catalog.find("reports", "my_page", project=project)) is before
    assert sys.modules[before.__name__] is before
    file.write_text('"""Edited page."""\nVALUE = 2\ndef build(run): ...\n')
    entry = catalog.find("reports", "my_page", project=project)
    assert entry.summary == "Edited page."
    assert catalog.load_module(entry).VALUE == 2
    assert catalog.source_hash(entry) == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n1 / 0\n", r"bad\.py, line 3: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)\n", r"bad\.py, line 2: SystemExit: 3"),
    ],
)
def test_error_while_importing_names_file_and_line(project: Path, text: str, message: str) -> None:
    (project / "reports" / "bad.py").write_text(text + "def build(run): ...\n")
    with pytest.raises(InputError, match=message):
        catalog.load_module(catalog.find("reports", "bad", project=project))
    assert not any(name.startswith("azulsim_file_bad") for name in sys.modules)


def test_entry_points_of_other_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point names a package (searched like a folder), a module, or one thing in it."""
    package = tmp_path / "azul_extra"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported while listing')\n")
    (package / "tactics.py").write_text("@strategy\ndef extra_one(move): ...\n\n@strategy\ndef extra_two(move): ...\n")
    (package / "extra-question.toml").write_text("# Extra?\n")
    info = tmp_path / "azul_extra-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: azul-extra\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[azulsim.strategies]\none = azul_extra.tactics:extra_two\n[azulsim.experiments]\nall = azul_extra\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry = catalog.find("strategies", "extra_two")
    assert (entry.origin, entry.module, entry.path) == ("entry point", "azul_extra.tactics", package / "tactics.py")
    assert catalog.find("experiments", "extra-question").summary == "Extra?"
    with pytest.raises(InputError, match="unknown strategy 'extra_one'"):
        catalog.find("strategies", "extra_one")


def test_docstrings_are_read_without_importing(tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text('"""Family."""\nraise SystemExit\n@strategy\ndef one():\n    """First.\n\n    More.\n    """\n'
                    "@strategy\ndef other():\n    pass\n")  # fmt: skip
    assert catalog.read_docstring(catalog.find("strategies", f"{file}:one")) == "First.\n\nMore."
    assert catalog.read_docstring(catalog.find("strategies", f"{file}:other")) == "Family."
    assert catalog.read_docstring(catalog.find("reports", "ranking")).startswith("Which strategy is best")
