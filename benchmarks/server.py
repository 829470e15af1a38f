"""The app's own server around any page, with a clock on each run.

``streamlit run benchmarks/server.py -- page.py``. ``GET /clock/runs`` returns what happened since
it was last asked: the milliseconds of each script run, by the clock and of the processor, and the
processor time of the whole process; and since it began that time (s) and its memory (MB), as it is
and the most it ever was.
``GET /clock/profile`` returns the profile of all runs under ``--profile``.
"""

import cProfile
import io
import pstats
import sys
import time
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.runtime.scriptrunner import ScriptRunner

from attention.pages.server import lifespan, middleware, routes

script, *options = sys.argv[1:]
profile = cProfile.Profile() if "--profile" in options else None
finished: list[
    tuple[float, float]
] = []  # of each run: milliseconds by the clock, and of the processor
processor = time.process_time()
untimed = ScriptRunner._run_script


def timed(self, rerun_data) -> None:
    """One whole run: callbacks, the script, and Streamlit's cleaning up (gc.collect too)."""
    began, worked = time.perf_counter(), time.thread_time()
    if profile is None:
        untimed(self, rerun_data)
    else:
        profile.runcall(untimed, self, rerun_data)
    finished.append(((time.perf_counter() - began) * 1000, (time.thread_time() - worked) * 1000))


def runs(request: Request) -> JSONResponse:
    global processor
    before, processor = processor, time.process_time()
    taken = list(finished)
    finished.clear()
    found = {"runs": taken, "processor": (processor - before) * 1000}
    found |= {"worked": processor, "memory": memory("VmRSS"), "peak": memory("VmHWM")}
    return JSONResponse(found)


def memory(kind: str) -> float:
    """In MB, where Linux says it."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(kind))


def profiled(request: Request) -> PlainTextResponse:
    text = io.StringIO()
    for order in ("cumulative", "tottime"):
        pstats.Stats(profile, stream=text).sort_stats(order).print_stats(60)
    profile.clear()
    return PlainTextResponse(text.getvalue())


ScriptRunner._run_script = timed
app = st.App(
    script,
    routes=[*routes, Route("/clock/runs", runs), Route("/clock/profile", profiled)],
    middleware=middleware,
    lifespan=lifespan,
)
