// A headless Neovim with the plugin of editors/neovim through a whole session on the CPU backend.
#include "support/process.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>
#include <vector>

using namespace warpwright;

namespace {

namespace fs = std::filesystem;

bool has(const std::vector<std::string> &command) {
  const auto run = run_captured(command, "", std::chrono::seconds(60));
  return run && run->status.code == 0;
}

/// A folder of its own; removed at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("warpwright-neovim-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

std::string read(const fs::path &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The session of neovim/init.lua on `file`, which must print the lines and change the text.
void check_session(const fs::path &folder, const std::string &file, const std::string &filetype,
                   std::vector<std::string> environment) {
  environment.insert(environment.end(),
                     {"XDG_STATE_HOME=" + folder.string(), "XDG_DATA_HOME=" + folder.string(),
                      "XDG_CACHE_HOME=" + folder.string(), "XDG_CONFIG_HOME=" + folder.string(),
                      "WARPWRIGHT=" WARPWRIGHT_BINARY_DIR "/warpwright",
                      "WARPWRIGHT_PLUGIN=" WARPWRIGHT_SOURCE_DIR "/editors/neovim",
                      "WARPWRIGHT_FILE=" + (folder / file).string()});
  const ProcessOptions options{.environment = std::move(environment)};
  const auto run = run_captured(
      {"nvim", "--headless", "-n", "-u", WARPWRIGHT_SOURCE_DIR "/tests/e2e/neovim/init.lua"}, "",
      std::chrono::seconds(280), options);
  REQUIRE_MESSAGE(run.has_value(), (run ? "" : describe(run.error())));
  INFO(run->output, run->errors);
  CHECK(run->status.code == 0);
  const std::string type_line = "filetype: " + filetype;
  for (const char *line :
       {type_line.c_str(), "lens: Warpwright: not measured", "hover: Not measured",
        "verified: some", "lens after: Warpwright: variant checked",
        "hover after: No GPU measured these", "applied: the buffer changed",
        "lens applied: Warpwright: applied variant", "done: yes"})
    CHECK_MESSAGE(run->output.find(line) != std::string::npos, "missing: " << line);
  const std::string after = read(folder / (file + ".applied"));
  CHECK(!after.empty());
  CHECK(after != read(folder / file));
}

} // namespace

TEST_CASE("Neovim opens, shows lens and hover, optimises and applies") {
  if (!has({"nvim", "--version"})) {
    MESSAGE("skipped: there is no nvim");
    return;
  }
  const Folder folder;
  std::string text = read(WARPWRIGHT_SOURCE_DIR "/examples/saxpy.cu");
  const std::string size =
      "1 << 24"; // fewer elements: the CPU backend takes seconds then, not minutes
  REQUIRE(text.find(size) != std::string::npos);
  std::ofstream(folder.path / "saxpy.cu") << text.replace(text.find(size), size.size(), "1 << 14");
  check_session(folder.path, "saxpy.cu", "cuda", {});
}

#ifdef WARPWRIGHT_READS_PYTHON
TEST_CASE("Neovim does the same with a module of a Python file") {
  const char *python = std::getenv("WARPWRIGHT_PYTHON");
  if (!has({"nvim", "--version"}) || !has({python ? python : "python3", "-c", "import torch"})) {
    MESSAGE("skipped: there is no nvim, or python3 has no torch");
    return;
  }
  const Folder folder;
  std::ofstream(folder.path / "model.py")
      << "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
         "        return torch.relu(x) + 1.5\n\n\ndef get_inputs():\n"
         "    return [torch.randn(24, 40)]\n";
  check_session(folder.path, "model.py", "python",
                {"WARPWRIGHT_NAME=Model", "WARPWRIGHT_HEAD=class "});
}
#endif
