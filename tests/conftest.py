"""Options and fixtures that all tests share."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from fact_files import FactsError, default_cases, default_traces, read_cases, read_traces
from hypothesis import settings
from subjects import SUBJECTS, Subject

# A check of a change must not depend on luck: the same examples every time. `make test-long` looks for new ones.
settings.register_profile("new", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")


# Tests keep many objects alive (figures, frames, compiled functions); looking at them all the time takes longer than
# the tests.
gc.set_threshold(50_000, 20, 100)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the facts come from other files; each option may be repeated."""
    group = parser.getgroup("facts", "facts of the rules (tests/facts/README.md)")
    group.addoption("--cases", action="append", metavar="FILE", help="worked examples (default: facts/cases.json)")
    group.addoption("--traces", action="append", metavar="FILE", help="recorded games (default: facts/traces/*.txt)")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse files of facts that cannot be used before any test runs."""
    try:
        for path in _files(config, "cases"):
            read_cases(path)
        for path in _files(config, "traces"):
            read_traces(path)
    except FactsError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `fact_case`, `fact_trace` or `subject` each of them in turn."""
    if "fact_case" in metafunc.fixturenames:
        files = _files(metafunc.config, "cases") or default_cases()
        cases = [case for path in files for case in read_cases(path)]
        metafunc.parametrize("fact_case", cases, ids=[case.id for case in cases])
    if "fact_trace" in metafunc.fixturenames:
        files = _files(metafunc.config, "traces") or default_traces()
        traces = [trace for path in files for trace in read_traces(path)]
        metafunc.parametrize("fact_trace", traces, ids=[trace.id for trace in traces])
    if "subject" in metafunc.fixturenames:
        metafunc.parametrize("subject", SUBJECTS, indirect=True, scope="session")


@pytest.fixture(scope="session")
def subject(request: pytest.FixtureRequest) -> Subject:
    """Return an implementation of the rules to hold against the facts."""
    return SUBJECTS[request.param]()


def _files(config: pytest.Config, option: str) -> list[Path]:
    names: list[str] = config.getoption(option) or []
    return [config.invocation_params.dir / name for name in names]
