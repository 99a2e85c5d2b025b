// Parsing of a state and walks over its AST; see kernel_source.h.
#include "generator/text/source/kernel_source.h"

#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <array>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;

Result<KernelSource> KernelSource::open(const State &state) {
  auto unit = parse(state);
  if (!unit)
    return std::unexpected(unit.error());
  KernelSource source;
  source.gpu_ = state.gpu;
  source.arguments_ = state.arguments;
  source.extents_ = state.extents;
  source.keeps_launch_ = state.keeps_launch;
  source.has_other_includers_ = !state.settings.other_includers.empty();
  source.unit_ = std::move(*unit);
  source.text_ = state.text();
  const bool is_main = source.unit_->file_id() == source.unit_->sources().getMainFileID();
  source.has_includer_ = !is_main && !state.includer.path.empty();
  source.kernel_ = source.unit_->find_kernel(state.kernel);
  if (!source.kernel_)
    return fail("no kernel " + state.kernel + " in " + state.file.path,
                "Check the name, and that the file parses up to the kernel");
  source.body_ = dyn_cast<clang::CompoundStmt>(source.kernel_->getBody());
  auto braces =
      source.body_ ? source.unit_->range_of(source.body_->getSourceRange()) : std::nullopt;
  if (!braces || braces->size() < 2)
    return fail("the body of " + state.kernel + " comes from a macro",
                "Write it out to have it optimized");
  source.body_inside_ = {braces->begin + 1, braces->end - 1};
  source.all_launches_ = is_main ? source.unit_->launches() : source.unit_->all_launches();
  std::erase_if(source.all_launches_, [&](const clang::CUDAKernelCallExpr *launch) {
    return analysis::ParsedUnit::kernel_of(launch) != source.kernel_;
  });
  for (const clang::CUDAKernelCallExpr *launch : source.all_launches_)
    if (source.is_in_text(launch->getBeginLoc()))
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
    const std::size_t name = std::min(rest.find_first_not_of(" \t", at + 7), rest.size());
    taken_names_.emplace(rest.begin() + name,
                         std::find_if_not(rest.begin() + name, rest.end(), is_word));
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
  return range ? text_of(*range) : std::string();
}

Result<std::string> KernelSource::edited_text(Range range, const Edits &edits) const {
  Edits shifted;
  for (const TextEdit &edit : edits)
    if (edit.range.begin >= range.begin && edit.range.end <= range.end)
      shifted.push_back(
          {{edit.range.begin - range.begin, edit.range.end - range.begin}, edit.replacement});
  return apply_edits(text_of(range), shifted);
}

Result<std::string> KernelSource::level_text(Range range, const Edits &edits) const {
  auto edited = edited_text(range, edits);
  return edited ? in_levels(rebase(*edited, indentation_at(text(), range.begin))) : edited;
}

std::string KernelSource::in_levels(std::string_view text) const {
  std::string result;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size();) {
    if (at_start && text.substr(i).starts_with(indent_step_)) {
      result += "  ";
      i += indent_step_.size();
      continue;
    }
    at_start = text[i] == '\n';
    result += text[i++];
  }
  return result;
}

bool KernelSource::is_in_text(clang::SourceLocation location) const {
  const clang::SourceManager &sources = unit_->sources();
  return unit_->is_in_file(location) ||
         (has_includer_ && sources.getFileID(sources.getExpansionLoc(location)) == sources.getMainFileID());
}

std::optional<Range> KernelSource::range_of(const clang::Stmt *statement) const {
  return statement ? range_of(statement->getSourceRange()) : std::nullopt;
}

