// Slicer of kernels and host declarations: closure over names, then the chosen text in source
// order.
//
// The closure uses identifiers instead of resolved references. It takes every overload and every
// specialization of a name, works in dependent code and in code that does not parse, and at worst
// takes unneeded declarations. Conditional directives around a chosen declaration are kept, with
// the branches that this parse did not take. Thread: the unit's thread.
#include "analysis/analyze.h"
#include "analysis/slicer/compatibility.h"
#include "analysis/slicer/declarations.h"

#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

namespace warpwright::analysis {
namespace {

using namespace slicer;
using DirectiveKind = Directive::Kind;

/// A piece of a file in text order: a directive, or an item by index.
struct Piece {
  const Directive *directive = nullptr;
  std::size_t item = 0;
  std::size_t offset() const { return directive ? directive->range.begin : position; }
  std::size_t position = 0;
};

using HostItems = std::map<const clang::Decl *, const Item *>;

/// Finds the first use of a host-only declaration.
struct HostUse : clang::RecursiveASTVisitor<HostUse> {
  explicit HostUse(const HostItems &host) : host(host) {}

  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (!reference->isNonOdrUse() && host.contains(reference->getDecl()->getCanonicalDecl()))
      found = {reference->getDecl(), reference->getLocation()};
    return !found;
  }
  /// A call in a template or one that the parser rejected. It counts only if every candidate is
  /// host-only.
  bool VisitOverloadExpr(clang::OverloadExpr *overloads) {
    const clang::NamedDecl *last = nullptr;
    for (const clang::NamedDecl *candidate : overloads->decls()) {
      last = candidate->getUnderlyingDecl();
      if (!host.contains(last->getCanonicalDecl()))
        return true;
    }
    if (last)
      found = {last, overloads->getNameLoc()};
    return !found;
  }

  const HostItems &host;
  std::optional<std::pair<const clang::NamedDecl *, clang::SourceLocation>> found;
};

class Slicer {
public:
  enum class Side { Device, Host };

  /// @param variant_scope namespace in which the declaration's applied variant keeps its kernels; it is
  ///   no dependency of the user's code; nullopt: none
  Slicer(const ParsedUnit &unit, Side side, std::optional<std::string> variant_scope = std::nullopt)
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

  Result<std::string> run(const clang::NamedDecl &kernel) {
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

private:
  using ItemPlaces = std::set<std::pair<std::string, std::size_t>>; ///< path and offset

  /// For a name that a text declares: the first file that does.
  using FilesOfNames = std::map<std::string, std::string>;

  void add_files_of_names(FilesOfNames &files) const {
    for (std::size_t i = 0; i < inventory_.items.size(); ++i)
      if (chosen_[i])
        for (const std::string &name : inventory_.items[i].names)
          files.try_emplace(name, inventory_.files[inventory_.items[i].file]->path);
  }

  static bool is_of_one_unit(const clang::Decl *declaration) {
    const auto *named = llvm::dyn_cast<clang::NamedDecl>(declaration);
    return named && llvm::isa<clang::FunctionDecl, clang::FunctionTemplateDecl, clang::VarDecl>(named) &&
           !named->isExternallyVisible();
  }

  /// The text of a linked unit with other names for its statics that another file's declarations would meet.
  std::string with_own_names(const std::string &text, const FilesOfNames &declared) const {
    std::map<std::string, std::string> renamed;
    for (std::size_t i = 0; i < inventory_.items.size(); ++i) {
      const Item &item = inventory_.items[i];
      const SourceText &source = *inventory_.files[item.file];
      if (chosen_[i] && std::ranges::any_of(item.declarations, is_of_one_unit))
        for (const std::string &name : item.names)
          if (const auto first = declared.find(name); first != declared.end() && first->second != source.path)
            renamed[name] = name + "_of_" + word_of(source.display);
    }
    std::string before, after;
    for (const auto &[name, other] : renamed) {
      before += "#define " + name + " " + other + "\n";
      after += "#undef " + name + "\n";
    }
    return before + text + after;
  }

  static std::string word_of(std::string name) {
    std::ranges::replace_if(name, [](char c) { return !is_word(c); }, '_');
    return name;
  }

  ItemPlaces chosen_places() const {
    ItemPlaces places;
    for (std::size_t i = 0; i < inventory_.items.size(); ++i)
      if (chosen_[i])
        places.emplace(inventory_.files[inventory_.items[i].file]->path, inventory_.items[i].range.begin);
    return places;
  }

  /// Names of device functions that chosen text declares and the unit does not define.
  std::set<std::string> undefined() const {
    std::set<std::string> names;
    for (std::size_t i = 0; i < inventory_.items.size(); ++i)
      for (const clang::Decl *declaration : inventory_.items[i].declarations)
        if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
            chosen_[i] && function && function->hasAttr<clang::CUDADeviceAttr>() && !function->isDefined() &&
            !llvm::isa<clang::CXXMethodDecl>(function))
          names.insert(function->getQualifiedNameAsString());
    return names;
  }

