// Index expressions as polynomials over what a thread can tell itself apart by: global ids, block ids, loop
// counters, parameters.
//
// Locals that are set once are opened, `blockIdx.x * blockDim.x + threadIdx.x` becomes the one symbol "gid.x" (also
// with a number or macro for the block size), division and remainder become symbols of their own. Unlike
// analysis/facts/affine.h this keeps loop counters as symbols by name, because templates match on them.
// Thread: that of the unit.
#pragma once

#include "support/symbolic/polynomial.h"
#include "generator/text/source/kernel_source.h"

#include <array>

namespace warpwright::generator {


/// An element of a global array: `base[index]`, `*(base + index)`, `*base`, also through a local pointer.
struct ElementAccess {
  const clang::VarDecl *base = nullptr; ///< parameter or array variable
  Polynomial index;
  const clang::Expr *expression = nullptr;
  std::string element_type;
};

class IndexReader {
public:
  explicit IndexReader(const KernelSource &source);

  /// nullopt for what is no integer arithmetic (loads, calls).
  std::optional<Polynomial> of(const clang::Expr *expression) const;
  std::optional<ElementAccess> access(const clang::Expr *expression) const;
  /// All element accesses of parameters below `root`, in order; nullopt when a pointer parameter is used in another way.
  std::optional<std::vector<ElementAccess>> accesses(const clang::Stmt *root) const;

  /// The extents of the block where every launch agrees on a number.
  const std::array<std::optional<std::int64_t>, 3> &block() const { return block_; }
  const KernelSource &source() const { return source_; }

private:
  std::optional<Polynomial> raw(const clang::Expr *expression, int depth) const;
  std::optional<Polynomial> of_variable(const clang::VarDecl *variable, int depth) const;
  Polynomial with_global_ids(Polynomial value) const;

  const KernelSource &source_;
  std::array<std::optional<std::int64_t>, 3> block_;
};

/// C++ text of a polynomial whose symbols are parameters or constants; nullopt where it has others.
/// `names` maps symbols to texts; a symbol that it lacks stands for itself when it is an identifier.
std::optional<std::string> to_source(const Polynomial &value,
                                     const std::map<std::string, std::string> &names = {});

/// A symbol of a thread's position: "gid.x", "threadIdx.y", "blockIdx.x", or derived from one by / or %.
bool is_position(const std::string &symbol);

} // namespace warpwright::generator
