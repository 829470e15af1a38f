"""Where a model's run stands at each call of attention: of which sequence, at which positions, and
whether it is a step of a generation, another run, or the same module once more.

torch and transformers are asked for what they know themselves: how often a module was called, where
torch calls each of them; how many tokens a cache holds, by the cache. Each thread is followed
by itself, so what a model does in two threads at once is two runs.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock, local
from typing import Any
from weakref import WeakKeyDictionary

from attention.models.kinds import (
    CROSS,
    DECODER,
    ENCODER,
    PLACE,
    PROMPT,
    TEXT,
    TOKEN,
    Module,
)
from attention.models.labels import BEAMS, RECOMPUTE, RUN, STEP, UNKNOWN, USE
from attention.models.recording.functions import instead, replaced
from attention.models.recording.pictures import Pictures
from attention.models.taken import Call

Grown = tuple[tuple[Any, Any], ...]  # a tensor, or None, and one that begins with it
# called in the place of the next module, with what that would be
Followed = Callable[["Thread", Any, Any, tuple[Any, ...], dict[str, Any]], Any]
UNGROWN: Grown = ((None, None), (None, None))
VIRTUAL = "virtual tokens came with later tokens too, so no position is known"


@dataclass(frozen=True)
class Cached:
    """What a cache has handed out last, in tokens."""

    new: int
    returned: int
    length: int  # of the sequence with the new ones
    grown: Grown  # keys and values: what was held before, and what was handed out
    cache: Any


@dataclass
class Stack:
    """The last call of a stack of layers."""

    module: Module
    start: int | None  # the position of its first query
    count: int
    repeat: str = UNKNOWN
    run: int = 0
    pictures: int = 0  # of its tower; 0 where this is not known
    rejected: int = 0  # how many of its last tokens were cropped from the cache behind it

    @property
    def end(self) -> int:
        """One beyond the position of its last token that was not cropped."""
        return (self.start or 0) + self.count - self.rejected


@dataclass
class Layer:
    """What is kept of one module of attention from call to call."""

    module: Module
    calls: int = 0
    runs: int = 0  # how many began after the first
    keys: int = 0
    occasion: tuple[Any, ...] = ()  # the run and the call of the module
    last: Stack | None = None
    # the last call with each cache, of which several may be in use, each with a run of its own
    by_cache: WeakKeyDictionary[Any, Stack] = field(default_factory=WeakKeyDictionary)
    place: int = 0  # among the modules of attention
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


@dataclass
class Thread:
    """Where the run of one thread is."""

    pictures: Pictures
    called: Counter[int] = field(default_factory=Counter)  # calls of modules, by id
    layers: dict[str, Layer] = field(default_factory=dict)  # by name
    stacks: dict[str, Stack] = field(default_factory=dict)  # by name, in the order of last calls
    cached: Cached | None = None
    beams: tuple[tuple[Any, ...], bool] = ((), False)  # of a run: whether beams are searched
    answer: Any = None  # what attention has just answered, until it is known where it goes
    runs: dict[int, int] = field(default_factory=dict)  # from its own number to the model's


class Following:
    """Follows a model's run."""

    def __init__(self, model: Any) -> None:
        self.modules = dict(model.named_modules())
        self.modules |= _of_keras(model, self.modules)
        self.names = {id(module): name for name, module in self.modules.items()}
        self.calls: dict[str, int] = {}  # by module of attention, in the order of first calls
        self.words: dict[str, list[int]] = {}  # of stacks on words: the end of each run's sequence
        self.made: dict[tuple[str, int], Stack] = {}  # of whose queries a module's call is
        self.virtual = _virtual(model)
        self.watched = Pictures(self.modules).watched
        self.threads: list[Thread] = []
        self.runs = 0  # of all threads
        self._last: Thread | None = None
        self._own = local()
        self._lock = Lock()

    @property
    def here(self) -> Thread:
        """The run of the calling thread.

        Gradients of what ran on a GPU are computed in a thread of torch's own, which goes on with
        the run that was recorded last.
        """
        try:
            return self._own.thread  # type: ignore[no-any-return]
        except AttributeError:
            thread = self._last if _is_backward() else None
            if thread is None:
                self.threads.append(thread := Thread(Pictures(self.modules)))
            self._own.thread = thread
            return thread

    @contextmanager
    def listening(self, followed: Followed) -> Iterator[None]:
        """Count the calls of all modules, and hear what caches hold.

        ``followed`` calls the next module where attention has just answered.
        """
        from torch.nn import Module

        own, watched = self._own, self.watched

        def counted(original: Any) -> Any:
            def call(module: Any, *args: Any, **kwargs: Any) -> Any:
                # a hook would do, but while there is one torch's own way to call a module is longer
                try:
                    here = own.thread
                except AttributeError:
                    here = self.here
                key = id(module)
                here.called[key] += 1
                if key in watched:
                    here.pictures.hear(module, args)
                if here.answer is not None:
                    return followed(here, original, module, args, kwargs)
                return original(module, *args, **kwargs)

            call.original = original  # type: ignore[attr-defined]
            return call

        with instead(Module, "_call_impl", counted), self._caches():
            yield

    @contextmanager
    def _caches(self) -> Iterator[None]:
        if "transformers" not in sys.modules:
            yield
            return
        from transformers import cache_utils

        growing = getattr(getattr(cache_utils, "DynamicLayer", None), "update", None)

        def update(
            original: Any,
            cache: Any,
            key_states: Any,
            value_states: Any,
            layer_idx: int,
            *args: Any,
            **more: Any,
        ) -> Any:
            before = _held(cache, layer_idx, growing)
            answer = original(cache, key_states, value_states, layer_idx, *args, **more)
            try:
                length = int(cache.get_seq_length(layer_idx))
                grown = tuple(zip(before, answer, strict=False))
                sizes = key_states.shape[-2], answer[0].shape[-2], length
                self.here.cached = Cached(*sizes, grown, cache)
            except Exception:  # a cache of one's own: the model goes on, without positions
                self.here.cached = None
            return answer

        def crop(original: Any, cache: Any, *args: Any, **more: Any) -> None:
            before = _length(cache)
            original(cache, *args, **more)
            for layer in self.here.layers.values():
                if (last := layer.by_cache.get(cache)) is not None:
                    self._crop(last, before - _length(cache))

        with ExitStack() as stack:
            for name, listening in (("update", update), ("crop", crop)):
                if name in vars(cache_utils.Cache):
                    stack.enter_context(replaced(cache_utils.Cache, name, listening))
            yield

    def _crop(self, last: Stack, count: int) -> None:
        """Note that the last tokens of a call are not in its cache any more."""
        if last.start is None or not 0 < count < last.count - last.rejected:
            return  # what goes further back begins another run
        last.rejected += count
        ends = self.words.get(last.module.stack, [])
        if last.run < len(ends):
            ends[last.run] = last.end

    def settled(self, calls: list[Call]) -> list[Call]:
        """Return calls with what is known of them at last: how many of their tokens were cropped
        from the cache, and of which pictures their items are windows.
        """
        return [self._settled(each, self.made[each.module, each.call]) for each in calls]

    def _settled(self, call: Call, made: Stack) -> Call:
        note = "" if call.kind == CROSS else made.module.windows_note(len(call.Q), made.pictures)
        notes = (*call.notes, note) if note else call.notes
        if not note and not made.rejected:
            return call
        return replace(call, rejected=made.rejected, notes=notes)

    def was_run(self, name: str) -> bool:
        """Check whether a module was called."""
        return any(each.called[id(self.modules[name])] for each in self.threads)

    def call(self, name: str, n_q: int, n_k: int, cross: bool | None) -> At:
        """Return what the next call of a module is; ``cross`` where the door can tell."""
        with self._lock:
            return self._call(self.here, name, n_q, n_k, cross)

    def _call(self, here: Thread, name: str, n_q: int, n_k: int, cross: bool | None) -> At:
        if (layer := here.layers.get(name)) is None:
            self.calls.setdefault(name, 0)
            place = list(self.calls).index(name)
            layer = here.layers[name] = Layer(Module(name, self.modules), place=place)
        module, number = layer.module, self.calls[name]
        self.calls[name] = number + 1
        cached, here.cached = here.cached, None
        cross = module.is_cross if cross is None else cross
        memory = module.memories if module.memories < n_k else 0
        stack = here.stacks.get(module.stack)
        if cross:
            theirs = self._theirs(module, n_q)
            start, first = theirs.start if theirs else None, None
        else:
            start, first = _positions(n_q, n_k - memory, cached)
            start, first = self._without_virtual(layer, n_q, start, first)
            if start is None and stack is not None and not layer.is_lost:
                start, first = self._as_before(layer.module, stack, n_q, n_k - memory)
            first = None if first is None else first - memory
        cache = cached.cache if cached else None
        before = layer.last if cache is None else layer.by_cache.get(cache)
        repeat = self._repeat(layer, n_q, n_k - memory, start, before, cache is not None)
        run = layer.last.run if layer.last else self._run_of(here, 0)
        later = STEP, RUN
        if cross and stack and stack.repeat in later and repeat in (*later, UNKNOWN):
            repeat, run = stack.repeat if layer.calls else repeat, stack.run
        elif repeat == STEP and before is not None:
            run = before.run
            is_behind = before.start is not None and before.end == n_k - memory - n_q
            if start is None and is_behind and not cross and not layer.is_lost:
                start, first = before.end, -memory  # a cache that is none of transformers'
            self._crop(before, 0 if start is None else before.end - start)
        elif repeat == RUN:
            layer.runs += 1
            run = self._run_of(here, layer.runs)
        if number and not layer.calls:  # of another thread's run there was one before
            repeat = RUN
        self._last = here
        pictures = here.pictures.counts.get(id(module.first_convolution), 0)
        made = Stack(module, start, n_q, repeat, run, pictures)
        if cross and theirs is not None and theirs is stack:
            made = stack
        elif repeat == USE and layer.last and (layer.last.start, layer.last.count) == (start, n_q):
            made = layer.last  # the same tokens once more
        layer.calls, layer.keys, layer.last = layer.calls + 1, n_k - memory, made
        if cache is not None:
            layer.by_cache[cache] = made
        facts: dict[str, Any] = {"repeat": repeat, "run": run, "query_position": start}
        facts |= {"names": module.names(n_q), "virtual": layer.virtual or 0}
        if cross:
            facts |= self._queries_of(module, n_q, theirs, stack)
            facts |= self._keys_of(module, n_k - memory, theirs)
            if memory and facts["key_position"] is not None:
                facts |= {"key_position": facts["key_position"] - memory, "memory": memory}
        else:
            facts |= {"key_position": first, "memory": memory}
            facts |= _named(here.pictures, module, n_q, n_k)
            here.stacks.pop(module.stack, None)
            here.stacks[module.stack] = made
            if not facts["names"] and not layer.is_lost:
                ends = self.words.setdefault(module.stack, [])
                ends += [0] * (run + 1 - len(ends))
                ends[run] = max(ends[run], (start or 0) + n_q)
        self.made[name, number] = made
        notes: tuple[str, ...] = (VIRTUAL,) if layer.is_lost and not cross else ()
        notes += (BEAMS,) if made.repeat == STEP and self._is_of_beams(layer.occasion) else ()
        return At(
            layer.place, number, module, cross, facts, notes, cached.grown if cached else UNGROWN
        )

    def _run_of(self, here: Thread, own: int) -> int:
        """Return the model's number of a run of one thread."""
        if own not in here.runs:
            here.runs[own], self.runs = self.runs, self.runs + 1
        return here.runs[own]

    def _repeat(
        self, layer: Layer, n_q: int, n_k: int, start: int | None, last: Stack | None, cached: bool
    ) -> str:
        """Return what a later call of a module is; ``last``: the one before with the same cache."""
        before = layer.occasion
        layer.occasion = self._occasion(layer.module)
        if not layer.calls:
            return UNKNOWN
        if _is_backward():
            return RECOMPUTE
        if before[0] is not None and before[0] == layer.occasion[0]:
            return USE
        if start is not None and start > 0:  # behind what a cache holds
            is_behind = last is None or last.start is None or last.start < start
            return STEP if is_behind else RUN  # where a cache was cropped to what two runs share
        if start is None and n_q < n_k and layer.keys < n_k:
            return STEP  # behind what a cache holds that is none of transformers'
        if not cached and n_q == n_k == layer.keys + 1 and _is_within("generate"):
            return STEP  # without a cache all is read anew, with one token more
        return UNKNOWN if before[0] is None else RUN

    def _occasion(self, module: Module) -> tuple[Any, ...]:
        """Which run it is of the outermost module around that was called."""
        called = self.here.called
        for name, each in reversed(module.ancestors):
            if called[id(each)]:
                return ((name, called[id(each)]),)
        return (None,)

    def _is_of_beams(self, occasion: tuple[Any, ...]) -> bool:
        """Check whether a run is part of a search with beams."""
        here = self.here
        if here.beams[0] != occasion or occasion == (None,):
            here.beams = occasion, _is_within("_beam_search", "beam_search")
        return here.beams[1]

    def _theirs(self, module: Module, n_q: int) -> Stack | None:
        """Whose sequence the queries of cross-attention are: of its own stack; where that had
        another number of tokens, in a tower, of another with as many.
        """
        stacks = self.here.stacks
        own = stacks.get(module.stack)
        if own is not None and own.count == n_q and not module.looks_from_picture:
            return own
        others = [each for name, each in stacks.items() if name != module.stack]
        others = others if module.looks_with_queries else []
        return next((each for each in reversed(others) if each.count == n_q), None)

    def _queries_of(
        self, module: Module, n_q: int, theirs: Stack | None, own: Stack | None
    ) -> dict[str, Any]:
        """Return what queries of cross-attention are called that are not of its own stack."""
        if theirs is not None and theirs is not own:
            return {"queries_of": theirs.module.name, "names": theirs.module.names(n_q)}
        if theirs is None and own is not None and module.looks_with_queries:
            return {"names": (PLACE,)}  # of another stack, which was not seen
        return {}

    def _keys_of(self, module: Module, n_k: int, asking: Stack | None) -> dict[str, Any]:
        """Whose sequence the keys of cross-attention are: of the stack that had as many tokens and
        was called last, which is not that of the queries; else of none that is known.
        """
        if module.is_of_diffusers:  # they come from a model beside it
            return {"key_names": (), "key_position": 0}
        stacks = self.here.stacks
        own = stacks.get(module.stack)
        others = [each for each in stacks.values() if each is not asking]
        others = others if module.looks_with_queries else [e for e in others if e is not own]
        # x-transformers hands on what it read without the learned tokens in front
        found = [e for e in others if n_k in (e.count, e.count + min(e.start or 0, 0))]
        if found:
            theirs, is_whole = found[-1].module, found[-1].count == n_k
            return {
                "keys_of": theirs.name,
                "key_names": theirs.names(n_k),
                "key_position": found[-1].start if is_whole else 0,
                "virtual": self.here.layers[theirs.name].virtual or 0 if is_whole else 0,
            } | self.here.pictures.patches(theirs, n_k, cross=True)
        pictures = any(each.module.tower != TEXT for each in others)
        names = (PLACE,) if pictures or module.looks_with_queries else ()
        return {"key_names": names, "key_position": 0}

    def _as_before(
        self, module: Module, stack: Stack, n_q: int, n_k: int
    ) -> tuple[int | None, int | None]:
        """Return positions by the layer before in this run, whose queries are the same; keys of a
        cache that is none of transformers' end with the last query.
        """
        occasion = self._occasion(module)
        is_same = occasion == self.here.layers[stack.module.name].occasion != (None,)
        if not is_same or stack.start is None or stack.count != n_q:
            return None, None
        end = stack.start + n_q
        return (stack.start, end - n_k) if n_q < n_k <= end else (None, None)

    def _without_virtual(
        self, layer: Layer, n_q: int, start: int | None, first: int | None
    ) -> tuple[int | None, int | None]:
        """Return positions counted from the first token that is not virtual.

        A run begins behind a prefix, which is in its cache from the start; where its first token is
        at 0, as in ``generate`` of some versions of peft, the model has no prefix. A soft prompt
        comes with the first tokens; where it comes with later ones too, no position is known.
        """
        count, side, is_prefix = self.virtual
        learned, are_between = layer.module.memory_tokens
        count = count or learned
        if not count or layer.module.tower != TEXT or side and side not in layer.module.name:
            return start, first
        if layer.virtual is None or n_q > 1:
            layer.virtual = 0 if is_prefix and start == 0 else count
        if not is_prefix and start is not None:
            layer.is_lost = start > 0 and (layer.is_lost or n_q > count) or are_between
        if layer.is_lost or start is None or first is None:
            return None, None
        return start - layer.virtual, first - layer.virtual


