// Walk over the declarations of the translation unit, and their text.
//
// Host functions are kept as host-only items, so an error can name the one that a kernel calls.
// Unannotated members and constexpr functions get `__host__ __device__`: nvcc accepts them in
// device code (members only in constant expressions), but NVRTC and Clang reject them. Thread: the
// unit's thread.
#include "analysis/slicer/declarations.h"
#include "analysis/slicer/compatibility.h"
#include "analysis/slicer/constants.h"
#include "analysis/stub/stub_headers.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <map>

namespace warpwright::analysis::slicer {
namespace {

using clang::Decl;

constexpr std::string_view kAnnotation = "__host__ __device__ ";

template <class Attribute>
bool has_explicit(const Decl *declaration) {
  const auto *attribute = declaration->getAttr<Attribute>();
  return attribute && !attribute->isImplicit();
}

bool is_annotated(const Decl *function) {
  return has_explicit<clang::CUDADeviceAttr>(function) ||
         has_explicit<clang::CUDAHostAttr>(function) ||
         has_explicit<clang::CUDAGlobalAttr>(function);
}

bool is_device_function(const clang::FunctionDecl *function) {
  return function->hasAttr<clang::CUDADeviceAttr>() || function->hasAttr<clang::CUDAGlobalAttr>() ||
         function->isConstexpr();
}

bool is_device_variable(const clang::VarDecl *variable) {
  if (variable->hasAttr<clang::CUDADeviceAttr>() || variable->hasAttr<clang::CUDAConstantAttr>() ||
      variable->hasAttr<clang::CUDASharedAttr>() || variable->isConstexpr())
    return true;
  const clang::QualType type = variable->getType();
  return type.isConstQualified() &&
         (type->isArithmeticType() || type->isEnumeralType() || type->isDependentType());
}

const clang::FunctionDecl *function_of(const Decl *declaration) {
  if (const auto *templated = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration))
    return templated->getTemplatedDecl();
  return llvm::dyn_cast<clang::FunctionDecl>(declaration);
}

/// Finds calls of functions that exist on the host only.
struct HostCalls : clang::RecursiveASTVisitor<HostCalls> {
  static bool is_host(const clang::NamedDecl *declaration) {
    const clang::FunctionDecl *function = function_of(declaration->getUnderlyingDecl());
    return function && !llvm::isa<clang::CXXMethodDecl>(function) && !is_device_function(function) &&
           function->getBuiltinID() == 0 && !function->isInStdNamespace();
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    found |= is_host(reference->getDecl());
    return !found;
  }
  bool VisitOverloadExpr(clang::OverloadExpr *overloads) {
    found |= !overloads->decls().empty() && std::ranges::all_of(overloads->decls(), is_host);
    return !found;
  }

  bool found = false;
};

class Collector {
public:
  explicit Collector(const ParsedUnit &unit) : unit_(unit), sources_(unit.sources()) {
    const clang::FileID main = sources_.getMainFileID();
    const clang::OptionalFileEntryRef entry = sources_.getFileEntryRefForID(main);
    if (main == unit.file_id() || !entry)
      add_file(unit.file().path, std::string(unit.text()));
    else
      add_file(entry->getName().str(), sources_.getBufferData(main).str());
    scan_includes(0);
  }

  Inventory run() {
    walk(unit_.context().getTranslationUnitDecl(), {});
    add_namespace_names();
    merge_items();
    read_command_line();
    return std::move(inventory_);
  }

private:
  std::size_t add_file(const std::string &path, std::string text) {
    const bool is_main = inventory_.files.empty();
    const std::size_t slash = path.find_last_of('/');
    std::string display = slash == std::string::npos ? path : path.substr(slash + 1);
    inventory_.files.push_back(
        std::make_unique<SourceText>(read_source(path, std::move(display), std::move(text))));
    by_path_[path] = inventory_.files.size() - 1;
    return is_main ? 0 : inventory_.files.size() - 1;
  }

  /// Follows the user's includes. Each file is read once, at its first include.
  void scan_includes(std::size_t index) {
    const std::vector<Directive> directives = inventory_.files[index]->directives;
    for (const Directive &directive : directives) {
      if (directive.kind != Directive::Kind::Include || directive.name.empty() ||
          is_device_header(directive.name))
        continue;
      const auto file = find_include(*inventory_.files[index], directive);
      if (!file) {
        if (directive.is_quoted)
          inventory_.missing_headers.insert(directive.name);
        continue;
      }
      if (by_path_.contains(file->first))
        continue;
      const std::size_t child = add_file(file->first, file->second);
      inventory_.files[index]->includes[directive.range.begin] = child;
      scan_includes(child);
    }
  }

