"""The import rule of the house, in one sentence (`ORDER`), and the order inside some folders.

No files import each other in a loop. And the length of its lines, where its bounds stand, and that
functions of pages get what they use.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from symtable import SymbolTable, symtable

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
# A folder imports only folders left of it, those between two dots not each other.
ORDER = (
    "vocabulary, arrays · core, samples, readers · long, frameworks · explain, models"
    " · session, html, figures · exports · pages · launch"
)


def levels(order: str) -> dict[str, int]:
    """Return the level of each folder of an order.

    >>> levels("cells · files, texts")
    {'cells': 0, 'files': 1, 'texts': 1}
    """
    groups = order.split(" · ")
    return {name: level for level, group in enumerate(groups) for name in group.split(", ")}


LEVEL = levels(ORDER)
# The same inside a folder, by its subfolders; "" is the folder itself.
INSIDE = {
    "frameworks": "libraries ·  · diagnosis, printed",
    "models": " · recording",
    "readers": "cells · files · texts · ",
    "session": "state · edit · bring, compare · teach, long",
    "figures": "panes · plotly · paper",
    "pages": "frame · components · panels · ",
}
SCRIPTS = "layout · paint · text · edit, card, play · "  # the same of pages/js/board
# Packages that a folder may import beside NumPy; torch and transformers are the user's own,
# imported where their model runs, PIL, which Matplotlib needs, writes the PNG of its figures, and
# anyio, on which Starlette runs, bounds how many threads answer.
OUTSIDE = {
    "arrays": {"threadpoolctl"},
    "explain": {"pandas"},
    "frameworks": {"pandas"},
    "models": {"torch", "transformers", "pandas"},
    "figures": {"plotly", "matplotlib", "PIL"},
    "exports": {"pandas", "plotly"},
    "pages": {"pandas", "plotly", "streamlit", "starlette", "anyio", "segno"},
    "launch": {"streamlit", "click"},
}
# Files of attention/ itself: three that all may read, the command, and doors: __init__.py, which
# names folders to load them late, and patterns.py, a public name.
SHARED = ("limits", "program", "paper")
COMMAND = "__main__"  # as launch
DOORS = ("__init__", "patterns")
MOST_FILES = 14  # in a folder, beside __init__.py
# How an object is shown is written by a file that takes such objects. These methods import it when
# they are called: the only imports to the right, in three files.
SHOWING = ("__repr__", "_repr_html_")
LATE = {
    "core/trace imports attention.explain.notebook",
    "frameworks/diagnosis/result imports attention.explain.differing",
    "models/taken imports attention.figures.panes.captures",
    "models/taken imports attention.models.summary",
}


UNSEEN = ["shared", *(folder for folder in LEVEL if folder != "pages")]  # these load no drawing


def room(parts: tuple[str, ...]) -> str:
    """Return the folder of a module, from its dotted name after ``attention``."""
    first = parts[0] if parts else ""
    if first in LEVEL:
        return first
    return "launch" if first == COMMAND else "shared" if first in ("", *SHARED) else "none"


def wing(parts: tuple[str, ...], level: dict[str, int]) -> str:
    """Return the ordered subfolder that a module is in, "" for the folder itself."""
    return parts[1] if len(parts) > 1 and parts[1] in level else ""


def is_left(a: str, b: str, level: dict[str, int]) -> bool:
    """Return whether folder b may import folder a: its own, or one further to the left."""
    return a == b or level.get(a, -1) < level.get(b, -1)


def may_import(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether a module may import another, by their names after ``attention``."""
    a, b = room(mine), room(other)
    if b == "shared" or mine[0] in DOORS:
        return True
    if a != b:
        return a in LEVEL and b in LEVEL and is_left(b, a, LEVEL)
    level = levels(INSIDE.get(a, ""))
    # a folder's own __init__.py is a sentence, and is imported with each of its files
    return len(other) == 1 or is_left(wing(other, level), wing(mine, level), level)


