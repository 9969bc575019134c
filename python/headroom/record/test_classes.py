"""`python -m unittest headroom.record.test_classes`: what recordings say of classes that no other test has."""

import copy
import multiprocessing
import os
import unittest

import torch
from torch import nn

from . import adapters, variants
from . import model as models
from .derived import aliases_of
from .families import of_process
from .features import by_number, features_of, value_at
from .head import loss_steps, ties, weight_of
from .masks import mask_maker
from .model import Called, build, decoder_of, layers_of, prepare
from .outline import attach, with_plain_softmax
from .program import Recorder
from .rates import key_of
from .shared import groups, in_common
from .shorter import fewer_layers


class Said:
    """A config as features read it."""

    model_type = "none"

    def __init__(self, **said):
        self.__dict__ |= said

    def to_dict(self):
        return dict(self.__dict__)


class TestFeatures(unittest.TestCase):
    def test_a_list_that_begins_anew_tells_layers_apart(self):
        config = Said(num_hidden_layers=6, block_types=["recurrent", "recurrent", "attention"])
        features, keys = features_of(config, [0, 0, 1, 0, 0, 1])
        self.assertEqual(features, [{"repeats": "block_types"}])
        self.assertEqual(keys, ["block_types"])
        self.assertEqual([value_at(config, features[0], i) for i in (2, 4)], ["attention", "recurrent"])

    def test_layers_take_turns_with_what_they_share(self):
        config = Said(num_hidden_layers=8, hybrid_layer_ids=[1, 3, 5, 7], num_mem_blocks=2)
        features, keys = features_of(config, [0, 1, 0, 2, 0, 1, 0, 2])
        self.assertEqual(features, [{"nth": "hybrid_layer_ids", "offset": 0, "turns": "num_mem_blocks"}])
        self.assertEqual(keys, ["hybrid_layer_ids", "num_mem_blocks"])
        self.assertEqual([value_at(config, features[0], i) for i in (0, 1, 3, 5)], ["none", "0", "1", "0"])


    def test_the_first_two_layers_and_the_last_may_differ_by_their_numbers(self):
        features, _ = features_of(Said(num_hidden_layers=6), [0, 1, 2, 2, 2, 3])
        self.assertEqual(features, [{"at": "num_hidden_layers - 1"}, {"first": "2"}])

    def test_layers_by_number_are_counted_as_files_do(self):
        said = by_number(Said(num_hidden_layers=2, attribute_map={"num_hidden_layers": "n_layers"}), [0, 1])
        self.assertEqual(said[2], {"key": "n_layers", "is": 2})


    def test_a_number_of_layers_under_a_name_of_its_own_is_an_alias(self):
        named = lambda key: Said(attribute_map={"num_hidden_layers": key}, **{key: 6})
        with_no_tower = {"model_type": "none"}
        self.assertEqual(aliases_of(Said(**with_no_tower), set()), {})
        self.assertEqual(aliases_of(named("n_layers"), set()), {})
        self.assertEqual(aliases_of(named("decoder_layers"), set()), {"aliases": {"decoder_layers": "num_hidden_layers"}})


class TestHeads(unittest.TestCase):
    def heads(self, rows, width, tied=False):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.head = nn.Embedding(10, 4), nn.Linear(width, rows)
                if tied:
                    self.head.weight = self.table.weight

            def get_input_embeddings(self):
                return self.table

            def get_output_embeddings(self):
                return self.head

        return Model()

    def test_a_head_of_another_width_says_its_shape(self):
        config = Said(hidden_size=6, vocab_size=10)
        self.assertIsNone(weight_of(self.heads(10, 6), config))
        self.assertEqual(weight_of(self.heads(10, 8), config), (10, 8))
        self.assertIsNone(weight_of(self.heads(10, 4, tied=True), config))

    def test_a_class_may_tie_whatever_its_config_says(self):
        config = Said(tie_word_embeddings=True)
        by_config = lambda one: self.heads(10, 4, tied=one.tie_word_embeddings)
        self.assertEqual(ties(config, by_config), {})
        self.assertEqual(ties(config, lambda one: self.heads(10, 4, tied=False)), {"ties": False})
        self.assertEqual(ties(config, lambda one: self.heads(10, 4, tied=True)), {"ties": True})


