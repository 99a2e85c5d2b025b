// Search for the loops that a group shares, and their text; see shared_loops.h.
#include "generator/text/lift/shared_loops.h"

#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::lift {

using clang::dyn_cast;

namespace {

constexpr int kWarp = 32;
constexpr std::int64_t kMostElements = 64; // of an array whose elements are combined one by one

/// True if a value of this type can be passed between threads.
bool can_shuffle(const std::string &type) {
  static const std::set<std::string> kTypes{
      "float", "double",      "int",           "unsigned int", "long",          "long long", "unsigned long",
      "bool",  "signed char", "unsigned char", "char",         "unsigned short", "short",     "unsigned long long"};
  return kTypes.contains(type);
}

/// The reason why a group of so many threads cannot combine the loop's results; empty: it can.
std::string refuses_results(const ParallelLoop &loop, int threads) {
  std::vector<std::string> types;
  for (const Accumulator &accumulator : loop.accumulators) {
    // The instances' types show at compilation. The neutral elements of sums and products suit any of them.
    const bool suits_all = accumulator.combine == source::Combine::Sum || accumulator.combine == source::Combine::Product;
    if (!accumulator.is_of_template || !suits_all)
      types.push_back(accumulator.type);
    std::int64_t elements = 1;
    for (const std::int64_t extent : accumulator.extents)
      elements *= extent;
    if (elements > kMostElements)
      return "the loop sums into an array with many elements";
  }
  for (const SelectedValue &value : loop.selected) {
    types.push_back(value.type);
    types.insert(types.end(), value.chosen_types.begin(), value.chosen_types.end());
  }
  if (threads > kWarp && !loop.selected.empty())
    return "the best value is selected by no more than a warp";
  for (const std::string &type : types)
    if (!can_shuffle(type))
      return "a value of type " + type + " cannot be shuffled";
  return {};
}

class LoopSearch {
public:
  LoopSearch(const source::IndexReader &form, int threads) : form_(form), threads_(threads) {}

  void visit(const clang::Stmt *statement, bool is_bare, bool is_nested) {
    if (!statement)
      return;
    if (const auto *loop = dyn_cast<clang::ForStmt>(statement); loop && take(loop, is_bare, is_nested))
      return;
    const bool is_list = llvm::isa<clang::CompoundStmt>(statement);
    const bool repeats = llvm::isa<clang::ForStmt>(statement) || llvm::isa<clang::WhileStmt>(statement) ||
                         llvm::isa<clang::DoStmt>(statement);
    for (const clang::Stmt *child : statement->children())
      if (child && !llvm::isa<clang::Expr>(child) && !llvm::isa<clang::DeclStmt>(child))
        visit(child, !is_list, is_nested || repeats);
  }

  std::vector<SharedLoop> found;
  std::string why = "there is no loop to share";

private:
  bool take(const clang::ForStmt *statement, bool is_bare, bool is_nested) {
    auto loop = parallel_loop(form_, statement);
    std::string reason = loop ? "" : loop.error().message;
    if (loop && loop->iterations && *loop->iterations < threads_)
      reason = "each loop has too few iterations";
    if (loop && loop->accumulators.empty() && loop->selected.empty() && loop->effects.stores.empty())
      return false;
    if (loop && reason.empty())
      reason = refuses_results(*loop, threads_);
    if (!reason.empty()) {
      why = has_reason_ ? why : reason;
      has_reason_ = true;
      return false;
    }
    found.push_back({std::move(*loop), is_bare, is_nested});
    return true;
  }

  const source::IndexReader &form_;
  const int threads_;
  bool has_reason_ = false;
};

bool contains(const clang::Stmt *root, const clang::Stmt *node) {
  bool found = false;
  source::for_each_node(root, [&](const clang::Stmt *below) { found |= below == node; });
  return found;
}

bool declares_variable(const clang::DeclStmt *declaration, const clang::VarDecl *variable) {
  return std::ranges::any_of(source::variables_of(declaration),
                             [&](const clang::VarDecl *declared) { return declared == variable; });
}

/// True if some loop runs the statement several times for one declaration of the variable.
bool is_repeated(const source::KernelSource &source, const clang::Stmt *statement, const clang::VarDecl *variable) {
  bool found = false;
  source::for_each_node(source.body(), [&](const clang::Stmt *node) {
    const bool repeats =
        llvm::isa<clang::ForStmt>(node) || llvm::isa<clang::WhileStmt>(node) || llvm::isa<clang::DoStmt>(node);
    if (!repeats || node == statement || !contains(node, statement))
      return;
    bool declares = false;
    for (const auto *declaration : source::find_all<clang::DeclStmt>(node))
      declares |= declares_variable(declaration, variable);
    found |= !declares;
  });
  return found;
}

/// True if the accumulator's declaration starts it from what changes no result, and nothing else
/// writes it before the loop.
bool starts_neutral(const source::KernelSource &source, const SharedLoop &shared, const Accumulator &accumulator) {
  const clang::VarDecl *variable = accumulator.variable;
  const bool adds = accumulator.combine == source::Combine::Sum || accumulator.combine == source::Combine::Xor;
  const clang::Expr *init = variable->getInit();
  if (!adds || !init || is_repeated(source, shared.loop.loop, variable) || !accumulator.extents.empty() || accumulator.place.contains('.'))
    return false;
  return source::is_zero(init) &&
         source::writes_of(source.body(), variable).size() == source::writes_of(shared.loop.loop, variable).size();
}

class Writer {
public:
  Writer(const source::IndexReader &form, const GroupWork &work)
      : form_(form), source_(form.source()), work_(work), group_(work.group) {}

