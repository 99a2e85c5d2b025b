// The requests beyond the specification, in whole sessions against fakes.
#include "tests/server/fake_environment.h"

#include "server/protocol/uri.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kUri = "file:///work%20space/k.cu";
const std::string kText = "__global__ void scale(float *x) { x[2*i] = x[2*i]; }\n"
                          "void run() { scale<<<1, 32>>>(x); }\n";

Json optimize(const std::string &kernel = "scale") {
  return {{"command", "warpwright.optimize"}, {"arguments", {{{"uri", kUri}, {"kernel", kernel}}}}};
}

Json kernels(LspClient &client, Json params = Json::object()) {
  const auto found = client.request("warpwright/kernels", params);
  REQUIRE(found.has_value());
  return found->at("kernels");
}

Json capabilities_with_changes() {
  Json capabilities = LspClient::capabilities();
  capabilities["experimental"]["warpwright"]["changed"] = true;
  return capabilities;
}

/// A folder of its own; removed at the end.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("warpwright-extensions-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(path / name) << text;
    return server::protocol::uri_of((path / name).string());
  }
};

} // namespace

TEST_CASE("the list of kernels tells state and verified variants, best first") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified, speedup(1.5, 1.4, 1.6)),
                              verdict(model::Outcome::WrongResult),
                              verdict(model::Outcome::Verified, speedup(2.31, 2.27, 2.35))};
  client.initialize(capabilities_with_changes());
  client.open(kUri, kText);
  Json before = kernels(client);
  REQUIRE(before.size() == 1);
  CHECK(before[0].at("kernel") == "scale");
  CHECK(before[0].at("language") == "cuda");
  CHECK(before[0].at("state") == "notMeasured");
  CHECK(before[0].at("range").at("start").at("line") == 0);
  CHECK(before[0].at("variants").empty());

  const std::size_t told = client.count("warpwright/changed");
  REQUIRE(client.request("workspace/executeCommand", optimize()).has_value());
  CHECK(client.count("warpwright/changed") > told);
  const Json after = kernels(client)[0];
  CHECK(after.at("state") == "faster");
  CHECK(after.at("text") == "2.31x faster");
  REQUIRE(after.at("variants").size() == 2);
  CHECK(after.at("variants")[0].at("speedup").at("ratio") == 2.31);
  CHECK(after.at("variants")[1].at("moves") == Json{"fake(step=0)"});
}

TEST_CASE("the lightbulb offers what else was measured as faster, with its moves") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified, speedup(1.5, 1.4, 1.6)),
                              verdict(model::Outcome::Verified, speedup(1.0, 0.9, 1.1)),
                              verdict(model::Outcome::Verified, speedup(2.31, 2.27, 2.35))};
  client.initialize();
  client.open(kUri, kText);
  REQUIRE(client.request("workspace/executeCommand", optimize()).has_value());
  const auto actions =
      client.request("textDocument/codeAction", {{"textDocument", {{"uri", kUri}}},
                                                 {"range", client.range_of(kUri, "scale")},
                                                 {"context", {{"diagnostics", Json::array()}}}});
  REQUIRE(actions.has_value());
  REQUIRE(actions->size() == 3);
  CHECK(actions->at(1).at("title") ==
        "Apply verified variant: 1.50x [1.40, 1.60] on NVIDIA H200 (fake(step=0))");
  const auto resolved = client.request("codeAction/resolve", actions->at(1));
  REQUIRE(resolved.has_value());
  client.apply(resolved->at("edit"));
  CHECK(client.text(kUri).starts_with("// fake(step=0)\n"));
}

TEST_CASE("files that are not open are listed from the disk, and again when they change") {
  const Folder folder;
  const std::string closed = folder.write("closed.cu", kText);
  const std::string host = folder.write("host.cu", "int main() { return 0; }\n");
  Session session;
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  const Json uris{kUri, closed, host, "file:///nowhere.cu"};
  Json found = kernels(client, {{"uris", uris}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].at("uri") == kUri);
  CHECK(found[1].at("uri") == closed);
  CHECK(kernels(client).size() == 1);
  folder.write("closed.cu", kText + "__global__ void second(float *x) { x[2*i] = 1; }\n");
  found = kernels(client, {{"uris", uris}});
  REQUIRE(found.size() == 3);
  CHECK(found[2].at("kernel") == "second");
}

TEST_CASE("the text of a variant is the document as applying it would leave it") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Timeout),
                              verdict(model::Outcome::Crash)};
  client.initialize();
  client.open(kUri, kText);
  const Json reference{{"uri", kUri}, {"kernel", "scale"}};
  CHECK_FALSE(client.request("warpwright/variant", reference).has_value());
  REQUIRE(client.request("workspace/executeCommand", optimize()).has_value());
  const auto variant = client.request("warpwright/variant", reference);
  REQUIRE(variant.has_value());
  CHECK(variant->at("text") == "// fake(step=0)\n" + kText);
  CHECK(variant->at("version") == 1);
  CHECK(client.text(kUri) == kText);
}

