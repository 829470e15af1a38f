"""A monkey at the dashboard: moves of every kind by seed, in a real browser.

    python tests/browser/monkey.py --actions 5000 --seed 1

It looks at what stands on the page, does something with a part of it, waits until the run that
followed has ended and the board is drawn, and then asks:

1. Is there an exception, a console error, a lost connection, a run without end, a board not drawn?
2. Did a setting change that this move does not set? What a control may change stands in
   ``CHANGES``; all others, and reload and the pages, change nothing.
3. Does the board show, bit for bit, what the package computes from the address? And the same for
   the same address, as after Back, after a restart of the server and in a second tab? Is the card
   that of the chosen cell, or of one of the lit row under the pointer, with its number?
4. Do the controls show what is set, and has every choice that must be made one chosen?

Now and then it does several things at once, as people in a hurry do, or kills the server and starts
it again under the open page. Of a fault it prints the seed
and all moves since the visitor came; ``--replay FILE`` does the moves of such a print again. Each
visitor has a seed of their own, the next whole number, so that one can be asked for alone.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import socket
import subprocess
import sys
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from playwright.sync_api import Error as PlaywrightError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser import samples  # noqa: E402
from browser.dashboard import choose_page  # noqa: E402

from attention.models.examples import CAPTURES  # noqa: E402
from attention.pages.panels import cells  # noqa: E402
from attention.paper import Paper  # noqa: E402
from attention.session.state import links  # noqa: E402
from attention.session.state.long_context import LongContext  # noqa: E402
from attention.session.state.run import run, view  # noqa: E402
from attention.session.state.settings import MOVE, PRINTED, SAMPLING, Settings  # noqa: E402
from attention.vocabulary.stages import STAGES  # noqa: E402
from benchmarks.chromium import CHROMIUM  # noqa: E402

EPISODE = 150  # moves of one visitor
PATIENCE = 20.0  # seconds for a run or a drawing to end
LATE = 1.5  # seconds by which a busy machine may begin a run late
PERMISSIONS = ("clipboard-read", "clipboard-write")  # which a visitor grants the page
PAGES = (
    "Explore",
    "Guided tour",
    "Why √dₖ",
    "Exercises",
    "Compare",
    "Real model",
    "Long context",
    "Conventions",
    "Check yours",
)
TAUGHT = {"/learn", "/exercises", "/compare"}  # where any control may change anything
INTROS = {
    "/": "Attention, stage by stage",
    "/learn": "Guided tour",  # or the title of a step
    "/exercises": "Exercises",
    "/compare": "Compare two settings",
    "/why": "Why divide by √dk?",
    "/model": "What did the model really do?",
    "/long": "Long context",
    "/conventions": "From one library to another",
    "/check": "Why does mine differ?",
}
FILES = samples.files()

# ---- what each control may change ------------------------------------------------------

ROWS = {
    "tokens",
    "memory_tokens",
    "mask",
    "drawn",
    "padding",
    "query",
    "cell",
    "X",
    "memory",
    "Q",
    "K",
    "V",
    "P",
}
PARTS = {"softmax", "context", "W_Q", "W_K", "W_V", "W_O", "heads", "head", "scale", "fill", "item"}
PARTS |= {"paper_heads", "finished"}
BIASES = {"b_Q", "b_K", "b_V", "b_O"}
RELATIVE = {"R", "bidirectional", "max_distance"}
LAYERS = {"P", "norm", "rotary", "softcap", "sinks", "alibi", "window"} | BIASES | RELATIVE
PAPER = [f"paper_{name}" for name in ("size", "stages", "heads")]
PAPER += [f"paper_{field.name}" for field in fields(Paper)]
D_MODEL = ("d_model_number",)
OF_D_MODEL = {"X", "P", "memory", "W_Q", "W_K", "W_V", "cell"}
OF_D_K = {"W_Q", "W_K", "Q", "K", "b_Q", "b_K", "norm", "rotary", "cell"}
OF_D_V = {"W_V", "V", "W_O", "b_V", "cell"}
SWITCHED = "norm", "rotary", "softcap", "alibi", "window"
ANYTHING = ROWS | PARTS | LAYERS | {"example", "digits", "names"}
CHANGES: dict[str, set[str]] = {
    "examples": ANYTHING,
    "reset": ANYTHING,
    "load_use": ANYTHING,
    "model_maps": ANYTHING,
    **dict.fromkeys(("model_file", "model_close"), {"capture"}),
    **{f"model_example_{name}": {"capture"} for name in CAPTURES},
    "long_map": {"long"},
    "long_look": {"long"},
    "long_use": {"long"},
    "set_long_source": {"long"},  # a part of the map that was looked at is one of this source
    **{f"set_long_{one.name}": {"long"} for one in fields(LongContext)},
    "open_file": ANYTHING | set(SAMPLING + PRINTED),
    "set_parts": ROWS | PARTS | LAYERS | {"names"},
    "numbers": set(),
    "strip": {"query", "cell"},
    "keys": {"cell", "query"},  # each stage that is presented asks for its arithmetic
    "set_head": {"head"},
    "set_stage": {"cell"},
    "set_item": {"item", "cell"},
    "set_digits": {"digits"},
    "set_scale_kind": {"scale"},
    "set_scale": {"scale"},
    "set_mask": {"mask", "drawn", "window", "cell"},
    "set_padding": {"padding", "cell"},
    "set_fill": {"fill", "cell"},
    "set_d_model": OF_D_MODEL,
    "set_d_k": OF_D_K,
    "set_d_v": OF_D_V,
    **{f"set_{name}": OF_D_MODEL for name in D_MODEL},
    "set_d_k_number": OF_D_K,
    "set_d_v_number": OF_D_V,
    **{f"set_{name}": BIASES | {"cell"} for name in ("biases_on", "bias_kind", "bias_seed")},
    "set_positions_on": {"P", "cell"},
    **{
        f"set_relative_{name}": RELATIVE | {"cell"}
        for name in ("on", "sides", "buckets", "distance", "seed")
    },
    "set_sinks_on": {"sinks", "softmax", "cell"},
    "set_sink": {"sinks"},
    "set_sigmoid_on": {"sinks", "softmax", "cell"},
    "set_kv_heads": {"W_K", "K", "b_K", "W_V", "V", "b_V", "cell"},
    **{f"set_{part}_on": {part, "cell"} for part in SWITCHED},
    **{f"set_{name}": {name} for name in ("softcap", "window")},
    **{f"set_norm_{name}": {"norm"} for name in ("whole", "after", "gain")},
    **{f"set_gain_{name}": {"norm"} for name in "QK"},
    **{f"set_rotary_{name}": {"rotary"} for name in ("pairs", "width", "base", "offset")},
    "set_sentence": ROWS | PARTS | {"example", "names"},
    "set_second_sentence": ROWS | PARTS | {"example", "names"},
    "set_vectors": {"X", "P", "memory", "W_Q", "W_K", "W_V", "item", "cell", "names"},
    "randomize": {"X", "memory", "W_Q", "W_K", "W_V", "Q", "K", "V", "cell", "names"},
    "typed": ROWS | BIASES | {"W_Q", "W_K", "W_V", "W_O", "R"},
    "set_heads": {"heads", "head", "cell", "paper_heads", "sinks", "R"} | OF_D_K | OF_D_V,
    "board": {"cell", "query"},
    **{f"set_{name}": {name} for name in (*SAMPLING, *MOVE)},
    **{f"set_{name}": set(PRINTED) for name in PAPER},
    "paper_all_heads": {"paper_heads"},
    "swap_libraries": set(MOVE),
    **{f"roll_{name}": {name, "cell", "names"} for name in links.MATRICES},
}
OURS = {"model_maps": "maps", "long_map": "zoom"}  # components, by verb
OURS |= dict.fromkeys(("load_file", "check_file", "model_file"), "uploader")
RARELY = {"build_zip": 0.05, "examples": 0.7, "reset": 0.5}
OFTEN = {
    "load_file": 6,
    "load_use": 4,
    "open_file": 3,
    "check_file": 2,
    "board": 5,
    "set_below": 4,
}


def may_change(key: str) -> set[str]:
    """The settings that a move of this control may change, or one of no control by its verb."""
    return CHANGES.get(re.sub("^examples_.*", "examples", key), set())


class Fault(Exception):
    """Something that must never happen."""


# ---- the server and the wire -----------------------------------------------------------


class Server:
    """A dashboard of its own, which can be killed and started again at the same address."""

    def __init__(self, root: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.root, self.address = root, f"http://127.0.0.1:{port}/"
        self.command = [sys.executable, "-m", "streamlit", "run", "app.py"]
        self.command += ["--server.headless=true", "--server.address=127.0.0.1"]
        self.command += [f"--server.port={port}"]
        self.start()

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(self.command, cwd=self.root, stdout=quiet, stderr=quiet)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.address + "_stcore/health", timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None, "the dashboard did not start"
                time.sleep(0.1)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(10)


@contextmanager
def serving(root: Path = ROOT) -> Iterator[Server]:
    """A dashboard, until the end."""
    server = Server(root)
    try:
        yield server
    finally:
        server.stop()


class Wire:
    """What goes over Streamlit's connection: whether a run is under way, and what it drew."""

    def __init__(self, page):
        self.asked = 0  # runs the browser asked for
        self.waiting = False  # whether one was asked for and has not begun
        self.running = False
        self.exceptions: list[str] = []
        self.tags: list[bytes] = []  # of the boards of this run
        self._known: dict[
            str, list[bytes]
        ] = {}  # by the hash under which a message may be sent again
        page.on("websocket", self._opened)

    @property
    def busy(self) -> bool:
        return self.waiting or self.running

    def _opened(self, socket) -> None:
        self.waiting = self.running = False  # what was asked of another server has no answer
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, payload) -> None:
        if isinstance(payload, bytes) and BackMsg.FromString(payload).HasField("rerun_script"):
            self.asked += 1
            self.waiting = True

    def _received(self, payload) -> None:
        if not isinstance(payload, bytes):
            return
        message = ForwardMsg.FromString(payload)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.waiting, self.running = False, True
            if not message.metadata.run.fragment_ids:  # what is around a fragment stays
                self.tags = []
        elif kind == "script_finished":
            self.running = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        elif kind == "ref_hash":
            self.tags += self._known.get(message.ref_hash, [])
        elif kind == "delta":
            found = re.findall(rb'"tag":"(\w+)"', payload) if b'"panes":[' in payload else []
            self._known[message.hash] = found
            self.tags += found
            if message.delta.new_element.HasField("exception"):
                wrong = message.delta.new_element.exception
                self.exceptions.append(
                    f"{wrong.type}: {wrong.message}\n" + "\n".join(wrong.stack_trace)
                )


