"""What kind of attention a module of a model is, and what its tokens are, by its place in it.

Reads attributes alone and needs no torch: names are enough for a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

TEXT, VISION, AUDIO, CROSS = "text", "vision", "audio", "cross"
ENCODER, DECODER = "encoder", "decoder"
# parts of a module's name that say what its tower reads, whatever the model reads first
_TOWERS = {
    VISION: re.compile(r"(?:^|_)(?:vision|visual|image|video)(?:_|$)"),
    AUDIO: re.compile(r"(?:^|_)(?:audio|speech|acoustic)(?:_|$)"),
    TEXT: re.compile(r"(?:^|_)(?:text|language)(?:_|$)"),
}
# between a tower and the words: learned queries, perhaps with words behind them
_BETWEEN = re.compile(r"qformer|resampler|perceiver|abstractor", re.IGNORECASE)
_FROM_PICTURE = re.compile(r"(?:^|_)image_to_token(?:_|$)")
_CROSS = re.compile(
    r"cross|encoder_attn|enc_?dec|encoder_decoder|^attn2$|^xattn$|image_to_token|token_to_image",
    re.IGNORECASE,
)
# what a model reads first, by transformers' name of it
_INPUTS = {"pixel": VISION, "flattened_patches": VISION, "input_features": AUDIO}
_INPUTS |= {"input_values": AUDIO, "audio": AUDIO}
_SPECIAL = {  # parameters that stand in front of the patches, in their order
    "[CLS]": ("cls_token", "class_embedding", "class_token", "cls_embedding"),
    "[DIST]": ("distillation_token", "dist_token"),
    "register": ("register_tokens", "reg_token"),
}
PATCH, FRAME, PLACE, QUERY, REGION = "patch", "frame", "place", "query", "region"
PROMPT, TOKEN = "text", "token"  # of a sequence that is both places and words
HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads")


# a layer that is called block2 or transformer_layer_2, and no tower or attention of several
_NUMBERED = re.compile(r"((?:\w*_)?(?:block|blk|layer|stage)|[bhl])_?\d+")
ITEMS = "the items are"  # begins a note where each is a part of a picture


@lru_cache(4096)  # asked for every call of a generation, of each of its tokens
def stack_of(module: str) -> str:
    """Return the name of the layers that a module is one of: all before the first number.

    >>> stack_of("model.decoder.layers.3.self_attn"), stack_of("attn"), stack_of("block2.attn")
    ('model.decoder.layers', '', 'block')
    """
    parts = module.split(".")
    for k, part in enumerate(parts):
        if part.isdigit():
            return ".".join(parts[:k])
    *outer, _ = parts
    for k, part in enumerate(outer):
        if found := _NUMBERED.fullmatch(part):
            return ".".join([*parts[:k], found[1]])
    return ".".join(outer)


@lru_cache(4096)
def around(module: str) -> str:
    """Return the name of the layer around a module of attention.

    >>> around("decoder.layers.0.encoder_attn"), around("bert.encoder.layer.0.attention.self")
    ('decoder.layers.0', 'bert.encoder.layer.0')
    """
    parts = module.split(".")
    last = max((k for k, part in enumerate(parts) if part.isdigit()), default=-2)
    return ".".join(parts[: last + 1] if last >= 0 else parts[:-1])


def is_cross_by_name(module: str) -> bool:
    """Check whether the name within its layer is one that cross-attention has.

    >>> is_cross_by_name("decoder.layers.0.encoder_attn"), is_cross_by_name("encoder.attn")
    (True, False)
    """
    inner = module[len(around(module)) :].strip(".")
    return any(_CROSS.search(part) for part in inner.split("."))


def kind_by_name(module: str) -> str:
    """Return the kind that a name says, or "".

    >>> [kind_by_name(f"model.{name}.0.attn") for name in ("vision_tower", "decoder", "h")]
    ['vision', 'decoder', '']
    """
    if is_cross_by_name(module):
        return CROSS
    tower = _tower_by_name(module)
    if tower in (VISION, AUDIO):
        return tower
    return _side_by_name(module)


def _tower_by_name(module: str) -> str:
    """Return what the innermost part of a name that says so names as the tower's input."""
    for part in reversed(module.split(".")):
        for tower, pattern in _TOWERS.items():
            if pattern.search(part):
                return tower
    return ""


