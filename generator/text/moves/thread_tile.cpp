// Move thread_tile(axis, factor): each thread computes several elements along one axis of the grid,
// and the loops of its work run once for all of them.
//
// A value that does not depend on the element, such as the other operand of a product, is then
// loaded once for all of a thread's elements (register tiling; Volkov, "Better performance at lower
// occupancy", 2010). Applied along both axes it makes tiles. The elements of a
// thread lie one block apart, so that a warp's accesses stay coalesced. Where not all of a thread's
// elements exist, they are computed one after another. Legal for kernels with a global index, a
// bounds check and a loop with bounds that do not depend on the index, without shared memory,
// barriers and warp operations.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/index_form.h"
#include "generator/text/source/lanes.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

constexpr std::string_view kAxes = "xyz";

struct TiledAxis {
  int axis = 0;
  const clang::VarDecl *index = nullptr;
  const clang::Stmt *declaration = nullptr;
  std::vector<const clang::Stmt *> shared; ///< declarations behind it that are the same for all elements
  std::vector<const clang::Stmt *> rest;   ///< statements behind them
  std::vector<const clang::Stmt *> before; ///< those of them before and between the bounds checks
  /// Bounds checks, and whether they are true for elements that exist.
  std::vector<std::pair<const clang::Expr *, bool>> checks;
  std::vector<const clang::Stmt *> work;
};

/// Uses of the thread's and the block's place along an axis.
int uses_of_axis(const clang::Stmt *root, char axis) {
  int count = 0;
  for (const auto *member : source::find_all<clang::MemberExpr>(root))
    for (const char *prefix : {"threadIdx.", "blockIdx.", "gridDim."})
      count += source::builtin_of(member) == std::string(prefix) + axis;
  return count;
}

bool is_return(const clang::Stmt *statement) {
  const auto statements = source::statements_of(statement);
  return statements.size() == 1 && llvm::isa<clang::ReturnStmt>(statements.front());
}

/// Takes the leading declarations that do not depend on the index out of the rest.
void take_shared(TiledAxis &tiled) {
  const source::LaneVariables lanes(tiled.index, tiled.rest);
  const auto is_shared = [&](const clang::Stmt *statement) {
    return llvm::isa<clang::DeclStmt>(statement) && !lanes.differ_in(statement) &&
           std::ranges::none_of(source::variables_of(statement),
                                [&](const clang::VarDecl *one) { return lanes.contains(one); });
  };
  const auto end = std::ranges::find_if_not(tiled.rest, is_shared);
  tiled.shared.assign(tiled.rest.begin(), end);
  tiled.rest.erase(tiled.rest.begin(), end);
}

bool is_return_branch(const clang::IfStmt *branch) {
  return branch && is_return(branch->getThen()) && !branch->getElse();
}

/// True if the code compares the index with a bound.
bool compares_index(const clang::Stmt *root, const clang::VarDecl *index) {
  return std::ranges::any_of(
      source::find_all<clang::BinaryOperator>(root), [&](const clang::BinaryOperator *binary) {
        return binary->isRelationalOp() &&
               (source::variable_of(source::strip_casts(binary->getLHS())) == index ||
                source::variable_of(source::strip_casts(binary->getRHS())) == index ||
                !source::uses_of(binary, index).empty());
      });
}

/// Splits the statements behind the index. Errors: the reason why they cannot be tiled.
Result<void> take_work(TiledAxis &tiled) {
  const source::LaneVariables lanes(tiled.index, tiled.rest);
  bool is_bounded = false; // some check, or a value for one, compares the index with a bound
  std::size_t at = 0;
  for (; at < tiled.rest.size(); ++at) {
    const clang::Stmt *statement = tiled.rest[at];
    const auto *branch = dyn_cast<clang::IfStmt>(statement);
    if (is_return_branch(branch) && lanes.differ_in(branch->getCond()))
      tiled.checks.emplace_back(branch->getCond(), false);
    else if (tiled.checks.empty() && (is_return_branch(branch) || (!branch && !source::has_effect(statement))))
      tiled.before.push_back(statement); // what stands behind a check may read what only elements have
    else
      break;
    is_bounded |= compares_index(statement, tiled.index);
  }
  tiled.work.assign(tiled.rest.begin() + static_cast<std::ptrdiff_t>(at), tiled.rest.end());
  if (tiled.checks.empty() && tiled.work.size() == 1)
    if (const auto *branch = dyn_cast<clang::IfStmt>(tiled.work.front());
        branch && lanes.differ_in(branch->getCond())) {
      tiled.checks.emplace_back(branch->getCond(), true);
      tiled.work = source::statements_of(branch->getThen());
      is_bounded |= compares_index(branch->getCond(), tiled.index);
    }
  if (tiled.checks.empty() || !is_bounded)
    return fail("the global index has no bounds check");
  for (const clang::Stmt *statement : tiled.work)
    if (!source::find_all<clang::ReturnStmt>(statement).empty())
      return fail("the work contains a return");
  return {};
}

