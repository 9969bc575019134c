"""Encoder-decoders in a recording: tokens of the source, which the encoder reads, beside those of the target, which the decoder reads
and whose length is `s`.

Their two lists of layers are stacks of one program: the encoder's runs first, and what runs between them (the encoder's last norm, the
embedding of the target) belongs to the decoder's first layer.
"""

import copy

import torch

# How a program names the tokens of each source.
NAME = "source"
# Those of a recording, another number than the target's.
LENGTH = 640
# What classes call their numbers of layers.
OF_ENCODER, OF_DECODER = ("num_layers", "encoder_layers"), ("num_decoder_layers", "decoder_layers")
# What tells the programs of a class apart: activations are other operators, and what a class makes of a head that is no embedding.
KINDS = ("feed_forward_proj", "activation_function", "tie_word_embeddings", "scale_embedding")
# Rates of dropout: at none there is no operator.
RATES = ("dropout_rate", "dropout")
# Layers of a recording: the first may differ from the others.
FEW = (3, 4)


def named_auto(config):
    """The kind of model that a config's `architectures` names, of those that have a head of tokens: one `model_type` may have several
    (BART's encoder-decoder and its decoder alone; BERT's as a masked and as a causal model). None where it names no such class."""
    import transformers

    named = (getattr(config, "architectures", None) or [""])[0]
    for auto in (transformers.AutoModelForCausalLM, transformers.AutoModelForMaskedLM, transformers.AutoModelForSeq2SeqLM):
        if type(config) in auto._model_mapping:
            of_config = auto._model_mapping[type(config)]
            if named in [made.__name__ for made in (of_config if isinstance(of_config, tuple) else (of_config,))]:
                return auto
    return None


def has_source(config):
    """Whether its class reads a text and writes another."""
    from transformers import AutoModelForSeq2SeqLM

    if named_auto(config) not in (None, AutoModelForSeq2SeqLM):
        return False
    reads = not any(getattr(config, key, None) for key in ("audio_config", "vision_config", "is_own"))
    return bool(getattr(config, "is_encoder_decoder", False)) and reads and type(config) in AutoModelForSeq2SeqLM._model_mapping


def key_of(config, keys):
    return next((key for key in keys if isinstance(config.to_dict().get(key), int)), None)


def stacks_of(model):
    """The encoder's list of layers and the decoder's, with their names."""
    found = []
    for part in ("encoder", "decoder"):
        lists = [
            (name, module) for name, module in model.named_modules()
            if isinstance(module, torch.nn.ModuleList) and part in name.split(".")
        ]
        found.append(min(lists, key=lambda item: item[0].count(".")))
    return found


def fewer_layers(config):
    changed = copy.deepcopy(config)
    for keys, count in ((OF_ENCODER, FEW[0]), (OF_DECODER, FEW[1])):
        key = key_of(config, keys)
        setattr(changed, key, min(getattr(changed, key), count))
    return changed


def inputs_of(batch, length):
    """Arguments of the model's forward beside `input_ids`."""
    with torch.device("meta"):
        return {"decoder_input_ids": torch.zeros(batch, length, dtype=torch.long)}


def facts(model):
    """What a program says of such a class. `keeps`: modules that stay in fp32 where a checkpoint is loaded in float16, and that nothing
    quantises (transformers quantizers/base.py `get_modules_to_not_convert`); the model's code casts for them what it was not recorded with."""
    kept = sorted(getattr(model, "_keep_in_fp32_modules", None) or ())
    return {"sources": True, **({"keeps": kept} if kept else {})}


def conditions(config):
    """Which configs a program of `config` is for, and what its class takes such keys to be."""
    said, default = {**config.to_dict(), "tie_word_embeddings": ties(config)}, type(config)().to_dict()
    # Of the others a head of its own changes nothing but the parameters.
    goes_by_ties = hasattr(config, "scale_decoder_outputs")
    asked = [{"key": key, "is": said[key]} for key in KINDS if key in said and (goes_by_ties or key != "tie_word_embeddings")]
    asked += [{"key": key, "above": 0} for key in RATES if key in said]
    return asked, {condition["key"]: default[condition["key"]] for condition in asked}


def ties(config):
    """What the config's file says of the head: T5's class ties it whatever the file says, and goes by that when it scales
    (t5/configuration_t5.py `__post_init__`)."""
    return getattr(config, "scale_decoder_outputs", config.tie_word_embeddings)