def _side_by_name(module: str) -> str:
    """Return encoder or decoder, whichever the outermost part names.

    >>> _side_by_name("decoder.bert.encoder.layer.0.attention.self")
    'decoder'
    """
    for part in around(module).split("."):
        for side in (DECODER, ENCODER):
            if side in part.lower():
                return side
    return ""


def _said(module: Any, name: str) -> Any:
    """Return what a module says under a name, or None: whatever it does when it is asked, the
    model goes on.
    """
    try:
        return getattr(module, name, None)
    except Exception:  # of a property, which may raise anything
        return None


def _reads(name: str, module: Any) -> str:
    """Return what a module around others reads, by its name and what it says itself; or ""."""
    if said := _tower_by_name(name.rpartition(".")[2]):
        return said
    if _said(module, "embed_tokens") is not None:  # whatever the whole model reads first
        return TEXT
    has_config = _said(module, "config") is not None
    first = str(_said(module, "main_input_name") or "" if has_config else "")
    for start, tower in _INPUTS.items():
        if first.startswith(start):
            return tower
    kind = type(module)
    of_config = type(_said(module, "config")).__name__
    if (
        "Vision" in kind.__name__
        or of_config.endswith("VisionConfig")
        or _said(module, "patch_embed") is not None
    ):
        return VISION
    if kind.__module__.startswith(("diffusers.", "timm.models.")):
        return VISION
    return TEXT if first == "input_ids" else ""


def is_convolution(module: Any) -> bool:
    """Check whether a module is a convolution over a picture, or over several in time."""
    kinds = {each.__name__ for each in type(module).__mro__}
    return bool(kinds & {"Conv2d", "Conv3d"})


