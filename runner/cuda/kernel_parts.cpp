// Scanner of declarations at namespace scope. It finds their ends and names, not their meaning.
#include "runner/cuda/kernel_parts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace warpwright::runner::cuda {
namespace {

using std::string_view;

bool starts_name(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) || letter == '_';
}
bool in_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

struct Token {
  string_view text; ///< a name, a number, a literal or one other character
  bool is_name() const { return starts_name(text.front()); }
};

struct Declaration {
  string_view text;
  std::vector<Token> tokens;
  bool is_directive = false;
  std::string name; ///< that it declares, a macro's too; empty: it stays in every part
  bool is_kernel = false, is_shared = false;

  /// A directive of this name.
  bool is(string_view directive) const {
    return is_directive && !tokens.empty() && tokens[0].text == directive;
  }
  bool opens() const { return is("if") || is("ifdef") || is("ifndef"); }
};

/// Declarations of a source, comments between them left out.
class Scanner {
public:
  explicit Scanner(string_view source) : source_(source) {}

  std::optional<std::vector<Declaration>> run() {
    while (skip_space()) {
      if (source_[at_] == '#')
        directive();
      else if (!declaration())
        return std::nullopt;
    }
    return std::move(found_);
  }

private:
  bool is_at(string_view text) const { return source_.substr(at_).starts_with(text); }

  /// Returns false at the end of the source, or in a comment without an end.
  bool skip_space() {
    while (at_ < source_.size()) {
      if (std::isspace(static_cast<unsigned char>(source_[at_])))
        ++at_;
      else if (is_at("//"))
        at_ = std::min(source_.find('\n', at_), source_.size());
      else if (is_at("/*"))
        at_ = std::min(source_.find("*/", at_ + 2), source_.size() - 2) + 2;
      else
        return true;
    }
    return false;
  }

  void directive() {
    const std::size_t begin = at_;
    do
      at_ = std::min(source_.find('\n', at_ + 1), source_.size());
    while (at_ < source_.size() && source_[at_ - 1] == '\\');
    Declaration made{.text = source_.substr(begin, at_ - begin), .is_directive = true};
    Scanner words(made.text.substr(1));
    while (words.skip_space())
      made.tokens.push_back(words.token());
    if (made.is("include") || made.is("pragma"))
      made.tokens.resize(1); // what follows names no declaration
    if (made.tokens.size() > 1 && (made.is("define") || made.is("undef")))
      made.name = std::string(made.tokens[1].text);
    found_.push_back(std::move(made));
  }

