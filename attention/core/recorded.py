"""Where in a real model a trace was recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attention.vocabulary.sentences import numbered, which_of


@dataclass(frozen=True)
class Recorded:
    """The layer of a real model, and the model's numbers of the heads and items in a trace.

    >>> of = Recorded(3, (1, 5, 11), "decoder.layers.1.encoder_attn", "cross", "step 4")
    >>> of.title(5)
    'layer 3 (cross), head 5, step 4'
    >>> of.words(1, 5)
    'layer 3 (cross, decoder.layers.1.encoder_attn), heads 1, 5, step 4'
    >>> Recorded(3, (1, 5), items=(0, 1), batch=2).of_item(1, 2).words(5)
    'layer 3, head 5, item 1 of 0–1'
    """

    layer: int  # counted from 0
    heads: tuple[int, ...]  # of each head of the trace its number in the model, from 0
    module: str = ""  # its name in the model
    kind: str = ""  # "encoder", "decoder", "cross", "vision", "audio"
    when: str = ""  # of several calls: "step 4"; on a page also the item
    items: tuple[int, ...] = (0,)  # of each item of the trace its number in the batch, from 0
    batch: int = 1  # how many items were recorded

    def of_item(self, item: int, count: int) -> Recorded:
        """The same of one of so many items of the trace, where these are those recorded."""
        return replace(self, items=(self.items[item],)) if count == len(self.items) else self

    def title(self, *heads: int) -> str:
        """These heads of the layer, by their numbers in the model, as a matrix is called."""
        return self._named([self.kind], heads)

    def words(self, *heads: int) -> str:
        """The same with kind and module, as a file says it."""
        return self._named([self.kind, self.module], heads)

    def _named(self, what: list[str], heads: tuple[int, ...]) -> str:
        inside = ", ".join(filter(None, what))
        layer = f"layer {self.layer}" + f" ({inside})" * bool(inside)
        said = numbered("head", heads) if heads else ""
        one = len(self.items) == 1 < self.batch
        item = which_of("item", self.items, self.batch) if one else ""
        return ", ".join(filter(None, (layer, said, item, self.when)))
