// Move vectorize(width): `width` neighboring elements a thread, by loads and stores of up to 16
// bytes.
//
// The vector path runs where all pointers are aligned and all elements exist, the scalar path
// elsewhere, so every pointer and size is allowed. Legal for a guarded element-wise kernel that
// accesses each written array at the thread's own index only. Arrays that are read at other indices
// stay scalar.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/guarded.h"
#include "generator/text/templates/reduce.h"

#include <algorithm>

namespace warpwright::moves {

using clang::dyn_cast;

namespace {

struct VectorArray {
  std::string name, element;
  int bytes = 0;
  bool is_written = false;
  bool needs_load = false;
  std::vector<Range> accesses; ///< accesses at the thread's own index
};

struct Plan {
  source::Guarded guarded;
  std::vector<VectorArray> arrays;
};

struct Use {
  bool is_written = false;
  bool is_plain_store = false; ///< the access is the target of an unconditional `=`
};

Use use_of(const source::Guarded &guarded, const clang::Expr *access) {
  Use use;
  for (const clang::Stmt *statement : guarded.work)
    source::for_each_node(statement, [&](const clang::Stmt *node) {
      if (const auto *binary = dyn_cast<clang::BinaryOperator>(node);
          binary && binary->isAssignmentOp()) {
        if (source::strip(binary->getLHS()) == access) {
          use.is_written = true;
          use.is_plain_store = node == statement && binary->getOpcode() == clang::BO_Assign;
        }
      } else if (const auto *unary = dyn_cast<clang::UnaryOperator>(node)) {
        use.is_written |=
            source::writes_operand(unary) && source::strip(unary->getSubExpr()) == access;
      }
    });
  return use;
}

/// All element accesses of a parameter in the work; empty when the pointer is used in another way.
std::vector<source::ElementAccess> accesses_of(const source::IndexReader &form,
                                               const source::Guarded &guarded,
                                               const clang::ParmVarDecl *parameter) {
  std::vector<source::ElementAccess> found;
  std::size_t uses = 0;
  for (const clang::Stmt *statement : guarded.work) {
    uses += source::uses_of(statement, parameter).size();
    std::ranges::copy_if(
        form.accesses(statement), std::back_inserter(found),
        [&](const source::ElementAccess &access) { return access.base == parameter; });
  }
  if (uses != found.size() || source::uses_of(form.source().body(), parameter).size() != uses)
    return {};
  return found;
}

/// The vector accesses of a parameter; nullopt for one that stays scalar.
/// Errors: an array for which vectors would be wrong.
Result<std::optional<VectorArray>> plan_array(const source::IndexReader &form,
                                              const source::Guarded &guarded,
                                              const clang::ParmVarDecl *parameter) {
  const auto accesses = accesses_of(form, guarded, parameter);
  if (accesses.empty())
    return std::nullopt;
  VectorArray array{parameter->getNameAsString(), accesses.front().element_type};
  array.bytes = templates::element_bytes(array.element);
  bool reads = false, only_plain_stores = true, elsewhere = false;
  for (const source::ElementAccess &access : accesses) {
    const Use use = use_of(guarded, access.expression);
    array.is_written |= use.is_written;
    reads |= !use.is_written;
    only_plain_stores &= use.is_plain_store;
    if (access.index != symbolic::Polynomial::symbol(guarded.symbol())) {
      elsewhere = true;
      continue;
    }
    auto range = form.source().range_of(access.expression);
    if (!range)
      return fail("an access to " + array.name + " comes from a macro");
    array.accesses.push_back(*range);
  }
  if (array.is_written && elsewhere)
    return fail(array.name + " is written and also used at another element");
  array.needs_load = reads || !only_plain_stores;
  const bool usable = !array.accesses.empty() && array.bytes > 0 && array.bytes <= 8;
  return usable ? std::optional(array) : std::nullopt;
}

Result<Plan> make_plan(const source::IndexReader &form) {
  const source::KernelSource &source = form.source();
  auto guarded = match_guarded(form);
  if (!guarded)
    return std::unexpected(guarded.error());
  Plan plan{*guarded, {}};
  if (!plan.guarded.moved_in.empty())
    return fail("the index is used before its bounds check");
  if (source::has_exit(plan.guarded.work) ||
      std::ranges::any_of(plan.guarded.work, [](const clang::Stmt *statement) {
        return !source::find_all<clang::ContinueStmt>(statement).empty();
      }))
    return fail("the work contains a return, a continue or a barrier");
  if (source::find_all<clang::ForStmt>(source.body()).size() > (plan.guarded.is_loop ? 1u : 0u))
    return fail("the work contains a loop");
  for (const clang::ParmVarDecl *parameter : source.kernel()->parameters()) {
    if (!parameter->getType()->isPointerType())
      continue;
    auto array = plan_array(form, plan.guarded, parameter);
    if (!array)
      return std::unexpected(array.error());
    if (*array)
      plan.arrays.push_back(**array);
  }
  if (plan.arrays.empty())
    return fail("the kernel does not access an array at the thread's global index");
  if (!source.can_change_launches())
    return fail("there is no launch with a grid that could shrink");
  return plan;
}

std::string vector_of(const VectorArray &array, int width) {
  static const std::set<std::string> kBuiltin{"float", "int", "double"};
  return kBuiltin.contains(array.element) ? array.element + std::to_string(width)
                                          : templates::vector_type(array.bytes * width);
}

/// Texts of the vector path.
struct VectorText {
  std::string aligned, arrays, loads, stores;
  source::Edits edits; ///< edits of the work for the vector path
};

VectorText vector_text(const Plan &plan, int width, const std::string &first,
                       const std::string &lane, const std::set<std::string> &taken) {
  VectorText text;
  for (const VectorArray &array : plan.arrays) {
    const std::string part = source::fresh_name(array.name + "_part", taken),
                      type = vector_of(array, width);
    const std::string bytes = std::to_string(array.bytes * width);
    text.aligned += (text.aligned.empty() ? "" : " &&\n    ") +
                    std::string("reinterpret_cast<size_t>(") + array.name + ") % " + bytes +
                    " == 0";
    text.arrays += "  alignas(" + bytes + ") " + array.element + " " + part + "[" +
                   std::to_string(width) + "];\n";
    if (array.needs_load)
      text.loads += "  *reinterpret_cast<" + type + " *>(" + part + ") = *reinterpret_cast<const " +
                    type + " *>(" + array.name + " + " + first + ");\n";
    if (array.is_written)
      text.stores += "  *reinterpret_cast<" + type + " *>(" + array.name + " + " + first +
                     ") = *reinterpret_cast<const " + type + " *>(" + part + ");\n";
    for (const Range &range : array.accesses)
      text.edits.push_back({range, part + "[" + lane + "]"});
  }
  return text;
}

/// Adds edits of all other uses of the index in the vector path: `i` becomes `(first + lane)`.
/// False when a use is inside a macro.
bool add_index_edits(const source::KernelSource &source, const source::Guarded &guarded,
                     const std::string &replacement, source::Edits &edits) {
  const source::Edits accesses = edits;
  for (const clang::Stmt *statement : guarded.work)
    for (const auto *reference : source::uses_of(statement, guarded.index)) {
      const auto range = source.range_of(reference);
      if (!range)
        return false;
      if (std::ranges::none_of(
              accesses, [&](const TextEdit &edit) { return edit.range.contains(range->begin); }))
        edits.push_back({*range, replacement});
    }
  return true;
}

constexpr std::string_view kBody = R"cuda($vectors_fit
  $arrays$loads  #pragma unroll
  for (int $lane = 0; $lane < $width; ++$lane) {
    $vector_work
  }
$stores} else {
  for ($type $i = $first; $i < $first + $width && $i < $bound; ++$i) {
    $work
  }
})cuda";

