"""Somebody's own numbers in, figures, numbers and code out: every one exact, in a real browser."""

import csv
import io
import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit
from xml.etree import ElementTree

import messages
import numpy as np
import pypdf
import pytest
from browser.dashboard import until
from files import stored
from PIL import Image

from attention import causal, self_attention
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.session.state.validate import check
from attention.vocabulary.numbers import are_whole, numbers

RNG = np.random.default_rng(4)
X = RNG.standard_normal((3, 4))
COMPUTED = ("Q", "K", "V", "scores", "scaled", "masked", "weights", "output")
PREVIEW = ".st-key-dock_content table.numbers"
SVG = "{http://www.w3.org/2000/svg}"
GLOVE = """the 0.418 0.24968 -0.41242 0.1217 0.34527 -0.044457
cat 0.45281 -0.50108 -0.53714 -0.015697 0.22191 0.54602
sat -0.23853 -0.36463 0.3121 0.085264 0.36981 -0.11262
. 0.15164 0.30177 -0.16763 0.17684 0.31719 0.33973
"""


def safetensors(**tensors) -> bytes:
    header, body = {}, b""
    for name, array in tensors.items():
        kind = {"float32": "F32", "float16": "F16", "float64": "F64"}[array.dtype.name]
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + array.nbytes],
        }
        body += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def agrees(dashboard, **inputs) -> None:
    """Every stage in the browser is that of these inputs, to the last bit."""
    trace = self_attention(**inputs) if "X" in inputs else None
    for name, matrix in inputs.items():
        assert np.array_equal(dashboard.numbers(name), matrix), name
    for name in COMPUTED:
        assert np.array_equal(dashboard.numbers(name), getattr(trace, name)), name


def four(name: str) -> np.ndarray:
    return EXAMPLES["four-words"].build().matrices[name].values


def test_a_pasted_printout_and_word_vectors_become_the_example(look):
    dashboard = look()
    with np.printoptions(precision=17, floatmode="unique"):
        dashboard.paste(repr(X))
    first = f"{X[0, 0]:.6f}…".replace("-", "−")
    dashboard.wait_for(
        f"first => document.querySelector('{PREVIEW} td')?.innerText === first", first
    )
    assert np.array_equal(dashboard.numbers("X"), four("X"))  # nothing changed yet
    dashboard.use()
    agrees(dashboard, X=X, **{f"W_{name}": four(f"W_{name}") for name in "QKV"})
    assert messages.NOW_ON_THE_BOARD.format(inputs="X (3 × 4)") in dashboard.notice()

    # an excerpt of GloVe, with its words
    dashboard.paste(GLOVE)
    dashboard.page.get_by_role("textbox", name="Words to use").fill("the cat sat the .")
    dashboard.page.keyboard.press("Enter")
    until(dashboard.page.locator(PREVIEW, has_text="X, 5 × 6"))
    dashboard.use()
    rows = {line.split()[0]: [float(n) for n in line.split()[1:]] for line in GLOVE.splitlines()}
    assert dashboard.numbers("X").tolist() == [
        rows[word] for word in ("the", "cat", "sat", "the", ".")
    ]
    assert dashboard.labels("Q") == ["the₁", "cat", "sat", "the₂", "."]
    assert (
        messages.ROLLED_ANEW.format(names="W_Q, W_K and W_V are", d_model=6) in dashboard.notice()
    )
    agrees(
        dashboard,
        X=dashboard.numbers("X"),
        **{f"W_{name}": dashboard.numbers(f"W_{name}") for name in "QKV"},
    )