tree_of = cache(ast.parse)  # by the text: several rules look at each file


def parsed(path: Path) -> ast.Module:
    return tree_of(path.read_text(encoding="utf-8"))


def nodes(tree: ast.AST, showing: bool) -> Iterator[ast.AST]:
    """Yield what is inside of the methods that show an object, or what is not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name in SHOWING:
            yield from ast.walk(node) if showing else ()
        else:
            yield from () if showing else (node,)
            yield from nodes(node, showing)


def taken(path: Path, package: tuple[str, ...], showing: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each module that a file imports, and the name it takes from it, or "".

    Anywhere in the file: also inside functions and for type checkers alone, also relative; but in
    methods that show an object only where these are asked for, ``showing``.
    """
    for node in nodes(parsed(path), showing):
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
    """Return what a static look at every file finds against the rule."""
    found = []
    for path in sorted(house.rglob("*.py")):
        parts = path.relative_to(house).with_suffix("").parts
        outside = OUTSIDE.get(room(parts), set()) | {"numpy"} | sys.stdlib_module_names
        for name in imports(path, ("attention", *parts[:-1])):
            first, *rest = name.split(".")
            right = may_import(parts, tuple(rest)) if first == "attention" else first in outside
            if not right:
                found.append(f"{'/'.join(parts)} imports {name}")
    return found


def misplaced(house: Path) -> list[str]:
    """Return the files that are in no folder of the sentence, and the folders that are too full."""
    files = [path.relative_to(house) for path in sorted(house.rglob("*.py"))]
    found = [
        f"{path} is in no folder"
        for path in files
        if room(parts := path.with_suffix("").parts) == "none" and parts[0] not in DOORS
    ]
    count = Counter(path.parent for path in files if path.name != "__init__.py")
    return found + [f"{folder} has {n} files" for folder, n in count.items() if n > MOST_FILES]


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


def late(house: Path) -> set[str]:
    """Return what is imported by methods that show an object."""
    return {
        f"{path.relative_to(house).with_suffix('')} imports {module}"
        for path in house.rglob("*.py")
        for module, _ in taken(path, (), showing=True)
    }


def test_three_files_import_how_an_object_is_shown_when_it_is():
    assert late(HOUSE) == LATE


def test_every_file_is_in_a_folder_of_the_sentence_and_no_folder_is_crowded():
    assert misplaced(HOUSE) == []
    folders = {path.parent.name for path in HOUSE.glob("*/__init__.py")}
    assert folders == set(LEVEL)


