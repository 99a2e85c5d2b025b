// Move block_size(x[, y]): another block shape, with matching changes of the grid and of the
// constants that the kernel relies on.
//
// If the block is a constant of the file (`#define BLOCK 256`) that only this kernel uses, its
// definition changes. Otherwise its uses in this kernel and its launches become numbers. In a
// kernel with `blockDim`, an equal number is unrelated unless shared arrays or `blockIdx.x * 256`
// rely on it. The move is illegal when the grid must depend on the block but its text does not, and
// when the block size is also a length of the data. Where the text does not show the block, see
// block_by_index.h.
#include "generator/text/moves/block_by_index.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace warpwright::moves {
namespace {

struct BlockUse {
  std::int64_t x = 0, y = 1;
  std::string name;                ///< name of the block's constant; empty for a number
  std::optional<Range> definition; ///< number of a constant that only this kernel uses

  bool is_two_dimensional() const { return y != 1; }
  /// The block's text in the kernel.
  std::string token() const { return name.empty() ? std::to_string(x) : name; }
};

std::size_t count_mentions(std::string_view text, const std::string &name) {
  return (text.size() - source::rename(text, name, "").size()) / name.size();
}

/// The place of the number in `#define NAME 256` or `NAME = 256`; nullopt for other definitions.
std::optional<Range> definition_of(std::string_view text, const std::string &name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    std::size_t value = text.find_first_not_of(" \t", at + name.size());
    const bool is_macro = text.substr(0, at).ends_with("#define ");
    if (!is_macro &&
        (value == std::string_view::npos || text[value] != '=' || text[value + 1] == '='))
      continue;
    value = is_macro ? value : text.find_first_not_of(" \t", value + 1);
    std::size_t end = value;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    const bool ends = end < text.size() && (text[end] == '\n' || text[end] == ';' ||
                                            text[end] == ' ' || text[end] == ',');
    if (end > value && ends)
      return Range{value, end};
  }
  return std::nullopt;
}

/// definition_of() when only this kernel and its launches mention the name; nullopt otherwise.
std::optional<Range> exclusive_definition(const source::KernelSource &source,
                                          const std::string &name) {
  auto definition = definition_of(source.text(), name);
  if (!definition)
    return std::nullopt;
  auto kernel = source.unit().range_of(source.kernel()->getSourceRange());
  std::size_t own = kernel ? count_mentions(source.text_of(*kernel), name) : 0;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    own += count_mentions(source.text_of(launch), name);
    const source::LaunchSite site(source, launch);
    for (int d = 0; d < 3; ++d)
      for (const clang::Expr *extent : {site.grid().expression(d), site.block().expression(d)})
        if (auto range = source.range_of(extent);
            range && !source.range_of(launch)->contains(range->begin))
          own += count_mentions(source.text_of(extent), name);
  }
  return count_mentions(source.text(), name) == own + 1 ? definition : std::nullopt;
}

/// The block of all launches. Errors: the reason why it cannot be changed.
Result<BlockUse> block_use(const source::KernelSource &source) {
  if (!source.can_change_launches())
    return fail("there is no launch");
  BlockUse use;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const source::LaunchSite site(source, launch);
    auto x = site.block().value(0), y = site.block().value(1), z = site.block().value(2);
    if (!x || !y || z != 1)
      return fail("the block's size is not known");
    if (use.x && (use.x != *x || use.y != *y))
      return fail("launches use different blocks");
    if (site.has_shared_bytes())
      return fail("the launch has dynamic shared memory, which may depend on the block");
    use.x = *x;
    use.y = *y;
    const std::string text = site.block().text(0);
    use.name = source::is_identifier(text) ? text : "";
    if (use.name.empty() && text != std::to_string(*x))
      return fail("the block is computed");
  }
  if (source.kernel()->hasAttr<clang::CUDALaunchBoundsAttr>())
    return fail("__launch_bounds__ fixes the block");
  if (source.kernel()->getTemplatedKind() != clang::FunctionDecl::TK_NonTemplate)
    return fail("the kernel is a template, which may take the block as an argument");
  if (!use.name.empty())
    use.definition = exclusive_definition(source, use.name);
  return use;
}