  /// The text of device functions that other units of the program define, which its build links to this one.
  Result<std::string> linked() {
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
        for (const clang::FunctionDecl *function : definitions_of(name, other->context().getTranslationUnitDecl())) {
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

  static std::vector<const clang::FunctionDecl *> definitions_of(const std::string &name, const clang::DeclContext *context) {
    std::vector<const clang::FunctionDecl *> found;
    for (const clang::Decl *declaration : context->noload_decls()) {
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
        if (function->doesThisDeclarationHaveABody() && function->hasAttr<clang::CUDADeviceAttr>() &&
            function->getQualifiedNameAsString() == name)
          found.push_back(function);
      } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
        std::ranges::move(definitions_of(name, llvm::dyn_cast<clang::DeclContext>(declaration)), std::back_inserter(found));
      }
    }
    return found;
  }

  /// Leaves out other kernels of the kernel's name, because a launch by name must find exactly one.
  void leave_out_overloads(const clang::NamedDecl &kernel) {
    for (Item &item : inventory_.items)
      for (const clang::Decl *declaration : item.declarations)
        if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
          item.is_host_only |= function->hasAttr<clang::CUDAGlobalAttr>() &&
                               function->getDeclName() == kernel.getDeclName() &&
                               function->getCanonicalDecl() != kernel.getCanonicalDecl() &&
                               function->getTemplateSpecializationKind() == clang::TSK_Undeclared;
  }

  /// Types of template arguments: launches name them, and the template's own text may not.
  void need_arguments(const clang::FunctionDecl &kernel) {
    if (const clang::FunctionTemplateDecl *pattern = kernel.getDescribedFunctionTemplate())
      for (const clang::FunctionDecl *instance : pattern->specializations())
        if (const auto *arguments = instance->getTemplateSpecializationArgs())
          need(arguments->asArray());
  }

  void need(llvm::ArrayRef<clang::TemplateArgument> arguments) {
    for (const clang::TemplateArgument &argument : arguments)
      if (argument.getKind() == clang::TemplateArgument::Type)
        need(argument.getAsType());
      else if (argument.getKind() == clang::TemplateArgument::Integral)
        need(argument.getIntegralType());
      else if (argument.getKind() == clang::TemplateArgument::Pack)
        need(argument.getPackAsArray());
  }

  void need(clang::QualType type) {
    type = type.getNonReferenceType();
    while (type->isPointerType() || type->isArrayType())
      type = clang::QualType(type->getPointeeOrArrayElementType(), 0);
    const clang::TagDecl *tag = type->getAsTagDecl();
    for (const clang::DeclContext *context = tag; llvm::isa_and_nonnull<clang::TagDecl>(context); context = context->getParent())
      needed_.insert(llvm::cast<clang::TagDecl>(context)->getNameAsString());
    if (const auto *instance = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(tag))
      need(instance->getTemplateArgs().asArray());
  }

  static bool holds(const clang::Decl *declaration, const clang::NamedDecl &kernel) {
    if (declaration == &kernel)
      return true;
    const auto *templated = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration);
    return templated && templated->getTemplatedDecl() == &kernel;
  }

