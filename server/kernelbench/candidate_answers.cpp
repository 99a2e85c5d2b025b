#include "server/kernelbench/candidate_answers.h"

#include "support/files.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <vector>

namespace warpwright::server {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Answers = std::map<std::string, CandidateAnswer>;

constexpr const char *kFields[] = {"code", "custom_code", "cuda_code", "model_new"};

/// True if a text defines a class; releases also hold empty texts, or "None".
bool holds_a_class(const std::string &text) { return text.find("class ") != std::string::npos; }

/// The answer's class: ModelNew in releases of this form, Model in some.
std::string model_in(const std::string &source) {
  static const std::regex answer(R"((^|\n)class\s+ModelNew\b)"), own(R"((^|\n)class\s+Model\b)");
  return !std::regex_search(source, answer) && std::regex_search(source, own) ? "Model"
                                                                              : "ModelNew";
}

/// Task id "1/23" from level1/23_Name.py, level_1_problem_23_sample_0_kernel.py and the like; else the file's name.
std::string id_of(const fs::path &path) {
  static const std::regex level("level_?([0-9]+)"), problem("(^|problem_)([0-9]+)");
  const std::string folders = path.parent_path().string(), name = path.stem().string();
  std::smatch of_level, of_task;
  const bool has_level =
      std::regex_search(name, of_level, level) || std::regex_search(folders, of_level, level);
  if (!has_level || !std::regex_search(name, of_task, problem))
    return name;
  return std::to_string(std::stol(of_level[1])) + "/" + std::to_string(std::stol(of_task[2]));
}

Result<Answers> load_folder(const fs::path &root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file() && entry->path().extension() == ".py")
      files.push_back(entry->path());
  if (error)
    return fail("cannot read the folder " + root.string() + ": " + error.message());
  std::ranges::sort(files);
  Answers answers;
  for (const fs::path &file : files) {
    auto source = read_file(file);
    if (!source)
      return std::unexpected(source.error());
    if (!holds_a_class(*source))
      continue; // not every Python file is an answer
    const std::string model = model_in(*source);
    answers.try_emplace(id_of(fs::relative(file, root.parent_path())),
                        CandidateAnswer{std::move(*source), model, file.string()});
  }
  return answers;
}

/// The positive number under a key, given as a number or as text; nullopt: none.
std::optional<long> number_at(const json &entry, const char *key) {
  const json value = entry.value(key, json());
  if (value.is_number_integer())
    return value.get<long>();
  if (value.is_string() && !value.get_ref<const std::string &>().empty() &&
      value.get_ref<const std::string &>().find_first_not_of("0123456789") == std::string::npos &&
      value.get_ref<const std::string &>().size() < 9)
    return std::stol(value.get<std::string>());
  return std::nullopt;
}

/// The key of the answer's text in this line; empty: no known key.
std::string field_of(const json &entry, const std::string &wanted) {
  if (!wanted.empty())
    return entry.contains(wanted) ? wanted : "";
  for (const char *known : kFields)
    if (entry.contains(known))
      return known;
  return "";
}

Result<Answers> load_lines(const fs::path &path, const std::string &wanted) {
  Answers answers;
  std::ifstream file(path);
  std::string line;
  bool has_field = false;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    const std::string where = path.string() + ", line " + std::to_string(number);
    const json entry = json::parse(line, nullptr, false);
    if (!entry.is_object())
      return fail(where + " is no JSON object", "Give a folder of Python files, or JSON lines");
    const auto level = number_at(entry, "level_id"), task = number_at(entry, "task_id");
    if (!level || !task)
      return fail(where + " names no task", "A line needs level_id and task_id");
    const std::string field = field_of(entry, wanted);
    has_field = has_field || !field.empty();
    const json text = field.empty() ? json() : entry[field];
    if (!text.is_string() || !holds_a_class(text.get_ref<const std::string &>()))
      continue;
    const std::string source = text;
    answers.try_emplace(std::to_string(*level) + "/" + std::to_string(*task),
                        CandidateAnswer{source, model_in(source), where});
  }
  if (!has_field)
    return fail(path.string() + " has no line with " +
                    (wanted.empty() ? "code, custom_code, cuda_code or model_new" : wanted),
                "Name the field that holds the answers with --candidate-field");
  return answers;
}

} // namespace

Result<Answers> load_candidates(const fs::path &path, const std::string &field) {
  if (!fs::exists(path))
    return fail("there are no candidates at " + path.string(),
                "Give a folder of Python files, or JSON lines with level_id, task_id and code");
  if (fs::is_directory(path))
    return load_folder(path);
  if (path.extension() != ".py")
    return load_lines(path, field);
  auto source = read_file(path);
  if (!source)
    return std::unexpected(source.error());
  const std::string model = model_in(*source);
  return Answers{{id_of(path), CandidateAnswer{std::move(*source), model, path.string()}}};
}

} // namespace warpwright::server
