// The shape of most element-wise kernels: a global index, a bounds check, and the guarded work.
//
//   int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) { work }    or    if (i >= n) return; work
//
//   for (int i = ...; i < n; i += blockDim.x * gridDim.x) { work }
#pragma once

#include "generator/text/source/index_form.h"

namespace warpwright::source {

/// The parts of a guarded kernel. Texts are in the user's own words.
struct Guarded {
  const clang::VarDecl *index = nullptr;
  std::string name, type; ///< name and type of the index: "i", "int"
  std::string start;      ///< initial value of the index
  std::string bound;
  std::string step; ///< step of the loop; empty for the if forms
  bool is_loop = false;
  bool has_braces = true; ///< the work is in braces, or is more than one statement
  std::vector<const clang::Stmt *> work;
  Range work_range;        ///< from its first to its last statement
  Range whole;             ///< from the index's declaration to the end of the work
  std::string kept_before; ///< statements between index and check that do not use the index
  std::string moved_in;    ///< declarations between index and check that use the index; part of the work

  /// The symbol of the index in IndexReader.
  std::string symbol() const { return is_loop ? name : "gid.x"; }
  /// Text of the work with `edits` (offsets of the file) applied, indented by two spaces a level.
  /// Errors: edits that overlap.
  Result<std::string> work_text(const KernelSource &source, const Edits &edits = {}) const;
  /// Text of a loop with this step: "for (int i = start; i < bound; i += step)".
  std::string loop_head(const std::string &loop_step) const;
  /// `text` as a replacement of `whole`, in the user's indentation; ends without a newline.
  TextEdit replace(const KernelSource &source, const std::string &text) const;
};

/// The parts of the kernel. Errors: the reason why it does not have this shape.
Result<Guarded> match_guarded(const IndexReader &form);
/// match_guarded() for the if forms, with work that every thread runs to its end. Errors: as match_guarded().
Result<Guarded> match_straight(const IndexReader &form);

} // namespace warpwright::source
