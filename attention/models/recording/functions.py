"""Replace functions of torch by functions that listen, wherever they are found by name.

A mode of torch (``TorchFunctionMode``) would hear the same, but it slows every function that a
model calls, turns the fast path of torch's own layers off, and is active neither in other threads
nor in the second pass of gradient checkpointing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from threading import Lock, local
from types import FunctionType, MethodType, ModuleType
from typing import Any

_EXCHANGING = Lock()
# called with the original and its arguments, returns its answer; a type beside it: calls whose last
# argument is of that are not heard
Listening = Callable[..., Any] | tuple[Callable[..., Any], type]


class _Own(local):
    """Whether a thread computes what a record needs, which is no part of the model's run."""

    is_quiet = False


_OWN = _Own()


@contextmanager
def quietly() -> Iterator[None]:
    """Let no function listen, of no block."""
    was_quiet, _OWN.is_quiet = _OWN.is_quiet, True
    try:
        yield
    finally:
        _OWN.is_quiet = was_quiet


def listened(original: Callable[..., Any], listening: Listening) -> Any:
    """Return a function that listens in the place of another, until :func:`before` ends it."""

    listen, unheard = listening if isinstance(listening, tuple) else (listening, None)

    @wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[-1]) is unheard:
            return original(*args, **kwargs)
        if function.has_ended or _OWN.is_quiet:  # type: ignore[attr-defined]
            return original(*args, **kwargs)
        return listen(original, *args, **kwargs)

    function.original, function.has_ended = original, False  # type: ignore[attr-defined]
    return function


def before(function: Any) -> Any:
    """End a function that listens; return what was in its place.

    Blocks of several threads end in any order: what was in its place may have ended as well.
    """
    function.has_ended = True
    while getattr(function, "has_ended", False):
        function = function.original
    return function


@contextmanager
def replaced(owner: Any, name: str, listening: Listening) -> Iterator[None]:
    """Replace an attribute of a class or a module, and put it back at the end."""
    with instead(owner, name, lambda original: listened(original, listening)):
        yield


@contextmanager
def instead(owner: Any, name: str, making: Callable[[Any], Any]) -> Iterator[None]:
    """Let an attribute be the function made of the one before it, which it has as ``original``."""
    with _EXCHANGING:
        function = making(getattr(owner, name))
        setattr(owner, name, function)
    try:
        yield
    finally:
        with _EXCHANGING:
            original = before(function)
            if getattr(owner, name) is function:
                bases = getattr(owner, "__mro__", (owner,))[1:]
                inherited = (vars(each)[name] for each in bases if name in vars(each))
                if original is next(inherited, None):
                    delattr(owner, name)
                else:
                    setattr(owner, name, original)


@contextmanager
def replaced_by_name(listening: dict[tuple[Any, str], Listening], model: Any) -> Iterator[None]:
    """Replace attributes of torch's modules, in all modules of Python that have a name for them,
    and where modules of the model keep them; and what torch.compile has made of them there.
    """
    with _EXCHANGING:
        hears = {getattr(owner, name): each for (owner, name), each in listening.items()}
        hears |= {each: hears[each._torchdynamo_orig_callable] for each in _compiled(hears, model)}
        functions = [listened(*pair) for pair in hears.items()]
        _exchange([(each.original, each) for each in functions], model)
    try:
        yield
    finally:
        with _EXCHANGING:
            _exchange([(each, before(each)) for each in functions], model)


def _names(model: Any) -> Iterator[dict[str, Any]]:
    """Yield the names of all modules of Python, and the attributes of the model's modules."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            yield module.__dict__
    yield from map(vars, model.modules())


def _compiled(functions: Collection[Any], model: Any) -> list[Any]:
    """Find what torch.compile has made of functions."""
    if "torch._dynamo" not in sys.modules:
        return []
    found = {
        id(value): value
        for names in _names(model)
        for value in list(names.values())
        if type(value) is FunctionType
        and value.__dict__.get("_torchdynamo_orig_callable") in functions
    }
    return list(found.values())


def _exchange(pairs: Iterable[tuple[Any, Any]], model: Any) -> None:
    """Put the second of each pair where the first is found."""
    found = {id(one): (one, other) for one, other in pairs}

    def other(value: Any) -> Any:
        return found.get(id(value), (None, value))[1]

    functions: list[Any] = []
    for names in _names(model):
        _exchange_values(names, found, other)
    for module in model.modules():
        functions += vars(module).values()
    done: set[int] = set()
    while functions:
        function = functions.pop()
        function = function.__func__ if isinstance(function, MethodType) else function
        if id(function) in done:
            continue
        done.add(id(function))
        if isinstance(function, partial) and function.func is not other(function.func):
            state = other(function.func), function.args, function.keywords, vars(function)
            function.__setstate__(state)  # type: ignore[attr-defined]
        if not isinstance(function, FunctionType) or hasattr(function, "has_ended"):
            continue
        if function.__defaults__:
            function.__defaults__ = tuple(map(other, function.__defaults__))
        for cell in function.__closure__ or ():
            try:
                functions.append(cell.cell_contents)
            except ValueError:  # an empty one
                continue
            if cell.cell_contents is not other(cell.cell_contents):
                cell.cell_contents = other(cell.cell_contents)


def _exchange_values(names: dict[str, Any], found: dict[int, Any], other: Any) -> None:
    values = list(names.values())
    if not found.keys().isdisjoint(map(id, values)):
        for name, value in list(names.items()):
            if id(value) in found:
                names[name] = other(value)


# ---- torch.compile -------------------------------------------------------------------------------


class _Uncompiled:
    """The blocks in which nothing is compiled: the last one to end puts torch's stance back."""

    lock = Lock()
    count = 0
    stance: Any = None


@contextmanager
def uncompiled() -> Iterator[None]:
    """Let what torch.compile has made, or makes, run as it is written: compiled code calls nothing
    that listens.
    """
    import torch

    forced: list[bool] = []

    def force() -> None:
        with _Uncompiled.lock:
            if forced or not hasattr(torch.compiler, "set_stance"):  # before torch 2.6
                return
            if not _Uncompiled.count:
                _Uncompiled.stance = torch.compiler.set_stance("force_eager")
            _Uncompiled.count += 1
            forced.append(True)

    def compiling(original: Any, model: Any = None, *args: Any, **kwargs: Any) -> Any:
        force()
        while hasattr(model, "has_ended"):  # what is made of it outlives the block
            model = model.original
        return original(model, *args, **kwargs)

    if "torch._dynamo" in sys.modules:  # its import takes seconds
        force()
    try:
        with replaced(torch, "compile", compiling):
            yield
    finally:
        with _Uncompiled.lock:
            _Uncompiled.count -= len(forced)
            if forced and not _Uncompiled.count:
                _Uncompiled.stance.__exit__(None, None, None)


@contextmanager
def compiled() -> Iterator[None]:
    """Let a function that is heard as a whole run compiled, as it does outside of the block."""
    import torch

    if not _Uncompiled.count:
        yield
        return
    with torch.compiler.set_stance("default"):
        yield
