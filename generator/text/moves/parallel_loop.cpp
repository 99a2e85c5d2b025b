// Move parallel_loop(): a loop that one thread of a block runs alone is shared by all its threads.
//
//   if (threadIdx.x == 0) {                  {
//     float sum = 0;                           float sum = 0;
//     for (int k = 0; k < n; ++k)              for (int k = lane; k < n; k += 256)
//       sum += x[k];               becomes       sum += x[k];
//     out[blockIdx.x] = sum;                   (the block's sums combined)
//   }                                          if (lane == 0)
//                                                out[blockIdx.x] = sum;
//                                            }
//
// The rest of the branch is computed by all threads with the same values, and the first one stores.
// Legal if all threads of the block reach the branch and the loop's iterations are independent
// (lift/parallel_loop.h). In the branch, only what the first thread stores may depend on the thread.
// Blocks of one thread are the business of split_loop.
#include "generator/text/moves/move_kind.h"

#include "analysis/facts/kernel_context.h"
#include "generator/text/lift/shared_loops.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

struct SerialBranch {
  const clang::IfStmt *branch = nullptr;
  std::string conditions; ///< the other conditions of the branch, as text; empty: none
  lift::GroupWork work;
};

/// True for `threadIdx.x == 0`, `!threadIdx.x` and `threadIdx.x < 1`, also of a variable.
bool selects_first(const source::IndexReader &form, const clang::Expr *condition) {
  const symbolic::Polynomial thread = symbolic::Polynomial::symbol("threadIdx.x"), zero(0), one(1);
  if (const auto *negation = source::as<clang::UnaryOperator>(condition))
    return negation->getOpcode() == clang::UO_LNot && form.of(negation->getSubExpr()) == thread;
  const auto *compared = source::as<clang::BinaryOperator>(condition);
  if (!compared)
    return false;
  const auto left = form.of(compared->getLHS()), right = form.of(compared->getRHS());
  if (compared->getOpcode() == clang::BO_EQ)
    return (left == thread && right == zero) || (left == zero && right == thread);
  return compared->getOpcode() == clang::BO_LT && left == thread && right == one;
}

/// The conditions that `&&` joins.
std::vector<const clang::Expr *> conjuncts(const clang::Expr *condition) {
  const auto *both = source::as<clang::BinaryOperator>(condition);
  if (!both || both->getOpcode() != clang::BO_LAnd)
    return {condition};
  auto all = conjuncts(both->getLHS());
  std::ranges::copy(conjuncts(both->getRHS()), std::back_inserter(all));
  return all;
}

bool is_declared_in(const clang::Stmt *root, const clang::VarDecl *variable) {
  return std::ranges::any_of(source::find_all<clang::DeclStmt>(root), [&](const clang::DeclStmt *declaration) {
    const auto variables = source::variables_of(declaration);
    return std::ranges::find(variables, variable) != variables.end();
  });
}

class Matcher {
public:
  explicit Matcher(const source::IndexReader &form)
      : form_(form), source_(form.source()), values_(source_.unit().context(), *source_.kernel()) {}

  Result<std::vector<SerialBranch>> match() {
    std::vector<SerialBranch> found;
    std::string why = "the kernel does not have a branch that only the first thread of a block runs";
    for (const auto *branch : source::find_all<clang::IfStmt>(source_.body())) {
      SerialBranch serial{branch, "", {}};
      if (!take_condition(serial))
        continue;
      if (auto taken = take_work(serial); !taken)
        why = taken.error().message;
      else
        found.push_back(std::move(serial));
    }
    if (found.empty())
      return fail(why);
    return found;
  }

private:
  /// False unless the branch is the first thread's alone.
  bool take_condition(SerialBranch &serial) {
    bool is_first = false;
    for (const clang::Expr *one : conjuncts(serial.branch->getCond())) {
      if (selects_first(form_, one))
        is_first = true;
      else
        serial.conditions += (serial.conditions.empty() ? "" : " && ") + source_.text_of(one);
    }
    return is_first && !serial.branch->getElse() && !serial.branch->hasVarStorage();
  }

