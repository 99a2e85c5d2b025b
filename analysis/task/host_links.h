// Definitions of functions and variables across the translation units of a program, as a linker finds
// them. Thread: the unit's thread.
#pragma once

#include "analysis/parsed_unit.h"

#include <map>
#include <string>
#include <vector>

namespace warpwright::analysis {

class HostLinks {
public:
  /// @param unit with `main`, or with other units one of which has it
  explicit HostLinks(const ParsedUnit &unit);

  /// Null: no unit of the program has one.
  const clang::FunctionDecl *main() const { return main_; }
  /// The definition in the declaration's own unit, else in another one; null: there is none, or
  /// several fit.
  const clang::FunctionDecl *definition_of(const clang::FunctionDecl &function) const;
  const clang::VarDecl *definition_of(const clang::VarDecl &variable) const;

private:
  void index(const ParsedUnit &unit);

  const clang::FunctionDecl *main_ = nullptr;
  /// By qualified name.
  std::map<std::string, std::vector<const clang::FunctionDecl *>> functions_;
  std::map<std::string, std::vector<const clang::VarDecl *>> variables_;
};

} // namespace warpwright::analysis
