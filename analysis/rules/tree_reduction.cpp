// tree-reduction: a reduction in shared memory whose last steps, within one warp, still use
// barriers.
//
// Recognized: for (s = blockDim.x / 2; s > 0; s >>= 1) { if (t < s) a[t] op= a[t + s]; __syncthreads(); }
// and the interleaved form that counts s up. The fix stops the tree at 32 values and reduces them
// with shuffles. It needs a block size that is at least a warp and, like the loop itself, a power
// of two.
// Thread: the unit's thread.
#include "analysis/rules/guard.h"
#include "analysis/rules/rules.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

struct Tree {
  const ForStmt *loop = nullptr;
  bool is_interleaved = false;
  std::string array, thread, counter, counter_type, element_type;
  std::string update;   ///< "a[t] += a[t + s]"
  std::string function; ///< "fmaxf" for a[t] = fmaxf(a[t], a[t + s]); empty for sums
};

std::string text_of(const RuleInput &input, const Stmt *statement) {
  return std::string(input.unit.text_of(statement->getSourceRange()));
}

const ArraySubscriptExpr *subscript(const Expr *expression) {
  return dyn_cast<ArraySubscriptExpr>(expression->IgnoreParenImpCasts());
}

/// The only statement that a branch guards, without braces; null if there are several.
const Stmt *only_statement(const Stmt *statement) {
  const auto *block = dyn_cast_or_null<CompoundStmt>(statement);
  return !block ? statement : block->size() == 1 ? block->body_front() : nullptr;
}

/// Whether the index of b is the index of a plus the loop's counter, in the same array.
bool is_partner(KernelContext &context, const ArraySubscriptExpr *a, const Expr *b,
                const std::string &counter) {
  const auto *other = subscript(b);
  if (!other || named_variable(other->getLHS()) != named_variable(a->getLHS()))
    return false;
  return context.values.value(other->getRHS()) - context.values.value(a->getRHS()) ==
         symbolic::Polynomial::symbol(counter);
}

bool match_update(const RuleInput &input, KernelContext &context, const Expr *expression,
                  Tree &tree) {
  const auto *binary = dyn_cast<BinaryOperator>(expression->IgnoreParenImpCasts());
  const auto *target = binary && binary->isAssignmentOp() ? subscript(binary->getLHS()) : nullptr;
  if (!target || !named_variable(target->getLHS()))
    return false;
  tree.array = text_of(input, target->getLHS());
  tree.thread = text_of(input, target->getRHS());
  tree.update = text_of(input, expression);
  tree.element_type = type_name(context.values.context(), target->getType());
  if (binary->getOpcode() == BO_AddAssign)
    return is_partner(context, target, binary->getRHS(), tree.counter);
  if (binary->getOpcode() != BO_Assign)
    return false;
  const Expr *value = binary->getRHS()->IgnoreParenImpCasts();
  const Expr *left = nullptr, *right = nullptr;
  if (const auto *sum = dyn_cast<BinaryOperator>(value); sum && sum->getOpcode() == BO_Add) {
    left = sum->getLHS();
    right = sum->getRHS();
  } else if (const auto *call = dyn_cast<CallExpr>(value); call && call->getNumArgs() == 2) {
    left = call->getArg(0);
    right = call->getArg(1);
    tree.function = text_of(input, call->getCallee());
  }
  if (!left || !subscript(left) ||
      named_variable(subscript(left)->getLHS()) != named_variable(target->getLHS()) ||
      !(context.values.value(subscript(left)->getRHS()) == context.values.value(target->getRHS())))
    return false;
  static const std::set<std::string> associative{"",      "fmaxf", "fmax", "max",
                                                 "fminf", "fmin",  "min"};
  return associative.contains(tree.function) && is_partner(context, target, right, tree.counter);
}