  Result<void> take_work(SerialBranch &serial) {
    const clang::Stmt *then = serial.branch->getThen();
    for (const clang::Expr *one : conjuncts(serial.branch->getCond()))
      if (!selects_first(form_, one) && (values_.varies(one) || source_.text_of(one).empty()))
        return fail("another condition of the first thread's branch depends on the thread");
    const auto position = values_.flow().position_of(serial.branch->getCond());
    if (!position || analysis::is_divergent_at(values_, *position))
      return fail("not all threads of the block reach the branch of the first thread");
    if (lift::leaves(then) || source::has_collective(then))
      return fail("the branch of the first thread contains a return or a barrier");
    templates::ThreadGroup &group = serial.work.group;
    group.threads = static_cast<int>(*form_.block()[0]);
    group.lane = source_.unused_name("lane");
    for (const char *name : {"offset", "element", "element1", "element2", "partials"})
      if (source_.unused_name(name) != name)
        group.taken.insert(name);
    serial.work.ends_loops_with_barrier = true;
    serial.work.loops = TRY(lift::shared_loops(form_, then, group.threads));
    std::set<const clang::Stmt *> loops;
    for (const lift::SharedLoop &shared : serial.work.loops)
      loops.insert(shared.loop.loop);
    serial.work.runs = TRY(lift::leader_runs(form_, then, loops));
    return check_values(serial);
  }

  /// Checks that all threads compute the same outside of what the first one runs alone.
  Result<void> check_values(const SerialBranch &serial) {
    const clang::Stmt *then = serial.branch->getThen();
    std::set<const clang::Stmt *> alone; // nodes of what the first thread runs
    std::set<const clang::VarDecl *> changed = source::effects_of(then).changed;
    for (const lift::LeaderRun &run : serial.work.runs)
      for (const clang::Stmt *statement : run.statements) {
        source::for_each_node(statement, [&](const clang::Stmt *node) { alone.insert(node); });
        for (const clang::VarDecl *variable : source::effects_of(statement).changed)
          changed.erase(variable);
      }
    for (const clang::VarDecl *variable : changed)
      if (source::uses_of(then, variable).size() != source::uses_of(source_.body(), variable).size() ||
          (variable->hasInit() && !is_declared_in(then, variable) && values_.varies(variable->getInit())))
        return fail(variable->getNameAsString() + " differs between the threads");
    for (const auto *reference : source::find_all<clang::DeclRefExpr>(then)) {
      const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
      if (variable && !alone.contains(reference) && !changed.contains(variable) && values_.varies(reference))
        return fail("the branch of the first thread uses " + variable->getNameAsString() +
                    ", which depends on the thread");
    }
    return {};
  }

  const source::IndexReader &form_;
  const source::KernelSource &source_;
  analysis::AffineAnalysis values_;
};

Result<source::Edits> edits_of(const source::IndexReader &form, const SerialBranch &serial) {
  const source::KernelSource &source = form.source();
  const clang::Stmt *then = serial.branch->getThen();
  const auto whole = source.statement_range(serial.branch), first = source.range_of(serial.branch),
             body = source.range_of(then);
  if (!whole || !first || !body)
    return fail("the branch of the first thread comes from a macro");
  const bool has_braces = llvm::isa<clang::CompoundStmt>(then);
  const std::string indentation = indentation_at(source.text(), first->begin);
  const std::string condition = serial.conditions.empty() ? "" : "if (" + serial.conditions + ") ";
  const std::string inner = indentation + source.indent_step();
  const std::string head = source::without_trailing_space(source::indent(
      serial.work.group.declarations() + serial.work.group.barrier(), inner, source.indent_step()));
  source::Edits edits;
  if (has_braces) {
    edits.push_back({{first->begin, body->begin}, condition});
    edits.push_back({{body->begin + 1, body->begin + 1}, "\n" + head});
  } else {
    edits.push_back({{first->begin, body->begin}, condition + "{\n" + head + "\n" + inner});
    edits.push_back({{whole->end, whole->end}, "\n" + indentation + "}"});
  }
  const auto shared = TRY(lift::group_edits(form, serial.work));
  edits.insert(edits.end(), shared.begin(), shared.end());
  return edits;
}

/// Errors: the reason why a block's threads cannot share any loop.
Result<void> check_kernel(const source::IndexReader &form) {
  const auto [x, y, z] = form.block();
  if (!x || y != 1 || z != 1)
    return fail("the block is not known to be one-dimensional");
  if (*x < 32 || *x > 1024 || (*x & (*x - 1)) != 0)
    return fail("the block's size is not a power of two from 32 on");
  if (const std::string why = lift::refuses_groups(form.source()); !why.empty())
    return fail(why);
  return {};
}

} // namespace

Result<Offer> offer_parallel_loop(const source::KernelSource &source) {
  const source::IndexReader form(source);
  TRY(check_kernel(form));
  const auto branches = TRY(Matcher(form).match());
  const auto edits = [&source, branches](const Parameters &) -> Result<source::Edits> {
    const source::IndexReader reader(source);
    source::Edits all;
    for (const SerialBranch &serial : branches) {
      const auto one = TRY(edits_of(reader, serial));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  if (auto made = edits({}); !made)
    return std::unexpected(made.error());
  return Offer{{Parameters{}}, edits};
}

} // namespace warpwright::moves
