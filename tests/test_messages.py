"""Sentences of the product stand in ``messages.py``, and in no other test."""

import ast
import re
from collections import Counter
from pathlib import Path

import messages

TESTS = Path(__file__).parent
SENTENCES = {name: text for name, text in vars(messages).items() if name.isupper()}
LONG = 30  # characters of a sentence between its fields that are no chance


def pieces() -> dict[str, str]:
    """Each long piece of a sentence between its fields, with the sentence's name."""
    found = {}
    for name, text in SENTENCES.items():
        for piece in re.split(r"(?<!\{)\{\w+\}(?!\})", text):
            if len(piece) >= LONG:
                found[piece.replace("{{", "{").replace("}}", "}")] = name
    return found


def spelled_out(tests: Path) -> list[str]:
    """Where a test spells out what has a name, and the name."""
    found = []
    for path in sorted(tests.rglob("*.py")):
        place = path.relative_to(tests).as_posix()
        if place == "messages.py":
            continue
        texts = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        joined = "\n".join(node.value for node in texts)  # one search a piece, not one a text
        there = {piece: name for piece, name in pieces().items() if piece in joined}
        found += [
            f"{place}:{node.lineno} {name}"
            for node in texts
            for piece, name in there.items()
            if piece in node.value
        ]
    return found


def test_no_test_spells_out_a_sentence_that_has_a_name():
    assert spelled_out(TESTS) == []


def test_a_sentence_that_is_spelled_out_is_found(tmp_path):
    planted = messages.PRINTOUT_LEAVES_OUT.format(name="x")
    (tmp_path / "test_x.py").write_text(f"X = 1\nassert {planted!r}\n")
    assert spelled_out(tmp_path) == ["test_x.py:2 PRINTOUT_LEAVES_OUT"]


def test_no_two_sentences_are_the_same():
    assert len(set(SENTENCES.values())) == len(SENTENCES)


def test_no_name_is_given_twice():
    tree = ast.parse(Path(messages.__file__).read_text(encoding="utf-8"))
    names = [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]
    assert [name for name, count in Counter(names).items() if count > 1] == []
