// Token scan: kernels and launches from tokens alone, for text where the parser loses them to an
// unknown type or name.
//
// It finds names, places, parameters as written and launch expressions. It does not find facts that
// need types or values: accesses, shared arrays, types behind a typedef. Text that ends in the
// middle of a body is normal. Thread: any.
#include "analysis/analyze.h"
#include "analysis/scan/tokens.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace warpwright::analysis {
namespace {

namespace tok = clang::tok;

class FileScan {
public:
  explicit FileScan(const SourceFile &file)
      : text_(file.text), tokens_(scan_tokens(file.text)), lines_(file.text) {
    facts_.path = file.path;
    facts_.pass = Pass::Scan;
  }

  FileFacts run() {
    for (std::size_t index = 0; index < tokens_.size(); ++index) {
      const tok::TokenKind kind = tokens_[index].kind;
      if (kind == tok::l_brace)
        scopes_.push_back(scope_opened_at(index));
      else if (kind == tok::r_brace && !scopes_.empty())
        scopes_.pop_back();
      else if (kind == tok::lesslessless)
        add_launch(index);
      else if (word(index) == "__global__")
        add_kernel(index);
    }
    link();
    return std::move(facts_);
  }

private:
  struct Scope {
    std::string name;
    bool is_namespace = false, is_function = false;
  };

  std::string_view spelling(Range range) const {
    return std::string_view(text_).substr(range.begin, range.size());
  }
  std::string_view word(std::size_t index) const {
    return tokens_[index].kind == tok::raw_identifier ? spelling(tokens_[index].range)
                                                      : std::string_view{};
  }
  bool is(std::size_t index, tok::TokenKind kind) const {
    return index < tokens_.size() && tokens_[index].kind == kind;
  }
  void place(std::size_t offset, std::size_t &line, std::size_t &column) const {
    line = lines_.line_of(offset) + 1;
    column = lines_.column_of(offset) + 1;
  }

  Scope scope_opened_at(std::size_t brace) const {
    std::size_t first = brace;
    while (first > 0 && (is(first - 1, tok::raw_identifier) || is(first - 1, tok::coloncolon)))
      --first;
    if (first < brace && word(first) == "namespace")
      return {joined(first + 1, brace), true, false};
    // Qualifiers such as `const` or `noexcept` may stand between the parameters and the brace.
    if (first == 0 || !is(first - 1, tok::r_paren))
      return {};
    const std::optional<std::size_t> open = opening_bracket(tokens_, first - 1);
    if (!open || *open == 0)
      return {};
    const std::string_view name = word(*open - 1);
    static constexpr std::array kStatements{"if", "for", "while", "switch", "catch"};
    if (name.empty() || std::ranges::find(kStatements, name) != kStatements.end())
      return {};
    return {std::string(name), false, true};
  }

  std::string joined(std::size_t begin, std::size_t end) const {
    std::string result;
    for (std::size_t index = begin; index < end; ++index)
      result += spelling(tokens_[index].range);
    return result;
  }

  /// First token of the declaration that contains `index`, after the preceding `;`, brace or
  /// directive.
  std::size_t declaration_start(std::size_t index) const {
    while (index > 0 && !tokens_[index].after_directive && !is(index - 1, tok::semi) &&
           !is(index - 1, tok::l_brace) && !is(index - 1, tok::r_brace))
      --index;
    return index;
  }

  /// Index of the name of the function declared after `from`: the word before the first parameter
  /// list.
  std::optional<std::size_t> function_name(std::size_t from) const {
    for (std::size_t index = from + 1; index < tokens_.size(); ++index) {
      if (is(index, tok::semi) || is(index, tok::l_brace) || is(index, tok::r_brace))
        return std::nullopt;
      if (!is(index, tok::l_paren))
        continue;
      const std::string_view before = word(index - 1);
      const std::optional<std::size_t> close = closing_bracket(tokens_, index);
      if (!before.starts_with("__") || (close && is(*close + 1, tok::l_brace)))
        return before.empty() ? std::nullopt : std::optional(index - 1);
      if (!close)
        return std::nullopt;
      index = *close;
    }
    return std::nullopt;
  }

  void add_kernel(std::size_t global) {
    const std::optional<std::size_t> name = function_name(global);
    if (!name)
      return;
    const std::optional<std::size_t> close = closing_bracket(tokens_, *name + 1);
    if (!close || !is(*close + 1, tok::l_brace))
      return;
    const std::optional<std::size_t> body_end = closing_bracket(tokens_, *close + 1);
    Kernel kernel;
    kernel.name = word(*name);
    kernel.qualified_name = enclosing_namespaces() + kernel.name;
    const std::size_t first = declaration_start(global);
    kernel.is_template = word(first) == "template";
    kernel.name_range = tokens_[*name].range;
    kernel.body_range = {tokens_[*close + 1].range.begin,
                         body_end ? tokens_[*body_end].range.end : text_.size()};
    kernel.range = {tokens_[first].range.begin, kernel.body_range.end};
    std::size_t column = 0;
    place(kernel.name_range.begin, kernel.line, column);
    for (const Range &parameter : split_at_commas(tokens_, *name + 2, *close))
      kernel.parameters.push_back(parameter_at(parameter));
    kernel.slice_error = "the parser could not read this kernel";
    facts_.kernels.push_back(std::move(kernel));
  }