  Result<source::Edits> write() {
    for (const LeaderRun &run : work_.runs)
      if (auto written = write_run(run); !written)
        return std::unexpected(written.error());
    for (const SharedLoop &shared : work_.loops)
      if (auto written = write_loop(shared); !written)
        return std::unexpected(written.error());
    return std::move(edits_);
  }

private:
  /// Inserts lines, each ended, before the statement at an offset.
  void insert(std::size_t offset, const std::string &lines) {
    const std::string indentation = indentation_at(source_.text(), offset);
    const std::string text = source::indent(lines, indentation, source_.indent_step());
    edits_.push_back({{offset, offset}, text.substr(indentation.size()) + indentation});
  }
  /// Adds lines behind the statement from `begin` to `end`.
  void append(std::size_t begin, std::size_t end, const std::string &lines) {
    const std::string indentation = indentation_at(source_.text(), begin);
    edits_.push_back({{end, end}, "\n" + source::indent(lines, indentation, source_.indent_step())});
  }

  Result<void> write_run(const LeaderRun &run) {
    const auto first = source_.range_of(run.statements.front());
    const auto last = source_.statement_range(run.statements.back());
    if (!first || !last)
      return fail("a statement that stores comes from a macro");
    const bool is_one = run.statements.size() == 1;
    const std::string barrier = group_.barrier();
    const bool has_braces = run.needs_braces || (run.is_bare && run.needs_barriers);
    insert(first->begin, std::string(has_braces ? "{\n" : "") + (run.needs_barriers ? barrier + "\n" : "") + "if (" +
                             group_.lane + " == 0)" + (is_one ? "" : " {") + "\n");
    edits_.back().replacement += source_.indent_step();
    const std::string_view text = source_.text();
    for (std::size_t at = text.find('\n', first->begin); at < last->end; at = text.find('\n', at + 1))
      if (text[at + 1] != '\n' && text[at + 1] != '#')
        edits_.push_back({{at + 1, at + 1}, source_.indent_step()});
    std::string close = is_one ? "" : "}";
    if (run.needs_barriers)
      close += (close.empty() ? "" : "\n") + barrier;
    if (has_braces)
      close += close.empty() ? "}" : "\n}";
    if (!close.empty())
      append(first->begin, last->end, close);
    return {};
  }

  Result<void> write_loop(const SharedLoop &shared) {
    const ParallelLoop &loop = shared.loop;
    const auto range = source_.range_of(loop.loop), whole = source_.statement_range(loop.loop);
    if (!range || !whole)
      return fail("a loop comes from a macro");
    write_head(loop);
    const bool stores = !loop.effects.stores.empty();
    const bool needs_barriers = stores && (shared.is_nested || stores_are_used_elsewhere(form_, {loop.loop}));
    const bool has_combined = group_.is_block() && !loop.accumulators.empty();
    std::string before = needs_barriers ? group_.barrier() + "\n" : "", after;
    for (const Accumulator &accumulator : loop.accumulators) {
      const templates::GroupValue value{accumulator.place, accumulator.type, accumulator.extents, accumulator.combine,
                                        accumulator.constant};
      if (!starts_neutral(source_, shared, accumulator))
        if (const std::string start = templates::start_text(group_, value); !start.empty())
          before += start + "\n";
      after += (after.empty() ? "" : "\n") + templates::combine_text(group_, value);
    }
    for (const SelectedValue &value : loop.selected) {
      const auto [start, select] = write_selection(loop, value);
      before += start + "\n";
      after += (after.empty() ? "" : "\n") + select;
    }
    if (!has_combined && (needs_barriers || work_.ends_loops_with_barrier))
      after += (after.empty() ? "" : "\n") + group_.barrier();
    if (shared.needs_braces && !(before.empty() && after.empty())) {
      before = "{\n" + before;
      after += after.empty() ? "}" : "\n}";
    }
    const std::size_t first = source::with_pragmas(source_.text(), range->begin);
    if (!before.empty())
      insert(first, before);
    if (!after.empty())
      append(first, whole->end, after);
    return {};
  }

