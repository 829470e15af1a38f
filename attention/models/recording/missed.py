"""What took part in a run and passed through no door: attention by hand, and layers without it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from threading import local
from typing import Any

import numpy as np

from attention.models.kinds import stack_of
from attention.models.recording.copies import copied, version_of
from attention.models.recording.following import Following, Thread

# layers in the place of attention, by what their classes are called: they have no weights to show
_NO_WEIGHTS = {
    "linear attention": r"linear_?att(?:n|ention)(?!.*layer)|delta_?net|deltaattention|deltarule"
    r"|lightningattention|retention|rwkv\w*attention|gatedlinear",
    "state space": r"mamba\d*(?:mixer|layer$)|\bssm|s4d?(?:layer|block)|statespace",
    "recurrence": r"rglru|[sm]lstm(?:layer|cell)|\brnn$",
}
NO_WEIGHTS = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in _NO_WEIGHTS.items()}
# modules whose softmax mixes streams, or chooses experts
NO_ATTENTION = re.compile("hyperconnection|router", re.IGNORECASE)
WITHOUT = ", no weights"
CHANGED = "a gate or norm between the recorded output and the next projection"
PRODUCTS = 2  # of what was computed: queries with keys, weights with values


class Own(local):
    """What one thread is at."""

    products: tuple[str, int, int] = ("", 0, 0)  # in which call of a module, and how many


@dataclass
class Answered:
    """What attention has answered, and what is known to be no part of it."""

    name: str  # of the module
    answer: Any
    version: int | None
    output: np.ndarray  # a copy
    # by where they are in memory; held, so that nothing else can get their memory meanwhile
    others: dict[int, tuple[Any, int | None]] = field(default_factory=dict)

    def leave_out(self, others: Iterable[Any]) -> None:
        """Note tensors that were there before the answer, or were not made of it."""
        own = _memory(self.answer)
        for each in others:
            if (at := _memory(each)) not in (None, own):
                self.others[at] = each, version_of(each)

    def is_of_another(self, tensor: Any) -> bool:
        """Check whether a tensor is one of those, and was not written to since."""
        other = self.others.get(_memory(tensor) or 0)
        return other is not None and other[1] == version_of(other[0])

    def is_the_same(self, given: Any) -> bool:
        """Check whether a tensor holds the numbers of the answer, in any order."""
        is_unchanged = self.version is not None and self.version == version_of(self.answer)
        at = _memory(given) if is_unchanged else None
        if at is not None and at == _memory(self.answer) and _is_whole(given):
            return True
        return _numbers_in(copied(given)) == _numbers_in(self.output)


class PassedBy:
    """Notes what a model does beside what is recorded."""

    def __init__(self, model: Any, following: Following) -> None:
        self.model = model
        self.following = following
        self.unknown: dict[str, None] = {}  # modules with attention by hand
        self.changed: dict[str, bool] = {}  # whether a module's answer was before its projection
        self._parameters: set[int] | None = None  # where they are in memory
        self._sizes: dict[str, set[tuple[int, ...]]] = {}  # of the weights in a module
        self._own = Own()

    def softmax(self, name: str | None, axes: int) -> None:
        """Note a module that takes a softmax by itself.

        One of two axes may be a router's: it counts behind a product of what was computed in the
        same call.
        """
        if name is None:
            return
        kind = type(self.following.modules[name])
        if kind.__module__.startswith("torch.nn.modules.activation"):  # nn.Softmax
            name = name.rpartition(".")[0]
        if NO_ATTENTION.search(kind.__name__):
            return
        if axes > 2 or self._products_in(name):
            self.unknown[name] = None

    def product(self, name: str | None, factors: list[Any]) -> None:
        """Note a module that multiplies computed matrices more than once in a call."""
        if name is None or any(map(self._parameters_of(name).__contains__, map(_size, factors))):
            return
        count = self._products_in(name) + 1
        self._own.products = name, self._call_of(name), count
        if count >= PRODUCTS:
            self.unknown[name] = None

    def _products_in(self, name: str) -> int:
        """How often a module has multiplied what it computed in this call of it, if it was the last
        to do so.
        """
        products = self._own.products
        return products[2] if products[:2] == (name, self._call_of(name)) else 0

    def _call_of(self, name: str) -> int:
        return self.following.here.called[id(self.following.modules[name])]

    def _parameters_of(self, name: str) -> set[tuple[int, ...]]:
        """Return the sizes of a module's weights: a factor of such a size is made of one of them,
        as one of another type, a norm of it, or those of chosen experts.
        """
        if name not in self._sizes:
            module = self.following.modules[name]
            self._sizes[name] = {_size(M) for M in module.parameters() if M.ndim in (2, 3)}
        return self._sizes[name]

    def is_computed(self, tensor: Any) -> bool:
        """Check whether a tensor is a matrix of numbers, and no parameter of the model."""
        try:
            if tensor.ndim < 2 or not tensor.is_floating_point():
                return False
            if self._parameters is None:
                self._parameters = {
                    each.untyped_storage().data_ptr() for each in self.model.parameters()
                }
            return tensor.untyped_storage().data_ptr() not in self._parameters
        except Exception:  # a tensor of another kind, or a parameter that is not there yet
            return False

    def answered(self, name: str, answer: Any, output: np.ndarray) -> None:
        """Take the first answer of a module's attention, whatever the order of its axes, and the
        copy that was kept of it.
        """
        if name in self.changed:
            return
        self.changed[name] = False
        answered = Answered(name, answer.detach(), version_of(answer), output)
        answered.leave_out(_in_frames(self.following.modules[self._whole(name)]))
        self.following.here.answer = answered

    def followed(
        self, here: Thread, original: Any, module: Any, args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        """Call the next module behind an answer of attention; see whether that is what it gets."""
        if not self._gets_another(here, module, tensors((*args, kwargs))):
            return original(module, *args, **kwargs)
        answered, here.answer = here.answer, None
        made = original(module, *args, **kwargs)
        answered.leave_out(tensors([made]))
        here.answer = answered
        return made

    def _gets_another(self, here: Thread, module: Any, given: Iterable[Any]) -> bool:
        """Check whether all that a module gets is known to be no part of the answer, as what a gate
        is made of; else compare the two, and go on with the answer where the module hands it on.
        """
        answered, here.answer = here.answer, None
        inner = self.following.names.get(id(module), "")
        if not inner.startswith(f"{self._whole(answered.name)}."):
            return False
        first = next((each for each in given if not answered.is_of_another(each)), None)
        if first is None or self._goes_on(answered, module, first):
            here.answer = answered
        return first is None

    def _goes_on(self, answered: Answered, module: Any, given: Any) -> bool:
        """Check whether a module hands on the answer, which it was given, to another."""
        kind = type(module).__name__.lower()
        if kind == "identity" or kind.startswith("dropout") and not module.training:
            return True
        if given.dtype != answered.answer.dtype or given.numel() != answered.answer.numel():
            return False
        if "norm" in kind or not answered.is_the_same(given):
            self.changed[answered.name] = True
            return False
        return not _has_parameters(module)  # as one that joins the heads

    def _whole(self, name: str) -> str:
        """Return the module of attention around one that only attends, as x-transformers has it."""
        around, modules = name.rpartition(".")[0], self.following.modules
        kind = type(modules.get(around)).__name__.lower()
        is_part = ("attention" in kind or "attn" in kind) and not _has_parameters(modules[name])
        return around if is_part else name

    def listed(self) -> tuple[list[str], list[str]]:
        """Return modules of attention that passed through no door, and those never called.

        Of those that were called, layers whose kind has no weights are one entry each kind.
        """
        modules, recorded = self.following.modules, list(self.following.calls)
        kinds = {
            name: "" if any(_inside(one, name) for one in recorded) else _kind(module)
            for name, module in modules.items()
            if name
        }
        known = [name for name, kind in kinds.items() if kind]
        for name in kinds:  # where nothing around it has said what it is a part of
            if _decays(modules[name]) and not any(_inside(name, other) for other in known):
                kinds[name] = "state space"
        looks = [
            name
            for name, kind in kinds.items()
            if kind or "attention" in type(modules[name]).__name__.lower()
        ]
        inner = [
            name
            for name in looks
            if not any(_inside(other, name) for other in looks if other != name)
        ]
        without = [name for name in inner if kinds[name] and self.following.was_run(name)]
        unknown = [
            name for name in self.unknown if not any(_inside(name, other) for other in without)
        ]
        by_hand = unknown + [
            name
            for name in inner
            if name not in without
            and not any(_inside(name, one) or _inside(one, name) for one in unknown)
        ]
        by_hand = [
            name
            for name in by_hand
            if not any(_inside(one, name) or _inside(name, one) for one in recorded)
        ]
        ran = [name for name in by_hand if name in unknown or self.following.was_run(name)]
        listed = list(ran)
        for what in NO_WEIGHTS:
            names = [each for each in without if kinds[each] == what]
            listed += grouped(names, what + WITHOUT)
        listed += grouped([name for name, changed in self.changed.items() if changed], CHANGED)
        return listed, [name for name in by_hand if name not in ran]


def _has_parameters(module: Any) -> bool:
    """Check whether a module has any parameters, of its own or of modules in it."""
    return next(module.parameters(), None) is not None


def _size(M: Any) -> tuple[int, ...]:
    """Return how many axes a matrix or several have, and the last two sizes, of either turn."""
    return (M.ndim, *sorted(M.shape[-2:]))


def _numbers_in(M: np.ndarray) -> tuple[int, int]:
    """Return sums of the bits of all numbers and of their squares, which tell whether two arrays
    hold the same numbers in any order; sorting them takes longer than a layer.
    """
    bits = M.view(f"i{M.itemsize}").astype(np.int64)  # sums beyond 2⁶³ begin anew: still exact
    return int(bits.sum()), int((bits * bits).sum())


def tensors(given: Iterable[Any]) -> Iterator[Any]:
    """Yield the tensors among arguments or other values, and those in their lists and dicts."""
    for each in given:
        if isinstance(each, dict):
            each = tuple(each.values())
        for inner in each if isinstance(each, (list, tuple)) else (each,):
            if hasattr(inner, "is_floating_point"):
                yield inner


def _in_frames(module: Any) -> Iterator[Any]:
    """Yield the tensors that the code of a module, and what it has called, have names for."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "<module>":
        yield from tensors(frame.f_locals.values())
        if frame.f_locals.get("self") is module:
            return
        frame = frame.f_back  # type: ignore[assignment]


