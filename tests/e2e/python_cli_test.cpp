// The real `warpwright` on Python files, on the CPU backend: what it prints, writes and returns.
#include "tests/e2e/torch_session.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace warpwright;
using namespace warpwright::tests;
namespace fs = std::filesystem;

namespace {

const std::string kModel = R"(import torch


class Model(torch.nn.Module):
    def __init__(self, offset):
        super().__init__()
        self.offset = offset

    def forward(self, x):
        return torch.relu(x) + self.offset


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return [1.5]


if __name__ == "__main__":
    print(Model(1.5)(*get_inputs()).shape)
)";

struct Ended {
  int code = 0;
  std::string output, errors;
};

/// A folder, and programs run inside it with a ledger of their own.
struct Workplace {
  fs::path path;
  Workplace() {
    std::string name = (fs::temp_directory_path() / "warpwright-py-XXXXXX").string();
    path = ::mkdtemp(name.data());
    std::ofstream(path / "model.py") << kModel;
  }
  ~Workplace() { fs::remove_all(path); }

  std::string text(const std::string &name) const {
    std::stringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }
  Ended run(std::vector<std::string> command) const {
    const ProcessOptions options{.environment = {"XDG_STATE_HOME=" + path.string(), "NO_COLOR=1"},
                                 .working_directory = path.string(),
                                 .pipe_stderr = true};
    const auto run = run_captured(command, "", std::chrono::seconds(240), options);
    REQUIRE_MESSAGE(run, (run ? "" : describe(run.error())));
    return {run->status.code, run->output, run->errors};
  }
  Ended warpwright(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), WARPWRIGHT_BINARY_DIR "/warpwright");
    return run(std::move(arguments));
  }
  Ended optimize(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"optimize", "model.py", "--device", "cpu",
                                         "--max-variants", "2", "--budget", "60s"});
    return warpwright(std::move(arguments));
  }
};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("optimize prints variants of a module, and writes one only where it was told to") {
  if (!has_torch()) {
    MESSAGE("all cases skipped: python3 has no torch");
    return;
  }
  const Workplace place;
  const Ended refused = place.optimize({"--apply"});
  CHECK(refused.code == 1);
  CHECK_MESSAGE(has(refused.output, "Not applied: Model was checked on the CPU only"),
                refused.output << refused.errors);
  CHECK(has(refused.output, "Model  model.py:4  (x float32[24, 40] -> float32[24, 40])"));
  CHECK(place.text("model.py") == kModel);

  const Ended elsewhere =
      place.optimize({"--class", "Model", "--apply=checked", "--output", "made.py"});
  CHECK_MESSAGE(elsewhere.code == 0, elsewhere.output << elsewhere.errors);
  CHECK(place.text("model.py") == kModel);
  const std::string made = place.text("made.py");
  CHECK(made.rfind("class ModelNew(Model):") < made.rfind("if __name__"));
  CHECK(place.run({python(), "made.py"}).output == "torch.Size([24, 40])\n");

  const Ended in_place = place.optimize({"--apply=checked", "--in-place"});
  CHECK_MESSAGE(in_place.code == 0, in_place.output << in_place.errors);
  CHECK(has(place.text("model.py"), "@warpwright.plans(\"Model."));
  CHECK(place.run({python(), "model.py"}).output == "torch.Size([24, 40])\n");
}

TEST_CASE("an applied variant is small, finds its package once that is installed, and a standalone one needs none") {
  if (!has_torch())
    return;
  const Workplace place;
  for (const bool standalone : {false, true}) {
    std::vector<std::string> arguments{"--apply=checked", "--output", standalone ? "alone.py" : "made.py"};
    if (standalone)
      arguments.push_back("--standalone");
    const Ended made = place.optimize(arguments);
    CHECK_MESSAGE(made.code == 0, made.output << made.errors);
  }
  std::ofstream(place.path / "use.py")
      << "import sys, torch\n"
         "module = __import__(sys.argv[1])\n"
         "x = module.get_inputs()[0]\n"
         "same = torch.equal(module.ModelNew(1.5)(x), module.Model(1.5)(x))\n"
         "plan = getattr(module.ModelNew, 'warpwright_plan', None)\n"
         "print(same, plan and plan.fallbacks())\n";
  const auto used = [&](const std::string &name) {
    return place.run({"env", "PYTHONPATH=packages", "CUDA_VISIBLE_DEVICES=", python(), "use.py", name});
  };
  const auto added_lines = [&](const std::string &name) {
    return std::ranges::count(place.text(name), '\n') - std::ranges::count(kModel, '\n');
  };
  CHECK(added_lines("made.py") <= 20 + 2); // two are empty
  CHECK(added_lines("alone.py") <= 100 + 2);
  CHECK_FALSE(has(place.text("alone.py"), "warpwright.plans"));
  const std::string no_gpu = "True {'there is no CUDA GPU': 1}\n";
  const Ended without = used("made");
  CHECK_MESSAGE(without.output == "True None\n", without.output << without.errors);
  CHECK(has(without.errors, "its own forward runs, since the package warpwright-runtime is not installed"));
  const Ended alone = used("alone");
  CHECK_MESSAGE(has(alone.output, "True {"), alone.output << alone.errors);
  CHECK(has(alone.errors, "its own forward runs: "));
  const std::string program = WARPWRIGHT_BINARY_DIR "/warpwright";
  const Ended installed =
      place.run({"env", "PIP_TARGET=packages", program, "install-runtime", "--python", python()});
  CHECK_MESSAGE(installed.code == 0, installed.output << installed.errors);
  const Ended with = used("made");
  CHECK_MESSAGE(with.output == no_gpu, with.output << with.errors);
  const fs::path package = place.path / "packages/warpwright_runtime";
  for (const char *part : {"call/module.cpp", "../warpwright/__init__.py"})
    CHECK(fs::exists(package / part));
}

TEST_CASE("a report holds what a replay of the best variant needs") {
  if (!has_torch()) {
    MESSAGE("all cases skipped: python3 has no torch");
    return;
  }
  const Workplace place;
  const Ended ended = place.optimize({"--json"});
  CHECK_MESSAGE(ended.code == 0, ended.output << ended.errors);
  std::ofstream(place.path / "report.json") << ended.output;
  const Ended again = place.run(
      {WARPWRIGHT_BINARY_DIR "/warpwright-runner", "replay", "report.json", "--device", "cpu"});
  CHECK_MESSAGE(again.output.starts_with("SAME OUTCOME"), again.output << again.errors);
}

TEST_CASE("what is missing or wrong is said, and nothing is run") {
  const Workplace place;
  CHECK(place.optimize({"--class", "Nothing"}).code == 1);
  std::ofstream(place.path / "model.py") << "from torch import nn\nclass Part(nn.Module):\n"
                                            "    def forward(self, x):\n        return x\n";
  const Ended asked = place.optimize({});
  CHECK(asked.code == 1);
  CHECK(has(asked.output, "it is not known what a call of Part is given"));
  CHECK(has(asked.output, "# warpwright: inputs x=float32[?]\n"));
  std::ofstream(place.path / "model.py") << "x = 1\n";
  CHECK(has(place.optimize({}).errors, "no torch module in model.py"));
}

TEST_CASE("analyze shows how a module is called") {
  const Workplace place;
  const Ended shown = place.warpwright({"analyze", "model.py"});
  CHECK(shown.code == 0);
  CHECK(has(shown.output, "  Model  line 4, a torch module\n    called with      get_inputs\n"));
}
