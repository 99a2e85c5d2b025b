// Items and directives of the answer, each taken, known or refused, then put together in their order.
#include "generator/text/source/merge_source.h"

#include "generator/text/source/render.h"

#include <algorithm>
#include <cctype>

namespace warpwright::generator {
namespace {

using analysis::slicer::Directive;
using analysis::slicer::Inventory;
using analysis::slicer::Item;
using analysis::slicer::SourceText;
using Kind = Directive::Kind;

/// Tokens with one space between them: equal for declarations that differ in white space and comments only.
std::string normalized(const SourceText &source, Range range) {
  std::string text;
  for (const auto &token : source.tokens)
    if (token.range.begin >= range.begin && token.range.end <= range.end)
      text += std::string(source.of(token)) + " ";
  return text;
}

/// What of the answer's source goes into the file.
class Merge {
public:
  Merge(const Inventory &file, const Inventory &answer, std::string kernel)
      : file_(file), answer_(answer), kernel_(std::move(kernel)) {}

  Result<void> run(const std::string &answered_kernel) {
    for (const Item &item : answer_.items)
      if (item.file == 0)
        if (auto taken = take(item, answered_kernel); !taken)
          return taken;
    for (const Directive &directive : source().directives)
      if (std::ranges::none_of(answer_.items, [&](const Item &item) {
            return item.file == 0 && item.range.contains(directive.range.begin);
          }))
        if (auto taken = take(directive); !taken)
          return taken;
    if (!has_kernel_)
      return fail("its source does not define " + answered_kernel);
    std::ranges::sort(pieces_, {}, [](const Piece &piece) { return piece.range.begin; });
    return {};
  }

  const std::string &includes() const { return includes_; }
  /// The declarations, with the answer's kernel under the user's name.
  std::string text(const std::string &answered_kernel) const {
    std::string text;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      text += (i == 0                                                   ? ""
               : pieces_[i].is_directive && pieces_[i - 1].is_directive ? "\n"
                                                                        : "\n\n") +
              with_comment(i);
    return answered_kernel == kernel_ ? text : rename(text, answered_kernel, kernel_);
  }

private:
  struct Piece {
    Range range;
    bool is_directive = false;
  };

  const SourceText &source() const { return *answer_.files.front(); }

  Result<void> take(const Item &item, const std::string &answered_kernel) {
    const bool is_kernel = item.names.contains(answered_kernel);
    has_kernel_ |= is_kernel;
    if (item.is_host_only)
      return fail("its source holds host code");
    if (std::ranges::any_of(item.scopes,
                            [](const std::string &scope) { return !scope.starts_with("extern"); }))
      return fail("its source has namespaces of its own");
    if (!is_kernel) {
      auto known = is_known(item);
      if (!known || *known)
        return known ? Result<void>() : std::unexpected(known.error());
    } else if (answered_kernel != kernel_ && mentions(source().of(item.range), kernel_)) {
      return fail("its kernel uses the name " + kernel_ + " for something else");
    }
    Range range = item.range;
    constexpr std::string_view kExternC = "extern \"C\"";
    if (source().of(range).starts_with(
            kExternC)) { // the launch names it, so its linkage is the user's
      range.begin += kExternC.size();
      while (range.begin < range.end &&
             std::isspace(static_cast<unsigned char>(source().text[range.begin])))
        ++range.begin;
    }
    pieces_.push_back({range});
    return {};
  }

  /// Whether the file declares it alike. Errors: it declares something else of that name.
  Result<bool> is_known(const Item &item) const {
    bool known = false;
    for (const Item &other : file_.items)
      for (const std::string &name : item.names) {
        if (!other.names.contains(name))
          continue;
        known =
            normalized(*file_.files[other.file], other.range) == normalized(source(), item.range);
        if (!known)
          return fail("the file declares another " + name);
      }
    return known;
  }

  Result<void> take(const Directive &directive) {
    const std::string_view text = source().of(directive.range);
    if (text.starts_with("#line") || text.starts_with("#pragma once"))
      return {};
    if (directive.kind != Kind::Include && directive.kind != Kind::Define)
      return fail("its source has preprocessor conditions");
    for (const auto &file : file_.files)
      for (const Directive &other : file->directives)
        if (other.kind == directive.kind && other.name == directive.name) {
          if (directive.kind == Kind::Define && file->of(other.range) != text)
            return fail("the file defines another " + directive.name);
          return {};
        }
    if (directive.kind == Kind::Include)
      includes_ += std::string(text) + "\n";
    else
      pieces_.push_back({directive.range, true});
    return {};
  }

  /// A piece with the comment that stands before it.
  std::string with_comment(std::size_t index) const {
    const Range range = pieces_[index].range;
    std::size_t before = 0;
    for (const Item &item : answer_.items)
      if (item.file == 0 && item.range.end <= range.begin)
        before = std::max(before, item.range.end);
    for (const Directive &directive : source().directives)
      if (directive.range.end <= range.begin)
        before = std::max(before, directive.range.end);
    const std::string_view gap = source().of(Range{before, range.begin});
    const std::size_t comment = std::min(gap.find("//"), gap.find("/*"));
    const bool is_comment =
        comment != std::string_view::npos && gap.find_first_not_of(" \t\r\n") == comment;
    return std::string(is_comment ? gap.substr(comment) : "") + std::string(source().of(range));
  }

  const Inventory &file_, &answer_;
  std::string kernel_, includes_;
  std::vector<Piece> pieces_;
  bool has_kernel_ = false;
};

} // namespace

Result<MergedSource> merge_source(const Inventory &file, const Inventory &answer,
                                  const std::string &kernel, const std::string &answered) {
  Merge merge(file, answer, kernel);
  if (auto merged = merge.run(answered); !merged)
    return std::unexpected(merged.error());
  return MergedSource{merge.text(answered), merge.includes()};
}

} // namespace warpwright::generator
