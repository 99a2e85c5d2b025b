// The visitor that fills the index of host code, and questions to the index.
// Thread: the unit's thread.
#include "analysis/task/host_program.h"
#include "analysis/stub/stub_headers.h"
#include "analysis/task/host_run.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <set>

namespace warpwright::analysis {
namespace {

class Indexer : public clang::RecursiveASTVisitor<Indexer> {
public:
  explicit Indexer(HostProgram &program) : program_(program) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseFunctionDecl(clang::FunctionDecl *function) {
    return enter(function, &Base::TraverseFunctionDecl);
  }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl *function) {
    return enter(function, &Base::TraverseCXXMethodDecl);
  }

  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (!callee) // `auto kernel = scale<4>; kernel<<<g, b>>>(x)`
      if (const auto *named = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(call->getCallee())))
        if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(named->getDecl());
            variable && variable->hasInit())
          callee = function_of(variable->getInit());
    if (!callee)
      callee = ParsedUnit::kernel_of(call);
    if (callee)
      program_.launches.push_back({call, enclosing_, callee});
    return true;
  }
  bool VisitCallExpr(clang::CallExpr *call) {
    if (const std::string name = callee_name(*call); !name.empty())
      program_.calls[name].push_back({call, enclosing_});
    if (const auto *called = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(call->getCallee()));
        called && llvm::isa<clang::ParmVarDecl>(called->getDecl()))
      program_.calls_of_parameters[called->getDecl()].push_back({call, enclosing_});
    const auto *operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
    for (const clang::Expr *argument : call->arguments()) {
      if (const auto *address = llvm::dyn_cast_or_null<clang::UnaryOperator>(strip(argument));
          address && address->getOpcode() == clang::UO_AddrOf)
        note_change(address->getSubExpr());
      if (operation && operation->getOperator() == clang::OO_GreaterGreater)
        note_change(argument);
    }
    for (unsigned i = 0; i < call->getNumArgs(); ++i)
      if (const clang::FunctionDecl *function = function_of(call->getArg(i)))
        program_.passed[function->getCanonicalDecl()].push_back({{call, enclosing_}, i});
    return true;
  }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt *loop) {
    if (loop->getLoopVariable())
      program_.ranges[loop->getLoopVariable()] = loop->getRangeInit();
    return true;
  }
  bool VisitForStmt(clang::ForStmt *loop) {
    heads_.insert(loop->getInc()); // visited before the increment itself
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator *operation) {
    if (operation->isIncrementDecrementOp() && !heads_.contains(operation))
      note_change(operation->getSubExpr());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator *assignment) {
    if (assignment->isCompoundAssignmentOp() && !heads_.contains(assignment))
      note_change(assignment->getLHS());
    if (assignment->getOpcode() != clang::BO_Assign)
      return true;
    const clang::Expr *target = assignment->getLHS()->IgnoreParenImpCasts();
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(target)) {
      program_.assignments[reference->getDecl()].push_back(assignment->getRHS());
      note_branch(*assignment);
    }
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(target))
      if (const auto *object =
              llvm::dyn_cast<clang::DeclRefExpr>(member->getBase()->IgnoreParenImpCasts())) {
        program_
            .member_assignments[{object->getDecl(), member->getMemberDecl()->getNameAsString()}] =
            assignment->getRHS();
        note_branch(*assignment);
      }
    return true;
  }
  bool TraverseIfStmt(clang::IfStmt *statement) {
    branches_.push_back(statement);
    const bool more = Base::TraverseIfStmt(statement);
    branches_.pop_back();
    return more;
  }
  bool TraverseSwitchStmt(clang::SwitchStmt *statement) {
    branches_.push_back(statement);
    const bool more = Base::TraverseSwitchStmt(statement);
    branches_.pop_back();
    return more;
  }

