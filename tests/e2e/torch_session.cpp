#include "tests/e2e/torch_session.h"

#include <doctest/doctest.h>
#include <fstream>
#include <unistd.h>

namespace warpwright::tests {

TorchSession::TorchSession(const std::string &file_name, Json settings)
    : folder(std::filesystem::temp_directory_path() /
             ("warpwright-torch-" + std::to_string(::getpid()))),
      uri("file://" + (folder / file_name).string()) {
  std::filesystem::create_directories(folder);
  settings["device"] = "cpu";
  client.configuration = std::move(settings);
  client.start({WARPWRIGHT_BINARY_DIR "/warpwright", "lsp"},
               {.environment = {"XDG_STATE_HOME=" + folder.string()}});
}

TorchSession::~TorchSession() {
  CHECK_MESSAGE(client.violations.empty(),
                (client.violations.empty() ? "" : client.violations.front()));
  std::filesystem::remove_all(folder);
}

std::string TorchSession::lens() {
  const auto lenses = client.request("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
  REQUIRE(lenses.has_value());
  REQUIRE(!lenses->empty());
  const auto lens = client.request("codeLens/resolve", lenses->at(0));
  REQUIRE(lens.has_value());
  return lens->at("command").at("title");
}

Json TorchSession::actions(const std::string &what, const Json &diagnostics) {
  const auto found =
      client.request("textDocument/codeAction", {{"textDocument", {{"uri", uri}}},
                                                 {"range", client.range_of(uri, what)},
                                                 {"context", {{"diagnostics", diagnostics}}}});
  REQUIRE(found.has_value());
  return *found;
}

void TorchSession::apply(const std::string &what,
                         const std::function<bool(const std::string &title)> &is_wanted) {
  const Json found = actions(what);
  for (const Json &action : found)
    if (is_wanted(action.at("title"))) {
      const auto resolved = client.request("codeAction/resolve", action);
      REQUIRE_MESSAGE(resolved.has_value(), (resolved ? "" : resolved.error().message));
      return client.apply(resolved->at("edit"));
    }
  FAIL("the wanted action is not among " << found.dump());
}

rpc::Outcome TorchSession::optimize(const std::string &name) {
  const auto id = client.send_request(
      "workspace/executeCommand",
      {{"command", "warpwright.optimize"}, {"arguments", {{{"uri", uri}, {"kernel", name}}}}});
  for (int patience = 0; patience < 8 && !client.outcome(id); ++patience)
    client.wait([&] { return client.outcome(id) != nullptr; });
  REQUIRE(client.outcome(id));
  return *client.outcome(id);
}

std::string TorchSession::write(const std::string &name, const std::string &text) const {
  std::ofstream(folder / name) << text;
  return (folder / name).string();
}

} // namespace warpwright::tests
