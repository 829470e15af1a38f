"""Explore: the inputs, every stage on one board, one cell's arithmetic, one query's walk, and what to take away."""

import html
import inspect
from dataclasses import replace
from pathlib import Path

import streamlit as st

import attention.pages
from attention import scaled_dot_product_attention
from attention.arithmetic import cell as cell_arithmetic
from attention.arithmetic import walk
from attention.exports import html as tables
from attention.exports.tables import to_csv, to_npz
from attention.figures import board as figures
from attention.inputs.examples import EXAMPLES
from attention.inputs.links import to_file
from attention.inputs.system import run, view
from attention.pages import board, controls, editors, state
from attention.stages import STAGES

s = state.begin("explore")
controls.rail(s)
trace = run(s)
now = view(s, trace)


def picked(value) -> None:
    """A click on the board; the browser is not trusted with more than two indices that exist."""
    stage, i, j = (value.get(k) for k in ("stage", "i", "j")) if isinstance(value, dict) else (None, None, None)
    inside = (
        stage in now.stages
        and all(isinstance(k, int) and not isinstance(k, bool) for k in (i, j))
        and 0 <= i < now.stages[stage].shape[0]
        and 0 <= j < now.stages[stage].shape[1]
    )
    if inside:
        query = i if STAGES[stage].rows == "queries" else s.query
        state.change(lambda s: replace(s, cell=(stage, i, j), query=query))


def edit(name) -> None:
    if name in editors.editable(s):
        state.keep("editing", name)


def flags() -> list[str]:
    """What a person should know about these numbers."""
    found = [f"Query “{now.labels['queries'][i]}” sees no key: its weights and its output are 0."
             for i in range(len(s.tokens)) if not now.allowed[i].any()]  # fmt: skip
    if len(s.key_tokens) == 1 and s.softmax:
        found.append("There is one key, so every weight is 1; add a token to see attention choose.")
    return found


st.html(f"<style>{(Path(attention.pages.__path__[0]) / 'style.css').read_text()}</style>")
sizes = [f"{len(s.tokens)} token{'s' * (len(s.tokens) != 1)}"]
sizes += [f"d_model {s.d_model}"] * (s.d_model is not None)
sizes += [f"d_k {s.d_k}", f"d_v {s.d_v}", f"{s.heads} head{'s' * (s.heads > 1)}"]
sizes += [f"item {s.item + 1} of {s.batch}"] * (s.batch > 1)
st.html(
    "<p class='intro'><b>Attention, stage by stage.</b> Type word embeddings and weights; see every number of scaled"
    " dot-product attention on its way to the output.</p>"
    f"<p class='notice'><b>Notice:</b> {html.escape(EXAMPLES[s.example].notice)}</p>"
)
editors.panel(s, " · ".join(sizes))
for sentence in state.notices():
    st.warning(editors.escape(sentence))

title = EXAMPLES[s.example].title
panes = figures.panes(now, digits=s.digits, query=s.query, cell=s.cell, title=title)
if s.fill == "-1e9":
    exact = replace(s, fill="-inf")
    panes += figures.beside(view(exact, run(exact)), digits=s.digits, query=s.query, title=title)
for pane in panes:
    pane["edit"] = pane["name"] in s.matrices
    pane["filename"] = f"attention_{s.example}_{pane['name']}"
board.show("board", panes, formula=figures.formula(now), on_picked=picked, on_edit=edit)
for sentence in flags():
    st.info(editors.escape(sentence), icon=":material/flag:")

st.subheader("The chosen cell", anchor=False)
stage, i, j = s.cell or ("scores", s.query, 0)
where = f"{STAGES[stage].symbol}, row {now.rows(stage)[i]}, column {now.columns(stage)[j]}"
lines = cell_arithmetic(now, stage, i, j, s.digits)
st.html(f"<p class='notice'><b>{html.escape(where)}</b> — click another cell, or pick one with the arrow keys and Enter.</p>"
        f"<pre class='cell' data-cell='{stage},{i},{j}'>{html.escape(chr(10).join(lines))}</pre>")  # fmt: skip

st.subheader(f"One query, step by step: {editors.escape(now.labels['queries'][s.query])}", anchor=False)
steps = st.segmented_control("Steps shown", range(1, 7), key="set_steps", default=6, label_visibility="collapsed",
                             format_func=lambda k: f"{k} {tables.STEPS[k - 1]}", persist_state="session") or 6  # fmt: skip
path = walk(now, s.query)
sentences = tables.walk_sentences(now, path, s.tokens[s.query], s.digits)
items = "".join(f"<li class='{'' if k < steps else 'next'}'>{html.escape(text) if k < steps else '…'}</li>"
                for k, text in enumerate(sentences))  # fmt: skip
st.html(f"<ol class='walk'>{items}</ol>{tables.walk_table(now, path, s.digits, steps)}")

left, right = st.columns(2, gap="large")
with left:
    st.subheader("How far the numbers spread", anchor=False)
    st.html(tables.statistics_table(now, s.digits))
    st.caption("Population variance (ddof 0) over the visible, finite cells.")
with right:
    st.subheader("How sharp the weights are", anchor=False)
    st.html(tables.rows_table(now, s.digits))

st.subheader("Take it away", anchor=False)
fits = state.write_address()
name = f"attention_{s.example}"
with st.container(horizontal=True):
    st.download_button("All stages, CSV", lambda: to_csv(now), f"{name}.csv", "text/csv", on_click="ignore", key="csv",
                       help="Every cell of the stages shown, one on each line")  # fmt: skip
    st.download_button("All stages, NPZ", lambda: to_npz(s, trace), f"{name}.npz", on_click="ignore", key="npz",
                       help="Every stage with its batch and head axes, for NumPy")  # fmt: skip
    st.download_button("The state as a file", lambda: to_file(s), f"{name}.json", on_click="ignore", key="state_file",
                       help="Open it below to see this page again")  # fmt: skip
if fits:
    st.caption("The address of this page holds everything on it: send it, and the other sees the same. Each heatmap has"
               " PNG and SVG in its own toolbar.")  # fmt: skip
else:
    st.warning("These matrices do not fit into a link of 2,000 characters, so the address holds only the example's name."
               " “The state as a file” holds everything; the other opens it here.")  # fmt: skip
with st.expander("Open a saved state"):
    file = st.file_uploader("A file from “The state as a file”", type="json", key="state_upload", max_upload_size=4)
    if st.button("Open it", key="open_file", disabled=file is None):
        state.open_file(file.getvalue())
        st.rerun()
with st.expander("Show the code"):
    st.code(inspect.getsource(scaled_dot_product_attention), language="python")
