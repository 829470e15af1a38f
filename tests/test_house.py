"""The import rule of the house: launch → pages → exports → … → maths. Nothing points up.

No files import each other in a loop. And the length of its lines, and where its bounds stand.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[1] / "attention"
HEAVY = {
    "pandas",
    "plotly",
    "matplotlib",
    "pyarrow",
    "streamlit",
    "starlette",
    "threadpoolctl",
    "torch",
    "transformers",
}  # the last three: only at their first use
# from the ground up; folder: the rooms it may import from, the outside packages it may import
ROOMS = {
    "maths": (set(), {"numpy", "threadpoolctl"}),
    "frameworks": ({"maths"}, {"numpy"}),
    # torch and transformers are the person's own, imported where their model runs
    "models": ({"maths", "frameworks"}, {"numpy", "torch", "transformers"}),
    "readers": ({"maths"}, {"numpy"}),
    "session": ({"maths", "frameworks", "models", "readers"}, {"numpy"}),
    "html": ({"maths", "frameworks", "readers"}, {"numpy"}),
    # PIL writes the PNG of Matplotlib, which needs it
    "figures": ({"maths", "frameworks"}, {"numpy", "plotly", "matplotlib", "PIL"}),
    "exports": (
        {"maths", "frameworks", "models", "readers", "session", "html", "figures"},
        {"numpy", "pandas", "plotly"},
    ),
    "pages": (
        {"maths", "frameworks", "models", "readers", "session", "html", "figures", "exports"},
        {"numpy", "pandas", "plotly", "streamlit", "starlette", "segno"},
    ),
    "launch": ({"maths", "session", "pages"}, {"streamlit", "click"}),
}
FRONT_DESK = ("__init__",)  # attention/__init__.py alone may name upper rooms, to load them late
DOORS = {"__main__": "launch"}  # files directly in attention/ that belong to a room


UNSEEN = [room for room in ROOMS if room != "pages"]  # these load nothing that draws


def room(parts: tuple[str, ...]) -> str:
    """The room of a module, from its dotted name after ``attention``."""
    first = parts[0] if parts else ""
    return first if first in ROOMS else DOORS.get(first, "maths")


tree_of = cache(ast.parse)  # by the text: several rules look at each file


def parsed(path: Path) -> ast.Module:
    return tree_of(path.read_text(encoding="utf-8"))


def taken(path: Path, package: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each module that a file imports, and the name it takes from it, or "".

    Anywhere in the file: also inside functions and for type checkers alone, also relative.
    """
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield from ((module, alias.name) for alias in node.names)


def imports(path: Path, package: tuple[str, ...]) -> Iterator[str]:
    """Yield every module that a file imports; a name of ours may be a module as well."""
    for module, name in taken(path, package):
        yield module
        if name and module.split(".")[0] == "attention":
            yield f"{module}.{name}"


def violations(house: Path) -> list[str]:
    """What a static look at every file finds against the rule."""
    found = []
    for path in sorted(house.rglob("*.py")):
        parts = path.relative_to(house).with_suffix("").parts
        mine = room(parts)
        rooms, outside = ROOMS[mine]
        if parts == ("__init__",):  # the front desk, and it alone, names upper rooms
            rooms = set(ROOMS)
        for name in imports(path, ("attention", *parts[:-1])):
            first, *rest = name.split(".")
            if first == "attention":
                other = room(tuple(rest))
                wrong = other not in rooms | {mine} and parts != FRONT_DESK
            else:
                wrong = first not in outside and first not in sys.stdlib_module_names
            if wrong:
                found.append(f"{'/'.join(parts)} imports {name}")
    return found


def loop(house: Path) -> list[str]:
    """Files that import each other, each the next one, back to the first; [] where none do.

    That a file is imported after the __init__.py of its folder counts for none.
    """
    files = {}
    for path in sorted(house.rglob("*.py")):
        parts = ("attention", *path.relative_to(house).with_suffix("").parts)
        files[".".join(parts).removesuffix(".__init__")] = path, parts[:-1]
    imported = {}
    for name, (path, package) in files.items():
        # from a folder comes one of its files, or else a name of its __init__.py
        names = (
            f"{module}.{part}" if f"{module}.{part}" in files else module
            for module, part in taken(path, package)
        )
        imported[name] = files.keys() & set(names)
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return error.args[1][::-1]  # which has what is imported first
    return []


