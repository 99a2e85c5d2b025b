// Opening a state and walking its AST; see kernel_source.h.
#include "generator/text/source/kernel_source.h"

#include "generator/text/source/render.h"

#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <set>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

Result<KernelSource> KernelSource::open(const State &state) {
  auto unit = analysis::parse_stub(state.file, state.settings);
  if (!unit)
    return std::unexpected(unit.error());
  KernelSource source;
  source.gpu_ = state.gpu;
  source.unit_ = std::move(*unit);
  source.kernel_ = source.unit_->find_kernel(state.kernel);
  if (!source.kernel_)
    return fail("no kernel " + state.kernel + " in " + state.file.path,
                "Check the name, and that the file parses up to the kernel");
  source.body_ = dyn_cast<clang::CompoundStmt>(source.kernel_->getBody());
  auto braces =
      source.body_ ? source.unit_->range_of(source.body_->getSourceRange()) : std::nullopt;
  if (!braces || braces->size() < 2)
    return fail("the body of " + state.kernel + " comes from a macro",
                "Write it out to have it optimised");
  source.body_inside_ = {braces->begin + 1, braces->end - 1};
  for (const clang::CUDAKernelCallExpr *launch : source.unit_->launches())
    if (analysis::ParsedUnit::kernel_of(launch) == source.kernel_)
      source.launches_.push_back(launch);
  source.learn_style();
  return source;
}

void KernelSource::learn_style() {
  for (const clang::ParmVarDecl *parameter : kernel_->parameters())
    taken_names_.insert(parameter->getNameAsString());
  std::string_view rest = text();
  for (std::size_t at = rest.find("#define"); at != std::string_view::npos;
       at = rest.find("#define", at + 1)) {
    std::size_t begin = std::min(rest.find_first_not_of(" \t", at + 7), rest.size());
    std::size_t end = begin;
    while (end < rest.size() &&
           (std::isalnum(static_cast<unsigned char>(rest[end])) || rest[end] == '_'))
      ++end;
    taken_names_.insert(std::string(rest.substr(begin, end - begin)));
  }
  auto kernel_range = unit_->range_of(kernel_->getSourceRange());
  const std::string outer =
      indentation_at(text(), kernel_range ? kernel_range->begin : body_inside_.begin);
  indent_step_ = "  ";
  body_indent_ = outer + indent_step_;
  if (body_->body_empty())
    return;
  if (auto first = range_of(*body_->body_begin())) {
    const std::string inner = indentation_at(text(), first->begin);
    if (inner.size() > outer.size() && inner.starts_with(outer)) {
      indent_step_ = inner.substr(outer.size());
      body_indent_ = inner;
    }
  }
}

std::string KernelSource::text_of(const clang::Stmt *statement) const {
  auto range = range_of(statement);
  return range ? std::string(text().substr(range->begin, range->size())) : std::string();
}

std::optional<Range> KernelSource::range_of(const clang::Stmt *statement) const {
  return statement ? unit_->range_of(statement->getSourceRange()) : std::nullopt;
}

std::optional<Range> KernelSource::statement_range(const clang::Stmt *statement) const {
  auto range = range_of(statement);
  if (!range)
    return std::nullopt;
  while (range->begin > 0 && (text()[range->begin - 1] == ' ' || text()[range->begin - 1] == '\t'))
    --range->begin;
  const std::size_t next = text().find_first_not_of(" \t\n", range->end);
  if (isa<clang::Expr>(statement) || isa<clang::ReturnStmt>(statement)) {
    if (next == std::string_view::npos || text()[next] != ';')
      return std::nullopt;
    range->end = next + 1;
    return range;
  }
  // A loop or branch whose body is one expression ends before its semicolon.
  const char last = text()[range->end - 1];
  if (last != '}' && last != ';' && next != std::string_view::npos && text()[next] == ';')
    range->end = next + 1;
  return range;
}

