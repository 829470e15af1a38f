"""The scripts of our components, which the browser fetches once by their address.

Streamlit sends a component's script along with every message to it. What it is given here is a few
lines, which import the script from this server.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_PAINTED = "elements.js", "board/scales.js", "board/shades.js", "shaded.js"
_BOARD = (
    "text",
    "fit",
    "part",
    "scales",
    "shades",
    "paint",
    "edits",
    "grid",
    "tables",
    "picture",
    "present",
    "board",
)
FILES: dict[str, tuple[str, ...]] = {  # what the script of each component is made of
    "board": (
        "plotly.js",
        "elements.js",
        "clipboard.js",
        "numbers.js",
        *(f"board/{name}.js" for name in _BOARD),
    ),
    "maps": (*_PAINTED, "maps/maps.js"),
    "copy": ("elements.js", "clipboard.js", "copy/copy.js"),
    "typed": ("typed/typed.js",),
    "zoom": (*_PAINTED, "numbers.js", "zoom/zoom.js"),
}
# A fetch that failed is tried again after these ms, as what fails here fails until a reload.
_IMPORT = """const at = new URL('{}', document.baseURI)
let found = await import(at).catch(() => null)
for (const pause of [300, 1200]) {{
  if (found) break
  await new Promise(done => setTimeout(done, pause))
  found = await import(`${{at}}&${{pause}}`).catch(() => null)
}}
const failed = ({{ parentElement }}) => {{
  parentElement.textContent = `This part could not be fetched (${{at.pathname}}); reload the page.`
}}
export default found?.default ?? failed
"""


@cache
def content(name: str) -> bytes:
    """The script of a component."""
    return "\n".join((_HERE / file).read_text(encoding="utf-8") for file in FILES[name]).encode()


@cache
def digest(name: str) -> str:
    """What tells the script of a component from those of other versions."""
    return hashlib.blake2b(content(name), digest_size=8).hexdigest()


def address(name: str) -> str:
    """Where the script of a component is; it changes with what the script says."""
    return f"scripts/{name}.js?{digest(name)}"


def importing(name: str) -> str:
    """What a component is given in place of its script."""
    return _IMPORT.format(address(name))
