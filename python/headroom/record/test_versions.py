"""`python -m unittest headroom.record.test_versions`: files with programs of several releases."""

import copy
import glob
import json
import os
import unittest

from . import families, versions
from .written import text_of_file

PROGRAMS = os.path.join(os.path.dirname(__file__), "../../../static/programs")


def read(name):
    with open(os.path.join(PROGRAMS, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def recorded(file, release, added=()):
    """The file as a recording of a release, with shapes of its own in the first layer."""
    said = copy.deepcopy(file)
    for program in said["programs"]:
        program["versions"]["transformers"] = release
    if added:
        said["dims"].append("hidden_size + 7")
        said["shapes"].append([len(said["dims"]) - 1])
        for name in added:
            said["programs"][0]["layers"][0]["modules"].append([name, "Scale", [["weight", len(said["shapes"]) - 1]]])
        for program in said["programs"][1:]:
            program["unread"] = [*program.get("unread", []), len(said["dims"]) - 1]
    return said


def releases(file):
    return [(".".join(map(str, release)), len(programs)) for release, programs in versions.by_release(file).items()]


class Versions(unittest.TestCase):
    def setUp(self):
        self.file = read("gpt2")
        self.count = len(self.file["programs"])

    def test_what_did_not_change_leaves_the_file_as_it_is(self):
        for release in ("5.10.0", "5.23.0", "5.24.0", "6.0.0.dev0"):
            self.assertIs(versions.with_recording(self.file, recorded(self.file, release)), self.file)

    def test_numbers_alone_are_no_change(self):
        other = recorded(self.file, "5.24.0")
        order = list(reversed(range(len(other["dims"]))))
        other["dims"].reverse()
        other["shapes"] = [[order[dim] for dim in shape] for shape in other["shapes"]]
        for function in other["functions"]:
            if "a" in function:
                function["a"] = {key: order[dim] if key in versions.OF_ATTENTION and dim is not None else dim for key, dim in function["a"].items()}
        for program in other["programs"]:
            if "unread" in program:
                program["unread"] = sorted(order[dim] for dim in program["unread"])
        self.assertNotEqual(other["dims"], self.file["dims"])
        self.assertIs(versions.with_recording(self.file, other), self.file)

    def test_what_changed_is_a_version_beside_the_one_before(self):
        new = recorded(self.file, "5.24.0", added=["scale"])
        both = versions.with_recording(self.file, new)
        self.assertEqual(releases(both), [("5.23.0", self.count), ("5.24.0", self.count)])
        # Each is what it was by itself.
        for release, alone in (((5, 23, 0), self.file), ((5, 24, 0), new)):
            found = versions.by_release(both)[release]
            self.assertTrue(versions.is_same(versions.alone(both, found), alone))
        # What both read stands once.
        self.assertEqual(len(both["functions"]), len(self.file["functions"]))
        self.assertEqual(len(both["shapes"]), len(self.file["shapes"]) + 1)
        added = both["dims"].index("hidden_size + 7")
        self.assertEqual([added in program.get("unread", []) for program in both["programs"]][: self.count], [True] * self.count)
        self.assertNotIn(added, both["programs"][self.count].get("unread", []))
        # And again: nothing is left to change.
        for same in (self.file, new, recorded(new, "5.25.0"), recorded(self.file, "5.23.1")):
            self.assertIs(versions.with_recording(both, same), both)

    def test_releases_stand_in_their_order_and_none_twice(self):
        one, two = (recorded(self.file, release, added) for release, added in (("5.24.0", ["a"]), ("5.9.0", ["b"])))
        file = versions.with_recording(versions.with_recording(self.file, one), two)
        self.assertEqual([name for name, _ in releases(file)], ["5.9.0", "5.23.0", "5.24.0"])
        self.assertEqual([versions.release_of(program) for program in file["programs"]], sorted(versions.release_of(program) for program in file["programs"]))
        # 5.12 has what 5.23 has: it begins there.
        file = versions.with_recording(file, recorded(self.file, "5.12.0"))
        self.assertEqual([name for name, _ in releases(file)], ["5.9.0", "5.12.0", "5.24.0"])
        self.assertIs(versions.with_recording(file, recorded(self.file, "5.23.0")), file)

    def test_the_same_release_recorded_otherwise_takes_the_place_of_its_program(self):
        file = versions.with_recording(self.file, recorded(self.file, "5.24.0", ["a"]))
        file = versions.with_recording(file, recorded(self.file, "5.24.0", ["b"]))
        self.assertEqual(releases(file), [("5.23.0", self.count), ("5.24.0", self.count)])
        self.assertNotIn('"a"', json.dumps(file["programs"][self.count]["layers"][0]["modules"]))
        # Without what changed it is the release before's.
        self.assertEqual(releases(versions.with_recording(file, recorded(self.file, "5.24.0"))), [("5.23.0", self.count)])

    def test_programs_hold_from_their_release_on(self):
        file = versions.with_recording(self.file, recorded(self.file, "5.20.0", ["a"]))
        chosen = lambda *release: versions.release_of(versions.under(file, release)[0])
        self.assertEqual(chosen(5, 10, 0), (5, 20, 0))
        self.assertEqual(chosen(5, 20, 0), (5, 20, 0))
        self.assertEqual(chosen(5, 22, 9), (5, 20, 0))
        self.assertEqual(chosen(5, 23, 0), (5, 23, 0))
        self.assertEqual(chosen(6, 0, 0), (5, 23, 0))

    def test_another_format_takes_the_whole_place(self):
        old = {**self.file, "format": 1}
        self.assertIs(versions.with_recording(old, self.file), self.file)

    def test_what_is_said_of_a_change(self):
        new = versions.with_recording(self.file, recorded(self.file, "5.24.0", ["a"]))
        self.assertEqual(families.said_against(self.file, new), "5.24.0 has another program than 5.23.0")
        anew = versions.with_recording(self.file, recorded(self.file, "5.23.0", ["a"]))
        self.assertEqual(families.said_against(self.file, anew), "5.23.0 is recorded otherwise")

    def test_every_file_is_the_same_by_other_numbers(self):
        paths = sorted(glob.glob(os.path.join(PROGRAMS, "*.json")))
        self.assertGreater(len(paths), 100)
        exact = 0
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            said = json.loads(text)
            again = versions.alone(said, said["programs"])
            self.assertEqual(versions.alone(again, again["programs"]), again, path)
            self.assertEqual([len(again[key]) for key in ("dims", "shapes", "functions")], [len(said[key]) for key in ("dims", "shapes", "functions")], path)
            exact += text_of_file(again) + "\n" == text
        # The others were numbered in another order when they were recorded.
        self.assertGreater(exact, 100)


if __name__ == "__main__":
    unittest.main()