/// True if block and thread determine a thread's elements, so that the grid must change with the
/// block.
bool deals_by_block(const std::string &body, const std::string &axis) {
  return body.contains("blockDim." + axis) && body.contains("blockIdx." + axis) &&
         !body.contains("gridDim." + axis);
}

enum class Factor { None, BlockIndex, Data };

/// Classifies the factor next to each use of the block size; one data factor decides for all uses.
Factor factor_of(const std::string &body, const std::string &token) {
  const std::regex product("(blockIdx\\.x|[\\w\\]\\)])\\s*\\*\\s*" + token + "\\b|\\b" + token +
                           "\\s*\\*\\s*(blockIdx\\.x|[\\w(])");
  Factor found = Factor::None;
  for (std::sregex_iterator match(body.begin(), body.end(), product), end; match != end; ++match) {
    if (match->str(1) != "blockIdx.x" && match->str(2) != "blockIdx.x")
      return Factor::Data;
    found = Factor::BlockIndex;
  }
  return found;
}

/// True if each block stores a result of its own, as in `sums[blockIdx.x] = sum`.
bool stores_by_block(const std::string &body) {
  static const std::regex store(R"(\[\s*blockIdx\.x\s*\]\s*=[^=])");
  return std::regex_search(body, store);
}

/// True if the kernel's text must change with the block.
bool text_follows(const std::string &body, const BlockUse &use) {
  return !use.name.empty() || !body.contains("blockDim.x") || body.contains("__shared__") ||
         factor_of(body, use.token()) == Factor::BlockIndex;
}

/// `text` with whole tokens replaced; replacements are not replaced again.
std::string with_tokens(std::string text, const std::map<std::string, std::string> &tokens) {
  for (const auto &[from, to] : tokens)
    text = source::rename(text, from, "\x01" + to);
  std::erase(text, '\x01');
  return text;
}

/// Text of grid extent `d` with the block's number or constant replaced; unchanged when neither
/// occurs.
std::string following_grid(const source::KernelSource &source, const source::LaunchSite &site,
                           int d, const BlockUse &use, std::int64_t value) {
  const std::int64_t old_value = d == 0 ? use.x : use.y;
  std::string text = site.grid().text(d);
  // A variable that other launches share keeps its value. This launch uses the text of its
  // initializer instead.
  const clang::VarDecl *shared =
      use.name.empty() ? nullptr : source::variable_of(site.grid().expression(d));
  if (auto init = shared && shared->isLocalVarDecl() && shared->hasInit()
                      ? source.range_of(shared->getInit())
                      : std::nullopt)
    text = source.text_of(*init);
  std::map<std::string, std::string> tokens{
      {std::to_string(old_value), std::to_string(value)},
      {std::to_string(old_value - 1), std::to_string(value - 1)}};
  if (!use.name.empty())
    tokens[use.name] = std::to_string(value);
  const std::string followed = with_tokens(text, tokens);
  return followed == text ? site.grid().text(d) : followed;
}

/// True if grid extent `d` changes with the block, by its own text or by the edits of this move.
bool grid_follows(const source::KernelSource &source, const source::LaunchSite &site,
                  const BlockUse &use, int d) {
  const std::string &text = site.grid().text(d);
  const bool by_member = text.contains(d == 0 ? ".x" : ".y") && !text.starts_with("grid.") &&
                         site.grid().expression(d);
  return by_member || (!use.name.empty() && mentions(text, use.name)) ||
         following_grid(source, site, d, use, 7) != text;
}

/// Checks a two-dimensional block. Errors: the reason why the move is illegal.
Result<void> check_two_dimensional(const source::KernelSource &source, const BlockUse &use) {
  const std::string body = source.body_text();
  if (body.contains("__shared__") || mentions(body, std::to_string(use.x)) ||
      mentions(body, std::to_string(use.y)))
    return fail("the kernel relies on its two-dimensional block");
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const source::LaunchSite site(source, launch);
    for (int d = 0; d < 2; ++d)
      if (!site.grid().expression(d) ||
          (!grid_follows(source, site, use, d) && deals_by_block(body, d == 0 ? "x" : "y")))
        return fail("the grid does not follow from the block");
  }
  return {};
}

