"""Read long texts in every way a text is read, and print the processor seconds of each.

``python tests/session/linear.py GROUP PART PARTS`` reads a part of the texts of a group. It prints
a line for each: its way, its name, the seconds, and those of half of it where that is compared. A
text that takes ten seconds ends the process, with no seconds on the last line. Of pairs of
characters and of rarer places a share by seed; all of them with THOROUGH=1.
"""

import gc
import io
import json
import re
import signal
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from amount import some
from files import npy

from attention import pages
from attention.frameworks.printed.reading import related
from attention.limits import MAX_PROSE, BadInput
from attention.models import opening as captures
from attention.readers import opening, select
from attention.readers.cells.entry import PASTED
from attention.readers.cells.printouts import read_matrix
from attention.readers.files import array_files
from attention.session.bring import adopt, printed
from attention.session.compare import check_yours
from attention.session.edit import board_edits, changes
from attention.session.state import kept, links
from attention.session.state.examples import EXAMPLES
from attention.session.state.validate import check
from attention.session.teach import answers

SIZE = 100_000
FLOOR, GROWTH = 0.1, 3  # seconds below which nothing is compared; times those of half the text
ENOUGH = 10  # seconds
MESSAGE = 1000  # characters of a refusal
S = EXAMPLES["four-words"].build()

# ---- texts ---------------------------------------------------------------------------------------

RUNS = {
    "digits": "1",
    "letters": "a",
    "blanks": " ",
    "tabs": "\t",
    "line breaks": "\n",
    "line breaks of Windows": "\r\n",
    "dots": ".",
    "commas": ",",
    "semicolons": ";",
    "colons": ":",
    "quotes": '"',
    "apostrophes": "'",
    "plus signs": "+",
    "hyphens": "-",
    "minus signs": "−",
    "equals signs": "=",
    "multiplication signs": "×",
    "bars": "|",
    "backslashes": "\\",
    "underscores": "_",
    "number signs": "#",
} | {f"brackets {bracket}": bracket for bracket in "()[]{}"}
PAIRS = {
    f"{one} and {other}": RUNS[one] + RUNS[other]
    for one, other in [*combinations(RUNS, 2), *combinations(reversed(RUNS), 2)]
}
# Where a run is in a text of numbers. The first ones get every run.
TABLE = "1 2\n3 4"
PLACES: dict[str, Callable[[str], str]] = {
    "alone": str,
    "before a matrix": lambda run: f"{run}\n{TABLE}",
    "after a matrix": lambda run: f"{TABLE}\n{run}",
    "in a row": lambda run: f"1 {run} 2\n3 4",
    "as a label": lambda run: f"{run} 1 2\nb 3 4",
}
RARER: dict[str, Callable[[str], str]] = {
    "between two numbers": lambda run: f"1{run}2\n3 4",
    "between matrices": lambda run: f"{TABLE}\n\n{run}\n\n{TABLE}",
    "in a cell of CSV": lambda run: f"a,{run},2\nb,3,4",
    "in quotes in CSV": lambda run: f'a,"{run}",2\nb,3,4',
    "as the name of a column": lambda run: f"word,{run},b\na,1,2\nb,3,4",
    "over a row": lambda run: f"{run[::2]}\n{'1,' * (len(run) // 4)}1",
    "in a comment": lambda run: f"# {run}\n{TABLE}",
    "beside True": lambda run: f"True False\n{run} True",
    "in brackets": lambda run: f"[[1 2]\n [{run} 4]]",
    "between rows in brackets": lambda run: f"[[1 2]{run}\n [3 4]]",
    "before brackets": lambda run: f"{run}[[1 2]\n [3 4]]",
    "after brackets": lambda run: f"[[1 2]\n [3 4]]{run}",
    "in a tensor": lambda run: f"tensor([[1., {run}]])",
    "after a tensor": lambda run: f"tensor([[1., 2.]]{run})",
    "between tensors": lambda run: f"(tensor([[1.]]), {run}tensor([[2.]]))",
    "as a key of tensors": lambda run: f"{{'{run}': tensor([[1.]])}}",
    "between named arrays": lambda run: f"X = [[1, 2]]\n{run}\nY = [[1, 2]]",
    "in JSON": lambda run: f"[[1, 2], [{run}, 4]]",
    "as text in JSON": lambda run: f"[[1, {json.dumps(run)}]]",
    "as a name in JSON": lambda run: f"{{{json.dumps(run)}: [[1, 2]]}}",
    "in a row of LaTeX": lambda run: f"1 & {run}\\\\\n2 & 3",
    "in Markdown": lambda run: f"| a | b |\n|---|---|\n| 1 | {run} |\n",
    "in the rule of Markdown": lambda run: f"| a | b |\n|--{run}|---|\n| 1 | 2 |\n",
    "as a name of MATLAB": lambda run: f"Q{run} =\n\n  1 2\n",
    "before a row of R": lambda run: f"{run}[1,]{run} 1 2\n",
    "in pandas' print": lambda run: f"   a  b\n0  1  {run}\n\n[1 rows x 2 columns]",
    "in Julia's print": lambda run: f"2×2{run} Matrix{{Float64}}:\n 1 2\n 3 4",
    "in C": lambda run: f"float W[1][2] = {{{run}{{1.f, 2.f}}}};",
    "above a row for each cell": lambda run: f"row,column,{run}value\n1,1,2\n",
    "above word vectors": lambda run: f"2{run}2\na 1 2\nb 3 4\n",
}


