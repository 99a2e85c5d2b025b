// Move cache_hints(kind): loads and stores with hints for the caches.
//
// `loads` and `stores`: data that a launch reads or writes once does not push other data out of the
// caches (__ldcs and __stcs; CUDA C++ programming guide, "Load Functions Using Cache Hints").
// `streams`: both. `read_only`: arrays that the kernel only reads are loaded as constant for the
// launch (__ldg), which also lets the compiler move these loads across stores. An array is read or
// written once if each thread and each iteration accesses another element of it and no other code
// of the kernel does. Legal for elements of types that have such functions. A launch that passes
// a pointer twice does not get `read_only`.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/element_uses.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;
using source::ElementUse;
using symbolic::Polynomial;
using Role = source::ElementUse::Role;

/// True for types that have functions with cache hints.
bool has_hints(const source::KernelSource &source, clang::QualType type) {
  static const std::set<std::string> kVectors{
      "char2",  "char4",  "short2",  "short4",  "int2",  "int4",  "longlong2", "uchar2",  "uchar4", "ushort2",
      "ushort4", "uint2", "uint4",   "ulonglong2", "float2", "float4", "double2", "__half", "__half2",
      "__nv_bfloat16", "__nv_bfloat162"};
  if (type.isNull() || type->isDependentType() || type.isVolatileQualified())
    return false;
  if (type->isBuiltinType() && type->isArithmeticType())
    return !type->isBooleanType() && source.unit().context().getTypeSize(type) <= 64 && !type->isWideCharType() &&
           !type->isChar16Type() && !type->isChar32Type();
  return kVectors.contains(source.type_name(type.getCanonicalType()));
}

/// The loops around each access, and the branches of each `if`.
class Surroundings {
public:
  explicit Surroundings(const clang::Stmt *body) { walk(body, {}); }

  struct Place {
    std::vector<const clang::Stmt *> loops;
    std::vector<std::pair<const clang::IfStmt *, bool>> branches; ///< and whether it is in `then`
  };
  const Place &of(const clang::Stmt *node) const {
    static const Place kNone;
    const auto found = places_.find(node);
    return found == places_.end() ? kNone : found->second;
  }
  /// True if a thread never executes both.
  bool are_exclusive(const clang::Stmt *one, const clang::Stmt *other) const {
    for (const auto &[branch, is_then] : of(one).branches)
      for (const auto &[other_branch, other_is_then] : of(other).branches)
        if (branch == other_branch && is_then != other_is_then)
          return true;
    return false;
  }

private:
  void walk(const clang::Stmt *node, const Place &place) {
    if (!node)
      return;
    if (llvm::isa<clang::Expr>(node))
      places_[node] = place;
    const auto *branch = dyn_cast<clang::IfStmt>(node);
    for (const clang::Stmt *child : node->children()) {
      Place inner = place;
      if (llvm::isa<clang::ForStmt>(node) || llvm::isa<clang::WhileStmt>(node) || llvm::isa<clang::DoStmt>(node))
        inner.loops.push_back(node);
      if (branch && (child == branch->getThen() || child == branch->getElse()))
        inner.branches.emplace_back(branch, child == branch->getThen());
      walk(child, inner);
    }
  }

  std::map<const clang::Stmt *, Place> places_;
};

class HintFinder {
public:
  explicit HintFinder(const source::KernelSource &source)
      : source_(source), form_(source), around_(source.body()),
        uses_(element_uses(form_, source::statements_of(source.body()))) {}

  source::Edits streams(Role role) const;
  source::Edits read_only() const;

private:
  std::vector<const ElementUse *> uses_of(const clang::ParmVarDecl *parameter) const;
  bool is_streamed(const ElementUse &use) const;
  bool is_used_once(const std::vector<const ElementUse *> &uses) const;
  std::set<std::string> places_of(const Polynomial &index, const ElementUse &use, bool &covers_loops) const;
  void add_load(source::Edits &edits, const clang::Expr *access, const std::string &function) const;
  void add_store(source::Edits &edits, const clang::Expr *access) const;

