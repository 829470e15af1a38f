"""What stands around an array in a text: comments, prompts, calls, and the label before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from attention.readers.cells.entry import short
from attention.readers.cells.printouts import is_figure

MAKERS = {  # of functions that only hold numbers
    *("array", "asarray", "tensor", "as_tensor", "constant", "matrix", "mat", "asmatrix"),
    *("float", "float16", "float32", "float64", "bfloat16", "double", "half", "int32", "int64"),
    *("FloatTensor", "DoubleTensor", "LongTensor", "IntTensor", "BoolTensor", "HalfTensor"),
    *("Variable", "Parameter", "list", "tuple", "dict", "OrderedDict", "convert_to_tensor"),
    *("print", "display", "show", "stack", "repr", "to_tensor", "DataFrame", "Series"),
    *("Array", "DeviceArray", "ShardedDeviceArray", "NDArray", "Tensor", "Matrix", "ListWrapper"),
}
# Names before whole numbers that are no array of this attention.
_SIZES = re.compile(
    r"(?:shapes?|sizes?|dims?|axis|axes|perm|reshape|view|strides?|pad\w*|repeat|tile|expand|zeros"
    r"|ones|full|empty|randn?|normal|uniform|randint|arange|eye|index|indices|idx|seed|ids|range"
    r"|slice|split|chunks?|permute|transpose|broadcast\w*|units|kernel\w*)\W{0,9}$",
    re.IGNORECASE,
)
# Prompts, and what stands at the beginning of quoted lines, of pytest's and of rich's.
_PROMPT = re.compile(
    r"(?m)^(?:[ \t]*+(?:>>>|\.\.\.(?=[ \t])|(?:In|Out)[ \t]?\[[ \d*]{0,9}\]:?|\.{3,9}:"
    r"|\[\d{1,5}\]:|>{1,3}(?=[ \t])|E(?=[ \t]{3})|│))++"
)
_COMMENT = re.compile(r"(?m)(?:(?<=[\s,\]\[)(])|^)(?:#|//)(?![\w#]+[ \t]+\[)[^\n]*")
_WHOLE_LINE = re.compile(r"(?m)^[ \t]*(?:#|//|%)[ \t][^\n]*")
_COMMENTS = re.compile(  # lines of them below each other
    r"(?m)^[ \t]*+(?:#|//|%)[ \t][^\n]*(?:\n[ \t]*+(?:(?:#|//|%)[ \t][^\n]*)?(?=\n|\Z))*+"
)
# What code printed, as a comment below or behind it.
_SHOWN = r"(?:#|//)[ \t]{0,9}(?:[Oo]ut(?:put)?:|=>|->|→)?[ \t]{0,9}(?:[A-Za-z][\w.]{0,30}\()?\["
_OUTPUT = re.compile(
    rf"(?m)^[ \t]*+{_SHOWN}[^\n]*(?:\n[ \t]*+(?:#|//)[ \t]{{2,20}}[\[\d.\-][^\n]*)*+"
)
_OUTPUT_BESIDE = re.compile(rf"{_SHOWN}[ \t]*[\[\d.\-]")
_MARK = re.compile(r"(?m)^[ \t]*(?:#|//)")
_PRINTS = re.compile(r"[ \t]*(?:print|display|console\.log)\(|[ \t]*[\w.]{1,40}[ \t]*$")
# What is written around the numbers, up to their first bracket.
_BEFORE = re.compile(
    r"(?:Parameter containing:\s{0,9})?"
    r"(?:<tf\.\w{1,20}[^\[\]<>]{0,99}numpy=\s{0,9})?"
    r"(?P<paddle>Tensor\(shape=\[[\d, ]{0,40}\], dtype=[^\[\]\n]{0,99},\s{0,99})?"
    r"(?:[A-Za-z_][\w.]{0,60}\(\s{0,99})*(?:1\.?0{0,9}e(?P<factor>[+-]?\d{1,3})\s?\*\s{0,99}"
    r"(?:[A-Za-z_][\w.]{0,60}\(\s{0,99})?)?$"
)
_CALLED = re.compile(r"(\w{1,60})\(\s{0,99}")
_TAIL = re.compile(
    r"(?:[\s,;)>]"
    r"|\.(?:astype|float|double|half|to|numpy|copy|clone|detach|cpu|cuda|tolist|requires_grad_)"
    r"\([\w., ='\"]*\)"
    r"|(?:dtype|device|grad_fn|requires_grad|shape|name|weak_type|size|layout|numpy|dim)\s?=\s?"
    r"(?:'[^'\n]{0,99}'|<[^>\n]{0,99}>|\([^)\n]{0,99}\)|[\w.:]+))*"
)
# What would be computed with the numbers, on the same line.
_COMPUTED = re.compile(r"[ \t)]{0,99}(?:\*\*?|/|@|\.\w|\d|\^|[+-][ \t]*[\w.(\[])[^\n]{0,40}")
_COMPUTED_BEFORE = re.compile(
    r"[ \t]\d{0,20}\.\d{1,20}[ \t]*$|[\w.)\]]{1,40}[ \t]*(?:\*\*?|/|@|[+-])[ \t]*$"
    r"|[=(,][ \t]{0,20}[-~][ \t]{0,20}$"
)
# A mark that is no operation: "the - [1, 2]", "**Q** [1, 2]".
_DASH = re.compile(r"(?:^|\n)[ \t]*[^\W\d][^=()*/+@\n]{0,50} -[ \t]+$|\*\*[^*\n]{1,50}\*\*[ \t]*$")
_RULE = re.compile(r"[\s=\-_*~+#|·─═━]{3,}")
_SHAPE = re.compile(
    r"[\s:=]*(?:(?:torch\.|tf\.)?(?:Size|TensorShape))?\(?[\[(][\d, \tx×None]{1,60}[\])]\)?[\s,]*",
    re.IGNORECASE,
)
_SHAPE_BEHIND = re.compile(
    r"[ \t.]*(?:of )?(?:shape|size)?[ \t]*[:=]?[ \t]*(?:torch\.Size)?"
    r"(?:\([\[(]?\d{1,6}(?:,|(?:, ?\d{1,6}){1,3})[\])]?\)|\(\[\d{1,6}\]\)"
    r"|\[\d{1,6}(?:, ?\d{1,6}){0,3}\])[ \t:=]*$",
    re.IGNORECASE,
)
_TOLD = re.compile(r"(?:[Ss]hape|[Ss]ize)[\w.(:= \t]{0,30}?[(\[]((?:\d{1,6},? ?){1,4})[)\]]")
_PRINT = re.compile(r"(?:print|display|console\.log)\((.{1,200})\)")
_NAMES = re.compile(r"\(?[A-Za-z_]\w{0,39}(?:, ?[A-Za-z_]\w{0,39})+,?\)?")
# Code that a prompt would answer: a call, a product, a name with a dot.
_EXPRESSION = re.compile(
    r"[A-Za-z_][\w.]{0,60}\(.{0,150}\)|[A-Za-z_][\w.]*(?: ?[@*+/-] ?[\w.]+)+"
    r"|[A-Za-z_][\w.]*(?:\[[^\[\]]{1,40}\])+(?:\.\w{1,40})*"
)
_OPTION = re.compile(r"(?:end|sep|file|flush)\s?=")
_ROUNDED = re.compile(r"^(?:np|torch|tf|jnp)\.(?:round|around)\((\w+)(?:,\s?(?:decimals=)?\d+)?\)$")
_STEP = re.compile(
    r"(?:(?:step|part|cell|stage)[ \t]*\[?\d{1,3}(?:\.\d{1,2})?\]?[ \t]*[:.)–-]+"
    r"|\(?(?:\d{1,2}|[a-z])[.)][ \t])[ \t]*(?=[^\W\d]|[$*`])",
    re.IGNORECASE,
)
# What loggers write before a message, and [2/4] of a step.
_LOGGED = re.compile(
    r"[ \t]*(?:(?:\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?Z?\]?"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?|\[\d{1,6}/\d{1,6}\]"
    r"|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b\]?(?::[\w.]{1,40}:)?"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d{1,9} [\w.]{1,60}:\d{1,6}\]"
    r"|[\w.]{1,40}:\w{1,40}:\d{1,6}(?= -))(?:[ \t|:]|- )*+)++(?=[^\s\d\[])"
)
# What notebooks and training loops show below code: ✓ 0.0s, 1/1 [====] - 0s 50ms/step, ```.
_SHOWN_BELOW = re.compile(
    r"(?:[✓✔][ \t]*)?\d{1,6}(?:\.\d{1,3})?[ \t]?m?s"
    r"|\d{1,9}/\d{1,9} .{0,200}s/step.{0,200}|```\w{0,20}"
)
_TAGS = re.compile(r"(?:</?[A-Za-z]\w{0,9} ?/?>\s*)++")
# What is no part of a name in code: Q.shape=(2, 2) before Q, the type of Q: Tensor, cache [].
_BESIDE_NAME = re.compile(
    r"\w{1,40}\.shape\s?=\s?\([\d, ]{0,40}\)[\s,;|]*(?=\w)|.{0,200}\[[ \t]*\][ \t]+(?=\w)"
)
_TYPED = re.compile(
    r"([A-Za-z_]\w{0,39})\s?:\s?(?:[A-Za-z_]\w{0,20}\.)?"
    r"(?:[Tt]ensor|nd[Aa]rray|[Aa]rray|[Ll]ist|NDArray|[Tt]uple|[Mm]atrix)\b[\w\[\]., ]{0,60}"
)
_KEY = re.compile(r"(?:.{0,200}[({\[])?(['\"])([^'\"]{1,60})\1,")  # of a pair that goes on below
_CODE = re.compile(r"\w\(|[^=!<>]=[^=]|^(?:import|from|for|if|def|return|with|class|while)\b|^@")
_ARGUMENT = re.compile(r"^\w+\((?:[^()]*,)?\s*(\w+)$|^\w+=[^()=]*,\s*(\w+)$")
_MARKS = " \t:=#*`>'\"([{,;-•→|/%│"
_FAR = 600  # characters before an array, in which its label is looked for
_WIDE = 200  # characters at the end of a line, which is all that its label is looked for in
_MOST = 60  # characters of a label


class Around(NamedTuple):
    """What stands before an array."""

    label: str
    beside: bool  # whether the label is on the same line
    is_marked: bool = False  # whether “:” or “=” is between
    others: Sequence[str] = ()  # labels of the arrays after it, unless these have their own
    factor: int = 0  # the power of ten by which torch before 1.2 divided all numbers
    in_call: str = ""  # the function that would compute with the numbers
    computed: str = ""  # what would be computed with them, before them
    told: tuple[int, ...] = ()  # the shape that the text says
    rest: str = ""  # all that stands there, but for what holds the numbers


def cleaned(text: str) -> str:
    """Return a text of the same length, without comments and prompts; other signs in ASCII.

    >>> cleaned(">>> Q = [1, # one\\n...      2]")
    '    Q = [1,      \\n         2]'
    """
    if not text.isascii():
        text = text.translate(_OTHER_SIGNS)
    if any(map(text.__contains__, (">", "In [", "Out[", "]:", "...:", "\nE  ", "│"))):
        text = _PROMPT.sub(_blank, text)
    if "#" in text or "//" in text or "%" in text:
        text = _COMMENT.sub(_beside, text)
        text = _COMMENTS.sub(_on_lines, text)
    return text


def _beside(found: re.Match) -> str:
    """Blank a comment behind code, unless it is what the code prints: print(x)  # [1. 2.]"""
    text, start = found.string, found.start()
    line = text[max(text.rfind("\n", 0, start) + 1, start - 200) : start]
    if not line.strip() and found[0].lstrip("#/")[:1] in (" ", "\t"):
        return found[0]  # for _on_lines
    printed = _OUTPUT_BESIDE.match(found[0]) and _PRINTS.match(line)
    return found[0] if printed else _blank(found)


