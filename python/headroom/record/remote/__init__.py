"""Decoders whose code comes with their weights: transformers has no class of theirs. Each is written here in few lines, after what its own
code computes and keeps, and is recorded as any class of transformers. Attention goes through transformers' interface, whatever the code that
comes with the weights makes of `attn_implementation`: a plan says which kernel runs.
"""

from . import baichuan, chatglm, guess, internlm, minicpm, qwen

# By `model_type`.
CLASSES = {
    kind.config_class.model_type: kind for kind in (
        baichuan.Baichuan, chatglm.ChatGlm, guess.Guess, internlm.InternLm, internlm.InternLm2, minicpm.MiniCpm, qwen.Qwen,
    )
}


def register():
    """Makes them known to transformers, under the names that their files have."""
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    for model_type, kind in CLASSES.items():
        if model_type not in CONFIG_MAPPING:
            CONFIG_MAPPING.register(model_type, kind.config_class)
            AutoModelForCausalLM.register(kind.config_class, kind)
