"""`python -m unittest headroom.record.test_aligned`: a block in fp32 with the casts of its bf16 run."""

import unittest

from .aligned import with_casts


def block(*ops):
    return {"takes": ["x", "z"], "ops": [{"f": name, "i": [read], "o": [[0, "p"]]} for name, read in ops], "gives": {"hidden_states": len(ops) + 1}}


class Aligned(unittest.TestCase):
    def test_a_cast_behind_a_reshape_that_copies_in_one_run_alone_is_in_both(self):
        # A cast that copies leaves `x` in order: reshape is a view there, and a copy with `_unsafe_view` in fp32.
        narrow = block(("transpose.int", 0), ("_to_copy", 2), ("view", 3), ("view", 1), ("_to_copy", 5), ("silu", 6))
        wide = block(("transpose.int", 0), ("clone", 2), ("_unsafe_view", 3), ("view", 1), ("silu", 5))
        said = with_casts(narrow, wide)
        self.assertEqual([op["f"] for op in said["ops"]], ["transpose.int", "_to_copy", "clone", "_unsafe_view", "view", "_to_copy", "silu"])
        # Numbers of values: two that the block takes, then each output in turn.
        self.assertEqual([op["i"][0] for op in said["ops"][4:]], [1, 6, 7])


if __name__ == "__main__":
    unittest.main()
