"""Record what attention receives and returns while a model runs, in the person's own process.

A model's attention is seen at three doors, each a function that is wrapped while the block runs:

1. transformers asks ``AttentionInterface.get_interface`` for the implementation by its name: what
   it gets is that very function, listened to. The name stays, and so does the mask made for it.
2. ``nn.MultiheadAttention`` and torch's Transformer layers: their modules.
3. ``scaled_dot_product_attention`` and ``flex_attention``, by whatever name a module has for them.

torch and transformers are the person's own and are imported when they are first used.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from attention.arrays.conversion import shown
from attention.models.labels import check_labels
from attention.models.recording.doors import opened
from attention.models.recording.following import Following
from attention.models.recording.missed import is_without_weights
from attention.models.recording.recorder import Recorder
from attention.models.taken import Taken, checked_tokens
from attention.vocabulary.sentences import first_few

Chosen = Collection[int] | int | None


@contextmanager
def capture(
    model: Any,
    *,
    layers: Collection[int | str] | int | str | None = None,
    heads: Chosen = None,
    queries: Chosen = None,
    calls: Chosen = None,
    tokens: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
    name: str | None = None,
) -> Iterator[Taken]:
    """Record the attention of all that the model does inside of the block.

    ``with attention.capture(model, layers=[0], tokens=words) as taken: model(**inputs)``, then
    ``taken.save("run.safetensors")``. The model answers as it always does, to the bit, and is left
    as it was, after an exception too. Everything is copied to the CPU's memory: of a large model
    choose layers, heads or queries.

    Parameters
    ----------
    model : torch.nn.Module
        Of transformers, of torch's own layers, or any that calls ``scaled_dot_product_attention``
        or ``flex_attention``.
    layers : numbers, counted from 0 in the order in which they are first called, or parts of names
        such as ``"decoder.block.0."``. Default: all.
    heads : numbers of heads of queries. Default: all.
    queries : which queries of each call, such as ``range(8)``, one after the other; of the keys
        only those from the first to the last that these may look at. Default: all.
    calls : which calls of each layer, from 0: the steps of ``generate``. Default: all.
    tokens : words of the sequence, one for each token, or for each item of a batch a list of them.
        Of a model with two sequences, or for a tower of pictures or sound, a dict from a part of a
        module's name to the words of that part: ``{"encoder": source, "decoder": target}``.
    name : of the model. Default: what its configuration says, or its class.

    Raises
    ------
    ValueError
        At the end of the block: nothing passed through a known door; the modules are named. Or
        there are more or fewer tokens than the model read: ``taken`` holds the run, so that
        ``taken.tokens`` can be set anew.

    What passed through none of these doors beside what did is listed in ``taken.missed``.
    """
    _check_model(model)
    taken = Taken(tokens=checked_tokens(tokens))
    taken.model = name if name is not None else _name(model)
    taken.versions = {
        each: str(sys.modules[each].__version__)
        for each in ("torch", "transformers")
        if each in sys.modules
    }
    recorder = Recorder(
        model,
        taken,
        Following(model),
        _layers(layers),
        _chosen("heads", heads),
        _run("queries", queries),
        _chosen("calls", calls),
    )
    with ExitStack() as stack:
        opened(stack, recorder, model)
        yield taken
    taken.calls[:] = recorder.following.settled(taken.calls)
    recorder.in_order()
    taken.missed, taken.not_run = recorder.passed_by.listed()
    taken.stacks = recorder.following.words
    if not taken.calls:
        raise ValueError(_empty(recorder, model, taken.missed, taken.not_run))
    check_labels(taken)


def _check_model(model: Any) -> None:
    try:
        import torch
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "attention.capture listens to a model of torch, which is not installed here; it is"
            " run where the model runs."
        ) from None
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is a {type(model).__name__}; expected a torch.nn.Module.")
    for module in model.modules():
        if hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None):
            raise ValueError(
                "The attention of a compiled model cannot be captured; pass the model from before"
                " torch.compile, such as model._orig_mod."
            )


def _name(model: Any) -> str:
    config = getattr(model, "config", None)
    return str(getattr(config, "_name_or_path", "") or type(model).__name__)


def _chosen(name: str, given: Chosen) -> list[int] | None:
    """Numbers from 0, in their order."""
    if given is None:
        return None
    numbers = [given] if isinstance(given, int) else list(given)
    if not numbers or not all(type(each) is int and each >= 0 for each in numbers):
        raise ValueError(f"{name} is {shown(given)}; expected numbers from 0, such as [0, 3].")
    return sorted(set(numbers))


def _run(name: str, given: Chosen) -> slice | None:
    numbers = _chosen(name, given)
    if numbers is None:
        return None
    if numbers[-1] - numbers[0] != len(numbers) - 1:
        raise ValueError(f"{name} is {shown(given)}; expected a range without gaps: range(8).")
    return slice(numbers[0], numbers[-1] + 1)


def _layers(given: Any) -> list[int | str] | None:
    if given is None:
        return None
    chosen = [given] if isinstance(given, (int, str)) else list(given)
    if not chosen or not all(
        type(each) is int and each >= 0 or isinstance(each, str) and each for each in chosen
    ):
        raise ValueError(
            f"layers is {shown(given)}; expected numbers from 0, or parts of modules' names."
        )
    return chosen


def _empty(recorder: Recorder, model: Any, missed: list[str], not_run: list[str]) -> str:
    """Why nothing was captured."""
    if called := list(recorder.following.calls):
        there = ", ".join(f"{k} ({name})" for k, name in enumerate(called[:8]))
        return f"None of the chosen layers ran; the layers that ran are {there}."
    listed = missed or [
        f"{name} ({type(child).__name__})" for name, child in model.named_children()
    ]
    if not_run and not missed:
        return f"No attention ran inside the with block; not run: {first_few(not_run, 8)}."
    kind = type(model).__name__
    if missed and all(is_without_weights(each) for each in missed):
        return f"{kind} has no attention weights to capture: {first_few(missed, 8)}."
    if not missed and any(map(recorder.following.was_run, recorder.following.modules)):
        return (
            f"{kind} has no attention to capture: no module that ran is called attention, takes a"
            " softmax of three or more axes, or multiplies what it computed more than once."
        )
    names = first_few(listed, 8) or type(model).__name__
    hint = _hint(model, [recorder.following.modules.get(name) for name in missed])
    return (
        "No attention was captured inside the with block. capture sees transformers'"
        " AttentionInterface, nn.MultiheadAttention, scaled_dot_product_attention and"
        f" flex_attention; not captured: {names}.{hint}"
    )


def _hint(model: Any, missed: list[Any]) -> str:
    """Name the switch of its library with which this attention would be captured, if any."""
    way = getattr(getattr(model, "config", None), "_attn_implementation", "sdpa")
    if way != "sdpa" and getattr(model, "_supports_sdpa", False):
        return " Load it with attn_implementation='sdpa', which capture sees."
    for module in missed:
        library = type(module).__module__.partition(".")[0]
        if library == "x_transformers" and getattr(module, "flash", None) is False:
            return " Make it with attn_flash=True, which capture sees."
        if library == "timm" and getattr(module, "fused_attn", None) is False:
            return " Set TIMM_FUSED_ATTN=2 before timm is imported: capture sees that."
    return ""
