// Calls of git, and its NUL-separated lists.
#include "server/cli/check/repository.h"
#include "support/process.h"

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kLimit{10};

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

/// Output of a git command. Errors: git is missing or fails; with its last message.
Result<std::string> git(const fs::path &folder, std::vector<std::string> arguments,
                        std::vector<std::string> environment = {}) {
  std::vector<std::string> command{"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"};
  const std::string what = "git " + arguments.front();
  command.insert(command.end(), arguments.begin(), arguments.end());
  environment.insert(environment.end(),
                     {"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C"});
  const auto run = run_captured(command, "", kLimit,
                                {.environment = environment, .working_directory = folder.string()});
  if (!run)
    return fail(run.error().message, "Install git, which check reads the changes with");
  if (run->status.code != 0 || run->status.signal != 0)
    return fail(what + " failed: " + trimmed(run->errors));
  return run->output;
}

std::vector<std::string> split_at_nul(const std::string &text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\0', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

} // namespace

Result<Repository> Repository::open(const std::string &revision) {
  const auto root = git(fs::current_path(), {"rev-parse", "--show-toplevel"});
  if (!root)
    return fail(root.error().message, root.error().remedy.empty()
                                          ? "check compares with a revision: run it inside a git repository"
                                          : root.error().remedy);
  Repository repository(trimmed(*root), revision);
  const auto commit = git(repository.root_, {"rev-parse", "--verify", "--end-of-options", revision + "^{commit}"});
  if (!commit)
    return fail("there is no revision " + revision + " in " + repository.root_.string(),
                "Name a branch, a tag or a commit; in CI, fetch it (fetch-depth: 0 of actions/checkout, "
                "GIT_DEPTH: 0 of GitLab)");
  const auto common = git(repository.root_, {"merge-base", trimmed(*commit), "HEAD"});
  repository.has_common_commit_ = common.has_value();
  repository.base_ = trimmed(common ? *common : *commit);
  return repository;
}

Result<std::vector<ChangedFile>> Repository::changes() const {
  const auto fields = split_at_nul(TRY(git(root_, {"diff", "--name-status", "-z", "--find-renames", "--no-ext-diff",
                                                   "--no-textconv", base_, "--"})));
  std::vector<ChangedFile> changed;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const char status = fields[i].empty() ? ' ' : fields[i][0];
    const std::string &path = fields[i + 1];
    if (status == 'R' || status == 'C') {
      if (i + 2 < fields.size())
        changed.push_back({fields[i + 2], path, false});
      ++i;
    } else {
      changed.push_back({path, status == 'A' ? "" : path, status == 'D'});
    }
  }
  return changed;
}

Result<std::vector<std::string>> Repository::files() const {
  return split_at_nul(TRY(git(root_, {"ls-files", "-z"})));
}

Result<void> Repository::write_base(const fs::path &folder) const {
  const std::string index = "GIT_INDEX_FILE=" + folder.string() + ".index";
  TRY(git(root_, {"read-tree", base_}, {index}));
  const auto written = git(root_, {"checkout-index", "--all", "--force", "--quiet", "--prefix=" + folder.string() + "/"}, {index});
  std::error_code ignored;
  fs::remove(folder.string() + ".index", ignored);
  if (!written)
    return std::unexpected(written.error());
  return {};
}

} // namespace warpwright::cli
