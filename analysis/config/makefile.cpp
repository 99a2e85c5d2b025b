#include "analysis/config/makefile.h"

#include "analysis/config/flags.h"
#include "analysis/config/program_place.h"

#include <llvm/Support/Path.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

namespace warpwright::config {
namespace {

constexpr std::uint64_t kMostMakefileBytes = 1 << 20;
constexpr int kMostReferences = 8;   ///< of variables in variables
constexpr int kMostFoldersAbove = 3; ///< folders above a file's own
constexpr std::size_t kMostText = 1 << 16; ///< of an expanded line, which variables in variables could make huge

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The words of a command line, up to what is no argument.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  for (const std::string &word : split_command(std::string(command))) {
    const std::size_t end = std::min(word.find_first_of("|<>;&()$`#"), word.size());
    if (end == word.size()) {
      words.push_back(word);
      continue;
    }
    if (end > 0 && word[end] == ';') // "100; echo done"
      words.push_back(word.substr(0, end));
    break;
  }
  return words;
}

bool is_assignment(const std::string &word) {
  const std::size_t at = word.find('=');
  return at != word.npos && at > 0 && word.find('/') > at && !word.starts_with('-');
}

/// A makefile's lines without comments, with continued ones joined.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  std::string line, whole;
  while (std::getline(stream, line)) {
    if (line.ends_with('\r'))
      line.pop_back();
    if (line.ends_with('\\')) {
      whole += line.substr(0, line.size() - 1) + " ";
      continue;
    }
    lines.push_back(whole + line);
    whole.clear();
  }
  if (!whole.empty())
    lines.push_back(whole);
  for (std::string &one : lines)
    if (!one.starts_with('\t'))
      if (const std::size_t comment = one.find('#'); comment != one.npos && (comment == 0 || one[comment - 1] != '\\'))
        one.resize(comment);
  return lines;
}

/// Position of the bracket that closes the one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  const char opens = text[open], closes = opens == '(' ? ')' : '}';
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == opens ? 1 : text[i] == closes ? -1 : 0;
    if (depth == 0)
      return i;
  }
  return text.npos;
}

/// The two operands of ifeq: `(a,b)`, `"a" "b"` or `'a' 'b'`.
std::pair<std::string_view, std::string_view> operands_of(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) {
    text = text.substr(1, text.size() - 2);
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' || text[i] == '{' ? 1 : text[i] == ')' || text[i] == '}' ? -1 : 0;
      if (text[i] == ',' && depth == 0)
        return {trimmed(text.substr(0, i)), trimmed(text.substr(i + 1))};
    }
  }
  std::array<std::string_view, 2> found;
  for (std::string_view &one : found) {
    text = trimmed(text);
    const std::size_t end = text.empty() ? text.npos : text.find(text.front(), 1);
    if (end == text.npos)
      break;
    one = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  }
  return {found[0], found[1]};
}

bool is_compiler(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  if (name.starts_with('-') || name.contains('.'))
    return false;
  return name.contains("nvcc") || name.contains("clang") || name.contains("++") || name.ends_with("cxx") ||
         name.ends_with("cc") || name.ends_with("CC");
}

/// How surely a command compiles the file; 0: it does not.
int certainty(const std::vector<std::string> &command, std::string_view rule, std::string_view file) {
  const std::string_view kind = file.substr(std::min(file.rfind('.'), file.size()));
  const auto is_file = [&](std::string_view word) {
    return word.ends_with(file) && (word.size() == file.size() || word[word.size() - file.size() - 1] == '/');
  };
  const std::vector<std::string> named = split_command(rule);
  if (std::ranges::any_of(command, is_file) || std::ranges::any_of(named, is_file))
    return 3;
  const bool is_of_kind = std::ranges::any_of(named, [&](const std::string &word) {
    return word.ends_with("%" + std::string(kind)) || (word.starts_with(kind) && word.ends_with(".o:"));
  });
  if (!kind.empty() && is_of_kind)
    return 2;
  return command.front().contains("nvcc") && kind == ".cu" ? 1 : 0;
}

} // namespace

Makefile::Makefile(std::string_view text) {
  struct Branch {
    bool is_taken, was_taken, is_outer_taken;
  };
  std::vector<Branch> branches;
  bool is_in_rule = false;
  for (const std::string &line : lines_of(text)) {
    std::string_view plain = trimmed(line);
    const std::string_view word = plain.substr(0, plain.find_first_of(" \t("));
    const bool is_else = word == "else";
    if (is_else)
      plain = trimmed(plain.substr(word.size()));
    const std::string_view kind = is_else ? plain.substr(0, plain.find_first_of(" \t(")) : word;
    const bool is_condition = kind == "ifeq" || kind == "ifneq" || kind == "ifdef" || kind == "ifndef";
    if (word == "endif") {
      if (!branches.empty())
        branches.pop_back();
      continue;
    }
    if (is_else && branches.empty())
      continue;
    if (is_else || is_condition) {
      if (!is_else)
        branches.push_back({false, false, branches.empty() || branches.back().is_taken});
      Branch &branch = branches.back();
      branch.is_taken = branch.is_outer_taken && !branch.was_taken &&
                        (!is_condition || holds(kind, trimmed(plain.substr(kind.size()))));
      branch.was_taken |= branch.is_taken;
      continue;
    }
    if (plain.empty() || (!branches.empty() && !branches.back().is_taken))
      continue;
    if (line.starts_with('\t')) {
      if (is_in_rule)
        rules_.back().recipe.emplace_back(trimmed(line));
      continue;
    }
    const std::size_t equals = line.find('='), colon = line.find(':');
    const bool assigns = equals != line.npos && (colon > equals || colon + 1 == equals || line.substr(colon, 3) == "::=");
    is_in_rule = !assigns && colon != line.npos;
    if (assigns)
      assign(line, equals);
    else if (is_in_rule)
      rules_.push_back({expanded(line), {}});
  }
}

