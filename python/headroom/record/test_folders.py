"""`python -m unittest headroom.record.test_folders`: code that comes with a config, and kernels that meta composes."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import torch
from torch import nn

from . import chosen, vision
from .blocks_data import Unrecordable
from .dimensions import Explainer
from .folders import config_of, named_in
from .model import build, prepare
from .program import record


class Said:
    """A config."""

    def __init__(self, **said):
        self.said = said

    def to_dict(self):
        return self.said


CODE = '''
import torch
from torch import nn
from transformers import PreTrainedModel, PretrainedConfig


class TinyConfig(PretrainedConfig):
    model_type = "tiny_folder"

    def __init__(self, vocab_size=96, width=32, depth=3, **said):
        self.vocab_size, self.width, self.depth = vocab_size, width, depth
        super().__init__(**said)

    attribute_map = {"hidden_size": "width", "num_hidden_layers": "depth"}


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm, self.up, self.down = nn.RMSNorm(config.width), nn.Linear(config.width, 3 * config.width), nn.Linear(3 * config.width, config.width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class TinyModel(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config):
        super().__init__(config)
        self.table = nn.Embedding(config.vocab_size, config.width)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.depth)])

    def get_input_embeddings(self):
        return self.table

    def forward(self, input_ids, **said):
        x = self.table(input_ids)
        for layer in self.layers:
            x = layer(x)
        return (x,)


class TinyForCausalLM(PreTrainedModel):
    config_class, base_model_prefix = TinyConfig, "model"

    def __init__(self, config):
        super().__init__(config)
        self.model, self.lm_head = TinyModel(config), nn.Linear(config.width, config.vocab_size, bias=False)

    def get_input_embeddings(self):
        return self.model.table

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids, labels=None, **said):
        logits = self.lm_head(self.model(input_ids)[0])
        loss = None
        if labels is not None:
            shifted = logits[:, :-1].float()
            loss = nn.functional.cross_entropy(shifted.reshape(-1, shifted.shape[-1]), labels[:, 1:].reshape(-1))
        return {"loss": loss, "logits": logits}
'''


# The command in a process of its own, as it is called; in place of the recording, whose functions the class would call.
COMMAND = """
import sys
from headroom.record import __main__ as command
def wanted(config, note):
    from transformers.models.qwen3_5 import modeling_qwen3_5 as module
    sys.exit(module.torch_chunk_gated_delta_rule.__module__ + " without packages" if sys.modules["fla"] is None else "with fla")
