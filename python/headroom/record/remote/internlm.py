"""InternLM and InternLM2 (internlm/internlm-7b modeling_internlm.py, internlm/internlm2_5-7b modeling_internlm2.py)."""

import torch
from torch import nn
from transformers import PreTrainedConfig
from transformers.activations import ACT2FN
from transformers.modeling_layers import GradientCheckpointingLayer

from .layers import Causal, Decoder, KeptTables, LateNorm, Norm, angles, attend, halves_turned


class InternLmConfig(PreTrainedConfig):
    model_type = "internlm"
    vocab_size: int = 103168
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    hidden_act: str = "silu"
    max_position_embeddings: int = 2048
    bias: bool = True
    tie_word_embeddings: bool = False


class InternLm2Config(InternLmConfig):
    model_type = "internlm2"
    num_key_value_heads: int | None = None

    def __post_init__(self, **kwargs):
        if self.num_key_value_heads is None:
            self.num_key_value_heads = self.num_attention_heads
        super().__post_init__(**kwargs)


def rotated(query, key, tables):
    """Both with rotary positions."""
    cos, sin = tables
    return (one * cos + halves_turned(one) * sin for one in (query, key))


@torch.no_grad()
def new_tables(query):
    """cos and sin, which each layer of InternLM2 makes anew."""
    turned = angles(query.shape[3], torch.arange(query.shape[2], device=query.device)[None])
    return [table.to(query.dtype)[:, None] for table in (turned.cos(), turned.sin())]


class Separate(nn.Module):
    """InternLM: three projections."""

    def __init__(self, config):
        super().__init__()
        self.config, hidden = config, config.hidden_size
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(hidden, hidden, bias=config.bias))
        self.rotary_emb = KeptTables(hidden // config.num_attention_heads, config.max_position_embeddings)

    def forward(self, hidden, mask):
        batch, length, width = hidden.shape
        heads = self.config.num_attention_heads
        query, key, value = (part(hidden).view(batch, length, heads, width // heads).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj))
        query, key = rotated(query, key, self.rotary_emb(query))
        return self.o_proj(attend(self, query, key, value, mask))


class Grouped(nn.Module):
    """InternLM2: one projection, in which each key and value head stands behind the query heads that share it."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.groups = config.num_attention_heads // config.num_key_value_heads
        width = config.hidden_size // config.num_attention_heads
        self.wqkv = nn.Linear(config.hidden_size, (config.num_attention_heads + 2 * config.num_key_value_heads) * width, bias=config.bias)
        self.wo = nn.Linear(config.num_attention_heads * width, config.hidden_size, bias=config.bias)

    def forward(self, hidden, mask):
        config, (batch, length, _) = self.config, hidden.shape
        width = config.hidden_size // config.num_attention_heads
        made = self.wqkv(hidden).view(batch, length, config.num_key_value_heads, self.groups + 2, width)
        # Query heads of all groups beside each other: a copy.
        query = made[..., : self.groups, :].reshape(batch, length, config.num_attention_heads, width).transpose(1, 2)
        key, value = (made[..., at, :].transpose(1, 2) for at in (-2, -1))
        query, key = rotated(query, key, new_tables(query))
        return self.wo(attend(self, query, key, value, mask))


class Gated(nn.Module):
    def __init__(self, config, names):
        super().__init__()
        self.names, self.act = names, ACT2FN[config.hidden_act]
        gate, up, down = names
        setattr(self, gate, nn.Linear(config.hidden_size, config.intermediate_size, bias=False))
        setattr(self, up, nn.Linear(config.hidden_size, config.intermediate_size, bias=False))
        setattr(self, down, nn.Linear(config.intermediate_size, config.hidden_size, bias=False))

    def forward(self, x):
        gate, up, down = (getattr(self, name) for name in self.names)
        return down(self.act(gate(x)) * up(x))


class Layer(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.self_attn = Separate(config)
        self.mlp = Gated(config, ("gate_proj", "up_proj", "down_proj"))
        self.input_layernorm, self.post_attention_layernorm = LateNorm(config.hidden_size), LateNorm(config.hidden_size)

    def forward(self, hidden_states, mask, tables):
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), mask)
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


class Layer2(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.attention = Grouped(config)
        self.feed_forward = Gated(config, ("w1", "w3", "w2"))
        self.attention_norm, self.ffn_norm = Norm(config.hidden_size), Norm(config.hidden_size)

    def forward(self, hidden_states, mask, tables):
        hidden_states = hidden_states + self.attention(self.attention_norm(hidden_states), mask)
        return hidden_states + self.feed_forward(self.ffn_norm(hidden_states))


class Model(Decoder):
    config_class = InternLmConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = LateNorm(config.hidden_size)
        self.post_init()


class Model2(Decoder):
    config_class = InternLm2Config

    def __init__(self, config):
        super().__init__(config)
        self.tok_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer2(config) for _ in range(config.num_hidden_layers))
        self.norm = Norm(config.hidden_size)
        self.post_init()

    def get_input_embeddings(self):
        return self.tok_embeddings


class InternLm(Causal):
    config_class, base_model_prefix = InternLmConfig, "model"
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.model = Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()


class InternLm2(Causal):
    config_class, base_model_prefix = InternLm2Config, "model"
    _tied_weights_keys = {"output.weight": "model.tok_embeddings.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.model = Model2(config)
        self.output = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.output
