// The language server with a policy: the builtin one on weights that nobody trained, and a language model behind a TLS server of the
// test's own; on the CPU backend, through to the applied edit, and with the policy's process killed in the middle.
#include "support/model/json.h"
#include "tests/e2e/lsp_client.h"
#include "tests/trainer/chat_server.h"
#include "tests/trainer/random_weights.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

using namespace warpwright;
using namespace warpwright::tests;
using trainer::testing::ChatServer;
using trainer::testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

constexpr const char *kSource = R"cuda(__global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * 2.0f;
}
int main() {
  const int n = 4096;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
}
)cuda";

/// An answer of a language model: a kernel of blocks of `block` threads.
std::string answer(int block, const std::string &more_of_plan = "") {
  const std::string threads = std::to_string(block);
  return "## Performance Analysis\nFaster version: 1\nDecisive change: none\nBound: memory\nIt "
         "reads "
         "each element once.\n## Algorithm Design\nSmaller blocks.\n## Code "
         "Implementation\n```cuda\n"
         "__global__ void quick(const float *x, float *y, int n) {\n  int i = blockIdx.x * " +
         threads + " + threadIdx.x;\n  if (i < n)\n    y[i] = 2.0f * x[i];\n}\n```\n```json\n" +
         R"json({"steps": [{"launch": {"kernel": "quick", "grid": ["ceil_div(n, )json" + threads +
         R"json()"], "block": [)json" + threads +
         R"json(], "arguments": [{"buffer": "x"}, {"buffer": "y"}, {"size": "n"}]}}])json" +
         more_of_plan + "}\n```\n";
}

struct Session {
  TemporaryFolder folder;
  boost::asio::io_context io;
  LspClient client{io};
  std::string uri = "file://" + (folder.path / "scale.cu").string();

  /// @param settings of the user @param environment of the server
  explicit Session(Json settings, std::vector<std::string> environment = {}) {
    environment.push_back("XDG_STATE_HOME=" + folder.path.string());
    client.start({WARPWRIGHT_BINARY_DIR "/warpwright", "lsp"}, {.environment = environment});
    client.configuration = {{"device", "cpu"}, {"maxVariants", 2}, {"budget", "60s"}};
    if (settings.is_object())
      client.configuration.update(settings);
    Json capabilities = LspClient::capabilities();
    capabilities["textDocument"]["codeAction"]["disabledSupport"] = true;
    client.initialize(capabilities);
    client.open(uri, kSource);
    client.wait_for_diagnostics(uri, 1);
  }
  ~Session() {
    CHECK_MESSAGE(client.violations.empty(),
                  (client.violations.empty() ? "" : client.violations.front()));
    CHECK(client.shutdown_and_exit() == 0);
  }

  std::int64_t start_optimizing() {
    return client.send_request(
        "workspace/executeCommand",
        {{"command", "warpwright.optimize"}, {"arguments", {{{"uri", uri}, {"kernel", "scale"}}}}});
  }
  Json finished(std::int64_t id) {
    REQUIRE(client.wait([&] { return client.outcome(id) != nullptr; }));
    const rpc::Outcome &outcome = *client.outcome(id);
    REQUIRE_MESSAGE(outcome, (outcome ? "" : outcome.error().message));
    return *outcome;
  }
  Json optimized() { return finished(start_optimizing()); }

  std::string hover() {
    const auto found =
        client.request("textDocument/hover", client.position_params(uri, "scale<<<"));
    REQUIRE(found);
    return found->at("contents").at("value");
  }
  /// The first action whose title starts so.
  Json action(const std::string &start) {
    const auto found =
        client.request("textDocument/codeAction", {{"textDocument", {{"uri", uri}}},
                                                   {"range", client.range_of(uri, "void scale")},
                                                   {"context", {{"diagnostics", Json::array()}}}});
    REQUIRE(found);
    for (const Json &action : *found)
      if (action.at("title").get<std::string>().starts_with(start))
        return action;
    FAIL("no action '" << start << "' in " << found->dump());
    return {};
  }
  void apply(const Json &action) {
    const auto resolved = client.request("codeAction/resolve", action);
    REQUIRE_MESSAGE(resolved, (resolved ? "" : resolved.error().message));
    client.apply(resolved->at("edit"));
  }
};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> endpoint_environment(const ChatServer &server) {
  return {"WARPWRIGHT_ENDPOINT_CA=" + server.ca(), "WARPWRIGHT_ENDPOINT_KEY=secret",
          "WARPWRIGHT_TRAIN=" WARPWRIGHT_PROPOSE_PROGRAM};
}

