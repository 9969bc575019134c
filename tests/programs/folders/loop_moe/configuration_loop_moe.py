from transformers import PretrainedConfig


class LoopMoeConfig(PretrainedConfig):
    model_type = "loop_moe"

    def __init__(
        self,
        vocab_size=32000,
        hidden_size=1024,
        num_hidden_layers=4,
        num_attention_heads=16,
        num_key_value_heads=4,
        head_dim=64,
        intermediate_size=2816,
        moe_intermediate_size=704,
        num_experts=6,
        num_experts_per_tok=2,
        layer_types=None,
        mlp_layer_types=None,
        sliding_window=512,
        max_position_embeddings=4096,
        rope_theta=10000.0,
        **others,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.head_dim = head_dim
        self.intermediate_size = intermediate_size
        self.moe_intermediate_size = moe_intermediate_size
        self.num_experts = num_experts
        self.num_experts_per_tok = num_experts_per_tok
        self.layer_types = layer_types or ["full_attention"] * num_hidden_layers
        self.mlp_layer_types = mlp_layer_types or ["sparse"] * num_hidden_layers
        self.sliding_window = sliding_window
        self.max_position_embeddings = max_position_embeddings
        self.rope_theta = rope_theta
        super().__init__(**others)
