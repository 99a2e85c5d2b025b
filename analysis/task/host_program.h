// The host side of a file, indexed once: launches, calls, assignments and CUDA memory calls.
//
// Instantiations of templates are entered, so that the launch in `template <class T> void run(T
// *x)` is seen with its types; a pattern counts only where nothing instantiates it. Leaves out
// control flow. Thread: the unit's.
#pragma once

#include "analysis/parsed_unit.h"

#include <map>
#include <string>
#include <vector>

namespace warpwright::analysis {

struct HostLaunch {
  const clang::CUDAKernelCallExpr *call = nullptr;
  const clang::FunctionDecl *enclosing = nullptr; ///< null at namespace scope
  const clang::FunctionDecl *callee =
      nullptr; ///< the specialisation that runs; the pattern when dependent
};

struct HostCall {
  const clang::CallExpr *call = nullptr;
  const clang::FunctionDecl *enclosing = nullptr;
};

/// `run(softmax)`, where run() calls its parameter.
struct PassedFunction {
  HostCall passed; ///< the call that has the function as an argument
  HostCall called; ///< of the parameter, in what is called there
};

class HostProgram {
public:
  explicit HostProgram(const ParsedUnit &unit);

  /// Launches of a kernel (a template's pattern stands for its specialisations), in order of the
  /// text.
  std::vector<HostLaunch> launches_of(const clang::FunctionDecl &kernel) const;
  /// Calls of a function, in order.
  std::vector<HostCall> calls_of(const clang::FunctionDecl &function) const;
  /// Calls of it through a parameter that it was passed as, in order.
  std::vector<PassedFunction> calls_through_parameters(const clang::FunctionDecl &function) const;
  /// Calls of any function with this name, in order: "cudaMalloc".
  const std::vector<HostCall> &calls_named(const std::string &name) const;
  /// What the variable of `for (int n : {64, 256})` goes through, or null.
  const clang::Expr *range_of(const clang::ValueDecl &variable) const;
  /// The right-hand sides assigned to a variable after its declaration, in order; to one of the user's headers also there.
  std::vector<const clang::Expr *> assignments_to(const clang::ValueDecl &variable) const;
  /// What is assigned to the variable last before a place, and there whatever branches were taken; null: nothing.
  const clang::Expr *assigned_before(const clang::ValueDecl &variable,
                                     clang::SourceLocation place) const;
  /// The last value assigned to `variable.member`, or null.
  const clang::Expr *member_assignment(const clang::ValueDecl &variable,
                                       const std::string &member) const;

  const ParsedUnit &unit() const { return unit_; }

  std::vector<HostLaunch> launches;
  std::map<std::string, std::vector<HostCall>> calls;
  std::map<const clang::Decl *, std::vector<HostCall>> calls_of_parameters;
  /// By the function: calls that have it as an argument, and which.
  std::map<const clang::Decl *, std::vector<std::pair<HostCall, unsigned>>> passed;
  std::map<const clang::Decl *, const clang::Expr *> ranges;
  std::map<const clang::Decl *, std::vector<const clang::Expr *>> assignments;
  std::map<std::pair<const clang::Decl *, std::string>, const clang::Expr *> member_assignments;
  /// What is assigned in a branch, and that branch.
  std::map<const clang::Expr *, const clang::Stmt *> conditional;

private:
  const ParsedUnit &unit_;
};

/// Parentheses, implicit nodes, copies and explicit casts between numbers or pointers removed.
const clang::Expr *strip(const clang::Expr *expression);

/// The name that a call calls, also where the parser could not resolve it.
std::string callee_name(const clang::CallExpr &call);

} // namespace warpwright::analysis
