// The shape that most element-wise kernels have: a global index, a bounds check, and the work behind it.
//
//   int i = blockIdx.x * blockDim.x + threadIdx.x;      for (int i = ...; i < n; i += blockDim.x * gridDim.x)
//   if (i < n) { work }    or  if (i >= n) return; work    { work }
//
// Thread: that of the unit.
#pragma once

#include "generator/text/source/index_form.h"

namespace warpwright::generator {

struct Guarded {
  const clang::VarDecl *index = nullptr;
  std::string name, type; ///< of the index: "i", "int"
  std::string start;      ///< its initial value as written
  std::string bound;      ///< as written
  std::string step;       ///< of the loop as written; empty for the if forms
  bool is_loop = false;
  bool has_braces = true; ///< the work was written in braces, or is more than one statement
  std::vector<const clang::Stmt *> work;
  Range work_range; ///< from its first to its last statement
  Range whole;      ///< from the index's declaration to the end of the work
  std::string
      kept_before; ///< statements between the declaration and the check that do not use the index
  std::string moved_in; ///< declarations between them that do; part of the work

  /// The symbol that stands for the index in IndexReader.
  std::string symbol() const { return is_loop ? name : "gid.x"; }
  /// All of the work in two spaces a level, after `edits` (offsets of the file) were applied to it.
  Result<std::string> work_text(const KernelSource &source,
                                const std::vector<TextEdit> &edits = {}) const;
};

/// Errors: what keeps the kernel from having this shape.
Result<Guarded> match_guarded(const IndexReader &form);

/// `text` as a replacement of `guarded.whole`, in the user's indentation; ends without a newline.
TextEdit replace_guarded(const KernelSource &source, const Guarded &guarded,
                         const std::string &text);

/// Text of the user's between two offsets, in two spaces a level with no base indentation.
std::string in_levels(const KernelSource &source, std::string_view text);

} // namespace warpwright::generator
