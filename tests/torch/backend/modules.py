"""40 kinds of real modules with random weights: small ones, which states.py and training.py compile, and, after sizes("real"), one layer or
block of each at the sizes of published models, which bench/backend compiles.

A constructor returns the module and a function from a batch size to the arguments of a call, all
keyword arguments. Modules come from transformers, torchvision and torch_geometric; where a library
is absent, a graph network or a block of a diffusion model is plain PyTorch (plain_modules.py), and
the others raise ImportError, which counts as skipped.
"""

import dataclasses
import functools
import importlib

import torch
import torch.nn as nn

import plain_modules as plain

MODULES = {}
SAMPLE = {}  # beside the 40: what a short test compiles; always small
REAL_BATCH = 8

_real = False


def sizes(name):
    """Which sizes made() gives from now on: "small" or "real"."""
    global _real
    _real = {"small": False, "real": True}[name]


def sized(small, real):
    return real if _real else small


@dataclasses.dataclass
class Entry:
    make: object
    trains: bool = True      # False: only its evaluation is compared
    library: str = ""        # empty: plain PyTorch
    batches: tuple = (2, 3)  # the usual one, and another


def entry(**keywords):
    def keep(make):
        MODULES[make.__name__] = Entry(make, **keywords)
        return make

    return keep


def floats(*shape):
    return torch.randn(*shape)


def tokens(*shape):
    return torch.randint(3, sized(90, 30000), shape)


def images(channels, size, name="x"):
    return lambda batch: {name: floats(batch, channels, size, size)}


def transformers_model(name, embeds=True, sequence=None, inputs=None, pick=lambda model: model, settings=None, dtype=None, more=None):
    """A transformers model of one layer by its configuration's name."""
    library, sequence = importlib.import_module("transformers"), sequence or sized(12, 128)
    small = {"vocab_size": 99, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 64}
    real = {"vocab_size": 99 if embeds and not inputs else 50265, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
            "max_position_embeddings": 514}
    sizes = {"num_hidden_layers": 1, **sized(small, real), **(settings or {})}
    model = pick(getattr(library, name + "Model")(getattr(library, name + "Config")(**sizes)))
    if dtype:
        model = model.to(dtype)
    fixed = more or {}

    def usual(batch):
        if embeds:
            return {"inputs_embeds": floats(batch, sequence, sizes["hidden_size"]).to(dtype or torch.float32), **fixed}
        return {"input_ids": tokens(batch, sequence), **fixed}

    return model, inputs or usual


def decoder(width, heads, key_heads, head_dim, wide, **more):
    """Settings of a decoder layer; the small one has the same everywhere."""
    real = {"hidden_size": width, "num_attention_heads": heads, "num_key_value_heads": key_heads, "head_dim": head_dim, "intermediate_size": wide}
    return {"pad_token_id": 0, **sized({"num_key_value_heads": 2, "head_dim": 8}, real), **more}


@entry(library="transformers")
def bert_layer():
    return transformers_model("Bert", embeds=False)


@entry(library="transformers")
def roberta_padded():
    def inputs(batch):
        length, padded = sized((12, 7), (128, 80))
        ids, mask = tokens(batch, length), torch.ones(batch, length, dtype=torch.long)
        mask[1:, padded:] = 0
        return {"input_ids": torch.where(mask.bool(), ids, 1), "attention_mask": mask}

    return transformers_model("Roberta", inputs=inputs)


@entry(library="transformers")
def distilbert_block():
    width, wide, heads = sized((32, 48, 4), (768, 3072, 12))
    return transformers_model("DistilBert", settings={"dim": width, "hidden_dim": wide, "n_layers": 1, "n_heads": heads})


@entry(library="transformers")
def gpt2_block():
    width, heads = sized((32, 4), (768, 12))
    return transformers_model("GPT2", settings={"n_embd": width, "n_layer": 1, "n_head": heads}, more={"use_cache": False})


