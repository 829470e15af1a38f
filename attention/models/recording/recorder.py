"""Keep the calls that were chosen, as NumPy's arrays, and say what passed through no door."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from threading import get_ident
from typing import Any

import numpy as np

from attention.models.kinds import PATCH, PLACE
from attention.models.labels import RUN, UNKNOWN
from attention.models.recording.copies import GrowingRows, copied
from attention.models.recording.following import At, Following
from attention.models.recording.missed import PassedBy
from attention.models.taken import Call, Taken, visible_and_added


class Recorder:
    """Takes calls from the doors and keeps those that were chosen."""

    def __init__(
        self,
        model: Any,
        taken: Taken,
        following: Following,
        layers: list[int | str] | None,
        heads: list[int] | None,
        queries: slice | None,
        steps: list[int] | None,
    ) -> None:
        self.taken = taken
        self.following = following
        self.names = following.names  # of the model's modules, by id
        self.layers = layers
        self.heads = heads
        self.queries = queries
        self.steps = steps
        self.passed_by = PassedBy(model, following)
        # keys and values, by thread and module
        self.rows: dict[tuple[int, str], tuple[GrowingRows, GrowingRows]] = {}

    def wanted(self, module: str, n_q: int, n_k: int, cross: bool | None = None) -> At | None:
        """Follow a call with so many queries and keys; return what it is where it was chosen.

        ``cross``: whether the keys are of another sequence, where the door can tell.
        """
        at = self.following.call(module, n_q, n_k, cross)
        if self.layers is not None and not any(
            each == at.layer if isinstance(each, int) else each in f"{module}."
            for each in self.layers
        ):
            return None
        return None if self.steps is not None and at.call not in self.steps else at

    def keys_and_values(self, at: At, K: Any, V: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of tensors (b, g, n, d), which share what the call before handed over."""
        if self.heads is not None or self.queries is not None:
            return copied(K), copied(V)  # of which a part is kept, and the rest is not held
        rows = self.rows.setdefault((get_ident(), at.module.name), (GrowingRows(), GrowingRows()))
        known = [
            before if given is after else None
            for given, (before, after) in zip((K, V), at.grown, strict=True)
        ]
        return rows[0].copied(K, known[0]), rows[1].copied(V, known[1])

    def keep(
        self,
        at: At,
        Q: np.ndarray,
        K: np.ndarray,
        V: np.ndarray,
        output: np.ndarray,
        *,
        dtype: Any,
        masks: Iterable[np.ndarray | None] = (),
        scale: float | None = None,
        sinks: np.ndarray | None = None,
        **facts: Any,
    ) -> None:
        """Keep one call: (b, h, n, d), masks that broadcast to the scores, the dtype of torch.

        The arrays are copies, to which nobody else writes. A mask of bool says True where a query
        may look; any other is added.
        """
        facts["dtype"] = str(dtype).removeprefix("torch.")
        facts["scale"] = float(Q.shape[-1] ** -0.5 if scale is None else scale)
        there = [_cut(mask, K.shape[2]) for mask in masks if mask is not None]
        allowed, bias = _joined(there, facts["dtype"])
        arrays: dict[str, Any] = {"Q": Q, "K": K, "V": V, "output": output}
        arrays |= {"sinks": None if sinks is None else sinks.reshape(-1)}
        arrays |= {"allowed": allowed, "bias": bias}
        for each in "QKV":  # what all items share
            if arrays[each].shape[0] < len(output):
                arrays[each] = np.repeat(arrays[each], len(output), axis=0)
        if self.queries is not None and self.queries.start >= Q.shape[2]:
            return
        kept, places = self._chosen_part(dict(arrays))
        for name, M in kept.items():
            if M is not arrays[name]:  # the rest need not stay in memory
                kept[name] = np.ascontiguousarray(M)
        facts["notes"] = (*facts.get("notes", ()), *at.notes)
        is_behind_others = (at.facts["query_position"] or 0) > 0
        is_causal = is_behind_others or _is_causal(kept["allowed"])
        facts |= at.facts | {"kind": at.module.kind(at.cross, is_causal)}
        pictures = facts.pop("pictures", len(output))
        if pictures != len(output):  # an item is a part of one
            facts.pop("grid", None)
        if pictures > len(output) and not at.cross:  # or of several, as one token of each frame
            for names in ("names", "key_names"):
                facts[names] = (PLACE,) if PATCH in facts[names] else facts[names]
        for side in ("query", "key"):
            if facts.get(f"{side}_position") is not None:
                facts[f"{side}_position"] += places.get(f"first_{side}", 0)
        call = Call(at.layer, at.call, at.module.name, **kept, **facts, **places)
        self.taken.calls.append(call)

    def _chosen_part(self, arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the chosen heads and queries, with the keys that these may look at."""
        heads = arrays["Q"].shape[1]
        places: dict[str, Any] = {}

        def along(axis: int, name: str, part: Any) -> None:
            M = arrays[name]
            if M is not None and M.shape[axis] > 1:
                arrays[name] = M[(slice(None),) * axis + (part,)]

        if self.heads is not None:
            if max(self.heads) >= heads:
                raise ValueError(
                    f"heads asks for head {max(self.heads)}; this attention has {heads} heads,"
                    " counted from 0."
                )
            shared = heads // arrays["K"].shape[1]
            for name in ("Q", "output", "allowed", "bias"):
                along(1, name, self.heads)
            for name in "KV":
                arrays[name] = arrays[name][:, [head // shared for head in self.heads]]
            if arrays["sinks"] is not None:
                arrays["sinks"] = arrays["sinks"][self.heads]
            places["heads"] = tuple(self.heads)
        if self.queries is not None:
            n_q, n_k = arrays["Q"].shape[2], arrays["K"].shape[2]
            rows = slice(*self.queries.indices(n_q)[:2])
            for name in ("Q", "output", "allowed", "bias"):
                along(2, name, rows)
            places |= {"first_query": rows.start, "all_queries": n_q, "all_keys": n_k}
            if arrays["allowed"] is not None and arrays["allowed"].shape[3] > 1:
                seen = np.flatnonzero(arrays["allowed"].any(axis=(0, 1, 2)))
                keys = slice(int(seen[0]), int(seen[-1]) + 1) if seen.size else slice(0, 1)
                for name in "KV":
                    arrays[name] = arrays[name][:, :, keys]
                for name in ("allowed", "bias"):
                    along(3, name, keys)
                places["first_key"] = keys.start
        return arrays, places

    def in_order(self) -> None:
        """Order the calls of several threads by their runs, and number those of each layer so."""
        if len(self.following.threads) < 2:
            return
        calls = sorted(self.taken.calls, key=lambda each: each.run)
        numbers = {
            layer: iter(sorted(each.call for each in calls if each.layer == layer))
            for layer in {each.layer for each in calls}
        }
        runs: set[tuple[int, int]] = set()
        for k, each in enumerate(calls):
            number, repeat = next(numbers[each.layer]), each.repeat
            if repeat in (RUN, UNKNOWN) and (each.layer, each.run) not in runs:
                repeat = RUN if number else UNKNOWN
            runs.add((each.layer, each.run))
            calls[k] = replace(each, call=number, repeat=repeat)
        self.taken.calls[:] = calls


def _is_causal(allowed: np.ndarray | None) -> bool:
    """Check whether a mask lets each of several queries see no key after its own place."""
    if allowed is None or min(allowed.shape[2:]) < 2:
        return False
    n_q, n_k = allowed.shape[2:]
    seen = np.asarray(allowed.any(axis=(0, 1)))
    return n_q <= n_k and not seen[np.triu_indices(n_q, n_k - n_q + 1, n_k)].any()


def _cut(mask: np.ndarray, n_k: int) -> np.ndarray:
    """Return a mask of four axes that broadcasts to the scores, without keys left out."""
    return mask[(None,) * (4 - mask.ndim)][..., :n_k]


def _joined(masks: list[np.ndarray], dtype: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(may look, what is added), of masks that are either; None where there is nothing to say."""
    allowed: np.ndarray | None = None
    bias: np.ndarray | None = None
    for mask in masks:
        if mask.dtype == bool:
            allowed = mask if allowed is None else allowed & mask
        else:
            with np.errstate(over="ignore"):  # two that hide
                added = mask.astype(np.float64)
                bias = added if bias is None else bias + added
    allowed, bias = visible_and_added(allowed, bias, dtype).values()
    if bias is not None and (bias == bias.astype(np.float32)).all():
        bias = bias.astype(np.float32)
    return _once(allowed), _once(bias)


def _once(mask: np.ndarray | None) -> np.ndarray | None:
    """One for all items, and for all heads, where these do not differ."""
    for axis in (0, 1):
        if mask is not None and mask.shape[axis] > 1:
            one = mask.take([0], axis=axis)
            mask = one if (mask == one).all() else mask
    return mask
