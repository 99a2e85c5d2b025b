// The pages of a kernel, as documents of the server and as files; profiles.
#include "server/features/kernel_page.h"
#include "server/features/page_uri.h"
#include "tests/server/fake_environment.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;
using server::features::Page;

namespace {

const std::string kUri = "file:///work%20space/k.cu";
const std::string kText = "__global__ void scale(float *x) { x[2*i] = x[2*i]; }\n";

Json showing(bool has_content) {
  Json capabilities = LspClient::capabilities();
  capabilities["window"]["showDocument"]["support"] = true;
  if (has_content)
    capabilities["workspace"]["textDocumentContent"] = Json::object();
  return capabilities;
}

rpc::Outcome run(LspClient &client, const std::string &command) {
  return client.request("workspace/executeCommand",
                        {{"command", command}, {"arguments", {{{"uri", kUri}, {"kernel", "scale"}}}}});
}

/// URI of the page that the server had the client show last.
std::string shown(LspClient &client) {
  std::string uri;
  for (const Received &message : client.received())
    if (message.method == "window/showDocument")
      uri = message.params.at("uri");
  return uri;
}

std::string content(LspClient &client, const std::string &uri) {
  const auto found = client.request("workspace/textDocumentContent", {{"uri", uri}});
  REQUIRE_MESSAGE(found.has_value(), (found ? "" : found.error().message));
  return found->at("text");
}

void script(FakeRunner &runner) {
  runner.verdicts = {verdict(model::Outcome::Verified, speedup(2.31, 2.27, 2.35)),
                     verdict(model::Outcome::WrongResult),
                     verdict(model::Outcome::Verified, speedup(1.5, 1.4, 1.6))};
  runner.verdicts[1]->message = "3 elements differ";
}

} // namespace

TEST_CASE("the URI of a page names its kernel, its document and its plan") {
  server::features::PageReference reference;
  reference.kernel = {.uri = kUri, .kernel = "scale"};
  const std::string uri = page_uri(reference);
  CHECK(uri == "warpwright:/details/scale.md?file:///work%2520space/k.cu");
  reference.page = Page::Review;
  reference.kernel.plan = "12ab";
  const auto back = server::features::parse_page_uri(page_uri(reference));
  REQUIRE(back.has_value());
  CHECK(back->page == Page::Review);
  CHECK(back->kernel.uri == kUri);
  CHECK(back->kernel.kernel == "scale");
  CHECK(back->kernel.plan == "12ab");
  for (const char *wrong : {"file:///details/k.md?file:///k.cu", "warpwright:/details/k.md",
                            "warpwright:/other/k.md?file:///k.cu", "warpwright:/details/.md?file:///k"})
    CHECK_FALSE(server::features::parse_page_uri(wrong).has_value());
}

TEST_CASE("review shows the diff, and details all that was tried with the reasons") {
  Session session;
  LspClient &client = session.client;
  script(*session.runner);
  client.initialize(showing(true));
  client.open(kUri, kText);
  REQUIRE(run(client, "warpwright.optimize").has_value());
  REQUIRE(run(client, "warpwright.review").has_value());
  const std::string diff = content(client, shown(client));
  CHECK(diff.contains("+++ b/work space/k.cu"));
  CHECK(diff.contains("\n+// fake(step=0)\n"));
  CHECK(client.text(kUri) == kText);

  REQUIRE(run(client, "warpwright.details").has_value());
  CHECK(shown(client).starts_with("warpwright:/details/scale.md?"));
  const std::string page = content(client, shown(client));
  CHECK(page.starts_with("# scale\n\n`scale`: **2.31x faster** than the code as written"));
  CHECK(page.contains("| fake(step=1) | wrong result | - | - | 3 elements differ |\n"));
  CHECK(page.contains("| fake(step=2) | verified | "));
  CHECK_FALSE(client.request("workspace/textDocumentContent", {{"uri", "warpwright:/x"}}).has_value());
}