const clang::ParmVarDecl *KernelSource::parameter(std::string_view name) const {
  for (const clang::ParmVarDecl *parameter : kernel_->parameters())
    if (parameter->getName() == llvm::StringRef(name.data(), name.size()))
      return parameter;
  return nullptr;
}

std::optional<std::string> KernelSource::argument_text(const clang::CUDAKernelCallExpr *launch,
                                                       std::string_view parameter) const {
  const clang::ParmVarDecl *declaration = this->parameter(parameter);
  if (!declaration)
    return std::nullopt;
  const unsigned index = declaration->getFunctionScopeIndex();
  if (index >= launch->getNumArgs())
    return std::nullopt;
  const clang::Expr *argument = launch->getArg(index);
  if (const auto *by_default = dyn_cast<clang::CXXDefaultArgExpr>(argument))
    argument = by_default->getExpr();
  const std::string text = text_of(argument);
  return text.empty() ? std::nullopt : std::optional(parenthesised(text));
}

TextEdit KernelSource::body_edit(const std::string &text) const {
  std::string trimmed = text;
  while (!trimmed.empty() && (trimmed.back() == '\n' || trimmed.back() == ' '))
    trimmed.pop_back();
  const std::string outer = body_indent_.substr(0, body_indent_.size() - indent_step_.size());
  return {body_inside_, "\n" + indent(trimmed, body_indent_, indent_step_) + "\n" + outer};
}

void for_each_node(const clang::Stmt *root, const std::function<void(const clang::Stmt *)> &visit) {
  if (!root)
    return;
  if (const auto *pseudo = dyn_cast<clang::PseudoObjectExpr>(root))
    return for_each_node(pseudo->getSyntacticForm(), visit);
  visit(root);
  for (const clang::Stmt *child : root->children())
    for_each_node(child, visit);
}

const clang::Expr *strip(const clang::Expr *expression) {
  return expression ? expression->IgnoreUnlessSpelledInSource()->IgnoreParenImpCasts() : nullptr;
}

const clang::Expr *strip_casts(const clang::Expr *expression) {
  for (;;) {
    expression = strip(expression);
    if (const auto *cast = dyn_cast_or_null<clang::ExplicitCastExpr>(expression))
      expression = cast->getSubExpr();
    else
      return expression;
  }
}

const clang::VarDecl *variable_of(const clang::Expr *expression) {
  const auto *reference = dyn_cast_or_null<clang::DeclRefExpr>(strip(expression));
  return reference ? dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
}

std::string builtin_of(const clang::Expr *expression) {
  const clang::Expr *base = nullptr;
  std::string member;
  const clang::Expr *plain = strip_casts(expression);
  if (const auto *access = dyn_cast_or_null<clang::MemberExpr>(plain)) {
    base = access->getBase();
    member = access->getMemberDecl()->getNameAsString();
  }
  const auto *reference = dyn_cast_or_null<clang::DeclRefExpr>(base ? strip(base) : nullptr);
  if (!reference)
    return {};
  const std::string name = reference->getDecl()->getNameAsString();
  const bool known =
      name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
  return known ? name + "." + member : std::string();
}

std::string callee_name(const clang::Expr *expression) {
  const auto *call = dyn_cast_or_null<clang::CallExpr>(expression ? strip(expression) : nullptr);
  if (!call)
    return {};
  if (const clang::FunctionDecl *function = call->getDirectCallee())
    return function->getDeclName().isIdentifier() ? function->getNameAsString() : std::string();
  if (const auto *overloads = dyn_cast<clang::OverloadExpr>(strip(call->getCallee())))
    return overloads->getName().getAsString();
  return {};
}

