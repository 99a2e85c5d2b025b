// Memory accesses of a body, each with its affine index and its pattern within a warp.
//
// The walk derives from the context whether an lvalue is read, written or both, because templates
// lack the implicit casts that would tell. A member of an array element (p[i].x) counts as an
// access of the element. Accesses through pointers of unknown origin are left out. Thread: the
// unit's thread.
#include "analysis/facts/kernel_context.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <tuple>

namespace warpwright::analysis {

using namespace clang;

namespace {

enum class Use { Read, Write, Both, None };

bool is_cached_load(const std::string &name) {
  return name == "__ldg" || name == "__ldcg" || name == "__ldca" || name == "__ldcs" ||
         name == "__ldlu" || name == "__ldcv";
}

bool is_cached_store(const std::string &name) {
  return name == "__stwb" || name == "__stcg" || name == "__stcs" || name == "__stwt";
}

class AccessWalker {
public:
  AccessWalker(const ParsedUnit &unit, AffineAnalysis &values, const KernelShape &shape)
      : unit_(unit), values_(values), shape_(shape), lines_(unit.text()) {}

  void walk(const Stmt *statement, Use use = Use::Read) {
    if (!statement || depth_ > 400)
      return;
    ++depth_;
    walk_kind(statement, use);
    --depth_;
  }

  std::vector<AccessSite> sites;

private:
  void walk_children(const Stmt *statement) {
    for (const Stmt *child : statement->children())
      walk(child);
  }

  void walk_kind(const Stmt *statement, Use use) {
    const auto *expression = dyn_cast<Expr>(statement);
    if (!expression) {
      if (const auto *declarations = dyn_cast<DeclStmt>(statement)) {
        for (const Decl *declaration : declarations->decls())
          if (const auto *variable = dyn_cast_or_null<VarDecl>(declaration))
            walk(variable->getInit(),
                 variable->getType()->isReferenceType() ? Use::None : Use::Read);
        return;
      }
      return walk_children(statement);
    }
    if (!builtin_index(expression).empty())
      return;
    if (const auto *pseudo = dyn_cast<PseudoObjectExpr>(expression))
      return walk(pseudo->getSyntacticForm());
    if (isa<ParenExpr>(expression) || isa<CastExpr>(expression) || isa<FullExpr>(expression)) {
      const Stmt *child = *expression->child_begin();
      return walk(child, use);
    }
    if (const auto *binary = dyn_cast<BinaryOperator>(expression);
        binary && binary->isAssignmentOp()) {
      walk(binary->getRHS());
      return walk(binary->getLHS(), binary->isCompoundAssignmentOp() ? Use::Both : Use::Write);
    }
    if (const auto *unary = dyn_cast<UnaryOperator>(expression)) {
      if (unary->isIncrementDecrementOp())
        return walk(unary->getSubExpr(), Use::Both);
      if (unary->getOpcode() == UO_AddrOf)
        return walk(unary->getSubExpr(), Use::None);
    }
    if (const auto *operation = dyn_cast<CXXOperatorCallExpr>(expression);
        operation && operation->isAssignmentOp() && operation->getNumArgs() == 2) {
      walk(operation->getArg(1));
      return walk(operation->getArg(0),
                  operation->getOperator() == OO_Equal ? Use::Write : Use::Both);
    }
    if (const auto *call = dyn_cast<CallExpr>(expression); call && !isa<CXXOperatorCallExpr>(call))
      return walk_call(call);
    walk_lvalue(expression, use);
  }

  void walk_call(const CallExpr *call) {
    const std::string name = callee_name(call);
    if (isa<CXXMemberCallExpr>(call))
      walk(call->getCallee(), Use::None);
    for (unsigned i = 0; i < call->getNumArgs(); ++i)
      walk(call->getArg(i));
    if (call->getNumArgs() == 0)
      return;
    if (name.starts_with("atomic") || is_cached_store(name))
      record_pointer(call->getArg(0), true, name.starts_with("atomic"));
    else if (is_cached_load(name))
      record_pointer(call->getArg(0), false, false);
    else if (name == "__pipeline_memcpy_async" && call->getNumArgs() >= 2) {
      record_pointer(call->getArg(0), true, false);
      record_pointer(call->getArg(1), false, false);
    }
  }

