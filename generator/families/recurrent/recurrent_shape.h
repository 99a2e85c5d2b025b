// The operands and sizes of a recurrent layer of the library: LSTM, GRU or plain RNN, read from its recorded ATen call.
//
// Leaves out: packed sequences, projections, unbatched input, dtypes other than float32. Thread: pure functions.
#pragma once

#include "generator/ops/graph_index.h"

#include <optional>

namespace warpwright::families::recurrent {

enum class Cell { Lstm, Gru, Tanh, Relu };

/// The operands of one layer in one direction; biases are empty where the layer has none.
struct RecurrentLine {
  std::string input_weight, state_weight, input_bias, state_bias;
};

struct RecurrentShape {
  Cell cell = Cell::Lstm;
  std::string input, hidden, memory; ///< memory: of LSTMs
  std::vector<RecurrentLine> lines;  ///< layer by layer, forward before reverse
  std::int64_t layers = 1, directions = 1, steps = 0, batch = 0, features = 0, units = 0;
  bool batch_first = false;

  /// Products of a unit with its input: rows of the weights are that many times `units`.
  std::int64_t gates() const { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }
  /// Sums that a unit needs: GRUs keep the two parts of their last gate apart.
  std::int64_t sums() const { return cell == Cell::Gru ? 4 : gates(); }
  /// Columns of a layer's input.
  std::int64_t width(std::int64_t layer) const {
    return layer == 0 ? features : directions * units;
  }
};

/// Nullopt for all other nodes, and for what the file says is left out.
std::optional<RecurrentShape> recurrent_shape(const ops::GraphIndex &graph,
                                              const model::Node &node);

} // namespace warpwright::families::recurrent
