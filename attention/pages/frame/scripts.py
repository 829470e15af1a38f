"""The scripts of our components, which the browser fetches once: ES modules in one folder.

Streamlit sends a component's script along with every message to it. What it is given here is a few
lines, which import the module from this server.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "js"
_FROM = re.compile(r"^(?:import .*|\}) from '(\..+)'$", re.MULTILINE)
# A fetch that failed is tried again after these ms, as what fails here fails until a reload; under
# another folder, so that the modules which this one imports are fetched again as well.
_IMPORT = """const [folder, file] = ['scripts/{digest}', '{file}']
const at = again => new URL(`${{folder}}${{again}}/${{file}}`, document.baseURI)
let found = await import(at('')).catch(() => null)
for (const pause of [300, 1200]) {{
  if (found) break
  await new Promise(done => setTimeout(done, pause))
  found = await import(at(`-${{pause}}`)).catch(() => null)
}}
const {{ pathname }} = at('')
const failed = ({{ parentElement, setTriggerValue }}) => {{
  if (parentElement.isLost) return // it was told
  parentElement.isLost = true
  parentElement.textContent = `This part could not be fetched (${{pathname}}); reload the page.`
  if ({tells}) setTriggerValue('lost', true)
}}
export default found?.default ?? failed
"""


@cache
def files() -> dict[str, bytes]:
    """Return all modules by their paths in the folder."""
    found = sorted(_FOLDER.rglob("*.js"))
    return {path.relative_to(_FOLDER).as_posix(): path.read_bytes() for path in found}


@cache
def digest() -> str:
    """Return what tells the modules from those of other versions."""
    said = hashlib.blake2b(digest_size=8)
    for file, content in files().items():
        said.update(b"%s\0%d\0%s" % (file.encode(), len(content), content))
    return said.hexdigest()


def address(file: str) -> str:
    """Return where a module is; the folder has the digest, so that imports stay inside."""
    return f"scripts/{digest()}/{file}"


def importing(file: str, tells: bool = False) -> str:
    """Return what a component is given in place of its module.

    One that ``tells`` sends the trigger ``lost``, once, where the module cannot be fetched.
    """
    return _IMPORT.format(digest=digest(), file=file, tells="true" if tells else "false")


def needed(file: str) -> list[str]:
    """Return a module and all that it needs.

    >>> needed("copy.js")
    ['copy.js', 'clipboard.js', 'elements.js']
    """
    found = [file]
    for each in found:
        for name in _FROM.findall(files()[each].decode()):
            other = posixpath.normpath(posixpath.join(posixpath.dirname(each), name))
            if other not in found:
                found.append(other)
    return found
