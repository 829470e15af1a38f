"""A captured head's weights over the picture that its model read."""

from __future__ import annotations

import numpy as np

from attention.core.recorded import Patches
from attention.explain.view import View
from attention.limits import BadInput
from attention.pages.components import over
from attention.pages.panels import cells
from attention.session.edit.changes import name_of
from attention.session.state.about import what_it_is
from attention.session.state.run import recorded
from attention.session.state.settings import Settings
from attention.vocabulary.numbers import number

OVER = "Over a picture"
MOST_NAMED = 8  # keys that are no patches; the others are added up


def patches_of(s: Settings, shown: View) -> Patches | None:
    """Return where the patches of a picture are among the keys; None where they are none."""
    of = recorded(s)
    if of is None or of.patches is None:
        return None
    try:
        of.patches.places(len(shown.labels["keys"]))
    except BadInput:  # of a link that anybody may have written
        return None
    return of.patches


def panel(s: Settings, shown: View, patches: Patches) -> None:
    """Draw the chosen query's weights, each patch at its place."""
    weights, keys = shown.stages["weights"][s.query], shown.labels["keys"]
    hidden = ~shown.allowed[s.query] | ~np.isfinite(weights)
    places = patches.places(len(keys))
    labels = [keys[key] for key in places.ravel()]
    query = {label: k for k, label in enumerate(shown.labels["queries"])}
    about = what_it_is(s)
    mine = shown.labels["queries"][s.query]
    of = recorded(s)
    found = over.Over(
        weights[places],
        hidden[places],
        labels,
        [query.get(label, -1) for label in labels],
        mine,
        labels.index(mine) if mine in labels else -1,
        apart(np.where(hidden, 0, weights), keys, places, s.digits),
        of.heading if of else "",
        f"attention_{name_of(s)[1]}_picture{about.suffix}",
        "; ".join(about.lines()),
        s.digits,
    )
    over.show("over_picture", found, cells.ask)


def apart(weights: np.ndarray, keys: tuple[str, ...], places: np.ndarray, digits: int) -> str:
    """Return the weights of keys that are no patches, and of all patches; "" if there are none.

    >>> apart(np.array([0.25, 0.5, 0.25]), ("[CLS]", "patch 0", "patch 1"), np.array([[1, 2]]), 2)
    '[CLS]: 0.25; all patches: 0.75'
    """
    others = np.setdiff1d(np.arange(len(keys)), places).tolist()
    named = [f"{keys[key]}: {number(float(weights[key]), digits)}" for key in others[:MOST_NAMED]]
    if rest := others[MOST_NAMED:]:
        named.append(f"{len(rest)} others: {number(float(weights[rest].sum()), digits)}")
    if not named:
        return ""
    return f"{', '.join(named)}; all patches: {number(float(weights[places].sum()), digits)}"
