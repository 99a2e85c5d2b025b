// Settings of a session and of single documents.
#include "tests/server/fake_environment.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kUri = "file:///p/k.cu";
const std::string kText = "__global__ void scale(float *x) { x[2*i] = 2.0 * x[2*i]; }\n";

Json lenses(LspClient &client) {
  const auto found = client.request("textDocument/codeLens", {{"textDocument", {{"uri", kUri}}}});
  REQUIRE(found.has_value());
  return *found;
}

void set(LspClient &client, Json settings) {
  client.notify("workspace/didChangeConfiguration", {{"settings", {{"warpwright", std::move(settings)}}}});
}

} // namespace

TEST_CASE("lenses are switched off by codeLens.enable") {
  Session session;
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  CHECK(lenses(client).size() == 1);
  set(client, {{"codeLens", {{"enable", false}}}});
  CHECK(lenses(client).empty());
  set(client, {{"codeLens", {{"enable", "yes"}}}});
  CHECK(client.wait([&] { return client.count("window/showMessage") == 1; }));
}

TEST_CASE("a language that is switched off has no findings, lenses or kernels") {
  Session session;
  LspClient &client = session.client;
  client.initialize();
  client.open(kUri, kText);
  CHECK(client.wait_for_diagnostics(kUri, 1).size() == 1);
  set(client, {{"languages", {{"cuda", false}}}});
  CHECK(lenses(client).empty());
  CHECK(client.wait_for_diagnostics(kUri, 1).empty());
  CHECK(client.request("warpwright/kernels", Json::object())->at("kernels").empty());
  set(client, {{"languages", {{"cuda", true}}}});
  CHECK(lenses(client).size() == 1);
}

TEST_CASE("each document has the settings of its folder") {
  Session session;
  LspClient &client = session.client;
  const std::string other = "file:///q/k.cu";
  client.configuration = Json::object();
  client.scoped_configuration[other] = {{"disabledRules", {"double-arithmetic"}}};
  client.initialize();
  client.open(kUri, kText);
  client.open(other, kText);
  CHECK(client.wait([&] { return client.wait_for_diagnostics(other, 1).empty(); }));
  CHECK(client.wait_for_diagnostics(kUri, 1).size() == 1);
}
