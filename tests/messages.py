"""Sentences of the product, by name: the one place in which tests spell them out.

A test names the message that it expects and fills in the place, what was found and what is allowed:
``messages.NOT_A_NUMBER.format(place="a.csv, line 2, column 3", found="x")``. Where a message is
reworded, this file changes and no test does.
"""

# ---- attention -----------------------------------------------------------------------------------

ODD_WIDTH = (
    "rotary turns pairs of columns; a head of Q and K has {d_k}, an odd number. Give a "
    "smaller, even width."
)
ROTARY_TOO_WIDE = "rotary turns {columns} columns; a head of Q and K has {d_k}."
UNKNOWN_DISTRIBUTION = "there is no distribution {name}; choose one of {known}."
NUMBER_EXPECTED = "{name} is {given}; a number is wanted."
HEADS_DO_NOT_SHARE = (
    "{heads} heads of queries cannot share {given} heads of keys and values evenly."
)
PACKAGE_MISSING = (
    "attention.{name} wants the package {name_2}, which is not installed; the extra brings "
    "it: pip install 'attention-stage-by-stage[app]'."
)
TOKENS_AND_FEATURES = "{name} has shape {shape}; (tokens, features) is wanted."
D_K_DIFFERS = "Q has {q} columns and K has {k}; both need the same d_k."
NO_COLUMNS = "Q and K have no columns; d_k needs to be at least 1."
ONE_VALUE_FOR_EACH_KEY = "K has {keys} rows and V has {values}; there is one value for each key."
LEADING_AXES_DIFFER = "the leading axes {q} of Q, {k} of K and {v} of V do not broadcast."
BOOLEANS_EXPECTED = (
    "allowed {seen}; booleans are wanted, True where a query may look at a key (write `mask"
    " == 1` or `mask == 0`)."
)
BIAS_LIKE_A_MASK = (
    "{name} holds only 0 and 1, like a mask; give allowed=(mask == 1) or (mask == 0). Where"
    " they are to be added, bias - 1 gives the same weights."
)
SHAPE_DOES_NOT_FIT = "{name} has shape {shape}, which does not fit the scores {scores}."
POSITIVE_EXPECTED = "{name} is {given}; a positive number is wanted."
INTEGER_EXPECTED = "{name} is {given}; a whole number from {least} is wanted."
TRUE_OR_FALSE_EXPECTED = "{name} is {given}; True or False is wanted."
ONE_ROW_EXPECTED = "{name} has shape {numbers}; numbers in one row are wanted."
TABLE_SHAPE = "table must have shape (buckets, heads) with {rule}, got shape {shape}."
ROWS_OF_DIFFERENT_LENGTHS = "{name} has rows of different lengths; every row needs the same."
UNREADABLE_BY_NUMPY = "{name} is a {name_2} that NumPy cannot read ({said})."
MASKED_ARRAY = (
    "{name} is a masked array with {hidden} hidden cell{plural}; give {again}.filled(…), "
    "and say by allowed= which keys a query may look at."
)
ARRAY_EXPECTED = "{name} {found}; an array, or a list of rows, is wanted."
BEYOND_FLOAT64 = "{name} holds a number beyond ±1.8e308; numbers that fit into float64 are wanted."
WARNINGS_LEFT_OUT = "{left} more such warnings are left out."
NOT_EQUAL_HEADS = "{what} cannot be split into {heads} heads of equal width."
B_O_WITHOUT_W_O = "b_O is given without W_O; it is added to joined W_O."
HEADS_NOT_A_MULTIPLE = (
    "heads is {heads} and kv_heads is {kv_heads}; heads needs to be a multiple of kv_heads,"
    " so that each head of keys and values serves equally many of queries."
)
HEAD_WIDTHS_DIFFER = (
    "Q has {q} columns in {h} heads, {q_2} in each, and K has {k} in {g}, {k_2} in each; "
    "both need the same d_k."
)
MEMORY_DOES_NOT_BROADCAST = "the leading axes {x} of X and {memory} of memory do not broadcast."
POSITIONS_SHAPE = "positions has shape {p}; {wanted} is wanted, as X has it."
TWO_AXES_EXPECTED = "{name} has shape {shape}; two axes are wanted, (rows, columns)."
ROWS_DO_NOT_MEET = "{name} has {rows} rows; {columns} are wanted, one for each column {meets}."
BIAS_LENGTH = "{bias} holds {length} numbers; {columns} are wanted, one for each column of {name}."
NO_ARGUMENT = "there is no argument {name}; {name_2}."
CACHE_DOES_NOT_FIT = "the cached {past} and the new {new} differ in more than their tokens."
QUERIES_EXPECTED = "queries is {queries}; numbers of queries are wanted."
MEAN_OR_LARGEST = 'of is {of}; "mean" or "largest" is wanted.'
OUTPUT_WITHOUT_V = "the output is asked for without V; give V, or leave it out of results."
LONG_MASK_EXPECTED = (
    "allowed {seen}; booleans or a mask of attention.places are wanted, such as places.causal()."
)
EXECUTOR_EXPECTED = (
    "executor is {executor}; one with submit(function, argument) is wanted, such as "
    "concurrent.futures.ThreadPoolExecutor()."
)
BOUND_EXPECTED = "{name} is {bound}; a whole number from 0 is wanted, or None for no bound."
MORE_COLUMNS_THAN_KEYS = "the mask has {mask} columns; there are only {n_k} keys."
MASK_MOD_BOOLEANS = (
    "what mask_mod returned {made}; booleans are wanted, True where a query may look at a key."
)
ASKS_WHETHER_TRUE = "{name} asks whether an array is true; {at_once}."
INDEX_OF_A_LIST = "{name} takes an index of a list; write np.array(…)[q]."
ROTARY_PAIRS = "pairs is {pairs}; 'halves' or 'interleaved' is wanted."
SINKS_NEED_SOFTMAX = "sinks are scores in a softmax's sum; give them with softmax=True."
FLOAT_TYPE_EXPECTED = "dtype is {dtype}; a float type such as np.float32 is wanted."
FINITE_SINKS = "sinks is {sinks}; finite numbers are wanted."
SINKS_SHAPE = (
    "sinks has shape {numbers}, which does not fit the leading axes {shape} of the scores; "
    "a number is wanted, or one for each head."
)
SOFTMAX_EXPECTED = (
    'softmax is {softmax}; True, False, "{sigmoid}" or a function (masked, allowed) → '
    "weights is wanted."
)
SOFTMAX_ARGUMENTS = (
    "softmax is a function of {taken}; one of (masked, allowed) → weights is wanted."
)
SOFTMAX_TYPE = "what softmax returned {weights}; {dtype} is wanted, as the scores are."
SOFTMAX_SHAPE = "what softmax returned has shape {weights}; that of the scores is wanted, {masked}."
D_K_EXPECTED = "d_k is {d_k}; a whole number from 1 on is wanted."
TRACE_EXPECTED = (
    "a trace is wanted, such as attention.scaled_dot_product_attention gives; {name} came."
)
WHOLE_NUMBER_EXPECTED = "{argument} is {given}; a whole number is wanted."
LABELS_COUNT = "{argument} has {have}; {are} wanted, one for each."
NAMES_EXPECTED = (
    "names is {names}; labels of dimensions are wanted, such as {{'d_v': ['yes', 'no']}}."
)
WORDS_EXPECTED = "{argument} is {words}; a list of words is wanted."
HALF_A_CHARACTER_IN = "{name} holds {half}, half of a character; the other half is missing."
EMPTY_RANGE = "the range {low} … {high} is empty; the first number needs to be the smaller one."