def loads(code: str, where: Path) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after this code."""
    first = f"import sys; sys.path.insert(0, {str(where)!r})"
    report = f"{first}\n{code}\nprint(*({HEAVY!r} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", report], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return set(ran.stdout.split())


def import_all(house: Path, wanted: str) -> str:
    """Code that imports every module of one room."""
    modules = []
    for path in sorted(house.rglob("*.py")):
        parts = path.relative_to(house).with_suffix("").parts
        if room(parts) == wanted:
            modules.append(".".join(("attention", *parts)).removesuffix(".__init__"))
    assert modules
    return "import " + ", ".join(modules)


# ---- the rule holds ------------------------------------------------------------------------------


def test_no_file_imports_from_above():
    assert violations(HOUSE) == []


def test_each_room_may_import_rooms_below_it_alone():
    names = list(ROOMS)
    assert all(rooms <= set(names[:k]) for k, (rooms, _) in enumerate(ROOMS.values()))


def test_no_files_import_each_other_in_a_loop():
    assert loop(HOUSE) == []


@pytest.mark.parametrize(
    ("wanted", "may"),
    [
        (room, {"exports": {"pandas"}, "figures": {"plotly", "matplotlib"}}.get(room, set()))
        for room in UNSEEN
    ],
)
def test_a_fresh_interpreter_that_imports_a_room_loads_nothing_heavier_than_allowed(wanted, may):
    assert loads(import_all(HOUSE, wanted), HOUSE.parent) <= may


def test_the_public_names_come_without_anything_heavy():
    assert (
        loads(
            "from attention import *\nassert scaled_dot_product_attention and self_attention",
            HOUSE.parent,
        )
        == set()
    )


def test_the_front_desk_fetches_upper_rooms_only_when_they_are_asked_for():
    code = """
import attention
assert not [name for name in sys.modules if name.startswith("attention.frameworks")]
assert "diagnose" in dir(attention) and attention.diagnose is attention.diagnose
from attention import diagnose
assert diagnose.__module__ == "attention.frameworks.diagnosis"
"""
    assert loads(code, HOUSE.parent) == set()


def test_the_front_desk_may_name_an_upper_room_and_no_other_module_may(other_house):
    line = "from attention.frameworks import bench\n"
    (other_house / "__init__.py").write_text(line)
    assert violations(other_house) == []
    (other_house / "trace.py").write_text(line)
    assert "trace imports attention.frameworks" in violations(other_house)


def test_working_through_inputs_figures_and_exports_loads_neither_streamlit_nor_pandas():
    code = """
