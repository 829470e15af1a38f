"""The board alone, or one stage of it, for a frame in another page."""

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from attention.captions import formula
from attention.figures import panes as figures
from attention.pages import board, cells, parts, share, state
from attention.session.changes import name_of
from attention.session.run import run, view
from attention.stages import STAGES

ALONE = """<style>
  .stApp [data-testid=stHeader] { display: none; }
  .stApp [data-testid=stMainBlockContainer] { padding: 8px 12px 0; }
</style><h2 class='unseen'>The board</h2>"""

s = state.begin()
shown = view(s, run(s))
there = cells.shapes(shown)
only = st.query_params.get(share.STAGE, "")
if only not in there:
    only = ""
cell = cells.chosen(s, shown, only or "scores")
if only and cell[0] != only:
    cell = cells.chosen(replace(s, cell=None), shown, only)


def show_cell(clicked: object) -> None:
    """A click on the board."""
    if (found := cells.existing(clicked, there)) is not None:
        query = found[1] if STAGES[found[0]].rows == "queries" else s.query
        state.change(lambda settings: replace(settings, cell=found, query=query))


called, in_files = name_of(s)
panes = figures.panes(shown, cell=cell, digits=s.digits, query=s.query, title=called)
if only:
    made_of = {name for pane in panes if pane.name == only for name, _ in pane.sources}
    panes = [pane for pane in panes if pane.name in made_of | {only}]
st.html(parts.dress() + ALONE, unsafe_allow_javascript=True)
parts.sentences(*state.sentences())
board.show(
    "board",
    [
        replace(
            pane if only else cells.let_edit(pane, s),
            picks=pane.name == only or not only and pane.name in there,
            filename=f"attention_{in_files}_{pane.name}",
        )
        for pane in panes
    ],
    formula=None if only else formula(shown),
    only=only,
    query=s.query,
    cell=cell,
    planned=True,
    card=cells.card(s, shown, cell),
    strip=cells.strip(s, shown),
    play=() if only else cells.play(s, shown),
    on_picked=show_cell,
    on_asked=cells.ask,
    on_edited=None if only else cells.edit,
)
parameters, whole = state.link()
if whole:
    home, _ = share.addresses(st.context.url or "")
    st.markdown(f"[Open with all controls]({home}?{urlencode(parameters)})")
state.end()
for name in ("shown", "panes"):  # the session keeps what the board may call, and all that it sees
    del globals()[name]
