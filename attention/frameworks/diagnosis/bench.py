"""A bench that runs the attention of one input with any set of mistakes in it.

The arithmetic is a chain of steps, each with the parts that a mistake may change. A set of mistakes
chooses an option for some parts; None is the right one. Where the next set shares the first steps
with the last one, or with right attention, their results are taken over: whoever tries many sets
sorts them by :meth:`Bench.order`. A bench may compute some of the queries only, so that trying is
cheap; what mixes queries has no room on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from attention.arrays.checks import softmax_rows, weighted_sum
from attention.arrays.distance import furthest, largest_finite
from attention.arrays.layouts import join_heads, repeat_heads, split_heads
from attention.core.biases import alibi_slopes
from attention.core.masks import lead
from attention.core.norms import RMSNorm
from attention.core.positions import sinusoidal
from attention.core.rotary import PAIRS, Rotary
from attention.core.scores import SIGMOID, soft_cap
from attention.frameworks.diagnosis.mask_options import MASKED, halves
from attention.frameworks.diagnosis.mistakes import MISTAKES, Mistake, NoRoom
from attention.frameworks.diagnosis.options import (
    JOIN,
    ROTATED_OTHERWISE,
    SHARED,
    SOFTMAX,
    SPLIT,
    Numbers,
    Options,
    gate,
    hidden_after,
    hiding,
    lost_to_cancelling,
    not_shifted,
    numbers,
    other_slopes,
    recut,
    rotated,
    singly,
    tokens_first,
)
from attention.frameworks.given import BIASES, Given, grouped
from attention.vocabulary.stages import OF_A_HEAD, PREPARED

Stages = dict[str, np.ndarray]
BEFORE_LOOK_AHEAD = (  # masks that say more than that look-ahead was put in
    *("transposed", "other triangle", "diagonal hidden", "one ahead", "other corner"),
    *("no window", "padding lost", "padding both ways", "nothing after", "documents lost"),
)
SAID_BY: dict[
    tuple[str, str], tuple[str | None, ...]
] = {  # an option whose title says less than that of another of the same number or mask
    ("scale", "d_model"): ("default",),
    ("scale", "all heads"): ("default", "d_model"),
    ("scale", "twice"): ("d_k",),
    ("mask", "other triangle"): ("transposed",),
    ("mask", "diagonal shown"): (None,),  # the right mask is no mistake, under no name
    ("mask", "look-ahead lost"): (None,),
    ("mask", "last key short"): ("sides narrower",),
    ("mask", "nothing after"): ("sides narrower", "last key short"),
    ("mask", "window alone"): (None, "padding lost"),
    ("mask", "padding alone"): (None, "look-ahead lost"),
    ("mask", "documents lost"): ("no window",),
    ("mask", "look-ahead added"): (None, *BEFORE_LOOK_AHEAD),
    ("mask", "look-ahead added, lower right"): (None, *BEFORE_LOOK_AHEAD, "look-ahead added"),
    ("mask", "look-ahead instead"): (
        *(None, *BEFORE_LOOK_AHEAD, "look-ahead added", "look-ahead added, lower right"),
    ),
    ("mask", "look-ahead instead, lower right"): (
        *(None, *BEFORE_LOOK_AHEAD, "look-ahead added", "look-ahead added, lower right"),
        "look-ahead instead",
    ),
    ("mask", "items first"): ("heads first",),
    ("mask", "of the first"): (None,),
    ("mask", "of the next"): (None,),
    ("mask", "of the one before"): (None, "of the next"),
}
OF_ALL_HEADS = ("heads first", "items first")  # give one mask of all heads to each otherwise
PROJECTIONS_KEPT = 12
CANCELS = 4  # times smaller than its terms: a sum whose rounding is measured by them


def _but_axes(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    return tuple(mistake for mistake in mistakes if "axes" not in mistake.parts)


class Bench:
    """Runs the attention of one input, right or with mistakes."""

    STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (  # each, and the parts that it looks at
        ("heads", ("positions", "W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "split")),
        ("before", ("norm", "rotary", "groups", "order")),  # the scores
        ("scores", ("product",)),
        ("scaled", ("scale",)),
        ("masked", ("cap", "bias", "relative", "mask", "hiding")),
        ("weights", ("softmax", "sinks", "temperature", "dropout", "shares")),
        ("summed", ("sum", "leak")),
        ("joined", ("join",)),
        ("projected", ("W_O", "b_O", "residual", "layout")),
    )
    PARTS = ("axes", *(part for _, parts in STEPS for part in parts))  # axes are before all steps
    OF_ONE_HEAD = frozenset(part for _, parts in STEPS[2:-2] for part in parts)

    def __init__(
        self,
        given: Given,
        queries: np.ndarray | None = None,
        like: Bench | None = None,
        whole: Given | None = None,
        head: int | None = None,
    ) -> None:
        self.given = given
        self.whole = whole or given  # of whose heads these inputs are one: their widths set scales
        self.head = head  # which of them it is
        self.queries = queries  # which are computed; None: all
        self.columns = slice(None)  # of W_O, that are computed
        # the other code's joined output, and what rounding may have changed in it: to fit to
        self.answer: np.ndarray | None = None
        self.answer_unit: np.ndarray | float = 0.0
        # more than this a weight was dropped: where the other code's is 0, what is written as 0
        self.dropped: np.ndarray | None = None
        self._projections: dict = like._projections if like else {}
        # W_O, as it is used, and what V is rounded by; other queries have the same
        self._last_weights: dict = like._last_weights if like else {}
        self._masks: dict[str | None, np.ndarray] = like._masks if like else {}
        self._sizes: list[tuple[np.ndarray, tuple[bool, np.ndarray]]] = []  # of the latest values
        if like and "applicable" in vars(like) and (queries is None) == (like.queries is None):
            self.applicable = like.applicable  # which queries they are makes no difference
        self._right: dict[str, tuple[tuple, Stages]] = {}
        self._last: dict[str, tuple[tuple, Stages]] = {}

    @cached_property
    def right(self) -> Stages:
        """Every stage without a mistake."""
        right = self.run(())
        assert right is not None
        self._right = dict(self._last)
        return right

    @cached_property
    def applicable(self) -> tuple[Mistake, ...]:
        """The mistakes that these inputs leave room for."""
        return tuple(mistake for mistake in MISTAKES if self._applies(mistake))

    @property
    def scores(self) -> int:
        """How many scores one run computes: what it costs."""
        *lead, n_q, n_k = self.given.shape
        return math.prod(lead) * n_k * (n_q if self.queries is None else len(self.queries))

    @classmethod
    def order(cls, mistakes: Iterable[Mistake]) -> tuple[str, ...]:
        """Return what to sort sets of mistakes by, so that neighbours share their first steps."""
        chosen = dict(choice for mistake in mistakes for choice in mistake.choices)
        return tuple(chosen.get(part, "") for part in cls.PARTS)

    def run(self, mistakes: Iterable[Mistake]) -> Stages | None:
        """Every stage with these mistakes; None where the inputs leave no room for one of them."""
        mistakes = tuple(mistakes)
        chosen: Options = dict.fromkeys(self.PARTS)
        for mistake in mistakes:
            chosen.update(mistake.choices)
        if chosen["axes"]:
            return self._read_otherwise(chosen, lambda bench: bench.run(_but_axes(mistakes)))
        stages: Stages = {}
        options, looked_at = tuple(chosen[part] for part in self.PARTS), 1
        try:
            with np.errstate(all="ignore"):
                for step, parts in self.STEPS:
                    looked_at += len(parts)
                    stages |= self._once(step, options[:looked_at], stages, chosen)
        except ValueError:  # no room, or shapes that do not fit
            return None
        return stages

    def run_by_head(
        self,
        mistakes: Iterable[Mistake],
        look: Callable[[tuple[int, ...], Stages], object],
    ) -> Stages | None:
        """Return the output with these mistakes, in the memory that the scores of one head take.

        ``look(index, stages)`` is shown the stages of one item and head after the other.
        """
        mistakes = tuple(mistakes)
        chosen: Options = dict.fromkeys(self.PARTS)
        for mistake in mistakes:
            chosen.update(mistake.choices)
        if chosen["axes"]:
            rest = _but_axes(mistakes)
            return self._read_otherwise(chosen, lambda bench: bench.run_by_head(rest, look))
        inside = [mistake for mistake in mistakes if mistake.parts <= self.OF_ONE_HEAD]
        try:
            with np.errstate(all="ignore"):
                stages = self._heads({}, chosen)
                stages |= self._before(stages, chosen)
                lead, outputs, sizes = self.given.shape[:-2], [], []
                for index in np.ndindex(lead):
                    head = index[-1] if self.given.heads > 1 else None
                    given = self._one_head(stages, index)
                    part = Bench(given, whole=self.given, head=head).run(inside)
                    if part is None:
                        return None
                    look(index, part)
                    outputs.append(part["output"])
                    sizes.append(part["output size"])
                stages["summed"] = np.reshape(outputs, (*lead, *outputs[0].shape))
                stages["summed size"] = np.reshape(sizes, (*lead, *sizes[0].shape))
                stages |= self._joined(stages, chosen)
                return stages | self._projected(stages, chosen)
        except ValueError:  # no room, or shapes that do not fit
            return None

    @cached_property
    def otherwise(self) -> Bench | None:
        """The bench of the inputs whose tokens are the items; None where they leave no room."""
        try:
            return None if self.queries is not None else Bench(tokens_first(self.given))
        except NoRoom:
            return None

    def _read_otherwise(
        self, chosen: Options, run: Callable[[Bench], Stages | None]
    ) -> Stages | None:
        """Run the bench whose tokens are the items, and bring its output into our order."""
        bench = self.otherwise
        if bench is None or chosen["positions"]:
            return None
        if self.answer is not None:
            bench.answer = self.answer.swapaxes(-2, -3)
            if isinstance(unit := self.answer_unit, np.ndarray):
                bench.answer_unit = unit.swapaxes(-2, -3)
        stages = run(bench)
        names = ("output", "output size")
        return stages and stages | {name: stages[name].swapaxes(-2, -3) for name in names}

    def _one_head(self, stages: Stages, index: tuple[int, ...]) -> Given:
        """Return what one item's head starts from: its Q, K, V and masks."""
        g = self.given
        Q, K, V = (
            np.broadcast_to(stages[name], (*g.shape[:-2], *stages[name].shape[-2:]))[index]
            for name in ("queries", "keys", "V")
        )
        allowed, bias = (
            None if M is None else np.broadcast_to(M, g.shape)[index] for M in (g.allowed, g.bias)
        )
        of_head = {"allowed": allowed, "bias": bias, "scale": g.scale, "softcap": g.softcap}
        of_head["softmax"] = g.softmax
        of_head |= {"relative": g.relative}  # of which :attr:`head` reads its column
        if g.relative is not None and g.relative.columns > 1 and g.heads == 1:
            column = np.asarray(g.relative.table)[:, index[-1:]]
            of_head["relative"] = replace(g.relative, table=column)
        if g.sinks is not None:
            of_head["sinks"] = np.broadcast_to(g.sinks, g.shape[:-2])[index]
        return Given(Q=Q, K=K, V=V, **of_head, shape=g.shape[-2:])

    def _once(self, step: str, options: tuple, stages: Stages, chosen: Options) -> Stages:
        """Return what a step adds to the stages, taken from right attention or the last run."""
        if step == "joined" and chosen["join"] == "gated":
            options = tuple(chosen.values())  # it is fitted to what the parts after it leave
        for kept in (self._right, self._last):
            if step in kept and kept[step][0] == options:
                return kept[step][1]
        added = getattr(self, f"_{step}")(stages, chosen)
        self._last[step] = options, added
        return added

    def views(self, name: str, values: np.ndarray) -> Iterator[np.ndarray]:
        """Return the shapes in which a code may hand over its output or weights."""
        yield values
        if self.given.heads == 1:
            return
        if name == "weights":
            yield values.mean(axis=-3)
        elif self.given.W_O is None and values.shape[-1] % self.given.heads == 0:
            yield split_heads(values, self.given.heads)

    @property
    def ordered(self) -> list[str]:
        """Return the names of a head's stages in the order of this layer."""
        names = list(OF_A_HEAD)
        if self.given.norm is not None and self.given.norm.after_rotary:
            first = names.index(PREPARED[0])
            turned = sorted(PREPARED, key=lambda name: name.endswith("normed"))
            names[first : first + len(turned)] = turned
        return names

    def first_difference(self, stages: Stages) -> str | None:
        """Return the first stage that is another than in right attention."""
        for name in self.ordered:
            if name not in self.right:
                continue
            ours, theirs = self.right[name], stages[name]
            if ours.shape != theirs.shape:
                return name
            if furthest(theirs, ours) > 1e-12 * largest_finite(ours):
                return name
        return None

    def output_of(self, weights: np.ndarray, added: np.ndarray | float = 0.0) -> Stages:
        """Return the output, and its size, that right attention makes of somebody's weights.

        ``added`` is added to what each head gives, before the heads are joined.
        """
        stages = self.right | {"weights": weights}
        with np.errstate(all="ignore"):
            right: Options = dict.fromkeys(self.PARTS)
            stages = stages | self._summed(stages | {"visible": weights != 0}, right)
            stages["summed"] = stages["summed"] + added
            stages = stages | self._joined(stages, right)
            return stages | self._projected(stages, right)

    def hiding_all_but(self, allowed: np.ndarray) -> Stages:
        """Return the weights and the output of right attention where only these keys are seen.

        ``allowed`` may have more leading axes, such as one of several masks.
        """
        hidden = np.where(allowed, self.right["masked"], -np.inf)
        stages = self.right | {"masked": hidden, "allowed": self.right["allowed"] & allowed}
        right: Options = dict.fromkeys(self.PARTS)
        with np.errstate(all="ignore"):
            for step in (self._weights, self._summed, self._joined, self._projected):
                stages = stages | step(stages, right)
        return stages

    def _applies(self, mistake: Mistake) -> bool:
        """Whether there is room, and it is not another one's numbers under a second name."""
        if mistake.parts <= set(BIASES):
            there = {name for name in BIASES if getattr(self.given, name) is not None}
            left_out = there & mistake.parts
            if len(left_out) < min(len(mistake.parts), 2) or there <= mistake.parts < set(BIASES):
                return len(mistake.parts) == len(left_out) == 1
        if self.run((mistake,)) is None:
            return False
        (part, option), *_ = mistake.choices
        others = SAID_BY.get((part, option), ())
        if part == "scale" and option != "after softmax":
            others = (None, *others)  # the right factor is no mistake, under no name
        return not any(self._same(part, option, other) for other in others)

    def _same(self, part: str, option: str, other: str | None) -> bool:
        """Whether two options of the scale are one number, or two of the mask one mask."""
        if part == "scale":
            return bool(np.isclose(self._factor(option), self._factor(other), rtol=1e-9, atol=0))
        try:
            return bool((self._allowed(option) == self._allowed(other)).all())
        except NoRoom:
            return False

    # ---- each step: the stages so far, and the options of its parts, to what it adds -------------

    def _heads(self, _: Stages, chosen: Options) -> Stages:
        g = self.given
        Q, K, V = (self._projection(letter, chosen) for letter in "QKV")
        if g.heads > 1:
            option, kv_heads = chosen["split"], g.kv_heads or g.heads
            if option and option.startswith("joint"):
                if g.memory is not None:
                    raise NoRoom("they do not come from one matrix")
                Q, K, V = recut(Q, K, V, g.heads, option)
                option = None
            split = SPLIT[option]
            if option == "none":
                self._check_one_head(chosen)
            Q, K, V = split(Q, g.heads), split(K, kv_heads), split(V, kv_heads)
        elif chosen["split"]:
            raise NoRoom("there are no heads to split")
        return {"Q": Q, "K": K, "V": V}

    def _check_one_head(self, chosen: Options) -> None:
        """Refuse to take all columns as one head where some part belongs to each head."""
        g = self.given
        parts = (g.norm, g.rotary, g.relative, g.sinks)
        if g.kv_heads not in (None, g.heads) or any(part is not None for part in parts):
            raise NoRoom("some part is made for each head")
        if any(M is not None and M.ndim > 2 and M.shape[-3] > 1 for M in (g.allowed, g.bias)):
            raise NoRoom("each head has a mask of its own")
        if (
            chosen["scale"]
            and np.isclose(
                self._factor(None), self._factor(chosen["scale"]), rtol=1e-9, atol=0
            ).any()
        ):
            raise NoRoom("the scale is that of all columns")

    def _before(self, stages: Stages, chosen: Options) -> Stages:
        """Norm and rotation, in the order of the layer; then shared heads, then who meets whom."""
        if len(each := singly(chosen["norm"])) > 1:
            tried = [self._before(stages, chosen | {"norm": option}) for option in each]
            return {name: self._stacked([made[name] for made in tried]) for name in tried[0]}
        Q, K, V = stages["Q"], stages["K"], stages["V"]
        norm, added = self._norm(chosen["norm"]), stages | {}
        rotations = [self._rotary(option) for option in singly(chosen["rotary"])]
        rotary = rotations[0][1]
        after = norm is not None and norm.after_rotary
        last = "Q", "K"
        for step in sorted(("normed", "rotated"), reverse=after):
            if step == "normed" and norm is not None:
                if chosen["norm"] == "mean taken away":
                    Q, K = self._centred(Q, norm), self._centred(K, norm)
                Q, K = norm.of("Q", Q, self._split), norm.of("K", K, self._split)
            elif step == "rotated" and rotary is not None:
                Q, K, V = self._turn(Q, K, V, rotations, chosen["rotary"])
            if (self.given.norm if step == "normed" else self.given.rotary) is not None:
                last = f"Q_{step}", f"K_{step}"
                added |= dict(zip(last, (Q, K), strict=True))
        added["V"] = V
        along_tokens = self._split and K.shape[-3] == 1 and "tokens" in (chosen["groups"] or "")
        if grouped(Q, K) or along_tokens:
            share, heads = SHARED[chosen["groups"]], Q.shape[-3]
            added |= {name: share(M, heads) for name, M in added.items() if name[0] != "Q"}
            K = share(K, heads)
        elif chosen["groups"]:
            raise NoRoom("no heads are shared")
        if chosen["order"] == "K and V":
            K, added["V"] = added["V"], K
        elif chosen["order"] == "Q and K":
            Q, K = K, Q
        if chosen["order"]:
            added |= dict(zip(last, (Q, K), strict=True))
        return added | {"queries": Q, "keys": K}

    @property
    def _axes(self) -> int:
        """How many axes the scores have."""
        return len(self.given.shape)

    def _stacked(self, tried: list[np.ndarray]) -> np.ndarray:
        """Return what several numbers give along a new first axis, before those of the scores."""
        M = np.stack(tried)
        return M.reshape(len(M), *(1,) * (self._axes + 1 - M.ndim), *M.shape[1:])

    @property
    def _split(self) -> bool:
        return self.given.heads > 1

    def _norm(self, option: str | None) -> RMSNorm | None:
        """Return the norm of Q and K under this option of it."""
        g, norm = self.given, self.given.norm
        if option is None or norm is None:
            if option not in (None, "added"):
                raise NoRoom("there is no norm")
            return RMSNorm() if option else norm
        if option == "left out":
            return None
        if option.startswith("eps "):
            return replace(norm, eps=float(numbers(option, 0)))
        gains = [gain for gain in (norm.gain_Q, norm.gain_K) if gain is not None]
        if option == "added" or (option == "other span" and not self._split):
            raise NoRoom("it is there, or there is one head alone")
        if "gain" in option and not gains:
            raise NoRoom("there is no gain")
        if option == "other order":
            if g.rotary is None or not gains:
                raise NoRoom("the order makes no difference")
            return replace(norm, after_rotary=not norm.after_rotary)
        if option == "other span":
            return replace(norm, whole=not norm.whole)
        by = {"gain left out": None, "1 + gain": 1, "gain less 1": -1}
        if option not in by:
            return norm
        more = by[option]

        def changed(gain: Any) -> Any:
            return None if gain is None or more is None else np.add(gain, more)

        return replace(norm, gain_Q=changed(norm.gain_Q), gain_K=changed(norm.gain_K))

    def _centred(self, M: np.ndarray, norm: RMSNorm) -> np.ndarray:
        """Without the mean of what one norm takes together."""
        return M - M.mean(axis=(-3, -1) if norm.whole and self._split else -1, keepdims=True)

    def _turn(
        self,
        Q: np.ndarray,
        K: np.ndarray,
        V: np.ndarray,
        rotations: list[tuple[str, Rotary | None, int]],
        option: str | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Q, K and V rotated under this option; by several numbers along a new axis."""
        turned, rotary, _ = rotations[0]
        assert rotary is not None
        first = rotary.offset
        if option in ROTATED_OTHERWISE:
            return rotated(rotary, Q, option, first), rotated(rotary, K, option), V
        if "Q" in turned:
            Q = self._rotated(Q, [(each, start) for _, each, start in rotations if each])
        if "K" in turned:
            K = self._rotated(K, [(each, 0) for _, each, _ in rotations if each])
        V = rotary.rotate(V) if "V" in turned else V
        if option == "both twice":
            Q = rotary.rotate(Q, first)
        if option in ("K twice", "both twice"):
            K = rotary.rotate(K)
        elif option == "cache twice":
            again = rotary.rotate(K[..., :first, :])
            K = np.concatenate([again, K[..., first:, :]], axis=-2)
        return Q, K, V

    def _rotated(self, M: np.ndarray, ways: list[tuple[Rotary, int]]) -> np.ndarray:
        """Return M rotated from a first position; in several ways along a new first axis."""
        (rotary, first), *more = dict.fromkeys(ways)
        if not more:
            return rotary.rotate(M, first)
        each = [way.cos_sin(M.shape, first) for way, first in ways]
        cos, sin = (self._stacked(list(parts)) for parts in zip(*each, strict=True))
        a, b = rotary.pairs_of(M.shape[-1])
        lead = np.broadcast_shapes(cos.shape[:-2], M.shape[:-2])
        rotated = np.broadcast_to(M, (*lead, *M.shape[-2:])).copy()
        rotated[..., a] = M[..., a] * cos - M[..., b] * sin
        rotated[..., b] = M[..., b] * cos + M[..., a] * sin
        return rotated

    def _rotary(self, option: str | None) -> tuple[str, Rotary | None, int]:
        """Which of Q, K and V are rotated under this option, how, and the first query's position.

        A position that is fitted may be negative, which that of a rotation cannot be.
        """
        if (option or "").startswith("position ") and self.given.rotary is not None:
            return "QK", self.given.rotary, int(numbers(option, 0))
        turned, rotary = self._turned(option)
        return turned, rotary, 0 if rotary is None else rotary.offset

    def _turned(self, option: str | None) -> tuple[str, Rotary | None]:
        """Which of Q, K and V are rotated under this option, and how."""
        g, rotary = self.given, self.given.rotary
        width = (g.Q if g.X is None else g.W_Q).shape[-1] // g.heads
        n_q, n_k = g.shape[-2:]
        if option is None or option == "left out":
            if option and rotary is None:
                raise NoRoom("nothing is rotated")
            return "QK", None if option else rotary
        if option.startswith("added"):
            if rotary is not None or n_k < 2 or (option != "added" and width < 4):
                raise NoRoom("it is there, or makes no difference")
            return "QK", Rotary(pairs=PAIRS[option != "added"])
        if rotary is None:
            raise NoRoom("nothing is rotated")
        if option in ("Q alone", "K alone", "V too"):
            return {"Q alone": "Q", "K alone": "K", "V too": "QKV"}[option], rotary
        if option in ("first head", "other axis"):
            if len(g.shape) < 3 or g.shape[-3] < 2 or (g.X is None and g.Q.ndim < len(g.shape) - 1):
                raise NoRoom("no axis is before the tokens")
            return "QK", rotary
        if option in ("K twice", "both twice", "cache twice"):
            if option == "cache twice" and not 0 < rotary.offset < n_k:
                raise NoRoom("there is no cache")
            return "QK", rotary
        turns = rotary.turns(width)
        if option == "backwards":
            return "QK", replace(rotary, frequencies=-turns)
        own = rotary.frequencies is not None
        if option.startswith("base "):
            base = float(option.removeprefix("base "))
            if own or base == rotary.base or len(turns) < 2:
                raise NoRoom("it is the base, or there is none")
            return "QK", replace(rotary, base=base)
        changed: dict[str, tuple[bool, dict[str, Any]]] = {
            "other pairs": (len(turns) > 1, {"pairs": PAIRS[rotary.pairs == PAIRS[0]]}),
            "other angles": (len(turns) > 1, {}),
            "whole width": (not own and 2 * len(turns) < width, {"width": None}),
            "scaling left out": (
                own or rotary.factor != 1,
                {"frequencies": None, "factor": 1.0, "width": 2 * len(turns)},
            ),
            "offset 0": (rotary.offset > 0, {"offset": 0}),
            "one too far": (rotary.offset > 0, {"offset": rotary.offset + 1}),
            "one too short": (rotary.offset > 1, {"offset": rotary.offset - 1}),
            "from the end": (rotary.offset == 0 and n_k > n_q, {"offset": n_k - n_q}),
        }
        room, change = changed[option]
        if not room:
            raise NoRoom("it makes no difference")
        return "QK", replace(rotary, **change)

    def _sources(self, option: str | None) -> np.ndarray:
        """X with its positions, under this option of them."""
        X, P = self.given.X, self.given.positions
        if option is None:
            return X if P is None else X + P
        n, d_model = X.shape[-2:]
        if option == "added":
            if P is not None:
                raise NoRoom("positions are added")
            return X + sinusoidal(n, d_model)
        if option == "columns":
            if P is not None or self.given.memory is not None or n != d_model:
                raise NoRoom("X cannot be transposed unseen")
            return np.swapaxes(X, -1, -2)
        if P is None:
            raise NoRoom("there are no positions")
        if option == "left out":
            return X
        if d_model < 3 or not np.allclose(P, sinusoidal(n, d_model), rtol=0, atol=1e-6):
            raise NoRoom("these positions are learned")
        if option == "from 1":
            return X + sinusoidal(n, d_model, offset=1)
        return X + np.concatenate([P[..., ::2], P[..., 1::2]], axis=-1)

    def _projection(self, letter: str, chosen: Options) -> np.ndarray:
        """X W + b of Q, K or V, under the options of its weights and bias; the latest are kept."""
        g, W_option, b_option = self.given, chosen[f"W_{letter}"], chosen[f"b_{letter}"]
        if g.X is None:
            if W_option or b_option or chosen["positions"]:
                raise NoRoom("there are no weights")
            return getattr(g, letter)
        key = letter, W_option, b_option, chosen["positions"]
        if key not in self._projections:
            used = letter
            if W_option and W_option != "transposed":
                used = W_option[-1]
            W, b = getattr(g, f"W_{used}"), getattr(g, f"b_{used}")
            if W_option and W_option.startswith("only"):
                other, b = b, getattr(g, f"b_{letter}")
                if b is other or np.array_equal(b, other):
                    raise NoRoom("whose bias it is makes no difference")
            if W_option == "transposed":
                W = np.swapaxes(W, -1, -2)
            own = letter == "Q" or g.memory is None
            source = self._sources(chosen["positions"]) if own else g.memory
            M = source @ W
            if b_option and b is None and not self._biased:
                raise NoRoom("there is no bias")
            self._projections[key] = M if b is None or b_option else M + b
            if len(self._projections) > PROJECTIONS_KEPT:
                del self._projections[next(iter(self._projections))]
        return self._projections[key]

    @property
    def _biased(self) -> bool:
        return any(getattr(self.given, name) is not None for name in BIASES)

    def _scores(self, stages: Stages, chosen: Options) -> Stages:
        Q, K, V = stages["queries"], stages["keys"], stages["V"]
        n_k = (Q if chosen["product"] else K).shape[-1 if chosen["product"] else -2]
        if self.queries is not None:
            if Q.shape[-2] <= self.queries.max(initial=0):
                raise NoRoom("other queries")
            Q = Q[..., self.queries, :]
        scores = Q @ (K if chosen["product"] else np.swapaxes(K, -1, -2))
        if n_k != V.shape[-2] or scores.shape[-1] != V.shape[-2]:
            raise NoRoom("the weights would not fit the values")
        return {"scores": scores}

    def _factor(self, option: str | None) -> Numbers:
        """Return what the scores are multiplied by; an option that is a number is that number."""
        g, n_k = self.whole, self.whole.shape[-1]
        d_k = (g.Q if g.X is None else g.W_Q).shape[-1] // g.heads
        right = d_k**-0.5 if g.scale is None else g.scale
        d_model = g.X.shape[-1] if g.X is not None else d_k * g.heads
        known = {
            None: right,
            "default": d_k**-0.5,
            "none": 1.0,
            "d_model": d_model**-0.5,
            "all heads": (d_k * g.heads) ** -0.5,
            "d_k": 1 / d_k,
            "twice": right * right,  # infinite, where ** would raise an error
            "inverse": d_k**0.5,
            "tokens": max(n_k, 1) ** -0.5,
            "after softmax": 1.0,
        }
        return known[option] if option in known else numbers(option, self._axes)

    def _scaled(self, stages: Stages, chosen: Options) -> Stages:
        return {"scaled": stages["scores"] * self._factor(chosen["scale"])}

    def _masked(self, stages: Stages, chosen: Options) -> Stages:
        g, capped = self.given, stages["scaled"]
        if g.softcap is None and chosen["cap"]:
            raise NoRoom("nothing is capped")
        if chosen["cap"] == "before scale":
            capped = soft_cap(stages["scores"], g.softcap) * self._factor(chosen["scale"])
        elif g.softcap is not None and not chosen["cap"]:
            capped = soft_cap(capped, g.softcap)
        allowed = self._visible(chosen)
        if chosen["hiding"] and allowed is None:
            raise NoRoom("nothing is hidden")
        none = g.bias is None and not chosen["bias"]
        biased = capped if none else capped + self._bias(chosen)
        if g.relative is not None or chosen["relative"]:
            biased = biased + self._rows(self._relative(chosen))
        if allowed is None:
            allowed = np.ones((1, 1), bool)
        masked = hiding(chosen["hiding"], self._axes)(biased, allowed)
        if chosen["hiding"] == "lowest twice":
            masked = np.where(self._hidden_twice(), -np.inf, masked)
        elif chosen["hiding"] == "+∞" and g.softmax == SIGMOID:
            raise NoRoom("no sum becomes NaN")
        if chosen["cap"] == "after mask":
            masked = soft_cap(masked, g.softcap)
        return {"capped": capped, "masked": masked, "allowed": allowed}

    def _hidden_twice(self) -> np.ndarray:
        """Return the cells that look-ahead and padding hide both."""
        allowed = self._allowed("both")
        if allowed.any(axis=-1).all():
            raise NoRoom("no row is left without keys")
        look_ahead, keys = halves(allowed)
        return ~(self._rows(look_ahead) | keys)

    def _bias(self, chosen: Options) -> np.ndarray | float:
        """Return what is added to the scores, where it is finite: −∞ hides."""
        if chosen["bias"] == "ignored":
            return 0.0
        if chosen["bias"] == "added":
            return self._alibi
        finite = np.where(self.given.bias == -np.inf, 0.0, self.given.bias)
        if chosen["bias"] in ("signed", "without slopes", "one sequence", "one step off"):
            return self._rows(self._otherwise_far(finite, chosen["bias"]))
        bias = self._rows(finite)
        if not chosen["bias"]:
            return bias
        by = {"negated": -1.0, "scaled": self._factor(chosen["scale"])}
        option = chosen["bias"]
        return bias * (by[option] if option in by else numbers(option, self._axes))

    def _relative(self, chosen: Options) -> np.ndarray:
        """Return what a table of distances adds to the scores, of one head or all."""
        right, option = self.given.relative, chosen["relative"]
        if right is None:
            raise NoRoom("there is no relative bias")
        part = right
        n_q, n_k = self.given.shape[-2:]
        table = np.asarray(part.table, float)
        factor: Numbers = 1.0
        if option == "left out":
            return np.zeros((1, 1))
        if option == "scaled":
            factor = self._factor(chosen["scale"])
            if np.all(factor == 1):
                raise NoRoom("the scores are not scaled")
        elif (option or "").startswith("factor "):
            factor = numbers(option, self._axes)
        elif option == "reshaped":
            if part.columns == 1:
                raise NoRoom("the table has one column")
            table = table.reshape(table.shape[::-1]).T
        elif option == "other side":
            part = replace(part, bidirectional=not part.bidirectional)
        elif option == "128":
            if part.max_distance == 128:
                raise NoRoom("it is 128")
            part = replace(part, max_distance=128)
        rows = part.rows(n_q, n_k)
        if option == "turned":
            rows = replace(part, past=-part.past).rows(n_k, n_q).T
        elif option in ("other side", "128") and (rows == right.rows(n_q, n_k)).all():
            raise NoRoom("it makes no difference")
        added = np.moveaxis(table[rows], -1, -3)
        if not self._split and (len(added) == 1 or self.given.Q.ndim == 2):
            added = added[(self.head or 0) % len(added)]
        return factor * added

    @cached_property
    def _alibi(self) -> np.ndarray:
        """What ALiBi adds to the scores of these queries, of one head or all."""
        n_q, n_k = self.given.shape[-2:]
        if n_q != n_k or n_k < 2:
            raise NoRoom("the distances between queries and keys are not given")
        slopes = alibi_slopes(self.whole.heads)[:, None, None]
        if not self._split:
            slopes = slopes[self.head or 0]
        return -slopes * self._rows(np.abs(lead(n_q, n_k, 0)))

    def _otherwise_far(self, bias: np.ndarray, option: str | None) -> np.ndarray:
        """ALiBi's bias with the distance counted otherwise, where this one is ALiBi's."""
        n_q, n_k = self.given.shape[-2:]
        finite = self.given.bias != -np.inf
        seen = finite if self.given.allowed is None else finite & self.given.allowed
        for past in {0, n_k - n_q}:
            ahead = lead(n_q, n_k, past)
            far = np.abs(ahead)
            if option == "signed" and not (seen & (ahead < 0)).any():
                continue
            slopes = -np.where(finite & (far > 0), bias / np.maximum(far, 1), 0).min(
                axis=(-2, -1), keepdims=True
            )
            if slopes.all() and np.allclose(bias, np.where(finite, -slopes * far, 0), atol=1e-9):
                if option in ("one sequence", "one step off"):
                    heads = slopes.shape[-3] if slopes.ndim > 2 else self.whole.heads
                    slopes = other_slopes(slopes, heads, self.head, option)
                    return np.where(finite, -slopes * far, 0)
                return np.where(finite, -far if option != "signed" else -slopes * ahead, 0)
        raise NoRoom("it is not ALiBi's")

    def _visible(self, chosen: Options) -> np.ndarray | None:
        """Where queries may look, by mask and bias; None where nothing is masked."""
        g = self.given
        if g.allowed is None and chosen["mask"]:
            raise NoRoom("nothing is masked")
        if chosen["bias"] and (g.bias is None) != (chosen["bias"] == "added"):
            raise NoRoom("there is no bias, or there is one")
        hides = g.bias is not None and chosen["bias"] != "ignored" and np.isneginf(g.bias).any()
        if g.allowed is None:
            return self._rows(g.bias != -np.inf) if hides else None
        allowed = self._rows(self._allowed(chosen["mask"]))
        return allowed & self._rows(g.bias != -np.inf) if hides else allowed

    def _rows(self, M: np.ndarray) -> np.ndarray:
        """Return the chosen queries' rows of a mask, which may have a single one for all."""
        if self.queries is None or M.ndim < 2 or M.shape[-2] == 1:
            return M
        return M[..., self.queries, :]

    def _allowed(self, option: str | None) -> np.ndarray:
        """Return the mask of all queries under this option of it."""
        if option not in self._masks:
            mask, shape = self.given.allowed, self.given.shape[-2:]
            if option in OF_ALL_HEADS:  # one row for all queries stays one
                shape = (*self.given.shape[:-2], *mask.shape[-2:])
            full = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, shape))
            self._masks[option] = MASKED[option](full)
        return self._masks[option]

    def _weights(self, stages: Stages, chosen: Options) -> Stages:
        masked, allowed, option = stages["masked"], stages["allowed"], chosen["softmax"]
        visible, sinks = masked != -np.inf, self._sinks(chosen["sinks"])
        if chosen["temperature"]:  # of all that enters the softmax
            by = numbers(chosen["temperature"], self._axes)
            masked, sinks = masked * by, None if sinks is None else sinks * by
        if "shifted" in (chosen["sinks"] or ""):
            sinks = not_shifted(sinks, masked, option)
        option = self._softmax(option, masked, sinks, chosen)
        if option == "twice, masked":
            if self._visible(chosen) is None:
                raise NoRoom("nothing is masked")
            first = softmax_rows(masked, visible, sinks=sinks)
            again = hiding(chosen["hiding"], self._axes)(first, allowed)
            weights = softmax_rows(again, again != -np.inf)
        else:
            weights = SOFTMAX[option](masked, visible, sinks=sinks)
        weights = hidden_after(weights, allowed, visible, chosen)
        if chosen["scale"] == "after softmax":
            weights = weights * self._factor(None)
        weights = self._kept(weights, chosen["dropout"])
        size = np.abs(weights)
        if option == "divided":
            size = size * lost_to_cancelling(masked, visible)
        if chosen["shares"]:
            return self._averaged(weights, visible, size, chosen)
        return {"weights": weights, "visible": visible, "weights size": size}

    def _softmax(
        self, option: str | None, masked: np.ndarray, sinks: np.ndarray | None, chosen: Options
    ) -> str | None:
        """Return what makes weights of the scores, or refuse it where it leaves no room."""
        if self.given.softmax == SIGMOID:
            if option not in (None, "taken", "none") or chosen["hiding"] == "NaN":
                raise NoRoom("there is no softmax")
            return {None: SIGMOID, "taken": None}.get(option, option)
        if option == "taken":
            raise NoRoom("it is taken")
        if sinks is not None and (option in ("heads", "divided") or chosen["hiding"] == "NaN"):
            raise NoRoom("with sinks every row has a sum, and it is theirs as well")
        if option == "heads" and (masked.ndim < 3 or masked.shape[-3] == 1):
            raise NoRoom("no axis is before the queries")
        if option in ("queries", "both axes") and self.queries is not None:
            raise NoRoom("it mixes queries")
        return option

    def _kept(self, weights: np.ndarray, rate: str | None) -> np.ndarray:
        """Return the weights after dropout of this rate, of those that the other code set to 0."""
        if rate is None:
            return weights
        if self.dropped is None or self.dropped.shape != weights.shape:
            raise NoRoom("there are no weights to see it in")
        kept = weights / (1 - numbers(rate, 0))
        return np.where(kept > self.dropped, 0, kept)

    def _averaged(
        self, weights: np.ndarray, visible: np.ndarray, size: np.ndarray, chosen: Options
    ) -> Stages:
        """Return the heads' mean as the weights of each: of the sum too, or handed over alone."""
        if len(self.given.shape) < 3 or weights.ndim < 3 or weights.shape[-3] < 2:
            raise NoRoom("there is one head")
        mean, of_mean = (
            np.broadcast_to(M.mean(axis=-3, keepdims=True), M.shape) for M in (weights, size)
        )
        found = {"weights": mean, "weights size": of_mean, "visible": visible}
        if chosen["shares"] == "handed over":
            return found | {"summed by": weights}
        seen = np.broadcast_to(visible, size.shape).any(axis=-3, keepdims=True)
        return found | {"visible": np.asarray(seen)}

    def _sinks(self, option: str | None) -> np.ndarray | None:
        """One more score for each row's sum, (…, 1, 1), under this option of it."""
        sinks = self.given.sinks
        if option and self.given.softmax == SIGMOID:
            raise NoRoom("there is no sum")
        if sinks is None:
            if option in (None, "added", "added, shifted"):
                return np.zeros((1, 1)) if option else None
            if option in ("left out", "in output", "not exponentiated", "scaled", "shifted"):
                raise NoRoom("there are no sinks")
            return np.asarray(numbers(option, self._axes))
        if option in ("added", "added, shifted"):
            raise NoRoom("there are sinks")
        if option in ("left out", "in output"):
            return None
        if option == "not exponentiated":
            if not (sinks > 0).all():
                raise NoRoom("a sum that is not positive divides nothing")
            sinks = np.log(sinks)
        elif option == "scaled":
            sinks = sinks * self._factor(None)
        return np.asarray(sinks)[..., None, None]

    def _summed(self, stages: Stages, chosen: Options) -> Stages:
        weights, V = stages.get("summed by", stages["weights"]), stages["V"]
        finite, size_of_V = self._size_of_V(V)
        if chosen["leak"] and finite:
            raise NoRoom("there is nothing to leak")
        if chosen["sum"]:
            if self.queries is not None:
                raise NoRoom("it mixes queries")
            weights = np.swapaxes(weights, -1, -2)
            output = weights @ V
        else:
            leaks = finite or chosen["leak"] or chosen["softmax"] == "none"
            output = weights @ V if leaks else weighted_sum(weights, V, stages["visible"])
        size = np.abs(weights) @ size_of_V
        if chosen["sinks"] == "in output":
            sinks = np.asarray(self.given.sinks)[..., None, None]
            output, size = output + sinks, size + np.abs(sinks)
        return {"summed": output, "summed size": size}

    def _size_of_V(self, V: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether all values are finite, and their sizes, 0 where they are not; kept."""
        for kept, found in self._sizes:
            if kept is V:
                return found
        finite = np.isfinite(V)
        size = np.abs(np.where(finite, V, 0))
        if "V" not in self._last_weights:
            self._last_weights["V"] = self._least_of_V()
        least = self._last_weights["V"]
        if least is not None and least.shape == V.shape:
            size = np.maximum(size, least)
        found = bool(finite.all()), size
        self._sizes = [*self._sizes[-1:], (V, found)]
        return found

    def _least_of_V(self) -> np.ndarray | None:
        """Return a share of |X| |W_V| + |b_V|: a V that cancels is rounded as its terms are."""
        g = self.given
        if g.W_V is None:
            return None
        source = self._sources(None) if g.memory is None else g.memory
        size = np.abs(source) @ np.abs(g.W_V) + (0 if g.b_V is None else np.abs(g.b_V))
        size = np.where(np.isfinite(size), size / CANCELS, 0)
        if g.heads == 1:
            return size
        kv_heads = g.kv_heads or g.heads
        return np.asarray(repeat_heads(split_heads(size, kv_heads), g.heads))

    def _joined(self, stages: Stages, chosen: Options) -> Stages:
        output, size = stages["summed"], stages["summed size"]
        if chosen["join"] == "gated":
            factor = self._gate(output, stages, chosen)
            output, size = output * factor, size * np.abs(factor)
            joined = (join_heads(M) if self.given.heads > 1 else M for M in (output, size))
            return dict(zip(("joined", "joined size"), joined, strict=True))
        if chosen["join"] == "first" and output.shape[-3:-2] == (1,):
            raise NoRoom("the heads are one")
        if self.given.heads > 1:
            if chosen["join"] == "reshaped" and self.queries is not None:
                raise NoRoom("it mixes queries")
            join = JOIN[chosen["join"]]
            output, size = join(output), join(size)
        elif chosen["join"]:
            raise NoRoom("there are no heads to join")
        return {"joined": output, "joined size": size}

    def _gate(self, output: np.ndarray, stages: Stages, chosen: Options) -> np.ndarray:
        """Return the factor of each query and head that brings these outputs to the other code's.

        There is none to tell where more even weights would fit with such factors as well, as where
        each query sees a single key.
        """
        heads, W_O = self.given.heads, self._W_O(chosen)
        if self.answer is None or chosen["residual"] == "row":
            raise NoRoom("there is no answer to fit to")
        more_even = stages | {"weights": np.sqrt(np.abs(stages["weights"]))}
        other, theirs = self._summed(more_even, chosen)["summed"], self.answer
        if chosen["residual"] == "X":
            theirs = theirs - self._rows(self._sources(chosen["positions"]))
        if W_O is None:  # each head by itself
            theirs = split_heads(theirs, heads) if heads > 1 else theirs
            return gate(output[..., None, :], other[..., None, :], theirs)
        if self.given.b_O is not None and not chosen["b_O"]:
            theirs = theirs - self.given.b_O
        by_head = W_O.reshape(*W_O.shape[:-2], heads, -1, W_O.shape[-1]) if heads > 1 else W_O
        ours, others = (M @ by_head for M in (output, other))
        if heads == 1:
            return gate(ours[..., None, :], others[..., None, :], theirs)
        factor = gate(np.moveaxis(ours, -3, -2), np.moveaxis(others, -3, -2), theirs)
        return np.swapaxes(factor, -1, -2)[..., None]

    def _W_O(self, chosen: Options) -> np.ndarray | None:
        """Return the last projection under this option of it; None where there is none."""
        W_O, option = self.given.W_O, chosen["W_O"]
        if W_O is None or option == "missing":
            return None
        return np.swapaxes(W_O, -1, -2) if option else W_O

    def _projected(self, stages: Stages, chosen: Options) -> Stages:
        g, output, size = self.given, stages["joined"], stages["joined size"]
        width = output.shape[-1]
        if g.W_O is None and chosen["W_O"]:
            raise NoRoom("there is no W_O")
        if g.b_O is None and chosen["b_O"] and not self._biased:
            raise NoRoom("there is no b_O")
        if (W_O := self._W_O(chosen)) is not None:
            width = W_O.shape[-1]
            W_O, size_of_W_O = self._some_columns(W_O, chosen["W_O"])
            output, size = output @ W_O, size @ size_of_W_O
            if g.b_O is not None and not chosen["b_O"]:
                b_O = g.b_O[self.columns]
                output, size = output + b_O, size + np.abs(b_O)
        elif g.W_O is not None:
            output, size = output[..., self.columns], size[..., self.columns]
        if chosen["residual"] == "X":
            if g.X is None or g.X.shape[-1] != width:
                raise NoRoom("X cannot be added")
            X = self._rows(self._sources(chosen["positions"]))[..., self.columns]
            output, size = output + X, size + np.abs(X)
        elif chosen["residual"] == "row":
            row = self._fitted(output)  # known as well as the rows that it was fitted to
            of_rows = size.reshape(-1, size.shape[-1]).mean(axis=0)
            output, size = output + row, size + np.abs(row) + of_rows
        if chosen["layout"]:
            if self.queries is not None or output.shape[-1] != output.shape[-2]:
                raise NoRoom("it mixes queries, or has another shape")
            output, size = (np.swapaxes(M, -1, -2) for M in (output, size))
        return {"output": output, "output size": size}

    def _some_columns(self, W_O: np.ndarray, option: str | None) -> tuple[np.ndarray, np.ndarray]:
        """Return those columns of W_O that are computed, and their sizes; kept."""
        key = option, self.columns.step
        if key not in self._last_weights:
            some = W_O[..., self.columns]
            some = some if self.columns.step is None else np.ascontiguousarray(some)
            self._last_weights[key] = some, np.abs(some)
        return self._last_weights[key]

    def _fitted(self, output: np.ndarray) -> np.ndarray:
        """Return the row that brings these outputs to the other code's.

        On average; where rounding may explain all that remains, so near to that that it does.
        """
        if self.answer is None or self.answer.shape != output.shape:
            raise NoRoom("there is no answer to fit to")
        columns = output.shape[-1]
        apart = (self.answer - output).reshape(-1, columns)
        if len(apart) < 3 or not np.isfinite(apart).all():
            raise NoRoom("too few rows to tell")
        unit = np.broadcast_to(self.answer_unit, output.shape).reshape(-1, columns)
        least, most = (apart - unit).max(axis=0), (apart + unit).min(axis=0)
        mean = apart.mean(axis=0)
        return np.where(least <= most, np.clip(mean, least, most), mean)
