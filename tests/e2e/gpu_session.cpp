// A session on a real GPU: open, optimise, hover, apply. Prints the hover with the measured table
// and the diff of the applied edit. Skipped without an NVIDIA GPU.
#include "tests/e2e/lsp_client.h"

#include <cstdio>
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
  client.configuration = {{"budget", "40s"}, {"maxVariants", 12}};
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
