// Whole sessions of the server against fakes at its seams: what an editor sees, and the manners
// that editors test.
#include "tests/server/fake_environment.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kUri = "file:///work%20space/k.cu";
const std::string kText = "// Größe 😀\n"
                          "__global__ void scale(float *x) { x[2*i] = 2.0 * x[2*i]; }\n"
                          "void run() { scale<<<1, 32>>>(x); }\n";

Json whole(const std::string &uri) { return {{"textDocument", {{"uri", uri}}}}; }

std::string hover_text(LspClient &client, const std::string &what) {
  const auto hover = client.request("textDocument/hover", client.position_params(kUri, what, 1));
  REQUIRE(hover.has_value());
  return hover->is_null() ? "" : hover->at("contents").at("value").get<std::string>();
}

std::vector<std::string> lens_titles(LspClient &client, const std::string &uri = kUri) {
  std::vector<std::string> titles;
  const auto lenses = client.request("textDocument/codeLens", whole(uri));
  REQUIRE(lenses.has_value());
  for (const Json &lens : *lenses) {
    CHECK_FALSE(lens.contains("command"));
    const auto resolved = client.request("codeLens/resolve", lens);
    REQUIRE(resolved.has_value());
    titles.push_back(resolved->at("command").at("title"));
  }
  return titles;
}

Json actions(LspClient &client, const std::string &what, Json diagnostics = Json::array(),
             Json only = nullptr) {
  Json context{{"diagnostics", diagnostics}};
  if (!only.is_null())
    context["only"] = only;
  const auto found =
      client.request("textDocument/codeAction", {{"textDocument", {{"uri", kUri}}},
                                                 {"range", client.range_of(kUri, what)},
                                                 {"context", context}});
  REQUIRE(found.has_value());
  return *found;
}

Json command(const std::string &name, const std::string &kernel = "scale") {
  return {{"command", name}, {"arguments", {{{"uri", kUri}, {"kernel", kernel}}}}};
}

int code_of(const rpc::Outcome &outcome) { return outcome ? 0 : outcome.error().code; }

} // namespace

TEST_CASE(
    "a session: diagnostics, quick fix, lens, hover, optimize, apply, hover again, shutdown") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::WrongResult),
                              verdict(model::Outcome::Verified, speedup(2.31, 2.27, 2.35)),
                              verdict(model::Outcome::Verified, speedup(1.1, 0.9, 1.3))};
  client.initialize();
  client.open(kUri, kText);

  const Json diagnostics = client.wait_for_diagnostics(kUri, 1);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].at("source") == "warpwright");
  CHECK(diagnostics[0].at("code") == "double-arithmetic");
  CHECK(diagnostics[0].at("codeDescription").at("href") ==
        "https://example.org/rules/double-arithmetic.md");
  const Json fixes = actions(client, "2.0", diagnostics, {"quickfix"});
  REQUIRE(fixes.size() == 1);
  CHECK(fixes[0].at("isPreferred") == true);
  CHECK(fixes[0].at("diagnostics") == diagnostics);
  client.apply(fixes[0].at("edit"));
  CHECK(client.text(kUri).find("2.0f * x") != std::string::npos);
  CHECK(client.wait_for_diagnostics(kUri, 2).empty());

  CHECK(lens_titles(client) == std::vector<std::string>{"Warpwright: not measured · optimize"});
  CHECK(hover_text(client, "scale").find("Not measured") != std::string::npos);

  const auto done = client.request("workspace/executeCommand", command("warpwright.optimize"));
  REQUIRE(done.has_value());
  CHECK(done->at("tried") == 3);
  CHECK(done->at("best").at("ratio") == 2.31);
  CHECK(client.count("window/workDoneProgress/create") == 1);
  CHECK(client.count("workspace/codeLens/refresh") >= 1);

  CHECK(lens_titles(client) ==
        std::vector<std::string>{"Warpwright: 2.31x faster", "Apply", "Profile"});
  const std::string text = hover_text(client, "scale<<<");
  CHECK(text.starts_with("**Warpwright** `scale`: **2.31x faster** than the code as written, "
                         "12.3 us -> 5.32 us on NVIDIA H200 [2.27, 2.35], 2026-01-02\n"));
  CHECK(text.contains("- `fake(step=1)`: verified, 5.32 us, 2.31x [2.27, 2.35], NVIDIA H200, "
                      "2026-01-02\n"));
  CHECK(text.contains("- `fake(step=0)`: wrong result, CPU backend, 2026-01-02\n"));
  CHECK(text.contains("As written: 18 registers, occupancy 100%"));
  CHECK(text.contains("Best variant: 32 registers, no spills, occupancy 75%"));

  const Json offered = actions(client, "scale", Json::array(), {"refactor"});
  REQUIRE(offered.size() == 2);
  CHECK(offered[0].at("title") == "Apply verified variant: 2.31x [2.27, 2.35] on NVIDIA H200");
  CHECK_FALSE(offered[0].contains("edit"));
  CHECK(offered[1].at("title") == "Optimize scale (runner NVIDIA H200)");
  const auto resolved = client.request("codeAction/resolve", offered[0]);
  REQUIRE(resolved.has_value());
  client.apply(resolved->at("edit"));
  CHECK(client.text(kUri).starts_with("// fake(step=1)\n"));

  CHECK(code_of(client.request("codeAction/resolve", offered[0])) == rpc::kContentModified);
  client.request("shutdown", nullptr);
  client.notify("exit", nullptr);
  CHECK(client.wait([&] { return session.exit_code.has_value(); }));
  CHECK(session.exit_code == 0);
}