# ---- looking ---------------------------------------------------------------------------

# Numbers are compared by a sum over their bits, each word times an odd number of its own. A pane
# that has no room of its own, as an input that is folded, has null, and one that is sent as shades.
LOOK = """() => {
  const panes = {}
  for (const pane of document.querySelectorAll('.st-key-board .board-pane')) {
    const painted = pane.querySelector('.board-canvas')?.painted
    if (!painted && !pane.hidden) continue
    panes[pane.dataset.stage] = null
    const z = painted?.z
    if (!z) continue
    let sum = 0, k = 0
    for (const row of z) for (const word of new Uint32Array(Float64Array.from(row).buffer))
      sum = (sum + Math.imul(word, (2 * k++ + 1) * 0x9E3779B1)) >>> 0
    panes[pane.dataset.stage] = [z.length, z[0]?.length ?? 0, sum]
  }
  const intros = INTROS
  const value = key => document.querySelector(`.st-key-set_${key} input`)?.value ?? null
  const card = document.querySelector('.st-key-board .board-card:not([hidden])')
  const plays = document.querySelector('.board.playing, .board.presenting')
  const open = [...document.querySelectorAll('[role=radiogroup]')]
    .filter(group => group.getClientRects().length)
  return {
    url: location.href, panes,
    card: card && !plays ? [card.dataset.cell, card.querySelector('.value')?.innerText ?? ''] : [],
    intro: intros[location.pathname] === document.querySelector('.st-key-title h1')?.innerText
      || location.pathname === '/learn' && !!document.querySelector('.st-key-tour'),
    tags: [...document.querySelectorAll('.board')].map(board => board.dataset.tag ?? ''),
    broken: [...document.querySelectorAll('[data-testid=stImage] img')]
      .filter(image => image.complete && !image.naturalWidth).map(image => image.src),
    errors: [...document.querySelectorAll(
      '[data-testid=stException], [data-testid=stAlert], .board[data-error]')]
      .map(node => node.innerText),
    dialogs: [...document.querySelectorAll('[role=dialog]')].map(node => node.innerText),
    connected: document.querySelector('.stApp')?.dataset.testConnectionState,
    said: [...document.querySelectorAll('.said')].map(node => node.innerText),
    shown: Object.fromEntries(
      ['digits', 'd_k', 'd_v', 'd_model', 'heads', 'item']
      .map(key => [key, value(key)])),
    empty: open.filter(group => !group.querySelector('[aria-checked=true]'))
      .map(group => [...group.closest('[class*=st-key-]').classList]
        .find(name => name.startsWith('st-key-')).slice(7)),
  }
}""".replace("INTROS", json.dumps(INTROS))

