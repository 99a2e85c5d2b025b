"""40 kinds of real modules, small and with random weights: what states.py and training.py compile.

A constructor returns the module and a function from a batch size to the arguments of a call, all keyword arguments. Modules come from
transformers, torchvision and torch_geometric; where a library is absent, a graph network or a block of a diffusion model is plain PyTorch
(plain_modules.py), and the others raise ImportError, which counts as skipped.
"""

import dataclasses
import importlib

import torch
import torch.nn as nn

import plain_modules as plain

MODULES = {}


SAMPLE = {}  # beside the 40: what a short test compiles


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


def tokens(*shape, high=90):
    return torch.randint(3, high, shape)


def transformers_model(name, embeds=True, sequence=12, inputs=None, pick=lambda model: model, settings=None, dtype=None, more=None):
    """A transformers model of one layer by its configuration's name."""
    library = importlib.import_module("transformers")
    sizes = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48,
             "max_position_embeddings": 64, **(settings or {})}
    model = pick(getattr(library, name + "Model")(getattr(library, name + "Config")(**sizes)))
    if dtype:
        model = model.to(dtype)
    fixed = more or {}

    def usual(batch):
        if embeds:
            return {"inputs_embeds": floats(batch, sequence, sizes["hidden_size"]).to(dtype or torch.float32), **fixed}
        return {"input_ids": tokens(batch, sequence), **fixed}

    return model, inputs or usual


DECODER = {"num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0}


@entry(library="transformers")
def bert_layer():
    return transformers_model("Bert", embeds=False)


@entry(library="transformers")
def roberta_padded():
    def inputs(batch):
        ids, mask = tokens(batch, 12), torch.ones(batch, 12, dtype=torch.long)
        mask[1:, 7:] = 0
        return {"input_ids": torch.where(mask.bool(), ids, 1), "attention_mask": mask}

    return transformers_model("Roberta", inputs=inputs)


@entry(library="transformers")
def distilbert_block():
    return transformers_model("DistilBert", settings={"dim": 32, "hidden_dim": 48, "n_layers": 1, "n_heads": 4})


@entry(library="transformers")
def gpt2_block():
    return transformers_model("GPT2", settings={"n_embd": 32, "n_layer": 1, "n_head": 4}, more={"use_cache": False})


@entry(library="transformers")
def llama_prefill_bfloat16():
    return transformers_model("Llama", settings=DECODER, dtype=torch.bfloat16, more={"use_cache": False})


@entry()
def llama_decode_static_cache():
    return plain.CachedDecoder(), lambda batch: {"x": floats(batch, 1, 32), "position": torch.tensor([3])}


@entry(library="transformers")
def qwen3_layer():
    return transformers_model("Qwen3", settings=DECODER, more={"use_cache": False})


@entry(library="transformers")
def mistral_sliding_window():
    return transformers_model("Mistral", settings={**DECODER, "sliding_window": 4}, more={"use_cache": False})


@entry(library="transformers")
def mixtral_experts():
    return transformers_model("Mixtral", settings={**DECODER, "num_local_experts": 4, "experts_implementation": "eager"}, more={"use_cache": False})


@entry(library="transformers")
def gemma2_soft_cap():
    return transformers_model("Gemma2", settings={**DECODER, "attn_logit_softcapping": 5.0}, more={"use_cache": False})


@entry(library="transformers")
def t5_block():
    def inputs(batch):
        return {"inputs_embeds": floats(batch, 10, 32), "decoder_inputs_embeds": floats(batch, 6, 32), "use_cache": False}

    return transformers_model("T5", inputs=inputs, settings={"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 4})


@entry(library="transformers")
def bart_decoder_layer():
    def inputs(batch):
        return {"inputs_embeds": floats(batch, 6, 32), "encoder_hidden_states": floats(batch, 10, 32), "use_cache": False}

    sizes = {"d_model": 32, "decoder_layers": 1, "encoder_layers": 1, "decoder_attention_heads": 4, "encoder_attention_heads": 4,
             "decoder_ffn_dim": 48, "encoder_ffn_dim": 48}
    return transformers_model("Bart", inputs=inputs, settings=sizes, pick=lambda model: model.decoder)


@entry(library="transformers")
def whisper_encoder():
    sizes = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
             "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "num_mel_bins": 16, "max_source_positions": 20, "pad_token_id": 0,
             "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    return transformers_model("Whisper", inputs=lambda batch: {"input_features": floats(batch, 16, 40)}, settings=sizes,
                              pick=lambda model: model.encoder)


@entry(library="transformers")
def vit_layer():
    return transformers_model("ViT", inputs=lambda batch: {"pixel_values": floats(batch, 3, 16, 16)}, settings={"image_size": 16, "patch_size": 4})


@entry(library="transformers")
def clip_model():
    library = importlib.import_module("transformers")
    both = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48}
    config = library.CLIPConfig(text_config={**both, "vocab_size": 99, "max_position_embeddings": 16, "eos_token_id": 2},
                                vision_config={**both, "image_size": 16, "patch_size": 4}, projection_dim=24)

    def inputs(batch):
        return {"input_ids": tokens(batch, 8), "pixel_values": floats(batch, 3, 16, 16)}

    return library.CLIPModel(config), inputs


@entry(library="transformers")
def deberta_v2_layer():
    sizes = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8, "max_relative_positions": 16, "norm_rel_ebd": "layer_norm"}
    return transformers_model("DebertaV2", settings=sizes)


