// block_size(x[, y]): another block shape, with the grid, and the constants that the kernel relies on, following.
//
// A block written as a constant of the file (`#define BLOCK 256`) that serves this kernel alone is changed at its
// definition; otherwise its uses in this kernel and its launches become numbers. A number in a kernel that says
// `blockDim` is its own, unless shared arrays or `blockIdx.x * 256` rely on it. A grid that must follow the block and
// shows no sign of it, or a block that is a length of the data, makes the move illegal.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/render.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace warpwright::generator {

namespace {

struct BlockUse {
  std::int64_t x = 0, y = 1;
  std::string name;                ///< the constant it is written as; empty for a number
  std::optional<Range> definition; ///< of the constant's number, where it serves this kernel alone
};

bool is_identifier(const std::string &text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::size_t count_mentions(std::string_view text, const std::string &name) {
  std::string without = rename(text, name, "");
  return (text.size() - without.size()) / name.size();
}

/// The number in `#define NAME 256` or `NAME = 256`.
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

std::optional<Range> exclusive_definition(const KernelSource &source, const std::string &name) {
  auto definition = definition_of(source.text(), name);
  if (!definition)
    return std::nullopt;
  auto kernel = source.unit().range_of(source.kernel()->getSourceRange());
  std::size_t own =
      kernel ? count_mentions(source.text().substr(kernel->begin, kernel->size()), name) : 0;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    own += count_mentions(source.text_of(launch), name);
    const LaunchSite site(source, launch);
    for (int d = 0; d < 3; ++d)
      for (const clang::Expr *extent : {site.grid().expression(d), site.block().expression(d)})
        if (auto range = source.range_of(extent);
            range && !source.range_of(launch)->contains(range->begin))
          own += count_mentions(source.text_of(extent), name);
  }
  return count_mentions(source.text(), name) == own + 1 ? definition : std::nullopt;
}

Result<BlockUse> block_use(const KernelSource &source) {
  if (source.launches().empty())
    return fail("there is no launch");
  BlockUse use;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
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
    use.name = is_identifier(text) ? text : "";
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

std::string body_of(const KernelSource &source) {
  return std::string(source.text().substr(source.body_inside().begin, source.body_inside().size()));
}

/// Whether elements are dealt out by block and thread, so that the grid must change with the block.
bool deals_by_block(const KernelSource &source, const char *axis) {
  const std::string body = body_of(source);
  const std::string axis_text = axis;
  return body.find("blockDim." + axis_text) != std::string::npos &&
         body.find("blockIdx." + axis_text) != std::string::npos &&
         body.find("gridDim." + axis_text) == std::string::npos;
}

/// What stands for the block in the kernel's text.
std::string token_of(const BlockUse &use) {
  return use.name.empty() ? std::to_string(use.x) : use.name;
}

enum class Factor { None, BlockIndex, Data };

/// What the text multiplies by the token; what is data in one place is data.
Factor factor_of(const std::string &body, const std::string &token) {
  const std::regex product("(blockIdx\\.x|[\\w\\]\\)])\\s*\\*\\s*" + token + "\\b|\\b" + token +
                           "\\s*\\*\\s*(blockIdx\\.x|[\\w(])");
  Factor found = Factor::None;
  for (std::sregex_iterator match(body.begin(), body.end(), product), end; match != end; ++match) {
    const bool is_index = match->str(1) == "blockIdx.x" || match->str(2) == "blockIdx.x";
    if (!is_index)
      return Factor::Data;
    found = Factor::BlockIndex;
  }
  return found;
}

/// `sums[blockIdx.x] = sum`.
bool stores_by_block(const std::string &body) {
  static const std::regex store(R"(\[\s*blockIdx\.x\s*\]\s*=[^=])");
  return std::regex_search(body, store);
}

/// Whether the kernel's text changes with the block.
bool text_follows(const std::string &body, const BlockUse &use) {
  return !use.name.empty() || body.find("blockDim.x") == std::string::npos ||
         body.find("__shared__") != std::string::npos ||
         factor_of(body, token_of(use)) == Factor::BlockIndex;
}

struct Replacement {
  std::map<std::string, std::string> tokens;
  std::string operator()(std::string text) const {
    for (const auto &[from, to] : tokens)
      text = rename(text, from, "\x01" + to);
    std::erase(text, '\x01');
    return text;
  }
};

Replacement replacement_of(const BlockUse &use, std::int64_t old_value, std::int64_t value) {
  Replacement replace;
  replace.tokens[std::to_string(old_value)] = std::to_string(value);
  replace.tokens[std::to_string(old_value - 1)] = std::to_string(value - 1);
  if (!use.name.empty())
    replace.tokens[use.name] = std::to_string(value);
  return replace;
}

/// Grid extent `d` with the block's number or constant replaced; the text unchanged where neither occurs.
std::string following_grid(const KernelSource &source, const LaunchSite &site, int d,
                           const BlockUse &use, std::int64_t value) {
  const std::int64_t old_value = d == 0 ? use.x : use.y;
  std::string text = site.grid().text(d);
  // A variable that other launches share keeps its value: this launch gets what it was computed from.
  const clang::VarDecl *shared =
      use.name.empty() ? nullptr : variable_of(site.grid().expression(d));
  if (auto init = shared && shared->isLocalVarDecl() && shared->hasInit()
                      ? source.range_of(shared->getInit())
                      : std::nullopt)
    text = source.text().substr(init->begin, init->size());
  const std::string followed = replacement_of(use, old_value, value)(text);
  return followed == text ? site.grid().text(d) : followed;
}

/// Whether the grid's extent changes by itself when the block's variable or constant does.
bool follows_by_name(const LaunchSite &site, const BlockUse &use, int d) {
  const std::string &text = site.grid().text(d);
  const bool by_member = text.find(d == 0 ? ".x" : ".y") != std::string::npos &&
                         text.find("grid.") != 0 && site.grid().expression(d);
  return by_member || (!use.name.empty() && mentions(text, use.name));
}

Choices two_dimensional(const KernelSource &source, const BlockUse &use) {
  const std::string body = body_of(source);
  if (body.find("__shared__") != std::string::npos || mentions(body, std::to_string(use.x)) ||
      mentions(body, std::to_string(use.y)))
    return Choices::none("the kernel relies on its two-dimensional block");
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    for (int d = 0; d < 2; ++d) {
      const bool follows = follows_by_name(site, use, d) ||
                           following_grid(source, site, d, use, 7) != site.grid().text(d);
      if (!site.grid().expression(d) || (!follows && deals_by_block(source, d == 0 ? "x" : "y")))
        return Choices::none("the grid does not follow from the block");
    }
  }
  Choices legal;
  for (auto [x, y] :
       {std::pair{32, 4}, {32, 8}, {64, 4}, {16, 16}, {32, 16}, {64, 8}, {128, 2}, {32, 32}})
    if (x != use.x || y != use.y)
      legal.choices.push_back({{"x", std::to_string(x)}, {"y", std::to_string(y)}});
  return legal;
}

} // namespace