CONTROLS = """() => [...document.querySelectorAll('[class*=st-key-]')].map(node => {
  const key = [...node.classList].find(name => name.startsWith('st-key-')).slice(7)
  const kind = node.querySelector('[data-testid]')?.dataset.testid
  const inside = [...node.querySelectorAll('button, input, textarea, canvas')]
  const able = inside.some(part => !part.disabled)
  const { width, right } = node.getBoundingClientRect() // none of a rail that is folded away
  return { key, kind, able: able && width > 0 && right > 0 }
}).filter(control => control.able)"""

CONNECTED = (
    "() => document.querySelector('.stApp')?.dataset.testConnectionState === 'CONNECTED'"
    " && !document.querySelector('[role=dialog]')"
)
KEPT = """async mark => {
  const opened = await new Promise(done => {
    const request = indexedDB.open('attention-stage-by-stage')
    request.onupgradeneeded = () => request.transaction.abort() // the page makes it
    request.onerror = () => done(null)
    request.onsuccess = () => done(request.result) })
  if (!opened) return false
  const found = opened.transaction(['states']).objectStore('states').getKey(mark)
  await new Promise(done => { found.onsuccess = done })
  opened.close()
  return found.result === mark }"""
A_CELL = """(pane, chance) => { // where in the window a cell is that is seen of a pane
  const canvas = pane.querySelector('.board-canvas'), { axes } = canvas.painted
  const box = canvas.getBoundingClientRect()
  const of = ([first, last], k) => first + Math.floor((chance * k % 1) * (last - first + 1))
  const [x, y] = axes.at(of(axes.rows, 17), of(axes.columns, 29))
  return [box.left + x, box.top + y] }"""
AT_A_BUTTON = "([x, y]) => !!document.elementFromPoint(x, y)?.closest('button')"
MAY_BE_EMPTY = (  # beginnings of their names: what is asked or may be closed, own sizes of a figure
    "set_below",
    "set_head",
    "set_paper_size",
    "set_tour_answer",
    "set_preset",
    "set_exercise",
    "set_planted",
    "set_why_guess",
)


def bits(matrix: np.ndarray) -> list[int]:
    """What ``LOOK`` says of the same matrix."""
    words = np.ascontiguousarray(matrix, float).view(np.uint32).ravel().astype(np.uint64)
    odd = (2 * np.arange(words.size, dtype=np.uint64) + 1) * np.uint64(0x9E3779B1)
    return [
        *matrix.shape,
        int((words * (odd & np.uint64(0xFFFFFFFF))).sum() & np.uint64(0xFFFFFFFF)),
    ]


def computed(settings: Settings) -> dict[str, list[int]]:
    """What the board should show of these settings, by the package alone."""
    hiding = replace(settings, fill="-inf")  # cells that get −1e9 are covered, whatever is added
    seen = view(hiding, run(hiding)).allowed
    found = dict(view(settings, run(settings)).stages)
    for name in {"mask", "masked", "weights"} & set(found):
        found[name] = np.where(seen, found[name], np.nan)
    shown = {name: bits(np.where(np.isfinite(m), m, np.nan)) for name, m in found.items()}
    if settings.fill == "-1e9":  # beside it stands the true mask
        exact = computed(replace(settings, fill="-inf"))
        shown |= {f"{name}_inf": exact[name] for name in ("weights", "output")}
    return shown


