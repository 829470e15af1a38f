"""Many people at once: ``python benchmarks/load.py``.

Visitors without a browser (benchmarks/wire.py) make moves on Explore, in one process. A move is
timed from sending it to the last message of its run. Everybody has numbers of their own: X is drawn
by their own seed, and what they type is a number of theirs; each board is compared with what the
package computes of those. Prints a Markdown table. ``--only arriving`` makes one part of it, and
``--moves 10000`` the moves that show whether memory grows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlencode

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from attention.core.masks import MASK_LABELS  # noqa: E402
from attention.limits import MAX_FILE, MAX_LONG_FILE, MAX_SIDE  # noqa: E402
from attention.session.state.links import write  # noqa: E402
from benchmarks.board import answering, asked, row, serving  # noqa: E402
from benchmarks.states import rolled  # noqa: E402
from benchmarks.wire import Answer, Visitor, standing, wrong  # noqa: E402

TOKENS = 6
LARGEST = 512, 8, MAX_SIDE  # tokens, heads and width of the largest inputs
KINDS = 5  # of moves
MASKS = MASK_LABELS["none"], MASK_LABELS["causal"]


@dataclass
class Person:
    """A visitor with numbers of their own."""

    number: int
    visitor: Visitor
    typed: float | None = None  # the last number they typed into X
    moves: int = 0
    took: list[float] = field(default_factory=list)  # milliseconds of each
    answers: list[tuple[Answer, float | None]] = field(default_factory=list)  # to be checked

    @property
    def link(self) -> dict[str, str]:
        return write(rolled(TOKENS, self.number))

    async def come(self) -> float:
        answer = await self.visitor.come(self.link)
        self.answers.append((answer, self.typed))
        return answer.milliseconds

    async def move(self) -> float:
        """The next of all kinds of moves."""
        self.moves += 1
        visitor, kind, turn = self.visitor, self.moves % KINDS, self.moves // KINDS
        if kind == 0:
            # also where nobody else has typed it
            self.typed = self.number + (turn + 1) / 1024
            answer = await visitor.type("X", 0, 0, repr(self.typed))
        elif kind == 1:
            answer = await visitor.send("board", "asked", turn % TOKENS)
        elif kind == 2:
            answer = await visitor.set("set_digits", [float(1 + turn % 5)])
        elif kind == 3:
            cell = {"stage": "weights", "i": turn % TOKENS, "j": 0}
            answer = await visitor.send("board", "picked", cell)
        else:
            answer = await visitor.press("randomize")
        self.answers.append((answer, self.typed))
        self.took.append(answer.milliseconds)
        return answer.milliseconds

    def check(self) -> list[str]:
        """What was not theirs in the answers since the last look."""
        taken, self.answers = self.answers, []
        return [said for answer, typed in taken if (said := self.fault(answer, typed))]

    def fault(self, answer: Answer, typed: float | None) -> str:
        settings = standing(answer)
        own = rolled(TOKENS, self.number).matrices["X"].values.copy()
        if typed is not None:
            own[0, 0] = typed
        if not np.array_equal(settings.matrices["X"].values, own):
            return f"person {self.number}: the address holds another's numbers"
        said = wrong(answer, settings)
        return f"person {self.number}: {said}" if said else ""


class Checks:
    """How many answers were looked at, and what was wrong."""

    def __init__(self) -> None:
        self.checked, self.faults = 0, list[str]()

    def look(self, people: list[Person]) -> None:
        for person in people:
            self.checked += len(person.answers)
            self.faults += person.check()


CHECKS = Checks()


def crowd(address: str, number: int, first: int = 1) -> list[Person]:
    return [Person(k, Visitor(address)) for k in range(first, first + number)]


async def all_at(people: list[Person], act: Callable[[Person], Awaitable], within: float) -> list:
    """Everybody does it, spread evenly over so many seconds."""

    async def later(place: int, person: Person):
        await asyncio.sleep(within * place / len(people))
        return await act(person)

    return await asyncio.gather(*(later(*each) for each in enumerate(people)))


async def gone(people: list[Person]) -> None:
    await asyncio.gather(*(person.visitor.leave() for person in people))


async def thinking(people: list[Person], seconds: float, think: float) -> list[float]:
    """Everybody moves and thinks, about so long, until the end; the milliseconds of all moves."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds

    async def live(person: Person) -> None:
        chance = random.Random(person.number)
        await asyncio.sleep(chance.uniform(0, think))
        while loop.time() < ends:
            await person.move()
            await asyncio.sleep(chance.uniform(0.5 * think, 1.5 * think))

    before = [len(person.took) for person in people]
    await asyncio.gather(*map(live, people))
    times = zip(people, before, strict=True)
    return [took for person, since in times for took in person.took[since:]]


def runs(address: str) -> dict:
    """What the server's clock says since it was last asked."""
    return json.loads(asked(f"{address}/clock/runs"))


