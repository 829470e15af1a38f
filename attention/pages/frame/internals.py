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
    "values": "streamlit.runtime.state.safe_session_state:SafeSessionState",
}
# What the objects of these classes are asked for.
ATTRIBUTES = {
    "context's class": ("is_history_navigation", "page_script_hash", "session_id"),
    "runtime": ("exists", "instance", "uploaded_file_mgr"),
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


def forget_upload(file: str, session: str = "") -> None:
    """Have the server forget an uploaded file, of this session if no other is named. Without it:
    it is kept until the end of the session.
    """
    runtime, session = named("runtime"), session or _of_context("session_id", "")
    try:
        if runtime is not None and runtime.exists():
            runtime.instance().uploaded_file_mgr.remove_file(session, file)
    except AttributeError as problem:
        missing(str(problem))