@dataclass
class Seen:
    """The page between two moves."""

    url: str
    panes: dict[str, list[int] | None]  # None where nothing is painted of one
    card: list[str]  # the cell that it is of, and its number; nothing where none is seen
    settings: Settings | None  # None where the address holds a mark only
    shown: dict[str, str | None]
    said: list[str]

    @property
    def exploring(self) -> bool:
        return urlsplit(self.url).path == "/"


def differs(wanted: dict, found: dict) -> list[str]:
    """The panes that only one of them has, or that are painted in both with other numbers."""
    both = set(wanted) & set(found)
    painted = {name for name in both if wanted[name] and found[name]}
    return sorted((set(wanted) ^ set(found)) | {n for n in painted if wanted[n] != found[n]})


def differing(one: Settings, other: Settings) -> set[str]:
    """The names of the settings and matrices that are not the same."""
    own = links.CODECS.keys() - {"origins"}  # which follow the matrices
    names = {name for name in own if getattr(one, name) != getattr(other, name)}
    names |= {"example"} if one.example != other.example else set()
    matrices = set(one.matrices) | set(other.matrices)
    return names | {
        name for name in matrices if not _same(one.matrices.get(name), other.matrices.get(name))
    }


def _same(one, other) -> bool:
    return (
        one is other is None
        or None not in (one, other)
        and np.array_equal(one.values, other.values)
    )


# ---- moving ----------------------------------------------------------------------------

Move = tuple[
    str, str, float
]  # what is done, to which control, and a number from 0 to 1 that chooses the rest