@entry(library="transformers")
def wav2vec2_features():
    sizes = {"conv_dim": (16, 16), "conv_stride": (4, 2), "conv_kernel": (8, 4), "num_feat_extract_layers": 2, "apply_spec_augment": False,
             "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4, "layerdrop": 0.0}
    return transformers_model("Wav2Vec2", inputs=lambda batch: {"input_values": floats(batch, 200)}, settings=sizes)


@entry(library="transformers")
def mamba_mixer():
    return transformers_model("Mamba", sequence=6, settings={"state_size": 4, "expand": 2, "conv_kernel": 4}, more={"use_cache": False})


@entry(library="transformers")
def segformer_layer():
    sizes = {"num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1], "hidden_sizes": [16, 32], "patch_sizes": [7, 3], "strides": [4, 2],
             "num_attention_heads": [2, 4], "mlp_ratios": [2, 2]}
    return transformers_model("Segformer", inputs=lambda batch: {"pixel_values": floats(batch, 3, 32, 32)}, settings=sizes)


def images(channels, size):
    return lambda batch: {"x": floats(batch, channels, size, size)}


def vision(name):
    return importlib.import_module("torchvision." + name)


@entry(library="torchvision")
def resnet50():
    return vision("models").resnet50(num_classes=10), images(3, 32)


@entry(library="torchvision")
def convnext_block():
    return vision("models.convnext").CNBlock(16, layer_scale=0.5, stochastic_depth_prob=0.0), lambda batch: {"input": floats(batch, 16, 10, 10)}


@entry(library="torchvision")
def efficientnet_mbconv():
    found = vision("models.efficientnet")
    config = found.MBConvConfig(4, 3, 1, 16, 16, 1)
    return found.MBConv(config, stochastic_depth_prob=0.2, norm_layer=nn.BatchNorm2d), lambda batch: {"input": floats(batch, 16, 10, 10)}


@entry(library="torchvision")
def mobilenet_v3():
    return vision("models").mobilenet_v3_small(num_classes=10), images(3, 32)


@entry(library="torchvision")
def swin_block():
    found = vision("models.swin_transformer")
    return found.SwinTransformerBlock(16, 4, window_size=[4, 4], shift_size=[2, 2]), lambda batch: {"x": floats(batch, 8, 8, 16)}


@entry(library="torchvision")
def deeplab_head():
    return vision("models.segmentation.deeplabv3").DeepLabHead(32, 5, atrous_rates=(2, 3, 4)), lambda batch: {"input": floats(batch, 32, 12, 12)}


@entry(library="torchvision", trains=False)
def faster_rcnn():
    found = vision("models.detection")
    backbone = found.backbone_utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=5, returned_layers=[3, 4])
    anchors = found.anchor_utils.AnchorGenerator(((16,), (32,), (48,)), ((1.0,),) * 3)
    pool = importlib.import_module("torchvision.ops").MultiScaleRoIAlign(featmap_names=["0", "1"], output_size=3, sampling_ratio=2)
    model = found.FasterRCNN(backbone, num_classes=4, min_size=48, max_size=64, rpn_anchor_generator=anchors, box_roi_pool=pool,
                             rpn_pre_nms_top_n_test=40, rpn_post_nms_top_n_test=16, box_detections_per_img=8, box_score_thresh=0.0)
    return model, lambda batch: {"images": [one for one in torch.rand(batch, 3, 48, 48)]}


