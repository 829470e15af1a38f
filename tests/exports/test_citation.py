"""How to cite: one text on the page, for BibTeX and in CITATION.cff."""

import re
from pathlib import Path

import attention
from attention.exports import citation

ROOT = Path(__file__).parents[2]


def test_the_sentence_names_authors_year_title_and_version():
    assert citation.sentence() == (
        "The authors of Attention, stage by stage (2026). Attention, stage by stage,"
        f" version {attention.__version__} [software]."
    )


def test_the_entry_has_balanced_braces_and_a_comma_after_each_field():
    entry = citation.bibtex()
    depth = 0
    for letter in entry:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
    assert fields == {
        "author": "{The authors of Attention, stage by stage}",
        "title": "{Attention, stage by stage}",
        "year": "2026",
        "note": f"Software, version {attention.__version__}",
    }
    assert entry.splitlines()[0] == "@misc{attention-stages," and entry.endswith("\n}")


def test_citation_cff_and_the_licence_say_the_same():
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    lines = dict(re.findall(r"(?m)^(?:  - )?([a-z-]+): (.+)$", cff))
    assert lines["cff-version"] == "1.2.0"
    assert lines["message"] and lines["type"] == "software"
    assert lines["title"] == citation.TITLE
    assert lines["name"] == citation.AUTHORS
    assert lines["version"] == attention.__version__
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert f"Copyright (c) {citation.YEAR} {citation.AUTHORS}" in licence
    assert licence.startswith(f"{lines['license']} License")