  /// Path and text of a user header that the parse read or could have read.
  std::optional<std::pair<std::string, std::string>> find_include(const SourceText &from,
                                                                  const Directive &directive) {
    // The table is copied: a request for a file of a precompiled preamble loads the file, which
    // changes the table during iteration.
    std::vector<clang::FileEntryRef> entries;
    for (auto it = sources_.fileinfo_begin(); it != sources_.fileinfo_end(); ++it)
      entries.push_back(it->first);
    for (const clang::FileEntryRef &entry : entries) {
      const llvm::StringRef path = entry.getName();
      if (!is_user_path(path) || !path.ends_with(llvm::StringRef(directive.name).ltrim("./")) ||
          path == from.path)
        continue;
      if (const clang::FileID id = sources_.translateFile(entry);
          id.isValid() && clang::SrcMgr::isSystem(
                              sources_.getFileCharacteristic(sources_.getLocForStartOfFile(id))))
        continue;
      if (auto buffer =
              const_cast<clang::SourceManager &>(sources_).getMemoryBufferForFileOrNone(entry))
        return std::pair(path.str(), buffer->getBuffer().str());
    }
    return std::nullopt;
  }

  static bool is_user_path(llvm::StringRef path) {
    return !path.starts_with(llvm::StringRef(kStubDirectory));
  }

  /// Index of the user file that contains a location (the expansion location for macros).
  std::optional<std::size_t> file_of(clang::SourceLocation location) const {
    const clang::FileID id = sources_.getFileID(sources_.getExpansionLoc(location));
    if (id == sources_.getMainFileID())
      return 0;
    const clang::OptionalFileEntryRef entry = sources_.getFileEntryRefForID(id);
    if (!entry)
      return std::nullopt;
    const auto found = by_path_.find(entry->getName().str());
    return found == by_path_.end() ? std::nullopt : std::optional(found->second);
  }

  std::size_t offset_of(clang::SourceLocation location) const {
    return sources_.getFileOffset(sources_.getExpansionLoc(location));
  }

  void walk(const clang::DeclContext *context, const std::vector<std::string> &scopes) {
    for (const Decl *declaration : context->noload_decls()) {
      if (declaration->isImplicit() || declaration->getLocation().isInvalid() ||
          !file_of(declaration->getLocation()))
        continue;
      std::vector<std::string> inner = scopes;
      if (const auto *space = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) {
        inner.push_back(std::string(space->isInline() ? "inline " : "") + "namespace " +
                        space->getNameAsString() + " {");
        walk(space, inner);
      } else if (const auto *linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration)) {
        if (linkage->hasBraces())
          inner.push_back("extern \"C\" {");
        walk(linkage, inner);
      } else {
        add_item(declaration, scopes);
      }
    }
  }

  void add_item(const Decl *declaration, const std::vector<std::string> &scopes) {
    Item item;
    item.scopes = scopes;
    item.declarations.push_back(declaration);
    item.file = *file_of(declaration->getLocation());
    if (!describe(declaration, item))
      return;
    item.range = extent_of(declaration, item);
    if (item.range.size() == 0)
      return;
    if (!declaration->getLocation().isMacroID())
      add_edits(declaration, item);
    inventory_.items.push_back(std::move(item));
  }

  static const clang::VarDecl *variable_of(const Decl *declaration) {
    if (const auto *templated = llvm::dyn_cast<clang::VarTemplateDecl>(declaration))
      return templated->getTemplatedDecl();
    return llvm::dyn_cast<clang::VarDecl>(declaration);
  }

  /// Sets the names and the kind of an item. Returns false for declarations that slices never need.
  bool describe(const Decl *declaration, Item &item) const {
    if (const auto *directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(declaration)) {
      item.is_using = true;
      item.names.insert(directive->getNominatedNamespaceAsWritten()->getNameAsString());
      return true;
    }
    const auto *named = llvm::dyn_cast<clang::NamedDecl>(declaration);
    if (!named || is_explicit_instantiation(declaration))
      return false;
    item.names.insert(named->getNameAsString());
    if (const clang::FunctionDecl *function = function_of(declaration)) {
      item.is_function = true;
      item.is_host_only = !is_device_function(function);
      if (const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(function)) {
        item.names = {method->getParent()->getNameAsString()};
        item.is_host_only = item.is_host_only && (is_annotated(function) || calls_host(*declaration, *function, item));
      } else if (function->isOverloadedOperator()) {
        for (const clang::ParmVarDecl *parameter : function->parameters())
          add_type_name(parameter->getType().getNonReferenceType(), item.operands);
      }
    } else if (const clang::VarDecl *variable = variable_of(declaration)) {
      item.is_host_only = !is_device_variable(variable);
    } else if (const auto *enumeration = llvm::dyn_cast<clang::EnumDecl>(declaration)) {
      for (const clang::EnumConstantDecl *enumerator : enumeration->enumerators())
        item.names.insert(enumerator->getNameAsString());
    }
    return true;
  }