/// The child of `parent` whose command line has `word`; 0: none.
pid_t child_of(pid_t parent, const std::string &word) {
  for (const auto &task : fs::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) {
      std::ifstream command("/proc/" + std::to_string(child) + "/cmdline");
      const std::string line(std::istreambuf_iterator<char>(command), {});
      if (has(line, word))
        return child;
    }
  }
  return 0;
}

} // namespace

TEST_CASE(
    "the builtin policy proposes in the editor, and its analysis is shown beside the verdicts") {
  const TemporaryFolder folder;
  const std::string weights = folder.path / "policy.safetensors";
  REQUIRE(trainer::testing::write_random_weights(weights));
  Session session({{"policy", "builtin:" + weights}});
  const Json done = session.optimized();
  CHECK(done["policy"] == "builtin");
  CHECK(done["tried"] == 2);
  CHECK(done["analysis"].get<std::string>().starts_with("The kernel is held back by"));
  CHECK(has(session.hover(), "**Analysis** (builtin policy): The kernel is held back by"));
  const Json apply = session.action("Apply checked variant");
  CHECK(has(apply["title"], "(builtin: the kernel is held back by"));
  session.apply(apply);
  CHECK(session.client.text(session.uri) != kSource);
}

TEST_CASE("the learned cost model proposes by default, and the search where it is asked to") {
  Session session({});
  const Json done = session.optimized();
  CHECK(done["policy"] == "ranked");
  CHECK(done["tried"] == 2);
  session.apply(session.action("Apply checked variant"));
  CHECK(session.client.text(session.uri) != kSource);
  Session searched({{"policy", "search"}});
  CHECK(searched.optimized()["policy"] == "search");
}

TEST_CASE("without the cost model's weights, or with damaged ones, the search goes on and counts it") {
  Session session({}, {"WARPWRIGHT_RANKER=/no/such/ranker.bin"});
  CHECK(has(session.optimized()["policy"], "search, because cannot read the ranker /no/such/ranker.bin"));
  const Json again = session.optimized();
  CHECK(has(again["policy"], "(2 of 2 searches)"));
  CHECK(again["tried"] == 2);
  const TemporaryFolder folder;
  const std::string damaged = folder.write("ranker.bin", "warpwright-ranker 1 0123");
  Session other({}, {"WARPWRIGHT_RANKER=" + damaged});
  CHECK(has(other.optimized()["policy"], "cannot use the ranker " + damaged + ": the file ends too early"));
}

TEST_CASE("without weights the search goes on, and says why") {
  Session session({{"policy", "builtin"}}, {"WARPWRIGHT_WEIGHTS=/no/such/weights.safetensors"});
  const Json done = session.optimized();
  CHECK(has(done["policy"], "search, because cannot read the weights /no/such"));
  CHECK(done["tried"] == 2);
}

TEST_CASE("a policy that is none is named among the settings, and not used") {
  Session session({{"policy", "psychic"}});
  CHECK(session.client.wait([&] { return session.client.count("window/showMessage") > 0; }));
  for (const Received &message : session.client.received())
    if (message.method == "window/showMessage")
      CHECK(has(message.params["message"], "warpwright.policy"));
}

TEST_CASE("a language model's plan is verified as it stands in the file, and applied there") {
  const ChatServer server(
      {trainer::testing::whole_answer(answer(128)), trainer::testing::whole_answer(answer(64))});
  Session session({{"policy", "endpoint:" + server.url() + "#model"}},
                  endpoint_environment(server));
  const Json done = session.optimized();
  CHECK(done["policy"] == "endpoint, 36 of 2000000 tokens");
  CHECK(done["verified"] == 2);
  CHECK(has(session.hover(), "**Analysis** (endpoint policy): The kernel is held back by memory"));
  CHECK(has(server.seen().at(1).body, "# Version 1: ")); // what was tried is shown to it
  session.client.edit(session.uri, "int main() {", "int main() { // elsewhere");
  session.apply(session.action("Apply checked variant"));
  const std::string &text = session.client.text(session.uri);
  CHECK(has(text, "y[i] = 2.0f * x[i];"));
  CHECK(has(text, "// elsewhere"));
  CHECK(!has(text, "quick"));
  CHECK(has(text, "scale<<<(n + 63) / 64, 64>>>(x, y, n);"));
}