# ---- exports -------------------------------------------------------------------------------------

NO_LAYERS_NAMED = "layers names none; at least one is wanted."
STAGES_TOO_LARGE = (
    "these stages hold {numbers} numbers{place}; at most {most} fit. NPZ holds them all."
)
TOO_MANY_DOTS = (
    "a PNG of {wide} × {tall} cm at {dpi} dots per inch has {count} million dots; at most "
    "{max_dots} million fit: choose fewer per inch, or take the PDF or the SVG."
)
NPZ_HOLDS_ALL = "stages cannot be chosen for a '.npz', which holds all of them."
REPORT_IS_HTML = "{name} does not end in '.html'; a report is HTML."
FILE_NAME_EXPECTED = "path is {path}; the name of a file is wanted."
OTHER_ENDING = "{name} ends in {ending}; {known} can be written."
NO_ENDING = "{name} has no ending; {known} can be written."
HEAD_NOT_CAPTURED = "head is {head}; captured were {there}."
UNKNOWN_FORM = "form is {form}; choose one of {known}."
TEXT_IS_ROUNDED = "rounded to {digits} digits; CSV, JSON and NPZ are exact"
STRUCK_THROUGH = "Struck through: hidden by the mask."
TOO_MANY_TO_PRINT = "{size} numbers are too many to print: a dot for each."
SAMPLED_ENTRIES = "{distribution} entries, seed {seed}, {samples} scores for each d_k"
HEAD_OF_THE_MODEL = "head={head} of the arrays is the model's head {number}"

# ---- figures -------------------------------------------------------------------------------------

NO_HEADS_NAMED = "heads names none; at least one is wanted."
PANELS_TOO_LARGE = (
    "these panels hold {cells} cells; at most {max_printed} can be printed. Choose fewer "
    "stages or heads, or trace fewer tokens."
)
TINY_NUMBERS_ROUNDED = (
    "Tiny numbers of {rounded} are rounded to the decimals of the others, or ≈0: there is "
    "no room for more."
)
NUMBERS_NOT_FINITE = "Numbers of {broken} that are not finite have the grey of hidden cells."
COLOURS_STAY_LINEAR = (
    "The colours of {linear} stay linear: a logarithmic range has no numbers below 0."
)
MOST_SHARES_DARK = "Most shares of {dark} are below {dark_2}: a logarithmic range shows them."
COLOUR_BAR_TITLE_CUT = "The title of the colour bar is cut: it is too long for it."
NO_FONT = "No font of this machine has {listed}{more}; boxes stand for them."
NAMES_OF_STAGES_EXPECTED = "stages is {stages}; a list of names is wanted, such as ['weights']."
NOTHING_TO_DRAW = "nothing to draw: no stage that was asked for has a cell ({listed})."
CELLS_TOO_MANY = (
    "these stages hold {cells} cells; at most {max_drawn} can be drawn. Choose fewer "
    "stages, or trace fewer tokens."
)
RANGE_EXPECTED = "{name} is {given}; {least} to {most} are wanted."
RANGE_WITH_UNIT_EXPECTED = "{name} is {given}; {least} to {most} {unit} are wanted."
NAME_OR_RANGE_EXPECTED = "{name} is {given}; {names}, or {least} to {most} {unit} are wanted."
LETTERS_EXPECTED = "{name} is {given}; at most {most} letters are wanted."
LESS_EXPECTED = "{name} is {given}; less than {most} is wanted."
PANELS_DO_NOT_FIT = (
    "{count} panels do not fit on {wide} × {high} cm with letters of {size} pt: choose fewer "
    "panels, smaller letters, or a larger width or height."
)
NUMBERS_LEFT_OUT = (
    "The numbers in the cells of {names} are left out: they would be {size} pt high, below the "
    "{smallest} pt that can be read."
)
LABELS_TOO_SMALL = "Labels of {size} pt are below the {smallest} pt that can be read."
WORDS_WITHOUT_ROOM = (
    "{named} of {count} words are named beside the rows of {stage}: there is no room for all."
)
NO_MAP_IN_RECORD = 'this record has no mean_map; name it in results=["mean_map", …].'
UNKNOWN_STAGE = "stages names {name}; there is no such stage: {known} are there."
STAGE_NOT_IN_TRACE = "stages names {name}; this trace does not have it: {known} are there."
EXTREME_AT = "{which} {number} at row {row}, column {column}"
CELLS_ARE_HIDDEN = "{cells} hidden."
CELLS_TO_FILL_IN = "{cells} to be filled in."
MEAN_OF_CELLS = "Each cell: mean of {sides}."
MEAN_OF_WHAT_IS_SEEN = "Each cell: mean of what is seen in {sides}."
SHARE_OF_KEYS = "Each cell: share of {keys} keys, mean of {queries} queries."
COLOURS_BY_ROOT = "Colours follow the square root."
KEY_WITH_MOST = "Of the keys drawn here, {key} gets the most: {most}. Together they get {total}."
POINT_IS_LARGEST = "Each point is the largest of {count} keys."
IN_THE_MEAN = "in the mean"
VARIANCE_OF_SCORES = "{count} scores have variance {variance} ± {margin}; theory says {d_k}."
VARIANCE_WHEN_SCALED = "Scaled: {variance} ± {margin}; theory says 1"
DEVIATIONS = "{scores} for the scores, {scaled}"
KEY_TAKES = "Key {key} takes"
TAKES_OVER = "takes over {share} of this query"
UNSCALED_AND_SCALED = "{unscaled} unscaled, {scaled} scaled"
NATS_LEFT = "{unscaled} are left unscaled, {scaled} scaled"
SCALE_IS_1 = "At d_k = 1 the scale is 1: scores and scaled scores are the same."
RULE_DOES_NOT_APPLY = "The rule does not apply here"
RULE_APPLIES = "are near 0, as the rule wants"
NO_SPREAD = "has no spread to begin with"
CLICK_FOR_LARGEST = "click for the largest of them"

