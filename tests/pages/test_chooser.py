"""What a browser sends of the files that were chosen, and what is made of it."""

import base64
import io
import re
import zipfile

import pytest
from pages.test_explore import below, noted, opened, pasted, ran, said, settings

from attention.limits import MAX_FILES, MAX_STATE, BadInput
from attention.pages.chooser import ChosenFile, read
from attention.readers.other_files import OtherKind
from attention.session import links
from attention.session.about import source_of
from attention.session.examples import EXAMPLES


def sent(content: bytes, **other) -> dict:
    text = base64.b64encode(content).decode()
    return {"name": "x.csv", "size": len(content), "sent": text} | other


def test_files_arrive_by_name_with_all_their_bytes():
    content = bytes(range(256)) * 3
    turn, (one, two) = read({"turn": 7, "files": [sent(content), sent(b"", name="e.txt")]})
    assert turn == 7
    assert (one.name, one.size, one.content()) == ("x.csv", 768, content)
    assert (two.name, two.content()) == ("e.txt", b"")


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {"turn": 1},
        {"turn": True, "files": []},
        {"turn": "1", "files": []},
        {"turn": 1, "files": {}},
        {"turn": 1, "files": [sent(b"1")] * (MAX_FILES + 1)},
        {"turn": 1, "files": ["x.csv"]},
        {"turn": 1, "files": [sent(b"1", name=3)]},
        {"turn": 1, "files": [sent(b"1", size=0)]},
        {"turn": 1, "files": [sent(b"1", size=1.0)]},
        {"turn": 1, "files": [sent(b"1", size=-1)]},
        {"turn": 1, "files": [sent(b"1", sent="MQ=")]},
        {"turn": 1, "files": [sent(b"1", sent="M\nQ==")]},
        {"turn": 1, "files": [sent(b"1", sent=3)]},
        {"turn": 1, "files": [sent(b"1", size=9 * MAX_STATE, sent="A" * 4 * (MAX_STATE // 3))] * 2},
        {"turn": -1, "files": []},
        {"turn": 10**400, "files": []},
    ],
    ids=lambda message: str(message)[:60],
)
def test_a_message_that_no_chooser_sends_is_refused(message):
    with pytest.raises((ValueError, TypeError, KeyError)):
        read(message)


def test_a_file_that_is_not_whole_says_what_to_do():
    def refused(kind: type[BadInput], *file) -> str:
        with pytest.raises(kind) as problem:
            ChosenFile(*file).content()
        return str(problem.value)

    assert refused(OtherKind, "m.pt", 10, b"") == (
        "m.pt is a pickle, which runs code when it is opened, so it is not opened here; these two"
        " lines save it as .safetensors."
    )
    assert refused(OtherKind, "x.npy", 9_000_000, b"\x93NUMPY") == (
        "x.npy has 9,000,000 bytes; at most 8,388,608 are read. These lines cut a part out."
    )
    assert refused(BadInput, "x.csv", 10, b"") == (
        "x.csv was not sent beside the others, which are too large together; choose it alone."
    )


def test_the_zip_of_everything_opens_to_its_saved_state():
    at = below(opened(), "Your data")
    state = links.to_file(EXAMPLES["sentence"].build())
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        archive.writestr("cells_head1.csv", "")
        archive.writestr("state.json", state)
    content = file.getvalue()
    chosen = ChosenFile("attention.zip", len(content), content)
    at.session_state["visit"].page_values["load_file_chosen"] = 1, (chosen,)
    ran(at)
    assert any("the zip that this page makes; a saved state lies" in text for text in noted(at))
    ran(at.button(key="open_file").click())
    assert settings(at) == EXAMPLES["sentence"].build()


def test_a_file_called_as_the_box_is_said_is_a_file_and_its_preview_promises_no_more():
    at = below(opened(), "Your data")
    content = b"cat 1 2\ndog 3 4"
    file = ChosenFile("the text", len(content), content)
    at.session_state["visit"].page_values["load_file_chosen"] = 1, (file,)
    ran(at)
    (told,) = (e.proto.body for e in at.get("html") if "What comes with" in e.proto.body)
    rolled = "W_Q, W_K and W_V are rolled anew, for a d_model of 2."
    assert re.sub("<[^>]*>", "", told).strip() == f"What comes with using them: {rolled}"
    ran(at.button(key="load_use").click())
    assert said(at, "understood") == [f"Now on the board: X (2 × 2). {rolled}"]
    assert source_of(settings(at), "X") == "the text"
    at.session_state["visit"].page_values["load_file_chosen"] = 2, ()
    pasted(at, content.decode())
    ran(at.button(key="load_use").click())
    assert source_of(settings(at), "X") == "typed"


def test_of_several_files_the_arrays_are_read_and_the_others_named():
    at = below(opened(), "Your data")
    files = (ChosenFile("a.txt", 2, b"1 "), ChosenFile("x.npy", 6, b"\x93NUMPY"))
    at.session_state["visit"].page_values["load_file_chosen"] = 1, (files[0], *files)
    ran(at)
    assert said(at, "flag") == ["One file is read at a time; left out: a.txt, a.txt."]
    assert said(at, "refused") == ["x.npy: its .npy version is missing; 1.0, 2.0 and 3.0 are read."]