TEST_CASE(
    "code that changed since it was measured is shown as stale, and its variant is not offered") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified, speedup(2, 1.9, 2.1))};
  client.configuration = {{"maxVariants", 1}};
  client.initialize();
  client.open(kUri, kText);
  REQUIRE(client.wait([&] { return client.count("workspace/configuration") >= 1; }));
  client.wait_for_diagnostics(kUri, 1);
  REQUIRE(client.request("workspace/executeCommand", command("warpwright.optimize")).has_value());
  client.edit(kUri, "x[2*i] = 2.0", "x[2*i] = 3.0");
  CHECK(lens_titles(client).front().find("stale") != std::string::npos);
  CHECK(hover_text(client, "scale").find("**Stale**") != std::string::npos);
  for (const Json &action : actions(client, "scale"))
    CHECK(action.at("title").get<std::string>().find("Apply") == std::string::npos);
  client.edit(kUri, "x[2*i] = 3.0", "x[2*i] = 2.0");
  CHECK(lens_titles(client).front() == "Warpwright: 2.00x faster");
}

TEST_CASE("what was measured survives a restart of the server") {
  const auto rows = std::make_shared<LedgerRows>();
  {
    Session session(std::make_shared<FakeRunner>(), rows);
    session.runner->verdicts = {verdict(model::Outcome::Verified),
                                verdict(model::Outcome::CompileFailed),
                                verdict(model::Outcome::CompileFailed)};
    session.client.initialize();
    session.client.open(kUri, kText);
    REQUIRE(session.client.request("workspace/executeCommand", command("warpwright.optimize"))
                .has_value());
  }
  Session session(std::make_shared<FakeRunner>(), rows);
  session.client.initialize();
  session.client.open(kUri, kText);
  CHECK(session.client.wait([&] {
    return lens_titles(session.client).front() ==
           "Warpwright: variant checked (correct on the CPU backend, speed not measured)";
  }));
  CHECK(session.client.count("workspace/codeLens/refresh") > 0);
  CHECK(actions(session.client, "scale")[0].at("title") ==
        "Apply checked variant (correct on the CPU backend, speed not measured)");
  CHECK(hover_text(session.client, "scale").find("No GPU measured these") != std::string::npos);
}

