// Search for the place where a launch shape is written; see launch_site.h.
#include "generator/text/source/launch_site.h"

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;

namespace {

constexpr int kMaxHelpers = 8;

bool is_dim3(clang::QualType type) {
  if (type.isNull()) // a list of values in a template
    return false;
  const auto *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && (record->getName() == "dim3" || record->getName() == "uint3");
}

/// `grid` of the copy `dim3(grid)`.
const clang::Expr *without_copies(const clang::Expr *expression) {
  expression = strip(expression);
  const clang::Expr *inner = expression;
  if (const auto *cast = dyn_cast_or_null<clang::CXXFunctionalCastExpr>(expression))
    inner = cast->getSubExpr()->IgnoreImplicit();
  const auto *construct = dyn_cast_or_null<clang::CXXConstructExpr>(inner);
  const bool is_copy = construct && is_dim3(construct->getType()) && construct->getNumArgs() == 1 &&
                       is_dim3(construct->getArg(0)->getType());
  return is_copy ? without_copies(construct->getArg(0)) : expression;
}

/// Constructor call of `dim3(a, b)`, `dim3{a, b}` or a variable's initializer; null for others.
const clang::CXXConstructExpr *constructor_of(const clang::Expr *expression) {
  expression = without_copies(expression);
  if (const auto *cast = dyn_cast_or_null<clang::CXXFunctionalCastExpr>(expression))
    expression = cast->getSubExpr()->IgnoreImplicit();
  const auto *construct = dyn_cast_or_null<clang::CXXConstructExpr>(expression);
  return construct && is_dim3(construct->getType()) ? construct : nullptr;
}

const clang::FunctionDecl *function_of(const clang::VarDecl *variable) {
  return dyn_cast<clang::FunctionDecl>(variable->getDeclContext());
}

bool inside(const clang::Stmt *root, const clang::Stmt *node) {
  bool found = false;
  for_each_node(root, [&](const clang::Stmt *visited) { found |= visited == node; });
  return found;
}

/// True if the variable gets another value behind its declaration, as by `block.x = 8`.
bool is_changed(const clang::VarDecl *variable) {
  const clang::FunctionDecl *function = function_of(variable);
  if (!function || !function->hasBody())
    return true;
  const auto is_it = [&](const clang::Expr *expression) {
    const auto *member = as<clang::MemberExpr>(expression);
    return variable_of(member ? member->getBase() : expression) == variable;
  };
  bool changed = false;
  for_each_node(function->getBody(), [&](const clang::Stmt *node) {
    if (const auto *binary = dyn_cast<clang::BinaryOperator>(node))
      changed |= binary->isAssignmentOp() && is_it(binary->getLHS());
    else if (const auto *unary = dyn_cast<clang::UnaryOperator>(node))
      changed |= writes_operand(unary) && is_it(unary->getSubExpr());
    else if (const auto *call = dyn_cast<clang::CXXOperatorCallExpr>(node))
      changed |= call->isAssignmentOp() && is_it(call->getArg(0));
  });
  return changed;
}

/// True if only launch shapes of this kernel use the variable.
bool serves_only_this_kernel(const KernelSource &source, const clang::VarDecl *variable,
                             int depth = 0) {
  const clang::FunctionDecl *function = function_of(variable);
  if (!function || !function->hasBody() || isa<clang::ParmVarDecl>(variable) || depth > kMaxHelpers)
    return false;
  const auto declarations = find_all<clang::DeclStmt>(function->getBody());
  auto allowed = [&](const clang::DeclRefExpr *use) {
    for (const clang::CUDAKernelCallExpr *launch : source.launches())
      if (inside(launch->getConfig(), use))
        return true;
    for (const clang::DeclStmt *statement : declarations)
      for (const clang::VarDecl *other : variables_of(statement))
        if (other != variable && other->hasInit() && inside(other->getInit(), use))
          return serves_only_this_kernel(source, other, depth + 1);
    return false;
  };
  return std::ranges::all_of(uses_of(function->getBody(), variable), allowed);
}

} // namespace

LaunchShape::LaunchShape(const KernelSource &source, const clang::Expr *expression)
    : source_(source), at_launch_(source.range_of(expression)), place_(at_launch_) {
  follow(expression, 0);
}