  Parameter parameter_at(Range range) const {
    Parameter parameter;
    parameter.range = range;
    std::size_t pointee_words = 0;
    std::size_t name_begin = range.end;
    for (const ScanToken &token : tokens_) {
      if (token.range.begin < range.begin || token.range.end > range.end ||
          token.kind == tok::equal)
        continue;
      const std::string_view text = spelling(token.range);
      parameter.is_pointer |= token.kind == tok::star;
      parameter.is_restrict |= text == "__restrict__" || text == "__restrict";
      parameter.is_const |= text == "const" && !parameter.is_pointer;
      if (token.kind == tok::raw_identifier && text != "const" && !text.starts_with("__restrict")) {
        parameter.name = text;
        name_begin = token.range.begin;
        if (++pointee_words == 1)
          parameter.element_type = text;
      }
    }
    parameter.type = spelling({range.begin, name_begin});
    parameter.type.erase(parameter.type.find_last_not_of(" \t\r\n") + 1);
    return parameter;
  }

  std::string enclosing_namespaces() const {
    std::string result;
    for (const Scope &scope : scopes_)
      if (scope.is_namespace && !scope.name.empty())
        result += scope.name + "::";
    return result;
  }

  std::string enclosing_function() const {
    for (const Scope &scope : std::views::reverse(scopes_))
      if (scope.is_function)
        return scope.name;
    return {};
  }

  /// First token of the callee that ends before `index`, such as `ns::kernel<4, float>`; `index` if
  /// there is no callee.
  std::size_t callee_start(std::size_t index) const {
    std::size_t first = index;
    if (first > 0 && is(first - 1, tok::greater)) {
      int depth = 0;
      while (first > 0) {
        --first;
        depth += is(first, tok::greater) - is(first, tok::less);
        if (depth == 0)
          break;
      }
    }
    while (first > 0 && (is(first - 1, tok::raw_identifier) || is(first - 1, tok::coloncolon)) &&
           word(first - 1) != "return")
      --first;
    return first;
  }

  void add_launch(std::size_t chevrons) {
    const std::size_t first = callee_start(chevrons);
    std::size_t close = chevrons + 1;
    for (int depth = 0;
         close < tokens_.size() && !(depth == 0 && is(close, tok::greatergreatergreater));
         ++close) {
      depth += is(close, tok::l_paren) - is(close, tok::r_paren);
      if (is(close, tok::semi))
        return;
    }
    if (first == chevrons || !is(close + 1, tok::l_paren))
      return;
    const std::optional<std::size_t> end = closing_bracket(tokens_, close + 1);
    if (!end)
      return;
    Launch launch;
    describe_callee(first, chevrons, launch);
    launch.enclosing_function = enclosing_function();
    launch.range = {tokens_[first].range.begin, tokens_[*end].range.end};
    place(launch.range.begin, launch.line, launch.column);
    fill_configuration(split_at_commas(tokens_, chevrons + 1, close), launch);
    for (const Range &argument : split_at_commas(tokens_, close + 2, *end))
      launch.arguments.emplace_back(spelling(argument));
    facts_.launches.push_back(std::move(launch));
  }

  void describe_callee(std::size_t first, std::size_t end, Launch &launch) const {
    std::size_t index = first;
    for (; index < end && !is(index, tok::less); ++index)
      if (!word(index).empty())
        launch.kernel = word(index);
    if (index + 1 < end)
      for (const Range &argument : split_at_commas(tokens_, index + 1, end - 1))
        launch.template_arguments.emplace_back(spelling(argument));
  }

  void fill_configuration(const std::vector<Range> &parts, Launch &launch) const {
    const std::array texts{&launch.grid, &launch.block, &launch.shared, &launch.stream};
    const std::array<Range *, 4> ranges{&launch.grid_range, &launch.block_range,
                                        &launch.shared_range, nullptr};
    for (std::size_t index = 0; index < std::min(parts.size(), texts.size()); ++index) {
      *texts[index] = spelling(parts[index]);
      if (ranges[index])
        *ranges[index] = parts[index];
    }
  }

  void link() {
    for (Kernel &kernel : facts_.kernels)
      for (std::size_t index = 0; index < facts_.launches.size(); ++index)
        if (facts_.launches[index].kernel == kernel.name)
          kernel.launches.push_back(index);
  }

  const std::string &text_;
  std::vector<ScanToken> tokens_;
  LineIndex lines_;
  std::vector<Scope> scopes_;
  FileFacts facts_;
};

} // namespace

FileFacts scan(const SourceFile &file) { return FileScan(file).run(); }

} // namespace warpwright::analysis