TEST_CASE("a plan that the file cannot say is shown with the reason and its source, not offered") {
  const std::string scratch =
      R"(, "temporaries": [{"name": "t", "dtype": "float32", "extent": "n"}])";
  const ChatServer server({trainer::testing::whole_answer(answer(128, scratch))});
  Session session({{"policy", "endpoint:" + server.url() + "#model"}, {"maxVariants", 1}},
                  endpoint_environment(server));
  CHECK(session.optimized()["verified"] == 1);
  const Json action = session.action("Apply checked variant");
  CHECK(has(action.at("disabled").at("reason"), "additional buffers"));
  const std::string hover = session.hover();
  CHECK(has(hover, "Verified but not to be applied: rewrite("));
  const auto page = session.client.request(
      "workspace/textDocumentContent", {{"uri", "warpwright:/details/scale.md?" + session.uri}});
  REQUIRE(page);
  CHECK(has(page->at("text"), "__global__ void quick("));
}

TEST_CASE("the policy's process killed in the middle costs its advice, not the optimization") {
  const ChatServer server(
      {trainer::testing::whole_answer(answer(128)), {.end = trainer::testing::Reply::End::Hang}});
  Session session({{"policy", "endpoint:" + server.url() + "#model"}},
                  endpoint_environment(server));
  const auto id = session.start_optimizing();
  REQUIRE(session.client.wait([&] { return server.seen().size() == 2; }));
  const pid_t child = child_of(session.client.process().pid(), "propose");
  REQUIRE(child > 0);
  REQUIRE(::kill(child, SIGKILL) == 0);
  const Json done = session.finished(id);
  CHECK(has(done["policy"], "endpoint, 18 of 2000000 tokens, then search: "));
  CHECK(done["tried"] == 2);
  CHECK(done["verified"] == 2);
}

TEST_CASE("cancelling does not wait for a language model's answer") {
  const ChatServer server({{.end = trainer::testing::Reply::End::Hang}});
  Session session({{"policy", "endpoint:" + server.url() + "#model"}},
                  endpoint_environment(server));
  const auto id = session.start_optimizing();
  REQUIRE(session.client.wait([&] { return server.seen().size() == 1; }));
  session.client.cancel(id);
  REQUIRE(session.client.wait([&] { return session.client.outcome(id) != nullptr; }));
  CHECK(session.client.outcome(id)->error().code == rpc::kRequestCancelled);
}

namespace {

bool has_torch() {
  const char *python = std::getenv("WARPWRIGHT_PYTHON");
  const auto torch = run_captured({python && *python ? python : "python3", "-c", "import torch"},
                                  "", std::chrono::seconds(60), {});
  if (torch && torch->status.code == 0)
    return true;
  MESSAGE("skipped: no Python with torch");
  return false;
}

constexpr const char *kModule = R"(import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x * 2) + 1


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return []
)";

constexpr const char *kFunction = R"(#include <torch/extension.h>

// warpwright: x: float[24, 40]
torch::Tensor shifted(torch::Tensor x) { return torch::relu(x * 2) + 1; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("shifted", &shifted); }
)";

/// `warpwright optimize --json` on a file with one module or function.
Json optimized(const TemporaryFolder &folder, const std::string &file, const std::string &policy,
               std::vector<std::string> more, std::vector<std::string> environment = {}) {
  environment.push_back("XDG_STATE_HOME=" + folder.path.string());
  std::vector<std::string> command{WARPWRIGHT_BINARY_DIR "/warpwright",
                                   "optimize",
                                   file,
                                   "--device",
                                   "cpu",
                                   "--budget",
                                   "200s",
                                   "--json",
                                   "--policy",
                                   policy};
  command.insert(command.end(), more.begin(), more.end());
  const auto run =
      run_captured(command, "", std::chrono::seconds(560), {.environment = environment});
  REQUIRE(run);
  REQUIRE_MESSAGE(run->status.code == 0, run->output);
  return Json::parse(run->output).at("kernels").at(0);
}

