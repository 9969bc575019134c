"""Prints the defaults of installed trainers as JSON: what an empty configuration is.

usage: trainer_defaults.py dataclass MODULE:CLASS [MODULE:CLASS ...]   makes each class and prints its plain fields
       trainer_defaults.py object MODULE:CLASS [MODULE:CLASS ...]      the same of a class that is no dataclass
       trainer_defaults.py source FILE.py:CLASS [FILE.py:CLASS ...]    reads each class's literal defaults, importing nothing
       trainer_defaults.py signature FILE.py:FUNCTION [...]            reads each function's literal defaults, importing nothing
       trainer_defaults.py tree FILE.yaml [...]                        reads the leaves of each file, sections joined by dots
       trainer_defaults.py check FILE.json [--newest]                  prints what FILE holds of the packages of this Python again
       trainer_defaults.py record FILE.json                            the same, and writes it

A file is looked for among the packages of this Python. The test `defaults` of crates/files asks that stating any of these
changes no plan; they are kept in tests/files/defaults.json, each with what printed it. `check` ends with exit code 1 where a
default is another one now, or has gone; with `--newest`, where a release later than the latest in the file has changed one.
"""

import ast
import dataclasses
import importlib
import importlib.metadata
import json
import os
import re
import sys


# What follows from the machine, the environment or the place of the run.
OF_THE_RUN = {"use_cpu", "_n_gpu", "dataloader_pin_memory", "output_dir", "run_name", "logging_dir", "disable_tqdm", "report_to"}


def plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return True
    return isinstance(value, (list, tuple)) and all(isinstance(item, (bool, int, float, str)) for item in value)


def made(argument):
    module, _, name = argument.partition(":")
    kind = getattr(importlib.import_module(module), name)
    names = {field.name for field in dataclasses.fields(kind)}
    # A machine without a GPU has no bf16; nothing else follows from `use_cpu` but pinned memory.
    instance = kind(**({"use_cpu": True} if "use_cpu" in names else {}))
    for key in sorted(names - OF_THE_RUN):
        value = getattr(instance, key)
        value = getattr(value, "value", value)
        if plain(value):
            yield key, value


def attributes(argument):
    module, _, name = argument.partition(":")
    for key, value in sorted(vars(getattr(importlib.import_module(module), name)()).items()):
        value = getattr(value, "value", value)
        value = str(value).removeprefix("torch.") if type(value).__name__ == "dtype" else value
        if plain(value) and not key.startswith("_"):
            yield key, value


def parsed(path):
    for folder in ["", *sys.path]:
        if os.path.isfile(os.path.join(folder, path)):
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                return ast.parse(file.read())
    raise FileNotFoundError(f"{path} is in no package of this Python")


def written(argument):
    path, _, name = argument.partition(":")
    for node in ast.walk(parsed(path)):
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


def constants(path):
    """Literals that the module of a file names, its own and those of the modules beside it that it imports from."""
    module, found = parsed(path), {}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            beside = os.path.join(os.path.dirname(path), *node.module.split(".")) + ".py"
            try:
                named = own_constants(parsed(beside))
            except FileNotFoundError:
                continue
            found.update({name.asname or name.name: named[name.name] for name in node.names if name.name in named})
    return {**found, **own_constants(module)}


def own_constants(module):
    found = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError):
                continue
    return found


def signature(argument):
    path, _, name = argument.partition(":")
    function = next(node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef) and node.name == name)
    arguments = function.args.args[len(function.args.args) - len(function.args.defaults):]
    known = constants(path)
    for key, value in zip(arguments, function.args.defaults):
        try:
            value = known[value.id] if isinstance(value, ast.Name) else ast.literal_eval(value)
        except (KeyError, ValueError, TypeError):
            continue
        if plain(value):
            yield key.arg, value


def tree(path):
    import yaml

    path = next(full for full in (os.path.join(folder, path) for folder in ["", *sys.path]) if os.path.isfile(full))
    with open(path, encoding="utf-8") as file:
        yield from leaves(yaml.safe_load(file), "")


def leaves(section, prefix):
    for key, value in section.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        elif plain(value) and "${" not in str(value) and value != "???" and not key.startswith("_"):
            yield prefix + key, value


HOW = {"dataclass": made, "object": attributes, "source": written, "signature": signature, "tree": tree}


def printed(how, arguments):
    found = {}
    for argument in arguments:
        found.update(HOW[how](argument))
    return found


def installed(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def here(entry):
    """Whether this Python has exactly the packages that printed the entry."""
    wanted = {entry["package"]: entry["version"], **entry.get("beside", {})}
    return all(installed(package) == version for package, version in wanted.items())


def number(version):
    return [int(digits) for digits in re.findall(r"\d+", version)]


def latest(entries):
    """Of each class the entry of its latest release, where this Python has a later one."""
    newest = {}
    for entry in entries:
        of = (entry["package"], entry["class"])
        if of not in newest or number(newest[of]["version"]) < number(entry["version"]):
            newest[of] = entry
    return [entry for entry in newest.values() if number(installed(entry["package"]) or "0") > number(entry["version"])]


def now(entry):
    """What the entry's source prints with the packages of this Python, without what its head states."""
    found = printed(entry["printed"][0], entry["printed"][1:])
    return {key: value for key, value in found.items() if key not in entry.get("stated", [])}


def moved(entry):
    """Differences between an entry and what is printed now, as texts; and how many keys are new."""
    try:
        found = json.loads(json.dumps(now(entry)))
    except (ImportError, AttributeError, OSError, StopIteration) as error:
        return [f"is no longer where it was ({error})"], 0
    before = entry["defaults"]
    changed = [key for key in sorted(before) if key not in found or found[key] != before[key]]
    of = [f"{key}: {json.dumps(before[key])}, now {json.dumps(found[key]) if key in found else 'gone'}" for key in changed]
    return of, len(set(found) - set(before))


def check(path, newest):
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    wrong = 0
    for entry in latest(entries) if newest else [entry for entry in entries if here(entry)]:
        differences, added = moved(entry)
        name = f"{entry['package']} {installed(entry['package'])} {entry['class']}"
        print(f"{name}: {len(entry['defaults'])} defaults" + (f" of {entry['version']}, {added} new keys" if newest else ""))
        if added and not newest:
            differences.append(f"{added} keys that the file has not")
        for difference in differences:
            print(f"  {difference}")
        wrong += len(differences)
    return wrong


def record(path):
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        if here(entry):
            entry["defaults"] = now(entry)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(entries, file, indent=0, sort_keys=True)
        file.write("\n")


def main():
    if sys.argv[1] == "check":
        sys.exit(1 if check(sys.argv[2], "--newest" in sys.argv) else 0)
    if sys.argv[1] == "record":
        record(sys.argv[2])
        return
    print(json.dumps(printed(sys.argv[1], sys.argv[2:]), sort_keys=True))


if __name__ == "__main__":
    main()
