"""Arrays that programs printed and lists in code, wherever they stand in a text.

Each pair of brackets that holds numbers alone is an array, and what stands before it is its label:
the rest of the text, prose or code, is not understood and need not be.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

from attention.limits import (
    LIMIT,
    MAX_ARRAYS,
    MAX_ELEMENTS,
    MAX_JOINED,
    MAX_PRINTED_BRACKETS,
    MAX_RANK,
    BadInput,
)
from attention.readers.cells.entry import ALONE, ArrayEntry, Choice, refused, short
from attention.readers.cells.printouts import is_number, is_wrapped, read_number, sides, vanishes
from attention.readers.texts.around import Around, before, behind, cleaned, heading, is_size
from attention.readers.texts.grid import OPTIONS
from attention.vocabulary.labels import role_of
from attention.vocabulary.sentences import plural

_BRACKET = re.compile(r"[\[\]]")
_PLAIN = b"0123456789+-.eE \t\r\n,"  # what a row of numbers is made of, if nothing is unusual
_GAP = " \t\r\n,;"
# A number as NumPy 2 writes it in lists, one in letters, or any other run of characters.
_TOKEN = re.compile(
    r"(?:np|numpy|jnp|torch)\.[a-z]{3,9}\d{0,3}\(([^()\s]{1,40})\)|(\.\.\.|…)|([^\s,;]+)"
)
_IN_A_TYPE = re.compile(r"(?:np|numpy)\.float\d\d\(([^()\s]{1,40})\)")  # as NumPy 2 prints numbers
_MIXED = re.compile(r"\d,\d+[ ]+[\d.+-][^\[\]\n]{0,20}")  # [0,5 1,5]
_DECIMALS = re.compile(r"\s*[+-]?\d{1,20},\d{1,20}\s*;\s*[+-]?\d{1,20},\d")  # 0,5; 1,2
# A beginning of two numbers or more: of an array, if a bracket is closed that is not opened.
_BEGINNING = re.compile(
    r"[\s,\[\]]*+(?:[\d.+\-eE]++|nan|inf|True|False)[\s,\[\]]++(?=[\d.+\-nT])"
    r"(?:[\d.+\-eE\s,\[\]]|nan|inf|True|False)*+"
)
_DEEPEST = 32  # axes, of which a shape is made
_STAGES = 64  # lines with a label and a row each; more are words
_ENOUGH = 1000  # words, after which no number is expected
_DOTS = ("...", "…")
_TUPLES = re.compile(r"[\d\s.,eE+\-(){}]*")  # rows in other brackets
_SQUARE = str.maketrans("(){}", "[][]")
# Vectors that code puts below each other: X = np.stack([the, dog])
_STACK = re.compile(
    r"(?m)^[ \t]*([A-Za-z_]\w{0,39})[ \t]*=[ \t]*(?:\w{1,20}\.)?"
    r"(?:v?stack|array|tensor|cat|concat\w{0,6})\([\[(]([\w\s,]{1,2000})[\])]"
)
# Words in a list: tokens = ["the", "dog"]
_WORDS = re.compile(
    r"=\s{0,9}\[((?:\s{0,9}(?:'[^'\n]{0,80}'|\"[^\"\n]{0,80}\")\s{0,9},?){1,512})\s{0,9}\]"
)
_WORD = re.compile(r"'([^']*)'|\"([^\"]*)\"")


@dataclass
class Node:
    """A pair of brackets that holds numbers alone, or should."""

    start: int
    end: int = 0  # after the closing bracket
    shape: tuple[int, ...] = ()
    rows: list[array] = field(default_factory=list)  # of numbers, in order
    is_truth: bool = False
    is_cut: bool = False
    problem: str = ""  # after the place
    at: int = 0  # of the problem
    is_words: bool = False  # whether it may be no array of numbers at all, as [batch, 4]
    depth: int = 1  # of brackets

    @property
    def counts(self) -> bool:
        """Whether it is to be listed, if only with what is wrong."""
        wrong = self.problem and (not self.is_words or self.depth > 1)
        return bool(self.shape or self.is_cut or wrong)

    def values(self) -> np.ndarray:
        """Return the numbers, as float64 or as True and False."""
        count = math.prod(self.shape)
        found = np.fromiter(chain.from_iterable(self.rows), np.float64, count).reshape(self.shape)
        return found.astype(bool) if self.is_truth else found


@dataclass
class _Open:
    """A bracket that is not closed yet, and what was found after it."""

    start: int
    last: int  # where the text after what was found begins
    found: list[Node] = field(default_factory=list)  # in order
    odd: str = ""  # the first of what stands between them and is neither number nor separator
    odd_at: int = 0
    before: int = 0  # how many were found before that


def nodes_in(text: str) -> list[Node]:
    """Return the pairs of brackets that hold numbers alone, in order, the outermost of each.

    ``text`` has no comments. Time is in proportion to its length.

    >>> [node.values().tolist() for node in nodes_in("Q [[1, 2]] a[i] tensor([3.])")]
    [[[1.0, 2.0]], [3.0]]
    """
    top = _Open(0, 0)
    stack = [top]
    numbers, begun = _BEGINNING.match(text), Node(0, is_cut=True)
    for bracket in _BRACKET.finditer(text):
        at, inner = bracket.start(), stack[-1]
        if bracket[0] == "[":
            _between(inner, text[inner.last : at], inner.last)
            stack.append(_Open(at, at + 1))
        elif len(stack) > 1:
            stack.pop()
            if inner.found or inner.odd:
                _between(inner, text[inner.last : at], inner.last)
                found = _closed(inner, at + 1)
            else:
                found = _leaf(text, inner.start, at + 1, is_row=len(stack) > 1)
            outer = stack[-1]
            if not found and outer is not top:
                _between(outer, text[inner.start : at + 1], inner.start)
            outer.found += found
            outer.last = at + 1
        elif numbers and at < numbers.end():
            begun.end = top.last = at + 1
            top.found = [begun]
    return _unclosed(stack, text)


def _between(opened: _Open, text: str, at: int) -> None:
    """Take note of what stands between arrays in a bracket: dots leave rows out."""
    words = text.strip(_GAP)
    if opened.odd or not words:
        return
    if all(word in _DOTS for word in words.replace(",", " ").split()):
        opened.found.append(Node(opened.start, is_cut=True))
    else:
        opened.odd, opened.odd_at = words, at
        opened.before = len(opened.found)


def _closed(opened: _Open, end: int) -> list[Node]:
    """Return what a pair of brackets holds: one array of the arrays in it, or these."""
    kids = opened.found
    if opened.odd and not opened.before:  # as in [tensor([1]), tensor([2])]
        return [kid for kid in kids if kid.counts]
    whole = Node(opened.start, end, depth=1 + max((kid.depth for kid in kids), default=0))
    if opened.odd:
        whole.problem = (
            f" holds “{short(opened.odd, 24)}” between rows; every number must be given."
        )
        whole.at = opened.odd_at
        whole.is_words = all(kid.is_words for kid in kids)
    elif wrong := next((kid for kid in kids if kid.problem), None):
        whole.problem, whole.at = wrong.problem, wrong.at
        whole.is_words = all(kid.is_words for kid in kids)
    elif any(kid.is_cut for kid in kids):
        whole.is_cut = True
    else:
        _join(whole, kids)
    return [whole]


def _join(whole: Node, kids: list[Node]) -> None:
    """Make an array of arrays of one shape."""
    first = kids[0].shape
    if len(first) > _DEEPEST:
        whole.problem, whole.at = (
            f" has {_DEEPEST} axes or more; at most {MAX_RANK} are read.",
            whole.start,
        )
        return
    for number, kid in enumerate(kids, 1):
        if kid.shape != first:
            whole.problem, whole.at = _other_shape(number, kid.shape, first), kid.start
            return
    whole.shape = (len(kids), *first)
    whole.is_truth = all(kid.is_truth for kid in kids)
    if (count := math.prod(whole.shape)) > MAX_ELEMENTS:
        whole.problem = f" holds {count:,} numbers; at most {MAX_ELEMENTS:,} are read."
        whole.at = whole.start
        return
    whole.rows = [row for kid in kids for row in kid.rows]


def _other_shape(number: int, shape: tuple[int, ...], first: tuple[int, ...]) -> str:
    word = "row" if len(first) == 1 else "block"
    if len(shape) == len(first) == 1:
        return (
            f": {word} {number} has {shape[0]} {plural(shape[0], 'number')} and {word} 1 has"
            f" {first[0]}; every row needs the same."
        )
    return (
        f": {word} {number} is {sides(shape)} and {word} 1 is {sides(first)}; all need the same"
        " shape."
    )


def _leaf(text: str, start: int, end: int, is_row: bool) -> list[Node]:
    """Return the numbers between two brackets without others inside; none where these are words.

    ``is_row``: whether the brackets are inside of others, where a semicolon ends no row.
    """
    inner = text[start + 1 : end - 1]
    if is_row and ";" in inner and (decimal := _DECIMALS.match(inner)):
        return [_in_two_ways(Node(start, end), decimal[0].strip())]
    row = _plain_row(inner)
    if row is not None:
        return [Node(start, end, (len(row),), [row])] if row else []
    found = _unusual(inner, Node(start, end))
    return [found] if found else []


def _plain_row(inner: str) -> array | None:
    """Numbers with commas or blanks between them, if there is nothing else; an empty row of none.

    >>> _plain_row(" 1. 2e3"), _plain_row("1, 2,"), _plain_row("1,,2"), _plain_row("0,5 1,5")
    (array('d', [1.0, 2000.0]), array('d', [1.0, 2.0]), None, None)
    """
    if not inner.isascii() or inner.encode().translate(None, _PLAIN):
        return None
    if "," in inner:
        cells = inner.split(",")
        if not cells[-1].strip():
            cells.pop()
    else:
        cells = inner.split()
    try:
        row = array("d", map(float, cells))
    except ValueError:
        return None
    if not row:
        return row
    if max(row) > LIMIT or min(row) < -LIMIT:
        return None
    if 0.0 in row and any(map(vanishes, map(str.strip, cells), row)):
        return None
    return row


def _unusual(inner: str, node: Node) -> Node | None:
    """Return a row with special numbers, truth or dots, or with what is wrong with it."""
    if ";" in inner and (rows := _by_semicolons(inner, node)):
        return rows
    if "(" in inner and (plain := _plain_row(_IN_A_TYPE.sub(r"\1", inner))):
        node.shape, node.rows = (len(plain),), [plain]
        return node
    if (mixed := _MIXED.search(inner)) and not re.search(r",\s|\s,", inner):
        return _in_two_ways(node, mixed[0])
    values, truths, odd, empty = array("d"), 0, None, re.search(r",\s*,|^\s*,", inner)
    for count, token in enumerate(_TOKEN.finditer(inner)):
        if count == MAX_ELEMENTS or (count == _ENOUGH and not values):
            break
        if token[2] or token[3] in _DOTS:
            node.is_cut = True
            continue
        word = (token[1] or token[3]).replace("∞", "inf")
        if word in ("True", "False"):
            truths += 1
            values.append(word == "True")
        elif is_number(word):
            try:
                values.append(read_number(word, "", finite=False))
            except BadInput as problem:
                node.problem = node.problem or f" {str(problem).strip()}"
                node.at = node.at or node.start + 1 + token.start()
        else:
            odd = odd or token
            node.is_words = node.is_words or not _is_like_a_number(word)
    if node.is_words and not values:
        return None
    if at := odd or empty:
        held = f" holds “{short(at[0].strip(), 24)}”" if odd else " holds no number between commas"
        node.problem = f"{held}; expected a number such as 3, -0.5 or 2e-3."
        node.at = node.start + 1 + at.start()
        return node
    if not values and not node.is_cut and not node.problem:
        return None
    node.is_truth = truths == len(values) and bool(truths)
    node.shape, node.rows = (len(values),), [values]
    return node


def _in_two_ways(node: Node, found: str) -> Node:
    """Return a row whose commas may be decimal, as one that cannot be read."""
    node.problem = (
        f": “{short(found, 24)}” can be read in two ways; put points for decimals, or a space after"
        " each comma."
    )
    node.at = node.start
    return node


def _is_like_a_number(word: str) -> bool:
    """Check for a number with something that does not belong to it: 0.5l, 1..2, 3%.

    >>> [_is_like_a_number(word) for word in ("0.5l", "1..2", "{3", "1:3", "3/10", "x1", "O.5")]
    [True, True, True, False, False, False, True]
    """
    digits = sum(map(str.isdigit, word))
    return (
        not {":", "/"} & set(word)
        and 2 * digits > len(word) - word.count(".") - 1
        and word[0] in "0123456789+-.Oo{(<"
    )


def _by_semicolons(inner: str, node: Node) -> Node | None:
    """Rows with semicolons between them, as MATLAB and Julia have them."""
    if (count := inner.count(";")) > MAX_JOINED:
        node.problem = f" holds {count:,} rows between semicolons; at most {MAX_JOINED:,} are read."
        node.at = node.start
        return node
    kids: list[Node] = []
    for part in filter(str.strip, inner.split(";")):
        row, kid = _plain_row(part), Node(node.start, node.end)
        if row:
            kid.shape, kid.rows = (len(row),), [row]
        elif not _unusual(part, kid) or kid.problem or kid.is_cut:
            return None
        kids.append(kid)
    return _closed(_Open(node.start, node.start, kids), node.end)[0]


def _unclosed(stack: list[_Open], text: str) -> list[Node]:
    """Return what was found in a text that ended before all of its brackets."""
    top, *opened = stack
    cut = False  # whether a bracket around is listed
    for outer in opened:
        rows = outer.found[: outer.before] if outer.odd else outer.found
        begins = not outer.found and _begins_with_numbers(text[outer.last : outer.last + 60])
        if begins or any(row.shape or row.is_cut for row in rows):
            if not cut:
                top.found.append(Node(outer.start, len(text), is_cut=True))
            cut, rows = True, outer.found[outer.before :] if outer.odd else []
        else:
            rows = outer.found
        top.found += rows
    return sorted((node for node in top.found if node.counts), key=lambda node: node.start)


def _begins_with_numbers(text: str) -> bool:
    words = text.replace(",", " ").split()
    return bool(words) and is_number(words[0]) and len(words) > 1


# ---- arrays, with what stands around them -------------------------------------------------------


class _Placed(NamedTuple):
    """An array in a text, and what stands before it."""

    node: Node
    around: Around
    gap: str  # all that stands between the numbers before and these
    by_commas: bool

    @property
    def is_row(self) -> bool:
        """Whether it is one row of numbers."""
        shape = self.node.shape
        one = len(shape) == 1 or (len(shape) == 2 and shape[0] == 1)
        return one and not (self.node.problem or self.node.is_cut)


def arrays_in(text: str, where: str, rows: str = "matrix") -> dict[str, ArrayEntry]:
    """Return the arrays that stand in a text, by their labels; {} where there are none.

    An array that cannot be read is listed with what is wrong. ``rows``: what lines of one label and
    one row each are, a key of ``OPTIONS["rows"]``.

    >>> found = arrays_in("Q:\\n [[1 2]\\n [3 4]]\\nrow sums: [3. 7.]", "the text")
    >>> {name: entry.shape for name, entry in found.items()}
    {'Q': (2, 2), 'row sums': (1, 2)}
    """
    if "[" not in text:
        return _in_parentheses(text, where)
    if (count := text.count("[")) > MAX_PRINTED_BRACKETS:
        raise BadInput(
            f"{where} has {count:,} brackets; at most {MAX_PRINTED_BRACKETS:,} are read."
        )
    plain = cleaned(text)
    groups = _groups(_placed(text, plain))
    if len(groups) > MAX_ARRAYS:
        raise BadInput(f"{where} holds {len(groups):,} arrays; at most {MAX_ARRAYS:,} are read.")
    asked = any(len(group) > 1 and group[0].around.beside for group in groups)
    if asked and rows == "arrays":
        groups = [[one] for group in groups for one in group]
    breaks = [found.start() for found in re.finditer("\n", text)]
    found = [
        _rows(group) if len(group) > 1 else _alone(group[0], text, breaks, where)
        for group in groups
    ]
    if asked:
        choice = Choice("rows", "Some lines hold a label and a row each.", OPTIONS["rows"], rows)
        found = [replace(entry, choices=(choice,)) for entry in found]
    named = _by_name(_with_words(_stacked(found, plain), plain))
    if not _may_be_heads(found):
        return named
    remark = (
        f"Each of the {len(found)} matrices is an array; to read them as heads, put [ ] around all."
    )
    return {name: replace(entry, remark=entry.remark or remark) for name, entry in named.items()}


def _in_parentheses(text: str, where: str) -> dict[str, ArrayEntry]:
    """Rows in other brackets, of a text that is nothing else; refused if they may be a shape."""
    if "{{" in text or not ({"(", "{"} & set(text) and _TUPLES.fullmatch(text)):
        return {}
    if (count := text.count("(") + text.count("{")) > MAX_PRINTED_BRACKETS:
        raise BadInput(
            f"{where} has {count:,} brackets; at most {MAX_PRINTED_BRACKETS:,} are read."
        )
    found = arrays_in(text.translate(_SQUARE), where)
    may_be_shapes = {"(", ","} <= set(text) and not re.search(r"[.\-eE]|\(\s*\(|\b0", text)
    if len(found) > 1 or (may_be_shapes and not re.search(r"\)\s*,\s*\(", text)):
        raise BadInput(
            f"{where}: “{short(text.strip(), 24)}” looks like a shape; paste the numbers of the"
            " array, or put [ ] around all rows."
        )
    remark = "Each pair of parentheses is read as a row, not as a shape." if may_be_shapes else ""
    return {name: replace(entry, remark=remark) for name, entry in found.items()}


def _may_be_heads(found: Sequence[ArrayEntry]) -> bool:
    """Check for several matrices of one shape without names."""
    shapes = {entry.shape for entry in found}
    alike = len(found) > 1 and len(shapes) == 1 and not any(entry.name for entry in found)
    return alike and min(shapes.pop()[:-1], default=0) > 1


def _placed(text: str, plain: str) -> Iterator[_Placed]:
    """Yield arrays with what stands before each, without shapes, places and numbers of steps."""
    last = end = 0  # of the numbers before, and of what belongs to them
    names: Sequence[str] = ()  # of the arrays that follow, as code prints them
    for node in nodes_in(plain):
        if _is_place(node, plain, end):
            continue
        around = before(text, plain, end, node.start)
        after, computed = behind(plain, node.end)
        is_row = node.depth == 1 and not (node.is_cut or node.problem)
        if is_row and _is_size(around, node, plain, after):
            continue
        computed = around.computed or computed
        if names and not around.label:
            around = around._replace(label=names[0], others=names[1:])
        names = around.others
        if computed and not (node.problem or node.is_cut):
            node.at = node.start
            node.problem = (
                f": “{computed}” is next to the numbers; nothing is computed here, so paste the"
                " result."
            )
        yield _Placed(node, around, text[last : node.start], "," in plain[node.start : node.end])
        last, end = (
            (node.start, node.start)
            if node.end == len(plain)
            else (node.end, _end_with_label(node, plain, after))
        )


def _is_whole(node: Node, plain: str) -> bool:
    return not any(mark in plain[node.start : node.end] for mark in ".eEnf")


def _is_place(node: Node, plain: str, begin: int) -> bool:
    """Check for an index or the number of a step or source, from what stands next to it."""
    near = plain[max(node.start - 20, 0) : node.start]
    touches, before_it = near[-1:], near.rstrip(" \t")[-1:]
    inside = touches.isalnum() or touches in ("_", ")") or (touches == "]" and begin != node.start)
    if inside and (node.is_words or _is_whole(node, plain)):
        return True
    # first by what is near, as all that stands before it takes a hundred times as long
    before_all = plain[max(node.start - 80, 0) : node.start]
    if len(node.shape) == 1 and _is_whole(node, plain) and is_size(before_all):
        return True
    if node.shape != (1,) or before_it in (":", "=") or not _is_whole(node, plain):
        return False
    return bool(before_it.strip("\n(,") or _rest_of_line(plain, node.end))


def _rest_of_line(plain: str, end: int) -> str:
    return plain[end : end + 200].partition("\n")[0].strip(" \t\r,;)]")


def _end_with_label(node: Node, plain: str, after: int) -> int:
    """Where what belongs to a row ends: it may have its label behind it, as in "[1 2] dog"."""
    if node.depth > 1 or "\n" in plain[node.end : after]:
        return after
    line, has_end, _ = plain[after : after + 200].partition("\n")
    begins_another = "[" in line or line.rstrip().endswith((":", "="))
    return after if begins_another or not has_end else after + len(line)


def _is_size(around: Around, node: Node, plain: str, after: int) -> bool:
    """Check for a shape, the argument of a call, or whole numbers in a sentence.

    ``after`` is the end of what belongs to the array.
    """
    if around.in_call:
        return True
    if not _is_whole(node, plain):
        return False
    if around.told != node.shape and around.told == tuple(node.rows[0]):
        return True
    goes_on = plain[after - 1 : after] != "\n" and _rest_of_line(plain, after)
    prose = around.label.count(" ") > 1 or any(map(str.isalpha, goes_on or ""))
    return around.beside and not around.is_marked and prose


def _groups(placed: Iterable[_Placed]) -> list[list[_Placed]]:
    """Return the arrays, those in one group that are rows of one matrix.

    Rows stand directly below each other, and each has a label of its own on its line, or none has.
    """
    groups: list[list[_Placed]] = []
    for one in placed:
        if groups and _goes_on(groups[-1], one):
            groups[-1].append(one)
        else:
            groups.append([one])
    return list(chain.from_iterable(_kept(group) for group in groups))


def _goes_on(group: list[_Placed], one: _Placed) -> bool:
    first = group[0]
    alike = first.node.shape[-1:] == one.node.shape[-1:] and first.by_commas == one.by_commas
    if not (one.is_row and first.is_row and alike):
        return False
    if one.around.beside:
        _, *lines = one.gap.split("\n")
        return first.around.beside and sum(bool(line.strip(_GAP)) for line in lines) == 1
    if first.node.depth > 1 or one.node.depth > 1:
        return False
    blank = re.search(r"\n[ \t]*\n", one.gap)
    return not (one.around.label or first.around.beside or one.around.rest or blank)


def _kept(group: list[_Placed]) -> list[list[_Placed]]:
    """Return the group, or each of it alone where their labels are those of several stages."""
    labels = [one.around.label for one in group if one.around.beside]
    if len(labels) < 2:
        return [group]
    if len(set(labels)) == 1:  # the same thing again
        return [[one] for one in group]
    if len(labels) > _STAGES:
        return [group]
    roles = [role_of(label) for label in labels]
    words = len(labels) > 2 and not any(" " in label for label in labels)
    if len(set(roles)) == 1 or (len(set(roles)) == 2 and None in roles and words):
        return [group]
    runs = groupby(enumerate(roles), lambda one: one[1] or one[0])
    return [[group[k] for k, _ in run] for _, run in runs]


def _rows(group: list[_Placed]) -> ArrayEntry:
    """Rows with a label each, or without any, as one matrix."""
    values = np.concatenate([np.atleast_2d(one.node.values()) for one in group])
    if group[0].around.beside:
        name, rows = heading(group[0].gap), tuple(one.around.label for one in group)
    else:
        name, rows = group[0].around.label, ()
    return ArrayEntry.of(name, values, rows)


def _alone(one: _Placed, text: str, breaks: Sequence[int], where: str) -> ArrayEntry:
    """Return the array as it is written; ``breaks`` are the ends of the lines of the text."""
    node, label = one.node, one.around.label
    place = f"{where}, line {bisect_left(breaks, node.at or node.start) + 1}"
    if node.problem:
        return refused(label, BadInput(f"{place}{node.problem}"))
    if node.is_cut:
        return refused(label, BadInput(f"{place}: {_how_to_print_whole(text, node)}"))
    shape = node.shape
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    rows = _lines(text[node.start + 1 : node.end - 1]) if node.depth == 1 else None
    if rows is not None:
        return ArrayEntry.of(label, rows)
    if len(shape) > MAX_RANK:
        told = f"{place} has {len(shape)} axes of {sides(shape)}; at most {MAX_RANK} are read."
        return refused(label, BadInput(told))
    values = node.values().reshape(shape)
    if one.around.factor:
        values = np.vectorize(lambda value: float(f"{float(value)!r}e{one.around.factor}"))(values)
    entry = ArrayEntry.of(label, np.atleast_2d(values))
    if one.around.told not in ((), node.shape, shape):
        told = (
            f"The text says {sides(one.around.told)} here; these are {sides(entry.shape)} numbers."
        )
        entry = replace(entry, remark=told)
    if node.is_truth:
        return replace(entry, dtype="bool")
    return replace(entry, in_powers="e" in text[node.start : node.end])


def _lines(inner: str) -> np.ndarray | None:
    """Rows on lines of their own between one pair of brackets; None where these are one row."""
    lines = [line for line in inner.split("\n") if line.strip(_GAP)]
    if len(lines) < 2 or is_wrapped(lines):
        return None
    rows = [_plain_row(line) for line in lines]
    if not all(rows) or len({len(row) for row in rows if row}) > 1:
        return None
    return np.array([row for row in rows if row])


def _how_to_print_whole(text: str, node: Node) -> str:
    """Return what to do about numbers that were left out, or not copied."""
    if not any(dots in text[node.start : node.end] for dots in _DOTS):
        here = text[node.start : node.end]
        state = "closed" if here.count("[") > here.count("]") else "opened"
        return (
            f"a bracket is not {state}, so a part of the numbers may be missing; copy all of them."
        )
    maker = text[max(node.start - 40, 0) : node.start]
    if "tf." in maker:
        line = "tf.print(x, summarize=-1)"
    elif "tensor(" in maker:
        line = 'torch.set_printoptions(profile="full")'
    else:
        line = "np.set_printoptions(threshold=10**6)"
    return f"“...” stands for numbers that are left out; print all of them after {line}."


def _stacked(found: list[ArrayEntry], plain: str) -> list[ArrayEntry]:
    """Return the arrays, rows under the name by which code puts them below each other."""
    stacks = {tuple(re.findall(r"\w+", names)): name for name, names in _STACK.findall(plain)}
    return [
        replace(entry, name=stacks.get(entry.rows, entry.name)) if entry.rows else entry
        for entry in found
    ]


def _with_words(found: list[ArrayEntry], plain: str) -> list[ArrayEntry]:
    """Return the arrays, a list of words as the labels of the inputs that have as many rows."""
    if not (lists := _WORDS.search(plain)):
        return found
    words = tuple(a or b for a, b in _WORD.findall(lists[1]))
    return [
        replace(entry, rows=words)
        if not entry.rows
        and len(entry.shape) > 1
        and entry.shape[-2] == len(words)
        and role_of(entry.name) in ("X", "Q")
        else entry
        for entry in found
    ]


def _by_name(found: list[ArrayEntry]) -> dict[str, ArrayEntry]:
    """Return the arrays by their names, of which each stands once."""
    nameless = sum(not entry.name for entry in found)
    named: dict[str, ArrayEntry] = {}
    numbers: dict[str, int] = {}  # of each name, the one that is tried next
    alone = 0
    for entry in found:
        alone += not entry.name
        name = own = entry.name or (ALONE if nameless == 1 else f"{ALONE} {alone}")
        while name in named:
            numbers[own] = numbers.get(own, 1) + 1
            name = f"{own} ({numbers[own]})"
        named[name] = replace(entry, name=name)
    return named
