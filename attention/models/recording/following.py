"""Where a model's run stands at each call of attention: of which sequence, at which positions, and
whether it is a step of a generation, another run, or the same module once more.

torch and transformers are asked for what they know themselves: how often a module was called, by
torch's hook for all modules; how many tokens a cache holds, by the cache.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from attention.models.kinds import DECODER, ENCODER, PLACE, TEXT, Module
from attention.models.labels import BEAMS, RECOMPUTE, RUN, STEP, UNKNOWN, USE
from attention.models.recording.pictures import Pictures

Grown = tuple[tuple[Any, Any], ...]  # a tensor, or None, and one that begins with it
UNGROWN: Grown = ((None, None), (None, None))
VIRTUAL = "virtual tokens came with later tokens too, so no position is known"


@dataclass(frozen=True)
class Cached:
    """What a cache has handed out last, in tokens."""

    new: int
    returned: int
    length: int  # of the sequence with the new ones
    grown: Grown  # keys and values: what was held before, and what was handed out


@dataclass
class Stack:
    """The last call of a stack of layers."""

    module: Module
    start: int | None  # the position of its first query
    count: int
    repeat: str = UNKNOWN


@dataclass
class Layer:
    """What is kept of one module of attention from call to call."""

    module: Module
    calls: int = 0
    runs: int = 0
    keys: int = 0
    occasion: tuple[Any, ...] = ()  # the run and the call of the module
    virtual: int | None = None  # tokens before its sequence; None before its first call
    is_lost: bool = False  # whether more virtual tokens came in between: no position is known


@dataclass(frozen=True)
class At:
    """One call: which it is, and what a record says of it beside its numbers."""

    layer: int
    call: int
    module: Module
    cross: bool
    facts: dict[str, Any]
    notes: tuple[str, ...] = ()
    grown: Grown = UNGROWN  # of its cache


class Following:
    """Follows a model's run."""

    def __init__(self, model: Any) -> None:
        self.modules = dict(model.named_modules())
        self.modules |= _of_keras(model, self.modules)
        self.names = {id(module): name for name, module in self.modules.items()}
        self.called: Counter[int] = Counter()  # by id
        self.layers: dict[str, Layer] = {}  # by name, in the order of their first calls
        self.stacks: dict[str, Stack] = {}  # the same, the one that was called last at the end
        self.words: dict[str, list[int]] = {}  # of stacks on words: the end of each run's sequence
        self.cached: Cached | None = None
        self.virtual = _virtual(model)
        self.pictures = Pictures(self.modules)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count the calls of all modules, and hear what caches hold."""
        from torch.nn.modules.module import register_module_forward_pre_hook

        watched = self.pictures.watched

        def hook(module: Any, args: Any) -> None:
            self.called[id(module)] += 1
            if id(module) in watched:
                self.pictures.hear(module, args)

        handle = register_module_forward_pre_hook(hook)
        try:
            with self._caches():
                yield
        finally:
            handle.remove()

    @contextmanager
    def _caches(self) -> Iterator[None]:
        if "transformers" not in sys.modules:
            yield
            return
        from transformers import cache_utils

        Cache = cache_utils.Cache
        growing = getattr(getattr(cache_utils, "DynamicLayer", None), "update", None)
        original = Cache.update

        @wraps(original)
        def update(
            cache: Any, key_states: Any, value_states: Any, layer_idx: int, *args: Any, **more: Any
        ) -> Any:
            before = _held(cache, layer_idx, growing)
            answer = original(cache, key_states, value_states, layer_idx, *args, **more)
            try:
                length = int(cache.get_seq_length(layer_idx))
                grown = tuple(zip(before, answer, strict=False))
                self.cached = Cached(key_states.shape[-2], answer[0].shape[-2], length, grown)
            except Exception:  # a cache of one's own: the model goes on, without positions
                self.cached = None
            return answer

        Cache.update = update
        try:
            yield
        finally:
            Cache.update = original

    def was_run(self, name: str) -> bool:
        """Check whether a module was called."""
        return self.called[id(self.modules[name])] > 0

    def call(self, name: str, n_q: int, n_k: int, cross: bool | None) -> At:
        """Return what the next call of a module is; ``cross`` where the door can tell."""
        layer = self.layers.setdefault(name, Layer(Module(name, self.modules)))
        module, number = layer.module, layer.calls
        cached, self.cached = self.cached, None
        cross = module.is_cross if cross is None else cross
        stack = self.stacks.get(module.stack)
        if cross:
            start, first = stack.start if stack and stack.count == n_q else None, None
        else:
            start, first = self._without_virtual(layer, n_q, *_positions(n_q, n_k, cached))
        repeat = self._repeat(layer, n_q, n_k, start, stack if cross else None)
        layer.calls, layer.keys = number + 1, n_k
        layer.runs += number > 0 and repeat == RUN
        facts = {"repeat": repeat, "run": layer.runs, "query_position": start}
        facts |= {"names": module.names(n_q), "virtual": layer.virtual or 0}
        if cross:
            facts |= self._keys_of(module, n_k)
        else:
            facts |= {"key_names": module.names(n_k), "key_position": first}
            facts |= self.pictures.patches(module, n_k)
            if n_q == n_k:
                facts["names"] = facts["key_names"]
            elif n_q > n_k:  # each is made of several
                facts["key_names"] = module.names(n_k)
            self.stacks.pop(module.stack, None)
            self.stacks[module.stack] = Stack(module, start, n_q, repeat)
            if not facts["names"] and not layer.is_lost:
                ends = self.words.setdefault(module.stack, [])
                ends += [0] * (layer.runs + 1 - len(ends))
                ends[layer.runs] = max(ends[layer.runs], (start or 0) + n_q)
        notes: tuple[str, ...] = (VIRTUAL,) if layer.is_lost and not cross else ()
        notes += (BEAMS,) if repeat == STEP and _is_within("_beam_search") else ()
        place = list(self.layers).index(name)
        return At(place, number, module, cross, facts, notes, cached.grown if cached else UNGROWN)

    def _repeat(
        self, layer: Layer, n_q: int, n_k: int, start: int | None, around: Stack | None
    ) -> str:
        """What a call is that is not its module's first."""
        before = layer.occasion
        layer.occasion = self._occasion(layer.module)
        if not layer.calls:
            return UNKNOWN
        if _is_backward():
            return RECOMPUTE
        if before[0] is not None and before[0] == layer.occasion[0]:
            return USE
        if around is not None and around.repeat in (STEP, RUN):
            return around.repeat
        if start is None and n_q < n_k and layer.keys < n_k or start is not None and start > 0:
            return STEP  # behind what stands in a cache, of torch's own or another
        if n_q == n_k == layer.keys + 1 and _is_within("generate"):
            return STEP  # without a cache all is read anew, with one token more
        return UNKNOWN if before[0] is None else RUN

    def _occasion(self, module: Module) -> tuple[Any, ...]:
        """Which run it is of the outermost module around that was called."""
        for name, each in reversed(module.ancestors):
            if self.called[id(each)]:
                return ((name, self.called[id(each)]),)
        return (None,)

    def _keys_of(self, module: Module, n_k: int) -> dict[str, Any]:
        """Whose sequence the keys of cross-attention are: of the stack that had as many tokens and
        was called last; else of none that is known.
        """
        if module.is_of_diffusers:  # they come from a model beside it
            return {"key_names": (), "key_position": 0}
        others = [each for name, each in self.stacks.items() if name != module.stack]
        found = [each for each in others if each.count == n_k]
        if found:
            theirs = found[-1].module
            return {
                "keys_of": theirs.name,
                "key_names": theirs.names(n_k),
                "key_position": found[-1].start,
                "virtual": self.layers[theirs.name].virtual or 0,
            } | self.pictures.patches(theirs, n_k, cross=True)
        pictures = any(each.module.tower != TEXT for each in others)
        names = (PLACE,) if pictures or module.looks_with_queries else ()
        return {"key_names": names, "key_position": 0}

    def _without_virtual(
        self, layer: Layer, n_q: int, start: int | None, first: int | None
    ) -> tuple[int | None, int | None]:
        """Return positions counted from the first token that is not virtual.

        A run begins behind a prefix, which is in its cache from the start; where its first token is
        at 0, as in ``generate`` of some versions of peft, the model has no prefix. A soft prompt
        comes with the first tokens; where it comes with later ones too, no position is known.
        """
        count, side, is_prefix = self.virtual
        if not count or layer.module.tower != TEXT or side and side not in layer.module.name:
            return start, first
        if layer.virtual is None or n_q > 1:
            layer.virtual = 0 if is_prefix and start == 0 else count
        if not is_prefix and start is not None:
            layer.is_lost = start > 0 and (layer.is_lost or n_q > count)
        if layer.is_lost or start is None or first is None:
            return None, None
        return start - layer.virtual, first - layer.virtual


