"""The uploader of every page: Streamlit's own, and what a page needs to know beside it."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import streamlit as st

from attention.limits import MAX_FILE, MAX_HEADER, BadInput
from attention.pages.frame import internals, pieces, state
from attention.readers.cells.entry import shown
from attention.readers.files.other_files import OtherKind, answer
from attention.session.state import links
from attention.vocabulary.numbers import megabytes
from attention.vocabulary.sentences import capital

INSTEAD = "Too large, or another kind (.pt, .pkl, .gguf, .parquet)?"
ARRAYS = """\
import numpy as np
np.savez("part.npz", {})  # of PyTorch: {}.detach().float().cpu()"""
CAPTURE = """\
with attention.capture(model, layers=[0]) as taken: model(**inputs)
taken.save("run.safetensors")  # of a long input: large=True, for Long context"""
LINES = {  # of Python, by the key of the uploader
    "load_file": ARRAYS.format("X=np.asarray(array)[:64]", "array"),
    "check_file": ARRAYS.format("output=np.asarray(output)", "output"),
    "long_file": ARRAYS.format("Q=np.asarray(Q), K=np.asarray(K)", "Q"),
    "model_file": CAPTURE,
}
LOST = "the uploaded file is no longer on the server; upload it again."


class UploadedFile(NamedTuple):
    """A file as a user uploaded it."""

    name: str
    whole: bytes

    def content(self, most: int = MAX_FILE) -> bytes:
        """Return its bytes; of a kind or size that is not read, raise what to do instead.

        A saved state may be larger than other files.
        """
        if links.is_file(self.whole):
            return self.whole
        size, head = len(self.whole), self.whole[: MAX_HEADER + 8]
        if told := answer(self.name, head, size if size > most else 0):
            raise told
        return self.whole


def upload(key: str, label: str, limit: int, says: str) -> UploadedFile | None:
    """Draw the uploader of one file, and return the file that is in it.

    Below it are lines of Python for a file that is too large or of another kind.

    It stays there until the user removes it, the page forgets or refuses it, or another page is
    opened. Why the last one was refused stands below the uploader.

    Parameters
    ----------
    key : one of :data:`LINES`
    label, says : what it is for, and what it reads
    limit : bytes of a file, whole MB; the browser checks them, and so does the server
    """
    if not state.stands(key):
        forget(key)
    kept = _kept(key)
    widget = f"{key}_{kept.emptied}"
    with st.container(key=key):
        st.file_uploader(
            label,
            key=widget,
            on_change=partial(_take, key, widget, limit),
            max_upload_size=limit // 2**20,
        )
        pieces.note(says)
        if st.session_state.get(widget) is not None and kept.file is None:
            _take(key, widget, limit)  # what a session before this one had not read, or cannot
            st.rerun()
        if kept.problem:
            pieces.message_box("refused", capital(str(kept.problem)))
            if isinstance(kept.problem, OtherKind) and kept.problem.code:
                st.code(kept.problem.code, language="python", wrap_lines=True)
        with st.expander(INSTEAD):
            st.code(LINES[key], language="python", wrap_lines=True)
    return kept.file


def forget(key: str) -> None:
    """Empty the uploader."""
    kept = _kept(key)
    if kept.file or kept.problem:
        _keep(key, Kept(kept.emptied + 1))


def refuse(key: str, problem: BadInput) -> None:
    """Empty the uploader, and say why below it."""
    _keep(key, Kept(_kept(key).emptied + 1, problem=problem.bare()))


def problem(key: str) -> BadInput | None:
    """Return why the last file was refused; None where it was not."""
    return _kept(key).problem


class Kept(NamedTuple):
    """What a page keeps of an uploader."""

    emptied: int = 0  # how often: each time a new one takes its place, as Streamlit empties none
    file: UploadedFile | None = None
    id: str = ""  # Streamlit's, of the file
    problem: BadInput | None = None


def _kept(key: str) -> Kept:
    kept: Kept = state.page_value(_name(key), Kept())
    return kept


def _keep(key: str, kept: Kept) -> None:
    state.set_page_value(_name(key), kept)


def _name(key: str) -> str:
    return f"{key}_uploaded"


def _take(key: str, widget: str, limit: int) -> None:
    """Read what was uploaded, and have Streamlit forget it."""
    uploaded, kept = st.session_state.get(widget), _kept(key)
    if uploaded is not None and uploaded.file_id == kept.id:
        return  # that it was forgotten counts as a change
    state.control_moved()
    if uploaded is None:  # the user removed it
        _keep(key, Kept(kept.emptied))
        return
    if not hasattr(uploaded, "getvalue"):  # Streamlit's DeletedFile, which has no name
        refuse(key, BadInput(LOST))
        return
    content = uploaded.getvalue()
    internals.forget_upload(uploaded.file_id)
    if len(content) > limit:
        name, size, most = shown(uploaded.name), megabytes(len(content)), megabytes(limit)
        refuse(key, BadInput(f"{name} has {size}; at most {most} are read."))
        return
    _keep(key, Kept(kept.emptied, UploadedFile(uploaded.name, content), uploaded.file_id))
