"""Where numbers came from that a person brought, kept beside them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from attention.core.recorded import CAPTURED, GIVEN, Patches, Recorded
from attention.limits import BadInput
from attention.models.taken import KINDS, NO_NAME
from attention.readers.cells.entry import short

LONGEST_SOURCE, LONGEST_BEHIND = 300, 800  # characters
_MARK = re.compile(r"[0-9a-f]{12}")
# "a model, layer 3 (cross, decoder.layers.1.encoder_attn), head 1, item 1 of 0–1, step 4"; without
# brackets where neither kind nor module is known; with "14 × 14 patches after 1 special token"
_OF_A_HEAD = re.compile(
    rf"(?P<came>{CAPTURED}|{GIVEN}) (?P<model>.+), layer (?P<layer>\d+)"
    r"(?: \((?P<inside>.+)\))?, head (?P<head>\d+)"
    r"(?P<more>(?:, [a-z]+ \d+(?: of 0–\d+)?)*)"
    r"(?:, (?P<rows>\d{1,4}) × (?P<columns>\d{1,4}) patches(?: in blocks of (?P<block>\d{1,4}))?"
    r"(?: after (?P<special>\d{1,4}) special(?: tokens?)?)?)?"
)
_GRID = {"rows": 0, "columns": 0, "block": 1, "special": 0}
_ITEM = re.compile(r", item (\d+) of 0–(\d+)\b")


@dataclass(frozen=True)
class Origin:
    """What a person brought, in words; a mark of the numbers as they came; and what of the model
    they are from stayed behind. Of a head of a real model it also holds which one it is.

    >>> came = Origin.of("mine.npy", np.eye(2))
    >>> came.holds(np.eye(2)), came.holds(np.zeros((2, 2)))
    (True, False)
    """

    source: str
    mark: str
    behind: str = ""
    recorded: Recorded | None = field(default=None, compare=False)  # the head that the source names

    def __post_init__(self) -> None:
        if not isinstance(self.mark, str) or not _MARK.fullmatch(self.mark):
            raise BadInput("expected a mark of 12 hexadecimal digits")
        object.__setattr__(self, "source", one_line(self.source, LONGEST_SOURCE))
        object.__setattr__(self, "behind", one_line(self.behind, LONGEST_BEHIND))

    @classmethod
    def of(cls, source: str, values: np.ndarray, behind: str = "") -> Origin:
        return cls(source, _mark(values), behind)

    @classmethod
    def of_head(cls, head: Recorded, values: np.ndarray, behind: str = "") -> Origin:
        """Return the origin of numbers of one captured head, as a link will say it.

        >>> Origin.of_head(Recorded(3, (1,), model="BERT"), np.eye(2)).source
        'captured from BERT, layer 3, head 1'
        """
        model = one_line(head.model, LONGEST_SOURCE) or NO_NAME
        head = replace(head, model=model, module=one_line(head.module, LONGEST_SOURCE))
        source = head.source(*head.heads)
        if len(source) > LONGEST_SOURCE:  # of names too long for a link: what it will say
            return cls(source, _mark(values), behind, _head_in(source))
        return cls(source, _mark(values), behind, head)

    def holds(self, values: np.ndarray) -> bool:
        """Return whether these are still the numbers that came."""
        return _mark(values) == self.mark


def _head_in(source: str) -> Recorded | None:
    """Return the head that a source names, as :meth:`Recorded.source` writes it; else None.

    Only as much of it is read as an origin keeps: a link's text may have any length.
    """
    found = _OF_A_HEAD.fullmatch(one_line(source, LONGEST_SOURCE))
    if not found:
        return None
    inside, more = found["inside"] or "", found["more"]
    kind, _, module = inside.partition(", ")
    kind, module = (kind, module) if kind in KINDS else ("", inside)
    item, batch = 0, 1
    if of := _ITEM.search(more):
        item, batch = int(of[1]), int(of[2]) + 1
        more = more.replace(of[0], "", 1)
    layer, head = int(found["layer"]), int(found["head"])
    when = more.removeprefix(", ")
    rows, columns, block, special = (int(found[name] or least) for name, least in _GRID.items())
    return Recorded(
        layer=layer,
        heads=(head,),
        module=module,
        kind=kind,
        when=when,
        items=(item,),
        batch=batch,
        model=found["model"],
        patches=Patches(rows, columns, block, special) if rows else None,
        given=found["came"] == GIVEN,
    )


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
        name: Origin(source, mark, behind, head)
        for behind, sources in json.loads(text).items()
        for source, inputs in sources.items()
        for head in [_head_in(source)]
        for name, mark in inputs.items()
    }