class TestLosses(unittest.TestCase):
    def test_what_a_loss_makes_of_logits(self):
        class Model(nn.Module):
            def __init__(self, steps):
                super().__init__()
                self.steps, self.config = steps, Said()
                self.table, self.head = nn.Embedding(10, 4), nn.Linear(4, 10)

            def forward(self, input_ids, labels):
                logits = self.steps(self.head(self.table(input_ids)))
                labels = labels if logits.shape[1] == labels.shape[1] else labels[:, 1:]
                return nn.functional.cross_entropy(logits.reshape(-1, 10), labels.reshape(-1))

        for steps, said in (
            (lambda logits: logits, []),
            (lambda logits: logits.float(), ["float"]),
            (lambda logits: logits[..., :-1, :].contiguous(), ["shift", "copy"]),
            (lambda logits: logits.float()[..., :-1, :], ["float", "shift", "copy"]),
            (lambda logits: logits[:, :-1].float().contiguous(), ["shift", "float"]),
            (lambda logits: logits.sum(1, keepdim=True), None),
        ):
            model = Model(steps).to("meta", torch.bfloat16)
            self.assertEqual(loss_steps(model, model.head), said)


def ended(name):
    """What a system does to a process for want of memory."""
    os._exit(9)


class TestMasks(unittest.TestCase):
    def test_a_mask_that_is_there_is_the_mask(self):
        # PaliGemma makes the mask of its text model, which asks for one in turn.
        given, embeds = torch.empty(2, 1, 8, 8, dtype=torch.bool, device="meta"), torch.empty(2, 8, 4, device="meta")
        for attention in ("sdpa", "eager"):
            self.assertIs(mask_maker("create_causal_mask", attention)(inputs_embeds=embeds, attention_mask=given), given)


class TestProcesses(unittest.TestCase):
    def test_a_process_that_is_ended_is_a_class_that_is_not_recorded(self):
        context = multiprocessing.get_context("forkserver")
        self.assertIn("out of memory", of_process(ended, "llama", context).failure)
        self.assertEqual(of_process(len, "llama", context), 5)


class TestWays(unittest.TestCase):
    def block(self, *names):
        return {"takes": [], "gives": {}, "ops": [{"f": name} for name in names]}

    def test_a_softmax_in_a_dtype_that_is_named_is_no_other_way_in_fp32(self):
        block = self.block("_to_copy", "_softmax", "_to_copy")
        attach(block, {"wide": self.block("_softmax.dtype")})
        self.assertNotIn("wide", block)

    def test_a_softmax_in_the_dtype_of_its_tensor_is_one_in_both(self):
        block = self.block("_softmax.dtype")
        attach(block, {"wide": self.block("_softmax.dtype")})
        self.assertNotIn("wide", block)
        self.assertEqual(with_plain_softmax(block, block), block)


class TestRates(unittest.TestCase):
    def test_an_operator_without_a_rate_reads_no_config(self):
        self.assertIsNone(key_of(None, None))


