// Construction of index polynomials from the AST; see index_form.h.
#include "generator/text/source/index_form.h"

#include "generator/text/source/launch_site.h"
#include "generator/text/source/render.h"

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;

namespace {

constexpr int kMaxDepth = 24; // nesting of variables replaced by their values; real indices stay below five

symbolic::Polynomial derived(const char *operation, const symbolic::Polynomial &left,
                             const symbolic::Polynomial &right) {
  return symbolic::Polynomial::symbol(std::string(operation) + "(" + left.text() + "," +
                                      right.text() + ")");
}

} // namespace

IndexReader::IndexReader(const KernelSource &source) : source_(source) {
  bool first = true;
  for (const clang::CUDAKernelCallExpr *launch : source.all_launches()) {
    const LaunchSite site(source, launch);
    for (int d = 0; d < 3; ++d) {
      auto value = site.block().value(d);
      block_[d] = first || block_[d] == value ? value : std::nullopt;
    }
    first = false;
  }
}

std::optional<symbolic::Polynomial> IndexReader::of(const clang::Expr *expression) const {
  auto value = raw(expression, 0);
  return value ? std::optional(with_global_ids(*value)) : std::nullopt;
}

std::optional<symbolic::Polynomial> IndexReader::raw(const clang::Expr *expression,
                                                     int depth) const {
  expression = strip_casts(expression);
  if (!expression || depth > kMaxDepth)
    return std::nullopt;
  if (auto name = builtin_of(expression); !name.empty())
    return symbolic::Polynomial::symbol(name);
  if (const auto *literal = dyn_cast<clang::IntegerLiteral>(expression))
    return symbolic::Polynomial(literal->getValue().getSExtValue());
  if (const clang::VarDecl *variable = variable_of(expression))
    return of_variable(variable, depth);
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(expression)) {
    auto value =
        unary->getOpcode() == clang::UO_Minus ? raw(unary->getSubExpr(), depth + 1) : std::nullopt;
    return value ? std::optional(symbolic::Polynomial(0) - *value) : std::nullopt;
  }
  const auto *binary = dyn_cast<clang::BinaryOperator>(expression);
  if (!binary)
    return std::nullopt;
  auto left = raw(binary->getLHS(), depth + 1), right = raw(binary->getRHS(), depth + 1);
  if (!left || !right)
    return std::nullopt;
  switch (binary->getOpcode()) {
  case clang::BO_Add:
    return *left + *right;
  case clang::BO_Sub:
    return *left - *right;
  case clang::BO_Mul:
    return *left * *right;
  case clang::BO_Shl:
    if (auto bits = right->number(); bits && *bits >= 0 && *bits < 32)
      return *left * symbolic::Polynomial(std::int64_t(1) << *bits);
    return std::nullopt;
  case clang::BO_Div:
    return derived("div", with_global_ids(*left), with_global_ids(*right));
  case clang::BO_Rem:
    return derived("rem", with_global_ids(*left), with_global_ids(*right));
  default:
    return std::nullopt;
  }
}

std::optional<symbolic::Polynomial> IndexReader::of_variable(const clang::VarDecl *variable,
                                                             int depth) const {
  if (!variable->getType()->isIntegralOrEnumerationType() &&
      !variable->getType()->isDependentType())
    return std::nullopt;
  if (auto number = integer_value(source_, strip(variable->getInit()));
      number && variable->getType().isConstQualified())
    return symbolic::Polynomial(*number);
  if (variable->isLocalVarDecl() && variable->hasInit() && is_written_once(source_, variable))
    if (auto value = raw(variable->getInit(), depth + 1))
      return value;
  return symbolic::Polynomial::symbol(variable->getNameAsString());
}

symbolic::Polynomial IndexReader::with_global_ids(symbolic::Polynomial value) const {
  for (int d = 0; d < 3; ++d) {
    const std::string axis(1, "xyz"[d]);
    const std::string thread = "threadIdx." + axis, block = "blockIdx." + axis,
                      extent = "blockDim." + axis;
    const symbolic::Polynomial factor = value.coefficient_of(thread),
                               from_block = value.coefficient_of(block);
    if (factor.is_zero() || from_block.is_zero())
      continue;
    const bool by_extent = from_block == factor * symbolic::Polynomial::symbol(extent);
    const bool by_number = block_[d] && from_block == factor * symbolic::Polynomial(*block_[d]);
    if (by_extent || by_number)
      value = value.without(thread).without(block) +
              factor * symbolic::Polynomial::symbol("gid." + axis);
  }
  return value;
}

