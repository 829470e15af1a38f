"""Which tests a run takes; one profile for property tests: the same examples on every machine,
no clock; the wheel.
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# scripts; what they record is tested without torch
collect_ignore = [
    "models/drawn_pictures.py",
    "models/drawn_texts.py",
    "models/families.py",
    "models/labelled.py",
    "models/record.py",
    "models/record_minilm.py",
    "peers/record_kernels.py",
    "peers/record_parts.py",
    "peers/record_scores.py",
]

BROWSER = Path(__file__).parent / "browser"
SLOW = Path(__file__).parent / "slow.txt"  # the id of a test in each line, or of all its cases


def pytest_addoption(parser):
    parser.addoption(
        "--all", action="store_true", help="also run tests/browser and the ids in tests/slow.txt"
    )


def pytest_configure(config):
    """Who names a file or a folder means all that is in it."""
    if config.args_source is config.ArgsSource.ARGS:
        config.option.all = True


def pytest_ignore_collect(collection_path, config):
    return True if collection_path == BROWSER and not config.option.all else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if config.option.all:
        return
    slow = set(SLOW.read_text(encoding="utf-8").splitlines())
    left_out = [item for item in items if slow & {item.nodeid, item.nodeid.partition("[")[0]}]
    config.hook.pytest_deselected(items=left_out)
    chosen = set(items) - set(left_out)
    items[:] = [item for item in items if item in chosen]


settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def environments() -> Path:
    """The folder of two environments into which ``.ci/run`` installed the wheel, nothing else."""
    if "INSTALLED" not in os.environ:
        pytest.skip("only .ci/run makes the environments that this looks at")
    return Path(os.environ["INSTALLED"])


@pytest.fixture
def interruptible():
    """Let Ctrl+C interrupt this process and its children, also where a shell had it ignored.

    A shell that is not interactive starts ``pytest &`` so.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