def _held(cache: Any, layer: int, growing: Any) -> tuple[Any, Any]:
    """The keys and values of a layer whose update, ``growing``, puts new ones behind them."""
    try:
        each = cache.layers[layer]
        grows = type(each).update is growing and each.is_initialized
        return (each.keys, each.values) if grows else (None, None)
    except Exception:  # a cache of another kind, or one without a layer yet
        return None, None


def _positions(n_q: int, n_k: int, cached: Cached | None) -> tuple[int | None, int | None]:
    """Where the first query and key stand, by the cache or since there is none."""
    if cached is not None and (cached.new, cached.returned) == (n_q, n_k):
        return cached.length - n_q, max(cached.length - n_k, 0)
    return (0, 0) if n_q == n_k else (None, None)


def _virtual(model: Any) -> tuple[int, str, bool]:
    """How many virtual tokens peft puts before a sequence, which of two has them, and whether they
    are a prefix of the keys alone.
    """
    config = getattr(model, "active_peft_config", None)
    if config is None or not config.is_prompt_learning:
        return 0, "", False
    side, is_prefix = "", "PREFIX" in str(config.peft_type)
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        side = DECODER if is_prefix else ENCODER
    return int(config.num_virtual_tokens), side, is_prefix


def _is_within(name: str) -> bool:
    """Check whether a function of transformers of this name called, however far out."""
    frame = sys._getframe(1)
    while frame is not None:
        of = frame.f_globals.get("__name__", "") if frame.f_code.co_name == name else ""
        if str(of).startswith("transformers."):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _of_keras(model: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Keras's layers by their paths: they are modules of torch that named_modules() leaves out."""
    if not hasattr(model, "_flatten_layers"):
        return {}
    there = {id(module) for module in known.values()}
    layers = [each for each in model._flatten_layers(include_self=False) if id(each) not in there]
    return {str(getattr(each, "path", each.name)).replace("/", "."): each for each in layers}


def _is_backward() -> bool:
    """Check whether torch computes gradients right now: what is called then is called again."""
    import torch

    return getattr(torch._C, "_current_graph_task_id", lambda: -1)() != -1
