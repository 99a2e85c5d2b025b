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

  std::string name() const { return std::string(1, "xyz"[axis]); }
};

/// Uses of the thread's and the block's place along an axis.
int uses_of_axis(const clang::Stmt *root, const std::string &axis) {
  int count = 0;
  for (const auto *member : source::find_all<clang::MemberExpr>(root))
    for (const char *prefix : {"threadIdx.", "blockIdx.", "gridDim."})
      count += source::builtin_of(member) == prefix + axis;
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
        return binary->isRelationalOp() && !source::uses_of(binary, index).empty();
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
  if (!source.has_all_launches())
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
      TiledAxis tiled{.axis = axis,
                      .index = source::only_variable(body[i]),
                      .declaration = body[i],
                      .shared = {},
                      .rest = {body.begin() + i + 1, body.end()},
                      .before = {},
                      .checks = {},
                      .work = {}};
      const std::string name = tiled.name();
      if (!tiled.index || !tiled.index->hasInit() || !source::is_written_once(source, tiled.index) ||
          form.of(tiled.index->getInit()) != symbolic::Polynomial::symbol("gid." + name))
        continue;
      if (uses_of_axis(source.body(), name) != uses_of_axis(body[i], name)) {
        why = "the kernel uses its place in the grid apart from the index";
        continue;
      }
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

constexpr std::string_view kTileBody = R"cuda(const $type $first = blockIdx.$axis * blockDim.$axis * $factor + threadIdx.$axis;
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

/// The declarations that are the same for all elements, as they stand.
Result<std::string> shared_text(const source::KernelSource &source, const TiledAxis &tiled) {
  std::string text;
  for (const clang::Stmt *statement : tiled.shared) {
    const auto begin = source.range_of(statement), whole = source.statement_range(statement);
    if (!begin || !whole)
      return fail("a declaration comes from a macro");
    text += source.in_levels(source.text_of(Range{begin->begin, whole->end})) + "\n";
  }
  return text;
}

/// Statements that leave `whole` true if all of the thread's elements pass the bounds checks.
Result<std::string> checks_text(const source::KernelSource &source, const TiledAxis &tiled,
                                const source::LaneWriter &writer, const std::string &whole) {
  std::string all;
  for (const auto &[condition, is_true] : tiled.checks) {
    const auto range = source.range_of(condition);
    if (!range)
      return fail("the bounds check comes from a macro");
    const std::string text = TRY(writer.lane_text(*range, condition));
    all += (all.empty() ? "" : "\n") +
           writer.for_lanes(whole + " = " + whole + " && " + (is_true ? "(" : "!(") + text + ");");
  }
  return all;
}

/// The statements for one element, in a loop over the elements.
Result<std::string> single_text(const source::KernelSource &source, const TiledAxis &tiled,
                                Range range) {
  source::Edits returns;
  for (const clang::Stmt *statement : tiled.rest)
    for (const auto *leave : source::find_all<clang::ReturnStmt>(statement))
      if (const auto place = source.range_of(leave))
        returns.push_back({*place, "continue"});
  return source.level_text(range, returns);
}

struct Tile {
  source::Edits edits;
  int shared_loops = 0; ///< loops that run once for all elements
};

/// Errors: code that cannot be written for several elements.
Result<Tile> tile_of(const source::KernelSource &source, const TiledAxis &tiled, int factor) {
  const auto declared = source.range_of(tiled.declaration);
  const auto first = tiled.rest.empty() ? std::nullopt : source.range_of(tiled.rest.front());
  const auto last = tiled.rest.empty() ? std::nullopt : source.statement_range(tiled.rest.back());
  if (!declared || !first || !last)
    return fail("the kernel's statements come from a macro");
  // Statements behind a bounds check run for every element, so they count as unconditional.
  std::vector<const clang::Stmt *> checked = tiled.before;
  checked.insert(checked.end(), tiled.work.begin(), tiled.work.end());
  const source::LaneVariables variables(tiled.index, checked);
  const std::string i = tiled.index->getNameAsString(), axis = tiled.name(),
                    lane = source.unused_name("lane"), first_name = source.unused_name("first"),
                    whole = source.unused_name("whole");
  source::LaneWriter writer(source, variables, lane, factor);
  writer.declare(tiled.index);
  const std::string shared = TRY(shared_text(source, tiled)), before = TRY(writer.write(tiled.before)),
                    check = TRY(checks_text(source, tiled, writer, whole)),
                    work = TRY(writer.write(tiled.work)),
                    rest = TRY(single_text(source, tiled, {first->begin, last->end}));
  const std::string index =
      i + "[" + lane + "] = " + first_name + " + " + lane + " * blockDim." + axis + ";";
  const std::string text =
      shared + source::render(kTileBody, {{"type", source.type_name(tiled.index->getType())},
                                      {"axis", axis},
                                      {"first", first_name},
                                      {"i", i},
                                      {"factor", std::to_string(factor)},
                                      {"lane", lane},
                                      {"whole", whole},
                                      {"index", writer.for_lanes(index)},
                                      {"before", before.empty() ? "" : "\n" + before},
                                      {"check", check},
                                      {"work", source::deepen(work, "  ")},
                                      {"rest", source::deepen(rest, "    ")}});
  const std::string all = source::without_trailing_space(
      source::indent(text, source.body_indent(), source.indent_step()));
  Tile tile{.edits = {{{declared->begin, last->end}, all.substr(all.find_first_not_of(" \t"))}},
            .shared_loops = writer.shared_loops()};
  change_grids(
      tile.edits, source,
      [&](const std::string &grid) { return source::ceil_div_text(grid, factor); }, tiled.axis);
  return tile;
}

} // namespace

Result<Offer> offer_thread_tile(const source::KernelSource &source) {
  const auto axes = TRY(tiled_axes(source::IndexReader(source)));
  std::map<std::string, TiledAxis> offered;
  std::vector<Parameters> choices;
  std::string why;
  for (const TiledAxis &tiled : axes) {
    const auto tile = tile_of(source, tiled, 2);
    if (!tile || tile->shared_loops == 0) {
      why = tile ? "the bounds of each loop depend on the element" : tile.error().message;
      continue;
    }
    offered.try_emplace(tiled.name(), tiled);
    for (const char *factor : {"2", "4", "8"})
      choices.push_back({{"axis", tiled.name()}, {"factor", factor}});
  }
  if (choices.empty())
    return fail(why);
  return Offer{choices, [&source, offered](const Parameters &choice) -> Result<source::Edits> {
                 return TRY(tile_of(source, offered.at(choice.at("axis")), number(choice, "factor"))).edits;
               },
               [](const Parameters &choice) {
                 source::LaunchChange change;
                 change.grid_divisors[static_cast<std::size_t>(choice.at("axis").front() - 'x')] =
                     number(choice, "factor");
                 return change;
               }};
}

} // namespace warpwright::moves
