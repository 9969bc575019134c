"""Configs that differ from one by one key each, so that it shows which dimension follows from which key."""

import copy

from . import vision

# Keys whose value is no size.
NOT_SIZES = (
    "depth", "tokens_per_second",
    "_token_id", "_token_index", "_id", "initializer", "seed", "layer_idx", "_version", "num_hidden_layers", "pad_",
    "router_jitter", "original_max", "max_window_layers", "decoder_start", "_rate", "_step", "min_", "output_", "interval",
)

# What files say of layers with full attention, and a class keeps as an entry of each such layer under another name
# (gemma4/configuration_gemma4.py `__post_init__`).
OF_FULL_LAYERS = {"global_head_dim": "head_dim", "num_global_key_value_heads": "num_key_value_heads"}


def layers_key(config):
    """The key that says how many layers there are: of a class that works `num_hidden_layers` out (LongCat-Flash's layers have two each)
    what it goes by."""
    worked_out = isinstance(getattr(type(config), "num_hidden_layers", None), property)
    return "num_layers" if worked_out and isinstance(config.to_dict().get("num_layers"), int) else "num_hidden_layers"


def layers_in(config):
    """How many layers there are."""
    return getattr(config, layers_key(config))


def set_layers(config, count):
    """Says how many layers there are, also under the other name that a class has for it (xLSTM)."""
    if getattr(config, "num_blocks", None) == layers_in(config):
        config.num_blocks = count
    setattr(config, layers_key(config), count)


def full_layers(config):
    """Such keys with their values, where a config has them."""
    layers = (config.to_dict().get("per_layer_config") or {}).values()
    values = {key: {layer.get(name) for layer in layers} for key, name in OF_FULL_LAYERS.items()}
    return {key: found.pop() for key, found in values.items() if len(found) == 1 and None not in found}


def sizes_of(config):
    """Every whole number of a config that may be a size, by name: the text part's by its own, the tower's as `vision_config.key`."""
    if vision.has_images(config):
        tower = {f"vision_config.{key}": value for key, value in sizes_of(config.vision_config).items()}
        outer = {key: value for key, value in own_sizes(config).items() if isinstance(value, int)}
        return {**outer, **tower, **own_sizes(config.text_config)}
    return own_sizes(config)


def own_sizes(config):
    found = {}
    # A reader's own keys mean what the reader wants.
    all_are_sizes = getattr(config, "is_own", False)
    for key, value in sorted(config.to_dict().items()):
        if isinstance(value, (list, tuple)) and value and ("size" in key or "per_layer" in key) and all(v == value[0] for v in value):
            # Said layer by layer, the same for all.
            value = value[0]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            continue
        if not all_are_sizes and key not in ("time_step_rank", "vision_output_dim") and any(key.endswith(part) or part in key for part in NOT_SIZES):
            continue
        found[key] = value
    return {**found, **full_layers(config)}


def part_of(config, key):
    """The config that has a key, and its name there."""
    if "." in key:
        parent, _, rest = key.partition(".")
        return getattr(config, parent, None), rest
    if vision.has_images(config) and (has(config.text_config, key) or not has(config, key)):
        return config.text_config, key
    return config, key


def has(config, key):
    """Whether a config has a key, be it said for each layer anew."""
    try:
        return key in OF_FULL_LAYERS and key in full_layers(config) or hasattr(config, key)
    except Exception:
        return True


def value_of(config, key, default=None):
    """What a config says of a key; nothing where it says different things of different layers."""
    config, key = part_of(config, key)
    if key in OF_FULL_LAYERS and config is not None:
        return full_layers(config).get(key, default)
    try:
        return getattr(config, key, default)
    except Exception:
        return config.to_dict().get(key, default)


def with_value(config, key, value):
    """The config with another value, built anew so that what follows from it is worked out again."""
    changed = copy.deepcopy(config)
    own = value_of(config, key)
    if isinstance(own, (list, tuple)):
        value = [value] * len(own)
    part, name = part_of(changed, key)
    if name in OF_FULL_LAYERS:
        return with_full_layers(changed, part, name, value)
    before = head_width(part)
    setattr(part, name, value)
    share_rotations(part, before)
    return changed


def head_width(config):
    """The width of a head; nothing where a config does not say it."""
    heads, hidden, said = (value_of(config, key) for key in ("num_attention_heads", "hidden_size", "head_dim"))
    plain = hidden // heads if isinstance(heads, int) and isinstance(hidden, int) and heads > 0 else None
    return said or plain


