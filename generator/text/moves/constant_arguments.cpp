// Move constant_arguments(NAME=VALUE, ...): integer arguments of the measured launch become
// constants of the compiler.
//
// The kernel's body becomes a device function. The kernel calls it with the numbers where the
// arguments have these values, and with the arguments elsewhere, so every launch stays right. With
// a number the compiler unrolls short loops, divides by multiplying, drops branches and computes
// strides ahead. The test is the same for all threads. Legal for kernels that loop up to such an
// argument, divide or multiply by it, decide a branch by it or pass it on. Variables that are
// computed from arguments count too. Not legal where the values of the launch are not known.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/body_function.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

/// Longer loops do not fit into registers or the instruction cache when they are unrolled.
constexpr std::int64_t kLongestLoop = 64;

struct Argument {
  std::string name, value;
  bool bounds_loop = false, bounds_short_loop = false;
  bool divides = false;
  bool helps = false; ///< another use that a number makes cheaper
};

/// A parameter and the local variables that are computed from it, so that they are numbers with it.
class Dependents {
public:
  Dependents(const source::KernelSource &source, const clang::ParmVarDecl *parameter) : all_{parameter} {
    const auto declarations = source::find_all<clang::DeclStmt>(source.body());
    for (std::size_t known = 0; known != all_.size();) {
      known = all_.size();
      for (const auto *declaration : declarations)
        for (const clang::VarDecl *variable : source::variables_of(declaration))
          if (variable->hasInit() && variable->getType()->isIntegerType() && is_number(source, variable->getInit()) &&
              has_use(variable->getInit()) && is_written_once(source, variable))
            all_.insert(variable);
    }
  }

  bool has_use(const clang::Stmt *root) const {
    const auto references = source::find_all<clang::DeclRefExpr>(root);
    return std::ranges::any_of(references, [&](const auto *one) { return all_.contains(one->getDecl()); });
  }

private:
  /// True if the expression has no variables but parameters and those found so far.
  bool is_number(const source::KernelSource &source, const clang::Expr *expression) const {
    const auto references = source::find_all<clang::DeclRefExpr>(expression);
    return source::find_all<clang::ArraySubscriptExpr>(expression).empty() &&
           std::ranges::all_of(references, [&](const auto *one) {
             const clang::ValueDecl *declaration = one->getDecl();
             return all_.contains(declaration) || llvm::isa<clang::ParmVarDecl>(declaration) ||
                    source::integer_value(source, one).has_value();
           });
  }

  std::set<const clang::ValueDecl *> all_;
};

void note_loops(const source::KernelSource &source, const Dependents &dependents, std::int64_t value,
                Argument &argument) {
  for (const auto *loop : source::find_all<clang::ForStmt>(source.body()))
    argument.bounds_loop |= dependents.has_use(loop->getCond());
  for (const auto *loop : source::find_all<clang::WhileStmt>(source.body()))
    argument.bounds_loop |= dependents.has_use(loop->getCond());
  argument.bounds_short_loop = argument.bounds_loop && value <= kLongestLoop;
}

/// True for the operands of comparisons for equality and for conditions without a comparison.
bool is_flag(const clang::Expr *condition, const Dependents &dependents) {
  if (!dependents.has_use(condition))
    return false;
  const auto *binary = source::as<clang::BinaryOperator>(condition);
  if (binary && binary->isLogicalOp())
    return is_flag(binary->getLHS(), dependents) || is_flag(binary->getRHS(), dependents);
  return !binary || binary->isEqualityOp();
}

void note_uses(const source::KernelSource &source, const Dependents &dependents, Argument &argument) {
  source::for_each_node(source.body(), [&](const clang::Stmt *node) {
    if (const auto *binary = dyn_cast<clang::BinaryOperator>(node); binary && binary->getType()->isIntegerType()) {
      const auto opcode = binary->getOpcode();
      const bool in_right = dependents.has_use(binary->getRHS());
      argument.divides |= (opcode == clang::BO_Div || opcode == clang::BO_Rem || opcode == clang::BO_DivAssign ||
                           opcode == clang::BO_RemAssign) && in_right;
      argument.helps |= opcode == clang::BO_Mul && (in_right || dependents.has_use(binary->getLHS()));
    }
    if (const auto *branch = dyn_cast<clang::IfStmt>(node))
      argument.helps |= is_flag(branch->getCond(), dependents);
    if (const auto *choice = dyn_cast<clang::ConditionalOperator>(node))
      argument.helps |= is_flag(choice->getCond(), dependents);
    if (const auto *choice = dyn_cast<clang::SwitchStmt>(node))
      argument.helps |= dependents.has_use(choice->getCond());
    if (const auto *call = dyn_cast<clang::CallExpr>(node); call && call->getDirectCallee())
      for (const clang::Expr *passed : call->arguments())
        argument.helps |= call->getDirectCallee()->hasBody() && passed->getType()->isIntegerType() &&
                          dependents.has_use(passed);
  });
}

Result<std::vector<Argument>> constant_candidates(const source::KernelSource &source) {
  std::vector<Argument> found;
  for (const clang::ParmVarDecl *parameter : source.kernel()->parameters()) {
    const auto value = source.argument_value(parameter);
    if (!value || !parameter->getType()->isIntegerType() || !source::is_written_once(source, parameter))
      continue;
    const Dependents dependents(source, parameter);
    Argument argument{.name = parameter->getNameAsString(), .value = std::to_string(*value)};
    note_loops(source, dependents, *value, argument);
    note_uses(source, dependents, argument);
    if (!argument.name.empty() && (argument.bounds_loop || argument.divides || argument.helps))
      found.push_back(std::move(argument));
  }
  if (found.empty())
    return fail("no integer argument with a known value bounds a loop, divides or multiplies, or decides a branch");
  return found;
}

constexpr std::string_view kDispatch = R"cuda(if ($test)
  $constants
else
  $arguments)cuda";

Result<source::Edits> dispatch_edits(const source::KernelSource &source, const Parameters &choice) {
  const auto function = TRY(body_function(source, "body"));
  std::string test;
  for (const std::string &parameter : function.parameters)
    if (const auto constant = choice.find(parameter); constant != choice.end())
      test += (test.empty() ? "" : " && ") + parameter + " == " + constant->second;
  return source::Edits{function.definition,
                       source.body_edit(source::render(kDispatch, {{"test", test},
                                                                   {"constants", function.call(choice)},
                                                                   {"arguments", function.call()}}))};
}

} // namespace

Result<Offer> offer_constant_arguments(const source::KernelSource &source) {
  const auto candidates = constant_candidates(source);
  if (!candidates)
    return std::unexpected(candidates.error());
  if (auto function = body_function(source, "body"); !function)
    return std::unexpected(function.error());
  Parameters bounds, loops, all;
  for (const Argument &argument : *candidates) {
    all.emplace(argument.name, argument.value);
    if (argument.bounds_loop || argument.divides)
      bounds.emplace(argument.name, argument.value);
    if (argument.bounds_short_loop)
      loops.emplace(argument.name, argument.value);
  }
  std::vector<Parameters> choices;
  for (const Parameters &choice : {bounds, loops, all})
    if (!choice.empty() && std::ranges::find(choices, choice) == choices.end())
      choices.push_back(choice);
  return Offer{choices, [&source](const Parameters &choice) { return dispatch_edits(source, choice); }};
}

} // namespace warpwright::moves