from attention.session.links import read
from attention.session.run import run, view
from attention.figures.panes import panes
from attention.exports.tables import to_csv, to_npz
settings, _ = read({"cell": "scores,0,0"})
trace = run(settings)
now = view(settings, trace)
panes(now), to_csv(now), to_npz(trace)
"""
    assert loads(code, HOUSE.parent) == set()


def test_app_is_a_page_list_and_computes_nothing():
    names = {name.split(".")[0] for name in imports(HOUSE.parent / "app.py", ())}
    assert names <= {"attention", "streamlit", "pathlib"}
    assert all(
        name.startswith("attention.pages")
        for name in imports(HOUSE.parent / "app.py", ())
        if name.startswith("attention")
    )


def bounds_elsewhere(house: Path) -> list[str]:
    """Where a module other than limits.py says what a person may give at most."""
    listed = []
    for path in sorted(house.rglob("*.py")):
        if path == house / "limits.py":
            continue
        for node in parsed(path).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [n.id for one in targets for n in ast.walk(one) if isinstance(n, ast.Name)]
            listed += [f"{path.stem} has {name}" for name in names if name.startswith("MAX_")]
    return listed


def numbers_in(path: Path, number: float) -> bool:
    """Whether a module writes this number itself, with either sign."""
    nodes = ast.walk(parsed(path))
    return any(
        isinstance(node, ast.Constant) and type(node.value) is float and node.value == number
        for node in nodes
    )


def test_the_number_that_tutorials_add_is_written_once():
    writing = [path.stem for path in sorted(HOUSE.rglob("*.py")) if numbers_in(path, 1e9)]
    assert writing == ["masks"]


def imports_of_modules(root: Path) -> dict[str, set[str]]:
    """Return the files that each module of a folder imports, as paths in it."""
    return {
        str(path.relative_to(root)): {
            str((path.parent / name).resolve().relative_to(root.resolve()))
            for name in re.findall(r" from '(\.[^']+)'$", path.read_text(encoding="utf-8"), re.M)
        }
        for path in root.rglob("*.js")
    }


def test_no_circle_of_imports_is_among_the_modules_of_the_browser():
    imports = imports_of_modules(HOUSE / "pages" / "js")
    assert "board/scales.js" in imports["board/shades.js"]
    TopologicalSorter(imports).prepare()


COLUMNS = 100
WRITTEN = {".py", ".js", ".mjs", ".ts", ".css", ".md", ".toml"}
UNBREAKABLE = re.compile(r"\||.*\]\(|.*https?://| {4}.*&& ")  # Markdown's rows, links, commands


def long_lines(root: Path) -> list[str]:
    """Where the tracked files of a checkout have lines beyond the last column."""
    if not (root / ".git").exists():
        pytest.skip("only a git checkout says which files belong to it")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, timeout=60, check=True
    )
    found = []
    for name in listed.stdout.split("\0"):
        written = name == ".ci/run" or Path(name).suffix in WRITTEN
        if not written or not (root / name).exists():
            continue
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            free = name.endswith(".md") and UNBREAKABLE.match(line)
            if len(line) > COLUMNS and not free:
                found.append(f"{name}:{number} has {len(line)} columns")
    return found


def test_no_line_is_longer_than_a_hundred_columns():
    assert long_lines(HOUSE.parent) == []


def test_every_bound_called_so_stands_in_one_module():
    assert bounds_elsewhere(HOUSE) == []


# ---- the tests above can fail --------------------------------------------------------------------


@pytest.fixture
def other_house(tmp_path):
    """A small house that keeps the rule, for tests to break."""
    for name in ("", "frameworks", "session", "figures", "exports", "pages"):
        (tmp_path / "attention" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "attention" / name / "__init__.py").write_text("")
    (tmp_path / "attention" / "trace.py").write_text("import math\n\nimport numpy as np\n")
    (tmp_path / "attention" / "session" / "links.py").write_text("import attention.trace\n")
    assert violations(tmp_path / "attention") == []
    return tmp_path / "attention"


CHECKED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
PLANTED = [
    ("trace.py", "from attention.frameworks import bench", "trace imports attention.frameworks"),
    (
        "frameworks/bench.py",
        "import attention.session.links",
        "frameworks/bench imports attention.session.links",
    ),
    ("frameworks/bench.py", "import pandas", "frameworks/bench imports pandas"),
    ("trace.py", "import streamlit", "trace imports streamlit"),
    ("__init__.py", "import plotly", "__init__ imports plotly"),
    ("trace.py", "from attention.figures import heatmap", "trace imports attention.figures"),
    ("session/__init__.py", "import attention.pages", "session/__init__ imports attention.pages"),
    ("trace.py", "def f():\n    import pandas.api", "trace imports pandas.api"),
    ("trace.py", "from attention.session import links", "trace imports attention.session"),
    ("trace.py", "from attention import session", "trace imports attention.session"),
    ("trace.py", "from .session.links import np", "trace imports attention.session.links"),
    (
        "session/links.py",
        "from ..figures import heatmap",
        "session/links imports attention.figures",
    ),
    ("session/links.py", "import pandas", "session/links imports pandas"),
    ("figures/heatmap.py", "from streamlit import html", "figures/heatmap imports streamlit"),
    (
        "figures/heatmap.py",
        "import attention.exports.tables",
        "figures/heatmap imports attention.exports.tables",
    ),
    (
        "exports/tables.py",
        "import streamlit.web",
        "exports/tables imports streamlit.web",
    ),
    (
        "exports/tables.py",
        "from attention.pages.state import current",
        "exports/tables imports attention.pages.state",
    ),
    ("session/links.py", "import requests", "session/links imports requests"),
    (
        "trace.py",
        "def f():\n    from attention.session import links",
        "trace imports attention.session.links",
    ),
    (
        "session/links.py",
        f"{CHECKED}from attention.pages.state import Visit",
        "session/links imports attention.pages.state",
    ),
    (
        "pages/state.py",
        "from attention.launch import command",
        "pages/state imports attention.launch",
    ),
    ("trace.py", "import attention.__main__", "trace imports attention.__main__"),
    ("__main__.py", "import pandas", "__main__ imports pandas"),
]


@pytest.mark.parametrize(("file", "line", "expected"), PLANTED)
def test_a_planted_import_is_found(other_house, file, line, expected):
    (other_house / file).write_text(line + "\n")
    assert expected in violations(other_house)


@pytest.mark.parametrize(
    "line",
    [
        "from attention.session.links import read",
        "from attention.session import links",
        "from .session import links",
        "import attention.session.links as links",
        "def f():\n    from attention.session.links import read",
        f"{CHECKED}from attention.session.links import read",
    ],
)
def test_a_planted_loop_of_imports_is_found(other_house, line):
    assert loop(other_house) == []  # where links imports the trace
    (other_house / "trace.py").write_text(f"{line}\n")
    assert sorted(loop(other_house)[1:]) == ["attention.session.links", "attention.trace"]


def test_a_planted_loop_of_three_goes_by_its_imports(other_house):
    (other_house / "view.py").write_text("def f():\n    import attention.session.links\n")
    (other_house / "trace.py").write_text(f"{CHECKED}from attention.view import View\n")
    names = {"session.links": "trace", "trace": "view", "view": "session.links"}
    found = [name.removeprefix("attention.") for name in loop(other_house)]
    assert len(found) == 4 and all(names[a] == b for a, b in zip(found, found[1:], strict=False))


def test_a_name_of_the_front_desk_closes_a_loop_and_a_file_beside_it_does_not(other_house):
    (other_house / "__init__.py").write_text("from attention import trace\nNAME = trace.NAME\n")
    (other_house / "trace.py").write_text("from attention import view\nNAME = 1\n")
    (other_house / "view.py").write_text("")
    assert loop(other_house) == []
    (other_house / "view.py").write_text("def f():\n    from attention import NAME\n")
    assert set(loop(other_house)) == {"attention", "attention.trace", "attention.view"}


@pytest.mark.parametrize("line", ["MAX_DOTS = 64", 'URL, MAX_DOTS = "qr.svg", 300'])
def test_a_planted_bound_is_found(other_house, line):
    (other_house / "limits.py").write_text("MAX_TOKENS = 2048\n")
    (other_house / "exports" / "paper.py").write_text(f"{line}\n")
    assert bounds_elsewhere(other_house) == ["paper has MAX_DOTS"]


@pytest.mark.parametrize(
    "line", ["import pandas", "from importlib import import_module; import_module('pandas')"]
)
def test_a_planted_import_is_found_by_the_fresh_interpreter(other_house, line):
    (other_house / "trace.py").write_text(line + "\n")
    assert "pandas" in loads(import_all(other_house, "maths"), other_house.parent)
    assert "pandas" in loads(import_all(other_house, "session"), other_house.parent)


def test_a_planted_circle_of_modules_is_found(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a.js").write_text("import { b } from './b/b.js'\n")
    (tmp_path / "b" / "b.js").write_text("import {\n  a\n} from '../a.js'\n")
    with pytest.raises(CycleError):
        TopologicalSorter(imports_of_modules(tmp_path)).prepare()


def test_planted_long_lines_are_found_and_what_cannot_be_broken_is_left(tmp_path):
    long = "x" * 101
    (tmp_path / "a.py").write_text(f"# {'x' * 98}\n# {'x' * 99}\n")
    (tmp_path / "a.md").write_text(
        f"{long}\n| {long} |\n[{long}](docs/a.md)\n    {long} && {long}\n    {long}\n"
    )
    (tmp_path / "a.js").write_text(f"// {'“' * 97}\n// {'“' * 98}\n")
    (tmp_path / "a.txt").write_text(long)
    (tmp_path / "untracked.py").write_text(long)
    for command in (["init", "-q"], ["add", "a.py", "a.md", "a.js", "a.txt"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=60)
    assert long_lines(tmp_path) == [
        "a.js:2 has 101 columns",
        "a.md:1 has 101 columns",
        "a.md:5 has 105 columns",
        "a.py:2 has 101 columns",
    ]
