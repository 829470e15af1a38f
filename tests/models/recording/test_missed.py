"""What a capture names that took part in the run and is not recorded."""

import messages
import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
pytest.importorskip("transformers", reason="the models come from transformers, not installed here")

from models.families import IDS, LATENT, SHARED, SMALL, T5, Plain, Wrapped, made, x  # noqa: E402
from torch import nn  # noqa: E402

import attention  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
F = nn.functional


class Beside(nn.Module):
    """A module that is recorded, and another."""

    def __init__(self, other):
        super().__init__()
        self.known, self.other = Plain(), other

    def forward(self, x):
        return self.known(x), self.other(x)


class Hand(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.q, self.out, self.attend = nn.Linear(16, 16), nn.Linear(16, 16), attend

    def forward(self, x):
        return self.out(self.attend(self.q(x), x, x))


def by_sums(Q, K, V):
    shares = (Q @ K.mT).exp()
    return shares / shares.sum(-1, keepdim=True) @ V


def two_axes(Q, K, V):
    return torch.stack([torch.softmax(q @ k.T, -1) @ v for q, k, v in zip(Q, K, V, strict=True)])


def by_logarithms(Q, K, V):
    return torch.matmul(F.log_softmax(Q @ K.mT, -1).exp(), V)


def by_sigmoid(Q, K, V):
    return torch.einsum("bqk,bkd->bqd", torch.sigmoid(torch.einsum("bqd,bkd->bqk", Q, K)), V)


def linear(Q, K, V):
    return torch.bmm(Q.exp(), torch.bmm(K.exp().mT, V))


def additive(Q, K, V):
    scores = (Q[:, :, None] + K[:, None]).tanh().sum(-1)
    return (scores.softmax(-1)[..., None] * V[:, None]).sum(2)


def each_item(attend):
    def attended(Q, K, V):
        return torch.stack([attend(*item) for item in zip(Q, K, V, strict=True)])

    return attended


def by_mm(q, k, v):
    return q.mm(k.t()).softmax(-1).mm(v)


def by_torch_mm(q, k, v):
    return torch.mm(torch.mm(q, k.t()).exp(), v)


def by_addmm(q, k, v):
    return torch.addmm(torch.zeros(1), torch.zeros(1).addmm(q, k.t()).sigmoid(), v)


def by_tensordot(q, k, v):
    return torch.tensordot(torch.tensordot(q, k, ([1], [1])).exp(), v, 1)


def by_linalg(q, k, v):
    return torch.linalg.matmul(torch.linalg.multi_dot([q, k.t()]).exp(), v)


def with_a_weight(q, k, v):
    return torch.inner(torch.einsum("qd,kd,d->qk", q, k, nn.Parameter(q[0])).exp(), v.t())


def two_axes_and_a_sum(q, k, v):
    return ((q @ k.t()).softmax(-1)[..., None] * v).sum(1)


OF_ITEMS = by_mm, by_torch_mm, by_addmm, by_tensordot, by_linalg, with_a_weight, two_axes_and_a_sum
BY_HAND = [by_sums, two_axes, by_logarithms, by_sigmoid, linear, additive]
BY_HAND += [each_item(attend) for attend in OF_ITEMS]


@pytest.mark.parametrize("attend", BY_HAND)
def test_attention_by_hand_is_named(attend):
    model = Beside(Hand(attend))
    before = model(x())[1]
    with attention.capture(model) as taken:
        assert torch.equal(model(x())[1], before)
    assert taken.missed == ["other"] and len(taken) == 1
    alone = Wrapped(Hand(attend))
    with pytest.raises(ValueError) as refused, attention.capture(alone):
        alone(x())
    assert str(refused.value) == messages.NO_KNOWN_DOOR.format(names="inner", hint="")


class Products(nn.Module):
    """Products with parameters, and with what is made of them: no attention."""

    def __init__(self, of):
        super().__init__()
        self.of, self.up, self.down = of, nn.Parameter(torch.randn(16, 8)), nn.Linear(8, 16)
        self.experts = nn.Parameter(torch.randn(3, 16, 16))

    def forward(self, x):
        return self.of(self, x.flatten(0, 1)).view(*x.shape[:2], -1)


def router(module, x):
    return torch.softmax(x @ module.up, -1)


def router_of_another_type(module, x):
    return torch.softmax(x.double().mm(module.up.double()), -1)


def router_by_angles(module, x):
    return F.softmax(F.normalize(x) @ F.normalize(module.up, dim=0), -1)


def plain_mlp(module, x):
    return torch.mm(torch.addmm(x[:, :8], x, module.up).relu(), module.down.weight.t())


def mlp_of_another_type(module, x):
    hidden = torch.mm(x.double(), module.up.double()).sigmoid()
    return torch.tensordot(hidden, module.down.weight.double(), ([1], [1]))


def mlp_into_memory_given(module, x):
    hidden = torch.empty(len(x), 8)
    torch.mm(x, module.up, out=hidden)
    return torch.mm(hidden, module.down.weight.t(), out=torch.empty(len(x), 16))


def chosen_experts(module, x):
    chosen = module.experts[x.argmax(-1) % 3]
    return torch.bmm(torch.bmm(x[:, None], chosen).exp(), chosen.mT)


OF_PARAMETERS = [router, router_of_another_type, router_by_angles, plain_mlp, mlp_of_another_type]
OF_PARAMETERS += [mlp_into_memory_given, chosen_experts]


@pytest.mark.parametrize("of", OF_PARAMETERS)
@torch.no_grad()
def test_products_with_parameters_are_no_attention(of):
    with attention.capture(model := Beside(Products(of))) as taken:
        model(x())
    assert taken.missed == []


CHOSEN = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}
GROUPS = {"n_group": 1, "topk_group": 1, "num_experts_per_tok": 1, "num_hidden_layers": 2}
EXPERTS = {
    "mixtral": SHARED | {"num_local_experts": 4},
    "qwen3_moe": SHARED | CHOSEN | {"head_dim": 4},
    "deepseek_v3": SMALL | LATENT | GROUPS | {"moe_intermediate_size": 8},
}


