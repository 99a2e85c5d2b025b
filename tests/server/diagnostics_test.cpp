// Diagnostics with what belongs to them: launches, fixes of a whole file, pulling; edits with
// labels.
#include "tests/server/fake_environment.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kUri = "file:///p/k.cu";
const std::string kText = "__global__ void scale(float *x) { x[2.0*i] = 1; }\n"
                          "void run() { scale<<<1, 32>>>(x); }\n";

Json with(const char *pointer, Json value) {
  Json capabilities = LspClient::capabilities();
  capabilities[Json::json_pointer(pointer)] = std::move(value);
  return capabilities;
}

Json whole(const std::string &uri) { return {{"textDocument", {{"uri", uri}}}}; }

/// Facts with a finding of each rule at the first occurrences of these texts, whose fix removes the text.
server::LspEnvironment finding(std::vector<std::pair<std::string, std::string>> rules,
                               std::shared_ptr<FakeRunner> runner) {
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  environment.analyses.stub = [rules](const std::string &path, const std::string &text) {
    analysis::FileFacts facts = fake_facts(path, text);
    facts.diagnostics.clear();
    for (const auto &[rule, word] : rules)
      if (const std::size_t at = text.find(word); at != std::string::npos)
        facts.diagnostics.push_back({.rule = rule,
                                     .severity = analysis::Severity::Warning,
                                     .message = "remove " + word,
                                     .range = {at, at + word.size()},
                                     .fixes = {{"Remove", {{{at, at + word.size()}, ""}}}}});
    return server::AnalysisResult{facts, {}};
  };
  return environment;
}

} // namespace

TEST_CASE("a finding about an access names the launches of its kernel") {
  Session session;
  LspClient &client = session.client;
  client.initialize(with("/textDocument/publishDiagnostics/relatedInformation", true));
  client.open(kUri, kText);
  const Json found = client.wait_for_diagnostics(kUri, 1);
  REQUIRE(found.size() == 1);
  const Json related = found[0].at("relatedInformation");
  REQUIRE(related.size() == 1);
  CHECK(related[0].at("location").at("uri") == kUri);
  CHECK(related[0].at("location").at("range") == client.range_of(kUri, "scale<<<1, 32>>>(x)"));
}

TEST_CASE("a client without related information gets none") {
  Session session;
  session.client.initialize();
  session.client.open(kUri, kText);
  CHECK_FALSE(session.client.wait_for_diagnostics(kUri, 1)[0].contains("relatedInformation"));
}

TEST_CASE("fix all takes the first fix of each safe finding, only on request, and of two that overlap one") {
  auto runner = std::make_shared<FakeRunner>();
  Session session(finding({{"missing-const", "aaa"}, {"bank-conflict", "aab"}, {"missing-restrict", "ccc"},
                           {"shared-memory-race", "ddd"}},
                          runner),
                  runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, "aaab ccc ddd\n");
  client.wait_for_diagnostics(kUri, 1);
  const auto actions = [&](Json context) {
    context["diagnostics"] = Json::array();
    const auto found = client.request("textDocument/codeAction", {{"textDocument", {{"uri", kUri}}},
                                                                  {"range", client.range_of(kUri, "ccc")},
                                                                  {"context", context}});
    REQUIRE(found.has_value());
    return *found;
  };
  for (const Json &action : actions(Json::object()))
    CHECK(action.at("kind") != "source.fixAll.warpwright");
  const Json all = actions({{"only", {"source.fixAll"}}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].at("kind") == "source.fixAll.warpwright");
  client.apply(all[0].at("edit"));
  CHECK(client.text(kUri) == "b ccc \n");
}

TEST_CASE("a client that pulls diagnostics gets none published") {
  Json capabilities = with("/textDocument/diagnostic", Json::object());
  capabilities["workspace"]["diagnostics"]["refreshSupport"] = true;
  Session session;
  LspClient &client = session.client;
  const Json result = client.initialize(capabilities);
  CHECK(result.at("capabilities").at("diagnosticProvider").at("workspaceDiagnostics") == false);
  client.open(kUri, kText);
  const auto report = client.request("textDocument/diagnostic", whole(kUri));
  REQUIRE(report.has_value());
  CHECK(report->at("kind") == "full");
  REQUIRE(report->at("items").size() == 1);
  CHECK(report->at("items")[0].at("code") == "double-arithmetic");
  client.notify("workspace/didChangeConfiguration",
                {{"settings", {{"warpwright", {{"disabledRules", {"double-arithmetic"}}}}}}});
  CHECK(client.wait([&] { return client.count("workspace/diagnostic/refresh") > 0; }));
  CHECK(client.request("textDocument/diagnostic", whole(kUri))->at("items").empty());
  CHECK(client.count("textDocument/publishDiagnostics") == 0);
}

