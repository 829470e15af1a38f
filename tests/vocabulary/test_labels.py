"""Labels as people write them above printed arrays."""

import pytest

from attention.vocabulary.labels import LONGEST, role_of
from attention.vocabulary.stages import STAGES

MEANT = {
    "X": "X; x; Input; inputs; Embeddings; Input Embeddings (X); token embeddings; x_1; "
    "X = Tokens; emb; Word vectors; input matrix; hidden_states; **X**; $X$; 1. Inputs; "
    "embeddings with positions; Input Sequence; Step 1: Input embeddings; embedding_matrix; "
    "X (shape 4 × 3)",
    "memory": "memory; encoder output; Encoder hidden states; second sentence; Y",
    "W_Q": "W_Q; W_q; Wq; WQ; w_query; W_query; Weight matrix for queries; query weights; W^Q; "
    "Wquery; Query weight matrix; q_proj.weight; weights for Q; self.W_q; "
    "W_Q (d_model × d_k); Query projection matrix; $W^Q$; $\\mathbf{W}_Q$; W_q.T; "
    "Weight Matrix W_Q; to_q.weight",
    "W_K": "W_K; Wk; W_key; key weights; Weight matrix for keys; weight matrix of the keys; "
    "k_proj.weight",
    "W_V": "W_V; Wv; w_value; Value weights; Weight matrix for values; Weights for the values",
    "W_O": "W_O; Wo; Output weights; output projection; out_proj.weight; W_out",
    "Q": "Q; q; Query; Queries; queries; Q matrix; query vectors; q_proj; Q = X W_Q; X @ W_q; "
    "XW_Q; inputs @ W_query; Query matrix (X @ W_Q); Queries (Q); query 1; q1; q_1; "
    "query for 'sat'; Query vector of the; Projected queries; Query (shape 4x3); 2) Queries; "
    "Matrix Q; $Q$; Q (n × d_k); query_states",
    "K": "K; k; key; keys; Keys (K); key vectors; K^T; K.T; Kᵀ; K transposed; key_proj; K'; KT; "
    "Key matrix; Key Vectors:; k2; $K^\\top$; K_matrix",
    "V": "V; v; value; Values; Value matrix; value_vectors; V = XW_V; v_1; $V$",
    "mask": "mask; Mask; causal mask; attention_mask; attn_mask; look-ahead mask; M; "
    "Causal Mask (M); padding mask; tril; key_padding_mask; masks",
    "scores": "scores; Raw Scores (Dot Product); QK^T; QKᵀ; Q @ K.T; Q·Kᵀ; Q K^T; "
    "attention scores; Attention Scores; attn_scores; raw scores; dot products; np.dot(Q, K.T); "
    "Q @ K.transpose(-2, -1); scores (before softmax); unscaled scores; Attention logits; "
    "similarity scores; $QK^T$; Dot product of Q and K; scores = Q @ K.T; $Q K^{\\top}$; QK; "
    "query-key dot products; energy; Scores before scaling; pre-softmax scores; "
    "scores (no mask); S; score matrix; Raw attention scores (QKᵀ); matmul(Q, Kᵀ); "
    "Score for query 2",
    "scaled": "scaled; Scaled QK^T; Scaled scores; QK^T / sqrt(d_k); QKᵀ/√d_k; scores / √4; "
    "scores / 2; Scaled Attention Scores; scores (scaled); Scores after scaling; "
    "scaled_scores; scaledScores; scores / np.sqrt(d_k); $\\frac{QK^T}{\\sqrt{d_k}}$; "
    "Scaled dot products; scores * d_k**-0.5; scores / d_k**0.5; "
    "Scaled scores before softmax; QK^T divided by sqrt(d_k); (QK^T)/√d_k",
    "masked": "Masked scores; masked; masked_scores; masked logits; Scores after masking; "
    "scores + mask; Scaled scores + M; scores (masked); Masked scaled scores; "
    "scores with mask",
    "weights": "Attention Weights; attn; softmax; attention weights (softmax); weights; "
    "attn_weights; Softmax Weights; softmax(QK^T/√d_k); softmax(scores); Attention probabilities; "
    "A; attention_probs; Attention matrix; attention map; scores after softmax; Softmax scores; "
    "Softmax output; Masked attention weights; attentionWeights; attn_output_weights; "
    "Weights (rows sum to 1); Attention weights for query 1; "
    "Attention weights (before mask); normalized scores; Attention Weights:; "
    "weights = softmax(scaled)",
    "output": "Output (Context Vectors); output; context; Z; context vector; Context Vectors; out; "
    "Attention Output; attn_output; weighted sum; Weighted sum of values; "
    "softmax(QK^T/√d_k)V; Attention(Q, K, V); weights @ V; O; context_vec_2; "
    "attention weights × V; contextual embeddings; Output embeddings; weighted values; AV; "
    "final output; Head 1 output; attended values; softmax(scores) @ V; z_1",
}
OTHER = (
    "row sums; Row sums of weights; d_k; sqrt(d_k); d_model; Q shape; Q.shape; shape of K; "
    "scale factor; key insight; value error; Q, K, V; keys and values; queries, keys; loss; "
    "gradient of Q; token ids; max score; number of heads; Attention; Self-attention; "
    "head 1; positional encoding; numbers 2; bias; b_q; weight matrix; heatmap; "
    "entropy of the weights; input ids; tokens; ; W; dv; =; Scaled dot-product attention; "
    "sum of the weights; key takeaways; monkey; valued; result 4; embedding dimension; "
    "W shape; vocabulary; np.array; d_k = 4; n_heads"
)


@pytest.mark.parametrize(
    ("name", "role"),
    [(name.strip(), role) for role, names in MEANT.items() for name in names.split(";")],
)
def test_a_label_means_its_stage(name, role):
    assert role_of(name) == role


@pytest.mark.parametrize("name", OTHER.split("; "))
def test_other_labels_mean_no_stage(name):
    assert role_of(name) is None


@pytest.mark.parametrize("name", ["scores " * 200_000, "(" * 1_000_000, "Q" + " " * LONGEST])
def test_a_label_is_short(name):
    assert role_of(name) is None


def test_every_role_is_an_input_or_a_stage():
    assert set(MEANT) <= set(STAGES)
