"""What ``attention.capture`` adds to the time of a model: GPT-2's sizes with random weights.

``python benchmarks/capture.py`` prints the table of README.md. Needs torch and transformers.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import attention

RUNS = 5
PROMPT, NEW = 64, 32  # tokens


def took(run: Callable[[], object]) -> float:
    """Processor time in seconds."""
    start = time.process_time()
    run()
    return time.process_time() - start


def held(taken: attention.Taken) -> int:
    """Bytes in memory, what several calls share counted once."""
    owners = {}
    for call in taken:
        for array in call.arrays.values():
            while isinstance(array.base, np.ndarray):
                array = array.base
            owners[array.ctypes.data] = array.nbytes
    return sum(owners.values())


def main() -> None:
    """Take turns with the model alone, one thread."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = GPT2LMHeadModel(GPT2Config()).eval()

    def forward(count: int) -> Callable[[], object]:
        ids = torch.randint(0, 50_000, (1, count))
        return lambda: model(ids)

    def generation(count: int) -> Callable[[], object]:
        ids = torch.randint(0, 50_000, (count, PROMPT))
        mask = torch.ones_like(ids)
        options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0}
        return lambda: model.generate(ids, attention_mask=mask, max_new_tokens=NEW, **options)

    print("|  | alone | captured | ratio | the least of both | in memory | file |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, run in (
        ("128 tokens", forward(128)),
        ("512 tokens", forward(512)),
        (f"`generate`: {NEW} after {PROMPT}", generation(1)),
        ("the same, 8 sentences at once", generation(8)),
    ):
        alone, captured = [], []
        for k in range(RUNS + 1):  # the first warms up
            times = took(run), 0.0
            with attention.capture(model) as taken:
                times = times[0], took(run)
            if k:
                alone.append(times[0])
                captured.append(times[1])
        one, other = statistics.median(alone), statistics.median(captured)
        least = min(captured) / min(alone)
        print(
            f"| {name} | {one:.2f} s | {other:.2f} s | {other / one:.2f} | {least:.2f} |"
            f" {held(taken) / 1e6:.0f} MB | {taken.size / 1e6:.0f} MB |"
        )


if __name__ == "__main__":
    with torch.no_grad():
        main()