class Hands:
    """All that is done to a page; one number chooses a move, so that it can be done again."""

    def __init__(self, page, server: Server | None = None):
        self.page, self.server = page, server
        self.opened: tuple[str, bytes] | None = None

    def do(self, move: Move) -> None:
        verb, key, chance = move
        getattr(self, verb)(key, chance)

    def _at(self, key: str, inside: str = ""):
        return self.page.locator(f".st-key-{key}{' ' if inside else ''}{inside}")

    def _one(self, key: str, inside: str, chance: float):
        found = self._at(key, inside)
        return found.nth(int(chance * max(found.count(), 1)))

    # each kind of control ---------------------------------------------------------------

    def stSelectbox(self, key: str, chance: float) -> None:
        self._at(key, "input").first.click()
        options = self.page.get_by_role("option")
        options.first.wait_for()
        options.nth(int(chance * options.count())).click()

    def stMultiSelect(self, key: str, chance: float) -> None:
        if chance < 0.3:
            self._at(key, "input").first.focus()
            self.page.keyboard.press("Backspace")
        else:
            self.stSelectbox(key, (chance - 0.3) / 0.7)
        self.page.keyboard.press("Escape")

    def stSlider(self, key: str, chance: float) -> None:
        self._at(key, "input, [role=slider]").first.focus()
        presses = (
            ["ArrowRight"] * 3,
            ["ArrowLeft"] * 3,
            ["Home"],
            ["End"],
            ["ArrowRight"],
            ["ArrowLeft"],
        )
        for press in presses[int(chance * len(presses))]:
            self.page.keyboard.press(press)

    def stButtonGroup(self, key: str, chance: float) -> None:
        if key == "set_below" and chance > 0.5:  # the place where files are opened
            data = self._at(key, "button").filter(has_text="Your data")
            if data.get_attribute("aria-checked") != "true":  # else a click closes it
                return data.click()
        self._one(key, "button", chance).click()

    def stNumberInput(self, key: str, chance: float) -> None:
        values = "0", "1", "2", "3", "7", "0.5", "-1", "1e9", "", "12"
        self._at(key, "input").fill(values[int(chance * len(values))])
        self.page.keyboard.press("Enter" if int(chance * 1000) % 2 else "Tab")

    def stTextInput(self, key: str, chance: float) -> None:
        words = (
            "0",
            "1, :, :",
            ":, 0:2",
            "The cat saw the dog.",
            "<b>x</b>",
            "nonsense %{x}",
            "",
            "a " * 50,
        )
        self._at(key, "input").fill(words[int(chance * len(words))])
        self.page.keyboard.press("Enter" if int(chance * 1000) % 2 else "Tab")

    def stTextArea(self, key: str, chance: float) -> None:
        self._at(key, "textarea").fill(samples.TEXTS[int(chance * len(samples.TEXTS))])
        self.page.keyboard.press("Control+Enter" if int(chance * 1000) % 2 else "Tab")

    def stCheckbox(self, key: str, chance: float) -> None:
        self._at(key, "label").first.click()

    def stPopover(self, key: str, chance: float) -> None:
        """One of the examples, from their list; or a seed, a kind of vectors, or X also redrawn."""
        self._at(key, "button").first.click()
        if key == "numbers":
            self._at("set_randomize_seed", "input").wait_for()
            if chance < 0.4:
                self.stNumberInput("set_randomize_seed", chance)
            elif chance < 0.7:
                self.stSelectbox("set_randomize_kind", chance)
            else:
                self.stCheckbox("set_randomize_X", chance)
            # a list of options inside may take one, and a busy page another
            for _ in range(5):
                self.page.keyboard.press("Escape")
                self.page.wait_for_timeout(50)
                if not self.page.get_by_role("dialog").count():
                    break
            return
        titles = self._at("set_example", "button")
        titles.first.wait_for()
        titles.nth(int(chance * titles.count())).click()
        self.page.keyboard.press("Escape")

    def stButton(self, key: str, chance: float) -> None:
        self._at(key, "button").first.click()

    def stDownloadButton(self, key: str, chance: float) -> None:
        with self.page.expect_download() as download:
            self._at(key, "button").first.click()
        if not Path(download.value.path()).stat().st_size:
            raise Fault(f"{key} gave an empty file")

    def uploader(self, key: str, chance: float) -> None:
        """A file opened, perhaps the same over itself, or taken away."""
        close = self._at(key, "[data-testid=stFileChipDeleteBtn] button")
        if chance > 0.93 and close.count():
            close.first.click()
            return
        if int(chance * 1000) % 4 or self.opened is None:  # else the same again, over itself
            self.opened = FILES[int(chance / 0.93 * len(FILES)) % len(FILES)]
        name, content = self.opened
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        self._at(key, "input[type=file]").set_input_files(file)

    def zoom(self, key: str, chance: float) -> None:
        """A key on the map: closer, further, all of it, another query."""
        self._at(key, ".zoom-map").focus()
        presses = ["Enter"], ["Escape"], ["Home"], ["ArrowDown", " "], ["ArrowRight", "Enter"]
        for press in presses[int(chance * len(presses))]:
            self.page.keyboard.press(press)

    def maps(self, key: str, chance: float) -> None:
        """A head of a captured model."""
        self._one(key, ".map", chance).click()

    def stFullScreenFrame(self, key: str, chance: float) -> None:
        """A button of a chart that looks at it differently; Escape leaves full screen."""
        self._one(key, ".modebar-btn:not([aria-label^=Download])", chance).click()
        self.page.keyboard.press("Escape")

    def board(self, key: str, chance: float) -> None:
        """A cell by mouse or by keys, or one of a pane's tools."""
        pane = self._one(key, ".board-pane", chance * 13 % 1)
        kind = int(chance * 101) % 10
        if not self._brought(pane):
            return
        pane.scroll_into_view_if_needed()
        if kind < 4 and pane.locator(".board-cells").count():
            box = pane.locator(".board-cells").first.bounding_box()
            if box is None:  # drawn anew meanwhile
                return
            x, y = (
                box["x"] + box["width"] * (chance * 17 % 1),
                box["y"] + box["height"] * (chance * 29 % 1),
            )
            if self.page.evaluate(AT_A_BUTTON, [x, y]):  # drawn anew meanwhile
                return
            self.page.mouse.move(x - 3, y - 3)
            self.page.mouse.move(x, y)
            self.page.mouse.click(x, y)
        elif kind < 6:
            pane.locator(".board-plot").focus()
            for press in ("ArrowRight", "ArrowDown", "ArrowRight", "Enter")[int(chance * 3) :]:
                self.page.keyboard.press(press)
        else:
            pane.locator(".board-tool", has_text="⋯").click()
            tools = pane.locator(".board-menu button", has_text=re.compile("^(Show|Copy)"))
            tools.nth(int(chance * 31) % tools.count()).click()

    def _brought(self, pane) -> bool:
        """Whether a pane is in sight, after its tab or the inputs were opened where need be."""
        stage = pane.get_attribute("data-stage")
        board = self.page.locator(".board", has=pane)
        if pane.is_hidden():
            tab = board.locator(f".board-tab[data-stage={stage}]").filter(visible=True)
            fold = board.locator(".board-fold[aria-expanded=false]")
            opens = tab if tab.count() else fold
            if not opens.count():
                return False
            opens.first.click()
        return pane.is_visible()  # a mask of 0 and −∞ alone has no pane of its own

    def typed(self, key: str, chance: float) -> None:
        """A cell of an input chosen and typed over, as in a spreadsheet."""
        pane = self._one("board", ".board-pane:has([role=grid][aria-readonly=false])", chance)
        if not self._brought(pane):
            return
        grid = pane.locator(".board-plot")
        grid.focus()
        for press in ["ArrowRight", "ArrowDown", "ArrowDown"][int(chance * 31) % 3 :]:
            self.page.keyboard.press(press)
        values = "0.5", "7", "-2", "abc", "", "1e999", "12"
        self.page.keyboard.type(values[int(chance * 101) % len(values)])
        ends = "Enter", "Tab", "Escape"
        self.page.keyboard.press(ends[int(chance * 1009) % len(ends)])

    def point(self, key: str, chance: float) -> None:
        """The pointer along a lit row, where it stays or which it leaves."""
        rows = self.page.locator(".st-key-board .board-lit").filter(visible=True)
        box = rows.nth(int(chance * max(rows.count(), 1))).bounding_box()
        for k in range(1, 8):
            x, y = box["x"] + box["width"] * k / 8, box["y"] + box["height"] / 2
            self.page.mouse.move(x, y)
        if int(chance * 1009) % 2:
            self.page.mouse.move(3, 3)

    def drag(self, key: str, chance: float) -> None:
        """The number of an input chosen and dragged."""
        pane = self._one("board", ".board-pane:has([role=grid][aria-readonly=false])", chance)
        if not self._brought(pane):
            return
        pane.scroll_into_view_if_needed()
        for moves in (False, True):
            x, y = pane.evaluate(A_CELL, chance)
            if self.page.evaluate(AT_A_BUTTON, [x, y]):  # drawn anew meanwhile
                return
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            if moves:
                self.page.mouse.move(x + 160 * (chance * 41 % 1 - 0.5), y, steps=12)
            self.page.mouse.up()

    # the page itself --------------------------------------------------------------------

    def go(self, page: str, chance: float) -> None:
        choose_page(self.page, page)

    def back(self, _: str, chance: float) -> None:
        self.page.evaluate(
            "() => { if (navigation.canGoBack) history.back() }"
        )  # never out of the dashboard

    def forward(self, _: str, chance: float) -> None:
        self.page.evaluate("() => { if (navigation.canGoForward) history.forward() }")

    def reload(self, _: str, chance: float) -> None:
        """After a large state is kept, some 20 ms after its mark is in the address."""
        mark = dict(parse_qsl(urlsplit(self.page.url).query)).get("partial")
        if mark:
            with suppress(PlaywrightError):  # never: then it is lost, and that is a fault
                self.page.wait_for_function(KEPT, arg=mark, timeout=1_000)
        self.page.reload()

    def restart(self, _: str, chance: float) -> None:
        """Kill the server and start it again; wait until the page is connected."""
        self.server.stop()
        self.server.start()
        self.page.wait_for_function(CONNECTED, timeout=60_000)

    def tab(self, _: str, chance: float) -> None:
        """A second tab at the same address shows the same; a move of its own is its own."""
        other = self.page.context.new_page()
        try:
            other.goto(self.page.url)
            drawn = other.locator(".board[data-tag]").first
            drawn.wait_for(timeout=PATIENCE * 1000)
            here, there = self.page.evaluate(LOOK), other.evaluate(LOOK)
            if there["errors"]:
                raise Fault(f"an error box in a second tab: {there['errors']}")
            lost = any("does not have them" in sentence for sentence in there["said"])
            other_numbers = differs(here["panes"], there["panes"])
            if here["url"] == there["url"] and not lost and other_numbers:
                raise Fault(f"a second tab at {there['url']} shows other numbers")
            tag = drawn.get_attribute("data-tag")
            other.locator(".st-key-set_digits [role=slider], .st-key-set_digits input").first.press(
                "ArrowRight" if chance < 0.5 else "ArrowLeft", timeout=1_500
            )
            changed = "tag => document.querySelector('.board').dataset.tag !== tag"
            other.wait_for_function(changed, arg=tag, timeout=3_000)
        finally:
            other.close()

    def pause(self, _: str, chance: float) -> None:
        """None, or as long as a run and its drawing may take."""
        self.page.wait_for_timeout(max(chance - 0.4, 0) * 400)

    def resize(self, _: str, chance: float) -> None:
        width, height = ((1440, 900), (390, 844), (900, 700), (1920, 1000))[int(chance * 4)]
        self.page.set_viewport_size({"width": width, "height": height})

    def keys(self, _: str, chance: float) -> None:
        """Keys on no control in particular; R asks for a run, P presents."""
        self.page.evaluate("() => document.activeElement?.blur()")
        presses = (
            ["Tab", "Tab", "Escape"],
            ["r"],
            ["PageDown"],
            ["Home", "Escape"],
            ["p", "ArrowRight", "ArrowDown", "ArrowRight", "Escape"],
        )
        for press in presses[int(chance * len(presses))]:
            self.page.keyboard.press(press)

    def strip(self, _: str, chance: float) -> None:
        """A word above the board."""
        words = self.page.locator(".board-strip [role=radio]")
        if words.count():
            words.nth(int(chance * words.count())).click()

    def expander(self, _: str, chance: float) -> None:
        found = self.page.locator("[data-testid=stExpander] summary")
        if found.count():
            found.nth(int(chance * found.count())).click()


