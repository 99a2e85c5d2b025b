// Estimates of convolutions. See convolution_choice.h.
//
// The model of cuDNN: tiles of outputs in waves over the multiprocessors, each with the rate that its size reaches. It
// is fitted to torch.compile's times of whole modules on an H200, not to single kernels: VGG16 at batch 10 ran at about
// 245 TFLOP/s in its convolutions, 64 to 128 channels over 128x128 images at 230 to 370, and over 256x256 images, which
// are limited by memory, at 215 to 235.
#include "generator/planning/convolution_choice.h"

#include "generator/elements/family.h"
#include "generator/ops/names.h"
#include "generator/planning/channels_last_values.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/attributes.h"
#include "generator/ops/cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpwright::planning {
namespace {

using model::Node;

/// Share of our own kernels' estimate above which a mixture with the library's is not tried first.
constexpr double kWorthwhile = 0.95;
/// Rounds of improvement; each looks at every convolution.
constexpr int kRounds = 3;

double pass_us(double bytes, const arch::LibraryRates &rates) {
  return rates.launch_us + bytes / rates.bytes;
}

/// Returns about the microseconds of a convolution by cuDNN, channels-last on tensor cores, on an H100 or H200.
double channels_last_microseconds(const ops::GraphIndex &graph, const Node &conv,
                                  const elements::DeviceFacts &facts) {
  const arch::LibraryRates &rates = facts.rates.library;
  struct Tile {
    double pixels, channels, rate;
  };
  static constexpr Tile kTiles[] = {{128, 128, 1}, {128, 64, 0.9}, {64, 64, 0.7}, {64, 32, 0.45}};
  const model::Shape &in = graph.node(conv.inputs[0]).type().shape, &out = conv.type().shape;
  const auto groups = static_cast<double>(ops::integer_attribute(conv, "groups", 1));
  const double channels = static_cast<double>(out[1]) / groups,
               pixels = static_cast<double>(model::elements_of(out)) / static_cast<double>(out[1]);
  const double products = ops::cost_of(graph, conv).flops / 2;
  const double depth = products / (pixels * static_cast<double>(out[1])); // of one output
  const auto whole = [](double count, double size) { return std::ceil(count / size); };
  const double rate = rates.products * (model::size_bytes(conv.type().dtype) == 2 ? 2 : 1);
  double least = 1e12;
  for (const Tile &tile : kTiles) {
    const double blocks = whole(pixels, tile.pixels) * whole(channels, tile.channels) * groups;
    // Few blocks share long sums.
    const double parts =
        std::clamp(facts.multiprocessors / blocks, 1.0, std::max(1.0, depth / 256));
    const double waves = whole(blocks * parts, facts.multiprocessors);
    const double a_tile =
        tile.pixels * tile.channels * (depth / parts + 64) / (rate * tile.rate);
    least = std::min(least, waves * a_tile);
  }
  const bool even = in[1] % 4 == 0 && out[1] % 4 == 0 && groups == 1;
  const double bytes =
      ops::bytes_of(graph.node(conv.inputs[0]).type()) + ops::bytes_of(conv.type());
  return rates.call_us + std::max(least, bytes / rates.bytes) * (even ? 1 : rates.uneven);
}

class Estimate {
public:
  Estimate(const ops::GraphIndex &graph, const elements::DeviceFacts &facts)
      : graph_(graph), rates_(facts.rates.library) {
    for (const Node &node : graph.graph().nodes)
      if (node.op == op::conv) {
        convolutions_.push_back(&node);
        Quickest first = quickest_family(graph, node, facts, reads_as_is),
                 last = quickest_family(graph, node, facts, works_channels_last);
        if (first.family && !first.family->ordinary_cores)
          first.microseconds +=
              (rates_.ours_long - 1) * std::max(0.0, first.microseconds - rates_.long_us);
        options_.emplace(node.name, Options{first, last, channels_last_microseconds(graph, node, facts)});
      }
  }

  const std::vector<const Node *> &convolutions() const { return convolutions_; }

  /// Returns what a convolution may be given to.
  std::vector<AnchorChoice> choices(const Node &conv) const {
    const Options &options = options_.at(conv.name);
    std::vector<AnchorChoice> result{{elements::kLibraryFamily, true, true}};
    for (const Quickest &one : {options.first, options.last})
      if (one.family)
        result.push_back({std::string(one.family->name)});
    return result;
  }