# ---- frameworks ----------------------------------------------------------------------------------

ANSWER_SHAPE = "{name}: the shape is {shape}; {wanted} is wanted for these inputs."
NO_ANSWER_GIVEN = "neither output nor weights is given; give the numbers of the other code."
TROUBLE_AFTER_WEIGHTS = (
    "The output follows from the weights given with it: the trouble lies {place}."
)
OUTPUT_RIGHT_WEIGHTS_NOT = "The output is right, and was not made with the weights given beside it."
TROUBLE_ON_BOTH_SIDES = (
    "The weights are not right, and the output does not follow from them either: there is "
    "trouble on both sides."
)
WEIGHTS_WITH_DROPOUT = (
    "The weights given are right ones with dropout: {sum} of {sum_2} are 0, and the others "
    "{by}; model.eval() turns it off."
)
EXP_IS_INFINITE = (
    "They are just those of queries with {what} beyond {limit}, whose exp is infinite in "
    "{kind}: subtract each row's maximum before exp."
)
BEYOND_THE_TYPE = (
    "They are just those of queries with {what} beyond {limit}, the most that {kind} holds."
)
NAN_OR_INFINITE = (
    "{sum} of the {lost} numbers of the {name} {hold} NaN or infinite where right attention"
    " is finite, the first at [{first}]."
)
FUNCTION_OF_A_SENTENCE = "announce is {announce}; a function of a sentence is wanted."
NOTHING_TO_COMPARE = "There is no finite number to compare: {nothing}. Likely cause: {cause}."
COUNTED_AS_ROUNDED = "Counted as rounded: {each}; to compare more digits, {how}."
COUNT_AS_EXACT = (
    "No number of {names} has more than {count} decimals, and they count as exact; if they "
    "were rounded, give them in full, by {in_full}, or in Python decimals={count_2}."
)
NOT_TRIED = "Not tried: pairs without one of the twelve commonest mistakes, and three at once."
INPUTS_MISSING = "{missing} missing; give Q, K and V, or X, W_Q, W_K and W_V."
BOTH_GIVEN = "both X and Q, K or V are given; give one of the two."
ONE_FOR_EACH_COLUMN = "{name} has shape {row}; one number for each column is wanted."
KV_HEADS_WITHOUT_HEADS = (
    "kv_heads is {kv_heads} and heads is 1; several heads of queries share one of keys and values."
)
HEADS_OF_K_AND_V_DIFFER = "K has shape {k} and V {v}; both need the same heads."
KERAS_MASK_OVER_KEYS = (
    "keras.layers.Attention documents only a mask over keys, the same for all queries."
)
ONNX_WITHOUT_KEYS = "The ONNX reference raises an error where there is no key."
V_AS_WIDE_AS_K = "It wants V as wide as K; here d_v is {d_v} and d_k is {d_k}."
MASK_AND_LOOK_AHEAD = "It raises an error for a mask and a look-ahead at once."
MASK_OR_LOWER_RIGHT = "Its attn_mask is a mask or causal_lower_right, not both."
LOWER_RIGHT_ALONE = (
    "Its attn_mask is causal_lower_right, which has no window and no mask beside it."
)
NO_FEWER_HEADS = "It has no argument for fewer heads of keys and values."
NOT_IN_THE_TABLE = "{name} is not in the table; the names are {names}."
BOOLEAN_MASK_EXPECTED = (
    "mask holds {dtype}; booleans are wanted (write `mask == 1` or `mask == 0`)."
)
ROUNDING_TRIED_ON = "What rounding the inputs changes was tried on {queries} of the {n_q} queries."
MIXED_QUERIES_NOT_TRIED = "Mistakes that mix queries were not tried: there are too many scores."
MIXED_QUERIES_ALONE = "Mistakes that mix queries were tried alone, not with others."

# ---- html ----------------------------------------------------------------------------------------

LINES_WITHOUT_SOFTMAX = "lines are drawn of shares, which softmax makes; here it is off."
LINES_TOO_MANY_WORDS = (
    "lines are drawn between at most {most} words; here are {count}, which the map shows."
)
LINES_LEAD_TO = "Weights as lines; the thickest of “{query}” leads to “{key}”."
NO_LINES = "Weights as lines; “{query}” has none."
WALK_MULTIPLIES = (
    "The query of “{token}” is {query}. Multiply it with each key, number by number, and add up."
)
WALK_DIVIDES = "Scale: divide by √{d_k} = {root}."
WALK_SCALES = "Scale: multiply by {scale}."
WALK_HIDES_NOTHING = "Mask: every key is visible."
WALK_HIDES = "Mask: {seen} of {keys} keys stay visible; the others become −∞."
WALK_ADDS_FILL = (
    "Mask: {added} of {keys} keys get −1e9 added; that hides them only beside one without it."
)
WALK_TAKES_EXP = "Subtract the largest, {largest}, and take exp; they add up to Σ = {total}."
WALK_HAS_NO_KEY = "Every key of this query is hidden: there is nothing to take exp of."
WALK_WITHOUT_EXP = "Softmax is off: exp is not taken."
WALK_SHARES = "Divide by Σ: these are the weights, and together they make 1."
WALK_WEIGHTS_ARE_0 = "All weights are 0."
WALK_RAW_WEIGHTS = "The weights are the masked scores themselves."
WALK_ADDS_UP = "Multiply each value with its weight and add up: {output}. The matrix form"
FIRST_OF_MANY = "The first {shown} of {count} {what}."
SUMS_OF_ALL = "The sums are those of all."
A_AND_B_ARE_THE_SAME = (
    "A and B are the same: change any control or number, or choose a comparison above."
)
NO_SUCH_CELL_OF = "{side} has no such cell of {stage}."
GUESS_IS_RIGHT = "✓ Yes."
GUESS_IS_WRONG = "Not this one."

# ---- launch --------------------------------------------------------------------------------------

SAVED_STATE_TOO_LARGE = "{path} has more than {max_state} bytes; a saved state has fewer."

# ---- models --------------------------------------------------------------------------------------

NO_SUCH_HEAD = "heads asks for head {heads}; this attention has {heads_2} heads, counted from 0."
NOTHING_CHOSEN_CALLED = "Nothing that was chosen was called: the layers are {there}."
EMPTY_CAPTURE = "{place} is a capture of nothing."
LAYER_NOT_CAPTURED = "layer {layer}{step} was not captured; the layers {there} were."
CAPTURE_CUT_OFF = "{place} is no .safetensors file, or cut off."

