"""What pip installs: the wheel, the source archive, and an installation that plays from any folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import azulsim

ROOT = Path(__file__).parents[1]
PLACES = {
    "azulsim": "azulsim",
    "strategies": "azulsim/strategies",
    "experiments": "azulsim/experiments",
    "reports": "azulsim/reports",
}
"""Folder of the checkout -> its place in the wheel."""
NOT_SOURCE = (".*", "__pycache__", "build", "dist", "runs", "*.egg-info", "*.py[cod]", "azul_limit")
PLAY = "import azulsim; print(azulsim.__file__); azulsim.play('greedy', 'uniform', seed=7)"

pytestmark = pytest.mark.xdist_group("packaging")


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Archives:
    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Archives:
    """Build the source archive, and the wheel from it, outside the checkout."""
    folder = tmp_path_factory.mktemp("packaging")
    source = shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*NOT_SOURCE))
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", source, cwd=folder)
    [wheel] = (folder / "dist").glob("*.whl")
    [sdist] = (folder / "dist").glob("*.tar.gz")
    return Archives(wheel, sdist)


@dataclass(frozen=True)
class Environment:
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", vars={"base": str(self.folder)}))

    def install(self, *arguments: str | Path) -> None:
        pip = (sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet")
        run(*pip, *arguments, cwd=self.folder)


@pytest.fixture(scope="module")
def installed(archives: Archives, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the wheel alone in an empty environment; what it needs is borrowed from this one."""
    environment = make_environment(tmp_path_factory)
    environment.install("--no-deps", "--no-index", archives.wheel)
    # Folders named in a .pth file do not have their own .pth files read: the editable azulsim stays out.
    (environment.site_packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment


def make_environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    return Environment(folder)


def source_files() -> dict[str, Path]:
    """Return every file that belongs in the wheel, by its name there."""
    return {
        f"{place}/{path.relative_to(ROOT / folder).as_posix()}": path
        for folder, place in PLACES.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_wheel_holds_every_file_of_the_four_folders_and_no_other(archives: Archives) -> None:
    with zipfile.ZipFile(archives.wheel) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == set(source_files())


def test_wheel_holds_the_bundled_plugins_and_the_data_files(archives: Archives) -> None:
    with zipfile.ZipFile(archives.wheel) as wheel:
        inside = set(wheel.namelist())
    wanted = {
        "azulsim/py.typed",
        "azulsim/cli/__init__.py",
        "azulsim/strategies/greedy.py",
        "azulsim/experiments/demo.toml",
        "azulsim/reports/marker.py",
    }
    assert wanted <= inside
    for suffix in (".html", ".css", ".js"):
        assert any(name.startswith("azulsim/report/") and name.endswith(suffix) for name in inside), suffix


def test_source_archive_holds_all_that_is_needed_to_test_it(archives: Archives) -> None:
    with tarfile.open(archives.sdist) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = {"Makefile", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "docs/ARCHITECTURE.md"}
    wanted |= {str(path.relative_to(ROOT)) for path in source_files().values()}
    wanted |= {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py")}
    assert wanted <= inside


def test_only_azulsim_appears_at_the_top_of_site_packages(installed: Environment) -> None:
    top = {path.name for path in installed.site_packages.iterdir()} - {"borrowed.pth"}
    assert top == {"azulsim", f"azulsim-{azulsim.__version__}.dist-info"}


def test_installed_wheel_plays_from_another_folder(installed: Environment, tmp_path: Path) -> None:
    imported_from = run(installed.python, "-c", PLAY, cwd=tmp_path)
    assert Path(imported_from.strip()).is_relative_to(installed.folder)
    command = installed.folder / "bin" / "azulsim"
    assert run(command, "--version", cwd=tmp_path) == f"azulsim {azulsim.__version__}\n"
    for kind, name in (("strategies", "greedy"), ("experiments", "demo"), ("reports", "marker")):
        assert name in run(command, kind, "list", cwd=tmp_path).split()


def test_reading_a_log_and_building_a_page_loads_no_compiler(tmp_path: Path) -> None:
    code = """
import importlib, pkgutil, sys
import azulsim.log, azulsim.catalog, azulsim.metrics, azulsim.report, azulsim.reports
for module in pkgutil.iter_modules(azulsim.reports.__path__):
    importlib.import_module(f"azulsim.reports.{module.name}")
print(sorted({"numba", "llvmlite", "azulsim.engine", "azulsim.arena", "azulsim.runner"} & set(sys.modules)))
"""
    assert run(sys.executable, "-c", code, cwd=tmp_path) == "[]\n"


@pytest.mark.long
def test_wheel_installs_with_its_own_dependencies_and_runs_an_experiment(
    archives: Archives, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environment = make_environment(tmp_path_factory)
    environment.install(archives.wheel)
    command = environment.folder / "bin" / "azulsim"
    run(command, "run", "demo", "--deals", "4", "--out", "first", cwd=environment.folder)
    run(command, "report", "first", cwd=environment.folder)
    run(command, "compare", "greedy", "uniform", "--deals", "4", cwd=environment.folder)
