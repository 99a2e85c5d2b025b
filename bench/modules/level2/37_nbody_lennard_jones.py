import torch
import torch.nn as nn

SYSTEMS = 8
ATOMS = 1024
BOX = 12.0
CUTOFF = 2.5
DT = 0.001


class Model(nn.Module):
    """Velocity-Verlet half kick with gravity and truncated-shifted Lennard-Jones under periodic boundaries."""

    def __init__(self, box, cutoff, dt, softening=0.05):
        super().__init__()
        self.box = box
        self.rc2 = cutoff * cutoff
        inv6 = 1.0 / cutoff ** 6
        self.shift = 4.0 * (inv6 * inv6 - inv6)
        self.dt = dt
        self.soft2 = softening ** 2

    def forward(self, pos, vel, mass):
        n = pos.shape[1]
        wrapped = torch.remainder(pos, self.box)
        rij = wrapped[:, :, None, :] - wrapped[:, None, :, :]
        rij = rij - self.box * torch.round(rij / self.box)
        r2 = rij.pow(2).sum(-1)
        eye = torch.eye(n, dtype=torch.bool, device=pos.device)

        r2_lj = r2.masked_fill(eye, float("inf")).clamp(min=0.7)
        inv6 = r2_lj.reciprocal() ** 3
        within = r2_lj < self.rc2
        pair = torch.where(within, 4.0 * (inv6 * inv6 - inv6) - self.shift, torch.zeros_like(inv6))
        fmag = torch.where(within, 24.0 * (2.0 * inv6 * inv6 - inv6) / r2_lj, torch.zeros_like(inv6))
        lj_force = (fmag.unsqueeze(-1) * rij).sum(dim=2)
        potential = 0.5 * pair.sum(dim=(1, 2))

        inv_r3 = torch.rsqrt(r2 + self.soft2) ** 3
        inv_r3 = inv_r3.masked_fill(eye, 0.0)
        acc_g = -torch.einsum("bij,bijk->bik", inv_r3 * mass[:, None, :], rij)

        acc = lj_force / mass.unsqueeze(-1) + acc_g
        new_vel = vel + self.dt * acc
        new_pos = torch.remainder(wrapped + self.dt * new_vel, self.box)
        kinetic = 0.5 * (mass.unsqueeze(-1) * new_vel ** 2).sum(dim=(1, 2))
        return {"pos": new_pos, "vel": new_vel, "potential": potential, "kinetic": kinetic}


def get_inputs():
    return [
        BOX * torch.rand(SYSTEMS, ATOMS, 3),
        torch.randn(SYSTEMS, ATOMS, 3),
        0.5 + torch.rand(SYSTEMS, ATOMS),
    ]


def get_init_inputs():
    return [BOX, CUTOFF, DT]