bool steps_by_halves(AffineAnalysis &values, const Expr *increment, bool &is_interleaved) {
  const auto *step = dyn_cast_or_null<BinaryOperator>(increment);
  if (!step || !step->isAssignmentOp())
    return false;
  BinaryOperatorKind opcode = step->getOpcode();
  const Expr *amount = step->getRHS();
  if (const auto *inner = dyn_cast<BinaryOperator>(amount->IgnoreParenImpCasts());
      inner && opcode == BO_Assign) {
    opcode = inner->getOpcode() == BO_Div   ? BO_DivAssign
             : inner->getOpcode() == BO_Shr ? BO_ShrAssign
             : inner->getOpcode() == BO_Mul ? BO_MulAssign
                                            : BO_Assign;
    amount = inner->getRHS();
  }
  const auto number = values.value(amount).number();
  is_interleaved =
      (opcode == BO_MulAssign && number == 2) || (opcode == BO_ShlAssign && number == 1);
  return is_interleaved || (opcode == BO_DivAssign && number == 2) ||
         (opcode == BO_ShrAssign && number == 1);
}

/// Whether the loop runs down to one instead of stopping at a warp: s > 0, s >= 1, s != 0, s.
bool runs_to_one(AffineAnalysis &values, const Expr *condition, const VarDecl *counter,
                 bool is_interleaved) {
  if (!condition)
    return false;
  if (named_variable(condition) == counter)
    return !is_interleaved;
  const auto *comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
  if (!comparison || named_variable(comparison->getLHS()) != counter)
    return false;
  if (is_interleaved)
    return comparison->getOpcode() == BO_LT;
  const auto bound = values.value(comparison->getRHS()).number();
  return ((comparison->getOpcode() == BO_GT || comparison->getOpcode() == BO_NE) && bound == 0) ||
         (comparison->getOpcode() == BO_GE && bound == 1);
}

std::optional<Tree> match(const RuleInput &input, KernelContext &context, const ForStmt *loop) {
  Tree tree;
  tree.loop = loop;
  const auto *init = dyn_cast_or_null<DeclStmt>(loop->getInit());
  const auto *counter =
      init && init->isSingleDecl() ? dyn_cast<VarDecl>(init->getSingleDecl()) : nullptr;
  const auto *body = dyn_cast_or_null<CompoundStmt>(loop->getBody());
  if (!counter || !counter->getInit() || !body || body->size() != 2 ||
      !steps_by_halves(context.values, loop->getInc(), tree.is_interleaved) ||
      !runs_to_one(context.values, loop->getCond(), counter, tree.is_interleaved))
    return std::nullopt;
  tree.counter = counter->getNameAsString();
  tree.counter_type = counter->getType().getUnqualifiedType().getAsString();
  const auto *branch = dyn_cast<IfStmt>(body->body_front());
  const auto *barrier = dyn_cast<CallExpr>(body->body_back());
  const auto *update = branch && !branch->getElse()
                           ? dyn_cast_or_null<Expr>(only_statement(branch->getThen()))
                           : nullptr;
  if (!update || !barrier || callee_name(barrier) != "__syncthreads" ||
      !match_update(input, context, update, tree))
    return std::nullopt;
  if (tree.array.empty() || tree.thread.empty() || tree.update.empty())
    return std::nullopt;
  // The thread's slot must be its index in the block.
  const auto *target = subscript(cast<BinaryOperator>(update->IgnoreParenImpCasts())->getLHS());
  if (!(context.values.value(target->getRHS()) == symbolic::Polynomial::symbol("threadIdx.x")))
    return std::nullopt;
  return tree;
}

std::string unused_name(const RuleInput &input, const RuleKernel &kernel, std::string name) {
  const std::string body = input.text(kernel.facts.range);
  while (body.find(name) != std::string::npos)
    name = "warp_" + name;
  return name;
}

