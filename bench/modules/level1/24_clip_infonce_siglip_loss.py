import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """CLIP's symmetric InfoNCE and SigLIP's pairwise sigmoid loss on the same projected features."""

    def __init__(self, img_dim, txt_dim, proj):
        super().__init__()
        self.image_projection = nn.Parameter(torch.randn(img_dim, proj) * img_dim ** -0.5)
        self.text_projection = nn.Linear(txt_dim, proj, bias=False)
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))
        self.siglip_scale = nn.Parameter(torch.tensor(2.3026))
        self.siglip_bias = nn.Parameter(torch.tensor(-10.0))

    def forward(self, image, text):
        image_features = image @ self.image_projection
        text_features = self.text_projection(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = F.normalize(text_features, dim=-1)

        sim = image_features @ text_features.t()
        logits_per_image = self.logit_scale.exp() * sim
        logits_per_text = logits_per_image.t()
        labels = torch.arange(image.shape[0], device=image.device, dtype=torch.long)
        li = F.cross_entropy(logits_per_image, labels, reduction="none")
        lt = F.cross_entropy(logits_per_text, labels, reduction="none")
        clip_loss = (li.mean() + lt.mean()) / 2

        z = sim * self.siglip_scale.exp() + self.siglip_bias
        sign = 2 * torch.eye(image.shape[0], device=image.device, dtype=z.dtype) - torch.ones_like(z)
        siglip_loss = -F.logsigmoid(sign * z).sum() / image.shape[0]
        return clip_loss, siglip_loss, li, lt


BATCH = 4096
IMG_DIM = 1024
TXT_DIM = 768
PROJ = 512


def get_inputs():
    return [torch.randn(BATCH, IMG_DIM), torch.randn(BATCH, TXT_DIM)]


def get_init_inputs():
    return [IMG_DIM, TXT_DIM, PROJ]