# ---- pages ---------------------------------------------------------------------------------------

COMPARED_SCORES = (
    "Answers are compared for up to {max_compared} scores, 128 × 128, and these are "
    "{cells}; take fewer words on Explore."
)
DO_NOT_FIT_INTO_A_LINK = "do not fit into a link"
NOTHING_IS_KEPT = "this browser keeps nothing: after a reload they are gone."
UPLOAD_IS_MISSED = (
    "What was uploaded is neither in the address nor in this session: upload the file again."
)
LONG_UPLOAD_IS_MISSED = (
    "The queries and keys that were chosen are neither in the address nor in this session: "
    "upload the file, or choose the captured model, again. Until then a pattern is shown."
)
ONE_KEY = "There is one key, so every weight is 1; add a token to see attention choose."
WORDS_ARE_YOUR_OWN = (
    "These words are your own; Reset brings the example’s, and what to notice there."
)
NOTHING_LEADS_TO_THEM = (
    "These are finished weights: nothing leads to them here, and nothing is made of them."
)
WITH_SEED = "With seed {seed}, {said}."
ONLY_ITEM_IS_FILLED = "Only item {item} of the batch is filled."
NOT_OFFERED = "Not offered: {labels}; {why}"
EMPTY_BOX = "the box is empty; numbers or a sentence are wanted."
A_SENTENCE_OF = "This is a sentence of {count}: {tokens}"
A_CONFIGURATION = (
    "This is the configuration of a {kind} model{heads}. Open its weights now; they are read by it."
)
WITH_SO_MANY_HEADS = " with {count} heads"
PARTS_IN_USE = "In use: {parts}."
SINKS_ARE_OFF = "“Sinks” are off: each weight is made by itself, without a sum."
SINKS_ARE_ON_AGAIN = "“Sinks” are on again, as they were."
SIGMOID_IS_OFF = "“Sigmoid” is off: a sink stands in the sum of a softmax."
PREVIEW_OF = "Preview of {alt}"
FIGURE_WAITS = "The figure is drawn, after those that others asked for …"
MATPLOTLIB_IS_LOADED = "Matplotlib is loaded and lists the fonts, once …"
PANELS_ARE_DRAWN = "{number} of {count} panels"
COMPARED_TOKENS = (
    "Stages are compared for up to {most} tokens, and these are {count}; take fewer words on "
    "Explore."
)
ALIKE_TO_THE_BIT = "Alike in A and B, to the bit: {stages}."
NO_CSV = "No CSV: {why}"
NO_FILE_OF_BOTH = "No file of A and B together: {why}"
ADDRESS_HOLDS_BOTH = "The address holds both A and B."
WRONG_IN_B = "in B {title}"
FILL_IN = "Fill in {stages}"
ANSWER_IS_RIGHT = "✓ Right."
ANSWER_IS_WRONG = "✗ Not yet."
ARITHMETIC_IS_BELOW = "Its arithmetic is below."
ALL_OF_THEM = "All {count} of them."
TO_GO = "{count} to go."
FOR_A_CLASS = "Copy this link for a class: each pupil types a number."
PROGRESS_IS_KEPT = "The link keeps your progress."
FRAMEWORKS_NEED_INPUTS = (
    "Explore shows finished weights alone; frameworks need Q, K and V to answer. Choose an "
    "example there, or bring other data."
)
GIVES_NO_ANSWER = "{title} gives no answer: {why}"
CHANGE_IT_THERE = "Change it there."
PASTE_ABOVE = "paste {names} above; the same as your code gets."
TYPED_IS_LOST = (
    "A reload loses what is typed here: this browser does not keep it ({why}). Keep a copy of "
    "your numbers."
)
STRONGEST_KEYS = "Strongest of all keys: {keys}"
CHOOSE_ARRAYS = "choose which arrays are the queries and the keys."
ONE_ARRAY = "{place} holds one array; Q and K are wanted, as by np.savez(file, Q=Q, K=K)."
CAPTURE_HOLDS = "{place} holds {many}; here is {layer}."
OPEN_ON_REAL_MODEL = "Open it on Real model, then choose another here under “a captured model”."
CAPTURE_LESS_FOR_ANOTHER = "Capture one layer and one sequence to see another."
BEFORE_ROTATION = "Before the rotation: {sentence}"
COMPUTED_AGAIN = "{counted}, computed again in float64."
OUTPUTS_ARE_EQUAL = (
    "Each output is equal to the model’s own to {difference} (rounding in {kinds} alone could "
    "make {times} as much)."
)
OUTPUTS_DIFFER = "{wrong} of {calls} calls give another output than the model’s own"
MAPS_SHOWN = "{shown} of {count} heads."
MAP_IS_EQUAL = "= model to {apart}"
MAP_IS_OFF = "off by {apart}"
MAP_SAYS = "{head}: {measure}; equal to the model to {apart}. Opens on Explore."
HEAD_ARRIVED = "{head}, of {model}: as captured, its output is equal"
EQUAL_TO_THE_MODELS = "equal to the model’s own"
LAYERS_HAVE = "Layers here have a {left}."
MODULES_NOT_CAPTURED = "Not captured: {names}."
MODULES_NOT_RUN = "Was not run: {names}."
AND_MORE = " and {count} more"
WORDS_READ = "Words: {words}"
WORDS_READ_BY = "Words ({part}): {words}"
WORDS_IN_ALL = " … ({count} in all)"
STREAMLIT_HAS_NO = "has no {name}; the dashboard does without it."
NOTHING_CHANGES_YET = (
    "Nothing changes until you have seen what was understood and pressed “Use these numbers”."
)
ONE_FILE_AT_A_TIME = "One file is read at a time, with a config.json beside it; left out: {names}."
TICK_AND_PRESS_AGAIN = "Tick “{label}” and press again."
PRESSED_TOO_EARLY = (
    "Nothing was changed: “{label}” was pressed before the page had shown what it now stands "
    "for. Look below the board, and press again."
)
AS_ON_EXPLORE = "“{title}” as it stands on Explore"
NOTICE = "Notice: {notice}"
NOTICE_OF_THE_EXAMPLE = "Notice, in the example as it was made: {notice}"
TAP_TO_CHANGE = "Tap it again to change it."
ALL_QUERIES_TAKE = (
    "All queries: about {time}, {given} for what is given and at most {beside} beside it."
)
NOTHING_IS_KEPT_AS = "this browser keeps nothing ({why}): after a reload they are gone."
TOLD_TO_FORGET = "it was told to forget"
THE_BROWSER_SAYS = " (the browser says: {why})."
PART_NOT_FETCHED = "This part could not be fetched ({path}); reload the page."
READING = "Reading {name} …"
UNREADABLE_BY_THE_BROWSER = (
    "This browser cannot read {name}, as if it were a folder or had changed meanwhile ({why})."
)
SERVER_IS_AWAY = "The server cannot be reached just now, so this was not taken."
TRY_AGAIN_LATER = "Try again when it is back."
BLOCK_HOLDS_NO_NUMBER = (
    "Row {row}, column {column} of the block holds “{found}”, which is no number, so nothing of "
    "it was taken."
)
POOLED_HERE = "{stage} is pooled here"
NUMBERS_WERE_COPIED = "The numbers of {stage} were copied."
PICTURE_WAS_COPIED = "The picture of {what} was copied."
NO_CLIPBOARD_FOR_PICTURES = (
    "This browser gives no clipboard for pictures here; {name} was saved instead."
)
PICTURE_NOT_MADE = "{name} could not be made; reload the page and try again."
LINK_WAS_COPIED = "The link was copied."
LINK_IS_SELECTED = "The link is selected: press Ctrl+C, or hold it, to copy."
NO_QR_CODE = "No QR code: this address works on this computer only."
CLICK_FOR_NUMBER = "click for its number"
DECIMALS_SHOWN = "{shown} of {asked} decimals"
TINY_ONES_ROUNDED = "tiny ones rounded"

