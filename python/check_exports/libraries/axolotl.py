"""axolotl's YAML, through its own schema."""

import os

import yaml

from . import launch
from .notation import plain


def understood(folder, out):
    """Counts of what was loaded, by class."""
    from axolotl.utils.config import prepare_plugins, validate_config
    from axolotl.utils.dict import DictDefault

    with open(os.path.join(folder, "config.yml"), encoding="utf-8") as file:
        stated = DictDefault(yaml.safe_load(file))
    capabilities = {"bf16": True, "fp8": False, "n_gpu": 1, "compute_capability": "sm_90", "tf32": True, "n_node": 1}
    at = os.getcwd()
    os.chdir(folder)
    try:
        prepare_plugins(stated)
        held = validate_config(stated, capabilities=capabilities, env_capabilities={"torch_version": "2.10.0"})
    finally:
        os.chdir(at)
    with open(os.path.join(out, "config.yml"), "w", encoding="utf-8") as file:
        shown = {key: plain(value) for key, value in held.to_dict().items() if key not in ("capabilities", "env_capabilities")}
        yaml.safe_dump(shown, file)
    return {"AxolotlInputConfig": 1, **launch.beside(folder, out, skip={"config.yml"})}
