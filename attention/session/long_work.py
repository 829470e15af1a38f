"""A long context being looked at: coarse at once, exact when its work is done, each window anew."""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attention.cuts import cell_of, edges_of
from attention.limits import MAX_LONG_HELD, BadInput
from attention.long import Cells, LongAttention
from attention.session.long_context import LongContext, Window
from attention.session.long_inputs import LongInputs
from attention.session.long_run import Job

CELLS = 512  # along a side of what is shown
AT_ONCE = 8.0  # seconds of work that begins without being asked for
SOON = 0.4  # seconds that the page waits for what may end at once
KEPT = 8  # windows that need not be computed again
BEYOND = 150 * 2**20  # bytes at most beyond the queries, keys and values
_HELD: weakref.WeakSet[LongInputs] = weakref.WeakSet()


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
        self._closer: tuple[Window, Job] | None = None
        self._exact: dict[tuple[Window, int], Cells] = {}
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
        """Compute all rows, beside the page."""
        results = self._results() + ["output"] * (self.inputs.V is not None)
        self.whole = Job(partial(self.inputs.run, self.settings, results, pool=CELLS))
        self.whole.wait(SOON)

    def _results(self) -> list[str]:
        return [f"{self.settings.of}_map", *self.settings.also]

    def _expected(self) -> float:
        """About how many seconds all queries take, by those in the middle."""
        half = CELLS // 2
        middle = np.arange(self.inputs.n_q)[max(self.inputs.n_q // 2 - half, 0) :][: 2 * half]
        took = []
        for _ in range(2):  # the first warms up
            began = time.perf_counter()
            self.inputs.of_queries(self.settings, middle, self._results())
            took.append(time.perf_counter() - began)
        return min(took) * self.inputs.n_q / len(middle)

    def cancel(self) -> None:
        for job in (self.whole, self._closer and self._closer[1]):
            if job:
                job.cancel()

    def look(self, window: Window, head: int) -> Look:
        """The window as exact as it is by now."""
        record = self.record
        if window == self.all and record is not None:
            values = getattr(record, f"{self.settings.of}_map")[head]
            return Look(Cells(values, record.row_edges, record.key_edges))
        if (window, head) in self._exact:
            return Look(self._exact[window, head])
        top, bottom, *keys = window
        found, chosen = self._sampled(window)
        cells = found.window(keys=(keys[0], keys[1]), cells=CELLS, of=self.settings.of, head=head)
        rows = edges_of(top, bottom, cell_of(bottom - top, CELLS))
        coarse = Cells(cells.values, rows, cells.key_edges)
        if len(chosen) == bottom - top:  # each of them is there
            return Look(coarse)
        each = int(rows[1] - rows[0])
        if record is None:
            return Look(coarse, each, self.whole if self.is_begun else None)
        job = self._closer[1] if self._closer and self._closer[0] == window else None
        if job is None or job.was_cancelled:
            if self._closer:
                self._closer[1].cancel()
            job = Job(partial(_windows, record, window, self.settings.of))
            self._closer = window, job
            job.wait(SOON)
        if job.result is None:
            return Look(coarse, each, job)
        for k, exact in enumerate(job.result):
            self._keep((window, k), exact)
        return Look(self._exact[window, head])

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

    def _keep(self, key: tuple[Window, int], cells: Cells) -> None:
        self._exact[key] = cells
        for old in list(self._exact)[: -KEPT * self.inputs.heads]:
            del self._exact[old]


def _windows(record: LongAttention, window: Window, of: str, **watch: Any) -> list[Cells]:
    """The window in every head."""
    top, bottom, left, right = window
    *_, heads = record.shape[:-2]
    options: dict[str, Any] = {"cells": CELLS, "of": of, **watch}
    return [
        record.window((top, bottom), (left, right), head=head, **options) for head in range(heads)
    ]


def hold(inputs: LongInputs) -> LongInputs:
    """Count the inputs among those that this process holds for all people, while they are used."""
    held = sum(each.size for each in _HELD)
    if held + inputs.size > MAX_LONG_HELD:
        raise BadInput(
            f"these tokens take {inputs.size / 2**20:,.0f} MB, and this server holds"
            f" {held / 2**20:,.0f} MB for others, of {MAX_LONG_HELD / 2**20:,.0f} at most: choose"
            " fewer tokens, or try again later."
        )
    _HELD.add(inputs)
    return inputs
