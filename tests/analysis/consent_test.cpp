// The user's approvals and runners, on real files with their modes. Thread: as each test says.
#include "analysis/analyze.h"
#include "analysis/config/project_config.h"
#include "analysis/consent/approvals.h"
#include "analysis/consent/known_runners.h"
#include "support/hash.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace warpwright;
using namespace warpwright::consent;
namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "warpwright-consent-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  fs::path write(const std::string &name, const std::string &text, mode_t mode = 0600) const {
    std::ofstream(path / name) << text;
    ::chmod((path / name).c_str(), mode);
    return path / name;
  }
};

mode_t mode_of(const fs::path &path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

/// The project's configuration as a user sees it whose approvals are `store`.
config::ProjectConfig loaded(const fs::path &folder, const ApprovalStore &store) {
  const auto config = config::load_project_config(
      *llvm::vfs::getRealFileSystem(), (folder / "a.cu").string(),
      {[store](const std::string &file, const std::string &hash) -> Result<bool> {
         return store.read()->approves(file, hash);
       },
       [](const std::string &named) { return named; }});
  REQUIRE_MESSAGE(config.has_value(), (config ? "" : describe(config.error())));
  return *config;
}

void approve(const ApprovalStore &store, const config::ProjectConfig &config) {
  REQUIRE(store
              .update([&](Approved &approved) {
                approved.files[config.file.identity] = config.file.content_hash;
              })
              .has_value());
}

} // namespace

TEST_CASE("an approval is for one path and one content, and is the user's alone to read") {
  const Folder folder;
  const ApprovalStore store(folder.path / "state" / "approvals.json");
  CHECK(store.read()->files.empty());
  fs::create_directories(folder.path / "project");
  folder.write("project/.warpwright.toml", "python = 'venv/bin/python'\n");
  const auto before = loaded(folder.path / "project", store);
  CHECK(before.python == "");
  CHECK(before.file.is_withheld());
  approve(store, before);
  CHECK(mode_of(store.path()) == 0600);
  CHECK(loaded(folder.path / "project", store).python ==
        (folder.path / "project/venv/bin/python").string());

  folder.write("project/.warpwright.toml", "python = 'venv/bin/python'\n# changed\n");
  CHECK(loaded(folder.path / "project", store).python == "");
  fs::create_directories(folder.path / "copy");
  folder.write("copy/.warpwright.toml", "python = 'venv/bin/python'\n");
  CHECK(loaded(folder.path / "copy", store).file.is_withheld());
}

TEST_CASE("a linked folder is the folder it leads to, and a linked file is a file of its own") {
  const Folder folder;
  const ApprovalStore store(folder.path / "approvals.json");
  fs::create_directories(folder.path / "real");
  folder.write("real/.warpwright.toml", "python = 'p'\n");
  approve(store, loaded(folder.path / "real", store));
  fs::create_directory_symlink(folder.path / "real", folder.path / "link");
  CHECK(loaded(folder.path / "link", store).file.approved);
  fs::create_directories(folder.path / "other");
  fs::create_symlink(folder.path / "real/.warpwright.toml", folder.path / "other/.warpwright.toml");
  CHECK_FALSE(loaded(folder.path / "other", store).file.approved);
}

TEST_CASE("a file that others may write, or that belongs to another user, is never approved") {
  const Folder folder;
  const ApprovalStore store(folder.path / "approvals.json");
  const fs::path file = folder.write(".warpwright.toml", "python = 'p'\n", 0666);
  const auto open = loaded(folder.path, store);
  approve(store, open);
  CHECK_FALSE(loaded(folder.path, store).file.approved);
  CHECK(loaded(folder.path, store).file.unapprovable.contains("may write it"));
  ::chmod(file.c_str(), 0644);
  CHECK(loaded(folder.path, store).file.approved);
  if (::geteuid() != 0)
    return; // only root can give a file away
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(loaded(folder.path, store).file.approved);
  CHECK(loaded(folder.path, store).file.unapprovable.contains("another user"));
}

TEST_CASE("a configuration that is a pipe or too large is an error, and does not stop the reader") {
  const Folder folder;
  REQUIRE(::mkfifo((folder.path / ".warpwright.toml").c_str(), 0600) == 0);
  const auto pipe = config::load_project_config(
      *llvm::vfs::getRealFileSystem(), (folder.path / "a.cu").string(), config::user_consent());
  REQUIRE_FALSE(pipe.has_value());
  CHECK(pipe.error().message.contains("no regular file"));
}