@dataclass(frozen=True, eq=False)
class Module:
    """One module of attention in its model; what is said of it is asked of torch's attributes."""

    name: str
    modules: Mapping[str, Any]  # of the model, by name, as named_modules() has them

    @cached_property
    def itself(self) -> Any:
        """The module."""
        return self.modules.get(self.name)

    @cached_property
    def stack(self) -> str:
        """The layers that it is one of."""
        return stack_of(self.name)

    @cached_property
    def ancestors(self) -> list[tuple[str, Any]]:
        """Names and modules around it, the innermost first, itself among them."""
        parts = self.name.split(".") if self.name else []
        names = [".".join(parts[:k]) for k in range(len(parts), -1, -1)]
        return [(name, self.modules[name]) for name in names if name in self.modules]

    @cached_property
    def _tower(self) -> tuple[str, str]:
        """What its tower reads, and the tower's name."""
        known = ((name, _reads(name, module)) for name, module in self.ancestors)
        return next(((said, name) for name, said in known if said), (TEXT, ""))

    @property
    def tower(self) -> str:
        """What its tower reads: text, vision or audio."""
        return self._tower[0]

    @cached_property
    def is_between(self) -> bool:
        """Whether it stands between a tower and the words, as BLIP-2's Q-Former does."""
        return bool(_BETWEEN.search(around(self.name)))

    @cached_property
    def is_cross(self) -> bool:
        """Whether it looks at another sequence, by its own switch or its name."""
        switch = _said(self.itself, "is_cross_attention")
        if isinstance(switch, bool):
            return switch
        return is_cross_by_name(self.name) or self._is_cross_by_list

    @property
    def _is_cross_by_list(self) -> bool:
        """Whether the list of layers' types that x-transformers has says so of its layer."""
        for name, module in self.ancestors:
            types = _said(module, "layer_types")
            number = re.match(r"\.?layers\.(\d+)(?:\.|$)", self.name[len(name) :])
            if isinstance(types, (list, tuple)) and number and int(number[1]) < len(types):
                return bool(types[int(number[1])] == "c")
        return False

    @cached_property
    def memories(self) -> int:
        """How many keys, learned or 0, of no token, it has before those of its sequence."""
        said = (_said(module, "num_mem_kv") for _, module in self.ancestors)
        learned = next((count for count in said if isinstance(count, int)), 0)
        return learned + (_said(self.itself, "add_zero_kv") is True)

    @cached_property
    def memory_tokens(self) -> tuple[int, bool]:
        """How many learned tokens x-transformers puts before its sequence, and whether it puts as
        many between parts of it too.
        """
        for _, module in self.ancestors:
            if isinstance(count := _said(module, "num_memory_tokens"), int):
                return count, bool(_said(module, "memory_tokens_interspersed_every"))
        return 0, False

    @cached_property
    def beside_cross(self) -> bool:
        """Whether a module of cross-attention stands in the same layer."""
        layer = around(self.name)
        return any(
            name.startswith(f"{layer}.") and is_cross_by_name(name)
            for name in self.modules
            if name != self.name and around(name) == layer
        )

    @cached_property
    def heads(self) -> int:
        """How many heads of queries it says that it has; 0 where it says nothing."""
        for name in HEADS:
            count = _said(self.itself, name)
            if isinstance(count, int) and count > 0:
                return count
        return 0

    def kind(self, cross: bool, causal: bool) -> str:
        """Return the kind of a call; ``causal``: its mask lets no query look ahead."""
        if cross:
            return CROSS
        if self.is_between:
            return ENCODER
        if self.tower != TEXT:
            return DECODER if self.looks_with_queries else self.tower
        if causal or self._says_causal:
            return DECODER
        return _side_by_name(self.name) or ENCODER

    @cached_property
    def _says_causal(self) -> bool:
        """Whether its own switch lets no query look ahead."""
        return _said(self.itself, "is_causal") is True

    @cached_property
    def looks_with_queries(self) -> bool:
        """Whether its queries are learned ones, as in DETR's decoder, and no patches."""
        layered = self.is_cross or self.beside_cross
        return self.tower == VISION and layered and DECODER in around(self.name).lower()

    @cached_property
    def looks_from_picture(self) -> bool:
        """Whether its queries are those that its layer otherwise looks at, by its name: SAM's."""
        return bool(_FROM_PICTURE.search(self.name.rpartition(".")[2]))

    def names(self, count: int) -> tuple[str, ...]:
        """Return how so many tokens of its sequence are called that are no words; () for words."""
        if self.is_between:
            return (PLACE,)
        if self.tower == TEXT:
            return ()
        if self.looks_with_queries:
            return (QUERY,)
        if self.tower == AUDIO and not self._sizes:
            return (FRAME,)
        special, patches = self._special, self._patches
        rest = count - len(special)
        pools = "AttentionPool" in type(self.itself).__name__  # a mean, or what was learned
        if self.is_of_diffusers or pools or rest < 0:
            return (PLACE,)
        if patches and count == patches:
            return (PATCH,)
        if special and (rest in (0, patches) or math.isqrt(rest) ** 2 == rest):
            return (*special, PATCH)
        return (PLACE,) if patches or self._has_windows else (*special, PATCH)

    def key_names(self, n_q: int, n_k: int) -> tuple[str, ...]:
        """Return how the keys of its own sequence are called, which may be fewer than its queries:
        each of them is then several together.
        """
        names = self.names(n_k)
        if n_k >= n_q or not names or self.is_between or self.looks_with_queries:
            return names
        special = self._special if self.tower == VISION else ()
        rest = n_k - len(special)
        pooled_alone = rest < 1 or math.isqrt(n_k) ** 2 == n_k or math.isqrt(rest) ** 2 != rest
        return (REGION,) if pooled_alone else (*special, REGION)

    def windows_note(self, items: int, pictures: int) -> str:
        """Return of which picture each item of a call is a part; "" where items are pictures."""
        if self.tower != VISION or not pictures or items <= pictures or items % pictures:
            return ""
        if not self._has_windows:
            return ""
        each, is_spread = items // pictures, "grid" in self.name or self._is_of_areas
        part = "group" if is_spread else "window"
        return (
            f"{ITEMS} {part}s, {each} of each picture in turn: item {items - 1} is {part}"
            f" {each - 1} of picture {pictures - 1}"
        )

    @cached_property
    def first_convolution(self) -> Any:
        """The module of its tower by which pictures come in; None where there is none."""
        if self.tower != VISION:
            return None
        inside = f"{self._root}." if self._root else ""
        within = (each for name, each in self.modules.items() if name.startswith(inside))
        return next((each for each in within if is_convolution(each)), None)

    @cached_property
    def is_of_diffusers(self) -> bool:
        """Whether its tower is one of diffusers: its tokens are places of a latent picture."""
        return type(dict(self.ancestors).get(self._tower[1])).__module__.startswith("diffusers.")

    @cached_property
    def _has_windows(self) -> bool:
        """Whether a module around it says that attention stays within windows of a picture."""
        return self._says_any("window_size", "partition_size", "patch_area", "ws")

    @cached_property
    def _is_of_areas(self) -> bool:
        """Whether a group is of places that are apart, one of each area of the picture."""
        return self._says_any("patch_area")

    def _says_any(self, *names: str) -> bool:
        """Check whether a module around it, or its configuration, has a size of such a name."""
        said = (
            _said(of, name)
            for _, module in self.ancestors
            for of in (module, _said(module, "config"))
            for name in names
        )
        return any(isinstance(size, (int, tuple, list)) and size for size in said)

    @cached_property
    def _sizes(self) -> tuple[Any, Any] | None:
        """The sizes of the image and of a patch, by the nearest configuration that has one."""
        for _, module in self.ancestors:
            config = _said(module, "config")
            patch = _said(config, "patch_size")
            if patch is not None:
                return _said(config, "image_size"), patch
        return None

    @cached_property
    def _patches(self) -> int:
        """How many patches the tower's image has; 0 where nothing says so."""
        for _, module in self.ancestors:
            count = _said(_said(module, "patch_embed"), "num_patches")
            if isinstance(count, int):
                return count
        if self._sizes is None or self._sizes[0] is None:
            return 0
        try:
            sides = [(s, s) if isinstance(s, int) else tuple(s)[-2:] for s in self._sizes]
            return math.prod(int(whole) // int(part) for whole, part in zip(*sides, strict=True))
        except (TypeError, ValueError, ZeroDivisionError):
            return 0

    @cached_property
    def _root(self) -> str:
        """The outermost module of the tower."""
        tower, root = self._tower
        for name, module in self.ancestors:  # outwards, as long as it is the same tower
            if root == name or root.startswith(f"{name}." if name else ""):
                if _reads(name, module) not in ("", tower):
                    break
                root = name
        return root

    @cached_property
    def _special(self) -> tuple[str, ...]:
        """What stands before the patches, by the parameters of the tower."""
        whole = self.modules[self._root]
        last = ((name.rpartition(".")[2], each) for name, each in whole.named_parameters())
        there = {re.sub(r"_\d+$", "", name): each for name, each in last}  # cls_token_0
        found: list[str] = []
        for label, parameters in _SPECIAL.items():
            for each in (there[name] for name in parameters if name in there):
                many = each.shape[-2] if label == "register" and each.ndim > 1 else 1
                found += [f"{label} {k}" for k in range(many)] if label == "register" else [label]
        return tuple(found)

    def names_in_picture(
        self, count: int, patches: int, is_turned: bool, is_video: bool = False
    ) -> tuple[str, ...]:
        """Return what so many tokens are called where they are the special ones and these patches
        of one whole picture, in the order in which they were cut; else (), or places where they
        may be any of the patches: a model that is pretrained leaves out some by chance.

        Where patches are turned by their positions, windows are made afterwards.
        """
        special = self._special
        pools = "AttentionPool" in type(self.itself).__name__
        learned = self.is_between or self.looks_with_queries or self.is_of_diffusers or pools
        windows = is_turned and self._has_windows
        if self.tower != VISION or learned or windows or not patches:
            return ()
        configs = (_said(module, "config") for _, module in self.ancestors)
        if any(_said(config, "mask_ratio") is not None for config in configs):
            return () if DECODER in around(self.name).lower() else (*special, PLACE)
        if count == len(special) + patches:
            return (*special, PATCH)
        return (PLACE,) if is_video or special and count != patches else ()
