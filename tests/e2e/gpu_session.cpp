// A session on a real GPU: open, optimize, hover, apply. Prints the hover with the measured table
// and the diff of the applied edit. Skipped without an NVIDIA GPU.
#include "tests/e2e/lsp_client.h"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

bool has_gpu() { return std::filesystem::exists("/dev/nvidiactl"); }

/// Beside the tests as built, or where the environment says: the sources may lie elsewhere on a GPU
/// machine.
std::string place(const char *variable, const char *built) {
  const char *chosen = std::getenv(variable);
  return chosen ? chosen : built;
}

/// The editor's settings: the runner of $WARPWRIGHT_RUNNER_URL, which may be reached over TLS, else
/// one that the server starts.
Json settings(int max_variants) {
  Json result = {{"budget", "40s"}, {"maxVariants", max_variants}};
  if (const char *url = std::getenv("WARPWRIGHT_RUNNER_URL"))
    result["runner"] = url;
  return result;
}

} // namespace

TEST_CASE("a session on a GPU ends in an applied edit and a hover with the measured table") {
  if (!has_gpu()) {
    MESSAGE("all cases skipped: there is no NVIDIA GPU");
    return;
  }
  const auto folder =
      std::filesystem::temp_directory_path() / ("warpwright-gpu-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  boost::asio::io_context io;
  LspClient client(io);
  client.configuration = settings(12);
  client.start({place("WARPWRIGHT_BIN", WARPWRIGHT_BINARY_DIR) + "/warpwright", "lsp"},
               {.environment = {"XDG_STATE_HOME=" + folder.string()}});
  client.initialize(LspClient::capabilities(), {{"processId", ::getpid()}});

  std::ifstream file(place("WARPWRIGHT_EXAMPLES", WARPWRIGHT_SOURCE_DIR "/examples") +
                     "/transpose.cu");
  const std::string original{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(!original.empty());
  const std::string uri = "file://" + (folder / "transpose.cu").string();
  client.open(uri, original);
  client.wait_for_diagnostics(uri, 1);

  const auto id = client.send_request("workspace/executeCommand",
                                      {{"command", "warpwright.optimize"},
                                       {"arguments", {{{"uri", uri}, {"kernel", "transpose"}}}}});
  REQUIRE(client.wait([&] { return client.outcome(id) != nullptr; }));
  REQUIRE_MESSAGE(client.outcome(id)->has_value(), client.outcome(id)->error().message);
  const Json summary = **client.outcome(id);
  REQUIRE(summary.at("best").is_object());
  CHECK(summary.at("best").at("low") > 1);

  const auto hover =
      client.request("textDocument/hover", client.position_params(uri, "transpose<<<", 1));
  REQUIRE(hover.has_value());
  const std::string table = hover->at("contents").at("value");
  std::printf("%s\n", table.c_str());
  CHECK(table.find("| verified |") != std::string::npos);
  CHECK(table.find("registers") != std::string::npos);

  const auto offered =
      client.request("textDocument/codeAction",
                     {{"textDocument", {{"uri", uri}}},
                      {"range", client.range_of(uri, "void transpose")},
                      {"context", {{"diagnostics", Json::array()}, {"only", {"refactor"}}}}});
  REQUIRE(offered.has_value());
  REQUIRE(!offered->empty());
  const Json apply = offered->at(0);
  std::printf("%s\n", apply.at("title").get<std::string>().c_str());
  CHECK(apply.at("title").get<std::string>().starts_with("Apply verified variant: "));
  const auto resolved = client.request("codeAction/resolve", apply);
  REQUIRE_MESSAGE(resolved.has_value(), (resolved ? "" : resolved.error().message));
  client.apply(resolved->at("edit"));
  const std::string diff =
      unified_diff(original, client.text(uri), "a/transpose.cu", "b/transpose.cu");
  std::printf("%s\n", diff.c_str());
  CHECK(!diff.empty());
  CHECK(client.shutdown_and_exit() == 0);
  CHECK_MESSAGE(client.violations.empty(),
                (client.violations.empty() ? "" : client.violations.front()));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a module of a Python file is measured, applied, and gives the same on the GPU") {
  if (!has_gpu()) {
    MESSAGE("all cases skipped: there is no NVIDIA GPU");
    return;
  }
  const auto folder = std::filesystem::temp_directory_path() /
                      ("warpwright-gpu-python-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  boost::asio::io_context io;
  LspClient client(io);
  client.configuration = settings(6);
  client.start({place("WARPWRIGHT_BIN", WARPWRIGHT_BINARY_DIR) + "/warpwright", "lsp"},
               {.environment = {"XDG_STATE_HOME=" + folder.string()}});
  client.initialize(LspClient::capabilities(), {{"processId", ::getpid()}});

  std::ifstream file(place("WARPWRIGHT_EXAMPLES", WARPWRIGHT_SOURCE_DIR "/examples") +
                     "/torch/rms_norm.py");
  const std::string original{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(!original.empty());
  const std::string uri = "file://" + (folder / "rms_norm.py").string();
  client.open(uri, original);
  client.wait_for_diagnostics(uri, 1);
  const auto id = client.send_request(
      "workspace/executeCommand", {{"command", "warpwright.optimize"},
                                   {"arguments", {{{"uri", uri}, {"kernel", "GatedRmsNorm"}}}}});
  for (int patience = 0; patience < 5 && !client.outcome(id); ++patience)
    client.wait([&] { return client.outcome(id) != nullptr; });
  REQUIRE(client.outcome(id));
  REQUIRE_MESSAGE(client.outcome(id)->has_value(), client.outcome(id)->error().message);
  REQUIRE((*client.outcome(id))->at("best").is_object());

  const auto hover =
      client.request("textDocument/hover", client.position_params(uri, "class GatedRmsNorm", 7));
  REQUIRE(hover.has_value());
  const std::string table = hover->at("contents").at("value");
  std::printf("%s\n", table.c_str());
  CHECK(table.find("| eager+graph | device time |") != std::string::npos);
  CHECK(table.find("| eager | as called |") != std::string::npos);
  const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
  REQUIRE(lenses.has_value());
  const auto lens = client.request("codeLens/resolve", lenses->at(0));
  REQUIRE(lens.has_value());
  std::printf("%s\n", lens->at("command").at("title").get<std::string>().c_str());

  const auto offered =
      client.request("textDocument/codeAction",
                     {{"textDocument", {{"uri", uri}}},
                      {"range", client.range_of(uri, "class GatedRmsNorm")},
                      {"context", {{"diagnostics", Json::array()}, {"only", {"refactor"}}}}});
  REQUIRE(offered.has_value());
  REQUIRE(offered->size() == 3);
  const auto resolved = client.request("codeAction/resolve", offered->at(1)); // in place
  REQUIRE_MESSAGE(resolved.has_value(), (resolved ? "" : resolved.error().message));
  client.apply(resolved->at("edit"));
  std::ofstream(folder / "before.py") << original;
  std::ofstream(folder / "after.py") << client.text(uri);
  std::ofstream(folder / "compare.py") << R"(
import importlib, torch
before, after = importlib.import_module("before"), importlib.import_module("after")
old, new = before.GatedRmsNorm(2048).cuda(), after.GatedRmsNorm(2048).cuda()
x, gate = torch.randn(8192, 2048, device="cuda"), torch.randn(8192, 2048, device="cuda")
with torch.no_grad():
    torch.testing.assert_close(new(x, gate), old(x, gate), rtol=1e-4, atol=1e-5)
    assert after.GatedRmsNorm.warpwright_plan.runs() == 1, "the kernels were not called"
    torch.testing.assert_close(new(x[:5], gate[:5]), old(x[:5], gate[:5]))
print("same")
)";
  const auto run = run_captured({"python3", (folder / "compare.py").string()}, "",
                                std::chrono::seconds(200),
                                {.environment = {"PYTHONPATH=" + place("WARPWRIGHT_BIN", WARPWRIGHT_BINARY_DIR) + "/torch"}});
  REQUIRE(run.has_value());
  INFO(run->errors);
  CHECK(run->output == "same\n");
  CHECK(client.shutdown_and_exit() == 0);
  CHECK_MESSAGE(client.violations.empty(),
                (client.violations.empty() ? "" : client.violations.front()));
  std::filesystem::remove_all(folder);
}
