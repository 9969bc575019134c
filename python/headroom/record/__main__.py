"""`python -m headroom.record MODEL_TYPE_OR_CONFIG [--out FILE]`: records a model as a program.

MODEL_TYPE_OR_CONFIG is a `model_type` of transformers (its class defaults are taken), a `config.json`, or a folder with one, whose own
Python files are run where transformers has no class of it (`auto_map`); or a model of your own: `FILE.py`, `FILE.py:FUNCTION` or
`package.module:FUNCTION`, a function that gets a config and gives back the module (docs/own-models.md).
"""

import argparse
import json
import os
import sys
import traceback

import torch

from . import folders, own, own_files
from .blocks_data import Unrecordable
from .dimensions import Unexplained
from .program import is_stacked, record
from .written import text_of


# The Python that it needs.
OLDEST = (3, 11)


def main():
    parser = argparse.ArgumentParser(prog="python -m headroom.record", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--out", help="where the program goes; else standard output")
    parser.add_argument("--config", help="of a model of your own: a JSON file in place of the file's own config")
    given = parser.parse_args()
    if sys.version_info < OLDEST:
        # It finds out whose dtype a cast takes by the places in the code that Python gives of each call.
        parser.error(f"Python {sys.version_info.major}.{sys.version_info.minor} is too old: run it with {'.'.join(map(str, OLDEST))} or newer")
    # A recording may take minutes: where it goes is tried before.
    if given.out and (os.path.isdir(given.out) or not os.path.isdir(os.path.dirname(os.path.abspath(given.out)))):
        parser.error(f"--out {given.out}: name a file in a folder that is there")
    try:
        config = own_files.read(given.model, given.config) if own_files.is_own(given.model) else read(given.model)
        program = record(config, note=lambda text: print(text, file=sys.stderr))
    except (own.NotOwn, Unrecordable, Unexplained) as error:
        sys.exit(f"{given.model} cannot be recorded: {error}")
    except Exception as error:
        if os.environ.get("HEADROOM_TRACEBACK"):
            raise
        sys.exit(f"{given.model} cannot be recorded: {said_of(error, own_files.is_own(given.model))}")
    text = text_of(program)
    if not given.out:
        print(text)
        return
    with open(given.out, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    if isinstance(config, own.OwnConfig):
        # What the program is for, to be pasted where a config.json is.
        path = f"{given.out.removesuffix('.json')}.config.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"model_type": config.model_type, **config.to_dict()}, file, indent=2)
            file.write("\n")
        print(f"{given.out}: the program; {path}: the model's config", file=sys.stderr)


def said_of(error, is_own):
    """In one sentence what went wrong in code that is none of ours, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    ours = os.path.dirname(os.path.abspath(__file__))
    theirs = next((frame for frame in reversed(frames) if not frame.filename.startswith((ours, os.path.dirname(torch.__file__)))), last)
    line = (str(error).splitlines() or ["no reason given"])[0][:160]
    at = f"{os.path.basename(theirs.filename)} line {theirs.lineno}"
    if last.filename.startswith(ours):
        return f"{type(error).__name__} in the recorder ({line}); HEADROOM_TRACEBACK=1 shows where"
    mend = "a config.json of a checkpoint may do"
    if is_own:
        mend = "it runs on the meta device: no GPU, no values that code could read, and no checkpointing, which the plan has"
    return f"{at} raises {type(error).__name__} ({line}); {mend}; HEADROOM_TRACEBACK=1 shows more"


def read(model):
    from transformers import AutoConfig, CONFIG_MAPPING

    from . import remote
    from .families import grouped, with_head_width

    remote.register()
    if os.path.isdir(model):
        model = os.path.join(model, "config.json")
    if os.path.isfile(model):
        with open(model, encoding="utf-8") as file:
            said = json.load(file)
        if said.get("model_type") in CONFIG_MAPPING:
            config = CONFIG_MAPPING[said.pop("model_type")](**said)
        else:
            config = folders.config_of(os.path.dirname(os.path.abspath(model)), said)
    elif model in CONFIG_MAPPING:
        config = CONFIG_MAPPING[model]()
        # Files may say what the defaults do not.
        return config if is_stacked(config) else grouped(with_head_width(config.get_text_config()))
    else:
        try:
            config = AutoConfig.from_pretrained(model)
        except Exception:
            raise Unrecordable("it is no class of this transformers, no config.json, and no Python file or module:function; a name on Hugging Face could not be loaded") from None
    return config if is_stacked(config) else config.get_text_config()


if __name__ == "__main__":
    main()