TEST_CASE("an optimization is cancelled by its progress, its command and its request") {
  Session session;
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  const auto begun = [&](std::size_t times) {
    std::size_t count = 0;
    for (const Received &message : client.received())
      count += message.method == "$/progress" && message.params.at("value").at("kind") == "begin";
    return count == times;
  };
  auto id = client.send_request("workspace/executeCommand", command("warpwright.optimize"));
  REQUIRE(client.wait([&] { return begun(1); }));
  CHECK(client.wait(
      [&] { return lens_titles(client).front() == "Warpwright: measuring 1 of 3 · cancel"; }));
  const auto again = client.request("workspace/executeCommand", command("warpwright.optimize"));
  CHECK(again.error().message.find("already") != std::string::npos);
  for (const Received &message : client.received())
    if (message.method == "$/progress")
      client.notify("window/workDoneProgress/cancel", {{"token", message.params.at("token")}});
  REQUIRE(client.wait([&] { return client.outcome(id) != nullptr; }));
  CHECK(client.outcome(id)->has_value());
  CHECK(
      std::any_of(client.received().begin(), client.received().end(), [](const Received &message) {
        return message.method == "$/progress" && message.params.at("value").at("kind") == "end";
      }));

  id = client.send_request("workspace/executeCommand", command("warpwright.optimize"));
  REQUIRE(client.wait([&] { return begun(2); }));
  CHECK(client.request("workspace/executeCommand", command("warpwright.cancel")).has_value());
  CHECK(client.wait([&] { return client.outcome(id) != nullptr; }));

  id = client.send_request("workspace/executeCommand", command("warpwright.optimize"));
  REQUIRE(client.wait([&] { return begun(3); }));
  client.cancel(id);
  REQUIRE(client.wait([&] { return client.outcome(id) != nullptr; }));
  CHECK(code_of(*client.outcome(id)) == rpc::kRequestCancelled);
  CHECK(lens_titles(client).size() == 1);
}

TEST_CASE("a lost runner is one clear message, and the session goes on") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {fail("the runner ended with signal 9"),
                              fail("the runner ended with signal 9"),
                              verdict(model::Outcome::Verified, speedup(2, 1.9, 2.1))};
  client.initialize();
  client.open(kUri, kText);
  const auto done = client.request("workspace/executeCommand", command("warpwright.optimize"));
  REQUIRE(done.has_value());
  CHECK(done->at("tried") == 1);
  CHECK(client.count("window/showMessage") == 1);
  CHECK(lens_titles(client).front() == "Warpwright: 2.00x faster");
}

TEST_CASE("a kernel whose facts are missing asks for them") {
  Session session;
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, "__global__ void no_task(float *x) { }\n");
  CHECK(lens_titles(client).front() == "Warpwright: missing facts: n · insert");
  CHECK(hover_text(client, "no_task").find("How many elements does x hold?") != std::string::npos);
  const auto refused =
      client.request("workspace/executeCommand", command("warpwright.optimize", "no_task"));
  CHECK(code_of(refused) == server::kRequestFailed);
  const Json offered = actions(client, "no_task");
  REQUIRE(offered.size() == 1);
  const auto resolved = client.request("codeAction/resolve", offered[0]);
  REQUIRE(resolved.has_value());
  client.apply(resolved->at("edit"));
  CHECK(client.text(kUri).starts_with("// facts of no_task\n"));
}

TEST_CASE("what a run takes for granted is in the hover") {
  Session session;
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri,
              "__global__ void assuming(float *x) { }\n__global__ void plain(float *x) { }\n");
  CHECK(hover_text(client, "assuming")
            .contains("\nAssumed:\n- of the values in blocks 128 is taken\n"));
  CHECK_FALSE(hover_text(client, "plain").contains("Assumed"));
}

TEST_CASE("apply as a command edits through the editor, and reports a refusal") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Timeout),
                              verdict(model::Outcome::Crash)};
  client.initialize();
  client.open(kUri, kText);
  REQUIRE(client.request("workspace/executeCommand", command("warpwright.optimize")).has_value());
  client.accept_edits = false;
  const auto refused = client.request("workspace/executeCommand", command("warpwright.apply"));
  CHECK(code_of(refused) == server::kRequestFailed);
  client.accept_edits = true;
  CHECK(client.request("workspace/executeCommand", command("warpwright.apply")).has_value());
  CHECK(client.text(kUri).starts_with("// fake(step=0)\n"));
}

TEST_CASE("inlay hints and hovers follow the settings, rules can be disabled") {
  Session session;
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  const Json params{{"textDocument", {{"uri", kUri}}}, {"range", client.range_of(kUri, kText)}};
  auto hints = client.request("textDocument/inlayHint", params);
  REQUIRE(hints->size() == 1);
  CHECK(hints->at(0).at("label") == "stride 2");
  client.notify("workspace/didChangeConfiguration", {{"settings",
                                                      {{"warpwright",
                                                        {{"inlayHints", false},
                                                         {"hover", false},
                                                         {"disabledRules", {"double-arithmetic"}},
                                                         {"budget", 7.5}}}}}});
  CHECK(client.request("textDocument/inlayHint", params)->empty());
  CHECK(hover_text(client, "scale").empty());
  CHECK(client.wait_for_diagnostics(kUri, 1).empty());
  client.notify("workspace/didChangeConfiguration",
                {{"settings", {{"warpwright", {{"budget", "soon"}}}}}});
  CHECK(client.wait([&] { return client.count("window/showMessage") == 1; }));
}

