"""The doors through which attention passes in torch and transformers, listened to.

Each stays what it is: the wrapped function is called with what came, and its answer is handed on.
torch is imported inside of the functions, so that this file can be read without it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from threading import Lock, local
from typing import Any

import numpy as np

from attention.models.kinds import PLACE
from attention.models.recording.copies import copied
from attention.models.recording.following import At
from attention.models.recording.functions import (
    Listening,
    compiled,
    quietly,
    replaced,
    replaced_by_name,
    uncompiled,
)
from attention.models.recording.missed import tensors
from attention.models.recording.recorder import Recorder
from attention.vocabulary.sentences import amount

ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
KNOWN = ("position_bias", "s_aux")  # tensors of which it is known what they do
SCORE_MOD = "score_mod does not only add to scores: its effect on these is recorded as a bias"
BOOLEAN = "eager adds this boolean mask to the scores as 0 and 1: it hides nothing"
_ASKING_AGAIN = Lock()  # torch's switch of the fast path is one for all threads
ROUNDINGS = 32  # of a projection, or of a layer, that may fall otherwise on another path


def opened(stack: ExitStack, recorder: Recorder, model: Any) -> None:
    """Listen at all doors until the stack is closed."""
    stack.enter_context(uncompiled())
    stack.enter_context(recorder.following.listening(recorder.passed_by.followed))
    functions = Functions(recorder)
    functions.listen(stack, model)
    doors = [*_torch_layers(recorder, functions)]
    if "transformers" in sys.modules:
        doors += _transformers(recorder, functions, model)
    for door in doors:
        stack.enter_context(door)


# ---- functions of torch --------------------------------------------------------------------------


class Functions(local):
    """Listens to functions of torch; each thread has a state of its own."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.is_within = False  # a door whose attention is recorded there
        self.seen: tuple[list[Any], int] | None = None  # there: masks, and the number of keys

    @contextmanager
    def within(self) -> Iterator[None]:
        """Hear the mask in effect alone: attention itself is recorded by a door of our own."""
        was_within, self.is_within, self.seen = self.is_within, True, None
        try:
            yield
        finally:
            self.is_within = was_within

    def listen(self, stack: ExitStack, model: Any) -> None:
        """Hear attention, and what attention by hand is made of, until the stack is closed."""
        import torch

        of_two = self.product, torch.nn.Parameter  # most are of a layer, with its weights
        products = "matmul", "mm", "addmm", "bmm", "baddbmm", "inner"
        named: dict[tuple[Any, str], Listening] = {
            (torch.nn.functional, "scaled_dot_product_attention"): self.attend,
            (torch, "softmax"): self.softmax,
            (torch, "log_softmax"): self.softmax,
        }
        named |= {(torch, name): of_two for name in products}
        named |= {(torch, name): self.product for name in ("einsum", "tensordot")}
        named |= {(torch.linalg, name): self.product for name in ("matmul", "multi_dot")}
        try:  # at once: a model may import it when it runs
            from torch.nn.attention import flex_attention
        except ImportError:  # before torch 2.5
            pass
        else:
            named[flex_attention, "flex_attention"] = self.flex
        stack.enter_context(replaced_by_name(named, model))
        for name in ("softmax", "log_softmax"):
            stack.enter_context(replaced(torch.Tensor, name, self.softmax))
        for name in (*products, "__matmul__"):
            stack.enter_context(replaced(torch.Tensor, name, of_two))

    def softmax(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Note which module takes a softmax by itself."""
        if not self.is_within and args and (axes := getattr(args[0], "ndim", 0)) > 1:
            self.recorder.passed_by.softmax(_caller(self.recorder.names), axes)
        return original(*args, **kwargs)

    def product(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Note which module multiplies what it has computed, as queries with keys."""
        if self.is_within:
            return original(*args, **kwargs)
        passed_by = self.recorder.passed_by
        given = [*args, *(each for name, each in kwargs.items() if name != "out")]
        factors = list(filter(passed_by.is_computed, tensors(given)))
        if len(factors) > 1:
            passed_by.product(_caller(self.recorder.names), factors)
        return original(*args, **kwargs)

    def attend(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Record scaled_dot_product_attention, or the masks that it gets within another door."""
        given = dict(zip(ARGUMENTS, args, strict=False)) | kwargs
        causal = bool(given.get("is_causal"))
        recorder, query, key = self.recorder, given["query"], given["key"]
        if self.is_within:
            masks = _given_masks(given.get("attn_mask"), causal, query, key)
            self.seen = list(map(copied, masks)), key.shape[-2]
            return original(*args, **kwargs)
        name = _caller(recorder.names)
        at = None if name is None else recorder.wanted(name, query.shape[-2], key.shape[-2])
        if at is None:
            return original(*args, **kwargs)
        axes = Axes.of(query, key, at.module.heads)
        if query.ndim > 4:  # of a window the places in the picture are not known
            at.facts.update({side: (PLACE,) for side in ("names", "key_names") if at.facts[side]})
        Q, K, V = (axes.four(given[each]) for each in ("query", "key", "value"))
        Q, (K, V) = copied(Q), recorder.keys_and_values(at, K, V)
        masks = [
            copied(axes.four_of_mask(mask.detach()))
            for mask in _given_masks(given.get("attn_mask"), causal, query, key)
        ]
        answer = original(*args, **kwargs)
        output = copied(axes.four(answer))
        recorder.keep(
            at,
            Q,
            K,
            V,
            output,
            masks=masks,
            dtype=query.dtype,
            scale=given.get("scale"),
            dropout=float(given.get("dropout_p", 0.0)),
            implementation="scaled_dot_product_attention",
            notes=axes.notes,
        )
        recorder.passed_by.answered(at.module.name, answer, output)
        return answer

    def flex(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Record flex_attention, which a module calls itself, with its block mask and score_mod."""
        recorder = self.recorder
        name = None if self.is_within else _caller(recorder.names)
        bound = inspect.signature(original).bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        query, key, value = (given[each] for each in ("query", "key", "value"))
        at = None if name is None else recorder.wanted(name, query.shape[-2], key.shape[-2])
        with self.within(), compiled():
            if at is None:
                return original(*args, **kwargs)
            Q, (K, V) = copied(query), recorder.keys_and_values(at, key, value)
            mask = _made_of(given["block_mask"], query, key, query.device)
            added, notes = _added_by(given["score_mod"], query, key, given["scale"])
            answer = original(*args, **kwargs)
        answered = answer[0] if isinstance(answer, tuple) else answer
        output = copied(answered)
        recorder.keep(
            at,
            Q,
            K,
            V,
            output,
            masks=[mask, added],
            dtype=query.dtype,
            scale=given["scale"],
            implementation="flex_attention",
            notes=notes,
        )
        recorder.passed_by.answered(at.module.name, answered, output)
        return answer


def _made_of(block: Any, query: Any, key: Any, device: Any) -> np.ndarray | None:
    """(b, h, n_q, n_k): True where a block mask of flex_attention lets a query look."""
    if block is None:
        return None
    from torch.nn.attention.flex_attention import create_mask

    sizes = (*query.shape[:2], query.shape[2], key.shape[2])
    with quietly():
        return copied(create_mask(block.mask_mod, *sizes, device=str(device)))


def _added_by(
    change: Any, query: Any, key: Any, scale: float | None
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """(b, h, n_q, n_k): what score_mod of flex_attention adds to these scores, and a note where it
    would add something else to others.
    """
    import torch

    if change is None:
        return None, ()
    with torch.no_grad(), quietly():
        keys = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
        scores = query.float() @ keys.float().mT
        scores *= query.shape[-1] ** -0.5 if scale is None else scale
        places = [torch.arange(n, device=scores.device) for n in scores.shape]
        for axis in range(3, -1, -1):  # as flex_attention asks it, for each score by itself
            mapped = tuple(0 if k in (0, axis + 1) else None for k in range(5))
            change = torch.vmap(change, in_dims=mapped)
        changed, of_zero = change(scores, *places), change(torch.zeros_like(scores), *places)
        apart = (changed - scores - of_zero).nan_to_num(0.0).abs()  # NaN: both hide
        if float(apart.max()) <= ROUNDINGS * torch.finfo(torch.float32).eps * (
            1 + float(scores.abs().max())
        ):
            return copied(of_zero), ()
        return copied(changed.double() - scores.double()), (SCORE_MOD,)


def _caller(names: dict[int, str]) -> str | None:
    """Return the module whose code asks for the function: the innermost one on the stack."""
    frame = sys._getframe(2)
    while frame is not None:
        name = names.get(id(frame.f_locals.get("self")))
        if name is not None:
            return name
        frame = frame.f_back  # type: ignore[assignment]
    return None


@dataclass(frozen=True)
class Axes:
    """How the axes of a query are read as (b, h, n, d)."""

    shape: tuple[int, ...]
    heads: int  # in the first axis, together with the items
    place: int | None  # the axis of the heads, where there are five or more
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: Any, key: Any, heads: int) -> Axes:
        """Read the axes by how many heads the module says that it has; 0 where it says nothing."""
        shape = tuple(query.shape)
        size, lead = " × ".join(map(str, shape)), shape[:-2]
        if len(shape) == 3:
            if heads > 1 and shape[0] % heads == 0:
                items = amount(shape[0] // heads, "item")
                note = f"{size} were read as {items} of {heads} heads"
                return cls(shape, heads, None, (f"{note}, which is the module's number",))
            if heads == 1 or shape[0] == 1:
                return cls(shape, 1, None)
            note = f"{size} were read as {shape[0]} items of one head"
            why = f"says {heads}" if heads else "does not say how many heads it has"
            return cls(shape, 1, None, (f"{note}: the module {why}",))
        if len(shape) < 5:
            return cls(shape, 1, None)
        places = [axis for axis in range(1, len(lead)) if lead[axis] == heads]
        if len(places) > 1:
            places = [k for k in places if any(_is_split_at(M, k, heads) for M in (query, key))]
        if len(places) == 1:
            return cls(shape, 1, places[0])
        joined = " × ".join(map(str, lead))
        note = f"axes were joined: {joined} became items of one head, as which of them counts heads"
        return cls(shape, 1, None, (f"{note} is not known",))

    def four(self, M: Any) -> Any:
        """(…, n, d) → (b, h, n, d)."""
        if M.ndim == 2:
            return M[None, None]
        if M.ndim == 3:  # those of keys and values may be fewer
            return M.unflatten(0, (self.shape[0] // self.heads, -1))
        if M.ndim == 4:
            return M
        if self.place is None:
            return M.flatten(0, -3)[:, None]
        return M.movedim(self.place, -3).flatten(0, -4)

    def four_of_mask(self, mask: Any) -> Any:
        """Return a mask that broadcasts to (…, n_q, n_k) as one that does to (b, h, n_q, n_k)."""
        import torch

        if mask.ndim < 3 or len(self.shape) in (2, 4):
            return mask
        return self.four(torch.broadcast_to(mask, self.shape[:-2] + mask.shape[-2:]))


def _is_split_at(M: Any, axis: int, heads: int) -> bool:
    """Check whether heads that were split off a projection lie at an axis of (…, n, d): each next
    to the one before, and those of a token before the next token.
    """
    n, d = M.shape[-2:]
    return n > 1 and M.stride(axis) == d and M.stride(-2) >= heads * d


def _given_masks(mask: Any, causal: bool, Q: Any, K: Any) -> list[Any]:
    """Return the mask and the causal switch of ``scaled_dot_product_attention``."""
    masks = [_causal(Q, K)] if causal else []
    if mask is None:
        return masks
    if hasattr(mask, "_materialize"):  # torch.nn.attention.bias.CausalBias
        mask = mask._materialize(Q.device)
    return [*masks, mask]


def _causal(Q: Any, K: Any) -> Any:
    """Aligned top left, as torch's switch."""
    import torch

    return torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril()


# ---- transformers --------------------------------------------------------------------------------


def _transformers(
    recorder: Recorder, functions: Functions, model: Any
) -> Iterator[AbstractContextManager[None]]:
    """Where models ask for their implementation: they get that function, and it listens.

    Before transformers 5 the eager ones are names in the file of each family, and sdpa is seen at
    torch's own function.
    """
    from transformers.modeling_utils import AttentionInterface

    def listening(attend: Callable[..., Any], implementation: str) -> Callable[..., Any]:
        attends = compiled()(attend) if "flex" in implementation else attend

        @wraps(attend)
        def listened(
            module: Any, query: Any, key: Any, value: Any, mask: Any = None, *args: Any, **more: Any
        ) -> Any:
            mask = more.pop("attention_mask", mask)
            name = recorder.names.get(id(module))
            sizes = query.shape[-2], key.shape[-2]
            at = None if name is None else recorder.wanted(name, *sizes)
            given = HandedOver(recorder, at, module, query, key, value, mask, more) if at else None
            with functions.within():
                answer = attends(module, query, key, value, mask, *args, **more)
            if given is not None:
                output = copied(answer[0].transpose(1, 2))
                given.keep(output, implementation, functions.seen)
                recorder.passed_by.answered(given.at.module.name, answer[0], output)
            return answer

        return listened

    known: dict[tuple[Any, str], Any] = {}

    def interface(original: Any, self: Any, attn_implementation: Any, default: Any) -> Any:
        asked = original(self, attn_implementation, default), str(attn_implementation)
        if asked not in known:
            known[asked] = listening(*asked)
        return known[asked]

    if "get_interface" in vars(AttentionInterface):
        yield replaced(AttentionInterface, "get_interface", interface)
        return
    files = {each.__module__ for module in model.modules() for each in type(module).__mro__}
    for file in files:
        if original := vars(sys.modules[file]).get("eager_attention_forward"):
            eager = listening(original, "eager")
            yield replaced(
                sys.modules[file],
                "eager_attention_forward",
                lambda _, *args, eager=eager, **kwargs: eager(*args, **kwargs),
            )


class HandedOver:
    """What an implementation of transformers was handed, copied before it runs."""

    def __init__(
        self,
        recorder: Recorder,
        at: At,
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        mask: Any,
        more: dict[str, Any],
    ) -> None:
        self.recorder, self.at, self.module = recorder, at, module
        self.Q, self.dtype, self.device = copied(query), query.dtype, query.device
        self.K, self.V = recorder.keys_and_values(at, key, value)
        self.mask = copied(mask) if hasattr(mask, "detach") else mask
        self.more: dict[str, Any] = {  # without places and the like, which decide nothing here
            name: copied(M) if hasattr(M, "detach") and M.is_floating_point() else M
            for name, M in more.items()
        }

    def keep(
        self, output: np.ndarray, implementation: str, seen: tuple[list[Any], int] | None
    ) -> None:
        """Hand all that decided about the answer to the recorder."""
        more, notes = self.more, []
        own = self.module._parameters.get("sinks")  # getattr takes long where there are none
        sinks = more.get("s_aux", own)
        sinks = copied(sinks) if hasattr(sinks, "detach") else sinks
        if sinks is not None and sinks.size != self.Q.shape[1]:
            notes.append(
                f"sinks of shape {tuple(sinks.shape)} were ignored; expected one for each head"
            )
            sinks = None
        if sinks is not None and implementation == "sdpa":
            notes.append("sinks were passed, which sdpa ignores")
            sinks = None
        if seen is None:
            masks, n_k = [more.get("position_bias"), *self.masks(implementation)], self.K.shape[2]
        else:  # what scaled_dot_product_attention was handed in the end, for its queries
            masks, n_k = seen
            b, h, n_q = self.Q.shape[:3]
            masks = [M if M.shape[-2] in (1, n_q) else M.reshape(-1, h, n_q, n_k) for M in masks]
        if self.is_added(implementation):
            notes.append(BOOLEAN)
        for word, M in more.items():
            if word not in KNOWN and isinstance(M, np.ndarray) and M.dtype.kind == "f":
                notes.append(f"{word} {tuple(M.shape)} was handed over as well")
        self.recorder.keep(
            self.at,
            self.Q,
            self.K[:, :, :n_k],
            self.V[:, :, :n_k],
            output,
            masks=masks,
            dtype=self.dtype,
            scale=more.get("scaling"),
            sinks=sinks,
            softcap=more.get("softcap"),
            window=more.get("sliding_window"),
            dropout=float(more.get("dropout") or 0.0),
            implementation=implementation,
            notes=tuple(notes),
        )

    def is_added(self, implementation: str) -> bool:
        """Check whether a boolean mask hides nothing: every family's eager function adds it."""
        is_boolean = isinstance(self.mask, np.ndarray) and self.mask.dtype == bool
        return is_boolean and implementation == "eager"

    def masks(self, implementation: str) -> list[Any]:
        """Return the mask in effect, in parts."""
        if hasattr(self.mask, "mask_mod"):  # the BlockMask of flex
            return [_made_of(self.mask, self.Q, self.K, self.device)]
        if self.is_added(implementation):
            return [self.mask.astype(np.float32)]
        if "flash" not in implementation:
            return [self.mask]
        n_q, n_k = self.Q.shape[2], self.K.shape[2]
        lead = np.arange(n_q)[:, None] + (n_k - n_q) - np.arange(n_k)  # from the lower right
        seen = np.ones((n_q, n_k), bool)
        switch = self.more.get("is_causal")
        if getattr(self.module, "is_causal", True) if switch is None else switch:
            seen &= lead >= 0
        if self.more.get("sliding_window") is not None:
            seen &= lead < self.more["sliding_window"]
        real = None if self.mask is None else self.mask[:, None, None, -n_k:].astype(bool)
        return [seen, real]


# ---- torch's own layers --------------------------------------------------------------------------


def _torch_layers(
    recorder: Recorder, functions: Functions
) -> Iterator[AbstractContextManager[None]]:
    """``forward`` of the classes: a hook would turn their fast path off."""
    from torch import nn

    def attention(original: Any, self: Any, *args: Any, **more: Any) -> Any:
        name = recorder.names.get(id(self))
        with functions.within():
            answer = original(self, *args, **more)
            bound = inspect.signature(original).bind(self, *args, **more)
            bound.apply_defaults()
            at = None if name is None else _asked(recorder, name, bound.arguments)
            if at is not None:
                _keep_attention(recorder, at, bound.arguments, answer)
        return answer

    def layer(original: Any, self: Any, *args: Any, **more: Any) -> Any:
        name = recorder.names.get(id(self.self_attn))
        before = _calls(recorder, name)
        answer = original(self, *args, **more)
        if name is not None and _calls(recorder, name) == before:  # the fast path
            bound = inspect.signature(original).bind(self, *args, **more)
            _ask_again(recorder, original, bound, answer)
        return answer

    yield replaced(nn.MultiheadAttention, "forward", attention)
    yield replaced(nn.TransformerEncoderLayer, "forward", layer)


def _calls(recorder: Recorder, name: str | None) -> int:
    """How often a module was recorded."""
    layer = recorder.following.here.layers.get(name or "")
    return layer.calls if layer else 0


def _asked(recorder: Recorder, name: str, given: dict[str, Any]) -> At | None:
    """Follow a call of nn.MultiheadAttention; what it is, where it was chosen."""
    query, key = given["query"], given["key"]
    if query.is_nested:
        n_q, n_k = (max(len(each) for each in M.unbind()) for M in (query, key))
    else:
        axis = 1 if query.ndim == 3 and given["self"].batch_first else 0
        n_q, n_k = query.shape[axis], key.shape[axis]
    return recorder.wanted(name, n_q, n_k, cross=query is not key)


def _keep_attention(recorder: Recorder, at: At, given: dict[str, Any], answer: Any) -> None:
    """Q, K and V are projected once more and attention is asked once more, by the same weights:
    on no path does the module show them. How far its answer lies from that is recorded.
    """
    import torch

    F = torch.nn.functional
    module = given["self"]
    with torch.no_grad(), quietly():
        answered = answer[0].detach()
        inputs = [given[each].detach() for each in ("query", "key", "value")]
        if inputs[0].is_nested:
            inputs = [each.to_padded_tensor(0.0) for each in inputs]
            answered = answered.to_padded_tensor(0.0)
        if inputs[0].ndim == 2:
            inputs, answered = [each[None] for each in inputs], answered[None]
        elif not module.batch_first:
            inputs, answered = [each.transpose(0, 1) for each in inputs], answered.transpose(0, 1)
        parts = _projections(module)
        Q, K, V = (F.linear(M, *part) for M, part in zip(inputs, parts, strict=True))
        masks = _masks_of(module, given, Q)
        for extra in (module.bias_k is not None, module.add_zero_attn):
            if extra:
                masks = [F.pad(mask, (0, 1)) for mask in masks]
        if module.bias_k is not None:
            K, V = (
                torch.cat([M, bias.expand(len(M), 1, -1)], 1)
                for M, bias in ((K, module.bias_k), (V, module.bias_v))
            )
        if module.add_zero_attn:
            K, V = (F.pad(M, (0, 0, 0, 1)) for M in (K, V))
        Q, K, V = (M.unflatten(2, (module.num_heads, -1)).transpose(1, 2) for M in (Q, K, V))
        mask = sum(masks) if masks else None
        output = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
        joined = output.transpose(1, 2).flatten(2)
        out = module.out_proj
        apart = _apart(F.linear(joined, out.weight, out.bias), answered)
        notes: tuple[str, ...] = ()
        if mask is not None and (blind := mask.isneginf().all(-1).any(1)).any():
            apart = torch.where(blind[..., None] & answered.isnan(), 0.0, apart)
            if answered.isnan().any():
                notes = ("where every key of a query is hidden, the module answers NaN, not 0",)
        if given["query"].is_nested:  # what was padded has no answer
            apart = torch.where(_padded(given["query"], apart), 0.0, apart)
        rounding = F.linear(
            joined.abs(), out.weight.abs(), None if out.bias is None else out.bias.abs()
        )
        recorder.keep(
            at,
            *map(copied, (Q, K, V, output)),
            masks=[] if mask is None else [copied(mask)],
            dtype=Q.dtype,
            dropout=module.dropout if module.training else 0.0,
            implementation="nn.MultiheadAttention",
            notes=notes,
            replayed=float(apart.max()),
            replay_allowed=float(rounding.max()) * torch.finfo(Q.dtype).eps * ROUNDINGS,
        )


def _projections(module: Any) -> list[tuple[Any, Any]]:
    """Weight and bias for Q, K and V."""
    if module._qkv_same_embed_dim:
        weights = module.in_proj_weight.chunk(3)
    else:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    bias = module.in_proj_bias
    return list(zip(weights, (None,) * 3 if bias is None else bias.chunk(3), strict=True))


def _masks_of(module: Any, given: dict[str, Any], Q: Any) -> list[Any]:
    """Both masks, to be added, with four axes."""
    import torch

    def added(mask: Any) -> Any:
        mask = mask.detach()
        if mask.dtype != torch.bool:
            return mask.to(Q.dtype)
        return torch.zeros_like(mask, dtype=Q.dtype).masked_fill_(mask, float("-inf"))

    masks = []
    mask, padding = given["attn_mask"], given["key_padding_mask"]
    if mask is not None:
        shape = (-1, module.num_heads, *mask.shape[-2:]) if mask.ndim == 3 else (1, 1, *mask.shape)
        masks.append(added(mask).reshape(shape))
    if padding is not None:
        masks.append(added(padding).reshape(-1, 1, 1, padding.shape[-1]))
    if given["query"].is_nested:
        masks.append(added(_padded(given["query"], Q)[:, None, None, :, 0]))
    return masks


def _apart(one: Any, other: Any) -> Any:
    """How far, number by number; ∞ where only one is NaN."""
    import torch

    apart = torch.where(one.isnan() & other.isnan(), 0.0, (one - other).abs())
    return apart.nan_to_num(nan=float("inf"), posinf=float("inf"))


def _padded(nested: Any, M: Any) -> Any:
    """(b, n, 1): True where an item of nested tensors has no row."""
    import torch

    lengths = torch.tensor([len(each) for each in nested.unbind()], device=M.device)
    return (torch.arange(M.shape[1], device=M.device) >= lengths[:, None])[..., None]


def _ask_again(recorder: Recorder, original: Any, bound: Any, answer: Any) -> None:
    """Ask a layer whose fast path showed nothing once more, on the other path."""
    import torch

    nested = bound.arguments["src"].is_nested
    if nested:  # the other path takes padded ones
        src = bound.arguments["src"]
        padded = src.to_padded_tensor(0.0)
        bound.arguments["src"] = padded
        bound.arguments["src_key_padding_mask"] = _padded(src, padded)[..., 0]
    with _ASKING_AGAIN:
        count, before = len(recorder.taken.calls), torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            with torch.no_grad():
                again = original(*bound.args, **bound.kwargs)
        finally:
            torch.backends.mha.set_fastpath_enabled(before)
    apart = _apart(again, answer.to_padded_tensor(0.0) if nested else answer)
    if nested:
        apart = torch.where(_padded(src, apart), 0.0, apart)
    rounding = float(again.abs().max()) * torch.finfo(again.dtype).eps * ROUNDINGS
    for k, call in enumerate(recorder.taken.calls[count:], count):
        recorder.taken.calls[k] = replace(
            call,
            implementation="nn.TransformerEncoderLayer, fast path",
            replayed=float(apart.max()),
            replay_allowed=rounding,
        )