  Token token() {
    const std::size_t begin = at_;
    if (in_name(source_[at_])) {
      const bool is_number = !starts_name(source_[at_]);
      const auto is_separator = [&] {
        return is_number && source_[at_] == '\'' && at_ + 1 < source_.size() &&
               in_name(source_[at_ + 1]);
      };
      while (at_ < source_.size() && (in_name(source_[at_]) || is_separator()))
        ++at_;
    } else if (source_[at_] == '"' || source_[at_] == '\'') {
      const char quote = source_[at_++];
      while (at_ < source_.size() && source_[at_] != quote)
        at_ += source_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 1, source_.size());
    } else {
      ++at_;
    }
    return {source_.substr(begin, at_ - begin)};
  }

  bool declaration() {
    Declaration made;
    const std::size_t begin = at_;
    int braces = 0, parentheses = 0;
    bool is_complete = false;
    while (!is_complete) {
      if (!skip_space())
        return false;
      const Token next = token();
      if (next.text == "R" && at_ < source_.size() && source_[at_] == '"')
        return false; // a raw string
      made.tokens.push_back(next);
      const char letter = next.text.front();
      parentheses += (letter == '(') - (letter == ')');
      braces += (letter == '{') - (letter == '}');
      if (braces < 0 || parentheses < 0)
        return false;
      is_complete = braces == 0 && parentheses == 0 &&
                    (letter == ';' || (letter == '}' && ends_by_brace(made.tokens)));
    }
    made.text = source_.substr(begin, at_ - begin);
    describe(made);
    found_.push_back(std::move(made));
    return true;
  }

  /// Tokens behind `template <...>`.
  static std::size_t behind_template(const std::vector<Token> &tokens) {
    std::size_t at = 0;
    while (at + 1 < tokens.size() && tokens[at].text == "template" && tokens[at + 1].text == "<") {
      int depth = 0, parentheses = 0;
      for (++at; at < tokens.size(); ++at) {
        parentheses += (tokens[at].text == "(") - (tokens[at].text == ")");
        depth += parentheses > 0 ? 0 : (tokens[at].text == "<") - (tokens[at].text == ">");
        if (depth == 0)
          break;
      }
      ++at;
    }
    return at;
  }

  /// The body of a function or of a namespace, not of a class and no initial value.
  static bool ends_by_brace(const std::vector<Token> &tokens) {
    int parentheses = 0;
    for (std::size_t at = behind_template(tokens); at < tokens.size() && tokens[at].text != "{";
         ++at) {
      const string_view text = tokens[at].text;
      parentheses += (text == "(") - (text == ")");
      if (parentheses == 0 &&
          (text == "struct" || text == "class" || text == "union" || text == "enum" || text == "="))
        return false;
    }
    return true;
  }

  static void describe(Declaration &made) {
    static const std::set<string_view> kClasses{"struct", "class", "union", "enum", "using"},
        kWithParentheses{"__launch_bounds__", "__align__", "alignas",
                         "__attribute__",     "decltype",  "__cluster_dims__"},
        kWritable{"__device__", "__managed__"}; // kernels cannot write to __constant__ variables
    const std::vector<Token> &tokens = made.tokens;
    bool is_writable = false;
    string_view name;
    for (std::size_t at = behind_template(tokens); at < tokens.size(); ++at) {
      const string_view text = tokens[at].text;
      if (text == "namespace") { // whole, where anything names it
        if (at + 1 < tokens.size() && tokens[at + 1].is_name())
          made.name = std::string(tokens[at + 1].text);
        return;
      }
      if (text == "static_assert" || text == "operator" || text == "typedef" || text == "template")
        return;
      made.is_kernel |= text == "__global__";
      is_writable |= kWritable.contains(text);
      if (kWithParentheses.contains(text) && at + 1 < tokens.size() && tokens[at + 1].text == "(") {
        int depth = 0;
        for (++at; at < tokens.size(); ++at) {
          depth += (tokens[at].text == "(") - (tokens[at].text == ")");
          if (depth == 0)
            break;
        }
        continue;
      }
      if (kClasses.contains(text)) {
        static const std::set<string_view> kEnds{"{", ";", ":", "=", "<"};
        while (++at < tokens.size() && !kEnds.contains(tokens[at].text)) {
          if (tokens[at].text == "namespace")
            return;
          if (tokens[at].is_name())
            name = tokens[at].text;
        }
        break;
      }
      if (text == "(" || text == "=" || text == "[" || text == "{" || text == ";") {
        made.is_shared = is_writable && text != "(";
        break;
      }
      if (tokens[at].is_name())
        name = text;
    }
    made.name = std::string(name);
  }

  string_view source_;
  std::size_t at_ = 0;
  std::vector<Declaration> found_;
};

/// Text with the builder's numbers, "k7_" and "joined_2", counted anew from 0.
class Renumbering {
public:
  std::string apply(string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && in_name(text[end]))
        ++end;
      if (end == at) {
        result += text[at++];
        continue;
      }
      result += name(text.substr(at, end - at));
      at = end;
    }
    return result;
  }

private:
  std::string name(string_view text) {
    const std::size_t letters = text.starts_with("joined_") ? 7 : text.starts_with('k') ? 1 : 0;
    std::size_t end = letters;
    while (letters > 0 && end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    if (end == letters || (letters == 1 && !text.substr(end).starts_with('_')))
      return std::string(text);
    const auto number =
        numbers_.try_emplace(std::string(text.substr(0, end)), numbers_.size()).first->second;
    return std::string(text.substr(0, letters)) + std::to_string(number) +
           std::string(text.substr(end));
  }

  std::map<std::string, std::size_t> numbers_; ///< by prefixes
};