def _length(cache: Any) -> int:
    """How many tokens a cache holds; 0 where it does not say."""
    try:
        return int(cache.get_seq_length())
    except Exception:  # a cache of one's own
        return 0


def _held(cache: Any, layer: int, growing: Any) -> tuple[Any, Any]:
    """Return keys and values of a layer whose update, ``growing``, puts new ones behind them."""
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


def _named(pictures: Pictures, module: Module, n_q: int, n_k: int) -> dict[str, Any]:
    """Return what queries and keys of one sequence are called, and the grid of patches."""
    named: dict[str, Any] = {"key_names": module.key_names(n_q, n_k)}
    heard = pictures.patches(module, n_k)
    # of keys that are made of several each, the tower's names for patches are not theirs
    facts = heard | named if n_q > n_k else named | heard
    if n_q == n_k:
        names = _of_prompt(module, n_q) if module.is_of_diffusers else ()
        facts["names"] = facts["key_names"] = names or facts["key_names"]
    return facts


def _of_prompt(module: Module, n: int) -> tuple[str, ...]:
    """How n tokens of joint attention are called, a prompt's and places of a picture; () where they
    are all of one.

    Asked of the tensors that diffusers' functions hold at this moment: one that is named as the
    encoder's is of the prompt, and one of n tokens that begins or ends with it tells the order.
    """
    import torch

    frame, is_inside = sys._getframe(1), True
    while frame is not None:
        there = {k: M for k, M in frame.f_locals.items() if isinstance(M, torch.Tensor)}
        prompts = [there.pop(name) for name in list(there) if name.startswith("encoder")]
        pairs = [(prompt, M) for prompt in prompts for M in there.values()]
        for prompt, M in pairs:
            if names := _order(prompt, M, n):
                return names
        counts = [(_tokens(prompt), _tokens(M)) for prompt, M in pairs]
        if is_inside and any(sum(each) == n and all(each) for each in counts):
            return (TOKEN,)  # in an order that is not known
        of = frame.f_locals.get("self")
        is_inside &= of is not module.itself
        if of is module.modules.get(""):
            break
        frame = frame.f_back  # type: ignore[assignment]
    return ()


