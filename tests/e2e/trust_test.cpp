// Hostile projects against the real `warpwright`: what opening one, analysing it, trusting it and
// optimizing in it lets it do. A listener on this machine stands for the attacker's host, a script
// that leaves a mark for his interpreter.
#include "tests/e2e/lsp_client.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace warpwright;
using namespace warpwright::tests;

namespace {

namespace fs = std::filesystem;

const std::string kServer = WARPWRIGHT_BINARY_DIR "/warpwright";

constexpr char kKernel[] = R"cu(__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * 2.0f;
}
int main() {
  const int n = 1000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, n);
  return cudaDeviceSynchronize();
}
)cu";

/// A port of this machine that accepts connections in its queue and never answers.
class Listener {
public:
  Listener() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto *any = reinterpret_cast<sockaddr *>(&address);
    REQUIRE(::bind(descriptor_, any, size) == 0);
    REQUIRE(::listen(descriptor_, 8) == 0);
    REQUIRE(::getsockname(descriptor_, any, &size) == 0);
    port_ = std::to_string(ntohs(address.sin_port));
  }
  ~Listener() { ::close(descriptor_); }
  std::string place() const { return "127.0.0.1:" + port_; }
  /// Takes one connection and ends it. @return whether there was one
  bool was_contacted() const {
    pollfd waiting{descriptor_, POLLIN, 0};
    if (::poll(&waiting, 1, 0) <= 0)
      return false;
    ::close(::accept(descriptor_, nullptr, nullptr));
    return true;
  }

private:
  int descriptor_;
  std::string port_;
};

struct Ended {
  int code;
  std::string text;
};

/// A project with a kernel, a home beside it, and an interpreter that leaves a mark.
struct Hostile {
  fs::path folder, project;
  Listener listener;
  Hostile() {
    std::string name = (fs::temp_directory_path() / "warpwright-hostile-XXXXXX").string();
    folder = fs::canonical(::mkdtemp(name.data()));
    project = folder / "project";
    fs::create_directories(project);
    write("k.cu", kKernel);
    write("python.sh", "#!/bin/sh\ntouch " + mark().string() + "\nexec python3 \"$@\"\n");
    fs::permissions(project / "python.sh", fs::perms::owner_all);
  }
  ~Hostile() { fs::remove_all(folder); }

  fs::path mark() const { return folder / "python-was-started"; }
  std::string uri() const { return "file://" + (project / "k.cu").string(); }
  void write(const std::string &name, const std::string &text) const {
    std::ofstream(project / name) << text;
  }
  /// The user's own runner at the listener's place.
  void know_runner() const {
    fs::create_directories(folder / "config/warpwright");
    std::ofstream(folder / "token") << "0123456789abcdef0123456789abcdef\n";
    const fs::path file = folder / "config/warpwright/runners.toml";
    std::ofstream(file) << "runners = ['tls://" << listener.place()
                        << "?retry-s=0&token-file=" << (folder / "token").string() << "']\n";
    ::chmod(file.c_str(), 0600);
  }
  std::vector<std::string> environment() const {
    return {"XDG_STATE_HOME=" + (folder / "state").string(),
            "XDG_CONFIG_HOME=" + (folder / "config").string(), "HOME=" + folder.string(),
            "WARPWRIGHT_RUNNER_TOKEN=a-secret-of-the-environment", "NO_COLOR=1"};
  }
  Ended run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), kServer);
    const auto run = run_captured(
        arguments, "", std::chrono::seconds(120),
        {.environment = environment(), .working_directory = project.string(), .pipe_stderr = true});
    REQUIRE_MESSAGE(run, (run ? "" : describe(run.error())));
    return {run->status.code, run->output + run->errors};
  }
};

