import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Anchors(nn.Module):
    def __init__(self, pyramid_levels=(3, 4, 5), ratios=(0.5, 1.0, 2.0), scales=(1.0, 2 ** (1.0 / 3.0), 2 ** (2.0 / 3.0))):
        super().__init__()
        self.pyramid_levels = pyramid_levels
        self.strides = [2 ** x for x in pyramid_levels]
        self.sizes = [2 ** (x + 2) for x in pyramid_levels]
        for i, size in enumerate(self.sizes):
            self.register_buffer(f"base_{i}", self.generate_base(size, ratios, scales), persistent=False)

    @staticmethod
    def generate_base(size, ratios, scales):
        ratios = torch.as_tensor(ratios)
        scales = torch.as_tensor(scales)
        h_ratios = torch.sqrt(ratios)
        w_ratios = 1 / h_ratios
        ws = (w_ratios[:, None] * scales[None, :] * size).view(-1)
        hs = (h_ratios[:, None] * scales[None, :] * size).view(-1)
        return torch.stack([-ws, -hs, ws, hs], dim=1) / 2

    def forward(self, shapes, device):
        out = []
        for i, (h, w) in enumerate(shapes):
            sx = (torch.arange(0, w, device=device, dtype=torch.float32) + 0.5) * self.strides[i]
            sy = (torch.arange(0, h, device=device, dtype=torch.float32) + 0.5) * self.strides[i]
            yy, xx = torch.meshgrid(sy, sx, indexing="ij")
            xx, yy = xx.reshape(-1), yy.reshape(-1)
            shifts = torch.stack((xx, yy, xx, yy), dim=1)
            out.append((shifts.view(-1, 1, 4) + getattr(self, f"base_{i}").view(1, -1, 4)).reshape(-1, 4))
        return torch.cat(out, dim=0)


class Model(nn.Module):
    """RetinaNet post-processing: decode deltas on anchors, clip, class-offset boxes, matrix (soft) NMS."""

    def __init__(self, num_classes, image_size, pre_nms_topk, sigma, kernel, max_det):
        super().__init__()
        self.num_classes = num_classes
        self.image_size = image_size
        self.pre_nms_topk = pre_nms_topk
        self.sigma = sigma
        self.kernel = kernel
        self.max_det = max_det
        self.anchors = Anchors()
        self.register_buffer("weights", torch.tensor([1.0, 1.0, 0.5, 0.5]))
        self.bbox_xform_clip = math.log(1000.0 / 16)

    def decode(self, rel_codes, boxes):
        widths = boxes[..., 2] - boxes[..., 0]
        heights = boxes[..., 3] - boxes[..., 1]
        ctr_x = boxes[..., 0] + 0.5 * widths
        ctr_y = boxes[..., 1] + 0.5 * heights
        rel_codes = rel_codes * self.weights
        dx, dy, dw, dh = rel_codes[..., 0::4], rel_codes[..., 1::4], rel_codes[..., 2::4], rel_codes[..., 3::4]
        dw = torch.clamp(dw, max=self.bbox_xform_clip)
        dh = torch.clamp(dh, max=self.bbox_xform_clip)
        pred_ctr_x = dx * widths[..., None] + ctr_x[..., None]
        pred_ctr_y = dy * heights[..., None] + ctr_y[..., None]
        pred_w = torch.exp(dw) * widths[..., None]
        pred_h = torch.exp(dh) * heights[..., None]
        c_to_c_h = torch.tensor(0.5, dtype=pred_ctr_y.dtype, device=pred_h.device) * pred_h
        c_to_c_w = torch.tensor(0.5, dtype=pred_ctr_x.dtype, device=pred_w.device) * pred_w
        return torch.stack((pred_ctr_x - c_to_c_w, pred_ctr_y - c_to_c_h, pred_ctr_x + c_to_c_w, pred_ctr_y + c_to_c_h), dim=2).flatten(2)

    def forward(self, cls3, cls4, cls5, reg3, reg4, reg5):
        shapes = [tuple(c.shape[-2:]) for c in (cls3, cls4, cls5)]
        N = cls3.shape[0]

        def fold(x, k):
            # (N, A*K, H, W) -> (N, HWA, K)
            n, _, h, w = x.shape
            return x.view(n, -1, k, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, k)

        logits = torch.cat([fold(c, self.num_classes) for c in (cls3, cls4, cls5)], dim=1).float()
        deltas = torch.cat([fold(r, 4) for r in (reg3, reg4, reg5)], dim=1).float()
        anchors = self.anchors(shapes, logits.device)

        scores, labels = logits.max(dim=-1)
        scores, keep = torch.topk(scores, self.pre_nms_topk, dim=1, sorted=True)
        scores = scores.sigmoid()
        labels = labels.gather(1, keep)
        deltas = deltas.gather(1, keep.unsqueeze(-1).expand(-1, -1, 4))
        boxes = self.decode(deltas, anchors[keep])
        H, W = self.image_size
        boxes[..., 0::2].clamp_(min=0, max=W)
        boxes[..., 1::2].clamp_(min=0, max=H)

        # batched by class: translate every class to its own coordinate island
        off = labels.to(boxes) * (boxes.amax(dim=(1, 2), keepdim=True).squeeze(-1) + 1)
        b = boxes + off[..., None]
        area = (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
        lt = torch.maximum(b[:, :, None, :2], b[:, None, :, :2])
        rb = torch.minimum(b[:, :, None, 2:], b[:, None, :, 2:])
        inter = (rb - lt).clamp_(min=0).prod(dim=-1)
        iou = (inter / (area[:, :, None] + area[:, None, :] - inter + 1e-7)).triu_(diagonal=1)

        # matrix NMS: the decay of j by i is compensated by how much i itself was suppressed
        compensate = iou.max(dim=1)[0].unsqueeze(2).expand_as(iou)
        if self.kernel == "gaussian":
            decay = torch.exp(-1 * (iou ** 2) * self.sigma) / torch.exp(-1 * (compensate ** 2) * self.sigma)
        else:
            decay = (1 - iou) / (1 - compensate)
        upper = torch.ones_like(iou, dtype=torch.bool).triu(diagonal=1)
        decay = decay.masked_fill(~upper, 1.0).min(dim=1)[0]
        scores = scores * decay
        scores = torch.where(scores > 0.05, scores, torch.zeros_like(scores))

        scores, order = torch.sort(scores, dim=1, descending=True)
        scores, order = scores[:, : self.max_det], order[:, : self.max_det]
        boxes = boxes.gather(1, order[..., None].expand(N, self.max_det, 4))
        return boxes, scores, labels.gather(1, order)


def get_inputs():
    n, a, k, s = 2, 9, 20, 512
    cls = [torch.randn(n, a * k, s // 2 ** l, s // 2 ** l) - 3 for l in (3, 4, 5)]
    reg = [torch.randn(n, a * 4, s // 2 ** l, s // 2 ** l) * 0.3 for l in (3, 4, 5)]
    return cls + reg


def get_init_inputs():
    return [20, (512, 512), 1000, 2.0, "gaussian", 100]