def test_architecture_begins_with_the_sentence():
    text = (HOUSE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert ORDER in " ".join(text[:1500].replace("> ", "").split())


PANDAS = {"pandas", "pyarrow"}  # the second is loaded by the first


def test_no_files_import_each_other_in_a_loop():
    assert loop(HOUSE) == []


@pytest.mark.parametrize(
    ("wanted", "may"),
    [
        (room, {"exports": PANDAS, "figures": {"plotly", "matplotlib"}}.get(room, set()))
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
assert diagnose.__module__ == "attention.frameworks.diagnosis.diagnose"
"""
    assert loads(code, HOUSE.parent) == set()


def test_the_front_desk_may_name_an_upper_room_and_no_other_module_may(other_house):
    line = "from attention.frameworks import moves\n"
    (other_house / "__init__.py").write_text(line)
    assert violations(other_house) == []
    (other_house / "core" / "trace.py").write_text(line)
    assert "core/trace imports attention.frameworks" in violations(other_house)


def test_working_through_inputs_figures_and_exports_loads_neither_streamlit_nor_pandas():
    code = """
from attention.session.state.links import read
from attention.session.state.run import run, view
from attention.figures.panes.panes import panes
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


def scripts_to_the_right(imported: dict[str, set[str]]) -> list[str]:
    """Return the imports among modules of the board that the order of its folders forbids."""
    level = levels(SCRIPTS)
    parts = {name: name.split("/") for name in imported}
    return [
        f"{a} imports {b}"
        for a, names in imported.items()
        for b in sorted(names)
        if parts[a][0] == parts[b][0] == "board"
        and not is_left(wing(parts[b], level), wing(parts[a], level), level)
    ]


def test_no_circle_of_imports_is_among_the_modules_of_the_browser():
    imported = imports_of_modules(HOUSE / "pages" / "js")
    assert "board/paint/scales.js" in imported["board/paint/shades.js"]
    TopologicalSorter(imported).prepare()


def test_modules_of_the_board_import_folders_left_of_theirs():
    assert scripts_to_the_right(imports_of_modules(HOUSE / "pages" / "js")) == []


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


def globals_in(table: SymbolTable) -> Iterator[str]:
    """Yield the global names that a function uses, also in functions inside it."""
    yield from (symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
    for inner in table.get_children():
        yield from globals_in(inner)


def page_globals(house: Path) -> list[str]:
    """Return where a function of a page uses a variable of its file.

    What is imported or defined may be used, and what begins with a capital: constants and types.
    """
    found = []
    for path in sorted((house / "pages").glob("*.py")):
        table = symtable(path.read_text(encoding="utf-8"), path.name, "exec")
        variables = {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_assigned() and not symbol.is_imported() and not symbol.is_namespace()
        }
        found += [
            f"{path.stem}.{function.get_name()} uses {name}"
            for function in table.get_children()
            for name in sorted(variables & set(globals_in(function)))
            if not name.lstrip("_")[:1].isupper()
        ]
    return found


def test_functions_of_pages_get_what_they_use():
    """A function that reads its page's ``s`` cannot be called with other settings."""
    assert page_globals(HOUSE) == []


def test_every_bound_called_so_stands_in_one_module():
    assert bounds_elsewhere(HOUSE) == []


# ---- the tests above can fail --------------------------------------------------------------------


@pytest.fixture
def other_house(tmp_path):
    """A small house that keeps the rule, for tests to break."""
    for name in ("", "core", "frameworks", "session", "figures", "exports", "pages"):
        (tmp_path / "attention" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "attention" / name / "__init__.py").write_text("")
    (tmp_path / "attention" / "core" / "trace.py").write_text("import math\n\nimport numpy as np\n")
    (tmp_path / "attention" / "session" / "links.py").write_text("import attention.core.trace\n")
    assert violations(tmp_path / "attention") == []
    return tmp_path / "attention"


CHECKED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
PLANTED = [
    ("core/trace.py", "from attention.frameworks import moves", "attention.frameworks"),
    ("frameworks/moves.py", "import attention.session.links", "attention.session.links"),
    ("frameworks/moves.py", "import plotly", "plotly"),
    ("core/trace.py", "import streamlit", "streamlit"),
    ("__init__.py", "import plotly", "plotly"),
    ("core/trace.py", "from attention.figures import heatmap", "attention.figures"),
    ("session/__init__.py", "import attention.pages", "attention.pages"),
    ("core/trace.py", "def f():\n    import pandas.api", "pandas.api"),
    ("core/trace.py", "from attention.session import links", "attention.session"),
    ("core/trace.py", "from attention import session", "attention.session"),
    ("core/trace.py", "from ..session.links import np", "attention.session.links"),
    ("session/links.py", "from ..figures import heatmap", "attention.figures"),
    ("session/links.py", "import pandas", "pandas"),
    ("figures/heatmap.py", "from streamlit import html", "streamlit"),
    ("figures/heatmap.py", "import attention.exports.tables", "attention.exports.tables"),
    ("exports/tables.py", "import streamlit.web", "streamlit.web"),
    ("exports/tables.py", "from attention.pages.state import current", "attention.pages.state"),
    ("session/links.py", "import requests", "requests"),
    (
        "core/trace.py",
        "def f():\n    from attention.session import links",
        "attention.session.links",
    ),
    (
        "session/links.py",
        f"{CHECKED}from attention.pages.state import Visit",
        "attention.pages.state",
    ),
    ("pages/state.py", "from attention.launch import command", "attention.launch"),
    ("core/trace.py", "import attention.__main__", "attention.__main__"),
    ("__main__.py", "import pandas", "pandas"),
    # beside each other, and names of the front desk
    ("core/trace.py", "import attention.samples", "attention.samples"),
    ("limits.py", "import attention.core", "attention.core"),
    ("core/trace.py", "import attention.patterns", "attention.patterns"),
    ("core/trace.py", "from attention import diagnose", "attention.diagnose"),
    # to the right inside a folder
    *(
        (f"{left}.py", f"import attention.{right}", f"attention.{right}")
        for left, right in (
            ("readers/cells/entry", "readers.texts.tables"),
            ("frameworks/libraries/convention", "frameworks.moves"),
            ("readers/files/own_files", "readers.opening"),
            ("session/state/run", "session.edit.changes"),
            ("session/bring/adopt", "session.compare.pair"),
            ("session/compare/pair", "session.teach"),
            ("session/teach/tour", "session.long.job"),
            ("figures/panes/pane", "figures.plotly"),
            ("figures/plotly/charts", "figures.paper.text"),
            ("pages/frame/state", "pages.components.board"),
            ("pages/components/shaded", "pages.panels.words"),
            ("pages/panels/words", "pages.explore"),
            ("models/taken", "models.recording.capture"),
        )
    ),
    ("pages/frame/state.py", "from .. import explore", "attention.pages.explore"),
]


@pytest.mark.parametrize(("file", "line", "imported"), PLANTED)
def test_a_planted_import_is_found(other_house, file, line, imported):
    (other_house / file).parent.mkdir(parents=True, exist_ok=True)
    (other_house / file).write_text(line + "\n")
    assert f"{file.removesuffix('.py')} imports {imported}" in violations(other_house)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("pages/explore.py", "from attention.pages.frame import state"),
        ("pages/frame/copy/__init__.py", "from attention.pages.frame.state import current"),
        ("session/teach/tour.py", "import attention.session.state.run"),
        ("exports/tables.py", "import pandas, attention.limits, attention.session.compare.pair"),
        ("core/heads.py", "from attention.core.trace import np"),
    ],
)
def test_an_import_to_the_left_is_allowed(other_house, file, line):
    (other_house / file).parent.mkdir(parents=True, exist_ok=True)
    (other_house / file).write_text(line + "\n")
    assert violations(other_house) == []


def test_a_file_in_no_folder_and_a_crowded_folder_are_found(other_house):
    assert misplaced(other_house) == []
    for file in ("masks.py", *(f"core/a{n}.py" for n in range(MOST_FILES))):
        (other_house / file).write_text("")
    (other_house / "strange").mkdir()
    (other_house / "strange" / "x.py").write_text("")
    assert misplaced(other_house) == [
        "masks.py is in no folder",
        "strange/x.py is in no folder",
        "core has 15 files",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "from attention.session.links import read",
        "from attention.session import links",
        "from ..session import links",
        "import attention.session.links as links",
        "def f():\n    from attention.session.links import read",
        f"{CHECKED}from attention.session.links import read",
    ],
)
def test_a_planted_loop_of_imports_is_found(other_house, line):
    assert loop(other_house) == []  # where links imports the trace
    (other_house / "core" / "trace.py").write_text(f"{line}\n")
    assert sorted(loop(other_house)[1:]) == ["attention.core.trace", "attention.session.links"]


def test_a_planted_loop_of_three_goes_by_its_imports(other_house):
    (other_house / "core" / "view.py").write_text("def f():\n    import attention.session.links\n")
    (other_house / "core" / "trace.py").write_text(
        f"{CHECKED}from attention.core.view import View\n"
    )
    names = {"session.links": "core.trace", "core.trace": "core.view"}
    names["core.view"] = "session.links"
    found = [name.removeprefix("attention.") for name in loop(other_house)]
    assert len(found) == 4 and all(names[a] == b for a, b in zip(found, found[1:], strict=False))


def test_a_name_of_the_front_desk_closes_a_loop_and_a_file_beside_it_does_not(other_house):
    (other_house / "__init__.py").write_text("from attention.core import trace\nNAME = trace.N\n")
    (other_house / "core" / "trace.py").write_text("from attention.core import view\nN = 1\n")
    (other_house / "core" / "view.py").write_text("")
    assert loop(other_house) == []
    (other_house / "core" / "view.py").write_text("def f():\n    from attention import NAME\n")
    assert set(loop(other_house)) == {"attention", "attention.core.trace", "attention.core.view"}


@pytest.mark.parametrize("line", ["MAX_DOTS = 64", 'URL, MAX_DOTS = "qr.svg", 300'])
def test_a_planted_bound_is_found(other_house, line):
    (other_house / "limits.py").write_text("MAX_TOKENS = 2048\n")
    (other_house / "exports" / "paper.py").write_text(f"{line}\n")
    assert bounds_elsewhere(other_house) == ["paper has MAX_DOTS"]


PAGE = """
from math import pi
NUMBER, Pair = 1, tuple[int, int]
s = [n for n in range(3)]
def text(n: int) -> str:
    return str(n + NUMBER + pi)
def page(s: list, *, k: int = 0) -> Pair:
    with open("") as file:
        n = [text(k) for k in s if (last := k)]
    return n, file, last, text
with page(s) as shown:
    pass
"""


def test_a_function_of_a_page_may_use_its_arguments_constants_and_other_functions(other_house):
    (other_house / "pages" / "why.py").write_text(PAGE)
    assert page_globals(other_house) == []


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return s", "s"),
        ("return [s for n in range(3)]", "s"),
        ("return lambda shown: shown + s[0]", "s"),
        ("def inner(s): return s, shown\n    return inner", "shown"),
        ("return text(s=1, shown=shown)", "shown"),
    ],
)
def test_a_planted_use_of_a_page_variable_is_found(other_house, body, name):
    (other_house / "pages" / "why.py").write_text(f"{PAGE}def planted():\n    {body}\n")
    assert page_globals(other_house) == [f"why.planted uses {name}"]