@entry(library="transformers")
def llama_prefill_bfloat16():
    settings = decoder(2048, 32, 8, 64, 8192)  # Llama 3.2 1B
    return transformers_model("Llama", sequence=sized(12, 256), settings=settings, dtype=torch.bfloat16, more={"use_cache": False})


@entry()
def llama_decode_static_cache():
    length, dim, heads, wide, position = sized((8, 32, 4, 48, 3), (512, 1024, 16, 2816, 300))
    return plain.CachedDecoder(length, dim, heads, wide), lambda batch: {"x": floats(batch, 1, dim), "position": torch.tensor([position])}


@entry(library="transformers")
def qwen3_layer():
    settings = decoder(1024, 16, 8, 128, 3072)  # Qwen3 0.6B
    return transformers_model("Qwen3", sequence=sized(12, 256), settings=settings, more={"use_cache": False})


@entry(library="transformers")
def mistral_sliding_window():
    settings = decoder(1024, 16, 4, 64, 3584, sliding_window=sized(4, 128))
    return transformers_model("Mistral", sequence=sized(12, 512), settings=settings, more={"use_cache": False})


@entry(library="transformers")
def mixtral_experts():
    settings = decoder(1024, 16, 4, 64, 3584, num_local_experts=sized(4, 8), experts_implementation="eager")
    return transformers_model("Mixtral", settings=settings, more={"use_cache": False})


@entry(library="transformers")
def gemma2_soft_cap():
    settings = decoder(2304, 8, 4, 256, 9216, attn_logit_softcapping=sized(5.0, 50.0))  # Gemma 2 2B
    return transformers_model("Gemma2", sequence=sized(12, 256), settings=settings, more={"use_cache": False})


