// See lanes.h. What is not understood counts as different between lanes, or ends in an error.
#include "generator/text/source/lanes.h"

#include "generator/text/source/effects.h"

#include <clang/AST/Attr.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;

namespace {

bool has_effect(const clang::Stmt *root, int depth);

/// True for functions of values alone that store nothing, as those of mathematics, which have no
/// body here.
bool is_pure(const clang::CallExpr *call, int depth = 0) {
  constexpr int kDeepest = 4;
  const clang::FunctionDecl *callee = call->getDirectCallee();
  if (!callee || isa<clang::CXXMethodDecl>(callee) || depth > kDeepest)
    return false;
  const bool takes_values = std::ranges::all_of(callee->parameters(), [](const clang::ParmVarDecl *parameter) {
    const clang::QualType type = parameter->getType();
    return type->isArithmeticType() || type->isVectorType() || type->isRecordType();
  });
  const clang::FunctionDecl *definition = nullptr;
  return takes_values && (!callee->hasBody(definition) || !has_effect(definition->getBody(), depth + 1));
}

/// The lvalue that an operator writes; null: it writes nothing.
const clang::Expr *written_by_operator(const clang::Stmt *node) {
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(node); binary && binary->isAssignmentOp())
    return binary->getLHS();
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(node); unary && writes_operand(unary))
    return unary->getSubExpr();
  return nullptr;
}

bool has_effect(const clang::Stmt *root, int depth) {
  bool found = false;
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const clang::Expr *lvalue = written_by_operator(node))
      found |= !named_root(lvalue);
    if (const auto *call = dyn_cast<clang::CallExpr>(node))
      found |= !is_pure(call, depth);
    found |= isa<clang::AsmStmt>(node);
  });
  return found;
}

const clang::Stmt *without_attributes(const clang::Stmt *statement) {
  while (const auto *attributed = dyn_cast_or_null<clang::AttributedStmt>(statement))
    statement = attributed->getSubStmt();
  return statement;
}

} // namespace

LaneVariables::LaneVariables(const clang::VarDecl *index, const std::vector<const clang::Stmt *> &statements) {
  variables_.insert(index);
  for (std::size_t known = 0; known != variables_.size();) {
    known = variables_.size();
    for (const clang::Stmt *statement : statements)
      add_written(statement, false);
  }
}

bool LaneVariables::differ_in(const clang::Stmt *root) const {
  bool found = false;
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const auto *reference = dyn_cast<clang::DeclRefExpr>(node))
      found |= contains(reference->getDecl());
    if (const auto *call = dyn_cast<clang::CallExpr>(node))
      found |= !is_pure(call); // atomics, random numbers
  });
  return found;
}

void LaneVariables::add_written(const clang::Stmt *root, bool is_conditional) {
  if (!root)
    return;
  const auto add = [&](const clang::Expr *lvalue, const clang::Stmt *value) {
    const clang::VarDecl *variable = named_root(lvalue);
    if (variable && (is_conditional || differ_in(value)))
      variables_.insert(variable);
  };
  for (const clang::VarDecl *variable : variables_of(root))
    if (variable->hasInit() && differ_in(variable->getInit()))
      variables_.insert(variable);
  if (const clang::Expr *lvalue = written_by_operator(root))
    add(lvalue, root);
  if (const auto *call = dyn_cast<clang::CallExpr>(root); call && !is_pure(call))
    for (const clang::Expr *argument : call->arguments()) // it may write what it is given by reference
      for (const auto *reference : find_all<clang::DeclRefExpr>(argument))
        if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
            variable && variable->isLocalVarDecl())
          variables_.insert(variable);
  const clang::Stmt *condition = nullptr;
  if (const auto *branch = dyn_cast<clang::IfStmt>(root))
    condition = branch->getCond();
  else if (const auto *loop = dyn_cast<clang::ForStmt>(root))
    condition = loop->getCond();
  else if (const auto *loop = dyn_cast<clang::WhileStmt>(root))
    condition = loop->getCond();
  else if (const auto *loop = dyn_cast<clang::DoStmt>(root))
    condition = loop->getCond();
  else if (isa<clang::SwitchStmt>(root) || isa<clang::CXXForRangeStmt>(root) || isa<clang::ConditionalOperator>(root))
    condition = root;
  const bool differs = condition && differ_in(condition);
  for (const clang::Stmt *child : root->children())
    add_written(child, is_conditional || differs);
}