@pytest.mark.parametrize(
    "line", ["import pandas", "from importlib import import_module; import_module('pandas')"]
)
def test_a_planted_import_is_found_by_the_fresh_interpreter(other_house, line):
    (other_house / "core" / "trace.py").write_text(line + "\n")
    assert "pandas" in loads(import_all(other_house, "core"), other_house.parent)
    assert "pandas" in loads(import_all(other_house, "session"), other_house.parent)


def test_a_planted_circle_of_modules_is_found(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a.js").write_text("import { b } from './b/b.js'\n")
    (tmp_path / "b" / "b.js").write_text("import {\n  a\n} from '../a.js'\n")
    with pytest.raises(CycleError):
        TopologicalSorter(imports_of_modules(tmp_path)).prepare()


def test_a_planted_late_import_is_found(other_house):
    (other_house / "core" / "trace.py").write_text(
        "class A:\n    def __repr__(self):\n        import attention.pages\n"
        "    def shown(self):\n        import attention.session.links\n"
    )
    assert violations(other_house) == ["core/trace imports attention.session.links"]
    assert late(other_house) == {"core/trace imports attention.pages"}


def test_a_planted_module_of_the_board_is_found():
    imported = {
        "board/paint/a.js": {"board/text/b.js", "elements.js"},
        "board/board.js": {"board/text/b.js"},
        "board/text/b.js": {"board/paint/a.js", "board/board.js"},
        "board/edit/c.js": {"board/card/d.js"},
    }
    assert scripts_to_the_right(imported | {"elements.js": set(), "board/card/d.js": set()}) == [
        "board/paint/a.js imports board/text/b.js",
        "board/text/b.js imports board/board.js",
        "board/edit/c.js imports board/card/d.js",
    ]


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