void Makefile::assign(const std::string &line, std::size_t equals) {
  std::size_t end = equals;
  while (end > 0 && std::string_view(":?+").contains(line[end - 1]))
    --end;
  std::string_view name = trimmed(std::string_view(line).substr(0, end));
  for (const std::string_view prefix : {"export ", "override "})
    if (name.starts_with(prefix))
      name = trimmed(name.substr(prefix.size()));
  const std::string_view how = std::string_view(line).substr(end, equals - end);
  const std::string value(trimmed(std::string_view(line).substr(equals + 1)));
  std::string &variable = variables_[std::string(name)];
  if (how == "+") {
    if (variable.size() + value.size() < kMostText)
      variable += (variable.empty() ? "" : " ") + value;
  } else if (how == "?") {
    variable = variable.empty() ? value : variable;
  } else {
    variable = how.starts_with(":") ? expanded(value) : value;
  }
}

bool Makefile::holds(std::string_view kind, std::string_view operands) const {
  if (kind == "ifdef" || kind == "ifndef") {
    const auto known = variables_.find(operands);
    return (known != variables_.end() && !known->second.empty()) == (kind == "ifdef");
  }
  const auto [left, right] = operands_of(operands);
  return (trimmed(expanded(left)) == trimmed(expanded(right))) == (kind == "ifeq");
}

/// The text with `$(NAME)` and `${NAME}` of this file; unknown ones are empty, as make has it. So are $@, $< and the
/// like.
std::string Makefile::expanded(std::string_view text, int depth) const {
  std::string result;
  for (std::size_t i = 0; i < text.size() && result.size() < kMostText; ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == '$')
      result += '$';
    if (next != '(' && next != '{')
      continue;
    const std::size_t end = closing(text, i);
    if (end == text.npos)
      break;
    const auto known = variables_.find(text.substr(i + 1, end - i - 1));
    if (known != variables_.end() && depth < kMostReferences)
      result += expanded(known->second, depth + 1);
    i = end;
  }
  return result;
}

std::vector<std::string> Makefile::run_arguments() const {
  for (const Rule &rule : rules_) {
    if (trimmed(rule.line.substr(0, rule.line.find(':'))) != "run")
      continue;
    for (const std::string &command : rule.recipe) {
      const std::string plain = expanded(command);
      if (plain.find("./") == plain.npos) // such as echo
        continue;
      std::vector<std::string> found =
          arguments_of(plain.substr(std::min(plain.find_first_not_of("@- \t"), plain.size())));
      if (!found.empty())
        return found;
    }
  }
  return {};
}

std::vector<std::string> Makefile::compile_command(std::string_view file) const {
  std::vector<std::string> found;
  int best = 0;
  for (const Rule &rule : rules_)
    for (const std::string &command : rule.recipe) {
      const std::string plain = expanded(command);
      std::vector<std::string> words =
          words_of(std::string_view(plain).substr(std::min(plain.find_first_not_of("@-+ \t"), plain.size())));
      words.erase(words.begin(), std::ranges::find_if(words, is_compiler));
      const int certain = words.empty() ? 0 : certainty(words, rule.line, file);
      if (certain > best) {
        best = certain;
        found = std::move(words);
      }
    }
  return found;
}

std::vector<std::string> arguments_of(std::string_view command) {
  std::vector<std::string> words = words_of(command);
  const auto program =
      std::ranges::find_if_not(words, is_assignment); // before it stands the environment
  if (program == words.end())
    return {};
  // A launcher such as mpirun or srun comes before the program, which is named by its path.
  const auto named =
      std::ranges::find_if(words, [](const std::string &word) { return word.starts_with("./"); });
  return {(named == words.end() ? program : named) + 1, words.end()};
}

namespace {

/// nullopt: the folder has no makefile.
std::optional<BuildFacts> makefile_in(llvm::vfs::FileSystem &files, const std::string &folder,
                                      const std::string &file) {
  std::optional<BuildFacts> found;
  for (const char *name : {"GNUmakefile", "makefile", "Makefile"}) {
    const std::string path = folder + "/" + name;
    const auto status = files.status(path);
    if (!status || !status->isRegularFile() || status->getSize() > kMostMakefileBytes)
      continue;
    if (!found)
      found.emplace(BuildFacts{.run = {}, .compile = {}, .makefile = path});
    const auto buffer = files.getBufferForFile(path);
    if (!buffer)
      continue;
    const Makefile makefile((*buffer)->getBuffer());
    if (found->compile.empty())
      found->compile = makefile.compile_command(llvm::sys::path::filename(file));
    if (auto arguments = makefile.run_arguments(); !arguments.empty() && found->run.arguments.empty())
      found->run = {std::move(arguments), std::string("the target run of ") + name};
  }
  return found;
}

} // namespace

BuildFacts read_makefile(llvm::vfs::FileSystem &files, const std::string &folder, const std::string &file) {
  if (auto found = makefile_in(files, folder, file))
    return std::move(*found);
  std::string above = llvm::sys::path::parent_path(file).str();
  for (int level = 0; level <= kMostFoldersAbove && above.size() > 1; ++level) {
    if (auto found = makefile_in(files, above, file))
      return std::move(*found);
    if (has_build_file(files, above)) // a program of its own, built in another way
      return {};
    above = llvm::sys::path::parent_path(above).str();
  }
  return {};
}

} // namespace warpwright::config
