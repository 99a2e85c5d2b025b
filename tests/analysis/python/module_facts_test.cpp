// What module_facts finds in Python files: whole, broken and half-typed.
#include "analysis/python/module_facts.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::analysis;

namespace {

const std::string kBench = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return torch.relu(self.linear(x))

batch_size = 16
size = 64

def get_inputs():
    return [torch.randn(batch_size, size)]

def get_init_inputs():
    return [size]
)";

FileFacts facts_of(const std::string &text) { return module_facts("/p/model.py", text); }

std::string slice_of(const std::string &text) {
  const FileFacts facts = facts_of(text);
  REQUIRE(facts.kernels.size() == 1);
  return facts.kernels.front().slice;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

} // namespace

TEST_CASE("a file by KernelBench's conventions needs no comment") {
  const FileFacts facts = facts_of(kBench);
  REQUIRE(facts.kernels.size() == 1);
  const Kernel &model = facts.kernels.front();
  CHECK(model.name == "Model");
  CHECK(model.line == 4);
  CHECK(kBench.substr(model.name_range.begin, model.name_range.size()) == "Model");
  CHECK(kBench.substr(model.range.begin, 11) == "class Model");
  CHECK(model.task.inferred);
  REQUIRE(model.task.task.module);
  CHECK(model.task.task.module->source == kBench);
  CHECK(model.task.task.module->inputs == "get_inputs");
  CHECK(facts.diagnostics.empty());
}

TEST_CASE("the hash's text changes with what the class depends on, and with nothing else") {
  const std::string slice = slice_of(kBench);
  CHECK(slice_of(replaced(kBench, "batch_size = 16", "batch_size = 32")) != slice);
  CHECK(slice_of(replaced(kBench, "torch.relu", "torch.tanh")) != slice);
  CHECK(slice_of(kBench + "torch.backends.cudnn.allow_tf32 = False\n") != slice);
  CHECK(slice_of(replaced(kBench, "    def forward", "\n    # said before\n    def forward")) ==
        slice);
  CHECK(slice_of(kBench + "\ndef unrelated():\n    return 1\n") == slice);
  CHECK(slice_of("\"\"\"What this is.\"\"\"\n" + kBench) == slice);
  CHECK(slice_of(kBench + "if __name__ == '__main__':\n    print(Model(3))\n") == slice);
}

TEST_CASE("a module without inputs is asked for them, and the quick fix names its arguments") {
  const std::string text = "from torch import nn\n\n@decorated\nclass Attention(nn.Module):\n"
                           "    def __init__(self, width, heads=8):\n        pass\n"
                           "    def forward(self, x, mask=None):\n        return x\n";
  const FileFacts facts = facts_of(text);
  REQUIRE(facts.kernels.size() == 1);
  CHECK_FALSE(facts.kernels.front().task.inferred);
  REQUIRE(facts.kernels.front().task.missing.size() == 1);
  REQUIRE(facts.diagnostics.size() == 1);
  CHECK(facts.diagnostics.front().rule == "torch-inputs");
  CHECK(facts.diagnostics.front().severity == Severity::Information);
  REQUIRE(facts.diagnostics.front().fixes.size() == 1);
  const auto fixed = apply_edits(text, facts.diagnostics.front().fixes.front().edits);
  REQUIRE(fixed);
  CHECK(fixed->find("\n# warpwright: inputs x=float32[?]; init width=?\n@decorated\n") !=
        std::string::npos);
  const FileFacts asked = facts_of(*fixed);
  REQUIRE(asked.diagnostics.size() == 1);
  CHECK(asked.diagnostics.front().rule == "torch-spec");
  CHECK(asked.diagnostics.front().message.find("not filled in") != std::string::npos);
}

TEST_CASE("a comment gives inputs, arguments and the mode") {
  const FileFacts facts = facts_of(
      "from torch import nn\n# Rotates.\n# warpwright: inputs x=float32[4, 8]; init (8); eval\n"
      "class Rotate(nn.Module):\n    def __init__(self, n):\n        pass\n"
      "    def forward(self, x):\n        return x\n");
  REQUIRE(facts.kernels.size() == 1);
  CHECK(facts.kernels.front().task.inferred);
  const auto &module = *facts.kernels.front().task.task.module;
  CHECK(module.inputs == "[torch.randn((4, 8,))]");
  CHECK(module.init_inputs == "[8]");
  CHECK(module.mode == model::ModuleMode::Eval);
}

TEST_CASE("a module is called in evaluation mode unless a comment says otherwise") {
  const auto module_of = [](const std::string &text) {
    const FileFacts facts = facts_of(text);
    REQUIRE(facts.kernels.size() == 1);
    CHECK(facts.kernels.front().task.inferred);
    return *facts.kernels.front().task.task.module;
  };
  CHECK(module_of(kBench).mode == model::ModuleMode::Eval);
  const model::TorchModule made = module_of(
      replaced(kBench, "class Model(nn.Module):", "# warpwright: made\nclass Model(nn.Module):"));
  CHECK(made.mode == model::ModuleMode::AsMade);
  CHECK(made.inputs == "get_inputs");
  CHECK(made.init_inputs == "get_init_inputs");
}

TEST_CASE("parts of a module are measured with it, other classes are no modules") {
  const FileFacts facts = facts_of(replaced(kBench, "class Model(nn.Module):",
                                            "class Block(nn.Module):\n    pass\n\n"
                                            "class Config:\n    pass\n\nclass Model(nn.Module):\n"
                                            "    block = Block\n"));
  REQUIRE(facts.kernels.size() == 1);
  CHECK(facts.kernels.front().name == "Model");
  CHECK(facts.kernels.front().slice.find("class Block") != std::string::npos);
  CHECK(facts.kernels.front().slice.find("class Config") == std::string::npos);
}

TEST_CASE("a class of unknown bases is a module where a comment says how it is called") {
  const std::string text = "class Net(Base):\n    def forward(self, x):\n        return x\n";
  CHECK(facts_of(text).kernels.empty());
  const FileFacts facts = facts_of("# warpwright: inputs x=float32[4]\n" + text);
  REQUIRE(facts.kernels.size() == 1);
  CHECK(facts.kernels.front().task.inferred);
}

TEST_CASE("half-typed code keeps its modules") {
  for (const char *typed :
       {"    def f(self, x:\n", "    x = (\n", "    return self.\n", "    '''\n"}) {
    const FileFacts facts =
        facts_of(replaced(kBench, "    def forward", std::string(typed) + "    def forward"));
    CHECK_MESSAGE(!facts.kernels.empty(), typed);
  }
  CHECK(facts_of("").kernels.empty());
  CHECK(facts_of("class").kernels.empty());
}

TEST_CASE("a file too large for the parser is said to be, and one with long strings is not") {
  const FileFacts large = facts_of(std::string(100'000, '('));
  CHECK(large.kernels.empty());
  REQUIRE(large.diagnostics.size() == 1);
  CHECK(large.diagnostics.front().message.find("too large") != std::string::npos);
  CHECK(facts_of(kBench + "source = r'''" + std::string(300'000, ';') + "'''\n").kernels.size() ==
        1);
}
