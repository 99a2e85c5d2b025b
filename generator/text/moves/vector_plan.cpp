// Checks of move vectorize, and the parts of arrays that become vectors; see vector_plan.h.
#include "generator/text/moves/vector_plan.h"

#include "generator/text/source/lanes.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::moves {

using clang::dyn_cast;
using source::ElementUse;
using source::ElementWork;
using symbolic::Polynomial;
using Role = source::ElementUse::Role;

namespace {

constexpr int kLargestVector = 16;     // bytes of the largest load of a thread
constexpr int kLargestInterleaving = 4; // elements of one index that are read whole

/// Bytes of the elements of a parameter, in all instances of a template; 0 for elements that cannot
/// be copied as bytes.
int element_bytes(const source::KernelSource &source, const clang::ParmVarDecl *parameter) {
  const clang::ASTContext &context = source.unit().context();
  const auto bytes_of = [&](const clang::ParmVarDecl *one) -> int {
    const clang::QualType type = one->getType()->getPointeeType();
    if (type.isNull() || type->isDependentType() || type->isIncompleteType() || type.isVolatileQualified() ||
        !type.isTriviallyCopyableType(context))
      return 0;
    const auto *record = type->getAsCXXRecordDecl();
    if (record && !record->hasDefaultConstructor())
      return 0;
    return static_cast<int>(context.getTypeSizeInChars(type).getQuantity());
  };
  const auto *pattern = source.kernel()->getDescribedFunctionTemplate();
  if (!pattern || !parameter->getType()->getPointeeType()->isDependentType())
    return bytes_of(parameter);
  int bytes = 0;
  for (const clang::FunctionDecl *instance : pattern->specializations()) {
    const unsigned index = parameter->getFunctionScopeIndex();
    const int one = index < instance->getNumParams() ? bytes_of(instance->getParamDecl(index)) : 0;
    if (one == 0 || (bytes != 0 && bytes != one))
      return 0;
    bytes = one;
  }
  return bytes;
}

/// The number of the array's elements for each index, by the accesses; 0: no vectors.
int interleaving(const Polynomial &index, const std::string &symbol) {
  const auto factor = index.coefficient_of(symbol).number();
  const bool is_linear = index.without(symbol) + Polynomial(factor.value_or(0)) * Polynomial::symbol(symbol) == index;
  return factor && is_linear && *factor >= 1 && *factor <= kLargestInterleaving ? static_cast<int>(*factor) : 0;
}

class PartFinder {
public:
  PartFinder(const source::IndexReader &form, const ElementWork &work) : form_(form), work_(work) {
    uses_ = source::element_uses(form, work.statements());
  }
  /// Errors: an array that is written in a way that other elements may see.
  Result<std::vector<VectorPart>> parts();

private:
  Result<void> add_array(const clang::ParmVarDecl *parameter, std::vector<VectorPart> &parts);
  /// The part of an access; null: the access stays as it is.
  VectorPart *part_of(const ElementUse &use, std::vector<VectorPart> &parts) const;
  /// True if each element of the part is accessed for every index.
  bool is_whole(const VectorPart &part, const std::vector<const ElementUse *> &uses) const;
  Result<void> check_written(const std::string &name, const std::vector<const ElementUse *> &uses) const;

