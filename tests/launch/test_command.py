"""The command ``attention-stages``: what it takes, what it refuses, and what it serves with."""

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
import urllib.request
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import messages
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attention
from attention import __main__ as command
from attention.limits import MAX_LONG_FILE
from attention.pages.frame import start
from attention.session.state import links
from attention.session.state.examples import EXAMPLES, FIRST
from attention.session.state.matrix import Matrix

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "attention" / "launch" / "dashboard.py"
TYPED = replace(EXAMPLES["lookup"].build(), digits=5)
BATCH = EXAMPLES["batch"].build()
LARGE = BATCH.with_matrix("Q", BATCH.matrices["Q"].edited((0, 0, 0), 0.5))  # no link can hold it


@pytest.fixture
def never_serves(monkeypatch):
    """Every call of ``serve`` is written down, and none starts a server."""
    served = []
    monkeypatch.setattr(command, "serve", lambda *given: served.append(given))
    return served


@pytest.fixture
def bare_address():
    """Lets a test say what the bare address opens; afterwards it is the first example again."""
    yield start.begin_with
    start.begin_with(None)


# ---- what it takes ----------------------------------------------------------


def test_without_arguments_it_serves_the_first_example_where_streamlit_likes(never_serves):
    assert command.main([]) == 0
    assert never_serves == [(None, None, None)]


def test_it_serves_the_saved_state_at_the_port_that_was_given(never_serves, tmp_path):
    file = tmp_path / "state.json"
    file.write_bytes(links.to_file(TYPED))
    assert command.main(["--port", "8600", "--open", str(file)]) == 0
    assert never_serves == [(TYPED, 8600, None)]


def test_a_state_of_more_tokens_than_a_board_shows_is_served_and_opens_on_long_context(
    never_serves, bare_address, tmp_path
):
    words = tuple(f"w{k}" for k in range(600))
    rows = np.random.default_rng(5).standard_normal((600, 4))
    long = replace(EXAMPLES["four-words"].build(), tokens=words).with_matrix("X", Matrix(rows))
    file = tmp_path / "state.json"
    file.write_bytes(links.to_file(long))
    assert command.main(["--open", str(file)]) == 0
    assert never_serves == [(long, None, None)]
    bare_address(long)
    for _ in range(2):
        at = visited()
        assert settings(at).long.pattern == ""
        expected = rows @ long.matrices["W_Q"].values
        np.testing.assert_allclose(
            at.session_state["visit"].page_values["long_brought"].Q[0], expected, atol=1e-12
        )


def test_ctrl_c_ends_it_without_a_traceback(monkeypatch):
    def interrupted(saved, port, address):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "serve", interrupted)
    assert command.main([]) == 0


def test_version_is_the_one_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        command.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"attention-stages {attention.__version__}\n"


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as end:
        command.main(["--help"])
    assert end.value.code == 0
    options = set(re.findall(r"^  (?:-h, )?(--\w+)", capsys.readouterr().out, re.MULTILINE))
    assert options == {"--help", "--port", "--address", "--open", "--version"}


PORTS = ["65536", "-1", "80a", "٨٠", "", "99999999999", "8 0", "8_0"]
ADDRESSES = ["localhost", "8501", "", "127.0.0.1:80", "٨.8.8.8"]


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [("port", port, messages.NOT_A_PORT.format(port=repr(port))) for port in PORTS]
    + [("address", at, messages.NOT_AN_ADDRESS.format(address=repr(at))) for at in ADDRESSES],
)
def test_what_is_no_port_or_address_is_refused_by_name(option, given, said, never_serves, capsys):
    with pytest.raises(SystemExit) as end:
        command.main([f"--{option}={given}"])
    assert (end.value.code, never_serves) == (2, [])
    assert capsys.readouterr().err.endswith(f"argument --{option}: {said}\n")


# ---- a file that is no saved state ------------------------------------------

