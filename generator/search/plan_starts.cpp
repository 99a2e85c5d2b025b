// Starts from the families' estimates, each a named state; see plan_starts.h.
#include "generator/search/plan_starts.h"

#include "arch/generations.h"
#include "generator/elements/family.h"
#include "generator/ops/cost.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"
#include "generator/planning/channels_last_values.h"
#include "generator/planning/convolution_choice.h"
#include "generator/planning/layouts.h"
#include "generator/rewrites/rewrite.h"

#include <algorithm>

namespace warpwright::search {
namespace {

using model::Graph;
using model::Node;

/// Rewrite with even odds of a gain for transposed convolutions without short sums.
constexpr std::string_view kPhases = "conv-phases";

/// Rewrite that makes convolutions of one tap products of 16-bit matrices, which need no layout of their own.
constexpr std::string_view kPointwise = "conv-pointwise";

/// Number of convolutions from which a graph counts as a network,
/// whose layers are fastest by a mix of families and library.
constexpr std::ptrdiff_t kNetwork = 4;

/// Number of operations from which the library's channels-last kernels may gain more than the layout conversions cost.
constexpr double kLarge = 5e10;

/// Ratio of estimates from which the library is the first guess. Below it a family is, and the start "library" tells which
/// is faster.
constexpr double kClearly = 1.5;

/// The family with the lowest estimate that is a first guess. One that works channels-last is it where no other multiplies
/// on the tensor cores of the dtype; else layouts decide (planning/convolution_choice.h).
const elements::Family *guessed_family(const ops::GraphIndex &graph, const Node &node,
                                       const elements::DeviceFacts &facts) {
  if (ops::is_half(node.type().dtype))
    return planning::quickest_family(graph, node, facts).family;
  return planning::quickest_family(
             graph, node, facts,
             [](const elements::Family &family) { return !family.channels_last; })
      .family;
}

/// True if every float result is rounded to 16 bits, which hides the errors of approximate functions.
bool gives_halves(const Graph &graph) {
  const ops::GraphIndex index(graph);
  std::ptrdiff_t halves = 0;
  for (const std::string &output : graph.outputs) {
    const model::Dtype dtype = index.node(output).type().dtype;
    if (model::is_floating(dtype) && model::size_bytes(dtype) != 2)
      return false;
    halves += model::is_floating(dtype);
  }
  return halves > 0;
}

/// Builder of the starts: it first chooses for each anchor in each start, then orders the starts.
class Starts {
public:
  Starts(const Graph &traced, const elements::DeviceFacts &facts)
      : traced_(planning::with_separate_bias(traced)), facts_(facts) {
    rewrites::Simplified simplified = rewrites::simplify(traced_);
    guess_ = {{std::move(simplified.graph), std::move(simplified.applied), {}}, "ours"};
    halves_ = gives_halves(traced);
    if (multiplies_halves())
      if (auto products = rewritten_everywhere(guess_, kPointwise);
          products && std::ranges::find(products->graph.nodes, op::conv, &Node::op) ==
                          products->graph.nodes.end()) {
        guess_ = std::move(*products);
        guess_.name = "ours";
      }
    guess_.choices.fast_math = halves_ ? facts.fast_math : 0;
  }

  std::vector<PlanStart> all() && {
    const ops::GraphIndex index(guess_.graph);
    choose_for_anchors(index);
    const bool fallback = !(facts_.tf32 && (network() || flops_ > kLarge));
    if (convolutions_ > 0 &&
        !fallback) // most likely the fastest, and searches of large networks try few plans
      add_channels_last(false);
    if (facts_.tf32)
      if (auto mixed = planning::mixture(index, guess_.choices.anchors,
                                         channels_last_.choices.anchors, facts_))
        starts_.push_back(
            {{guess_.graph, guess_.rewrites, {std::move(*mixed), {}, guess_.choices.fast_math}},
             "mixture"});
    starts_.push_back(guess_);
    // The families of this project come first, then the library for heavy nodes; single changes mix them. Once TF32 is
    // refused, the guess has FP32-accurate convolutions already.
    add_choices_of_rewrites();
    if (convolutions_ > 0 && fallback)
      add_channels_last(true);
    if (heavy_) // the library's products of halves are often the fastest, ours of float32 nearly always
      add(std::move(library_), convolutions_ == 0 && !halves_);
    if (convolutions_ > 0 && facts_.tf32)
      add(std::move(exact_), true);
    if (!guess_.rewrites.empty())
      add({{std::move(traced_), {}, {}}, "plain"}, true);
    add(std::move(alone_), true);
    return std::move(starts_);
  }

private:
  bool network() const { return convolutions_ >= kNetwork; }

  /// True where the tensor cores read 16-bit operands from memory, in any order of rows and columns.
  bool multiplies_halves() const {
    return halves_ && facts_.tensor_cores == arch::TensorCores::Wgmma;
  }

  /// Two 16-bit products in one launch (families/matmul/matmul_half.cpp).
  bool may_have_twin(const Node &node) const {
    return node.op == op::matmul && facts_.tensor_cores == arch::TensorCores::Wgmma &&
           model::size_bytes(node.type().dtype) == 2;
  }

  bool has_channels_last_family() const {
    return std::ranges::any_of(guess_.graph.nodes, [&](const Node &node) {
      return planning::is_channels_last(node, guess_.choices.anchors);
    });
  }

  void add(PlanStart start, bool fallback) {
    start.fallback = fallback;
    starts_.push_back(std::move(start));
  }

