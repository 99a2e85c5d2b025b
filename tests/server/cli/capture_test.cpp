// Texts about captures, their folders, and the running of a program.
#include "server/cli/capture/program.h"
#include "server/cli/capture/report.h"

#include <doctest/doctest.h>
#include <fstream>
#include <stdlib.h>
#include <sys/stat.h>

using namespace warpwright;
using namespace warpwright::cli;

namespace {

namespace fs = std::filesystem;

/// The processes of the recorded capture in tests/data.
std::vector<capture::ProcessFolder> recorded() {
  std::vector<capture::ProcessFolder> processes;
  for (const fs::path &path :
       capture::process_folders(WARPWRIGHT_SOURCE_DIR "/tests/data/capture")) {
    auto process = capture::read_process(path);
    REQUIRE_MESSAGE(process, (process ? "" : describe(process.error())));
    processes.push_back(*std::move(process));
  }
  return processes;
}

/// A home for captures, with XDG_CACHE_HOME in it.
struct Home {
  fs::path path;
  Home() {
    std::string name = (fs::temp_directory_path() / "warpwright-home-XXXXXX").string();
    path = ::mkdtemp(name.data());
    ::setenv("XDG_CACHE_HOME", (path / "cache").c_str(), 1);
  }
  ~Home() {
    ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(path);
  }
};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

fs::path made(const std::string &wanted) {
  const auto folder = make_capture(wanted, "/bin/some-program");
  REQUIRE_MESSAGE(folder, (folder ? "" : describe(folder.error())));
  return *folder;
}

} // namespace

TEST_CASE("the table of a capture adds up kernels of all processes, longest first") {
  CHECK(render_capture(recorded(), true) ==
        "  kernel                     count  GPU time  share  grid  block\n"
        "  scale(float*, int, float)    101    202 us  80.6%  4     256\n"
        "  sum(float const*, float*)      9   27.0 us  10.8%  1     128\n"
        "  scale(float*, int, float)     10   20.0 us   8.0%  2     256\n"
        "  [copy device to host]          1    500 ns   0.2%\n"
        "  [copy host to device]          1    500 ns   0.2%\n"
        "  [fill]                         1    500 ns   0.2%\n"
        "GPU time 250 us in 2 processes\n"
        "Recording ended before the program did: the time given with --for was over.\n"
        "Not recorded: times (2): the GPU records were incomplete.\n");
}

TEST_CASE("a table with many rows or little room is shortened") {
  const std::string text = render_capture(recorded(), true, {.width = 40, .most_rows = 1});
  CHECK(has(text, "  scale(float*, int, fl...    101"));
  CHECK(has(text, "  and 5 more with 19.4% of the GPU time\n"));
  auto processes = recorded();
  processes[0].launches[0].operation.kernel = std::string(200, 'k');
  CHECK(has(render_capture(processes, true, {.width = 40}), "  kkkkkkkkkkkkkkkkkkkkk...    100"));
}

TEST_CASE("kernels without GPU times are counted") {
  auto processes = recorded();
  processes.resize(1);
  processes[0].process.totals.gpu_ns = 0;
  processes[0].copies.clear();
  processes[0].launches.resize(1);
  processes[0].launches[0].statistics = {.count = 5};
  CHECK(render_capture(processes, true) ==
        "  kernel                     count  GPU time  share  grid  block\n"
        "  scale(float*, int, float)      5         -      -  4     256\n"
        "no GPU times in 1 process\n");
}

TEST_CASE("a sentence says why nothing was recorded") {
  CHECK(has(render_capture({}, false), "there is no NVIDIA driver on this machine"));
  CHECK(has(render_capture({}, true), "made no CUDA call"));
  std::vector<capture::ProcessFolder> processes(1);
  CHECK(has(render_capture(processes, true), "launched no kernel"));
  processes[0].process.stopped = "libcupti was not found. Set CUDA_HOME";
  CHECK(render_capture(processes, true) ==
        "Nothing was recorded: libcupti was not found. Set CUDA_HOME.\n");
}

TEST_CASE("captures have private folders with names, and are listed and deleted") {
  const Home home;
  CHECK(render_list(list_captures(*capture::captures_folder())) == "There are no captures.\n");
  const fs::path first = made(""), second = made("");
  CHECK(first != second);
  CHECK(first.parent_path() == home.path / "cache/warpwright/captures");
  CHECK(has(first.filename(), "-some-program"));
  for (const fs::path &folder : {first, first.parent_path()})
    CHECK(fs::status(folder).permissions() == fs::perms::owner_all);

  fs::copy(WARPWRIGHT_SOURCE_DIR "/tests/data/capture", first, fs::copy_options::recursive);
  const std::string list = render_list(list_captures(first.parent_path()));
  CHECK(list ==
        first.filename().string() + "  2 processes, 105 launches, 0.0 MB  ./program launches\n");

  fs::create_directory(home.path / "cache/other");
  std::ofstream(home.path / "cache/other" / capture::kRunFile);
  for (const std::string name : {"", ".", "..", "../../other", "none", second.filename().c_str()}) {
    CAPTURE(name);
    const auto refused = delete_capture(first.parent_path(), name);
    CHECK_FALSE(refused);
  }
  CHECK(fs::exists(home.path / "cache/other"));
  CHECK(delete_capture(first.parent_path(), first.filename()));
  CHECK_FALSE(fs::exists(first));
  CHECK(fs::exists(second));
}

TEST_CASE("a folder of the user's is made, or taken if it is empty") {
  const Home home;
  const fs::path folder = made((home.path / "a/b/").string());
  CHECK(fs::status(folder).permissions() == fs::perms::owner_all);
  CHECK(made(folder.string()) == folder);
  std::ofstream(folder / "file");
  const auto refused = make_capture(folder.string(), "program");
  REQUIRE_FALSE(refused);
  CHECK(has(describe(refused.error()), "is not an empty folder"));
}

TEST_CASE("a program runs with the given environment, and its status is passed on") {
  const auto status = [](const std::string &script, const std::vector<std::string> &more = {}) {
    const auto ran = run_program({"sh", "-c", script}, more);
    REQUIRE(ran);
    return *ran;
  };
  CHECK(status("exit 3") == 3);
  CHECK(status("kill -KILL $$") == 137);
  CHECK(status("test \"$ONE-$TWO\" = '1-2 2'", {"ONE=1", "TWO=2 2"}) == 0);
  CHECK(status("test -n \"$PATH\"") == 0);
  CHECK(status("kill -INT $$; exit 4") == 130); // not ignored in the program
  CHECK(status("kill -TERM $PPID; exec sleep 100") == 143);
  const auto missing = run_program({"/no/such/program"}, {});
  REQUIRE_FALSE(missing);
  CHECK(has(describe(missing.error()), "cannot start /no/such/program: No such file"));
}
