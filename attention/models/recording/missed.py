"""What took part in a run and passed through no door: attention by hand, and layers without it."""

from __future__ import annotations

import re
from threading import local
from typing import Any

from attention.models.kinds import stack_of
from attention.models.recording.following import Answer, Following

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

    def answered(self, name: str, answer: Any) -> None:
        """Take the first answer of a module's attention, whatever the order of its axes."""
        if name not in self.changed:
            self.changed[name] = False
            self.following.here.answer = name, answer.detach()

    def followed(self, answered: Answer, module: Any, args: tuple[Any, ...]) -> Answer | None:
        """Compare what the next module within the one of attention is given with the answer."""
        name, answer = answered
        kind = type(module).__name__.lower()
        if kind == "identity" or kind.startswith("dropout") and not module.training:
            return answered
        inner = self.following.names.get(id(module), "")
        given: Any = args[0] if args else None
        if not inner.startswith(f"{self._whole(name)}."):
            return None
        if getattr(given, "dtype", None) != answer.dtype or given.numel() != answer.numel():
            return None
        if "norm" in kind or not _hold_the_same(answer, given.detach()):
            self.changed[name] = True
            return None
        return None if _has_parameters(module) else answered  # as one that joins the heads

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


def _hold_the_same(one: Any, other: Any) -> bool:
    """Check whether two tensors of one size hold the same numbers, in any order."""
    is_one_memory = one.data_ptr() == other.data_ptr()
    if is_one_memory and one.is_contiguous() and other.is_contiguous():
        return True
    return _numbers_in(one) == _numbers_in(other)


def _numbers_in(M: Any) -> tuple[int, int]:
    """Return sums of the bits of all numbers and of their squares, which tell whether two tensors
    hold the same numbers in any order; sorting them takes longer than a layer.
    """
    import torch

    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[M.element_size()]
    bits = M.contiguous().view(whole).to(torch.int64)  # sums beyond 2⁶³ begin anew: still exact
    return int(bits.sum()), int((bits * bits).sum())


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
    return [f"{stack} {_ranges(numbers)}: {what}" for stack, numbers in stacks.items()] + entries


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
