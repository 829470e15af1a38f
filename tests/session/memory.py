"""Opens what a stranger may send as the pages do, in a process of its own for each, and says how
much memory and processor time that took.

Run as a program it answers one JSON line, ``{"way", "name", "path", "role"}``, after the other: how
many MB the largest size of the process grew by while the input was read, and by when it was run,
the seconds, and what was refused, or "". It imports everything first and forks for each input.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

ROOM = 6 * 2**30  # bytes of addresses; what asks for more fails at once
UNIT = 2**20 if sys.platform == "darwin" else 2**10  # of ru_maxrss, in MB


class Opener:
    """The process that forks; ``with Opener() as opened: opened("file", "x.npy", content)``."""

    def __enter__(self) -> Callable[..., dict]:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self.ask

    def ask(self, way: str, name: str, path: Path, role: str = "") -> dict:
        question = {"way": way, "name": name, "path": str(path), "role": role}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __exit__(self, *_: object) -> None:
        self.process.communicate()  # closes what it reads, and waits


def grown() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / UNIT


def serve() -> None:  # noqa: C901 - one function for each way, and what they need
    import pandas  # noqa: F401

    from attention.html import preview
    from attention.limits import MAX_LONG_FILE, MAX_LONG_NUMBERS, BadInput
    from attention.models import opening as captures
    from attention.models.survey import survey
    from attention.readers import opening
    from attention.readers.files import array_files
    from attention.readers.select import Selection, gather
    from attention.session.bring import adopt
    from attention.session.bring.finished import without_weights
    from attention.session.compare import check_yours
    from attention.session.edit.parts import fitted
    from attention.session.long import long_inputs
    from attention.session.state import kept, links
    from attention.session.state.examples import EXAMPLES, FIRST
    from attention.session.state.run import run, view
    from attention.session.state.settings import Settings, TooManyTokens
    from attention.session.state.validate import check

    def shown(s: Settings, before: Settings) -> Callable[[], object]:
        """What the page does with new settings; returned is what it computes of them."""
        s = check(fitted(before, s)[0])
        links.existing_cell(s)
        if not links.address(s)[1]:
            for matrix in kept.pack(s)[1].values():
                links.write_matrix(matrix)
        return lambda: view(s, run(s))

    def of_file(name: str, content: bytes, role: str) -> Callable[[], object]:
        """Your data: read, select, adopt; and all but reading again, as each run of the page."""
        s = EXAMPLES[FIRST].build()
        arrays, _ = array_files.readable(opening.opened(name, content))
        preview.contents(arrays)
        for _ in range(2):
            if role or len(arrays) == 1:
                array, entry = next(iter(arrays.items()))
                picked = {role or adopt.likely(array, entry, s): array}
            else:
                picked = adopt.picks_of(arrays, adopt.family_of(arrays))
            picks = {role: (name, Selection()) for role, name in picked.items() if name}
            brought = adopt.with_own_parts(gather(arrays, picks, name), arrays, picks, name)
            try:
                new = adopt.adopt(s, brought)[0]
            finally:
                for role_of, array_of in brought.items():
                    preview.preview(role_of, array_of)
        return shown(new, s)

    def of_link(name: str, content: bytes, role: str) -> Callable[[], object]:
        try:
            s, refused = links.read(json.loads(content))
        except TooManyTokens as found:  # which go on on Long context
            return partial(long_inputs.explored_inputs, found.settings)
        compute = shown(s, s)
        if refused:
            raise BadInput(refused[0])
        return compute

    def of_state(name: str, content: bytes, role: str) -> Callable[[], object]:
        s = links.from_file(content)
        return shown(s, s)

    def of_check(name: str, content: bytes, role: str) -> Callable[[], object]:
        """Check yours: Q, K and V pasted, with a mask of a name."""
        boxes = dict.fromkeys("QKV", content.decode())
        given = check_yours.pasted("qkv", boxes, mask=role, true_means="may look", heads=1)
        bench = check_yours.bench_of(given)
        return lambda: check_yours.planted(bench, None, "output")

    def of_capture(name: str, content: bytes, role: str) -> Callable[[], object]:
        taken = captures.opened(content, name)
        return lambda: survey(taken)

    def of_long(name: str, content: bytes, role: str) -> Callable[[], object]:
        if role:
            taken = captures.opened(content, name, is_drawn=False)
            inputs = long_inputs.captured_inputs(taken, taken.calls[0], 0)
        else:
            arrays = array_files.entries(
                name, content, array_files.Bounds(MAX_LONG_FILE, MAX_LONG_NUMBERS)
            )
            names = long_inputs.guessed_names(arrays)
            inputs = long_inputs.read_inputs(arrays, names, name)
        return lambda: inputs.size

    def of_change(name: str, content: bytes, role: str) -> Callable[[], object]:
        """One change of a link's settings, by the name of a function of session/edit/changes.py."""
        from attention.session.edit import changes

        s, refused = links.read(json.loads(content))
        assert not refused, refused

        def many() -> Settings:
            return changes.set_tokens(s, tuple(f"w{k}" for k in range(20_000)), [0] * 20_000)

        made = {
            "20,000 tokens": many,
            "20,000 tokens under a drawn mask": many,
            "d_k of 512": lambda: changes.set_dimension(s, "d_k", 512),
            "W_O": lambda: changes.set_output_weights(s, True),
            "one-hot": lambda: changes.start_from(s, False, None),
        }[role]()
        return shown(made, s)

    ways = {
        "file": of_file,
        "link": of_link,
        "state": of_state,
        "check": of_check,
        "capture": of_capture,
        "long": of_long,
        "change": of_change,
    }

    def answer(question: dict) -> dict:
        content = Path(question["path"]).read_bytes()
        before, begun = grown(), time.process_time()
        after, said = before, ""
        try:
            compute = ways[question["way"]](question["name"], content, question["role"])
            after = grown()
            compute()
        except BadInput as problem:
            said = str(problem)
            after = grown()
        seconds = time.process_time() - begun
        return {
            "read": after - before,
            "ran": grown() - before,
            "seconds": seconds,
            "refused": said,
        }

    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    warm = replace(without_weights(EXAMPLES[FIRST].build()))
    view(warm, run(warm)), links.from_file(links.to_file(warm)), links.address(warm)
    for line in sys.stdin:
        read, write = os.pipe()
        if not (child := os.fork()):
            try:
                answered = answer(json.loads(line))
            except BaseException as problem:  # what no page answers
                answered = {"crashed": f"{type(problem).__name__}: {problem}"[:300]}
            os.write(write, json.dumps(answered).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as said:
            print(said.read() or '{"crashed": "killed"}', flush=True)
        os.waitpid(child, 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    serve()