/// Edits that vectorize the kernel. Errors: an index inside a macro.
Result<source::Edits> vector_edits(const source::KernelSource &source, const Plan &plan,
                                   int count) {
  const source::Guarded &guarded = plan.guarded;
  const std::set<std::string> &taken = source.taken_names();
  const std::string first = source::fresh_name("first", taken),
                    lane = source::fresh_name("lane", taken),
                    aligned = source::fresh_name("aligned", taken), width = std::to_string(count);
  VectorText vectors = vector_text(plan, count, first, lane, taken);
  if (!add_index_edits(source, guarded, "(" + first + " + " + lane + ")", vectors.edits))
    return fail("the index is used inside a macro");
  auto work = guarded.work_text(source), vector_work = guarded.work_text(source, vectors.edits);
  if (!work || !vector_work)
    return std::unexpected(work ? vector_work.error() : work.error());
  const std::string body = source::render(
      kBody,
      {{"vectors_fit", "if (" + aligned + " && " + first + " + " + std::to_string(count - 1) +
                           " < " + guarded.bound + ") {"},
       {"arrays", vectors.arrays.substr(2)},
       {"loads", vectors.loads},
       {"stores", vectors.stores},
       {"lane", lane},
       {"width", width},
       {"first", first},
       {"type", guarded.type},
       {"i", guarded.name},
       {"bound", guarded.bound},
       {"work", source::deepen(*work, "    ")},
       {"vector_work", source::deepen(*vector_work, "    ")}},
      taken);
  std::string text = "const bool " + aligned + " = " + vectors.aligned + ";\n";
  const std::string start =
      guarded.type + " " + first + " = (" + guarded.start + ") * " + width + ";";
  if (guarded.is_loop)
    text += "for (" + start + " " + first + " < " + guarded.bound + "; " + first +
            " += " + source::parenthesised(guarded.step) + " * " + width + ") {\n  " +
            source::deepen(body, "  ") + "\n}";
  else
    text += "const " + start + "\n" + body;
  source::Edits edits{guarded.replace(source, text)};
  if (!guarded.is_loop)
    change_grids(edits, source,
                 [&](const std::string &grid) { return source::ceil_div_text(grid, count); });
  return edits;
}

} // namespace

Result<Offer> offer_vectorize(const source::KernelSource &source) {
  const auto plan = make_plan(source::IndexReader(source));
  if (!plan)
    return std::unexpected(plan.error());
  const int widest = std::ranges::max(plan->arrays, {}, &VectorArray::bytes).bytes;
  auto choices = choices_of("width", {2, 4, 8, 16});
  std::erase_if(choices, [&](const Parameters &choice) {
    const int width = number(choice, "width");
    return width * widest > 16;
  });
  if (choices.empty())
    return fail("the elements are too large for vector loads");
  return Offer{choices, [&source, plan = *plan](const Parameters &choice) {
                 return vector_edits(source, plan, number(choice, "width"));
               }};
}

} // namespace warpwright::moves
