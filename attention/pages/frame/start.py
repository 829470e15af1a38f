"""What the bare address opens: the first example, or the state that the command was given."""

from __future__ import annotations

from collections.abc import Mapping

from attention.session.state import links
from attention.session.state.examples import FIRST
from attention.session.state.settings import Settings
from attention.session.state.validate import check

_START: list[Settings] = []  # at most one, the same for all visitors of this process


def begin_with(settings: Settings | None) -> None:
    """Let each visit that comes without an address begin with these settings; None: the example."""
    _START[:] = [settings] if settings else []


def read(address: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """Return the settings that an address stands for, and what of it was refused.

    TooManyTokens has them where there are more tokens than a board shows.
    """
    if _START and not address:
        return check(_START[0]), []
    return links.read(address)


def is_bare(link: Mapping[str, str]) -> bool:
    """Whether the bare address opens the state of this link."""
    return not _START and link == {"example": FIRST}