def test_weights_of_linears_become_the_example_transposed_and_say_so(look):
    """One by the tick, two because they fit no other way."""
    names = {"W_Q": "query", "W_K": "key", "W_V": "value"}
    weights = {role: RNG.standard_normal((6, 4)).astype(np.float32) for role in names}
    part = "encoder.layer.1.attention.self.{}.weight"
    tensors = {part.format(names[role]): W for role, W in weights.items()}
    dashboard = look()
    page = dashboard.page
    dashboard.upload("model.safetensors", safetensors(**tensors))
    until(page.get_by_text("tick transposed"))
    for role, name in names.items():
        dashboard.choose(f"set_load_pick_{role}", f"{part.format(name)}   6 × 4")
        until(page.locator(PREVIEW, has_text=f"{role.replace('_', '')}, 6 × 4"))
    page.locator(".st-key-set_load_transposed_W_Q label").click()
    until(page.locator(PREVIEW, has_text="WQ, 4 × 6"))
    dashboard.use()
    agrees(dashboard, X=four("X"), **{role: W.T.astype(float) for role, W in weights.items()})
    used = page.locator(".said.understood").first
    assert used.inner_text().endswith(" More") and used.bounding_box()["height"] < 70
    used.locator("summary").click()
    assert messages.WAS_TRANSPOSED.format(name="WQ", rows=4, columns=6) in used.inner_text()


def test_what_was_typed_as_the_button_was_pressed_counts_once_it_was_seen(look):
    rows, others = RNG.standard_normal((7, 4)), RNG.standard_normal((5, 4))
    dashboard = look()
    page, use = dashboard.page, dashboard.page.locator(".st-key-load_use button:enabled").first
    dashboard.upload("seven.npz", stored(X=rows))
    until(page.locator(PREVIEW, has_text="X, 7 × 4"))
    dashboard.idle()
    page.locator(".st-key-set_load_cut_X input").fill("2:6")
    dashboard.after(use.click)
    assert np.array_equal(dashboard.numbers("X"), rows[2:6])
    dashboard.paste(str(others.tolist()))
    until(page.get_by_text("These are 5 × 4 numbers"))
    dashboard.idle()
    page.locator(".st-key-set_load_text textarea").fill(str(rows.tolist()))
    use.click()
    until(page.get_by_text(messages.PRESSED_TOO_EARLY.format(label="Use these numbers")))
    assert np.array_equal(dashboard.numbers("X"), rows[2:6])
    dashboard.use()
    assert np.array_equal(dashboard.numbers("X"), rows)


def test_a_bad_file_changes_nothing_and_what_is_given_last_is_what_is_read(look):
    dashboard = look()
    before, name = dashboard.tag(), "<img src=x onerror=alert(1)>.npz"
    dashboard.upload(name, b"PK\x03\x04")
    until(dashboard.page.locator(".said", has_text=messages.DAMAGED_ZIP.format(place=name)))
    assert dashboard.idle().tag() == before
    assert dashboard.page.locator(".st-key-load_use").count() == 0
    assert dashboard.page.locator("[data-testid=stMain] img:not(.board-code)").count() == 0
    dashboard.paste("1 2 3 4")
    until(dashboard.page.locator(".st-key-load_use button:enabled").first)
    assert dashboard.page.locator("[data-testid=stFileChipName]").count() == 0
    dashboard.upload("two.csv", b"1,2,3,4\n5,6,7,8\n")
    until(dashboard.page.locator(PREVIEW, has_text="X, 2 × 4"))
    dashboard.page.get_by_role("button", name="Preview").click()
    until(dashboard.page.locator(PREVIEW, has_text="X, 1 × 4"))


