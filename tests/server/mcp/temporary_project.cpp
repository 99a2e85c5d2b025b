#include "tests/server/mcp/temporary_project.h"

#include "support/process.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>

namespace warpwright::tests {

namespace fs = std::filesystem;

TemporaryProject::TemporaryProject() {
  std::string name = (fs::temp_directory_path() / "warpwright-mcp-XXXXXX").string();
  folder_ = fs::canonical(::mkdtemp(name.data()));
  git("init --quiet");
}

TemporaryProject::~TemporaryProject() { fs::remove_all(folder_); }

void TemporaryProject::write(const std::string &name, const std::string &text) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name) << text;
}

void TemporaryProject::remove(const std::string &name) const { fs::remove(folder_ / name); }

std::string TemporaryProject::git(const std::string &words) const {
  const auto ended = run_captured(
      {"sh", "-c", "git -c user.name=test -c user.email=test@example.invalid " + words}, "",
      std::chrono::seconds(30), {.working_directory = folder_.string()});
  REQUIRE_MESSAGE(ended.has_value(), (ended ? "" : describe(ended.error())));
  REQUIRE_MESSAGE(ended->status.code == 0, ended->errors);
  return ended->output;
}

void TemporaryProject::commit() const {
  git("add --all");
  git("commit --quiet --message text");
}

} // namespace warpwright::tests