def _is_whole(tensor: Any) -> bool:
    """Check whether a tensor is all of its memory, so that another of its size there is it too."""
    return bool(tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size())


def _memory(tensor: Any) -> int | None:
    """Where in memory a tensor is; None of one of another kind, or without memory."""
    try:
        return tensor.untyped_storage().data_ptr() or None
    except Exception:
        return None


def is_without_weights(entry: str) -> bool:
    """Check whether an entry of ``missed`` names layers whose kind has no weights."""
    return entry.endswith(WITHOUT)


def _kind(module: Any) -> str:
    """Return which layer without weights a module is by its class, or ""."""
    name = type(module).__name__
    for kind, pattern in NO_WEIGHTS.items():
        if pattern.search(name):
            return kind
    return ""


def _decays(module: Any) -> bool:
    """Check whether a module has the parameter by which state spaces forget."""
    return "A_log" in getattr(module, "_parameters", ())


def grouped(names: list[str], what: str) -> list[str]:
    """Say something of modules, in one entry for the layers of one stack.

    >>> grouped(["model.layers.0.attn", "model.layers.1.attn", "model.layers.3.attn"], "gated")
    ['model.layers 0–1, 3: gated']
    """
    stacks: dict[str, list[int]] = {}
    entries = []
    for name in names:
        stack = stack_of(name)
        number = re.match(r"[._]?(\d+)", name[len(stack) :])
        if number:
            stacks.setdefault(stack, []).append(int(number[1]))
        else:
            entries.append(f"{name}: {what}")
    there = [f"{stack} {_ranges(numbers)}".strip() for stack, numbers in stacks.items()]
    return [f"{each}: {what}" for each in there] + entries


def _ranges(numbers: list[int]) -> str:
    """Write numbers with a dash for those that follow each other.

    >>> _ranges([4, 0, 1, 2])
    '0–2, 4'
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _inside(name: str, other: str) -> bool:
    """Check whether a module is another, or a part of it."""
    return name == other or other == "" or name.startswith(f"{other}.")