  static void add_type_name(clang::QualType type, std::set<std::string> &names) {
    if (const auto *typedef_type = type->getAs<clang::TypedefType>())
      names.insert(typedef_type->getDecl()->getNameAsString());
    if (const auto *tag = type->getAsTagDecl())
      names.insert(tag->getNameAsString());
    if (const auto *specialised = type->getAs<clang::TemplateSpecializationType>())
      if (const clang::TemplateDecl *pattern = specialised->getTemplateName().getAsTemplateDecl())
        names.insert(pattern->getNameAsString());
  }

  static bool is_explicit_instantiation(const Decl *declaration) {
    clang::TemplateSpecializationKind kind = clang::TSK_Undeclared;
    if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
      kind = function->getTemplateSpecializationKind();
    else if (const auto *record =
                 llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(declaration))
      kind = record->getSpecializationKind();
    else if (const auto *variable =
                 llvm::dyn_cast<clang::VarTemplateSpecializationDecl>(declaration))
      kind = variable->getSpecializationKind();
    return kind == clang::TSK_ExplicitInstantiationDeclaration ||
           kind == clang::TSK_ExplicitInstantiationDefinition ||
           kind == clang::TSK_ImplicitInstantiation;
  }

  Range extent_of(const Decl *declaration, const Item &item) const {
    const SourceText &source = *inventory_.files[item.file];
    const clang::FunctionDecl *function = function_of(declaration);
    const bool has_body = function && function->doesThisDeclarationHaveABody();
    if (declaration->getLocation().isMacroID())
      return macro_extent(declaration, source);
    Range range = declaration_around(source, offset_of(declaration->getLocation()), has_body);
    if (has_body && function->getBody() && file_of(function->getBody()->getEndLoc()) == item.file)
      range.end = std::max(range.begin, offset_of(function->getBody()->getEndLoc()) + 1);
    return range;
  }

  /// Range of a macro-generated declaration: the macro's invocation.
  Range macro_extent(const Decl *declaration, const SourceText &source) const {
    const clang::CharSourceRange expansion = sources_.getExpansionRange(declaration->getLocation());
    Range range{sources_.getFileOffset(expansion.getBegin()),
                sources_.getFileOffset(expansion.getEnd()) + 1};
    const std::size_t next = token_at(source, range.end);
    if (next < source.tokens.size() && source.of(source.tokens[next]) == ";")
      range.end = source.tokens[next].range.end;
    return range;
  }

  void add_edits(const Decl *declaration, Item &item) const {
    if (const clang::VarDecl *variable = variable_of(declaration))
      if (const std::string values = constant_initializer(*variable); !values.empty())
        insert(item, variable->getEndLoc(), values, true);
    if (const clang::FunctionDecl *function = function_of(declaration)) {
      annotate(function, item);
      write_compound_literals(function, item);
    }
    const auto *templated = llvm::dyn_cast<clang::ClassTemplateDecl>(declaration);
    annotate_members(templated ? templated->getTemplatedDecl()
                               : llvm::dyn_cast<clang::CXXRecordDecl>(declaration),
                     item);
  }

  /// `(float2){x, y}`, which GNU compilers accept, as `float2{x, y}`.
  void write_compound_literals(const clang::FunctionDecl *function, Item &item) const {
    if (!function->doesThisDeclarationHaveABody() || !function->getBody())
      return;
    std::vector<const clang::Stmt *> open{function->getBody()};
    while (!open.empty()) {
      const clang::Stmt *node = open.back();
      open.pop_back();
      if (const auto *literal = llvm::dyn_cast_or_null<clang::CompoundLiteralExpr>(node);
          literal && literal->getType()->isRecordType()) {
        const clang::SourceLocation start = literal->getLParenLoc(),
                                    type_end = literal->getTypeSourceInfo()->getTypeLoc().getEndLoc(),
                                    values = literal->getInitializer()->getBeginLoc();
        if (start.isFileID() && type_end.isFileID() && values.isFileID() && file_of(start) == item.file) {
          const std::size_t behind =
              offset_of(type_end) + clang::Lexer::MeasureTokenLength(type_end, sources_, unit_.context().getLangOpts());
          item.edits.push_back({{offset_of(start), offset_of(start) + 1}, ""});
          item.edits.push_back({{behind, offset_of(values)}, ""});
        }
      }
      if (node)
        open.insert(open.end(), node->child_begin(), node->child_end());
    }
  }

