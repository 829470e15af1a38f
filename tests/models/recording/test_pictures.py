"""Which rows and columns the patches have on which a tower's attention works, beside plain loops
and beside convolutions that torch runs.
"""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
pytest.importorskip("transformers", reason="the models come from transformers, not installed here")

from models.families import IDS, SMALL, VIT, made  # noqa: E402

import attention  # noqa: E402
from attention.limits import BadInput  # noqa: E402
from attention.models.labels import words_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
REGISTERS = ("register 0", "register 1", "register 2")
TURNED = {"patch_size": 4, "spatial_merge_size": 2, "temporal_patch_size": 2, "depth": 2}
TURNED |= {"hidden_size": 16, "num_heads": 4}
OWN = {"out_hidden_size": 16, "intermediate_size": 16}
SWIN = {"image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2]}
HIERARCHY = {"num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1], "strides": [2, 2]}
HIERARCHY |= {"hidden_sizes": [8, 8], "num_attention_heads": [2, 2], "patch_sizes": [3, 3]}


def run(model, *pictures, **options):
    with torch.no_grad(), attention.capture(model) as taken:
        for each in pictures:
            model(each, **options)
    return taken


def picture(height=8, width=8, batch=1):
    return torch.randn(batch, 3, height, width)


@pytest.mark.parametrize(
    ("kind", "settings", "side", "grid", "special"),
    [
        ("vit", {}, (8, 8), (2, 2), ("[CLS]",)),
        ("vit", {}, (8, 12), (2, 3), ("[CLS]",)),
        ("vit", {"image_size": 16}, (8, 32), (2, 8), ("[CLS]",)),  # 16 patches as the usual 4 × 4
        ("deit", {}, (8, 8), (2, 2), ("[CLS]", "[DIST]")),
        ("dinov2", {}, (12, 8), (3, 2), ("[CLS]",)),
        (
            "dinov2_with_registers",
            {"num_register_tokens": 3},
            (8, 8),
            (2, 2),
            ("[CLS]", *REGISTERS),
        ),
        ("dinov3_vit", {"num_register_tokens": 3}, (8, 12), (2, 3), ("[CLS]", *REGISTERS)),
        ("clip_vision_model", {}, (8, 8), (2, 2), ("[CLS]",)),
        ("siglip_vision_model", {}, (8, 16), (2, 4), ()),
        ("beit", {"use_relative_position_bias": True}, (8, 8), (2, 2), ("[CLS]",)),
    ],
)
def test_the_grid_is_that_of_the_picture_that_was_read(kind, settings, side, grid, special):
    model = made(kind, VIT | settings, "sdpa")
    usual = side == (model.config.image_size,) * 2
    options = {} if usual or kind.startswith("dino") else {"interpolate_pos_encoding": True}
    taken = run(model, picture(*side, batch=2), **options)
    (call, *_) = taken.calls
    patches = grid[0] * grid[1]
    assert call.grid == grid and call.grid_block == 1
    labels = (*special, *(f"patch {k}" for k in range(patches)))
    assert words_of(taken, call, 1) == (labels, labels)
    cells = call.patches.places(len(labels))
    for row in range(grid[0]):
        for column in range(grid[1]):
            assert labels[cells[row, column]] == f"patch {row * grid[1] + column}"


def tower(family, name, **settings):
    """The vision tower of a model that takes pictures of any size."""
    place = f"transformers.models.{family}"
    config = getattr(import_module(f"{place}.configuration_{family}"), f"{name}Config")
    of = import_module(f"{place}.modeling_{family}")
    towers = (each for each in vars(of).values() if isinstance(each, type))
    kind = next(
        each
        for each in towers
        if getattr(each, "config_class", None) is config
        and "rotary_pos_emb" in each.__init__.__code__.co_names
    )
    return kind._from_config(config(**settings), attn_implementation="sdpa").eval()


def turned(model, *grids):
    sizes = torch.tensor(grids)
    count = int(sizes.prod(-1).sum())
    return run(model, torch.randn(count, 3 * 2 * 4 * 4), grid_thw=sizes)


@pytest.mark.parametrize(
    ("family", "name", "settings"),
    [
        ("qwen2_vl", "Qwen2VLVision", {"embed_dim": 16, "mlp_ratio": 2}),
        (
            "qwen3_vl",
            "Qwen3VLVision",
            OWN | {"num_position_embeddings": 16, "deepstack_visual_indexes": []},
        ),
        ("glm4v", "Glm4vVision", OWN | {"image_size": 16}),
    ],
)
def test_patches_in_blocks_stand_at_their_rows_and_columns(family, name, settings, tmp_path):
    taken = turned(tower(family, name, **TURNED | settings), (1, 4, 6))
    taken.save(tmp_path / "run.safetensors")
    for call in (*taken, *attention.Taken.load(tmp_path / "run.safetensors")):
        assert (call.grid, call.grid_block, call.names) == ((4, 6), 2, ("patch",))
        cells, k = call.patches.places(24), 0
        for row in (0, 2):  # of each block of four
            for column in (0, 2, 4):
                for i in (0, 1):
                    for j in (0, 1):
                        assert cells[row + i, column + j] == k
                        k += 1


def test_each_picture_of_one_run_has_its_own_grid():
    model = tower("qwen2_vl", "Qwen2VLVision", embed_dim=16, mlp_ratio=2, **TURNED)
    taken = turned(model, (1, 4, 6), (2, 2, 4))  # a picture, and two frames of another
    found = [(call.module, call.grid) for call in taken]
    for block in ("blocks.0.attn", "blocks.1.attn"):
        assert [grid for name, grid in found if name == block] == [(4, 6), (2, 4), (2, 4)]


def test_windows_and_what_chance_orders_have_no_grid():
    windows = tower(
        "qwen2_5_vl",
        "Qwen2_5_VLVision",
        **TURNED | OWN | {"window_size": 16, "fullatt_block_indexes": [1]},
    )
    swin = made("swin", SWIN | {"window_size": 4}, "sdpa")
    masked = made("vit_mae", VIT | {"mask_ratio": 0.0, "decoder_num_attention_heads": 4}, "sdpa")
    for taken in (turned(windows, (1, 4, 8)), run(swin, picture(16, 16)), run(masked, picture())):
        assert len(taken) and all(call.grid == () for call in taken)


def test_patches_left_out_by_chance_have_no_names_of_others():
    """Four of sixteen are left, as many as a picture of 2 × 2 patches has."""
    masked = made("vit_mae", VIT | {"image_size": 16, "decoder_num_attention_heads": 4}, "sdpa")
    (call,) = run(masked, picture(16, 16))
    places = ("[CLS]", *(f"place {k}" for k in range(4)))
    assert (call.names, call.grid) == (("[CLS]", "place"), ())
    assert words_of(run(masked, picture(16, 16)), call, 0) == (places, places)
    timm = pytest.importorskip("timm", reason="timm is not installed here")
    sizes = {"img_size": 64, "depth": 1, "embed_dim": 16, "num_heads": 2}
    dropping = timm.create_model("vit_tiny_patch16_224", patch_drop_rate=0.75, **sizes)
    (left,), (whole,) = (
        run(dropping.train(), picture(64, 64)),
        run(dropping.eval(), picture(64, 64)),
    )
    assert (left.K.shape[2], left.names, left.grid) == (5, ("place",), ())
    assert (whole.K.shape[2], whole.names, whole.grid) == (17, ("[CLS]", "patch"), (4, 4))


VIDEO = VIT | {"decoder_num_attention_heads": 4, "decoder_hidden_size": 16}
VIDEO |= {"decoder_num_hidden_layers": 1, "decoder_intermediate_size": 8}


@pytest.mark.parametrize(("frames", "grid"), [(2, (2, 2)), (4, ())])
@pytest.mark.parametrize(
    ("kind", "settings", "special"),
    [("videomae", VIDEO, ()), ("vivit", VIT | {"tubelet_size": [2, 4, 4]}, ("[CLS]",))],
)
def test_patches_of_a_video_are_called_patches(kind, settings, special, frames, grid):
    """Each is of two frames, so that two frames are one picture."""
    model = made(kind, settings | {"num_frames": frames}, "sdpa")
    (call,) = run(model, torch.randn(1, frames, 3, 8, 8))
    assert call.K.shape[2] == len(special) + 2 * frames
    assert (call.names, call.grid) == ((*special, "patch"), grid)


def test_a_decoder_of_a_masked_video_has_another_order():
    """Four of eight patches are left, as many as one picture has; then the others follow."""
    from transformers import AutoModelForPreTraining

    model = made("videomae", VIDEO | {"num_frames": 4}, "sdpa", AutoModelForPreTraining)
    mask = torch.arange(8)[None] % 2 > 0
    taken = run(model, torch.randn(1, 4, 3, 8, 8), bool_masked_pos=mask)
    assert [(call.K.shape[2], call.names) for call in taken] == [(4, ("place",)), (8, ("place",))]


@pytest.mark.parametrize("frames", [4, 5])  # as many as patches, without and with [CLS]
def test_tokens_that_stand_for_frames_are_no_patches(frames):
    """X-CLIP has one of each frame look at the others, in its tower and in layers of their own."""
    from transformers import XCLIPConfig, XCLIPModel

    ends = {"num_frames": frames, "mit_hidden_size": 16, "mit_intermediate_size": 8}
    ends |= {"mit_num_attention_heads": 4, "mit_num_hidden_layers": 1}
    sizes = {"projection_dim": 16, "prompt_num_attention_heads": 4, "prompt_layers": 1}
    text = SMALL | {"eos_token_id": 7}
    config = XCLIPConfig(text_config=text, vision_config=VIT | ends, **sizes)
    model = XCLIPModel._from_config(config, attn_implementation="sdpa").eval()
    with torch.no_grad(), attention.capture(model, layers=["message_attn", "mit."]) as taken:
        model(input_ids=IDS, pixel_values=torch.randn(1, frames, 3, 8, 8))
    for call in taken:
        assert (call.kind, call.K.shape[2]) == ("vision", frames)
        assert (call.names, call.key_names, call.grid) == (("place",), ("place",), ())


def test_keys_that_are_regions_have_the_grid_of_the_regions():
    model = made("segformer", HIERARCHY, "sdpa")
    reduced = run(model, picture(16, 24))[0]
    assert reduced.Q.shape[2] == 8 * 12 and reduced.K.shape[2] == 4 * 6
    assert reduced.grid == (4, 6) and reduced.patches.first is None


def test_a_part_of_the_queries_keeps_the_grid():
    model = made("vit", VIT, "sdpa")
    with torch.no_grad(), attention.capture(model, queries=range(2, 4)) as taken:
        model(picture())
    (call,) = taken
    assert call.grid == (2, 2) and call.patches.first == 2
    assert call.trace(0, 1).recorded.patches.label(call.patches.first) == "patch 1"


def test_timm_towers_have_the_grid_of_their_picture():
    timm = pytest.importorskip("timm", reason="timm is not installed here")
    small = {"pretrained": False, "depth": 1, "embed_dim": 16, "num_heads": 2}
    for name, size, grid, special in (
        ("vit_tiny_patch16_224", (32, 48), (2, 3), 1),
        ("deit_tiny_distilled_patch16_224", (32, 32), (2, 2), 2),
        ("vit_small_patch14_reg4_dinov2", (28, 42), (2, 3), 5),
        ("beit_base_patch16_224", (32, 32), (2, 2), 1),
    ):
        model = timm.create_model(name, img_size=size, **small).eval()
        (call,) = run(model, picture(*size))
        assert (call.grid, len(call.key_names)) == (grid, special + 1), name


def test_a_grid_that_does_not_fit_says_both_numbers(tmp_path):
    taken = run(made("vit", VIT, "sdpa"), picture())
    wrong = replace(taken[0], grid=(3, 5))
    said = "grid is 3 × 5, so 15 patches; expected 4, as there are 5 keys, 1 of them special."
    with pytest.raises(BadInput) as refused:
        wrong.trace(0, 0)
    assert str(refused.value) == said
    taken.calls = [wrong]
    taken.save(tmp_path / "run.safetensors")
    with pytest.raises(BadInput) as refused:
        attention.Taken.load(tmp_path / "run.safetensors")
    assert str(refused.value) == f"run.safetensors: layers.0: {said}"
    assert np.array_equal(replace(wrong, grid=(4, 1)).patches.places(5), [[1], [2], [3], [4]])


def moved(call, other):
    """The row and column of the patch whose keys differ most from call to call."""
    apart = np.abs(call.K[0] - other.K[0]).sum(axis=(0, 2))
    cells = apart[call.patches.places(len(apart))]
    return tuple(int(side) for side in np.unravel_index(cells.argmax(), cells.shape))


@pytest.mark.parametrize("place", [(0, 5), (1, 4), (3, 0)])
def test_the_patch_that_is_painted_is_the_cell_that_changes(place):
    row, column = place
    model = made("vit", VIT, "sdpa")
    black, spotted = torch.zeros(2, 1, 3, 16, 24)
    spotted[..., 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] = 9.0
    options = {"interpolate_pos_encoding": True}
    calls = [run(model, each, **options)[0] for each in (spotted, black)]
    assert calls[0].grid == (4, 6) and moved(*calls) == place


@pytest.mark.parametrize("place", [(0, 5), (1, 4), (3, 0)])
def test_a_patch_that_qwens_processor_cuts_is_the_cell_that_changes(place):
    try:
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import (
            Qwen2VLImageProcessorPil as Processor,
        )
    except ImportError:
        pytest.skip("this version of transformers has no such processor")
    row, column = place
    model = tower("qwen2_vl", "Qwen2VLVision", embed_dim=16, mlp_ratio=2, **TURNED)
    process = Processor(patch_size=4, merge_size=2, temporal_patch_size=2, do_resize=False)
    black, spotted = np.zeros((2, 16, 24, 3), np.uint8)
    spotted[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] = 255
    calls = []
    for each in (spotted, black):
        asked = process(images=[each], return_tensors="pt")
        taken = run(model, asked["pixel_values"], grid_thw=asked["image_grid_thw"])
        calls.append(taken[0])
    assert calls[0].grid == (4, 6) and moved(*calls) == place
