// Text edits that add conditions around accesses; see guard.h.
// Thread: the unit's thread.
#include "analysis/rules/guard.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

bool find_path(const Stmt *statement, const Stmt *target, std::vector<const Stmt *> &path) {
  if (!statement || path.size() > 400)
    return false;
  path.push_back(statement);
  if (statement == target)
    return true;
  for (const Stmt *child : statement->children())
    if (find_path(child, target, path))
      return true;
  path.pop_back();
  return false;
}

/// The statement of a block that contains an expression, and the right-hand side if the expression
/// is all of it.
struct Enclosing {
  const Stmt *statement = nullptr;
  const Expr *whole_value = nullptr;
};

bool is_block_part(const Stmt *parent, const Stmt *child) {
  if (isa<CompoundStmt>(parent))
    return true;
  if (const auto *branch = dyn_cast<IfStmt>(parent))
    return child == branch->getThen() || child == branch->getElse();
  if (const auto *loop = dyn_cast<ForStmt>(parent))
    return child == loop->getBody();
  const auto *loop = dyn_cast<WhileStmt>(parent);
  return loop && child == loop->getBody();
}

Enclosing enclosing(const std::vector<const Stmt *> &path) {
  Enclosing result;
  bool is_whole = true;
  const Stmt *value = path.back();
  for (std::size_t i = path.size() - 1; i-- > 0;) {
    const Stmt *parent = path[i], *child = path[i + 1];
    if (is_block_part(parent, child)) {
      result.statement = child;
      return result;
    }
    const auto *binary = dyn_cast<BinaryOperator>(parent);
    const bool is_source =
        (binary && binary->getOpcode() == BO_Assign && binary->getRHS() == child) ||
        isa<DeclStmt>(parent);
    if (is_whole && is_source)
      result.whole_value = dyn_cast<Expr>(value);
    is_whole = is_whole && (isa<ParenExpr>(parent) || isa<ImplicitCastExpr>(parent));
    if (is_whole)
      value = parent;
  }
  return {};
}

std::string zero_of(const std::string &element_type) {
  if (element_type == "float")
    return "0.0f";
  if (element_type == "double")
    return "0.0";
  static const std::set<std::string> integers{
      "int",  "unsigned int",  "long",      "unsigned long",      "short",
      "char", "unsigned char", "long long", "unsigned long long", "unsigned short"};
  return integers.contains(element_type) ? "0" : "";
}

} // namespace

std::vector<const Stmt *> path_to(const Stmt *body, const Stmt *target) {
  std::vector<const Stmt *> path;
  if (!find_path(body, target, path))
    path.clear();
  return path;
}

std::optional<std::size_t> end_of_statement(const RuleInput &input, const Stmt *statement) {
  const auto range = input.unit.range_of(statement->getSourceRange());
  if (!range)
    return std::nullopt;
  const std::string_view text = input.unit.text();
  if (range->end > 0 && (text[range->end - 1] == ';' || text[range->end - 1] == '}'))
    return range->end;
  const std::size_t next = text.find_first_not_of(" \t\r\n", range->end);
  return next != std::string_view::npos && text[next] == ';' ? std::optional(next + 1)
                                                             : std::nullopt;
}

std::string new_line_at(const RuleInput &input, std::size_t offset) {
  return "\n" + indentation_at(input.unit.text(), offset);
}

std::optional<std::vector<TextEdit>> guard_accesses(const RuleInput &input,
                                                    const RuleKernel &kernel,
                                                    const std::vector<const AccessSite *> &sites,
                                                    const std::string &condition) {
  std::map<const Stmt *, TextEdit> stores;
  std::vector<std::pair<const Stmt *, TextEdit>> loads;
  for (const AccessSite *site : sites) {
    const auto path = path_to(kernel.context->kernel.getBody(), site->expression);
    const Enclosing around = path.empty() ? Enclosing{} : enclosing(path);
    if (!around.statement)
      return std::nullopt;
    const bool is_plain = isa<Expr>(around.statement);
    const auto start = input.unit.range_of(around.statement->getSourceRange());
    if (site->access.is_write && is_plain && start) {
      stores.try_emplace(around.statement, insertion(start->begin, "if (" + condition + ") "));
      continue;
    }
    const auto value = around.whole_value
                           ? input.unit.range_of(around.whole_value->getSourceRange())
                           : std::nullopt;
    const std::string zero = zero_of(site->access.element_type);
    if (site->access.is_write || !value || zero.empty()) {
      loads.emplace_back(around.statement, TextEdit{});
      continue;
    }
    const bool is_comparison = condition.find("&&") == std::string::npos;
    const std::string test = is_comparison ? condition : "(" + condition + ")";
    loads.emplace_back(around.statement,
                       TextEdit{*value, test + " ? " + input.text(*value) + " : " + zero});
  }
  std::vector<TextEdit> edits;
  for (const auto &[statement, edit] : stores)
    edits.push_back(edit);
  for (const auto &[statement, edit] : loads) {
    if (stores.contains(statement))
      continue;
    if (edit.replacement.empty())
      return std::nullopt;
    edits.push_back(edit);
  }
  std::ranges::sort(edits, {}, &TextEdit::range);
  return edits;
}

} // namespace warpwright::analysis
