"""A mixture as code that comes with weights is often written: PyTorch's own RMSNorm, a loop over the experts that tokens chose, and a loss that
shifts an fp32 copy of the logits."""

import torch
from torch import nn
from torch.nn import functional as F
from transformers import GenerationMixin, PreTrainedModel
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from .configuration_loop_moe import LoopMoeConfig


def rotated(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


def by_operators(module, query, key, value, mask, scaling, dropout=0.0, **others):
    key, value = (x.repeat_interleave(module.num_key_value_groups, dim=1) for x in (key, value))
    scores = query @ key.transpose(2, 3) * scaling
    if mask is not None:
        scores = scores + mask
    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    return (weights @ value).transpose(1, 2).contiguous(), weights


class LoopMoeAttention(nn.Module):
    is_causal = True

    def __init__(self, config, layer):
        super().__init__()
        self.config, self.head_dim, self.scaling = config, config.head_dim, config.head_dim**-0.5
        self.num_key_value_groups = config.num_attention_heads // config.num_key_value_heads
        self.sliding_window = config.sliding_window if config.layer_types[layer] == "sliding_attention" else None
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * config.head_dim, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * config.head_dim, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * config.head_dim, bias=False)
        self.o_proj = nn.Linear(config.num_attention_heads * config.head_dim, config.hidden_size, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(config.head_dim), nn.RMSNorm(config.head_dim)

    def forward(self, x, cos, sin, mask):
        shape = (*x.shape[:2], -1, self.head_dim)
        query = rotated(self.q_norm(self.q_proj(x).view(shape)).transpose(1, 2), cos, sin)
        key = rotated(self.k_norm(self.k_proj(x).view(shape)).transpose(1, 2), cos, sin)
        value = self.v_proj(x).view(shape).transpose(1, 2)
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, by_operators)
        out, _ = attend(self, query, key, value, mask, dropout=0.0, scaling=self.scaling, sliding_window=self.sliding_window)
        return self.o_proj(out.reshape(*x.shape[:2], -1))


class LoopMoeMLP(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.gate_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.up_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LoopMoeExperts(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.per_token = config.num_experts_per_tok
        self.gate = nn.Linear(config.hidden_size, config.num_experts, bias=False)
        self.experts = nn.ModuleList([LoopMoeMLP(config.hidden_size, config.moe_intermediate_size) for _ in range(config.num_experts)])

    def forward(self, hidden_states):
        batch, length, width = hidden_states.shape
        x = hidden_states.view(-1, width)
        weights, chosen = F.softmax(self.gate(x), dim=-1, dtype=torch.float32).topk(self.per_token, dim=-1)
        weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
        out = torch.zeros_like(x)
        mask = F.one_hot(chosen, num_classes=len(self.experts)).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            place, token = torch.where(mask[number])
            out.index_add_(0, token, (expert(x[token]) * weights[token, place, None]).to(x.dtype))
        return out.view(batch, length, width)


class LoopMoeLayer(GradientCheckpointingLayer):
    def __init__(self, config, layer):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = nn.RMSNorm(config.hidden_size), nn.RMSNorm(config.hidden_size)
        self.self_attn = LoopMoeAttention(config, layer)
        is_dense = config.mlp_layer_types[layer] == "dense"
        self.mlp = LoopMoeMLP(config.hidden_size, config.intermediate_size) if is_dense else LoopMoeExperts(config)

    def forward(self, x, cos=None, sin=None, mask=None):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
        return (x + self.mlp(self.post_attention_layernorm(x)),)


class LoopMoePreTrainedModel(PreTrainedModel):
    config_class = LoopMoeConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _supports_sdpa = True


class LoopMoeModel(LoopMoePreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([LoopMoeLayer(config, layer) for layer in range(config.num_hidden_layers)])
        self.norm = nn.RMSNorm(config.hidden_size)
        self.register_buffer("inv_freq", torch.ones(config.head_dim // 2), persistent=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed_tokens

    def forward(self, input_ids=None, attention_mask=None, **others):
        x = self.embed_tokens(input_ids)
        positions = torch.arange(x.shape[1], device=x.device)[None]
        given = {"config": self.config, "inputs_embeds": x, "attention_mask": attention_mask, "past_key_values": None, "position_ids": positions}
        masks = {"full_attention": create_causal_mask(**given), "sliding_attention": create_sliding_window_causal_mask(**given)}
        angles = positions[..., None].float() * self.inv_freq.float()
        angles = torch.cat((angles, angles), dim=-1)[:, None]
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for kind, layer in zip(self.config.layer_types, self.layers):
            x = layer(x, cos=cos, sin=sin, mask=masks[kind])[0]
        return BaseModelOutputWithPast(last_hidden_state=self.norm(x))


class LoopMoeForCausalLM(LoopMoePreTrainedModel, GenerationMixin):
    def __init__(self, config):
        super().__init__(config)
        self.model = LoopMoeModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids=None, attention_mask=None, labels=None, **others):
        outputs = self.model(input_ids=input_ids, attention_mask=attention_mask)
        hidden_states = outputs[0]
        logits = self.lm_head(hidden_states)
        logits = logits.float()
        loss = None
        if labels is not None:
            shift_logits = logits[..., :-1, :].contiguous()
            shift_labels = labels[..., 1:].contiguous()
            loss = F.cross_entropy(shift_logits.view(-1, shift_logits.shape[-1]), shift_labels.view(-1))
        return CausalLMOutputWithPast(loss=loss, logits=logits)
