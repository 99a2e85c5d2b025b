// The grid and block of one launch: their values, and how to change them where the user wrote them.
//
// A shape may be written in the launch (`<<<n / 256, 256>>>`, `<<<dim3(a, b), 256>>>`) or in a variable. When that
// variable serves only launches of this kernel its initialiser is edited, else the launch itself. A shape that
// cannot be followed is opaque: it can be replaced, and its extents read as `grid.x`.
// Thread: that of the unit.
#pragma once

#include "generator/text/source/kernel_source.h"

#include <array>

namespace warpwright::generator {

class LaunchShape {
public:
  LaunchShape(const KernelSource &source, const clang::CUDAKernelCallExpr *launch,
              const clang::Expr *expression);

  /// 1 where omitted; nullopt where it is no constant.
  std::optional<std::int64_t> value(int dimension) const;
  /// Of an extent as written, where it is written; "1" where omitted.
  const std::string &text(int dimension) const { return dimensions_[dimension].text; }
  /// The extent's expression; null where omitted or opaque.
  const clang::Expr *expression(int dimension) const { return dimensions_[dimension].expression; }
  bool is_one_dimensional() const { return value(1) == 1 && value(2) == 1; }

  /// Edits that give the shape these extents, trailing "1"s left out.
  /// @param not_before offset that the texts' variables are declared at; a place before it is not used
  std::vector<TextEdit> replace(const std::array<std::string, 3> &extents,
                                std::size_t not_before = 0) const;
  std::vector<TextEdit> replace(int dimension, const std::string &text) const;

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
  std::optional<Range>
      place_; ///< what to replace: an expression, or the arguments of a constructor
};

class LaunchSite {
public:
  LaunchSite(const KernelSource &source, const clang::CUDAKernelCallExpr *launch);
  const LaunchShape &grid() const { return grid_; }
  const LaunchShape &block() const { return block_; }
  const clang::CUDAKernelCallExpr *launch() const { return launch_; }
  /// Offset of the last declaration that the launch's arguments need.
  std::size_t arguments_declared_at() const;
  bool has_shared_bytes() const;

private:
  const KernelSource &source_;
  const clang::CUDAKernelCallExpr *launch_;
  LaunchShape grid_, block_;
};

/// Whether a variable is used by nothing but launch shapes of this kernel.
bool serves_only_this_kernel(const KernelSource &source, const clang::VarDecl *variable,
                             int depth = 0);

/// Adds `more` to `edits`, each once: launches may share a variable.
void add_edits(std::vector<TextEdit> &edits, const std::vector<TextEdit> &more);

} // namespace warpwright::generator