  /// Keeps the iteration of the thread's best value. Returns its declaration and the selection.
  std::pair<std::string, std::string> write_selection(const ParallelLoop &loop, const SelectedValue &value) {
    const Selection &selection = value.selection;
    const std::string counter = loop.counter->getNameAsString();
    templates::GroupSelection group{.best = selection.best->getNameAsString(),
                                    .type = value.type,
                                    .is_maximum = selection.combine == source::Combine::Maximum,
                                    .chosen = {},
                                    .place = "",
                                    .place_type = source_.type_name(loop.counter->getType()),
                                    .prefers_larger_place = selection.keeps_first == loop.is_downward};
    group.place = source_.unused_name(group.best + "_at");
    for (std::size_t i = 0; i < selection.chosen.size(); ++i)
      group.chosen.emplace_back(selection.chosen[i]->getNameAsString(), value.chosen_types[i]);
    if (const auto range = source_.range_of(selection.assign), whole = source_.statement_range(selection.assign);
        range && whole)
      append(range->begin, whole->end, group.place + " = " + counter + ";");
    // Before the first iteration: equal values of later iterations win over the start if the last is kept.
    const std::string start = selection.keeps_first ? "0"
                                                    : source::as_summand(source_.text_of(loop.begin)) +
                                                          (loop.is_downward ? " + 1" : " - 1");
    return {group.place_type + " " + group.place + " = " + start + ";", templates::select_text(group_, group)};
  }

  /// Each thread starts at its place and goes on in steps of the group.
  void write_head(const ParallelLoop &loop) {
    const std::string threads = std::to_string(group_.threads), begin = source_.text_of(loop.begin);
    const std::string step = loop.step ? source::parenthesised(source_.text_of(*loop.step)) : "";
    const std::string place = group_.lane + (step.empty() ? "" : " * " + step);
    if (begin == "0" && !loop.is_downward)
      edits_.push_back({loop.begin, place});
    else
      wrap(loop.begin, source::as_summand(begin), (loop.is_downward ? " - " : " + ") + place);
    if (loop.step)
      wrap(*loop.step, step, " * " + threads);
    else
      edits_.push_back(
          {loop.increment, loop.counter->getNameAsString() + (loop.is_downward ? " -= " : " += ") + threads});
  }

  /// Adds `more` to the text of a range, which gets parentheses if `wrapped` has them.
  void wrap(Range range, const std::string &wrapped, const std::string &more) {
    const bool is_wrapped = wrapped != source_.text_of(range);
    if (is_wrapped)
      edits_.push_back({{range.begin, range.begin}, "("});
    edits_.push_back({{range.end, range.end}, (is_wrapped ? ")" : "") + more});
  }

  const source::IndexReader &form_;
  const source::KernelSource &source_;
  const GroupWork &work_;
  const templates::ThreadGroup &group_;
  source::Edits edits_;
};

} // namespace

Result<std::vector<SharedLoop>> shared_loops(const source::IndexReader &form, const clang::Stmt *root, int threads) {
  LoopSearch search(form, threads);
  search.visit(root, false, false);
  if (search.found.empty())
    return fail(search.why);
  return std::move(search.found);
}

Result<source::Edits> group_edits(const source::IndexReader &form, const GroupWork &work) {
  return Writer(form, work).write();
}

std::string refuses_groups(const source::KernelSource &source) {
  const clang::Stmt *body = source.body();
  if (!source::find_all<clang::LambdaExpr>(body).empty() || !source::find_all<clang::GotoStmt>(body).empty() ||
      !source::find_all<clang::AsmStmt>(body).empty())
    return "the kernel has a lambda, a goto or assembly";
  if (const std::string callee = source::callee_with_position(body); !callee.empty())
    return "the function " + callee + " uses the thread's place";
  if (const clang::VarDecl *variable = source::effects_of(body).pointed_to)
    return "the kernel keeps a pointer to its variable " + variable->getNameAsString();
  for (const auto *reference : source::find_all<clang::DeclRefExpr>(body))
    if (reference->getType().isVolatileQualified() ||
        (reference->getType()->isPointerType() && reference->getType()->getPointeeType().isVolatileQualified()))
      return "the kernel uses volatile memory";
  return {};
}

} // namespace warpwright::lift
