"""What the worst inputs cost: good data as large as allowed, and hostile data, in each reader.

``python benchmarks/reading.py`` prints the table of README.md: time, and memory, which is what
Python allocates beyond the file itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import statistics
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from attention.limits import MAX_FILE, BadInput
from attention.readers import opening
from attention.session.state import links
from attention.session.state.matrix import Matrix

RUNS = 5
RNG = np.random.default_rng(0)


def rows(values, between: str) -> bytes:
    return "\n".join(between.join(map(repr, row)) for row in values.tolist()).encode()


def saved(save, **arrays) -> bytes:
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


def crowded() -> bytes:
    """A zip whose members promise a thousand times the file."""
    buffer, member = io.BytesIO(), io.BytesIO()
    np.save(member, np.zeros(400_000))
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(2000):
            archive.writestr(f"{k}.npy", member.getvalue())
    return buffer.getvalue()


def directory() -> bytes:
    """A zip that is all directory."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for k in range(60_000):
            archive.writestr(str(k), b"")
    return buffer.getvalue()


def cases() -> dict[str, tuple[str, bytes]]:
    square = RNG.standard_normal((512, 512))
    vectors = "\n".join(
        f"w{k} " + " ".join(f"{v:.5f}" for v in row)
        for k, row in enumerate(RNG.standard_normal((18_000, 50)))
    )
    header = json.dumps(
        {f"t{k}": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for k in range(4096)}
    ).encode()
    return {
        "512 × 512, CSV": ("a.csv", rows(square, ",")),
        "512 × 512, printed": (
            "a.txt",
            b"[[" + b"]\n[".join(rows(square, " ").split(b"\n")) + b"]]",
        ),
        "512 × 512, JSON": ("a.json", json.dumps(square.tolist()).encode()),
        "512 × 512, .npy": ("a.npy", saved(lambda f, a: np.save(f, a), a=square)),
        "18,000 word vectors of 50": ("a.vec", vectors.encode()),
        "4,096 tensors": ("a.safetensors", len(header).to_bytes(8, "little") + header + bytes(4)),
        "2,000 × 3.2 MB zipped": ("a.npz", crowded()),
        "a zip of 60,000 names": ("a.npz", directory()),
        "4 million lines": ("a.csv", b"1\n" * 4_000_000),
        "8 million brackets": ("a.json", b"[" * 8_000_000),
        "90,000 objects": ("a.json", b'{"a":[' + b'{"":0},' * 90_000 + b"0]}"),
        "1.2 million quoted cells": ("a.csv", b'"a",' * 1_190_000 + b"1"),
        "8 million quotation marks": ("a.csv", b'"' * 8_000_000),
        "5.8 MB of emoji": ("a.csv", "😀,".encode() * 1_150_000),
    }


def read(name: str, content: bytes) -> None:
    for entry in list(opening.opened(name, content).values())[:10]:
        if entry.pick:
            entry.pick(range(min(64, entry.shape[0])))
        else:
            entry.read()


def measured(act) -> tuple[float, float]:
    """Median seconds of processor time, and peak megabytes."""

    def once():
        with contextlib.suppress(BadInput):
            act()

    times = []
    for _ in range(RUNS):
        start = time.process_time()
        once()
        times.append(time.process_time() - start)
    tracemalloc.start()
    once()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return statistics.median(times), peak / 1e6


def main() -> None:
    print("| input | MB | s | MB of memory |\n|---|---:|---:|---:|")
    for label, (name, content) in cases().items():
        assert len(content) <= MAX_FILE, label
        seconds, peak = measured(lambda name=name, content=content: read(name, content))
        print(f"| {label} | {len(content) / 1e6:.1f} | {seconds:.2f} | {peak:.0f} |")
    link = links.write_matrix(Matrix(RNG.standard_normal((512, 512))))
    seconds, peak = measured(lambda: links.read_matrix_text(link, "X"))
    print(f"| 512 × 512 in a session file | {len(link) / 1e6:.1f} | {seconds:.2f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
