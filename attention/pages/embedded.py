"""The board alone, or one stage of it, for a frame in another page: to look at, not to edit.

Its address stays what that page wrote.
"""

from dataclasses import replace

import streamlit as st

from attention.explain.captions import formula
from attention.explain.card import card_of
from attention.pages.components import board
from attention.pages.frame import pieces, share, state
from attention.pages.panels import all_stages, cells
from attention.readers.cells.entry import short
from attention.session.state.about import what_it_is
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.vocabulary.sentences import which_of

ALONE = """<style>
  .stApp [data-testid=stHeader] { display: none; }
  .stApp [data-testid=stMainBlockContainer] { padding: 8px 12px 0; }
  .st-key-title { position: absolute; clip-path: inset(50%); }
</style>"""


def page(s: Settings) -> None:
    pieces.opening("Attention, stage by stage")
    st.html(ALONE)
    trace = run(s)
    shown = view(s, trace)
    there = cells.shapes(shown)
    asked = st.query_params.get(share.STAGE, "")
    only = asked if asked in there else ""
    other = only and s.cell and s.cell[0] != only
    cell = cells.chosen(replace(s, cell=None) if other else s, shown, only or "scores")
    panes = all_stages.panes(s, shown, cell)
    if only:
        (alone,) = (pane for pane in panes if pane.name == only)
        made_of = dict(alone.sources)
        factors = [replace(pane, picks=False) for pane in panes if pane.name in made_of]
        panes = [*factors, alone]
        there = {only: there[only]}
    pieces.sentences(*state.sentences())
    if asked != only:
        pieces.message_box(
            "refused", f"There is no stage “{short(asked, 40)}” here; all stages are shown."
        )
    board.show(
        "board",
        board.Contents(
            panes,
            formula=None if only else formula(shown),
            remark=" · ".join(
                filter(None, [all_stages.title(s), which_of("item", [s.item], s.batch)])
            ),
            only=only,
            about=what_it_is(s),
            query=s.query,
            cell=cell,
            planned=True,
            card=card_of(shown, cell, s.digits, chained=not only),
            strip=cells.strip(s, shown),
            play=() if only else cells.play(s, shown),
        ),
        on_picked=all_stages.chooses(there),
        on_asked=cells.ask,
    )
    for sentence in all_stages.flags(s, trace, shown):
        pieces.message_box("flag", sentence)
    with st.container(key="open_all"):
        st.link_button("Open with all controls →", share.to_here(state.link()[0]), type="tertiary")
    state.end()


page(state.begin())