/// Answers with a kernel for the region that the prompt names first, an elementwise one of 960 elements.
trainer::testing::Reply elementwise_answer(const trainer::testing::SeenRequest &request) {
  const std::string prompt = Json::parse(request.body).at("messages").at(1).at("content");
  const std::size_t at =
      prompt.find("region ", prompt.find("# The plan that an answer may change")) + 7;
  const Json plan{{"regions",
                   {{{"region", prompt.substr(at, prompt.find(',', at) - at)},
                     {"steps",
                      {{{"launch",
                         {{"kernel", "mine"},
                          {"grid", {15}},
                          {"block", {64}},
                          {"arguments", {{{"buffer", "in0"}}, {{"buffer", "out0"}}}}}}}}}}}}};
  return trainer::testing::whole_answer(Json{
      {"analysis",
       {{"faster", "1"}, {"decisive", "none"}, {"bound", "memory"}, {"text", "One pass."}}},
      {"design", "One element a thread."},
      {"source", "extern \"C\" __global__ void mine(const float *x, float *y) {\n"
                 "  const int i = blockIdx.x * 64 + threadIdx.x;\n"
                 "  y[i] = fmaxf(2 * x[i], 0.0f) + 1;\n}\n"},
      {"plan", plan}}.dump());
}

} // namespace

TEST_CASE("the builtin policy proposes plans of a torch module where it is asked to") {
  if (!has_torch())
    return;
  const TemporaryFolder folder;
  const std::string weights = folder.path / "policy.safetensors";
  REQUIRE(trainer::testing::write_random_weights(weights));
  const Json kernel = optimized(folder, folder.write("model.py", kModule), "builtin:" + weights,
                                {"--max-variants", "1"});
  CHECK(has(kernel["policy"], "builtin"));
  CHECK(has(kernel["analysis"], "The kernel is held back by"));
  CHECK(kernel["variants"][0]["proposed_by"] == "builtin");
  CHECK(kernel["variants"][0]["outcome"] == "verified");
}

TEST_CASE("a language model's kernel for a region of a torch module is verified, and written into "
          "the file") {
  if (!has_torch())
    return;
  const ChatServer server(elementwise_answer);
  const TemporaryFolder folder;
  const std::string file = folder.write("model.py", kModule);
  const Json kernel = optimized(folder, file, "endpoint:" + server.url() + "#model",
                                {"--max-variants", "2", "--apply=checked", "--standalone"},
                                endpoint_environment(server));
  CHECK(has(kernel["policy"], "endpoint, "));
  REQUIRE(kernel["variants"].size() == 2);
  const auto mine = std::ranges::find_if(kernel["variants"], [](const Json &variant) {
    return variant.value("proposed_by", "") == "endpoint";
  });
  REQUIRE(mine != kernel["variants"].end());
  CHECK_MESSAGE((*mine)["outcome"] == "verified", mine->dump());
  CHECK(has(mine->dump(), "written("));
  const std::string body = server.seen().at(0).body;
  CHECK(has(body, "torch.relu(x * 2) + 1")); // the module's source
  CHECK(has(body, "Legal first moves"));
}

TEST_CASE("a language model's kernel for a region of a C++ tensor function is verified") {
  if (!has_torch())
    return;
  const ChatServer server(elementwise_answer);
  const TemporaryFolder folder;
  const Json kernel = optimized(folder, folder.write("shifted.cpp", kFunction),
                                "endpoint:" + server.url() + "#model", {"--max-variants", "2"},
                                endpoint_environment(server));
  REQUIRE(kernel["variants"].size() == 2);
  const auto mine = std::ranges::find_if(kernel["variants"], [](const Json &variant) {
    return variant.value("proposed_by", "") == "endpoint";
  });
  REQUIRE(mine != kernel["variants"].end());
  CHECK_MESSAGE((*mine)["outcome"] == "verified", mine->dump());
  CHECK(has(Json::parse(server.seen().at(0).body).at("messages").at(1).at("content"),
            "```cpp\n#include <torch/extension.h>"));
}