  double operator()(const AnchorChoices &anchors) const {
    double total = 0;
    for (const Node *conv : convolutions_) {
      const bool last = is_channels_last(*conv, anchors), library = last && by_library(*conv, anchors);
      const Options &options = options_.at(conv->name);
      total += library ? options.library : (last ? options.last : options.first).microseconds;
      // Behind the library, nodes that a family would fuse take another pass; a reader with the other order takes one
      // more.
      if (library && has_epilogue(*conv))
        total += pass_us(2 * ops::bytes_of(conv->type()), rates_);
      const Node &weight = graph_.node(conv->inputs[1]);
      if (last && !is_pointwise_kernel(weight)) // all weights by one kernel
        total += 2 * ops::bytes_of(weight.type()) / rates_.bytes;
      if (!keeps_order(graph_, *conv, anchors) && last != comes_last(conv->inputs[0], anchors))
        total += pass_us(2 * ops::bytes_of(graph_.node(conv->inputs[0]).type()), rates_);
      if (last && graph_.is_result(conv->name))
        total += pass_us(2 * ops::bytes_of(conv->type()), rates_);
    }
    return total;
  }

private:
  struct Options {
    Quickest first, last; ///< of families that read memory as it is, and of those that work channels-last
    double library = 0;
  };
  static bool works_channels_last(const elements::Family &family) { return family.channels_last; }
  static bool reads_as_is(const elements::Family &family) { return !family.channels_last; }

  /// Returns true where a pointwise node follows that a family would fuse. Pools and statistics read the library's
  /// result as they would a family's.
  bool has_epilogue(const Node &conv) const {
    const auto &users = graph_.users(conv.name);
    if (users.size() != 1 || !ops::is_pointwise(*users[0]))
      return false;
    const Node *last = users[0];
    while (graph_.users(last->name).size() == 1 && ops::is_pointwise(*graph_.users(last->name)[0]))
      last = graph_.users(last->name)[0];
    const auto &readers = graph_.users(last->name);
    return graph_.is_result(last->name) || std::ranges::none_of(readers, [](const Node *reader) {
             return reader->op.ends_with("_pool") || reader->op == op::batch_norm ||
                    reader->op == op::mean || reader->op == op::sum;
           });
  }

  static bool is_pointwise_kernel(const Node &weight) {
    const model::Shape &shape = weight.type().shape;
    return std::all_of(shape.begin() + 2, shape.end(), [](auto size) { return size == 1; });
  }

  /// Returns true where a value comes from a channels-last convolution through nodes that are converted with it.
  bool comes_last(const std::string &value, const AnchorChoices &anchors) const {
    const Node &node = graph_.node(value);
    if (node.op == op::conv)
      return is_channels_last(node, anchors) ||
             (keeps_order(graph_, node, anchors) && comes_last(node.inputs[0], anchors));
    if (!ops::is_pointwise(node) && !node.op.ends_with("_pool") && node.op != op::batch_norm &&
        node.op != op::cat && node.op != op::pad && node.op != op::slice)
      return false;
    // The largest operand decides; ties go to the first.
    const std::string *largest = nullptr;
    std::int64_t most = 0;
    for (const std::string &input : node.inputs)
      if (const std::int64_t size = model::elements_of(graph_.node(input).type().shape);
          size > most) {
        most = size;
        largest = &input;
      }
    return largest && comes_last(*largest, anchors);
  }

  const ops::GraphIndex &graph_;
  const arch::LibraryRates &rates_;
  std::vector<const Node *> convolutions_;
  std::map<std::string, Options> options_;
};

/// Gives one convolution at a time to whichever makes the whole quicker. @return the final estimate
double improve(const Estimate &estimate, AnchorChoices &anchors) {
  double least = estimate(anchors);
  bool better = true;
  for (int round = 0; better && round < kRounds; ++round) {
    better = false;
    for (const Node *conv : estimate.convolutions())
      for (const AnchorChoice &other : estimate.choices(*conv)) {
        const AnchorChoice before = std::exchange(anchors[conv->name], other);
        const bool is_image = is_channels_last(*conv, anchors) || !other.channels_last;
        if (const double now = estimate(anchors); is_image && now < least * 0.999) {
          least = now;
          better = true;
        } else {
          anchors[conv->name] = before;
        }
      }
  }
  return least;
}

} // namespace

Quickest quickest_family(const ops::GraphIndex &graph, const Node &node,
                         const elements::DeviceFacts &facts, bool (*fits)(const elements::Family &)) {
  Quickest best;
  for (const elements::Family *family : claiming_families(graph, node))
    if (family->estimate && fits(*family))
      if (const double time = family->estimate(graph, node, facts);
          !best.family || time < best.microseconds)
        best = {family, time};
  return best;
}

std::optional<AnchorChoices> mixture(const ops::GraphIndex &graph, const AnchorChoices &ours,
                                     const AnchorChoices &library,
                                     const elements::DeviceFacts &facts) {
  const Estimate estimate(graph, facts);
  if (estimate.convolutions().empty() || !facts.has_tensor_cores())
    return std::nullopt;
  AnchorChoices one = ours, other = library;
  const double of_one = improve(estimate, one), of_other = improve(estimate, other);
  if (std::min(of_one, of_other) > kWorthwhile * estimate(ours))
    return std::nullopt;
  return of_one < of_other ? one : other;
}

} // namespace warpwright::planning
