"""The command ``attention-stages``, or ``python -m attention``: opens the dashboard anywhere."""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from pathlib import Path

import attention
from attention.limits import MAX_STATE, BadInput
from attention.session.state import links
from attention.session.state.settings import Settings, TooManyTokens

HERE = Path(__file__).parent / "launch"
DISTRIBUTION = "attention-stage-by-stage"
NEEDED = {  # at least
    "streamlit": (1, 67),
    "numpy": (2, 2),
    "pandas": (2, 2, 2),
    "plotly": (6, 3),
    "matplotlib": (3, 11),
    "segno": (1, 6),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the dashboard until it is interrupted; 2 where it cannot begin."""
    chosen = _parser().parse_args(arguments)
    try:
        saved = saved_state(chosen.open) if chosen.open else None
    except BadInput as problem:
        return _refuse(str(problem))
    if lacking := lacking_packages():
        return _refuse(lacking)
    try:
        serve(saved, chosen.port, chosen.address)
    except BadInput as problem:
        return _refuse(str(problem))
    except KeyboardInterrupt:  # how it is ended
        pass
    return 0


def _refuse(sentence: str) -> int:
    print(f"attention-stages: {sentence}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attention-stages", description="Open the dashboard 'Attention, stage by stage'."
    )
    parser.add_argument(
        "--port",
        type=_port,
        help="where it listens (else STREAMLIT_SERVER_PORT, or 8501 or the next one that is free)",
    )
    parser.add_argument(
        "--address",
        type=_address,
        help="who may reach it: 127.0.0.1, this computer alone (else STREAMLIT_SERVER_ADDRESS, or"
        " that), or 0.0.0.0, everybody in the network",
    )
    parser.add_argument(
        "--open", metavar="FILE", type=Path, help="a saved state to begin with (.json)"
    )
    parser.add_argument(
        "--version", action="version", version=f"attention-stages {attention.__version__}"
    )
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; expected a number up to 65535")
    return int(text)


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an IP address; expected one such as 127.0.0.1 or 0.0.0.0"
        ) from None


def saved_state(path: Path) -> Settings:
    """Read the settings in a file that the page saved, of more tokens than a board shows too.

    BadInput names the file and what is wrong.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_STATE + 1)
    except OSError as problem:
        raise BadInput(f"{path} cannot be opened: {problem.strerror}.") from None
    if len(content) > MAX_STATE:
        raise BadInput(f"{path} has more than {MAX_STATE:,} bytes; a saved state has fewer.")
    try:
        return links.from_file(content)
    except BadInput as problem:
        if isinstance(problem, TooManyTokens) and problem.settings:
            return problem.settings  # which the page shows on Long context
        raise BadInput(f"{path} cannot be used: {problem}") from None


def lacking_packages() -> str:
    """Return what to install if a package of the dashboard is missing or too old; else ""."""
    versions = {name: _installed(name) for name in NEEDED}
    lacking = [name for name in NEEDED if not versions[name]]
    lacking += [
        f"{name} {'.'.join(map(str, least))} or newer (not {versions[name]})"
        for name, least in NEEDED.items()
        if versions[name] and _version_numbers(versions[name]) < least
    ]
    if not lacking:
        return ""
    # in a clone that was not installed, the folder alone knows the extra
    extra = f"{DISTRIBUTION}[app]" if _installed(DISTRIBUTION) else ".[app]"
    return f'the dashboard also needs {", ".join(lacking)}: pip install "{extra}"'


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"[0-9]+", version)[:3])


def streamlit_options() -> dict[str, object]:
    """Return the settings of .streamlit/config.toml by their dotted names.

    ``streamlit run app.py`` reads that file by itself. An installed copy carries it along, and
    Streamlit would not look for it there.
    """
    carried, cloned = HERE / "config" / "config.toml", HERE.parents[1] / ".streamlit/config.toml"
    file = carried if carried.exists() else cloned
    return _dotted(tomllib.loads(file.read_text(encoding="utf-8")))


def _dotted(table: dict, prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _dotted(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def serve(saved: Settings | None, port: int | None, address: str | None) -> None:
    """Run the server; a session without an address opens ``saved``, else the first example.

    It is started as by ``streamlit run``: an argument wins over Streamlit's environment variables,
    and these win over config.toml. Raise BadInput for a variable that Streamlit cannot use.
    """
    from click import UsageError
    from streamlit.web.cli import main_run

    from attention.pages.frame import start

    start.begin_with(saved)
    arguments = [str(HERE / "dashboard.py")]
    if port is not None:
        arguments.append(f"--server.port={port}")
    if address is not None:
        arguments.append(f"--server.address={address}")
    defaults = {name.replace(".", "_"): value for name, value in streamlit_options().items()}
    try:
        context = main_run.make_context("attention-stages", arguments, default_map=defaults)
    except UsageError as problem:
        raise BadInput(problem.format_message()) from None
    with context:
        main_run.invoke(context)


if __name__ == "__main__":
    sys.exit(main())
