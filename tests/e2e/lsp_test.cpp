// The real `warpwright lsp` on the CPU backend through a whole session, and the manners that need a
// real process.
#include "tests/e2e/lsp_client.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kProgram = WARPWRIGHT_BINARY_DIR "/warpwright";

std::string read_file(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  REQUIRE_MESSAGE(!text.str().empty(), path << " is missing");
  return text.str();
}

/// The saxpy example on few elements: what the CPU backend proves takes seconds then, not minutes.
std::string small_saxpy() {
  std::string text = read_file(WARPWRIGHT_SOURCE_DIR "/examples/saxpy.cu");
  const std::string size = "1 << 24";
  return text.replace(text.find(size), size.size(), "1 << 14");
}

/// A folder of its own with the ledger in it; removed at the end.
struct Workplace {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("warpwright-lsp-" + std::to_string(::getpid()));
  Workplace() { std::filesystem::create_directories(folder); }
  ~Workplace() { std::filesystem::remove_all(folder); }
  ProcessOptions options() const { return {.environment = {"XDG_STATE_HOME=" + folder.string()}}; }
};

struct LspProcess {
  Workplace place;
  boost::asio::io_context io;
  LspClient client{io};
  LspProcess() { client.start({kProgram, "lsp"}, place.options()); }
  ~LspProcess() {
    CHECK_MESSAGE(client.violations.empty(),
                  (client.violations.empty() ? "" : client.violations.front()));
  }
};

Json first_lens(LspClient &client, const std::string &uri) {
  const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
  REQUIRE(lenses.has_value());
  REQUIRE(!lenses->empty());
  const auto lens = client.request("codeLens/resolve", lenses->at(0));
  REQUIRE(lens.has_value());
  return lens->at("command");
}

std::string hover_text(LspClient &client, const std::string &uri, const std::string &what) {
  const auto hover = client.request("textDocument/hover", client.position_params(uri, what, 1));
  REQUIRE(hover.has_value());
  REQUIRE(hover->is_object());
  return hover->at("contents").at("value");
}

Json actions(LspClient &client, const std::string &uri, const std::string &what,
             const Json &diagnostics) {
  const auto found =
      client.request("textDocument/codeAction", {{"textDocument", {{"uri", uri}}},
                                                 {"range", client.range_of(uri, what)},
                                                 {"context", {{"diagnostics", diagnostics}}}});
  REQUIRE(found.has_value());
  return *found;
}

Json find_action(const Json &list, const std::string &start) {
  for (const Json &action : list)
    if (action.at("title").get<std::string>().starts_with(start))
      return action;
  FAIL("no action '" << start << "' in " << list.dump());
  return {};
}

} // namespace

