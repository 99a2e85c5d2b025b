#include "generator/torch_cpp/library_modules.h"

#include <array>
#include <unordered_map>

namespace warpwright::generator::torch_cpp {
namespace {

constexpr std::int64_t kMostExtent = std::int64_t{1} << 32;

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(' ', at), text.size());
    if (stop > at)
      result.emplace_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return result;
}

/// Weight and bias of one shape, where the module has them.
void affine(ModuleMaker &maker, const std::string &option, bool fallback,
            const model::Shape &shape) {
  if (!maker.flag(option, fallback))
    return;
  maker.parameter("weight", shape);
  maker.parameter("bias", shape);
}

void linear(ModuleMaker &maker) {
  const std::int64_t in = maker.integer("in_features"), out = maker.integer("out_features");
  maker.parameter("weight", {out, in});
  if (maker.flag("bias", true))
    maker.parameter("bias", {out});
}

void convolution(ModuleMaker &maker, std::size_t count, bool transposed) {
  const std::int64_t in = maker.integer("in_channels"), out = maker.integer("out_channels"),
                     groups = maker.integer("groups", 1);
  if (groups < 1)
    return maker.refuse("its groups are none");
  model::Shape weight =
      transposed ? model::Shape{in, out / groups} : model::Shape{out, in / groups};
  for (const std::int64_t extent : maker.list("kernel_size", count))
    weight.push_back(extent);
  maker.parameter("weight", weight);
  if (maker.flag("bias", true))
    maker.parameter("bias", {out});
}

template <std::size_t kCount, bool kTransposed>
void convolution_of(ModuleMaker &maker) {
  convolution(maker, kCount, kTransposed);
}

void batch_norm(ModuleMaker &maker) {
  const std::int64_t features = maker.integer("num_features");
  affine(maker, "affine", true, {features});
  if (!maker.flag("track_running_stats", true))
    return;
  maker.buffer("running_mean", {features});
  maker.buffer("running_var", {features});
  maker.buffer("num_batches_tracked", {}, model::Dtype::Int64);
}

void instance_norm(ModuleMaker &maker) {
  affine(maker, "affine", false, {maker.integer("num_features")});
  if (maker.flag("track_running_stats", false))
    maker.refuse("it has running statistics");
}

void layer_norm(ModuleMaker &maker) {
  affine(maker, "elementwise_affine", true, maker.list("normalized_shape", 0));
}

void group_norm(ModuleMaker &maker) {
  affine(maker, "affine", true, {maker.integer("num_channels")});
}

void embedding(ModuleMaker &maker) {
  maker.parameter("weight", {maker.integer("num_embeddings"), maker.integer("embedding_dim")});
}

void prelu(ModuleMaker &maker) { maker.parameter("weight", {maker.integer("num_parameters", 1)}); }

constexpr std::string_view kConvolution = "in_channels out_channels kernel_size";

constexpr std::array kModules = {
    LibraryModule{"Linear", "linear", "in_features out_features", linear},
    LibraryModule{"Conv1d", "conv1d", kConvolution, convolution_of<1, false>},
    LibraryModule{"Conv2d", "conv2d", kConvolution, convolution_of<2, false>},
    LibraryModule{"Conv3d", "conv3d", kConvolution, convolution_of<3, false>},
    LibraryModule{"ConvTranspose1d", "conv_transpose1d", kConvolution, convolution_of<1, true>},
    LibraryModule{"ConvTranspose2d", "conv_transpose2d", kConvolution, convolution_of<2, true>},
    LibraryModule{"ConvTranspose3d", "conv_transpose3d", kConvolution, convolution_of<3, true>},
    LibraryModule{"BatchNorm1d BatchNorm2d BatchNorm3d", "batch_norm", "num_features", batch_norm},
    LibraryModule{"InstanceNorm1d InstanceNorm2d InstanceNorm3d", "instance_norm", "num_features",
                  instance_norm},
    LibraryModule{"LayerNorm", "layer_norm", "normalized_shape", layer_norm},
    LibraryModule{"GroupNorm", "group_norm", "num_groups num_channels", group_norm},
    LibraryModule{"Embedding", "embedding", "num_embeddings embedding_dim", embedding, true},
    LibraryModule{"PReLU", "prelu", "num_parameters", prelu},
    LibraryModule{"Identity", ""},
    LibraryModule{"Dropout Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout", "dropout", "p"},
    LibraryModule{"ReLU", "relu", "inplace"},
    LibraryModule{"ReLU6", "relu6", "inplace"},
    LibraryModule{"LeakyReLU", "leaky_relu", "negative_slope"},
    LibraryModule{"ELU", "elu", "alpha"},
    LibraryModule{"CELU", "celu", "alpha"},
    LibraryModule{"SELU", "selu", "inplace"},
    LibraryModule{"GELU", "gelu"},
    LibraryModule{"GLU", "glu", "dim"},
    LibraryModule{"SiLU", "silu"},
    LibraryModule{"Mish", "mish"},
    LibraryModule{"Sigmoid", "sigmoid"},
    LibraryModule{"Tanh", "tanh"},
    LibraryModule{"Softplus", "softplus"},
    LibraryModule{"Softsign", "softsign"},
    LibraryModule{"Softshrink", "softshrink", "lambda"},
    LibraryModule{"Hardshrink", "hardshrink", "lambda"},
    LibraryModule{"Hardtanh", "hardtanh"},
    LibraryModule{"Tanhshrink", "tanhshrink"},
    LibraryModule{"Threshold", "threshold", "threshold value"},
    LibraryModule{"LogSigmoid", "log_sigmoid"},
    LibraryModule{"Softmax", "softmax", "dim"},
    LibraryModule{"Softmin", "softmin", "dim"},
    LibraryModule{"LogSoftmax", "log_softmax", "dim"},
    LibraryModule{"Flatten", "flatten", "start_dim"},
    LibraryModule{"PixelShuffle", "pixel_shuffle", "upscale_factor"},
    LibraryModule{"PixelUnshuffle", "pixel_unshuffle", "upscale_factor"},
    LibraryModule{"MaxPool1d", "max_pool1d", "kernel_size"},
    LibraryModule{"MaxPool2d", "max_pool2d", "kernel_size"},
    LibraryModule{"MaxPool3d", "max_pool3d", "kernel_size"},
    LibraryModule{"AvgPool1d", "avg_pool1d", "kernel_size"},
    LibraryModule{"AvgPool2d", "avg_pool2d", "kernel_size"},
    LibraryModule{"AvgPool3d", "avg_pool3d", "kernel_size"},
    LibraryModule{"AdaptiveAvgPool1d", "adaptive_avg_pool1d", "output_size"},
    LibraryModule{"AdaptiveAvgPool2d", "adaptive_avg_pool2d", "output_size"},
    LibraryModule{"AdaptiveAvgPool3d", "adaptive_avg_pool3d", "output_size"},
    LibraryModule{"ConstantPad1d ConstantPad2d ConstantPad3d", "constant_pad_nd", "pad value"},
    LibraryModule{"ZeroPad2d", "constant_pad_nd", "pad"},
    LibraryModule{"CosineSimilarity", "cosine_similarity"},
    LibraryModule{"MSELoss", "mse_loss", "reduction"},
    LibraryModule{"L1Loss", "l1_loss", "reduction"},
    LibraryModule{"SmoothL1Loss", "smooth_l1_loss", "reduction"},
    LibraryModule{"HuberLoss", "huber_loss", "reduction"},
    LibraryModule{"CrossEntropyLoss", "cross_entropy"},
    LibraryModule{"NLLLoss", "nll_loss"},
    LibraryModule{"KLDivLoss", "kl_div", "reduction"},
    LibraryModule{"BCELoss", "binary_cross_entropy"},
    LibraryModule{"BCEWithLogitsLoss", "binary_cross_entropy_with_logits"},
};

} // namespace

