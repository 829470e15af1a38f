"""Where numbers came from that a person brought, kept beside them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attention.limits import BadInput
from attention.readers.cells.entry import short

LONGEST_SOURCE, LONGEST_BEHIND = 300, 800  # characters
_MARK = re.compile(r"[0-9a-f]{12}")
CAPTURED = "captured from"
# "a model, layer 3 (cross, decoder.layers.1.encoder_attn), head 1, item 1 of 0–1, step 4"; without
# brackets where neither kind nor module is known
_OF_A_HEAD = re.compile(
    rf"{CAPTURED} (.+), layer (\d+)(?: \((.+)\))?, head (\d+)"
    r"((?:, [a-z]+ \d+(?: of 0–\d+)?)*)"
)
LONGEST_STEM = 60  # characters of a model's and of a module's name in that of a file


@dataclass(frozen=True)
class Origin:
    """What a person brought, in words; a mark of the numbers as they came; and what of the model
    they are from stayed behind.

    >>> came = Origin.of("mine.npy", np.eye(2))
    >>> came.holds(np.eye(2)), came.holds(np.zeros((2, 2)))
    (True, False)
    """

    source: str
    mark: str
    behind: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.mark, str) or not _MARK.fullmatch(self.mark):
            raise BadInput("expected a mark of 12 hexadecimal digits")
        object.__setattr__(self, "source", one_line(self.source, LONGEST_SOURCE))
        object.__setattr__(self, "behind", one_line(self.behind, LONGEST_BEHIND))

    @classmethod
    def of(cls, source: str, values: np.ndarray, behind: str = "") -> Origin:
        return cls(source, _mark(values), behind)

    def holds(self, values: np.ndarray) -> bool:
        """Whether these are still the numbers that came."""
        return _mark(values) == self.mark


_ITEM = re.compile(r"\bitem (\d+) of 0–(\d+)")


@dataclass(frozen=True)
class Captured:
    """A head of a real model; its layer, head and item are counted as the model does, from 0.

    >>> head = Captured.of("captured from some/BART, layer 3 (cross, decoder.0.attn), head 1")
    >>> head.title, head.stem
    ('Layer 3 (cross, decoder.0.attn), head 1, of some/BART', 'BART_layer3_decoder.0.attn_head1')
    """

    model: str
    layer: int
    what: str  # the kind of the layer's attention and its module; either may be missing
    head: int
    more: str  # which item and call, where there are several

    @classmethod
    def of(cls, source: str) -> Captured | None:
        """What a source says; None where it is of something else."""
        found = _OF_A_HEAD.fullmatch(source)
        return found and cls(found[1], int(found[2]), found[3] or "", int(found[4]), found[5])

    @property
    def title(self) -> str:
        what = f" ({self.what})" * bool(self.what)
        return f"Layer {self.layer}{what}, head {self.head}{self.more}, of {self.model}"

    @property
    def item(self) -> tuple[int, int]:
        """Return which item of its batch it is, counted from 0, and how many there are.

        >>> Captured("m", 3, "", 1, ", item 1 of 0–2, step 4").item
        (1, 3)
        """
        found = _ITEM.search(self.more)
        return (int(found[1]), int(found[2]) + 1) if found else (0, 1)

    @property
    def stem(self) -> str:
        """The same for the name of a file."""
        return self._stem(f"head{self.head}")

    @property
    def stem_of_layer(self) -> str:
        """The same of all heads of the layer."""
        return self._stem("")

    def _stem(self, head: str) -> str:
        model = re.sub(r"[^A-Za-z0-9.-]+", "-", self.model.rpartition("/")[2]).strip("-.")
        module = re.sub(r"[^A-Za-z0-9._-]+", "-", self.what.rpartition(", ")[2])
        # of a long one its end, which tells it from others
        module = module[-LONGEST_STEM:].strip("-.")
        parts = [model[:LONGEST_STEM] or "model", f"layer{self.layer}", module, head]
        parts += ["".join(both) for both in re.findall(r", (\w+) (\d+)", self.more)]
        return "_".join(filter(None, parts))


def one_line(text: str, most: int) -> str:
    """Text that stands in a comment of any file: printable, in one line, not too long."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return short(" ".join(plain.split()), most)


def _mark(values: np.ndarray) -> str:
    values = np.ascontiguousarray(values, dtype="<f8")
    digest = hashlib.blake2b(repr(values.shape).encode(), digest_size=6)
    digest.update(values.tobytes())
    return digest.hexdigest()


# ---- as a parameter of a link --------------------------------------------------------------------


def write_origins(origins: Mapping[str, Origin]) -> str:
    """``{what stayed behind: {source: {name of an input: mark}}}``, so that each is said once."""
    together: dict[str, dict[str, dict[str, str]]] = {}
    for name, origin in origins.items():
        together.setdefault(origin.behind, {}).setdefault(origin.source, {})[name] = origin.mark
    return json.dumps(together, ensure_ascii=False, separators=(",", ":"))


def read_origins(text: str) -> dict[str, Origin]:
    """The inverse; anything else raises BadInput, ValueError or AttributeError."""
    return {
        name: Origin(source, mark, behind)
        for behind, sources in json.loads(text).items()
        for source, inputs in sources.items()
        for name, mark in inputs.items()
    }
