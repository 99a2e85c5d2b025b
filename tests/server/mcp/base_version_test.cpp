// The project at a revision of Git, while the disk has other versions.
#include "server/optimize/base_version.h"

#include "tests/server/mcp/temporary_project.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;
using server::base_version;

namespace {

std::string text_in(const server::BaseVersion &base, const std::string &path) {
  const auto buffer = base.files->getBufferForFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "none";
}

} // namespace

TEST_CASE("a base version has the sources of its commit, whatever the disk has") {
  const TemporaryProject project;
  project.write("src/k.cu", "old\n");
  project.write("src/k.cuh", "old header\n");
  project.write(".warpwright.toml", "run = \"./main 8\"\n");
  project.write("data.bin", "old data\n");
  project.write("lost.cuh", "lost\n");
  project.write("same.cuh", "same\n");
  project.commit();
  project.write("src/k.cu", "new\n");
  project.write("src/k.cuh", "NEW header\n"); // of the same size
  project.write(".warpwright.toml", "run = \"./main 1\"\n");
  project.write("data.bin", "new data\n");
  project.write("added.cuh", "added\n");
  project.remove("lost.cuh");

  const auto base = base_version(project.path("src/k.cu"), "HEAD");
  REQUIRE_MESSAGE(base.has_value(), (base ? "" : describe(base.error())));
  CHECK(base->commit + "\n" == project.git("rev-parse HEAD"));
  CHECK(base->text == "old\n");
  CHECK(text_in(*base, project.path("src/k.cuh")) == "old header\n");
  CHECK(text_in(*base, project.path(".warpwright.toml")) == "run = \"./main 8\"\n");
  CHECK(text_in(*base, project.path("lost.cuh")) == "lost\n");
  CHECK(text_in(*base, project.path("same.cuh")) == "same\n");
  CHECK(text_in(*base, project.path("added.cuh")) == "added\n");
  CHECK(text_in(*base, project.path("data.bin")) == "new data\n"); // no source
}

TEST_CASE("an earlier revision is chosen by its name") {
  const TemporaryProject project;
  project.write("k.cu", "first\n");
  project.commit();
  project.write("k.cu", "second\n");
  project.commit();
  CHECK(base_version(project.path("k.cu"), "HEAD~1")->text == "first\n");
  CHECK(base_version(project.path("k.cu"), "HEAD")->text == "second\n");
}

TEST_CASE("a file or a revision that Git does not have is told apart") {
  const TemporaryProject project;
  project.write("k.cu", "text\n");
  const auto none = base_version(project.path("k.cu"), "HEAD");
  REQUIRE(!none.has_value());
  CHECK(none.error().message.find("there is no revision HEAD") == 0);
  project.commit();
  project.write("new.cu", "new\n");
  CHECK(base_version(project.path("new.cu"), "HEAD")->text == std::nullopt);
  CHECK(!base_version(project.path("k.cu"), "--output=/tmp/x").has_value());
  CHECK(!base_version(project.path("k.cu"), "nowhere").has_value());
  CHECK(server::is_in_repository(project.path("src/deep")));
  CHECK(!base_version("/proc/version", "HEAD").has_value());
}

TEST_CASE("reading a version starts no program of the repository, and takes no replaced object") {
  const TemporaryProject project;
  project.write("k.cu", "text\n");
  project.write(".gitattributes", "*.cu filter=mark diff=mark\n");
  project.commit();
  const std::string mark = project.path("mark"), run = "touch " + mark;
  for (const char *key : {"filter.mark.smudge", "filter.mark.clean", "diff.mark.textconv",
                          "core.fsmonitor", "core.pager"})
    project.git("config " + std::string(key) + " '" + run + "'");
  project.write("other.txt", "cheat\n");
  const std::string cheat = project.git("hash-object -w --no-filters other.txt");
  const std::string blob = project.git("rev-parse HEAD:k.cu");
  project.git("replace -f " + blob.substr(0, 40) + " " + cheat.substr(0, 40));
  std::filesystem::remove(mark);
  project.write("k.cu", "edited\n");
  const auto base = base_version(project.path("k.cu"), "HEAD");
  REQUIRE_MESSAGE(base.has_value(), (base ? "" : describe(base.error())));
  CHECK(base->text == "text\n");
  CHECK(!std::filesystem::exists(mark));
}