TEST_CASE("requests of the lifecycle are answered as the specification says") {
  Session session;
  LspClient &client = session.client;
  CHECK(code_of(client.request("textDocument/hover", Json::object())) ==
        rpc::kServerNotInitialized);
  const Json result = client.initialize();
  CHECK(result.at("capabilities").at("positionEncoding") == "utf-16");
  for (const char *absent :
       {"completionProvider", "definitionProvider", "renameProvider", "referencesProvider",
        "documentFormattingProvider", "semanticTokensProvider", "documentSymbolProvider"})
    CHECK_FALSE(result.at("capabilities").contains(absent));
  CHECK(code_of(client.request("initialize",
                               {{"processId", nullptr}, {"capabilities", Json::object()}})) ==
        rpc::kInvalidRequest);
  CHECK(code_of(client.request("warpwright/none", Json::object())) == rpc::kMethodNotFound);
  CHECK(code_of(client.request("textDocument/hover", Json::array({1}))) == rpc::kInvalidParams);
  CHECK(code_of(client.request("textDocument/codeLens", whole("file:///nowhere.cu"))) ==
        rpc::kInvalidParams);
  CHECK(code_of(client.request(
            "workspace/executeCommand",
            {{"command", "no.such"}, {"arguments", {{{"uri", kUri}, {"kernel", "k"}}}}})) ==
        rpc::kInvalidParams);
  client.notify("textDocument/didChange", {{"textDocument", 3}});
  CHECK(client.wait([&] { return client.count("window/logMessage") == 1; }));
  CHECK(client.request("shutdown", nullptr).has_value());
  CHECK(code_of(client.request("textDocument/codeLens", whole(kUri))) == rpc::kInvalidRequest);
  client.notify("exit", nullptr);
  CHECK(client.wait([&] { return session.exit_code.has_value(); }));
  CHECK(session.exit_code == 0);
}

TEST_CASE("exit without shutdown, and a stream that ends, are exit code 1") {
  for (const bool hang_up : {false, true}) {
    Session session;
    session.client.initialize();
    if (hang_up)
      session.client.hang_up();
    else
      session.client.notify("exit", nullptr);
    CHECK(session.client.wait([&] { return session.exit_code.has_value(); }));
    CHECK(session.exit_code == 1);
  }
}

TEST_CASE("a poor client gets plain edits, commands for actions, and no refreshes") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Crash),
                              verdict(model::Outcome::Crash)};
  client.initialize(Json::parse(
      R"({"textDocument":{"codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":[]}}},
                                     "hover":{"contentFormat":["plaintext"]}}})"));
  client.open(kUri, kText, 0);
  const Json fixes = actions(client, "2.0", Json::array(), {"quickfix"});
  CHECK(fixes[0].at("edit").contains("changes"));
  CHECK(client.request("textDocument/hover", client.position_params(kUri, "scale"))
            ->at("contents")
            .at("kind") == "plaintext");
  REQUIRE(client.request("workspace/executeCommand", command("warpwright.optimize")).has_value());
  const Json offered = actions(client, "scale", Json::array(), {"refactor"});
  CHECK(offered[0].at("command").at("command") == "warpwright.apply");
  CHECK(code_of(client.request("workspace/executeCommand", offered[0].at("command"))) ==
        server::kRequestFailed);
  for (const char *never :
       {"workspace/codeLens/refresh", "workspace/inlayHint/refresh", "workspace/configuration",
        "window/workDoneProgress/create", "$/progress"})
    CHECK(client.count(never) == 0);
}

