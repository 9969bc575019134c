"""What peft makes of a model's names: facts about adapters that no operator shows."""

# Classes whose earlier checkpoints give experts names of their own; peft has a table of names for each
# (peft/utils/transformers_weight_conversion.py `_MOE_TARGET_MODULE_MAPPING`).
NAMED_AS = ("mixtral", "qwen2_moe")


def facts(model_type):
    """What a program says of the names of its experts: of whose checkpoints they are, where peft turns such names of linear layers into the
    parameters that stack them (`_convert_peft_config_moe`; it goes by transformers' conversion_mapping.py, and adds Mixtral)."""
    try:
        from transformers.conversion_mapping import _MODEL_TO_CONVERSION_PATTERN as patterns
    except ImportError:
        return {}
    named = {**patterns, "mixtral": "mixtral"}.get(model_type)
    return {"expert_names": named} if named in NAMED_AS else {}