def _tokens(M: Any) -> int:
    """How many tokens a tensor (b, n, d) has; 0 of another."""
    return int(M.shape[1]) if M.ndim == 3 else 0


def _order(prompt: Any, whole: Any, n: int) -> tuple[str, ...]:
    """How n tokens are called, if they are the prompt's and others; () where they are not."""
    import torch

    sizes = list(zip(prompt.shape, whole.shape, strict=False))
    axes = [axis for axis, (one, all_of_it) in enumerate(sizes) if one != all_of_it]
    if prompt.ndim != whole.ndim or prompt.dtype != whole.dtype or len(axes) != 1:
        return ()
    (axis,), count = axes, prompt.shape[axes[0]]
    if axis == 0 or whole.shape[axis] != n or not 0 < count < n:
        return ()
    if torch.equal(whole.narrow(axis, 0, count), prompt):
        return (f"{PROMPT}:{count}", PLACE)
    if torch.equal(whole.narrow(axis, n - count, count), prompt):
        return (f"{PLACE}:{n - count}", PROMPT)
    return ()


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


def _is_within(*names: str) -> bool:
    """Check whether a function of transformers or x-transformers of such a name called, however far
    out.
    """
    frame = sys._getframe(1)
    while frame is not None:
        of = frame.f_globals.get("__name__", "") if frame.f_code.co_name in names else ""
        if str(of).startswith(("transformers.", "x_transformers.")):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _of_keras(model: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Keras's layers by their paths: they are modules of torch that named_modules() leaves out."""
    if not hasattr(model, "_flatten_layers"):
        return {}
    there = {id(module) for module in known.values()}
    layers = [each for each in model._flatten_layers(include_self=False) if id(each) not in there]
    paths = (str(getattr(each, "path", None) or each.name) for each in layers)  # built ones have it
    return {path.replace("/", "."): each for path, each in zip(paths, layers, strict=True)}


def _is_backward() -> bool:
    """Check whether torch computes gradients right now: what is called then is called again."""
    import torch

    return getattr(torch._C, "_current_graph_task_id", lambda: -1)() != -1