void LaunchShape::follow(const clang::Expr *expression, int depth) {
  const clang::Expr *plain = without_copies(expression);
  if (!plain || depth > kMaxHelpers)
    return;
  if (const clang::VarDecl *variable = variable_of(plain);
      variable && variable->hasInit() && serves_only_this_kernel(source_, variable)) {
    if (const clang::CXXConstructExpr *construct = constructor_of(variable->getInit()))
      return take_arguments(construct);
    if (!is_dim3(variable->getType()))
      place_ = source_.range_of(variable->getInit());
    return follow(variable->getInit(), depth + 1);
  }
  if (const clang::CXXConstructExpr *construct = constructor_of(plain))
    return take_arguments(construct);
  const std::string inner = source_.text_of(plain);
  const std::string text = inner.empty() ? source_.text_of(expression) : inner; // of `#define BLOCKS ((int)32)`
  if (is_dim3(plain->getType())) {
    const std::string base = parenthesised(text);
    for (int d = 0; d < 3; ++d)
      dimensions_[d] = {nullptr, std::nullopt, base + "." + "xyz"[d]};
    form_ = Form::Opaque;
    const clang::VarDecl *variable = variable_of(plain);
    const clang::CXXConstructExpr *construct =
        variable && !is_changed(variable) ? constructor_of(variable->getInit()) : nullptr;
    // The variable's value is known, but other code uses it too: edits go to the launch.
    for (unsigned i = 0; construct && i < 3 && i < construct->getNumArgs(); ++i)
      dimensions_[i].expression = construct->getArg(i);
    return;
  }
  form_ = Form::Scalar;
  dimensions_[0] = {plain, place_, text};
}

void LaunchShape::take_arguments(const clang::CXXConstructExpr *construct) {
  std::optional<Range> all;
  for (unsigned i = 0; i < construct->getNumArgs() && i < 3; ++i) {
    const clang::Expr *argument = construct->getArg(i);
    if (isa<clang::CXXDefaultArgExpr>(argument))
      break;
    auto range = source_.range_of(argument);
    if (!range)
      return;
    dimensions_[i] = {argument, range, source_.text_of(argument)};
    all = Range{all ? all->begin : range->begin, range->end};
  }
  if (!all)
    return;
  place_ = all;
  form_ = Form::Arguments;
}

std::optional<std::int64_t> LaunchShape::value(int dimension) const {
  const Dimension &extent = dimensions_[dimension];
  if (extent.expression)
    return isa<clang::CXXDefaultArgExpr>(extent.expression)
               ? 1
               : integer_value(source_, extent.expression);
  return form_ == Form::Opaque ? std::nullopt : std::optional<std::int64_t>(1);
}

Edits LaunchShape::replace(const std::array<std::string, 3> &extents,
                           std::size_t not_before) const {
  int count = 3;
  while (count > 1 && extents[count - 1] == "1")
    --count;
  std::string arguments = extents[0];
  for (int d = 1; d < count; ++d)
    arguments += ", " + extents[d];
  const bool is_free = place_ && place_->begin >= not_before;
  if (is_free && form_ == Form::Arguments)
    return {{*place_, arguments}};
  const std::string whole = count == 1 ? arguments : "dim3(" + arguments + ")";
  const auto &target = is_free && form_ == Form::Scalar && count == 1 ? place_ : at_launch_;
  return target ? Edits{{*target, whole}} : Edits{};
}

Edits LaunchShape::replace(int dimension, const std::string &text) const {
  if (dimensions_[dimension].range)
    return {{*dimensions_[dimension].range, text}};
  std::array<std::string, 3> extents{dimensions_[0].text, dimensions_[1].text, dimensions_[2].text};
  extents[dimension] = text;
  return replace(extents);
}

LaunchSite::LaunchSite(const KernelSource &source, const clang::CUDAKernelCallExpr *launch)
    : source_(source), launch_(launch), grid_(source, launch->getConfig()->getArg(0)),
      block_(source, launch->getConfig()->getArg(1)) {}

std::size_t LaunchSite::arguments_declared_at() const {
  std::size_t latest = 0;
  for (const clang::Expr *argument : launch_->arguments())
    for (const auto *reference : find_all<clang::DeclRefExpr>(argument)) {
      const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
      if (!variable || !function_of(variable) || variable->getType()->isPointerType())
        continue;
      if (auto range = source_.range_of(variable->getSourceRange()))
        latest = std::max(latest, range->end);
    }
  return latest;
}

const clang::Expr *LaunchSite::shared_bytes() const {
  const clang::CallExpr *config = launch_->getConfig();
  return config->getNumArgs() > 2 && !isa<clang::CXXDefaultArgExpr>(config->getArg(2))
             ? config->getArg(2)
             : nullptr;
}

bool LaunchSite::has_shared_bytes() const {
  return shared_bytes() && integer_value(source_, shared_bytes()) != 0;
}

bool has_one_dimensional_blocks(const KernelSource &source) {
  return std::ranges::all_of(source.all_launches(), [&](const auto *launch) {
    return LaunchSite(source, launch).block().is_one_dimensional();
  });
}

void change_grids(Edits &edits, const KernelSource &source,
                  const std::function<std::string(const std::string &)> &change, int dimension) {
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    add_edits(edits, site.grid().replace(dimension, change(site.grid().text(dimension))));
  }
}

} // namespace warpwright::source
