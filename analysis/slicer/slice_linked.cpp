// Device functions of a program's other units; see slicer.h.
#include "analysis/slicer/slicer.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace warpwright::analysis::slicer {
namespace {

bool is_of_one_unit(const clang::Decl *declaration) {
  const auto *named = llvm::dyn_cast<clang::NamedDecl>(declaration);
  return named &&
         llvm::isa<clang::FunctionDecl, clang::FunctionTemplateDecl, clang::VarDecl>(named) &&
         !named->isExternallyVisible();
}

std::string word_of(std::string name) {
  std::ranges::replace_if(name, [](char c) { return !is_word(c); }, '_');
  return name;
}

std::vector<const clang::FunctionDecl *> definitions_of(const std::string &name,
                                                        const clang::DeclContext *context) {
  std::vector<const clang::FunctionDecl *> found;
  for (const clang::Decl *declaration : context->noload_decls()) {
    if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      if (function->doesThisDeclarationHaveABody() && function->hasAttr<clang::CUDADeviceAttr>() &&
          function->getQualifiedNameAsString() == name)
        found.push_back(function);
    } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
      std::ranges::move(definitions_of(name, llvm::dyn_cast<clang::DeclContext>(declaration)),
                        std::back_inserter(found));
    }
  }
  return found;
}

} // namespace

void Slicer::add_files_of_names(FilesOfNames &files) const {
  for (std::size_t i = 0; i < inventory_.items.size(); ++i)
    if (chosen_[i])
      for (const std::string &name : inventory_.items[i].names)
        files.try_emplace(name, inventory_.files[inventory_.items[i].file]->path);
}

std::string Slicer::with_own_names(const std::string &text, const FilesOfNames &declared) const {
  std::map<std::string, std::string> renamed;
  for (std::size_t i = 0; i < inventory_.items.size(); ++i) {
    const Item &item = inventory_.items[i];
    const SourceText &source = *inventory_.files[item.file];
    if (chosen_[i] && std::ranges::any_of(item.declarations, is_of_one_unit))
      for (const std::string &name : item.names)
        if (const auto first = declared.find(name);
            first != declared.end() && first->second != source.path)
          renamed[name] = name + "_of_" + word_of(source.display);
  }
  std::string before, after;
  for (const auto &[name, other] : renamed) {
    before += "#define " + name + " " + other + "\n";
    after += "#undef " + name + "\n";
  }
  return before + text + after;
}

Slicer::ItemPlaces Slicer::chosen_places() const {
  ItemPlaces places;
  for (std::size_t i = 0; i < inventory_.items.size(); ++i)
    if (chosen_[i])
      places.emplace(inventory_.files[inventory_.items[i].file]->path,
                     inventory_.items[i].range.begin);
  return places;
}

std::set<std::string> Slicer::undefined() const {
  std::set<std::string> names;
  for (std::size_t i = 0; i < inventory_.items.size(); ++i)
    for (const clang::Decl *declaration : inventory_.items[i].declarations)
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
          chosen_[i] && function && function->hasAttr<clang::CUDADeviceAttr>() &&
          !function->isDefined() && !llvm::isa<clang::CXXMethodDecl>(function))
        names.insert(function->getQualifiedNameAsString());
  return names;
}

Result<std::string> Slicer::linked() {
  std::string text;
  std::set<std::string> searched;
  FilesOfNames declared;
  add_files_of_names(declared);
  ItemPlaces emitted = chosen_places();
  for (std::set<std::string> names = undefined(); !names.empty();) {
    const std::string name = *names.begin();
    names.erase(names.begin());
    if (!searched.insert(name).second)
      continue;
    for (const auto &other : unit_.other_units())
      for (const clang::FunctionDecl *function :
           definitions_of(name, other->context().getTranslationUnitDecl())) {
        Slicer slicer(*other, side_);
        slicer.is_linked_ = true;
        slicer.others_ = emitted;
        const std::string part = TRY(slicer.run(*function));
        text += slicer.with_own_names(part, declared);
        slicer.add_files_of_names(declared);
        emitted.merge(slicer.chosen_places());
        names.merge(slicer.undefined());
        for (std::size_t i = 0; i < slicer.inventory_.items.size(); ++i)
          if (slicer.chosen_[i])
            linked_names_.merge(std::set(slicer.inventory_.items[i].names));
        needed_.merge(slicer.needed_);
        std_names_.merge(slicer.std_names_);
        macros_.merge(slicer.macros_);
      }
  }
  return text;
}

} // namespace warpwright::analysis::slicer