TEST_CASE("a client that opens files only gets the page as a file, and another one a reason") {
  auto runner = std::make_shared<FakeRunner>();
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  const auto written = std::make_shared<std::string>();
  environment.write_page = [written](const std::string &name, const std::string &text) -> Result<std::string> {
    *written = text;
    return "/run/user/1/warpwright/" + name;
  };
  script(*runner);
  Session session(std::move(environment), runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  SUBCASE("files") {
    client.initialize(showing(false));
    client.open(kUri, kText);
    REQUIRE(run(client, "warpwright.optimize").has_value());
    REQUIRE(run(client, "warpwright.details").has_value());
    CHECK(shown(client) == "file:///run/user/1/warpwright/scale.md");
    CHECK(written->contains("## Tried"));
  }
  SUBCASE("nothing") {
    client.initialize();
    client.open(kUri, kText);
    REQUIRE(run(client, "warpwright.optimize").has_value());
    const auto refused = run(client, "warpwright.details");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.contains("cannot open a page"));
  }
}

TEST_CASE("a profile reads the counters of the best variant, and the page explains them") {
  Session session;
  LspClient &client = session.client;
  script(*session.runner);
  client.initialize(showing(true));
  client.open(kUri, kText);
  REQUIRE(run(client, "warpwright.optimize").has_value());
  model::Verdict profiled = verdict(model::Outcome::Verified, speedup(2.3, 2.2, 2.4));
  model::PlanCounters before, after;
  before.values = {{"l2_hit_percent", 12.5}, {"stalled_long_scoreboard_warps_per_issue", 9}};
  after.values = {{"l2_hit_percent", 80}};
  profiled.counters = model::Counters{before, after, "ncu 2025.3.1", "n=1048576"};
  session.runner->verdicts = {profiled};
  const auto done = run(client, "warpwright.profile");
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  CHECK(done->at("profile") == "hardware counters were read by ncu 2025.3.1");
  REQUIRE(run(client, "warpwright.details").has_value());
  const std::string page = content(client, shown(client));
  CHECK(page.contains("| l2_hit_percent | 12.5 | 80 | sectors that the L2 cache held |\n"));
  CHECK(page.contains("| stalled_long_scoreboard_warps_per_issue | 9 | - | warps that wait for "
                      "global or local memory, for each instruction issued |\n"));
}

TEST_CASE("the machine code of both sides is on the page, linked to the source") {
  auto runner = std::make_shared<FakeRunner>();
  auto environment = fake_environment(runner, std::make_shared<LedgerRows>());
  environment.machine_code = [](const model::Plan &plan, int capability) -> Result<server::features::MachineCode> {
    if (plan.source.empty())
      return fail("there is no source");
    CHECK(capability == 90);
    return server::features::MachineCode{plan.source, "ret;\n", "", "no nvdisasm", "13.0", {{"scale", 0, 1, 1}}};
  };
  script(*runner);
  for (auto &one : runner->verdicts)
    one->device.compute_capability = "9.0";
  Session session(std::move(environment), runner, std::make_shared<LedgerRows>());
  LspClient &client = session.client;
  client.initialize(showing(true));
  client.open(kUri, kText);
  REQUIRE(run(client, "warpwright.optimize").has_value());
  REQUIRE(run(client, "warpwright.details").has_value());
  const std::string page = content(client, shown(client));
  CHECK(page.contains("### Before\n\nthere is no source\n"));
  CHECK(page.contains("No machine code: no nvdisasm.\n"));
  CHECK(page.contains("     |     ptx 1  ret;\n"));
  const auto code = client.request("warpwright/details", {{"uri", kUri}, {"kernel", "scale"}});
  REQUIRE(code.has_value());
  CHECK(code->at("after").at("rows") == Json::parse("[[0, 1, 1]]"));
  CHECK(code->at("before").at("missing") == "there is no source");
}