/// The axes along which the kernel has one index. Errors: the reason why there is none.
Result<std::vector<TiledAxis>> tiled_axes(const source::IndexReader &form) {
  const source::KernelSource &source = form.source();
  if (source.launches().empty())
    return fail("there is no launch with a grid that could shrink");
  if (source.body_text().contains("__shared__") || source::has_collective(source.body()))
    return fail("the kernel uses shared memory, a barrier or warp operations");
  if (!source::find_all<clang::LambdaExpr>(source.body()).empty() ||
      !source::find_all<clang::GotoStmt>(source.body()).empty())
    return fail("the kernel has a lambda or a goto");
  std::vector<TiledAxis> found;
  std::string why = "the kernel has no global index that a declaration gives";
  const auto body = source::statements_of(source.body());
  for (int axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i < body.size(); ++i) {
      const clang::VarDecl *index = source::only_variable(body[i]);
      if (!index || !index->hasInit() || !source::is_written_once(source, index) ||
          form.of(index->getInit()) != symbolic::Polynomial::symbol(std::string("gid.") + kAxes[axis]))
        continue;
      if (uses_of_axis(source.body(), kAxes[axis]) != uses_of_axis(body[i], kAxes[axis])) {
        why = "the kernel uses its place in the grid apart from the index";
        continue;
      }
      TiledAxis tiled{.axis = axis, .index = index, .declaration = body[i], .shared = {}, .rest = {body.begin() + i + 1, body.end()},
                      .before = {}, .checks = {}, .work = {}};
      take_shared(tiled);
      if (auto taken = take_work(tiled); !taken)
        why = taken.error().message;
      else
        found.push_back(std::move(tiled));
    }
  if (found.empty())
    return fail(why);
  return found;
}

constexpr std::string_view kBody = R"cuda(const $type $first = blockIdx.$axis * blockDim.$axis * $factor + threadIdx.$axis;
$type $i[$factor];
$index$before
bool $whole = true;
$check
if ($whole) {
  $work
} else {
  for (int $lane = 0; $lane < $factor; ++$lane) {
    const $type $i = $first + $lane * blockDim.$axis;
    $rest
  }
})cuda";

