"""A long context being looked at: coarse at once, exact when its work is done, each window anew."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attention.long.attention import Cells, LongAttention
from attention.long.cuts import cell_of, edges_of
from attention.session.long.job import Job
from attention.session.long.long_inputs import LongInputs
from attention.session.state.long_context import LongContext, Window

CELLS = 512  # along a side of what is shown
AT_ONCE = 8.0  # seconds of work that begins without being asked for
TRIED = 2**24  # scores, of which the time of all is told
QUICKLY = 0.005  # seconds that need no second try
SOON = 0.4  # seconds that the page waits for what may end at once
KEPT = 8  # windows that need not be computed again
MOST_OUTPUT = 2**26  # bytes of an output that is kept for the file
BEYOND = 150 * 2**20  # bytes at most beyond the queries, keys and values
Asked = tuple[Window, int, str]  # a window, the head, and what its cells show


@dataclass(frozen=True, eq=False)
class Look:
    """What is seen of a window."""

    cells: Cells
    sampled: int = 0  # queries of which each row of cells shows one; 0 where it is exact
    job: Job | None = None  # which makes it exact


class LongWork:
    """All that is computed of one part of the inputs, under one mask."""

    def __init__(self, inputs: LongInputs, settings: LongContext) -> None:
        self.inputs, self.settings = inputs, settings
        self.whole: Job | None = None
        self._closer: tuple[Asked, Job] | None = None
        self._exact: dict[Asked, Cells] = {}
        self._coarse: dict[Window, tuple[LongAttention, np.ndarray]] = {}
        self.seconds = self._expected()

    @property
    def all(self) -> Window:
        return 0, self.inputs.n_q, 0, self.inputs.n_k

    @property
    def record(self) -> LongAttention | None:
        """Everything asked for, once it is there."""
        return self.whole.result if self.whole else None

    @property
    def is_begun(self) -> bool:
        return self.whole is not None and not self.whole.was_cancelled

    def begin(self) -> None:
        """Compute all rows, beside the page; where they are there, a window that was given up."""
        self._closer = None
        if self.record is not None:
            return
        rows, V = self.inputs.heads * self.inputs.n_q, self.inputs.V
        has_room = V is not None and rows * V.shape[-1] * V.itemsize <= MOST_OUTPUT
        results = [*self._results(), *(["output"] if has_room else [])]
        run = partial(self.inputs.run, self.settings, results, pool=CELLS)
        self.whole = Job(run, self.seconds < AT_ONCE)
        self.whole.wait(SOON)

    def _results(self) -> list[str]:
        return ["mean_map", *self.settings.also]

    def _expected(self) -> float:
        """About how many seconds all queries take, by those in the middle."""
        n_q = self.inputs.n_q
        few = max(min(TRIED // (self.inputs.heads * self.inputs.n_k), n_q, CELLS), 1)
        middle = np.arange(few) + (n_q - few) // 2
        took = [np.inf]
        while len(took) < 3 and min(took) > QUICKLY:  # the first warms up
            began = time.perf_counter()
            self.inputs.of_queries(self.settings, middle, self._results())
            took.append(time.perf_counter() - began)
            if took[-1] > SOON:
                break
        return float(min(took)) * n_q / few

    def cancel(self) -> None:
        for job in (self.whole, self._closer and self._closer[1]):
            if job:
                job.cancel()

    def is_known(self, window: Window, head: int, of: str = "mean") -> bool:
        """Check whether a look at the window takes no time."""
        is_whole = (window, of) == (self.all, "mean") and self.record is not None
        return is_whole or (window, head, of) in self._exact or window in self._coarse

    def look(self, window: Window, head: int, of: str = "mean") -> Look:
        """Return the window as exact as it is by now; ``of``, a name in SHOWN, is in its cells."""
        record, asked = self.record, (window, head, of)
        if (window, of) == (self.all, "mean") and record is not None:
            assert record.mean_map is not None
            return Look(Cells(record.mean_map[head], record.row_edges, record.key_edges))
        if asked in self._exact:
            return Look(self._exact[asked])
        top, bottom, left, right = window
        found, chosen = self._sampled(window)
        cells = found.window(keys=(left, right), cells=CELLS, of=of, head=head)
        rows = edges_of(top, bottom, cell_of(bottom - top, CELLS))
        coarse = Cells(cells.values, rows, cells.key_edges)
        if len(chosen) == bottom - top:  # each of them is there
            return Look(coarse)
        each = int(rows[1] - rows[0])
        if record is None:
            return Look(coarse, each, self.whole if self.is_begun else None)
        job = self._closer[1] if self._closer and self._closer[0] == asked else None
        if job is None:
            if self._closer:
                self._closer[1].cancel()
            options: dict[str, Any] = {"cells": CELLS, "of": of, "head": head}
            run = partial(record.window, (top, bottom), (left, right), **options)
            share = (bottom - top) / self.inputs.n_q
            job = Job(run, share * self.seconds < AT_ONCE)
            self._closer = asked, job
            job.wait(SOON)
        if job.result is None:
            return Look(coarse, each, job)
        self._exact[asked] = job.result
        for old in list(self._exact)[:-KEPT]:
            del self._exact[old]
        return Look(job.result)

    def weights(self, query: int, head: int) -> np.ndarray:
        """(n_k,), the exact weights of one query."""
        if self.record is not None:
            return self.record.rows([query], head=head)[0]
        return self.inputs.of_queries(self.settings, np.array([query])).rows([0], head=head)[0]

    def _sampled(self, window: Window) -> tuple[LongAttention, np.ndarray]:
        """The middle query of each row of cells."""
        if window not in self._coarse:
            top, bottom = window[:2]
            rows = edges_of(top, bottom, cell_of(bottom - top, CELLS))
            chosen = (rows[:-1] + rows[1:]) // 2
            self._coarse[window] = self.inputs.of_queries(self.settings, chosen), chosen
            for key in list(self._coarse)[:-KEPT]:
                del self._coarse[key]
        return self._coarse[window]