TEST_CASE("a client that cannot be told to pull again is not asked to pull") {
  Session session;
  const Json result = session.client.initialize(with("/textDocument/diagnostic", Json::object()));
  CHECK_FALSE(result.at("capabilities").contains("diagnosticProvider"));
}

TEST_CASE("an edit outside of the kernels has a label where the client shows labels") {
  Session session;
  LspClient &client = session.client;
  session.runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Crash),
                              verdict(model::Outcome::Crash)};
  client.initialize(with("/workspace/workspaceEdit/changeAnnotationSupport", Json::object()));
  client.open(kUri, "// first line\n" + kText);
  REQUIRE(client
              .request("workspace/executeCommand",
                       {{"command", "warpwright.optimize"},
                        {"arguments", {{{"uri", kUri}, {"kernel", "scale"}}}}})
              .has_value());
  REQUIRE(client
              .request("workspace/executeCommand",
                       {{"command", "warpwright.apply"},
                        {"arguments", {{{"uri", kUri}, {"kernel", "scale"}}}}})
              .has_value());
  Json edit;
  for (const Received &message : client.received())
    if (message.method == "workspace/applyEdit")
      edit = message.params.at("edit");
  const Json annotation = edit.at("documentChanges")[0].at("edits")[0].at("annotationId");
  CHECK(edit.at("changeAnnotations").at(annotation.get<std::string>()).at("label") ==
        "Host code and declarations");
}

TEST_CASE("a kernel of a header is applied together with its launch in another file") {
  auto runner = std::make_shared<FakeRunner>();
  runner->verdicts = {verdict(model::Outcome::Verified), verdict(model::Outcome::Crash), verdict(model::Outcome::Crash)};
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  environment.variant_edits = [](const std::string &, const std::string &, const runner::LedgerEntry &,
                                 const server::VariantForm &) -> Result<server::VariantEdits> {
    return server::VariantEdits{{{{0, 0}, "// kernel\n"}},
                                server::FileEdits{"/project/main.cu", "f();\nk<<<1, 2>>>();\n", {{{12, 13}, "4"}}}};
  };
  Session session(environment, runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.open("file:///project/main.cu", "f();\nk<<<1, 2>>>();\n");
  const auto execute = [&](const char *command) {
    return client.request("workspace/executeCommand",
                          {{"command", command}, {"arguments", {{{"uri", kUri}, {"kernel", "scale"}}}}});
  };
  const auto edits = [&] {
    Json found;
    for (const Received &message : client.received())
      if (message.method == "workspace/applyEdit")
        found = message.params.at("edit").at("documentChanges");
    return found;
  };
  REQUIRE(execute("warpwright.optimize").has_value());
  const auto applied = execute("warpwright.apply");
  REQUIRE_MESSAGE(applied.has_value(), (applied ? "" : applied.error().message));
  REQUIRE(edits().size() == 2);
  const Json launch = edits()[1];
  CHECK(launch.at("textDocument") == Json{{"uri", "file:///project/main.cu"}, {"version", 1}});
  CHECK(launch.at("edits")[0].at("newText") == "4");
  CHECK(launch.at("edits")[0].at("range").at("start") == Json{{"line", 1}, {"character", 7}});
  CHECK(client.text("file:///project/main.cu") == "f();\nk<<<1, 4>>>();\n");
  CHECK_FALSE(execute("warpwright.apply").has_value()); // the launch is not saved
}

TEST_CASE("errors of syntax are another server's to report, unless they are asked for") {
  auto runner = std::make_shared<FakeRunner>();
  Session session(finding({{"syntax", "aaa"}}, runner), runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, "aaa\n");
  CHECK(client.wait_for_diagnostics(kUri, 1).empty());
  client.notify("workspace/didChangeConfiguration",
                {{"settings", {{"warpwright", {{"syntaxDiagnostics", true}}}}}});
  CHECK(client.wait([&] { return !client.wait_for_diagnostics(kUri, 1).empty(); }));
}
