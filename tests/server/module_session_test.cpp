// Sessions with Python files against fakes: what a GPU's verdict looks like in the editor, and how a problem of a module is shown.
#include "analysis/python/module_facts.h"
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
                        const server::VariantForm &form) -> Result<std::vector<TextEdit>> {
      forms->push_back(form.in_place ? "in-place" : "");
      return std::vector<TextEdit>{{{0, 0}, "# applied\n"}};
    };
  }
};

std::string lens(LspClient &client) {
  const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", kUri}}}});
  REQUIRE(lenses.has_value());
  REQUIRE(lenses->size() == 1);
  const auto resolved = client.request("codeLens/resolve", lenses->at(0));
  REQUIRE(resolved.has_value());
  return resolved->at("command").at("title");
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
  CHECK(lens(client).starts_with("Warpwright: not measured · optimise on "));
  REQUIRE(optimize(client).has_value());
  CHECK(lens(client) == "Warpwright: 1.80x eager+graph, 1.50x torch.compile+graph · verified · "
                        "NVIDIA H200 · apply");
  const auto hover = client.request("textDocument/hover", client.position_params(kUri, "Twice", 1));
  REQUIRE(hover.has_value());
  const std::string text = hover->at("contents").at("value");
  CHECK(
      text.find("| torch.compile+graph | device time | 9.00 us | 6.00 us | 1.50x [1.40, 1.60] |") !=
      std::string::npos);
  CHECK(text.find("no library is called") != std::string::npos);

  const auto offered =
      client.request("textDocument/codeAction", {{"textDocument", {{"uri", kUri}}},
                                                 {"range", client.range_of(kUri, "Twice")},
                                                 {"context", {{"diagnostics", Json::array()}}}});
  REQUIRE(offered.has_value());
  REQUIRE(offered->size() == 3);
  CHECK(offered->at(0).at("title") == "Apply verified variant: 1.80x eager+graph, 1.50x "
                                      "torch.compile+graph · verified · NVIDIA H200");
  CHECK(offered->at(1).at("title").get<std::string>().ends_with(", in the forward of Twice"));
  for (int i : {0, 1})
    REQUIRE(client.request("codeAction/resolve", offered->at(i)).has_value());
  CHECK(*given.forms == std::vector<std::string>{"", "in-place"});
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