@entry(library="torchvision")
def r2plus1d():
    found = vision("models.video.resnet")
    model = found.VideoResNet(found.BasicBlock, [found.Conv2Plus1D] * 4, [1, 1, 1, 1], found.R2Plus1dStem, num_classes=5)
    return model, lambda batch: {"x": floats(batch, 3, 4, 16, 16)}


def graph_network(name, own, **more):
    """torch_geometric's where it is installed, else ours."""
    try:
        library = importlib.import_module("torch_geometric.nn")
    except ImportError:
        return own()
    return getattr(library, name)(**more)


def edges(batch):
    """Nodes and edges of `batch` graphs; each node has an edge that comes in."""
    nodes = 5 * batch
    return {"x": floats(nodes, 16), "edge_index": torch.stack([torch.randint(nodes, (4 * nodes,)), torch.arange(4 * nodes) % nodes])}


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
    return Named(graph_network("GCNConv", plain.GraphConvolution, in_channels=16, out_channels=24)), edges


@entry()
def gatv2_conv():
    return Named(graph_network("GATv2Conv", plain.GraphAttention, in_channels=16, out_channels=12, heads=2)), edges


@entry()
def sage_conv():
    return Named(graph_network("SAGEConv", plain.GraphMean, in_channels=16, out_channels=24)), edges


@entry()
def gin_conv_pooled():
    network = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 24))
    model = Named(graph_network("GINConv", plain.GraphIsomorphism, nn=network, eps=0.1), pooled=True)
    return model, lambda batch: {**edges(batch), "graph": torch.arange(5 * batch) % 2}


@entry()
def schnet_interaction():
    def inputs(batch):
        return {**edges(batch), "distance": torch.rand(20 * batch) * 4}

    try:
        found = importlib.import_module("torch_geometric.nn.models.schnet")
    except ImportError:
        return Named(plain.ContinuousFilter()), inputs
    block = found.InteractionBlock(16, 10, 16, 5.0)
    return Named(block), lambda batch: {**inputs(batch), "attributes": torch.rand(20 * batch, 10)}


@entry()
def pna_conv():
    more = {"in_channels": 16, "out_channels": 24, "aggregators": ["mean", "max", "min", "std"], "scalers": ["identity", "amplification"],
            "deg": torch.tensor([0, 1, 2, 3, 10, 2])}
    return Named(graph_network("PNAConv", plain.PrincipalNeighbours, **more)), edges


@entry()
def unet_resnet_block():
    return plain.ResnetBlock2D(), lambda batch: {"x": floats(batch, 16, 8, 8), "time": floats(batch, 20)}


@entry()
def basic_transformer_block():
    return plain.BasicTransformerBlock(), lambda batch: {"x": floats(batch, 12, 32), "context": floats(batch, 7, 24)}


@entry()
def autoencoder_decoder_block():
    return plain.AutoencoderDecoder(), images(16, 6)


@entry()
def dit_block():
    return plain.DiTBlock(), lambda batch: {"x": floats(batch, 12, 32), "condition": floats(batch, 32)}


@entry()
def joint_block_lora():
    return plain.JointBlock(), lambda batch: {"image": floats(batch, 9, 32), "text": floats(batch, 5, 32)}


@entry()
def encoder_and_lstm():
    return plain.EncoderAndLstm(), lambda batch: {"x": floats(batch, 6, 32)}


@entry()
def conformer_stft():
    return plain.Conformer(), lambda batch: {"wave": floats(batch, 400)}


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
