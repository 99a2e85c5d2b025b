// The real `warpwright lsp` with a C++ torch extension on the CPU backend: facts are asked for, the
// function is compiled against this Python's LibTorch as the reference, a variant is verified and
// applied. (About a minute: most of it is the C++ compiler.)
#include "tests/e2e/torch_session.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

const std::string kExtension = R"(#include <torch/extension.h>

// Mixes two tensors.
torch::Tensor mixed(torch::Tensor x, torch::Tensor y, double share = 0.25) {
  TORCH_CHECK(x.dim() == 2 && y.sizes() == x.sizes());
  return torch::relu(x * share + y).sum(1);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("mixed", &mixed); }
)";

bool can_compile() {
  const char *python = std::getenv("WARPWRIGHT_PYTHON");
  const auto run = run_captured(
      {python && *python ? python : "python3", "-c",
       "import sys; sys.path.insert(0, '" WARPWRIGHT_BINARY_DIR
       "/torch'); import cpp_module; cpp_module.include_folders(); cpp_module.find_compiler()"},
      "", std::chrono::seconds(60), {});
  return run && run->status.code == 0;
}

struct CppSession : TorchSession {
  CppSession() : TorchSession("mixed.cpp", {{"maxVariants", 1}, {"budget", 200}}) {
    client.initialize();
  }

  /// Optimizes, and finds one variant that is right. False: skipped, as nothing here compiles the file.
  bool verifies(const std::string &name) {
    if (!can_compile()) {
      MESSAGE("skipped: no Python with torch and its C++ headers");
      return false;
    }
    const auto done = optimize(name);
    REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
    CHECK(done->at("verified") == 1);
    return true;
  }

  void apply_beginning(const std::string &what, const std::string &beginning) {
    apply(what, [&](const std::string &title) { return title.starts_with(beginning); });
  }
};

} // namespace

TEST_CASE("a C++ function over tensors asks for its shapes, is verified against itself, and "
          "becomes its variant") {
  CppSession session;
  LspClient &client = session.client;
  client.open(session.uri, kExtension);
  CHECK(client.wait_for_diagnostics(session.uri, 1).empty());
  CHECK(session.lens() == "Warpwright: missing facts: x.shape, y.shape · insert");
  session.apply_beginning("mixed", "Insert the facts");
  const std::string comment = "// warpwright: x: float[?, ?], y: float[?, ?]\n";
  CHECK(client.text(session.uri).find("tensors.\n" + comment) != std::string::npos);
  CHECK_FALSE(client.wait_for_diagnostics(session.uri, 2).empty());
  client.edit(session.uri, comment, "// warpwright: x: float[24, 40]\n");
  CHECK(client.wait_for_diagnostics(session.uri, 3).empty());
  CHECK(session.lens().starts_with("Warpwright: not measured · optimize"));
  if (!session.verifies("mixed"))
    return;

  CHECK(session.lens().ends_with("speed not measured)"));
  session.apply_beginning("mixed", "Apply checked variant");
  const std::string applied = client.text(session.uri);
  CHECK(applied.find("namespace warpwright_mixed {") != std::string::npos);
  CHECK(applied.find("torch::Tensor mixed_as_written(torch::Tensor x,") != std::string::npos);
  CHECK(applied.find("  if (share == static_cast<std::decay_t<decltype(share)>>(0.25)) {\n"
                     "    if (auto results = ::warpwright_mixed::run({x, y}); !results.empty())\n"
                     "      return results[0];\n  }\n"
                     "  return mixed_as_written(x, y, share);\n}") != std::string::npos);
  CHECK(session.lens().starts_with("Warpwright: applied variant"));
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("a torch::nn::Module in C++ is verified against an object of its class, and its forward "
          "becomes the variant") {
  CppSession session;
  LspClient &client = session.client;
  client.open(session.uri, R"(#include <torch/torch.h>

// warpwright: x: float[24, 40], width = 40
struct ScaledImpl : torch::nn::Module {
  ScaledImpl(int64_t width, double offset = 1.5) : offset_(offset) {
    scale = register_parameter("scale", torch::rand({width}));
  }
  torch::Tensor forward(const torch::Tensor &x) { return torch::relu(x * scale) + offset_; }

  torch::Tensor scale;
  double offset_;
};
TORCH_MODULE(Scaled);
)");
  CHECK(client.wait_for_diagnostics(session.uri, 1).empty());
  CHECK(session.lens().starts_with("Warpwright: not measured · optimize"));
  if (!session.verifies("ScaledImpl"))
    return;
  session.apply_beginning("ScaledImpl", "Apply checked variant");
  const std::string applied = client.text(session.uri);
  for (const char *part :
       {"namespace warpwright_ScaledImpl {",
        "  torch::Tensor forward_as_written(const torch::Tensor &x) { return torch::relu(x * "
        "scale) + offset_; }",
        "  if (!is_training() && warpwright_made_as_verified_ && offset_ == ",
        "::warpwright_ScaledImpl::run(::warpwright_ScaledImpl::with_state({x}, *this))",
        "warpwright_made_as_verified_ = width == static_cast<std::decay_t<decltype(width)>>(40) && "
        "offset == ",
        "  bool warpwright_made_as_verified_ = false;"})
    CHECK_MESSAGE(applied.find(part) != std::string::npos, part);
  CHECK(session.lens().starts_with("Warpwright: applied variant"));
  CHECK(client.shutdown_and_exit() == 0);
}

TEST_CASE("of a C++ function that ends in an operator without a trace, the statements before it become a function with a variant") {
  CppSession session;
  LspClient &client = session.client;
  client.open(session.uri, R"(#include <torch/torch.h>

// warpwright: x: float[24, 40]
torch::Tensor large(torch::Tensor x) {
  auto rows = x.size(0);
  auto share = torch::relu(x * 0.25 - 0.1).sum(1);
  auto places = torch::nonzero(share > 0.5);
  return places * rows;
}
)");
  CHECK(client.wait_for_diagnostics(session.uri, 1).empty());
  CHECK(session.lens().starts_with("Warpwright: not measured · optimize"));
  if (!session.verifies("large_before"))
    return;
  client.edit(session.uri, "x: float[24, 40]\n", "x: float[24, 40]\n// Another comment.\n");
  client.wait_for_diagnostics(session.uri, 2);
  client.edit(session.uri, "// Another comment.\n", "");
  client.wait_for_diagnostics(session.uri, 3);
  session.apply_beginning("large", "Apply checked variant");
  const std::string applied = client.text(session.uri);
  for (const char *part : {"namespace warpwright_large_before {", "static at::Tensor large_before_as_written(torch::Tensor x) {",
                           "    return results[0];\n  return large_before_as_written(x);\n}",
                           "torch::Tensor large(torch::Tensor x) {\n  at::Tensor share = large_before(x);\n  auto rows = x.size(0);\n"
                           "  auto places = torch::nonzero(share > 0.5);\n  return places * rows;\n}"})
    CHECK_MESSAGE(applied.find(part) != std::string::npos, applied);
  CHECK(session.lens().starts_with("Warpwright: applied variant"));
  CHECK(client.shutdown_and_exit() == 0);
}
