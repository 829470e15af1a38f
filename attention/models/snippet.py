"""Ten lines that capture a model with this package, and a few that do without it.

SNIPPET is for models of transformers, and needs nothing of ours: ``attention.Taken.load``,
``attention.verify`` and the page Real model read what it writes. The texts stand here alone;
docs/real-models.md repeats both, and a test compares them.
"""

SNIPPET = """\
import json, safetensors.torch as st, torch, unittest.mock
from transformers import AttentionInterface as Doors

kept, layers, original = {}, {}, Doors.get_interface


def listening(self, name, default):  # the implementation in use, with its own mask
    def listened(module, query, key, value, attention_mask, **kw):
        mask, attend = attention_mask, original(self, name, default)
        answer = attend(module, query, key, value, mask, **kw)
        causal = kw.get("is_causal", getattr(module, "is_causal", True))
        if mask is None and name == "sdpa" and causal and query.shape[2] > 1:
            mask = torch.ones(1, 1, query.shape[2], key.shape[2]).tril().bool()
        at, scale = f"layers.{len(layers)}", query.shape[-1] ** -0.5
        layers[at] = {"scale": kw.get("scaling") or scale, "softcap": kw.get("softcap")}
        layers[at] |= {"implementation": name, "dtype": str(query.dtype)[6:]}
        had = {"Q": query, "K": key, "V": value, "output": answer[0].transpose(1, 2)}
        had |= {"mask": mask, "bias": kw.get("position_bias"), "sinks": kw.get("s_aux")}
        for what in [each for each in had if had[each] is not None]:
            M = had[what].cpu().clone().contiguous()
            kept[f"{at}.{what}"] = M.float() if M.dtype == torch.bfloat16 else M
        return answer

    return listened


with torch.no_grad(), unittest.mock.patch.object(Doors, "get_interface", listening):
    model(**inputs)
about = {"model": model.name_or_path, "tokens": [], "layers": layers}  # or words
st.save_file(kept, "run.safetensors", {"attention_capture": json.dumps(about)})
"""

LINES = """\
import attention

words = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
with torch.no_grad(), attention.capture(model, layers=[3], tokens=words) as taken:
    model(**inputs)
print(taken)  # what was recorded, how large it is, and what was not
print(attention.verify(taken))  # every layer and head again in float64, beside the model's own
taken.save("run.safetensors")

trace = attention.trace_of(taken, 3, item=0, head=5)  # from here on like any other trace
attention.figure(trace)  # Plotly, which the extra [app] brings
"""
