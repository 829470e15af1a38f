"""A layer as ``attention.read_layer`` reads it beside what the model itself did; wants torch."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from families import inputs
from safetensors.numpy import save_file

import attention
from attention.readers.tensor_names import layers

LAST = re.compile(r"(o_proj|out_proj|out_lin|c_proj|dense|\.o|wo|Wo)$")  # called W_O
WITHIN = 1e-6  # of the largest number: float32


def reproduced(kind: str, model: Any, kept: Path | None, about: str) -> str:
    """Whether each attention of the model comes out as it was, in two cells of a table.

    ``kept``: a file for the tensors, what went in and what came out, for the tests.
    """
    tensors = {key: M.numpy() for key, M in model.state_dict().items()}
    config = model.config.to_dict()
    apart, missing, saved = [], {}, {}
    for place in layers(list(tensors)):
        try:
            layer = attention.read_layer(tensors, config, place)
        except ValueError as error:
            missing[str(error)] = None
            continue
        missing |= dict.fromkeys(layer.missing)
        seen = received(model, kind, place)
        trace = layer.attend(seen["X"], memory=seen.get("memory"))
        if layer.W_O is None:
            missing["its output weights are not known by name"] = None
        for stage in ("joined", "projected"):
            if (ours := getattr(trace, stage)) is not None:
                apart.append(float(np.abs(ours - seen[stage]).max() / np.abs(seen[stage]).max()))
        saved |= {f"{place}/{key}": M for key, M in seen.items()}
    if kept:
        saved |= {key: M for key, M in tensors.items() if re.search("att|Attention", key)}
        known = {"config": json.dumps(config, default=str), "versions": about}
        save_file({key: np.ascontiguousarray(M) for key, M in saved.items()}, kept, known)
    if not apart:
        return f"no: {'; '.join(missing) or 'its names are not known'} |"
    why = "; ".join(missing) or "the numbers differ" * (max(apart) >= WITHIN)
    return f"{f'no: {why}' if why else 'yes'} | {max(apart):.0e}"


def received(model: Any, kind: str, place: str) -> dict[str, np.ndarray]:
    """What the attention at that place was given, its heads side by side, and what it gave."""
    found: dict[str, torch.Tensor] = {}
    around = re.sub(r"\.self$", "", place)
    names = [name for name, _ in model.named_modules() if name.startswith(f"{around}.")]
    last = next(name for name in names if LAST.search(name))

    def before(module: Any, args: tuple, kwargs: dict) -> None:
        found["X"] = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
        if kwargs.get("key_value_states") is not None:
            found["memory"] = kwargs["key_value_states"]

    def at_last(module: Any, args: tuple, output: torch.Tensor) -> None:
        found["joined"] = args[0].reshape(*found["X"].shape[:2], -1)
        found["projected"] = output.reshape(*found["X"].shape[:2], -1)

    hooks = [
        model.get_submodule(place).register_forward_pre_hook(before, with_kwargs=True),
        model.get_submodule(last).register_forward_hook(at_last),
    ]
    try:
        with torch.no_grad():
            model(**inputs(kind))
    finally:
        for hook in hooks:
            hook.remove()
    return {key: M.numpy() for key, M in found.items()}
