// Writer of the sum of a value over some dimensions, which moves the sum into products and convolutions to save
// operations. Sums keep their dimensions, with extent 1.
#pragma once

#include "generator/rewrites/replacement_builder.h"

namespace warpwright::rewrites {

class LinearSums {
public:
  LinearSums(const GraphFacts &facts, ReplacementBuilder &builder)
      : facts_(facts), builder_(builder) {}

  /// @param value value of the graph; @param dims dimensions of it, ascending
  /// @return a value of its rank that broadcasts to its shape with extent 1 at dims
  std::string sum(const std::string &value, const model::Shape &dims);
  /// Returns the floating-point operations of products and convolutions that the written nodes save.
  double saved_flops() const { return saved_flops_; }

private:
  std::string plain(const std::string &value, const model::Shape &dims);
  /// Sums an operand that broadcasts to `shape` over dims of `shape`; a repeated dimension becomes a factor.
  std::string sum_of_operand(const std::string &operand, const model::Shape &shape,
                             const model::Shape &dims);
  std::optional<std::string> sum_of_scaled(const model::Node &node, const model::Shape &dims);
  std::optional<std::string> sum_of_view(const model::Node &node, const model::Shape &dims);
  std::string sum_of_product(const model::Node &node, const model::Shape &dims);
  std::optional<std::string> sum_of_convolution(const model::Node &node, const model::Shape &dims);
  std::string scaled(const std::string &value, double factor);

  const GraphFacts &facts_;
  ReplacementBuilder &builder_;
  double saved_flops_ = 0;
};

/// A window of positions along a dimension: start, start + step, ... below stop.
struct TapWindow {
  std::int64_t start = 0, stop = 0, step = 1;
};

/// Returns x with dimension `dim` replaced by the sums over the windows, one after the other.
std::string window_sums(ReplacementBuilder &builder, const std::string &x, std::int64_t dim,
                        const std::vector<TapWindow> &windows);

} // namespace warpwright::rewrites
