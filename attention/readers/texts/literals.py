"""Printed tensors and arrays in a dict, a list, a tuple or the output of a model."""

from __future__ import annotations

import re

_TENSOR = re.compile(
    r"(?:(?:'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"|\b([A-Za-z_]\w{0,80}))\s{0,9}[:,=]\s{0,9})?"
    r"(?:Parameter containing:\s{0,9})?(?:np\.|torch\.|numpy\.)?(?:tensor|array|Array)\("
)
_AROUND = re.compile(
    r"(?:'\w{1,80}':|\b\w{1,80}=)\s{0,9}None|\b\w{1,80}=(?=[(\[])"
    r"|[\s,(){}\[\]]|OrderedDict|dict|\b[A-Z]\w{0,60}Output\w{0,60}"
)
_INSIDE = re.compile(r"(\w{1,80})=[(\[]$")


def tensors_in(text: str, limit: int) -> list[tuple[str, str]] | None:
    """Printed tensors in a dict, list, tuple or model's output: each with its name and text.

    None where the text is something else; a name is "" where there is none.

    >>> tensors_in("{'q': tensor([[1.]])}", 9)
    [('q', 'array([[1.]])')]
    """
    first = text.lstrip()[:40]
    if not re.match(r"[({\[]|OrderedDict|dict\(|[A-Z]\w*Output", first):
        return None
    found: list[tuple[str, str]] = []
    around: list[str] = []
    at = 0
    for start in _TENSOR.finditer(text):
        if start.start() < at:
            continue
        stop = _closing(text, start.end() - 1)
        if stop < 0 or len(found) > limit:
            return None
        around.append(text[at : start.start()])
        inside = _INSIDE.search(around[-1][-90:])  # attentions=(tensor(…
        name = start[1] or start[2] or start[3] or (inside[1] if inside else "")
        found.append((name, f"array({text[start.end() : stop]}"))
        at = stop
    around.append(text[at:])
    left = "".join(around)
    closed = all(left.count(one) == left.count(other) for one, other in ("()", "[]", "{}"))
    return found if found and closed and not _AROUND.sub("", left) else None


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` is closed; -1 where it is not."""
    depth = 0
    for bracket in re.compile(r"[()]").finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.end()
    return -1