# ---- one visitor -----------------------------------------------------------------------


@dataclass
class Visitor:
    """Moves about and looks, until something is wrong."""

    page: object
    address: str
    seed: int
    heavy: bool = False
    server: Server | None = None  # where it may be killed
    done: list[list[Move]] = field(
        default_factory=list
    )  # those of one step were made without waiting
    errors: list[str] = field(default_factory=list)
    numbers: dict[str, dict] = field(default_factory=dict)  # by the address that showed them
    missed: int = 0  # moves in a row for which the control could not be used
    away: bool = False  # whether the server is being started again

    def __post_init__(self):
        self.page.set_default_timeout(1_500)
        self.page.set_default_navigation_timeout(30_000)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", self._asked)
        self.random = random.Random(self.seed)
        self.wire = Wire(self.page)
        self.hands = Hands(self.page, self.server)
        self.page.goto(self.address)
        self.page.locator(".board[data-tag]").first.wait_for(timeout=60_000)
        self.seen = self.look()

    def _asked(self, dialog) -> None:
        if dialog.type == "beforeunload":  # something typed has not arrived; it is left
            dialog.accept()
            return
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _heard(self, message) -> None:
        where = message.location.get("url", "")
        if message.type == "error" and "/_stcore/" not in where and not self.away:
            # Streamlit looks for its server under each path
            self.errors.append(f"console: {message.text} {where}")

    # choosing ---------------------------------------------------------------------------

    def choose(self) -> list[Move]:
        """What to do next: a control that stands on the page, or something with the page itself."""
        if self.random.random() > 0.12:
            return [self._move(alone=True)]
        return [
            move
            for _ in range(self.random.choice((2, 3, 4)))
            for move in (self._hurried(), ("pause", "", round(self.random.random(), 6)))
        ]

    def _hurried(self) -> Move:
        """One of several at once: often Back, which overtakes what was asked for before."""
        if self.random.random() < 0.35:
            return self.random.choice(("back", "back", "forward")), "", 0.0
        return self._move(alone=False)

    def _move(self, alone: bool) -> Move:
        chance = round(self.random.random(), 6)
        if self.random.random() < 0.14:
            verbs = [
                "back",
                "back",
                "forward",
                "reload",
                "resize",
                "keys",
                "expander",
                "strip",
                "go",
            ]
            verbs += ["tab"] if alone and self.seen.exploring else []
            verbs += ["restart"] if self.server else []
            verb = self.random.choice(verbs)
            return verb, self.random.choice(PAGES) if verb == "go" else "", chance
        if self.seen.exploring and self.random.random() < 0.16:
            verb = self.random.choice(("typed", "drag", "point"))
            return verb, "" if verb == "point" else "typed", chance
        left_out = set() if self.heavy else {"build_zip"}
        known = {name for name in dir(Hands) if name.startswith("st")} | {"stBidiComponentRegular"}
        controls = [
            c
            for c in self.page.evaluate(CONTROLS)
            if c["key"] not in left_out and c["kind"] in known
        ]  # what merely holds controls is none itself
        if not controls:
            return "keys", "", chance
        keys = [re.sub("^examples_.*", "examples", c["key"]) for c in controls]
        weights = [OFTEN.get(key, RARELY.get(key, 1)) for key in keys]
        control = self.random.choices(controls, weights)[0]
        kind = control["kind"]
        if kind == "stBidiComponentRegular":
            kind = OURS.get(control["key"], "board")
        return kind, control["key"], chance

    # doing ------------------------------------------------------------------------------

    def step(self, moves: list[Move]) -> None:
        """One move, or several without waiting; then look."""
        self.done.append(moves)
        before, asked = self.seen, self.wire.asked
        for move in moves:
            if not hasattr(self.hands, move[0]):
                continue
            self.away = move[0] == "restart"
            try:
                self.hands.do(move)
                self.missed *= move[0] == "pause"
            except PlaywrightError as problem:  # covered by something else, or gone meanwhile
                self.missed += 1
                self.page.keyboard.press("Escape")
                if self.missed > 6:
                    raise Fault(f"nothing on the page answers any more: {problem}") from None
        self.settle(asked)
        self.away = False
        try:
            self.judge(before, self.look(), moves)
        except Fault:
            self.page.wait_for_timeout(LATE * 1000)
            self.judge(before, self.look(), moves)

    def settle(self, asked: int) -> None:
        """Wait until the runs that were asked for have ended."""
        start = quiet = time.monotonic()
        while (now := time.monotonic()) - quiet < (
            0.1 if self.wire.asked > asked and len(self.done[-1]) == 1 else 0.3
        ):
            self.page.wait_for_timeout(20)
            if self.wire.busy:
                quiet = now
                if now - start > PATIENCE * 3:
                    raise Fault("a run does not end")

    def look(self) -> Seen:
        """The page, once all boards are drawn."""
        found = self._until(
            lambda found: sorted(found["tags"]) == sorted(tag.decode() for tag in self.wire.tags)
        )
        if self.wire.exceptions:
            raise Fault("an exception: " + self.wire.exceptions[0])
        if found["errors"]:
            raise Fault(f"an error box: {found['errors']}")
        if self.errors:
            raise Fault(f"an error in the browser: {self.errors}")
        if found["broken"]:
            raise Fault(f"a picture that is not there: {found['broken']}")
        if found["dialogs"]:
            raise Fault(f"a dialog: {found['dialogs']}")
        if found["connected"] != "CONNECTED":
            raise Fault(f"the connection is {found['connected']}")
        if sorted(found["tags"]) != sorted(tag.decode() for tag in self.wire.tags):
            raise Fault(f"the boards show {found['tags']}; {self.wire.tags} were sent")
        link = dict(parse_qsl(urlsplit(found["url"]).query, keep_blank_values=True))
        settings = None
        if "partial" not in link:
            settings, notices = links.read(link)
            if notices:
                raise Fault(f"the address cannot be read back: {notices}")
        empty = {name for name in found["empty"] if not name.startswith(MAY_BE_EMPTY)}
        if empty:
            raise Fault(f"nothing is chosen in {empty}")
        return Seen(
            found["url"], found["panes"], found["card"], settings, found["shown"], found["said"]
        )

    def _until(self, holds: Callable[[dict], bool], patience: float | None = None) -> dict:
        start, patience = time.monotonic(), PATIENCE if patience is None else patience
        while True:
            try:
                found = self.page.evaluate(LOOK)
            except PlaywrightError:  # a new page is being opened
                found = {}
            if (
                found and found["intro"] and not self.wire.busy and holds(found)
            ) or time.monotonic() - start > patience:
                if not found or not found["intro"]:
                    raise Fault("the page does not open")
                return found
            self.page.wait_for_timeout(30)

    # judging ----------------------------------------------------------------------------

    def judge(self, before: Seen, now: Seen, moves: list[Move]) -> None:
        self.seen = now
        verbs = {verb for verb, _, _ in moves}
        allowed = set().union(*(may_change(key or verb) for verb, key, _ in moves))
        here = {urlsplit(seen.url).path for seen in (before, now)}
        may_teach = here & TAUGHT and not verbs <= {"go", "pause"}
        if now.settings and before.settings and not (verbs & {"back", "forward"} or may_teach):
            changed = differing(before.settings, now.settings) - allowed
            if allowed and before.settings.exercise == "state":
                changed -= {"answers", "tries"}  # which go with the numbers they were of
            if changed:
                raise Fault(f"{moves} changed {sorted(changed)}: from {before.url} to {now.url}")
        if not now.exploring:
            return
        if (
            not allowed - {"digits", "query", "cell"}
            and before.exploring
            and not verbs & {"back", "forward"}
        ):
            way = f"from {before.url} to {now.url}"
            self._equal(before.panes, now.panes, f"{moves} changed numbers, {way}")
        forgotten = any("does not have them" in sentence for sentence in now.said)
        link = "" if forgotten else urlsplit(now.url).query
        self._equal(
            self.numbers.get(link, now.panes), now.panes, f"{now.url} showed other numbers before"
        )
        if now.settings:
            what = f"the board shows other numbers than {now.url}"
            self._equal(computed(now.settings), now.panes, what)
            self._card(now)
            self._controls(now)
        if link:
            painted = {name: found for name, found in now.panes.items() if found}
            self.numbers[link] = {**now.panes, **self.numbers.get(link, {}), **painted}

    def _equal(self, wanted: dict, found: dict, what: str) -> None:
        if wrong := differs(wanted, found):
            none = "" if wanted and found else f" (drawn before: {len(wanted)}, now: {len(found)})"
            raise Fault(f"{what}: {wrong}{none}")

    def _card(self, now: Seen) -> None:
        """Whether the card is of the chosen cell or the lit row, and has the number of the trace.

        Two cells of a lit row may be on their way at once: it is looked at again by ``step``.
        """
        if not now.card:
            return
        s = now.settings
        shown, (of, value) = view(s, run(s)), now.card
        stage, i, j = of.split(",")
        cell = stage, int(i), int(j)
        chosen = cells.chosen(s, shown)
        lit = STAGES[stage].rows == "queries" and cell[1] == s.query
        if cell != chosen and not lit:
            raise Fault(f"the card is of {cell}, and {chosen} is chosen at {now.url}")
        number = cells.card(s, shown, cell).value
        if value != number:
            raise Fault(f"the card of {cell} says {value} and not {number} at {now.url}")

    def _controls(self, now: Seen) -> None:
        """Whether the controls in the rail show what is set, if need be after a moment."""
        s = now.settings
        wanted = {
            "digits": s.digits,
            "d_model": s.d_model,
            "d_k": s.d_k,
            "d_v": s.d_v,
            "heads": s.heads,
        }
        wanted["item"] = s.item if s.batch > 1 else None

        def wrong(shown: dict) -> dict:
            return {
                k: (shown[k], v)
                for k, v in wanted.items()
                if None not in (shown[k], v) and shown[k] != str(v)
            }

        if wrong(now.shown):
            found = self._until(lambda found: not wrong(found["shown"]), min(2, PATIENCE))
            if wrong(found["shown"]):
                raise Fault(
                    f"controls show other values than are set (shown, set): {wrong(found['shown'])}"
                )


