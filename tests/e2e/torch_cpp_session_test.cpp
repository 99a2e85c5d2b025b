// The real `warpwright lsp` with a C++ torch extension on the CPU backend: facts are asked for, the function is compiled against this
// Python's LibTorch as the reference, a variant is verified and applied. (About a minute: most of it is the C++ compiler.)
#include "tests/e2e/lsp_client.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kExtension = R"(#include <torch/extension.h>

// Mixes two tensors.
torch::Tensor mixed(torch::Tensor x, torch::Tensor y, double share = 0.25) {
  TORCH_CHECK(x.dim() == 2 && y.sizes() == x.sizes());
  return torch::relu(x * share + y).sum(1);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("mixed", &mixed); }
)";

bool can_compile() {
  const char *python = std::getenv("WARPWRIGHT_PYTHON");
  const auto run = run_captured(
      {python && *python ? python : "python3", "-c",
       "import sys; sys.path.insert(0, '" WARPWRIGHT_BINARY_DIR
       "/torch'); import cpp_module; cpp_module.include_folders(); cpp_module.find_compiler()"},
      "", std::chrono::seconds(60), {});
  return run && run->status.code == 0;
}

struct CppSession {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("warpwright-cpp-" + std::to_string(::getpid()));
  boost::asio::io_context io;
  LspClient client{io};
  std::string uri = "file://" + (folder / "mixed.cpp").string();

  CppSession() {
    std::filesystem::create_directories(folder);
    client.configuration = {{"device", "cpu"}, {"maxVariants", 1}, {"budget", 200}};
    client.start({WARPWRIGHT_BINARY_DIR "/warpwright", "lsp"},
                 {.environment = {"XDG_STATE_HOME=" + folder.string()}});
    client.initialize();
  }
  ~CppSession() {
    CHECK_MESSAGE(client.violations.empty(),
                  (client.violations.empty() ? "" : client.violations.front()));
    std::filesystem::remove_all(folder);
  }

  std::string lens() {
    const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
    REQUIRE(lenses.has_value());
    REQUIRE(lenses->size() == 1);
    const auto lens = client.request("codeLens/resolve", lenses->at(0));
    REQUIRE(lens.has_value());
    return lens->at("command").at("title");
  }

  /// Applies the action whose title begins so.
  void apply(const std::string &beginning) {
    const auto found =
        client.request("textDocument/codeAction", {{"textDocument", {{"uri", uri}}},
                                                   {"range", client.range_of(uri, "mixed")},
                                                   {"context", {{"diagnostics", Json::array()}}}});
    REQUIRE(found.has_value());
    for (const Json &action : *found)
      if (action.at("title").get<std::string>().starts_with(beginning)) {
        const auto resolved = client.request("codeAction/resolve", action);
        REQUIRE_MESSAGE(resolved.has_value(), (resolved ? "" : resolved.error().message));
        return client.apply(resolved->at("edit"));
      }
    FAIL("no action begins with " << beginning << " among " << found->dump());
  }

  rpc::Outcome optimize(const std::string &name) {
    const auto id = client.send_request(
        "workspace/executeCommand",
        {{"command", "warpwright.optimize"}, {"arguments", {{{"uri", uri}, {"kernel", name}}}}});
    for (int patience = 0; patience < 8 && !client.outcome(id); ++patience)
      client.wait([&] { return client.outcome(id) != nullptr; });
    REQUIRE(client.outcome(id));
    return *client.outcome(id);
  }
};

} // namespace

TEST_CASE("a C++ function over tensors asks for its shapes, is verified against itself, and "
          "becomes its variant") {
  CppSession session;
  LspClient &client = session.client;
  client.open(session.uri, kExtension);
  CHECK(client.wait_for_diagnostics(session.uri, 1).empty());
  CHECK(session.lens() == "Warpwright: missing facts: x.shape, y.shape · insert");
  session.apply("Insert the facts");
  const std::string comment = "// warpwright: x: float[?, ?], y: float[?, ?]\n";
  CHECK(client.text(session.uri).find("tensors.\n" + comment) != std::string::npos);
  CHECK_FALSE(client.wait_for_diagnostics(session.uri, 2).empty());
  client.edit(session.uri, comment, "// warpwright: x: float[24, 40]\n");
  CHECK(client.wait_for_diagnostics(session.uri, 3).empty());
  CHECK(session.lens().starts_with("Warpwright: not measured · optimise"));
  if (!can_compile()) {
    MESSAGE("skipped: no Python with torch and its C++ headers");
    return;
  }

  const auto done = session.optimize("mixed");
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  CHECK(done->at("verified") == 1);
  CHECK(session.lens().ends_with("speed not measured) · apply"));
  session.apply("Apply variant");
  const std::string applied = client.text(session.uri);
  CHECK(applied.find("namespace warpwright_mixed {") != std::string::npos);
  CHECK(applied.find("torch::Tensor mixed_as_written(torch::Tensor x,") != std::string::npos);
  CHECK(applied.find("  if (share == static_cast<std::decay_t<decltype(share)>>(0.25)) {\n"
                     "    if (auto results = ::warpwright_mixed::run({x, y}); !results.empty())\n"
                     "      return results[0];\n  }\n"
                     "  return mixed_as_written(x, y, share);\n}") != std::string::npos);
  CHECK(session.lens().starts_with("Warpwright: applied variant"));
  CHECK(client.shutdown_and_exit() == 0);
}