WAYS = [(kind, way) for kind in EXPERTS for way in ("eager", "batched_mm", "grouped_mm")]


@pytest.mark.parametrize(("kind", "way"), WAYS)
@torch.no_grad()
def test_mixtures_of_experts_miss_nothing(kind, way):
    model = made(kind, EXPERTS[kind], "eager")
    model.set_experts_implementation(way)
    with attention.capture(model) as taken:
        model(IDS)
    assert taken.missed == [] and len(taken) > 1


@torch.no_grad()
def test_a_router_of_three_axes_is_not_missed():
    sizes = {"num_experts": 2, "expert_capacity": 4, "num_sparse_encoder_layers": 1}
    model = made("switch_transformers", T5 | sizes, "eager")
    with attention.capture(model) as taken:
        model(input_ids=IDS, decoder_input_ids=IDS)
    assert taken.missed == [] and "Router" in "".join(type(m).__name__ for m in model.modules())


class SoftmaxOfItsOwn(nn.Module):
    """A class called attention, with a module for its softmax."""

    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(-1)

    def forward(self, x):
        return self.softmax(x @ x.mT) @ x


class WindowAttention(SoftmaxOfItsOwn):
    pass


@pytest.mark.parametrize("make", [SoftmaxOfItsOwn, WindowAttention])
def test_no_module_is_named_twice(make):
    with attention.capture(model := Beside(make())) as taken:
        model(x())
    assert taken.missed == ["other"]


class Gated(nn.Module):
    def __init__(self, change):
        super().__init__()
        self.qkv, self.gate, self.out = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 16)
        self.norm, self.drop, self.change = nn.LayerNorm(16), nn.Dropout(0.1), change

    def forward(self, x):
        gate = self.gate(x).sigmoid()
        Q, K, V = self.qkv(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        answer = F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2)
        if self.change == "gate":
            answer = answer * gate
        if self.change == "norm":
            answer = self.norm(answer)
        return self.out(self.drop(answer))


class Attend(nn.Module):
    def forward(self, Q, K, V):
        return F.scaled_dot_product_attention(Q, K, V)


