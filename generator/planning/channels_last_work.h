// Writer of channels-last graphs: the state that channels_last.cpp, channels_last_norms.cpp and channels_last_weights.cpp
// share.
//
// A value's two shapes differ in name: a node written over (N, spatial..., C) keeps its name, and `first` gives the view
// of it for readers of (N, C, spatial...).
#pragma once

#include "generator/elements/memory_view.h"
#include "generator/planning/channels_last.h"
#include "generator/planning/channels_last_values.h"

#include <span>

namespace warpwright::planning {

model::Shape permuted(const model::Shape &values, const model::Shape &order);

class Turner {
public:
  Turner(const model::Graph &graph, const AnchorChoices &choices)
      : index_(graph), choices_(choices), values_(channels_last_values(index_, choices)) {}

  /// True where no value would lie otherwise than in the graph as it is.
  bool turns_none() const { return values_.stay.empty(); }
  model::Graph run();

private:
  /// A weight that a kernel writes channels-last, and what each of its output channels is multiplied with.
  struct Weight {
    std::string value, source; ///< the convolution's operand, and the leaf that it is computed from
    std::string factor;        ///< a value of a number for each output channel; empty: none
    bool operator==(const Weight &) const = default;
  };
  /// Mean and factor of a norm, each a value of (C) or (N, C), and the norm's other operands by name.
  struct Normalised {
    std::string mean, factor, variance;
    model::Shape shape;
    std::map<std::string, std::string> operands;
  };

  bool is_conv(const std::string &name) const;
  std::string emit(const std::string &name, const std::string &op, std::vector<std::string> inputs,
                   model::TensorType type, model::Attributes attributes = {});
  /// Returns the name under which readers of a node find its value.
  std::string shown(const std::string &value) const;

  /// Returns the value over (N, C, spatial...), as a view where it is written in the other order.
  std::string first(const std::string &value);

  /// Returns an operand over (N, spatial..., C). @param broadcasts to `rank` dimensions; else it has them
  std::string last(const std::string &value, std::size_t rank, bool broadcasts = false);

  /// Returns a result's own node, over (N, C, spatial...).
  std::string contiguous(const std::string &value);

  void write(const model::Node &node);
  /// Writes a pointwise node, view or softmax over (N, spatial..., C).
  void write_last(const model::Node &node);

  void write_reduction(const model::Node &node);
  /// Returns true for a value in memory that lies channels-last, whatever shape it was written in.
  bool lies_last(const elements::MemoryView &view) const;

  /// Returns true for pointwise values and views of leaves and constants that have too few dimensions to be turned.
  bool is_of_leaves(const model::Node &node) const;

  /// Returns the weight of a convolution if a kernel has to write it; nullopt if it lies channels-last, or is computed in
  /// another way than from a leaf and a factor.
  std::optional<Weight> weight_of(const model::Node &conv) const;

  /// Converts all weights that need it, by one kernel for each dtype: many small kernels would cost more than the
  /// memory that they move.
  void turn_weights();

  void turn_together(std::span<const Weight> weights);
  /// Writes a value of leaves, with those that it is computed from, before all others.
  void write_operands(const std::string &value);

  /// Returns the operand in channels-last memory for a library call.
  std::string laid_out(const std::string &value);
  /// Returns true for a value that a convolution reads in channels-last memory, where other readers then find it too.
  bool lies_beside(const std::string &value) const;

  /// Writes a batch norm or group norm from mean and variance, so that (N, spatial..., C) is read once for both. Halves
  /// are computed in float32.
  void write_norm(const model::Node &node);
  /// Writes mean and factor of each channel over the batch.
  Normalised batch_statistics(const model::Node &node, const std::string &x, model::Dtype dtype);
  /// Writes mean and factor of each channel of each image, from those of the channels of a group.
  Normalised group_statistics(const model::Node &node, const std::string &x, model::Dtype dtype);
  /// Writes 1 / sqrt(variance + eps).
  std::string factor_of(const model::Node &norm, const std::string &variance, const model::TensorType &type);
  std::string number(const std::string &name, double value, model::Dtype dtype);
  /// Writes new running statistics: results 1 and 2 of a batch norm.
  void write_running(const model::Node &node);

  const ops::GraphIndex index_;
  const AnchorChoices &choices_;
  const ChannelsLastValues values_;
  model::Graph result_;
  std::set<std::string> early_; ///< nodes that are written before all others
  std::set<std::string>
      whole_results_; ///< reductions whose memory is the module's result, whatever the shape
  std::map<std::string, std::string> shown_, firsts_, lasts_, laid_out_;
  std::map<std::string, model::TensorType> over_last_; ///< nodes written over (N, spatial..., C)
  std::map<std::string, Normalised> normalised_;
};

} // namespace warpwright::planning
