"""Where in a real model a trace was recorded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np

from attention.limits import BadInput
from attention.vocabulary.notation import LONGEST_IN_FILENAME, in_filename
from attention.vocabulary.sentences import amount, capital, numbered, which_of

RECEIVED = "weights received"  # ends what is said of such a map
CAPTURED, GIVEN = "captured from", "weights as given, of"
Sides = tuple[tuple[str, ...], tuple[str, ...]]  # n_q and n_k words


@dataclass(frozen=True)
class Patches:
    """The patches of a picture among the keys of a trace: rows × columns, after special tokens.

    >>> Patches(2, 4, block=2, special=1).places(9)
    array([[1, 2, 5, 6],
           [3, 4, 7, 8]])
    """

    rows: int
    columns: int
    block: int = 1  # patches follow each other in squares of so many a side; 1: row by row
    special: int = 0  # how many keys stand before them, such as [CLS]
    # what the keys are called: each special token, then the noun of all patches; () if unknown
    names: tuple[str, ...] = field(default=(), compare=False)
    # the key that is the same token as the first query; None where these are of another sequence
    first: int | None = field(default=None, compare=False)

    def places(self, n_k: int) -> np.ndarray:
        """Return (rows, columns): which of ``n_k`` keys each patch is.

        Raises
        ------
        BadInput
            One sentence, where rows × columns is not the number of patches.
        """
        rows, columns, side = self.rows, self.columns, self.block
        count, expected = rows * columns, n_k - self.special
        if min(rows, columns, side) < 1 or count != expected:
            special = f", {self.special} of them special" if self.special else ""
            raise BadInput(
                f"grid is {rows} × {columns}, so {count:,} patches; expected {expected:,}, as there"
                f" are {n_k:,} keys{special}."
            )
        if rows % side or columns % side:
            raise BadInput(
                f"grid is {rows} × {columns}; expected multiples of {side}, as its patches follow"
                f" each other in blocks of {side} × {side}."
            )
        blocks = np.arange(self.special, n_k).reshape(rows // side, columns // side, side, side)
        return blocks.transpose(0, 2, 1, 3).reshape(rows, columns)

    def label(self, key: int) -> str:
        """Return what a key is called.

        >>> Patches(2, 2, special=1, names=("[CLS]", "patch")).label(2)
        'patch 1'
        """
        if key < self.special:
            return self.names[key] if self.names else f"special {key}"
        return f"{self.names[-1] if self.names else 'patch'} {key - self.special}"

    def __str__(self) -> str:
        blocks = f" in blocks of {self.block}" if self.block > 1 else ""
        special = f" after {amount(self.special, 'special token')}" if self.special else ""
        return f"{self.rows} × {self.columns} patches{blocks}{special}"


@dataclass(frozen=True)
class Recorded:
    """The layer of a real model, and the model's numbers of the heads and items in a trace.

    >>> of = Recorded(3, (1, 5, 11), "decoder.layers.1.encoder_attn", "cross", "step 4")
    >>> of.title(5)
    'layer 3 (cross), head 5, step 4'
    >>> of.words(1, 5)
    'layer 3 (cross, decoder.layers.1.encoder_attn), heads 1, 5, step 4'
    >>> Recorded(-1, (0,), combined="rollout of 6 layers").words(0)
    'rollout of 6 layers'
    >>> Recorded(3, (1, 5), items=(0, 1), batch=2).of_item(1, 2).words(5)
    'layer 3, head 5, item 1 of 0–1'
    """

    layer: int  # counted from 0; -1: of several, which ``combined`` names
    heads: tuple[int, ...]  # of each head of the trace its number in the model, from 0
    module: str = ""  # its name in the model
    kind: str = ""  # "encoder", "decoder", "cross", "vision", "audio"
    when: str = ""  # of several calls: "step 4"
    items: tuple[int, ...] = (0,)  # of each item of the trace its number in the batch, from 0
    batch: int = 1  # how many items were recorded
    model: str = ""  # its name, where a page or a file says it
    labels: tuple[Sides, ...] = ()  # of each item the words of queries and keys, where known
    patches: Patches | None = None  # of a picture, where the keys are these
    combined: str = ""  # of several heads: what the only map is, such as "mean of 5 heads"
    given: bool = False  # finished weights that were handed over, not captured

    @property
    def is_computed(self) -> bool:
        """Whether the map was computed from weights of a capture, and is none of its heads."""
        return bool(self.combined) or self.when.endswith(RECEIVED)

    def of_item(self, item: int, count: int) -> Recorded:
        """Return this record for one of ``count`` items, if its items are those recorded."""
        return replace(self, items=(self.items[item],)) if count == len(self.items) else self

    def title(self, *heads: int) -> str:
        """Name these heads of the layer, by their numbers in the model, for a title."""
        return self._named([self.kind], heads)

    def words(self, *heads: int) -> str:
        """Name these heads as :meth:`title` does, with kind and module, for a file."""
        return self._named([self.kind, self.module], heads)

    def source(self, *heads: int) -> str:
        """Return where these heads, or the layer, came from, as links and files say it.

        >>> Recorded(3, (1,), model="BERT").source(1)
        'captured from BERT, layer 3, head 1'
        >>> Recorded(3, (1,), model="BERT", given=True).source(1)
        'weights as given, of BERT, layer 3, head 1'
        """
        came = GIVEN if self.given else CAPTURED
        patches = f", {self.patches}" if self.patches else ""
        return f"{came} {self.model}, {self.words(*heads)}{patches}"

    @property
    def heading(self) -> str:
        """Return all of it with the name of the model, as the title of a page.

        >>> Recorded(3, (1,), "decoder.0.attn", "cross", model="some/BART").heading
        'Layer 3 (cross, decoder.0.attn), head 1, of some/BART'
        """
        return f"{capital(self.words(*self.heads))}, of {self.model}"

    def stem(self, *heads: int) -> str:
        """Return model, layer, module and heads for the name of a file; without heads, of all.

        >>> Recorded(3, (1,), "decoder.0.attn", "cross", "step 4", model="some/BART").stem(1)
        'BART_layer3_decoder.0.attn_head1_step4'
        """
        model = in_filename(self.model.rpartition("/")[2])
        module = (self.module or self.kind).rpartition(", ")[2]
        module = re.sub(r"[^A-Za-z0-9._-]+", "-", module)
        # of a long one its end, which tells it from others
        module = module[-LONGEST_IN_FILENAME:].strip("-.")
        item = f"item{self.items[0]}" if self._is_one_of_several else ""
        when = "_".join(map("".join, re.findall(r"(\w+) (\d+)", self.when)))
        of_heads = in_filename(self.combined) or "".join(f"head{head}" for head in heads)
        layer = f"layer{self.layer}" if self.layer >= 0 else ""
        parts = (layer, module, of_heads, item, when)
        return "_".join([model or "model", *filter(None, parts)])

    @property
    def _is_one_of_several(self) -> bool:
        return len(self.items) == 1 < self.batch

    def _named(self, what: list[str], heads: tuple[int, ...]) -> str:
        inside = ", ".join(filter(None, what))
        layer = f"layer {self.layer}" if self.layer >= 0 else ""
        layer += f" ({inside})" if layer and inside else ""
        said = self.combined or (numbered("head", heads) if heads else "")
        item = which_of("item", self.items, self.batch) if self._is_one_of_several else ""
        return ", ".join(filter(None, (layer, said, item, self.when)))
