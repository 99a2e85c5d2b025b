// Who may build and run what, in whole sessions against fakes: what is asked, how often, and what
// becomes of each answer.
#include "tests/server/fake_environment.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kUri = "file:///work%20space/k.cu";
const std::string kText = "__global__ void scale(float *x) { x[2*i] = x[2*i]; }\n";
const Json kSilent{{"initializationOptions", Json::object()}, {"rootUri", "file:///work%20space"}};

/// A project whose file asks for an interpreter, and sessions that share a user's approvals.
struct Project {
  std::filesystem::path folder;
  consent::ApprovalStore store;
  std::shared_ptr<FakeRunner> runner = std::make_shared<FakeRunner>();
  std::shared_ptr<LedgerRows> rows = std::make_shared<LedgerRows>();
  std::string requests_python; ///< "": the project has no file
  std::string hash = "first content";
  std::shared_ptr<std::string> used = std::make_shared<std::string>(); ///< runner of the last job

  Project() {
    std::string name =
        (std::filesystem::temp_directory_path() / "warpwright-trust-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    store = consent::ApprovalStore(folder / "approvals.json");
  }
  ~Project() { std::filesystem::remove_all(folder); }

  server::LspEnvironment environment() {
    auto result = fake_environment(runner, rows);
    result.approvals = store;
    result.analyses.stub = [this](const std::string &path, const std::string &text) {
      server::AnalysisResult found{fake_facts(path, text), {}};
      if (requests_python.empty())
        return found;
      auto &file = found.project.file;
      file = {.path = "/work space/.warpwright.toml",
              .identity = "/work space/.warpwright.toml",
              .content_hash = hash,
              .requests = {{"python", requests_python, "starts this program"}}};
      file.approved = store.read()->approves(file.identity, file.content_hash);
      if (file.approved)
        found.project.python = requests_python;
      return found;
    };
    result.optimize = [used = used, run = result.optimize](const server::OptimizeRequest &request,
                                                           auto &&...rest) {
      *used = request.settings.runner;
      return run(request, rest...);
    };
    return result;
  }
};

Json optimize() {
  return {{"command", "warpwright.optimize"},
          {"arguments", {{{"uri", kUri}, {"kernel", "scale"}}}}};
}

Json trust() { return {{"command", "warpwright.trust"}, {"arguments", {{{"uri", kUri}}}}}; }

std::vector<model::Verdict> three() {
  return {verdict(model::Outcome::Verified), verdict(model::Outcome::Crash),
          verdict(model::Outcome::Crash)};
}

void script(FakeRunner &runner) {
  runner.verdicts.clear();
  for (const model::Verdict &one : three())
    runner.verdicts.push_back(one);
}

std::size_t questions(const LspClient &client) { return client.count("window/showMessageRequest"); }

std::string last_question(const LspClient &client) {
  std::string text;
  for (const Received &message : client.received())
    if (message.method == "window/showMessageRequest")
      text = message.params.at("message");
  return text;
}

} // namespace

TEST_CASE("a client that says nothing of trust is asked once, when something is to be run") {
  Project project;
  {
    script(*project.runner);
    Session session(project.environment(), project.runner, project.rows);
    LspClient &client = session.client;
    client.initialize(LspClient::capabilities(), kSilent);
    client.open(kUri, kText);
    client.wait_for_diagnostics(kUri, 1);
    CHECK(questions(client) == 0);
    const auto refused = client.request("workspace/executeCommand", optimize());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("not trusted") != std::string::npos);
    CHECK(questions(client) == 1);
    CHECK(last_question(client).find("Do you trust /work space?") != std::string::npos);
    CHECK(project.runner->connections == 0);

    client.answer = "Trust";
    CHECK(client.request("workspace/executeCommand", optimize()).has_value());
    CHECK(questions(client) == 2);
    CHECK(project.runner->connections == 1);
    script(*project.runner);
    CHECK(client.request("workspace/executeCommand", optimize()).has_value());
    CHECK(questions(client) == 2);
  }
  script(*project.runner);
  Session later(project.environment(), project.runner, project.rows);
  later.client.initialize(LspClient::capabilities(), kSilent);
  later.client.open(kUri, kText);
  CHECK(later.client.request("workspace/executeCommand", optimize()).has_value());
  CHECK(questions(later.client) == 0);
}

