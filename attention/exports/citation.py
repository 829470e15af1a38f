"""How to cite the program, with the version that made the numbers; as CITATION.cff says it."""

from __future__ import annotations

from attention import program

TITLE = "Attention, stage by stage"
AUTHORS = f"The authors of {TITLE}"
YEAR = 2026  # of this version, as in LICENSE


def sentence() -> str:
    """For a list of references.

    >>> sentence().startswith("The authors of Attention, stage by stage (2026).")
    True
    """
    return f"{AUTHORS} ({YEAR}). {TITLE}, version {program.VERSION} [software]."


def bibtex() -> str:
    """The same as an entry that BibTeX of any age and biblatex read."""
    fields = {
        "author": f"{{{AUTHORS}}}",  # the inner braces: one name, no list of names
        "title": f"{{{TITLE}}}",
        "year": str(YEAR),
        "note": f"Software, version {program.VERSION}",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{program.NAME},", *lines, "}"])