def share_rotations(config, before):
    """Gives time, height and width of images their shares of a head that is as wide now: they have to add up to the frequencies of its
    rotation (`mrope_section`, qwen2_vl/modeling_qwen2_vl.py `apply_multimodal_rotary_pos_emb` splits by them)."""
    rope, now = getattr(config, "rope_parameters", None), head_width(config)
    if isinstance(rope, dict) and "mrope_section" in rope and before and now:
        config.rope_parameters = {**rope, "mrope_section": [share * now // before for share in rope["mrope_section"]]}


def with_full_layers(config, part, key, value):
    said = part.to_dict()
    said["per_layer_config"] = {int(i): {**layer, OF_FULL_LAYERS[key]: value} for i, layer in said["per_layer_config"].items()}
    made = type(part)(**{name: value for name, value in said.items() if name not in ("model_type", "transformers_version")})
    if part is config:
        return made
    config.text_config = made
    return config


def with_more_layers(config):
    """The config with one more layer, like its last, built anew; what shares keys and values is one more, too."""
    if vision.has_images(config):
        changed = copy.deepcopy(config)
        changed.text_config = with_more_layers(changed.text_config)
        return changed
    said = config.to_dict()
    count = layers_in(config)
    for key, value in list(said.items()):
        if isinstance(value, (list, tuple)) and len(value) == count:
            said[key] = [*value, value[-1]]
    if said.get("num_kv_shared_layers"):
        said["num_kv_shared_layers"] += 1
    said |= {key: count + 1 for key in (layers_key(config), "num_blocks") if said.get(key) == count}
    # What says the same of each layer by itself follows from the rest.
    left = ("per_layer_config", "model_type", "transformers_version")
    made = lambda said: type(config)(**{key: value for key, value in said.items() if key not in left})
    if made(config.to_dict()).to_dict() != config.to_dict():
        raise ValueError("its layers are not what the rest of its config says")
    return made(said)


def candidates(key, value, sizes):
    """Other values to try for a key, those that keep what divides first."""
    if key in ("num_experts_per_tok", "moe_k", "num_experts_per_token", "moe_topk", "topk_group", "n_group"):
        return [value + 1, value * 2, max(1, value // 2)]
    if "kernel" in key or "conv" in key and value < 16:
        return [value + 1, value * 2]
    if key == "intermediate_size" and "block_multiple_of" in sizes:
        return [value + 136]
    if value == 1:
        return [2, 3]
    return [value * 2, value * 3, value // 2 if value % 2 == 0 else value * 4, value + 1]


# Keys that only change together: each twice as large, or half as large where it says so.
HALF = " / 2"
TOGETHER = (
    ("hidden_size", "mamba_n_heads"), ("hidden_size", "num_heads"), ("mamba_d_head", "hidden_size"), ("mamba_d_ssm", "mamba_n_heads"), ("num_heads", "expand"),
    ("mamba_expand", "mamba_n_heads"), ("mamba_d_head", "mamba_expand"), ("head_dim", "expand"), ("head_dim", "hidden_size"),
    ("mamba_d_ssm", "mamba_d_head"), ("expand", "mamba_num_heads"), ("num_attention_heads", "num_key_value_heads"), ("hidden_size", "num_attention_heads"),
    ("num_attention_heads", "num_kv_heads"),
    ("out_hidden_size", "vision_config.hidden_size"),
    ("hidden_size", "vision_config.out_hidden_size"), ("hidden_size", "vision_config.out_hidden_size", "num_attention_heads"),
    ("vision_config.hidden_size", "vision_config.intermediate_size"), ("vision_config.hidden_size", "vision_config.vision_output_dim"),
    ("vision_config.projector_input_dim", "vision_config.projector_output_dim", "vision_config.vision_output_dim"),
    ("vision_config.num_attention_heads", "vision_config.num_key_value_heads"), ("vision_config.hidden_size", "vision_config.num_heads"), ("vision_config.hidden_size", "vision_config.num_attention_heads"),
    ("head_dim", "qk_rope_head_dim"), ("n_routed_experts", "n_group"), ("hidden_size", "head_dim"),
    ("linear_num_key_heads", "linear_num_value_heads"),
    ("hidden_size", "word_embed_proj_dim"), ("hidden_size", "attention_hidden_size"), ("hidden_size", "attention_hidden_size", "attention_head_dim"),
    ("hidden_size", "attention_hidden_size", "attention_head_dim", "mamba_headdim"),
    # Zamba2's Mamba heads by their width are `mamba_expand * hidden_size`. Each of the three moves without one of the others, or sizes
    # that follow from one would be taken to follow from another.
    ("n_mamba_heads", f"mamba_headdim{HALF}"), ("mamba_expand", "n_mamba_heads"),
    ("num_attention_heads", "num_key_value_heads", f"attention_head_dim{HALF}"),
)


def moved_together(config, group, sizes):
    """The config with the keys of such a group changed."""
    for key in group:
        name = key.removesuffix(HALF)
        config = with_value(config, name, sizes[name] * 2 if name == key else sizes[name] // 2)
    return config
