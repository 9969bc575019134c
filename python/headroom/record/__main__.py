"""`python -m headroom.record MODEL_TYPE_OR_CONFIG [--out FILE]`: records a model as a program.

MODEL_TYPE_OR_CONFIG is a `model_type` of transformers (its class defaults are taken), a `config.json`, or a folder with one.
"""

import argparse
import json
import os
import sys

from . import vision
from .program import record


def main():
    parser = argparse.ArgumentParser(prog="python -m headroom.record", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--out", help="where the program goes; else standard output")
    given = parser.parse_args()
    config = read(given.model)
    program = record(config, note=lambda text: print(text, file=sys.stderr))
    text = json.dumps(program, separators=(",", ":"))
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text)


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
