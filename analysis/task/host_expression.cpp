// Resolver of integer host expressions: one function per kind of expression. All return nullopt for
// expressions that they cannot resolve. Thread: the unit's thread.
#include "analysis/task/host_expression.h"

#include "support/budget.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace warpwright::analysis {
namespace {

constexpr int kMaxDepth = 60;
constexpr int kMaxSteps = 100'000; ///< visited expressions per kernel

/// The outermost macro that an expression's location comes from: its name and the place of its use.
struct MacroUse {
  std::string name;
  clang::SourceLocation location;
};

std::optional<MacroUse> outermost_macro(clang::SourceLocation location, const ParsedUnit &unit) {
  const clang::SourceManager &sources = unit.sources();
  std::optional<MacroUse> found;
  while (location.isMacroID()) {
    if (sources.isMacroArgExpansion(location)) {
      location = sources.getImmediateSpellingLoc(location);
      continue;
    }
    const clang::SourceLocation caller = sources.getImmediateExpansionRange(location).getBegin();
    found = MacroUse{
        clang::Lexer::getImmediateMacroName(location, sources, unit.context().getLangOpts()).str(),
        caller};
    location = caller;
  }
  if (found)
    found->location = location;
  return found;
}

bool is_name(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

} // namespace

std::string symbol_name(std::string_view text) {
  std::string name;
  for (unsigned char c : text.substr(0, 40))
    if (std::isalnum(c) || c == '_')
      name += static_cast<char>(c);
    else if (!name.empty() && name.back() != '_')
      name += '_';
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "size_" + name : name;
}

HostResolver::HostResolver(const HostProgram &program, const std::set<std::string> *symbols,
                           const std::set<std::string> &fixed, const HostMoment *moment)
    : program_(program), unit_(program.unit()), symbols_(symbols), fixed_(fixed), moment_(moment) {}

std::optional<std::int64_t> HostResolver::in_run(const clang::Expr *expression,
                                                 const HostFrame &frame) const {
  return moment_ ? moment_->integer(expression, frame.function) : std::nullopt;
}

std::optional<std::int64_t> HostResolver::in_run(const clang::ValueDecl &variable,
                                                 const HostFrame &frame) const {
  return moment_ ? moment_->integer(variable, frame.function) : std::nullopt;
}

bool HostResolver::is_symbol(const std::string &name) const {
  return symbols_ ? symbols_->contains(name) : !fixed_.contains(name);
}

void HostResolver::assume(const std::string &text) {
  if (std::ranges::find(assumptions_, text) == assumptions_.end())
    assumptions_.push_back(text);
}

HostValue HostResolver::root(const std::string &name, std::optional<std::int64_t> value) {
  if (value && !is_symbol(name))
    return make_value(*value);
  roots_.try_emplace(name, HostRoot{name, value});
  return make_symbol(name);
}

bool HostResolver::may_follow(int max_depth) {
  checkpoint();
  return depth_ < max_depth && ++steps_ <= kMaxSteps;
}

std::optional<HostValue> HostResolver::integer(const clang::Expr *expression,
                                               const HostFrame &frame) {
  expression = expression ? strip(expression) : nullptr;
  if (!expression || expression->containsErrors() || !may_follow(kMaxDepth))
    return std::nullopt;
  ++depth_;
  std::optional<HostValue> value = macro(*expression);
  if (!value)
    value = compute(expression, frame);
  --depth_;
  if (!value)
    if (const auto number = in_run(expression, frame))
      value = make_value(*number);
  return value;
}

std::optional<HostValue> HostResolver::known(const clang::Expr *expression,
                                             const HostFrame &frame) {
  const auto roots = roots_;
  auto value = integer(expression, frame);
  const bool all_have_values =
      value && std::ranges::all_of(value->expression().symbols(), [&](const std::string &name) {
        const auto found = roots_.find(name);
        return found != roots_.end() && found->second.value;
      });
  if (all_have_values)
    return value;
  roots_ = roots;
  return std::nullopt;
}

/// The value of a whole expression that comes from one object-like macro. The macro is a root if it
/// is constant.
std::optional<HostValue> HostResolver::macro(const clang::Expr &expression) {
  const auto begin = outermost_macro(expression.getBeginLoc(), unit_);
  const auto end = outermost_macro(expression.getEndLoc(), unit_);
  if (!begin || !end || begin->location != end->location || !is_name(begin->name) ||
      expression.isValueDependent())
    return std::nullopt;
  const char *after = unit_.sources().getCharacterData(begin->location) + begin->name.size();
  clang::Expr::EvalResult result;
  if (*after == '(' || !expression.EvaluateAsInt(result, unit_.context()))
    return std::nullopt;
  return root(begin->name, result.Val.getInt().getExtValue());
}

std::optional<HostValue> HostResolver::compute(const clang::Expr *expression,
                                               const HostFrame &frame) {
  if (const auto *literal = llvm::dyn_cast<clang::IntegerLiteral>(expression))
    return make_value(static_cast<std::int64_t>(literal->getValue().getLimitedValue(INT64_MAX)));
  if (const auto *literal = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(expression))
    return make_value(literal->getValue());
  if (const auto *literal = llvm::dyn_cast<clang::FloatingLiteral>(expression)) {
    const double value = literal->getValueAsApproximateDouble();
    return value == std::floor(value) && std::abs(value) < 1e15
               ? std::optional(make_value(static_cast<std::int64_t>(value)))
               : std::nullopt;
  }
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression))
    return binary(*operation, frame);
  if (const auto *operation = llvm::dyn_cast<clang::ConditionalOperator>(expression))
    return choice(*operation, frame);
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression))
    return variable(*reference->getDecl(), frame, reference->getLocation());
  if (const auto *access = llvm::dyn_cast<clang::MemberExpr>(expression))
    return member(*access, frame);
  if (const auto *access = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression))
    return element(*access, frame);
  if (const auto *function_call = llvm::dyn_cast<clang::CallExpr>(expression))
    return call(*function_call, frame);
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    const auto value = integer(operation->getSubExpr(), frame);
    if (value && operation->getOpcode() == clang::UO_Minus)
      return combine("-", make_value(0), *value);
    return operation->getOpcode() == clang::UO_Plus ? value : std::nullopt;
  }
  clang::Expr::EvalResult result;
  if (!expression->isValueDependent() && expression->EvaluateAsInt(result, unit_.context()))
    return make_value(result.Val.getInt().getExtValue());
  return std::nullopt;
}

