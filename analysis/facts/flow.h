// Order, regions and definitions of one function body: which assignment a use of a local variable
// sees.
//
// Real kernels are structured, so no control-flow graph is built. Every expression has an order
// number (a loop's increment comes after its body) and the conditional region that contains it.
// Dominance is then a comparison of intervals. goto is ignored. A variable whose address escapes
// gets a definition without a value. Incomplete ASTs (null children, RecoveryExpr) only lose facts.
// Thread: the unit's thread.
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
  unsigned begin = 0, end = 0; ///< order numbers, half-open
  const clang::Expr *condition =
      nullptr; ///< condition of the if, switch, ?:, && or loop; null in a range-for
  const clang::Stmt *statement = nullptr; ///< the statement that made the region
  bool is_loop = false;
  bool is_else = false; ///< the region runs if the condition is false
};

struct Position {
  unsigned order = 0, region = 0;
};

enum class Update {
  Assign,   ///< v = value
  Add,      ///< v += value, v++ (value null: one)
  Subtract, ///< v -= value, v--
  Other,    ///< other changes based on the old value and `value`: v *= value, v >>= value
  Unknown,  ///< possible change through a reference or a pointer
};

struct Definition {
  Update update = Update::Assign;
  const clang::Expr *value = nullptr; ///< null: uninitialized, step of one, or unknown
  Position at;
  bool is_declaration = false;
};

/// `if (condition) return;` (or continue, break): the rest of `region` runs if the condition is
/// false.
struct Exit {
  const clang::Expr *condition = nullptr;
  const clang::Stmt *statement = nullptr;
  Position at;
  bool leaves_function = false;
  bool continues = false; ///< the exit starts the next iteration
  unsigned loop = 0;      ///< region of the innermost loop around the exit; 0 outside loops
};

class Flow {
public:
  /// @param body may be null; the AST must outlive this object
  explicit Flow(const clang::Stmt *body);

  const std::vector<Region> &regions() const { return regions_; }
  const std::vector<Exit> &exits() const { return exits_; }
  /// Position of a statement; nullopt if it lies outside the body.
  std::optional<Position> position_of(const clang::Stmt *statement) const;
  /// Definitions of a variable, in order. Empty for parameters that are never changed and for
  /// variables of other functions.
  const std::vector<Definition> &definitions_of(const clang::VarDecl *variable) const;
  /// The region and its enclosing regions, innermost first, without the whole body.
  std::vector<unsigned> regions_around(unsigned region) const;
  bool is_within(unsigned inner, unsigned outer) const;
  /// Number of loops around a region.
  int loop_depth(unsigned region) const;
  /// Whether a definition always runs before a use.
  bool dominates(const Position &definition, const Position &use) const;
  /// Conditions that decide whether `inner` runs if `outer` runs. Loop conditions are left out.
  std::vector<const clang::Expr *> conditions_between(unsigned inner, unsigned outer) const;
  /// Exits that always run before a position.
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
