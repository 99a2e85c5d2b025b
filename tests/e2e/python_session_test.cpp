// The real `warpwright lsp` with a Python file on the CPU backend: a module is optimized, applied
// in both forms, and the file that comes of it is run by the same Python. And what is said of
// modules that cannot be measured.
#include "tests/e2e/torch_session.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kModule = R"(import torch
from torch import nn


# warpwright: inputs x=float32[24, 40]; init 40
class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return torch.relu(x * self.weight) + 1.5
)";

/// Prints "same" where the class `made` of the file computes what the original text's Scaled does, on a CPU tensor.
const char kCompare[] = R"(
import runpy, sys, torch
before, after = runpy.run_path(sys.argv[1]), runpy.run_path(sys.argv[2])
torch.manual_seed(1)
old, new = before["Scaled"](40), after[sys.argv[3]](40)
x = torch.randn(24, 40)
with torch.no_grad():
    print("same" if torch.equal(old(x), new(x)) and torch.equal(old(x=x), new(x=x)) else "different")
)";

struct PythonSession : TorchSession {
  PythonSession() : TorchSession("model.py", {{"maxVariants", 2}, {"budget", 120}}) {}

  std::string hover(const std::string &what) {
    const auto hover = client.request("textDocument/hover", client.position_params(uri, what, 7));
    REQUIRE(hover.has_value());
    REQUIRE(hover->is_object());
    return hover->at("contents").at("value");
  }

  /// Applies the action of the class whose title ends so.
  void apply_ending(const std::string &ending) {
    apply("class Scaled", [&](const std::string &title) { return title.ends_with(ending); });
  }

  std::string compare_with(const std::string &made) const {
    const auto run =
        run_captured({python(), write("compare.py", kCompare), write("before.py", kModule),
                      write("after.py", client.text(uri)), made},
                     "", std::chrono::seconds(60), {});
    REQUIRE(run.has_value());
    INFO(run->errors);
    return run->output;
  }
};

Json with_code(const Json &diagnostics, const std::string &code) {
  for (const Json &diagnostic : diagnostics)
    if (diagnostic.value("code", "") == code)
      return diagnostic;
  return nullptr;
}

} // namespace

