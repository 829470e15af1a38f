"""How long and how much memory all stages take, next to torch's eager formula.

``python benchmarks/engine.py`` prints the table of README.md. softmax(QKᵀ·s + M)V in torch keeps
nothing; ours keeps scores, scaled, masked, weights and allowed. float32, 64 columns, a look-ahead
mask, two threads on both sides, which take turns in one process. In each turn a side pauses, so
that no idle thread of the other spins while it computes, and is then called three times: the first
call counts as after a pause, the third as warm. Memory is measured in a process of its own for each
size, by tracemalloc, to which NumPy reports what it allocates. Needs torch, which nothing else here
does, and threadpoolctl.

``--long 4096 8192 32768`` prints the tables of long attention instead: output and mean map next to
torch's fused kernel, which gives the output alone; then what each further result costs at the last
of these sizes, and the memory beyond inputs and results. ``--executors 8192`` prints what threads,
processes and a cluster of dask.distributed take, two workers each.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from attention import AttentionTrace, causal, long_attention, scaled_dot_product_attention
from attention.long import places
from attention.long.sums import RESULTS

D = 64
THREADS = 2
PAUSE = 0.05  # seconds: longer than a thread of OpenBLAS or OpenMP spins before it sleeps
BEFORE = 20  # calls of each side before the turns
LONGEST = 3.0  # seconds of them, for a call that takes long
KEPT = ("scores", "scaled", "masked", "weights")


def ours(heads: int, n: int) -> Callable[[], AttentionTrace]:
    """The call that is measured: one head without a head axis, more with one."""
    Q, K, V = rolled(heads, n)
    allowed = causal(n, n)
    return lambda: scaled_dot_product_attention(Q, K, V, allowed=allowed)


def theirs(heads: int, n: int):
    """The same in torch, its mask made beforehand as ours is."""
    import torch

    torch.set_num_threads(THREADS)
    Q, K, V = (torch.from_numpy(M) for M in rolled(heads, n))
    M = torch.zeros(n, n).masked_fill(~torch.from_numpy(causal(n, n)), float("-inf"))

    def eager():
        with torch.no_grad():
            return torch.softmax(Q @ K.transpose(-1, -2) * D**-0.5 + M, dim=-1) @ V

    return eager


def rolled(heads: int, n: int) -> np.ndarray:
    shape = (3, n, D) if heads == 1 else (3, heads, n, D)
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def took(call: Callable[[], object]) -> float:
    """Milliseconds of one call, the freeing of its result left out."""
    began = time.perf_counter()
    result = call()
    taken = time.perf_counter() - began
    del result
    return 1e3 * taken


class Times(NamedTuple):
    """Milliseconds of one side, turn by turn."""

    warm: list[float]
    rested: list[float]  # after a pause

    def beside(self, other: Times) -> list[str]:
        """Return four cells: ratios of the least and of the medians, warm and after a pause."""
        pairs = zip(self, other, strict=True)
        return [f"{of(mine) / of(theirs):.2f}" for mine, theirs in pairs for of in (min, median)]


def in_turns(calls: dict[str, Callable[[], object]], turns: int) -> dict[str, Times]:
    """Let all sides take turns, warm and after a pause."""
    for call in calls.values():
        began = time.perf_counter()
        for _ in range(BEFORE):
            call()
            if time.perf_counter() - began > LONGEST:
                break
    times = {name: Times([], []) for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            time.sleep(PAUSE)
            rested, _, warm = took(call), took(call), took(call)
            times[name].rested.append(rested)
            times[name].warm.append(warm)
    return times


def row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def peak(heads: int, n: int) -> float:
    """The peak beyond what the trace keeps, in score matrices of this many heads."""
    call = ours(heads, n)
    call()
    tracemalloc.start()
    trace = call()
    highest = tracemalloc.get_traced_memory()[1]
    kept = sum(getattr(trace, name).nbytes for name in (*KEPT, "output")) + n * n  # allowed, once
    return (highest - kept) / trace.scores.nbytes


# ---- long attention ------------------------------------------------------------------------------


def fused(n: int, is_causal: bool) -> Callable[[], object]:
    """torch's own kernel, which keeps no map either; its output alone."""
    import torch

    torch.set_num_threads(THREADS)
    Q, K, V = (torch.from_numpy(M)[None, None] for M in rolled(1, n))
    attend = torch.nn.functional.scaled_dot_product_attention

    def call():
        with torch.no_grad():
            return attend(Q, K, V, is_causal=is_causal)

    return call


def long(n: int, is_causal: bool, *results: str, executor=None) -> Callable[[], object]:
    Q, K, V = rolled(1, n)
    allowed = places.causal() if is_causal else None
    named = results or ("output", "mean_map")
    return lambda: long_attention(Q, K, V, allowed=allowed, results=named, executor=executor)