TEST_CASE("the runner's state is told, and trying another one says what is wrong with it") {
  auto runner = std::make_shared<FakeRunner>();
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  environment.connect_runner =
      [connect = environment.connect_runner](
          const std::string &url) -> Result<std::unique_ptr<runner::BlockingClient>> {
    if (url.find("wrong") != std::string::npos)
      return fail("the runner refused the token", "write the token of --token-file");
    return connect(url);
  };
  Session session(std::move(environment), runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize();
  const auto ask = [&](const char *method, Json params) {
    const auto answer = client.request(method, params);
    REQUIRE(answer.has_value());
    return *answer;
  };
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  const Json unknown = ask("warpwright/runner", Json::object());
  CHECK(unknown.at("state") == "unknown");
  CHECK(unknown.at("label") == "on this machine");
  CHECK(runner->connections == 0);
  ask("warpwright/runner", {{"again", true}});
  CHECK(
      client.wait([&] { return ask("warpwright/runner", Json::object()).at("state") == "ready"; }));
  const Json ready = ask("warpwright/runner", Json::object());
  CHECK(ready.at("label") == "on this machine");
  CHECK(ready.at("devices")[0].at("name") == "NVIDIA H200");

  const Json failed =
      ask("warpwright/testRunner", {{"url", "tls://wrong@gpu.example.org:4433?ca=x"}});
  CHECK(failed.at("state") == "failed");
  CHECK(failed.at("label") == "gpu.example.org:4433");
  CHECK(failed.at("message").get<std::string>().find("refused the token") != std::string::npos);
  CHECK(ask("warpwright/testRunner", {{"url", "tls://good@h:1"}}).at("state") == "ready");
  CHECK(ask("warpwright/runner", Json::object()).at("state") == "ready");

  client.notify("workspace/didChangeConfiguration",
                {{"settings", {{"warpwright", {{"runner", "tls://wrong@h:1"}}}}}});
  CHECK(client.wait(
      [&] { return ask("warpwright/runner", Json::object()).at("state") == "failed"; }));
  CHECK(ask("warpwright/runner", Json::object()).dump().find("wrong@") == std::string::npos);
  ask("warpwright/testRunner", {{"url", "tls://other@h:1"}});
  CHECK(ask("warpwright/runner", Json::object()).at("state") == "failed");
  ask("warpwright/testRunner", {{"url", ""}});
  const int before = runner->connections;
  client.notify("workspace/didChangeConfiguration",
                {{"settings", {{"warpwright", {{"runner", ""}}}}}});
  CHECK(
      client.wait([&] { return ask("warpwright/runner", Json::object()).at("state") == "ready"; }));
  CHECK(runner->connections == before); // it was just tried
}

TEST_CASE("in a workspace that is not trusted nothing is run and no runner is asked") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Crash),
                              verdict(model::Outcome::Crash)};
  client.configuration = {{"trusted", false}};
  client.initialize(LspClient::capabilities(), {{"initializationOptions", {{"trusted", false}}}});
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  const auto refused = client.request("workspace/executeCommand", optimize());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("not trusted") != std::string::npos);
  CHECK(client.request("warpwright/runner", Json::object())->at("state") == "untrusted");
  CHECK_FALSE(client.request("warpwright/testRunner", {{"url", ""}}).has_value());
  CHECK(session.runner->connections == 0);
  const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", kUri}}}});
  CHECK(client.request("codeLens/resolve", lenses->at(0))->at("command").at("title") ==
        "Warpwright: not measured · trust this workspace to optimize");

  client.configuration = {{"trusted", true}};
  client.notify("workspace/didChangeConfiguration", {{"settings", nullptr}});
  CHECK(client.wait([&] {
    return client.request("warpwright/runner", Json::object())->at("state") == "unknown";
  }));
  CHECK(session.runner->connections == 0);
  CHECK(client.request("workspace/executeCommand", optimize()).has_value());
  CHECK(session.runner->connections == 1);
  CHECK(client.request("warpwright/runner", Json::object())->at("state") == "ready");
}

TEST_CASE("a report tells of the kernels that were measured, and of nothing else") {
  auto runner = std::make_shared<FakeRunner>();
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  environment.report = [](const std::vector<server::ReportedKernel> &kernels) {
    std::string page;
    for (const auto &kernel : kernels)
      page += kernel.kernel + ": " + std::to_string(kernel.status.current.size()) + "\n";
    return page;
  };
  runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Crash),
                      verdict(model::Outcome::Crash)};
  Session session(std::move(environment), runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText + "__global__ void other(float *x) { x[2*i] = 1; }\n");
  CHECK_FALSE(client.request("warpwright/report", Json::object()).has_value());
  REQUIRE(client.request("workspace/executeCommand", optimize()).has_value());
  const auto report = client.request("warpwright/report", {{"uris", {kUri}}});
  REQUIRE(report.has_value());
  CHECK(report->at("kernels") == 1);
  CHECK(report->at("html") == "scale: 3\n");
}
