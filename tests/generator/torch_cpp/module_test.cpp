#include "tests/generator/torch_cpp/check_graph.h"

#include "generator/torch_cpp/kernels.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

namespace warpwright::generator {

TEST_CASE("a module's registered tensors are leaves, whatever its constructor draws") {
  CHECK(graph_text(R"(
// warpwright: in = 8, x: float[4, 8]
struct Net : torch::nn::Module {
  Net(int64_t in, int64_t out = 3) : fc(register_module("fc", torch::nn::Linear(in, out))) {
    scale = register_parameter("gain", torch::randn({out}) * 0.1);
  }
  torch::Tensor forward(torch::Tensor x) { return torch::relu(fc(x)) * scale; }
  torch::nn::Linear fc;
  torch::Tensor scale;
};)") == "%x: f32[4,8] = input {torch_name=\"x\"}\n"
         "%gain: f32[3] = parameter {torch_name=\"gain\"}\n"
         "%fc_weight: f32[3,8] = parameter {torch_name=\"fc.weight\"}\n"
         "%fc_bias: f32[3] = parameter {torch_name=\"fc.bias\"}\n"
         "%permute_1: f32[8,3]@[1,8] = permute(%fc_weight) {dims=[1,0]}\n"
         "%matmul_1: f32[4,3] = matmul(%x, %permute_1)\n"
         "%add_1: f32[4,3] = add(%matmul_1, %fc_bias)\n"
         "%relu_1: f32[4,3] = relu(%add_1)\n"
         "%mul_2: f32[4,3] = mul(%relu_1, %gain)\n"
         "return %mul_2\n");
}

TEST_CASE("holders, parts that are modules of the file, lists and sequences are followed") {
  check_body(R"(
struct GateImpl : torch::nn::Module {
  explicit GateImpl(int64_t width) : fc(torch::nn::LinearOptions(width, width).bias(false)) {
    register_module("fc", fc);
  }
  torch::Tensor forward(const torch::Tensor &x) { return x * torch::sigmoid(fc->forward(x)); }
  torch::nn::Linear fc;
};
TORCH_MODULE(Gate);
// warpwright: x: float[2, 4]
class NetImpl : public torch::nn::Cloneable<NetImpl> {
public:
  NetImpl() { reset(); }
  void reset() override {
    gates = register_module("gates", torch::nn::ModuleList());
    for (int i = 0; i < 2; ++i)
      gates->push_back(Gate(4));
    tail = register_module("tail", torch::nn::Sequential(
        {{"act", torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.3))},
         {"drop", torch::nn::Dropout(0.5)}}));
  }
  torch::Tensor forward(torch::Tensor x) {
    for (const auto &gate : *gates)
      x = gate->as<Gate>()->forward(x);
    return tail->forward(x);
  }
  torch::nn::ModuleList gates;
  torch::nn::Sequential tail;
};
TORCH_MODULE(Net);)",
             R"(
    %permute_1: f32[4,4]@[1,4] = permute(%gates_0_fc_weight) {dims=[1,0]}
    %matmul_1: f32[2,4] = matmul(%x, %permute_1)
    %sigmoid_1: f32[2,4] = sigmoid(%matmul_1)
    %mul_1: f32[2,4] = mul(%x, %sigmoid_1)
    %permute_2: f32[4,4]@[1,4] = permute(%gates_1_fc_weight) {dims=[1,0]}
    %matmul_2: f32[2,4] = matmul(%mul_1, %permute_2)
    %sigmoid_2: f32[2,4] = sigmoid(%matmul_2)
    %mul_2: f32[2,4] = mul(%mul_1, %sigmoid_2)
    %leaky_relu_1: f32[2,4] = leaky_relu(%mul_2) {negative_slope=0.3})");
}

