// Sessions with Python files against fakes: what a GPU's verdict looks like in the editor, and how
// a problem of a module is shown.
#include "analysis/python/module_facts.h"
#include "support/hash.h"
#include "tests/server/fake_environment.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kUri = "file:///p/model.py";
const std::string kText =
    "from torch import nn\n\n\n# warpwright: inputs x=float32[4]\n"
    "class Twice(nn.Module):\n    def forward(self, x):\n        return x + x\n";

model::Verdict gpu_verdict() {
  model::Verdict made = verdict(model::Outcome::Verified, speedup(1.8, 1.75, 1.85));
  made.baselines = {{"torch.compile+graph", model::Time{.median_ns = 9'000},
                     model::Time{.median_ns = 6'000}, speedup(1.5, 1.4, 1.6), ""}};
  made.library_share = 0.0;
  return made;
}

/// Faster than eager, slower than torch.compile in a CUDA graph.
model::Verdict outrun_verdict() {
  model::Verdict made = gpu_verdict();
  made.baselines.front().speedup = speedup(0.5, 0.45, 0.55);
  return made;
}

struct ModuleSession {
  std::shared_ptr<FakeRunner> runner = std::make_shared<FakeRunner>();
  std::shared_ptr<LedgerRows> rows = std::make_shared<LedgerRows>();
  std::shared_ptr<std::vector<std::string>> forms = std::make_shared<std::vector<std::string>>();
  server::LspEnvironment environment = fake_environment(runner, rows);

  ModuleSession() {
    environment.settings.max_variants = 1;
    environment.analyses.stub = [](const std::string &path, const std::string &text) {
      return server::AnalysisResult{analysis::module_facts(path, text), {}};
    };
    environment.variant_edits =
        [forms = forms](const std::string &, const std::string &, const runner::LedgerEntry &,
                        const server::VariantForm &form) -> Result<server::VariantEdits> {
      forms->push_back(form.in_place ? "in-place" : "");
      return server::VariantEdits{{{{0, 0}, "# applied\n"}}};
    };
  }
};

std::string lens(LspClient &client) {
  const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", kUri}}}});
  REQUIRE(lenses.has_value());
  REQUIRE(!lenses->empty());
  const auto resolved = client.request("codeLens/resolve", lenses->at(0));
  REQUIRE(resolved.has_value());
  return resolved->at("command").at("title");
}

std::vector<Json> actions(LspClient &client) {
  const auto offered =
      client.request("textDocument/codeAction", {{"textDocument", {{"uri", kUri}}},
                                                 {"range", client.range_of(kUri, "Twice")},
                                                 {"context", {{"diagnostics", Json::array()}}}});
  REQUIRE(offered.has_value());
  return *offered;
}

std::string hover_text(LspClient &client) {
  const auto hover = client.request("textDocument/hover", client.position_params(kUri, "Twice", 1));
  REQUIRE(hover.has_value());
  return hover->at("contents").at("value");
}

rpc::Outcome optimize(LspClient &client) {
  return client.request(
      "workspace/executeCommand",
      {{"command", "warpwright.optimize"}, {"arguments", {{{"uri", kUri}, {"kernel", "Twice"}}}}});
}

} // namespace

TEST_CASE("a module's lens and hover name every baseline, and both forms can be applied") {
  ModuleSession given;
  given.environment.settings.max_variants = 2;
  given.runner->verdicts = {
      verdict(model::Outcome::Verified, speedup(1.9, 1.7, 2.1)), // not measured again
      gpu_verdict()};
  Session session(given.environment, given.runner, given.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  CHECK(lens(client).starts_with("Warpwright: not measured · optimize on "));
  REQUIRE(optimize(client).has_value());
  CHECK(lens(client) == "Warpwright: 1.80x eager+graph, 1.50x torch.compile+graph · verified · "
                        "NVIDIA H200");
  const std::string text = hover_text(client);
  CHECK(text.find("The best of them (fake(step=1)) against PyTorch's fastest: 1.50x [1.40, 1.60] "
                  "torch.compile in a CUDA graph.") != std::string::npos);
  CHECK(text.find("advice") == std::string::npos);
  CHECK(
      text.find("| torch.compile+graph | device time | 9.00 us | 6.00 us | 1.50x [1.40, 1.60] |") !=
      std::string::npos);
  CHECK(text.find("it does not call the library") != std::string::npos);

  const std::vector<Json> offered = actions(client);
  REQUIRE(offered.size() == 3);
  CHECK(offered[0].at("title") == "Apply verified variant: 1.80x eager+graph, 1.50x "
                                  "torch.compile+graph · verified · NVIDIA H200");
  CHECK(offered[1].at("title").get<std::string>().ends_with(", in the forward of Twice"));
  for (int i : {0, 1})
    REQUIRE(client.request("codeAction/resolve", offered[i]).has_value());
  CHECK(*given.forms == std::vector<std::string>{"", "in-place"});
}

TEST_CASE("where torch.compile is faster than the best plan, lens and actions say to keep it") {
  ModuleSession given;
  given.runner->verdicts = {outrun_verdict()};
  Session session(given.environment, given.runner, given.rows);
  LspClient &client = session.client;
  Json capabilities = LspClient::capabilities();
  capabilities["textDocument"]["codeAction"]["disabledSupport"] = true;
  client.initialize(capabilities);
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  REQUIRE(optimize(client).has_value());
  const std::string advice =
      "eep torch.compile: 2.00x faster than the best verified plan in a CUDA graph · NVIDIA H200";
  CHECK(lens(client) == "Warpwright: k" + advice + " · optimize again");
  const std::vector<Json> offered = actions(client);
  REQUIRE(offered.size() == 4);
  CHECK(offered[0].at("title") == "K" + advice);
  CHECK(offered[0].at("disabled").contains("reason"));
  CHECK(offered[1].at("title") ==
        "Apply variant, slower than torch.compile in a CUDA graph: 1.80x eager+graph, 0.50x "
        "torch.compile+graph · verified · NVIDIA H200");
  const auto listed = client.request("warpwright/kernels", Json::object());
  REQUIRE(listed.has_value());
  CHECK(listed->at("kernels").at(0).at("state") == "nothingFaster");
  CHECK(listed->at("kernels").at(0).at("text") == "k" + advice);
  CHECK(hover_text(client).find("**Keep torch.compile: 2.00x faster") !=
        std::string::npos);
}

TEST_CASE("a client without disabled actions reads in the title that the variant is slower") {
  ModuleSession given;
  given.runner->verdicts = {outrun_verdict()};
  Session session(given.environment, given.runner, given.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  REQUIRE(optimize(client).has_value());
  const std::vector<Json> offered = actions(client);
  REQUIRE(offered.size() == 3);
  for (int i : {0, 1})
    CHECK(offered[i].at("title").get<std::string>().starts_with(
        "Apply variant, slower than torch.compile in a CUDA graph: "));
}

TEST_CASE("a plan that is slower than eager too is outrun by the fastest of PyTorch's forms") {
  ModuleSession given;
  model::Verdict slow = outrun_verdict();
  slow.speedup = speedup(0.9, 0.85, 0.95);
  given.runner->verdicts = {slow};
  Session session(given.environment, given.runner, given.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  REQUIRE(optimize(client).has_value());
  CHECK(lens(client).starts_with("Warpwright: keep torch.compile: 2.00x faster"));
  CHECK(hover_text(client).find("| torch.compile+graph | device time |") != std::string::npos);
}

TEST_CASE("the end of an optimization advises what is faster") {
  ModuleSession given;
  given.environment.optimize = [](const server::OptimizeRequest &, runner::BlockingClient &,
                                  const server::OptimizeEvents &,
                                  std::stop_token) -> Result<server::OptimizeSummary> {
    return server::OptimizeSummary{.tried = 1, .verified = 1, .keep = "keep torch.compile: ..."};
  };
  Session session(given.environment, given.runner, given.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  const auto answer = client.request("workspace/executeCommand",
                                     {{"command", "warpwright.optimize"},
                                      {"arguments", {{{"uri", kUri}, {"kernel", "Twice"}}}},
                                      {"workDoneToken", "t"}});
  REQUIRE(answer.has_value());
  CHECK(answer->at("keep") == "keep torch.compile: ...");
  CHECK(answer->at("best").is_null());
  std::string end;
  for (const Received &message : client.received())
    if (message.method == "$/progress" && message.params.at("value").at("kind") == "end")
      end = message.params.at("value").value("message", "");
  CHECK(end.starts_with("keep torch.compile: ..."));
}

TEST_CASE("the hover of a class shows what warpwright.optimize found, and whether it is stale") {
  ModuleSession given;
  const auto asked = std::make_shared<std::vector<std::string>>();
  given.environment.model_report = [asked](const std::string &class_name, const std::string &path) {
    asked->push_back(path + ":" + class_name);
    return regions::ModelReport{.class_name = "Twice",
                                .file_hash = sha256_hex(kText),
                                .mode = "default",
                                .device = "NVIDIA H200",
                                .date = "2026-01-02T",
                                .graphs = 2,
                                .breaks = 1,
                                .operators = 12,
                                .covered = 10,
                                .plans = 3,
                                .gains = {{1.2, 1.1, 1.3}}};
  };
  Session session(given.environment, given.runner, given.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  CHECK(asked->empty()); // opening reads no report
  const std::string found =
      "`warpwright.optimize` (mode default): 2 graphs, 1 graph break, 10 of 12 operators in "
      "regions, 3 plans used, 1.20x [1.10, 1.30] of torch.compile for a graph as called. NVIDIA "
      "H200, 2026-01-02";
  CHECK(hover_text(client).find(found + ".") != std::string::npos);
  CHECK(*asked == std::vector<std::string>{"/p/model.py:Twice"});
  client.edit(kUri, "x + x", "x + 1");
  CHECK(hover_text(client).find(found + "; **stale**") != std::string::npos);
}

TEST_CASE("a problem of a module is shown at its line until the module changes") {
  ModuleSession given;
  given.environment.optimize = [](const server::OptimizeRequest &, runner::BlockingClient &,
                                  const server::OptimizeEvents &events,
                                  std::stop_token) -> Result<server::OptimizeSummary> {
    for (const char *stage : {"tracing", "verifying", "verifying", "verifying"})
      events.on_stage(stage);
    events.on_problem({"torch-trace", "it cannot be traced (line 7)", 7});
    return fail("it cannot be traced (line 7)");
  };
  Session session(given.environment, given.runner, given.rows);
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  client.wait_for_diagnostics(kUri, 1);
  CHECK_FALSE(optimize(client).has_value());
  Json shown = client.wait_for_diagnostics(kUri, 1);
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].at("code") == "torch-trace");
  CHECK(shown[0].at("range") == client.range_of(kUri, "return x + x"));
  std::vector<std::string> told;
  for (const Received &message : client.received())
    if (message.method == "$/progress" && message.params.at("value").contains("message"))
      told.push_back(message.params.at("value").at("message"));
  CHECK(std::adjacent_find(told.begin(), told.end()) == told.end());
  client.edit(kUri, "x + x", "x + 1");
  CHECK(client.wait_for_diagnostics(kUri, 2).empty());
}
