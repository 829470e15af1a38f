"""What is settled before numbers are read: comments, and what a tokenizer gives."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from attention.limits import BadInput
from attention.readers.cells.entry import ArrayEntry, short
from attention.readers.cells.printouts import is_number
from attention.vocabulary.labels import role_of

_GAP = re.compile(r"[\s,;]+")
# What a tokenizer gives besides words; none of it is an embedding.
OF_TOKENIZERS = {
    "attention_mask",
    "bbox",
    "input_ids",
    "length",
    "offset_mapping",
    "offsets",
    "overflow_to_sample_mapping",
    "position_ids",
    "special_tokens_mask",
    "token_type_ids",
    "word_ids",
}


def without_comments(text: str) -> str:
    """Return a text without lines that begin with # or %, the others in their places.

    A row of numbers that has such a mark as its label, as in word vectors, is none.

    >>> without_comments("# mine\\n1 2\\n3 4")
    '\\x0b\\n1 2\\n3 4'
    """
    if not re.search(r"(?m)^[ \t]*[#%]", text):
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    marked = [line.lstrip().startswith(("#", "%")) for line in lines]
    others = [line for line, mark in zip(lines, marked, strict=True) if line.strip() and not mark]
    if not others:
        return text
    words = [cells[0] for line in others[:99] if (cells := _GAP.split(line.strip()))]
    labelled = 2 * sum(not is_number(word) for word in words) > len(words)
    kept = [
        line if not mark or (labelled and _ends_in_numbers(line)) else None
        for line, mark in zip(lines, marked, strict=True)
    ]
    # neither empty, which parts blocks, nor filled
    return "\n".join("\x0b" if line is None else line for line in kept)


def _ends_in_numbers(line: str) -> bool:
    cells = _GAP.split(line.strip())
    return len(cells) > 1 and all(map(is_number, cells[1:]))


def all_of_tokenizers(names: Collection[str]) -> bool:
    """Whether there is something, and a tokenizer gives all of it."""
    return bool(names) and all(name.lower() in OF_TOKENIZERS for name in names)


def no_embeddings(names: Iterable[str], where: str) -> str:
    """Return the sentence that refuses what a tokenizer gives."""
    told = ", ".join(short(name, 24) for name in names)
    return (
        f"{where} holds what a tokenizer gives ({told}), and no embeddings; expected the rows of"
        " the model's embedding matrix for these tokens."
    )


def embeddings(arrays: dict[str, ArrayEntry], where: str) -> dict[str, ArrayEntry]:
    """Without what a tokenizer gives; refused where there is nothing else.

    Beside an attention, an attention_mask is its mask.
    """
    beside = any(role_of(name) in ("Q", "K", "scores", "weights") for name in arrays)
    names = [
        name
        for name in arrays
        if name.lower() in OF_TOKENIZERS and not (beside and role_of(name) == "mask")
    ]
    if not names:
        return arrays
    if len(names) == len(arrays):
        raise BadInput(no_embeddings(names, where))
    told = ", ".join(short(name, 24) for name in names)
    said = f"Skipped, as it is tokenizer output: {told}."
    return {
        name: replace(entry, remark=f"{entry.remark} {said}".strip())
        for name, entry in arrays.items()
        if name not in names
    }