  void annotate_members(const clang::CXXRecordDecl *record, Item &item) const {
    if (!record || !record->isThisDeclarationADefinition())
      return;
    for (const Decl *member : record->decls()) {
      if (member->isImplicit())
        continue;
      if (const auto *function = function_of(member))
        is_only_for_host(function) ? remove(member, *function, item) : adapt(*member, *function, item);
      if (const auto *friendly = llvm::dyn_cast<clang::FriendDecl>(member); friendly && friendly->getFriendDecl())
        if (const auto *function = function_of(friendly->getFriendDecl()); function && calls_host(*member, *function, item))
          remove(member, *function, item);
      const auto *templated = llvm::dyn_cast<clang::ClassTemplateDecl>(member);
      annotate_members(templated ? templated->getTemplatedDecl()
                                 : llvm::dyn_cast<clang::CXXRecordDecl>(member),
                       item);
    }
  }

  static bool is_only_for_host(const clang::FunctionDecl *function) {
    return has_explicit<clang::CUDAHostAttr>(function) && !has_explicit<clang::CUDADeviceAttr>(function);
  }

  /// Makes an unannotated member usable by the device, or takes what only the host can run.
  void adapt(const Decl &member, const clang::FunctionDecl &function, Item &item) const {
    if (!calls_host(member, function, item))
      return annotate(&function, item);
    if (has_unknown_std(signature_of(member, function, item), item))
      return remove(&member, function, item);
    const Range body = body_of(member, function, item);
    if (body.size() > 0)
      item.edits.push_back({body, ";"});
  }

  /// Returns true if an unannotated function can only run on the host.
  bool calls_host(const Decl &member, const clang::FunctionDecl &function, const Item &item) const {
    if (is_annotated(&function) || function.isConstexpr() || function.isVirtualAsWritten() || function.isDefaulted() ||
        member.getLocation().isMacroID() || file_of(member.getLocation()) != item.file)
      return false;
    if (has_unknown_std(extent_of_member(member, function, item), item))
      return true;
    HostCalls calls;
    calls.TraverseDecl(const_cast<clang::FunctionDecl *>(&function));
    return calls.found;
  }

  bool has_unknown_std(Range range, const Item &item) const {
    bool found = false;
    for_each_std(*inventory_.files[item.file], range,
                 [&](const std::string &name, std::size_t) { found |= !is_supported_std(name); });
    return found;
  }

  Range extent_of_member(const Decl &member, const clang::FunctionDecl &function, const Item &item) const {
    return declaration_around(*inventory_.files[item.file], offset_of(member.getLocation()),
                              function.doesThisDeclarationHaveABody(), ";{}:");
  }

  /// From the initializers of a constructor, or the brace, to the end; empty without a body.
  Range body_of(const Decl &member, const clang::FunctionDecl &function, const Item &item) const {
    const SourceText &source = *inventory_.files[item.file];
    const Range whole = extent_of_member(member, function, item);
    if (!function.doesThisDeclarationHaveABody() || function.getSourceRange().getEnd().isMacroID())
      return {whole.end, whole.end};
    int depth = 0;
    for (std::size_t i = token_at(source, offset_of(function.getLocation())); i < source.tokens.size(); ++i) {
      const Token &token = source.tokens[i];
      if (token.range.begin >= whole.end)
        break;
      const std::string_view text = source.of(token);
      if (depth == 0 && (text == "{" || text == ":"))
        return {token.range.begin, whole.end};
      depth += text == "(" ? 1 : text == ")" ? -1 : 0;
    }
    return {whole.end, whole.end};
  }

  Range signature_of(const Decl &member, const clang::FunctionDecl &function, const Item &item) const {
    return {extent_of_member(member, function, item).begin, body_of(member, function, item).begin};
  }

  /// Removes a member that device code cannot call and that NVRTC refuses.
  void remove(const Decl *member, const clang::FunctionDecl &function, Item &item) const {
    if (member->getLocation().isMacroID() || file_of(member->getLocation()) != item.file)
      return;
    item.edits.push_back({extent_of_member(*member, function, item), ""});
  }