def test_arrays_of_short_floats_a_slice_and_a_mask_become_the_example(look):
    dashboard = look()
    inputs = {"X": X.astype(np.float16)} | {
        f"W_{name}": RNG.standard_normal((4, 5)).astype(np.float32) for name in "QKV"
    }
    dashboard.upload("mine.npz", stored(**inputs))
    until(dashboard.page.locator(PREVIEW, has_text="WV, 4 × 5"))
    assert np.array_equal(dashboard.numbers("X"), four("X"))  # nothing changed yet
    dashboard.use()
    agrees(dashboard, **{name: matrix.astype(np.float64) for name, matrix in inputs.items()})

    # Q, K and V by slices, and a mask of the other polarity
    stacked = RNG.standard_normal((2, 3, 3, 4))
    mask = ~np.tri(3, dtype=bool)
    dashboard.upload("qkv.npz", stored(Q=stacked[0], K=stacked[1], V=stacked[0], mask=mask))
    box = dashboard.page.locator(".st-key-set_load_cut_QKV input")
    box.fill("2")
    box.press("Enter")
    for role in "QKV":
        until(dashboard.page.locator(PREVIEW, has_text=f"{role}, 3 × 4"))
    dashboard.page.locator(".st-key-set_load_true_mask").get_by_role("radio", name="hide").click()
    means = messages.MASK_MEANS.format(true_means="hide")
    until(dashboard.page.locator(".st-key-dock_content p.notice", has_text=means))
    dashboard.use()
    assert np.array_equal(dashboard.numbers("K"), stacked[1, 2])
    assert np.array_equal(np.isnan(dashboard.numbers("weights")), mask)


# ---- out -----------------------------------------------------------------------------------------


MINE: dict[str, str] = {}  # the link of that state, once it was made


@pytest.fixture
def mine(look):
    """A pasted state with a mask, a chosen query and cell: made once, then opened by its link."""
    if MINE:
        dashboard = look(**MINE)
    else:
        dashboard = look()
        dashboard.paste(GLOVE)
        until(dashboard.page.locator(PREVIEW, has_text="X, 4 × 6"))
        dashboard.use()
        dashboard.menu("set_mask", "look-ahead (causal)")
        dashboard.click("scores", 2, 1)
        dashboard.wait_for("() => location.search.includes('cell')")
        MINE.update(parse_qsl(urlsplit(dashboard.page.url).query))
    return dashboard, dashboard.settings()


