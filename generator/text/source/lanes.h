// Lanes: several values of one index in a thread, with statements that they share.
//
// A kernel's statements run once for each lane, except statements that are the same in all lanes.
// Loops with the same bounds in all lanes stay outside, so that loads and arithmetic in them that
// do not depend on the lane are done once:
//
//   float sum = 0;                           float sum[4];
//   for (int j = 0; j < n; ++j)              for (int lane = 0; lane < 4; ++lane) sum[lane] = 0;
//     sum += f(x[i], y[j]);        becomes   for (int j = 0; j < n; ++j)
//                                              for (int lane = 0; lane < 4; ++lane) sum[lane] += f(x[i[lane]], y[j]);
#pragma once

#include "generator/text/source/kernel_source.h"

namespace warpwright::source {

/// The variables of a kernel that may differ between lanes: the index, and those that are computed
/// from it.
class LaneVariables {
public:
  /// @param statements those behind the declaration of the index
  LaneVariables(const clang::VarDecl *index, const std::vector<const clang::Stmt *> &statements);

  bool contains(const clang::ValueDecl *variable) const { return variables_.contains(variable); }
  /// True if the code has a variable of the lanes.
  bool differ_in(const clang::Stmt *root) const;

private:
  void add_written(const clang::Stmt *root, bool is_conditional);

  std::set<const clang::ValueDecl *> variables_;
};

/// True if the code stores through a pointer or calls a function that may: it must run once for
/// each lane.
bool has_effect(const clang::Stmt *root);

/// Writes statements for lanes. Texts have two spaces a level.
class LaneWriter {
public:
  /// @param lane unused name
  LaneWriter(const KernelSource &source, const LaneVariables &variables, std::string lane, int lanes)
      : source_(source), variables_(variables), lane_(std::move(lane)), lanes_(lanes) {}

  /// A variable that has become an array of the lanes' values.
  void declare(const clang::VarDecl *variable) { arrays_.insert(variable); }
  /// "for (int lane = 0; lane < 4; ++lane)" with a pragma, around a text.
  std::string for_lanes(const std::string &text) const;
  /// The code for the lane `lane`. Errors: a variable of the lanes comes from a macro.
  Result<std::string> lane_text(Range range, const clang::Stmt *statement) const;
  /// Errors: a statement that cannot be written for lanes.
  Result<std::string> write(const std::vector<const clang::Stmt *> &statements);
  /// Loops that the lanes share.
  int shared_loops() const { return shared_loops_; }

private:
  Result<std::string> write(const clang::Stmt *statement);
  Result<std::string> write_declaration(const clang::DeclStmt *declaration);
  Result<std::string> write_variable(const clang::VarDecl *variable);
  Result<std::string> write_nested(const std::string &head, const clang::Stmt *body);
  bool is_shared(const clang::Stmt *loop) const;

  const KernelSource &source_;
  const LaneVariables &variables_;
  const std::string lane_;
  const int lanes_;
  std::set<const clang::VarDecl *> arrays_;
  int shared_loops_ = 0;
};

} // namespace warpwright::source
