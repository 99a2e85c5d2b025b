// Choice of the answer's declarations and directives, each taken, known or refused; see
// merge_source.h.
#include "generator/text/source/merge_source.h"

#include "analysis/slicer/declarations.h"

#include <algorithm>

namespace warpwright::source {
namespace {

using analysis::slicer::Directive;
using analysis::slicer::Inventory;
using analysis::slicer::Item;
using analysis::slicer::SourceText;
using analysis::slicer::take_inventory;
using Kind = Directive::Kind;

/// Tokens separated by single spaces, so that declarations that differ only in white space and
/// comments are equal.
std::string normalized(const SourceText &source, Range range) {
  std::string text;
  for (const auto &token : source.tokens)
    if (token.range.begin >= range.begin && token.range.end <= range.end)
      text += std::string(source.of(token)) + " ";
  return text;
}

/// The declaration in the inventory's own file that contains an offset; null when there is none.
const Item *item_at(const Inventory &inventory, std::size_t offset) {
  for (const Item &item : inventory.items)
    if (item.file == 0 && item.range.contains(offset))
      return &item;
  return nullptr;
}

/// The place of a new include: after the file's last one before `kernel`, else the file's start.
std::size_t include_place(const SourceText &file, std::size_t kernel) {
  std::size_t place = 0;
  for (const Directive &directive : file.directives)
    if (directive.kind == Kind::Include && directive.range.end < kernel)
      place = std::min(file.text.find('\n', directive.range.end), file.text.size() - 1) + 1;
  return place;
}

class Merge {
public:
  Merge(const Inventory &file, const Inventory &answer, std::string kernel, std::string answered)
      : file_(file), answer_(answer), kernel_(std::move(kernel)), answered_(std::move(answered)) {}

  Result<void> run() {
    for (const Item &item : answer_.items)
      if (item.file == 0)
        if (auto taken = take(item); !taken)
          return taken;
    for (const Directive &directive : source().directives)
      if (!item_at(answer_, directive.range.begin))
        if (auto taken = take(directive); !taken)
          return taken;
    if (!has_kernel_)
      return fail("its source does not define " + answered_);
    std::ranges::sort(pieces_, {}, [](const Piece &piece) { return piece.range.begin; });
    return {};
  }

  const std::string &includes() const { return includes_; }
  /// The declarations, with the answer's kernel under the user's name.
  std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const bool directives = i > 0 && pieces_[i].is_directive && pieces_[i - 1].is_directive;
      text += (i == 0 ? "" : directives ? "\n" : "\n\n") + with_comment(pieces_[i].range);
    }
    return answered_ == kernel_ ? text : rename(text, answered_, kernel_);
  }

private:
  struct Piece {
    Range range;
    bool is_directive = false;
  };

  const SourceText &source() const { return *answer_.files.front(); }

  Result<void> take(const Item &item) {
    const bool is_kernel = item.names.contains(answered_);
    has_kernel_ |= is_kernel;
    if (item.is_host_only)
      return fail("its source holds host code");
    if (std::ranges::any_of(item.scopes,
                            [](const std::string &scope) { return !scope.starts_with("extern"); }))
      return fail("its source declares namespaces");
    if (!is_kernel) {
      auto known = is_known(item);
      if (!known || *known)
        return known ? Result<void>() : std::unexpected(known.error());
    } else if (answered_ != kernel_ && mentions(source().of(item.range), kernel_)) {
      return fail("its kernel uses the name " + kernel_ + " for something else");
    }
    Range range = item.range;
    constexpr std::string_view kExternC = "extern \"C\"";
    if (source().of(range).starts_with(kExternC)) // keep the user's linkage
      range.begin = std::min(
          range.end, source().text.find_first_not_of(" \t\n\v\f\r", range.begin + kExternC.size()));
    pieces_.push_back({range});
    return {};
  }

  /// True if the file has the same declaration. Errors: the file declares something else of that name.
  Result<bool> is_known(const Item &item) const {
    const std::string text = normalized(source(), item.range);
    bool known = false;
    for (const Item &other : file_.items)
      for (const std::string &name : item.names)
        if (other.names.contains(name)) {
          known = true;
          if (normalized(*file_.files[other.file], other.range) != text)
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

  /// The text of a range with the comment before it.
  std::string with_comment(Range range) const {
    std::size_t before = 0;
    for (const Item &item : answer_.items)
      if (item.file == 0 && item.range.end <= range.begin)
        before = std::max(before, item.range.end);
    for (const Directive &directive : source().directives)
      if (directive.range.end <= range.begin)
        before = std::max(before, directive.range.end);
    const std::string_view gap = source().of(Range{before, range.begin});
    const std::size_t comment = gap.find_first_not_of(" \t\r\n");
    const std::string_view rest = gap.substr(std::min(comment, gap.size()));
    const bool is_comment = rest.starts_with("//") || rest.starts_with("/*");
    return std::string(is_comment ? rest : "") + std::string(source().of(range));
  }

  const Inventory &file_, &answer_;
  std::string kernel_, answered_, includes_;
  std::vector<Piece> pieces_;
  bool has_kernel_ = false;
};

} // namespace

Result<Edits> merge_source(const KernelSource &source, const analysis::ParsedUnit &answer,
                           const std::string &answered) {
  const Inventory file = take_inventory(source.unit()), other = take_inventory(answer);
  const auto body = source.range_of(source.body());
  const Item *kernel = body ? item_at(file, body->begin) : nullptr;
  if (!kernel)
    return fail("the kernel's own text was not found in the file");
  Merge merge(file, other, source.kernel()->getNameAsString(), answered);
  if (auto merged = merge.run(); !merged)
    return std::unexpected(merged.error());
  Edits edits{{kernel->range, merge.text()}};
  if (const std::size_t place = include_place(*file.files.front(), kernel->range.begin);
      !merge.includes().empty())
    edits.push_back({{place, place}, merge.includes()});
  return edits;
}

} // namespace warpwright::source