/// Edits of the kernel's body. Errors: code that cannot be written for several elements.
/// @param shared_loops gets the number of loops that run once for all elements
Result<source::Edits> tile_edits(const source::KernelSource &source, const TiledAxis &tiled, int factor,
                                 int &shared_loops) {
  const std::set<std::string> &taken = source.taken_names();
  const auto declared = source.range_of(tiled.declaration);
  const auto first = tiled.rest.empty() ? std::nullopt : source.range_of(tiled.rest.front());
  const auto last = tiled.rest.empty() ? std::nullopt : source.statement_range(tiled.rest.back());
  if (!declared || !first || !last)
    return fail("the kernel's statements come from a macro");
  std::set<std::string> known = taken;
  for (const char *name : {"first", "lane", "whole"}) // those of a tile along another axis stay
    if (mentions(source.body_text(), name))
      known.insert(name);
  const std::string lane = source::fresh_name("lane", known), name = tiled.index->getNameAsString();
  std::vector<const clang::Stmt *> checked = tiled.before; // what is written behind a check is not conditional
  checked.insert(checked.end(), tiled.work.begin(), tiled.work.end());
  const source::LaneVariables variables(tiled.index, checked);
  source::LaneWriter writer(source, variables, lane, factor);
  std::string shared;
  for (const clang::Stmt *statement : tiled.shared) {
    const auto begin = source.range_of(statement), whole = source.statement_range(statement);
    if (!begin || !whole)
      return fail("a declaration comes from a macro");
    shared += source.in_levels(source.text_of(Range{begin->begin, whole->end})) + "\n";
  }
  writer.declare(tiled.index);
  auto before = writer.write(tiled.before);
  if (!before)
    return std::unexpected(before.error());
  std::string check;
  const std::string whole = source::fresh_name("whole", known);
  for (const auto &[condition, is_true] : tiled.checks) {
    const auto range = source.range_of(condition);
    if (!range)
      return fail("the bounds check comes from a macro");
    auto text = writer.lane_text(*range, condition);
    if (!text)
      return std::unexpected(text.error());
    check += (check.empty() ? "" : "\n") +
             writer.for_lanes(whole + " = " + whole + " && " + (is_true ? "(" : "!(") + *text + ");");
  }
  auto work = writer.write(tiled.work);
  if (!work)
    return std::unexpected(work.error());
  shared_loops = writer.shared_loops();
  source::Edits returns;
  for (const clang::Stmt *statement : tiled.rest)
    for (const auto *leave : source::find_all<clang::ReturnStmt>(statement))
      if (const auto range = source.range_of(leave))
        returns.push_back({*range, "continue"});
  auto rest = source.level_text({first->begin, last->end}, returns);
  if (!rest)
    return std::unexpected(rest.error());
  const std::string first_name = source::fresh_name("first", known);
  const std::string axis(1, kAxes[static_cast<std::size_t>(tiled.axis)]);
  const std::string text = shared + source::render(
      kBody,
      {{"type", source.type_name(tiled.index->getType())},
       {"axis", axis},
       {"first", first_name},
       {"i", name},
       {"factor", std::to_string(factor)},
       {"lane", lane},
       {"whole", whole},
       {"index", writer.for_lanes(name + "[" + lane + "] = " + first_name + " + " + lane + " * blockDim." + axis + ";")},
       {"before", before->empty() ? "" : "\n" + *before},
       {"check", check},
       {"work", source::deepen(*work, "  ")},
       {"rest", source::deepen(*rest, "    ")}},
      taken);
  const std::string all = source::without_trailing_space(
      source::indent(text, source.body_indent(), source.indent_step()));
  source::Edits edits{{{declared->begin, last->end}, all.substr(all.find_first_not_of(" \t"))}};
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const source::LaunchSite site(source, launch);
    const source::LaunchShape &grid = site.grid();
    source::add_edits(edits, grid.replace(tiled.axis, source::ceil_div_text(grid.text(tiled.axis), factor)));
  }
  return edits;
}

} // namespace

Result<Offer> offer_thread_tile(const source::KernelSource &source) {
  auto axes = tiled_axes(source::IndexReader(source));
  if (!axes)
    return std::unexpected(axes.error());
  std::vector<Parameters> choices;
  std::string why;
  for (const TiledAxis &tiled : *axes) {
    int shared_loops = 0;
    const auto edits = tile_edits(source, tiled, 2, shared_loops);
    if (!edits || shared_loops == 0) {
      why = edits ? "the bounds of each loop depend on the element" : edits.error().message;
      continue;
    }
    for (const char *factor : {"2", "4", "8"})
      choices.push_back({{"axis", std::string(1, kAxes[static_cast<std::size_t>(tiled.axis)])}, {"factor", factor}});
  }
  if (choices.empty())
    return fail(why);
  return Offer{choices, [&source, axes = *axes](const Parameters &choice) -> Result<source::Edits> {
                 for (const TiledAxis &tiled : axes)
                   if (choice.at("axis").front() == kAxes[static_cast<std::size_t>(tiled.axis)]) {
                     int shared_loops = 0;
                     return tile_edits(source, tiled, number(choice, "factor"), shared_loops);
                   }
                 return fail("there is no such axis");
               }};
}

} // namespace warpwright::moves