private:
  using Base = clang::RecursiveASTVisitor<Indexer>;

  void note_change(const clang::Expr *target) {
    if (const auto *variable = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(target)))
      program_.changes[variable->getDecl()].push_back(variable->getLocation());
  }

  void note_branch(const clang::BinaryOperator &assignment) {
    if (branches_.empty())
      return;
    const clang::Stmt *branch = branches_.back();
    if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(branch))
      branch = choice->getElse() && !program_.unit().sources().isBeforeInTranslationUnit(
                                        assignment.getBeginLoc(), choice->getElse()->getBeginLoc())
                   ? choice->getElse()
                   : choice->getThen();
    program_.conditional[assignment.getRHS()] = branch;
  }

  /// The function in `softmax` or `&softmax`; null for other expressions.
  static const clang::FunctionDecl *function_of(const clang::Expr *argument) {
    argument = strip(argument);
    if (const auto *address = llvm::dyn_cast_or_null<clang::UnaryOperator>(argument);
        address && address->getOpcode() == clang::UO_AddrOf)
      argument = strip(address->getSubExpr());
    const auto *named = llvm::dyn_cast_or_null<clang::DeclRefExpr>(argument);
    return named ? llvm::dyn_cast<clang::FunctionDecl>(named->getDecl()) : nullptr;
  }

  template <class Function>
  bool enter(Function *function, bool (Base::*traverse)(Function *)) {
    const clang::FunctionDecl *before = enclosing_;
    enclosing_ = function;
    const bool more = (this->*traverse)(function);
    enclosing_ = before;
    return more;
  }

  HostProgram &program_;
  const clang::FunctionDecl *enclosing_ = nullptr;
  std::set<const clang::Stmt *> heads_;       ///< increments of for loops
  std::vector<const clang::Stmt *> branches_; ///< branches around the visited statement
};

bool is_pattern(const clang::FunctionDecl *function) {
  return function && function->isDependentContext();
}

} // namespace

bool is_users(const clang::SourceManager &sources, clang::SourceLocation location) {
  location = sources.getExpansionLoc(location);
  return location.isValid() && !sources.isInSystemHeader(location) &&
         !sources.getFilename(location).starts_with(llvm::StringRef(kStubDirectory));
}

const clang::FunctionDecl *HostProgram::pattern_of(const clang::FunctionDecl *function) {
  if (const clang::FunctionDecl *pattern = function->getTemplateInstantiationPattern())
    return pattern->getCanonicalDecl();
  if (const clang::FunctionTemplateDecl *primary = function->getPrimaryTemplate())
    return primary->getTemplatedDecl()->getCanonicalDecl();
  return function->getCanonicalDecl();
}

HostProgram::HostProgram(const ParsedUnit &unit) : unit_(unit) {
  Indexer indexer(*this);
  for (clang::Decl *declaration : unit.context().getTranslationUnitDecl()->decls())
    if (!declaration->isImplicit() && is_users(unit.sources(), declaration->getLocation()))
      indexer.TraverseDecl(declaration);
}

HostProgram::~HostProgram() = default;

const HostRun &HostProgram::run() const {
  if (!run_)
    run_ = std::make_unique<HostRun>(*this);
  return *run_;
}

std::vector<HostLaunch> HostProgram::launches_of(const clang::FunctionDecl &kernel) const {
  std::vector<HostLaunch> found;
  for (const HostLaunch &launch : launches)
    if (pattern_of(launch.callee) == kernel.getCanonicalDecl())
      found.push_back(launch);
  std::ranges::stable_sort(
      found, {}, [](const HostLaunch &launch) { return is_pattern(launch.enclosing) ? 1 : 0; });
  if (found.empty())
    found = run().launches_of(kernel);
  return found;
}

std::vector<HostCall> HostProgram::calls_of(const clang::FunctionDecl &function) const {
  std::vector<HostCall> found;
  for (const HostCall &call : calls_named(function.getNameAsString()))
    if (const clang::FunctionDecl *callee = call.call->getDirectCallee();
        callee && callee->getCanonicalDecl() == function.getCanonicalDecl())
      found.push_back(call);
  return found;
}

std::vector<PassedFunction>
HostProgram::calls_through_parameters(const clang::FunctionDecl &function) const {
  std::vector<PassedFunction> found;
  const auto places = passed.find(function.getCanonicalDecl());
  if (places == passed.end())
    return found;
  for (const auto &[call, index] : places->second) {
    const clang::FunctionDecl *callee = call.call->getDirectCallee();
    callee = callee ? callee->getDefinition() : nullptr;
    if (!callee || index >= callee->getNumParams())
      continue;
    if (const auto inner = calls_of_parameters.find(callee->getParamDecl(index));
        inner != calls_of_parameters.end())
      for (const HostCall &called : inner->second)
        found.push_back({call, called});
  }
  return found;
}

