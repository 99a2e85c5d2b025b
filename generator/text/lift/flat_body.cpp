// Removal of bounds checks from a body, and recognition of loops and accumulations; see flat_body.h.
#include "generator/text/lift/flat_body.h"

#include "generator/text/lift/launches.h"

#include <algorithm>

namespace warpwright::lift {

using clang::dyn_cast;
using clang::isa;

namespace {

/// Adds `condition` (negated for an early return) to the bounds; false when it is no bounds check.
bool add_bounds(const source::IndexReader &form, const clang::Expr *condition, bool negated,
                FlatBody &body) {
  const auto *binary = source::as<clang::BinaryOperator>(condition);
  if (!binary)
    return false;
  const auto opcode = binary->getOpcode();
  if (opcode == (negated ? clang::BO_LOr : clang::BO_LAnd))
    return add_bounds(form, binary->getLHS(), negated, body) &&
           add_bounds(form, binary->getRHS(), negated, body);
  auto left = form.of(binary->getLHS()), right = form.of(binary->getRHS());
  if (!left || !right)
    return false;
  if (opcode == (negated ? clang::BO_GE : clang::BO_LT))
    body.bounds.push_back({*left, *right});
  else if (opcode == (negated ? clang::BO_LE : clang::BO_GT))
    body.bounds.push_back({*right, *left});
  else
    return false;
  return true;
}

bool flatten_into(const source::IndexReader &form,
                  const std::vector<const clang::Stmt *> &statements, FlatBody &body) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto *branch = dyn_cast<clang::IfStmt>(statements[i]);
    if (!branch) {
      body.statements.push_back(statements[i]);
      continue;
    }
    const auto then = source::statements_of(branch->getThen());
    if (branch->getElse())
      return false;
    if (then.size() == 1 && isa<clang::ReturnStmt>(then[0])) {
      if (!add_bounds(form, branch->getCond(), true, body))
        return false;
      continue;
    }
    return i + 1 == statements.size() && add_bounds(form, branch->getCond(), false, body) &&
           flatten_into(form, then, body);
  }
  return true;
}

bool is_increment(const clang::Expr *expression, const clang::VarDecl *counter) {
  if (const auto *unary = source::as<clang::UnaryOperator>(expression))
    return unary->isIncrementOp() && source::variable_of(unary->getSubExpr()) == counter;
  const auto *binary = source::as<clang::BinaryOperator>(expression);
  const auto *one =
      binary ? clang::dyn_cast_or_null<clang::IntegerLiteral>(source::strip_casts(binary->getRHS()))
             : nullptr;
  return one && binary->getOpcode() == clang::BO_AddAssign &&
         source::variable_of(binary->getLHS()) == counter && one->getValue() == 1;
}

Accumulation with_value(const clang::VarDecl *accumulator, const clang::Expr *value,
                        source::Combine combine) {
  const auto *product = source::as<clang::BinaryOperator>(value);
  if (product && product->getOpcode() == clang::BO_Mul)
    return {accumulator, {product->getLHS(), product->getRHS()}, combine};
  return {accumulator, {value}, combine};
}

