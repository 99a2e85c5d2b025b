// Ranges of integer expressions in the task's launch: from the values of arguments, the extents of
// grid and block, the bounds of loops, and types.
#pragma once

#include "generator/text/source/kernel_source.h"

namespace warpwright::source {

struct ValueRange {
  std::int64_t low = 0, high = 0;
  bool within(std::int64_t least, std::int64_t most) const { return low >= least && high <= most; }
};

/// Reads ranges, and notes the facts of the launch that they follow from.
class RangeReader {
public:
  explicit RangeReader(const KernelSource &source) : source_(source) {}

  /// The range of an expression without overflow; nullopt if it is not known.
  std::optional<ValueRange> of(const clang::Expr *expression) { return of(expression, 0); }
  /// The range of all values that a variable of the kernel ever has.
  std::optional<ValueRange> of_variable(const clang::VarDecl *variable) { return of_variable(variable, 0); }

  /// The facts used so far as a condition of C++: "n == 1000 && gridDim.x <= 8"; empty: none.
  std::string condition() const;
  /// The arguments among these facts, by the names of their parameters.
  const std::map<std::string, std::string> &arguments() const { return arguments_; }

private:
  std::optional<ValueRange> of(const clang::Expr *expression, int depth);
  std::optional<ValueRange> of_variable(const clang::VarDecl *variable, int depth);
  std::optional<ValueRange> of_builtin(const std::string &name);
  std::optional<ValueRange> of_binary(const clang::BinaryOperator *binary, int depth);
  std::optional<ValueRange> of_counter(const clang::VarDecl *variable, int depth);
  std::optional<ValueRange> of_type(clang::QualType type) const;
  std::optional<std::int64_t> extent(const std::string &name);

  const KernelSource &source_;
  std::map<std::string, std::string> arguments_;
  std::map<std::string, std::int64_t> extents_;
};

} // namespace warpwright::source