  const source::IndexReader &form_;
  const ElementWork &work_;
  std::vector<ElementUse> uses_;
};

VectorPart *PartFinder::part_of(const ElementUse &use, std::vector<VectorPart> &parts) const {
  const std::string symbol = work_.symbol();
  const int elements = interleaving(use.access.index, symbol);
  if (elements == 0)
    return nullptr;
  const Polynomial rest = use.access.index.without(symbol);
  const std::int64_t offset = rest.constant_term();
  if (offset < 0 || offset >= elements) // such an address is never aligned
    return nullptr;
  const Polynomial base = rest - Polynomial(offset);
  const auto known = std::ranges::find_if(
      parts, [&](const VectorPart &part) { return part.base == base && part.elements == elements; });
  if (known != parts.end())
    return &*known;
  const auto text = source::wide_text(base, work_.statements());
  if (!text)
    return nullptr;
  VectorPart part;
  part.array = use.access.base->getNameAsString();
  part.element = use.access.element_type;
  part.elements = elements;
  part.base = base;
  part.base_text = *text;
  return &parts.emplace_back(std::move(part));
}

bool PartFinder::is_whole(const VectorPart &part, const std::vector<const ElementUse *> &uses) const {
  std::set<std::int64_t> certain;
  for (const ElementUse *use : uses) {
    const Polynomial rest = use->access.index.without(work_.symbol());
    const std::int64_t offset = rest.constant_term();
    if (!use->is_conditional && interleaving(use->access.index, work_.symbol()) == part.elements &&
        rest - Polynomial(offset) == part.base)
      certain.insert(offset);
  }
  return static_cast<int>(certain.size()) == part.elements;
}

/// An array that is written must be accessed at distances that differ by sizes, as planes do.
Result<void> PartFinder::check_written(const std::string &name, const std::vector<const ElementUse *> &uses) const {
  for (const ElementUse *use : uses) {
    const int elements = interleaving(use->access.index, work_.symbol());
    for (const ElementUse *other : uses) {
      const auto distance = (use->access.index - other->access.index).number();
      if (elements == 0 || !distance ? elements == 0 : std::abs(*distance) >= elements)
        return fail(name + " is written and also used at another element");
    }
  }
  return {};
}

Result<void> PartFinder::add_array(const clang::ParmVarDecl *parameter, std::vector<VectorPart> &parts) {
  std::vector<const ElementUse *> uses;
  bool is_written = false, has_other = false, has_own = false;
  for (const ElementUse &use : uses_)
    if (use.access.base == parameter) {
      uses.push_back(&use);
      is_written |= use.role != Role::Read;
      has_other |= use.role == Role::Other || // or an element of another type, by a cast
                   !form_.source().unit().context().hasSameUnqualifiedType(
                       use.access.expression->getType(), parameter->getType()->getPointeeType());
      has_own |= interleaving(use.access.index, work_.symbol()) != 0;
    }
  const int bytes = element_bytes(form_.source(), parameter);
  if (!has_own || has_other || bytes == 0 || bytes > kLargestVector || !is_only_accessed(form_, parameter))
    return {};
  if (is_written)
    if (auto checked = check_written(parameter->getNameAsString(), uses); !checked)
      return checked;
  std::vector<VectorPart> found;
  for (const ElementUse *use : uses)
    part_of(*use, found);
  std::erase_if(found, [&](const VectorPart &part) { return !is_whole(part, uses); });
  std::size_t replaced = 0;
  for (const ElementUse *use : uses) {
    const std::size_t before = found.size();
    VectorPart *part = part_of(*use, found);
    const auto range = form_.source().range_of(use->access.expression);
    if (!part || found.size() != before || !range) {
      found.resize(before);
      continue;
    }
    part->bytes = bytes;
    part->is_written |= use->role != Role::Read;
    part->needs_load |= use->role != Role::Write || use->is_conditional;
    part->accesses.emplace_back(*range, static_cast<int>(use->access.index.without(work_.symbol()).constant_term()));
    ++replaced;
  }
  if (is_written && replaced != uses.size())
    return {}; // it stays as it is: its other accesses must see the same memory
  parts.insert(parts.end(), found.begin(), found.end());
  return {};
}

Result<std::vector<VectorPart>> PartFinder::parts() {
  std::vector<VectorPart> found;
  for (const clang::ParmVarDecl *parameter : form_.source().kernel()->parameters())
    if (parameter->getType()->isPointerType())
      if (auto added = add_array(parameter, found); !added)
        return std::unexpected(added.error());
  return found;
}

/// True if the code names the thread's place along x, in a way that the new place would change.
bool uses_place(const ElementWork &work, const std::vector<const clang::Stmt *> &statements) {
  const auto is_place = [&](const clang::Stmt *root) {
    return std::ranges::any_of(source::find_all<clang::MemberExpr>(root), [&](const clang::MemberExpr *member) {
      const std::string name = source::builtin_of(member);
      return name == "threadIdx.x" || (work.shape != ElementWork::Shape::BlockLoop && name == "blockIdx.x") ||
             (!work.is_loop() && name == "gridDim.x");
    });
  };
  return std::ranges::any_of(statements, [&](const clang::Stmt *statement) {
    if (is_place(statement))
      return true;
    for (const auto *reference : source::find_all<clang::DeclRefExpr>(statement)) {
      const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
      if (variable && variable != work.index && variable->isLocalVarDecl() && variable->hasInit() &&
          is_place(variable->getInit()))
        return true;
    }
    return false;
  });
}

bool is_shared_memory(const clang::VarDecl *variable) { return variable->hasAttr<clang::CUDASharedAttr>(); }

/// Errors: variables from outside the work that the work changes, so that elements would differ.
Result<void> check_outside(const ElementWork &work) {
  std::set<const clang::VarDecl *> inside;
  for (const clang::Stmt *statement : work.statements())
    for (const auto *declaration : source::find_all<clang::DeclStmt>(statement))
      for (const clang::VarDecl *variable : source::variables_of(declaration))
        inside.insert(variable);
  for (const clang::Stmt *statement : work.statements())
    for (const auto *reference : source::find_all<clang::DeclRefExpr>(statement)) {
      const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
      if (!variable || inside.contains(variable) || variable == work.index)
        continue;
      if (is_shared_memory(variable) && !work.is_loop())
        return fail("the work uses shared memory");
      if (work.is_loop() || !variable->isLocalVarDeclOrParm())
        continue;
      if (!source::writes_of(statement, variable).empty())
        return fail("the work changes a variable from outside");
      const clang::QualType type = variable->getType();
      if (variable->isLocalVarDecl() && (type->isArrayType() || (type->isRecordType() && !type.isConstQualified())))
        return fail("the work uses an array or an object from outside");
    }
  return {};
}

/// True for loops that the compiler can unroll. Long loops are for thread_tile.
bool has_known_loops(const source::KernelSource &source, const clang::Stmt *statement) {
  const auto is_known = [&](const clang::ForStmt *loop) {
    const auto *condition = loop->getCond() ? source::as<clang::BinaryOperator>(loop->getCond()) : nullptr;
    return condition && source::integer_value(source, condition->getRHS());
  };
  return source::find_all<clang::WhileStmt>(statement).empty() && source::find_all<clang::DoStmt>(statement).empty() &&
         std::ranges::all_of(source::find_all<clang::ForStmt>(statement), is_known);
}

/// True if the work accesses elements of shared memory that depend on the index, other than by atomic
/// operations: other code of the thread may access them too.
bool uses_shared_elements(const ElementWork &work) {
  const source::LaneVariables lanes(work.index, work.statements());
  std::set<const clang::Expr *> atomic;
  bool found = false;
  for (const clang::Stmt *statement : work.statements()) {
    for (const auto *call : source::find_all<clang::CallExpr>(statement))
      if (source::callee_name(call).starts_with("atomic") && call->getNumArgs() > 0)
        if (const auto *address = source::as<clang::UnaryOperator>(call->getArg(0)))
          atomic.insert(source::strip(address->getSubExpr()));
    for (const auto *element : source::find_all<clang::ArraySubscriptExpr>(statement)) {
      const clang::VarDecl *array = source::variable_of(element->getBase());
      found |= array && is_shared_memory(array) && lanes.differ_in(element->getIdx()) && !atomic.contains(element);
    }
  }
  return found;
}

Result<void> check_flow(const source::KernelSource &source, const ElementWork &work) {
  for (const clang::Stmt *statement : work.statements()) {
    if (!has_known_loops(source, statement))
      return fail("the work contains a loop");
    if (source::has_collective(statement))
      return fail("the work contains a barrier or a warp operation");
    if (!source::find_all<clang::LambdaExpr>(statement).empty() || !source::find_all<clang::GotoStmt>(statement).empty() ||
        !source::find_all<clang::LabelStmt>(statement).empty())
      return fail("the work contains a lambda or a goto");
    const bool returns = !source::find_all<clang::ReturnStmt>(statement).empty();
    if (returns && work.is_loop())
      return fail("the loop contains a return");
    for (const clang::Stmt *inner : source::find_all<clang::Stmt>(statement))
      if (returns && (llvm::isa<clang::ForStmt>(inner) || llvm::isa<clang::WhileStmt>(inner) ||
                      llvm::isa<clang::DoStmt>(inner) || llvm::isa<clang::CXXForRangeStmt>(inner)) &&
          !source::find_all<clang::ReturnStmt>(inner).empty())
        return fail("a loop of the work contains a return");
  }
  return {};
}

/// Errors: an array that loops and other code use, and that some code may write.
Result<void> check_between_loops(const source::IndexReader &form, const std::vector<VectorWork> &works) {
  const auto uses = source::element_uses(form, source::statements_of(form.source().body()));
  for (const clang::ParmVarDecl *parameter : form.source().kernel()->parameters()) {
    if (!parameter->getType()->isPointerType() || parameter->getType()->getPointeeType().isConstQualified())
      continue;
    std::size_t inside = 0;
    for (const VectorWork &work : works)
      for (const clang::Stmt *statement : work.element.statements())
        inside += source::uses_of(statement, parameter).size();
    const bool is_written = !is_only_accessed(form, parameter) ||
                            std::ranges::any_of(uses, [&](const ElementUse &use) {
                              return use.access.base == parameter && use.role != Role::Read;
                            });
    if (is_written && inside > 0 && inside != source::uses_of(form.source().body(), parameter).size())
      return fail(parameter->getNameAsString() + " is written, and used both in a loop and outside");
  }
  return {};
}

Result<VectorWork> plan_work(const source::IndexReader &form, const ElementWork &element) {
  if (auto checked = check_flow(form.source(), element); !checked)
    return std::unexpected(checked.error());
  std::vector<const clang::Stmt *> statements = element.statements();
  statements.insert(statements.end(), element.shared.begin(), element.shared.end());
  if (uses_place(element, statements))
    return fail("the work uses the thread's place apart from the index");
  if (element.is_loop() && uses_shared_elements(element))
    return fail("the loop accesses elements of shared memory by its index");
  if (auto checked = check_outside(element); !checked)
    return std::unexpected(checked.error());
  auto parts = PartFinder(form, element).parts();
  if (!parts)
    return std::unexpected(parts.error());
  if (parts->empty())
    return fail("the kernel does not access an array at the index of every element");
  return VectorWork{element, std::move(*parts)};
}

} // namespace