# ---- readers -------------------------------------------------------------------------------------

NOT_AN_ARRAY_FILE = "{place} is no .npy, .npz or .safetensors file: it does not begin like one."
UNKNOWN_NPY_VERSION = "{place}: its .npy version is {version}; 1.0, 2.0 and 3.0 are read."
EMPTY_ARRAY = (
    "{place} is {shape}, without a number; beside a 0, sides whose product is at most "
    "{most} are read."
)
UNSUPPORTED_DTYPE = (
    "{place} holds {name}; floats up to float64, integers and masks of bool are read."
)
BOOL_WITH_OTHER_BYTES = "{place} says it is bool, and holds bytes other than 0 and 1."
DAMAGED_ZIP = "{place} is a damaged zip file."
SPARSE_MATRIX = (
    "{place} is a sparse matrix of SciPy; save scipy.sparse.load_npz(…).toarray() by "
    "np.save instead."
)
SOME_ARRAYS_UNREADABLE = "{unread} of {arrays} arrays cannot be read. {reasons}{more}"
DAMAGED_MEMBER = "{place} is damaged, encrypted or compressed in an unknown way."
SAFETENSORS_CUT_OFF = (
    "{place} is no .safetensors file, or cut off: its header does not fit into it."
)
DAMAGED_SAFETENSORS_HEADER = "{place}: its .safetensors header is damaged."
DAMAGED_SAFETENSORS_ENTRY = "{place}: its entry in the header is damaged."
TENSOR_ENDS_EARLY = "{place} ends at byte {reached} of the numbers, and the file at {size}; {why}."
HALF_A_CHARACTER = "{half} is half of a character; the other half is missing."
UNSUPPORTED_TENSOR_TYPE = "{place} holds {kind}; F64, F32, F16, BF16, integers and BOOL are read."
ARRAYS_WITHOUT_NAMES = (
    "{place} holds {arrays} arrays without names; give one, or put [ ] around all of them "
    "if they are heads."
)
NO_ARRAY_OF_THAT_NAME = "{place} holds {count} arrays, and none named {name}: {names}{more}."
RAGGED_ROWS = (
    "{place}, row {row} has {found} number{plural} and row 1 has {expected}; every row "
    "needs the same."
)
NESTED_TOO_DEEPLY = "{place}: its brackets are nested too deeply."
JSON_WITHOUT_ARRAYS = "{place} holds no array: an object of names and lists of rows is wanted."
PASSED_OVER_NO_ROWS = "Passed over, as these are no lists of rows: {names}{more}."
TOO_MANY_AXES = "{place} has {axes} axes of {size}; two to four axes are read."
ENTRIES_DIFFER = "{place} holds {found}, not {expected} as at first; every row needs the same."
EMPTY_LIST = "{place} is an empty list; numbers are wanted."
MASK_NOT_TRUTH = (
    "{place}, row {row}, column {column} holds {value}; 0 and 1, or True and False, are allowed."
)
UTF_16_TEXT = "{place} is UTF-16 text; save it as UTF-8."
NOT_UTF_8_TEXT = "{place} is no UTF-8 text: byte {position} is {byte}; save it as UTF-8."
EMPTY_CELL = "{place} is empty; a number is wanted."
NOT_A_NUMBER = "{place} holds “{found}”; a number such as 3, -0.5 or 2e-3 is wanted."
NUMBER_TOO_LARGE = "{place} holds {found}; numbers from -1e12 to 1e12 are allowed."
PRINTOUT_LEAVES_OUT = (
    "{name}: the printout leaves numbers out (...); print all, with "
    "set_printoptions(threshold=10**6)."
)
PRINTOUT_OF_FOUR_AXES = (
    "{name} has four axes or more; three at most are read from a printout; cut it first, or"
    " save it as .npy."
)
ROW_IS_LABEL_AND_NUMBER = "Each line is read as a row: a label, such as “{label}”, and a number."
LABELS_END_IN_NUMBERS = (
    "The labels end in numbers, as “{label}” does; if these belong to the matrix, put a "
    "comma before them."
)
BOOL_IS_A_MASK = "{place} holds bool; that is a mask, and {role} needs numbers."
TAKEN_AS_BATCH = "{role} has three axes: taken as a batch of {items}."
RESHAPE_TO_ROWS = "{place} is {size}; reshape it to (rows, columns)."
TOO_MANY_WORDS = "{place} holds {words} words; type those you want, at most {limit}."
NOT_A_SLICE = "“{part}” is no slice; a number such as 0, a range such as 0:64, or : is wanted."
SLICE_OUTSIDE = "the slice {part} lies outside of {place}, which is {size}; places count from 0."
AMBIGUOUS_COMMA = (
    "{place}, line {line}: “{quoted}” can be read in two ways; is the comma decimal, or "
    "does it separate {separated}?"
)
FIRST_LINE_NAMES_COLUMNS = "The first line names the columns; it is passed over."
COLUMN_NUMBERS_ROWS = "“{first}” numbers the rows; it is read as their labels."
WRITE_AS_DECIMALS = "If 0, 1, … are numbers, write them as 0.0, 1.0, …."
FIRST_COLUMN_COUNTS = "The first column counts; if it numbers the rows, remove it."
FIRST_LINE_COUNTS = "The first line reads 0, 1, …; if it names the columns, take it away."
EMPTY_TEXT = "{place} is empty; numbers are wanted."
TOO_MANY_CELLS = "{place}, line {line} holds {found} words or numbers; at most {limit} are read."
OPEN_QUOTATION = "{place}, line {line}: a quotation mark is not closed, or stands inside a cell."
NUMBER_IN_LABEL = (
    "The number after “{label}” is read as part of the label; if it belongs to the matrix, "
    "write it with decimals."
)
ROW_LENGTH = (
    "{place}, line {line} has {found} number{plural}; {expected} are wanted, as in line {first}."
)
COMMENT_BETWEEN_ROWS = (
    "Line {between} is a comment between rows; put an empty line before it if another "
    "matrix begins there."
)
ZERO_BYTE = "{place}, character {chr} is a zero byte; this is no text."
TEXT_AFTER_NUMBERS = (
    "{place}: “{text}” follows the numbers; nothing is computed here, so paste the result."
)
AMBIGUOUS_ROW = (
    "{place}: “{row}” can be read in two ways; put points for decimals, or a space after "
    "each comma."
)
PARENTHESES_ARE_ROWS = "Each pair of parentheses is read as a row, not as a shape."
MATRICES_ARE_ARRAYS = (
    "Each of the {found} matrices is an array; to read them as heads, put [ ] around all."
)
TEXT_BEFORE_NAME = (
    "{place}: “{left}” stands before the first name; only named arrays are read beside each other."
)
TOO_MANY_ARRAYS = "{place} holds more than {limit} arrays, which is the most that is read."
ONLY_WORDS = "{place} holds words and no numbers."
TOKENIZER_OUTPUT = (
    "{place} holds what a tokenizer gives ({told}), and no embeddings; the rows of the "
    "model's embedding matrix for these tokens are wanted."
)
DAMAGED_NPY_HEADER = "{place}: its .npy header is damaged."
FUSED_WITHOUT_ORDER = (
    "{place} holds Q, K and V in one, and its name does not say how; choose whether all of "
    "Q comes first, or Q, K and V of each head."
)