  void walk_lvalue(const Expr *expression, Use use) {
    if (const auto *member = dyn_cast<MemberExpr>(expression)) {
      if (member->isArrow())
        record_pointer(member->getBase(), use);
      return walk(member->getBase(), member->isArrow() ? Use::Read : use);
    }
    const auto *deref = dyn_cast<UnaryOperator>(expression);
    const auto *overloaded = dyn_cast<CXXOperatorCallExpr>(expression);
    const bool is_element = isa<ArraySubscriptExpr>(expression) ||
                            (deref && deref->getOpcode() == UO_Deref) ||
                            (overloaded && overloaded->getOperator() == OO_Subscript);
    const VarDecl *variable =
        dyn_cast<DeclRefExpr>(expression) ? named_variable(expression) : nullptr;
    const bool is_memory_scalar =
        variable && variable->hasGlobalStorage() && !variable->isConstexpr() &&
        (values_.context().getLangOpts().CUDA && variable->getNameAsString() != "warpSize");
    const bool is_whole = expression->getType().isNull() || !expression->getType()->isArrayType();
    if ((is_element || is_memory_scalar) && is_whole && use != Use::None)
      if (const auto place = values_.place(expression))
        record(*place, expression, expression->getType(), use);
    walk_children(expression);
  }

  void record_pointer(const Expr *pointer, Use use) {
    if (use == Use::Read || use == Use::Both)
      record_pointer(pointer, false, false);
    if (use == Use::Write || use == Use::Both)
      record_pointer(pointer, true, false);
  }

  void record_pointer(const Expr *pointer, bool is_write, bool is_atomic) {
    const auto place = values_.pointer(pointer);
    if (!place)
      return;
    QualType type = pointer->getType();
    if (type->isArrayType())
      type = values_.context().getAsArrayType(type)->getElementType();
    else if (type->isAnyPointerType())
      type = type->getPointeeType();
    add(*place, pointer, type, is_write, is_atomic);
  }

  void record(const Place &place, const Expr *expression, QualType type, Use use) {
    if (use == Use::Read || use == Use::Both)
      add(place, expression, type, false, false);
    if (use == Use::Write || use == Use::Both)
      add(place, expression, type, true, false);
  }

  void add(const Place &place, const Expr *expression, QualType type, bool is_write,
           bool is_atomic) {
    AccessSite site{
        .access = {}, .expression = expression, .place = place, .at = position_of(expression)};
    Access &access = site.access;
    access.buffer = place.name;
    access.space = place.space;
    access.is_write = is_write;
    access.is_atomic = is_atomic;
    access.element_type = type_name(values_.context(), type);
    const bool is_dependent = type.isNull() || type->isDependentType();
    const symbolic::Polynomial bytes = values_.size_of(type);
    access.element_bytes = is_dependent ? 0 : static_cast<int>(bytes.number().value_or(0));
    access.index = values_.index_of(place, bytes);
    access.index.text = index_text(expression);
    const int assumed_bytes =
        static_cast<int>(std::clamp<std::int64_t>(bytes.number().value_or(4), 1, 4096));
    const WarpAccess warp = simulate_warp(place.bytes, assumed_bytes, values_.symbols(), shape_);
    access.pattern = warp.pattern;
    access.stride = warp.stride;
    if (place.space == MemorySpace::Shared)
      access.bank_conflict_ways = warp.bank_conflict_ways;
    access.loop_depth = values_.flow().loop_depth(site.at.region);
    access.range = shown_range(unit_, expression->getSourceRange());
    access.line = lines_.line_of(access.range.begin) + 1;
    access.column = lines_.column_of(access.range.begin) + 1;
    sites.push_back(std::move(site));
  }