  void annotate(const clang::FunctionDecl *function, Item &item) const {
    const bool is_method = llvm::isa<clang::CXXMethodDecl>(function);
    if (is_annotated(function) || function->isDefaulted() || function->isDeleted() ||
        function->isImplicit() || !(is_method || function->isConstexpr()) ||
        is_explicit_instantiation(function))
      return;
    insert(item, function->getBeginLoc(), std::string(kAnnotation), false);
  }

  void insert(Item &item, clang::SourceLocation location, const std::string &text,
              bool after) const {
    if (location.isInvalid() || location.isMacroID() || file_of(location) != item.file)
      return;
    std::size_t offset = offset_of(location);
    if (after)
      offset += clang::Lexer::MeasureTokenLength(location, sources_, unit_.context().getLangOpts());
    item.edits.push_back({{offset, offset}, text});
  }

  /// Adds `namespace cg = cooperative_groups;` and `using namespace nvcuda;` by their tokens. The
  /// parser drops them if it does not know the namespace, as in the stub pass.
  void add_namespace_names() {
    const SourceText &source = *inventory_.files[0];
    for (std::size_t i = 0; i + 2 < source.tokens.size(); ++i) {
      const bool is_alias =
          source.of(source.tokens[i]) == "namespace" && source.of(source.tokens[i + 2]) == "=";
      const bool is_using =
          source.of(source.tokens[i]) == "using" && source.of(source.tokens[i + 1]) == "namespace";
      if (source.tokens[i].in_directive || !(is_alias || is_using))
        continue;
      Item item;
      item.range = declaration_around(source, source.tokens[i].range.begin, false);
      if (std::ranges::any_of(inventory_.items, [&](const Item &other) {
            return other.file == 0 && other.range.begin < item.range.end &&
                   item.range.begin < other.range.end;
          }))
        continue;
      item.is_using = is_using;
      item.names.emplace(source.of(source.tokens[is_using ? i + 2 : i + 1]));
      inventory_.items.push_back(std::move(item));
    }
  }

  /// Merges declarations that share text into one item.
  void merge_items() {
    auto &items = inventory_.items;
    std::ranges::stable_sort(items, [](const Item &a, const Item &b) {
      return std::tie(a.file, a.range.begin) < std::tie(b.file, b.range.begin);
    });
    std::vector<Item> merged;
    for (Item &item : items) {
      if (merged.empty() || merged.back().file != item.file ||
          merged.back().range.end <= item.range.begin) {
        merged.push_back(std::move(item));
        continue;
      }
      Item &last = merged.back();
      last.range.end = std::max(last.range.end, item.range.end);
      last.names.merge(item.names);
      last.operands.merge(item.operands);
      last.is_host_only = last.is_host_only && item.is_host_only;
      last.edits.insert(last.edits.end(), item.edits.begin(), item.edits.end());
      last.declarations.insert(last.declarations.end(), item.declarations.begin(),
                               item.declarations.end());
    }
    items = std::move(merged);
  }

  /// Reads the -D flags from Clang's predefines buffer, where they are between two line markers.
  void read_command_line() {
    for (unsigned i = 1; i < sources_.local_sloc_entry_size(); ++i) {
      const clang::SrcMgr::SLocEntry &entry = sources_.getLocalSLocEntry(i);
      if (!entry.isFile())
        continue;
      const auto buffer = entry.getFile().getContentCache().getBufferIfLoaded();
      if (!buffer || buffer->getBufferIdentifier() != "<built-in>")
        continue;
      auto [before, command_line] = buffer->getBuffer().split("# 1 \"<command line>\" 1");
      llvm::SmallVector<llvm::StringRef> lines;
      command_line.split("# 1 \"<built-in>\" 2").first.split(lines, '\n');
      for (llvm::StringRef line : lines)
        if (line.starts_with("#define "))
          inventory_.command_line_macros.push_back(line.str());
      return;
    }
  }

  const ParsedUnit &unit_;
  const clang::SourceManager &sources_;
  Inventory inventory_;
  std::map<std::string, std::size_t> by_path_;
};

} // namespace

bool is_device_header(std::string_view include) {
  static constexpr std::string_view kPrefixes[] = {"cuda_fp",
                                                   "cuda_bf16",
                                                   "mma.h",
                                                   "cooperative_groups",
                                                   "cub/",
                                                   "cuda/",
                                                   "curand_kernel.h",
                                                   "curand_",
                                                   "math_constants.h",
                                                   "cuda_pipeline",
                                                   "cuda_awbarrier",
                                                   "cuComplex.h",
                                                   "vector_functions.h",
                                                   "nv/target"};
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return include.starts_with(prefix); });
}

Inventory take_inventory(const ParsedUnit &unit) { return Collector(unit).run(); }

} // namespace warpwright::analysis::slicer
