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
NUMBER_EXPECTED = "{name} is {given}; expected a number."
HEADS_DO_NOT_SHARE = (
    "{heads} heads of queries cannot share {given} heads of keys and values evenly."
)
PACKAGE_MISSING = (
    "attention.{name} needs the package {name_2}, which is not installed; the extra brings "
    "it: pip install 'attention-stage-by-stage[app]'."
)
TOKENS_AND_FEATURES = "{name} has shape {shape}; expected (tokens, features)."
D_K_DIFFERS = "Q has {q} columns and K has {k}; both need the same d_k."
GAIN_LENGTH = (
    "gain_{name} holds {length} numbers; expected {d_k}, one for each column of a head of {name}"
    ", or {columns}, one for each of all."
)
FINISHED_WEIGHT = "a finished weight, as it was brought"
HIDDEN_KEY = "this key is hidden"
WEIGHT_IS_0 = "the weight is 0"
NO_COLUMNS = "Q and K have no columns; d_k needs to be at least 1."
ONE_VALUE_FOR_EACH_KEY = "K has {keys} rows and V has {values}; there is one value for each key."
LEADING_AXES_DIFFER = "the leading axes {q} of Q, {k} of K and {v} of V do not broadcast."
BOOLEANS_EXPECTED = (
    "allowed {seen}; expected booleans, True where a query may look at a key (write `mask"
    " == 1` or `mask == 0`)."
)
BIAS_LIKE_A_MASK = (
    "{name} holds only 0 and 1, like a mask; give allowed=(mask == 1) or (mask == 0). Where"
    " they are to be added, bias - 1 gives the same weights."
)
SHAPE_DOES_NOT_FIT = "{name} has shape {shape}, which does not fit the scores {scores}."
POSITIVE_EXPECTED = "{name} is {given}; expected a positive number."
INTEGER_EXPECTED = "{name} is {given}; expected a whole number from {least}."
TRUE_OR_FALSE_EXPECTED = "{name} is {given}; expected True or False."
ONE_ROW_EXPECTED = "{name} has shape {numbers}; expected numbers in one row."
TABLE_SHAPE = "table must have shape (buckets, heads) with {rule}, got shape {shape}."
ROWS_OF_DIFFERENT_LENGTHS = "{name} has rows of different lengths; every row needs the same."
UNREADABLE_BY_NUMPY = "{name} is a {name_2} that NumPy cannot read ({said})."
MASKED_ARRAY = (
    "{name} is a masked array with {hidden} hidden cell{plural}; give {again}.filled(…), "
    "and say by allowed= which keys a query may look at."
)
ARRAY_EXPECTED = "{name} {found}; expected an array or a list of rows."
BEYOND_FLOAT64 = "{name} holds a number beyond ±1.8e308; expected numbers that fit into float64."
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
POSITIONS_SHAPE = "positions has shape {p}; expected {wanted}, as X has it."
TWO_AXES_EXPECTED = "{name} has shape {shape}; expected two axes, (rows, columns)."
ROWS_DO_NOT_MEET = "{name} has {rows} rows; expected {columns}, one for each column {meets}."
BIAS_LENGTH = "{bias} holds {length} numbers; expected {columns}, one for each column of {name}."
NO_ARGUMENT = "there is no argument {name}; {name_2}."
CACHE_DOES_NOT_FIT = "the cached {past} and the new {new} differ in more than their tokens."
QUERIES_EXPECTED = "queries is {queries}; expected numbers of queries."
MEAN_OR_LARGEST = 'of is {of}; expected "mean" or "largest".'
OUTPUT_WITHOUT_V = "the output is asked for without V; give V, or leave it out of results."
LONG_MASK_EXPECTED = (
    "allowed {seen}; expected booleans or a mask of attention.places, such as places.causal()."
)
EXECUTOR_EXPECTED = (
    "executor is {executor}; expected one with submit(function, argument), such as "
    "concurrent.futures.ThreadPoolExecutor()."
)
BOUND_EXPECTED = "{name} is {bound}; expected a whole number from 0, or None for no bound."
MORE_COLUMNS_THAN_KEYS = "the mask has {mask} columns; there are only {n_k} keys."
MASK_MOD_BOOLEANS = (
    "what mask_mod returned {made}; expected booleans, True where a query may look at a key."
)
ASKS_WHETHER_TRUE = "{name} asks whether an array is true; {at_once}."
INDEX_OF_A_LIST = "{name} takes an index of a list; write np.array(…)[q]."
ROTARY_PAIRS = "pairs is {pairs}; expected 'halves' or 'interleaved'."
SINKS_NEED_SOFTMAX = "sinks are scores in a softmax's sum; give them with softmax=True."
FLOAT_TYPE_EXPECTED = "dtype is {dtype}; expected a float type such as np.float32."
FINITE_SINKS = "sinks is {sinks}; expected finite numbers."
SINKS_SHAPE = (
    "sinks has shape {numbers}, which does not fit the leading axes {shape} of the scores; "
    "expected a number, or one for each head."
)
SOFTMAX_EXPECTED = (
    'softmax is {softmax}; expected True, False, "{sigmoid}" or a function of (masked, allowed)'
    " → weights."
)
SOFTMAX_ARGUMENTS = "softmax is a function of {taken}; expected one of (masked, allowed) → weights."
SOFTMAX_TYPE = "what softmax returned {weights}; expected {dtype}, as the scores are."
SOFTMAX_SHAPE = "what softmax returned has shape {weights}; expected that of the scores, {masked}."
D_K_EXPECTED = "d_k is {d_k}; expected a whole number from 1 on."
TRACE_EXPECTED = (
    "expected a trace, such as attention.scaled_dot_product_attention gives; got {name}."
)
WHOLE_NUMBER_EXPECTED = "{argument} is {given}; expected a whole number."
LABELS_COUNT = "{argument} has {have}; expected {count}, one for each."
NAMES_EXPECTED = (
    "names is {names}; expected labels of dimensions, such as {{'d_v': ['yes', 'no']}}."
)
WORDS_EXPECTED = "{argument} is {words}; expected a list of words."
NO_CHARACTER_IN = "{name} holds {odd}, which is no character; remove it."
HALF_A_CHARACTER_IN = "{name} holds {half}, half of a character; the other half is missing."
EMPTY_RANGE = "the range {low} … {high} is empty; the first number needs to be the smaller one."
HIDDEN_FROM_QUERY = "this query may not look at this key"
SEEN_BY_QUERY = "this query may look at this key"
EVERY_KEY_HIDDEN = "every key of this query is hidden"
OUTPUT_IS_0 = "the output is 0"
COLUMN_NOT_ROTATED = "only the first {columns} columns are rotated; this one stays"
EACH_BY_ITSELF = "each weight by itself"
NUMBERS_EXPECTED = "{name} {seen}; expected real numbers."
BIAS_NUMBERS_EXPECTED = "bias {seen}; expected numbers to add to the scores."
SHAPE_EXPECTED = "{name} has shape {shape}; expected {wanted}."
ITEM_OR_HEAD = (
    "{name} has shape {shape} and the scores {scores}; write {item} (one per item) or {head} (one"
    " per head)."
)
TABLE_TOO_LARGE = "{place} is too large; at most {limit} numbers are read."
COUNT_TOO_LARGE = "{name} is {given}; at most {most} is allowed."
FINITE_ROW_EXPECTED = "{name} {seen}; expected finite numbers in one row."
TWO_BUCKETS = "at least 2 buckets"
FOUR_BUCKETS = "an even number of buckets, at least 4"
TABLE_FOR_OTHER_HEADS = (
    "the table of relative has {columns} columns and there are {heads} heads; expected one column"
    " for each head, or one for all."
)
TABLE_FOR_ONE_HEAD = (
    "the table of relative has {columns} columns and there is 1 head; expected one column for"
    " each head, or one for all."
)
RELATIVE_EXPECTED = "relative is {given}; expected attention.RelativeBias(table)."
CANCELLED = "cancelled after {done} of {total} blocks."
BIAS_FOR_EACH_SCORE = "A bias to add to each score."
BIAS_AND_FILL = "A bias to add to each score, and −1e9 where the key is hidden."
BIAS_IS_ADDED = "The bias is added."
BIAS_HIDES = "The bias is added; hidden keys get −∞."
BIAS_FILLS = "The bias is added; hidden keys also get −1e9."
SINK_TAKES = "Rows add up to less than 1: a sink takes {shares}."
SINK_TAKES_LITTLE = "A sink takes less than 1 % of each row."
LIST_IN_ITSELF = "holds itself"
LISTS_TOO_DEEP = "is more than 64 lists deep"
BLOCK_FAILED = "the block of {place} failed: {error}."
CELLS_HIDDEN = "{hidden} of {cells} cells hidden"
QUERY_WITHOUT_KEYS = (
    "{hidden} of {cells} cells hidden; 1 query sees no key, weights and output are 0 there"
)
OTHERS_IN_WARNINGS = "The others are in trace.warnings."
MET_BY_QUERIES = "{queries}, counted from 0: {reason}."
Q_NOT_FINITE = "Q holds NaN or infinity"
K_NOT_FINITE = "K holds NaN or infinity at a visible key"
V_NOT_FINITE = "V holds NaN or infinity at a visible key"
SCORES_TOO_LARGE = "the scores go beyond {kind}, which ends at {end}; make Q or K smaller"
SCALE_TOO_LARGE = "the scale takes the scores beyond {kind}, which ends at {end}"
BIAS_NOT_FINITE = "the bias makes scores infinite or NaN in {kind}, which ends at {end}"
OUTPUT_NOT_FINITE = "the output is not finite, or goes beyond {kind}, which ends at {end}"
W_O_NOT_FINITE = "W_O holds NaN or infinity, or leads beyond {kind}, which ends at {end}"
GIVE_ARGUMENT = "give {argument}="
GIVE_ARGUMENT_TO = "give {argument}= to attention.{function}"
GIVE_IT_TO = "give it to attention.{function}"
GIVE_ALLOWED_OR_BIAS = (
    "give allowed=, True where a query may look at a key, or bias= for numbers to add"
)
GIVE_CAUSAL = "give allowed=attention.causal(n_q, n_k)"
GIVE_PLACES_CAUSAL = "give allowed=attention.places.causal()"
GIVE_PADDING = "give allowed=attention.{padding}, True where a token is real"
GIVE_MASK_MOD = "give mask_mod=, a function (b, h, q, k)"
LEAVE_DROPOUT_OUT = "leave it out, as no weight is dropped here"
REPEAT_HEADS = "repeat the heads of K and V by attention.repeat_heads(K, heads)"
OUT_OF_RECORD = "{name} is {given}; 0 to {last} are there."
SLICE_EXPECTED = "{name} is {given}; expected a slice or two numbers from 0 to {count}."
RISING_SLICE_EXPECTED = (
    "{name} is {given}; expected a slice or two numbers from 0 to {count}, the first below the"
    " second."
)
UNKNOWN_RESULT = "there is no result {name}; choose among {known}."
LONG_SOFTMAX_EXPECTED = (
    'softmax is {softmax}; expected True or "{sigmoid}": any other is what'
    " scaled_dot_product_attention takes."
)
SIGMOID_WITHOUT_SINKS = "sinks are part of the sum of a softmax; a sigmoid has none."
FUNCTION_EXPECTED = "{name} is {given}; expected a function of {arguments}."
TOKEN_COUNTS_EXPECTED = "lengths is {lengths}; expected numbers of tokens from 0."
REAL_TOKENS_EXPECTED = "real {seen}; expected booleans, True for a real token."
MASK_OR_BIAS_EXPECTED = "the mask {seen}; expected booleans or numbers to add."
CACHED_KEYS_EXPECTED = "past is {past}; expected numbers of cached keys."
CALLED_AT_ONCE = "it is called once for all scores, so write &, | and np.where for and, or and if"
UNKNOWN_PATTERN = "there is no pattern {name}; choose one of {known}."
TOKENS_DO_NOT_FIT = "{name} has {tokens} tokens; there are {count} {what}."
ITEMS_DO_NOT_FIT = "{name} is given for {given} items; there are {items}."
RECORD_EXPECTED = "{name} is {given}; expected attention.{record}(…)."
FREQUENCIES_LENGTH = (
    "frequencies holds {length} numbers; expected {pairs}, one for each pair of {columns} columns."
)
EVEN_WIDTH_EXPECTED = "{name} is {width}; expected an even number, as columns turn in pairs."
SINKS_TOO_LARGE = "sinks is {sinks}; expected numbers that fit into {dtype}."
OUT_OF_RANGE = "{word} is {place}; there are {count} {word}s, counted from 0."
OUT_OF_RANGE_OF_MODEL = (
    "{word} is {place}; there are {count} {word}s, counted from 0 ({numbers} of the model)."
)
ONLY_ONE = "{word} is {place}; there is 1 {word}, number 0."
SIZES_EXPECTED = "shape is {shape}; expected the numbers of rows and columns, such as (4, 3)."
SEED_EXPECTED = "seed is {seed}; expected a whole number from 0, or a list of them."
NO_MASK = "No mask: nothing is hidden."
FILL_IS_ADDED = "Hidden keys get −1e9 added, as tutorials do."
OTHER_COLOURS_THAN_V = "colours have another range than V's"
COPIED_FROM_HEAD = "column {column} of head {head}, copied"
ROW_SHARES_OUT_1 = "Each row sums to 1."
ROW_OF_NO_KEY = "Each row sums to 1; one with no visible key stays 0."
SINK_PATTERN = "Every query gives most of its weight to the first token, which carries no meaning."
NO_SUCH_SETTING = "a figure has no setting {name}."
WORKSHEET_HAS_NO_ROOM = (
    "a worksheet has room for {words} words and matrices {wide} wide; {name} is {size} here."
)
NOTHING_TO_WORK_OUT = "finished weights leave nothing to work out on a worksheet."
ROUND_TO = "Round to {to}. The answer key rounds only at the end, so your last digit may differ."
GIVEN_IS_ROUNDED = "The key is computed from the given numbers as they are printed."