bool has_effect(const clang::Stmt *root) { return has_effect(root, 0); }

std::string LaneWriter::for_lanes(const std::string &text) const {
  const bool is_one = text.find('\n') == std::string::npos;
  return "#pragma unroll\nfor (int " + lane_ + " = 0; " + lane_ + " < " + std::to_string(lanes_) + "; ++" + lane_ +
         ")" + (is_one ? "\n  " + text : " {\n  " + deepen(text, "  ") + "\n}");
}

Result<std::string> LaneWriter::lane_text(Range range, const clang::Stmt *statement) const {
  Edits edits;
  for (const auto *reference : find_all<clang::DeclRefExpr>(statement)) {
    const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
    if (!variable || !arrays_.contains(variable))
      continue;
    const auto place = source_.range_of(reference);
    if (!place)
      return fail(variable->getNameAsString() + " is used in a macro");
    add_edits(edits, {{*place, variable->getNameAsString() + "[" + lane_ + "]"}});
  }
  return source_.level_text(range, edits);
}

bool LaneWriter::is_shared(const clang::Stmt *loop) const {
  const clang::Stmt *body = nullptr;
  if (const auto *counted = dyn_cast<clang::ForStmt>(loop)) {
    body = counted->getBody();
    for (const clang::Stmt *part : {counted->getInit(), static_cast<const clang::Stmt *>(counted->getCond()),
                                    static_cast<const clang::Stmt *>(counted->getInc())})
      if (part && (variables_.differ_in(part) || has_effect(part)))
        return false;
    for (const clang::VarDecl *variable :
         counted->getInit() ? variables_of(counted->getInit()) : std::vector<const clang::VarDecl *>())
      if (variables_.contains(variable))
        return false;
    if (counted->getConditionVariable())
      return false;
  } else if (const auto *conditional = dyn_cast<clang::WhileStmt>(loop)) {
    body = conditional->getBody();
    if (variables_.differ_in(conditional->getCond()) || has_effect(conditional->getCond()) ||
        conditional->getConditionVariable())
      return false;
  } else {
    return false;
  }
  return find_all<clang::BreakStmt>(body).empty() && find_all<clang::ContinueStmt>(body).empty() &&
         find_all<clang::GotoStmt>(body).empty() && (variables_.differ_in(body) || has_effect(body));
}

Result<std::string> LaneWriter::write_nested(const std::string &head, const clang::Stmt *body) {
  auto inside = write(statements_of(body));
  if (!inside)
    return inside;
  return head + " {\n  " + deepen(*inside, "  ") + "\n}";
}

Result<std::string> LaneWriter::write_variable(const clang::VarDecl *variable) {
  clang::QualType type = variable->getType();
  if (type->isReferenceType() || variable->isStaticLocal() || variable->hasAttr<clang::CUDASharedAttr>())
    return fail(variable->getNameAsString() + " is a reference or static");
  std::string extents = "[" + std::to_string(lanes_) + "]";
  while (const auto *array = dyn_cast<clang::ConstantArrayType>(type.getTypePtr())) {
    extents += "[" + std::to_string(array->getSize().getZExtValue()) + "]";
    type = array->getElementType();
  }
  if (type->isArrayType() || type->isFunctionPointerType() ||
      (type->isPointerType() && type->getPointeeType()->isArrayType()))
    return fail(variable->getNameAsString() + " has a type that cannot be an array's");
  if (const auto *record = type->getAsCXXRecordDecl(); record && !record->hasTrivialDestructor())
    return fail(variable->getNameAsString() + " has a destructor");
  if (const auto *record = type->getAsCXXRecordDecl(); record && record->hasDefinition() && !record->hasDefaultConstructor())
    return fail(variable->getNameAsString() + " has no default constructor");
  const bool is_array = variable->getType()->isArrayType();
  if (is_array && variable->hasInit())
    return fail(variable->getNameAsString() + " is an array with a list of values");
  if (type->getContainedAutoType())
    type = type.getCanonicalType();
  const std::string name = variable->getNameAsString(), spelled = source_.type_name(type);
  std::string text = spelled + (spelled.ends_with('*') ? "" : " ") + name + extents + ";";
  const clang::Expr *init = variable->getInit();
  const bool has_default = init && isa<clang::CXXConstructExpr>(init->IgnoreImplicit()) &&
                           cast<clang::CXXConstructExpr>(init->IgnoreImplicit())->getNumArgs() == 0;
  if (init && !has_default) {
    const auto range = source_.range_of(init);
    if (!range)
      return fail("the value of " + name + " comes from a macro");
    auto value = lane_text(*range, init);
    if (!value)
      return value;
    const bool is_call = variable->getInitStyle() == clang::VarDecl::CallInit && isa<clang::CXXConstructExpr>(init);
    text += "\n" + for_lanes(name + "[" + lane_ + "] = " + (is_call ? spelled + "(" + *value + ")" : *value) + ";");
  }
  declare(variable);
  return text;
}