  Position position_of(const Expr *expression) const {
    if (const auto at = values_.flow().position_of(expression))
      return *at;
    return values_.flow().position_of(expression->IgnoreParenImpCasts()).value_or(Position{});
  }

  /// "i" for x[i], "[ty][tx]" for tile[ty][tx], otherwise the text of the pointer.
  std::string index_text(const Expr *expression) const {
    const Expr *place = expression->IgnoreParenImpCasts();
    if (const auto *address = dyn_cast<UnaryOperator>(place);
        address && address->getOpcode() == UO_AddrOf)
      place = address->getSubExpr()->IgnoreParenImpCasts();
    std::vector<std::string> indices;
    while (const auto *subscript = dyn_cast<ArraySubscriptExpr>(place)) {
      indices.insert(indices.begin(), expression_text(values_.context(), subscript->getRHS()));
      place = subscript->getLHS()->IgnoreParenImpCasts();
    }
    if (indices.size() == 1)
      return indices[0];
    std::string text;
    for (const std::string &index : indices)
      text += "[" + index + "]";
    return text.empty() ? expression_text(values_.context(), place) : text;
  }

  const ParsedUnit &unit_;
  AffineAnalysis &values_;
  const KernelShape &shape_;
  LineIndex lines_;
  int depth_ = 0;
};

} // namespace

std::string callee_name(const CallExpr *call) {
  const Expr *callee = call->getCallee();
  if (!callee)
    return {};
  callee = callee->IgnoreParenImpCasts();
  if (const auto *lookup = dyn_cast<OverloadExpr>(callee))
    return lookup->getName().getAsString();
  if (const auto *member = dyn_cast<MemberExpr>(callee))
    return member->getMemberDecl()->getNameAsString();
  if (const auto *dependent = dyn_cast<CXXDependentScopeMemberExpr>(callee))
    return dependent->getMember().getAsString();
  const auto *reference = dyn_cast<DeclRefExpr>(callee);
  return reference ? reference->getDecl()->getNameAsString() : std::string();
}

std::string type_name(const ASTContext &context, QualType type) {
  if (type.isNull())
    return {};
  if (!type->isDependentType())
    type = type.getCanonicalType();
  return type.getUnqualifiedType().getAsString(PrintingPolicy(context.getLangOpts()));
}

Range shown_range(const ParsedUnit &unit, SourceRange range) {
  if (const auto exact = unit.range_of(range))
    return *exact;
  const SourceManager &sources = unit.sources();
  const auto in_file = [&](SourceLocation location) {
    return location.isValid() && unit.is_in_file(location);
  };
  const SourceLocation begin =
      range.isValid() ? sources.getExpansionLoc(range.getBegin()) : SourceLocation();
  if (!in_file(begin))
    return {};
  const auto use =
      unit.range_of(SourceRange(begin, sources.getExpansionRange(range.getEnd()).getEnd()));
  const std::size_t offset =
      std::min<std::size_t>(sources.getFileOffset(begin), unit.text().size());
  return use.value_or(Range{offset, offset});
}

std::vector<AccessSite> collect_accesses(const ParsedUnit &unit, AffineAnalysis &values,
                                         const KernelShape &shape) {
  AccessWalker walker(unit, values, shape);
  walker.walk(values.function().getBody());
  std::ranges::sort(walker.sites, {}, [](const AccessSite &site) {
    return std::tuple(site.access.range.begin, site.access.range.end, site.access.is_write);
  });
  return std::move(walker.sites);
}

KernelContext::KernelContext(const ParsedUnit &unit, const FunctionDecl &kernel)
    : unit(unit), kernel(kernel), values(unit.context(), kernel), shape(shape_of(unit, kernel)),
      sites(collect_accesses(unit, values, shape)) {}

} // namespace warpwright::analysis