# ---- exports -------------------------------------------------------------------------------------

TOO_MANY_SHEETS = "got {count} sheets; expected 1 to {most}."
FIRST_SEED_IS = "the first seed is {seed}; expected 1 to {most}."
PRINT_THE_SHEET = (
    "To print on A4 or Letter, or to save as PDF, press Ctrl+P (⌘P on a Mac). Print on one side"
    " only, so that the answer key is never on the back of a sheet."
)
OPEN_AND_PRINT = "Open the file in a browser and press Ctrl+P to print it or to save it as PDF."
KEYS_ON_OWN_PAGES = (
    "In a class set each sheet is one page with its own small whole numbers, drawn from a seed:"
    " the first sheet from the first seed, the others from the next seeds. Seed 7 gives"
    " the numbers of exercise 7 (“By hand”) on the page Exercises. The answer keys are on separate"
    " pages at the end."
)
NO_LAYERS_NAMED = "layers names none; expected at least one."
STAGES_TOO_LARGE = (
    "these stages hold {numbers} numbers{place}; at most {most} fit. NPZ holds them all."
)
TOO_MANY_DOTS = (
    "a PNG of {wide} × {tall} cm at {dpi} dots per inch has {count} million dots; expected at"
    " most {max_dots} million. Choose fewer dots per inch, or save a PDF or SVG."
)
NPZ_HOLDS_ALL = "stages cannot be chosen for a '.npz', which holds all of them."
REPORT_IS_HTML = "{name} does not end in '.html'; a report is HTML."
FILE_NAME_EXPECTED = "path is {path}; expected the name of a file."
OTHER_ENDING = "{name} ends in {ending}; {known} can be written."
NO_ENDING = "{name} has no ending; {known} can be written."
HEAD_NOT_CAPTURED = "head is {head}; captured were {there}."
UNKNOWN_FORM = "form is {form}; choose one of {known}."
TEXT_IS_ROUNDED = "rounded to {digits} digits; CSV, JSON and NPZ are exact"
STRUCK_THROUGH = "Struck through: hidden by the mask."
EVERY_QUERY = "Exact: every query of these cells was computed."
FILES_HOLD = (
    "CSV, JSON, LaTeX and Markdown contain the “Stages to include” (all if none is chosen) of the"
    " item and head shown; NPZ and the saved state contain everything. Upload a saved state under"
    " “Your data”."
)
TOO_MANY_TO_PRINT = "{size} numbers are too many to print; NPZ holds them all."
SAMPLED_ENTRIES = "{distribution} entries, seed {seed}, {samples} scores for each d_k"
HEAD_OF_THE_MODEL = "head={head} of the arrays is the model's head {number}"

# ---- figures -------------------------------------------------------------------------------------

