"""Frames that pandas printed, as tables: without what is around their rows."""

from __future__ import annotations

import re

from attention.limits import BadInput
from attention.readers.cells.printouts import is_number, sides

_SIZE = re.compile(r"\s*\[(\d{1,9}) rows x (\d{1,9}) columns\]\s*")
_DOTS = {"..", "...", "\u2026"}  # in place of rows or columns
_PRINT_ALL = "print all, with print(frame.to_string())."


def as_table(text: str, where: str) -> str:
    """Return a table without the size below it and without the name of its index.

    Refuse one that leaves numbers out, or has another size than it says. A line in place of the
    name keeps the numbers of the lines.

    >>> as_table("      a  b\\nword\\ncat   1  2\\n\\n[1 rows x 2 columns]", "it")
    '      a  b\\n\\x0b\\ncat   1  2\\n'
    """
    lines = text.rstrip().split("\n")
    size = _SIZE.fullmatch(lines[-1])
    rows = lines[:-1] if size else lines
    table = _without_index_name(rows)
    if _leaves_out(table, bool(size) or table != rows):
        raise BadInput(f"{where}: the printout leaves numbers out (...); {_PRINT_ALL}")
    if table == lines:
        return text
    filled = [line for line in table if line.strip()]
    if size and filled:
        told, found = tuple(map(int, size.groups())), (len(filled) - 1, len(filled[0].split()))
        if told != found:
            raise BadInput(
                f"{where} says that it is {sides(told)}, and it has {sides(found)}; {_PRINT_ALL}"
            )
    return "\n".join(table)


def _without_index_name(lines: list[str]) -> list[str]:
    """Return the lines without the name of the index, alone below the names of the columns.

    Where it is, the name of the columns themselves may be before theirs.
    """
    first, second, third = [*lines[:3], "", "", ""][:3]
    if len(second.split()) != 1 or _ends_in_number(second) or len(third.split()) < 2:
        return lines
    named = not first.startswith(" ")
    if len(first.split()) <= named or (named and _ends_in_number(first)):
        return lines
    if not _ends_in_number(third) or re.search('[\t;,"]', first + second):
        return lines
    return [re.sub(r"^\S+", "", first), "\x0b", *lines[2:]]


def _ends_in_number(line: str) -> bool:
    last = line.split()[-1]
    return is_number(last) or last.lower() in ("true", "false")


def _leaves_out(lines: list[str], of_pandas: bool) -> bool:
    """Check for dots in place of rows or columns; a token of dots begins a row of numbers."""
    if not any(mark in line for mark in _DOTS for line in lines):
        return False
    rows = [line.split() for line in lines if line.strip()]
    beside = [bool(_DOTS.intersection(row[1:])) for row in rows]
    alone = any(len(row) > 1 and _DOTS.issuperset(row) for row in rows)
    return alone or (any(beside) if of_pandas else len(rows) > 1 and all(beside))
