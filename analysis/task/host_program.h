// Index of the host code of a translation unit: launches, calls and assignments in the file, in the
// user's headers, and in the source that includes the file.
//
// Instantiations of templates are visited, so the launch in `template <class T> void run(T *x)` is
// seen with its types. Launches in patterns come last, for templates that nothing instantiates.
// Control flow is ignored, except for the innermost branch around an assignment. Thread: the unit's
// thread.
#pragma once

#include "analysis/parsed_unit.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::analysis {

struct HostLaunch {
  const clang::CUDAKernelCallExpr *call = nullptr;
  const clang::FunctionDecl *enclosing = nullptr; ///< null at namespace scope
  const clang::FunctionDecl *callee =
      nullptr; ///< the launched specialization; the pattern if dependent
};

struct HostCall {
  const clang::CallExpr *call = nullptr;
  const clang::FunctionDecl *enclosing = nullptr;
};

/// A function passed as an argument, as in `run(softmax)`, if the callee calls that parameter.
struct PassedFunction {
  HostCall passed; ///< the call that has the function as an argument
  HostCall called; ///< the call of the parameter inside that callee
};

class HostRun;

class HostProgram {
public:
  explicit HostProgram(const ParsedUnit &unit);
  ~HostProgram();

  /// Launches of a kernel, in text order. A template's pattern matches all of its specializations.
  /// Launches in patterns come last.
  std::vector<HostLaunch> launches_of(const clang::FunctionDecl &kernel) const;
  /// Calls of a function, in order.
  std::vector<HostCall> calls_of(const clang::FunctionDecl &function) const;
  /// Calls of a function through a parameter that it was passed for, in order.
  std::vector<PassedFunction> calls_through_parameters(const clang::FunctionDecl &function) const;
  /// Calls of any function with this name, such as "cudaMalloc", in order.
  const std::vector<HostCall> &calls_named(const std::string &name) const;
  /// The range of the loop variable in `for (int n : {64, 256})`, or null.
  const clang::Expr *range_of(const clang::ValueDecl &variable) const;
  /// The right-hand sides assigned to a variable after its declaration, in order.
  std::vector<const clang::Expr *> assignments_to(const clang::ValueDecl &variable) const;
  /// The last value assigned to a variable before a place, or null. An assignment in a branch
  /// counts only inside of that branch.
  const clang::Expr *assigned_before(const clang::ValueDecl &variable,
                                     clang::SourceLocation place) const;
  /// Returns true if a variable may have another value at a place than it was last assigned: `n *= 2`,
  /// `n++` outside of the head of a loop, `file >> n`, `read(&n)`.
  bool is_changed_before(const clang::ValueDecl &variable, clang::SourceLocation place) const;
  /// The last value assigned to `variable.member`, or null.
  const clang::Expr *member_assignment(const clang::ValueDecl &variable,
                                       const std::string &member) const;

  /// The first declaration of a function; of the template for a specialization.
  static const clang::FunctionDecl *pattern_of(const clang::FunctionDecl *function);

  const ParsedUnit &unit() const { return unit_; }
  /// What a run of the program does; runs it when it is asked for the first time.
  const HostRun &run() const;

  std::vector<HostLaunch> launches;
  std::map<std::string, std::vector<HostCall>> calls;
  std::map<const clang::Decl *, std::vector<HostCall>> calls_of_parameters;
  /// By function: the calls that have it as an argument, and the argument's index.
  std::map<const clang::Decl *, std::vector<std::pair<HostCall, unsigned>>> passed;
  std::map<const clang::Decl *, const clang::Expr *> ranges;
  std::map<const clang::Decl *, std::vector<const clang::Expr *>> assignments;
  /// By variable: the places at which it is changed without a plain assignment.
  std::map<const clang::Decl *, std::vector<clang::SourceLocation>> changes;
  std::map<std::pair<const clang::Decl *, std::string>, const clang::Expr *> member_assignments;
  /// By value assigned inside a branch: that branch.
  std::map<const clang::Expr *, const clang::Stmt *> conditional;

private:
  const ParsedUnit &unit_;
  mutable std::unique_ptr<HostRun> run_;
};

/// Returns true for a place in the project's code: in neither a system header nor a built-in one.
bool is_users(const clang::SourceManager &sources, clang::SourceLocation location);

/// Removes parentheses, implicit nodes, copies, explicit casts and similar wrappers.
const clang::Expr *strip(const clang::Expr *expression);

/// The name of the called function, even if the parser could not resolve it.
std::string callee_name(const clang::CallExpr &call);

} // namespace warpwright::analysis