/// An editor with the project's kernel open, and its diagnostics there.
struct Opened {
  boost::asio::io_context io;
  LspClient client{io};
  std::string uri;
  Json diagnostics;
  Opened(const Hostile &hostile, const Json &options) : uri(hostile.uri()) {
    client.configuration = {{"device", "cpu"}, {"maxVariants", 1}, {"budget", "60s"}};
    client.start({kServer, "lsp"}, {.environment = hostile.environment()});
    client.initialize(LspClient::capabilities(), {{"initializationOptions", options}});
    client.open(uri, kKernel);
    diagnostics = client.wait_for_diagnostics(uri, 1);
    REQUIRE(client.request("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}));
    REQUIRE(client.request("textDocument/hover", client.position_params(uri, "scale")));
  }
  ~Opened() { CHECK(client.shutdown_and_exit() == 0); }
  rpc::Outcome optimize() {
    return client.request(
        "workspace/executeCommand",
        {{"command", "warpwright.optimize"}, {"arguments", {{{"uri", uri}, {"kernel", "scale"}}}}});
  }
  /// Processes that the server has started.
  std::string children() {
    const std::string pid = std::to_string(client.process().pid());
    std::string found;
    for (const auto &thread : fs::directory_iterator("/proc/" + pid + "/task")) {
      std::ostringstream text;
      text << std::ifstream(thread.path() / "children").rdbuf();
      found += text.str();
    }
    return found;
  }
};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("opening a file of a hostile project contacts nobody and starts nothing") {
  Hostile hostile;
  hostile.know_runner();
  hostile.write(".warpwright.toml",
                "runner = \"tls://" + hostile.listener.place() + "\"\npython = \"python.sh\"\n");
  for (const Json &options : {Json::object(), Json{{"trusted", true}}}) {
    {
      Opened editor(hostile, options);
      CHECK(has(editor.diagnostics.dump(), "is not approved, so what it says about"));
      CHECK(has(editor.diagnostics.dump(), "python and runner is ignored"));
      CHECK(editor.client.wait(
          [&] { return editor.client.count("window/showMessageRequest") == 1; }));
      CHECK(editor.client.request("warpwright/runner", Json::object())->at("state") == "unknown");
      CHECK(editor.children() == "");
    }
    CHECK_FALSE(hostile.listener.was_contacted());
    CHECK_FALSE(fs::exists(hostile.mark()));
  }
  const Ended analyze = hostile.run({"analyze", "k.cu"});
  CHECK(analyze.code == 0);
  CHECK(has(analyze.text, ".warpwright.toml is not approved"));
  CHECK(has(analyze.text, "warpwright trust "));
  CHECK_FALSE(hostile.listener.was_contacted());
}

TEST_CASE("a project's URL with credentials is refused, approved or not") {
  Hostile hostile;
  hostile.know_runner();
  hostile.write(".warpwright.toml", "runner = \"tls://" + hostile.listener.place() +
                                        "?token-file=/proc/self/environ\"\n");
  const Ended trust = hostile.run({"trust", "--yes"});
  CHECK(trust.code == 1);
  CHECK(has(trust.text, "without credentials"));
  const Ended optimize =
      hostile.run({"optimize", "k.cu", "--max-variants", "1", "--device", "cpu"});
  CHECK(has(optimize.text, "without credentials"));
  {
    Opened editor(hostile, {{"trusted", true}});
    CHECK(has(editor.diagnostics.dump(), "without credentials"));
    CHECK(editor.client.count("window/showMessageRequest") == 0);
  }
  CHECK_FALSE(hostile.listener.was_contacted());
}

TEST_CASE(
    "an approved runner is reached with the user's own credentials, and a change asks again") {
  Hostile hostile;
  const std::string text = "runner = \"tls://" + hostile.listener.place() + "\"\n";
  hostile.write(".warpwright.toml", text);
  const Ended unasked = hostile.run({"trust"});
  CHECK(unasked.code == 1);
  CHECK(has(unasked.text,
            "sends kernels and modules of this project to " + hostile.listener.place()));
  CHECK(has(unasked.text, "nothing was approved"));
  REQUIRE(hostile.run({"trust", "--yes"}).code == 0);
  CHECK(
      has(hostile.run({"trust", "--list"}).text, (hostile.project / ".warpwright.toml").string()));

  // No runner of the user's: the token of the environment goes nowhere.
  const Ended stranger = hostile.run({"optimize", "k.cu"});
  CHECK(stranger.code == 1);
  CHECK(has(stranger.text, "which is none of your runners"));
  CHECK_FALSE(hostile.listener.was_contacted());

  hostile.know_runner();
  {
    Opened editor(hostile, Json::object()); // its folder was trusted, too
    CHECK_FALSE(has(editor.diagnostics.dump(), "not approved"));
    CHECK_FALSE(hostile.listener.was_contacted());
    const auto id = editor.client.send_request(
        "workspace/executeCommand", {{"command", "warpwright.optimize"},
                                     {"arguments", {{{"uri", editor.uri}, {"kernel", "scale"}}}}});
    CHECK(editor.client.wait([&] { return hostile.listener.was_contacted(); }));
    CHECK(editor.client.wait([&] { return editor.client.outcome(id) != nullptr; }));
  }
  hostile.write(".warpwright.toml", text + "# changed\n");
  while (hostile.listener.was_contacted()) {
  }
  {
    Opened editor(hostile, Json::object());
    CHECK(has(editor.diagnostics.dump(), "is not approved"));
  }
  CHECK(has(hostile.run({"trust", "--list"}).text, "changed since"));
  CHECK(hostile.run({"trust", "--revoke"}).code == 0);
  CHECK(has(hostile.run({"trust", "--list"}).text, "Nothing is approved"));
  CHECK_FALSE(hostile.listener.was_contacted());
}

TEST_CASE(
    "a project's interpreter that is not approved never runs, also when a kernel is optimized") {
  Hostile hostile;
  hostile.write(".warpwright.toml", "python = \"python.sh\"\n");
  {
    Opened editor(hostile, {{"trusted", true}});
    const auto done = editor.optimize();
    CHECK_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  }
  CHECK_FALSE(fs::exists(hostile.mark()));
  const Ended optimize =
      hostile.run({"optimize", "k.cu", "--max-variants", "1", "--device", "cpu"});
  CHECK(has(optimize.text, "what it says about python is ignored"));
  CHECK_FALSE(fs::exists(hostile.mark()));
}