class TestClasses(unittest.TestCase):
    """Classes of transformers, built on `meta` and small."""

    @classmethod
    def setUpClass(cls):
        prepare()

    def config(self, model_type, **said):
        from transformers import CONFIG_MAPPING

        return CONFIG_MAPPING[model_type](**said)

    def test_layers_that_run_again_are_as_many_as_their_calls(self):
        config = self.config("albert", hidden_size=32, num_attention_heads=4, intermediate_size=64, num_hidden_layers=5, vocab_size=50)
        name, layers = layers_of(decoder_of(build(config, "eager")))
        self.assertIsInstance(layers, Called)
        self.assertEqual(len(layers), 5)
        self.assertEqual(len(set(layers)), 1)
        self.assertEqual(set(layers.prefixes), {f"{name}.0."})
        self.assertEqual(len(in_common(layers)), len(list(layers[0].parameters())))

    def test_a_config_says_which_of_its_types_classes_it_is_for(self):
        small = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64, "num_hidden_layers": 2, "vocab_size": 50}
        of = lambda *named: type(build(self.config("roc_bert", architectures=list(named), **small), "eager")).__name__
        self.assertEqual(of("RoCBertForCausalLM"), "RoCBertForCausalLM")
        self.assertEqual([of(), of("RoCBertModel")], ["RoCBertForMaskedLM"] * 2)
        # The decoder of an encoder-decoder.
        small = {"d_model": 32, "decoder_layers": 2, "encoder_layers": 2, "vocab_size": 50}
        of = lambda *named: type(build(self.config("mbart", architectures=list(named), **small), "eager")).__name__
        self.assertEqual([of("MBartForCausalLM"), of()], ["MBartForCausalLM", "MBartForConditionalGeneration"])

    def test_names_that_peft_converts_are_facts(self):
        named = [adapters.facts(name) for name in ("qwen3_moe", "mixtral", "minimax", "qwen2_moe", "gpt_oss", "llama", "paligemma")]
        self.assertEqual(named, [{"expert_names": "qwen2_moe"}, *[{"expert_names": "mixtral"}] * 2, {}, {}, {}, {}])

    def test_fewer_layers_have_as_much_in_common(self):
        kinds = ["linear_attention", "hybrid"] * 8
        config = self.config(
            "zamba2", num_hidden_layers=16, layers_block_type=kinds, hidden_size=64, n_mamba_heads=8, num_attention_heads=4,
            num_key_value_heads=4, intermediate_size=64, num_mem_blocks=2, vocab_size=50,
        )
        kept = fewer_layers(copy.deepcopy(config))
        shared = lambda one: groups(layers_of(decoder_of(build(copy.deepcopy(one), "eager")))[1])
        self.assertLess(kept.num_hidden_layers, 16)
        self.assertEqual((shared(kept), shared(config)), (2, 2))

    def test_linear_layers_around_one_weight_are_their_layers_own(self):
        config = self.config(
            "zamba2", num_hidden_layers=4, layers_block_type=["linear_attention", "hybrid"] * 2, hidden_size=64, n_mamba_heads=8, num_attention_heads=4,
            num_key_value_heads=4, intermediate_size=64, mamba_d_state=8, chunk_size=8, adapter_rank=8, vocab_size=50,
        )
        recorder = Recorder(config, None, lambda text: None)
        recording = recorder.one(config, 2, 16, attentions=["sdpa"])
        said = recording["said"]["sdpa"]
        before = {name: kind for name, kind, _ in said["before"]["modules"]}
        whole = "layers.1.shared_transformer.feed_forward.down_proj"
        self.assertEqual(before[whole], "SharedLinear")
        # Both layers are one kind: each has modules of its own, around the weight of one and with the adapters that it runs.
        self.assertEqual(recorder.kinds(recording), ([0, 1], [0, 1, 0, 1]))
        own = {name: (kind, owned) for name, kind, owned in said["layers"][3]["modules"]}
        kind, [weight] = own["shared_transformer.feed_forward.down_proj"]
        self.assertEqual((kind, weight[0], weight[2]), ("Linear", "weight", {"of": f"{whole}.weight"}))
        self.assertEqual(len(own["shared_transformer.feed_forward.gate_up_proj_adapter_list.0.0"][1][0]), 2)
        linear = next(op for op in said["layers"][3]["ops"] if op["f"] == "linear")
        self.assertIn(linear["m"], range(len(said["layers"][3]["modules"])))
        # What the Mamba layer, which checkpointing runs again by itself, is handed by name: what the layer's own linear layer gives.
        [handed] = said["layers"][3]["handed"]
        module = [name for name, _, _ in said["layers"][3]["modules"]].index("linear")
        made = [len(said["layers"][3]["takes"]), *(len(op["o"]) for op in said["layers"][3]["ops"])]
        maker = next(i for i in range(len(made)) if sum(made[: i + 2]) > handed)
        self.assertEqual([said["layers"][3]["ops"][maker][key] for key in "fm"], ["linear", module])
        self.assertNotIn("handed", said["layers"][2])

    def test_heads_and_their_width_move_apart(self):
        config = self.config("zamba2", hidden_size=64, n_mamba_heads=8, num_attention_heads=4, num_hidden_layers=2, layers_block_type=["linear_attention", "hybrid"])
        sizes = variants.sizes_of(config)
        [group] = [one for one in variants.TOGETHER if one[0] == "n_mamba_heads"]
        changed = variants.moved_together(config, group, sizes)
        self.assertEqual((changed.n_mamba_heads, changed.mamba_headdim), (16, config.mamba_headdim // 2))
        # A class asks for nothing else: the model runs.
        run = Recorder(config, None, lambda text: None).one(changed, 1, 16, attentions=["sdpa"])
        self.assertTrue(run["said"]["sdpa"]["layers"][1]["ops"])

    def test_parameters_made_in_fp32_are_cast_where_a_class_runs_in_no_other_dtype(self):
        config = self.config("xlnet", d_model=32, n_layer=1, n_head=4, d_inner=32, vocab_size=50)
        try:
            models.CAST.add(type(config))
            model = build(config, "eager")
        finally:
            models.CAST.discard(type(config))
        self.assertEqual({parameter.dtype for parameter in model.parameters()}, {torch.bfloat16})


if __name__ == "__main__":
    unittest.main()
