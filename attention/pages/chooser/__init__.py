"""The chooser of files: a button and a place to drop them, for files of any kind and size.

The browser sends what is within the limit whole, and of a larger file its first bytes, by which the
page says what it is. Nothing goes over HTTP: a proxy's limit on uploads does not count.
"""

from __future__ import annotations

import base64
import binascii
import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from attention.limits import MAX_FILE, MAX_FILES, MAX_HEADER, MAX_STATE, BadInput
from attention.models.opening import too_large
from attention.numbers import megabytes
from attention.pages import scripts, state
from attention.readers.entry import shown
from attention.readers.other_files import answer
from attention.session import links

MOST_NAME = 255  # characters
MOST_CHOICES = 2**53
AT_MOST = f"at most {megabytes(MAX_FILE)} are read. A reload forgets the file."
HEAD = MAX_HEADER + 8  # bytes that are sent of files beyond the limit
LONGEST = 4 * (MAX_STATE + HEAD) // 3 + 4 * MAX_FILES  # characters of all files of a message

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "attention_chooser",
    html='<div class="chooser"></div>\n',
    css=(_HERE / "chooser.css").read_text(),
    js=scripts.importing("chooser"),
    isolate_styles=False,
)


class ChosenFile(NamedTuple):
    """A file as the browser sent it: whole, or its first bytes alone."""

    name: str
    size: int
    sent: bytes

    @property
    def is_whole(self) -> bool:
        return len(self.sent) == self.size

    def content(self) -> bytes:
        """All its bytes; of a file that was not sent, why not, and what can be done."""
        if self.is_whole and links.is_file(self.sent):  # it may be larger than other files
            return self.sent
        if self.size > MAX_FILE and (
            said := too_large(self.sent[:HEAD], shown(self.name), self.size)
        ):
            raise BadInput(said)
        if told := answer(self.name, self.sent[:HEAD], self.size):
            raise told
        if not self.is_whole:
            raise BadInput(
                f"{shown(self.name)} was not sent beside the others, which are too large together;"
                " choose it alone."
            )
        return self.sent


def show(key: str, label: str, says: str, most: int = 1) -> tuple[ChosenFile, ...]:
    """Draw the chooser; what was chosen last, until it is taken away or its page is left.

    ``most`` files can be chosen at once.
    """
    if not state.stands(key):
        state.set_page_value(_chosen(key), (0, ()))
    turn, files = state.page_value(_chosen(key), (0, ()))
    data = {
        "label": label,
        "says": says,
        "turn": turn,
        "files": [(shown(file.name, 60), file.size) for file in files],
        "limits": {"files": most, "bytes": MAX_FILE, "state": MAX_STATE, "head": HEAD},
    }
    taken = partial(state.heard, key, "chosen", partial(_take, key))
    _COMPONENT(key=key, data=json.dumps(data).encode(), on_chosen_change=taken)
    state.catch_up(key, {"chosen": taken})
    return files


def forget(key: str) -> None:
    """Let go of the files."""
    state.set_page_value(_chosen(key), (0, ()))


def taken_away(key: str) -> bool:
    """Whether the person chose files here and then took them away."""
    turn, files = state.page_value(_chosen(key), (0, ()))
    return bool(turn) and not files


def _chosen(key: str) -> str:
    return f"{key}_chosen"


def _take(key: str, message: Any) -> None:
    try:
        chosen = read(message)
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error):
        state.refuse("the files did not arrive whole; choose them once more.")
        chosen = _turn(message), state.page_value(_chosen(key), (0, ()))[1]  # which stay
    state.set_page_value(_chosen(key), chosen)


def _turn(message: Any) -> int:
    """The count of a message that is refused, so that the browser knows it as answered."""
    turn = message.get("turn") if isinstance(message, dict) else 0
    return turn if type(turn) is int and 0 <= turn < MOST_CHOICES else 0


def read(message: Any) -> tuple[int, tuple[ChosenFile, ...]]:
    """What a browser sent: its count of choices, and the files; nothing in it is trusted.

    >>> read({"turn": 1, "files": [{"name": "x.csv", "size": 3, "sent": "MSwy"}]})
    (1, (ChosenFile(name='x.csv', size=3, sent=b'1,2'),))
    """
    turn, given = message["turn"], message["files"]
    if type(turn) is not int or not 0 <= turn < MOST_CHOICES or not isinstance(given, list):
        raise ValueError
    if len(given) > MAX_FILES or sum(len(file["sent"]) for file in given) > LONGEST:
        raise ValueError
    return turn, tuple(map(_file, given))


def _file(given: dict[str, Any]) -> ChosenFile:
    name, size, sent = given["name"], given["size"], given["sent"]
    if not isinstance(name, str) or type(size) is not int:
        raise ValueError
    content = base64.b64decode(sent, validate=True)
    if len(content) > size:
        raise ValueError
    return ChosenFile(name[-MOST_NAME:], size, content)