  void choose_for_anchors(const ops::GraphIndex &index) {
    exact_ = library_ = channels_last_ = alone_ = guess_;
    exact_.name = "exact";
    library_.name = "library";
    channels_last_.name = "channels_last";
    alone_.name = "alone";
    exact_.exact = true;
    elements::DeviceFacts accurate = facts_;
    accurate.tf32 = false;
    convolutions_ = std::ranges::count(guess_.graph.nodes, "conv", &Node::op);
    for (const Node &node : guess_.graph.nodes) {
      if (!planning::is_anchor(node))
        continue;
      alone_.choices.anchors[node.name].fuse = false;
      if (!ops::is_product(node))
        continue;
      heavy_ = true;
      guess_.choices.anchors[node.name].twin = may_have_twin(node);
      if (node.op == op::conv)
        flops_ += ops::cost_of(index, node).flops;
      const elements::Family *family = guessed_family(index, node, facts_);
      if (family && family->library_estimate &&
          kClearly * family->library_estimate(index, node, facts_) <
              family->estimate(index, node, facts_)) {
        guess_.choices.anchors[node.name].family = elements::kLibraryFamily;
      } else if (family) {
        guess_.choices.anchors[node.name].family = family->name;
        short_sums_ = short_sums_ || family->short_sums;
      }
      if (const elements::Family *other = guessed_family(index, node, accurate))
        exact_.choices.anchors[node.name].family = other->name;
      // In a network the library gets the nodes that it multiplies on tensor cores; it was never faster elsewhere. What
      // takes less time than a call of the library is never its own.
      const ops::Cost cost = ops::cost_of(index, node);
      const double us = family ? family->estimate(index, node, facts_)
                               : 1e6 * facts_.rates.node.seconds(cost.bytes, cost.flops);
      const bool is_short = us < facts_.rates.library.call_us;
      const bool ours = is_short || (network() && family && !family->library_estimate &&
                                     (node.op != op::conv || family->ordinary_cores));
      for (PlanStart *start : {&library_, &channels_last_})
        start->choices.anchors[node.name].family = !ours    ? elements::kLibraryFamily
                                                   : family ? family->name
                                                            : "";
      channels_last_.choices.anchors[node.name].channels_last = node.op == op::conv && !ours;
    }
  }

  /// Adds the library's channels-last convolutions, first where they also compute what is behind them.
  void add_channels_last(bool fallback) {
    if (auto changed = rewritten_everywhere(channels_last_, kConvolutionEpilogue)) {
      for (const Node &node : changed->graph.nodes)
        if (node.op == op::conv)
          changed->choices.anchors.try_emplace(
              node.name, planning::AnchorChoice{elements::kLibraryFamily, true, true});
      add(std::move(*changed), fallback);
    }
    add(channels_last_, fallback);
  }

  void add_choices_of_rewrites() {
    for (const rewrites::Rule &rule : rewrites::rules()) {
      // Factors in the weights are for convolutions that lay out their weights anyway.
      const bool folds = rule.name == kConvolutionEpilogue;
      const bool is_choice = !rule.always && (!folds || has_channels_last_family()) &&
                             (rule.name != kGated || multiplies_halves());
      auto changed = is_choice ? rewritten_everywhere(guess_, rule.name) : std::nullopt;
      if (!changed)
        continue;
      const ops::GraphIndex after(changed->graph);
      for (const Node &node : changed->graph.nodes) {
        if (rule.name == kGated && guess_.choices.anchors.contains(node.name))
          continue;
        if (may_have_twin(node))
          changed->choices.anchors[node.name].twin = true;
        if (const elements::Family *family = guessed_family(after, node, facts_))
          changed->choices.anchors[node.name].family = family->name;
      }
      if (folds)
        changed->name = "folded"; // the library's start has the rule's name
      // Attention of halves has a kernel of its own, which is the first guess.
      const bool start = (rule.name == kPlanOfItsOwn && !multiplies_halves()) ||
                         rule.name == kNarrow || rule.name == kGated || folds ||
                         (rule.name == kPhases && !short_sums_) ||
                         (rule.name == kPointwise && multiplies_halves());
      add(std::move(*changed), !start);
    }
  }

  Graph traced_; ///< with separate biases
  const elements::DeviceFacts &facts_;
  PlanStart guess_, exact_, library_, channels_last_, alone_;
  std::ptrdiff_t convolutions_ = 0;
  bool heavy_ = false, short_sums_ = false, halves_ = false;
  double flops_ = 0; ///< of convolutions
  std::vector<PlanStart> starts_;
};

} // namespace

std::vector<PlanStart> plan_starts(const Graph &traced, const elements::DeviceFacts &facts) {
  return Starts(traced, facts).all();
}

std::optional<PlanStart> rewritten_everywhere(const GraphState &base, std::string_view rule) {
  PlanStart start{base, rule};
  for (std::size_t round = 0; round < base.graph.nodes.size(); ++round) {
    const auto next = rewrites::first_rewrite(ops::GraphIndex(start.graph), rule);
    if (!next || !rewrite(start, *next))
      break;
  }
  if (start.rewrites.size() == base.rewrites.size())
    return std::nullopt;
  rewrites::Simplified again = rewrites::simplify(
      start.graph, {{std::string(kAttention)}}); // kAttention would undo the rule
  start.graph = std::move(again.graph);
  start.rewrites.insert(start.rewrites.end(), again.applied.begin(), again.applied.end());
  return start;
}

} // namespace warpwright::search
