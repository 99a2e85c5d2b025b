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

/// Returns the quickest family for a convolution, and microseconds: a large number where no family has an estimate.
std::pair<const elements::Family *, double> quickest(const ops::GraphIndex &graph, const Node &conv,
                                                     const elements::DeviceFacts &facts) {
  const elements::Family *best = nullptr;
  double least = 1e12;
  for (const elements::Family *family : claiming_families(graph, conv))
    if (family->estimate)
      if (const double time = family->estimate(graph, conv, facts); time < least) {
        best = family;
        least = time;
      }
  return {best, least};
}

class Estimate {
public:
  Estimate(const ops::GraphIndex &graph, const elements::DeviceFacts &facts)
      : graph_(graph), rates_(facts.rates.library) {
    for (const Node &node : graph.graph().nodes)
      if (node.op == op::conv) {
        convolutions_.push_back(&node);
        auto ours = quickest(graph, node, facts);
        if (ours.first && !ours.first->ordinary_cores)
          ours.second += (rates_.ours_long - 1) * std::max(0.0, ours.second - rates_.long_us);
        ours_.emplace(node.name, ours);
        library_.emplace(node.name, channels_last_microseconds(graph, node, facts));
      }
  }

  const std::vector<const Node *> &convolutions() const { return convolutions_; }
  const std::pair<const elements::Family *, double> &ours(const Node &conv) const {
    return ours_.at(conv.name);
  }

  double operator()(const AnchorChoices &anchors) const {
    double total = 0;
    for (const Node *conv : convolutions_) {
      const bool last = is_channels_last(*conv, anchors), library = last && by_library(*conv, anchors);
      total += library ? library_.at(conv->name) : ours_.at(conv->name).second;
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
  std::map<std::string, std::pair<const elements::Family *, double>> ours_;
  std::map<std::string, double> library_;
};

/// Gives one convolution at a time to whichever makes the whole quicker. @return the final estimate
double improve(const Estimate &estimate, AnchorChoices &anchors) {
  double least = estimate(anchors);
  bool better = true;
  for (int round = 0; better && round < kRounds; ++round) {
    better = false;
    for (const Node *conv : estimate.convolutions()) {
      const AnchorChoice before = anchors[conv->name];
      AnchorChoice &choice = anchors[conv->name];
      if (is_channels_last(*conv, anchors) && by_library(*conv, anchors)) {
        if (!estimate.ours(*conv).first)
          continue;
        choice = {std::string(estimate.ours(*conv).first->name), true, false};
      } else {
        choice = {elements::kLibraryFamily, true, true};
        if (!is_channels_last(*conv, anchors)) { // not images
          choice = before;
          continue;
        }
      }
      if (const double now = estimate(anchors); now < least * 0.999) {
        least = now;
        better = true;
      } else {
        choice = before;
      }
    }
  }
  return least;
}

} // namespace

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

double convolutions_microseconds(const ops::GraphIndex &graph, const AnchorChoices &anchors,
                                 const elements::DeviceFacts &facts) {
  return Estimate(graph, facts)(anchors);
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
