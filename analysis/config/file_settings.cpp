// Combination of the sources of settings. Explicit sources win: .warpwright.toml, then the compile
// command, then the environment. Thread: one at a time.
#include "analysis/config/file_settings.h"
#include "analysis/config/flags.h"
#include "analysis/config/makefile.h"

#include <algorithm>
#include <llvm/Support/Path.h>

namespace warpwright::config {
namespace {

/// Response files of CMake hold a target's include folders, a few hundred lines at most.
constexpr std::uint64_t kMostResponseBytes = 1 << 20;

/// A folder means the compile_commands.json in that folder.
std::string database_file(const std::string &folder_or_file) {
  if (folder_or_file.ends_with(".json"))
    return folder_or_file;
  return folder_or_file + "/compile_commands.json";
}

} // namespace

SettingsReader::SettingsReader(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files,
                               Environment environment, Consent consent)
    : files_(std::move(files)), environment_(std::move(environment)), consent_(std::move(consent)),
      programs_(files_) {}

FileSettings SettingsReader::read(const std::string &file) {
  FileSettings settings;
  settings.parse.directory = llvm::sys::path::parent_path(file).str();
  if (settings.parse.directory.empty())
    settings.parse.directory = "/";
  if (Result<ProjectConfig> project = load_project_config(*files_, file, consent_))
    settings.project = std::move(*project);
  else
    settings.problems.push_back(project.error());
  settings.problems.insert(settings.problems.end(), settings.project.problems.begin(),
                           settings.project.problems.end());
  ProgramPlace place = programs_.place_of(file);
  settings.parse.included_by = std::move(place.included_by);
  settings.parse.other_includers = std::move(place.other_includers);
  settings.parse.program = std::move(place.sources);
  const std::string &compiled = settings.parse.included_by.empty() ? file : settings.parse.included_by;
  apply_compile_command(compiled, settings);
  BuildFacts build = read_makefile(*files_, settings.parse.directory, compiled);
  if (settings.command_of.empty() && !build.compile.empty())
    apply_makefile(build, settings);
  settings.parse.run = settings.project.run_arguments.empty()
                           ? std::move(build.run)
                           : analysis::RunCommand{settings.project.run_arguments,
                                                  "run of " + settings.project.file.path};
  auto &generated = settings.parse.code_generation;
  generated.insert(generated.end(), settings.project.code_generation.begin(), settings.project.code_generation.end());
  auto &flags = settings.parse.flags;
  std::erase_if(flags, [&](const std::string &flag) {
    return std::ranges::find(settings.project.remove_flags, flag) !=
           settings.project.remove_flags.end();
  });
  flags.insert(flags.end(), settings.project.flags.begin(), settings.project.flags.end());
  settings.toolkit =
      find_toolkit(*files_, environment_,
                   {{settings.project.cuda_path, "cuda_path in " + settings.project.file.path},
                    {settings.parse.cuda_path, "the compile command"}});
  if (!settings.project.cuda_path.empty() &&
      (!settings.toolkit || settings.toolkit->path != settings.project.cuda_path))
    settings.problems.push_back({settings.project.file.path + ": cuda_path " +
                                     settings.project.cuda_path +
                                     " holds no include/cuda_runtime.h",
                                 "name the root of a CUDA toolkit, or remove the key"});
  settings.parse.cuda_path = settings.toolkit ? settings.toolkit->path : "";
  return settings;
}

const SettingsReader::Database &SettingsReader::database(const std::string &path) {
  const auto status = files_->status(path);
  Database &cached = databases_[path];
  if (!status) {
    cached = {.error = Error{"cannot read " + path + ": " + status.getError().message(),
                             "generate it, with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"}};
    return cached;
  }
  if (cached.modified == status->getLastModificationTime() &&
      (cached.error || !cached.commands.empty()))
    return cached;
  cached = {.modified = status->getLastModificationTime()};
  const auto buffer = files_->getBufferForFile(path);
  if (!buffer)
    cached.error = Error{"cannot read " + path + ": " + buffer.getError().message(), ""};
  else if (auto commands = parse_compile_database((*buffer)->getBuffer(), path))
    cached.commands = std::move(*commands);
  else
    cached.error = commands.error();
  return cached;
}

void SettingsReader::apply_compile_command(const std::string &file, FileSettings &settings) {
  const std::optional<std::string> path = settings.project.compile_commands.empty()
                                              ? find_compile_database(*files_, file)
                                              : database_file(settings.project.compile_commands);
  if (!path)
    return;
  const Database &commands = database(*path);
  if (commands.error)
    settings.problems.push_back(*commands.error);
  const CompileCommand *command = command_for(commands.commands, file);
  if (!command)
    return;
  TranslatedFlags translated = translate_flags(
      command->arguments, command->directory,
      [this](const std::string &response) -> std::optional<std::string> {
        const auto status = files_->status(response);
        if (!status || !status->isRegularFile() || status->getSize() > kMostResponseBytes)
          return std::nullopt; // reading a pipe would never end
        const auto buffer = files_->getBufferForFile(response);
        return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
      });
  settings.parse.flags = std::move(translated.flags);
  settings.parse.code_generation = std::move(translated.code_generation);
  settings.parse.directory = command->directory;
  settings.parse.cuda_path = std::move(translated.cuda_path);
  settings.compile_commands = *path;
  settings.command_of = command->file;
}

/// Takes the flags of a makefile's command. Its paths start at the makefile's folder; response files are not read.
void SettingsReader::apply_makefile(const BuildFacts &build, FileSettings &settings) {
  TranslatedFlags translated =
      translate_flags(build.compile, llvm::sys::path::parent_path(build.makefile).str(),
                      [](const std::string &) { return std::nullopt; });
  settings.parse.flags = std::move(translated.flags);
  settings.parse.code_generation = std::move(translated.code_generation);
  settings.command_of = build.makefile;
}

} // namespace warpwright::config
