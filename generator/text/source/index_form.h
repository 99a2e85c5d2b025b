// Index expressions as polynomials over global ids, block ids, loop counters and parameters.
//
// Locals that are set once are replaced by their values, `blockIdx.x * blockDim.x + threadIdx.x`
// becomes the one symbol "gid.x" (also with a number or macro for the block size), division and
// remainder become symbols of their own. Unlike analysis/facts/affine.h, this file keeps loop
// counters as symbols by name, because recognizers of templates need them.
#pragma once

#include "generator/text/source/kernel_source.h"
#include "support/symbolic/polynomial.h"

#include <array>

namespace warpwright::source {

/// An element of a global array: `base[index]`, `*(base + index)` or `*base`, directly or by a local
/// pointer.
struct ElementAccess {
  const clang::VarDecl *base = nullptr; ///< parameter or array variable
  symbolic::Polynomial index;
  const clang::Expr *expression = nullptr;
  std::string element_type;
};

class IndexReader {
public:
  explicit IndexReader(const KernelSource &source);

  /// The expression as a polynomial; nullopt unless it is integer arithmetic (no loads or calls).
  std::optional<symbolic::Polynomial> of(const clang::Expr *expression) const;
  /// The element that an expression accesses; nullopt for no element or an index that of() cannot read.
  std::optional<ElementAccess> access(const clang::Expr *expression) const;
  /// All element accesses below `root` that access() can read, in the order of the text.
  std::vector<ElementAccess> accesses(const clang::Stmt *root) const;

  /// Extents of the block; nullopt where launches differ or an extent is unknown.
  const std::array<std::optional<std::int64_t>, 3> &block() const { return block_; }
  /// True if the block is one-dimensional and known to consist of whole warps.
  bool has_whole_warps() const;
  const KernelSource &source() const { return source_; }

private:
  std::optional<symbolic::Polynomial> raw(const clang::Expr *expression, int depth) const;
  std::optional<symbolic::Polynomial> of_variable(const clang::VarDecl *variable, int depth) const;
  symbolic::Polynomial with_global_ids(symbolic::Polynomial value) const;

  const KernelSource &source_;
  std::array<std::optional<std::int64_t>, 3> block_;
};

/// C++ text of a polynomial over parameters and constants; nullopt when it has other symbols.
/// @param names texts of symbols; an identifier without a text stands for itself
std::optional<std::string> to_source(const symbolic::Polynomial &value,
                                     const std::map<std::string, std::string> &names = {});

/// True if the symbol is a thread's position ("gid.x", "threadIdx.y", "blockIdx.x") or a quotient of one.
bool is_position(const std::string &symbol);

} // namespace warpwright::source