NO_HEADS_NAMED = "heads names none; expected at least one."
PANELS_TOO_LARGE = (
    "these panels hold {cells} cells; at most {max_printed} can be printed. Choose fewer "
    "stages or heads, or trace fewer tokens."
)
PANES_TOO_LARGE = (
    "these panels hold {cells} cells; at most {max_printed} can be printed. Choose fewer of them."
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
NAMES_OF_STAGES_EXPECTED = "stages is {stages}; expected a list of names, such as ['weights']."
NOTHING_TO_DRAW = "nothing to draw: no stage that was asked for has a cell ({listed})."
CELLS_TOO_MANY = (
    "these stages hold {cells} cells; at most {max_drawn} can be drawn. Choose fewer "
    "stages, or trace fewer tokens."
)
TEXT_EXPECTED = "{name} is {given}; expected text."
RANGE_EXPECTED = "{name} is {given}; expected {least} to {most}."
RANGE_WITH_UNIT_EXPECTED = "{name} is {given}; expected {least} to {most} {unit}."
NAME_OR_RANGE_EXPECTED = "{name} is {given}; expected {names}, or {least} to {most} {unit}."
LETTERS_EXPECTED = "{name} is {given}; expected at most {most} letters."
LESS_EXPECTED = "{name} is {given}; expected less than {most}."
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
UNKNOWN_STAGE_OF_FRAME = "stage is {name}; there is no such stage: {known} are there."
STAGE_OF_FRAME_NOT_IN_TRACE = "stage is {name}; this trace does not have it: {known} are there."
STAGE_EXPECTED = "stage is {given}; expected the name of a stage, such as 'weights'."
NO_WIDE_FRAME_OF_ALL = (
    "tidy is False and no stage is named; stages of different shapes make no wide table. Give "
    "stage=, such as stage='weights', or tidy=True."
)
FRAME_TOO_LARGE = (
    "{what} {count} numbers; a {form} table has at most {most}. {do} all of them: "
    "attention.save(trace, 'trace.npz')."
)
EXTREME_AT = "{which} {number} at row {row}, column {column}"
CELLS_ARE_HIDDEN = "{cells} hidden."
CELLS_TO_FILL_IN = "{cells} to be filled in."
COLOURS_BY_ROOT = "Colours follow the square root."
KEY_WITH_MOST = "Of the keys shown, {key} gets the most: {most}. Together they get {total}."
POINT_IS_LARGEST = "Each point is the largest of {count} keys."
IN_THE_MEAN = "on average"
VARIANCE_OF_SCORES = "{count} scores have variance {variance} ± {margin}; theory says {d_k}."
VARIANCE_WHEN_SCALED = "Scaled: {variance} ± {margin}; theory says 1"
DEVIATIONS = "{scores} for the scores, {scaled}"
KEY_TAKES = "Key {key} gets"
TAKES_OVER = "gets over {share} unscaled"
UNSCALED_AND_SCALED = "{unscaled} unscaled, {scaled} scaled"
NATS_LEFT = "In nats (natural logarithm): {unscaled} unscaled, {scaled} scaled; at most"
SCALE_IS_1 = "At d_k = 1 the scale is 1: scores and scaled scores are the same."
RULE_DOES_NOT_APPLY = "The rule does not apply here"
RULE_APPLIES = "are near 0, as the rule needs"
NO_SPREAD = "has variance 0"

# ---- frameworks ----------------------------------------------------------------------------------

ANSWER_SHAPE = "{name}: the shape is {shape}; expected {wanted} for these inputs."
NO_ANSWER_GIVEN = "neither output nor weights is given; give the numbers of the other code."
SIZES_DIFFER = "{name} is {a} in A and {b} in B."
ONLY_ONE_MISTAKE = "Only one of the known mistakes changes this stage first."
ONLY_ONE_HAS = "Only {side} has {name}."
TOO_MANY_SCORES_SEARCHED = "{sides} scores are {found}; at most {limit} are searched."
DIVIDED_BY_D_K = "The scores are divided by d_k, not √d_k."
OUTPUT_FOLLOWS_FROM_WEIGHTS = (
    "The output follows from the weights given with it: the trouble lies {place}."
)
OUTPUT_RIGHT_WEIGHTS_NOT = "The output is right, but it was not made with the weights given."
TROUBLE_ON_BOTH_SIDES = (
    "The weights are not right, and the output does not follow from them either: there is "
    "trouble on both sides."
)
WEIGHTS_WITH_DROPOUT = (
    "The weights given are right ones with dropout: {sum} of {sum_2} are 0, and the others "
    "{by}; model.eval() turns it off."
)
DROPOUT = (
    "dropout of {rate}: {gone} of the {all} weights are 0, and the others {by} times what they were"
)
SCALE_FITTED = "the scores are multiplied by {value}, not by {own}"
EXP_IS_INFINITE = (
    "They are exactly those of queries with {what} beyond {limit}, whose exp is infinite in "
    "{kind}: subtract each row's maximum before exp."
)
BEYOND_THE_TYPE = (
    "They are exactly those of queries with {what} beyond {limit}, the most that {kind} holds."
)
NAN_OR_INFINITE = (
    "{sum} of the {lost} numbers of the {name} {hold} NaN or infinite where right attention"
    " is finite, the first at [{first}]."
)
FUNCTION_OF_A_SENTENCE = "announce is {announce}; expected a function of a sentence."
NOTHING_TO_COMPARE = "There is no finite number to compare: {nothing}. Likely cause: {cause}."
COUNTED_AS_ROUNDED = "{each}. To compare more digits, {how}."
READ_AS_ROUNDED = "{names} were read as rounded to {what}"
ONE_READ_AS_ROUNDED = "{name} was read as rounded to {what}"
COUNT_AS_EXACT = (
    "No number of {names} has more than {count} decimals, and they count as exact; if they "
    "were rounded, give them in full, by {in_full}, or in Python decimals={count_2}."
)
NOT_TRIED = "Not tried: pairs without one of the twelve commonest mistakes, and three at once."
INPUTS_MISSING = "{missing} missing; give Q, K and V, or X, W_Q, W_K and W_V."
BOTH_GIVEN = "both X and Q, K or V are given; give one of the two."
ONE_FOR_EACH_COLUMN = "{name} has shape {row}; expected one number for each column."
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
NO_FEWER_HEADS = "It has no argument for fewer heads of keys and values."
NOT_IN_THE_TABLE = "{name} is not in the table; the names are {names}."
BOOLEAN_MASK_EXPECTED = "mask holds {dtype}; expected booleans (write `mask == 1` or `mask == 0`)."
ROUNDING_TRIED_ON = "What rounding the inputs changes was tried on {queries} of the {n_q} queries."
MIXED_QUERIES_NOT_TRIED = "Mistakes that mix queries were not tried: there are too many scores."
MIXED_QUERIES_ALONE = "Mistakes that mix queries were tried alone, not with others."
OUTPUT_FOLLOWS = "{said} The output follows from them."
OUTPUT_RIGHT_ALL_THE_SAME = "{said} The output is right, and was not made with them."
OUTPUT_DOES_NOT_FOLLOW = "{said} The output does not follow from them."
TIMES_WHAT_THEY_WERE = "{factor} times what they were"
WEIGHTS_AVERAGED = "The weights given are the mean of the right ones over the {axes}."
BEFORE_WEIGHTS = "before the weights, in Q, K, the scores, the mask or the softmax"
IN_WEIGHTS = "in these weights, whose rows do not sum to 1, or {before}"
TROUBLE_IN_V = (
    "The weights are right: the trouble lies after them, in V, the heads' joining or what follows."
)
OUTPUT_BEYOND_THE_TYPE = "They are exactly those beyond {limit}, the most that {kind} holds."
FEW_DIFFER = (
    "{count} of the {size} numbers of the {name} differ from right attention, the first at"
    " [{first}]."
)
EVERY_NUMBER_LOST = "every number of the {name} is {what}"
LOST_BEFORE = (
    "a number is NaN or infinite already before the attention, or the softmax divides 0 by 0 or"
    " overflows"
)
MASK_IS_WRONG = (
    "the mask is wrong on their side (inverted, +∞ for −∞, or 0 · −∞ = NaN where a mask is"
    " multiplied by −∞),"
    " no softmax follows it, {queries}or an input there is NaN or infinite already"
)
SOFTMAX_OVER_QUERIES = "the softmax runs over the queries (0/0 for a key that no query sees), "
NO_QUERY_SEES_A_KEY = (
    "no query sees a key, and softmax of nothing but −∞ is 0/0, NaN; give such rows weights 0"
)
EXP_OVERFLOWS = (
    "scores reach {most}, and exp of more than {limit} is infinite in float32; subtract each row's"
    " maximum before exp"
)
SCORES_OVERFLOW = "scores reach {most}, more than float16 holds ({limit})"
INPUT_NOT_FINITE = "{name} holds NaN or infinite numbers"
DECIMALS_OF_WHAT_IS_NOT_GIVEN = "decimals names {name}; it may name {there}, which are given."
WHAT_FOLLOWS = "{nothing}. What follows is about the {other} alone. {verdict}"
CHECK_EXAMPLE = (
    "An example, until you enter your numbers: the output of code with the mistake chosen under"
    " “Try a known mistake”."
)
CHECK_RIGHT_EXAMPLE = "An example, until you enter your numbers: the output of correct code."
NUMBERS_ARE_RIGHT = "Right: all numbers agree to {digits}."
RIGHT_IN_TYPE = "Right: all numbers agree to {digits}, as near as {kind} comes."
DECIMALS_OR_TYPE = (
    "{name} is {given}; expected a number of decimals, or one of bfloat16, float16 and TF32."
)
ALSO_WHAT = "This is also what "
LIBRARY_RETURNS = "This is what {library} returns here, and no known mistake explains it."
RIGHT_WHEN_ROUNDED = "Right, as far as {rounding} can tell: all numbers agree to {digits}."
RIGHT_IN_HALF = (
    "Right if they were computed in half precision ({kind}), which numbers as short as these do"
    " not show: they are off by up to {error}."
)
OR_A_MISTAKE = "{said} Or there is a mistake, and the numbers cannot tell: {titles}."
NO_KNOWN_MISTAKE = "None of the known mistakes explains these numbers, nor do two of them together."
NO_MISTAKE_ALONE = "None of the known mistakes alone explains these stages."
FIRST_THAT_DIFFERS = "{agree}; {first} is the first that differs"
LOOK_AT_THE_STEP = "Look at the step that makes {stage}."
A_STAGE_IS_NOT = "The {what} right, but a stage is not."
STAGES_UNEXPLAINED = (
    "The stages given are not what these mistakes make of them: there is more to find."
)
NO_STAGE_HERE = (
    "stages names {name}; with these inputs it may name Q, K, V, scores, scaled, masked, weights"
    " and output."
)
STAGE_SHAPE = "stages['{stage}']: the shape is {shape}; expected {expected} for these inputs."
BOTH_ARE = "“{one}” and “{other}” are both {name}; give one of them."
NO_ARRAY_IS_CALLED = "No array here is called {known}; write the name before each."
STAGES_ARE_A_DICT = "stages is {given}; expected a dict of arrays by stage."
RIGHT_WITH_A_MASK = "Right with {mask}, which was not given.\nPass allowed=attention.{call}."
CHOOSE_THE_MASK = "Right with {mask}, which was not given. Choose it {where}."
LOOK_AHEAD = "a look-ahead mask"
LOOK_AHEAD_LAST = "a look-ahead mask aligned to the last key"
EQUALLY_WELL = (
    "These explain the numbers equally well, and the numbers cannot tell which: {titles}."
)
WITH_THAT = (
    "{titles}. With that, all numbers agree to {digits}; the first difference is in {stage}."
)
DIGITS_CANNOT_TELL = "{digits} cannot tell them from numbers with one of these mistakes: {titles}."
HALF_WOULD_EXPLAIN = "Half precision ({kind}) would explain them; the numbers do not show it."
NEXT_TO_RIGHT = (
    "Next to right attention, the output by up to {output} and the weights by up to {weights}."
)
QUERIES_COMPARED = "Only {compared} of the {queries} queries were compared."
NUMBERS_IN_FULL = (
    "M.tolist(), np.set_printoptions(floatmode='unique') or"
    " torch.set_printoptions(precision=16, sci_mode=True)"
)
PRINT_IN_FULL = "print them with {numbers}"
BEFORE_CONVERSION = "give the numbers as they were before conversion to {kind}"
TRUE_MEANS_HIDE = (
    "True means hide in nn.MultiheadAttention, may look in F.scaled_dot_product_attention."
)
NOTHING_CHANGES = "Nothing changes here: both agree to {digits}"
CORNERS_DIFFER = "The look-ahead of {b} is aligned {at}, that of {a} {there}."
SWITCH_HIDES_NOTHING = "The look-ahead switch of {library} hides nothing from a single query."
IGNORES_THE_MASK = "{library} ignores the mask next to its look-ahead."
DOES_NOT_DIVIDE = "{b} does not divide by √d_k, {a} does: the weights of {b} are sharper."
SCALE_0_IS_NONE = "{library} reads a scale of 0 as none given."
FILLER_LOSES_WEIGHT = (
    "The filler of {library} is finite: up to {share} of a row's weight is lost to hidden keys."
)
FILLER_KEEPS_WEIGHT = (
    "The filler of {library} is finite: a hidden key keeps up to {share} of a row's weight."
)
NAN_REACHES_ANSWER = "NaN or ∞ at a hidden key reaches the answer of {library}."
ROOTS_OF_SCALE = "{library} multiplies Q and K by √scale each: large scores round differently."
COMPUTES_IN_FLOAT32 = "{library} computes all in float32."
SOFTMAX_IN_FLOAT32 = "{library} computes the softmax in float32."
ROW_SEES_NO_KEY = "{rows} no key{some}: {there} in {b}, {here} in {a}."
NEITHER_HAS = (
    "Neither library has an argument for the {parts} on Explore: both results are without."
)
ONCE_THE_MASK_IS_READ = "Once it reads the same mask: row 1 sees no key"
HEADS_SHARE_KEYS = "Heads of queries share keys {there} in {b}, {here} in {a}."
LEAVES_A_PART_OUT = "{library} leaves the {part} out: it has no argument for it."
NOT_A_FACET = "{facet} is no facet; the facets are {facets}."
NEEDS_PANDAS = "{name} needs the package pandas, which is not installed: pip install pandas."
NUMBERS_OF_LIBRARY = "These are the numbers of {library}, to {digits} digits."
NOT_NUMBERS_OF_LIBRARY = "These are not the numbers of {library}"
BIAS_WITHOUT_MATRIX = "{name} is given without {matrix}; it belongs to it."
SIGMOID_EXPECTED = 'softmax is {softmax}; expected True or "{sigmoid}".'
NOT_SCALED = "the scores are not scaled"
MULTIPLY_BY_SCALE = (
    "Multiply the scores by the scale, by default 1/√d_k, before they are masked and become"
    " weights."
)
Q_AND_K_SWAPPED = "Q and K are swapped"
LEFT_OUT = "{name} is left out"
MASK_INVERTED = "the mask is inverted"
MASK_MAY_MEAN_THE_OTHER = (
    "Find out what True means: may look in torch's SDPA, hide in nn.MultiheadAttention; negate the"
    " mask."
)
SCORES_BECOME_0 = "hidden scores become 0 (set to 0 or 1e-9, or multiplied by the mask)"
FILLED_WITH = "hidden scores are filled with {number}"
FILLED_WITH_SOME_NUMBER = (
    "hidden scores are filled with a finite number, and these numbers do not tell which"
)
MASK_BEFORE_WEIGHTS = "Mask the scores before they become weights."
NO_SOFTMAX = "there is no softmax"
TAKE_ONE_SOFTMAX = "Take one softmax, over the last axis, the keys."
SOFTMAX_FOR_SIGMOID = "a softmax is used instead of the sigmoid"
ALIBI_ADDED = "ALiBi is added to the scores"
SEARCHED_IN_PART = (
    "{shape} scores: up to {sets} sets of mistakes are tried on {searched} of {queries} queries,"
    " and what fits there on all, in about {seconds} s at most."
)
PAIRS_TRIED = "Of {pairs} pairs the {tried} commonest were tried."
MASK_ADDED = "the mask is added to the scores as 0 and 1"
RIGHT_NUMBERS = "Right: all numbers agree to "
ALL_AGREE_WITH = "{title}. With that, all numbers agree to {digits}"
MASK_AFTER_SOFTMAX = "the mask is applied after the softmax"
OVER_QUERIES = "the softmax runs over the queries"
NO_SUCH_ARGUMENT = "no such argument"
TRANSPOSED_WEIGHTS = "The transposed weights multiply the values: weightsᵀ V"
HEADS_BY_RESHAPE = "the heads are split by a reshape without a transpose"

# ---- play ----------------------------------------------------------------------------------------

SOFTMAX_RAISES_E = "Raise e to each score, then divide by the sum"
SOFTMAX_WITH_SINK = f"{SOFTMAX_RAISES_E} with the sink"
SCORES_ARE_WEIGHTS = "Softmax is off: the scores are the weights"
WEIGHTS_OF_NO_KEY = "{token} sees no key, so all its weights are 0"
CAP_KEEPS_SCORES = "Cap: tanh keeps every score within ±{cap}"
BIAS_THEN_HIDES = "Add the bias, then hide the masked keys"
FILL_WHERE_HIDDEN = "−1e9 where the key is hidden"
FILL_ADDED_WHERE_HIDDEN = f"Add {FILL_WHERE_HIDDEN}"
FUNCTION_OF_SCORES = "Apply the given function to every score"
FUNCTION_OF_ROW = "Apply the given function to the row of scores"
MIX_ADDS_ROWS = "Add up the rows of V, each times its weight"

# ---- html ----------------------------------------------------------------------------------------

LINES_WITHOUT_SOFTMAX = "lines are drawn of shares, which softmax makes; here it is off."
LINES_TOO_MANY_WORDS = (
    "lines are drawn between at most {most} words; here are {count}, which the map shows."
)
LINES_LEAD_TO = "Weights as lines; the thickest of “{query}” leads to “{key}”."
NO_LINES = "Weights as lines; “{query}” has none."
BOTH_SHOW = "Q, K, V of A and B: {head}."
EACH_SHOWS = "Q, K, V of A: {a}; of B: {b}."
A_AND_B_ARE_THE_SAME = (
    "A and B are the same: change any control or number, or choose a comparison above."
)
NO_SUCH_CELL_OF = "{side} has no such cell in {stage}."
GUESS_IS_RIGHT = "✓ Yes."
GUESS_IS_WRONG = "Not this one."

# ---- launch --------------------------------------------------------------------------------------

SENT_TEXT = "A client sent text, not bytes; its connection was closed."
UPLOAD_CANCELLED = "A client cancelled its upload."
NOT_AN_ADDRESS = "{address} is not an IP address; expected one such as 127.0.0.1 or 0.0.0.0"
NOT_A_PORT = "{port} is not a port; expected a number up to 65535"
CANNOT_BE_OPENED = "{path} cannot be opened: {why}."
SAVED_STATE_TOO_LARGE = "{path} has more than {max_state} bytes; a saved state has fewer."
CANNOT_BE_USED = "{path} cannot be used: {why}"
PACKAGES_LACKING = 'the dashboard also needs {packages}: pip install "{extra}"'
NEWER_PACKAGE = "{name} {least} or newer (not {found})"

# ---- models --------------------------------------------------------------------------------------

NO_SUCH_HEAD = "heads asks for head {heads}; this attention has {heads_2} heads, counted from 0."
WITHOUT_TORCH = (
    "attention.capture listens to a model of torch, which is not installed here; it is run where "
    "the model runs."
)
NOT_A_MODULE = "model is a {kind}; expected a torch.nn.Module."
COMPILED_MODEL = (
    "The attention of a compiled model cannot be captured; pass the model from before"
    " torch.compile, such as model._orig_mod."
)
NUMBERS_FROM_0 = "{name} is {given}; expected numbers from 0, such as [0, 3]."
RANGE_WITHOUT_GAPS = "{name} is {given}; expected a range without gaps: range(8)."
LAYERS_EXPECTED = "layers is {given}; expected numbers from 0, or parts of modules' names."
NOTHING_CHOSEN_CALLED = "None of the chosen layers ran; the layers that ran are {there}."
NO_ATTENTION_RUN = "No attention ran inside the with block; not run: {names}."
NO_KNOWN_DOOR = (
    "No attention was captured inside the with block. capture sees transformers'"
    " AttentionInterface, nn.MultiheadAttention, scaled_dot_product_attention and flex_attention;"
    " not captured: {names}.{hint}"
)
NO_WEIGHTS_TO_CAPTURE = "{kind} has no attention weights to capture: {names}."
NO_ATTENTION_AT_ALL = (
    "{kind} has no attention to capture: no module that ran is called attention, takes a softmax of"
    " three or more axes, or multiplies what it computed more than once."
)
MAKE_WITH_FLASH = " Make it with attn_flash=True, which capture sees."
SET_TIMM_FUSED = " Set TIMM_FUSED_ATTN=2 before timm is imported: capture sees that."
GATE_OR_NORM = "{names}: a gate or norm between the recorded output and the next projection"
LAYERS_WITHOUT_WEIGHTS = "{names}: {what}, no weights"
SCORE_MOD_CHANGES = (
    "score_mod does not only add to scores: its effect on these is recorded as a bias"
)
LOAD_WITH_SDPA = " Load it with attn_implementation='sdpa', which capture sees."
READ_AS_ITEMS_AND_HEADS = (
    "{size} were read as {items} of {heads} heads, which is the module's number"
)
READ_AS_ITEMS = "{size} were read as {items} items of one head: the module {why}"
SAYS_NO_HEADS = "does not say how many heads it has"
VIRTUAL_IN_BETWEEN = "virtual tokens came with later tokens too, so no position is known"
PLACES_OF_THE_SEQUENCE = "Here {places} of the sequence."
BEAMS_CHANGE = "beams change places from step to step, so words after the prompt are not known"
AXES_JOINED = (
    "axes were joined: {axes} became items of one head, as which of them counts heads is not known"
)
WINDOWS = (
    "the items are {part}s, {each} of each picture in turn: item {item} is {part} {last} of"
    " picture {picture}"
)
MODULE_ANSWERS_NAN = "where every key of a query is hidden, the module answers NaN, not 0"
NO_WORDS_HERE = (
    "Got a list of words, but no words went through these layers; to name what did, pass "
    "tokens={wanted}."
)
TOKENS_NAME_NOTHING = (
    "tokens has the key {name}; expected a part of the name of one of these modules: {modules}."
)
LISTS_DO_NOT_FIT = "{name} holds {found} lists of words, and the batch {items} items."
WORDS_DO_NOT_FIT = (
    "{name} has {found} words, and the model read {expected} tokens; expected one word for each,"
    " special and padding tokens among them."
)
WEIGHTS_AND_NO_CAPTURE = (
    "{place} holds a model’s weights and no capture; “Your data” on Explore opens them."
)
MASKS_OF_CAPTURE = "{place} has masks of {size} in memory; at most 140 MB are read."
DAMAGED_CAPTURE = "{place} is a damaged capture."
COMPUTED_BY_NO_ATTENTION = "attention cannot compute what this capture holds: {why}"
EMPTY_CAPTURE = "{place} is a capture of nothing."
LAYER_NOT_CAPTURED = "layer {layer}{step} was not captured; captured: {there}."
LOOK_AHEAD_NOT_CAPTURED = "; its look-ahead (causal) mask was in effect and is not captured"
NOT_CAPTURED = "not captured: {names}"
WAS_NOT_RUN = "was not run: {names}"
SAFETENSORS_ENDING = "{name} does not end in '.safetensors'."
NOTHING_CAPTURED_YET = "Nothing was captured yet: save after the with block."
CANNOT_BE_SAVED = (
    "{name} {why}; choose layers=, heads= or queries= of capture, or save(…, large=True) for "
    "Python."
)
FILE_TOO_LARGE = "would have {size}, and the page reads {limit}"
WORDS_TOO_LARGE = (
    "would hold {found} bytes of names and words, its tokens among them, and {limit} are read"
)
HEADER_TOO_LARGE = "{place} holds {found} bytes of names and words; at most {limit} are read."
NO_CAPTURE = "{place} holds no capture: attention.capture writes one."
TOO_MANY_CAPTURED_HEADS = (
    "holds {found} heads of all layers, calls and items; at most {limit} are shown"
)
TOKENS_EXPECTED = "tokens is {tokens}; expected a list of words, one for each."
TOKENS_ARE_WORDS = (
    "tokens holds {found}; expected words, as tokenizer.convert_ids_to_tokens(…) gives them."
)
CAPTURE_CUT_OFF = "{place} is not a complete .safetensors file."
LOOK_AHEAD_AGREES = (
    "With a look-ahead (causal) mask it agrees: that mask was in effect, and is not in the capture."
)
ANSWERS_OTHERWISE = (
    "Run again, the module returns an output that differs by {difference} (rounding explains"
    " {limit})."
)
DROPOUT_WAS_ON = "Dropout of {dropout} was on: model.eval() turns it off."
NO_PROOF = "no proof, as rounding would explain an output of 0 as well"
NO_PROOF_FOR_HEADS = (
    "no proof for {found} of {heads} heads, as rounding would explain an output of 0 as well"
)
NOT_EXPLAINED = "{found} of {calls} not explained by rounding."
THAT_IS_NO_PROOF = "That is no proof: rounding would explain an output of 0 as well."
NOTHING_TO_VERIFY = "Nothing was captured: there is nothing to verify."
TOO_MANY_MAPPED = (
    "these maps hold {found} weights; at most {limit} can be drawn. Choose fewer layers."
)
TOO_MANY_CAPTURED_NUMBERS = "holds {found} numbers in one head; at most {limit} are shown"
TOO_MANY_CAPTURED_WEIGHTS = "holds {found} weights of all heads; at most {limit} are shown"
LONG_CONTEXT_OPENS_IT = "Long context opens it"
CAPTURE_LESS = "choose layers=, heads=, queries= or calls= of capture"
ONE_LIST_FOR_MANY = (
    "Got one list of tokens, but {count} sequences went through the model; pass one list for each:"
    " tokens={tokens}."
)
MOST_OF_ALL = "most of all item {item}, head {head}"

# ---- pages ---------------------------------------------------------------------------------------

WITHOUT_BOARD = (
    "The board’s scripts could not be loaded, so Plotly draws the stages, and no cell can be"
    " clicked or edited; reload the page to try again."
)
TOO_MANY_TO_DRAW = "This stage has {count} cells; at most {most} can be drawn."
NO_Q_AND_K = "Explore shows finished weights alone, without the Q and K of their scores."
PLAIN_NUMBERS = "Too many numbers to be rounded; NaN is written as NaN, −∞ as -Infinity."
TOO_MANY_FOR_A_TABLE = "This stage has {count} numbers; a table shows at most {most}."
COMPARED_SCORES = (
    "Results are compared for up to {max_compared} scores, 128 × 128, and these are {cells}; use"
    " fewer words on Explore."
)
UPLOAD_TOO_LARGE = "{name} has {size}; at most {limit} are read."
FILE_NO_LONGER_THERE = "The uploaded file is no longer on the server; upload it again."
DO_NOT_FIT_INTO_A_LINK = "do not fit into a link"
NOTHING_IS_KEPT = "this browser keeps nothing: after a reload they are gone."
UPLOAD_IS_MISSED = (
    "What was uploaded is neither in the address nor in this session: upload the file again."
)
LONG_UPLOAD_IS_MISSED = (
    "The queries and keys that were chosen are neither in the address nor in this session: "
    "upload the file again, or open them again from Explore or the captured model. Until then a"
    " pattern is shown."
)
ONE_KEY = "There is one key, so every weight is 1; add a token to see attention choose."
WORDS_ARE_YOUR_OWN = "This sentence is yours. Reset restores the example."
NOTHING_LEADS_TO_THEM = (
    "These are finished weights: nothing leads to them here, and nothing is made of them."
)
WITH_SEED = "With seed {seed}, {said}."
ONLY_ITEM_IS_FILLED = "Only item {item} of the batch is filled."
NOT_OFFERED = "Not available: {labels}; {why}"
EMPTY_BOX = "the box is empty; paste numbers or a sentence."
A_SENTENCE_OF = "This is a sentence of {count}: {tokens}"
PARTS_IN_USE = "In use: {parts}."
SINKS_ARE_OFF = "“Sinks” are off: each weight is made by itself, without a sum."
SINKS_ARE_ON_AGAIN = "“Sinks” are on again, as they were."
SIGMOID_IS_OFF = "“Sigmoid” is off: a sink is part of the sum of a softmax."
PREVIEW_OF = "Preview of {alt}"
FIGURE_WAITS = "Drawing the figure; figures requested earlier come first"
MATPLOTLIB_IS_LOADED = "Loading Matplotlib and listing the fonts (first time only)"
PANELS_ARE_DRAWN = "{number} of {count} panels"
ALIKE_TO_THE_BIT = "Identical in A and B: {stages}."
NO_CSV = "No CSV: {why}"
NO_FILE_OF_BOTH = "No file of A and B together: {why}"
LINK_HOLDS_BOTH = "The link under “Share” holds both A and B."
WRONG_IN_B = "in B {title}"
FILL_IN = "Fill in {stages}"
ANSWER_IS_RIGHT = "✓ Right."
ANSWER_IS_WRONG = "✗ Not yet."
ARITHMETIC_IS_ON_THE_BOARD = "The arithmetic is on the board."
ALL_OF_THEM = "All {count} are done."
TO_GO = "{count} to go."
FOR_A_CLASS = "Each student enters a number and gets their own exercise."
WHICH_MISTAKE = "Which of these mistakes did the code make?"
PROGRESS_IS_KEPT = "The link keeps your progress."
FRAMEWORKS_NEED_INPUTS = (
    "Explore shows only finished weights; libraries need Q, K and V. Choose an example there, or"
    " upload other data."
)
GIVES_NO_ANSWER = "{title} gives no result: {why}"
CHANGE_IT_THERE = "Change it on Explore."
PASTE_ABOVE = "paste {names} above, the same as your code uses."
TYPED_IS_LOST = (
    "A reload loses what is typed here: this browser does not keep it ({why}). Keep a copy of "
    "your numbers."
)
COUNTED_FROM_0 = "queries and keys are counted from 0: edges begin with the first token at 0"
STRONGEST_KEYS = "Strongest keys: {keys}"
CHOOSE_ARRAYS = "choose which arrays are the queries and the keys."
ONE_ARRAY = "{place} holds one array; expected Q and K, as from np.savez(file, Q=Q, K=K)."
CAPTURE_HOLDS = "{place} holds {many}; {layer} is shown. Choose another below the file."
BEFORE_ROTATION = "Before the rotation: {sentence}"
COMPUTED_AGAIN = "{counted}, recomputed in float64."
OUTPUTS_ARE_EQUAL = (
    "Every output matches the model’s own to {difference} (rounding in {kinds} could explain"
    " {times} as much)."
)
OUTPUTS_DIFFER = "{wrong} of {calls} calls differ from the model’s own output"
BY_THE_NUMBER = "this number, most striking first"
MAPS_SHOWN = "{shown} of {count} heads."
MAP_IS_EQUAL = "matches to {apart}"
MAP_IS_OFF = "off by {apart}"
OPENS_ON_LONG_CONTEXT = "Opens on Long context."
MAP_SAYS = "{head}: {measure}; matches the model to {apart}. Opens on Explore."
HEAD_ARRIVED = "{head}, of {model}: as captured, its output matches"
EQUAL_TO_THE_MODELS = "matches the model’s own"
LAYERS_HAVE = "Layers here have a {left}."
MODULES_NOT_CAPTURED = "Not captured: {names}."
MODULES_NOT_RUN = "Not run: {names}."
AND_MORE = " and {count} more"
WORDS_READ = "Words: {words}"
WORDS_READ_BY = "Words ({part}): {words}"
WORDS_IN_ALL = " … ({count} in all)"
STREAMLIT_HAS_NO = "has no {name}; the dashboard does without it."
NOTHING_CHANGES_YET = (
    "You get a preview first. Nothing changes until you press “Use these numbers”."
)
TICK_AND_PRESS_AGAIN = "Tick “{label}” and press again."
PRESSED_TOO_EARLY = (
    "Nothing was changed: “{label}” was pressed before the page had shown what it applies to "
    "now. Look below the board, and press again."
)
AS_ON_EXPLORE = "“{title}” from Explore"
NOTICE = "Notice: {notice}"
EXAMPLE_IS_CHANGED = "You changed this example. Reset restores it."
TAP_TO_CHANGE = "An input. To change it, type, drag it left or right, or tap it again."
ALL_QUERIES_TAKE = "All queries: about {time}, {given} for the inputs and at most {beside} more."
NOTHING_IS_KEPT_AS = "this browser keeps nothing ({why}): after a reload they are gone."
TOLD_TO_FORGET = "it was told to forget"
THE_BROWSER_SAYS = " (the browser says: {why})."
UPLOAD_AGAIN = "The server cannot be reached just now; upload the file again once it is back."
FEWER_DECIMALS = "Numbers with {kept} of {asked} decimals."
FOR_NUMBERS = "For numbers, press Present, drag over cells to enlarge them or fold the sidebar."
IS_COMPUTED = "{name} is computed. You can type numbers into {inputs}."
PRESS_SPACE_TO_HIDE = "Press the space bar to hide a cell, or to show it."
SERVER_IS_AWAY = "The server cannot be reached just now, so this was not taken."
TRY_AGAIN_LATER = "Try again when it is back."
BLOCK_HOLDS_NO_NUMBER = (
    "Row {row}, column {column} of the block holds “{found}”, which is not a number, so nothing of "
    "it was taken."
)
NUMBERS_WERE_COPIED = "The numbers of {stage} were copied."
PICTURE_WAS_COPIED = "The picture of {what} was copied."
NO_CLIPBOARD_FOR_PICTURES = (
    "This browser gives no clipboard for pictures here; {name} was saved instead."
)
PICTURE_NOT_MADE = "{name} could not be made; reload the page and try again."
IT_WAS_COPIED = "Copied."
IT_IS_SELECTED = "It is selected: press Ctrl+C, or press and hold, to copy."
NO_CODE_HERE = "this address works on this computer only."
NO_CODE_OF_A_PART = "the link finds these numbers in this browser alone."
NO_CODE_TOO_LONG = (
    "the link has {found} letters; more than 300 are too long for a code that a phone reads from a"
    " distance."
)
NO_CODE_OF_NO_ADDRESS = "the browser has not said at which address this page is."
NO_QR_CODE = "No QR code: this address works on this computer only."
CLICK_FOR_NUMBER = "click for its number"
DECIMALS_SHOWN = "{shown} of {asked} decimals"

# ---- readers -------------------------------------------------------------------------------------

EMPTY_FILE = "{place} is empty."
NOT_AN_ARRAY_FILE = "{place} is not a .npy, .npz or .safetensors file: it does not begin like one."
TOO_MANY_BYTES = "{place} has {found} bytes; at most {limit} are read."
UNKNOWN_NPY_VERSION = "{place}: its .npy version is {version}; 1.0, 2.0 and 3.0 are read."
TOO_MANY_AXES_IN_FILE = "{place} has {found} axes; at most {limit} are read."
TOO_MANY_NUMBERS_IN_FILE = "{place} is {shape}, {found} numbers; at most {limit} are read."
EMPTY_ARRAY = (
    "{place} is {shape}, without any number; the product of its other sides may be at most {most}."
)
UNSUPPORTED_DTYPE = (
    "{place} holds {name}; floats up to float64, integers and masks of bool are read."
)
UNKNOWN_TO_NUMPY = "numbers of a type that NumPy does not know, such as bfloat16"
BOOL_WITH_OTHER_BYTES = "{place} says it is bool, and holds bytes other than 0 and 1."
BYTES_DO_NOT_FIT = "{place} says it is {shape}, which takes {expected} bytes; {found} follow."
DAMAGED_ZIP = "{place} is a damaged zip file."
NAME_TWICE = "{place} holds {name} twice."
SPARSE_MATRIX = (
    "{place} is a sparse matrix of SciPy; save scipy.sparse.load_npz(…).toarray() by "
    "np.save instead."
)
NO_ARRAY = "{place} holds no array."
SOME_ARRAYS_UNREADABLE = "{unread} of {arrays} arrays cannot be read. {reasons}{more}"
SAME_FOR_MORE = " The same holds for {count} more."
NO_NPY_ARRAY = "{place} is not a .npy array."
MEMBER_TOO_LARGE = "{place} takes {found} bytes; at most {limit} are read."
DAMAGED_MEMBER = "{place} is damaged, encrypted or compressed in an unknown way."
SAFETENSORS_CUT_OFF = (
    "{place} is not a complete .safetensors file: its header does not fit into it."
)
DAMAGED_SAFETENSORS_HEADER = "{place}: its .safetensors header is damaged."
NO_TENSOR = "{place} holds no tensor."
DAMAGED_SAFETENSORS_ENTRY = "{place}: its entry in the header is damaged."
TENSOR_OVERLAPS = (
    "{place} begins at byte {begin} of the numbers, inside of the tensor that ends at byte "
    "{reached}."
)
TENSOR_LEAVES_HOLE = (
    "{place} begins at byte {begin} of the numbers, and the bytes from {reached} up to it are of "
    "no tensor."
)
TENSOR_CUT_OFF = (
    "{place} ends at byte {reached} of the numbers, and the file at {size}; it is cut off."
)
TENSORS_END_EARLY = (
    "{place} ends at byte {reached} of the numbers, and the file at {size}; the rest is of no "
    "tensor."
)
HALF_A_CHARACTER = "{half} is half of a character; the other half is missing."
NAME_STANDS_TWICE = "{place}: {name} appears twice."
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
NO_NUMBER = "{place} holds no number."
TOO_MANY_ARRAYS_IN_JSON = "{place} holds {found} arrays; at most {limit} are read."
TOO_MANY_LINES = "{place} has {found} lines of a table; at most {limit} are read."
TOO_MANY_PRINTED = "{place} holds {found} numbers; at most {limit} are read."
TOO_MANY_MARKS = "{place} has {found} {marks}; at most {limit} are read."
NO_JSON = "{place} is not valid JSON; line {line}, column {column}: {why}."
RECORD_DIFFERS = "{place} {verb} “{name}”."
RECORD_WITHOUT_EMBEDDING = "{place} has no list “embedding”."
RECORDS_WITHOUT_NUMBERS = (
    "{place} is a list of records; expected numbers in them, and there are none."
)
RECORDS_ARE_ROWS = "Each record is a row, with {numbers}."
NAMES_ARE_ROWS = "Each name is a row."
NESTED_TOO_DEEPLY = "{place}: its brackets are nested too deeply."
JSON_WITHOUT_ARRAYS = "{place} holds no array: expected an object of names and lists of rows."
PASSED_OVER_NO_ROWS = "Skipped, as these are not lists of rows: {names}{more}."
TOO_MANY_AXES = "{place} has {axes} axes of {size}; two to four axes are read."
ENTRIES_DIFFER = "{place} holds {found}, not {expected} as at first; every row needs the same."
EMPTY_LIST = "{place} is an empty list; expected numbers."
TOO_MANY_NUMBERS = "{place} is {size}; at most {limit} numbers are read."
TOO_MANY_NUMBERS_AT_ONCE = "{place} is {size}; at most {limit} numbers are read at once."
NOT_A_NUMBER_IN_JSON = "{place} holds {found}; expected a number."
COLUMNS_PASSED_OVER = "Skipped: {names}."
MASK_NOT_TRUTH = (
    "{place}, row {row}, column {column} holds {value}; 0 and 1, or True and False, are allowed."
)
UTF_16_TEXT = "{place} is UTF-16 text; save it as UTF-8."
NOT_UTF_8_TEXT = "{place} is not UTF-8 text: byte {position} is {byte}; save it as UTF-8."
PICKLE = (
    "{place} is a pickle, which runs code when it is opened, so it is not opened here; these two "
    "lines save it as .safetensors."
)
PICKLE_OF_GENSIM = (
    "{place} is a pickle, which runs code when it is opened, so it is not opened here; by gensim "
    "these lines cut out the words you want."
)
PARQUET_TABLE = "{place} is a table in Parquet; these lines of pandas save it as CSV."
FEATHER_TABLE = "{place} is a table in Feather; these lines of pandas save it as CSV."
SPREADSHEET = (
    "{place} is a spreadsheet; save its sheet as CSV (UTF-8), or copy the cells and paste them."
)
DOCUMENT = "{place} is a document; copy the numbers out of it and paste them."
KERAS_MODEL = "{place} is a model of Keras; these lines save its arrays as .npz."
HDF5_FILE = "{place} is an HDF5 file; these lines save its arrays as .npz."
MATLAB_FILE = "{place} is a file of MATLAB; these lines make it .npz."
MATRIX_MARKET = "{place} is a file of Matrix Market; these lines make it .npy."
WEB_PAGE = (
    "{place} is a web page or XML; copy its table out of a browser and paste it, or save it as CSV."
)
ONNX_MODEL = "{place} is an ONNX model; these lines save its weights as .npz."
GGUF_MODEL = (
    "{place} is a GGUF model; these lines save a layer as .npz. A llama's has the rows of W_Q and"
    " W_K as neighbouring rotary pairs; they become halves of a head, as in transformers."
)
PDF = "{place} is a PDF; copy the numbers out of it and paste them."
PICTURE = "{place} is a picture; expected numbers."
BARE_BYTES = "{place} holds bare bytes, and not what they mean; these lines make them an .npy."
BINARY_WORD_VECTORS = "{place} holds binary word vectors; these lines cut out the words you want."
FASTTEXT_WORD_VECTORS = (
    "{place} holds fastText's binary word vectors; these lines cut out the words you want."
)
COMPRESSED_FILE = "{place} is compressed; unpack it, or cut the words you want out of word vectors."
ZIP_OF_TEXT = "{place} is a zip file of text; unpack it, or cut out the words you want."
ARCHIVE = "{place} is an archive; unpack it and open what is in it."
LATEX_TEXT = (
    "{place} is LaTeX, which is not read; export NPZ or the state instead, or paste the numbers as "
    "plain rows."
)
PRINTOUT_OF_MATLAB = (
    '{place} is a printout of MATLAB or Octave; save the matrix with writematrix(A, "A.csv"), or '
    'in Octave csvwrite("A.csv", A), and open that file.'
)
PRINTOUT_OF_R = (
    '{place} is a printout of R; save the matrix with write.csv(A, "A.csv") and open that file.'
)
PRINTOUT_OF_JULIA = (
    "{place} is a printout of Julia; save the matrix with writedlm(\"A.csv\", A, ',') of "
    "DelimitedFiles and open that file."
)
ARRAY_IN_C = "{place} is an array in C; write its rows as lines of CSV, without braces."
ROW_PER_CELL = (
    "{place} has one row per cell (row, column, value); export “CSV, matrices”, NPZ or the state "
    "instead."
)
LINES_FOR_TENSORS = (
    " These lines cut tensors out; attention.capture records a layer of a running model."
)
EMPTY_CELL = "{place} is empty; expected a number."
NOT_A_NUMBER = "{place} holds “{found}”; expected a number such as 3, -0.5 or 2e-3."
NUMBER_TOO_LARGE = "{place} holds {found}; numbers from -1e12 to 1e12 are allowed."
NUMBER_VANISHES = "{place} holds {found}, which float64 cannot tell from 0; write 0 if it may be."
PRINTOUT_LEAVES_OUT = (
    "{name}: the printout leaves numbers out (...); print all, with "
    "set_printoptions(threshold=10**6)."
)
FRAME_LEAVES_OUT = (
    "{place}: the printout leaves numbers out (...); print all, with print(frame.to_string())."
)
FRAME_OF_OTHER_SIZE = (
    "{place} says that it is {told}, and it has {found}; print all, with print(frame.to_string())."
)
NO_ROW = "{place} is not a row of a matrix; remove it, or write only its numbers."
NUMBER_AMONG_WORDS = (
    "{place} holds “{found}” before its last numbers; write one label without numbers or signs, "
    "then numbers alone."
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
NOT_A_SLICE = "“{part}” is not a slice; expected a number such as 0, a range such as 0:64, or “:”."
SLICE_OUTSIDE = "the slice {part} lies outside of {place}, which is {size}; places count from 0."
AMBIGUOUS_COMMA = (
    "{place}, line {line}: “{quoted}” can be read in two ways; is the comma decimal, or "
    "does it separate {separated}?"
)
AMBIGUOUS_FIRST_LINE = (
    "{place}, line {line}: “{quoted}” can be read in two ways; does it name the columns, or is it"
    " a row of the matrix?"
)
AMBIGUOUS_FIRST_NUMBER = (
    "{place}, line {line}: “{quoted}” can be read in two ways; does its first number belong to the "
    "label of the row, or to the matrix?"
)
SUMS_ARE_SKIPPED = "The sum after each row is skipped."
GROUPS_OF_OTHER_ROWS = (
    "{place} is a frame that pandas printed in groups of columns, with other rows in each; save it "
    'with frame.to_csv("frame.csv") and open that file.'
)
COMMAS_ARE_DECIMAL = "The commas are decimal."
FIRST_LINE_NAMES_COLUMNS = "The first line names the columns; it is skipped."
COLUMN_NUMBERS_ROWS = "“{first}” numbers the rows; it is read as their labels."
OTHER_COUNT_OF_WORDS = "The first line says {told} words; here are {found}."
EMPTY_TEXT = "{place} is empty; expected numbers."
TOO_MANY_CELLS = "{place}, line {line} holds {found} words or numbers; at most {limit} are read."
OPEN_QUOTATION = "{place}, line {line}: a quotation mark is not closed, or is inside a cell."
TITLE_ABOVE_NUMBERS = "{place} is above numbers; remove it, or name a matrix as in Q = [[1, 2]]."
TOO_FEW_NAMES = "{place} names fewer columns than there are; remove it, or name every column."
SIGN_ON_EVERY_LINE = (
    "{place} begins with “{sign}”, as every line does; write it next to its number if it is a "
    "sign, or remove it."
)
ROW_LENGTH = (
    "{place}, line {line} has {found} number{plural}; expected {expected}, as in line {first}."
)
COMMENT_BETWEEN_ROWS = (
    "Line {between} is a comment between rows; put an empty line before it if another "
    "matrix begins there."
)
NAME_BETWEEN_ROWS = (
    "{place}, line {line} is a comment between rows; put an empty line before it if another "
    "matrix begins there, else remove it."
)
ZERO_BYTE = "{place}, character {chr} is a zero byte; expected text."
TEXT_BESIDE_NUMBERS = (
    "{place}: “{text}” is next to the numbers; nothing is computed here, so paste the result."
)
AMBIGUOUS_ROW = (
    "{place}: “{row}” can be read in two ways; put points for decimals, or a space after "
    "each comma."
)
NO_NUMBERS = (
    "{place} holds no array, such as [[1, 2], [3, 4]], and no table of numbers; shapes and code"
    " that computes are not enough."
)
DOTS_STAND_FOR_NUMBERS = (
    "{place}: “...” stands for numbers that are left out; print all of them after {line}."
)
NOT_CLOSED = (
    "{place}: a bracket is not closed, so a part of the numbers may be missing; copy all of them."
)
NOT_OPENED = NOT_CLOSED.replace("closed", "opened")
RAGGED_PRINTED = (
    "{place}: row {row} has {found} number{plural} and row 1 has {expected}; every row needs the"
    " same."
)
BETWEEN_ROWS = "{place} holds “{text}” between rows; every number must be given."
BLOCKS_DIFFER = (
    "{place}: block {block} is {found} and block 1 is {expected}; all need the same shape."
)
NOTHING_BETWEEN_COMMAS = (
    "{place} holds no number between commas; expected a number such as 3, -0.5 or 2e-3."
)
SHAPE_DIFFERS = "The text says {told} here; these are {found} numbers."
PARENTHESES_ARE_ROWS = "Each pair of parentheses is read as a row, not as a shape."
MATRICES_ARE_ARRAYS = (
    "Each of the {found} matrices is an array; to read them as heads, put [ ] around all."
)
SHAPE_ALONE = (
    "{place}: “{shape}” looks like a shape; paste the numbers of the array, or put [ ] around all"
    " rows."
)
TOKENIZER_OUTPUT = (
    "{place} holds what a tokenizer gives ({told}), and no embeddings; expected the rows of the"
    " model's embedding matrix for these tokens."
)
PASSED_OVER_AS_TOKENS = "Skipped, as it is tokenizer output: {names}."
DAMAGED_NPY_HEADER = "{place}: its .npy header is damaged."
STANDS_BETWEEN_ROWS = "{place}: unexpected “{text}” between its rows; every number must be given."

# ---- session -------------------------------------------------------------------------------------

CHANGED_BY_HAND = "{source}, changed by hand since"
NO_RECORD = "given; source not recorded"
NOT_RECORDED = "layers.3 has no {name}; it has {there}."
ROTATION_IN_WORDS = "rotary positions of Q and K, {pairs}, base {base}, {turned} of {d_k} columns"
NORM_IN_WORDS = "RMS norm of Q and K, each head, ε {eps}, with a gain, after the rotation"
OF_AN_EXAMPLE = "example “{title}”"
SINUSOIDAL_POSITIONS = "sinusoidal positions"
DRAWN_BY_HAND = "drawn by hand"
WINDOW_REPLACED = "The mask sets which keys are visible; the window is removed."
NOTHING_CHOSEN = "choose what the numbers are."
NOW_ON_THE_BOARD = "Now on the board: {inputs}."
ROWS_WITHOUT_WORDS = "No words were given, so the words on the board stay."
HEADS_NO_LONGER_GROUPED = "Each head now has its own keys and values."
WEIGHTS_STAND_ALONE = "finished weights are used alone; choose no other array with them."
COMPUTED_BESIDE_QKV = (
    "{odd} cannot be used together with Q, K and V, which are computed from it; choose one or the"
    " other."
)
QKV_INCOMPLETE = "{names} {verb} missing; Q, K and V are needed together."
X_IS_DRAWN = (
    "X was not given, so it is drawn: {width} numbers for each word, as many as the weights have"
    " inputs."
)
WEIGHTS_TOO_WIDE = (
    "{what}; the board holds at most {limit} × {limit}. Record the layer with attention.capture "
    "while your model runs, and open it on Real model."
)
ADD_THE_OTHERS = (
    "{name} is {size}, and X has {width} columns; add {others}, and X is drawn to fit, or add an "
    "X that fits."
)
QKV_GIVE_WAY = (
    "Q, K and V, which were entered directly, are replaced; weights that were not given are drawn."
)
DRAWN_ANEW = "{names} again: {width} numbers for each word, as many as the weights have inputs."
X_MISSING = "X is missing: Q, K and V are now entered directly, so embeddings are needed as well."
SECOND_WITHOUT_EMBEDDINGS = "The second sentence has no embeddings and is removed."
SECOND_DOES_NOT_FIT = "The second sentence does not fit X and is removed."
Q_AND_K_DIFFER = (
    "W_Q has {q} columns and W_K {k}; both need the same. If heads share keys, enter the number"
    " of heads, or select one head of each."
)
FITTED_TO_COLUMNS = "{names} fitted to {columns} columns: numbers that fit are kept."
ROLLED_ANEW = "{names} drawn again (d_model = {d_model})."
ROWS_NEEDED = "{role}, transposed, is {size}; expected {rows} rows, as many as {giver} has columns."
WAS_TRANSPOSED = "{name} was transposed to {rows} × {columns}."
W_O_DOES_NOT_FIT = "W_O does not fit and is removed."
HEADS_CANNOT_SHARE = "{heads} heads cannot share these columns; there is now one head."
PADDING_TAKEN_AWAY = "The padding belongs to other keys and is removed."
MASK_SIZE = "the mask is {size}; expected {queries} queries × {keys} keys."
DRAWN_MASK_TAKEN_AWAY = "The drawn mask does not fit and is removed."
NOT_AN_ANSWER = "“{text}” is not a number; type one such as −0.5, 1/3, 50 % or −∞."
TO_DECIMALS = "to {digits} decimals"
CANNOT_BE_EDITED = "“{stage}” cannot be edited."
NO_SUCH_CELL = "{stage} has no row {row}, column {column}; it is {size}."
KEY_IS_PADDING = (
    "key “{token}” is padding, hidden from every query; take it off the hidden keys first."
)
ROWS_ARE_NO_TOKENS = "the rows of {stage} are not tokens; their number is a dimension."
ROWS_BY_NOW = "{stage} has {rows} rows by now, not {expected}; nothing changed."
NO_SUCH_ROW = "{stage} has no row {row}; it has {rows}."
BIAS_OF_EACH_SCORE = "bias that is set for each score"
NOT_ON_EXPLORE = (
    "Explore has no {missing}, which this layer of the model has: without it, the weights here"
    " differ from the model’s by up to {difference}."
)
ONE_HOT_ROWS = "one-hot rows, so that X W is W"
SIZE_OUT_OF_RANGE = "{name} is {size}; 1 to {most} are allowed."
EMPTY_TABLE = "the table is empty; at least one token is needed."
TOO_MANY_TOKENS = "{found} tokens are too many for this page, which shows up to {limit}."
NO_PLACE_ON_LONG_CONTEXT = (
    "{found} tokens are too many for this page, which shows up to {limit}, and Long context has no "
    "place for {left}."
)
HERE_FROM_EXPLORE = (
    "Explore shows up to {limit} tokens, so these are shown here, with mask, scale, heads and"
    " features of real models as set there."
)
BATCH_ENDS = "The batch ends: word vectors replace item {item}."
SENTENCE_TOO_LONG = "the sentence has {found} characters; at most {limit} are read."
EMPTY_SENTENCE = "the sentence is empty; type at least one word."
SENTENCE_BESIDE_WEIGHTS = (
    "the sentence has {words} words, and these finished weights have {count} {side}; type"
    " as many words, or choose an example to leave the weights."
)
CAPTURED_HEAD_HAS_ROWS = (
    "the sentence has {words} words, and this captured head has {count} {side}; type"
    " as many words, or choose an example to leave the head."
)
PRODUCT_OF = "the product of {factors}"
NO_INPUTS_TO_COMPARE = (
    "Explore shows only finished weights; there are no inputs to compare with. Paste them here, "
    "or choose an example there."
)
WRITE_WITH_POINTS = "Write 0.5 for a half, and a space after a comma that separates."
SAVE_WITH_POINTS = "Save it with points, or put spaces after commas that separate."
NUMBERS_WANTED = "{place} holds {dtype}; expected numbers."
CHECKED_SHAPE = (
    "{place}: the shape is {shape}; two or three axes and at most {limit} numbers are read here."
)
CACHE_KEEPS_ONE_SEQUENCE = (
    "a cache holds one sequence; here keys and values come from a second one."
)
NOT_COMPARED = "“{title}” is not possible with that: {why}"
CACHE_OF_ONE_WORD = "there is one word, so no keys and values are cached yet; add a word."
STORED_TURNED = "stored as (d_out, d_in) = ({d_out}, {d_in}) and transposed"
EXERCISE_TOO_LONG = "An exercise has at most {limit} words."
LOOK_FIRST = "Fill in {name} first: this number depends on it."
LOOK_AT = "Hint: {step}."
SIGN_IS_WRONG = "Only the sign is wrong."
SCORE_ITSELF = "That is the score before scaling."
ROUNDED_TOO_FAR = "Too few decimals: give it {precision}."
NEARLY_RIGHT = "Close. Round only at the end."
SHOWN_ROUNDED = "These lines are computed with all digits and shown rounded."
POWERS_ARE_ROUNDED = "The powers of e are rounded."
LARGEST_TAKEN_AWAY = "Subtracting the largest score first does not change the weights."
STEP_OF_PROJECTION = (
    "multiply the row of {row} in {rows} and column {column} of {weight} entry by entry and add"
)
STEP_OF_SCORES = "multiply the row of {query} in Q and the row of {key} in K entry by entry and add"
STEP_OF_SCALED = "divide by √d_k = {root}"
STEP_OF_MASKED = "scores of hidden keys become −∞; the others stay as they are"
STEP_OF_WEIGHTS = "take e to the power of each masked score in the row and divide each by their sum"
STEP_OF_OUTPUT = "multiply each weight in the row by its entry in column {column} of V and add"
NO_BLANK_THERE = "{stage} has no blank there."
GIVEN_STAGE = "{stage} is given; there is nothing to work out."
TOO_MANY_BLANKS = "an exercise has at most {limit} blanks."
FINISHED_WEIGHTS = (
    "These are finished weights, shown alone: there are no embeddings, queries, keys, scores or"
    " output."
)
ZEROS_ARE_MASKED = "What is 0 in every head counts as masked."
ROWS_OFF_ONE = "Row sums differ from 1 by up to {worst}; the rows are kept."
HEADS_TOO_WIDE = (
    "{heads} heads of {keys} keys are {columns} columns; at most {limit} fit. Cut heads "
    "out, such as 0:{cut}."
)
NOT_A_SHARE = (
    "the weights, {head}row {row}, column {column} hold {found}; expected weights from 0 to 1."
)
ROW_SUM = "the weights, {head}row {row} sum to {found}; each row of attention weights sums to 1."
KEPT_DAMAGED = (
    "What this browser keeps under this address is damaged, or is another state; open a "
    "saved state under “Your data” on Explore, or bring the numbers again."
)
WHOLE_NUMBER_WANTED = "expected a whole number"
TOO_MANY_DIGITS = "it has {digits} digits; at most {limit} are read"
SOFTMAX_WANTED = "expected 0, 1 or sigmoid"
QUOTED_WORDS_WANTED = "expected words in quotation marks"
LABELS_WANTED = "expected labels of {dimensions}"
LABELS_TOO_LONG = "expected labels of at most {limit} characters"
FIELDS_WANTED = "expected {names}"
UNKNOWN_EXAMPLE = (
    "The link asks for an example “{name}” that does not exist; this is the first one."
)
STATE_NOT_KEPT = (
    "This address is of matrices that are too large for it. The browser that made it keeps "
    "them, and this browser does not have them: open a saved state under “Your data” on "
    "Explore, or enter them again."
)
UNKNOWN_PARAMETER = "The link's parameter “{name}”{verb} unknown and {were} ignored."
PARAMETER_BEGINS = "The link's parameter {name} "
PULLED_BACK = (
    "The link's parameter {name} is {asked}; {least} to {most} are allowed, so {taken} was taken."
)
ONLY_ONE_ALLOWED = (
    "The link's parameter {name} is {asked}; only {only} is allowed, so {taken} was taken."
)
NO_STAGE_ALONE = "There is no stage “{stage}” here; all stages are shown."
NO_SUCH_STAGE = "there is no stage “{stage}”"
HEAD_NOT_THERE = "there is no head {head}, only 0 to {last}"
NOT_THERE = "The link's parameter {prefix}{name} asks for what is not there: {why}."
STAGE_NOT_SHOWN = "the page shows no stage “{stage}”"
CELL_NOT_THERE = "{stage} has {size} cells, and none at {row}, {column} counted from 0"
UNREADABLE_PARAMETER = "it cannot be read"
DAMAGED_PARAMETER = "{name} is damaged; part of the link may be missing."
ITEMS_DIFFER = "the items of {name} have different shapes."
NOT_FINITE = "{name} holds NaN or inf; expected numbers."
STATE_TOO_LARGE = "a saved state of {size} cannot be opened; at most {limit} are read."
NOT_A_STATE_FILE = "this is not a state file of this page; save one with “Save state (.json)”."
OTHER_FORMAT = "this state file has format {written}; this page reads format {read}."
DAMAGED_STATE_FILE = "this state file is damaged. {notices}{file}"
LONG_HEADS_DO_NOT_SHARE = "{heads} heads of queries cannot share {given} of {of} evenly."
READ_AS_TOKENS_HEADS = "Read as tokens × heads × columns: {heads} heads of {tokens} tokens."
NOT_COMPUTED = "it could not be computed ({error})."
UNKNOWN_INITIALISER = "there is no initialiser {name}; choose one of {known}."
UNKNOWN_STREAM = "there is no matrix {stream} to draw numbers for."
UNKNOWN_WORD_VECTORS = "words have no vectors of kind {name}; choose one of {known}."
SEED_OUT_OF_RANGE = "the seed is {seed}; whole numbers from 0 to 4294967295 are allowed."
VECTORS_BY_WORD = "only embeddings have vectors by word."
TOKENS_ARE_COLUMNS = (
    "X is {shape}, and the weights take {width} numbers for each token; tick *transposed* for X if"
    " it has one column for each token."
)
SIDE_DOES_NOT_FIT = (
    "{name} is {rows} × {columns}; one of its sides must be {width}, the width of its input."
)
READ_AS_D_IN_D_OUT = "{name} was read as (d_in, d_out) = ({rows}, {columns}), as in X W.{note}"
BOTH_WAYS_FIT = "Both ways fit; tick transposed for the other."
NO_ROOM = "with these settings this is not possible: {title}."
UNKNOWN_MISTAKE = "there is no mistake called “{name}”."
DIFFERS_FIRST = "The numbers first differ in {stage}. {cell}"
STAGE_IS_RIGHT = "All of {stage} is computed correctly from the stages before it."
STAGES_BEFORE_ARE_WRONG = "Numbers before {stage} are already wrong."
SEEN_AT = "In row {row}, column {column}, the number is {here} and should be {there}."
WITH_THAT_MISTAKE = (
    "With that mistake, {stage} would be {would} in row {row}, column {column}; here it is {here}."
)
NOTHING_TO_ADD_TO = "{names} {has} nothing to be added to, and {verb} removed."
GAIN_REFITTED = "The gain of {name} now has {d_k} numbers, one for each column of a head."
NAMELESS_TOKEN = "{token} has no name; type a word."
CONTROL_CHARACTER = "{token} holds a line break or another character that cannot be shown."
SCALE_OUT_OF_RANGE = "the scale is {scale}; expected a positive number up to 1e6."
SOFT_CAP_OUT_OF_RANGE = "the soft cap is {softcap}; expected a positive number up to 1e6."
SINKS_AND_HEADS_DIFFER = (
    "there are {sinks} sinks and {heads} heads; expected one for all, or one for each."
)
SINK_BEYOND_LIMIT = "a sink is beyond ±1e6, which this page does not take."
SINKS_NEED_THE_SUM = "sinks are part of the sum of the softmax; switch it on, or remove them."
UNKNOWN_SOFTMAX = "softmax is “{softmax}”; expected on, off or a sigmoid."
R_DOES_NOT_FIT = "R is {shape}; expected {fitting}."
R_SHAPE = (
    "R must have shape (buckets, heads) with an even number of buckets, at least 4, got shape"
    " {shape}."
)
RELATIVE_TOO_LARGE = (
    "R has {rows} rows and the furthest distance is {distance}; at most 512 rows and 1,000,000"
    " are allowed."
)
WINDOW_OUT_OF_RANGE = "the window is {window} keys; expected 1 to 131,072, or 0 for no window."
UNKNOWN_FILL = "hidden cells cannot get “{fill}”; choose {fills}."
UNKNOWN_SAMPLE_DISTRIBUTION = (
    "there is no distribution “{name}” to sample from; choose one of {known}."
)
SAMPLE_SEED_OUT_OF_RANGE = (
    "the sample seed is {sample_seed}; whole numbers from 0 to 4294967295 are allowed."
)
UNKNOWN_CAPTURE = "there is no capture “{capture}”; choose one of {captures}, or upload your own."
EXERCISE_CHARACTER = "the {called} of the exercise hold a character that cannot be shown."
TOO_MANY_ENTRIES = "an exercise has at most {limit} {called}, of {length} characters each."
TOO_MANY_SEQUENCES = "{batch} sequences are too many; at most {limit} fit."
BEYOND_LIMIT = "{name} holds numbers beyond ±{limit}, which this page does not take."
HEADS_DO_NOT_DIVIDE = (
    "{heads} heads do not divide the columns of the weights; choose {possible_heads}."
)
TOO_MANY_SCORES = "{cells} scores are too many for this page; at most {limit} fit."
PASSED_OVER = "The link's {what} ignored: {why}"
TOO_MANY_ITEMS = "{name} has {found} items; at most {limit} fit."
INFLATES_TOO_FAR = "{name} is too large; {limit} bytes fit."
SAVED_ONE_BY_ONE = (
    "“Export” on Compare saves A and B one by one, as files that open again, or as NPZ."
)
WRITTEN_BY_VERSION = " Version {wrote} wrote it; this is {reads}."
ONE_OF_WANTED = "{name} is {given}; expected one of {known}."
RANGE_WANTED = "{name} is {given}; expected a whole number from {least} to {greatest}."
SWITCH_WANTED = "{name} is {given}; expected true or false."
SOME_OF_WANTED = "{name} is {given}; expected some of {known}."
WINDOW_WANTED = (
    "window is {given}; expected four whole numbers: the first query, the last + 1, the first"
    " key, the last + 1."
)
LONG_AXES = (
    "{place} is {size}; expected tokens × columns, or heads (and items) before them, with as many"
    " axes in each array."
)
LONG_ITEMS_DIFFER = (
    "{place} has {queries} items of queries and {keys} of {name}; both must be equal."
)
LONG_ARRAYS_TOO_LARGE = "the arrays of {place} take {size}; at most {limit} fit."
LONG_COUNT = "there are {count} {what} of {word}; 1 to {most} are allowed."
LONG_COLUMNS_DIFFER = "queries have {queries} columns and keys {keys}; both must be equal."
LONG_VALUES_DIFFER = (
    "K is {k} and V is {v}, heads × tokens × columns; heads and tokens must be equal."
)
LONG_BEYOND_LIMIT = "the {word} hold numbers beyond ±{limit}; expected finite numbers up to it."
SERVER_IS_FULL = (
    "these tokens take {size}, and this server already holds {held} of at most {limit}: choose "
    "fewer tokens, or try again later."
)
MATRICES_TOO_LARGE = "these matrices hold {found} numbers; at most {limit} fit."
ROWS_OF_OTHER_WORDS = "{words} words have no {rows} rows."
NO_ROOM_WITHOUT_SOFTMAX = "without softmax and −∞ this is not possible: {title}."
LAST_ROW_OF = "A: the last row of “{words}”"
ASKS_ALONE = "B: “{word}” alone, with the cached keys and values of all words"
NO_D_MODEL = "Q, K and V are entered directly here, so there is no d_model."
WIDTHS_ARE_EQUAL = "d_model and d_k are both {d_k} here, so nothing would differ."
SAME_BACKWARDS = "these words read the same backwards, so nothing would differ."
ODD_FOR_TWO_HEADS = "d_k or d_v is odd here, so it cannot be split between two heads."
NOTHING_TO_ADD = "Q, K and V are entered directly here, so there is nothing to add {what} to."
ONE_COLUMN_TO_TURN = "a head of Q and K has one column; rotary positions rotate pairs of columns."
ROTATION_IS_OFF = "A head of one column has no pair to rotate: rotary positions are off."
ALL_COLUMNS_TURN = "Rotary positions now rotate all {d_k} columns of a head, as they rotate pairs."
FIRST_COLUMNS_TURN = (
    "Rotary positions now rotate the first {turned} of {d_k} columns of a head, as they rotate"
    " pairs."
)
QUERIES_SEE_NO_KEY = "Queries {queries} see no key: their weights and their outputs are 0."
QUERY_SEES_NO_KEY = "Query {query} sees no key: its weights and its output are 0."
EQUAL_COLUMNS = "columns {first} and {second} of {name} are equal"
OPPOSITE_COLUMNS = "column {second} of {name} is minus column {first}"
DRAWN_MASK_SIZE = "the drawn mask is {size}; expected {queries} queries × {keys} keys."
NO_SUCH_KEY = "padding names key {key}; there are {keys} keys."
TOKEN_TOO_LONG = "{token} has {found} characters; at most {limit} fit."
UNKNOWN_MASK = "there is no mask “{name}”; choose one of {known}."
MATRICES_EXPECTED = "expected the matrices {wanted}; got {present}."
PART_BEYOND_LIMIT = "{name} holds numbers beyond ±{limit}."
COLUMNS_OUT_OF_RANGE = "{name} has {columns} columns; 1 to {most} are allowed."
SIZE_EXPECTED = "{name} is {size}; expected {wanted}."
CAPPED_SCORES = "scores kept within ±{softcap} by tanh"
SINK_OF_EACH_ROW = "{sink}, in the sum of each row and of no key"
GIVEN_FROM_PYTHON = "given from Python"
STEP_FINDS_THE_SAME = (
    "With cached keys and values, and its position kept, the last word alone gives the same result."
)
KNOWS_THE_ORDER = "attention depends on where the words stand"
KNOWS_NO_ORDER = "attention ignores word order"
SOFTMAX_IS_OFF = "softmax is off on Explore; switch it on there to compare with other attention."
B_IS_RIGHT = "B has no mistake: {why}"
READ_AS_D_OUT_D_IN = (
    "{name} was read as (d_out, d_in) = ({rows}, {columns}), as in W Xᵀ, and transposed."
)
LOOK_MOST_AT = "look most at"
LINES_FOR_WORDS = " Of word vectors these lines cut out the words you want."
TRANSPOSED = "{source}, transposed"
AXES_EXPECTED = "{place} is {size}; expected two axes for {role}. Cut it to that."
AXES_OR_BATCH_EXPECTED = (
    "{place} is {size}; expected two axes, or three with a batch, for {role}. Cut it to that."
)
MASK_MEANS = "True and 1 were read as “{true_means}”."
MASK_IS_ADDED = "0 was read as “may look”, −∞ as “hidden”."
NO_SUCH_WORD = "{place} has no word “{word}”."
NEAR_WORDS = "{place} has no word “{word}”; it has {near}."
ONE_AXIS = "{count} numbers in one axis"
SLICE_OF_MORE_AXES = "{place} has {axes} axes; the slice “{cut}” has {parts}."
THIS_SERVER_HOLDS = "this server already holds"
NO_MEMORY = "this server does not have enough memory for this many tokens."
SETTINGS_WANTED = "expected settings by their names"
CAPTURED_FROM = "captured from {model}, {head}"

# ---- the card of a cell --------------------------------------------------------------------------

INPUT = "An input."
SHOWN_TURNED = "This row of K is a column of Kᵀ."
TURNED_BY_THETA = "Numbers {first} and {second}, a and b, are turned by θ."
NUMBER_STAYS = "Only the first {columns} numbers are turned; this one stays."
WHY_DIVIDE = "Longer vectors give larger scores; dividing by √d_k (d_k = {d_k}) makes up for it."
CHOSEN_SCALE = "The scores, times the scale you chose."
CAP_KEEPS = "The soft cap keeps every score within ±{cap}."
COMES_AFTER = "“{key}” comes after “{query}”: hidden, so its weight will be 0."
WILL_BE_HIDDEN = "“{key}” is hidden from “{query}”, so its weight will be 0."
IS_HIDDEN = "“{key}” is hidden from “{query}”, so its weight is 0."
SCORE_STAYS = "Not hidden: the score stays as it is."
BIAS_ADDED = "The bias is added to the {stage} score."
NOT_HIDDEN = "Not hidden."
WHAT_THE_QUERY_MAKES = "{query} gives the weights {weights} and has the output {output}."
FILL_ADDED = "−1e9 is added, so the weight is 0."
FILL_ADDED_TO_ALL = "−1e9 is added, but no other score is much larger: the weight is {weight}."
FILL_IS_WEIGHT = "−1e9 is added. Softmax is off, so this sum is the weight."
SEES_NO_KEY = "“{query}” sees no key, so {what} weights are 0."
SOFTMAX_OFF = "Softmax is off: the score itself is the weight, and rows need not add up to 1."
CARD_EACH_BY_ITSELF = "Each weight by itself: rows need not add up to 1."
GIVEN_FUNCTION_WEIGHS = "The given function turns the row of scores into weights."
LARGEST_IS_SUBTRACTED = (
    "The largest score is subtracted first; no power is above 1, and no share changes."
)
CARD_SINK_TAKES = "The sink takes the rest, {share}."
OF_HEAD = "Number {column} of head {head}. The heads are side by side."
WEIGHT_GIVEN = "A weight given directly, not computed here."
WEIGHTS_GIVEN = "Weights given directly, not computed here."
HIDDEN_BY_WEIGHTS = "Hidden, as far as the weights tell: every head gives this key 0."

# ---- the guided tour -----------------------------------------------------------------------------

TOUR_NEEDS_VECTORS = (
    "The tour needs word vectors and weights; here Q, K and V were entered directly."
)
TOUR_NEEDS_MORE = (
    "The tour needs word vectors and weights; here only the attention weights were given."
)
TOUR_NEEDS_ONE_SENTENCE = "The tour uses one sentence; remove the second one."
TOUR_NEEDS_WORDS = "The tour needs {fewest} to {most} words; this sentence has {count}."
TOUR_NEEDS_SOFTMAX = "The tour uses plain softmax attention; switch softmax on."
TOUR_NEEDS_NO_PARTS = "The tour uses plain softmax attention; switch off {parts}."
TOUR_NEEDS_EVEN_WIDTHS = "The tour ends with two heads; an odd d_k or d_v cannot be split."
TOUR_ONE_HEAD = "This step uses one head. Set Heads in the sidebar to 1."
TOUR_BLIND = "{query} sees no key, so its weights are 0. Back and Next remove the mask."
TOUR_PADDING = "Padding hides words here. Back and Next remove it."
TOUR_FILL = "Hidden scores get −1e9 here, not −∞. Back and Next restore −∞."
TOUR_TAKES = "{query} takes {share} from {key}. The next steps show where that number comes from."
TOUR_QUERY = (
    "The query of {query} is its row of X times W_Q: {row}. It describes what {query} is looking "
    "for."
)
TOUR_CHANGE = "Change a number in the row of {query} in X: click it, type, press Enter."
TOUR_QUERY_CHANGED = (
    "The query of {query} changed from {before} to {after}. No other query changed."
)
TOUR_QUERY_STAYED = (
    "The query of {query} is still {after}: W_Q makes the same query of the new numbers. Try "
    "another number in the row."
)
TOUR_QUERY_HARDLY = (
    "The query of {query} changed, but by less than {after} shows. No other changed."
)
TOUR_OTHER_CHANGED = "You changed {other}, so its query changed. Try the row of {query}."
TOUR_OTHER_STAYED = (
    "You changed {other}, but W_Q makes the same query of it. Try the row of {query}."
)
TOUR_ROWS_CHANGED = (
    "You changed {rows} rows of X, and {queries} queries changed. Now change a single number of "
    "{query}."
)
TOUR_ROWS_CHANGED_ONE = (
    "You changed {rows} rows of X, and only one query changed. Now change a single number of "
    "{query}."
)
TOUR_KEY = (
    "The key of {key} is its row of X times W_K: {row}. It describes what {key} offers. Queries "
    "and keys use different weights, so what a word looks for and what it offers can differ."
)
TOUR_SAME_KEY = (
    "The key of {key} is its row of X times W_K: {row}. It describes what {key} offers. Here W_Q "
    "and W_K are equal, so each word offers what it looks for; with other weights the two can "
    "differ."
)
TOUR_QUERY_IS = "The query changed from {before} to {after}. All keys stayed the same."
TOUR_SCORE = (
    "How well does the query of {query} match the key of {key}? Multiply them entry by entry and "
    "add: {work}. The score is large when both point the same way."
)
TOUR_SUM = "the {count} products add up to {total}"
TOUR_CLICK = "Click a number in scores: the row of {query}, the column of {key}."
TOUR_CARD = "The card shows how it is computed: row of Q times column of Kᵀ."
TOUR_OTHER_STAGE = (
    "That number is in {stage}. Find, in scores, the row of {query}, the column of {key}."
)
TOUR_OTHER_SCORE = (
    "That is the score of {row} with {column}. Find the row of {query}, the column of {key}."
)
TOUR_SCALE = (
    "Longer vectors add up more products, so their scores spread further apart. Dividing by √d_k "
    "{root} keeps them in check. With it, the largest weight of {query} is {divided}; without it, "
    "{undivided}."
)
TOUR_SCALE_SAME = (
    "Longer vectors add up more products, so their scores spread further apart. Dividing by √d_k "
    "{root} keeps them in check. The largest weight of {query} is {weight} with it and without it: "
    "{why}."
)
TOUR_ONE = "√1 = 1"
TOUR_EQUAL_SCORES = "all its scores are equal"
TOUR_ONE_KEY = "it sees only one key"
TOUR_TOO_SMALL = "the change is too small to show"
TOUR_UNSCALED = (
    "Largest weight of {query}: {divided} → {undivided}. Without scaling, weights get more "
    "extreme. The next step restores it."
)
TOUR_UNSCALED_SAME = (
    "The largest weight of {query} is still {weight}: {why}. The next step restores it."
)
TOUR_UNSCALED_HARDLY = (
    "The largest weight of {query} is still {weight}: {why}. Without scaling, weights get more "
    "extreme. The next step restores it."
)
TOUR_OTHER_SCALE = "Now the scores are multiplied by {scale}. Choose “none (× 1)”."
TOUR_FUTURE = (
    "A model that predicts the next word must not look ahead. A look-ahead mask replaces the "
    "scores of later words with −∞, so their weights are exactly 0: {hidden} of these {scores} "
    "scores."
)
TOUR_SEES = (
    "Each word now sees only itself and earlier words: {query} saw {before} words and now sees "
    "{after}. The next step removes the mask."
)
TOUR_SEES_ALL = (
    "Each word now sees only itself and earlier words: {query} is the last word and still sees all "
    "{after}. The next step removes the mask."
)
TOUR_OTHER_MASK = (
    "This mask hides {hidden} of {scores} scores, but not exactly the later words. Choose "
    "“look-ahead (causal)”."
)
TOUR_SOFTMAX = (
    "Softmax raises e to each score and divides by the sum of the row. {sign} and {rows} sums to 1."
)
TOUR_RANGE = (
    "In {stage}, the scores of {query} range from {low} to {high}. Which key gets the largest "
    "weight?"
)
TOUR_ALL_SCORES = (
    "In {stage}, the scores of {query} are all {high}. Which key gets the largest weight?"
)
TOUR_RIGHT = (
    "Right. {key} has the largest score, {score}, and gets the weight {weight}. Softmax keeps the "
    "order."
)
TOUR_RIGHT_EACH = (
    "Right. {keys} have the largest score, {score}, and get the weight {weight} each. Softmax "
    "keeps the order."
)
TOUR_RIGHT_SHOWN = (
    "Right. {keys} show the largest score, {score}, and get the weights {weights}. Softmax keeps "
    "the order."
)
TOUR_RIGHT_ALL = "Right. All scores are equal, so every key gets the same weight, {weight}."
TOUR_WRONG = "No. The score of {key} is {score}. Look for the largest score in the row of {query}."
TOUR_OUTPUT = (
    "The output of {query} adds up all values, each times its weight: {weight} × {value} of {key} "
    "+ … = {output}."
)
TOUR_OUTPUT_0 = "The output of {query} adds up all values, each times its weight: here all are 0."
TOUR_HIDE = (
    "Hide {key} from {query}: click that cell of masked and press Space (on a touch screen: tap "
    "it, then Draw mask, then the cell again)."
)
TOUR_HIDDEN = (
    "Weight of {key}: {weight} → 0. The other weights grew so that the row sums to 1 again; the "
    "output changed from {before} to {after}."
)
TOUR_HIDDEN_SAME = (
    "Weight of {key}: {weight} → 0. The other weights grew so that the row sums to 1 again; the "
    "output is still {after}."
)
TOUR_HIDDEN_MORE = "The weights that are not hidden grew so that the row sums to 1 again"
TOUR_HIDDEN_ALL = "Weight of {key}: {weight} → 0. Now {query} sees no key: its output is 0."
TOUR_HID_OTHER = (
    "You hid {other} from {query}. Its weight was {weight}. Try {key}, which has the largest, "
    "{largest}."
)
TOUR_HID_OTHERS = (
    "You hid {others} from {query}. Their weights were {weights}. Try {key}, which has the "
    "largest, {largest}."
)
TOUR_HID_ELSEWHERE = "You hid {key} from {row}. Find the row of {query} and hide {other} there."
TOUR_HEADS = (
    "One head gives each word a single row of weights. Two heads split the columns of Q, K and V: "
    "each gets {half} of {all} and computes its own scores and weights. Their outputs are joined "
    "side by side."
)
TOUR_WIDE_HEADS = (
    "One head gives each word a single row of weights. Two heads split the columns of Q, K and V: "
    "each gets {half} of {all} columns of Q and K, {v_half} of {v_all} of V, and computes its own "
    "scores and weights. Their outputs are joined side by side."
)
TOUR_ASKS_HEADS = "Set Heads in the sidebar to {heads}, then choose {head} under Head there."
TOUR_HEAD_NEXT = "There are two heads now. Choose 1 under Head in the sidebar."
TOUR_OTHER_HEADS = "Now there are {heads} heads. Set Heads in the sidebar to 2."
TOUR_LOOKS = "{query} looks {first} in head 0 and {second} in head 1."
TOUR_LOOKS_BOTH = "{query} looks {first} in both heads."
TOUR_HEADS_BLIND = "{query} sees no key in either head. Back and Next remove the mask."