  const source::KernelSource &source_;
  const source::IndexReader form_;
  const Surroundings around_;
  const std::vector<ElementUse> uses_;
};

std::vector<const ElementUse *> HintFinder::uses_of(const clang::ParmVarDecl *parameter) const {
  std::vector<const ElementUse *> found;
  for (const ElementUse &use : uses_)
    if (use.access.base == parameter)
      found.push_back(&use);
  const bool has_other = std::ranges::any_of(found, [&](const ElementUse *use) {
    return use->role == Role::Other || !has_hints(source_, use->access.expression->getType());
  });
  return has_other || !is_only_accessed(form_, parameter) ? std::vector<const ElementUse *>() : found;
}

/// The places in the grid that the index has as factors of a term of their own.
std::set<std::string> HintFinder::places_of(const Polynomial &index, const ElementUse &use, bool &covers_loops) const {
  std::set<std::string> places;
  const auto add = [&](const Polynomial &value) {
    for (const std::string &symbol : value.symbols())
      for (const std::string axis : {"x", "y", "z"}) {
        if (symbol == "gid." + axis || symbol == "threadIdx." + axis)
          places.insert("threadIdx." + axis);
        if (symbol == "gid." + axis || symbol == "blockIdx." + axis)
          places.insert("blockIdx." + axis);
      }
  };
  add(index);
  covers_loops = true;
  for (const clang::Stmt *loop : around_.of(use.access.expression).loops) {
    const auto *counted = dyn_cast<clang::ForStmt>(loop);
    const clang::VarDecl *counter = counted && counted->getInit() ? source::only_variable(counted->getInit()) : nullptr;
    if (!counter || !index.mentions(counter->getNameAsString())) {
      covers_loops = false;
      continue;
    }
    if (const auto start = counter->hasInit() ? form_.of(counter->getInit()) : std::nullopt)
      add(*start);
  }
  return places;
}

/// True if each thread and each iteration accesses another element.
bool HintFinder::is_streamed(const ElementUse &use) const {
  bool covers_loops = false;
  const std::set<std::string> places = places_of(use.access.index, use, covers_loops);
  if (!covers_loops || !places.contains("threadIdx.x"))
    return false;
  return std::ranges::all_of(source::find_all<clang::MemberExpr>(source_.body()), [&](const clang::MemberExpr *member) {
    const std::string name = source::builtin_of(member);
    const bool is_place = name.starts_with("threadIdx.") || name.starts_with("blockIdx.");
    return !is_place || places.contains(name);
  });
}

bool HintFinder::is_used_once(const std::vector<const ElementUse *> &uses) const {
  for (const ElementUse *use : uses)
    for (const ElementUse *other : uses)
      if (use != other && !around_.are_exclusive(use->access.expression, other->access.expression))
        return false;
  return std::ranges::all_of(uses, [&](const ElementUse *use) { return is_streamed(*use); });
}

void HintFinder::add_load(source::Edits &edits, const clang::Expr *access, const std::string &function) const {
  const auto range = source_.range_of(access);
  const auto *deref = source::as<clang::UnaryOperator>(access);
  const auto inner = deref ? source_.range_of(deref->getSubExpr()) : std::nullopt;
  if (!range || (deref && !inner))
    return;
  TextEdit begin{{range->begin, deref ? inner->begin : range->begin}, function + (deref ? "(" : "(&")};
  if (std::ranges::find(edits, begin) != edits.end())
    return; // the argument of a macro that uses it several times
  edits.push_back(std::move(begin));
  edits.push_back({{range->end, range->end}, ")"});
}

