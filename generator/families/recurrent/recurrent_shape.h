// Operands and sizes of an LSTM, GRU or plain RNN layer, read from its recorded ATen call.
//
// Leaves out: packed sequences, projections, unbatched input, dtypes other than float32.
#pragma once

#include "generator/ops/graph_index.h"

#include <optional>

namespace warpwright::families::recurrent {

enum class Cell { Lstm, Gru, Tanh, Relu };

/// Operands of one layer in one direction; biases are empty if the layer has none.
struct RecurrentLine {
  std::string input_weight, state_weight, input_bias, state_bias;
};

struct RecurrentShape {
  Cell cell = Cell::Lstm;
  std::string input, hidden, memory; ///< memory: of LSTMs
  std::vector<RecurrentLine> lines;  ///< layer by layer, forward before reverse
  std::int64_t layers = 1, directions = 1, steps = 0, batch = 0, features = 0, units = 0;
  bool batch_first = false;

  /// Products of a unit with its input: the weights have gates() * units rows.
  std::int64_t gates() const { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }
  /// Sums that a unit needs; a GRU keeps the two parts of its last gate separate.
  std::int64_t sums() const { return cell == Cell::Gru ? 4 : gates(); }
  /// Columns of a layer's input.
  std::int64_t width(std::int64_t layer) const {
    return layer == 0 ? features : directions * units;
  }
};

/// Shape of a recurrent node; nullopt for other nodes and for the cases that the file comment leaves out.
std::optional<RecurrentShape> recurrent_shape(const ops::GraphIndex &graph,
                                              const model::Node &node);

} // namespace warpwright::families::recurrent
