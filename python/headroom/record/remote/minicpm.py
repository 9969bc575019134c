"""MiniCPM of the first two generations (openbmb/MiniCPM-2B-sft-bf16 modeling_minicpm.py): Llama with constants."""

import math

import torch
from torch import nn
from transformers import PreTrainedConfig
from transformers.modeling_layers import GradientCheckpointingLayer

from .internlm import Gated
from .layers import Causal, Decoder, KeptTables, LateNorm, attend, halves_turned


class MiniCpmConfig(PreTrainedConfig):
    model_type = "minicpm"
    vocab_size: int = 32000
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int | None = None
    hidden_act: str = "silu"
    max_position_embeddings: int = 2048
    attention_bias: bool = False
    attention_dropout: float = 0.0
    tie_word_embeddings: bool = True
    scale_emb: float = 12.0
    dim_model_base: float = 256.0
    scale_depth: float = 1.4

    def __post_init__(self, **kwargs):
        if self.num_key_value_heads is None:
            self.num_key_value_heads = self.num_attention_heads
        super().__post_init__(**kwargs)


def rotated(query, key, tables):
    """Both in fp32."""
    cos, sin = tables
    wide = (one.to(torch.float32) for one in (query, key))
    return [(one * cos + halves_turned(one) * sin).to(query.dtype) for one in wide]


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.width = config.hidden_size // config.num_attention_heads
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads, "v_proj": config.num_key_value_heads}
        for name, count in heads.items():
            setattr(self, name, nn.Linear(config.hidden_size, count * self.width, bias=config.attention_bias))
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.attention_bias)
        self.rotary_emb = KeptTables(self.width, config.max_position_embeddings)

    def forward(self, hidden, mask):
        shape = (*hidden.shape[:2], -1, self.width)
        query, key, value = (part(hidden).view(shape).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj))
        query, key = rotated(query, key, self.rotary_emb(query))
        return self.o_proj(attend(self, query, key, value, mask, self.config.attention_dropout))


class Layer(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = Gated(config, ("gate_proj", "up_proj", "down_proj"))
        self.input_layernorm, self.post_attention_layernorm = LateNorm(config.hidden_size), LateNorm(config.hidden_size)
        self.scale = config.scale_depth / math.sqrt(config.num_hidden_layers)

    def forward(self, hidden_states, mask, tables):
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), mask) * self.scale
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states)) * self.scale


class Model(Decoder):
    config_class = MiniCpmConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = LateNorm(config.hidden_size)
        self.post_init()

    def embed(self, ids):
        return self.embed_tokens(ids) * self.config.scale_emb

    def end(self, hidden):
        # The class divides what its head reads, behind its decoder.
        return self.norm(hidden) / (self.config.hidden_size / self.config.dim_model_base)


class MiniCpm(Causal):
    config_class, base_model_prefix = MiniCpmConfig, "model"
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.model = Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()
