// Order, regions and definitions of one function body: which assignment a use of a local variable sees.
//
// Not a CFG: real kernels are structured, so every expression gets an order number (a loop's increment comes after
// its body) and the conditional region that holds it; dominance is then a comparison of intervals. goto is ignored,
// a variable whose address escapes gets a definition without a value. Incomplete ASTs (null children, RecoveryExpr)
// only lose facts. Thread: that of the unit.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <llvm/ADT/DenseMap.h>
#include <optional>
#include <vector>

namespace warpwright::analysis {

/// A part of a body that runs under a condition or repeatedly. Region 0 is the whole body.
struct Region {
  unsigned parent = 0;
  unsigned begin = 0, end = 0; ///< orders, half-open
  const clang::Expr *condition =
      nullptr; ///< of the if, switch, ?:, && or loop; null in a range-for
  const clang::Stmt *statement = nullptr; ///< that made the region
  bool is_loop = false;
  bool is_else = false; ///< the condition is false here
};

struct Position {
  unsigned order = 0, region = 0;
};

enum class Update {
  Assign,   ///< v = value
  Add,      ///< v += value, v++ (value null: one)
  Subtract, ///< v -= value, v--
  Other,    ///< any other change from the old value and `value`: v *= value, v >>= value
  Unknown,  ///< may have been changed through a reference or a pointer
};

struct Definition {
  Update update = Update::Assign;
  const clang::Expr *value = nullptr; ///< null: uninitialised, one step, or unknown
  Position at;
  bool is_declaration = false;
};

/// `if (condition) return;` (or continue, break): what follows in `region` runs under its negation.
struct Exit {
  const clang::Expr *condition = nullptr;
  const clang::Stmt *statement = nullptr;
  Position at;
  bool leaves_function = false;
  bool continues = false; ///< goes on with the next iteration
  unsigned loop = 0;      ///< region of the innermost loop around it; 0 outside loops
};

class Flow {
public:
  /// `body` may be null; nothing is kept but pointers into the AST.
  explicit Flow(const clang::Stmt *body);

  const std::vector<Region> &regions() const { return regions_; }
  const std::vector<Exit> &exits() const { return exits_; }
  /// Absent for a node outside the body.
  std::optional<Position> position_of(const clang::Stmt *statement) const;
  /// In order. Empty for parameters that are never changed and for variables of other functions.
  const std::vector<Definition> &definitions_of(const clang::VarDecl *variable) const;
  /// The region and all that enclose it, innermost first, without the body itself.
  std::vector<unsigned> regions_around(unsigned region) const;
  bool is_within(unsigned inner, unsigned outer) const;
  /// Loops around a position.
  int loop_depth(unsigned region) const;
  /// Whether a definition always runs before a position.
  bool dominates(const Position &definition, const Position &use) const;
  /// Conditions that decide whether `inner` runs, given that `outer` does; loop conditions are left out.
  std::vector<const clang::Expr *> conditions_between(unsigned inner, unsigned outer) const;
  /// Exits that a position lies behind.
  std::vector<const Exit *> exits_before(const Position &position) const;

private:
  class Builder;
  std::vector<Region> regions_;
  std::vector<Exit> exits_;
  llvm::DenseMap<const clang::Stmt *, Position> positions_;
  llvm::DenseMap<const clang::VarDecl *, std::vector<Definition>> definitions_;
};

/// The variable that an expression names directly (parentheses and implicit casts removed), or null.
const clang::VarDecl *named_variable(const clang::Expr *expression);

} // namespace warpwright::analysis
