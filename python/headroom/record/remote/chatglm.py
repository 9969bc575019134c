"""ChatGLM2, ChatGLM3 and GLM-4 under their own code (THUDM/chatglm3-6b and THUDM/glm-4-9b, modeling_chatglm.py). The latter's tensors have
sequences first, ChatGLM3's have tokens first: of the same sizes."""

import torch
from torch import nn
from transformers import PreTrainedConfig
from transformers.modeling_layers import GradientCheckpointingLayer

from .layers import Causal, Decoder, Norm, attend


class ChatGlmConfig(PreTrainedConfig):
    model_type = "chatglm"
    attribute_map = {"num_layers": "num_hidden_layers", "padded_vocab_size": "vocab_size", "ffn_hidden_size": "intermediate_size", "seq_length": "max_position_embeddings"}
    vocab_size: int = 65024
    hidden_size: int = 4096
    intermediate_size: int = 13696
    num_hidden_layers: int = 28
    num_attention_heads: int = 32
    kv_channels: int = 128
    max_position_embeddings: int = 2048
    multi_query_attention: bool = False
    multi_query_group_num: int = 1
    rmsnorm: bool = True
    post_layer_norm: bool = True
    add_bias_linear: bool = False
    add_qkv_bias: bool = False
    hidden_dropout: float = 0.0
    attention_dropout: float = 0.0
    tie_word_embeddings: bool = False

    def conditions(self):
        """The first ChatGLM-6B is of another class under this name."""
        return [{"key": "position_encoding_2d", "is": False}, {"key": "inner_hidden_size", "is": 0}]


class WideNorm(Norm):
    """RMSNorm whose weight multiplies in fp32."""

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return (self.weight * (x * torch.rsqrt(variance + 1e-6))).to(x.dtype)


def norm_of(config):
    return WideNorm(config.hidden_size) if config.rmsnorm else nn.LayerNorm(config.hidden_size)


def rotated(x, table):
    """Pairs of neighbours of the first half of each head; `table`: [s, pairs, 2]."""
    pairs = table.shape[1]
    turned, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    turned = turned.reshape(*turned.shape[:-1], pairs, 2)
    cos, sin = table[..., 0], table[..., 1]
    even, odd = turned[..., 0], turned[..., 1]
    both = torch.stack([even * cos - odd * sin, odd * cos + even * sin], -1).flatten(3)
    return torch.cat((both, rest), dim=-1)


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, width = config, config.kv_channels
        self.groups = config.multi_query_group_num if config.multi_query_attention else config.num_attention_heads
        self.sizes = [config.num_attention_heads * width, self.groups * width, self.groups * width]
        self.query_key_value = nn.Linear(config.hidden_size, sum(self.sizes), bias=config.add_bias_linear or config.add_qkv_bias)
        self.dense = nn.Linear(self.sizes[0], config.hidden_size, bias=config.add_bias_linear)

    def forward(self, hidden, mask, table):
        parts = self.query_key_value(hidden).split(self.sizes, dim=-1)
        query, key, value = (part.view(*part.shape[:2], -1, self.config.kv_channels).transpose(1, 2) for part in parts)
        query, key = rotated(query, table), rotated(key, table)
        if self.config.multi_query_attention:
            key, value = (self.shared(one) for one in (key, value))
        return self.dense(attend(self, query, key, value, mask, self.config.attention_dropout))

    def shared(self, one):
        """Heads of keys or values once for each query head that reads them: a copy, whatever kernel attends."""
        batch, groups, length, width = one.shape
        heads = self.config.num_attention_heads
        return one.unsqueeze(2).expand(-1, -1, heads // groups, -1, -1).contiguous().view(batch, heads, length, width)


class Mlp(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense_h_to_4h = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=config.add_bias_linear)
        self.dense_4h_to_h = nn.Linear(config.intermediate_size, config.hidden_size, bias=config.add_bias_linear)

    def forward(self, x):
        gate, up = self.dense_h_to_4h(x).chunk(2, dim=-1)
        return self.dense_4h_to_h(nn.functional.silu(gate) * up)


class Block(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.rate = config.hidden_dropout
        self.input_layernorm, self.self_attention = norm_of(config), SelfAttention(config)
        self.post_attention_layernorm, self.mlp = norm_of(config), Mlp(config)

    def forward(self, hidden_states, mask, table):
        dropped = lambda x: nn.functional.dropout(x, p=self.rate, training=self.training)
        hidden_states = hidden_states + dropped(self.self_attention(self.input_layernorm(hidden_states), mask, table))
        return hidden_states + dropped(self.mlp(self.post_attention_layernorm(hidden_states)))


class Embedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        if config.post_layer_norm:
            self.final_layernorm = norm_of(config)


class Model(Decoder):
    config_class = ChatGlmConfig

    def __init__(self, config):
        super().__init__(config)
        self.embedding, self.encoder = Embedding(config), Encoder(config)
        self.post_init()

    def tables(self, embedded):
        """cos and sin of half of a head's pairs, in the model's dtype."""
        pairs = self.config.kv_channels // 4
        turned = torch.outer(torch.arange(embedded.shape[1], device=embedded.device).float(), torch.arange(pairs, device=embedded.device).float())
        return torch.stack([turned.cos(), turned.sin()], dim=-1).to(embedded.dtype)

    def stack(self):
        return self.encoder.layers

    def end(self, hidden):
        return self.encoder.final_layernorm(hidden) if self.config.post_layer_norm else hidden

    def get_input_embeddings(self):
        return self.embedding.word_embeddings


class ChatGlm(Causal):
    config_class, base_model_prefix = ChatGlmConfig, "transformer"
    _tied_weights_keys = {"output_layer.weight": "transformer.embedding.word_embeddings.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.transformer = Model(config)
        self.output_layer = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.output_layer
