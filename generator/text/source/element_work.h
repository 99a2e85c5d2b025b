// The work of a kernel for one element along x, and the conditions under which the element exists.
//
// Two shapes are known. The straight shape has `int i = blockIdx.x * blockDim.x + threadIdx.x;` and
// then the work, behind any bounds checks or none. The loop shape is `for (int i = START; i < n;
// i += STEP)`, or the same as a while loop. START is the thread's place in the grid or in its block,
// and STEP is the number of these threads. Guarded (guarded.h) is the plainer shape that is written
// as another loop; this one also has rows (y, z), rows per block, several checks and several loops.
#pragma once

#include "generator/text/source/index_form.h"

namespace warpwright::source {

/// A condition that holds for elements that exist.
struct ElementCondition {
  enum class Kind { Same, Below, Above }; ///< the same for all elements; true below or above some index
  Kind kind = Kind::Same;
  std::string before, after; ///< text on both sides of the index: "", " < n"; Same: all in `before`

  /// The condition's text for the elements from `first` to `last`.
  std::string text(const std::string &first, const std::string &last) const;
};

struct ElementWork {
  enum class Shape { Straight, GridLoop, BlockLoop };
  Shape shape = Shape::Straight;
  const clang::VarDecl *index = nullptr;
  std::string name, type; ///< name and type of the index: "i", "int"
  std::string start;      ///< initial value of the index
  std::string bound, step; ///< of a loop
  /// Conditions of the checks that `work` no longer has.
  std::vector<ElementCondition> conditions;
  std::vector<const clang::Stmt *> shared;  ///< declarations that are the same for all elements
  std::vector<const clang::Stmt *> derived; ///< declarations for one element in front of the checks
  std::vector<const clang::Stmt *> work;    ///< statements for one element behind the checks
  /// From the first statement for an element to the last, with the checks.
  Range single_range;
  Range whole; ///< the text that the work, its index and its loop take, with the pragmas above it
  std::size_t behind_pragmas = 0; ///< the begin of `whole` without them

  bool is_loop() const { return shape != Shape::Straight; }
  /// The symbol of the index in IndexReader.
  std::string symbol() const { return is_loop() ? name : "gid.x"; }
  /// True if some condition bounds the index from above.
  bool has_bound() const;
  /// True if the conditions are all that stands between the index and `work`, and each of them holds
  /// up to some element. Then a loop over elements can have them as its condition.
  bool is_simple() const;
  /// `derived` and `work`.
  std::vector<const clang::Stmt *> statements() const;
};

/// The works of a kernel: one straight work, or loops with the same start, bound and step.
/// Errors: the reason why there is none.
Result<std::vector<ElementWork>> match_element_work(const IndexReader &form);

/// Splits the statements behind the index of `work` into its declarations, conditions and work.
void take_checks(const IndexReader &form, const std::vector<const clang::Stmt *> &statements, ElementWork &work);

/// Text of a value without symbols of the index, each term as 64-bit arithmetic; nullopt where it
/// has symbols that are neither parameters, nor places in the grid, nor variables from outside.
/// @param inside statements that declare or change variables, which the text cannot use
std::optional<std::string> wide_text(const symbolic::Polynomial &value,
                                     const std::vector<const clang::Stmt *> &inside);

} // namespace warpwright::source
