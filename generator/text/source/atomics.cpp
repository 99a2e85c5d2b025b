// Finding the one atomicAdd of a kernel; see atomics.h.
#include "generator/text/source/atomics.h"

#include "generator/text/source/render.h"

namespace warpwright::generator {

using clang::dyn_cast;

namespace {

/// Whether an expression is a statement of its own, so that its value goes nowhere.
bool stands_alone(const clang::Stmt *root, const clang::Expr *expression) {
  bool alone = false;
  auto look = [&](const clang::Stmt *statement) {
    const auto *candidate = clang::dyn_cast_or_null<clang::Expr>(statement);
    alone |= candidate && strip(candidate) == expression;
  };
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const auto *compound = dyn_cast<clang::CompoundStmt>(node)) {
      for (const clang::Stmt *statement : compound->body())
        look(statement);
    } else if (const auto *branch = dyn_cast<clang::IfStmt>(node)) {
      look(branch->getThen());
      look(branch->getElse());
    } else if (const auto *loop = dyn_cast<clang::ForStmt>(node)) {
      look(loop->getBody());
    }
  });
  return alone;
}

} // namespace

Result<AtomicAdd> only_atomic_add(const IndexReader &form, const Guarded &guarded) {
  const KernelSource &source = form.source();
  std::vector<const clang::CallExpr *> calls;
  for (const auto *call : find_all<clang::CallExpr>(source.body()))
    if (callee_name(call).starts_with("atomic"))
      calls.push_back(call);
  if (calls.size() != 1 || callee_name(calls[0]) != "atomicAdd" || calls[0]->getNumArgs() != 2)
    return fail("the kernel does not have exactly one atomicAdd");
  AtomicAdd atomic{calls[0]};
  auto range = source.range_of(calls[0]);
  auto statement = source.statement_range(calls[0]);
  if (!range || !statement || range->begin < guarded.work_range.begin ||
      statement->end > guarded.work_range.end)
    return fail("the atomicAdd is not a statement of the guarded work");
  if (!stands_alone(source.body(), calls[0]))
    return fail("the result of the atomicAdd is used");
  atomic.statement = {range->begin, statement->end};
  atomic.address = source.text_of(calls[0]->getArg(0));
  atomic.value = source.text_of(calls[0]->getArg(1));
  const clang::Expr *pointer = strip(calls[0]->getArg(0));
  if (const auto *address = dyn_cast<clang::UnaryOperator>(pointer);
      address && address->getOpcode() == clang::UO_AddrOf)
    pointer = strip(address->getSubExpr());
  if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(pointer)) {
    atomic.index = subscript->getIdx();
    pointer = subscript->getBase();
  } else if (const auto *sum = dyn_cast<clang::BinaryOperator>(pointer);
             sum && sum->getOpcode() == clang::BO_Add) {
    atomic.index = sum->getRHS();
    pointer = sum->getLHS();
  }
  atomic.base = clang::dyn_cast_or_null<clang::ParmVarDecl>(variable_of(pointer));
  if (!atomic.base || !atomic.base->getType()->isPointerType() || atomic.address.empty() ||
      atomic.value.empty())
    return fail("the atomicAdd does not go to a parameter");
  atomic.element_type = atomic.base->getType()->getPointeeType().getUnqualifiedType().getAsString(
      source.unit().context().getPrintingPolicy());
  return atomic;
}

std::string guard_text(const Guarded &guarded, const std::string &work) {
  const std::string inside = " {\n  " + deepen(work, "  ") + "\n}\n";
  if (guarded.is_loop)
    return "for (" + guarded.type + " " + guarded.name + " = " + guarded.start + "; " +
           guarded.name + " < " + guarded.bound + "; " + guarded.name + " += " + guarded.step +
           ")" + inside;
  return "const " + guarded.type + " " + guarded.name + " = " + guarded.start + ";\nif (" +
         guarded.name + " < " + guarded.bound + ")" + inside;
}

} // namespace warpwright::generator
