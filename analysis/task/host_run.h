// An imagined run of the program's `main`, with the arguments of the project's run command: the
// values that variables have when a kernel is launched for the first time.
//
// Host code is interpreted, not compiled. Numbers, texts, pointers, structs and containers are
// followed through calls, branches and loops. A value that depends on a file, on the device, on the
// clock or on code that is not in the unit is unknown, and so is all that depends on it. After an
// undecided branch only those variables are known that both ways leave equal. Thread: the unit's
// thread.
#pragma once

#include "analysis/task/host_memory.h"
#include "analysis/task/host_program.h"

#include <memory>

namespace warpwright::analysis {

class HostInterpreter;
class HostLinks;

/// The state of the program when a launch is reached for the first time.
class HostMoment {
public:
  HostMoment(std::unique_ptr<HostInterpreter> state, const HostLaunch &launch);
  ~HostMoment();

  const HostLaunch &launch() const { return launch_; }
  /// @param function the function on the call stack in which the expression is evaluated
  std::optional<std::int64_t> integer(const clang::Expr *expression,
                                      const clang::FunctionDecl *function) const;
  std::optional<double> floating(const clang::Expr *expression,
                                 const clang::FunctionDecl *function) const;
  /// The value of a field of a struct, by its path: ".x", ".size.count", ".w[2]".
  struct Field {
    std::optional<std::int64_t> integer; ///< also 0 for a null pointer
    std::optional<double> number;        ///< of an integer or a floating-point field
    std::optional<std::int64_t> bytes;   ///< of the memory behind a pointer in its allocation
  };
  Field field(const clang::Expr *record, const std::string &path,
              const clang::FunctionDecl *function) const;
  /// Bytes behind a pointer in its allocation.
  std::optional<std::int64_t> bytes(const clang::Expr *pointer,
                                    const clang::FunctionDecl *function) const;
  /// The value of a variable or parameter.
  std::optional<std::int64_t> integer(const clang::ValueDecl &variable,
                                      const clang::FunctionDecl *function) const;

private:
  /// The answer of a copy of the state, in a function on its call stack.
  template <class Question>
  RunValue ask(const clang::FunctionDecl *function, const Question &question) const;

  std::unique_ptr<HostInterpreter> state_;
  HostLaunch launch_;
};

class HostRun {
public:
  /// Runs `main`, which may be in another translation unit of the program.
  explicit HostRun(const HostProgram &program);
  ~HostRun();

  /// Null: the run does not get to the launch, or not with that kernel.
  const HostMoment *moment_of(const HostLaunch &launch) const;
  /// Launches of a kernel that only the run finds, as in `kernel = &copy; kernel<<<g, b>>>(x)`.
  std::vector<HostLaunch> launches_of(const clang::FunctionDecl &kernel) const;
  /// What the run takes for granted, such as "the environment has no variable N".
  const std::vector<std::string> &assumptions() const { return assumptions_; }

private:
  std::unique_ptr<HostLinks> links_; ///< first, as the moments use it
  std::vector<std::unique_ptr<HostMoment>> moments_;
  std::vector<std::string> assumptions_;
};

} // namespace warpwright::analysis
