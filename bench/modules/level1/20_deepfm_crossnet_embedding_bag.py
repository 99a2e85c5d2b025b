import torch
import torch.nn as nn
import torch.nn.functional as F


class FeaturesEmbedding(nn.Module):
    def __init__(self, field_dims, embed_dim):
        super().__init__()
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        offsets = torch.tensor((0, *field_dims[:-1])).cumsum(0)
        self.register_buffer("offsets", offsets)
        nn.init.normal_(self.embedding.weight, std=0.3)

    def forward(self, x):
        return self.embedding(x + self.offsets.unsqueeze(0))


class FactorizationMachine(nn.Module):
    def __init__(self, reduce_sum=True):
        super().__init__()
        self.reduce_sum = reduce_sum

    def forward(self, x):
        square_of_sum = torch.sum(x, dim=1) ** 2
        sum_of_square = torch.sum(x ** 2, dim=1)
        ix = square_of_sum - sum_of_square
        if self.reduce_sum:
            ix = torch.sum(ix, dim=1, keepdim=True)
        return 0.5 * ix


class CrossNetwork(nn.Module):
    def __init__(self, input_dim, num_layers):
        super().__init__()
        self.num_layers = num_layers
        self.w = nn.ModuleList([nn.Linear(input_dim, 1, bias=False) for _ in range(num_layers)])
        self.b = nn.ParameterList([nn.Parameter(torch.zeros(input_dim)) for _ in range(num_layers)])

    def forward(self, x):
        x0 = x
        for i in range(self.num_layers):
            xw = self.w[i](x)
            x = x0 * xw + self.b[i] + x
        return x


class Model(nn.Module):
    """DeepFM + DCN with a weighted EmbeddingBag over the user's click history."""

    def __init__(self, fields, field_vocab, emb_dim, hist_vocab, hidden):
        super().__init__()
        dims = [field_vocab] * fields
        self.emb = FeaturesEmbedding(dims, emb_dim)
        self.lin = FeaturesEmbedding(dims, 1)
        self.bias = nn.Parameter(torch.zeros((1,)))
        self.hist = nn.EmbeddingBag(hist_vocab, emb_dim, mode="sum")
        self.fm = FactorizationMachine()
        d = (fields + 1) * emb_dim
        self.cross = CrossNetwork(d, 3)
        self.mlp = nn.Sequential(
            nn.Linear(d, hidden), nn.ReLU(), nn.Dropout(p=0.0),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(p=0.0),
        )
        self.out = nn.Linear(hidden + d, 1)

    def forward(self, x, history, hist_weights):
        e = self.emb(x)
        h = self.hist(history, per_sample_weights=hist_weights)
        e = torch.cat([e, h.unsqueeze(1)], dim=1)
        flat = e.flatten(1)
        deep = self.out(torch.cat([self.mlp(flat), self.cross(flat)], dim=-1))
        first = self.lin(x).sum(dim=1) + self.bias
        logit = first + self.fm(e) + deep
        return torch.sigmoid(logit.squeeze(1)), logit


BATCH = 65536
FIELDS = 26
FIELD_VOCAB = 20000
EMB_DIM = 16
HIST_LEN = 20
HIST_VOCAB = 100000
HIDDEN = 400


def get_inputs():
    x = torch.randint(0, FIELD_VOCAB, (BATCH, FIELDS), dtype=torch.long)
    history = torch.randint(0, HIST_VOCAB, (BATCH, HIST_LEN), dtype=torch.long)
    w = torch.rand(BATCH, HIST_LEN)
    return [x, history, w / w.sum(dim=1, keepdim=True)]


def get_init_inputs():
    return [FIELDS, FIELD_VOCAB, EMB_DIM, HIST_VOCAB, HIDDEN]