def _on_lines(found: re.Match) -> str:
    """Blank lines of comments, but for what code printed above them.

    A comment between the rows of an array leaves rows out.
    """
    text, start, end = found.string, found.start(), found.end()
    before_it, after = text[max(start - 500, 0) : start], text[end : end + 500]
    if before_it.rstrip()[-1:] in ("[", ",", "(") or after.lstrip()[:1] in ("]", ",", ")"):
        return _WHOLE_LINE.sub(_blank, found[0])
    shown = _OUTPUT.sub(lambda lines: _MARK.sub(_blank, lines[0]), found[0])
    return _WHOLE_LINE.sub(_blank, shown)


_OTHER_SIGNS = str.maketrans({"\u2212": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


def _blank(found: re.Match) -> str:
    return " " * len(found[0])


def before(text: str, plain: str, start: int, end: int) -> Around:
    """Return what stands between the array before, or the beginning, and the bracket at ``end``.

    ``plain`` is the text as :func:`cleaned` left it.

    >>> before("Attention Weights:\\n ", "Attention Weights:\\n ", 0, 20).label
    'Attention Weights'
    """
    near = plain[max(start, end - 160) : end]
    if "(shape=" not in near:
        near = near.rpartition("]")[2]  # nothing else that is searched for has brackets
    written = _BEFORE.search(near)
    calls = _CALLED.findall(written[0].removeprefix(written["paddle"] or "")) if written else []
    factor = int(written["factor"] or 0) if written else 0
    other = next((call for call in calls if call not in MAKERS), "")
    first = end - (len(written[0]) if written else 0)
    start = max(start, first - _FAR)
    rest = plain[start:first]
    labels, beside = _label(text[start:first], rest)
    computed = _COMPUTED_BEFORE.search(rest[-60:])
    if computed and not calls and _DASH.search(rest[-60:]):
        computed = None
    said = short(computed[0].strip(), 24) if computed else ""
    label, *others = labels or [""]
    marked = rest.rstrip().endswith((":", "="))
    *_, shape = None, *_TOLD.finditer(rest[-120:])
    goes_on = shape and any(map(str.isalnum, rest[-120:][shape.end() :].partition("\n")[2]))
    told = tuple(map(int, re.findall(r"\d+", shape[1]))) if shape and not goes_on else ()
    rest = rest.strip(" \t\r\n,;()")
    return Around(label, beside, marked, others, factor, other, said, told, rest)


def _label(text: str, plain: str) -> tuple[list[str], bool]:
    """Return the labels at the end of a text, and whether the first is on its last line.

    There are several where code prints several arrays, as ``Q, K, V`` does.
    """
    above, beside = text.split("\n"), plain.rpartition("\n")[2]
    above.pop()
    if beside.strip(_MARKS):
        names = beside.strip().removesuffix("=").rstrip()
        if names != beside.strip() and _NAMES.fullmatch(names):  # Q, K = [[1, 2]], [[3, 4]]
            return re.findall(r"\w+", names), True
        return [_named(beside)], True
    if beside.strip(" \t([{"):  # a mark alone, as in "- [1, 2]"
        return [], False
    numbers = 0  # lines of one number, which code printed before the array
    for k in range(len(above) - 1, -1, -1):
        prompt = _PROMPT.match(above[k])
        line = above[k][prompt.end() :].strip() if prompt else above[k].strip()
        if not any(map(str.isalnum, line)) or _SHOWN_BELOW.fullmatch(line):
            continue
        if _RULE.fullmatch(line) or _SHAPE.fullmatch(line):
            continue
        if is_figure(line):
            numbers += 1
            continue
        printed = _printed([*above[:k], line])
        return (printed[numbers:] if printed else [label_above(line)]), False
    return [], False


def _printed(lines: list[str]) -> list[str]:
    """Return what the last lines of code print, in order: names, or expressions as written.

    >>> _printed(["print(Q)", "print(K.T)"]), _printed(["W_Q, W_K"]), _printed(["softmax(x)"])
    (['Q', 'K.T'], ['W_Q', 'W_K'], ['softmax(x)'])
    """
    found: list[str] = []
    for line in reversed(lines):
        line = _PROMPT.sub("", line).strip()
        if not (printed := _PRINT.fullmatch(line)):
            break
        found = [*_arguments(printed[1]), *found]
    if found:
        return found
    last = lines[-1].strip()
    if _NAMES.fullmatch(last):
        return [name.strip() for name in last.strip("()").split(",") if name.strip()]
    return [short(last, _MOST)] if _EXPRESSION.fullmatch(last) else []


def _arguments(text: str) -> list[str]:
    """Return the arguments of a call that are no texts; a rounded one as what is rounded."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    kept = [part.strip() for part in (*parts, text[start:])]
    kept = [part for part in kept if part and part[0] not in "\"'" and not _OPTION.match(part)]
    return [short(_ROUNDED.sub(r"\1", part), _MOST) for part in kept]


def label_above(line: str) -> str:
    """Return the label that a line above an array is; "" where it is code that assigns."""
    comment = line.startswith(("#", "//", "%"))
    if not comment and (named := re.fullmatch(r"([A-Za-z_]\w{0,39})\s*[:=]?", line)):
        return named[1]
    if key := _KEY.fullmatch(line):
        return short(key[2], _MOST)
    if not comment and not line.endswith((":", "=")) and _CODE.search(_without_shape(line)):
        return ""
    return _named(line)


def _without_shape(line: str) -> str:
    return line[:-80] + _SHAPE_BEHIND.sub("", line[-80:])


def _named(line: str) -> str:
    """Return a label as written, without marks around it, the number of a step and a shape."""
    line = line[-_WIDE:]
    if logged := _LOGGED.match(line):
        line = line[logged.end() :]
    line = _TAGS.sub("", line) if "<" in line else line
    line = line.strip()
    if no_name := _BESIDE_NAME.match(line):
        line = line[no_name.end() :]
    line = re.sub(r"^.*[({\[](?=['\"])", "", line)  # OrderedDict([('W_Q',
    label = _without_shape(line.rstrip(":= \t"))
    label = label.rstrip("= \t").removesuffix(".shape").strip(_MARKS)
    label = label.removesuffix("']").removesuffix('"]')
    if typed := _TYPED.fullmatch(label):
        label = typed[1]
    if (printed := _PRINT.fullmatch(label)) and (names := _arguments(printed[1])):
        label = names[0]
    elif named := _ARGUMENT.search(label):  # BaseModelOutput(attentions=
        label = named[1] or named[2]
    label = re.sub(r"(?:^|[ =]{1,3})(?:Float|Int)\d\d$", "", label)  # Float32[1.0, 2.0]
    label = "" if label.lower() in ("shape", "size", "array") else label
    label = _STEP.sub("", label, count=1).strip(_MARKS) if _STEP.match(label) else label
    return short(label, _MOST)


def heading(gap: str) -> str:
    """Return the label of rows that have labels of their own: the line above the first one.

    >>> heading("Word vectors:\\n  the: "), heading("import numpy as np\\nx1 = ")
    ('Word vectors', '')
    """
    for line in reversed(gap.split("\n")[:-1][-12:]):
        if line.strip() and not _RULE.fullmatch(line):
            line = line.strip()
            return _named(line) if line.endswith(":") or line.startswith("#") else ""
    return ""


def is_size(around_text: str) -> bool:
    """Check whether what stands before whole numbers says that they are a shape or places."""
    words = re.findall(r"\w+\W{0,9}", around_text.rstrip()[-50:])
    return bool(words) and _SIZES.search(words[-1]) is not None


def behind(plain: str, end: int) -> tuple[int, str]:
    """Where what belongs to an array ends, and what would be computed with it."""
    tail = _TAIL.match(plain, end)
    after = tail.end() if tail else end
    closes = plain[end:after].rstrip(" \t")[-1:] in ("", ")")
    if closes and (found := _COMPUTED.match(plain, after)):
        return after + len(found[0]), short(found[0].strip(" \t)"), 24)
    return after, ""