/// Leaves out the lines of include guards, since the builder takes each header once.
std::vector<Declaration> without_guards(std::vector<Declaration> declarations) {
  std::vector<Declaration> kept;
  std::vector<bool> is_guard; ///< the conditionals around
  for (std::size_t at = 0; at < declarations.size(); ++at) {
    Declaration &one = declarations[at];
    if (one.opens()) {
      const Declaration *next = at + 1 < declarations.size() ? &declarations[at + 1] : nullptr;
      is_guard.push_back(one.is("ifndef") && one.tokens.size() == 2 && next && next->is("define") &&
                         next->tokens.size() == 2 && next->name == one.tokens[1].text);
      if (is_guard.back()) {
        ++at;
        continue;
      }
    } else if (one.is("endif") && !is_guard.empty()) {
      const bool is_end = is_guard.back();
      is_guard.pop_back();
      if (is_end)
        continue;
    }
    kept.push_back(std::move(one));
  }
  return kept;
}

/// The text of the needed declarations, without conditionals that have become empty.
std::string text_of(const std::vector<Declaration> &declarations,
                    const std::set<const Declaration *> &needed) {
  std::vector<string_view> lines;
  std::vector<std::size_t> opened,
      filled; ///< lines of open conditionals, and with what else came behind them
  for (const Declaration &one : declarations) {
    if (!needed.contains(&one))
      continue;
    if (one.opens()) {
      opened.push_back(lines.size());
      filled.push_back(0);
    } else if (one.is("endif") && !opened.empty()) {
      const bool is_empty = filled.back() == 0;
      if (is_empty)
        lines.resize(opened.back());
      opened.pop_back();
      filled.pop_back();
      if (is_empty)
        continue;
      if (!filled.empty())
        ++filled.back();
    } else if (!filled.empty() && !one.is("else") && !one.is("elif")) {
      ++filled.back();
    }
    lines.push_back(one.text);
  }
  std::string text;
  for (const string_view line : lines)
    (text += line) += '\n';
  return text;
}

} // namespace

std::optional<std::vector<KernelPart>> kernel_parts(const std::string &source,
                                                    const std::vector<std::string> &kernels) {
  auto declarations = Scanner(source).run();
  if (!declarations || std::ranges::any_of(*declarations, &Declaration::is_shared))
    return std::nullopt;
  declarations = without_guards(std::move(*declarations));
  std::multimap<string_view, const Declaration *> by_name;
  std::vector<const Declaration *> everywhere;
  for (const Declaration &one : *declarations)
    if (one.name.empty())
      everywhere.push_back(&one);
    else
      by_name.emplace(one.name, &one);
  std::vector<KernelPart> parts;
  for (const std::string &kernel : kernels) {
    std::set<const Declaration *> needed(everywhere.begin(), everywhere.end());
    std::vector<const Declaration *> open = everywhere;
    const auto need = [&](string_view name) {
      for (auto [one, last] = by_name.equal_range(name); one != last; ++one)
        if (needed.insert(one->second).second)
          open.push_back(one->second);
    };
    need(kernel);
    if (std::ranges::none_of(
            needed, [&](const Declaration *one) { return one->is_kernel && one->name == kernel; }))
      return std::nullopt;
    while (!open.empty()) {
      const Declaration *one = open.back();
      open.pop_back();
      for (const Token &token : one->tokens)
        if (token.is_name())
          need(token.text);
    }
    Renumbering numbers;
    std::string renumbered = numbers.apply(text_of(*declarations, needed));
    parts.push_back({std::move(renumbered), numbers.apply(kernel)});
  }
  return parts;
}

} // namespace warpwright::runner::cuda