std::int64_t ModuleMaker::integer(const std::string &option, std::optional<std::int64_t> fallback) {
  const auto found = object_.members.find(option);
  const auto value = found == object_.members.end() ? fallback : found->second.integer();
  if (!value)
    refuse("its " + option + " is not known");
  return value.value_or(0);
}

bool ModuleMaker::flag(const std::string &option, bool fallback) {
  return integer(option, fallback) != 0;
}

model::Shape ModuleMaker::list(const std::string &option, std::size_t count) {
  const auto found = object_.members.find(option);
  auto value = found == object_.members.end() ? std::nullopt : found->second.integers();
  if (value && count > 0 && value->size() == 1)
    value->resize(count, value->front());
  if (!value || (count > 0 && value->size() != count)) {
    refuse("its " + option + " is not known");
    return model::Shape(count);
  }
  return *value;
}

void ModuleMaker::parameter(const std::string &name, model::Shape shape) {
  hold(name, std::move(shape), model::Dtype::Float32, false);
}

void ModuleMaker::buffer(const std::string &name, model::Shape shape, model::Dtype dtype) {
  hold(name, std::move(shape), dtype, true);
}

void ModuleMaker::hold(const std::string &name, model::Shape shape, model::Dtype dtype,
                       bool is_buffer) {
  for (const std::int64_t extent : shape)
    if (extent < 0 || extent > kMostExtent)
      refuse("its " + name + " has no size that can be");
  if (!refusal_.empty())
    return;
  const Tensor tensor(new Tracked{placeholder(graph_, dtype, shape)});
  object_.members[name] = tensor;
  object_.registered.push_back({name, tensor, is_buffer});
}

void ModuleMaker::refuse(const std::string &why) {
  if (refusal_.empty())
    refusal_ = why;
}

const LibraryModule *find_library_module(std::string_view name) {
  static const auto kTable = [] {
    std::unordered_map<std::string, const LibraryModule *> table;
    for (const LibraryModule &one : kModules)
      for (const std::string &each : words(one.names))
        table.emplace(each, &one);
    return table;
  }();
  const auto found = kTable.find(std::string(name));
  return found == kTable.end() ? nullptr : found->second;
}

std::optional<Fields> options_of(const LibraryModule &kind, const std::vector<Value> &arguments) {
  const std::vector<std::string> names = words(kind.options);
  Fields options;
  std::size_t position = 0;
  const auto take = [&](const Value &value) {
    if (position >= names.size())
      return false;
    options[names[position++]] = value;
    return true;
  };
  for (const Value &argument : arguments) {
    const auto *fields = argument.as<Fields>();
    if (!fields) {
      if (!take(argument))
        return std::nullopt;
      continue;
    }
    for (std::size_t i = 0; fields->contains("#" + std::to_string(i)); ++i)
      if (!take(fields->at("#" + std::to_string(i))))
        return std::nullopt;
    for (const auto &[name, value] : *fields)
      if (!name.starts_with("#"))
        options[name] = value;
  }
  return options;
}

std::string placeholder(GraphWriter &graph, model::Dtype dtype, const model::Shape &shape) {
  const model::Attribute zero = model::is_floating(dtype)     ? model::Attribute(0.0)
                                : dtype == model::Dtype::Bool ? model::Attribute(false)
                                                              : model::Attribute(std::int64_t{0});
  const std::string value = graph.stated("constant", {}, {{"value", zero}}, {dtype, {}, {}});
  return graph.expand(value, shape);
}

} // namespace warpwright::generator::torch_cpp
