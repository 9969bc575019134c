"""`python -m unittest headroom.record.test_loops`: layers that run more than once."""

import os
import tempfile
import unittest

import torch
from torch import nn

from . import families, features, head, loops, own_files
from .blocks_data import Unrecordable
from .model import Called, distinct, layers_of, prepare
from .program import record

MODULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests/programs/modules")


class Config:
    """A config of so many layers, of which some run again."""

    def __init__(self, **said):
        self.__dict__.update(said)

    def to_dict(self):
        return dict(self.__dict__)


def order(config):
    first, end = config.begin, config.num_hidden_layers - config.behind
    return [*range(first), *(list(range(first, end)) * config.loops), *range(end, config.num_hidden_layers)]


class TestLoops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        prepare()

    def test_which_layers_run_again_is_read_from_their_calls(self):
        self.assertEqual(loops.span([0, 1, 2, 1, 2, 1, 2, 3], 4), (1, 3, 3))
        self.assertEqual(loops.span([0, 1, 0, 1], 2), (0, 2, 2))
        for other in ([0, 1, 2, 3], [0, 1, 1, 2, 2, 3], [0, 1, 2, 1, 3], [0, 1, 2, 1, 2]):
            self.assertIsNone(loops.span(other, 4))

    def test_keys_that_say_so_are_told_from_those_of_the_same_value(self):
        config = Config(num_hidden_layers=8, begin=2, behind=2, loops=2, num_key_value_heads=2, heads=6)
        self.assertEqual(loops.expressions(config, order), {"from": "begin", "to": "num_hidden_layers - behind", "times": "loops"})
        # What hangs on no key is the same in every config.
        config = Config(num_hidden_layers=8, begin=2, behind=2, heads=3)
        thrice = lambda config: order(Config(**{**config.to_dict(), "loops": 3}))
        self.assertEqual(loops.expressions(config, thrice)["times"], "3")

    def test_an_order_that_is_not_known_is_refused(self):
        with self.assertRaisesRegex(Unrecordable, "in an order that is not known"):
            loops.expressions(Config(num_hidden_layers=3), lambda config: [0, 0, 1, 2, 2])

    def test_a_call_says_whether_its_layer_has_run(self):
        calls = loops.calls_of([0, 1, 2, 1, 2])
        self.assertEqual(([int(call) for call in calls], [call.again for call in calls]), ([0, 1, 2, 1, 2], [False, False, False, True, True]))

    def test_a_module_is_recorded_with_its_loop(self):
        config = own_files.read(os.path.join(MODULES, "looped.py"), None)
        program = record(config)
        self.assertEqual(program["loops"], {"from": "first", "to": "depth", "times": "passes"})
        self.assertEqual([feature for feature in program["features"] if "again" in feature], [{"again": True}])
        # For any number of layers and passes.
        self.assertEqual(program["when"], [])
        name, layers = layers_of(config.made().module)
        self.assertIsInstance(layers, Called)
        self.assertEqual((name, len(layers), len(distinct([(name, layers)]))), ("layers", 14, 6))

    def test_a_module_whose_loop_runs_once_is_for_one_pass(self):
        with open(os.path.join(MODULES, "looped.py")) as file:
            text = file.read()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "once.py")
            with open(path, "w") as file:
                # All layers alike, so that nothing but the key tells one pass from several.
                file.write(text.replace('"first": 2, "passes": 3', '"first": 2, "passes": 1').replace("x = x + begun", "x = x"))
            self.assertEqual(record(own_files.read(path, None))["when"], [{"key": "passes", "is": 1}])

    def test_a_key_of_each_layer_by_itself_is_no_feature(self):
        # Reading it of the whole config raises an error of its own (transformers configuration_utils.py).
        for config in families.configs_of("gemma4_text"):
            self.assertNotIn("head_dim", str(features.candidates(config)))

    def test_a_head_may_have_a_factor_for_each_logit(self):
        module = nn.Linear(8, 32, bias=False, device="meta")
        self.assertEqual(head.gain_of(module), {})
        module.scale = nn.Parameter(torch.empty(32, device="meta"))
        self.assertEqual(head.gain_of(module), {"gain": "scale"})
        module.more = nn.Parameter(torch.empty(8, device="meta"))
        with self.assertRaisesRegex(Unrecordable, "scale, more"):
            head.gain_of(module)


if __name__ == "__main__":
    unittest.main()
