"""Where in a real model a trace was recorded."""

from __future__ import annotations

from dataclasses import dataclass

from attention.sentences import numbered


@dataclass(frozen=True)
class Recorded:
    """The layer of a real model, and the model's numbers of the heads that a trace holds.

    >>> of = Recorded(3, (1, 5, 11), "decoder.layers.1.encoder_attn", "cross", "step 4")
    >>> of.title(5)
    'layer 3 (cross), head 5, step 4'
    >>> of.words(1, 5)
    'layer 3 (cross, decoder.layers.1.encoder_attn), heads 1, 5, step 4'
    """

    layer: int  # counted from 0
    heads: tuple[int, ...]  # of each head of the trace its number in the model, from 0
    module: str = ""  # its name in the model
    kind: str = ""  # "encoder", "decoder", "cross", "vision", "audio"
    when: str = ""  # of several items or calls: "item 1 of 0–1", "step 4"

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
        return ", ".join(filter(None, (layer, said, self.when)))
