"""What a mixture of experts is taken to be whose class nothing knows: Llama, with a mixture in every layer but those that its file calls
dense, routed as Qwen3's, and experts beside those that every token visits, as DeepSeek's."""

from torch import nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP, LlamaModel
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeExperts, Qwen3MoeMLP, Qwen3MoeTopKRouter

from .layers import Causal

# Under which no model is published.
NAME = "unknown_mixture"


class GuessConfig(LlamaConfig):
    model_type = NAME
    n_routed_experts: int = 8
    num_experts_per_tok: int = 2
    moe_intermediate_size: int = 1408
    n_shared_experts: int = 0
    mlp_layer_types: list[str] | None = None

    def __post_init__(self, **kwargs):
        if self.mlp_layer_types is None:
            self.mlp_layer_types = ["sparse"] * self.num_hidden_layers
        super().__post_init__(**kwargs)

    # Whether weights of a token's experts are made to sum up to one changes no size.
    norm_topk_prob = True

    @property
    def num_experts(self):
        """As Qwen3's modules call them."""
        return self.n_routed_experts


class Mixture(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate, self.experts = Qwen3MoeTopKRouter(config), Qwen3MoeExperts(config)
        if config.n_shared_experts:
            self.shared_experts = Qwen3MoeMLP(config, config.n_shared_experts * config.moe_intermediate_size)

    def forward(self, hidden):
        flat = hidden.view(-1, hidden.shape[-1])
        _, weights, chosen = self.gate(flat)
        routed = self.experts(flat, chosen, weights).view(hidden.shape)
        return routed + self.shared_experts(hidden) if hasattr(self, "shared_experts") else routed


class Model(LlamaModel):
    config_class = GuessConfig
    _can_set_experts_implementation_cached_value = True

    def __init__(self, config):
        super().__init__(config)
        for i, layer in enumerate(self.layers):
            layer.mlp = Mixture(config) if config.mlp_layer_types[i] == "sparse" else LlamaMLP(config)


class Guess(Causal):
    config_class, base_model_prefix = GuessConfig, "model"
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}
    _can_set_experts_implementation_cached_value = True

    def __init__(self, config):
        super().__init__(config)
        self.model = Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()