@entry(library="transformers")
def t5_block():
    def inputs(batch):
        width, one, other = sized((32, 10, 6), (768, 128, 128))
        return {"inputs_embeds": floats(batch, one, width), "decoder_inputs_embeds": floats(batch, other, width), "use_cache": False}

    settings = sized({"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4}, {"d_model": 768, "d_kv": 64, "d_ff": 3072, "num_heads": 12})
    return transformers_model("T5", inputs=inputs, settings={"num_layers": 1, **settings})


def encoder_decoder():
    width, heads, wide = sized((32, 4, 48), (768, 12, 3072))
    return {"d_model": width, "decoder_layers": 1, "encoder_layers": 1, "decoder_attention_heads": heads, "encoder_attention_heads": heads,
            "decoder_ffn_dim": wide, "encoder_ffn_dim": wide}


@entry(library="transformers")
def bart_decoder_layer():
    def inputs(batch):
        width, own, other = sized((32, 6, 10), (768, 128, 128))
        return {"inputs_embeds": floats(batch, own, width), "encoder_hidden_states": floats(batch, other, width), "use_cache": False}

    return transformers_model("Bart", inputs=inputs, settings=encoder_decoder(), pick=lambda model: model.decoder)


@entry(library="transformers")
def whisper_encoder():
    bins, positions = sized((16, 20), (80, 1500))
    settings = {**encoder_decoder(), "num_mel_bins": bins, "max_source_positions": positions, "pad_token_id": 0, "bos_token_id": 1,
                "eos_token_id": 2, "decoder_start_token_id": 1}
    return transformers_model("Whisper", inputs=lambda batch: {"input_features": floats(batch, bins, 2 * positions)}, settings=settings,
                              pick=lambda model: model.encoder)


@entry(library="transformers")
def vit_layer():
    size, patch = sized((16, 4), (224, 16))
    settings = {"image_size": size, "patch_size": patch}
    return transformers_model("ViT", inputs=images(3, size, "pixel_values"), settings=settings)


@entry(library="transformers")
def clip_model():
    library = importlib.import_module("transformers")

    def layer(width, heads, wide):
        return {"hidden_size": width, "num_hidden_layers": 1, "num_attention_heads": heads, "intermediate_size": wide}

    text, vision, projection = sized((layer(32, 4, 48), layer(32, 4, 48), 24), (layer(512, 8, 2048), layer(768, 12, 3072), 512))
    words, positions, length, size, patch = sized((99, 16, 8, 16, 4), (49408, 77, 77, 224, 32))
    config = library.CLIPConfig(text_config={**text, "vocab_size": words, "max_position_embeddings": positions, "eos_token_id": 2},
                                vision_config={**vision, "image_size": size, "patch_size": patch}, projection_dim=projection)

    def inputs(batch):
        return {"input_ids": tokens(batch, length), "pixel_values": floats(batch, 3, size, size)}

    return library.CLIPModel(config), inputs


@entry(library="transformers")
def deberta_v2_layer():
    buckets, positions = sized((8, 16), (256, 512))
    settings = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": buckets, "max_relative_positions": positions,
                "norm_rel_ebd": "layer_norm"}
    return transformers_model("DebertaV2", settings=settings)


@entry(library="transformers")
def wav2vec2_features():
    small = {"conv_dim": (16, 16), "conv_stride": (4, 2), "conv_kernel": (8, 4), "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8,
             "num_conv_pos_embedding_groups": 4}
    settings = {**sized(small, {}), "apply_spec_augment": False, "layerdrop": 0.0}  # the real one's are the library's own
    return transformers_model("Wav2Vec2", inputs=lambda batch: {"input_values": floats(batch, sized(200, 16000))}, settings=settings)


@entry(library="transformers")
def mamba_mixer():
    # The graph unrolls the sequence: a long one compiles for minutes.
    settings = {"state_size": sized(4, 16), "expand": 2, "conv_kernel": 4}
    return transformers_model("Mamba", sequence=sized(6, 64), settings=settings, more={"use_cache": False})


@entry(library="transformers")
def segformer_layer():
    settings = {"num_encoder_blocks": 2, "depths": [1, 1], "patch_sizes": [7, 3], "strides": [4, 2]}
    settings |= sized({"sr_ratios": [2, 1], "hidden_sizes": [16, 32], "num_attention_heads": [2, 4], "mlp_ratios": [2, 2]},
                      {"sr_ratios": [8, 4], "hidden_sizes": [64, 128], "num_attention_heads": [1, 2], "mlp_ratios": [4, 4]})
    size = sized(32, 224)
    return transformers_model("Segformer", inputs=images(3, size, "pixel_values"), settings=settings)


def vision(name):
    return importlib.import_module("torchvision." + name)


@entry(library="torchvision")
def resnet50():
    return vision("models").resnet50(num_classes=sized(10, 1000)), images(3, sized(32, 224))


@entry(library="torchvision")
def convnext_block():
    width, size = sized((16, 10), (96, 56))
    return vision("models.convnext").CNBlock(width, layer_scale=0.5, stochastic_depth_prob=0.0), images(width, size, "input")


@entry(library="torchvision")
def efficientnet_mbconv():
    found = vision("models.efficientnet")
    expansion, kernel, width, size = sized((4, 3, 16, 10), (6, 5, 40, 28))
    config = found.MBConvConfig(expansion, kernel, 1, width, width, 1)
    return found.MBConv(config, stochastic_depth_prob=0.2, norm_layer=nn.BatchNorm2d), images(width, size, "input")


@entry(library="torchvision")
def mobilenet_v3():
    return vision("models").mobilenet_v3_small(num_classes=sized(10, 1000)), images(3, sized(32, 224))


@entry(library="torchvision")
def swin_block():
    found = vision("models.swin_transformer")
    width, heads, window, size = sized((16, 4, 4, 8), (96, 3, 7, 56))
    model = found.SwinTransformerBlock(width, heads, window_size=[window, window], shift_size=[window // 2, window // 2])
    return model, lambda batch: {"x": floats(batch, size, size, width)}


@entry(library="torchvision")
def deeplab_head():
    width, classes, rates, size = sized((32, 5, (2, 3, 4), 12), (2048, 21, (12, 24, 36), 28))
    return vision("models.segmentation.deeplabv3").DeepLabHead(width, classes, atrous_rates=rates), images(width, size, "input")


@entry(library="torchvision", trains=False)
def faster_rcnn():
    found = vision("models.detection")
    if _real:
        model = found.fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None, min_size=320, max_size=640)
        return model, lambda batch: {"images": list(torch.rand(batch, 3, 320, 320))}
    backbone = found.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=5, returned_layers=[3, 4])
    anchors = found.anchor_utils.AnchorGenerator(((16,), (32,), (48,)), ((1.0,),) * 3)
    pool = importlib.import_module("torchvision.ops").MultiScaleRoIAlign(featmap_names=["0", "1"], output_size=3, sampling_ratio=2)
    model = found.FasterRCNN(backbone, num_classes=4, min_size=48, max_size=64, rpn_anchor_generator=anchors, box_roi_pool=pool,
                             rpn_pre_nms_top_n_test=40, rpn_post_nms_top_n_test=16, box_detections_per_img=8, box_score_thresh=0.0)
    return model, lambda batch: {"images": [one for one in torch.rand(batch, 3, 48, 48)]}


@entry(library="torchvision")
def r2plus1d():
    found = vision("models.video.resnet")
    depth, classes, frames, size = sized((1, 5, 4, 16), (2, 400, 16, 112))
    model = found.VideoResNet(found.BasicBlock, [found.Conv2Plus1D] * 4, [depth] * 4, found.R2Plus1dStem, num_classes=classes)
    return model, lambda batch: {"x": floats(batch, 3, frames, size, size)}


def graph_network(name, own, **more):
    """torch_geometric's where it is installed, else ours."""
    try:
        library = importlib.import_module("torch_geometric.nn")
    except ImportError:
        return own()
    return getattr(library, name)(**more)


def edges(batch):
    """Nodes and edges of `batch` graphs; each node has edges that come in. The real ones are of one large graph."""
    nodes, count, width = sized((5 * batch, 20 * batch, 16), (10000, 80000, 128))
    return {"x": floats(nodes, width), "edge_index": torch.stack([torch.randint(nodes, (count,)), torch.arange(count) % nodes])}


class Named(nn.Module):
    """A graph network under one set of names for its arguments, with what follows it."""

    def __init__(self, inner, pooled=False):
        super().__init__()
        self.inner, self.pooled = inner, pooled and not isinstance(inner, plain.GraphIsomorphism)

    def forward(self, x, edge_index, *more, **others):
        if self.pooled:
            y = self.inner(x, edge_index)
            return y.new_zeros(2, y.shape[1]).index_add(0, others["graph"], y)
        return self.inner(x, edge_index, *more, *others.values())


@entry()
def gcn_conv():
    inside, outside = sized((16, 24), (128, 256))
    own = functools.partial(plain.GraphConvolution, inside, outside)
    return Named(graph_network("GCNConv", own, in_channels=inside, out_channels=outside)), edges


@entry()
def gatv2_conv():
    inside, outside, heads = sized((16, 12, 2), (128, 32, 8))
    own = functools.partial(plain.GraphAttention, inside, outside, heads)
    return Named(graph_network("GATv2Conv", own, in_channels=inside, out_channels=outside, heads=heads)), edges


@entry()
def sage_conv():
    inside, outside = sized((16, 24), (128, 256))
    own = functools.partial(plain.GraphMean, inside, outside)
    return Named(graph_network("SAGEConv", own, in_channels=inside, out_channels=outside)), edges


@entry()
def gin_conv_pooled():
    inside, wide, outside = sized((16, 32, 24), (128, 256, 128))
    network = nn.Sequential(nn.Linear(inside, wide), nn.BatchNorm1d(wide), nn.ReLU(), nn.Linear(wide, outside))
    own = functools.partial(plain.GraphIsomorphism, inside, wide, outside)
    model = Named(graph_network("GINConv", own, nn=network, eps=0.1), pooled=True)
    return model, lambda batch: {**edges(batch), "graph": torch.arange(sized(5 * batch, 10000)) % 2}


@entry()
def schnet_interaction():
    dim, centers = sized((16, 10), (128, 50))

    def inputs(batch):
        return {**edges(batch), "distance": torch.rand(sized(20 * batch, 80000)) * 4}

    try:
        found = importlib.import_module("torch_geometric.nn.models.schnet")
    except ImportError:
        return Named(plain.ContinuousFilter(dim, centers)), inputs
    block = found.InteractionBlock(dim, centers, dim, 5.0)
    return Named(block), lambda batch: {**inputs(batch), "attributes": torch.rand(sized(20 * batch, 80000), centers)}


@entry()
def pna_conv():
    inside, outside = sized((16, 24), (128, 128))
    more = {"in_channels": inside, "out_channels": outside, "aggregators": ["mean", "max", "min", "std"], "scalers": ["identity", "amplification"],
            "deg": torch.tensor([0, 1, 2, 3, 10, 2])}
    return Named(graph_network("PNAConv", functools.partial(plain.PrincipalNeighbours, inside, outside), **more)), edges


@entry()
def unet_resnet_block():
    inside, outside, time, groups, size = sized((16, 24, 20, 4, 8), (320, 640, 1280, 32, 32))
    model = plain.ResnetBlock2D(inside, outside, time, groups)
    return model, lambda batch: {"x": floats(batch, inside, size, size), "time": floats(batch, time)}


@entry()
def basic_transformer_block():
    width, context, heads, wide, length, words = sized((32, 24, 4, 64, 12, 7), (640, 768, 8, 2560, 512, 77))
    model = plain.BasicTransformerBlock(width, context, heads, wide)
    return model, lambda batch: {"x": floats(batch, length, width), "context": floats(batch, words, context)}


@entry()
def autoencoder_decoder_block():
    width, groups, size = sized((16, 4, 6), (512, 32, 32))
    return plain.AutoencoderDecoder(width, groups), images(width, size)


@entry()
def dit_block():
    width, heads, wide, length = sized((32, 4, 64, 12), (768, 12, 3072, 256))
    return plain.DiTBlock(width, heads, wide), lambda batch: {"x": floats(batch, length, width), "condition": floats(batch, width)}


@entry()
def joint_block_lora():
    width, heads, wide, pixels, words = sized((32, 4, 48, 9, 5), (1536, 24, 6144, 256, 154))
    return plain.JointBlock(width, heads, wide), lambda batch: {"image": floats(batch, pixels, width), "text": floats(batch, words, width)}


@entry()
def encoder_and_lstm():
    width, heads, wide, hidden, classes, length = sized((32, 4, 64, 24, 8, 6), (512, 8, 2048, 512, 512, 128))
    return plain.EncoderAndLstm(width, heads, wide, hidden, classes), lambda batch: {"x": floats(batch, length, width)}


@entry()
def conformer_stft():
    width, heads, wide, hop, kernel, classes, length = sized((33, 3, 64, 32, 3, 5, 400), (256, 4, 1024, 160, 31, 128, 40960))
    return plain.Conformer(width, heads, wide, hop, kernel, classes), lambda batch: {"wave": floats(batch, length)}


def perceptron():
    return plain.Perceptron(), lambda batch: {"x": floats(batch, 16)}


def conv_norm():
    return plain.ConvNorm(), images(3, 8)


SAMPLE.update(perceptron=Entry(perceptron), conv_norm=Entry(conv_norm))


def entry_of(name):
    return MODULES.get(name) or SAMPLE[name]


def made(name):
    """@return (module, inputs of a batch size). @raise ImportError where the module's library is not installed"""
    one = entry_of(name)
    if one.library:
        importlib.import_module(one.library)
    torch.manual_seed(sorted([*MODULES, *SAMPLE]).index(name))
    model, inputs = one.make()

    def drawn(batch, seed=1):
        torch.manual_seed(seed)
        return inputs(batch)

    return model, drawn