/// Checks a one-dimensional block. Errors: the reason why the move is illegal.
Result<void> check_one_dimensional(const source::KernelSource &source, const BlockUse &use) {
  const std::string body = source.body_text();
  if (body.contains("__shared__") && mentions(body, std::to_string(use.x / 2)))
    return fail("the kernel relies on half its block as a number");
  const bool says_block = body.contains("blockDim.x") || mentions(body, std::to_string(use.x)) ||
                          (!use.name.empty() && mentions(body, use.name));
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const bool follows = grid_follows(source, source::LaunchSite(source, launch), use, 0);
    if (!follows && deals_by_block(body, "x"))
      return fail("the grid does not follow from the block");
    if (!follows && !says_block)
      return fail("the kernel does not show how it depends on its block");
    if (follows && stores_by_block(body))
      return fail("a result a block is stored, so that their number is part of the result");
    if (!follows && text_follows(body, use) && factor_of(body, use.token()) == Factor::Data)
      return fail("the block's size is a length of the data, too");
  }
  return {};
}

/// Edits that change every launch, and the kernel's text where needed, to a block of x by y.
source::Edits block_edits(const source::KernelSource &source, const BlockUse &use, int x, int y) {
  if (use.definition && !use.is_two_dimensional())
    return {{*use.definition, std::to_string(x)}};
  source::Edits edits;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const source::LaunchSite site(source, launch);
    const int extents[] = {x, y};
    for (int d = 0; d < (use.is_two_dimensional() ? 2 : 1); ++d) {
      const std::string grid = following_grid(source, site, d, use, extents[d]);
      if (grid != site.grid().text(d))
        source::add_edits(edits, site.grid().replace(d, grid));
      if (site.block().text(d) != std::to_string(extents[d]))
        source::add_edits(edits, site.block().replace(d, std::to_string(extents[d])));
    }
  }
  const std::string body = source.body_text();
  const std::size_t begin = source.body_inside().begin;
  if (!use.is_two_dimensional() && text_follows(body, use))
    for (const TextEdit &edit :
         diff_edits(body, with_tokens(body, {{use.token(), std::to_string(x)}})))
      edits.push_back({{edit.range.begin + begin, edit.range.end + begin}, edit.replacement});
  return edits;
}

/// The block and its uses in the text. Errors: the reason why they cannot follow another block.
Result<BlockUse> checked_use(const source::KernelSource &source) {
  const BlockUse use = TRY(block_use(source));
  TRY(use.is_two_dimensional() ? check_two_dimensional(source, use) : check_one_dimensional(source, use));
  return use;
}

} // namespace

std::vector<Parameters> block_choices(bool is_two_dimensional, std::int64_t x, std::int64_t y) {
  auto choices =
      is_two_dimensional
          ? choice_table(
                {"x", "y"},
                {{32, 4}, {32, 8}, {64, 4}, {16, 16}, {32, 16}, {64, 8}, {128, 2}, {32, 32}})
          : choices_of("x", {64, 128, 256, 512, 1024});
  std::erase_if(choices, [&](const Parameters &choice) {
    return number(choice, "x") == x && (!choice.contains("y") || number(choice, "y") == y);
  });
  return choices;
}

Result<Offer> offer_block_size(const source::KernelSource &source) {
  const auto use = checked_use(source);
  if (!use) {
    auto by_index = block_size_by_index(source);
    return by_index ? std::move(by_index) : std::unexpected(use.error());
  }
  return Offer{block_choices(use->is_two_dimensional(), use->x, use->y),
               [&source, use = *use](const Parameters &choice) {
                 return block_edits(source, use, number(choice, "x"), number(choice, "y"));
               }};
}

} // namespace warpwright::moves
