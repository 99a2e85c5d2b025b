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

RunValue value_in(HostInterpreter &state, const clang::Expr *expression) {
  return expression && !expression->isValueDependent() ? state.value(expression) : RunValue{};
}

/// Bytes from a pointer to the start of an allocation to its end.
std::optional<std::int64_t> bytes_behind(HostInterpreter &state, const RunValue &pointer) {
  if (!pointer.is(Kind::Pointer) || !pointer.is_element || pointer.integer != 0)
    return std::nullopt;
  const auto bytes = state.memory().read(pointer.place.part("#bytes")).as_integer();
  return bytes && *bytes > 0 ? bytes : std::nullopt;
}

} // namespace

HostMoment::HostMoment(std::unique_ptr<HostInterpreter> state, const HostLaunch &launch)
    : state_(std::move(state)), launch_(launch) {}

HostMoment::~HostMoment() = default;

template <class Question>
RunValue HostMoment::ask(const clang::FunctionDecl *function, const Question &question) const {
  HostInterpreter copy = *state_; // an expression may change it
  copy.on_launch = nullptr;
  return copy.return_to(function) ? question(copy) : RunValue{};
}

std::optional<std::int64_t> HostMoment::integer(const clang::Expr *expression,
                                                const clang::FunctionDecl *function) const {
  return ask(function, [&](HostInterpreter &state) { return value_in(state, expression); })
      .as_integer();
}

std::optional<double> HostMoment::floating(const clang::Expr *expression,
                                           const clang::FunctionDecl *function) const {
  return ask(function, [&](HostInterpreter &state) { return value_in(state, expression); })
      .number();
}

HostMoment::Field HostMoment::field(const clang::Expr *record, const std::string &path,
                                    const clang::FunctionDecl *function) const {
  Field field;
  const RunValue value = ask(function, [&](HostInterpreter &state) {
    const RunValue whole = value_in(state, record);
    const RunValue one = whole.is(Kind::Record) ? state.memory().read(whole.place.part(path)) : RunValue{};
    field.bytes = bytes_behind(state, one);
    return one;
  });
  field.integer = value.as_integer();
  field.number = value.number();
  return field;
}

std::optional<std::int64_t> HostMoment::bytes(const clang::Expr *pointer,
                                              const clang::FunctionDecl *function) const {
  std::optional<std::int64_t> bytes;
  ask(function, [&](HostInterpreter &state) {
    bytes = bytes_behind(state, value_in(state, pointer));
    return RunValue{};
  });
  return bytes;
}

std::optional<std::int64_t> HostMoment::integer(const clang::ValueDecl &variable,
                                                const clang::FunctionDecl *function) const {
  return ask(function, [&](HostInterpreter &state) { return state.variable(variable); })
      .as_integer();
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
