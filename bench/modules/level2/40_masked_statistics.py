import torch
import torch.nn as nn

BATCH = 64
SENSORS = 129
TIME = 1000
CHANS = 4


class Model(nn.Module):
    """Sensor quality report: invalid readings from log/sqrt are masked, then many reductions over several axes."""

    def __init__(self, clip=3.0, min_valid=0.6995):
        super().__init__()
        self.clip = clip
        self.min_valid = min_valid

    def forward(self, x, flags):
        # flags pack a two-bit status code and a severity level above it
        status = torch.remainder(flags, 4)
        severity = torch.floor_divide(flags, 4)
        # log of a negative reading is nan, log of zero is -inf: a dropped sample
        raw = torch.log(x + 1.5)
        invalid = torch.isnan(raw) | torch.isinf(raw) | (status == 0)
        clean = torch.nan_to_num(raw, nan=0.0, posinf=10.0, neginf=-10.0).masked_fill(invalid, 0.0)
        valid = (~invalid).to(x.dtype)
        count = valid.sum(dim=(1, 2), keepdim=True).clamp(min=2.0)

        mean = clean.sum(dim=(1, 2), keepdim=True) / count
        centered = torch.where(invalid, torch.zeros_like(clean), clean - mean)
        var = centered.square().sum(dim=(1, 2), keepdim=True) / (count - 1.0)
        z = (centered * torch.rsqrt(var + 1e-6)).clamp(-self.clip, self.clip)
        z = z / (1.0 + severity.to(z.dtype))

        low = valid.mean(dim=2) < self.min_valid

        report = {
            "z": z,
            "std_t": z.std(dim=2, correction=0),
            "var_st": z.var(dim=(1, 2), correction=1),
            "l1": torch.linalg.vector_norm(z, ord=1, dim=2),
            "l2": z.norm(p=2, dim=(1, 3), keepdim=True),
            "l3": torch.linalg.vector_norm(z, ord=3, dim=(1, 2)),
            "linf": torch.linalg.vector_norm(z, ord=float("inf"), dim=(2, 3)),
            "range": z.amax(dim=(1, 3)) - z.amin(dim=(1, 3)),
            "survival": torch.prod(1.0 - 0.1 * torch.sigmoid(z.mean(dim=2)), dim=-1),
            "dropped": torch.count_nonzero(invalid, dim=(1, 2)),
            "any_low": low.any(dim=-1),
            "all_low": low.all(dim=-1),
            "gate": torch.softmax(z.mean(dim=(2, 3)) / 0.05, dim=0),
            "energy": torch.logsumexp(4.0 * z, dim=(1, 2)),
        }
        return report


def get_inputs():
    return [torch.randn(BATCH, SENSORS, TIME, CHANS), torch.randint(0, 16, (BATCH, SENSORS, TIME, CHANS))]


def get_init_inputs():
    return [3.0, 0.6995]