TEST_CASE("a change of the project's configuration on disk is analysed without an edit") {
  auto runner = std::make_shared<FakeRunner>();
  auto rows = std::make_shared<LedgerRows>();
  server::LspEnvironment environment = fake_environment(runner, rows);
  environment.analysis_threads = 1;
  const auto passes = std::make_shared<std::atomic<int>>(0);
  environment.analyses.stub = [passes, stub = environment.analyses.stub](const std::string &path,
                                                                         const std::string &text) {
    ++*passes;
    return stub(path, text);
  };
  Session session(environment, runner, rows);
  LspClient &client = session.client;
  client.initialize();
  REQUIRE(client.wait([&] { return client.count("client/registerCapability") == 1; }));
  const Json watched = client.received().front().params.at("registrations")[0];
  CHECK(watched.at("method") == "workspace/didChangeWatchedFiles");
  CHECK(watched.at("registerOptions").at("watchers")[0].at("globPattern") == "**/.warpwright.toml");
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  const auto published = [&] { return client.count("textDocument/publishDiagnostics"); };
  const auto change = [&](const std::string &uri) {
    client.notify("workspace/didChangeWatchedFiles", {{"changes", {{{"uri", uri}, {"type", 2}}}}});
  };
  change("file:///work%20space/other.py"); // no kernel of this file depends on it
  const auto before = published();
  change("file:///work%20space/.warpwright.toml");
  REQUIRE(client.wait([&] { return published() > before; }));
  CHECK(*passes == 2);
}

TEST_CASE("a Lua client's empty tables and a request from a closed document are no trouble") {
  Session session;
  LspClient &client = session.client;
  client.initialize(Json::array());
  client.open(kUri, kText, 0);
  CHECK(client.wait_for_diagnostics(kUri, 0).size() == 1);
  client.notify("textDocument/didClose", whole(kUri));
  CHECK(client.wait([&] {
    return client.received().back().method == "textDocument/publishDiagnostics" &&
           client.received().back().params.at("diagnostics").empty();
  }));
  CHECK(code_of(client.request("textDocument/codeLens", whole(kUri))) == rpc::kInvalidParams);
}

namespace {

/// Rows of which the kernels of the file have one good one, and two that cannot be read.
class DamagedLedger final : public runner::Ledger {
public:
  Result<void> record(const runner::LedgerEntry &) override { return {}; }
  Result<runner::KernelHistory> of_kernel(const std::string &file,
                                          const std::string &kernel) override {
    runner::LedgerEntry entry;
    entry.file = file;
    entry.kernel = kernel;
    entry.verdict = verdict(model::Outcome::Verified);
    return runner::KernelHistory{
        {entry}, 2, Error{"the ledger holds an entry for " + kernel + " that cannot be read", ""}};
  }
  Result<runner::KernelHistory> under(const std::filesystem::path &, std::size_t) override {
    return runner::KernelHistory{};
  }
};

} // namespace

TEST_CASE("rows of the ledger that cannot be read are said once, and the others are shown") {
  auto runner = std::make_shared<FakeRunner>();
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  environment.open_ledger = [] { return std::make_unique<DamagedLedger>(); };
  Session session(std::move(environment), runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  CHECK(client.wait([&] { return client.count("window/showMessage") == 1; }));
  const auto said = std::ranges::find(client.received(), "window/showMessage", &Received::method);
  CHECK(said->params.dump().find("left out 2") != std::string::npos);
  CHECK(client.wait([&] { return client.count("workspace/codeLens/refresh") > 0; }));
  const auto loaded = client.count("workspace/codeLens/refresh");
  client.open(kUri + "2.cu", kText);
  CHECK(client.wait([&] { return client.count("workspace/codeLens/refresh") > loaded; }));
  CHECK(client.count("window/showMessage") == 1);
}

TEST_CASE("an unwritable ledger is said once, and results stay for the session") {
  auto runner = std::make_shared<FakeRunner>();
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  environment.open_ledger = []() -> Result<std::unique_ptr<runner::Ledger>> {
    return fail("cannot open /read-only/ledger.sqlite: read-only file system",
                "set XDG_STATE_HOME");
  };
  runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Crash),
                      verdict(model::Outcome::Crash)};
  Session session(std::move(environment), runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  REQUIRE(client.request("workspace/executeCommand", command("warpwright.optimize")).has_value());
  CHECK(client.wait([&] { return client.count("window/showMessage") == 1; }));
  CHECK(lens_titles(client).front().find("variant checked") != std::string::npos);
  CHECK(client.count("window/showMessage") == 1);
}