Result<std::string> LaneWriter::write_declaration(const clang::DeclStmt *declaration) {
  const auto variables = variables_of(declaration);
  const auto range = source_.statement_range(declaration);
  if (!range || static_cast<std::ptrdiff_t>(variables.size()) !=
                    std::distance(declaration->decl_begin(), declaration->decl_end()))
    return fail("a declaration comes from a macro, or declares no variable");
  if (std::ranges::none_of(variables, [&](const clang::VarDecl *one) { return variables_.contains(one); }))
    return source_.level_text({source_.range_of(declaration)->begin, range->end});
  if (std::ranges::any_of(variables, [&](const clang::VarDecl *one) { return !variables_.contains(one); }))
    return fail("one declaration has variables of one lane and of all");
  std::string text;
  for (const clang::VarDecl *variable : variables) {
    auto one = write_variable(variable);
    if (!one)
      return one;
    text += (text.empty() ? "" : "\n") + *one;
  }
  return text;
}

Result<std::string> LaneWriter::write(const clang::Stmt *statement) {
  if (const auto *declaration = dyn_cast<clang::DeclStmt>(statement))
    return write_declaration(declaration);
  const clang::Stmt *inner = without_attributes(statement);
  const auto begin = source_.range_of(inner);
  const auto range = source_.statement_range(inner);
  if (!begin || !range)
    return fail("a statement comes from a macro");
  const Range whole{begin->begin, range->end};
  if (const auto *block = dyn_cast<clang::CompoundStmt>(inner))
    return write_nested("", block);
  const bool differs = variables_.differ_in(inner) || has_effect(inner);
  if (!differs)
    return source_.level_text(whole);
  if (is_shared(inner)) {
    const auto *counted = dyn_cast<clang::ForStmt>(inner);
    const clang::Stmt *body = counted ? counted->getBody() : cast<clang::WhileStmt>(inner)->getBody();
    const auto body_range = source_.range_of(body);
    if (!body_range)
      return fail("the body of a loop comes from a macro");
    auto pragmas = source_.level_text({with_pragmas(source_.text(), whole.begin), whole.begin});
    if (!pragmas)
      return pragmas;
    ++shared_loops_;
    return write_nested(
        *pragmas + without_trailing_space(source_.text_of(Range{whole.begin, body_range->begin})),
        body);
  }
  if (const auto *branch = dyn_cast<clang::IfStmt>(inner);
      branch && !variables_.differ_in(branch->getCond()) && !has_effect(branch->getCond()) && !branch->hasVarStorage()) {
    const std::string condition = source_.text_of(branch->getCond());
    if (condition.empty())
      return fail("a condition comes from a macro");
    auto then = write_nested("if (" + condition + ")", branch->getThen());
    if (!then || !branch->getElse())
      return then;
    auto otherwise = write_nested(" else", branch->getElse());
    return otherwise ? Result<std::string>(*then + *otherwise) : otherwise;
  }
  auto text = lane_text(whole, inner);
  return text ? Result<std::string>(for_lanes(*text)) : text;
}

Result<std::string> LaneWriter::write(const std::vector<const clang::Stmt *> &statements) {
  std::string all;
  for (const clang::Stmt *statement : statements) {
    auto text = write(statement);
    if (!text)
      return text;
    all += (all.empty() ? "" : "\n") + *text;
  }
  return all;
}

} // namespace warpwright::source
