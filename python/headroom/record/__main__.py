"""`python -m headroom.record MODEL_TYPE_OR_CONFIG [--out FILE]`: records a model as a program.

MODEL_TYPE_OR_CONFIG is a `model_type` of transformers (its class defaults are taken), a `config.json`, or a folder with one; or a
model of your own: `FILE.py`, `FILE.py:FUNCTION` or `package.module:FUNCTION`, a function that gets a config and gives back the module
(docs/own-models.md).
"""

import argparse
import json
import os
import sys

from . import own, vision
from .blocks import Unrecordable
from .dimensions import Unexplained
from .program import record


def main():
    parser = argparse.ArgumentParser(prog="python -m headroom.record", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--out", help="where the program goes; else standard output")
    parser.add_argument("--config", help="of a model of your own: a JSON file in place of the file's own config")
    given = parser.parse_args()
    try:
        config = own.read(given.model, given.config) if own.is_own(given.model) else read(given.model)
        program = record(config, note=lambda text: print(text, file=sys.stderr))
    except (own.NotOwn, Unrecordable, Unexplained) as error:
        sys.exit(f"{given.model} cannot be recorded: {error}")
    text = json.dumps(program, separators=(",", ":"))
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


def read(model):
    from transformers import AutoConfig, CONFIG_MAPPING

    if os.path.isdir(model):
        model = os.path.join(model, "config.json")
    if os.path.isfile(model):
        with open(model, encoding="utf-8") as file:
            said = json.load(file)
        config = CONFIG_MAPPING[said.pop("model_type")](**said)
    elif model in CONFIG_MAPPING:
        config = CONFIG_MAPPING[model]()
    else:
        config = AutoConfig.from_pretrained(model)
    return config if vision.has_images(config) else config.get_text_config()


if __name__ == "__main__":
    main()
