"""Arrays in the words of C and torch, in the words of Python."""

from __future__ import annotations

import re

from attention.limits import BadInput
from attention.readers.entry import ArrayEntry, short
from attention.readers.printouts import sides

_C_ARRAY = re.compile(
    r"(?m)^[ \t]*(?:[A-Za-z_][\w:<>]{0,40}[ \t*]{1,9}){1,6}([A-Za-z_]\w{0,39})[ \t]{0,9}"
    r"((?:\[[ \w]{0,12}\][ \t]{0,9}){1,4})=\s{0,9}\{"
)
_C_SUFFIX = re.compile(r"(?<=[\d.])[fFlL]\b")
_C_OCTAL = re.compile(r"(?<![\w.])(?<![eE][+-])0\d+\b(?!\.)")
_C_COMMENT = re.compile(r"//[^\n]*|/\*(?s:.*?)(\*/|\Z)")  # the group is "" where none closes it


def from_c(text: str, where: str) -> tuple[str, dict[str, str]]:
    """C's arrays as assignments, and the sides that each is declared with.

    >>> from_c("const float W[1][2] = {{1.f, 2.f}};", "it")
    ('W = [[1., 2.]] ', {'W': '[1][2]'})
    """
    if "{" not in text or not _C_ARRAY.search(text):
        return text, {}
    text = _C_COMMENT.sub(lambda found: found[0] if found[1] == "" else "", text)
    declared = {found[1]: "".join(found[2].split()) for found in _C_ARRAY.finditer(text)}
    text = _C_ARRAY.sub(lambda found: f"{found[1]} = {{", text)
    if octal := _C_OCTAL.search(text):
        raise BadInput(
            f"{where}: {short(octal[0], 24)} is octal in C; write it without the 0 in front."
        )
    return _C_SUFFIX.sub("", text).translate(str.maketrans("{};", "[] ")), declared


def check_declared(found: dict[str, ArrayEntry], declared: dict[str, str], where: str) -> None:
    """Refuse arrays of C with other sides than they were declared with; a name may be any."""
    for name, entry in found.items():
        wanted = re.findall(r"\[(\w*)\]", declared.get(name, ""))
        held = ["1"] * (len(wanted) - len(entry.shape)) + list(map(str, entry.shape))
        wanted = ["1"] * (len(held) - len(wanted)) + wanted
        sizes = zip(wanted, held, strict=True)
        if name in declared and any(side.isdigit() and side != is_ for side, is_ in sizes):
            raise BadInput(
                f"{where}, {name} is declared {declared[name]}, and {sides(entry.shape)} stand"
                " there; write each row in its brackets, with the zeros that C fills in."
            )


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
