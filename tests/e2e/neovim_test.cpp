// A headless Neovim with the plugin of editors/neovim through a whole session on the CPU backend.
#include "support/process.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace warpwright;

TEST_CASE("Neovim opens, shows lens and hover, optimises and applies") {
  if (!run_captured({"nvim", "--version"}, "", std::chrono::seconds(10))) {
    MESSAGE("skipped: there is no nvim");
    return;
  }
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("warpwright-neovim-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ifstream example(WARPWRIGHT_SOURCE_DIR "/examples/saxpy.cu");
  std::string text{std::istreambuf_iterator<char>(example), {}};
  const std::string size =
      "1 << 24"; // fewer elements: the CPU backend takes seconds then, not minutes
  REQUIRE(text.find(size) != std::string::npos);
  std::ofstream(folder / "saxpy.cu") << text.replace(text.find(size), size.size(), "1 << 14");
  const ProcessOptions options{
      .environment = {"XDG_STATE_HOME=" + folder.string(), "XDG_DATA_HOME=" + folder.string(),
                      "XDG_CACHE_HOME=" + folder.string(), "XDG_CONFIG_HOME=" + folder.string(),
                      "WARPWRIGHT=" WARPWRIGHT_BINARY_DIR "/warpwright",
                      "WARPWRIGHT_PLUGIN=" WARPWRIGHT_SOURCE_DIR "/editors/neovim",
                      "WARPWRIGHT_FILE=" + (folder / "saxpy.cu").string()}};
  const auto run = run_captured(
      {"nvim", "--headless", "-n", "-u", WARPWRIGHT_SOURCE_DIR "/tests/e2e/neovim/init.lua"}, "",
      std::chrono::seconds(280), options);
  REQUIRE_MESSAGE(run.has_value(), (run ? "" : describe(run.error())));
  INFO(run->output, run->errors);
  CHECK(run->status.code == 0);
  for (const char *line :
       {"filetype: cuda", "lens: Warpwright: not measured", "hover: Not measured", "verified: some",
        "lens after: Warpwright: variant checked", "hover after: No GPU measured these",
        "applied: the buffer changed", "lens applied: Warpwright: applied variant", "done: yes"})
    CHECK_MESSAGE(run->output.find(line) != std::string::npos, "missing: " << line);
  std::ifstream applied(folder / "saxpy.cu.applied"), original(folder / "saxpy.cu");
  const std::string after{std::istreambuf_iterator<char>(applied), {}},
      before{std::istreambuf_iterator<char>(original), {}};
  CHECK(!after.empty());
  CHECK(after != before);
  fs::remove_all(folder);
}
