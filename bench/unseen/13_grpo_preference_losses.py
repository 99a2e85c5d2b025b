import torch
import torch.nn as nn
import torch.nn.functional as F


def selective_log_softmax(logits, index):
    """log_softmax then gather, row by row to save memory, as TRL does for half precision"""
    per_token_logps = []
    for row_logits, row_labels in zip(logits, index):
        row_logps = F.log_softmax(row_logits, dim=-1)
        row_per_token = row_logps.gather(dim=-1, index=row_labels.unsqueeze(-1)).squeeze(-1)
        per_token_logps.append(row_per_token)
    return torch.stack(per_token_logps)


def entropy_from_logits(logits):
    pd = F.softmax(logits, dim=-1)
    return torch.logsumexp(logits, dim=-1) - torch.sum(pd * logits, dim=-1)


def masked_mean(values, mask, axis=None):
    if axis is not None:
        return (values * mask).sum(axis=axis) / mask.sum(axis=axis)
    return (values * mask).sum() / mask.sum()


class Model(nn.Module):
    def __init__(self, num_generations, beta, eps_low, eps_high, dpo_beta, simpo_gamma):
        super().__init__()
        self.num_generations = num_generations
        self.beta, self.eps_low, self.eps_high = beta, eps_low, eps_high
        self.dpo_beta, self.simpo_gamma = dpo_beta, simpo_gamma

    def grpo(self, logps, ref_logps, old_logps, rewards, mask):
        mean_grouped = rewards.view(-1, self.num_generations).mean(dim=1)
        std_grouped = rewards.view(-1, self.num_generations).std(dim=1)
        mean_grouped = mean_grouped.repeat_interleave(self.num_generations, dim=0)
        std_grouped = std_grouped.repeat_interleave(self.num_generations, dim=0)
        advantages = (rewards - mean_grouped) / (std_grouped + 1e-4)
        per_token_kl = torch.exp(ref_logps - logps) - (ref_logps - logps) - 1
        coef_1 = torch.exp(logps - old_logps)
        coef_2 = torch.clamp(coef_1, 1 - self.eps_low, 1 + self.eps_high)
        loss1 = coef_1 * advantages.unsqueeze(1)
        loss2 = coef_2 * advantages.unsqueeze(1)
        per_token_loss = -torch.min(loss1, loss2) + self.beta * per_token_kl
        loss = ((per_token_loss * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)).mean()
        is_clipped = ((coef_1 < 1 - self.eps_low) & (advantages.unsqueeze(1) < 0)) | (
            (coef_1 > 1 + self.eps_high) & (advantages.unsqueeze(1) > 0))
        return loss, masked_mean(is_clipped.float(), mask), masked_mean(per_token_kl, mask)

    def preference(self, logps, ref_logps, mask):
        seq, ref_seq = (logps * mask).sum(-1), (ref_logps * mask).sum(-1)
        chosen, rejected = seq.chunk(2)
        ref_chosen, ref_rejected = ref_seq.chunk(2)
        logits = (chosen - rejected) - (ref_chosen - ref_rejected)
        dpo = -F.logsigmoid(self.dpo_beta * logits)
        length = mask.sum(-1)
        c, r = (seq / length).chunk(2)
        simpo = -F.logsigmoid(2.0 * (c - r) - self.simpo_gamma)
        ipo = (logits - 1 / (2 * self.dpo_beta)) ** 2
        acc = (chosen - ref_chosen > rejected - ref_rejected).float()
        return dpo.mean() + 0.1 * simpo.mean(), ipo.mean(), acc.mean()

    def forward(self, logits, ref_logits, input_ids, old_logps, rewards, completion_mask):
        logits, labels = logits[:, :-1], input_ids[:, 1:]
        mask = completion_mask[:, 1:].float()
        labels = labels.masked_fill(mask == 0, 0)
        logps = selective_log_softmax(logits, labels).float()
        ref_logps = selective_log_softmax(ref_logits[:, :-1], labels).float()
        ent = masked_mean(entropy_from_logits(logits.float()), mask)
        g = self.grpo(logps, ref_logps, old_logps[:, 1:], rewards, mask)
        p = self.preference(logps, ref_logps, mask)
        return (g[0] + p[0], *g[1:], *p[1:], ent, logps)


def get_inputs():
    N, T, V = 8, 256, 8192
    ref = torch.randn(N, T, V) * 2
    mask = torch.ones(N, T)
    mask[:, :64] = 0
    mask[2, 200:] = 0
    ids = torch.randint(0, V, (N, T))
    old = torch.zeros(N, T)
    old[:, 1:] = F.log_softmax(ref[:, :-1], -1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    return [
        (ref + 0.1 * torch.randn(N, T, V)).bfloat16(),
        ref.bfloat16(),
        ids,
        old,
        torch.randn(N),
        mask,
    ]


def get_init_inputs():
    return [4, 0.04, 0.2, 0.28, 0.1, 1.4]
