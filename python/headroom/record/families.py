"""`python -m headroom.record.families --out DIR [MODEL_TYPE ...]`: records every class of transformers with a causal language
model, or those that are named, into the files that are in DIR, and says what changed in them (`versions.py`).

A class's defaults are taken, or a config of a checkpoint that people train where the defaults are none. What cannot be recorded is
listed with its reason.
"""

import argparse
import concurrent.futures
import concurrent.futures.process
import copy
import dataclasses
import json
import multiprocessing
import os
import sys
import time
import traceback

from . import guard, versions, vision
from .model import prepare
from .program import Recorder, is_stacked, joined, record
from .shorter import fewer_layers
from .variants import value_of
from .written import text_of_file, written

# Full attention with mixtures and without.
MAVERICK = {
    "num_hidden_layers": 8, "no_rope_layers": [1, 1, 1, 0, 1, 1, 0, 1], "moe_layers": [1, 3, 5, 7], "interleave_moe_layer_step": 2, "num_local_experts": 128,
}
# Keys and values that later layers share, of both kinds, and a column for each layer.
GEMMA4_SHARING = {
    "hidden_size": 1536, "intermediate_size": 6144, "num_hidden_layers": 10, "num_kv_shared_layers": 4,
    "layer_types": ["sliding_attention", "full_attention"] * 5, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
    "global_head_dim": 512, "sliding_window": 512, "hidden_size_per_layer_input": 256, "use_double_wide_mlp": True,
    "final_logit_softcapping": 30.0,
}
# A quarter of the frequencies is of time, the rest of both sides of an image.
MROPE_QWEN = {"rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [16, 24, 24]}}
MROPE_GLM = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [8, 12, 12]}}
QWEN2_7B = {"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28, "num_key_value_heads": 4}
QWEN3_8B = {"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128}
# Gemma 4 26B-A4B and 31B: keys are values where attention is full, and no layer has a column of its own.
GEMMA4_LARGE = {
    "hidden_size": 2816, "intermediate_size": 2112, "num_hidden_layers": 6, "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
    "num_attention_heads": 16, "num_key_value_heads": 8, "num_global_key_value_heads": 2, "head_dim": 256, "global_head_dim": 512,
    "sliding_window": 1024, "hidden_size_per_layer_input": 0, "attention_k_eq_v": True, "final_logit_softcapping": 30.0,
}
GEMMA4_SOUND = {"model_type": "gemma4_audio"}
GEMMA4_EXPERTS = {"enable_moe_block": True, "num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704}


def gemma4(text, tower, audio):
    """A config with images. Fewer key and value heads of the tower than query heads tell the two apart."""
    return {
        "text_config": {"model_type": "gemma4_text", **text},
        "vision_config": {"model_type": "gemma4_vision", "num_key_value_heads": 4, **tower},
        "audio_config": audio,
    }


# Files beside that of a class, for configs of a kind with which it would be too large (crates/core/src/model/classes.rs `file_of`), and
# whose they are.
FILES_BESIDE = {"gemma4_large": "gemma4"}
LLAMA4_TOWER = {
    "model_type": "llama4_vision_model", "hidden_size": 1408, "vision_output_dim": 4096, "projector_input_dim": 4096, "projector_output_dim": 4096,
    "image_size": 336,
}

# Chunks that no recorded length is a multiple of: the last is padded, and sizes say so.
GRANITE_HYBRID = {
    "mamba_chunk_size": 160,
    "num_attention_heads": 12, "num_key_value_heads": 4, "num_hidden_layers": 4, "layer_types": ["mamba", "attention", "mamba", "mamba"],
    "mamba_n_heads": 48, "mamba_d_head": 64, "mamba_n_groups": 1, "mamba_d_state": 128, "position_embedding_type": "nope",
}
CLIP_336 = {
    "model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
    "image_size": 336, "patch_size": 14, "projection_dim": 768,
}

# Qwen limits the layers from a number up, where a config wants that at all.
QWEN_WINDOW = {"use_sliding_window": True, "sliding_window": 4096, "num_hidden_layers": 4, "max_window_layers": 2}

# Classes whose defaults are not a checkpoint's, or leave out what its checkpoints have; several where checkpoints are of several kinds.
CONFIGS = {
    "lfm2": {"layer_types": ["conv", "conv", "full_attention", "conv"], "num_hidden_layers": 4, "block_auto_adjust_ff_dim": True},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv"], "num_hidden_layers": 4, "num_dense_layers": 2},
    # Granite 4.0 H Micro and Tiny: without mixtures and with them.
    "granitemoehybrid": [
        {
            "hidden_size": 1536, "intermediate_size": 4096, "shared_intermediate_size": 4096, "num_local_experts": 0, "num_experts_per_tok": 0,
            **GRANITE_HYBRID,
        },
        {
            "hidden_size": 1536, "intermediate_size": 512, "shared_intermediate_size": 1024, "num_local_experts": 64, "num_experts_per_tok": 6,
            **GRANITE_HYBRID,
        },
    ],
    # Lightning attention runs block by block: several in every recording, so that they are a loop.
    "minimax": {"block_size": 64},
    # Nemotron-H and Nemotron 3 Nano; Nemotron 3 Super, whose experts read a narrower vector.
    "nemotron_h": [
        {"layers_block_type": ["linear_attention", "mlp", "full_attention", "moe"]},
        {"layers_block_type": ["linear_attention", "mlp", "full_attention", "moe"], "moe_latent_size": 1024},
    ],
    # MiMo-V2-Flash: behind its first layer full attention has mixtures, too.
    "mimo_v2_flash": {
        "num_hidden_layers": 5,
        "layer_types": ["full_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention"],
        "mlp_layer_types": ["dense", "sparse", "sparse", "dense", "sparse"],
    },
    # Llama 4 Scout, mixtures alone, and Maverick, a mixture in every other layer; with the tower whose default does not fit its projector.
    "llama4_text": [{}, MAVERICK],
    "llama4": [{"text_config": {"model_type": "llama4_text", **text}, "vision_config": LLAMA4_TOWER} for text in ({}, MAVERICK)],
    "gemma3n_text": {
        "num_hidden_layers": 9, "num_kv_shared_layers": 3, "layer_types": ["sliding_attention", "full_attention"] * 4 + ["sliding_attention"],
        "intermediate_size": 8192, "activation_sparsity_pattern": [0.95] * 2 + [0.0] * 7,
    },
    # The class's own, E2B and E4B, 26B-A4B, and 31B. With as many layers the last that keep keys and values are not those that are not
    # below the number of those that share.
    "gemma4_text": [{}, {**GEMMA4_SHARING, "num_hidden_layers": 12, "layer_types": ["sliding_attention", "full_attention"] * 6}, {**GEMMA4_LARGE, **GEMMA4_EXPERTS}, GEMMA4_LARGE],
    # The class's own, and 12B.
    "gemma4_unified_text": [{}, {key: value for key, value in GEMMA4_LARGE.items() if key != "hidden_size_per_layer_input"}],
    # E2B, whose layers that share have twice the width, and E4B, with linear layers of the tower that clip as their checkpoints have them,
    # and E2B without.
    "gemma4": [
        gemma4({**GEMMA4_SHARING, "use_double_wide_mlp": True}, {}, GEMMA4_SOUND),
        gemma4({**GEMMA4_SHARING, "use_double_wide_mlp": True}, {"use_clipped_linears": True}, GEMMA4_SOUND),
        gemma4({**GEMMA4_SHARING, "use_double_wide_mlp": False}, {"use_clipped_linears": True}, GEMMA4_SOUND),
    ],
    # 31B and 26B-A4B.
    "gemma4_large": [gemma4({**GEMMA4_LARGE, **experts}, {"standardize": True}, None) for experts in ({}, GEMMA4_EXPERTS)],
    "bamba": {"num_hidden_layers": 4, "attn_layer_indices": [2]},
    # Zamba2-1.2B, whose one transformer has adapters of each layer in its attention, and 2.7B and 7B, two of which take turns.
    "zamba2": [
        {
            "hidden_size": 2048, "num_hidden_layers": 6, "layers_block_type": ["linear_attention", "hybrid"] * 3, "mamba_d_state": 128, "n_mamba_heads": 64,
            "use_shared_attention_adapter": True, "use_mem_rope": True,
        },
        {
            "num_hidden_layers": 8, "layers_block_type": ["linear_attention", "hybrid"] * 4, "n_mamba_heads": 80, "num_key_value_heads": 16, "num_mem_blocks": 2,
        },
    ],
    # With its masked-language-model head, as google/rembert is, and as a causal model.
    "rembert": [{}, {"is_decoder": True}],
    # DeepSeek-V2, which chooses groups of experts first, and V2-Lite, whose queries have no latent vector; and the class's own choice with
    # one: the defaults say no number of experts for a token.
    "deepseek_v2": [
        {
            "num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_intermediate_size": 1408, "n_routed_experts": 160, "n_group": 8,
            "topk_group": 3, "topk_method": "group_limited_greedy",
        },
        {"num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_intermediate_size": 1408},
        {"num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_intermediate_size": 1408, "q_lora_rank": None},
    ],
    "qwen2": QWEN_WINDOW,
    "qwen3": QWEN_WINDOW,
    # Experts in every so many layers, but for those that are listed: each layer's kind follows from both keys.
    "qwen2_moe": {"num_hidden_layers": 9, "decoder_sparse_step": 3, "mlp_only_layers": [4, 5]},
    "qwen3_moe": {
        "num_hidden_layers": 9, "decoder_sparse_step": 3, "mlp_only_layers": [4, 5], "head_dim": 128, "use_sliding_window": True,
        "sliding_window": 4096,
    },
    # DeepSeek-V3, and Moonlight, whose queries have no latent vector.
    "deepseek_v3": [{}, {"q_lora_rank": None}],
    # Its config has a width of a head beside the class's keys.
    "glm4_moe": {"head_dim": 128},
    # dots.llm1: its defaults have no experts.
    "dots1": {
        "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 32, "n_routed_experts": 128, "n_shared_experts": 2,
        "num_experts_per_tok": 6, "n_group": 1, "topk_group": 1, "norm_topk_prob": True, "first_k_dense_replace": 1,
    },
    # A window that configs may have, and that their classes' defaults have none of: none is one of 0.
    "phi3": {"sliding_window": 2047},
    "starcoder2": {"sliding_window": 4096},
    # A width that the class makes of another where a config says none; Mixtral's width of a head likewise.
    "gpt2": {"n_inner": 3072},
    "gpt_bigcode": {"n_inner": 3072},
    "gptj": {"n_inner": 16384},
    "codegen": {"n_inner": 16384},
    "gpt_neo": {"intermediate_size": 8192},
    "mixtral": {"head_dim": 128},
    # GLM-5 and GLM-5.2, three of four of whose layers read the indices of a layer before them.
    "glm_moe_dsa": {
        "num_hidden_layers": 8, "first_k_dense_replace": 2,
        "indexer_types": ["full", "full", "full", "shared", "shared", "full", "shared", "full"],
    },
    # Mistral Small 3.1; Ministral 3 and Devstral 2, whose text is of another class.
    "mistral3": [{}, {"text_config": {"model_type": "ministral3"}}],
    # LLaVA 1.5 with fewer key and value heads than query heads.
    "llava": {
        "text_config": {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8},
        "vision_config": CLIP_336,
    },
    # LLaVA-OneVision 7B; its class's defaults are those of its tower.
    "llava_onevision": {"text_config": QWEN2_7B},
    # PaliGemma 3B, and PaliGemma 2 3B, whose text is Gemma 2's.
    "paligemma": [
        {},
        {
            "text_config": {
                "model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8,
                "num_key_value_heads": 4, "vocab_size": 257216,
            },
            "vision_config": {
                "model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304, "patch_size": 14, "image_size": 224,
                "num_hidden_layers": 27, "num_attention_heads": 16, "projection_dim": 2304, "vision_use_head": False,
            },
            "projection_dim": 2304, "hidden_size": 2304,
        },
    ],
    # LLaVA-NeXT (1.6) 7B over Mistral, and over Vicuna with fewer key and value heads than query heads.
    "llava_next": [
        {"text_config": {"model_type": text, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}, "vision_config": CLIP_336}
        for text in ("mistral", "llama")
    ],
    # Llama 3.2 Vision 11B, with a quarter of its layers.
    "mllama": {
        "text_config": {"model_type": "mllama_text_model", "num_hidden_layers": 10, "cross_attention_layers": [3, 8]},
        "vision_config": {"model_type": "mllama_vision_model", "image_size": 560},
    },
    "mllama_text_model": {"num_hidden_layers": 10, "cross_attention_layers": [3, 8]},
    # A mixture of which nothing more is known, with experts that every token visits and without.
    "unknown_mixture": [
        {
            "num_hidden_layers": 6, "mlp_layer_types": ["dense", "sparse", "sparse"] * 2, "n_routed_experts": 16, "n_shared_experts": shared,
            "num_key_value_heads": 8,
        }
        for shared in (2, 0)
    ],
    # Baichuan-13B, whose file says no number of positions, and 7B.
    "baichuan": [{"max_position_embeddings": None, "model_max_length": 4096}, {}],
    # ChatGLM2 and later: few keys and values; half of each head is not rotated.
    "chatglm": {"multi_query_attention": True, "multi_query_group_num": 2, "add_qkv_bias": True},
    # Ministral-8B and Nemotron-4: their defaults say no width of a head, and no number of key and value heads.
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
    "cohere_compass_text": {
        "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
        "rope_parameters": {kind: {"rope_type": "default", "rope_theta": 50000.0} for kind in ("full_attention", "sliding_attention")},
    },
    # GPT-NeoX-20B and Dolly 2, whose activation function is several operators; Galactica, whose is one kernel but not OPT's; OPT-350M, whose
    # embeddings are narrower than its layers, which norm behind their branches.
    "gpt_neox": [{"hidden_act": "gelu_fast"}, {}],
    "opt": [
        {"activation_function": "gelu"},
        {"hidden_size": 1024, "ffn_dim": 4096, "num_attention_heads": 16, "word_embed_proj_dim": 512, "do_layer_norm_before": False},
        {},
    ],
    # StableLM 2 12B norms each head.
    "stablelm": [{}, {"num_key_value_heads": 8, "qk_layernorm": True, "use_parallel_residual": True}],
    # Falcon-7B's architecture, that of 40B, that of 11B, whose layers have one norm, and RW's, with heads that can be halved: the defaults
    # have 71.
    "falcon": [
        {"hidden_size": 4096, "num_attention_heads": 64},
        {"hidden_size": 4096, "num_attention_heads": 64, "num_kv_heads": 8, "new_decoder_architecture": True},
        {"hidden_size": 4096, "num_attention_heads": 64, "num_kv_heads": 8, "new_decoder_architecture": True, "num_ln_in_parallel_attn": 1},
        {"hidden_size": 4096, "num_attention_heads": 64, "alibi": True, "bias": True, "multi_query": False, "parallel_attn": False},
    ],
    "xmod": {"default_language": "en_XX"},
    # As a language model it attends to what is before a token.
    "bert-generation": {"is_decoder": True},
    # With the expert that every token visits, which the default lacks, and without.
    "granitemoeshared": [{"shared_intermediate_size": 2048}, {}],
    "granitemoe_swa": [{"shared_intermediate_size": 2048}, {}],
    # V4-Flash, whose first layers look through a window alone, and V4-Pro, whose first compress many tokens into one.
    "deepseek_v4": {
        "num_hidden_layers": 6,
        "layer_types": ["sliding_attention", "heavily_compressed_attention"] + ["compressed_sparse_attention", "heavily_compressed_attention"] * 2,
        "mlp_layer_types": ["hash_moe"] * 3 + ["moe"] * 3,
    },
    # K-EXAONE: its defaults say no width of a head.
    "exaone_moe": {"head_dim": 128, "num_key_value_heads": 8},
    # Hunyuan-7B: its defaults say no width of a head.
    "hunyuan_v1_dense": {
        "vocab_size": 128167, "intermediate_size": 14336, "num_key_value_heads": 8, "head_dim": 128,
        "rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 1.0, "alpha": 1000.0},
    },
    # Hunyuan-A13B: its defaults have neither a width of a head nor rotary figures.
    "hunyuan_v1_moe": {
        "vocab_size": 128167, "hidden_size": 4096, "intermediate_size": 3072, "moe_intermediate_size": 3072, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "num_experts": 64, "moe_topk": 8, "num_shared_expert": 1, "use_qk_norm": True,
        "tie_word_embeddings": True, "rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 1.0, "alpha": 1000.0},
    },
    # Towers whose defaults do not fit the text part's. Qwen3-VL-8B, Qwen3-VL-30B-A3B and the thinker of Qwen3-Omni-30B-A3B.
    "qwen3_vl": {"text_config": {"model_type": "qwen3_vl_text", "num_key_value_heads": 8}, "vision_config": {"out_hidden_size": 4096}},
    "qwen3_vl_moe": {"text_config": {"model_type": "qwen3_vl_moe_text", "num_key_value_heads": 4}, "vision_config": {"out_hidden_size": 2048}},
    "qwen3_omni_moe_thinker": {
        "text_config": {"model_type": "qwen3_omni_moe_text", "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128},
        "vision_config": {"out_hidden_size": 2048}, "audio_config": {"output_dim": 2048},
    },
    # Phi-3.5-MoE's head has a bias, its class's default none.
    "phimoe": [{}, {"lm_head_bias": True}],
    # Gemma 3 4B: the default tower has fewer patches than an image has tokens.
    "gemma3": {
        "vision_config": {
            "model_type": "siglip_vision_model", "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16,
            "image_size": 896, "patch_size": 14, "vision_use_head": False,
        },
    },
    # InternVL3-8B, and the same with a tower that has biases; InternVL3.5, and its 38B.
    "internvl": [
        {"text_config": text, "vision_config": {"model_type": "internvl_vision", **tower}}
        for text, tower in (
            (QWEN2_7B, {"attention_bias": False}),
            (QWEN2_7B, {"attention_bias": True}),
            (QWEN3_8B, {"attention_bias": True}),
            (QWEN3_8B, {"attention_bias": False, "use_qk_norm": True, "norm_type": "rms_norm"}),
        )
    ],
    # GLM-4.1V-9B, GLM-4.6V-Flash and GLM-4.5V: half of each head rotates.
    **{
        name: {
            "text_config": {
                "model_type": "glm4v_text", "hidden_size": 4096, "intermediate_size": 13696, "num_attention_heads": 32, "num_key_value_heads": 2,
                **MROPE_GLM,
            },
            "vision_config": {"out_hidden_size": 4096, "intermediate_size": 13696},
        }
        for name in ("glm4v", "glm46v")
    },
    "glm4v_moe": {
        "text_config": {"model_type": "glm4v_moe_text", "head_dim": 128, **MROPE_GLM},
        "vision_config": {"out_hidden_size": 4096, "intermediate_size": 10944},
    },
    "glm_ocr_text": {
        "hidden_size": 1536, "intermediate_size": 4608, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 59392,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [16, 24, 24]},
    },
    "glm4v_moe_text": {"head_dim": 128, **MROPE_GLM},
    "glm4v_text": MROPE_GLM,
    "qwen2_vl_text": MROPE_QWEN,
    "qwen2_5_vl_text": MROPE_QWEN,
    "qwen2_5_omni_text": MROPE_QWEN,
    "qwen3_vl_moe_text": {"num_hidden_layers": 9, "decoder_sparse_step": 3, "mlp_only_layers": [4, 5], "num_key_value_heads": 4, "head_dim": 128},
    "qwen3_omni_moe_text": {
        "num_hidden_layers": 9, "decoder_sparse_step": 3, "mlp_only_layers": [4, 5], "hidden_size": 2048, "num_attention_heads": 32,
        "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 768, "vocab_size": 152064,
    },
    # SmolVLM-500M, with heads that can be halved. The number of boundaries of its tower's positions is rounded: exact for powers of two.
    "smolvlm": {
        "text_config": {"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2560, "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 49280},
        "vision_config": {
            "model_type": "smolvlm_vision", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
            "image_size": 512, "patch_size": 16,
        },
        "scale_factor": 4,
    },
    # GLM-OCR, whose heads are wider than its default hidden size divided by them.
    "glm_ocr": {
        "text_config": {
            "model_type": "glm_ocr_text", "hidden_size": 1536, "intermediate_size": 4608, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
            "vocab_size": 59392, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [16, 24, 24]},
        },
        "vision_config": {"hidden_size": 1024, "intermediate_size": 4096, "num_heads": 16, "out_hidden_size": 1536},
    },
    # Idefics3-8B-Llama3, with tiles of SmolVLM's size.
    "idefics3": {
        "text_config": {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128259},
        "vision_config": {
            "model_type": "idefics3_vision", "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16,
            "image_size": 512, "patch_size": 16,
        },
        "scale_factor": 2,
    },
}

# Encoder-decoders: T5, and what came of its version 1.1, with gated layers and a head of its own (a checkpoint's file says that it ties
# no embeddings, and holds both: transformers 5.23 modeling_utils.py `tie_weights`).
V1_1 = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
CONFIGS |= {
    "t5": [{}, V1_1],
    "mt5": V1_1,
    "umt5": V1_1,
}
SEQ2SEQ = ("t5", "mt5", "umt5")

# Classes that no automatic class makes: text parts, encoders with their masked-language-model head.
CLASSES = {
    "muse_glimmer_text": "MuseGlimmerTextModel", "qwen2_vl_text": "Qwen2VLTextModel", "qwen2_5_vl_text": "Qwen2_5_VLTextModel", "qwen2_5_omni_text": "Qwen2_5OmniThinkerTextModel",
    "qwen3_vl_text": "Qwen3VLTextModel", "glm4v_text": "Glm4vTextModel", "mllama_text_model": "MllamaForCausalLM",
    "qwen3_omni_moe_text": "Qwen3OmniMoeThinkerTextModel", "qwen3_vl_moe_text": "Qwen3VLMoeTextModel", "modernbert": "ModernBertForMaskedLM", "bert": "BertForMaskedLM",
    "roberta": "RobertaForMaskedLM", "xlm-roberta": "XLMRobertaForMaskedLM", "camembert": "CamembertForMaskedLM", "distilbert": "DistilBertForMaskedLM",
    "electra": "ElectraForMaskedLM", "data2vec-text": "Data2VecTextForMaskedLM", "roberta-prelayernorm": "RobertaPreLayerNormForMaskedLM",
    "xlm-roberta-xl": "XLMRobertaXLForMaskedLM", "roformer": "RoFormerForMaskedLM", "megatron-bert": "MegatronBertForMaskedLM",
    "ernie": "ErnieForMaskedLM", "eurobert": "EuroBertForMaskedLM", "nomic_bert": "NomicBertForMaskedLM", "mpnet": "MPNetForMaskedLM",
}

# Sounds, images alone, translation, and what trains with another loss.
NOT_LANGUAGE = ("whisper", "musicgen", "speech", "trocr", "bark", "moshi", "csm", "git", "blip", "fuyu", "pegasus", "marian", "bart", "xlstm_audio")
# Classes that are in no file of the repository though a recording of them ends: not right yet, too large, or compared with no step that a
# test knows (NOT_RECORDED.md). One that is named is recorded all the same.
NOT_YET = (
    "blenderbot", "dots3_note", "inkling2_text", "longcat_flash", "phi4_multimodal", "roc_bert", "xlm", "xlnet", "xlstm", "xmod", "zamba",
    # With images.
    "cohere2_vision", "cosmos3_edge", "deepseek_vl", "glm5_next", "hyperclovax_vision_v2", "janus", "lfm3_vl", "lighton_ocr", "llava_next_video",
    "minimax_m3_vl", "mistral_large4", "muse_spark", "qianfan_ocr", "qwen2_5_omni_thinker",
)


def model_types():
    """Every `model_type` with a causal language model that can be recorded as it runs."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as names

    from . import remote

    causal = {name for name in names if name not in NOT_YET and not any(part in name for part in NOT_LANGUAGE)}
    parts = {name for name in CONFIGS if name.endswith("_text")}
    return sorted(causal | parts | set(CLASSES) | set(SEQ2SEQ) | set(remote.CLASSES))


def image_model_types():
    """Every `model_type` whose model reads images beside text."""
    from transformers import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as names

    def has_tower(name):
        try:
            return vision.has_images(CONFIG_MAPPING[name]())
        except Exception:
            return False

    return sorted({name for name in names if name not in NOT_YET and has_tower(name)} | set(FILES_BESIDE))


def configs_of(model_type):
    """What is recorded of a class: its whole config where it has a tower, its text part else."""
    from transformers import CONFIG_MAPPING

    from . import remote

    remote.register()
    said = CONFIGS.get(model_type, {})
    kind = CONFIG_MAPPING[FILES_BESIDE.get(model_type, model_type)]
    configs = [kind(**one) for one in (said if isinstance(said, list) else [said])]
    return [config if is_stacked(config) else grouped(with_head_width(config.get_text_config())) for config in configs]


def program_of(configs, note, name=None):
    """The program of a class, or a list where its configs are of several kinds; `name`: of a file beside the class's."""
    first, *others = (record(config, name, CLASSES.get(config.model_type), note) for config in configs)
    for other in others:
        first = joined(first, other)
    return first


def with_head_width(config):
    """The config with the width of a head beside its keys, where its class reads one that its config does not list
    (`getattr(config, "head_dim", ...)`): a file may say another."""
    heads, hidden = value_of(config, "num_attention_heads"), value_of(config, "hidden_size")
    if value_of(config, "head_dim") is not None or not isinstance(heads, int) or not isinstance(hidden, int) or hidden % heads:
        return config
    prepare()
    sizes = []
    try:
        for factor in (1, 2):
            changed = copy.deepcopy(fewer_layers(config))
            changed.head_dim = factor * hidden // heads
            sizes.append(guard.parameters(changed, CLASSES.get(config.model_type))[0])
        base = guard.parameters(fewer_layers(config), CLASSES.get(config.model_type))[0]
    except Exception:
        return config
    if sizes[0] != base or sizes[1] == base:
        return config
    changed = copy.deepcopy(config)
    changed.head_dim = hidden // heads
    return changed


def grouped(config):
    """The config with fewer key and value heads than query heads, where its class has both and takes them to be equal: most
    checkpoints have fewer, and a dimension that follows from one would be taken to follow from the other."""
    heads, shared = value_of(config, "num_attention_heads"), value_of(config, "num_key_value_heads")
    if "num_key_value_heads" not in config.to_dict() or shared not in (heads, None) or not isinstance(heads, int) or heads % 4:
        return config
    changed = copy.deepcopy(config)
    changed.num_key_value_heads = heads // 4
    try:
        prepare()
        few = fewer_layers(changed)
        Recorder(few, CLASSES.get(config.model_type), lambda text: None).one(few, 1, 64, only={0})
    except Exception:
        # Heads that read one latent vector are as many on both sides.
        return config
    return changed


def main():
    parser = argparse.ArgumentParser(prog="python -m headroom.record.families", description=__doc__)
    parser.add_argument("model_types", nargs="*")
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    os.makedirs(given.out, exist_ok=True)
    failed = {}
    # Some classes are of both kinds.
    names = given.model_types or list(dict.fromkeys([*model_types(), *image_model_types()]))
    for name, recorded in recordings(names):
        for note in recorded.notes:
            print(f"  {note}", flush=True)
        if recorded.failure:
            failed[name] = recorded.failure
            print(f"{name}: {recorded.failure}", flush=True)
            continue
        if recorded.model_type != name and recorded.model_type in names:
            print(f"{name}: is {recorded.model_type}, which is recorded by itself", flush=True)
            continue
        # Not where it was recorded: two classes may have one text part.
        said = put(os.path.join(given.out, f"{recorded.model_type}.json"), recorded.recording)
        print(f"{name}: {said}, {recorded.seconds:.0f} s", flush=True)
    if failed:
        print(f"{len(failed)} not recorded:", file=sys.stderr)
        for name, reason in sorted(failed.items()):
            print(f"  {name}: {reason}", file=sys.stderr)
        if given.model_types:
            sys.exit(1)


# What a process that records begins with: its server imports them once, and each process is a fork of that.
PRELOADED = ["headroom.record.families", "transformers.models.auto.modeling_auto"]


def recordings(names):
    """Records classes, one on each core at a time, as recording is Python from end to end: each with its name as soon as it is there."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with concurrent.futures.ThreadPoolExecutor(min(len(names), os.cpu_count() or 1)) as cores:
        runs = {cores.submit(of_process, recording_of, name, context): name for name in names}
        for run in concurrent.futures.as_completed(runs):
            yield runs[run], run.result()


def of_process(record, name, context):
    """What recording a class gives in a process of its own: torch and transformers keep what they once built, until the process ends,
    and one that the system ends takes no other class with it."""
    with concurrent.futures.ProcessPoolExecutor(1, context) as process:
        try:
            return process.submit(record, name).result()
        except concurrent.futures.process.BrokenProcessPool:
            return Recorded(failure="its process was ended, as a system does that is out of memory: record it alone")


@dataclasses.dataclass
class Recorded:
    """What became of one class."""

    notes: list = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    # Why there is no recording.
    failure: str | None = None
    # Whose recording it is: that of a class's text part, where only that is recorded.
    model_type: str | None = None
    recording: dict | None = None


def recording_of(name):
    """Records a class."""
    began = time.time()
    recorded = Recorded()
    try:
        configs = configs_of(name)
        beside = name if name in FILES_BESIDE else None
        recorded.recording = written(program_of(configs, recorded.notes.append, beside))
        recorded.model_type = beside or configs[0].model_type
    except Exception as error:
        recorded.failure = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"
        if os.environ.get("HEADROOM_TRACEBACK"):
            traceback.print_exc()
    recorded.seconds = time.time() - began
    return recorded


def put(path, recording):
    """Puts what was recorded into its file, and says what that changes."""
    if not os.path.exists(path):
        said, file = "new", recording
    else:
        with open(path, encoding="utf-8") as text:
            old = json.load(text)
        file = versions.with_recording(old, recording)
        if file is old:
            return "unchanged"
        said = said_against(old, file)
    with open(path, "w", encoding="utf-8") as text:
        text.write(text_of_file(file) + "\n")
    return said


def said_against(old, new):
    """How a file differs from the one in its place."""
    if old["format"] != new["format"]:
        return "another format"
    before, after = versions.by_release(old), versions.by_release(new)
    said = []
    for release in after:
        name = ".".join(map(str, release))
        one, other = before.get(release), after[release]
        if one is None:
            said.append(f"{name} has another program than {'.'.join(map(str, versions.release_of(versions.under(old, release)[0])))}")
        elif len(one) != len(other):
            said.append(f"{name} has {len(other)} programs instead of {len(one)}")
        elif not versions.is_same(versions.alone(old, one), versions.alone(new, other)):
            said.append(f"{name} is recorded otherwise")
    said += [f"{'.'.join(map(str, release))} has none of its own any more" for release in before if release not in after]
    return "; ".join(said)


if __name__ == "__main__":
    main()