  std::vector<Piece> pieces_of(std::size_t file) const {
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

  /// The item's text without what its edits remove.
  std::vector<Range> kept_ranges(const Item &item) const {
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

  void choose(std::size_t index) {
    if (chosen_[index])
      return;
    chosen_[index] = true;
    const Item &item = inventory_.items[index];
    for (const Range range : kept_ranges(item))
      collect_identifiers(*inventory_.files[item.file], range, needed_);
    for (const std::string &name : item.names)
      needed_.insert(name);
  }

  bool is_needed(const Item &item) const {
    if (item.is_using || (item.is_host_only && side_ == Side::Device))
      return false;
    if (variant_scope_ && std::ranges::find(item.scopes, *variant_scope_) != item.scopes.end())
      return false;
    auto needed = [&](const std::string &name) { return needed_.contains(name); };
    return std::ranges::any_of(item.names, needed) || std::ranges::any_of(item.operands, needed);
  }

  void close() {
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

  // ---- errors

  Result<void> check(const clang::NamedDecl &kernel) {
    const std::string what = "cannot slice " + kernel.getNameAsString() + ": ";
    for (std::size_t i = 0; i < inventory_.items.size(); ++i)
      if (chosen_[i])
        if (Result<void> checked = check_std(what, inventory_.items[i]); !checked)
          return checked;
    return check_host_names(what);
  }

  std::string place(const Item &item, std::size_t offset) const {
    const SourceText &source = *inventory_.files[item.file];
    return source.display + " line " + std::to_string(LineIndex(source.text).line_of(offset) + 1);
  }

  Result<void> check_std(const std::string &what, const Item &item) {
    Result<void> result;
    for (const Range range : kept_ranges(item))
      for_each_std(*inventory_.files[item.file], range, [&](const std::string &name, std::size_t offset) {
        if (is_supported_std(name))
          std_names_.insert(name);
        else if (result)
          result = fail(what + "it needs std::" + name + " (" + place(item, offset) +
                            "), which device code does not have when compiled at run time",
                        "Write it out, or use cuda::std::" + name);
      });
    return result;
  }

  /// Fails if chosen device functions use host functions or host variables.
  Result<void> check_host_names(const std::string &what) const {
    HostItems host;
    for (const Item &item : inventory_.items)
      if (item.is_host_only)
        for (const clang::Decl *declaration : item.declarations)
          host[declaration->getCanonicalDecl()] = &item;
    for (std::size_t i = 0; i < inventory_.items.size(); ++i) {
      if (!chosen_[i])
        continue;
      const auto use = host_use(inventory_.items[i], host);
      if (!use)
        continue;
      const Item &declared = *host.at(use->first->getCanonicalDecl());
      const std::string name = use->first->getNameAsString();
      const auto at = unit_.sources().getFileOffset(unit_.sources().getExpansionLoc(use->second));
      return fail(what + "it uses " + name + " (" + place(inventory_.items[i], at) +
                      "), which exists on the host only (declared at " +
                      place(declared, declared.range.begin) + ")",
                  declared.is_function ? "Mark " + name + " __device__"
                                       : "Make " + name + " constexpr, or pass it to the kernel");
    }
    return {};
  }

  static std::optional<std::pair<const clang::NamedDecl *, clang::SourceLocation>>
  host_use(const Item &item, const HostItems &host) {
    HostUse visitor(host);
    if (item.is_function)
      for (const clang::Decl *declaration : item.declarations)
        visitor.TraverseDecl(const_cast<clang::Decl *>(declaration));
    return visitor.found;
  }

  // ---- output

  std::string preamble() const {
    std::set<std::string> defined = macros_;
    defined.insert(linked_names_.begin(), linked_names_.end());
    for (std::size_t i = 0; i < inventory_.items.size(); ++i)
      if (chosen_[i])
        defined.insert(inventory_.items[i].names.begin(), inventory_.items[i].names.end());
    std::string text;
    for (const std::string &define : inventory_.command_line_macros) {
      const std::string name = define.substr(8, define.find_first_of(" (", 8) - 8);
      if (needed_.contains(name))
        text += "#ifndef " + name + "\n" + define + "\n#endif\n";
    }
    for (const auto &[header, marker] :
         {std::pair("cuda_fp16.h", "half"), std::pair("cuda_bf16.h", "bfloat16")})
      if (!includes(header) && std::ranges::any_of(needed_, [&](const std::string &name) {
            return is_type_of_header(name, marker);
          }))
        text += "#include <" + std::string(header) + ">\n";
    return text + compatibility_declarations(needed_, std_names_, defined);
  }

  static bool is_type_of_header(std::string_view name, std::string_view marker) {
    if (marker == "half")
      return name == "__half" || name == "half" || name == "__half2" || name == "half2";
    return name == "__nv_bfloat16" || name == "__nv_bfloat162" || name == "nv_bfloat16" ||
           name == "nv_bfloat162";
  }

  bool includes(std::string_view header) const {
    for (const auto &file : inventory_.files)
      for (const Directive &directive : file->directives)
        if (directive.kind == DirectiveKind::Include && directive.name == header && uses_header(header))
          return true;
    return false;
  }

  /// Whether the chosen text uses names of a toolkit header. An unused header is costly: cub takes
  /// a second to compile.
  bool uses_header(std::string_view header) const {
    static const std::pair<std::string_view, std::vector<std::string_view>> kMarkers[] = {
        {"cuda_fp16", {"half"}},
        {"cuda_bf16", {"bfloat16", "bf16"}},
        {"cuda_fp8", {"fp8", "e4m3", "e5m2"}},
        {"mma.h", {"wmma", "nvcuda"}},
        {"cooperative_groups", {"cooperative_groups"}},
        {"cub/", {"cub", "Block", "Warp"}},
        {"curand", {"curand"}},
        {"math_constants", {"CUDART_"}},
        {"cuda_pipeline", {"pipeline"}},
        {"cuComplex", {"cu"}}};
    for (const auto &[prefix, words] : kMarkers)
      if (header.starts_with(prefix))
        return std::ranges::any_of(needed_, [&](const std::string &name) {
          return std::ranges::any_of(words,
                                     [&](std::string_view word) { return name.contains(word); });
        });
    return true;
  }

  /// A condition in terms of a macro that NVRTC has, too.
  static std::string for_nvrtc(std::string condition) {
    constexpr std::string_view kCompiler = "__NVCC__";
    for (std::size_t at = 0; (at = condition.find(kCompiler, at)) != std::string::npos;)
      condition.replace(at, kCompiler.size(), "__CUDACC__");
    return condition;
  }

  std::string emit_file(std::size_t file) {
    std::size_t position = 0;
    std::string text;
    while (position < pieces_[file].size()) {
      text += emit_pieces(file, position);
      ++position; // skips an #endif or #else without its #if
    }
    return text;
  }

  /// Emits pieces up to the directive that ends the enclosing branch; `position` then refers to it.
  std::string emit_pieces(std::size_t file, std::size_t &position) {
    std::string text;
    while (position < pieces_[file].size()) {
      const Piece &piece = pieces_[file][position];
      if (!piece.directive) {
        text += emit_item(inventory_.items[piece.item]);
        ++position;
      } else if (piece.directive->kind == DirectiveKind::If) {
        text += emit_conditional(file, position);
      } else if (piece.directive->kind == DirectiveKind::Elif || piece.directive->kind == DirectiveKind::Else ||
                 piece.directive->kind == DirectiveKind::Endif) {
        return text;
      } else {
        text += emit_directive(file, *piece.directive);
        ++position;
      }
    }
    return text;
  }

  std::string emit_conditional(std::size_t file, std::size_t &position) {
    struct Branch {
      const Directive *directive;
      std::string text;
      bool has_items = false;
      Range range;
    };
    std::vector<Branch> branches;
    const Directive *end = nullptr;
    while (position < pieces_[file].size()) {
      const Directive *directive = pieces_[file][position].directive;
      ++position;
      if (directive->kind == DirectiveKind::Endif) {
        end = directive;
        break;
      }
      const std::size_t first = position;
      Branch branch{directive, emit_pieces(file, position), false, {directive->range.end, 0}};
      for (std::size_t i = first; i < position; ++i)
        branch.has_items = branch.has_items || !pieces_[file][i].directive;
      branch.range.end = position < pieces_[file].size() ? pieces_[file][position].offset()
                                                         : inventory_.files[file]->text.size();
      branches.push_back(std::move(branch));
    }
    if (std::ranges::all_of(branches, [](const Branch &branch) { return branch.text.empty(); }))
      return {};
    if (is_linked_ && is_include_guard(file, *branches.front().directive))
      return branches.front().text; // another unit may have included it before
    const bool has_items = std::ranges::any_of(
        branches, [](const Branch &b) { return b.has_items && !b.text.empty(); });
    std::string text;
    for (const Branch &branch : branches) {
      collect_identifiers(*inventory_.files[file], branch.directive->range, needed_);
      text += for_nvrtc(std::string(inventory_.files[file]->of(branch.directive->range))) + "\n";
      text += has_items && !branch.has_items ? branch_not_taken(file, branch.range) : branch.text;
    }
    return text + (end ? std::string(inventory_.files[file]->of(end->range)) : "#endif") + "\n";
  }

  /// Returns true for the #ifndef NAME that #define NAME follows.
  bool is_include_guard(std::size_t file, const Directive &directive) const {
    const auto &directives = inventory_.files[file]->directives;
    const auto at = std::ranges::find_if(directives, [&](const Directive &one) { return &one == &directive; });
    return at != directives.end() && at + 1 != directives.end() && (at + 1)->kind == DirectiveKind::Define &&
           !directive.name.empty() && (at + 1)->name == directive.name;
  }

  /// The text of a branch next to a chosen declaration. This parse skipped it, but another compiler
  /// may take it.
  std::string branch_not_taken(std::size_t file, Range range) {
    const SourceText &source = *inventory_.files[file];
    const std::size_t first = token_at(source, range.begin);
    if (first >= source.tokens.size() || source.tokens[first].range.begin >= range.end)
      return {};
    collect_identifiers(source, range, needed_);
    return line_marker(source, source.tokens[first].range.begin) +
           std::string(source.of(Range{source.tokens[first].range.begin, range.end})) + "\n";
  }

  std::string emit_directive(std::size_t file, const Directive &directive) {
    const SourceText &source = *inventory_.files[file];
    switch (directive.kind) {
    case DirectiveKind::Include: {
      if (is_device_header(directive.name) && side_ == Side::Device)
        return directive.name == "cub/cub.cuh" ? cub_includes(needed_)
               : uses_header(directive.name)   ? "#include <" + directive.name + ">\n"
                                               : "";
      const auto child = source.includes.find(directive.range.begin);
      return child == source.includes.end() ? "" : emit_file(child->second);
    }
    case DirectiveKind::Define:
    case DirectiveKind::Undef:
      return needed_.contains(directive.name) ? std::string(source.of(directive.range)) + "\n" : "";
    default:
      return {};
    }
  }

  static std::string line_marker(const SourceText &source, std::size_t offset) {
    std::string name;
    for (char c : source.display)
      name += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return "#line " + std::to_string(LineIndex(source.text).line_of(offset) + 1) + " \"" + name +
           "\"\n";
  }

  std::string emit_item(const Item &item) const {
    const std::size_t index = &item - inventory_.items.data();
    if (item.is_using ? !is_used_namespace(*item.names.begin()) : !chosen_[index])
      return {};
    const SourceText &source = *inventory_.files[item.file];
    if (others_.contains({source.path, item.range.begin}))
      return {};
    std::vector<TextEdit> edits = side_ == Side::Device ? item.edits : std::vector<TextEdit>();
    for (TextEdit &edit : edits)
      edit.range = {edit.range.begin - item.range.begin, edit.range.end - item.range.begin};
    const Result<std::string> text = apply_edits(source.of(item.range), edits);
    std::string before, after;
    for (const std::string &scope : item.scopes) {
      before += scope + "\n";
      after += "}\n";
    }
    return before + line_marker(source, item.range.begin) +
           (text ? *text : std::string(source.of(item.range))) + "\n" + after;
  }

  /// Whether a using directive is kept: its namespace has declarations in the slice.
  bool is_used_namespace(const std::string &name) const {
    if (name == "nvcuda" || name == "cooperative_groups" || name == "cub" || name == "wmma")
      return std::ranges::any_of(inventory_.files, [&](const auto &file) {
        return std::ranges::any_of(file->directives, [&](const Directive &directive) {
          return directive.kind == DirectiveKind::Include && is_device_header(directive.name) &&
                 uses_header(directive.name);
        });
      });
    for (std::size_t i = 0; i < inventory_.items.size(); ++i)
      if (chosen_[i] && std::ranges::count(inventory_.items[i].scopes, "namespace " + name + " {"))
        return true;
    return false;
  }

  const ParsedUnit &unit_;
  const Side side_;
  const std::optional<std::string> variant_scope_;
  Inventory inventory_;
  std::vector<bool> chosen_;
  std::vector<std::vector<Piece>> pieces_;
  std::set<std::string> needed_, macros_, std_names_;
  bool is_linked_ = false;             ///< its text follows that of another unit
  ItemPlaces others_;                  ///< items that the text of other units has
  std::set<std::string> linked_names_; ///< names that other units' text declares
};

} // namespace

Result<std::string> slice_kernel(const ParsedUnit &unit, const clang::FunctionDecl &kernel) {
  return Slicer(unit, Slicer::Side::Device).run(kernel);
}

Result<std::string> slice_host(const ParsedUnit &unit, const clang::NamedDecl &declaration) {
  const std::string scope = "namespace warpwright_" + declaration.getNameAsString() + " {";
  return Slicer(unit, Slicer::Side::Host, scope).run(declaration);
}

} // namespace warpwright::analysis
