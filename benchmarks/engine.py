"""How long and how much memory all stages take, beside torch's eager formula.

``python benchmarks/engine.py`` prints the table of README.md. softmax(QKᵀ·s + M)V in torch keeps
nothing; ours keeps scores, scaled, masked, weights and allowed. float32, 64 columns, a look-ahead
mask, two threads on both sides, which take turns in one process, with a pause so that no idle
thread of one spins while the other computes. Memory is measured in a process of its own for each
size, by tracemalloc, to which NumPy reports what it allocates. Needs torch, which nothing else here
does, and threadpoolctl.

``--long 4096 8192 32768`` prints the tables of long attention instead: output and mean map beside
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

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from attention import AttentionTrace, causal, long_attention, scaled_dot_product_attention
from attention.long import places
from attention.long.sums import RESULTS

D = 64
THREADS = 2
PAUSE = 0.05  # seconds: longer than a thread of OpenBLAS or OpenMP spins before it sleeps
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
    time.sleep(PAUSE)
    began = time.perf_counter()
    result = call()
    taken = time.perf_counter() - began
    del result
    return 1e3 * taken


def again(call: Callable[[], object]) -> float:
    """Milliseconds of the second of two calls, into memory that the first has freed."""
    took(call)
    return took(call)


def compared(heads: int, n: int, turns: int) -> tuple[float, float, float]:
    """Medians of both sides in ms, and that of the ratios turn by turn; the first turns warm up.

    Each call follows one of its own side that is not counted. Between turns of a second the host of
    a virtual machine takes back what was freed, and fetching it again would be most of the time.
    """
    mine, other = ours(heads, n), theirs(heads, n)
    pairs = [(again(mine), again(other)) for _ in range(turns + 2)][2:]
    return (
        median(a for a, _ in pairs),
        median(b for _, b in pairs),
        median(a / b for a, b in pairs),
    )


def peak(heads: int, n: int) -> float:
    """The peak beyond what the trace keeps, in score matrices of this many heads."""
    call = ours(heads, n)
    call()
    tracemalloc.start()
    trace = call()
    highest = tracemalloc.get_traced_memory()[1]
    kept = sum(getattr(trace, name).nbytes for name in (*KEPT, "output")) + n * n  # allowed, once
    return (highest - kept) / trace.scores.nbytes


def peak_of_its_own(heads: int, n: int) -> float:
    """:func:`peak` in a new process."""
    command = [sys.executable, __file__, "--peak", str(heads), str(n)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


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


def in_turns(calls: dict[str, Callable[[], object]], turns: int) -> dict[str, tuple[float, float]]:
    """Medians in ms, and of the ratios to the first turn by turn; the first turn warms up."""
    times = [[took(call) for call in calls.values()] for _ in range(turns + 1)][1:]
    columns = zip(*times, strict=True)
    firsts = [turn[0] for turn in times]
    return {
        name: (median(column), median(a / b for a, b in zip(column, firsts, strict=True)))
        for name, column in zip(calls, columns, strict=True)
    }


def long_peak(n: int) -> float:
    """The peak beyond inputs and output, in MB."""
    call = long(n, True)
    tracemalloc.start()
    found = call()
    return (tracemalloc.get_traced_memory()[1] - found.output.nbytes) / 2**20


def long_tables(sizes: list[int], turns: int) -> None:
    print("| tokens | mask | output and map, ms | torch fused, ms | ratio | memory beyond, MB |")
    print("|---:|---|---:|---:|---:|---:|")
    for n in sizes:
        for is_causal in (True, False):
            found = in_turns({"torch": fused(n, is_causal), "ours": long(n, is_causal)}, turns)
            (other, _), (mine, ratio) = found["torch"], found["ours"]
            command = [sys.executable, __file__, "--long-peak", str(n)]
            beyond = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            mask = "causal" if is_causal else "none"
            row = (
                f"| {n:,} | {mask} | {mine:.0f} | {other:.0f} | {ratio:.2f} | {float(beyond):.0f} |"
            )
            print(row, flush=True)
    n, usual = sizes[-1], ("output", "mean_map")
    calls = {"torch fused, output": fused(n, True), "output": long(n, True, "output")}
    calls["output, mean_map"] = long(n, True)
    for name in (name for name in RESULTS if name not in usual):
        calls[f"output, mean_map, {name}"] = long(n, True, *usual, name)
    print(f"\n| {n:,} tokens, causal | ms | beside torch fused | beside output and map |")
    print("|---|---:|---:|---:|")
    found = in_turns(calls, turns)
    for name, (taken, ratio) in found.items():
        beside = ratio / found["output, mean_map"][1]
        print(f"| {name} | {taken:.0f} | {ratio:.2f} | {beside:.2f} |")


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
        print(f"| {n:,} tokens, causal, output and map | ms | beside threads |\n|---|---:|---:|")
        for name, (taken, ratio) in in_turns(calls, turns).items():
            print(f"| {name} | {taken:.0f} | {ratio:.2f} |")


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
    print(
        "| heads | tokens | all stages, ms | torch eager, ms | ratio | memory beyond those kept |"
    )
    print("|---:|---:|---:|---:|---:|---:|")
    for heads in chosen.heads:
        for n in chosen.tokens:
            mine, other, ratio = compared(heads, n, chosen.turns)
            beyond = peak_of_its_own(heads, n)
            row = f"| {heads} | {n:,} | {mine:.1f} | {other:.1f} | {ratio:.2f} | {beyond:.2f} |"
            print(row, flush=True)


if __name__ == "__main__":
    main()
