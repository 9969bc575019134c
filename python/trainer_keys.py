"""Lists the keys that trainers take, read from the source of their installed packages without importing them.

usage: trainer_keys.py FILE.py[:Class,Class] ... > crates/files/src/trainers/known/NAME.txt

Every field of every dataclass or pydantic model in the files, or of the classes named, once, sorted.
"""

import ast
import sys
import textwrap


def keys(path, classes):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or (classes and node.name not in classes):
            continue
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                if not line.target.id.startswith("_") and line.target.id != "model_config":
                    yield line.target.id


def main():
    found = set()
    for argument in sys.argv[1:]:
        path, _, classes = argument.partition(":")
        found.update(keys(path, classes.split(",") if classes else None))
    print(textwrap.fill(" ".join(sorted(found)), width=118))


if __name__ == "__main__":
    main()
