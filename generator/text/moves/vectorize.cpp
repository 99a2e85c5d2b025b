// vectorize(width): each thread does `width` neighbours through loads and stores of up to 16 bytes.
//
// The vector path is taken where all pointers are aligned and all elements exist, the scalar path elsewhere, so
// any pointer and any size is right. Legal for a guarded element-wise kernel in which each written array is
// touched at the thread's own index only; arrays that are read elsewhere stay scalar.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/guarded.h"
#include "generator/text/source/render.h"
#include "support/model/dtype.h"

#include <algorithm>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

namespace {

struct VectorArray {
  const clang::VarDecl *parameter = nullptr;
  std::string name, element;
  int bytes = 0;
  bool is_written = false;
  bool needs_load = false;
  std::vector<Range> accesses; ///< at the thread's own index
};

struct Plan {
  Guarded guarded;
  std::vector<VectorArray> arrays;
};

/// Whether an access is written, and whether that is an unconditional plain assignment of the work.
struct Use {
  bool is_written = false, is_plain_store = false;
};

Use use_of(const Guarded &guarded, const clang::Expr *access) {
  Use use;
  for (const clang::Stmt *statement : guarded.work)
    for_each_node(statement, [&](const clang::Stmt *node) {
      if (const auto *binary = dyn_cast<clang::BinaryOperator>(node);
          binary && binary->isAssignmentOp()) {
        if (strip(binary->getLHS()) == access) {
          use.is_written = true;
          use.is_plain_store = node == statement && binary->getOpcode() == clang::BO_Assign;
        }
      } else if (const auto *unary = dyn_cast<clang::UnaryOperator>(node)) {
        const bool changes =
            unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf;
        use.is_written |= changes && strip(unary->getSubExpr()) == access;
      }
    });
  return use;
}

/// All element accesses of a parameter in the work; nullopt when the pointer is used in another way.
std::optional<std::vector<ElementAccess>> accesses_of(const IndexReader &form, const Guarded &guarded,
                                                      const clang::ParmVarDecl *parameter) {
  std::vector<ElementAccess> found;
  std::size_t uses = 0, all_uses = 0;
  for (const clang::Stmt *statement : guarded.work)
    for_each_node(statement, [&](const clang::Stmt *node) {
      const auto *expression = dyn_cast<clang::Expr>(node);
      const auto *reference = dyn_cast<clang::DeclRefExpr>(node);
      uses += reference && reference->getDecl() == parameter;
      if (!expression || !(isa<clang::ArraySubscriptExpr>(node) || isa<clang::UnaryOperator>(node)))
        return;
      if (auto element = form.access(expression); element && element->base == parameter)
        found.push_back(*element);
    });
  for (const auto *reference : find_all<clang::DeclRefExpr>(form.source().body()))
    all_uses += reference->getDecl() == parameter;
  return uses == found.size() && all_uses == uses ? std::optional(found) : std::nullopt;
}

Result<std::optional<VectorArray>> plan_array(const IndexReader &form, const Guarded &guarded,
                                              const clang::ParmVarDecl *parameter) {
  auto accesses = accesses_of(form, guarded, parameter);
  if (!accesses || accesses->empty())
    return std::nullopt;
  VectorArray array{parameter, parameter->getNameAsString(), accesses->front().element_type};
  auto dtype = model::dtype_from_c_type(array.element);
  array.bytes = dtype ? static_cast<int>(model::size_bytes(*dtype)) : 0;
  bool reads = false, only_plain_stores = true, elsewhere = false;
  for (const ElementAccess &access : *accesses) {
    const Use use = use_of(guarded, access.expression);
    array.is_written |= use.is_written;
    reads |= !use.is_written;
    only_plain_stores &= use.is_plain_store;
    if (access.index != Polynomial::symbol(guarded.symbol())) {
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

Result<Plan> make_plan(const IndexReader &form) {
  const KernelSource &source = form.source();
  auto guarded = match_guarded(form);
  if (!guarded)
    return std::unexpected(guarded.error());
  Plan plan{*guarded, {}};
  if (!plan.guarded.moved_in.empty())
    return fail("the index is used before its bounds check");
  for (const clang::Stmt *statement : plan.guarded.work) {
    if (has_return(statement) || has_collective(statement) ||
        !find_all<clang::ContinueStmt>(statement).empty())
      return fail("the work contains a return, a continue or a barrier");
  }
  if (!find_all<clang::ForStmt>(source.body()).empty() &&
      find_all<clang::ForStmt>(source.body()).size() > (plan.guarded.is_loop ? 1u : 0u))
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
    return fail("no array is accessed at the thread's global index");
  return plan;
}

std::string vector_type(const VectorArray &array, int width) {
  static const std::set<std::string> kBuiltin{"float", "int", "double"};
  const int bytes = array.bytes * width;
  if (kBuiltin.contains(array.element))
    return array.element + std::to_string(width);
  return bytes == 16  ? "uint4"
         : bytes == 8 ? "uint2"
         : bytes == 4 ? "unsigned int"
                      : "unsigned short";
}

struct VectorText {
  std::string aligned, arrays, loads, stores;
  Edits edits; ///< of the work, for the vector path
};

VectorText vector_text(const Plan &plan, int width, const std::string &first,
                       const std::string &lane, const std::set<std::string> &taken) {
  VectorText text;
  for (const VectorArray &array : plan.arrays) {
    const std::string part = render("$" + array.name + "_part", {}, taken),
                      type = vector_type(array, width);
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

/// The index everywhere else in the vector path: `i` becomes `(first + lane)`.
bool add_index_edits(const KernelSource &source, const Plan &plan, const std::string &replacement,
                     Edits &edits) {
  const Edits accesses = edits;
  for (const clang::Stmt *statement : plan.guarded.work)
    for (const auto *reference : find_all<clang::DeclRefExpr>(statement)) {
      if (reference->getDecl() != plan.guarded.index)
        continue;
      auto range = source.range_of(reference);
      if (!range)
        return false;
      const bool covered = std::ranges::any_of(
          accesses, [&](const TextEdit &edit) { return edit.range.contains(range->begin); });
      if (!covered)
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

} // namespace

Choices check_vectorize(const KernelSource &source) {
  const IndexReader form(source);
  auto plan = make_plan(form);
  if (!plan)
    return Choices::none(plan.error().message);
  if (source.launches().empty())
    return Choices::none("there is no launch whose grid could shrink");
  int widest = 0;
  for (const VectorArray &array : plan->arrays)
    widest = std::max(widest, array.bytes);
  Choices legal;
  for (int width : {2, 4, 8})
    if (width * widest <= 16 && (width < 8 || widest <= 2))
      legal.choices.push_back({{"width", std::to_string(width)}});
  if (legal.choices.empty())
    legal.refusal = "the elements are too large for vector loads";
  return legal;
}

Result<Edits> apply_vectorize(const KernelSource &source, const Parameters &parameters) {
  const IndexReader form(source);
  auto plan = make_plan(form);
  if (!plan)
    return std::unexpected(plan.error());
  const Guarded &guarded = plan->guarded;
  const std::set<std::string> &taken = source.taken_names();
  const std::string first = render("$first", {}, taken), lane = render("$lane", {}, taken);
  const std::string width = parameters.at("width");
  VectorText vectors = vector_text(*plan, number(parameters, "width"), first, lane, taken);
  if (!add_index_edits(source, *plan, "(" + first + " + " + lane + ")", vectors.edits))
    return fail("the index is used inside a macro");
  auto work = guarded.work_text(source), vector_work = guarded.work_text(source, vectors.edits);
  if (!work || !vector_work)
    return std::unexpected(work ? vector_work.error() : work.error());
  const std::string fits = "if (" + render("$aligned", {}, taken) + " && " + first + " + " +
                           std::to_string(number(parameters, "width") - 1) + " < " + guarded.bound +
                           ") {";
  std::string body = render(kBody,
                            {{"vectors_fit", fits},
                             {"arrays", vectors.arrays.substr(2)},
                             {"loads", vectors.loads},
                             {"stores", vectors.stores},
                             {"lane", lane},
                             {"width", width},
                             {"first", first},
                             {"type", guarded.type},
                             {"i", guarded.name},
                             {"bound", guarded.bound},
                             {"work", deepen(*work, "    ")},
                             {"vector_work", deepen(*vector_work, "    ")}},
                            taken);
  std::string text =
      "const bool " + render("$aligned", {}, taken) + " = " + vectors.aligned + ";\n";
  const std::string start =
      guarded.type + " " + first + " = (" + guarded.start + ") * " + width + ";";
  if (guarded.is_loop)
    text += "for (" + start + " " + first + " < " + guarded.bound + "; " + first +
            " += " + parenthesised(guarded.step) + " * " + width + ") {\n  " + deepen(body, "  ") +
            "\n}";
  else
    text += "const " + start + "\n" + body;
  Edits edits{replace_guarded(source, guarded, text)};
  if (guarded.is_loop)
    return edits;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    add_edits(edits, site.grid().replace(0, "(" + as_summand(site.grid().text(0)) + " + " +
                                                std::to_string(number(parameters, "width") - 1) +
                                                ") / " + width));
  }
  return edits;
}

} // namespace warpwright::generator