command.record = wanted
sys.argv = ["record", sys.argv[1]]
command.main()
"""


class TestFolders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        prepare()

    def folder(self, **said):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        with open(os.path.join(made.name, "modeling_tiny.py"), "w", encoding="utf-8") as file:
            file.write(CODE)
        said = {"model_type": "tiny_folder", "architectures": ["TinyForCausalLM"], "width": 64, "depth": 4, **said}
        with open(os.path.join(made.name, "config.json"), "w", encoding="utf-8") as file:
            json.dump(said, file)
        return made.name, said

    def test_a_folder_is_recorded_by_its_own_code(self):
        auto_map = {"AutoConfig": "modeling_tiny.TinyConfig", "AutoModelForCausalLM": "modeling_tiny.TinyForCausalLM"}
        config = config_of(*self.folder(auto_map=auto_map))
        self.assertEqual((type(build(config, "eager")).__name__, config.width), ("TinyForCausalLM", 64))
        program = record(config, note=lambda text: None)
        program = program[0] if isinstance(program, list) else program
        self.assertEqual((program["model_type"], program["class"]), ("tiny_folder", "TinyForCausalLM"))
        self.assertEqual(program["head"]["loss"], ["shift", "float"])
        self.assertIn("3 * width", program["dims"])

    def test_the_command_hides_packages_before_a_class_looks_for_them(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                json.dump({"model_type": "qwen3_5_text"}, file)
            found = subprocess.run([sys.executable, "-c", COMMAND, folder], capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
        self.assertIn("without packages", found.stderr)

    def test_an_older_python_is_told_which_it_needs(self):
        from . import __main__ as command

        said = io.StringIO()
        with mock.patch.object(command, "OLDEST", (99, 0)), mock.patch.object(sys, "argv", ["record", "llama"]), contextlib.redirect_stderr(said):
            self.assertRaises(SystemExit, command.main)
        self.assertIn("is too old: run it with 99.0 or newer", said.getvalue())

    def test_without_auto_map_the_classes_are_found_by_their_names(self):
        named = named_in(*self.folder())
        self.assertEqual(named, {"AutoConfig": "modeling_tiny.TinyConfig", "AutoModelForCausalLM": "modeling_tiny.TinyForCausalLM"})
        with self.assertRaisesRegex(Unrecordable, "names none in auto_map"):
            config_of(*self.folder(architectures=["Another"]))

    def test_rows_of_experts_are_those_of_balanced_routing(self):
        routing = chosen.Routing(tokens=64, per_token=3, experts=10, within=lambda: True)
        rows = lambda *shape: routing.rows(torch.empty(shape, device="meta", dtype=torch.bool))
        # Every expert; of one expert by choice and token, by both together, by token; of all experts; no expert's.
        self.assertEqual([rows(10), rows(3, 64), rows(192), rows(64), rows(64, 10), rows(7)], [10, 20, 20, 20, 192, 7])
        before = chosen.Routing(tokens=64, per_token=3, experts=10, within=lambda: False)
        self.assertEqual(before.rows(torch.empty(64, device="meta")), 64)

    def test_a_mask_picks_as_many_rows_as_routing_says(self):
        x, mask = torch.empty(64, 8, device="meta"), torch.empty(64, device="meta", dtype=torch.bool)
        self.addCleanup(chosen.routes, None, 0, None)
        chosen.routes(Said(num_experts=4, num_experts_per_tok=2), 64, lambda: True)
        self.assertEqual((x[mask].shape, x[mask, 1:].shape, torch.where(mask)[0].shape), ((32, 8), (32, 7), (32,)))
        x[mask] = torch.empty(32, 8, device="meta")
        chosen.routes(Said(), 64, lambda: True)
        self.assertEqual(x[mask].shape, (64, 8))

    def test_masks_of_images_are_none_of_a_mixture(self):
        x, mask = torch.empty(2, 16, 8, device="meta"), torch.empty(2, 16, device="meta", dtype=torch.bool)
        before = vision._tokens[0], vision._selected[0]
        self.addCleanup(lambda: (vision._tokens.__setitem__(0, before[0]), vision._selected.__setitem__(0, before[1])))
        vision._tokens[0], vision._selected[0] = (2, 16), 6
        # All images have so many tokens, to which some layers add features (Qwen3-VL's).
        self.assertEqual(x[mask].shape, (6, 8))
        x[mask] = x[mask] + torch.empty(6, 8, device="meta")

    def test_rows_of_an_expert_are_rounded_up(self):
        settings = [{"b": b, "s": s, "top_k": k, "num_experts": 6} for b, s, k in ((2, 16, 2), (3, 16, 2), (2, 32, 2), (2, 16, 3))]
        found = Explainer(settings, [(), ("b",), ("s",), ("top_k",)]).expression([11, 16, 22, 16])
        self.assertEqual(found, "ceil(b * s * top_k / num_experts)")

    def test_rms_norm_keeps_what_it_reads_and_a_number_of_each_row(self):
        norm = nn.RMSNorm(32, device="meta", dtype=torch.bfloat16)
        saved = []
        x = torch.zeros(2, 8, 32, device="meta", dtype=torch.bfloat16, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(lambda one: saved.append((tuple(one.shape), one.dtype)) or one, lambda one: one):
            out = norm(x)
        self.assertEqual(saved, [((2, 8, 32), torch.bfloat16), ((32,), torch.bfloat16), ((2, 8, 1), torch.float32)])
        out.sum().backward()
        self.assertEqual((x.grad.shape, norm.weight.grad.shape), ((2, 8, 32), (32,)))
        # A weight of another dtype is multiplied by operators.
        wide = nn.RMSNorm(32, device="meta", dtype=torch.float32)
        self.assertNotIn("FusedRmsNorm", wide(x).grad_fn.name())


if __name__ == "__main__":
    unittest.main()
