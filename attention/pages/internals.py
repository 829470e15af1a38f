"""Names of Streamlit that it does not document: all that the pages and the server use, here alone.

Another version of Streamlit may lack one. It is served all the same: the function that needed the
name says what the product then does without, and the log says once which name is missing.
"""

from __future__ import annotations

import logging
from functools import cache
from pkgutil import resolve_name
from typing import Any

import streamlit as st

LOG = logging.getLogger("attention")
# What each is used for: where it stands. A colon ends the name of the module.
NAMES = {
    "context": "streamlit.runtime.scriptrunner:get_script_run_ctx",
    "context's class": "streamlit.runtime.scriptrunner_utils.script_run_context:ScriptRunContext",
    "runtime": "streamlit.runtime:Runtime",
    "uploads": "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager",
    "values": "streamlit.runtime.state.safe_session_state:SafeSessionState",
}
# What the objects of these classes are asked for.
ATTRIBUTES = {
    "context's class": ("is_history_navigation", "page_script_hash", "session_id")
    + ("uploaded_file_mgr",),
    "runtime": ("exists", "instance", "uploaded_file_mgr"),
    "uploads": ("add_file", "file_storage", "remove_session_files"),
    "values": ("filtered_state",),
}


@cache
def missing(name: str) -> None:
    """Write once to the log that Streamlit has no such name."""
    LOG.warning("Streamlit %s has no %s; the dashboard does without it.", st.__version__, name)


def named(use: str) -> Any:
    """Return what stands at one of ``NAMES``; None where it is not there.

    >>> named("context")() is None  # no script runs here
    True
    """
    try:
        return resolve_name(NAMES[use])
    except (ImportError, AttributeError):
        missing(NAMES[use])
        return None


def _of_context(attribute: str, otherwise: Any) -> Any:
    """An attribute of the running script's context."""
    context = found() if (found := named("context")) else None
    if context is None:
        return otherwise
    try:
        return getattr(context, attribute)
    except AttributeError:
        missing(f"ScriptRunContext.{attribute}")
        return otherwise


def went_back() -> bool:
    """Check whether Back or Forward began this run. Without it: never."""
    return bool(_of_context("is_history_navigation", False))


def page_hash() -> str:
    """Return what stands for this run's page. Without it: "", as if there were one page."""
    return str(_of_context("page_script_hash", ""))


def forget_uploads() -> None:
    """Have the server forget what this session uploaded. Without it: it is kept until the end of
    the session.
    """
    files, session = _of_context("uploaded_file_mgr", None), _of_context("session_id", None)
    if hasattr(files, "remove_session_files"):
        files.remove_session_files(session)
    elif files is not None:
        missing("UploadedFileManager.remove_session_files")


def uploads() -> Any:
    """Return the running server's store of uploaded files; None where there is none, or none whose
    files can be counted.
    """
    runtime, kind = named("runtime"), named("uploads")
    try:
        if runtime is None or kind is None or not runtime.exists():
            return None
        files = runtime.instance().uploaded_file_mgr
    except AttributeError as problem:
        missing(str(problem))
        return None
    absent = [name for name in ATTRIBUTES["uploads"] if not hasattr(files, name)]
    for name in absent:
        missing(f"{type(files).__name__}.{name}")
    return None if absent or not isinstance(files, kind) else files