std::string warp_tail(const RuleInput &input, const RuleKernel &kernel, const Tree &tree,
                      const std::string &line) {
  const std::string value = unused_name(input, kernel, tree.function.empty() ? "sum" : "value");
  const std::string offset = unused_name(input, kernel, "offset");
  const std::string unit =
      input.unit.text().find("\n\t") != std::string_view::npos ? "\t"
      : indentation_at(input.unit.text(), kernel.facts.body_range.begin).empty() && line.size() > 4
          ? "    "
          : "  ";
  const std::string shuffled = "__shfl_down_sync(0xffffffff, " + value + ", " + offset + ")";
  const std::string step =
      tree.function.empty() ? value + " += " + shuffled
                            : value + " = " + tree.function + "(" + value + ", " + shuffled + ")";
  return "if (" + tree.thread + " < 32) {" + line + unit + tree.element_type + " " + value + " = " +
         tree.array + "[" + tree.thread + "];" + line + unit + "for (int " + offset + " = 16; " +
         offset + " > 0; " + offset + " >>= 1)" + line + unit + unit + step + ";" + line + unit +
         "if (" + tree.thread + " == 0)" + line + unit + unit + tree.array + "[0] = " + value +
         ";" + line + "}" + line + "__syncthreads();";
}

std::optional<QuickFix> shuffle_fix(const RuleInput &input, const RuleKernel &kernel,
                                    const Tree &tree) {
  const auto loop = input.unit.range_of(tree.loop->getSourceRange());
  const auto condition = input.unit.range_of(tree.loop->getCond()->getSourceRange());
  const auto block = kernel.context->shape.block[0];
  const bool shuffles = tree.element_type == "float" || tree.element_type == "double" ||
                        tree.element_type == "int" || tree.element_type == "unsigned int" ||
                        tree.element_type == "long long" ||
                        tree.element_type == "unsigned long long";
  const bool is_row = !kernel.context->shape.block[1] || kernel.context->shape.block[1] == 1;
  if (!loop || !condition || !shuffles || !is_row ||
      (block && (*block < 32 || (*block & (*block - 1)) != 0)))
    return std::nullopt;
  const std::string line = new_line_at(input, loop->begin);
  std::vector<TextEdit> edits;
  if (tree.is_interleaved) {
    const auto branch = input.unit.range_of(
        cast<CompoundStmt>(tree.loop->getBody())->body_front()->getSourceRange());
    const auto head = input.unit.range_of(
        SourceRange(tree.loop->getInit()->getBeginLoc(), tree.loop->getInc()->getEndLoc()));
    const auto *test =
        cast<IfStmt>(cast<CompoundStmt>(tree.loop->getBody())->body_front())->getCond();
    const auto test_range = input.unit.range_of(test->getSourceRange());
    if (!branch || !head || !test_range)
      return std::nullopt;
    const std::string &s = tree.counter;
    edits.push_back({*head, tree.counter_type + " " + s + " = blockDim.x / 2; " + s + " >= 32; " +
                                s + " >>= 1"});
    edits.push_back({*test_range, tree.thread + " < " + s});
  } else {
    edits.push_back({*condition, tree.counter + " >= 32"});
  }
  edits.push_back(insertion(loop->end, line + warp_tail(input, kernel, tree, line)));
  return QuickFix{std::string("Finish the reduction with warp shuffles") +
                      (block ? "" : " (for blocks of at least 32 threads)"),
                  std::move(edits)};
}

} // namespace

void check_tree_reduction(const RuleInput &input, std::vector<Diagnostic> &out) {
  for (const RuleKernel &kernel : input.kernels) {
    for_each_statement(kernel.context->kernel.getBody(), [&](const Stmt *statement) {
      const auto *loop = dyn_cast<ForStmt>(statement);
      const auto tree = loop ? match(input, *kernel.context, loop) : std::nullopt;
      if (!tree)
        return;
      const Range head =
          shown_range(input.unit, SourceRange(loop->getForLoc(), loop->getRParenLoc()));
      std::string message =
          "The last five steps of this reduction stay within one warp, where __shfl_down_sync "
          "needs "
          "neither shared memory nor a barrier: five of its __syncthreads can go.";
      if (tree->is_interleaved)
        message += " Its interleaved order also leaves most lanes of every warp idle.";
      Diagnostic diagnostic =
          make_diagnostic(input, "tree-reduction", Severity::Information, head, std::move(message));
      if (auto fix = shuffle_fix(input, kernel, *tree))
        diagnostic.fixes.push_back(std::move(*fix));
      out.push_back(std::move(diagnostic));
    });
  }
}

} // namespace warpwright::analysis