def test_every_format_is_downloaded_and_equal(mine):
    dashboard, settings = mine
    trace = run(settings)
    now = view(settings, trace)
    dashboard.tab("Export")

    def taken(label):
        return dashboard.download(
            lambda: dashboard.page.get_by_role("button", name=label, exact=True).click()
        )

    name, content = taken("CSV, one row per cell")
    assert name == "attention_own_cells.csv"
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    for stage, matrix in now.stages.items():
        assert [
            float(row["value"]) for row in rows if row["stage"] == stage
        ] == matrix.ravel().tolist()
    with np.load(io.BytesIO(taken("NPZ for NumPy")[1]), allow_pickle=False) as arrays:
        assert all(np.array_equal(arrays[stage], getattr(trace, stage)) for stage in COMPUTED)
    stages = json.loads(taken("JSON")[1])["stages"]
    assert all(
        np.array_equal(np.array(stages[n]["values"], float), matrix)
        for n, matrix in now.stages.items()
    )
    assert links.from_file(taken("Save state (.json)")[1]) == settings
    space = {}
    exec(taken("Python script")[1].decode(), space)
    assert np.allclose(space["weights"], trace.weights, rtol=1e-12)
    for cell in json.loads(taken("Jupyter notebook")[1])["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)
    latex = re.findall(
        r"\\begin\{(?:bmatrix|array)\}.*?\n(.*?)\n\\end\{(?:bmatrix|array)\}",
        taken("LaTeX")[1].decode(),
        re.DOTALL,
    )
    markdown = taken("Markdown")[1].decode().split("### ")[1:]
    for body, table, stage in zip(latex, markdown, now.stages, strict=True):
        matrix, printed = now.stages[stage], now.texts(stage, settings.digits)
        plain = [
            [text.replace("−", "-").replace("∞", r"\infty") for text in row] for row in printed
        ]
        powers = [[re.sub(r"e(-?\d+)$", r" \\cdot 10^{\1}", text) for text in row] for row in plain]
        rows = [[cell.strip() for cell in row.split("&")] for row in body.split(r"\\")]
        width = matrix.shape[1]  # beside and above the numbers stand words
        assert [row[-width:] for row in rows if r"\text" not in row[-1]] == powers
        assert [
            line.strip("| ").split(" | ")[1:]
            for line in table.splitlines()
            if line.startswith("| **")
        ] == [  # which opens again: small numbers keep their digits
            numbers(row, settings.digits, whole=are_whole(matrix), shares=now.is_share(stage))
            for row in now.printed(stage)
        ]


def test_the_report_of_that_state_opens_without_a_network_and_shows_its_numbers(
    mine, browser, tmp_path
):
    dashboard, settings = mine
    dashboard.tab("Export")
    _, content = dashboard.download(
        lambda: dashboard.page.get_by_role("button", name="HTML report", exact=True).click()
    )
    (tmp_path / "report.html").write_bytes(content)
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    shown = view(settings, run(settings))
    for stage in shown.stages:
        section = page.locator(f"section:has(#{stage})")
        texts = shown.texts(stage, settings.digits)
        cells = section.locator("td:not(thead td)").all_text_contents()
        assert cells == [text for row in texts for text in row], stage
        hidden = section.locator("td.h").count()
        assert hidden == (6 if stage in ("mask", "masked", "weights") else 0), stage
    context.close()


def test_link_csv_and_state_open_every_stage_identical_in_a_fresh_browser(mine, visit):
    dashboard, settings = mine
    assert len(dashboard.page.url) <= 2000 + len(dashboard.address)
    other = visit().open(**dict(parse_qsl(urlsplit(dashboard.page.url).query)))
    assert other.tag() == dashboard.tag()
    for stage in dashboard.stages():
        assert np.array_equal(other.numbers(stage), dashboard.numbers(stage), equal_nan=True)
    trace = run(check(settings))
    assert np.array_equal(trace.allowed, causal(4, 4))
    assert np.array_equal(other.numbers("output"), trace.output)

    other.after(lambda: other.turn_to(example="four-words"))
    dashboard.tab("Export")
    for label in ("CSV, matrices", "Save state (.json)"):
        name, content = dashboard.download(
            lambda label=label: dashboard.page.get_by_role("button", name=label, exact=True).click()
        )
        other.upload(name, content)
        until(other.page.locator(f"[title='{name}']"))
        if name.endswith("csv"):
            other.use()
        else:
            other.after(lambda: other.page.get_by_role("button", name="Open this state").click())
        for stage in ("X", "W_Q", "W_K", "W_V", "scores"):
            assert np.array_equal(other.numbers(stage), dashboard.numbers(stage)), (name, stage)
        ticks = [d.labels("X") for d in (other, dashboard)]
        assert ticks[0] == ticks[1] == ["the", "cat", "sat", "."]


def test_on_a_phone_the_preview_stands_above_its_settings(mine):
    dashboard, _ = mine
    dashboard.tab("Export")
    preview = dashboard.page.locator(".st-key-paper_preview img")
    preview.wait_for()
    settings = dashboard.idle().page.get_by_text("paper column", exact=True)
    assert preview.bounding_box()["y"] > settings.bounding_box()["y"] - 100  # beside them
    dashboard.page.set_viewport_size({"width": 390, "height": 844})
    try:
        dashboard.wait_for("() => document.querySelector('.stMain').clientWidth <= 390")
        assert preview.bounding_box()["y"] < settings.bounding_box()["y"]
    finally:
        dashboard.page.set_viewport_size({"width": 1440, "height": 900})


def test_a_figure_is_saved_at_its_size_with_title_and_caption_in_a_hurry_too(mine):
    dashboard, settings = mine
    dashboard.tab("Export")
    page = dashboard.page
    page.locator(".st-key-paper_preview img").wait_for()
    page.get_by_role("button", name="scores", exact=True).click()
    page.get_by_text("paper page", exact=True).click()
    page.get_by_text("17.10 ×").wait_for()
    for label, text in (("Title", "My <b>words</b> %{x}"), ("Caption", "After $GloVe$.")):
        dashboard.write_on_figure(label, text)
    dashboard.idle()

    def saved(form: str) -> bytes:
        button = page.get_by_role("button", name=f"Save as {form.upper()}")
        name, content = dashboard.download(button.click)
        assert name == f"attention_own.{form}"
        return content

    root = ElementTree.fromstring(saved("svg"))
    assert float(root.get("width").removesuffix("pt")) / 72 * 2.54 == pytest.approx(17.1, abs=0.01)
    texts = ["".join(node.itertext()) for node in root.iter(SVG + "text")]
    assert {"My <b>words</b> %{x}", "After $GloVe$.", "the", "cat", "sat", "."} <= set(texts)
    now = view(settings, run(settings))
    assert set(numbers(now.stages["scores"], 2)) <= set(texts)

    picture = Image.open(io.BytesIO(saved("png")))
    assert picture.width == int(17.1 / 2.54 * 300)
    assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)

    (page_of_pdf,) = pypdf.PdfReader(io.BytesIO(saved("pdf"))).pages
    assert float(page_of_pdf.mediabox.width) / 72 * 2.54 == pytest.approx(17.1, abs=0.01)
    assert "My <b>words</b> %{x}" in page_of_pdf.extract_text()

    page.get_by_label("Title", exact=True).fill("In a hurry")  # and nothing pressed
    texts = ["".join(n.itertext()) for n in ElementTree.fromstring(saved("svg")).iter(SVG + "text")]
    assert "In a hurry" in texts


