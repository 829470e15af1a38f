"""Many small maps, each a button: a glance at every head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from attention.figures.panes.maps import SmallMap
from attention.pages.components import shaded

_COMPONENT = shaded.component("maps")


class Button(NamedTuple):
    """One map: what is sent back when it is pressed, and what stands under it and is read out."""

    id: str
    map: SmallMap
    name: str
    lines: tuple[str, ...]
    says: str
    is_wrong: bool = False


class Group(NamedTuple):
    """Maps under a heading, with a quiet line beside that."""

    title: str
    note: str
    buttons: Sequence[Button]


def show(key: str, groups: Sequence[Group], on_pressed: Callable[[object], None]) -> None:
    """Draw the maps; ``on_pressed`` gets what the browser sent, unchecked."""
    written: list[dict[str, Any]] = []
    codes = b""
    for title, note, buttons in groups:
        maps = []
        for button in buttons:
            rows, columns, shades = button.map
            maps.append(button._asdict() | {"map": [rows, columns]})
            codes += shades
        written.append({"title": title, "note": note, "buttons": maps})
    shaded.show(_COMPONENT, key, {"groups": written}, codes, "pressed", on_pressed)
