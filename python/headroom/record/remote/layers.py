"""Parts that these decoders have in common, and what transformers asks of a model."""

import math

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.masking_utils import create_causal_mask
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS


class Norm(nn.Module):
    """RMSNorm whose product is rounded before its weight multiplies it, as Llama's."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class LateNorm(Norm):
    """The same, which multiplies what it was given and not the fp32 copy of it."""

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-6)).to(x.dtype)


def halves_turned(x):
    """The second half of each head, its sign changed, before the first."""
    one, other = x.chunk(2, dim=-1)
    return torch.cat((-other, one), dim=-1)


def angles(width, positions):
    """Positions times frequencies in fp32, twice over the width: [.., s, width]."""
    frequencies = 1.0 / 10000 ** (torch.arange(0, width, 2, device=positions.device, dtype=torch.float32) / width)
    turned = positions[..., None].float() * frequencies
    return torch.cat((turned, turned), dim=-1)


class KeptTables(nn.Module):
    """Rotary tables in fp32 for as many tokens as the model takes, one pair for each layer, which a forward casts."""

    def __init__(self, width, positions):
        super().__init__()
        self.register_buffer("inv_freq", torch.zeros(width // 2, dtype=torch.float32), persistent=False)
        self.register_buffer("cos_cached", torch.zeros(positions, width, dtype=torch.float32), persistent=False)
        self.register_buffer("sin_cached", torch.zeros(positions, width, dtype=torch.float32), persistent=False)

    def forward(self, query):
        places = torch.arange(query.shape[2], device=query.device)[None]
        return [table[: query.shape[2]].to(query.dtype)[places].unsqueeze(1) for table in (self.cos_cached, self.sin_cached)]


def repeated(tensor, times):
    """Heads that several query heads share, once for each."""
    batch, heads, length, width = tensor.shape
    if times == 1:
        return tensor
    return tensor[:, :, None].expand(batch, heads, times, length, width).reshape(batch, heads * times, length, width)


def scores_in_full(module, query, key, value, mask, scaling, dropout=0.0, **_):
    """Attention without a kernel of its own, as Llama's `eager`."""
    key, value = (repeated(tensor, query.shape[1] // tensor.shape[1]) for tensor in (key, value))
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if mask is not None:
        scores = scores + mask
    scores = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    scores = nn.functional.dropout(scores, p=dropout, training=module.training)
    return torch.matmul(scores, value).transpose(1, 2).contiguous(), None


def attend(module, query, key, value, mask, dropout=0.0, in_full=scores_in_full):
    """[b, heads, s, width] of each -> [b, s, heads * width]; `in_full`: what runs without a kernel."""
    kernel = ALL_ATTENTION_FUNCTIONS.get_interface(module.config._attn_implementation, in_full)
    rate = dropout if module.training else 0.0
    # By which kernels that know no groups repeat keys and values.
    module.num_key_value_groups = query.shape[1] // key.shape[1]
    out, _ = kernel(module, query, key, value, mask, scaling=1 / math.sqrt(query.shape[-1]), dropout=rate)
    return out.reshape(*out.shape[:2], -1).contiguous()


class Part(PreTrainedModel):
    """What transformers asks of a model and of its decoder."""

    _supports_sdpa = _supports_flash_attn = True
    supports_gradient_checkpointing = True
    input_modalities = ("text",)

    def _init_weights(self, module):
        """Weights come from a checkpoint."""


class Decoder(Part):
    """Embeds tokens, runs layers, and norms what the head reads; a class says which of its modules those are."""

    def forward(self, input_ids=None, attention_mask=None, use_cache=None, **_):
        inputs_embeds = self.embed(input_ids)
        # What else a class makes for its mask is held by a name until its forward ends.
        mask, *_made = self.masks(inputs_embeds, attention_mask)
        tables = self.tables(inputs_embeds)
        hidden_states = self.begin(inputs_embeds)
        for layer in self.stack():
            hidden_states = layer(hidden_states, mask, tables)
        return BaseModelOutputWithPast(last_hidden_state=self.end(hidden_states))

    def embed(self, ids):
        return self.get_input_embeddings()(ids)

    def begin(self, embedded):
        return embedded

    def masks(self, embedded, attention_mask):
        return (create_causal_mask(config=self.config, inputs_embeds=embedded, attention_mask=attention_mask, past_key_values=None),)

    def tables(self, embedded):
        """What layers share of rotary positions."""
        return None

    def stack(self):
        return self.layers

    def end(self, hidden):
        return self.norm(hidden)


class Causal(Part):
    """A decoder under `base_model_prefix`, and a head."""

    def forward(self, input_ids=None, attention_mask=None, use_cache=None, **_):
        hidden = getattr(self, self.base_model_prefix)(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return CausalLMOutputWithPast(logits=self.get_output_embeddings()(hidden))

    def get_decoder(self):
        return getattr(self, self.base_model_prefix)

    def get_input_embeddings(self):
        return self.get_decoder().get_input_embeddings()
