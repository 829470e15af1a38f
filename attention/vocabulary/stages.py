"""The only list of stages, in reading order: names, symbols, formulas, and where a cell comes from.

Code, page, figures, exports and tests read it. A new stage is one row here, and the field of that
name in :class:`attention.AttentionTrace`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Place:
    """Where a stage is on a board that draws products as on paper.

    Results are in the lower line, one row for each query, with the left factor at the left; right
    factors are in the upper line, each above its product.
    """

    line: str  # "inputs", "upper", "lower", or "below" a result
    of: str  # the stage that gives the place its name; others of the same place are its tabs
    left: str = ""  # in the lower line, the place of the left factor
    over: str = ""  # in the upper line, the place of the product below
    under: str = ""  # the stage that it is under, as a bias is under its weights
    shares: int | None = None  # how early it shares its place with the next one, 3 last; 0 ends it
    turned: bool = False  # whether it is drawn transposed
    sign: str = ""  # what is written before it, among inputs


@dataclass(frozen=True)
class Stage:
    """One matrix on the way from embeddings to output, by the names it has everywhere."""

    name: str  # in code, exports and links
    formula: str
    sentence: str  # what it means
    rows: str  # what a row is: "queries", "keys", or the name of a dimension
    columns: str
    group: str  # heatmaps of one group are in one line
    limits: str  # stages with the same word share their colour range
    sources: tuple[tuple[str, str], ...] = ()  # where cell (i, j) comes from: (stage, "row i" …)
    symbol: str = ""  # in formulas, where it has one
    latex: str = ""  # the symbol; its name in upright letters where nothing is given
    heading: str = ""  # over its heatmap; its name where nothing is given
    stands_for: str = ""  # the stage that later ones would read if this one were not there
    place: Place = Place("inputs", "")  # on the board; inputs have a separate place

    def __post_init__(self) -> None:
        latex = self.latex or self.symbol or rf"\mathrm{{{self.name}}}"
        object.__setattr__(self, "latex", latex)
        object.__setattr__(self, "heading", self.heading or self.name)
        place = replace(self.place, of=self.place.of or self.name)
        object.__setattr__(self, "place", place)

    @property
    def is_shared(self) -> bool:
        """Return whether all items of a batch share it: weights, a bias, or a table by position."""
        return self.name in ("P", "R") or self.name.startswith(("W_", "b_"))

    @property
    def sides(self) -> tuple[str, str]:
        """Return what a row and a column are: "query", "key", "token", "d_k" …; "" for a sum."""
        words = {"buckets": "key − query", "sum": ""}
        if self.group == "inputs":
            words |= {"queries": "token", "keys": "token"}
        else:
            words |= {"queries": "query", "keys": "key"}
        return words.get(self.rows, self.rows), words.get(self.columns, self.columns)


_ABOVE_SCORES = Place("upper", "K", over="scores", turned=True)
_SCALED = Place("lower", "scaled", shares=2)

_ROWS = (
    Stage(
        "X",
        symbol="X",
        formula="word embeddings",
        sentence="One row of numbers for each token.",
        rows="queries",
        columns="d_model",
        group="inputs",
        limits="X",
    ),
    Stage(
        "memory",
        symbol="Y",
        heading="Y",
        formula="second sentence",
        sentence="Keys and values come from these tokens.",
        rows="keys",
        columns="d_model",
        group="inputs",
        limits="X",
    ),
    Stage(
        "P",
        symbol="P",
        formula="positions",
        sentence="Added to the embeddings: a row for each position.",
        rows="queries",
        columns="d_model",
        group="inputs",
        limits="X",
        place=Place("inputs", "P", sign="+"),
    ),
    Stage(
        "X_P",
        symbol="X + P",
        heading="X + P",
        formula="embeddings and positions",
        sentence="Each token with its position.",
        rows="queries",
        columns="d_model",
        group="inputs",
        limits="X",
        sources=(("X", "cell"), ("P", "cell")),
        stands_for="X",
        place=Place("inputs", "X_P", sign="="),
    ),
    Stage(
        "W_Q",
        symbol="W_Q",
        formula="query weights",
        sentence="Turns an embedding into a query.",
        rows="d_model",
        columns="d_k",
        group="inputs",
        limits="W",
    ),
    Stage(
        "W_K",
        symbol="W_K",
        formula="key weights",
        sentence="Turns an embedding into a key.",
        rows="d_model",
        columns="d_k",
        group="inputs",
        limits="W",
    ),
    Stage(
        "W_V",
        symbol="W_V",
        formula="value weights",
        sentence="Turns an embedding into a value.",
        rows="d_model",
        columns="d_v",
        group="inputs",
        limits="W",
    ),
    *(
        Stage(
            f"b_{letter}",
            symbol=f"b_{letter}",
            formula=f"{whose} bias",
            sentence=f"Added to every {whose}.",
            rows="bias",
            columns=columns,
            group="inputs",
            limits="W",
            place=Place("inputs", f"b_{letter}", under=f"W_{letter}"),
        )
        for letter, whose, columns in (("Q", "query", "d_k"), ("K", "key", "d_k"))
    ),
    Stage(
        "b_V",
        symbol="b_V",
        formula="value bias",
        sentence="Added to every value.",
        rows="bias",
        columns="d_v",
        group="inputs",
        limits="W",
        place=Place("inputs", "b_V", under="W_V"),
    ),
    Stage(
        "Q",
        symbol="Q",
        formula="X W_Q",
        sentence="What each token is looking for.",
        rows="queries",
        columns="d_k",
        group="projections",
        limits="QK",
        sources=(("X", "row i"), ("W_Q", "column j"), ("b_Q", "column j")),
        place=Place("lower", "Q"),
    ),
    Stage(
        "K",
        symbol="K",
        formula="X W_K",
        sentence="What each token is matched on.",
        rows="keys",
        columns="d_k",
        group="projections",
        limits="QK",
        sources=(("memory", "row i"), ("W_K", "column j"), ("b_K", "column j")),
        place=_ABOVE_SCORES,
    ),
    Stage(
        "V",
        symbol="V",
        formula="X W_V",
        sentence="What each token passes on.",
        rows="keys",
        columns="d_v",
        group="projections",
        limits="V",
        sources=(("memory", "row i"), ("W_V", "column j"), ("b_V", "column j")),
        place=Place("upper", "V", over="output"),
    ),
    Stage(
        "Q_normed",
        latex=r"Q_{\mathrm{normed}}",
        heading="Q normed",
        formula="RMSNorm(Q)",
        sentence="Each query, divided by its root mean square and multiplied by the gain.",
        rows="queries",
        columns="d_k",
        group="prepared",
        limits="normed",
        sources=(("Q", "row i"),),
        stands_for="Q",
        place=Place("lower", "Q"),
    ),
    Stage(
        "K_normed",
        latex=r"K_{\mathrm{normed}}",
        heading="K normed",
        formula="RMSNorm(K)",
        sentence="Each key, divided by its root mean square and multiplied by the gain.",
        rows="keys",
        columns="d_k",
        group="prepared",
        limits="normed",
        sources=(("K", "row i"),),
        stands_for="K",
        place=_ABOVE_SCORES,
    ),
    Stage(
        "Q_rotated",
        latex=r"Q_{\mathrm{rotated}}",
        heading="Q rotated",
        formula="RoPE(Q)",
        sentence="Each pair of numbers, rotated by position × frequency.",
        rows="queries",
        columns="d_k",
        group="prepared",
        limits="QK",
        sources=(("Q", "row i"),),
        stands_for="Q",
        place=Place("lower", "Q"),
    ),
    Stage(
        "K_rotated",
        latex=r"K_{\mathrm{rotated}}",
        heading="K rotated",
        formula="RoPE(K)",
        sentence="Each pair of numbers, rotated by position × frequency.",
        rows="keys",
        columns="d_k",
        group="prepared",
        limits="QK",
        sources=(("K", "row i"),),
        stands_for="K",
        place=_ABOVE_SCORES,
    ),
    Stage(
        "scores",
        symbol="QKᵀ",
        latex=r"Q K^{\top}",
        formula="Q Kᵀ",
        sentence="How well each query matches each key.",
        rows="queries",
        columns="keys",
        group="attention",
        limits="scores",
        sources=(("Q", "row i"), ("K", "row j")),
        place=Place("lower", "scores", left="Q", shares=3),
    ),
    Stage(
        "scaled",
        symbol="QKᵀ/√d_k",
        latex=r"\mathrm{scaled}",
        formula="scores / √d_k",
        sentence="Divided by √d_k to keep the size in check.",
        rows="queries",
        columns="keys",
        group="attention",
        limits="scaled",
        sources=(("scores", "cell"),),
        place=_SCALED,
    ),
    Stage(
        "capped",
        formula="softcap · tanh(scaled / softcap)",
        sentence="The soft cap keeps every score within ±softcap.",
        rows="queries",
        columns="keys",
        group="attention",
        limits="scaled",
        sources=(("scaled", "cell"),),
        stands_for="scaled",
        place=_SCALED,
    ),
    Stage(
        "modified",
        formula="score_mod(scaled)",
        sentence="The given function, applied to each score.",
        rows="queries",
        columns="keys",
        group="attention",
        limits="scaled",
        sources=(("scaled", "cell"),),
        stands_for="scaled",
        place=_SCALED,
    ),
    Stage(
        "R",
        symbol="R",
        formula="relative bias",
        sentence="Added to each score by distance: key − query.",
        rows="buckets",
        columns="bias",
        group="attention",
        limits="scaled",
    ),
    Stage(
        "mask",
        symbol="M",
        heading="M",
        formula="0 or −∞",
        sentence="0 = visible, −∞ = hidden.",
        rows="queries",
        columns="keys",
        group="attention",
        limits="scaled",
        place=Place("lower", "mask", shares=1),
    ),
    Stage(
        "masked",
        symbol="…+ M",
        latex=r"\mathrm{masked}",
        formula="scaled + M",
        sentence="Hidden keys get −∞.",
        rows="queries",
        columns="keys",
        group="attention",
        limits="scaled",
        sources=(("scaled", "cell"), ("mask", "cell")),
        place=Place("lower", "masked", shares=0),
    ),
    Stage(
        "weights",
        symbol="A",
        formula="softmax(masked)",
        sentence="Each row sums to 1.",
        rows="queries",
        columns="keys",
        group="attention",
        limits="weights",
        sources=(("masked", "row i"), ("masked", "cell")),
        place=Place("lower", "weights"),
    ),
    Stage(
        "output",
        symbol="Z",
        formula="weights V",
        sentence="Each row is a weighted mix of the values.",
        rows="queries",
        columns="d_v",
        group="attention",
        limits="V",
        sources=(("weights", "row i"), ("V", "column j")),
        place=Place("lower", "output", left="weights"),
    ),
    Stage(
        "joined",
        formula="heads side by side",
        sentence="The outputs of all heads, side by side.",
        rows="queries",
        columns="h·d_v",
        group="after",
        limits="V",
        place=Place("lower", "joined"),
    ),
    Stage(
        "W_O",
        symbol="W_O",
        formula="output weights",
        sentence="Mixes the heads.",
        rows="h·d_v",
        columns="d_out",
        group="after",
        limits="W",
        place=Place("upper", "W_O", over="projected"),
    ),
    Stage(
        "b_O",
        symbol="b_O",
        formula="output bias",
        sentence="Added to the layer's answer.",
        rows="bias",
        columns="d_out",
        group="after",
        limits="W",
        place=Place("upper", "b_O", over="projected", under="W_O"),
    ),
    Stage(
        "projected",
        formula="joined W_O",
        sentence="The layer's answer, one row for each token.",
        rows="queries",
        columns="d_out",
        group="after",
        limits="V",
        sources=(("joined", "row i"), ("W_O", "column j"), ("b_O", "column j")),
        place=Place("lower", "projected", left="joined"),
    ),
    Stage(
        "context",
        formula="Σ output",
        sentence="The sum of all outputs: one vector for the sequence.",
        rows="sum",
        columns="d_v",
        group="after",
        limits="context",
        sources=(("output", "column j"),),
        place=Place("below", "context", under="output"),
    ),
)

STAGES: dict[str, Stage] = {stage.name: stage for stage in _ROWS}
LOWER = tuple(dict.fromkeys(s.place.of for s in _ROWS if s.place.line == "lower"))  # places
WEIGHTS = tuple(name for name in STAGES if name.startswith("W_"))
BIASES = tuple(name for name in STAGES if name.startswith("b_"))
PROJECTIONS = tuple(name for name in WEIGHTS if STAGES[name].group == "inputs")  # of X and memory
COMPUTED = tuple(name for name, stage in STAGES.items() if stage.sources or name == "joined")
PREPARED = tuple(name for name, stage in STAGES.items() if stage.group == "prepared")
OF_A_HEAD = tuple(  # from its queries, keys and values to its output
    name for name in COMPUTED if STAGES[name].group in ("projections", "prepared", "attention")
)
ALWAYS = tuple(name for name in OF_A_HEAD if not STAGES[name].stands_for)  # in any attention