def times(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


# Texts that grow by more than two characters, by their size.
GROWING: dict[str, Callable[[int], str]] = {
    "names over numbers": lambda size: f"{'a,' * (size // 4)}a\n{'1,' * (size // 4)}1\n",
    "names over words and numbers": lambda size: (
        f"{'a,' * (size // 5)}a\n{'w,1.5,' * (size // 10)}w"
    ),
    "ids before a word": lambda size: (
        f"{'id,' * (size // 7)}word,x\n" + f"{'1,' * (size // 7)}w,1.5\n" * 2
    ),
    "a name of JSON twice": lambda size: (
        "{" + "".join(f'"{k}": 0, ' for k in range(size // 11)) + f'"{size // 11 - 1}": 0}}'
    ),
    "groups of rows": times("a 1\nb 2\n\n"),
    "words of code": times("np.float32("),
    "tensors in tensors": times("tensor(["),
    "keys": times("a=b, "),
    "true and nothing": times("true, "),
    "a word after truths": lambda size: f"{'true, ' * (size // 6)}x",
    "a word after numbers": lambda size: f"{'1, ' * (size // 3)}x",
    "numbers and nan": times("1 nan "),
    "long numbers": times("1.000,5;"),
    "rules of Markdown": times("| a |\n|--|\n"),
    "numbers in brackets in brackets": times("[ 1 "),
    "calls before an array": lambda size: times("a.b(")(size) + "[1 2]",
    "calls of a maker before an array": lambda size: times("array(")(size) + "[1 2]",
    "products after an array": lambda size: "[1 2] " + "*" * size,
    "words in brackets": lambda size: f"[{times('a, ')(size)}]",
    "points in brackets": lambda size: f"[{times('. ')(size)}]",
    "options after an array": lambda size: "[1 2]" + times(",a=1")(size),
    "prompts before an array": lambda size: times(">>> ")(size) + "[1 2]",
    "shapes of Paddle": times("Tensor(shape=[1], dtype="),
    "logs of arrays": times("a <b> 12:00:00 INFO [] [1 2]"),
    "blanks before arrays": times(" " * 50 + "[1 2]"),
    "calls of arrays": times("softmax([1.5 2.5])\n"),
    "rows with a label each": times("the: [1.5 2.5]\n"),
    "shapes before arrays": times("shape (1,2) [1.5 2]\n"),
    "arrays of one name, below words": lambda size: (
        times("word ")(size // 2) + "\nQ: [[1]]\n\n" * (size // 25)
    ),
    "numbers of NumPy 2": times("[np.float64(1.5), np.float64(2.5)]\n"),
}


class Text(NamedTuple):
    """A text of any size, by its name."""

    name: str
    of: Callable[[int], str]


def of_runs(runs: dict[str, str], places: dict[str, Callable[[str], str]]) -> list[Text]:
    return [
        Text(f"{name}, {where}", lambda size, unit=unit, place=place: place(times(unit)(size)))
        for where, place in places.items()
        for name, unit in runs.items()
    ]


# ---- ways ----------------------------------------------------------------------------------------


class Way(NamedTuple):
    """How a text is read, and how many characters of it are."""

    read: Callable[[str], object]
    size: int = SIZE


def arrays_of(name: str, content: bytes) -> None:
    """What Your data does until it shows what it understood."""
    every = opening.opened(name, content)
    if printed.can_be_related(every):
        printed.explained(related(every))
    arrays = array_files.readable(every)[0]
    family = adopt.family_of(arrays)
    picks = {
        role: (found, select.AS_IT_IS)
        for role, found in adopt.picks_of(arrays, family).items()
        if found
    }
    if len(arrays) == 1:
        alone = next(iter(arrays))
        picks = {adopt.likely(alone, arrays[alone], S): (alone, select.AS_IT_IS)}
    select.gather(arrays, picks, name)


def pasted(text: str) -> None:
    content = text.encode()
    if links.is_file(content) or not text.strip():
        return
    if opening.prose_in(content) is None:
        arrays_of(PASTED, content)


def sentence_in(text: str) -> None:
    prose = opening.prose_in(text.encode())
    if prose:
        check(changes.set_sentence(S, prose.text))


def headed(header: str) -> bytes:
    """A .safetensors of one number with that header."""
    return len(header.encode()).to_bytes(8, "little") + header.encode() + bytes(8)


TENSOR = '{"dtype": "F64", "shape": [1, 1], "data_offsets": [0, 8]}'


def many_tensors(text: str) -> bytes:
    """Names of 480 characters each, as long as are looked at."""
    empty = '{"dtype": "F64", "shape": [0, 1], "data_offsets": [8, 8]}'
    names = [json.dumps(f"{k}.{text[:480]}") for k in range(len(text) // 500)]
    more = "".join(f", {name}: {empty}" for name in names)
    return headed(f'{{"X": {TENSOR}{more}}}')


def npz(name: str) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{name}.npy", npy(np.eye(2)))
    return buffer.getvalue()


def npy_of(header: str) -> bytes:
    content = header.encode("latin-1", "replace")
    return b"\x93NUMPY\x02\x00" + len(content).to_bytes(4, "little") + content + bytes(8)


def state(parameter: str) -> Callable[[str], object]:
    return lambda text: links.from_file(
        json.dumps(links.STAMP | {"link": {parameter: text}}).encode()
    )


def source(text: str) -> object:
    """Read a link whose input is from a place with this name."""
    return links.read({"origins": json.dumps({"": {text: {"W_Q": "0123456789ab"}}})})


def on_board(kind: str, stage: str) -> Callable[[str], object]:
    def act(text: str) -> None:
        sent = {"client": "a", "operations": [[1, kind, stage, 0, 0, text, text]], "more": False}
        message = board_edits.read(sent)
        assert message
        board_edits.apply(S, message.operations)

    return act


def renamed(text: str) -> None:
    """As many tokens of the board as the text has room for, each with another name."""
    many = len(text) // 50
    s = check(changes.set_tokens(S, tuple(f"w{k}" for k in range(many)), [None] * many))
    sent = [board_edits.Operation(k, "token", "X", k, 0, f"v{k}") for k in range(many)]
    assert board_edits.apply(s, sent)[1] == []


def number_in_browser() -> re.Pattern[str]:
    """What the board takes for a number when cells are pasted."""
    script = (Path(pages.__file__).parent / "js/board/edit/entered.js").read_text(encoding="utf-8")
    return re.compile(re.search(r"const NUMBER = /(.*)/i\n", script)[1], re.IGNORECASE)


BENCH = check_yours.bench_of(check_yours.from_settings(S))
LABELLED = opening.opened("a.csv", b"a 1 2\nb 3 4\n")["numbers"]


def chosen(**asked: str) -> object:
    return select.select(LABELLED, "X", "it", select.Selection(**asked))


FILES = {
    f"uploaded as {ending}": Way(lambda text, name=f"a{ending}": arrays_of(name, text.encode()))
    for ending in (".csv", ".tsv", ".json", ".txt", ".md", ".npy", ".npz", ".safetensors")
} | {
    "header of .npy": Way(lambda text: arrays_of("a.npy", npy_of(text))),
    "type in .npy": Way(lambda text: arrays_of("a.npy", npy_of(f"{{'descr': '{text}'"))),
    "name in .npz": Way(lambda text: arrays_of("a.npz", npz(text)), 20_000),
    "header of .safetensors": Way(lambda text: arrays_of("a.safetensors", headed(text))),
    "name in .safetensors": Way(
        lambda text: arrays_of("a.safetensors", headed(f"{{{json.dumps(text)}: {TENSOR}}}"))
    ),
    "names in .safetensors": Way(lambda text: arrays_of("a.safetensors", many_tensors(text))),
    "capture": Way(lambda text: captures.opened(headed(text), "a.safetensors")),
    "name of a file": Way(lambda text: opening.opened(f"{text}.csv", b"1 2\n")),
}
BOXES = {
    "sentence": Way(lambda text: check(changes.set_sentence(S, text)), MAX_PROSE),
    "sentence pasted": Way(sentence_in, MAX_PROSE // 3),
    "sentence between words": Way(lambda text: sentence_in(f"cat {text} dog"), MAX_PROSE // 4),
    "Check yours, X": Way(
        lambda text: check_yours.pasted("qkv", {"Q": text}, mask="none", true_means="may look")
    ),
    "Check yours, output": Way(lambda text: check_yours.explain(BENCH, {"output": text})),
    "Check yours, file": Way(lambda text: check_yours.from_file("a.csv", text.encode(), "output")),
    "cell of the board": Way(on_board("cell", "X")),
    "mask on the board": Way(on_board("mask", "mask")),
    "token on the board": Way(on_board("token", "X")),
    "stage on the board": Way(lambda text: on_board("cell", text)("1")),
    "number in the browser": Way(lambda text: number_in_browser().match(f"{text}x")),
    "numbers of a gain": Way(lambda text: read_matrix(text, "the gain of Q")),
    "answer": Way(answers.read_answer),
    "slice": Way(lambda text: chosen(cut=text)),
    "rows by their words": Way(lambda text: chosen(words=text)),
}
LINKS = (
    {
        f"link, {name}": Way(lambda text, name=name: links.read({name: text}))
        for name in (*links.CODECS, "X", "W_Q", "b_V", "example", "partial", "a.W_Q")
    }
    | {"link, unknown parameter": Way(lambda text: links.read({text: "1"}))}
    | {
        "link, a word": Way(lambda text: links.read({"tokens": json.dumps(text)})),
        "link, a recipe": Way(lambda text: links.read({"W_Q": f"normal,{text}"})),
        "link, a source": Way(source),
        "link, a source of a head": Way(lambda text: source(f"captured from a{text}!")),
        "link, a row": Way(lambda text: links.read({"W_Q": f"1 {text} 2"})),
    }
    | {f"saved state, {name}": Way(state(name)) for name in ("tokens", "W_Q", "drawn", "answers")}
    | {
        "saved state": Way(lambda text: links.from_file(text.encode())),
        "kept by the browser": Way(lambda text: kept.restored(text, "mark")),
    }
)


def numbers() -> Iterator[tuple[str, Way, Text]]:
    """Texts of numbers, pasted."""
    texts = of_runs(RUNS, PLACES) + some(of_runs(RUNS, RARER), 8)
    texts += some(of_runs(PAIRS, PLACES), 100) + some(of_runs(PAIRS, RARER), 600)
    texts += [Text(name, of) for name, of in GROWING.items()]
    yield from (("pasted", Way(pasted), text) for text in texts)


def of_ways(ways: dict[str, Way], share: int) -> Iterator[tuple[str, Way, Text]]:
    pairs = some([(name, k) for name in ways for k in range(len(PAIRS))], share)
    alone = {"alone": str}
    runs, twos = of_runs(RUNS, alone), of_runs(PAIRS, alone)
    yield from ((name, way, text) for name, way in ways.items() for text in runs)
    yield from ((name, ways[name], twos[k]) for name, k in pairs)


def files() -> Iterator[tuple[str, Way, Text]]:
    yield from of_ways(FILES, 120)
    for name in ("attn", "layers.1."):
        yield "names in .safetensors", FILES["names in .safetensors"], Text(name, times(name))


def boxes() -> Iterator[tuple[str, Way, Text]]:
    yield from of_ways(BOXES, 100)
    yield "names of many tokens", Way(renamed), Text("tokens", times("a"))


def of_links() -> Iterator[tuple[str, Way, Text]]:
    yield from of_ways(LINKS, 150)
    name = "link, a source of a head"
    yield name, LINKS[name], Text("captured heads", times(", layer 1 (x), head 1"))


GROUPS = {
    "numbers": numbers,
    "files": files,
    "boxes": boxes,
    "links": of_links,
}


# ---- seconds -------------------------------------------------------------------------------------


def seconds(way: Way, text: str) -> float:
    """Processor time of reading it; a refusal says what is wrong in few words."""
    signal.setitimer(signal.ITIMER_PROF, ENOUGH)  # ends the process
    gc.disable()  # which else depends on all that came before
    start = process_time()
    try:
        way.read(text)
    except BadInput as problem:
        assert len(str(problem)) <= MESSAGE, f"a refusal of {len(str(problem)):,} characters"
    taken = process_time() - start
    gc.enable()
    signal.setitimer(signal.ITIMER_PROF, 0)
    return taken


def compared(way: Way, text: Text) -> tuple[float, float]:
    """Seconds of the text and of half of it, 0 where the whole takes few; the least of six."""
    whole, half = text.of(way.size), text.of(way.size // 2)
    both = seconds(way, whole), 0.0
    for _ in range(6):
        if both[0] < FLOOR or (both[1] and both[0] <= GROWTH * both[1] and both[0] < 1):
            break
        both = min(both[0], seconds(way, whole)), min(both[1] or 99, seconds(way, half))
    return both


if __name__ == "__main__":
    group, part, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cases = list(GROUPS[group]())[part::parts]
    for way in {name: way for name, way, _ in cases}.values():
        seconds(way, "1 2")  # what is imported at first use
    for name, way, text in cases:
        print(json.dumps([name, text.name]), end="\t", flush=True)
        print(*compared(way, text), sep="\t", flush=True)
