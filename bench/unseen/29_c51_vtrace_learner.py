import torch
import torch.nn as nn
import torch.nn.functional as F


class DuelingC51(nn.Module):
    def __init__(self, obs_dim, hidden, n_actions, n_atoms):
        super().__init__()
        self.n_actions, self.n_atoms = n_actions, n_atoms
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, n_atoms)
        self.adv = nn.Linear(hidden, n_actions * n_atoms)
        self.policy = nn.Linear(hidden, n_actions)

    def forward(self, x):
        h = self.body(x)
        v = self.value(h).view(*h.shape[:-1], 1, self.n_atoms)
        a = self.adv(h).view(*h.shape[:-1], self.n_actions, self.n_atoms)
        q = v + a - a.mean(-2, keepdim=True)
        return q, self.policy(h)


def categorical_projection(next_dist, rewards, discounts, support, v_min, v_max):
    """Bellemare et al. 2017: distribute r + gamma*z over the fixed atoms."""
    B, n_atoms = next_dist.shape
    delta_z = (v_max - v_min) / (n_atoms - 1)
    t_z = rewards.unsqueeze(1) + discounts.unsqueeze(1) * support.unsqueeze(0)
    t_z = t_z.clamp(min=v_min, max=v_max)
    b = (t_z - v_min) / delta_z
    l, u = b.floor().long(), b.ceil().long()
    l = torch.where((u > 0) & (l == u), l - 1, l)
    u = torch.where((l < n_atoms - 1) & (l == u), u + 1, u)
    m = next_dist.new_zeros(B, n_atoms)
    offset = torch.linspace(0, ((B - 1) * n_atoms), B, device=m.device).unsqueeze(1).expand(B, n_atoms).long()
    m.view(-1).index_add_(0, (l + offset).view(-1), (next_dist * (u.float() - b)).view(-1))
    m.view(-1).index_add_(0, (u + offset).view(-1), (next_dist * (b - l.float())).view(-1))
    return m


def vtrace(log_rhos, discounts, rewards, values, bootstrap, clip_rho=1.0, clip_pg_rho=1.0):
    rhos = torch.exp(log_rhos)
    clipped_rhos = torch.clamp(rhos, max=clip_rho)
    cs = torch.clamp(rhos, max=1.0)
    values_t_plus_1 = torch.cat([values[1:], torch.unsqueeze(bootstrap, 0)], dim=0)
    deltas = clipped_rhos * (rewards + discounts * values_t_plus_1 - values)
    acc = torch.zeros_like(bootstrap)
    result = []
    for t in range(discounts.shape[0] - 1, -1, -1):
        acc = deltas[t] + discounts[t] * cs[t] * acc
        result.append(acc)
    result.reverse()
    vs_minus_v_xs = torch.stack(result)
    vs = torch.add(vs_minus_v_xs, values)
    vs_t_plus_1 = torch.cat([vs[1:], torch.unsqueeze(bootstrap, 0)], dim=0)
    pg_advantages = torch.clamp(rhos, max=clip_pg_rho) * (rewards + discounts * vs_t_plus_1 - values)
    return vs, pg_advantages


class Model(nn.Module):
    def __init__(self, obs_dim, hidden, n_actions, n_atoms, v_min, v_max, gamma):
        super().__init__()
        self.online = DuelingC51(obs_dim, hidden, n_actions, n_atoms)
        self.target = DuelingC51(obs_dim, hidden, n_actions, n_atoms)
        self.v_min, self.v_max, self.gamma = v_min, v_max, gamma
        self.register_buffer("support", torch.linspace(v_min, v_max, n_atoms))

    def forward(self, obs, actions, rewards, dones, behaviour_logits):
        # obs is (T+1, B, D); the rest are (T, B, ...)
        q_logits, pi_logits = self.online(obs)
        tq_logits, _ = self.target(obs)
        T, B = actions.shape
        q_dist = F.softmax(q_logits, dim=-1)
        q = (q_dist * self.support).sum(-1)
        pi = F.softmax(pi_logits, dim=-1)
        v = (q * pi).sum(-1)
        discounts = self.gamma * (1.0 - dones.float())

        # double-DQN choice, distribution of the target net
        a_star = q[1:].argmax(-1)
        next_dist = F.softmax(tq_logits[1:], dim=-1)
        next_dist = next_dist.gather(2, a_star[..., None, None].expand(-1, -1, 1, next_dist.size(-1))).squeeze(2)
        m = categorical_projection(next_dist.reshape(T * B, -1), rewards.flatten(), discounts.flatten(), self.support, self.v_min, self.v_max)
        log_ps = F.log_softmax(q_logits[:-1], dim=-1)
        log_ps_a = log_ps.reshape(T * B, -1, log_ps.size(-1))[torch.arange(T * B, device=obs.device), actions.reshape(-1)]
        c51_loss = -torch.sum(m * log_ps_a, 1)

        log_pi = F.log_softmax(pi_logits[:-1], dim=-1)
        lp = log_pi.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        mu = -F.nll_loss(F.log_softmax(behaviour_logits, dim=-1).flatten(0, 1), actions.flatten(), reduction="none").view_as(actions)
        vs, adv = vtrace(lp - mu, discounts, rewards, v[:-1], v[-1])
        pg_loss = -(lp * adv).mean()
        entropy = -(log_pi.exp() * log_pi).sum(-1).mean()
        priorities = c51_loss.view(T, B).amax(0) * 0.9 + c51_loss.view(T, B).mean(0) * 0.1
        return c51_loss.mean() + pg_loss - 0.01 * entropy, priorities, vs, m


def get_inputs():
    T, B, D, A = 20, 256, 128, 12
    return [
        torch.randn(T + 1, B, D),
        torch.randint(0, A, (T, B)),
        torch.randn(T, B),
        torch.rand(T, B) < 0.02,
        torch.randn(T, B, A),
    ]


def get_init_inputs():
    return [128, 128, 12, 51, -10.0, 10.0, 0.99]