std::vector<const clang::Stmt *> writes_of(const clang::Stmt *root,
                                           const clang::VarDecl *variable) {
  std::vector<const clang::Stmt *> writes;
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const auto *binary = dyn_cast<clang::BinaryOperator>(node)) {
      if (binary->isAssignmentOp() && variable_of(binary->getLHS()) == variable)
        writes.push_back(node);
    } else if (const auto *unary = dyn_cast<clang::UnaryOperator>(node)) {
      if ((unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf) &&
          variable_of(unary->getSubExpr()) == variable)
        writes.push_back(node);
    }
  });
  return writes;
}

bool references(const clang::Stmt *root, const clang::ValueDecl *declaration) {
  bool found = false;
  for_each_node(root, [&](const clang::Stmt *node) {
    const auto *reference = dyn_cast<clang::DeclRefExpr>(node);
    found |= reference && reference->getDecl() == declaration;
  });
  return found;
}

namespace {

bool is_collective(const clang::CallExpr &call) {
  const std::string name = callee_name(&call);
  for (const char *begin : {"__sync", "__shfl", "__ballot", "__any", "__all", "__activemask"})
    if (name.starts_with(begin))
      return true;
  if (name.ends_with("_sync") || name == "sync")
    return true;
  if (const auto *member = dyn_cast<clang::MemberExpr>(strip(call.getCallee()));
      member && member->getMemberDecl()->getNameAsString() == "sync")
    return true;
  const clang::FunctionDecl *callee = call.getDirectCallee();
  const std::string full = callee ? callee->getQualifiedNameAsString() : std::string();
  return full.starts_with("cooperative_groups::") || full.starts_with("cub::");
}

/// @param seen functions that were looked into
bool has_collective(const clang::Stmt *root, std::set<const clang::FunctionDecl *> &seen) {
  bool found = false;
  for_each_node(root, [&](const clang::Stmt *node) {
    if (const auto *assembly = found ? nullptr : dyn_cast<clang::GCCAsmStmt>(node)) {
      const std::string text = assembly->getAsmString();
      found = text.find("bar") != std::string::npos || text.find(".sync") != std::string::npos;
    }
    const auto *call = found ? nullptr : dyn_cast<clang::CallExpr>(node);
    if (!call)
      return;
    const clang::FunctionDecl *callee = call->getDirectCallee();
    callee = callee ? callee->getDefinition() : nullptr;
    found = is_collective(*call) || (callee && callee->getBody() && seen.insert(callee).second &&
                                     has_collective(callee->getBody(), seen));
  });
  return found;
}

} // namespace

bool has_collective(const clang::Stmt *root) {
  std::set<const clang::FunctionDecl *> seen;
  return has_collective(root, seen);
}

bool has_return(const clang::Stmt *root) { return !find_all<clang::ReturnStmt>(root).empty(); }

std::vector<const clang::Stmt *> statements_of(const clang::Stmt *statement) {
  if (const auto *compound = dyn_cast_or_null<clang::CompoundStmt>(statement))
    return {compound->body_begin(), compound->body_end()};
  return statement ? std::vector<const clang::Stmt *>{statement}
                   : std::vector<const clang::Stmt *>{};
}

std::optional<std::int64_t> integer_value(const KernelSource &source,
                                          const clang::Expr *expression) {
  expression = strip_casts(expression);
  if (!expression || expression->isValueDependent())
    return std::nullopt;
  clang::Expr::EvalResult result;
  if (expression->getType()->isIntegralOrEnumerationType() &&
      expression->EvaluateAsInt(result, source.unit().context()))
    return result.Val.getInt().getExtValue();
  const clang::VarDecl *variable = variable_of(expression);
  if (!variable || !variable->hasInit() || isa<clang::ParmVarDecl>(variable))
    return std::nullopt;
  const auto *function = dyn_cast<clang::FunctionDecl>(variable->getDeclContext());
  if (function && !writes_of(function->getBody(), variable).empty())
    return std::nullopt;
  return function || variable->getType().isConstQualified()
             ? integer_value(source, variable->getInit())
             : std::nullopt;
}

} // namespace warpwright::generator