TEST_CASE("a module is optimized on the CPU, applied in both forms, and computes the same") {
  if (!has_torch()) {
    MESSAGE("all cases skipped: python3 has no torch");
    return;
  }
  PythonSession session;
  LspClient &client = session.client;
  client.initialize();
  client.open(session.uri, kModule);
  CHECK(client.wait_for_diagnostics(session.uri, 1).empty());
  CHECK(session.lens().starts_with("Warpwright: not measured · optimize on "));

  const auto done = session.optimize("Scaled");
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  CHECK(done->at("verified") > 0);
  CHECK(done->at("best").is_null());
  CHECK(client.count("$/progress") > 2);
  CHECK(session.lens() ==
        "Warpwright: variant checked (correct on the CPU backend, speed not measured)");
  const std::string hover = session.hover("class Scaled");
  CHECK(hover.find("`x float32[24, 40], weight float32[40] -> float32[24, 40]`") !=
        std::string::npos);
  CHECK(hover.find("No GPU measured these") != std::string::npos);

  session.apply_ending("speed not measured)");
  CHECK(client.text(session.uri).starts_with(kModule));
  CHECK(client.text(session.uri).find("class ScaledNew(Scaled):") != std::string::npos);
  CHECK(session.compare_with("ScaledNew") == "same\n");
  CHECK(session.lens().starts_with("Warpwright: applied variant, "));

  session.apply_ending("in the forward of Scaled");
  CHECK(client.text(session.uri).find("class ScaledNew") == std::string::npos);
  CHECK(client.text(session.uri).find("@warpwright.plans(\"Scaled.") != std::string::npos);
  CHECK(session.compare_with("Scaled") == "same\n");

  client.edit(session.uri, "plans(\"Scaled.",
              "plans(\"Scaled.0"); // another plan: it is no longer the one that was verified
  CHECK(session.lens().starts_with("Warpwright: variant checked"));
  client.edit(session.uri, "self.weight) + 1.5", "self.weight) + 2.5");
  CHECK(session.lens().starts_with("Warpwright: stale"));
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("a module that imports a file of its project is measured with it") {
  if (!has_torch()) {
    MESSAGE("all cases skipped: python3 has no torch");
    return;
  }
  PythonSession session;
  LspClient &client = session.client;
  session.write("layers.py", "import torch\n\n\ndef shifted(x):\n    return torch.relu(x) + 1.5\n");
  client.initialize();
  std::string text = kModule;
  text.replace(text.find("import torch\n"), 13, "import torch\nfrom layers import shifted\n");
  text.replace(text.find("torch.relu(x * self.weight) + 1.5"), 33, "shifted(x * self.weight)");
  client.open(session.uri, text);
  CHECK(client.wait_for_diagnostics(session.uri, 1).empty());
  const auto done = session.optimize("Scaled");
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  CHECK(done->at("verified") > 0);
  CHECK(session.lens().starts_with("Warpwright: variant checked"));

  const auto before = client.count("textDocument/publishDiagnostics");
  session.write("layers.py", "import torch\n\n\ndef shifted(x):\n    return torch.relu(x) + 2.5\n");
  client.notify(
      "workspace/didChangeWatchedFiles",
      {{"changes", {{{"uri", "file://" + (session.folder / "layers.py").string()}, {"type", 2}}}}});
  REQUIRE(client.wait([&] { return client.count("textDocument/publishDiagnostics") > before; }));
  CHECK(session.lens().starts_with("Warpwright: stale"));
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("what keeps a module from being measured is a diagnostic at its line") {
  if (!has_torch()) {
    MESSAGE("all cases skipped: python3 has no torch");
    return;
  }
  PythonSession session;
  LspClient &client = session.client;
  client.initialize();
  std::string text = kModule;
  const std::string last = "        return torch.relu";
  text.insert(text.find(last), "        if x.sum() > 0:\n            x = x + 1\n");
  client.open(session.uri, text);
  client.wait_for_diagnostics(session.uri, 1);
  const auto done = session.optimize("Scaled");
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().message.find("depends on data") != std::string::npos);
  Json found;
  CHECK(client.wait([&] {
    found = with_code(client.wait_for_diagnostics(session.uri, 1), "torch-data-dependent");
    return !found.is_null();
  }));
  CHECK(found.at("range") == client.range_of(session.uri, "if x.sum() > 0:"));
  client.edit(session.uri, "if x.sum() > 0:", "if True:");
  CHECK(with_code(client.wait_for_diagnostics(session.uri, 2), "torch-data-dependent").is_null());
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("a Python without torch is named, with what to do") {
  PythonSession session;
  LspClient &client = session.client;
  client.configuration["python"] = "/bin/false";
  client.initialize();
  client.open(session.uri, kModule);
  client.wait_for_diagnostics(session.uri, 1);
  const auto done = session.optimize("Scaled");
  REQUIRE_FALSE(done.has_value());
  CHECK_MESSAGE(done.error().message.find("/bin/false") != std::string::npos, done.error().message);
  CHECK(client.wait([&] {
    return !with_code(client.wait_for_diagnostics(session.uri, 1), "torch-missing").is_null();
  }));
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("a module of unknown inputs is asked for them, and the quick fix writes the comment") {
  PythonSession session;
  LspClient &client = session.client;
  client.initialize();
  std::string text = kModule;
  const std::size_t comment = text.find("# warpwright");
  text.erase(comment, text.find('\n', comment) + 1 - comment);
  client.open(session.uri, text);
  const Json diagnostics = client.wait_for_diagnostics(session.uri, 1);
  const Json asked = with_code(diagnostics, "torch-inputs");
  REQUIRE_FALSE(asked.is_null());
  CHECK(asked.at("severity") == 3);
  CHECK(session.lens() == "Warpwright: missing facts: inputs · insert");
  bool fixed = false;
  for (const Json &action : session.actions("Scaled(nn", diagnostics))
    if (action.at("kind") == "quickfix") {
      client.apply(action.at("edit"));
      fixed = true;
    }
  CHECK(fixed);
  CHECK(client.text(session.uri)
            .find("# warpwright: inputs x=float32[?]; init width=?\nclass Scaled") !=
        std::string::npos);
  CHECK_FALSE(with_code(client.wait_for_diagnostics(session.uri, 2), "torch-spec").is_null());
  CHECK(client.shutdown_and_exit() == 0);
}
