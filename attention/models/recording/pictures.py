"""Where in a picture the patches are that a tower's attention works on: heard while it runs.

Nothing is concluded from a configuration, as a picture of another size may have as many patches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attention.core.recorded import Patches
from attention.limits import BadInput
from attention.models.kinds import PATCH, PLACE, VISION, Module, is_convolution

ROTARY = ("rotary_pos_emb", "rotary_emb")
MOST_BLOCK = 8  # patches of a block, along a side
Facts = dict[str, Any]


class Pictures:
    """Hears three kinds of modules: convolutions, by which pictures come in; those among them that
    cut a picture or a video into patches; and what turns patches by their rows and columns.
    """

    def __init__(self, modules: Mapping[str, Any]) -> None:
        self.cutting = [name for name, module in modules.items() if _cuts(module)]
        turning = [name for name in modules if name.rpartition(".")[2] in ROTARY]
        self.turning = [name for name in turning if Module(name, modules).tower == VISION]
        convolutions = [name for name, module in modules.items() if is_convolution(module)]
        names = (*convolutions, *self.cutting, *self.turning)
        self.watched = {id(modules[name]): name for name in names}
        self.counts: dict[int, int] = {}  # by the id of a convolution: how many pictures came last
        # of the last pictures that were cut: how many, their rows and columns; times of a video
        self.cut: dict[str, tuple[int, int, int, int]] = {}
        self.first: dict[str, str] = {}  # the layers that worked on them first
        self.turned: dict[str, np.ndarray] = {}  # (n, 2), rows and columns of patches
        self.read: dict[tuple[str, str], int] = {}  # how many of them a module worked on

    def hear(self, module: Any, args: tuple[Any, ...]) -> None:
        """Take what a watched module is called with."""
        name = self.watched[id(module)]
        self.turned.pop(name, None)
        self.cut.pop(name, None)
        self.first.pop(name, None)
        self.counts.pop(id(module), None)
        try:
            self._take(name, module, args)
        except Exception:  # of a model of another kind: it goes on, without a grid
            self.turned.pop(name, None)

    def _take(self, name: str, module: Any, args: tuple[Any, ...]) -> None:
        if name in self.turning:
            self.read = {key: count for key, count in self.read.items() if key[0] != name}
            at: Any = args[1] if len(args) > 1 else None
            if getattr(at, "ndim", 0) == 2 and at.shape[1] in (2, 3) and not at.is_floating_point():
                self.turned[name] = at[:, -2:].detach().cpu().numpy()  # (time,) row, column
            return
        if args and getattr(args[0], "ndim", 0) > 3:
            self.counts[id(module)] = len(args[0])
        if name in self.cutting and args and getattr(args[0], "ndim", 0) == module.weight.ndim:
            sides = zip(args[0].shape[2:], _padding(module), module.stride, strict=True)
            *times, rows, columns = ((side + both) // step for side, both, step in sides)
            if math.prod((rows, columns, *times)) > 1:  # else patches come in one by one
                self.cut[name] = args[0].shape[0], rows, columns, *(times or [0])

    def patches(self, module: Module, n_k: int, cross: bool = False) -> Facts:
        """Return the grid of the keys of a call, with their names and how many pictures were cut at
        once; {} where it is not known. ``cross``: whether another module looks at them.
        """
        if module.tower != VISION:
            return {}
        name, times = _nearest(module, self.turning), 0
        if turning := bool(name):
            found = {} if cross else self._by_positions(name, module, n_k)
            count = math.prod(found.get("grid", (0,)))
        else:
            name = _nearest(module, self.cutting)
            pictures, rows, columns, times = self.cut.get(name, (0, 0, 0, 0))
            found = {"pictures": pictures} if pictures else {}
            count = rows * columns * max(times, 1)
            if times < 2:
                found["grid"] = rows, columns
        names = module.names_in_picture(n_k, count, turning, times > 0)
        if times and self.first.setdefault(name, module.stack) != module.stack:
            names = names and (PLACE,)  # a decoder has those that were left out behind the others
        if PATCH not in names:
            found.pop("grid", None)
        return found | {"key_names": names} if names else found

    def _by_positions(self, name: str, module: Module, n_k: int) -> Facts:
        """Return the grid by each patch's row and column; of several pictures that of the next."""
        key, turned = (name, module.name), self.turned.get(name, np.zeros((0, 2), int))
        first = self.read.get(key, 0) % max(len(turned), 1)  # once more, where it is recomputed
        self.read[key] = first + n_k
        at = turned[first : first + n_k]
        if len(at) != n_k or not n_k or at.min() < 0:
            return {}
        rows, columns = (at.max(axis=0) + 1).tolist()
        for block in range(1, MOST_BLOCK + 1):
            try:
                places = Patches(rows, columns, block).places(n_k)
            except BadInput:
                continue
            if (at[places] == np.indices(places.shape).transpose(1, 2, 0)).all():
                return {"grid": (rows, columns), "grid_block": block}
        return {}


def _nearest(module: Module, names: list[str]) -> str:
    """Return the only one of these names under the nearest module around that has any; or ""."""
    for around, _ in module.ancestors:
        if inside := [name for name in names if not around or name.startswith(f"{around}.")]:
            return inside[0] if len(inside) == 1 else ""
    return ""


def _cuts(module: Any) -> bool:
    """Check whether a module is a convolution whose steps are as wide as what it reads."""
    import torch

    if not isinstance(module, (torch.nn.Conv2d, torch.nn.Conv3d)):
        return False
    return module.kernel_size == module.stride and min(module.stride[-2:]) > 1


def _padding(module: Any) -> tuple[int, ...]:
    """Return what is added to both sides."""
    if isinstance(module.padding, str):
        return (0,) * len(module.stride)  # torch has no "same" for such steps
    return tuple(2 * side for side in module.padding)
