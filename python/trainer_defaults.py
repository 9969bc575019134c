"""Prints the defaults of installed trainers as JSON: what an empty configuration is.

usage: trainer_defaults.py dataclass MODULE:CLASS [MODULE:CLASS ...]   makes each class and prints its plain fields
       trainer_defaults.py source FILE.py:CLASS [FILE.py:CLASS ...]    reads each class's literal defaults, importing nothing
       trainer_defaults.py signature FILE.py:FUNCTION [...]            reads each function's literal defaults, importing nothing
       trainer_defaults.py tree FILE.yaml [...]                        reads the leaves of each file, sections joined by dots

The test `defaults` of crates/files asks that stating any of these changes no plan. Kept in tests/files/defaults.json.
"""

import ast
import dataclasses
import importlib
import json
import sys


def plain(value):
    if isinstance(value, (bool, int, float, str)):
        return True
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def made(argument):
    module, _, name = argument.partition(":")
    kind = getattr(importlib.import_module(module), name)
    names = {field.name for field in dataclasses.fields(kind)}
    # A machine without a GPU has no bf16; nothing else follows from `use_cpu` but pinned memory.
    instance = kind(**({"use_cpu": True} if "use_cpu" in names else {}))
    for key in sorted(names - {"use_cpu", "_n_gpu", "dataloader_pin_memory", "output_dir", "run_name", "logging_dir"}):
        value = getattr(instance, key)
        value = getattr(value, "value", value)
        if plain(value):
            yield key, value


def written(argument):
    path, _, name = argument.partition(":")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if not (isinstance(node, ast.ClassDef) and node.name == name):
            continue
        for line in node.body:
            if not (isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value):
                continue
            value = line.value
            if isinstance(value, ast.Call):
                stated = [keyword.value for keyword in value.keywords if keyword.arg == "default"]
                value = stated[0] if stated else None
            try:
                value = ast.literal_eval(value)
            except (ValueError, TypeError):
                continue
            if plain(value):
                yield line.target.id, value


def signature(argument):
    path, _, name = argument.partition(":")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    arguments = function.args.args[len(function.args.args) - len(function.args.defaults):]
    for key, value in zip(arguments, function.args.defaults):
        try:
            value = ast.literal_eval(value)
        except (ValueError, TypeError):
            continue
        if plain(value):
            yield key.arg, value


def tree(path):
    import yaml

    with open(path, encoding="utf-8") as file:
        yield from leaves(yaml.safe_load(file), "")


def leaves(section, prefix):
    for key, value in section.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        elif plain(value) and "${" not in str(value) and not key.startswith("_"):
            yield prefix + key, value


def main():
    how = {"dataclass": made, "source": written, "signature": signature, "tree": tree}[sys.argv[1]]
    found = {}
    for argument in sys.argv[2:]:
        found.update(how(argument))
    print(json.dumps(found, sort_keys=True))


if __name__ == "__main__":
    main()
