// Search for the one atomicAdd of a kernel; see atomics.h.
#include "generator/text/source/atomics.h"

namespace warpwright::source {

using clang::dyn_cast;

bool stands_alone(const clang::Stmt *root, const clang::Expr *expression) {
  bool alone = false;
  const auto look = [&](const clang::Stmt *statement) {
    alone |= as<clang::Expr>(clang::dyn_cast_or_null<clang::Expr>(statement)) == expression;
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
    } else if (const auto *repeated = dyn_cast<clang::WhileStmt>(node)) {
      look(repeated->getBody());
    }
  });
  return alone;
}

const clang::CallExpr *only_atomic_call(const KernelSource &source) {
  auto calls = find_all<clang::CallExpr>(source.body());
  std::erase_if(calls, [](const auto *call) { return !callee_name(call).starts_with("atomic"); });
  const bool is_add =
      calls.size() == 1 && callee_name(calls[0]) == "atomicAdd" && calls[0]->getNumArgs() == 2;
  return is_add ? calls[0] : nullptr;
}

Result<AtomicAdd> match_atomic_add(const IndexReader &form) {
  const KernelSource &source = form.source();
  auto guarded = match_guarded(form);
  if (!guarded)
    return std::unexpected(guarded.error());
  AtomicAdd atomic{std::move(*guarded), only_atomic_call(source)};
  if (!atomic.call)
    return fail("the kernel does not have exactly one atomicAdd");
  auto range = source.range_of(atomic.call);
  auto statement = source.statement_range(atomic.call);
  if (!range || !statement || range->begin < atomic.guarded.work_range.begin ||
      statement->end > atomic.guarded.work_range.end)
    return fail("the atomicAdd is not a statement of the guarded work");
  if (!stands_alone(source.body(), atomic.call))
    return fail("the result of the atomicAdd is used");
  atomic.statement = {range->begin, statement->end};
  atomic.address = source.text_of(atomic.call->getArg(0));
  atomic.value = source.text_of(atomic.call->getArg(1));
  const clang::Expr *pointer = strip(atomic.call->getArg(0));
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
  atomic.element_type = source.type_name(atomic.base->getType()->getPointeeType());
  return atomic;
}

std::string AtomicAdd::guard_text(const std::string &work) const {
  const std::string head = guarded.is_loop ? guarded.loop_head(guarded.step)
                                           : "const " + guarded.type + " " + guarded.name + " = " +
                                                 guarded.start + ";\nif (" + guarded.name + " < " +
                                                 guarded.bound + ")";
  return head + " {\n  " + deepen(work, "  ") + "\n}\n";
}

} // namespace warpwright::source
