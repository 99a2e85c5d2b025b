#include "server/cli/check/repository.h"
#include "support/git.h"

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

} // namespace

Result<Repository> Repository::open(const std::string &revision) {
  const auto root = Git(fs::current_path()).run({"rev-parse", "--show-toplevel"});
  if (!root)
    return fail(root.error().message, root.error().remedy.empty()
                                          ? "check compares with a revision: run it inside a git repository"
                                          : root.error().remedy);
  Repository repository(first_line(*root), revision);
  const Git git(repository.root_);
  const auto commit = git.run({"rev-parse", "--verify", "--end-of-options", revision + "^{commit}"});
  if (!commit)
    return fail("there is no revision " + revision + " in " + repository.root_.string(),
                "Name a branch, a tag or a commit; in CI, fetch it (fetch-depth: 0 of actions/checkout, "
                "GIT_DEPTH: 0 of GitLab)");
  const auto common = git.run({"merge-base", first_line(*commit), "HEAD"});
  repository.has_common_commit_ = common.has_value();
  repository.base_ = first_line(common ? *common : *commit);
  return repository;
}

Result<std::vector<ChangedFile>> Repository::changes() const {
  const auto fields = split_at_nul(TRY(Git(root_).run({"diff", "--name-status", "-z", "--find-renames",
                                                       "--no-ext-diff", "--no-textconv", base_, "--"})));
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
  return split_at_nul(TRY(Git(root_).run({"ls-files", "-z"})));
}

Result<void> Repository::write_base(const fs::path &folder) const {
  const std::string index = "GIT_INDEX_FILE=" + folder.string() + ".index";
  const Git git(root_);
  TRY(git.run({"read-tree", base_}, {}, {index}));
  const auto written = git.run(
      {"checkout-index", "--all", "--force", "--quiet", "--prefix=" + folder.string() + "/"}, {}, {index});
  std::error_code ignored;
  fs::remove(folder.string() + ".index", ignored);
  if (!written)
    return std::unexpected(written.error());
  return {};
}

} // namespace warpwright::cli
