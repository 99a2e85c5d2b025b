#include "tests/analysis/torch_cpp/task_text.h"

#include "analysis/torch_cpp/kernels.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

namespace warpwright::analysis {

TEST_CASE("constructor arguments come from the comment, then from where the file makes one") {
  const std::string net = R"(
struct Net : torch::nn::Module {
  Net(int64_t width, std::vector<int64_t> hidden, bool bias = false)
      : fc(register_module("fc", torch::nn::Linear(torch::nn::LinearOptions(width, hidden[0]).bias(bias)))) {}
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc{nullptr};
};
)";
  CHECK(task_text("// warpwright: x: float[2, 8]" + net) == "Net missing: width, hidden\n");
  CHECK(task_text("// warpwright: x: float[2, 8]" + net +
                  "void train() { auto net = std::make_shared<Net>(8, std::vector<int64_t>{5}); }") ==
        "Net [torch.randn([2, 8])] made with [8, [5]]\n");
  CHECK(task_text("// warpwright: x: float[2, 8], width = 8" + net +
                  "int main() { Net net(3, {5, 6}, true); }") ==
        "Net [torch.randn([2, 8])] made with [8, [5, 6], True]\n");
  CHECK(task_text("// warpwright: x: float[2, 8]" + net +
                  "int main(int n, char **) { Net net(n, {5}); }") ==
        "Net missing: width, hidden\n");
}

TEST_CASE("a module is measured in evaluation mode unless the comment asks for training") {
  const std::string net = R"(
struct Net : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return torch::dropout(x, 0.5, is_training()); }
};)";
  const auto mode = [&](const std::string &comment) {
    return torch_facts(comment + net).kernels.at(0).task.task.module->mode;
  };
  CHECK(mode("// warpwright: x: float[4]") == model::ModuleMode::Eval);
  CHECK(mode("// warpwright: x: float[4], training = 1") == model::ModuleMode::Train);
}

TEST_CASE("a forward that does more than a plan would keeps its body") {
  CHECK(task_text(R"(
// warpwright: x: float[4]
struct Net : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return doubled(x); }
  torch::Tensor doubled(const torch::Tensor &x) { ++calls; return x + x; }
  int calls = 0;
};)") == "Net [torch.randn([4])] made with [], obstacle: line 6 changes a member of the object, which a "
         "plan does not do\n");
}

TEST_CASE("a number whose value the constructor's text does not tell keeps forward's body") {
  const auto net = [](const std::string &body, const std::string &member = "double slope_ = 0.5;") {
    return task_text("// warpwright: x: float[4], slope = 0.25\nstruct Net : torch::nn::Module {\n"
                     "  explicit Net(double slope) {" + body + "}\n"
                     "  torch::Tensor forward(torch::Tensor x) { return x * slope_; }\n  " + member + "\n};");
  };
  const std::string made = "Net [torch.randn([4])] made with [0.25]";
  CHECK(net("slope_ = slope * 2;") == made + "\n");
  CHECK(net("") == made + "\n");
  CHECK(net("slope_ = std::rand();").starts_with(made + ", obstacle: the value that its constructor gives to 'slope_'"));
  CHECK(net("if (slope > 0) slope_ = slope;").contains("obstacle: the value"));
  CHECK(net("slope_ += 1;").contains("obstacle: the value"));
}

TEST_CASE("a part of another module is offered where a comment says how it is called") {
  const std::string two = R"(
struct PartImpl : torch::nn::Module { torch::Tensor forward(torch::Tensor x) { return x.exp(); } };
TORCH_MODULE(Part);
struct Net : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return part(x); }
  Part part;
};
)";
  CHECK(task_text(two) == "Net missing: x.shape\n");
  CHECK(task_text("// warpwright: x: float[4]" + two) ==
        "PartImpl [torch.randn([4])] made with []\nNet missing: x.shape\n");
}

TEST_CASE("a module's facts say where its forward is and what its object is made with") {
  FileFacts facts;
  const std::string text = R"(#include <torch/torch.h>
// warpwright: width = 4, x: float[2, 4]
class Net : public torch::nn::Module {
public:
  Net(int64_t width, double slope = 0.5);
  torch::Tensor forward(torch::Tensor x);
  std::vector<torch::nn::Linear> layers;
  double slope_;
};
Net::Net(int64_t width, double slope) : slope_(slope) {
  layers.push_back(register_module("l", torch::nn::Linear(width, width)));
}
torch::Tensor Net::forward(torch::Tensor x) { return torch::leaky_relu(layers[0](x), slope_); }
)";
  add_torch_functions({"/net.cpp", text}, {}, facts);
  REQUIRE(facts.kernels.size() == 1);
  const Kernel &net = facts.kernels[0];
  CHECK(net.name == "Net");
  CHECK(net.task.task.module->model == "struct Net");
  CHECK(net.task.task.module->init_inputs == "[4]");
  REQUIRE(net.forward);
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  CHECK(net.forward->numbers == Pairs{{"slope_", "0.5"}});
  CHECK(net.forward->made_with == Pairs{{"width", "4"}, {"slope", "0.5"}});
  const auto at = [&](Range range) { return text.substr(range.begin, range.size()); };
  CHECK(at(net.forward->declaration) == "torch::Tensor forward(torch::Tensor x)");
  CHECK(at(net.forward->name_range) == "forward");
  CHECK(text.substr(net.forward->constructor_body, 9) == "\n  layers");
  CHECK(text.substr(net.forward->class_end, 2) == "};");
}

TEST_CASE("the user's own headers go with the file, for the runner compiles it") {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "warpwright-headers-XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  fs::create_directories(folder / "csrc");
  fs::create_directories(folder / "include");
  std::ofstream(folder / "include" / "own.h")
      << "inline torch::Tensor twice(torch::Tensor x) { return x + x; }\n";
  FileFacts facts;
  add_torch_functions({(folder / "csrc" / "op.cpp").string(),
                       "#include <torch/torch.h>\n#include \"../include/own.h\"\n"
                       "// warpwright: x: float[4]\n"
                       "torch::Tensor f(torch::Tensor x) { return twice(x); }\n"},
                      {}, facts);
  fs::remove_all(folder);
  REQUIRE(facts.kernels.size() == 1);
  const model::TorchModule &module = *facts.kernels[0].task.task.module;
  CHECK(module.path == "csrc/op.cpp");
  REQUIRE(module.files.size() == 1);
  CHECK(module.files.at("include/own.h").starts_with("inline torch::Tensor twice"));
}

} // namespace warpwright::analysis