std::optional<Range> KernelSource::range_of(clang::SourceRange range) const {
  if (const auto own = unit_->range_of(range); own || !has_includer_)
    return own;
  auto there = unit_->range_in(unit_->sources().getMainFileID(), range);
  if (there) {
    const std::size_t begin = unit_->text().size() + 1;
    there->begin += begin;
    there->end += begin;
  }
  return there;
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

std::string KernelSource::type_name(clang::QualType type) const {
  return type.getUnqualifiedType().getAsString(unit_->context().getPrintingPolicy());
}

std::string KernelSource::unused_name(std::string name, const std::set<std::string> &more) const {
  const std::string body = body_text();
  while (taken_names_.contains(name) || more.contains(name) || mentions(body, name))
    name += '_';
  return name;
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

std::optional<std::int64_t>
KernelSource::argument_value(const clang::ParmVarDecl *parameter) const {
  const unsigned index = parameter->getFunctionScopeIndex();
  return index < arguments_.size() ? arguments_[index] : std::nullopt;
}

std::optional<std::int64_t> KernelSource::launch_extent(std::string_view name) const {
  constexpr std::array<std::string_view, 6> kNames{"gridDim.x",  "gridDim.y",  "gridDim.z",
                                                   "blockDim.x", "blockDim.y", "blockDim.z"};
  const auto found = std::ranges::find(kNames, name);
  const auto at = static_cast<std::size_t>(found - kNames.begin());
  return at < extents_.size() ? std::optional(extents_[at]) : std::nullopt;
}

TextEdit KernelSource::body_edit(const std::string &text) const {
  const std::string outer = body_indent_.substr(0, body_indent_.size() - indent_step_.size());
  return {body_inside_,
          "\n" + indent(without_trailing_space(text), body_indent_, indent_step_) + "\n" + outer};
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
  const auto *reference = as<clang::DeclRefExpr>(expression);
  return reference ? dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
}

const clang::VarDecl *only_variable(const clang::Stmt *statement) {
  const auto *declaration = dyn_cast_or_null<clang::DeclStmt>(statement);
  return declaration && declaration->isSingleDecl()
             ? dyn_cast<clang::VarDecl>(declaration->getSingleDecl())
             : nullptr;
}

std::vector<const clang::VarDecl *> variables_of(const clang::Stmt *statement) {
  std::vector<const clang::VarDecl *> variables;
  if (const auto *declaration = dyn_cast<clang::DeclStmt>(statement))
    for (const clang::Decl *declared : declaration->decls())
      if (const auto *variable = dyn_cast<clang::VarDecl>(declared))
        variables.push_back(variable);
  return variables;
}

std::string builtin_of(const clang::Expr *expression) {
  const auto *member = dyn_cast_or_null<clang::MemberExpr>(strip_casts(expression));
  const auto *base = member ? as<clang::DeclRefExpr>(member->getBase()) : nullptr;
  const std::string name = base ? base->getDecl()->getNameAsString() : "";
  const bool known =
      name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
  return known ? name + "." + member->getMemberDecl()->getNameAsString() : std::string();
}

std::string callee_name(const clang::Expr *expression) {
  const auto *call = as<clang::CallExpr>(expression);
  if (!call)
    return {};
  if (const clang::FunctionDecl *function = call->getDirectCallee())
    return function->getDeclName().isIdentifier() ? function->getNameAsString() : std::string();
  if (const auto *overloads = dyn_cast<clang::OverloadExpr>(strip(call->getCallee())))
    return overloads->getName().getAsString();
  return {};
}

bool writes_operand(const clang::UnaryOperator *unary) {
  return unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf;
}

std::vector<const clang::Stmt *> writes_of(const clang::Stmt *root,
                                           const clang::VarDecl *variable) {
  std::vector<const clang::Stmt *> writes;
  for_each_node(root, [&](const clang::Stmt *node) {
    const auto *binary = dyn_cast<clang::BinaryOperator>(node);
    const auto *unary = dyn_cast<clang::UnaryOperator>(node);
    if ((binary && binary->isAssignmentOp() && variable_of(binary->getLHS()) == variable) ||
        (unary && writes_operand(unary) && variable_of(unary->getSubExpr()) == variable))
      writes.push_back(node);
  });
  return writes;
}

bool is_written_once(const KernelSource &source, const clang::VarDecl *variable) {
  return writes_of(source.body(), variable).empty();
}

std::vector<const clang::DeclRefExpr *> uses_of(const clang::Stmt *root,
                                                const clang::ValueDecl *declaration) {
  auto uses = find_all<clang::DeclRefExpr>(root);
  std::erase_if(uses, [&](const auto *reference) { return reference->getDecl() != declaration; });
  return uses;
}

namespace {

bool is_collective(const clang::CallExpr &call) {
  const std::string name = callee_name(&call);
  for (const char *begin : {"__sync", "__shfl", "__ballot", "__any", "__all", "__activemask"})
    if (name.starts_with(begin))
      return true;
  if (name.ends_with("_sync") || name == "sync")
    return true;
  if (const auto *member = as<clang::MemberExpr>(call.getCallee());
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

bool has_exit(const std::vector<const clang::Stmt *> &statements) {
  return std::ranges::any_of(statements, [](const clang::Stmt *statement) {
    return !find_all<clang::ReturnStmt>(statement).empty() || has_collective(statement);
  });
}

std::vector<const clang::Stmt *> statements_of(const clang::Stmt *statement) {
  if (const auto *compound = dyn_cast_or_null<clang::CompoundStmt>(statement))
    return {compound->body_begin(), compound->body_end()};
  if (!statement)
    return {};
  return {statement};
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

bool has_type(const clang::Expr *expression, clang::BuiltinType::Kind kind) {
  return expression->getType()->isSpecificBuiltinType(kind);
}

bool is_zero(const clang::Expr *expression) {
  expression = strip_casts(expression);
  const auto *floating = dyn_cast_or_null<clang::FloatingLiteral>(expression);
  const auto *integer = dyn_cast_or_null<clang::IntegerLiteral>(expression);
  return (floating && floating->getValue().isZero()) || (integer && integer->getValue() == 0);
}

} // namespace warpwright::source