Choices check_block_size(const KernelSource &source) {
  auto use = block_use(source);
  if (!use)
    return Choices::none(use.error().message);
  if (use->y != 1)
    return two_dimensional(source, *use);
  const std::string body = body_of(source);
  if (body.find("__shared__") != std::string::npos && mentions(body, std::to_string(use->x / 2)))
    return Choices::none("the kernel relies on half its block as a number");
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    const bool follows = follows_by_name(site, *use, 0) ||
                         following_grid(source, site, 0, *use, 7) != site.grid().text(0);
    if (!follows && deals_by_block(source, "x"))
      return Choices::none("the grid does not follow from the block");
    const bool says_block = body.find("blockDim.x") != std::string::npos ||
                            mentions(body, std::to_string(use->x)) ||
                            (!use->name.empty() && mentions(body, use->name));
    if (!follows && !says_block)
      return Choices::none("the kernel does not say how it depends on its block");
    if (follows && stores_by_block(body))
      return Choices::none(
          "a result a block is stored, so that their number is part of the result");
    if (!follows && text_follows(body, *use) && factor_of(body, token_of(*use)) == Factor::Data)
      return Choices::none("the block's size is a length of the data, too");
  }
  std::vector<int> sizes;
  for (int size : {64, 128, 256, 512, 1024})
    if (size != use->x)
      sizes.push_back(size);
  return {choices_of("x", sizes), {}};
}

Result<Edits> apply_block_size(const KernelSource &source, const Parameters &parameters) {
  auto use = block_use(source);
  if (!use)
    return std::unexpected(use.error());
  const int x = number(parameters, "x"), y = use->y == 1 ? 1 : number(parameters, "y");
  if (use->definition && use->y == 1)
    return Edits{{*use->definition, std::to_string(x)}};
  Edits edits;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    const std::int64_t extents[] = {x, y};
    for (int d = 0; d < (use->y == 1 ? 1 : 2); ++d) {
      const std::string grid = following_grid(source, site, d, *use, extents[d]);
      if (grid != site.grid().text(d))
        add_edits(edits, site.grid().replace(d, grid));
      if (site.block().text(d) != std::to_string(extents[d]))
        add_edits(edits, site.block().replace(d, std::to_string(extents[d])));
    }
  }
  const Range inside = source.body_inside();
  const std::string body = body_of(source);
  Replacement in_kernel;
  in_kernel.tokens[token_of(*use)] = std::to_string(x);
  if (use->y == 1 && text_follows(body, *use))
    for (TextEdit edit : diff_edits(body, in_kernel(body))) {
      edit.range = {edit.range.begin + inside.begin, edit.range.end + inside.begin};
      edits.push_back(edit);
    }
  return edits;
}

} // namespace warpwright::generator
