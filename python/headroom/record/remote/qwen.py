"""Qwen of the first generation (Qwen/Qwen-7B modeling_qwen.py)."""

import torch
from torch import nn
from transformers import PreTrainedConfig
from transformers.modeling_layers import GradientCheckpointingLayer

from .layers import Causal, Decoder, Norm, angles, attend, halves_turned


class QwenConfig(PreTrainedConfig):
    model_type = "qwen"
    vocab_size: int = 151936
    hidden_size: int = 4096
    # Of gate and up together.
    intermediate_size: int = 22016
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    kv_channels: int = 128
    no_bias: bool = True
    max_position_embeddings: int = 8192
    attn_dropout_prob: float = 0.0
    emb_dropout_prob: float = 0.0
    tie_word_embeddings: bool = False


def rotated(one, tables):
    """In fp32, token by token: [b, s, heads, width]."""
    cos, sin = tables
    wide = one.float()
    return (wide * cos + halves_turned(wide) * sin).type_as(one)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.width = config, config.num_attention_heads * config.kv_channels
        self.c_attn = nn.Linear(config.hidden_size, 3 * self.width)
        self.c_proj = nn.Linear(self.width, config.hidden_size, bias=not config.no_bias)

    def forward(self, hidden, mask, tables):
        parts = self.c_attn(hidden).split(self.width, dim=2)
        query, key, value = (part.view(*part.shape[:2], self.config.num_attention_heads, self.config.kv_channels) for part in parts)
        query, key = rotated(query, tables), rotated(key, tables)
        query, key, value = (one.permute(0, 2, 1, 3) for one in (query, key, value))
        return self.c_proj(attend(self, query, key, value, mask, self.config.attn_dropout_prob))


class Mlp(nn.Module):
    def __init__(self, config):
        super().__init__()
        inner, bias = config.intermediate_size // 2, not config.no_bias
        self.w1 = nn.Linear(config.hidden_size, inner, bias=bias)
        self.w2 = nn.Linear(config.hidden_size, inner, bias=bias)
        self.c_proj = nn.Linear(inner, config.hidden_size, bias=bias)

    def forward(self, x):
        one, other = self.w1(x), self.w2(x)
        return self.c_proj(one * nn.functional.silu(other))


class Block(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.ln_1, self.attn = Norm(config.hidden_size), Attention(config)
        self.ln_2, self.mlp = Norm(config.hidden_size), Mlp(config)

    def forward(self, hidden_states, mask, tables):
        hidden_states = self.attn(self.ln_1(hidden_states), mask, tables) + hidden_states
        return hidden_states + self.mlp(self.ln_2(hidden_states))


class Model(Decoder):
    config_class = QwenConfig

    def __init__(self, config):
        super().__init__(config)
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size)
        self.drop = nn.Dropout(config.emb_dropout_prob)
        self.h = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.ln_f = Norm(config.hidden_size)
        self.post_init()

    def tables(self, embedded):
        turned = angles(self.config.kv_channels, torch.arange(embedded.shape[1], device=embedded.device)[None])[:, :, None]
        return turned.cos(), turned.sin()

    def begin(self, embedded):
        return self.drop(embedded)

    def stack(self):
        return self.h

    def end(self, hidden):
        return self.ln_f(hidden)

    def get_input_embeddings(self):
        return self.wte


class Qwen(Causal):
    config_class, base_model_prefix = QwenConfig, "transformer"
    _tied_weights_keys = {"lm_head.weight": "transformer.wte.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.transformer = Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()