# ---- many visitors ---------------------------------------------------------------------


def play(
    page,
    address: str,
    seed: int,
    actions: int,
    *,
    heavy: bool = False,
    server: Server | None = None,
    script=None,
    seconds: float = 1e9,
) -> tuple[int, str]:
    """One visitor's moves: how many were made, and what went wrong, with all that led to it.

    ``page``: a new one of a browser in which nothing of this address is kept.
    ``script``: these moves instead of chosen ones. ``seconds``: no move begins later than this.
    ``server``: the one at this address, where it may be killed now and then.
    """
    end = time.monotonic() + seconds
    visitor = None
    try:
        visitor = Visitor(page, address, seed, heavy, server)
        made = 0
        for moves in script or iter(visitor.choose, None):
            visitor.step([tuple(move) for move in moves])
            made += sum(verb != "pause" for verb, _, _ in moves)
            if (made >= actions and not script) or time.monotonic() > end:
                break
        return made, ""
    except Fault as fault:
        what = str(fault)
    except PlaywrightError:
        what = traceback.format_exc()
    done = visitor.done if visitor else []
    lines = "\n".join(json.dumps(step, ensure_ascii=False) for step in done)
    return sum(map(len, done)), f"seed {seed}, move {sum(map(len, done))}: {what}\n{lines}\n"


