// Finding, reading and replacing files, in a directory of its own.
#include "server/cli/sources.h"

#include <doctest/doctest.h>
#include <fstream>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::cli;
namespace fs = std::filesystem;

namespace {

/// A fresh directory that is removed with its contents.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "warpwright-cli-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  fs::path add(const std::string &name, const std::string &text = "") const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return path / name;
  }
};

} // namespace

TEST_CASE("a directory gives its CUDA sources, sorted, without hidden directories") {
  const Folder folder;
  folder.add("b.cu"), folder.add("sub/a.cuh"), folder.add("c.cpp"), folder.add(".git/x.cu");
  const auto files = find_sources({folder.path.string()});
  REQUIRE(files);
  CHECK(*files == std::vector<fs::path>{folder.path / "b.cu", folder.path / "sub/a.cuh"});
}

TEST_CASE("a missing path and a directory without sources are errors that name it") {
  const Folder folder;
  const auto missing = find_sources({(folder.path / "none.cu").string()});
  REQUIRE(!missing);
  CHECK(missing.error().message ==
        (folder.path / "none.cu").string() + ": no such file or directory");
  const auto empty = find_sources({folder.path.string()});
  REQUIRE(!empty);
  CHECK(empty.error().message == "no CUDA source in " + folder.path.string());
}

TEST_CASE("a file is replaced whole, with its permissions, through a link") {
  const Folder folder;
  const fs::path file = folder.add("k.cu", "old");
  fs::permissions(file, fs::perms(0640));
  fs::create_symlink(file, folder.path / "link.cu");
  REQUIRE(replace_unchanged(folder.path / "link.cu", "old", "new\n"));
  CHECK(*read_file(file) == "new\n");
  CHECK(fs::is_symlink(folder.path / "link.cu"));
  CHECK(fs::status(file).permissions() == fs::perms(0640));
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("a file that changed meanwhile is left alone") {
  const Folder folder;
  const fs::path file = folder.add("k.cu", "edited");
  const auto result = replace_unchanged(file, "old", "new");
  REQUIRE(!result);
  CHECK(result.error().message.find("changed while") != std::string::npos);
  CHECK(*read_file(file) == "edited");
}

TEST_CASE("durations have a unit, seconds by default") {
  CHECK(parse_duration("30s")->count() == 30'000);
  CHECK(parse_duration("500ms")->count() == 500);
  CHECK(parse_duration("1.5m")->count() == 90'000);
  CHECK(parse_duration("4")->count() == 4'000);
  for (const char *bad : {"", "s", "-3s", "0", "3 days", "nan", "1e300s"})
    CHECK_MESSAGE(!parse_duration(bad), bad);
}
