// `warpwright trust`: shows the requests of a project's .warpwright.toml, and stores the user's
// approval of the file and of its folder. Editors may then build and run the folder's code.
//
// The approval covers the content of the file as shown: changed content needs a new approval.
// Editors share the store (analysis/consent/approvals.h).
#include "server/cli/commands.h"

#include "analysis/config/project_config.h"
#include "server/trust_questions.h"
#include "support/hash.h"

#include <filesystem>
#include <iostream>
#include <unistd.h>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

/// A folder and its project file, if there is one.
struct Project {
  consent::ProjectFile file;
  std::string folder; ///< without symbolic links
};

int print_failure(const Error &error, int code = kFailed) {
  std::cerr << "warpwright: " << describe(error) << '\n';
  return code;
}

/// Errors: a file that does not parse, or that names a runner that is not allowed.
Result<Project> find_project(const std::string &given) {
  const std::string path = fs::absolute(given.empty() ? "." : given).lexically_normal().string();
  std::error_code error;
  if (!fs::exists(path, error))
    return fail(path + ": no such file or directory", "Name the folder of a project");
  const fs::path folder =
      fs::is_directory(path, error) ? fs::path(path) : fs::path(path).parent_path();
  const auto config = config::load_project_config(*llvm::vfs::getRealFileSystem(),
                                                  (folder / "x").string(), config::user_consent());
  if (!config)
    return std::unexpected(config.error());
  Project project{config->file, consent::real_path(folder.string())};
  if (!project.file.path.empty())
    project.folder = consent::real_path(fs::path(project.file.path).parent_path().string());
  return project;
}

bool confirmed(const TrustOptions &options) {
  if (options.yes)
    return true;
  if (::isatty(STDIN_FILENO) == 0) {
    std::cerr << "warpwright: nothing was approved, since nobody can be asked here. Say --yes to "
                 "approve what is printed above\n";
    return false;
  }
  std::cout << "Do you trust this? [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

int approve(const Project &project, const TrustOptions &options) {
  const consent::ProjectFile &file = project.file;
  const bool asks = !file.requests.empty();
  const bool whole_folder = !server::is_too_wide(project.folder);
  if (asks)
    std::cout << file.path << " asks for:\n" << consent::requests_text(file.requests);
  if (asks && !file.unapprovable.empty())
    return print_failure(*consent::withheld_notice(file));
  if (whole_folder)
    std::cout << "Editors may build and run the kernels and modules in " << project.folder
              << " when you optimize them.\n";
  if (!asks && !whole_folder)
    return print_failure({"there is nothing to approve in " + project.folder,
                          "Name the folder of a project; a home directory is too wide"},
                         kUsage);
  if (!confirmed(options))
    return kFailed;
  const auto kept = server::keep_trust(consent::ApprovalStore(),
                                       whole_folder ? project.folder : "", asks ? &file : nullptr);
  if (!kept)
    return print_failure(kept.error());
  std::cout << "Approved" << (asks ? ", until " + file.path + " changes" : "")
            << ". To take it back: warpwright trust --revoke " << project.folder << '\n';
  return kOk;
}

int revoke(const TrustOptions &options) {
  const std::string path =
      consent::real_path(fs::absolute(options.path.empty() ? "." : options.path).string());
  std::size_t removed = 0;
  const auto kept = consent::ApprovalStore().update([&](consent::Approved &approved) {
    removed += approved.folders.erase(path);
    for (const std::string &file : {path, (fs::path(path) / ".warpwright.toml").string()})
      removed += approved.files.erase(file);
  });
  if (!kept)
    return print_failure(kept.error());
  if (removed == 0)
    return print_failure({"nothing was approved for " + path, "See: warpwright trust --list"});
  std::cout << "No longer approved: " << path << '\n';
  return kOk;
}

int list() {
  const auto approved = consent::ApprovalStore().read();
  if (!approved)
    return print_failure(approved.error());
  for (const std::string &folder : approved->folders)
    std::cout << folder << '\n';
  for (const auto &[file, hash] : approved->files) {
    const auto text = consent::read_own(file);
    std::cout << file
              << (!text                       ? "  (cannot be read now)"
                  : sha256_hex(*text) == hash ? ""
                                              : "  (changed since, so it is not approved)")
              << '\n';
  }
  if (approved->folders.empty() && approved->files.empty())
    std::cout << "Nothing is approved.\n";
  return kOk;
}

} // namespace

int run_trust(const TrustOptions &options) {
  if (options.list)
    return list();
  if (options.revoke)
    return revoke(options);
  const auto project = find_project(options.path);
  return project ? approve(*project, options) : print_failure(project.error());
}

} // namespace warpwright::cli