int VectorPart::load_bytes(int width) const {
  int bytes = kLargestVector;
  while (whole_bytes(width) % bytes != 0)
    bytes /= 2;
  return bytes;
}

std::string VectorPart::address(const std::string &first) const {
  return array + " + " + (base_text.empty() ? "" : base_text + " + ") +
         (elements == 1 ? first : std::to_string(elements) + " * " + first);
}

Result<VectorPlan> vector_plan(const source::IndexReader &form) {
  const source::KernelSource &source = form.source();
  const auto elements = match_element_work(form);
  if (!elements)
    return std::unexpected(elements.error());
  VectorPlan plan;
  std::string why;
  for (const ElementWork &element : *elements) {
    auto work = plan_work(form, element);
    if (work)
      plan.works.push_back(std::move(*work));
    else
      why = work.error().message;
  }
  if (plan.works.empty())
    return fail(why);
  if (plan.works.front().element.is_loop()) {
    if (auto checked = check_between_loops(form, plan.works); !checked)
      return std::unexpected(checked.error());
  } else if (!plan.works.front().element.has_bound()) {
    return fail("the index has no bounds check");
  } else if (!source.has_all_launches()) {
    return fail("there is no launch with a grid that could shrink");
  }
  return plan;
}

} // namespace warpwright::moves