def share(times: list[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]


def line(what: str, *found: tuple[str, str, str]) -> list[str]:
    return [row(what if k == 0 else "", *each) for k, each in enumerate(found)]


# ---- the parts ----------------------------------------------------------------------------------


async def arriving(address: str, people: int) -> list[str]:
    """Everybody comes within one second."""
    there = crowd(address, people)
    took = await all_at(there, Person.come, 1)
    CHECKS.look(there)
    await gone(there)
    return line(
        f"{people} people arrive within a second",
        ("the median is served after", f"{median(took) / 1000:.2f} s", ""),
        ("the last after", f"{max(took) / 1000:.2f} s", "5 s"),
    )


async def moving(address: str, people: int, think: float, seconds: float) -> list[str]:
    """Everybody moves and thinks."""
    there = crowd(address, people)
    await all_at(there, Person.come, people / 8)
    runs(address)
    took = await thinking(there, seconds, think)
    server = runs(address)
    CHECKS.look(there)
    await gone(there)
    busy = server["processor"] / seconds / 10
    return line(
        f"{people} people, a move each {think:g} s",
        ("a move, median", f"{median(took):.0f} ms", ""),
        ("a move, p95", f"{share(took, 95):.0f} ms", "300 ms"),
        ("processor time of a move", f"{server['processor'] / len(took):.1f} ms", ""),
        ("one core busy", f"{busy:.0f} %", ""),
    )


async def processor(address: str, nothing: str, turns: int) -> list[str]:
    """Explore and the same controls with nothing drawn take turns."""
    costs: dict[str, list[float]] = {address: [], nothing: []}
    people = {where: Person(7, Visitor(where)) for where in costs}
    for person in people.values():
        await person.come()
    for turn in range(turns + 5):
        for where, person in people.items():
            runs(where)
            visitor = person.visitor
            if turn % 3 == 0:
                await visitor.set("set_digits", [float(1 + turn % 5)])
            elif turn % 3 == 1:
                await visitor.set("set_mask", MASKS[turn % 2])
            else:
                await visitor.press("randomize")
            costs[where].append(runs(where)["processor"])
    await gone(list(people.values()))
    ours, theirs = (median(costs[where][5:]) for where in (address, nothing))
    return line(
        "processor time of a move",
        ("Explore", f"{ours:.1f} ms", ""),
        ("the same controls, nothing drawn", f"{theirs:.1f} ms", ""),
        ("ratio", f"{ours / theirs:.2f}", "1.5"),
    )


async def beside(address: str, people: int, think: float, seconds: float) -> list[str]:
    """Some move and think; then the same beside one with a largest input, who thinks as long."""
    there = crowd(address, people)
    await all_at(there, Person.come, people / 8)
    alone = await thinking(there, seconds, think)
    lines = line(f"{people} people alone", ("p95", f"{share(alone, 95):.0f} ms", ""))
    lines += await beside_one(address, there, think, seconds)
    CHECKS.look(there)
    await gone(there)
    return lines


async def beside_one(address: str, there: list[Person], think: float, seconds: float) -> list[str]:
    """The moves of some beside one with the largest inputs."""
    tokens, heads, width = LARGEST
    large = Visitor(address)
    link = write(rolled(tokens, width=width)) | {"heads": str(heads)}
    opened = await large.come(urlencode(link))
    kinds: dict[str, list[float]] = {"drawn": [], "typed": []}
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    async def work(kind: str) -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            if kind == "drawn":
                answer = await large.press("randomize")
            else:
                answer = await large.type("X", turn % tokens, 0, f"{turn / 8}")
            if answer.exceptions:
                raise SystemExit(answer.exceptions[0])
            kinds[kind].append(answer.milliseconds)
            await asyncio.sleep(think)

    found = {}
    for kind in kinds:
        over.clear()
        working = asyncio.create_task(work(kind))
        began = loop.time()
        found[kind] = await thinking(there, seconds, think)
        assert loop.time() - began < seconds + 60
        over.set()
        await working
    await large.leave()
    lines = [("the large one is opened after", f"{opened.milliseconds:.0f} ms", "")]
    for kind, others in found.items():
        own = f"its own move, {kind}"
        lines += [(f"beside it, {kind}, p95", f"{share(others, 95):.0f} ms", "100 ms")]
        lines += [(own, f"{median(kinds[kind]):.0f} ms", "")]
    return line(f"{len(there)} people beside {tokens} tokens, {heads} heads", *lines)


async def uploads(address: str, files: int, large: int) -> list[str]:
    """One visitor uploads many files of the largest size, through a page and past it."""
    person = Person(1, Visitor(address))
    await person.come()
    visitor = person.visitor
    await visitor.set("set_below", ["Your data"])
    texts = [
        (number * 63 + b"0\n") * (MAX_FILE // 380)
        for number in (b"0.1234567890123456789,", b"0.125,")
    ]
    before, most, statuses = runs(address)["memory"], 0.0, set[str]()
    for turn in range(1, files + 1):  # one is read, the next is refused
        content = texts[turn % 2][: MAX_FILE - turn]
        statuses.add(await asyncio.to_thread(put, address, visitor.session, str(turn), content))
        (key,) = (key for key in visitor.ids if key.startswith("load_file_"))
        answer = await visitor.upload(key, str(turn), f"{turn}.csv", len(content))
        most = max(most, answer.milliseconds)
    held = runs(address)["memory"] - before
    past, content = [], bytes(MAX_LONG_FILE - 1000)
    for turn in range(large):
        statuses.add(await asyncio.to_thread(put, address, visitor.session, f"p{turn}", content))
        past.append(runs(address)["memory"] - before - held)
    lines = [("memory held after them", f"{held:+.0f} MB", "below 400 MB")]
    lines += [("the slowest", f"{most / 1000:.2f} s", "")]
    size = MAX_LONG_FILE // 2**20
    named = f"after {large} of {size} MB past the page"
    lines += [(named, f"{past[-1]:+.0f} MB, at most {max(past):+.0f}", "below 400 MB")]
    lines += [("answers", ", ".join(sorted(statuses)), "204")]
    await visitor.leave()
    return line(f"{files} files of {MAX_FILE // 2**20} MB by one visitor", *lines)


def put(address: str, session: str, file: str, content: bytes) -> str:
    """Upload a file to Streamlit's own address, and return the answer's status."""
    with urllib.request.urlopen(f"{address}/_stcore/health") as health:
        token = health.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    url = f"{address}/_stcore/upload_file/{session}/{file}"
    request = urllib.request.Request(url, head + content + b"\r\n--x--\r\n", method="PUT")
    request.add_header("Content-Type", "multipart/form-data; boundary=x")
    request.add_header("Cookie", f"_streamlit_xsrf={token}")
    request.add_header("X-Xsrftoken", token)
    try:
        with urllib.request.urlopen(request) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as refused:
        return str(refused.code)
    except OSError:
        return "closed"


async def growth(address: str, moves: int, people: int) -> list[str]:
    """Moves without a pause; memory ten times on the way."""
    there = crowd(address, people)
    await all_at(there, Person.come, people / 8)
    memory = []
    for _ in range(11):
        for _ in range(moves // (10 * people)):
            await asyncio.gather(*(person.move() for person in there))
            CHECKS.look(there)
        memory.append(runs(address)["memory"])
    await gone(there)
    grown = ", ".join(f"{each:.0f}" for each in memory)
    made = moves // (10 * people) * 10 * people
    return line(
        f"{made:,} moves, after as many again by a tenth",
        ("memory on the way, MB", grown, ""),
        ("growth from the first to the last", f"{memory[-1] - memory[0]:+.1f} MB", "none"),
    )


# the processor first, while no crowd has been at either of both servers
PARTS = ("processor", "arriving", "moving", "beside", "uploads", "growth")


async def measured(options: argparse.Namespace, address: str, nothing: str) -> None:
    print(row("", "", "measured", "wanted"), "|---|---|---:|---:|", sep="\n", flush=True)
    parts: dict[str, Callable[[], Awaitable[list[str]]]] = {
        "arriving": lambda: arriving(address, options.people),
        "moving": lambda: moving(address, options.people, options.think, options.seconds),
        "processor": lambda: processor(address, nothing, 60),
        "beside": lambda: beside(address, options.few, options.think, options.seconds / 2),
        "uploads": lambda: uploads(address, 50, 15),
        "growth": lambda: growth(address, options.moves, options.few),
    }
    for name in options.only:
        if name == "growth" and not options.moves:
            continue
        before = worked(address, nothing)
        lines = await parts[name]()
        seconds, theirs = (b - a for a, b in zip(before, worked(address, nothing), strict=True))
        print(*lines, sep="\n", flush=True)
        print(f"{name}: others kept {theirs / seconds:.1f} cores busy", file=sys.stderr)
    checked = ("all answers", f"{CHECKS.checked:,}", "")
    print(*line("each has their own numbers", checked, ("not theirs", faults(), "0")), sep="\n")


def worked(*servers: str) -> tuple[float, float]:
    """The clock, and the seconds that others than these servers and this program have worked."""
    mine = time.process_time() + sum(runs(server)["worked"] for server in servers)
    ticks = [int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    return time.monotonic(), (sum(ticks) - idle) / os.sysconf("SC_CLK_TCK") - mine


def faults() -> str:
    return f"{len(CHECKS.faults)}" + "".join(f"; {fault}" for fault in CHECKS.faults[:3])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument(
        "--few", type=int, default=20, help="beside the largest input, and for --moves"
    )
    parser.add_argument("--think", type=float, default=5, help="seconds between two moves")
    parser.add_argument("--seconds", type=float, default=60, help="that they stay")
    parser.add_argument("--moves", type=int, default=0, help="to see whether memory grows")
    parser.add_argument("--port", type=int, default=8650, help="this port and the next are used")
    options = parser.parse_args()
    names = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "numpy"))
    print(f"{date.today()}; Python {platform.python_version()}, {names}")
    with ExitStack() as servers:
        address = servers.enter_context(serving("app.py", options.port))
        nothing = servers.enter_context(serving("benchmarks/bare.py", options.port + 1))
        for each in (address, nothing):
            answering(each)
        asyncio.run(measured(options, address, nothing))
    if CHECKS.faults:
        raise SystemExit("\n".join(CHECKS.faults[:20]))


if __name__ == "__main__":
    main()