# ---- session -------------------------------------------------------------------------------------

WINDOW_REPLACED = "The mask says who sees whom; the window is taken away."
MASK_AS_IN_LAYER = "The mask is look-ahead, as in the layer."
ROWS_WITHOUT_WORDS = "The rows come without words; those on the board stay."
HEADS_NO_LONGER_GROUPED = "Each head has keys and values of its own now."
WEIGHTS_STAND_ALONE = "finished weights stand alone; bring nothing beside them."
COMPUTED_BESIDE_QKV = (
    "{odd} cannot stand beside Q, K and V, which are computed from it; choose one or the other."
)
QKV_INCOMPLETE = "{names} {verb} missing; Q, K and V are wanted together."
X_IS_DRAWN = (
    "X is drawn and not brought, {width} numbers for each word: so many the weights take in."
)
WEIGHTS_TOO_WIDE = (
    "the weights take {width} numbers in; at most {limit} fit. Cut as many out of each by a slice."
)
DRAWN_ANEW = "{names} anew, {width} numbers for each word: so many the weights take in."
X_MISSING = "X is missing: Q, K and V are typed themselves now, so embeddings have to come along."
SECOND_WITHOUT_EMBEDDINGS = "The second sequence has no embeddings and is taken away."
SECOND_DOES_NOT_FIT = "The second sequence does not fit to X and is taken away."
Q_AND_K_DIFFER = (
    "W_Q has {q} columns and W_K {k}; both need the same. Where heads share their keys, say"
    " how many heads there are, or cut one head out of each."
)
FITTED_TO_COLUMNS = "{names} fitted to {columns} columns: numbers that have room stay."
ROLLED_ANEW = "{names} rolled anew, for a d_model of {d_model}."
BRING_ONE_OF_COLUMNS = (
    "{role} takes {found} numbers in, and {other} has {columns} columns; bring one of "
    "{wanted} columns beside it."
)
W_O_DOES_NOT_FIT = "W_O does not fit and is taken away."
HEADS_CANNOT_SHARE = "{heads} heads cannot share these columns; one has them all."
PADDING_TAKEN_AWAY = "The padding belongs to other keys and is taken away."
DRAWN_MASK_TAKEN_AWAY = "The drawn mask does not fit and is taken away."
KEY_IS_PADDING = (
    "key “{token}” is padding, hidden from every query; take it off the hidden keys first."
)
ROWS_ARE_NO_TOKENS = "the rows of {stage} are no tokens; their number is a dimension."
NOT_ON_EXPLORE = (
    "Explore has no {missing}, which this layer of the model has: without, the weights here"
    " differ from the model’s by up to {difference}."
)
EMPTY_TABLE = "the table is empty; at least one token is needed."
TOO_MANY_TOKENS = "{found} tokens are too many for this page; at most {limit} fit."
BATCH_ENDS = "The batch ends: embeddings by word take the place of item {item}."
EMPTY_SENTENCE = "the sentence is empty; type at least one word."
SENTENCE_BESIDE_WEIGHTS = (
    "the sentence has {tokens} tokens, and these finished weights have {count} {side}; type"
    " as many words, or choose an example to leave the weights."
)
CHECKED_SHAPE = (
    "{place}: the shape is {shape}; two or three axes and at most {limit} numbers are read here."
)
EXERCISE_TOO_LONG = "An exercise has at most {limit} words."
LOOK_FIRST = "Look at {name} first: this number is made of it."
ROUNDED_TOO_FAR = "That is rounded too far: give it {precision}."
GIVEN_STAGE = "{stage} is given; there is nothing to work out."
FINISHED_WEIGHTS = (
    "These are finished weights. They stand alone: no embeddings, queries, keys, scores or "
    "output belong to them."
)
ROWS_OFF_ONE = "Rows are {worst} off 1 at most, and stay as they are."
HEADS_TOO_WIDE = (
    "{heads} heads of {keys} keys are {columns} columns; at most {limit} fit. Cut heads "
    "out, such as 0:{cut}."
)
NOT_A_SHARE = (
    "the weights, {head}row {row}, column {column} hold {found}; shares from 0 to 1 are wanted."
)
ROW_SUM = "the weights, {head}row {row} sum to {found}; each row of attention weights sums to 1."
KEPT_DAMAGED = (
    "What this browser keeps under this address is damaged, or is another state; open a "
    "saved state under “Your data” on Explore, or bring the numbers again."
)
WAY_NEEDS_EMBEDDINGS = "The way begins with embeddings and weights, and here are none."
WAY_NEEDS_ONE_SEQUENCE = "The way is for one sequence, whose words look at each other."
WAY_NEEDS_EVEN_WIDTH = "The way ends with two heads, which cannot share an odd d_k or d_v."
WAY_NEEDS_SOFTMAX = "The way is for softmax and a mask of −∞."
UNKNOWN_EXAMPLE = (
    "The link asks for an example “{name}” that does not exist; this is the first one."
)
STATE_NOT_KEPT = (
    "This address stands for matrices too large for it, kept by the browser that made it, "
    "and this one has none under it; open a saved state under “Your data” on Explore, or "
    "bring them again."
)
UNKNOWN_PARAMETER = "The link's parameter “{name}”{verb} unknown and {were} passed over."
NOT_THERE = "The link's parameter {prefix}{name} asks for what is not there: {why}."
DAMAGED_PARAMETER = "{name} is damaged; part of the link may be missing."
ITEMS_DIFFER = "the items of {name} have different shapes."
NOT_FINITE = "{name} holds NaN or inf; numbers are wanted."
STATE_TOO_LARGE = "a saved state of {size} cannot be opened; at most {limit} are read."
NOT_A_STATE_FILE = "this is not a state file of this page; save one with “The state as a file”."
DAMAGED_STATE_FILE = "this state file is damaged. {notices}{file}"
LONG_HEADS_DO_NOT_SHARE = "{heads} heads of queries cannot share {given} of {of} evenly."
READ_AS_TOKENS_HEADS = "Read as tokens × heads × columns: {heads} heads of {tokens} tokens."
NOT_COMPUTED = "it could not be computed ({error})."
UNKNOWN_INITIALISER = "there is no initialiser {name}; choose one of {known}."
UNKNOWN_STREAM = "there is no matrix {stream} to draw numbers for."
UNKNOWN_WORD_VECTORS = "words have no vectors of kind {name}; choose one of {known}."
SEED_OUT_OF_RANGE = "the seed is {seed}; whole numbers from 0 to 4294967295 are allowed."
VECTORS_BY_WORD = "only embeddings have vectors by word."
SIDE_DOES_NOT_FIT = (
    "{name} is {rows} × {columns}; one of its sides has to be {width}, the width of what it meets."
)
READ_AS_D_IN_D_OUT = "{name} was read as (d_in, d_out) = ({rows}, {columns}), as in X W.{note}"
NO_ROOM = "there is no room here for this: {title}."
UNKNOWN_MISTAKE = "there is no mistake called “{name}”."
DIFFERS_FIRST = "The numbers differ first in {stage}. {cell}"
STAGE_IS_RIGHT = "All of {stage} follows rightly from what stands before it."
NOTHING_TO_ADD_TO = "{names} {has} nothing to be added to, and {verb} taken away."
GAIN_REFITTED = "The gain of {name} has {d_k} numbers now, one for each column of a head."
NAMELESS_TOKEN = "{token} has no name; type a word."
CONTROL_CHARACTER = "{token} holds a line break or another character that cannot be shown."
SCALE_OUT_OF_RANGE = "the scale is {scale}; a positive number up to 1e6 is wanted."
UNKNOWN_FILL = "hidden cells cannot get “{fill}”; choose {fills}."
UNKNOWN_SAMPLE_DISTRIBUTION = (
    "there is no distribution “{name}” to sample from; choose one of {known}."
)
SAMPLE_SEED_OUT_OF_RANGE = (
    "the sample seed is {sample_seed}; whole numbers from 0 to 4294967295 are allowed."
)
UNKNOWN_CAPTURE = "there is no capture “{capture}”; choose one of {captures}, or upload your own."
EXERCISE_CHARACTER = "the {called} of the exercise hold a character that cannot be shown."
TOO_MANY_SEQUENCES = "{batch} sequences are too many; at most {limit} fit."
BEYOND_LIMIT = "{name} holds numbers beyond ±{limit}, which this page does not take."
HEADS_DO_NOT_DIVIDE = (
    "{heads} heads do not divide the columns of the weights; choose {possible_heads}."
)
TOO_MANY_SCORES = "{cells} scores are too many for this page; at most {limit} fit."
PASSED_OVER = "The link's {what} passed over: {why}"