def long_peak(n: int) -> float:
    """The peak beyond inputs and output, in MB."""
    call = long(n, True)
    tracemalloc.start()
    found = call()
    return (tracemalloc.get_traced_memory()[1] - found.output.nbytes) / 2**20


def beyond(*option: object) -> float:
    """Return a peak measured in a new process."""
    command = [sys.executable, __file__, *map(str, option)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


RATIOS = ("ratio, least", "ratio, median", "after a pause, least", "after a pause, median")


def long_tables(sizes: list[int], turns: int) -> None:
    row("tokens", "mask", "output and map, ms", "torch fused, ms", *RATIOS, "memory beyond, MB")
    print("|---:|---|" + "---:|" * 7)
    for n in sizes:
        for is_causal in (True, False):
            found = in_turns({"torch": fused(n, is_causal), "ours": long(n, is_causal)}, turns)
            mine, other = found["ours"], found["torch"]
            least = [f"{min(side.warm):.1f}" for side in (mine, other)]
            mask = "causal" if is_causal else "none"
            megabytes = f"{beyond('--long-peak', n):.0f}"
            row(f"{n:,}", mask, *least, *mine.beside(other), megabytes)
    n, usual = sizes[-1], ("output", "mean_map")
    calls = {"torch fused, output": fused(n, True), "output": long(n, True, "output")}
    calls["output, mean_map"] = long(n, True)
    for name in (name for name in RESULTS if name not in usual):
        calls[f"output, mean_map, {name}"] = long(n, True, *usual, name)
    print()
    row(f"{n:,} tokens, causal", "ms, least", "next to torch fused", "next to output and map")
    print("|---|---:|---:|---:|")
    least = {name: min(side.warm) for name, side in in_turns(calls, turns).items()}
    for name, taken in least.items():
        beside = (taken / least[other] for other in ("torch fused, output", "output, mean_map"))
        row(name, f"{taken:.0f}", *(f"{ratio:.2f}" for ratio in beside))


def executors(n: int, turns: int) -> None:
    """Threads, processes and a cluster on this machine, which is there before it is measured."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from distributed import Client, LocalCluster

    calls = {"threads": long(n, True)}
    with (
        ProcessPoolExecutor(THREADS, mp_context=get_context("spawn")) as processes,
        LocalCluster(THREADS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        calls["processes"] = long(n, True, executor=processes)
        calls["dask.distributed"] = long(n, True, executor=client.get_executor())
        row(f"{n:,} tokens, causal, output and map", "ms", "next to threads")
        print("|---|---:|---:|")
        taken = {name: median(side.warm) for name, side in in_turns(calls, turns).items()}
        for name, middle in taken.items():
            row(name, f"{middle:.0f}", f"{middle / taken['threads']:.2f}")


def conditions() -> str:
    """What the table was measured on."""
    from threadpoolctl import threadpool_info

    blas = next(entry for entry in threadpool_info() if entry["user_api"] == "blas")
    names = ", ".join(f"{name} {version(name)}" for name in ("numpy", "torch", "threadpoolctl"))
    kernel = f"OpenBLAS {blas['version']} with its {blas['architecture']} kernels"
    return (
        f"{date.today()}; Python {platform.python_version()}, {names}; {kernel};"
        f" {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}."
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--turns", type=int, default=31, help="of each side, for each size")
    options.add_argument("--tokens", type=int, nargs="+", default=[1024, 2048, 4096])
    options.add_argument("--heads", type=int, nargs="+", default=[1, 8])
    options.add_argument("--peak", type=int, nargs=2, metavar=("HEADS", "TOKENS"))
    options.add_argument("--long", type=int, nargs="+", metavar="TOKENS")
    options.add_argument("--long-peak", type=int, metavar="TOKENS")
    options.add_argument("--executors", type=int, metavar="TOKENS")
    chosen = options.parse_args()
    if chosen.peak or chosen.long_peak:
        print(peak(*chosen.peak) if chosen.peak else long_peak(chosen.long_peak))
        return
    print(conditions(), "\n")
    if chosen.long:
        long_tables(chosen.long, chosen.turns)
        return
    if chosen.executors:
        executors(chosen.executors, chosen.turns)
        return
    memory = "memory beyond those kept"
    row("heads", "tokens", "all stages, ms", "torch eager, ms", *RATIOS, memory)
    print("|" + "---:|" * 9)
    for heads in chosen.heads:
        for n in chosen.tokens:
            found = in_turns({"ours": ours(heads, n), "torch": theirs(heads, n)}, chosen.turns)
            mine, other = found.values()
            least = [f"{min(side.warm):.1f}" for side in found.values()]
            matrices = f"{beyond('--peak', heads, n):.2f}"
            row(heads, f"{n:,}", *least, *mine.beside(other), matrices)


if __name__ == "__main__":
    main()
