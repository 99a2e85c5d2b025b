// Grid and block of one launch: their values, and edits of them where the user wrote them.
//
// A shape is written in the launch (`<<<n / 256, 256>>>`, `<<<dim3(a, b), 256>>>`) or in a
// variable. Edits change the variable's initializer when only launches of this kernel use it, else
// the launch itself. A shape whose definition is not found is opaque: it can be replaced, and the
// texts of its extents are such as `grid.x`.
#pragma once

#include "generator/text/source/kernel_source.h"
#include "generator/text/source/render.h"

#include <array>

namespace warpwright::source {

class LaunchShape {
public:
  LaunchShape(const KernelSource &source, const clang::Expr *expression);

  /// The extent; 1 where omitted, nullopt when it is no constant.
  std::optional<std::int64_t> value(int dimension) const;
  /// The extent's source text; "1" where omitted.
  const std::string &text(int dimension) const { return dimensions_[dimension].text; }
  /// The extent's expression; null where omitted or opaque.
  const clang::Expr *expression(int dimension) const { return dimensions_[dimension].expression; }
  bool is_one_dimensional() const { return value(1) == 1 && value(2) == 1; }

  /// Edits that change the shape to these extents; trailing "1"s are left out.
  /// @param not_before offset where the texts' variables are declared; edits come after it
  Edits replace(const std::array<std::string, 3> &extents, std::size_t not_before = 0) const;
  /// Edits that change one extent of the shape.
  Edits replace(int dimension, const std::string &text) const;

private:
  struct Dimension {
    const clang::Expr *expression = nullptr;
    std::optional<Range> range;
    std::string text = "1";
  };
  enum class Form { Scalar, Arguments, Opaque };

  void follow(const clang::Expr *expression, int depth);
  void take_arguments(const clang::CXXConstructExpr *construct);

  const KernelSource &source_;
  std::array<Dimension, 3> dimensions_;
  Form form_ = Form::Opaque;
  std::optional<Range> at_launch_; ///< the expression inside <<< >>>
  /// The text to replace: an expression, or the arguments of a constructor.
  std::optional<Range> place_;
};

class LaunchSite {
public:
  LaunchSite(const KernelSource &source, const clang::CUDAKernelCallExpr *launch);
  const LaunchShape &grid() const { return grid_; }
  const LaunchShape &block() const { return block_; }
  /// Offset of the last declaration that the launch's arguments need.
  std::size_t arguments_declared_at() const;
  /// The expression of dynamic shared memory; null where the launch has none.
  const clang::Expr *shared_bytes() const;
  bool has_shared_bytes() const;

private:
  const KernelSource &source_;
  const clang::CUDAKernelCallExpr *launch_;
  LaunchShape grid_, block_;
};

/// True if every launch of the kernel has a one-dimensional block.
bool has_one_dimensional_blocks(const KernelSource &source);

/// Adds edits that replace an extent of each launch's grid, x if none is named, by `change` of its
/// text.
void change_grids(Edits &edits, const KernelSource &source,
                  const std::function<std::string(const std::string &)> &change, int dimension = 0);

} // namespace warpwright::source