# ---- attention (on pages) ------------------------------------------------------------------------

OUT_OF_RECORD = "{name} is {given}; 0 to {last} are there."
ONLY_ONE = "{word} is {place}; there is 1 {word}, number 0."
OUT_OF_RANGE = "{word} is {place}; there are {count} {word}s, counted from 0."
TEXT_EXPECTED = "{name} is {given}; text is wanted."
NO_MASK = "No mask: nothing is hidden."
FILL_IS_ADDED = "Hidden keys get −1e9 added, as tutorials do."
OTHER_COLOURS_THAN_V = "colours have another range than V's"
COPIED_FROM_HEAD = "column {column} of head {head}, copied"
ROW_SHARES_OUT_1 = "Each row shares out 1 among the keys."
SINK_PATTERN = "Every query gives most of its weight to the first token, which means nothing by it."
GAIN_LENGTH = (
    "gain_{name} holds {length} numbers; {d_k} are wanted, one for each column of a head of "
    "{name}, or {columns}, one for each of all."
)
NO_SUCH_SETTING = "a figure has no setting {name}."
WORKSHEET_HAS_NO_ROOM = (
    "a worksheet has room for {words} words and matrices {wide} wide; {name} is {size} here."
)

# ---- session (on pages) --------------------------------------------------------------------------