std::optional<Accumulation> accumulation_of_assignment(const clang::BinaryOperator *assign) {
  const clang::VarDecl *target = source::variable_of(assign->getLHS());
  if (!target)
    return std::nullopt;
  if (assign->getOpcode() == clang::BO_AddAssign)
    return with_value(target, assign->getRHS(), source::Combine::Sum);
  if (assign->getOpcode() != clang::BO_Assign)
    return std::nullopt;
  const clang::Expr *value = source::strip(assign->getRHS());
  if (const auto *sum = dyn_cast<clang::BinaryOperator>(value);
      sum && sum->getOpcode() == clang::BO_Add) {
    if (source::variable_of(sum->getLHS()) == target)
      return with_value(target, sum->getRHS(), source::Combine::Sum);
    if (source::variable_of(sum->getRHS()) == target)
      return with_value(target, sum->getLHS(), source::Combine::Sum);
  }
  if (const auto *call = dyn_cast<clang::CallExpr>(value)) {
    const std::string name = source::callee_name(call);
    if ((name == "fmaf" || name == "fma" || name == "__fmaf_rn") && call->getNumArgs() == 3 &&
        source::variable_of(call->getArg(2)) == target)
      return Accumulation{target, {call->getArg(0), call->getArg(1)}, source::Combine::Sum};
    if (const auto combine = source::combine_of_function(name);
        combine && call->getNumArgs() == 2) {
      const bool first = source::variable_of(call->getArg(0)) == target;
      if (first || source::variable_of(call->getArg(1)) == target)
        return Accumulation{target, {call->getArg(first ? 1 : 0)}, *combine};
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<symbolic::Polynomial> FlatBody::bound_of(const symbolic::Polynomial &value) const {
  for (const auto &[left, right] : bounds)
    if (left == value)
      return right;
  return std::nullopt;
}

std::optional<FlatBody> flatten(const source::IndexReader &form) {
  FlatBody body;
  return flatten_into(form, source::statements_of(form.source().body()), body) ? std::optional(body)
                                                                               : std::nullopt;
}

Result<FlatBody> replaceable_body(const source::IndexReader &form) {
  if (const std::string reason = refuses_templates(form.source()); !reason.empty())
    return fail(reason);
  auto body = flatten(form);
  if (!body)
    return fail("a branch is not a bounds check");
  return *body;
}

std::optional<CountedLoop> counted_loop(const source::IndexReader &form,
                                        const clang::Stmt *statement) {
  const auto *loop = dyn_cast<clang::ForStmt>(statement);
  const clang::VarDecl *counter = loop ? source::only_variable(loop->getInit()) : nullptr;
  const auto *condition = loop ? source::as<clang::BinaryOperator>(loop->getCond()) : nullptr;
  if (!counter || !counter->hasInit() || !condition || condition->getOpcode() != clang::BO_LT ||
      source::variable_of(condition->getLHS()) != counter ||
      !is_increment(loop->getInc(), counter) ||
      !source::writes_of(loop->getBody(), counter).empty())
    return std::nullopt;
  auto begin = form.of(counter->getInit()), end = form.of(condition->getRHS());
  if (!begin || !end || !is_uniform(form.source(), *end))
    return std::nullopt;
  return CountedLoop{loop, counter, counter->getNameAsString(), *begin, *end};
}

std::optional<Accumulation> accumulation(const clang::Stmt *statement) {
  if (const auto *branch = dyn_cast<clang::IfStmt>(statement)) {
    // if (value > acc) acc = value;
    const auto *condition = source::as<clang::BinaryOperator>(branch->getCond());
    const auto then = source::statements_of(branch->getThen());
    const auto *assign = then.size() == 1 ? dyn_cast<clang::BinaryOperator>(then[0]) : nullptr;
    if (!condition || branch->getElse() || !assign || assign->getOpcode() != clang::BO_Assign)
      return std::nullopt;
    const clang::VarDecl *target = source::variable_of(assign->getLHS());
    const bool right = source::variable_of(condition->getRHS()) == target,
               left = source::variable_of(condition->getLHS()) == target;
    const auto opcode = condition->getOpcode();
    if (!target || (!left && !right))
      return std::nullopt;
    const bool maximum = (right && (opcode == clang::BO_GT || opcode == clang::BO_GE)) ||
                         (left && (opcode == clang::BO_LT || opcode == clang::BO_LE));
    return Accumulation{
        target, {assign->getRHS()}, maximum ? source::Combine::Maximum : source::Combine::Minimum};
  }
  const auto *assign = source::as<clang::BinaryOperator>(dyn_cast<clang::Expr>(statement));
  return assign && assign->isAssignmentOp() ? accumulation_of_assignment(assign) : std::nullopt;
}

Result<AccumulationLoop> only_accumulation(const source::IndexReader &form, const FlatBody &body) {
  const auto is_loop = [](const clang::Stmt *statement) { return isa<clang::ForStmt>(statement); };
  const auto declares = [](const clang::Stmt *statement) {
    return isa<clang::DeclStmt>(statement);
  };
  const auto at = std::ranges::find_if(body.statements, is_loop), end = body.statements.end();
  const auto loop = at == end ? std::nullopt : counted_loop(form, *at);
  const auto inside = source::statements_of(loop ? loop->loop->getBody() : nullptr);
  const auto sum = inside.empty() ? std::nullopt : accumulation(inside.back());
  if (!sum || !sum->accumulator->isLocalVarDecl() || !sum->accumulator->hasInit())
    return fail("there is no loop that accumulates over a row");
  if (!std::all_of(inside.begin(), inside.end() - 1, declares) || std::any_of(at + 1, end, is_loop))
    return fail("the kernel does more than one accumulation");
  return AccumulationLoop{*loop, *sum, {body.statements.begin(), at}, inside, {at + 1, end}};
}

const clang::VarDecl *variable_with_value(const source::IndexReader &form, const FlatBody &body,
                                          const symbolic::Polynomial &value) {
  for (const clang::Stmt *statement : body.statements)
    for (const clang::VarDecl *variable : source::variables_of(statement))
      if (variable->hasInit() && form.of(variable->getInit()) == value &&
          is_written_once(form.source(), variable))
        return variable;
  return nullptr;
}

std::optional<std::string> statements_text(const source::KernelSource &source,
                                           const std::vector<const clang::Stmt *> &statements,
                                           const source::Edits &edits) {
  if (statements.empty())
    return std::string();
  auto first = source.range_of(statements.front());
  auto last = source.statement_range(statements.back());
  if (!first || !last)
    return std::nullopt;
  auto text = source.level_text({first->begin, last->end}, edits);
  return text ? std::optional(*text) : std::nullopt;
}

std::optional<std::string> epilogue_text(const source::IndexReader &form,
                                         const std::vector<const clang::Stmt *> &before,
                                         const std::vector<const clang::Stmt *> &last,
                                         const std::set<const clang::VarDecl *> &available) {
  std::set<const clang::VarDecl *> known = available;
  std::vector<const clang::Stmt *> needed = last, prefix;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (const auto *statement : source::find_all<clang::DeclStmt>(needed[i]))
      for (const clang::VarDecl *variable : source::variables_of(statement))
        known.insert(variable);
    for (const auto *reference : source::find_all<clang::DeclRefExpr>(needed[i])) {
      const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
      if (!source::builtin_of(reference).empty() ||
          reference->getDecl()->getName().ends_with("Idx"))
        return std::nullopt;
      if (!variable || !variable->isLocalVarDecl() || known.contains(variable))
        continue;
      const auto declaration = std::ranges::find(before, variable, source::only_variable);
      if (declaration == before.end() || !is_written_once(form.source(), variable))
        return std::nullopt;
      known.insert(variable);
      needed.push_back(*declaration);
      prefix.push_back(*declaration);
    }
  }
  std::string text;
  for (const clang::Stmt *statement : before)
    if (std::ranges::find(prefix, statement) != prefix.end()) {
      auto part = statements_text(form.source(), {statement});
      if (!part)
        return std::nullopt;
      text += *part + "\n";
    }
  auto rest = statements_text(form.source(), last);
  return rest ? std::optional(text + *rest) : std::nullopt;
}

bool is_uniform(const source::KernelSource &source, const symbolic::Polynomial &value) {
  return std::ranges::all_of(value.symbols(), [&](const std::string &symbol) {
    return source.parameter(symbol) != nullptr;
  });
}

} // namespace warpwright::lift
