#include "analysis/config/run_command.h"

#include "analysis/config/flags.h"
#include "analysis/config/program_place.h"

#include <llvm/Support/Path.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace warpwright::config {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;
constexpr int kMostDepth = 8;  ///< of variables in variables
constexpr int kMostLevels = 3; ///< folders above a file's own

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == text.npos
             ? ""
             : std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
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
  return at != word.npos && at > 0 && word.find('/') > at;
}

/// A makefile's lines, with continued ones joined.
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
  return lines;
}

class Makefile {
public:
  explicit Makefile(std::string_view text) {
    bool is_run = false;
    for (const std::string &line : lines_of(text)) {
      if (line.starts_with('\t')) {
        if (is_run)
          recipe_.push_back(line.substr(1));
        continue;
      }
      if (trimmed(line).empty() || line.starts_with('#'))
        continue;
      is_run = false;
      if (const auto assigned = line.find_first_of("=:"); assigned != line.npos) {
        const std::size_t equals = line.find('=');
        if (equals != line.npos && (line[assigned] == '=' || equals == assigned + 1))
          assign(line, equals);
        else
          is_run = line[assigned] == ':' && trimmed(line.substr(0, assigned)) == "run";
      }
    }
  }

  std::vector<std::string> arguments() const {
    for (const std::string &command : recipe_) {
      const std::string plain = expanded(command, 0);
      if (plain.find("./") == plain.npos) // such as echo
        continue;
      std::vector<std::string> found =
          arguments_of(plain.substr(std::min(plain.find_first_not_of("@- \t"), plain.size())));
      if (!found.empty())
        return found;
    }
    return {};
  }

private:
  /// `NAME = value`, `NAME := value`, `NAME ?= value`; the first one counts, as it stands for the usual build.
  void assign(const std::string &line, std::size_t equals) {
    std::size_t end = equals;
    while (end > 0 && std::string_view(":?+").contains(line[end - 1]))
      --end;
    std::string value = line.substr(equals + 1);
    if (const std::size_t comment = value.find(" #"); comment != value.npos)
      value.resize(comment);
    variables_.try_emplace(trimmed(line.substr(0, end)), trimmed(value));
  }

  /// The text with `$(NAME)` and `${NAME}` of this file; unknown ones are empty, as make has it.
  std::string expanded(const std::string &text, int depth) const {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char close = i + 1 < text.size() && text[i] == '$' ? (text[i + 1] == '('   ? ')'
                                                                  : text[i + 1] == '{' ? '}'
                                                                                       : 0)
                                                               : 0;
      const std::size_t end = close ? text.find(close, i) : text.npos;
      if (end == text.npos) {
        result += text[i];
        continue;
      }
      const auto known = variables_.find(text.substr(i + 2, end - i - 2));
      if (known != variables_.end() && depth < kMostDepth)
        result += expanded(known->second, depth + 1);
      i = end;
    }
    return result;
  }

  std::map<std::string, std::string> variables_;
  std::vector<std::string> recipe_;
};

} // namespace

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

std::vector<std::string> arguments_of_run_target(std::string_view makefile) {
  return Makefile(makefile).arguments();
}

namespace {

/// nullopt: the folder has no makefile.
std::optional<analysis::RunCommand> read_makefile(llvm::vfs::FileSystem &files,
                                                  const std::string &folder) {
  std::optional<analysis::RunCommand> found;
  for (const char *name : {"GNUmakefile", "makefile", "Makefile"}) {
    const std::string path = folder + "/" + name;
    const auto status = files.status(path);
    if (!status || status->getSize() > kMostBytes)
      continue;
    found.emplace();
    if (const auto buffer = files.getBufferForFile(path))
      if (auto arguments = arguments_of_run_target((*buffer)->getBuffer()); !arguments.empty())
        return analysis::RunCommand{std::move(arguments), std::string("the target run of ") + name};
  }
  return found;
}

} // namespace

analysis::RunCommand read_run_command(llvm::vfs::FileSystem &files, const std::string &folder,
                                      const std::string &file) {
  if (auto found = read_makefile(files, folder))
    return std::move(*found);
  std::string above = llvm::sys::path::parent_path(file).str();
  for (int level = 0; level <= kMostLevels && above.size() > 1; ++level) {
    if (auto found = read_makefile(files, above))
      return std::move(*found);
    if (has_build_file(files, above)) // a program of its own, built in another way
      return {};
    above = llvm::sys::path::parent_path(above).str();
  }
  return {};
}

} // namespace warpwright::config
