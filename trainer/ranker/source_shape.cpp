#include "trainer/ranker/source_shape.h"

#include "support/files.h"
#include "support/hash.h"
#include "trainer/tokens/source_words.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 16;

/// Length of the text literal at the start of `rest`; 0: there is none. Python's may have three
/// quotes.
std::size_t literal_length(std::string_view rest, bool python) {
  const char quote = rest.front();
  if (quote != '"' && !(python && quote == '\''))
    return 0;
  const std::string three(3, quote);
  const bool is_long = python && rest.starts_with(three);
  const std::string_view end = is_long ? std::string_view(three) : rest.substr(0, 1);
  for (std::size_t i = end.size(); i < rest.size(); ++i) {
    if (rest[i] == '\\')
      ++i;
    else if (rest.substr(i).starts_with(end))
      return i + end.size();
  }
  return rest.size();
}

/// The source without texts, and without Python's comments; source_words() leaves out those of C++.
std::string without_texts(std::string_view source, bool python) {
  std::string kept;
  while (!source.empty()) {
    std::size_t length = literal_length(source, python);
    if (python && source.front() == '#')
      length = std::min(source.find('\n'), source.size());
    if (length == 0) {
      kept += source.front();
      length = 1;
    }
    source.remove_prefix(length);
  }
  return kept;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Names of functions and classes that the source defines: a name behind a type, `def` or `class`,
/// before a bracket.
std::set<std::string> defined_names(std::string_view text) {
  static const std::set<std::string, std::less<>> kBefore{
      "void", "class", "def",      "struct", "bool", "char", "short", "int",
      "long", "float", "unsigned", "double", "half", "auto", "__half"};
  std::set<std::string> names;
  std::string_view before;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_name(text[i])) {
      if (!std::isspace(static_cast<unsigned char>(text[i])))
        before = {};
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name(text[end]))
      ++end;
    const std::string_view word = text.substr(i, end - i);
    if (end < text.size() && text[end] == '(' && kBefore.contains(before))
      names.emplace(word);
    before = word;
    i = end;
  }
  return names;
}

} // namespace

std::string source_shape(std::string_view source, bool python) {
  const std::string text = without_texts(source, python);
  const std::set<std::string> own = defined_names(text);
  std::string words;
  for (const std::string &word : source_words(text, std::numeric_limits<std::size_t>::max())) {
    const bool is_number = std::isdigit(static_cast<unsigned char>(word.front())) || word == "num";
    words += is_number ? "num" : own.contains(word) ? "own" : word;
    words += ' ';
  }
  return sha256_hex(words).substr(0, kDigits);
}

Result<ExcludedSources> read_excluded_sources(const std::string &path) {
  const std::string text = TRY(read_file(path));
  ExcludedSources sources;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with('#') || line.empty())
      continue;
    if (line.size() < kDigits + 2 || line[kDigits] != ' ')
      return fail(path + ":" + std::to_string(number) + ": this is neither a shape nor a path",
                  "Make the list again: warpwright-train ranker --exclude FOLDER");
    sources.emplace(line.substr(0, kDigits), line.substr(kDigits + 1));
  }
  return sources;
}

Result<ExcludedSources> sources_in(const std::vector<std::string> &places) {
  ExcludedSources sources;
  const auto add = [&](const fs::path &file, const fs::path &from) -> Result<void> {
    const std::string extension = file.extension();
    if (extension != ".py" && extension != ".cu")
      return {};
    const std::string text = TRY(read_file(file));
    sources.emplace(source_shape(text, extension == ".py"), file.lexically_relative(from));
    return {};
  };
  for (const std::string &place : places) {
    std::error_code failed;
    const fs::path root = fs::absolute(place).lexically_normal();
    if (fs::is_regular_file(root, failed)) {
      TRY(add(root, root.parent_path().parent_path().parent_path()));
      continue;
    }
    for (const auto &entry : fs::recursive_directory_iterator(root, failed))
      if (entry.is_regular_file())
        TRY(add(entry.path(), root.parent_path()));
    if (failed)
      return fail("cannot read the folder " + place + ": " + failed.message());
  }
  return sources;
}

std::string to_text(const ExcludedSources &sources) {
  std::string text = "# Shapes (source_shape.h) of sources that no training record may share.\n";
  for (const auto &[shape, path] : sources)
    text += shape + " " + path + "\n";
  return text;
}

} // namespace warpwright::trainer
