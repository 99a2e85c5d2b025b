// The closure over names; see slicer.h.
#include "analysis/slicer/slicer.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace warpwright::analysis::slicer {
namespace {

bool holds(const clang::Decl *declaration, const clang::NamedDecl &kernel) {
  if (declaration == &kernel)
    return true;
  const auto *templated = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration);
  return templated && templated->getTemplatedDecl() == &kernel;
}

} // namespace

Slicer::Slicer(const ParsedUnit &unit, Side side, std::optional<std::string> variant_scope)
    : unit_(unit), side_(side), variant_scope_(std::move(variant_scope)),
      inventory_(take_inventory(unit)) {
  chosen_.resize(inventory_.items.size());
  for (std::size_t file = 0; file < inventory_.files.size(); ++file)
    pieces_.push_back(pieces_of(file));
  for (const auto &file : inventory_.files)
    for (const Directive &directive : file->directives)
      if (directive.kind == DirectiveKind::Define)
        macros_.insert(directive.name);
}

Result<std::string> Slicer::run(const clang::NamedDecl &kernel) {
  const auto root = std::ranges::find_if(inventory_.items, [&](const Item &item) {
    return std::ranges::any_of(item.declarations, [&](const clang::Decl *declaration) {
      return holds(declaration, kernel);
    });
  });
  if (root == inventory_.items.end())
    return fail("cannot slice " + kernel.getNameAsString() +
                    ": its definition was not found in the file's text",
                "Write the kernel out instead of generating it by nested macros");
  leave_out_overloads(kernel);
  choose(root - inventory_.items.begin());
  if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(&kernel))
    need_arguments(*function);
  close();
  if (side_ == Side::Host)
    return emit_file(0);
  if (Result<void> checked = check(kernel); !checked)
    return std::unexpected(checked.error());
  std::string body = emit_file(0);
  if (is_linked_)
    return body;
  body += TRY(linked());
  return preamble() + body;
}

void Slicer::leave_out_overloads(const clang::NamedDecl &kernel) {
  for (Item &item : inventory_.items)
    for (const clang::Decl *declaration : item.declarations)
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
        item.is_host_only |= function->hasAttr<clang::CUDAGlobalAttr>() &&
                             function->getDeclName() == kernel.getDeclName() &&
                             function->getCanonicalDecl() != kernel.getCanonicalDecl() &&
                             function->getTemplateSpecializationKind() == clang::TSK_Undeclared;
}

void Slicer::need_arguments(const clang::FunctionDecl &kernel) {
  if (const clang::FunctionTemplateDecl *pattern = kernel.getDescribedFunctionTemplate())
    for (const clang::FunctionDecl *instance : pattern->specializations())
      if (const auto *arguments = instance->getTemplateSpecializationArgs())
        need(arguments->asArray());
}

void Slicer::need(llvm::ArrayRef<clang::TemplateArgument> arguments) {
  for (const clang::TemplateArgument &argument : arguments)
    if (argument.getKind() == clang::TemplateArgument::Type)
      need(argument.getAsType());
    else if (argument.getKind() == clang::TemplateArgument::Integral)
      need(argument.getIntegralType());
    else if (argument.getKind() == clang::TemplateArgument::Pack)
      need(argument.getPackAsArray());
}

void Slicer::need(clang::QualType type) {
  type = type.getNonReferenceType();
  while (type->isPointerType() || type->isArrayType())
    type = clang::QualType(type->getPointeeOrArrayElementType(), 0);
  const clang::TagDecl *tag = type->getAsTagDecl();
  for (const clang::DeclContext *context = tag; llvm::isa_and_nonnull<clang::TagDecl>(context);
       context = context->getParent())
    needed_.insert(llvm::cast<clang::TagDecl>(context)->getNameAsString());
  if (const auto *instance = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(tag))
    need(instance->getTemplateArgs().asArray());
}

std::vector<Piece> Slicer::pieces_of(std::size_t file) const {
  std::vector<Piece> pieces;
  std::vector<Range> covered;
  for (std::size_t i = 0; i < inventory_.items.size(); ++i)
    if (inventory_.items[i].file == file) {
      pieces.push_back({nullptr, i, inventory_.items[i].range.begin});
      covered.push_back(inventory_.items[i].range);
    }
  for (const Directive &directive : inventory_.files[file]->directives)
    if (std::ranges::none_of(covered,
                             [&](Range range) { return range.contains(directive.range.begin); }))
      pieces.push_back({&directive, 0, directive.range.begin});
  std::ranges::stable_sort(pieces, {}, &Piece::position);
  return pieces;
}

std::vector<Range> Slicer::kept_ranges(const Item &item) const {
  std::vector<TextEdit> edits = side_ == Side::Device ? item.edits : std::vector<TextEdit>();
  std::ranges::sort(edits, {}, [](const TextEdit &edit) { return edit.range.begin; });
  std::vector<Range> kept;
  std::size_t begin = item.range.begin;
  for (const TextEdit &edit : edits) {
    kept.push_back({begin, edit.range.begin});
    begin = edit.range.end;
  }
  kept.push_back({begin, item.range.end});
  return kept;
}

void Slicer::choose(std::size_t index) {
  if (chosen_[index])
    return;
  chosen_[index] = true;
  const Item &item = inventory_.items[index];
  for (const Range range : kept_ranges(item))
    collect_identifiers(*inventory_.files[item.file], range, needed_);
  for (const std::string &name : item.names)
    needed_.insert(name);
}

bool Slicer::is_needed(const Item &item) const {
  if (item.is_using || (item.is_host_only && side_ == Side::Device))
    return false;
  if (variant_scope_ && std::ranges::find(item.scopes, *variant_scope_) != item.scopes.end())
    return false;
  auto needed = [&](const std::string &name) { return needed_.contains(name); };
  return std::ranges::any_of(item.names, needed) || std::ranges::any_of(item.operands, needed);
}

void Slicer::close() {
  for (std::size_t before = 0; before != needed_.size();) {
    before = needed_.size();
    for (std::size_t i = 0; i < inventory_.items.size(); ++i)
      if (!chosen_[i] && is_needed(inventory_.items[i]))
        choose(i);
    for (std::size_t file = 0; file < inventory_.files.size(); ++file) {
      for (const Directive &directive : inventory_.files[file]->directives)
        if (directive.kind == DirectiveKind::Define && needed_.contains(directive.name)) {
          collect_identifiers(*inventory_.files[file], directive.range, needed_);
          for_each_std(*inventory_.files[file], directive.range,
                       [&](const std::string &name, std::size_t) { std_names_.insert(name); });
        }
      std::size_t position = 0;
      emit_pieces(file, position); // adds identifiers of conditions and of branches not taken
    }
  }
}

} // namespace warpwright::analysis::slicer

namespace warpwright::analysis {

Result<std::string> slice_kernel(const ParsedUnit &unit, const clang::FunctionDecl &kernel) {
  return slicer::Slicer(unit, slicer::Slicer::Side::Device).run(kernel);
}

Result<std::string> slice_host(const ParsedUnit &unit, const clang::NamedDecl &declaration) {
  const std::string scope = "namespace warpwright_" + declaration.getNameAsString() + " {";
  return slicer::Slicer(unit, slicer::Slicer::Side::Host, scope).run(declaration);
}

} // namespace warpwright::analysis
