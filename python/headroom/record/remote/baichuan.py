"""Baichuan and Baichuan2 (baichuan-inc/Baichuan2-7B-Base and Baichuan2-13B-Base, modeling_baichuan.py): rotary positions in the models of 7B,
ALiBi in those of 13B, which have no `max_position_embeddings`."""

import math

import torch
from torch import nn
from transformers import PreTrainedConfig
from transformers.modeling_layers import GradientCheckpointingLayer

from .internlm import Gated
from .layers import Causal, Decoder, LateNorm, attend, halves_turned


class BaichuanConfig(PreTrainedConfig):
    model_type = "baichuan"
    vocab_size: int = 64000
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    hidden_act: str = "silu"
    max_position_embeddings: int | None = 4096
    model_max_length: int | None = None
    tie_word_embeddings: bool = False

    def conditions(self):
        """Which configs are of this kind."""
        if self.max_position_embeddings is not None:
            return []
        return [{"key": "max_position_embeddings", "is": 0}, {"key": "model_max_length", "above": 0}]


def scores_in_full(module, query, key, value, mask, scaling, **_):
    """Attention of the models of 13B without a kernel of its own: scores are never above fp32's lowest, and their softmax is of their dtype."""
    scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.shape[-1]) + mask
    scores = torch.max(scores, torch.tensor(torch.finfo(scores.dtype).min, device=scores.device))
    return torch.matmul(nn.functional.softmax(scores, dim=-1), value).transpose(1, 2), None


class Rotary(nn.Module):
    """Tables in fp32 for as many tokens as the model takes, one pair for each layer."""

    def __init__(self, width, positions):
        super().__init__()
        self.register_buffer("cos_cached", torch.zeros(1, 1, positions, width, dtype=torch.float32), persistent=False)
        self.register_buffer("sin_cached", torch.zeros(1, 1, positions, width, dtype=torch.float32), persistent=False)

    def forward(self, query, key):
        places = torch.arange(query.shape[2], device=query.device)[None]
        cos, sin = (table.squeeze(1).squeeze(0)[places].unsqueeze(1) for table in (self.cos_cached, self.sin_cached))
        return [(one.float() * cos + halves_turned(one.float()) * sin).to(one.dtype) for one in (query, key)]


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, hidden = config, config.hidden_size
        self.W_pack = nn.Linear(hidden, 3 * hidden, bias=False)
        self.o_proj = nn.Linear(hidden, hidden, bias=False)
        if config.max_position_embeddings is not None:
            self.rotary_emb = Rotary(hidden // config.num_attention_heads, config.max_position_embeddings)

    def forward(self, hidden, mask):
        batch, length, width = hidden.shape
        heads = self.config.num_attention_heads
        packed = self.W_pack(hidden).view(batch, length, 3, heads, width // heads)
        query, key, value = packed.permute(2, 0, 3, 1, 4).unbind(0)
        if self.config.max_position_embeddings is not None:
            query, key = self.rotary_emb(query, key)
            return self.o_proj(attend(self, query, key, value, mask))
        return self.o_proj(attend(self, query, key, value, mask, in_full=scores_in_full))


class Layer(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = Gated(config, ("gate_proj", "up_proj", "down_proj"))
        self.input_layernorm, self.post_attention_layernorm = LateNorm(config.hidden_size), LateNorm(config.hidden_size)

    def forward(self, hidden_states, mask, tables):
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), mask)
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


class Model(Decoder):
    config_class = BaichuanConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = LateNorm(config.hidden_size)
        self.post_init()

    def masks(self, embedded, attention_mask):
        """Of ALiBi biases for all sequences with causality in them, and those of one: its numbers come from the host in the model's dtype."""
        if self.config.max_position_embeddings is not None:
            return super().masks(embedded, attention_mask)
        batch, length, _ = embedded.shape
        biases = embedded.new_empty(self.config.num_attention_heads, length, length)
        return embedded.new_empty(batch, 1, length, length) + biases.unsqueeze(0), biases


class Baichuan(Causal):
    config_class, base_model_prefix = BaichuanConfig, "model"
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.model = Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()