std::optional<ElementAccess> IndexReader::access(const clang::Expr *expression) const {
  expression = strip(expression);
  const clang::Expr *pointer = nullptr;
  symbolic::Polynomial index;
  if (const auto *subscript = dyn_cast_or_null<clang::ArraySubscriptExpr>(expression)) {
    auto offset = of(subscript->getIdx());
    if (!offset)
      return std::nullopt;
    index = *offset;
    pointer = subscript->getBase();
  } else if (const auto *unary = dyn_cast_or_null<clang::UnaryOperator>(expression);
             unary && unary->getOpcode() == clang::UO_Deref) {
    pointer = unary->getSubExpr();
  }
  for (int depth = 0; pointer && depth < kMaxDepth; ++depth) {
    pointer = strip_casts(pointer);
    if (const auto *sum = dyn_cast<clang::BinaryOperator>(pointer);
        sum && sum->getOpcode() == clang::BO_Add) {
      const bool left_points = sum->getLHS()->getType()->isPointerType();
      auto offset = of(left_points ? sum->getRHS() : sum->getLHS());
      if (!offset)
        return std::nullopt;
      index = index + *offset;
      pointer = left_points ? sum->getLHS() : sum->getRHS();
      continue;
    }
    if (const auto *address = dyn_cast<clang::UnaryOperator>(pointer);
        address && address->getOpcode() == clang::UO_AddrOf) {
      auto inner = access(address->getSubExpr());
      if (!inner)
        return std::nullopt;
      return ElementAccess{inner->base, index + inner->index, expression, inner->element_type};
    }
    const clang::VarDecl *variable = variable_of(pointer);
    if (!variable || !is_written_once(source_, variable))
      return std::nullopt;
    const clang::QualType type = variable->getType();
    if (isa<clang::ParmVarDecl>(variable) || type->isArrayType()) {
      const clang::QualType element =
          type->isArrayType() ? clang::QualType(type->getArrayElementTypeNoTypeQual(), 0)
                              : type->getPointeeType();
      if (element.isNull())
        return std::nullopt;
      return ElementAccess{variable, index, expression, source_.type_name(element)};
    }
    pointer = variable->getInit();
  }
  return std::nullopt;
}

std::vector<ElementAccess> IndexReader::accesses(const clang::Stmt *root) const {
  std::vector<ElementAccess> found;
  for_each_node(root, [&](const clang::Stmt *node) {
    if (isa<clang::ArraySubscriptExpr>(node) || isa<clang::UnaryOperator>(node))
      if (auto element = access(dyn_cast<clang::Expr>(node)))
        found.push_back(std::move(*element));
  });
  return found;
}

bool IndexReader::has_whole_warps() const {
  return block_[0] && *block_[0] % 32 == 0 && block_[1] == 1 && block_[2] == 1;
}

std::optional<std::string> to_source(const symbolic::Polynomial &value,
                                     const std::map<std::string, std::string> &names) {
  std::string text;
  for (const auto &[monomial, coefficient] : value.terms()) {
    std::string term = coefficient == 1 && !monomial.empty() ? "" : std::to_string(coefficient);
    for (const std::string &symbol : monomial) {
      const auto named = names.find(symbol);
      if (named == names.end() && symbol.find_first_of(".(") != std::string::npos)
        return std::nullopt;
      term += (term.empty() ? "" : " * ") +
              (named == names.end() ? symbol : parenthesised(named->second));
    }
    text += (text.empty() ? "" : " + ") + term;
  }
  return text.empty() ? "0" : text;
}

bool is_position(const std::string &symbol) {
  return symbol.contains("gid.") || symbol.contains("threadIdx.") || symbol.contains("blockIdx.");
}

} // namespace warpwright::source