UNREADABLE = {
    "no json": b"X = [[1, 2]]",
    "another json": b'{"X": [[1, 2]]}',
    "empty": b"",
    "bytes": b"\x93NUMPY\xff\x00",
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_is_no_saved_state_is_refused_in_one_sentence(
    content, never_serves, tmp_path, capsys
):
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    assert command.main(["--open", str(file)]) == 2
    assert never_serves == []
    said = messages.CANNOT_BE_USED.format(path=file, why=messages.NOT_A_STATE_FILE)
    assert capsys.readouterr().err == f"attention-stages: {said}\n"


def test_a_damaged_state_is_refused_by_what_is_damaged(never_serves, tmp_path, capsys):
    file = tmp_path / "state.json"
    saved = json.loads(links.to_file(TYPED))
    saved["link"]["digits"] = "many"
    file.write_text(json.dumps(saved))
    assert command.main(["--open", str(file)]) == 2
    said = capsys.readouterr().err
    damaged = messages.DAMAGED_STATE_FILE.format(notices="", file="")
    start = messages.CANNOT_BE_USED.format(path=file, why=damaged)
    assert said.startswith(f"attention-stages: {start}")
    assert "digits" in said and said.count("\n") == 1


def test_a_file_that_is_not_there_a_folder_and_one_too_large_are_refused(
    never_serves, tmp_path, capsys
):
    missing, heavy = tmp_path / "missing.json", tmp_path / "heavy.json"
    with heavy.open("wb") as file:
        file.truncate(18 * 2**20 + 1)
    said = {
        missing: messages.CANNOT_BE_OPENED.format(path=missing, why="No such file or directory"),
        tmp_path: messages.CANNOT_BE_OPENED.format(path=tmp_path, why="Is a directory"),
        heavy: messages.SAVED_STATE_TOO_LARGE.format(path=heavy, max_state="18,874,368"),
    }
    for path, sentence in said.items():
        assert command.main(["--open", str(path)]) == 2
        assert capsys.readouterr().err == f"attention-stages: {sentence}\n"
    assert never_serves == []


# ---- without the extra ------------------------------------------------------


@pytest.mark.parametrize(
    ("installed", "sentence"),
    [
        (
            {
                "numpy": "2.2.0",
                "pandas": "2.2.3",
                "plotly": "7.1.0",
                "matplotlib": "3.11.0",
                "segno": "1.6.6",
            },
            messages.PACKAGES_LACKING.format(packages="streamlit", extra=".[app]"),
        ),
        (
            {
                command.DISTRIBUTION: "0.2.0",
                "streamlit": "1.59.2",
                "numpy": "1.26.4",
                "pandas": "2.2.1",
                "plotly": "10.0rc1",
            },
            messages.PACKAGES_LACKING.format(
                packages=", ".join(
                    [
                        "matplotlib",
                        "segno",
                        messages.NEWER_PACKAGE.format(
                            name="streamlit", least="1.67", found="1.59.2"
                        ),
                        messages.NEWER_PACKAGE.format(name="numpy", least="2.2", found="1.26.4"),
                        messages.NEWER_PACKAGE.format(name="pandas", least="2.2.2", found="2.2.1"),
                    ]
                ),
                extra="attention-stage-by-stage[app]",
            ),
        ),
        (
            {
                "streamlit": "2.0",
                "numpy": "3",
                "pandas": "2.2.2",
                "plotly": "6.3.0",
                "matplotlib": "3.11.2",
                "segno": "1.6",
            },
            "",
        ),
    ],
)
def test_it_says_in_one_sentence_what_to_install(
    installed, sentence, monkeypatch, never_serves, capsys
):
    monkeypatch.setattr(command, "_installed", lambda name: installed.get(name, ""))
    assert command.main([]) == (2 if sentence else 0)
    assert capsys.readouterr().err == (f"attention-stages: {sentence}\n" if sentence else "")
    assert never_serves == ([] if sentence else [(None, None, None)])


def requirements() -> dict[str, str]:
    """The ranges of requirements.txt by name."""
    lines = (ROOT / "requirements.txt").read_text().split()
    return {name: bounds for name, bounds in (re.match(r"([\w-]+)(.*)", x).groups() for x in lines)}


def test_the_least_versions_are_those_of_requirements():
    least = {
        name: tuple(map(int, re.match(r">=([\d.]+),", bounds)[1].split(".")))
        for name, bounds in requirements().items()
    }
    least.pop("threadpoolctl")  # used where it is there, and not missed
    assert least == command.NEEDED


def test_the_library_alone_takes_an_older_numpy():
    """The one that environments with a model have; .ci/run tests with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == ["numpy>=1.26,<3"]
    assert requirements()["numpy"] == ">=2.2,<3"


def test_the_tests_run_within_the_ranges_that_are_declared():
    for name, bounds in requirements().items():
        low, high = re.fullmatch(r">=([\d.]+),<(\d+)", bounds).groups()
        numbers = [int(number) for number in version(name).split(".")[:3]]
        assert [int(number) for number in low.split(".")] <= numbers < [int(high)], name


# ---- what it serves with ----------------------------------------------------

# Takes the place of the server: says where it listens.
LISTENING = """
import os, sys
from streamlit.web.server.starlette import starlette_server

def bind(address, port, backlog):
    print("LISTENS AT", address, flush=True)
    os._exit(0)

starlette_server._bind_socket = bind
"""
# Takes the place of the server: prints the settings in force and where modules are looked for.
CAPTURED = """
import json, sys
from streamlit.web.server.starlette import starlette_server

def report(self):
    from streamlit import config
    names = json.loads({names!r})
    folders = [folder for folder in sys.path if "attention" in folder]
    print(json.dumps([{{name: config.get_option(name) for name in names}}, folders]))

starlette_server.UvicornRunner.run = report
"""
COMMAND = "from attention.__main__ import main\nsys.argv[0] = {argv0!r}\nsys.exit(main([]))"
STREAMLIT = "from streamlit.web import cli\nsys.argv = ['streamlit', 'run', 'app.py']\ncli.main()"


def started(way: str, where: Path, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", way],
        cwd=where,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(where)} | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )


def options_in_force(
    way: str, where: Path, names: list[str], **variables: str
) -> tuple[dict, list[str]]:
    ran = started(CAPTURED.format(names=json.dumps(names)) + way, where, **variables)
    assert (ran.returncode, ran.stderr) == (0, "")
    return tuple(json.loads(ran.stdout.splitlines()[-1]))


def written(table: dict, name: str = "") -> dict:
    """A plain reading of config.toml: the settings by their dotted names."""
    if not isinstance(table, dict):
        return {name[1:]: table}
    return {
        k: v for key, inner in table.items() for k, v in written(inner, f"{name}.{key}").items()
    }


def test_both_ways_to_start_it_have_the_settings_of_config_toml(tmp_path):
    wanted = written(tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text()))
    assert wanted["server.maxUploadSize"] * 2**20 == MAX_LONG_FILE  # Streamlit's own is 200 MB
    for way, where in ((COMMAND.format(argv0="attention-stages"), tmp_path), (STREAMLIT, ROOT)):
        assert options_in_force(way, where, list(wanted))[0] == wanted


@pytest.mark.parametrize("port", [[], ["--port", "8600"]], ids=["variable", "argument"])
def test_streamlits_environment_variables_win_over_config_toml(port, tmp_path):
    """As for ``streamlit run``, where an argument wins over its variable."""
    variables = {
        "STREAMLIT_SERVER_PORT": "8700",
        "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "50",  # also in config.toml
        "STREAMLIT_GLOBAL_MIN_CACHED_MESSAGE_SIZE": "2.5",  # also in config.toml
        "STREAMLIT_SERVER_HEADLESS": "true",
    }
    expected = {
        "server.port": 8600 if port else 8700,
        "server.maxUploadSize": 50,
        "global.minCachedMessageSize": 2.5,
        "server.headless": True,
        "server.fileWatcherType": "none",
    }
    way = COMMAND.format(argv0="attention-stages").replace("main([])", f"main({port})")
    assert options_in_force(way, tmp_path, list(expected), **variables)[0] == expected


def test_a_variable_that_is_no_port_is_refused_by_name(tmp_path):
    way = "import sys\n" + COMMAND.format(argv0="attention-stages")
    ran = started(way, tmp_path, STREAMLIT_SERVER_PORT="80a")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "attention-stages: Invalid value for '--server.port' "
        "(env var: 'STREAMLIT_SERVER_PORT'): '80a' is not a valid integer.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "where", "at_the_end"),
    [
        (["attention"], None, ("", 0)),
        (["streamlit", "run", "app.py"], ROOT, ("\nAborted!\n", 1)),  # Streamlit's own
    ],
    ids=["command", "clone"],
)
def test_it_prints_nothing_but_the_address(arguments, where, at_the_end, tmp_path, interruptible):
    """From its start until Ctrl+C, with one visit in between."""
    server = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=where or tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "STREAMLIT_SERVER_PORT": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        printed = [server.stdout.readline() for _ in range(5)]
        address = printed[3].removeprefix("  URL: ").strip()
        with urllib.request.urlopen(address, timeout=120) as answer:  # waits until it is served
            assert answer.status == 200
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=60)
    finally:
        server.kill()
    view = "  You can now view your Streamlit app in your browser.\n"
    assert printed == ["\n", view, "\n", f"  URL: {address}\n", "\n"]
    assert (rest.strip(), errors, server.returncode) == ("", *at_the_end)


def test_the_folder_of_the_maths_is_not_searched_for_modules(tmp_path):
    """There, ``numbers`` and ``statistics`` would hide Python's own."""
    way = COMMAND.format(argv0=str(ROOT / "attention" / "__main__.py"))  # as `python -m` has it
    folders = options_in_force(way, tmp_path, [])[1]
    inside = [folder for folder in folders if Path(folder).is_relative_to(ROOT / "attention")]
    assert inside == [str(DASHBOARD.parent)]
    names = {path.stem for path in DASHBOARD.parent.glob("*.py")}
    assert not names & (sys.stdlib_module_names | {"streamlit", "pandas", "plotly", "numpy"})


# ---- the page it opens ------------------------------------------------------


def visited(**address: str) -> AppTest:
    at = AppTest.from_file(str(DASHBOARD), default_timeout=30)
    for name, value in address.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def settings(at: AppTest):
    return at.session_state["visit"].settings


def test_it_opens_the_first_example():
    assert settings(visited()) == EXAMPLES[FIRST].build()


@pytest.mark.parametrize(
    "saved", [TYPED, LARGE, EXAMPLES[FIRST].build()], ids=["typed", "large", "first"]
)
def test_the_bare_address_opens_the_saved_state_for_every_visitor(saved, bare_address):
    bare_address(saved)
    for _ in range(2):
        at = visited()
        assert settings(at) == saved
        at.run()
        assert settings(at) == saved
        found = {k: v[0] if isinstance(v, list) else v for k, v in at.query_params.items()}
        assert found == links.address(saved)[0]
    assert links.address(saved)[1] == (saved != LARGE)


def test_an_address_counts_more_than_the_saved_state(bare_address):
    bare_address(TYPED)
    assert settings(visited(example="customers")) == EXAMPLES["customers"].build()


def test_the_first_example_has_an_address_of_its_own_beside_a_saved_state(bare_address):
    bare_address(TYPED)
    at = visited(example=FIRST)
    at.query_params.clear()  # the menu of pages leads to bare addresses
    at.switch_page("../pages/variance.py").run()
    assert settings(at) == EXAMPLES[FIRST].build()
    assert at.query_params["example"] in (FIRST, [FIRST])


@pytest.mark.parametrize(
    ("arguments", "variables", "address"),
    [
        ([], {}, "127.0.0.1"),
        (["--address=0.0.0.0"], {}, "0.0.0.0"),
        (["--address=::"], {}, "::"),
        ([], {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, "0.0.0.0"),
        (["--address=127.0.0.1"], {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, "127.0.0.1"),
    ],
)
def test_the_command_listens_on_this_computer_alone_unless_told(
    arguments, variables, address, tmp_path
):
    way = COMMAND.format(argv0="attention-stages").replace("main([])", f"main({arguments})")
    headless = {"STREAMLIT_SERVER_HEADLESS": "true"} | variables
    assert listening_at(way, tmp_path, **headless) == address


@pytest.mark.parametrize(
    ("argument", "address"), [("", "127.0.0.1"), ("--server.address=0.0.0.0", "0.0.0.0")]
)
def test_streamlit_run_listens_on_this_computer_alone_unless_told(argument, address):
    way = STREAMLIT.replace("]", f", *{[argument] if argument else []}]")
    assert listening_at(way, ROOT, STREAMLIT_SERVER_HEADLESS="true") == address


def listening_at(way: str, where: Path, **variables: str) -> str:
    ran = started(LISTENING + way, where, **variables)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.partition("LISTENS AT ")[2].strip()