class InPartsAttn(Gated):
    """Has its projections, and a module that joins the heads, around one that only attends."""

    def __init__(self, change):
        super().__init__(change)
        self.attend, self.join = Attend(), nn.Flatten(2)

    def forward(self, x):
        Q, K, V = self.qkv(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        answer = self.join(self.attend(Q, K, V).transpose(1, 2))
        if self.change == "gate":
            answer = answer * self.gate(x).sigmoid()
        return self.out(self.norm(answer) if self.change == "norm" else answer)


@pytest.mark.parametrize("kind", [Gated, InPartsAttn])
@pytest.mark.parametrize("change", ["gate", "norm", ""])
def test_what_changes_the_output_before_the_projection_is_named(change, kind):
    model = nn.ModuleDict({"layers": nn.Sequential(kind(change), kind(change))}).eval()
    with attention.capture(model) as taken:
        model["layers"](x())
    named = [messages.GATE_OR_NORM.format(names="layers 0–1")]
    assert taken.missed == (named if change else []) and attention.verify(taken).agrees


class Mixing(nn.Module):
    """Attention with something between it and its last projection, or next to it."""

    def __init__(self, then):
        super().__init__()
        self.qkv, self.out, self.gate = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 16)
        self.beside = nn.Sequential(nn.Linear(16, 16), nn.SiLU(), nn.LayerNorm(16))
        self.act, self.narrow, self.then = nn.Sigmoid(), nn.Linear(16, 1), then

    def forward(self, x):
        Q, K, V = self.qkv(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        answer = F.scaled_dot_product_attention(Q, K, V).transpose(1, 2).flatten(2)
        return self.then(self, answer, x)


def in_place(module, answer, x):
    answer *= torch.sigmoid(x)
    return module.out(answer)


def gate_of_modules(module, answer, x):
    return module.out(answer * module.act(module.gate(input=x)))


def narrow_gate(module, answer, x):
    return module.out(answer * module.narrow(x).sigmoid())


def function(module, answer, x):
    return module.out(F.layer_norm(answer, (16,)))


def projection_beside(module, answer, x):
    beside = module.gate(x)
    return module.out(answer) + beside


def layers_beside(module, answer, x):
    beside = module.gate(module.beside(x))
    return module.out(answer) + beside


def gate_behind(module, answer, x):
    return module.out(answer) * module.gate(x).sigmoid()


CHANGING = [in_place, gate_of_modules, narrow_gate, function]
NOT_CHANGING = [projection_beside, layers_beside, gate_behind]


@pytest.mark.parametrize("way", [torch.no_grad, torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("then", CHANGING + NOT_CHANGING)
def test_a_gate_is_told_from_what_is_computed_next_to_attention(then, way):
    model, asked = nn.Sequential(Mixing(then)).eval(), x()
    with way():
        before = model(asked)
        with attention.capture(model) as taken:
            assert torch.equal(model(asked), before)
    named = [messages.GATE_OR_NORM.format(names="0")]
    assert taken.missed == (named if then in CHANGING else [])


MAMBA = {"vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 3, "state_size": 4}
DELTA = {"linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 4}
DELTA |= {"linear_value_head_dim": 4, "shared_expert_intermediate_size": 8, "num_experts": 2}
DELTA |= {"num_hidden_layers": 4, "head_dim": 8, "moe_intermediate_size": 8}


@pytest.mark.parametrize(
    ("kind", "settings", "names", "what"),
    [
        ("mamba", MAMBA, "layers 0–2", "state space"),
        ("rwkv", SMALL | {"attention_hidden_size": 16}, "blocks 0–1", "linear attention"),
    ],
)
@torch.no_grad()
def test_a_model_of_layers_without_weights_is_refused_with_their_kind(kind, settings, names, what):
    model = made(kind, settings, "eager")
    entry = messages.LAYERS_WITHOUT_WEIGHTS.format(names=names, what=what)
    said = messages.NO_WEIGHTS_TO_CAPTURE.format(kind=type(model).__name__, names=entry)
    with pytest.raises(ValueError) as refused, attention.capture(model):
        model(IDS)
    assert str(refused.value) == said


@torch.no_grad()
def test_layers_of_a_hybrid_that_have_no_weights_are_one_entry():
    model = made("qwen3_next", SHARED | DELTA | {"num_experts_per_tok": 1}, "sdpa")
    with attention.capture(model) as taken:
        model(IDS)
    assert [each.module for each in taken] == ["layers.3.self_attn"]
    assert taken.missed == [
        messages.LAYERS_WITHOUT_WEIGHTS.format(names="layers 0–2", what="linear attention"),
        messages.GATE_OR_NORM.format(names="layers 3"),
    ]


class OfKimiLinearAttention(Plain):
    """The softmax attention of a family whose name is that of the other layers."""


class Forgets(nn.Module):
    def __init__(self):
        super().__init__()
        self.A_log = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.A_log.exp() * x


class OfKimiDeltaAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Forgets()

    def forward(self, x):
        return (x @ x.mT).tril() @ self.gate(x) + (x @ x.mT).tril(-1) @ x


def test_a_layer_is_linear_attention_once_and_never_where_it_was_recorded():
    layers = nn.Sequential(OfKimiDeltaAttention(), OfKimiDeltaAttention(), OfKimiLinearAttention())
    with attention.capture(model := nn.ModuleDict({"layers": layers})) as taken:
        model["layers"](x())
    assert [each.module for each in taken] == ["layers.2"]
    assert taken.missed == [
        messages.LAYERS_WITHOUT_WEIGHTS.format(names="layers 0–1", what="linear attention")
    ]


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("fnet", SMALL),
        ("poolformer", {"hidden_sizes": [8] * 4, "depths": [1] * 4}),
        ("focalnet", {"image_size": 64, "embed_dim": 8, "depths": [1, 1], "hidden_sizes": [8, 16]}),
    ],
)
@torch.no_grad()
def test_a_model_without_attention_is_told_so(kind, settings):
    more = {"focal_levels": [1, 1], "focal_windows": [3, 3]} if kind == "focalnet" else {}
    model = made(kind, settings | more, "eager")
    given = {"input_ids": IDS} if kind == "fnet" else {"pixel_values": torch.randn(1, 3, 64, 64)}
    with pytest.raises(ValueError) as refused, attention.capture(model):
        model(**given)
    assert str(refused.value) == messages.NO_ATTENTION_AT_ALL.format(kind=type(model).__name__)


class Layer(nn.Module):
    """As one of Keras, which has a path since it was built."""

    def __init__(self, path, name):
        super().__init__()
        self.path, self.name = path, name

    def forward(self, x):
        return torch.softmax(x @ x.mT, -1) @ x


class OfKeras(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [Layer("block_0/attention", "attention"), Layer(None, "unbuilt")]

    def _flatten_layers(self, include_self):
        return self.hidden

    def forward(self, x):
        return self.hidden[1](self.hidden[0](x))


def test_a_layer_of_keras_without_a_path_has_its_name():
    with pytest.raises(ValueError) as refused, attention.capture(model := OfKeras()):
        model(x())
    names = "block_0.attention, unbuilt"
    assert str(refused.value) == messages.NO_KNOWN_DOOR.format(names=names, hint="")


@torch.no_grad()
def test_switches_of_other_libraries_are_named():
    xt = pytest.importorskip("x_transformers", reason="x-transformers is not installed here")
    for flash in (False, True):
        layers = xt.Decoder(dim=16, depth=1, heads=2, attn_flash=flash)
        model = xt.TransformerWrapper(num_tokens=11, max_seq_len=16, attn_layers=layers).eval()
        if flash:
            with attention.capture(model) as taken:
                model(IDS)
            assert len(taken) == 1
        else:
            with pytest.raises(ValueError) as refused, attention.capture(model):
                model(IDS)
            assert str(refused.value).endswith(messages.MAKE_WITH_FLASH)


@torch.no_grad()
def test_timms_switch_is_named():
    timm = pytest.importorskip("timm", reason="timm is not installed here")
    made = {"img_size": 56, "depths": (1, 1), "num_heads": (2, 2), "embed_dim": 8}
    for fused in (False, True):
        timm.layers.set_fused_attn(True, experimental=fused)
        model = timm.create_model("swin_tiny_patch4_window7_224", **made).eval()
        if fused:
            with attention.capture(model) as taken:
                model(torch.randn(1, 3, 56, 56))
            assert len(taken) == 2
        else:
            with pytest.raises(ValueError) as refused, attention.capture(model):
                model(torch.randn(1, 3, 56, 56))
            assert str(refused.value).endswith(messages.SET_TIMM_FUSED)
    timm.layers.set_fused_attn(True)