def test_the_numbers_of_a_stage_go_to_the_clipboard_and_come_back(look):
    dashboard = look(example="minus-1e9")
    settings = EXAMPLES["minus-1e9"].build()
    dashboard.menu("set_fill", "−∞ (true mask)")
    now = view(replace(settings, fill="-inf"), run(replace(settings, fill="-inf")))
    for stage in ("masked", "weights"):
        dashboard.tool(stage, "Copy numbers")
        copied = messages.NUMBERS_WERE_COPIED.format(stage=stage)
        until(dashboard.page.locator(".board [role=status]", has_text=copied))
        rows = list(
            csv.reader(
                io.StringIO(dashboard.page.evaluate("navigator.clipboard.readText()")),
                delimiter="\t",
            )
        )
        assert rows[0] == ["", *now.columns(stage)]
        assert [row[0] for row in rows[1:]] == list(now.rows(stage))
        assert np.array_equal(
            np.array([[float(cell) for cell in row[1:]] for row in rows[1:]]), now.stages[stage]
        )


# ---- a whole notebook at once -------------------------------------------------------------------


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def tensor(values) -> str:
    """As a notebook answers with a tensor of TensorFlow."""
    values = np.asarray(values)
    text = f"<tf.Tensor: shape={values.shape}, dtype={values.dtype}, numpy=\n"
    return f"{text}array({np.array2string(values, separator=', ', prefix='array(')})>"


def of_words() -> tuple[str, dict[str, np.ndarray]]:
    """Four words as vectors, three weights drawn as whole numbers, and every stage."""
    X = np.array([[1, 0, 2, 0], [0, 3, 0, 1], [2, 1, 1, 0], [0, 0, 1, 2]])
    W = {"W_Q": [[1, 0, 2], [0, 1, 0], [1, 1, 0], [0, 2, 1]], "W_K": [[0, 1, 1], [1, 0, 0]] * 2}
    W = {name: np.array(rows) for name, rows in (W | {"W_V": [[2, 0, 1], [1, 1, 0]] * 2}).items()}
    Q, K, V = (X @ W[name] for name in W)
    weights = softmax((Q @ K.T / np.sqrt(3)).astype(np.float32))
    words = "\n".join(f"w_{k} = tf.constant([{row.tolist()}])" for k, row in enumerate(X, 1))
    text = f"""# Attention by hand

In [1]:
import tensorflow as tf

In [2]:
{words}

Each word is a vector; see [1] and https://example.org/[a].

In [3]:
emb = tf.stack([w_1, w_2, w_3, w_4], axis=1)

emb

{tensor(X[None])}

In [4]:
W_Q, W_K, W_V

({tensor(W["W_Q"])},
 {tensor(W["W_K"])},
 {tensor(W["W_V"])})

In [5]:
scores = Query @ Key
scores

{tensor(Q @ K.T)}

In [6]:
weights

{tensor(weights)}

In [7]:
print(weights[0])

{weights[0]}

In [8]:
attention

{tensor(weights @ V.astype(np.float32))}
"""
    return text, {"X": X, **W}


