import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term[: d_model // 2])
        self.register_buffer("pe", pe)

    def forward(self, x):
        # x: (seq, batch, dim)
        return x + self.pe[: x.size(0)]


class Model(nn.Module):
    """BERT embeddings: word (padding_idx) + learned position (RoBERTa cumsum ids) + type + sinusoidal, then LN."""

    def __init__(self, vocab, hidden, max_len, types, pad_id=1):
        super().__init__()
        self.pad_id = pad_id
        self.word_embeddings = nn.Embedding(vocab, hidden, padding_idx=pad_id)
        self.position_embeddings = nn.Embedding(max_len + pad_id + 1, hidden, padding_idx=pad_id)
        self.token_type_embeddings = nn.Embedding(types, hidden)
        self.sin = PositionalEncoding(hidden, max_len)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)
        self.scale = math.sqrt(hidden)

    def forward(self, input_ids, token_type_ids):
        mask = input_ids.ne(self.pad_id).int()
        position_ids = (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + self.pad_id
        e = self.word_embeddings(input_ids) * self.scale
        e = e + self.position_embeddings(position_ids) + self.token_type_embeddings(token_type_ids)
        e = self.sin(e.transpose(0, 1)).transpose(0, 1)
        e = self.LayerNorm(e)
        e = e * mask.unsqueeze(-1).type_as(e)
        extended = (1.0 - mask[:, None, None, :].to(e.dtype)) * -10000.0
        pooled = e.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return e, extended, pooled


BATCH = 64
SEQ_LEN = 512
VOCAB = 30522
HIDDEN = 768
TYPES = 2


def get_inputs():
    input_ids = torch.randint(0, VOCAB, (BATCH, SEQ_LEN))
    input_ids = input_ids.masked_fill(torch.rand(BATCH, SEQ_LEN) < 0.15, 1)
    token_type_ids = torch.randint(0, TYPES, (BATCH, SEQ_LEN))
    return [input_ids, token_type_ids]


def get_init_inputs():
    return [VOCAB, HIDDEN, SEQ_LEN, TYPES]
