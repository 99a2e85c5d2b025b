// Training of forests: gradient boosting over binned features, as xgboost and LightGBM do it,
// without their tricks.
//
// Each tree fits the gradients of a loss at the forest's current values. A split is the best one
// over bins of each drawn feature; a leaf's value is a Newton step. Rows and features are drawn for
// each tree. The same rows, settings and seed give the same bits: one thread, sums in the order of
// the rows. Leaves out: categorical splits, pruning, early stopping, monotone constraints. Thread:
// any; one per call.
#pragma once

#include "trainer/ranker/trees.h"

#include <functional>

namespace warpwright::trainer {

/// Rows of features, one after another.
struct Matrix32 {
  std::size_t columns = 0;
  std::vector<float> values; ///< (rows, columns)
  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
  void add(std::span<const float> row) { values.insert(values.end(), row.begin(), row.end()); }
};

struct BoostingSettings {
  int trees = 300;
  int depth = 6;
  double rate = 0.05;        ///< share of a Newton step that a tree takes
  int least_rows = 5;        ///< of a leaf
  double row_share = 0.7;    ///< drawn for each tree
  double column_share = 0.5; ///< drawn for each tree
  double regularization = 1; ///< added to a leaf's second derivative
  std::uint64_t seed = 1;
};

/// First and second derivative of the loss in a row's value; a row with second derivative 0 takes
/// no part.
struct Gradient {
  double first = 0, second = 0;
};
/// Derivatives at the forest's current values. @param values one per row @param out as long as values
using Loss = std::function<void(std::span<const float> values, std::span<Gradient> out)>;

/// @param start values of the rows before the first tree; empty: 0
Forest boost(const Matrix32 &rows, const Loss &loss, const BoostingSettings &settings,
             std::span<const float> start = {});

/// Huber loss of `targets`, linear beyond `width`. @param weights one per row
Loss huber_loss(std::vector<float> targets, std::vector<float> weights, double width);
/// Logistic loss. @param labels 0 or 1
Loss logistic_loss(std::vector<float> labels, std::vector<float> weights);

/// Rows that are compared with each other: the candidates of one task.
struct RowGroup {
  std::size_t begin = 0, end = 0;
  double weight = 1;
};
/// Logistic loss of each pair of a group whose targets differ by more than `noise`; a pair weighs
/// more the more it differs (up to 1.5) and the more an exchange would change the ranking's top
/// (LambdaMART, Burges 2010).
Loss pairwise_loss(std::vector<float> targets, std::vector<RowGroup> groups, double noise);

} // namespace warpwright::trainer
