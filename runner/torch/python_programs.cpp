#include "runner/torch/python_programs.h"

#include <cstdlib>
#include <iostream>
#include <memory>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Cache folder of compiled extensions; must match cache_folder() of warpwright_runtime.
fs::path extension_folder() {
  const auto value = [](const char *name) {
    const char *text = std::getenv(name);
    return fs::path(text ? text : "");
  };
  if (const fs::path chosen = value("TORCH_EXTENSIONS_DIR"); !chosen.empty())
    return chosen;
  const fs::path cache = value("XDG_CACHE_HOME");
  if (cache.empty() && value("HOME").empty())
    return {};
  return (cache.empty() ? value("HOME") / ".cache" : cache) / "warpwright-torch";
}

/// Whether `path` is absolute and neither the home directory nor one of its parents. Those are no
/// folders of packages and must not become readable.
bool is_narrow(const fs::path &path) {
  const char *home = std::getenv("HOME");
  const fs::path relative = fs::path(home ? home : "/root").lexically_relative(path);
  return path.is_absolute() && path != "/" && !relative.empty() && *relative.begin() == "..";
}

struct Interpreter {
  std::string executable;
  std::vector<fs::path> paths;
};

/// Runs interpreter_paths.py to find the interpreter's executable and the paths of its packages.
/// @param builds whether to also build the extension that calls candidates, in a folder that no
///        worker can write
Interpreter ask_interpreter(const fs::path &folder, const std::string &python, bool builds) {
  EnclosedProgram asking{.command = {python, "-B", (folder / "interpreter_paths.py").string()},
                 .sandbox = {.kind = WorkerKind::Python, .opens_gpu = false, .sees_all = true}};
  const fs::path extensions = extension_folder();
  if (builds && !extensions.empty()) {
    std::error_code error;
    fs::create_directories(extensions, error);
    asking.command.push_back(extensions.string());
    asking.sandbox.writable = {extensions};
  }
  const auto told = output_of(asking);
  const json document = told ? json::parse(*told, nullptr, false) : json();
  Interpreter found{python, {}};
  if (!document.is_object() || !document.contains("paths")) {
    std::cerr << python << " does not report where its packages are" << std::endl;
    return found;
  }
  found.executable = document.value("executable", python);
  for (const json &path : document["paths"])
    if (path.is_string() && is_narrow(path.get<std::string>()))
      found.paths.emplace_back(path.get<std::string>());
  if (builds && !extensions.empty()) {
    found.paths.push_back(extensions);
    // The worker uses another cache folder, so it needs the path of this one.
    setenv("WARPWRIGHT_DIRECT_CALL", extensions.c_str(), 1);
  }
  return found;
}

EnclosedProgram python_program(const TorchFiles &files, WorkerKind kind, const std::string &script,
                       std::vector<std::string> arguments, bool builds = false) {
  EnclosedProgram program{.command = {python_interpreter(), "-B", "-u", (files.folder / script).string()},
                  .sandbox = files.sandbox};
  program.command.insert(program.command.end(), arguments.begin(), arguments.end());
  program.sandbox.kind = kind;
  program.sandbox.readable.insert(program.sandbox.readable.end(),
                                  {files.folder, files.library.parent_path()});
  program.prepare = [folder = files.folder, builds,
                     known = std::make_shared<std::optional<Interpreter>>()](EnclosedProgram &wanted) {
    if (!*known)
      *known = ask_interpreter(folder, wanted.command[0], builds);
    wanted.command[0] = (*known)->executable;
    wanted.sandbox.readable.insert(wanted.sandbox.readable.end(), (*known)->paths.begin(),
                                   (*known)->paths.end());
  };
  return program;
}

} // namespace

std::string python_interpreter() {
  const char *chosen = std::getenv(kPythonVariable);
  return chosen && *chosen ? chosen : "python3";
}

EnclosedProgram host_program(const TorchFiles &files, const std::string &device) {
  EnclosedProgram program = python_program(files, WorkerKind::Python, "host.py",
                                   {files.library.string(), device}, true);
  program.sandbox.seals_later = true;
  return program;
}

EnclosedProgram trace_program(const TorchFiles &files) {
  return python_program(files, WorkerKind::Python, "trace_host.py", {});
}

EnclosedProgram torch_program(const TorchFiles &files, std::vector<int> descriptors, std::size_t bytes) {
  EnclosedProgram program = python_program(files, WorkerKind::Python, "child_host.py",
                                   {files.library.string(), std::to_string(bytes)});
  program.sandbox.opens_gpu = false;
  program.descriptors = std::move(descriptors);
  program.may_ask = true;
  return program;
}

EnclosedProgram candidate_program(const TorchFiles &files) {
  EnclosedProgram program = python_program(files, WorkerKind::Candidate, "candidate_host.py",
                                   {files.library.string(), "3", "%SIZE%"});
  program.sandbox.seals_later = true;
  program.has_folder = true;
  return program;
}

} // namespace warpwright::runner