/// The assignment must be a statement, because the function has no value.
void HintFinder::add_store(source::Edits &edits, const clang::Expr *access) const {
  for (const auto *binary : source::find_all<clang::BinaryOperator>(source_.body())) {
    if (binary->getOpcode() != clang::BO_Assign || source::strip(binary->getLHS()) != source::strip(access))
      continue;
    const auto left = source_.range_of(binary->getLHS()), right = source_.range_of(binary->getRHS());
    const auto statement = source_.statement_range(binary);
    if (!left || !right || !statement || !source::find_all<clang::InitListExpr>(binary->getRHS()).empty())
      return;
    const std::string before = source::without_trailing_space(std::string(source_.text().substr(0, left->begin)));
    if (!before.ends_with(';') && !before.ends_with('{') && !before.ends_with('}') && !before.ends_with(')') &&
        !before.ends_with("else"))
      return;
    edits.push_back({{left->begin, left->begin}, "__stcs(&"});
    edits.push_back({{left->end, right->begin}, ", "});
    edits.push_back({{right->end, right->end}, ")"});
  }
}

source::Edits HintFinder::streams(Role role) const {
  source::Edits edits;
  for (const clang::ParmVarDecl *parameter : source_.kernel()->parameters()) {
    std::vector<const ElementUse *> reads, writes;
    bool has_update = false;
    for (const ElementUse *use : uses_of(parameter)) {
      (use->role == Role::Read ? reads : writes).push_back(use);
      has_update |= use->role == Role::Update;
    }
    const bool same_element = reads.empty() || writes.empty() ||
                              reads.front()->access.index == writes.front()->access.index;
    if (has_update || !same_element || !is_used_once(reads) || !is_used_once(writes))
      continue;
    for (const ElementUse *use : role == Role::Read ? reads : writes)
      role == Role::Read ? add_load(edits, use->access.expression, "__ldcs") : add_store(edits, use->access.expression);
  }
  return edits;
}

source::Edits HintFinder::read_only() const {
  source::Edits edits;
  for (const clang::ParmVarDecl *parameter : source_.kernel()->parameters()) {
    const auto uses = uses_of(parameter);
    if (std::ranges::all_of(uses, [](const ElementUse *use) { return use->role == Role::Read; }))
      for (const ElementUse *use : uses)
        add_load(edits, use->access.expression, "__ldg");
  }
  return edits;
}

bool passes_pointer_twice(const source::KernelSource &source) {
  for (const clang::CUDAKernelCallExpr *launch : source.all_launches()) {
    std::set<std::string_view> pointers;
    for (const clang::Expr *argument : launch->arguments())
      if (argument->getType()->isPointerType() &&
          !pointers.insert(source.unit().text_anywhere(argument->getSourceRange())).second)
        return true;
  }
  return false;
}

} // namespace

Result<Offer> offer_cache_hints(const source::KernelSource &source) {
  const std::string text = source.body_text();
  for (const char *known : {"__ldcs", "__stcs", "__ldg"})
    if (text.contains(known))
      return fail("the kernel already has cache hints");
  const HintFinder finder(source);
  std::map<std::string, source::Edits> kinds{{"loads", finder.streams(Role::Read)},
                                             {"stores", finder.streams(Role::Write)}};
  source::Edits both = kinds.at("loads");
  both.insert(both.end(), kinds.at("stores").begin(), kinds.at("stores").end());
  if (both.size() > kinds.at("loads").size() && both.size() > kinds.at("stores").size())
    kinds.emplace("streams", both);
  if (!passes_pointer_twice(source))
    kinds.emplace("read_only", finder.read_only());
  std::vector<Parameters> choices;
  for (const auto &[kind, edits] : kinds)
    if (!edits.empty())
      choices.push_back({{"kind", kind}});
  if (choices.empty())
    return fail("the kernel has no array of numbers that is only read, or accessed once at the thread's own element");
  return Offer{choices, [kinds](const Parameters &choice) { return kinds.at(choice.at("kind")); }};
}

} // namespace warpwright::moves
