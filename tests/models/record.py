"""Captures of tiny models of many families, and the table in docs/real-models.md: run by hand.

`PYTHONPATH=. python tests/models/record.py`, with torch and transformers, writes
``recorded/*.safetensors``, which the tests verify without either, and the rows of the table.
"""

from __future__ import annotations

import platform
import re
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
import transformers
from families import FAMILIES, TORCH, UNKNOWN, WORDS, Wrapped, inputs, made

import attention

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "real-models.md"
KEPT = {  # what is recorded: family and implementation, as file
    ("BERT", "sdpa"): "bert",
    ("RoBERTa", "eager"): "roberta",
    ("GPT-2", "eager"): "gpt2",
    ("LLaMA, fewer key heads", "sdpa"): "llama",
    ("Qwen3", "sdpa"): "qwen3",
    ("Mistral, window", "sdpa"): "mistral",
    ("Gemma 2, soft cap", "eager"): "gemma2",
    ("gpt-oss, sinks", "eager"): "gpt-oss",
    ("GPT-NeoX (Pythia)", "sdpa"): "gpt-neox",
    ("T5, position bias", "eager"): "t5",
    ("ViT", "sdpa"): "vit",
    ("nn.MultiheadAttention, weights, padding", ""): "multihead",
    ("nn.TransformerEncoderLayer, fast path", ""): "encoder-layer",
    ("plain F.scaled_dot_product_attention", ""): "plain",
}


VERSIONS = (
    f"torch {torch.__version__}, transformers {transformers.__version__}, NumPy"
    f" {np.__version__}, Python {platform.python_version()},"
    f" {datetime.now(UTC).date().isoformat()}."
)


def main() -> None:
    torch.set_num_threads(1)
    rows = []
    for name, (kind, settings, implementations) in FAMILIES.items():
        for implementation in implementations:
            model, asked = made(kind, settings, implementation), inputs(kind)
            words = WORDS if "input_ids" in asked else None
            with torch.no_grad(), attention.capture(model, tokens=words, name=name) as taken:
                model(**asked)
            rows.append(row(name, implementation, taken))
    for name, (make, args, more) in TORCH.items():
        transformers.set_seed(0)
        model = Wrapped(make())
        with torch.no_grad(), attention.capture(model, name=name) as taken:
            model(*args, **more)
        rows.append(row(name, "", taken))
    for name, (kind, settings) in UNKNOWN.items():
        model = made(kind, settings, "eager")
        try:
            with torch.no_grad(), attention.capture(model) as taken:
                model(**inputs(kind))
        except ValueError as error:
            rows.append(f"| {name} | eager | refused | | |")
            print(error)
    table = "\n".join([VERSIONS, "", *HEAD, *rows])
    text = PAGE.read_text(encoding="utf-8")
    new = re.sub(r"(?s)(?<=<!-- recorded -->\n).*?(?=\n<!-- end -->)", lambda _: table, text)
    PAGE.write_text(new, encoding="utf-8")
    print(table)


HEAD = [
    "| family | implementation | captured | verified | largest difference |",
    "|---|---|---|---|---:|",
]


def row(name: str, implementation: str, taken: attention.Taken) -> str:
    """Keeps the capture where it is one of the recorded, and says how it went."""
    if (name, implementation) in KEPT:
        taken.save(HERE / "recorded" / f"{KEPT[name, implementation]}.safetensors")
    done = attention.verify(taken)
    if not done.agrees:
        print(done)
    calls = f"{len(taken)} call{'s' * (len(taken) > 1)}"
    verified = "yes" if done.agrees else "no"
    cells = (name, implementation, calls, verified, f"{done.difference:.0e}")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
