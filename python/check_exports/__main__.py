"""usage: python -m check_exports FORMAT [FORMAT ...] --headroom BINARY --gallery FILE.rs [--plans 300] [--work DIR] [--only TEXT]

Writes every scenario of the gallery and generated plans as each FORMAT, loads the files with the libraries of this Python,
imports what those hold and compares the plans: every field that the export does not name as unsaid must be the same.
Exit code 1 if anything differs or is refused. Formats: trl, trl-yaml, transformers, llamafactory, axolotl, ms-swift.
"""

import argparse
import collections
import contextlib
import importlib
import io
import json
import os
import shutil
import sys
import tempfile
import traceback
import warnings

from . import plans
from .headroom import Headroom, fields

MODULES = {
    "trl": "scripts", "transformers": "scripts", "trl-yaml": "trl_command",
    "llamafactory": "llamafactory", "axolotl": "axolotl", "ms-swift": "ms_swift",
}
# The machine is no business of files, and no version means the newest.
OF_MACHINE = {"gpu", "host_memory_gib", "non_pytorch_memory_mib", "trainer.version"}
# What stands in code, in data, or in no file of the trainer; of which axolotl and LLaMA-Factory have the fewest.
UNSAID = {
    "reward_models", "value_model", "rollout.prompts", "rollout.sequences_at_once", "model.name", "label_tokens", "padded_batch",
    "distributed.gradient_as_bucket_view", "rollout.max_prompt_length",
}
UNSAID_BY = {
    # It packs by its data, and quantises what its caller prepares.
    "transformers": {"packing"},
    "llamafactory": {"torch_dtype", "quantization.bnb_4bit_quant_storage"},
    # Its FSDP schema has no prefetch, its alpha is a whole number; a step that holds no whole groups is refused.
    "axolotl": {"steps_per_generation", "lora.lora_alpha", "torch_dtype", "distributed.backward_prefetch"},
}


def allowed(plan, form):
    """Fields that a file of this kind cannot say of this plan."""
    names = UNSAID | UNSAID_BY.get(form, set())
    if plan.get("distributed", {}).get("bf16", {}).get("enabled") is True or form == "llamafactory" and plan["zero_stage"] == 3:
        # DeepSpeed's bf16 section without the Trainer's own switch is refused.
        names = names | {"mixed_precision"}
    group = plan.get("rollout", {}).get("num_generations") or 1
    if plan["per_device_train_batch_size"] * plan["num_gpus"] * plan["gradient_accumulation_steps"] % group:
        # TRL and what is built on it refuse a step that holds no whole groups.
        names = names | {"gradient_accumulation_steps" if form == "axolotl" else "steps_per_generation"}
    if form == "axolotl" and plan["method"] == "qlora" and plan.get("distributed", {}).get("framework") == "fsdp2":
        # axolotl refuses to quantise on one rank alone.
        names = names | {"distributed.cpu_ram_efficient_loading"}
    return names


def cases(headroom, arguments, form):
    """(name, complete plan) of what is written as `form`."""
    trainer = plans.TRAINERS[form]
    for name, link in plans.scenarios(arguments.gallery):
        yield name, headroom.complete(link, trainer)
    for name, plan in plans.generated(arguments.plans):
        if plan["trainer"]["name"] == trainer:
            yield name, headroom.complete(plan)


def unordered(found):
    """peft holds names of modules as a set."""
    return {name: sorted(value) if isinstance(value, list) and name.startswith("lora.") else value for name, value in found.items()}


def same_step(headroom, plan, name, value):
    """Whether a step needs as much with a field as the library has filled it in."""
    other = json.loads(json.dumps(plan))
    *sections, key = name.split(".")
    of = other
    for section in sections:
        of = of[section]
    of[key] = value
    return headroom.peak(plan) == headroom.peak(other)


def compared(headroom, plan, read, unsaid):
    """Fields that differ, as texts."""
    before, after = unordered(fields(plan)), unordered(fields(read))
    unsharded = [p["zero_stage"] == 0 and not p["distributed.framework"].startswith("fsdp") for p in (before, after)]
    skipped = OF_MACHINE | unsaid | ({"distributed.framework"} if all(unsharded) else set())
    for name in sorted(before):
        if name == "model" and isinstance(before[name], dict):
            # A config that is loaded has every key that its class has.
            held = (after.get(name) or {}).get("config") or {}
            lost = [key for key, value in before[name]["config"].items() if held.get(key) != value]
            if lost:
                yield f"model.config: {lost} read otherwise"
        elif name not in skipped and before[name] != after.get(name):
            if before[name] == "auto" and same_step(headroom, plan, name, after.get(name)):
                # The library has said what it takes where nothing is said.
                continue
            yield f"{name}: {json.dumps(before[name])} read as {json.dumps(after.get(name))}"


def check(headroom, form, name, plan, work):
    """Problems of one plan, the counts of what was loaded, and fields unsaid; None if it is not written so."""
    folder, out = os.path.join(work, form, name, "exported"), os.path.join(work, form, name, "understood")
    shutil.rmtree(os.path.join(work, form, name), ignore_errors=True)
    os.makedirs(out)
    unsaid = headroom.export(plan, form, folder)
    if unsaid is None:
        return None
    library = importlib.import_module(f"check_exports.libraries.{MODULES[form]}")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            counts = library.understood(folder, out)
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return [f"refused: {type(error).__name__}: {str(error)[:300]} ({os.path.basename(where.filename)}:{where.lineno})"], {}, unsaid
    # What the files say to Headroom itself: a plan has fields that its run does not depend on, and no file states.
    stated = unordered(fields(headroom.read(folder)["plan"]))
    whole = unordered(fields(plan))
    read = headroom.read(out)
    problems = list(compared(headroom, plan, read["plan"], unsaid | {name for name in whole if whole[name] != stated.get(name)}))
    problems += [f"{found['id']}: {found['what'][:160]}" for found in read["findings"] if found["id"] == "bad_value"]
    unexpected = unsaid - allowed(plan, form)
    problems += [f"{field} is not in the files" for field in sorted(unexpected)]
    return problems, counts, unsaid


def main():
    parser = argparse.ArgumentParser(prog="check_exports")
    parser.add_argument("formats", nargs="+", choices=sorted(MODULES))
    parser.add_argument("--headroom", required=True)
    parser.add_argument("--gallery", required=True)
    parser.add_argument("--plans", type=int, default=300)
    parser.add_argument("--work")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    headroom = Headroom(os.path.abspath(arguments.headroom))
    work = os.path.abspath(arguments.work or tempfile.mkdtemp())
    wrong = 0
    for form in arguments.formats:
        loaded, problems_of, unsaid_of, done, refused = collections.Counter(), {}, collections.Counter(), 0, 0
        for name, plan in cases(headroom, arguments, form):
            if arguments.only not in name:
                continue
            checked = check(headroom, form, name, plan, work)
            if checked is None:
                refused += 1
                continue
            problems, counts, unsaid = checked
            done += 1
            loaded.update(counts)
            unsaid_of.update(unsaid)
            for problem in problems:
                problems_of.setdefault(problem, []).append(name)
        counts = ", ".join(f"{count} {name}" for name, count in sorted(loaded.items()))
        print(f"{form}: {done} plans ({refused} are none of its tasks); {counts}")
        if unsaid_of:
            print("  unsaid: " + ", ".join(f"{name} {count}" for name, count in unsaid_of.most_common()))
        for problem, names in sorted(problems_of.items(), key=lambda item: -len(item[1])):
            print(f"  {len(names)} x {problem}\n      {' '.join(names[:3])}")
        wrong += len(problems_of)
        sys.stdout.flush()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