@contextmanager
def visiting(browser) -> Iterator:
    """A page of a new visitor, until the end."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    context.grant_permissions(PERMISSIONS)
    try:
        yield context.new_page()
    finally:
        context.close()


@contextmanager
def chromium(path: str | None = None) -> Iterator:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path or CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--actions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episode", type=int, default=EPISODE, help="moves of one visitor")
    parser.add_argument("--heavy", action="store_true", help="also build zips and PDFs")
    parser.add_argument(
        "--root", type=Path, default=ROOT, help="another checkout to let it loose on"
    )
    parser.add_argument(
        "--replay", type=Path, help="a file with the moves of a fault, a line for each step"
    )
    given = parser.parse_args()
    script = given.replay and [
        json.loads(line) for line in given.replay.read_text().splitlines() if line[:2] == "[["
    ]
    made, faults, seed, start = 0, 0, given.seed, time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # leave neither server nor browser behind
    with serving(given.root) as server, chromium() as browser:
        while made < given.actions:
            with visiting(browser) as page:
                count, fault = play(
                    page,
                    server.address,
                    seed,
                    given.episode,
                    heavy=given.heavy,
                    server=server,
                    script=script,
                )
            made, seed = made + max(count, 1), seed + 1
            faults += bool(fault)
            print(
                fault
                or f"seed {seed - 1}: {count} moves, {made:,} in {time.monotonic() - start:.0f} s",
                flush=True,
            )
            if script:
                break
    print(f"{made:,} moves, {faults} faults, {time.monotonic() - start:.0f} s")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
