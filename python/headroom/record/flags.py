"""Keys of a config that are true or false: which add parameters, and which make another program."""

from . import variants
from .blocks_data import Size, Sizes, Unrecordable

NO_MATTER = (
    "use_cache", "output_", "return_dict", "is_encoder_decoder", "is_decoder", "add_cross_attention", "tie_", "torchscript", "cross_attention_hidden",
    "use_bfloat16", "remove_invalid", "do_sample", "early_stopping", "scale_embedding_gradients",
)


# Counts whose absence makes another program.
COUNTS = (
    "num_kv_shared_layers", "hidden_size_per_layer_input", "num_local_experts", "num_experts", "n_shared_experts", "moe_num_shared_experts",
    "num_shared_experts", "num_shared_expert", "q_lora_rank", "moe_latent_size", "shared_intermediate_size", "shared_expert_intermediate_size",
)


# Keys that a program is for one value of: no checkpoint has others, or they choose another code (DeepSeek-V2's experts).
FIXED = ("altup_num_inputs", "altup_correct_scale", "block_ffn_dim_multiplier", "interleave_moe_layer_step", "topk_method")


def counts_of(config):
    """Which configs, by such counts, a program of `config` is for."""
    said = config.to_dict()
    conditions = []
    for key in COUNTS:
        value = said.get(key, 0)
        if key in said and not isinstance(value, (bool, list)):
            conditions.append({"key": key, "above": 0} if value else {"key": key, "is": 0})
    return conditions + [{"key": key, "is": said[key]} for key in FIXED if key in said] + decoder_of(config)


def decoder_of(config):
    """Of an encoder that can be a decoder, which it is: its class with a language model's head is another then."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    is_either = all(type(config) in auto._model_mapping for auto in (AutoModelForCausalLM, AutoModelForMaskedLM))
    said = getattr(config, "is_decoder", None)
    return [{"key": "is_decoder", "is": said}] if is_either and isinstance(said, bool) else []


# Keys of activation functions: one of several operators is another program. Widths that are the hidden size where nothing projects.
ACTIVATIONS = ("hidden_act", "activation_function")
PROJECTED = ("word_embed_proj_dim",)


def kinds_of(config):
    """Which configs a program of `config` is for by keys that have no default in it: an activation function that is not the class's
    own, and a width of embeddings that is not the layers' (0: it is; `crates/core/src/model/program/completed.rs` says so of a config)."""
    said, own = config.to_dict(), type(config)().to_dict()
    words = [{"key": key, "is": said[key]} for key in ACTIVATIONS if isinstance(said.get(key), str) and said[key] != own.get(key)]
    widths = (key for key in PROJECTED if key in said)
    return words + [{"key": key, "is": 0} if said[key] == config.hidden_size else {"key": key, "above": 0} for key in widths]


def flags_of(config):
    """Every such key that may matter, with its value."""
    said = config.to_dict()
    return {k: v for k, v in sorted(said.items()) if isinstance(v, bool) and k not in FIXED and not any(part in k for part in NO_MATTER)}


def outline_by_names(said):
    """Operators with parameters by name and without sizes, and the parameters of each module."""
    modules, operators = {}, []
    for attention, parts in sorted(said.items()):
        blocks = [("before", parts["before"]), *((f"layer {i}", block) for i, block in parts["layers"].items()), ("after", parts["after"])]
        for place, block in blocks:
            names = [f"{name}.{own[0]}" for name, _, owned in block["modules"] for own in owned]
            module_names = [name for name, _, _ in block["modules"]]
            modules[place] = set(names)
            operators.append((attention, place, [named(op, names, module_names) for key in ("pre", "ops") for op in block.get(key, [])]))
    return operators, modules


def named(value, names, modules):
    if isinstance(value, (Sizes, Size)):
        return None
    if isinstance(value, dict):
        said = {key: named(item, names, modules) for key, item in value.items() if key not in ("i", "m", "n", "ops")}
        said["i"] = [names[-1 - number] if number < 0 else number for number in value.get("i", [])]
        if "m" in value:
            said["m"] = modules[value["m"]]
        if "n" in value:
            said["n"] = [value["n"][0], value["n"][1]]
        if "ops" in value:
            said["ops"] = [named(op, names, modules) for op in value["ops"]]
        return said
    if isinstance(value, (list, tuple)):
        return [named(item, names, modules) for item in value]
    return value


def settle(recorder):
    """The config with every flag set that only adds parameters; which parameters each adds; the flags that make another program."""
    config, added, structural = recorder.config, {}, {}
    attentions = recorder.attentions[:1]
    base_recording = recorder.one(config, attentions=attentions)
    base = outline_by_names(base_recording["said"])
    for key, value in flags_of(config).items():
        try:
            other_config = variants.with_value(config, key, not value)
            other_recording = recorder.one(other_config, attentions=attentions)
            other = outline_by_names(other_recording["said"])
        except Unrecordable:
            # Another program that cannot be made: this one is for configs without.
            structural[key] = value
            continue
        except Exception:
            continue
        if other[0] != base[0]:
            structural[key] = value
            continue
        on, off = (base, other) if value else (other, base)
        more = {place: names - off[1][place] for place, names in on[1].items()}
        fewer = any(off[1][place] - names for place, names in on[1].items())
        # A flag that changes sizes alone is no key of an expression: each value has a program of its own.
        if fewer or (not any(more.values()) and parameters(other_recording) != parameters(base_recording)):
            structural[key] = value
        elif any(more.values()):
            added[key] = more
            if not value:
                config, base, base_recording = other_config, other, other_recording
    return config, added, structural


def parameters(recording):
    """Every parameter with its size."""
    main = next(iter(recording["said"].values()))
    return [block["modules"] for block in (main["before"], *main["layers"].values(), main["after"])]


# Modules that a part of a config makes, which not every config has.
OF_PARTS = {"audio_tower": "audio_config", "embed_audio": "audio_config"}


def mark(block, place, added):
    """Says of each parameter that a flag, or a part of the config, adds which it is."""
    for name, _, owned in block["modules"]:
        part = OF_PARTS.get(name.partition(".")[0])
        for own in owned:
            if part:
                own.extend(["h"][len(own) - 2:])
                own.append({"if": part})
            for key, places in added.items():
                if f"{name}.{own[0]}" in places.get(place, ()):
                    while len(own) < 3:
                        own.append("h")
                    own.append({"if": key})