const clang::Expr *HostProgram::range_of(const clang::ValueDecl &variable) const {
  const auto found = ranges.find(&variable);
  return found == ranges.end() ? nullptr : found->second;
}

const std::vector<HostCall> &HostProgram::calls_named(const std::string &name) const {
  static const std::vector<HostCall> kNone;
  const auto found = calls.find(name);
  return found == calls.end() ? kNone : found->second;
}

std::vector<const clang::Expr *>
HostProgram::assignments_to(const clang::ValueDecl &variable) const {
  const auto found = assignments.find(&variable);
  return found == assignments.end() ? std::vector<const clang::Expr *>{} : found->second;
}

const clang::Expr *HostProgram::assigned_before(const clang::ValueDecl &variable,
                                                clang::SourceLocation place) const {
  const clang::SourceManager &sources = unit_.sources();
  const clang::Expr *last = nullptr;
  for (const clang::Expr *value : assignments_to(variable)) {
    const auto branch = conditional.find(value);
    const bool taken = branch == conditional.end() ||
                       (!sources.isBeforeInTranslationUnit(place, branch->second->getBeginLoc()) &&
                        sources.isBeforeInTranslationUnit(place, branch->second->getEndLoc()));
    if (taken && sources.isBeforeInTranslationUnit(value->getEndLoc(), place))
      last = value;
  }
  return last;
}

bool HostProgram::is_changed_before(const clang::ValueDecl &variable,
                                    clang::SourceLocation place) const {
  const auto found = changes.find(&variable);
  if (found == changes.end() || place.isInvalid())
    return false;
  const clang::Expr *assigned = assigned_before(variable, place);
  const clang::SourceManager &sources = unit_.sources();
  return std::ranges::any_of(found->second, [&](clang::SourceLocation change) {
    return sources.isBeforeInTranslationUnit(change, place) &&
           (!assigned || sources.isBeforeInTranslationUnit(assigned->getEndLoc(), change));
  });
}

const clang::Expr *HostProgram::member_assignment(const clang::ValueDecl &variable,
                                                  const std::string &member) const {
  const auto found = member_assignments.find({&variable, member});
  return found == member_assignments.end() ? nullptr : found->second;
}

const clang::Expr *strip(const clang::Expr *expression) {
  while (expression) {
    const clang::Expr *inner = expression->IgnoreParenImpCasts();
    if (const auto *cast = llvm::dyn_cast<clang::ExplicitCastExpr>(inner))
      inner = cast->getSubExpr();
    else if (const auto *full = llvm::dyn_cast<clang::FullExpr>(inner))
      inner = full->getSubExpr();
    else if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(inner))
      inner = temporary->getSubExpr();
    else if (const auto *bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(inner))
      inner = bound->getSubExpr();
    else if (const auto *substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner))
      inner = substituted->getReplacement();
    else if (const auto *fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner))
      inner = fallback->getExpr();
    else if (const auto *copy = llvm::dyn_cast<clang::CXXConstructExpr>(inner);
             copy && copy->getNumArgs() == 1 && copy->getConstructor()->isCopyOrMoveConstructor())
      inner = copy->getArg(0);
    else if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(inner);
             list && list->getNumInits() == 1 && !list->getType()->isRecordType() &&
             !list->getType()->isArrayType())
      inner = list->getInit(0);
    if (inner == expression)
      return expression;
    expression = inner;
  }
  return expression;
}

std::string callee_name(const clang::CallExpr &call) {
  if (const clang::FunctionDecl *callee = call.getDirectCallee())
    return callee->getNameAsString();
  const clang::Expr *callee = call.getCallee() ? call.getCallee()->IgnoreParenImpCasts() : nullptr;
  if (const auto *overloads = llvm::dyn_cast_or_null<clang::OverloadExpr>(callee))
    return overloads->getName().getAsString();
  if (const auto *member = llvm::dyn_cast_or_null<clang::CXXDependentScopeMemberExpr>(callee))
    return member->getMember().getAsString();
  return {};
}

} // namespace warpwright::analysis
