#include "analysis/task/host_run.h"

#include "analysis/task/host_interpreter.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

using Kind = RunValue::Kind;

constexpr std::size_t kMostMoments = 100;

bool is_same(const clang::FunctionDecl &left, const clang::FunctionDecl &right) {
  return left.getCanonicalDecl() == right.getCanonicalDecl();
}

/// Evaluates in a copy of a state, as an expression may change it.
RunValue value_in(const HostInterpreter &state, const clang::Expr *expression,
                  const clang::FunctionDecl *function) {
  if (!expression || expression->isValueDependent())
    return {};
  HostInterpreter copy = state;
  copy.on_launch = nullptr;
  return copy.return_to(function) ? copy.value(expression) : RunValue{};
}

} // namespace

HostMoment::HostMoment(std::unique_ptr<HostInterpreter> state, const HostLaunch &launch)
    : state_(std::move(state)), launch_(launch) {}

HostMoment::~HostMoment() = default;

std::optional<std::int64_t> HostMoment::integer(const clang::Expr *expression,
                                                const clang::FunctionDecl *function) const {
  const RunValue value = value_in(*state_, expression, function);
  return value.is(Kind::Integer) ? std::optional(value.integer) : std::nullopt;
}

std::optional<double> HostMoment::floating(const clang::Expr *expression,
                                           const clang::FunctionDecl *function) const {
  return value_in(*state_, expression, function).number();
}

std::optional<std::int64_t> HostMoment::field(const clang::Expr *expression,
                                              const std::string &name,
                                              const clang::FunctionDecl *function) const {
  HostInterpreter copy = *state_;
  copy.on_launch = nullptr;
  if (!expression || expression->isValueDependent() || !copy.return_to(function))
    return std::nullopt;
  const RunValue value = copy.value(expression);
  if (!value.is(Kind::Record))
    return std::nullopt;
  const RunValue cell = copy.memory().read({value.place.block, value.place.path + "." + name});
  return cell.is(Kind::Integer) ? std::optional(cell.integer) : std::nullopt;
}

std::optional<std::int64_t> HostMoment::bytes(const clang::Expr *pointer,
                                              const clang::FunctionDecl *function) const {
  HostInterpreter copy = *state_;
  copy.on_launch = nullptr;
  if (!pointer || pointer->isValueDependent() || !copy.return_to(function))
    return std::nullopt;
  const RunValue value = copy.value(pointer);
  if (!value.is(Kind::Pointer) || !value.is_element || value.integer != 0)
    return std::nullopt;
  const RunValue bytes = copy.memory().read({value.place.block, value.place.path + "#bytes"});
  return bytes.is(Kind::Integer) && bytes.integer > 0 ? std::optional(bytes.integer) : std::nullopt;
}

std::optional<std::int64_t> HostMoment::integer(const clang::ValueDecl &variable,
                                                const clang::FunctionDecl *function) const {
  HostInterpreter copy = *state_;
  if (!copy.return_to(function))
    return std::nullopt;
  const RunValue value = copy.variable(variable);
  return value.is(Kind::Integer) ? std::optional(value.integer) : std::nullopt;
}

HostRun::HostRun(const HostProgram &program) : links_(std::make_unique<HostLinks>(program.unit())) {
  if (!links_->main())
    return;
  HostInterpreter interpreter(*links_);
  interpreter.on_launch = [&](const clang::CUDAKernelCallExpr &call,
                              const clang::FunctionDecl *enclosing,
                              const clang::FunctionDecl &kernel) {
    const HostLaunch launch{&call, enclosing, &kernel};
    if (moments_.size() < kMostMoments && !moment_of(launch))
      moments_.push_back(
          std::make_unique<HostMoment>(std::make_unique<HostInterpreter>(interpreter), launch));
  };
  interpreter.run(*links_->main(), program.unit().run_command());
  assumptions_ = std::move(interpreter.assumptions);
}

HostRun::~HostRun() = default;

const HostMoment *HostRun::moment_of(const HostLaunch &launch) const {
  for (const auto &moment : moments_)
    if (moment->launch().call == launch.call &&
        (!launch.callee || is_same(*moment->launch().callee, *launch.callee)))
      return moment.get();
  return nullptr;
}

std::vector<HostLaunch> HostRun::launches_of(const clang::FunctionDecl &kernel) const {
  std::vector<HostLaunch> found;
  for (const auto &moment : moments_)
    if (HostProgram::pattern_of(moment->launch().callee) == kernel.getCanonicalDecl())
      found.push_back(moment->launch());
  return found;
}

} // namespace warpwright::analysis