TEST_CASE("a whole session on the CPU backend ends in an applied edit") {
  LspProcess process;
  LspClient &client = process.client;
  client.configuration = {{"device", "cpu"}, {"maxVariants", 4}, {"budget", "30s"}};
  client.initialize(LspClient::capabilities(), {{"processId", ::getpid()}});
  const std::string uri = "file://" + (process.place.folder / "saxpy.cu").string();
  const std::string original = small_saxpy();
  client.open(uri, original);

  const Json diagnostics = client.wait_for_diagnostics(uri, 1);
  REQUIRE(!diagnostics.empty());
  for (const Json &diagnostic : diagnostics)
    CHECK(diagnostic.at("source") == "warpwright");
  const Json kernel_actions =
      actions(client, uri, "void saxpy(int n, float a, float *x, float *y)", diagnostics);
  for (const Json &action : kernel_actions)
    if (action.at("kind") == "quickfix")
      CHECK(action.at("edit").at("documentChanges").at(0).at("textDocument").at("version") == 1);
  CHECK(first_lens(client, uri).at("command") == "warpwright.optimize");
  CHECK(hover_text(client, uri, "saxpy<<<").find("coalesced") != std::string::npos);

  const Json optimize =
      find_action(actions(client, uri, "void saxpy", Json::array()), "Optimize saxpy (runner ");
  const auto done = client.request("workspace/executeCommand", optimize.at("command"));
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  CHECK(done->at("tried") > 0);
  CHECK(done->at("verified") > 0);
  CHECK(done->at("best").is_null());
  CHECK(client.count("$/progress") >= 2);
  const std::string table = hover_text(client, uri, "saxpy<<<");
  CHECK(table.find("`: verified\n") != std::string::npos);
  CHECK(table.find("\nTried on ") != std::string::npos);
  CHECK(table.find("No GPU measured these") != std::string::npos);

  const Json apply =
      find_action(actions(client, uri, "void saxpy", Json::array()),
                  "Apply checked variant (correct on the CPU backend, speed not measured)");
  const auto resolved = client.request("codeAction/resolve", apply);
  REQUIRE_MESSAGE(resolved.has_value(), (resolved ? "" : resolved.error().message));
  client.apply(resolved->at("edit"));
  CHECK(client.text(uri) != original);
  CHECK(client.text(uri).find("printf(\"saxpy: checksum") != std::string::npos);
  CHECK(first_lens(client, uri).at("title").get<std::string>().find("applied variant") !=
        std::string::npos);
  CHECK(client.request("codeAction/resolve", apply).error().code == rpc::kContentModified);

  client.edit(uri, "y[i]", "y[i + 0]");
  CHECK(hover_text(client, uri, "saxpy<<<").find("**Stale**") != std::string::npos);
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("an optimization of the real runner is cancelled promptly") {
  LspProcess process;
  LspClient &client = process.client;
  client.configuration = {{"device", "cpu"}, {"maxVariants", 500}, {"budget", "600s"}};
  client.initialize();
  const std::string uri = "file:///project/matmul.cu";
  client.open(uri, read_file(WARPWRIGHT_SOURCE_DIR "/examples/saxpy.cu"));
  client.wait_for_diagnostics(uri, 1);
  const auto id = client.send_request(
      "workspace/executeCommand",
      {{"command", "warpwright.optimize"}, {"arguments", {{{"uri", uri}, {"kernel", "saxpy"}}}}});
  REQUIRE(client.wait([&] { return client.count("$/progress") > 0; }));
  client.cancel(id);
  REQUIRE(client.wait([&] { return client.outcome(id) != nullptr; }));
  CHECK(client.outcome(id)->error().code == rpc::kRequestCancelled);
  const auto start = std::chrono::steady_clock::now();
  CHECK(client.shutdown_and_exit() == 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
}

TEST_CASE("a kernel of unknown sizes asks for facts, and the inserted comment names them") {
  LspProcess process;
  LspClient &client = process.client;
  client.initialize();
  const std::string uri = "file:///project/lonely.cu";
  client.open(uri, "__global__ void lonely(float *x, int n) {\n  int i = threadIdx.x;\n  if (i < "
                   "n)\n    x[i] = 1.0f;\n}\n");
  client.wait_for_diagnostics(uri, 1);
  CHECK(first_lens(client, uri).at("command") == "warpwright.insertFacts");
  const Json insert = find_action(actions(client, uri, "void lonely", Json::array()),
                                  "Insert the facts that Warpwright needs above lonely");
  const auto resolved = client.request("codeAction/resolve", insert);
  REQUIRE_MESSAGE(resolved.has_value(), (resolved ? "" : resolved.error().message));
  client.apply(resolved->at("edit"));
  CHECK(client.text(uri).starts_with("// warpwright: "));
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("first facts come whatever is included, found or not") {
  LspProcess process;
  LspClient &client = process.client;
  client.initialize();
  const std::string uri = "file:///project/many.cu";
  std::string text = "#include <cub/cub.cuh>\n#include <torch/extension.h>\n#include "
                     "<vector>\n#include \"nowhere.h\"\n";
  text += read_file(WARPWRIGHT_SOURCE_DIR "/examples/matmul.cu");
  client.open(uri, text);
  client.wait_for_diagnostics(uri, 1);
  CHECK(first_lens(client, uri).at("command") == "warpwright.optimize");
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("a file that cannot be analysed costs its own facts, and the session goes on") {
  LspProcess process;
  LspClient &client = process.client;
  client.initialize();
  const std::string good = "file:///project/saxpy.cu", bad = "file:///project/deep.cu";
  client.open(good, read_file(WARPWRIGHT_SOURCE_DIR "/examples/saxpy.cu"));
  const std::string deep = std::string(200'000, '!') + "1";
  client.open(bad, "__global__ void lonely(float *x) { x[0] = 1; }\nint deep = " + deep + ";\n");
  const std::string why = client.wait_for_diagnostics(bad, 1).dump();
  CHECK(why.contains("Warpwright could not analyze this file"));
  CHECK(why.contains("nested too deeply"));
  CHECK(hover_text(client, bad, "lonely").contains("lonely")); // from the token scan
  client.wait_for_diagnostics(good, 1);
  CHECK(first_lens(client, good).at("command") == "warpwright.optimize");
  client.edit(bad, deep, "1");
  CHECK(!client.wait_for_diagnostics(bad, 2).dump().contains("could not analyse"));
  CHECK(first_lens(client, bad).at("command") == "warpwright.insertFacts");
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("the process ends with its stdin, with its parent, and by exit without shutdown with 1") {
  SUBCASE("stdin ends") {
    LspProcess process;
    process.client.initialize();
    process.client.hang_up();
    CHECK(process.client.wait_for_exit() == 1);
  }
  SUBCASE("the editor's process dies") {
    LspProcess process;
    auto editor = Process::spawn({"sleep", "600"});
    REQUIRE(editor.has_value());
    process.client.initialize(LspClient::capabilities(), {{"processId", editor->pid()}});
    editor->kill(9);
    editor->wait();
    CHECK(process.client.wait_for_exit() == 1);
  }
  SUBCASE("exit without shutdown") {
    LspProcess process;
    process.client.initialize();
    process.client.notify("exit", nullptr);
    CHECK(process.client.wait_for_exit() == 1);
  }
}

TEST_CASE("malformed input gets an answer, and only the protocol is on stdout") {
  const Workplace place;
  const auto frame = [](const std::string &body) {
    return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  const auto run = run_captured({kProgram, "lsp"},
                                frame("{not json") + frame("[]") +
                                    frame(R"({"jsonrpc":"2.0","id":1,"method":"shutdown"})") +
                                    frame(R"({"jsonrpc":"2.0","method":"exit"})"),
                                std::chrono::seconds(30), place.options());
  REQUIRE(run.has_value());
  CHECK(run->status.code == 1);
  CHECK(run->output.starts_with("Content-Length: "));
  CHECK(run->output.find("-32700") != std::string::npos);
  CHECK(run->output.find("-32600") != std::string::npos);
  CHECK(run->output.find("-32002") != std::string::npos);
}