ONE_OF_WANTED = "{name} is {given}; one of {known} is wanted."
STAYED_BEHIND = "The numbers will differ from the model’s: {what}."
BIAS_STAYED_BEHIND = "its bias stayed behind ({name})"
OF_AN_EXAMPLE = "example “{title}”"
CAPPED_SCORES = "scores kept within ±{softcap} by tanh"
SINK_OF_EACH_ROW = "{sink}, in the sum of each row and of no key"
GIVEN_FROM_PYTHON = "given from Python"
NOTHING_TO_ADD = "Q, K and V are typed themselves here, so there is nothing to add {what} to."
FIRST_COLUMNS_TURN = (
    "Rotary positions turn the first {turned} of {d_k} columns of a head now, as they turn pairs."
)
ROTATION_IS_OFF = "A head of one column has no pair to turn: rotary positions are off."
LAST_ROW_OF = "A: the last row of “{words}”"
STEP_FINDS_THE_SAME = (
    "The last word asks alone and finds the same: keys and values are kept, and its position "
    "counts on."
)
KNOWS_THE_ORDER = "attention knows the order"
KNOWS_NO_ORDER = "knows no order"
SOFTMAX_IS_OFF = "softmax is off on Explore; switch it on there to compare with other attention."
SIZES_DIFFER = "{name} is {a} in A and {b} in B."
NO_ROOM_WITHOUT_SOFTMAX = "there is no room without softmax and −∞ for this: {title}."
B_IS_RIGHT = "B is right: {why}"
LESSON_SETS_HEADS = (
    "Set Heads in the sidebar to {heads}, and then Head, under View there, to {head}."
)
LESSON_SHOWS_HEAD = "These are Q, K, V and weights of head {head} alone."
LARGEST_TAKEN_AWAY = "Taking the largest away first changes no share."
NOT_AN_ANSWER = "“{text}” is no number; type one such as −0.5, 1/3, 50 % or −∞."
STAGES_BEFORE_ARE_WRONG = "Numbers before {stage} are wrong already."
NOW_ON_THE_BOARD = "Now on the board: {inputs}."
SENTENCE_OF_TOO_MANY_TOKENS = "the sentence has {found} tokens; at most {limit} fit."
READ_AS_D_OUT_D_IN = (
    "{name} was read as (d_out, d_in) = ({rows}, {columns}), as in W Xᵀ, and transposed.{note}"
)
LOOK_MOST_AT = "look most at"
QUERY_SEES_NO_KEY = "Query {query} sees no key: its weights and its output are 0."
SCORES_TOO_LARGE = "the scores go beyond {kind}, which ends at {end}; make Q or K smaller"
COLUMNS_OUT_OF_RANGE = "{name} has {columns} columns; 1 to {most} are allowed."
HEADS_TO_BE_SAID = (
    "{place} holds Q, K and V of several heads in one; say how many heads the model has "
    "(num_attention_heads in its config.json)."
)
NO_INPUTS_TO_COMPARE = (
    "Explore shows finished weights alone; there are no inputs to compare with. Paste them here, "
    "or choose an example there."
)
ORDER_IS_KEPT = "largest, and softmax keeps the order"
THIS_SERVER_HOLDS = "this server holds"
LONG_COLUMNS_DIFFER = "queries have {queries} columns and keys {keys}; as many are wanted."
NO_MEMORY = "there is not memory enough on this server for this many tokens."
WAY_NEEDS_WORDS = "The way is for {fewest} to {most} words."
WAY_HAS_NO_PARTS = "The way is for attention without more parts; here is {parts}."
MASK_TOO_LARGE = (
    "a mask of {queries} × {keys} is too large to be drawn cell by cell; at most {most} places fit."
)
SETTINGS_WANTED = "settings by their names are wanted"
UNREADABLE_PARAMETER = "it cannot be read"
WHOLE_NUMBER_WANTED = "a whole number is wanted"
HEAD_TOO_LARGE = (
    "this head has {queries} queries and {keys} keys; Explore shows {limit} of each: capture "
    "fewer, as by queries=range({end})."
)
BIAS_OF_EACH_SCORE = "bias set for each score by itself"
CAPTURED_FROM = "captured from {model}, {head}"
EQUAL_COLUMNS = "columns {first} and {second} of {name} are equal"
OPPOSITE_COLUMNS = "column {second} of {name} is minus column {first}"
SIZE_OUT_OF_RANGE = "{name} is {size}; 1 to {most} are allowed."
NOT_THE_MODELS_EMBEDDINGS = (
    "X holds none of the model’s embeddings, but vectors drawn or typed here: of the model there "
    "are the weights alone."
)
MASK_MEANS = "The mask: True and 1 mean {true_means}."
CHANGED_BY_HAND = "{source}, changed by hand since"
STEP_OF_WEIGHTS = "e to the power of each masked score of the row, each divided by their sum"

# ---- frameworks (on pages) -----------------------------------------------------------------------

RIGHT_NUMBERS = "These numbers are right, to "
NUMBERS_ARE_RIGHT = "These numbers are right, to {digits}."
ALL_AGREE_WITH = "{title}. With that, all numbers agree to {digits}"
MASK_INVERTED = "the mask is inverted"
MASK_MAY_MEAN_THE_OTHER = (
    "Find out what True means: may look in torch's SDPA, hide in nn.MultiheadAttention; negate "
    "the mask."
)
MASK_AFTER_SOFTMAX = "the mask is applied after the softmax"
OVER_QUERIES = "the softmax runs over the queries"
NOT_SCALED = "the scores are not scaled"
HIDES_WHAT_YOU_MEANT = "Hides what you meant to show: True means hide in {function}"
LEAVES_A_PART_OUT = "leaves the {part} out: {why}"
NO_SUCH_ARGUMENT = "no such argument"
HEADS_BY_RESHAPE = "the heads are split by a reshape without a transpose"

# ---- models (on pages) ---------------------------------------------------------------------------

TOO_MANY_CAPTURED_WEIGHTS = "holds {found} weights of all heads; at most {limit} are shown"
WEIGHTS_AND_NO_CAPTURE = (
    "{place} holds a model’s weights and no capture; “Your data” on Explore opens them."
)
CAPTURE_OF_MANY_BYTES = "{place} is a capture of {size}; at most {limit} are opened"
LONG_CONTEXT_OPENS_IT = "Long context opens it"
CAPTURE_LESS = "choose layers=, heads=, queries= or calls= of capture"
ONE_LIST_FOR_MANY = (
    "One list of tokens was given, and words of {count} sequences went through the model; give "
    "each its own: tokens={tokens}."
)
MOST_OF_ALL = "most of all item {item}, head {head}"

# ---- readers (on pages) --------------------------------------------------------------------------

STANDS_BETWEEN_ROWS = "{place}: “{text}” stands between its rows; every number has to be there."
ADDS_ALIBI = "it adds ALiBi, a slope by distance, to the scores"
HIDES_LATER_TOKENS = "it hides later tokens (choose the causal mask)"
DIFFERS_FROM_THE_MODEL = "differ from the model"
PICKLE = (
    "{place} is a pickle, which runs code when it is opened, so it is not opened here; these two "
    "lines save it as .safetensors."
)
EMPTY_FILE = "{place} is empty."
COMMAS_ARE_DECIMAL = "The commas are decimal."
TOO_MANY_BYTES = "{place} has {found} bytes; at most {limit} are read."
TURNED_BY_NAME = "{role} is {name}, by its name stored as (out, in), and transposed."
NO_NUMBER = "{place} holds no number."