def of_projections() -> tuple[str, dict[str, np.ndarray]]:
    """Q, K and V as they were drawn, a look-ahead mask, and every stage."""
    Q, K, V = np.random.default_rng(11).normal(size=(3, 4, 5)).round(8)
    scaled = Q @ K.T / np.sqrt(5)
    mask = np.where(np.tri(4, dtype=bool), 0, -np.inf)
    weights = softmax(scaled + mask)
    text = f"""In [1]:
print("Q\\n", q)
print("K\\n", k)
print("V\\n", v)

Q
 {Q}
K
 {K}
V
 {V}

In [2]:
scaled

{scaled!r}

In [3]:
mask

{mask!r}

In [4]:
softmax(scaled + mask)

{weights!r}

In [5]:
print(softmax(scaled + mask) @ v)

{weights @ V}
"""
    return text, {"Q": Q, "K": K, "V": V}


def of_one_number() -> tuple[str, dict[str, np.ndarray]]:
    """Three tokens of one number each, in a batch of one."""
    Q, K, V = np.random.default_rng(5).random((3, 1, 3, 1)).round(8)
    weights = softmax(Q @ K.swapaxes(-1, -2))
    text = f"""print(queries)
print(keys)
print(values)

{Q}
{K}
{V}

attention(queries, keys, values, 1)

{tensor((weights @ V).astype(np.float32))}
"""
    return text, {"Q": Q[0], "K": K[0], "V": V[0]}


@pytest.mark.parametrize("notebook", [of_words, of_projections, of_one_number])
def test_a_notebook_pasted_whole_becomes_the_board_and_its_stages_agree(look, notebook):
    text, given = notebook()
    dashboard = look()
    dashboard.paste(text)  # 1: the text, 2: Preview
    listed = dashboard.page.locator(".st-key-dock_content table.found")
    until(listed)
    agree = listed.locator("td", has_text="agree").all_inner_texts()
    assert not listed.locator("td", has_text="differs").count()
    assert agree
    until(dashboard.page.get_by_text(re.compile("of a stage agrees? with the board")))
    dashboard.idle().use()  # 3
    for name, values in given.items():
        assert np.array_equal(dashboard.numbers(name), values), name


def test_a_stage_that_differs_goes_to_check_yours_with_everything_filled_in(look):
    Q, K, V = np.random.default_rng(11).normal(size=(3, 4, 5)).round(8)
    weights = softmax(Q @ K.T / np.sqrt(5) + np.where(np.tri(4, dtype=bool), 0, -np.inf))
    arrays = {"Q": Q, "K": K, "V": V, "weights": weights, "output": weights.T @ V}
    dashboard = look()
    before = dashboard.numbers("Q")
    dashboard.paste("\n".join(f"{name}\n{values}" for name, values in arrays.items()))
    until(dashboard.page.get_by_text("1 of 2 arrays of a stage differs from the board, output"))
    dashboard.page.get_by_role("button", name="Why do they differ?").click()
    found = messages.ALL_AGREE_WITH.format(title=messages.TRANSPOSED_WEIGHTS, digits="8 digits")
    until(dashboard.page.get_by_text(found))
    dashboard.page.get_by_test_id("stTopNavLink").get_by_text("Explore").click()
    dashboard.idle()
    assert np.array_equal(dashboard.numbers("Q"), before)
