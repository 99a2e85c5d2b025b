// Errors for names that device code of a slice cannot use; see slicer.h.
#include "analysis/slicer/compatibility.h"
#include "analysis/slicer/slicer.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace warpwright::analysis::slicer {
namespace {

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

std::optional<std::pair<const clang::NamedDecl *, clang::SourceLocation>>
host_use(const Item &item, const HostItems &host) {
  HostUse visitor(host);
  if (item.is_function)
    for (const clang::Decl *declaration : item.declarations)
      visitor.TraverseDecl(const_cast<clang::Decl *>(declaration));
  return visitor.found;
}

} // namespace

Result<void> Slicer::check(const clang::NamedDecl &kernel) {
  const std::string what = "cannot slice " + kernel.getNameAsString() + ": ";
  for (std::size_t i = 0; i < inventory_.items.size(); ++i)
    if (chosen_[i])
      if (Result<void> checked = check_std(what, inventory_.items[i]); !checked)
        return checked;
  return check_host_names(what);
}

std::string Slicer::place(const Item &item, std::size_t offset) const {
  const SourceText &source = *inventory_.files[item.file];
  return source.display + " line " + std::to_string(LineIndex(source.text).line_of(offset) + 1);
}

Result<void> Slicer::check_std(const std::string &what, const Item &item) {
  Result<void> result;
  for (const Range range : kept_ranges(item))
    for_each_std(
        *inventory_.files[item.file], range, [&](const std::string &name, std::size_t offset) {
          if (is_supported_std(name))
            std_names_.insert(name);
          else if (result)
            result = fail(what + "it needs std::" + name + " (" + place(item, offset) +
                              "), which device code does not have when compiled at run time",
                          "Write it out, or use cuda::std::" + name);
        });
  return result;
}

Result<void> Slicer::check_host_names(const std::string &what) const {
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

} // namespace warpwright::analysis::slicer
