// Reader of compile_commands.json (Clang's JSON Compilation Database format) and choice of an
// entry.
// Thread: any.
#include "analysis/config/compile_database.h"
#include "analysis/config/flags.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace warpwright::config {
namespace {

using nlohmann::json;

std::optional<std::string> text_member(const json &object, const char *name) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_string())
    return std::nullopt;
  return member->get<std::string>();
}

std::string absolute(const std::string &path, const std::string &directory) {
  llvm::SmallString<128> result(path);
  if (!llvm::sys::path::is_absolute(path)) {
    result = directory;
    llvm::sys::path::append(result, path);
  }
  llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
  return std::string(result);
}

std::optional<CompileCommand> parse_entry(const json &entry) {
  if (!entry.is_object())
    return std::nullopt;
  const auto directory = text_member(entry, "directory");
  const auto file = text_member(entry, "file");
  if (!directory || !file)
    return std::nullopt;
  CompileCommand command{absolute(*file, *directory), *directory, {}};
  if (const auto arguments = entry.find("arguments");
      arguments != entry.end() && arguments->is_array()) {
    for (const json &argument : *arguments)
      if (argument.is_string())
        command.arguments.push_back(argument.get<std::string>());
  } else if (const auto line = text_member(entry, "command")) {
    command.arguments = split_command(*line);
  } else {
    return std::nullopt;
  }
  return command;
}

bool is_cuda(llvm::StringRef path) {
  return llvm::sys::path::extension(path) == ".cu" || llvm::sys::path::extension(path) == ".cuh";
}

int shared_folders(llvm::StringRef left, llvm::StringRef right) {
  int count = 0;
  auto a = llvm::sys::path::begin(left), b = llvm::sys::path::begin(right);
  const auto a_end = llvm::sys::path::end(left), b_end = llvm::sys::path::end(right);
  for (; a != a_end && b != b_end && *a == *b; ++a, ++b)
    ++count;
  return count;
}

/// Similarity of two paths: a common file stem outweighs common folders, and these outweigh a
/// common language.
int likeness(llvm::StringRef entry, llvm::StringRef file) {
  const bool same_stem = llvm::sys::path::stem(entry) == llvm::sys::path::stem(file);
  return 1000 * same_stem + 10 * shared_folders(entry, file) +
         5 * (is_cuda(entry) == is_cuda(file));
}

} // namespace

Result<std::vector<CompileCommand>> parse_compile_database(std::string_view text,
                                                           const std::string &path) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_array())
    return fail(path + " is not a JSON list",
                "generate it again, with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON");
  std::vector<CompileCommand> commands;
  for (const json &entry : document) {
    std::optional<CompileCommand> command = parse_entry(entry);
    if (!command)
      return fail("entry " + std::to_string(commands.size()) + " of " + path +
                      " lacks \"directory\", \"file\", or \"command\" or \"arguments\"",
                  "generate it again, with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON");
    commands.push_back(std::move(*command));
  }
  return commands;
}

const CompileCommand *command_for(const std::vector<CompileCommand> &commands,
                                  const std::string &file) {
  if (const auto exact = std::ranges::find(commands, file, &CompileCommand::file);
      exact != commands.end())
    return &*exact;
  const auto closest = std::ranges::max_element(
      commands, {}, [&](const CompileCommand &command) { return likeness(command.file, file); });
  return closest == commands.end() ? nullptr : &*closest;
}

std::optional<std::string> find_compile_database(llvm::vfs::FileSystem &files,
                                                 const std::string &file) {
  for (llvm::StringRef folder = llvm::sys::path::parent_path(file); !folder.empty();
       folder = llvm::sys::path::parent_path(folder))
    for (const char *below : {"", "build"}) {
      llvm::SmallString<128> candidate(folder);
      llvm::sys::path::append(candidate, below, "compile_commands.json");
      if (files.exists(candidate))
        return std::string(candidate);
    }
  return std::nullopt;
}

} // namespace warpwright::config
