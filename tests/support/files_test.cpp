// Files under kill -9 and under several writers at once: real processes on a real disk.
#include "support/files.h"

#include <csignal>
#include <doctest/doctest.h>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace warpwright {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
};

std::string text_of(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A process that does `work` and ends with its answer.
pid_t child(const std::function<bool()> &work) {
  const pid_t pid = fork();
  if (pid == 0)
    _exit(work() ? 0 : 1);
  return pid;
}

int ended(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

Result<LineFile> open_lines(const fs::path &path, std::string *seen = nullptr) {
  return LineFile::open(path, [&](const std::string &lines) -> Result<std::string> {
    if (seen)
      *seen = lines;
    return lines.empty() ? "header\n" : "";
  });
}

TEST_CASE("a writer that is killed leaves the old file or the new one, whole") {
  const Folder folder;
  const fs::path path = folder.path / "page";
  constexpr std::size_t kBytes = 1 << 20;
  REQUIRE(write_atomically(path, std::string(kBytes, 'a')));
  std::set<char> left;
  for (int round = 0; round < 12; ++round) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    const pid_t writer = child([&] {
      for (int i = 0;; ++i) {
        if (!write_atomically(path, std::string(kBytes, char('a' + i % 26))))
          return false;
        if (write(ready[1], "x", 1) != 1)
          return false;
      }
    });
    close(ready[1]);
    char block[4];
    for (int i = 0; i <= round % 4; ++i) // after as many files, in the middle of the next
      REQUIRE(read(ready[0], block, 1) == 1);
    kill(writer, SIGKILL);
    CHECK(WIFSIGNALED(ended(writer)));
    close(ready[0]);
    const std::string text = text_of(path);
    REQUIRE(text.size() == kBytes);
    CHECK(text.find_first_not_of(text[0]) == std::string::npos);
    left.insert(text[0]);
  }
  CHECK(left.size() > 1);
}

TEST_CASE("a file that is replaced keeps its mode, and a link to it stays a link") {
  const Folder folder;
  const fs::path file = folder.path / "file", link = folder.path / "link";
  REQUIRE(write_atomically(file, "old"));
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, link);
  REQUIRE(write_atomically(link, "new"));
  CHECK(fs::is_symlink(link));
  CHECK(text_of(file) == "new");
  struct stat status{};
  REQUIRE(stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const auto failed = write_atomically(folder.path / "none" / "file", "x");
  REQUIRE(!failed);
  CHECK(failed.error().message.find("none/file") != std::string::npos);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE(
    "lines of many writers that open and close the file at once are all kept, after one header") {
  const Folder folder;
  const fs::path path = folder.path / "lines";
  constexpr int kWriters = 4, kLines = 50;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer)
    writers.push_back(child([&, writer] {
      for (int i = 0; i < kLines; ++i) {
        auto file = open_lines(path);
        if (!file || !file->append(std::to_string(writer) + " " + std::to_string(i)))
          return false;
      }
      return true;
    }));
  for (const pid_t writer : writers)
    CHECK(ended(writer) == 0);
  std::istringstream text(text_of(path));
  std::multiset<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.insert(line);
  CHECK(lines.size() == 1 + kWriters * kLines);
  CHECK(lines.count("header") == 1);
  for (int writer = 0; writer < kWriters; ++writer)
    for (int i = 0; i < kLines; ++i)
      CHECK(lines.count(std::to_string(writer) + " " + std::to_string(i)) == 1);
}

TEST_CASE("half a line of a killed writer is dropped, by a reader and by a writer that has the "
          "file open") {
  const Folder folder;
  const fs::path path = folder.path / "lines";
  auto file = open_lines(path);
  REQUIRE(file);
  REQUIRE(file->append("first"));
  const auto cut_line = [&] {
    const pid_t killed = child([&] {
      std::ofstream(path, std::ios::app) << "half a li" << std::flush;
      return raise(SIGKILL) == 0;
    });
    CHECK(WIFSIGNALED(ended(killed)));
    CHECK(text_of(path).ends_with("half a li"));
  };
  cut_line();
  std::string seen;
  REQUIRE(open_lines(path, &seen));
  CHECK(seen == "header\nfirst\n");
  CHECK(text_of(path) == seen);
  cut_line();
  REQUIRE(file->append("second"));
  CHECK(text_of(path) == "header\nfirst\nsecond\n");
}

TEST_CASE("what cannot be written leaves the lines that are there") {
  const Folder folder;
  const fs::path path = folder.path / "lines";
  auto file = open_lines(path);
  REQUIRE(file);
  REQUIRE(file->append("first"));
  const auto refused =
      LineFile::open(path, [](const std::string &) -> Result<std::string> { return fail("no"); });
  REQUIRE(!refused);
  CHECK(refused.error().message == "no");
  CHECK(text_of(path) == "header\nfirst\n");
  CHECK(!open_lines(folder.path)); // a folder
  const pid_t writer = child([&] { // a limit of file sizes stands for a full disk
    const rlimit limit{20, 20};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto failed = file->append("a line that is too long for the limit");
    return !failed && failed.error().message.starts_with("cannot write");
  });
  CHECK(ended(writer) == 0);
  CHECK(text_of(path) == "header\nfirst\n");
}

TEST_CASE("a lock is another's until its object goes, and a killed process leaves none") {
  const Folder folder;
  const fs::path path = folder.path / "lock";
  {
    auto held = FileLock::try_take(path);
    REQUIRE(held);
    REQUIRE(*held);
    CHECK(ended(child([&] { // a file opened anew asks for a lock of its own
            const auto second = FileLock::try_take(path);
            return second && !*second;
          })) == 0);
  }
  ended(child([&] {
    const auto taken = FileLock::try_take(path);
    return taken && *taken && raise(SIGKILL) == 0;
  }));
  const auto again = FileLock::try_take(path);
  CHECK((again && *again));
  CHECK(!FileLock::try_take(folder.path)); // a folder
}

} // namespace
} // namespace warpwright
