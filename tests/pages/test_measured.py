"""How large an image is, as the browser reads it from the header, beside what Pillow wrote."""

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

Image = pytest.importorskip("PIL.Image", reason="the extra [app] is not installed")

from attention.limits import MAX_IMAGE, MAX_PIXELS  # noqa: E402

NODE = shutil.which("node")
MODULE = Path(__file__).parents[2] / "attention/pages/js/measured.js"
SCRIPT = """
import {{ measured, refusal }} from {module}
import {{ readFileSync }} from 'node:fs'
const most = {{ bytes: {most_bytes}, pixels: {most_pixels} }}
const answers = JSON.parse(readFileSync(0, 'utf8')).map(([name, size, text]) => {{
  const bytes = text === null ? null : new Uint8Array(Buffer.from(text, 'base64'))
  return [bytes && measured(bytes), refusal(name, size, bytes, most)]
}})
console.log(JSON.stringify(answers))
"""
pytestmark = pytest.mark.skipif(NODE is None, reason="Node (nodejs) is not installed")


def asked(*files: tuple[str, int, bytes | None]) -> list:
    """What the browser finds of files, each a name, a size in bytes, and what is in it."""
    from base64 import b64encode

    script = SCRIPT.format(
        module=json.dumps(MODULE.as_uri()), most_bytes=MAX_IMAGE, most_pixels=MAX_PIXELS
    )
    sent = [(n, size, None if b is None else b64encode(b).decode()) for n, size, b in files]
    run = subprocess.run(
        [NODE, "--input-type=module", "--eval", script],
        input=json.dumps(sent),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(run.stdout)


def made(size, mode="RGB", form="PNG", **options) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, 7 if mode in "LP1" else None).save(file, form, **options)
    return file.getvalue()


def test_sizes_are_those_that_pillow_wrote():
    exif = Image.Exif()
    exif[270] = "words " * 9000  # a segment of 54,000 bytes before the frame
    files, sizes = [], []
    for size in ((1, 1), (3, 700), (1025, 2), (300, 257)):
        for options in (
            {},
            {"mode": "RGBA"},
            {"mode": "L"},
            {"mode": "P"},
            {"form": "JPEG"},
            {"form": "JPEG", "progressive": True, "mode": "L"},
            {"form": "JPEG", "exif": exif},
            {"form": "WEBP"},
            {"form": "WEBP", "lossless": True},
            {"form": "WEBP", "mode": "RGBA", "exif": exif},
        ):
            content = made(size, **options)
            with Image.open(io.BytesIO(content)) as read:
                assert read.size == size
            files.append(("a", len(content), content))
            sizes.append([list(size), ""])
    assert asked(*files) == sizes


def test_other_and_broken_files_are_refused_by_a_sentence():
    whole = {form: made((40, 30), form=form) for form in ("PNG", "JPEG", "WEBP")}
    cut = [content[:end] for content in whole.values() for end in (0, 1, 3, 8, 12, 20)]
    others = [made((4, 4), "P", "GIF"), b"<svg/>", b"\xff\xd8\xff" + bytes(99), b"RIFF" + bytes(99)]
    others.append(b"\xff\xd8" + b"\xff" * 100_000)  # filling alone
    files = [(f"f{k}", len(content), content) for k, content in enumerate([*cut, *others])]
    said = " is not a PNG, JPEG or WebP image with a complete header."
    assert asked(*files) == [[None, f"{name}{said}"] for name, *_ in files]


def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded():
    content = bytearray(made((1, 1)))
    content[16:24] = (30_000).to_bytes(4) + (20_000).to_bytes(4)
    empty = bytearray(made((1, 1)))
    empty[16:20] = bytes(4)
    assert asked(("a.png", len(content), content), ("b.png", len(empty), empty)) == [
        [[30_000, 20_000], "a.png has 30,000 × 20,000 pixels; expected 1 to 16,000,000 in all."],
        [[0, 1], "b.png has 0 × 1 pixels; expected 1 to 16,000,000 in all."],
    ]


def test_a_file_of_too_many_bytes_is_refused_before_it_is_read():
    assert asked(("a.png", MAX_IMAGE + 2**20, None), ("b.png", MAX_IMAGE, None)) == [
        [None, "a.png has 9 MB; at most 8 MB are opened."],
        [None, ""],
    ]
