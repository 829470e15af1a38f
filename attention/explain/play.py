"""Play: the steps of one query through the board, each with the arithmetic that the card shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from attention.core.scores import FUNCTION, SIGMOID
from attention.explain.captions import fills, pushed
from attention.explain.card import Card, card_of
from attention.explain.strip import strongest
from attention.explain.view import View
from attention.vocabulary.numbers import constant
from attention.vocabulary.sentences import called, capital

MOST_CARDS = 12  # keys; of more the dot product of one alone is written out
DOT, EACH, WEIGHTS, MIX = "dot", "each", "weights", "mix"  # kinds of steps, as play.js draws them


@dataclass(frozen=True)
class PlayStep:
    """One step of the query's row, from one stage to the next."""

    kind: str
    name: str  # "Softmax"
    takes: str  # the stage whose row it takes
    above: str  # the stage whose columns it multiplies that with, or ""
    makes: str
    cards: tuple[Card, ...]  # of each key, in their order; or one, of a number of the row


def play_of(view: View, query: int, digits: int = 2) -> tuple[PlayStep, ...]:
    """Return the steps of a query, from its dot products to its output.

    There are none where the weights were given, as nothing leads to them.

    Parameters
    ----------
    view : View
    query : the row, counted from 0
    digits : decimals, as in :func:`attention.vocabulary.numbers.number`

    >>> import numpy as np
    >>> from attention import self_attention
    >>> X, W = [[2, 0], [0, 1]], np.eye(2)
    >>> trace = self_attention(X, W, W, W, allowed=np.tril(np.ones((2, 2), bool)))
    >>> steps = play_of(View.of(trace, tokens=("cat", "sat")), 0)
    >>> [step.name for step in steps]
    ['Dot products', 'Scale', 'Mask', 'Softmax', 'Mix']
    >>> "".join(text for text, _ in steps[1].cards[0].title), steps[1].cards[0].lines
    ('Divide every score by √2 = 1.4142', ('4 ÷ √2 = 2.83',))
    """
    if "scores" not in view.stages or "output" not in view.stages:
        return ()
    made = _Maker(view, query, digits)
    chain = [name for name in _EACH if name in view.stages]
    if "mask" not in view.stages and "masked" in chain:
        chain.remove("masked")  # it is the stage before it, number by number
    steps = [made.dots()]
    steps += [made.each(*pair) for pair in zip(["scores", *chain], chain, strict=False)]
    return (*steps, made.weights(chain[-1] if chain else "scores"), made.mix())


_EACH = {"scaled": "Scale", "capped": "Cap", "modified": "Function", "masked": "Mask"}


@dataclass(frozen=True, eq=False)
class _Maker:
    """Makes the steps of a query."""

    view: View
    query: int
    digits: int

    def card(self, stage: str, column: int, title: str = "") -> Card:
        card = card_of(self.view, (stage, self.query, column), self.digits, chained=False)
        return replace(card, title=((title, ""),)) if title else card

    @property
    def best(self) -> int:
        return strongest(self.view, self.query)

    def dots(self) -> PlayStep:
        count = self.view.stages["scores"].shape[1]
        keys = range(count) if count <= MOST_CARDS else [self.best]
        cards = tuple(self.card("scores", j) for j in keys)
        takes, above = self.view.source("Q"), self.view.source("K")
        return PlayStep(DOT, "Dot products", takes, above, "scores", cards)

    def each(self, takes: str, makes: str) -> PlayStep:
        """Make a step that changes each number by itself."""
        title = {
            "scaled": self.scaling,
            "capped": self.capping,
            "modified": lambda: "Apply the given function to every score",
            "masked": self.masking,
        }[makes]()
        column = self.masked if makes == "masked" else self.best
        name = "Bias" if makes == "masked" and self.only_adds else _EACH[makes]
        return PlayStep(EACH, name, takes, "", makes, (self.card(makes, column, title),))

    @property
    def only_adds(self) -> bool:
        """Return whether what is added to the scores hides no key."""
        return bool(self.view.allowed.all()) and not pushed(self.view).any()

    def scaling(self) -> str:
        write = partial(constant, digits=self.digits)
        if not self.view.divides_by_root:
            return f"Multiply every score by {write(self.view.scale)}"
        d_k = self.view.stages["Q"].shape[1]
        return f"Divide every score by √{d_k} = {write(d_k**0.5)}"

    def capping(self) -> str:
        if self.view.softcap is None:
            return "Cap every score"
        return f"Cap: tanh keeps every score within ±{constant(self.view.softcap, self.digits)}"

    @property
    def masked(self) -> int:
        """Return the key whose masked score is written out: the first with a mask or bias."""
        M = self.view.stages["mask"][self.query]
        for found in (~self.view.allowed[self.query], M != 0):
            if found.any():
                return int(found.argmax())
        return self.best

    def masking(self) -> str:
        view = self.view
        added = view.bias is not None and bool(view.bias.any())
        hides = not view.allowed.all()
        if added and fills(view):
            title, here = "Add −1e9 where the key is hidden", pushed(view)[self.query].any()
        elif added:
            title = "Add the bias, then hide the masked keys" if hides else "Add the bias"
            if not hides and pushed(view).any():
                title += ", and −1e9 where the key is hidden"
            return title
        else:
            title, here = "Hide the masked keys", not view.allowed[self.query].all()
        return title if here else f"{title}: none for {called(view.labels['queries'], self.query)}"

    def weights(self, takes: str) -> PlayStep:
        view = self.view
        name, title = {
            True: ("Softmax", "Raise e to each score, then divide by the sum"),
            False: ("Weights", "Softmax is off: the scores are the weights"),
            SIGMOID: ("Weights", "Take the sigmoid of each score"),
            FUNCTION: ("Weights", "Apply the given function to the row of scores"),
        }[view.softmax]
        if not view.allowed[self.query].any():
            who = capital(called(view.labels["queries"], self.query))
            title = f"{who} sees no key, so all its weights are 0"
        elif view.softmax is True and view.sink is not None:
            title = "Raise e to each score, then divide by the sum with the sink"
        card = self.card("weights", self.best, title)
        return PlayStep(WEIGHTS, name, takes, "", "weights", (card,))

    def mix(self) -> PlayStep:
        title = "Add up the rows of V, each times its weight"
        return PlayStep(MIX, "Mix", "weights", "V", "output", (self.card("output", 0, title),))