TEST_CASE("a session that opens a file contacts no runner") {
  Project project;
  Session session(project.environment(), project.runner, project.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", kUri}}}});
  CHECK(client.request("codeLens/resolve", lenses->at(0))->at("command").at("title") ==
        "Warpwright: not measured · optimize");
  CHECK(client.request("warpwright/runner", Json::object())->at("state") == "unknown");
  CHECK(client.request("warpwright/kernels", Json::object()).has_value());
  CHECK(project.runner->connections == 0);
}

TEST_CASE("what a project's file asks for is asked about once for each content") {
  Project project;
  project.requests_python = "\"/p/evil\"";
  script(*project.runner);
  Session session(project.environment(), project.runner, project.rows);
  LspClient &client = session.client;
  client.answer = "Ignore";
  client.initialize();
  client.open(kUri, kText);
  REQUIRE(client.wait([&] { return questions(client) == 1; }));
  CHECK(last_question(client).find("python = \"/p/evil\"") != std::string::npos);
  client.edit(kUri, "scale", "scale");
  client.wait_for_diagnostics(kUri, 2);
  CHECK(client.request("workspace/executeCommand", optimize()).has_value());
  CHECK(questions(client) == 1);
  CHECK(project.used->find("evil") == std::string::npos);

  project.hash = "second content";
  client.answer = "Trust";
  client.edit(kUri, "scale", "scale");
  REQUIRE(client.wait([&] { return questions(client) == 2; }));
  REQUIRE(client.wait([&] {
    return project.store.read()->approves("/work space/.warpwright.toml", "second content");
  }));
  script(*project.runner);
  CHECK(client.request("workspace/executeCommand", optimize()).has_value());
  CHECK(project.used->find("evil") != std::string::npos);
  CHECK(questions(client) == 2);

  project.hash = "third content"; // and the client closes the question
  client.answer = "";
  client.edit(kUri, "scale", "scale");
  REQUIRE(client.wait([&] { return questions(client) == 3; }));
  script(*project.runner);
  client.answer = "Trust";
  CHECK(client.request("workspace/executeCommand", optimize()).has_value());
  CHECK(questions(client) == 4);
  CHECK(project.used->find("evil") != std::string::npos);
}

TEST_CASE("a client whose questions may take what is typed for an answer is told instead") {
  Project project;
  project.requests_python = "\"/p/evil\"";
  Session session(project.environment(), project.runner, project.rows);
  LspClient &client = session.client;
  Json capabilities = LspClient::capabilities();
  capabilities.erase("experimental");
  client.initialize(capabilities);
  client.open(kUri, kText);
  REQUIRE(client.wait([&] { return client.count("window/showMessage") == 1; }));
  client.edit(kUri, "scale", "scale");
  client.wait_for_diagnostics(kUri, 2);
  CHECK(client.count("window/showMessage") == 1);
  CHECK(questions(client) == 0);
  client.answer = "Trust";
  CHECK(client.request("workspace/executeCommand", trust()).has_value());
  CHECK(questions(client) == 1);
  CHECK(project.store.read()->files.size() == 1);
}

TEST_CASE("folder and file can be trusted in one answer, or the folder alone") {
  for (const bool both : {true, false}) {
    Project project;
    project.requests_python = "\"/p/evil\"";
    script(*project.runner);
    Session session(project.environment(), project.runner, project.rows);
    LspClient &client = session.client;
    client.initialize(LspClient::capabilities(), kSilent);
    client.open(kUri, kText);
    client.wait_for_diagnostics(kUri, 1);
    client.answer = both ? "Trust Folder and File" : "Trust Folder Only";
    CHECK(client.request("workspace/executeCommand", optimize()).has_value());
    CHECK((project.used->find("evil") != std::string::npos) == both);
    CHECK(project.store.read()->folders == std::set<std::string>{"/work space"});
    CHECK(project.store.read()->files.size() == (both ? 1 : 0));
  }
}

TEST_CASE("a code action opens the question, and is gone once the file is approved") {
  Project project;
  project.requests_python = "\"/p/evil\"";
  Session session(project.environment(), project.runner, project.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  const auto offered = [&] {
    const auto actions =
        client.request("textDocument/codeAction", {{"textDocument", {{"uri", kUri}}},
                                                   {"range", client.range_of(kUri, "__global__")},
                                                   {"context", {{"diagnostics", Json::array()}}}});
    REQUIRE(actions.has_value());
    for (const Json &action : *actions)
      if (action.at("title").get<std::string>().starts_with("Review and trust"))
        return action;
    return Json();
  };
  const Json action = offered();
  REQUIRE(action.is_object());
  client.answer = "Trust";
  CHECK(client.request("workspace/executeCommand", action.at("command")).has_value());
  CHECK(client.wait([&] { return offered().is_null(); }));
  CHECK(client.request("workspace/executeCommand", trust()).has_value());
}

TEST_CASE("an approval in a terminal counts for the next optimization, without a question") {
  Project project;
  project.requests_python = "\"/p/evil\"";
  script(*project.runner);
  Session session(project.environment(), project.runner, project.rows);
  LspClient &client = session.client;
  client.initialize(LspClient::capabilities(), kSilent);
  client.open(kUri, kText);
  REQUIRE(client.wait([&] { return questions(client) == 1; }));
  REQUIRE(project.store
              .update([&](consent::Approved &approved) {
                approved.files["/work space/.warpwright.toml"] = project.hash;
                approved.folders.insert("/work space");
              })
              .has_value());
  CHECK(client.request("workspace/executeCommand", optimize()).has_value());
  CHECK(project.used->find("evil") != std::string::npos);
  CHECK(questions(client) == 1);
}

TEST_CASE("a client that says it is not trusted is asked nothing") {
  Project project;
  project.requests_python = "\"/p/evil\"";
  Session session(project.environment(), project.runner, project.rows);
  LspClient &client = session.client;
  client.answer = "Trust";
  client.configuration = {{"trusted", false}};
  client.initialize(LspClient::capabilities(), {{"initializationOptions", {{"trusted", false}}}});
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  CHECK_FALSE(client.request("workspace/executeCommand", optimize()).has_value());
  CHECK_FALSE(client.request("workspace/executeCommand", trust()).has_value());
  CHECK(questions(client) == 0);
  CHECK(project.store.read()->folders.empty());
}
