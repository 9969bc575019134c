"""Keys that a class works out from others where a config does not say them, or knows by other names."""

from . import sources, variants, vision
from .dimensions import Explainer, Unexplained
from .features import PUBLISHED_SIZES


def derived_of(config, names):
    """For each such name an expression."""
    cls = type(config)
    try:
        base = cls()
    except Exception:
        return {}
    sizes = variants.sizes_of(base)
    settings, changed, configs = [{"b": 1, "s": 1, **sizes}], [()], [base]
    for key, value in sizes.items():
        for factor in (2, 4):
            try:
                other = cls(**{key: value * factor})
            except Exception:
                continue
            found = variants.sizes_of(other)
            if set(found) != set(sizes):
                continue
            # Only what was said moved; what followed from it is to be explained.
            settings.append({"b": 1, "s": 1, **sizes, key: value * factor})
            changed.append((key,))
            configs.append(other)
    said = {}
    for name in sorted(names):
        values = [variants.value_of(one, name, None) for one in configs]
        own = [setting.get(name) for setting in settings]
        if name == "head_dim" and values[0] is None and {"hidden_size", "num_attention_heads"} <= set(sizes):
            # What classes take it to be that read it where a file says it.
            said[name] = "hidden_size / num_attention_heads"
        if any(not isinstance(v, int) or isinstance(v, bool) for v in values) or values == own:
            continue
        others = [i for i, names_changed in enumerate(changed) if name not in names_changed]
        explainer = Explainer([{k: v for k, v in settings[i].items() if k != name} for i in others], [changed[i] for i in others])
        try:
            said[name] = explainer.expression([values[i] for i in others])
        except Unexplained:
            continue
    own = PUBLISHED_SIZES.get(config.model_type, {})
    return {**said, **{name: key for name, key in own.items() if name in names}}


# Keys under which a reader looks for the number of layers (crates/core/src/model/program/config.rs `LAYERS`).
COUNTS_OF_LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")


def aliases_of(config, names):
    """What else a class calls keys that are read: files have them under either name."""
    parts = [config.text_config] if vision.has_images(config) else []
    listed = {alias: key for part in [config, *parts] for alias, key in (getattr(part, "attribute_map", None) or {}).items()}
    known = {alias: key for alias, key in sorted(listed.items()) if key in names and alias not in names}
    layers = listed.get("num_hidden_layers")
    if not parts and not sources.has_source(config) and layers is not None and layers not in COUNTS_OF_LAYERS and isinstance(config.to_dict().get(layers), int):
        # What says how many there are, where nothing knows that (TrOCR's `decoder_layers`).
        known[layers] = "num_hidden_layers"
    return {"aliases": known} if known else {}
