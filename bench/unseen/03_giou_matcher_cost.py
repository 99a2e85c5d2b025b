import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def box_cxcywh_to_xyxy(x):
    x_c, y_c, w, h = x.unbind(-1)
    b = [(x_c - 0.5 * w), (y_c - 0.5 * h), (x_c + 0.5 * w), (y_c + 0.5 * h)]
    return torch.stack(b, dim=-1)


def box_area(boxes):
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def box_iou(boxes1, boxes2):
    area1 = box_area(boxes1)
    area2 = box_area(boxes2)
    lt = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    union = area1[:, None] + area2 - inter
    return inter / union, union


def generalized_box_iou(boxes1, boxes2):
    iou, union = box_iou(boxes1, boxes2)
    lt = torch.min(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.max(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    area = wh[:, :, 0] * wh[:, :, 1]
    return iou - (area - union) / area


class Model(nn.Module):
    """Hungarian matcher cost matrix of Deformable DETR plus a greedy one-to-many assignment (top-k per target)."""

    def __init__(self, cost_class=2.0, cost_bbox=5.0, cost_giou=2.0, alpha=0.25, gamma=2.0, topk=6):
        super().__init__()
        self.cost_class = cost_class
        self.cost_bbox = cost_bbox
        self.cost_giou = cost_giou
        self.alpha = alpha
        self.gamma = gamma
        self.topk = topk

    def forward(self, pred_logits, pred_boxes, tgt_ids, tgt_boxes):
        bs, num_queries = pred_logits.shape[:2]
        out_prob = pred_logits.flatten(0, 1).sigmoid()
        out_bbox = pred_boxes.flatten(0, 1)

        neg_cost_class = (1 - self.alpha) * (out_prob ** self.gamma) * (-(1 - out_prob + 1e-8).log())
        pos_cost_class = self.alpha * ((1 - out_prob) ** self.gamma) * (-(out_prob + 1e-8).log())
        cost_class = pos_cost_class[:, tgt_ids] - neg_cost_class[:, tgt_ids]
        cost_bbox = torch.cdist(out_bbox, tgt_boxes, p=1)
        giou = generalized_box_iou(box_cxcywh_to_xyxy(out_bbox), box_cxcywh_to_xyxy(tgt_boxes))
        C = self.cost_bbox * cost_bbox + self.cost_class * cost_class - self.cost_giou * giou
        C = C.view(bs, num_queries, -1)

        # targets of each image occupy a contiguous slice
        per_img = tgt_ids.numel() // bs
        diag = torch.stack([c[i] for i, c in enumerate(C.split(per_img, -1))])
        topk_cost, topk_idx = torch.topk(diag, self.topk, dim=1, largest=False)
        matching = torch.zeros_like(diag).scatter_(1, topk_idx, 1.0)
        # a query claimed by more than one target keeps only the cheapest
        multi = matching.sum(-1) > 1
        cheapest = F.one_hot(diag.argmin(-1), per_img).to(diag.dtype)
        matching = torch.where(multi.unsqueeze(-1), cheapest, matching)
        fg_mask = matching.sum(-1) > 0
        matched_gt = matching.argmax(-1)
        giou_b = torch.stack([g[i] for i, g in enumerate(giou.view(bs, num_queries, -1).split(per_img, -1))])
        matched_giou = giou_b.gather(2, matched_gt.unsqueeze(-1)).squeeze(-1)
        matched_giou = matched_giou * fg_mask
        loss_giou = ((1 - matched_giou) * fg_mask).sum() / fg_mask.sum().clamp(min=1)
        return C, matched_gt.masked_fill(~fg_mask, -1), topk_cost, loss_giou


def get_inputs():
    bs, q, classes, per = 8, 900, 91, 32
    boxes = torch.cat([torch.rand(bs, q, 2) * 0.8 + 0.1, torch.rand(bs, q, 2) * 0.4 + 0.02], -1)
    tgt = torch.cat([torch.rand(bs * per, 2) * 0.8 + 0.1, torch.rand(bs * per, 2) * 0.4 + 0.02], -1)
    return [torch.randn(bs, q, classes) - 2, boxes, torch.randint(0, classes, (bs * per,)), tgt]


def get_init_inputs():
    return []