TEST_CASE("a store that others may write, or that is broken, approves nothing and says so") {
  const Folder folder;
  const fs::path file = folder.write("approvals.json", R"({"files": {"/p": "x"}})", 0622);
  const ApprovalStore store(file);
  CHECK_FALSE(store.read().has_value());
  ::chmod(file.c_str(), 0600);
  CHECK(store.read()->files.size() == 1);
  folder.write("approvals.json", "[1");
  CHECK(store.read().error().remedy.contains("Remove it"));
  CHECK_FALSE(ApprovalStore(fs::path()).update([](Approved &) {}).has_value());
}

TEST_CASE("a precompiled header of the project is not loaded in place of the header") {
  const Folder folder;
  const fs::path header = folder.write("names.h", "#define SIZE 3\n");
  folder.write("names.h.pch", "no syntax tree, but what an attacker wrote");
  const auto facts = analysis::analyze(
      {(folder.path / "a.cu").string(), "__global__ void fill(float *x) { x[SIZE] = 1; }\n"},
      {.flags = {"-include", header.string()}, .directory = folder.path.string()});
  CHECK(facts.kernels.size() == 1);
  for (const analysis::Diagnostic &diagnostic : facts.diagnostics)
    CHECK_MESSAGE(diagnostic.severity != analysis::Severity::Error, diagnostic.message);
}

TEST_CASE("approvals of several editors at once are all kept") {
  const Folder folder;
  const ApprovalStore store(folder.path / "approvals.json");
  constexpr int kEditors = 4, kEach = 8;
  {
    std::vector<std::jthread> editors;
    for (int editor = 0; editor < kEditors; ++editor)
      editors.emplace_back([&, editor] {
        for (int i = 0; i < kEach; ++i)
          (void)store.update([&](Approved &approved) {
            approved.folders.insert("/p/" + std::to_string(editor) + "/" + std::to_string(i));
          });
      });
  }
  CHECK(store.read()->folders.size() == kEditors * kEach);
}

TEST_CASE("a trusted folder holds what is below it and nothing beside it") {
  const Approved approved{.files = {}, .folders = {"/p/a"}};
  CHECK(approved.trusts("/p/a"));
  CHECK(approved.trusts("/p/a/deep/x.cu"));
  CHECK_FALSE(approved.trusts("/p/ab/x.cu"));
  CHECK_FALSE(approved.trusts("/p"));
  CHECK_FALSE(Approved{}.trusts("/"));
}

TEST_CASE("a project reaches only a runner of the user's, with that runner's credentials") {
  const Folder folder;
  const fs::path file = folder.write(
      "runners.toml", "runners = ['tls://GPU.lab:4433?ca=/me/ca&token-file=/me/token', "
                      "'tls://bare.lab:1?ca=/x', 'amqps://me:secret@broker.lab/fleet', "
                      "'ssh://me@gpu-box:2222?python=/v/python', 'slurm://gpu']\n");
  CHECK(own_runner_url("tls://gpu.lab:4433", file) ==
        "tls://GPU.lab:4433?ca=/me/ca&token-file=/me/token");
  CHECK(own_runner_url("amqps://broker.lab:5671/fleet", file) ==
        "amqps://me:secret@broker.lab/fleet");
  CHECK(own_runner_url("unix:/run/w", file) == "unix:/run/w");
  CHECK(own_runner_url("ssh://GPU-box:2222", file) == "ssh://me@gpu-box:2222?python=/v/python");
  for (const char *other : {"tls://gpu.lab:4434", "tls://evil.lab:4433", "amqps://broker.lab/other",
                            "amqps://gpu.lab:4433", "tls://bare.lab:1", "ssh://gpu-box", "ssh://gpu.lab:4433",
                            "slurm://gpu"}) {
    CAPTURE(other);
    const auto refused = own_runner_url(other, file);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().remedy.contains(file.string()));
    CHECK_FALSE(describe(refused.error()).contains("secret"));
  }
  CHECK_FALSE(own_runner_url("tls://gpu.lab:4433", folder.path / "absent").has_value());
  ::chmod(file.c_str(), 0644);
  CHECK(own_runner_url("tls://gpu.lab:4433", file).error().remedy.contains("chmod 600"));
}