TEST_CASE(
    "evaluation or training decides what modules do, and a buffer that changes is an update") {
  const std::string net = R"(
struct Net : torch::nn::Module {
  Net() : norm(register_module("norm", torch::nn::BatchNorm1d(6))) {
    calls = register_buffer("calls", torch::zeros({1}));
  }
  torch::Tensor forward(torch::Tensor x) {
    calls += 1;
    return is_training() ? torch::dropout(x, 0.5, is_training()) : norm(x);
  }
  torch::nn::BatchNorm1d norm;
  torch::Tensor calls;
};)";
  const std::string text = graph_text("// warpwright: x: float[4, 6]" + net);
  CHECK(text.find("batch_norm(%x, %norm_weight, %norm_bias, %norm_running_mean, "
                  "%norm_running_var)") != std::string::npos);
  CHECK(text.find("update %calls = %add_1") != std::string::npos);
  check_refused("// warpwright: x: float[4, 6], training = 1" + net, "random");
}

TEST_CASE("constructor arguments come from the comment, then from where the file makes one") {
  const std::string net = R"(
struct Net : torch::nn::Module {
  Net(int64_t width, std::vector<int64_t> hidden, bool bias = false)
      : fc(register_module("fc", torch::nn::Linear(torch::nn::LinearOptions(width, hidden[0]).bias(bias)))) {}
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc{nullptr};
};
)";
  CHECK(graph_text("// warpwright: x: float[2, 8]" + net) == "missing: width, hidden");
  const std::string body = "%permute_1: f32[8,5]@[1,8] = permute(%fc_weight) {dims=[1,0]}\n"
                           "%matmul_1: f32[2,5] = matmul(%x, %permute_1)\n";
  check_body("// warpwright: x: float[2, 8]" + net +
                 "void train() { auto net = std::make_shared<Net>(8, std::vector<int64_t>{5}); }",
             body);
  check_body("// warpwright: x: float[2, 8], width = 8" + net +
                 "int main() { Net net(3, {5}, false); }",
             body);
}

TEST_CASE("what only running tells is refused with its line, and what a plan would not do stands "
          "in the way") {
  check_refused(R"(
// warpwright: x: float[4]
struct Net : torch::nn::Module {
  Net() : noise(torch::randn({4})) {}
  torch::Tensor forward(torch::Tensor x) { return x + noise; }
  torch::Tensor noise;
};)",
                "draws at random and does not register");
  check_refused(R"(
// warpwright: x: float[4, 8]
struct Net : torch::nn::Module {
  Net() : rnn(register_module("rnn", torch::nn::GRU(8, 8))) {}
  torch::Tensor forward(torch::Tensor x) { return std::get<0>(rnn(x)); }
  torch::nn::GRU rnn;
};)",
                "torch::nn::GRU is not known here");
  const std::string counting = graph_text(R"(
// warpwright: x: float[4]
struct Net : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return doubled(x); }
  torch::Tensor doubled(const torch::Tensor &x) { ++calls; return x + x; }
  int calls = 0;
};)");
  CHECK(counting.ends_with("obstacle: line 7 changes a member of the object, which a plan does "
                           "not do\n"));
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
  CHECK(graph_text(two) == "missing: x.shape");
  CHECK(graph_text("// warpwright: x: float[4]" + two) == "2 modules");
}

TEST_CASE("a module's facts say where its forward is and how it reaches what the object holds") {
  analysis::FileFacts facts;
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
  const analysis::Kernel &net = facts.kernels[0];
  CHECK(net.name == "Net");
  CHECK(net.task.task.module->model == "struct Net");
  CHECK(net.task.task.module->init_inputs == "[4]");
  REQUIRE(net.forward);
  CHECK(net.forward->state == std::map<std::string, std::string>{{"l.weight", "layers[0]->weight"},
                                                                 {"l.bias", "layers[0]->bias"}});
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
  analysis::FileFacts facts;
  add_torch_functions({(folder / "csrc" / "op.cpp").string(),
                       "#include <torch/torch.h>\n#include \"../include/own.h\"\n"
                       "// warpwright: x: float[4]\n"
                       "torch::Tensor f(torch::Tensor x) { return twice(x); }\n"},
                      {}, facts);
  fs::remove_all(folder);
  REQUIRE(facts.kernels.size() == 1);
  const model::TorchModule &module = *facts.kernels[0].task.task.module;
  CHECK(facts.kernels[0].task.graph.has_value());
  CHECK(module.path == "csrc/op.cpp");
  REQUIRE(module.files.size() == 1);
  CHECK(module.files.at("include/own.h").starts_with("inline torch::Tensor twice"));
}

} // namespace warpwright::generator