std::optional<HostValue> HostResolver::binary(const clang::BinaryOperator &operation,
                                              const HostFrame &frame) {
  static const std::set<std::string> kOperators{"+", "-", "*",  "/", "%",  "<<", ">>", "&",  "|",
                                                "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
  const std::string spelling = operation.getOpcodeStr().str();
  if (!kOperators.contains(spelling) ||
      (operation.getType()->isRealFloatingType() && spelling == "/"))
    return std::nullopt;
  const auto left = integer(operation.getLHS(), frame);
  const auto right = left ? integer(operation.getRHS(), frame) : std::nullopt;
  return right ? std::optional(combine(spelling, *left, *right)) : std::nullopt;
}

std::optional<HostValue> HostResolver::choice(const clang::ConditionalOperator &operation,
                                              const HostFrame &frame) {
  const auto roots = roots_;
  const auto condition = integer(operation.getCond(), frame);
  // If only the running program decides the condition (argc > 1), the false arm is used if it is a
  // number, else the true arm.
  const bool known = condition && std::ranges::none_of(roots_, [&](const auto &entry) {
                       return !roots.contains(entry.first) && !entry.second.value;
                     });
  if (known && condition->number)
    return integer(*condition->number ? operation.getTrueExpr() : operation.getFalseExpr(), frame);
  if (!known)
    roots_ = roots;
  const auto yes = integer(operation.getTrueExpr(), frame),
             no = integer(operation.getFalseExpr(), frame);
  if (known && yes && no) {
    HostValue value{"(" + condition->text + ") ? (" + yes->text + ") : (" + no->text + ")", 1,
                    std::nullopt};
    return value;
  }
  return no && no->number ? no : yes ? yes : no;
}

const clang::Expr *HostResolver::definition_of(const clang::ValueDecl &variable) const {
  const auto *declared = llvm::dyn_cast<clang::VarDecl>(&variable);
  if (!declared)
    return nullptr;
  const auto assigned = program_.assignments_to(variable);
  const clang::Expr *initialiser = declared->getAnyInitializer();
  clang::Expr::EvalResult begins;
  const bool is_placeholder = initialiser && declared->hasGlobalStorage() && !assigned.empty() &&
                              !initialiser->isValueDependent() &&
                              initialiser->EvaluateAsInt(begins, unit_.context()) &&
                              begins.Val.getInt().isZero();
  if (initialiser && !is_placeholder)
    return initialiser;
  return assigned.empty() ? nullptr : assigned.front();
}

/// The value of a variable at a place. Known values win: `if (argc > 1) n = atoi(argv[1]); else n =
/// 1024;` gives 1024.
std::optional<HostValue> HostResolver::value_of(const clang::ValueDecl &variable,
                                                const HostFrame &frame,
                                                clang::SourceLocation place) {
  if (const auto *local = llvm::dyn_cast<clang::VarDecl>(&variable);
      local && local->hasLocalStorage() && place.isValid())
    if (const clang::Expr *latest = program_.assigned_before(variable, place))
      return integer(latest, frame);
  const clang::Expr *definition = definition_of(variable);
  const auto assigned = program_.assignments_to(variable);
  if (assigned.size() > 1 && definition == assigned.front())
    for (const clang::Expr *one : assigned)
      if (auto value = known(one, frame))
        return value;
  return definition ? integer(definition, frame) : std::nullopt;
}

std::optional<HostValue> HostResolver::variable(const clang::ValueDecl &declaration,
                                                const HostFrame &frame,
                                                clang::SourceLocation place) {
  if (const auto *enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(&declaration))
    return make_value(enumerator->getInitVal().getExtValue());
  if (const auto *parameter_declaration = llvm::dyn_cast<clang::ParmVarDecl>(&declaration))
    return parameter(*parameter_declaration, frame);
  if (!declaration.getType()->isIntegralOrEnumerationType() &&
      !declaration.getType()->isRealFloatingType())
    return std::nullopt;
  const HostFrame *own = frame_of(declaration, frame);
  const clang::Expr *definition = definition_of(declaration);
  const clang::Expr *range = program_.range_of(declaration);
  const std::string name = declaration.getNameAsString();
  auto value = range ? typical_of(range, name, *own) : value_of(declaration, *own, place);
  const bool is_local = !range && llvm::isa<clang::VarDecl>(declaration) &&
                        llvm::cast<clang::VarDecl>(declaration).hasLocalStorage();
  const bool is_changed = is_local && program_.is_changed_before(declaration, place);
  if (is_changed) // an expression over what it was begun with would be another value
    value.reset();
  if ((!definition && !range) || is_changed)
    if (auto given = given_through_pointer(declaration))
      value = given;
  if (!value)
    return root(name, in_run(declaration, *own));
  return value->number ? root(name, value->number) : *value;
}

const HostFrame *HostResolver::frame_of(const clang::Decl &declaration,
                                        const HostFrame &frame) const {
  const auto *owner = llvm::dyn_cast<clang::FunctionDecl>(declaration.getDeclContext());
  for (const HostFrame *at = &frame; owner && at; at = at->caller)
    if (at->function == owner)
      return at;
  return &frame;
}

const HostFrame *HostResolver::caller_of(const HostFrame &frame) {
  if (frame.call || !frame.function)
    return frame.caller;
  auto [entry, is_new] = callers_.try_emplace(frame.function);
  if (is_new)
    for (const HostCall &call : program_.calls_of(*frame.function))
      if (call.enclosing && call.enclosing != frame.function) {
        entry->second = std::make_unique<HostFrame>(HostFrame{call.enclosing, nullptr, nullptr});
        auto own =
            std::make_unique<HostFrame>(HostFrame{frame.function, call.call, entry->second.get()});
        const HostFrame *caller = entry->second.get();
        own_frames_[frame.function] = std::move(own);
        return caller;
      }
  if (is_new)
    for (const PassedFunction &way : program_.calls_through_parameters(*frame.function))
      if (way.passed.enclosing && way.passed.enclosing != frame.function) {
        // Frames of the function that passes the callee and of the function that calls its
        // parameter.
        auto &passing = passing_frames_.emplace_back(
            std::make_unique<HostFrame>(HostFrame{way.passed.enclosing, nullptr, nullptr}));
        entry->second = std::make_unique<HostFrame>(
            HostFrame{way.called.enclosing, way.passed.call, passing.get()});
        own_frames_[frame.function] = std::make_unique<HostFrame>(
            HostFrame{frame.function, way.called.call, entry->second.get()});
        return entry->second.get();
      }
  return entry->second.get();
}

std::optional<HostValue> HostResolver::parameter(const clang::ParmVarDecl &declaration,
                                                 const HostFrame &frame) {
  if (const clang::Expr *value = replaced_by(declaration))
    if (const auto number = integer(value, frame))
      return root(declaration.getNameAsString(), number->number);
  const HostFrame *own = frame_of(declaration, frame);
  const auto *owner = llvm::dyn_cast<clang::FunctionDecl>(declaration.getDeclContext());
  if (own->function == owner && !own->call && caller_of(*own))
    own = own_frames_.at(own->function).get();
  if (own->function == owner && own->call)
    if (const clang::Expr *argument = argument_of(*own->call, declaration.getFunctionScopeIndex()))
      if (const auto value = integer(argument, *own->caller)) {
        // A literal argument is a size with the parameter's name.
        return value->number && is_symbol(declaration.getNameAsString())
                   ? root(declaration.getNameAsString(), value->number)
                   : *value;
      }
  if (declaration.hasDefaultArg() && !declaration.hasUnparsedDefaultArg() &&
      !declaration.hasUninstantiatedDefaultArg())
    if (const auto value = integer(declaration.getDefaultArg(), frame))
      return value->number ? root(declaration.getNameAsString(), value->number) : *value;
  if (!declaration.getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  if (const std::size_t arguments = unit_.run_command().arguments.size();
      arguments > 0 && owner && owner->isMain() && declaration.getFunctionScopeIndex() == 0)
    return make_value(static_cast<std::int64_t>(arguments) + 1);
  return root(declaration.getNameAsString(), in_run(declaration, *own));
}

const clang::Expr *HostResolver::argument_of(const clang::CallExpr &call, unsigned index) {
  const auto *operator_call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
  const unsigned shifted =
      operator_call && operator_call->getOperator() == clang::OO_Call ? index + 1 : index;
  return shifted < call.getNumArgs() ? call.getArg(shifted) : nullptr;
}

std::optional<HostValue> HostResolver::call(const clang::CallExpr &call, const HostFrame &frame) {
  const std::string name = callee_name(call);
  if ((name == "min" || name == "max") && call.getNumArgs() == 2) {
    const auto left = integer(call.getArg(0), frame), right = integer(call.getArg(1), frame);
    return left && right ? std::optional(combine(name, *left, *right)) : std::nullopt;
  }
  if ((name == "ceil" || name == "ceilf") && call.getNumArgs() == 1)
    return rounded_up(call.getArg(0), frame);
  if (name == "size" && call.getNumArgs() == 0)
    if (const auto *method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call))
      if (const auto *object = llvm::dyn_cast_or_null<clang::DeclRefExpr>(
              strip(method->getImplicitObjectArgument())))
        if (const auto *definition =
                llvm::dyn_cast_or_null<clang::CXXConstructExpr>(definition_of(*object->getDecl()));
            definition && definition->getNumArgs() > 0)
          return integer(definition->getArg(0), *frame_of(*object->getDecl(), frame));
  if (const auto number = read_number(call, frame))
    return *number == std::floor(*number) && std::abs(*number) < 1e15
               ? std::optional(make_value(static_cast<std::int64_t>(*number)))
               : std::nullopt;
  const clang::FunctionDecl *callee = call.getDirectCallee();
  if (const clang::FunctionDecl *body = callee ? callee->getDefinition() : nullptr;
      body && body->getBody()) {
    const HostFrame inner{body, &call, &frame};
    if (auto value = inlined(body->getBody(), inner))
      return value;
  }
  const std::string_view text = unit_.text_anywhere(call.getSourceRange());
  return call.getType()->isIntegralOrEnumerationType() && !text.empty()
             ? std::optional(root(symbol_name(text), in_run(&call, frame)))
             : std::nullopt;
}

/// ceil(a / b) of floating-point or integer quotients.
std::optional<HostValue> HostResolver::rounded_up(const clang::Expr *argument,
                                                  const HostFrame &frame) {
  const auto *quotient = llvm::dyn_cast_or_null<clang::BinaryOperator>(strip(argument));
  if (!quotient || quotient->getOpcode() != clang::BO_Div)
    return integer(argument, frame);
  const auto left = integer(quotient->getLHS(), frame), right = integer(quotient->getRHS(), frame);
  if (!left || !right)
    return std::nullopt;
  return quotient->getType()->isRealFloatingType() ? combine("ceil_div", *left, *right)
                                                   : combine("/", *left, *right);
}

/// The value of a body such as `return e;` or `if (c) return a; return b;`.
std::optional<HostValue> HostResolver::inlined(const clang::Stmt *body, const HostFrame &frame) {
  const auto *block = llvm::dyn_cast<clang::CompoundStmt>(body);
  if (!block)
    return std::nullopt;
  for (const clang::Stmt *statement : block->body()) {
    if (const auto *result = llvm::dyn_cast<clang::ReturnStmt>(statement))
      return integer(result->getRetValue(), frame);
    const auto *branch = llvm::dyn_cast<clang::IfStmt>(statement);
    if (!branch)
      continue;
    const auto condition = integer(branch->getCond(), frame);
    if (!condition || !condition->number)
      return std::nullopt;
    const clang::Stmt *taken = *condition->number ? branch->getThen() : branch->getElse();
    if (const auto *result = llvm::dyn_cast_or_null<clang::ReturnStmt>(taken))
      return integer(result->getRetValue(), frame);
    if (taken)
      if (auto value = inlined(taken, frame))
        return value;
  }
  return std::nullopt;
}

std::optional<HostValue> HostResolver::elements(const clang::Expr *bytes, int element_bytes,
                                                const HostFrame &frame) {
  const clang::Expr *expression = strip(bytes);
  if (const auto *reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(expression);
      reference && depth_ < kMaxDepth) {
    const clang::Expr *definition = definition_of(*reference->getDecl());
    ++depth_;
    auto found = definition
                     ? elements(definition, element_bytes, *frame_of(*reference->getDecl(), frame))
                     : std::nullopt;
    --depth_;
    if (found && !found->number) // a number may be a size with this variable's name
      return found;
  }
  if (const auto *product = llvm::dyn_cast_or_null<clang::BinaryOperator>(expression);
      product && product->getOpcode() == clang::BO_Mul) {
    const auto left = integer(product->getLHS(), frame), right = integer(product->getRHS(), frame);
    if (left && right && left->number == element_bytes)
      return right;
    if (left && right && right->number == element_bytes)
      return left;
    if (left && right)
      if (const auto inner = elements(product->getLHS(), element_bytes, frame);
          inner && !left->number)
        return combine("*", *inner, *right);
  }
  const auto value = integer(bytes, frame);
  return value ? std::optional(combine("/", *value, make_value(element_bytes))) : std::nullopt;
}

} // namespace warpwright::analysis
