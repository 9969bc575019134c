"""A module whose later layers run several times: each time what the first layers gave is added anew."""

import torch
from torch import nn
from torch.nn import functional as F

config = {"vocabulary": 8000, "width": 512, "heads": 8, "depth": 6, "first": 2, "passes": 3}


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.attention, self.output = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        heads = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.attention(self.attention_norm(x)).split(width, dim=2))
        attended = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.output(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Looped(nn.Module):
    def __init__(self, vocabulary, width, heads, depth, first, passes):
        super().__init__()
        self.first, self.passes = first, passes
        self.table = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.table(ids)
        for layer in self.layers[: self.first]:
            x = layer(x)
        begun = x
        for _ in range(self.passes):
            x = x + begun
            for layer in self.layers[self.first :]:
                x = layer(x)
        return self.head(self.norm(x))


def build(config):
    return Looped(**config), torch.zeros(2, 512, dtype=torch.long)
