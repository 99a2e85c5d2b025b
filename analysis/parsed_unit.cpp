// Helpers of ParsedUnit: kernels and launches of the file, and the mapping from Clang's
// locations to byte offsets.
//
// Macros are the main difficulty. A range that starts in a macro argument maps to the place where
// the argument was written. A range inside a macro body has no place in the text and maps to
// nothing.
// Thread: the unit's thread.
#include "analysis/parsed_unit.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <utility>

namespace warpwright::analysis {
namespace {

class KernelVisitor : public clang::RecursiveASTVisitor<KernelVisitor> {
public:
  explicit KernelVisitor(const ParsedUnit &unit) : unit_(unit) {}

  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    if (function->hasAttr<clang::CUDAGlobalAttr>() && function->isThisDeclarationADefinition() &&
        unit_.is_in_file(function->getLocation()))
      found.push_back(function);
    return true;
  }
  /// Skips function bodies: they hold no kernels and make up most of a file.
  bool TraverseStmt(clang::Stmt *) { return true; }

  std::vector<clang::FunctionDecl *> found;

private:
  const ParsedUnit &unit_;
};

class LaunchVisitor : public clang::RecursiveASTVisitor<LaunchVisitor> {
public:
  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr *launch) {
    found.push_back(launch);
    return true;
  }

  std::vector<const clang::CUDAKernelCallExpr *> found;
};

const clang::FunctionDecl *definition_of(const clang::FunctionDecl *function) {
  if (const clang::FunctionDecl *pattern = function->getTemplateInstantiationPattern())
    function = pattern;
  else if (const clang::FunctionTemplateDecl *primary = function->getPrimaryTemplate();
           primary &&
           function->getTemplateSpecializationKind() != clang::TSK_ExplicitSpecialization)
    function = primary->getTemplatedDecl();
  const clang::FunctionDecl *definition = function->getDefinition();
  return definition && definition->hasAttr<clang::CUDAGlobalAttr>() ? definition : nullptr;
}

/// The first kernel in the overload set of a dependent launch, or null.
const clang::FunctionDecl *kernel_among(const clang::OverloadExpr *overloads) {
  for (const clang::NamedDecl *candidate : overloads->decls()) {
    const clang::NamedDecl *declaration = candidate->getUnderlyingDecl();
    if (const auto *templated = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration))
      declaration = templated->getTemplatedDecl();
    if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
      if (const clang::FunctionDecl *kernel = definition_of(function))
        return kernel;
  }
  return nullptr;
}

/// The kernel that an expression names: directly, through an overload set, or through a variable
/// that was initialized with it (`auto kernel = scale<4>;`).
const clang::FunctionDecl *kernel_named_by(const clang::Expr *expression) {
  expression = expression->IgnoreParenImpCasts();
  if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(expression))
    expression = address->getSubExpr()->IgnoreParenImpCasts();
  if (const auto *overloads = llvm::dyn_cast<clang::OverloadExpr>(expression))
    return kernel_among(overloads);
  const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression);
  if (!reference)
    return nullptr;
  if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl()))
    return definition_of(function);
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
  return variable && variable->hasInit() ? kernel_named_by(variable->getInit()) : nullptr;
}

} // namespace

const ParsedUnit::Units &ParsedUnit::other_units() const {
  if (const auto parse = std::exchange(parse_others_, nullptr))
    others_ = parse();
  return others_;
}

bool ParsedUnit::is_in_file(clang::SourceLocation location) const {
  return sources().getFileID(sources().getExpansionLoc(location)) == file_id();
}

std::vector<clang::FunctionDecl *> ParsedUnit::kernels() const {
  KernelVisitor visitor(*this);
  for (clang::Decl *declaration : top_level_declarations())
    visitor.TraverseDecl(declaration);
  return std::move(visitor.found);
}

std::vector<const clang::CUDAKernelCallExpr *> ParsedUnit::all_launches() const {
  LaunchVisitor visitor;
  for (clang::Decl *declaration : context().getTranslationUnitDecl()->noload_decls())
    visitor.TraverseDecl(declaration);
  return std::move(visitor.found);
}

std::vector<const clang::CUDAKernelCallExpr *> ParsedUnit::launches() const {
  LaunchVisitor visitor;
  for (clang::Decl *declaration : top_level_declarations())
    visitor.TraverseDecl(declaration);
  auto &found = visitor.found;
  std::erase_if(found, [&](const auto *launch) { return !is_in_file(launch->getBeginLoc()); });
  std::ranges::stable_sort(found, [&](const auto *left, const auto *right) {
    return sources().getFileOffset(sources().getExpansionLoc(left->getBeginLoc())) <
           sources().getFileOffset(sources().getExpansionLoc(right->getBeginLoc()));
  });
  return std::move(found);
}

const clang::FunctionDecl *ParsedUnit::kernel_of(const clang::CUDAKernelCallExpr *launch) {
  if (const clang::FunctionDecl *callee = launch->getDirectCallee())
    return definition_of(callee);
  return kernel_named_by(launch->getCallee());
}

clang::FunctionDecl *ParsedUnit::find_kernel(std::string_view name) const {
  for (clang::FunctionDecl *kernel : kernels())
    if (kernel->getNameAsString() == name || kernel->getQualifiedNameAsString() == name)
      return kernel;
  return nullptr;
}

std::optional<Range> ParsedUnit::range_in(clang::FileID file, clang::SourceRange range) const {
  if (range.isInvalid())
    return std::nullopt;
  const clang::CharSourceRange characters = clang::Lexer::makeFileCharRange(
      clang::CharSourceRange::getTokenRange(range), sources(), context().getLangOpts());
  if (characters.isInvalid() || sources().getFileID(characters.getBegin()) != file)
    return std::nullopt;
  const Range result{sources().getFileOffset(characters.getBegin()),
                     sources().getFileOffset(characters.getEnd())};
  if (result.begin > result.end || result.end > sources().getBufferData(file).size())
    return std::nullopt;
  return result;
}

std::string_view ParsedUnit::text_of(clang::SourceRange range) const {
  const std::optional<Range> bytes = range_of(range);
  return bytes ? text().substr(bytes->begin, bytes->size()) : std::string_view{};
}

std::string_view ParsedUnit::text_anywhere(clang::SourceRange range) const {
  if (range.isInvalid())
    return {};
  return clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(range), sources(),
                                     context().getLangOpts());
}

} // namespace warpwright::analysis
