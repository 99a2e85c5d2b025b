import torch
import torch.nn as nn
import torch.nn.functional as F


class BeamSearchScorer:
    """Vectorised version: every hypothesis lives in tensors, no python heaps."""

    def __init__(self, num_beams, eos_id, length_penalty):
        self.K = num_beams
        self.eos = eos_id
        self.alpha = length_penalty

    def lp(self, length):
        # GNMT length penalty
        return ((5.0 + length) / 6.0) ** self.alpha

    def grow_alive(self, log_probs, alive_lp, alive_seq, t):
        B, K, V = log_probs.shape
        cand = log_probs + alive_lp.unsqueeze(-1)
        top_lp, top_idx = torch.topk(cand.view(B, K * V), 2 * K, dim=1)
        beam_id = torch.div(top_idx, V, rounding_mode="floor")
        tok_id = top_idx % V
        seq = torch.gather(alive_seq, 1, beam_id.unsqueeze(-1).expand(-1, -1, alive_seq.size(-1)))
        seq = torch.cat([seq[:, :, :t], tok_id.unsqueeze(-1), seq[:, :, t + 1:]], dim=2)
        return seq, top_lp, tok_id, beam_id

    def split(self, seq, top_lp, tok_id, beam_id, fin_seq, fin_scores, t):
        is_eos = tok_id.eq(self.eos)
        # alive
        alive_cand = top_lp.masked_fill(is_eos, -1e7)
        alive_lp, pick = alive_cand.topk(self.K, dim=1)
        alive_seq = seq.gather(1, pick[..., None].expand(-1, -1, seq.shape[-1]))
        reorder = beam_id.gather(1, pick)
        next_tok = tok_id.gather(1, pick)
        # finished
        scores = (top_lp / self.lp(float(t + 1))).masked_fill(~is_eos, -1e7)
        all_scores = torch.cat([fin_scores, scores], 1)
        all_seq = torch.cat([fin_seq, seq], 1)
        fin_scores, pick = all_scores.topk(self.K, dim=1)
        fin_seq = all_seq.gather(1, pick[..., None].expand(-1, -1, seq.shape[-1]))
        return alive_seq, alive_lp, next_tok, reorder, fin_seq, fin_scores


def reorder_cache(past, beam_idx):
    return tuple(p.index_select(0, beam_idx) for p in past)


class Model(nn.Module):
    def __init__(self, vocab_size, d_model, num_beams, eos_id, pad_id, alpha, step, max_len, no_repeat_ngram):
        super().__init__()
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.final_logits_bias = nn.Parameter(torch.zeros(1, vocab_size))
        self.scorer = BeamSearchScorer(num_beams, eos_id, alpha)
        self.eos_id, self.pad_id = eos_id, pad_id
        self.step, self.max_len = step, max_len
        self.ngram = no_repeat_ngram

    def _block_repeated_bigrams(self, logits, seq):
        """Set to -inf each token that would repeat a bigram that ends with the current last token."""
        t = self.step
        last = seq[:, t - 1:t]
        hit = seq[:, : t - 1] == last
        follow = seq[:, 1:t]
        banned = torch.zeros_like(logits).scatter_add_(1, follow, hit.to(logits.dtype))
        return logits.masked_fill(banned > 0, float("-inf"))

    def forward(self, hidden, alive_seq, alive_lp, fin_seq, fin_scores, past_k, past_v):
        B, K, L = alive_seq.shape
        logits = self.lm_head(hidden) + self.final_logits_bias
        logits[:, self.pad_id] = float("-inf")
        if self.ngram == 2:
            logits = self._block_repeated_bigrams(logits, alive_seq.reshape(B * K, L))
        log_probs = F.log_softmax(logits, dim=-1).view(B, K, -1)
        if self.step + 1 >= self.max_len:
            forced = torch.full_like(log_probs, -1e7)
            forced[..., self.eos_id] = 0.0
            log_probs = forced

        seq, top_lp, tok, beam = self.scorer.grow_alive(log_probs, alive_lp, alive_seq, self.step)
        alive_seq, alive_lp, next_tok, reorder, fin_seq, fin_scores = self.scorer.split(
            seq, top_lp, tok, beam, fin_seq, fin_scores, self.step)
        flat = (reorder + torch.arange(B, device=reorder.device).unsqueeze(1) * K).view(-1)
        past_k, past_v = reorder_cache((past_k, past_v), flat)

        best_alive = alive_lp[:, 0] / self.scorer.lp(float(self.max_len))
        worst_fin = torch.where(fin_scores > -1e6, fin_scores, torch.full_like(fin_scores, -1e7)).min(dim=1).values
        done = (worst_fin > best_alive)
        return alive_seq, alive_lp, next_tok, fin_seq, fin_scores, past_k, past_v, done


B, K, V, D, L, T = 8, 6, 32128, 512, 64, 24
HEADS, HD = 8, 64


def get_inputs():
    seq = torch.zeros(B, K, L, dtype=torch.int64)
    seq[:, :, :T] = torch.randint(2, 200, (B, K, T))
    lp = -torch.rand(B, K).sort(dim=1).values * 8
    fin_seq = torch.zeros(B, K, L, dtype=torch.int64)
    fin_scores = torch.full((B, K), -1e7)
    fin_scores[:, 0] = -torch.rand(B)
    hidden = torch.randn(B * K, D)
    return [hidden, seq, lp, fin_seq, fin_scores, torch.randn(B * K, HEADS, T, HD), torch.randn(B * K, HEADS, T, HD)]


def get_init_inputs():
    return [V, D, K, 1, 0, 0.6, T, L, 2]
