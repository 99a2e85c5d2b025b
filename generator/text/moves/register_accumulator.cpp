// Move register_accumulator(): an element of memory that a loop updates again and again is kept in
// a register.
//
//   for (int k = 0; k < n; ++k)              float sum = out[i];
//     out[i] += a[k] * b[k];         becomes   for (int k = 0; k < n; ++k) sum += a[k] * b[k];
//                                              out[i] = sum;
//
// The compiler cannot do this where another pointer may point to the element. Legal for a loop
// without barriers and returns in which the element's place does not change and its array is used
// in no other way. The loop may run no time: then the element is written unchanged.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/effects.h"
#include "generator/text/source/index_form.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

struct Accumulator {
  const clang::Stmt *loop = nullptr;
  std::string place, type; ///< "out[i]", "float"
  std::vector<Range> uses;
};

/// The variable at the root of an element: a pointer or an array in memory; null for values of the
/// thread's own.
const clang::VarDecl *memory_root(const clang::Expr *element) {
  bool is_followed = false;
  for (;;) {
    element = source::strip(element);
    if (const auto *subscript = llvm::dyn_cast_or_null<clang::ArraySubscriptExpr>(element)) {
      is_followed |= source::strip(subscript->getBase())->getType()->isPointerType();
      element = subscript->getBase();
    } else if (const auto *member = llvm::dyn_cast_or_null<clang::MemberExpr>(element)) {
      is_followed |= member->isArrow();
      element = member->getBase();
    } else {
      const clang::VarDecl *variable = source::variable_of(element);
      const bool is_shared = variable && variable->hasAttr<clang::CUDASharedAttr>();
      return variable && (is_followed || is_shared) ? variable : nullptr;
    }
  }
}

/// The element's uses if the loop uses its array in no other way; empty otherwise.
std::vector<Range> uses_of_place(const source::KernelSource &source, const clang::Stmt *loop,
                                 const clang::VarDecl *root, const std::string &place) {
  std::vector<Range> uses;
  std::size_t elements = 0;
  source::for_each_node(loop, [&](const clang::Stmt *node) {
    const auto *expression = dyn_cast<clang::Expr>(node);
    if (!expression || source::strip(expression) != expression || memory_root(expression) != root)
      return;
    if (const auto range = source.range_of(expression); range && source.text_of(*range) == place) {
      uses.push_back(*range);
      ++elements;
    }
  });
  return elements == source::uses_of(loop, root).size() ? uses : std::vector<Range>();
}

/// The elements that a loop updates, with their places in the text.
std::vector<Accumulator> accumulators_of(const source::KernelSource &source, const clang::Stmt *loop) {
  std::vector<Accumulator> found;
  for (const auto *binary : source::find_all<clang::BinaryOperator>(loop)) {
    if (!binary->isAssignmentOp())
      continue;
    const clang::Expr *element = source::strip(binary->getLHS());
    const clang::VarDecl *root = memory_root(element);
    const std::string place = source.text_of(element);
    const clang::QualType type = element->getType();
    if (!root || place.empty() || (!type->isArithmeticType() && !type->isTemplateTypeParmType()) || !source::is_invariant(loop, element) ||
        std::ranges::find(found, place, &Accumulator::place) != found.end())
      continue;
    auto uses = uses_of_place(source, loop, root, place);
    const bool is_read = binary->isCompoundAssignmentOp() || uses.size() > 1;
    if (!uses.empty() && is_read)
      found.push_back({loop, place, source.type_name(type), std::move(uses)});
  }
  return found;
}

bool can_change(const source::KernelSource &source, const clang::Stmt *loop) {
  const auto range = source.range_of(loop);
  return range && source::starts_line(source.text(), range->begin) && !source::has_exit({loop}) &&
         source::find_all<clang::GotoStmt>(loop).empty();
}

/// Each element at the outermost loop that allows it.
std::vector<Accumulator> all_accumulators(const source::KernelSource &source) {
  std::vector<Accumulator> all;
  source::for_each_node(source.body(), [&](const clang::Stmt *node) {
    if ((!llvm::isa<clang::ForStmt>(node) && !llvm::isa<clang::WhileStmt>(node)) || !can_change(source, node))
      return;
    for (Accumulator &one : accumulators_of(source, node)) {
      const bool is_known = std::ranges::any_of(all, [&](const Accumulator &other) {
        return std::ranges::any_of(one.uses, [&](const Range &use) {
          return std::ranges::find(other.uses, use) != other.uses.end();
        });
      });
      if (!is_known)
        all.push_back(std::move(one));
    }
  });
  return all;
}

} // namespace

Result<Offer> offer_register_accumulator(const source::KernelSource &source) {
  const auto accumulators = all_accumulators(source);
  if (accumulators.empty())
    return fail("no loop updates an element of memory that stays in its place");
  return Offer{{Parameters{}}, [&source, accumulators](const Parameters &) -> Result<source::Edits> {
                 std::map<std::size_t, std::string> before, after; // at one loop: in one edit each
                 source::Edits edits;
                 std::set<std::string> names;
                 for (const Accumulator &one : accumulators) {
                   const std::string name = source.unused_name("accumulated", names);
                   names.insert(name);
                   const auto range = source.statement_range(one.loop);
                   if (!range)
                     return fail("a loop comes from a macro");
                   const std::size_t begin = source::with_pragmas(source.text(), source.range_of(one.loop)->begin);
                   const std::string indentation = indentation_at(source.text(), begin);
                   before[begin] += one.type + " " + name + " = " + one.place + ";\n" + indentation;
                   after[range->end] += "\n" + indentation + one.place + " = " + name + ";";
                   for (const Range &use : one.uses)
                     edits.push_back({use, name});
                 }
                 for (const auto &texts : {before, after})
                   for (const auto &[offset, text] : texts)
                     edits.push_back({{offset, offset}, text});
                 return edits;
               }};
}

} // namespace warpwright::moves
