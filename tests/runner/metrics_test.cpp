// Metrics: the text format, line by line as a parser takes it; the endpoint of a real runner over a
// real socket; and the structured log of a real runner.
#include "runner/connect/connect.h"
#include "runner/metrics/runner_metrics.h"
#include "support/process.h"
#include "tests/runner/tasks.h"

#include <arpa/inet.h>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <map>
#include <netinet/in.h>
#include <regex>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using namespace testing;
using metrics::Family;

/// The samples of an exposition by name with labels; every line has to follow the format's grammar
/// (prometheus.io/docs/instrumenting/exposition_formats), HELP and TYPE come first and once, and
/// histograms are complete and cumulative.
std::map<std::string, double> parse(const std::string &text) {
  static const std::regex sample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\["\\n])*"(,|(?=\})))*\})? (NaN|[+-]Inf|[-+0-9.eE]+))re");
  static const std::regex comment(R"re(# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*))re");
  std::map<std::string, double> samples;
  std::map<std::string, std::string> types;
  REQUIRE(text.ends_with("\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    std::smatch match;
    if (std::regex_match(line, match, comment)) {
      if (match[1] == "TYPE") {
        CHECK(types.emplace(match[2], match[3]).second);
        CHECK((match[3] == "counter" || match[3] == "gauge" || match[3] == "histogram"));
        if (match[3] == "counter")
          CHECK(match[2].str().ends_with("_total"));
      }
      continue;
    }
    REQUIRE(std::regex_match(line, match, sample));
    std::string family = match[1];
    if (!types.contains(family))
      family = family.substr(0, family.rfind('_'));
    CHECK(types.contains(family)); // TYPE precedes
    CHECK(samples.emplace(match[1].str() + match[2].str(), std::stod(match[6])).second);
  }
  return samples;
}

TEST_CASE("counters, gauges and histograms are written as Prometheus reads them") {
  metrics::Registry registry;
  auto &jobs = registry.make(Family::Type::Counter, "jobs_total", "Jobs, with a \\ and\na line.");
  auto &heat = registry.make(Family::Type::Gauge, "heat", "Heat.");
  auto &time = registry.make(Family::Type::Histogram, "time_seconds", "Time.", {0.1, 1});
  jobs.add({{"device", "cuda:0"}, {"outcome", "verified"}});
  jobs.add({{"device", "cuda:0"}, {"outcome", "verified"}});
  jobs.add({{"device", "a \"b\" \\ \n"}}, 0);
  heat.set({}, 41.5);
  heat.set({{"gpu", "gone"}}, 1);
  heat.forget({{"gpu", "gone"}});
  for (const double seconds : {0.05, 0.1, 0.5, 7.0})
    time.observe({{"stage", "compiling"}}, seconds);
  const auto samples = parse(registry.text());
  CHECK(samples.at(R"(jobs_total{device="cuda:0",outcome="verified"})") == 2);
  CHECK(samples.at(R"(jobs_total{device="a \"b\" \\ \n"})") == 0);
  CHECK(samples.at("heat") == 41.5);
  CHECK(!samples.contains(R"(heat{gpu="gone"})"));
  CHECK(samples.at(R"(time_seconds_bucket{stage="compiling",le="0.1"})") == 2);
  CHECK(samples.at(R"(time_seconds_bucket{stage="compiling",le="1"})") == 3);
  CHECK(samples.at(R"(time_seconds_bucket{stage="compiling",le="+Inf"})") == 4);
  CHECK(samples.at(R"(time_seconds_count{stage="compiling"})") == 4);
  CHECK(samples.at(R"(time_seconds_sum{stage="compiling"})") == doctest::Approx(7.65));
}

TEST_CASE("readings of a GPU appear, and go when they are no longer known") {
  metrics::RunnerMetrics view;
  metrics::GpuReading reading{.device = "cuda:0", .name = "NVIDIA H200", .identifier = "GPU-1"};
  reading.temperature_celsius = 41;
  reading.sm_clock_hertz = 1.98e9;
  view.set_readings({reading});
  const std::string labels = R"({device="cuda:0",gpu="NVIDIA H200"})";
  auto samples = parse(view.text());
  CHECK(samples.at("warpwright_gpu_temperature_celsius" + labels) == 41);
  CHECK(samples.at("warpwright_gpu_sm_clock_hertz" + labels) == 1.98e9);
  CHECK(!samples.contains("warpwright_gpu_power_watts" + labels));
  reading.temperature_celsius.reset();
  view.set_readings({reading});
  CHECK(!parse(view.text()).contains("warpwright_gpu_temperature_celsius" + labels));
  const auto copied = metrics::readings_from_json(metrics::to_json({reading}));
  REQUIRE(copied.size() == 1);
  CHECK(copied[0].sm_clock_hertz == 1.98e9);
  CHECK(!copied[0].temperature_celsius);
  CHECK(metrics::readings_from_json("no list").empty());
  reading.foreign = {"4711 (python3)"};
  CHECK(metrics::readings_from_json(metrics::to_json({reading})).at(0).foreign == reading.foreign);
}

TEST_CASE("a process is told from the descendants of another") {
  CHECK(metrics::descends_from(getpid(), getpid()) == true);
  auto child = Process::spawn({"/bin/sh", "-c", "sleep 60 & echo $!; wait"});
  REQUIRE(child.has_value());
  CHECK(metrics::descends_from(child->pid(), getpid()) == true);
  CHECK(metrics::descends_from(getpid(), child->pid()) == false);
  CHECK(metrics::descends_from(getppid(), getpid()) == false);
  const int output = child->release_stdout();
  char line[32] = "";
  REQUIRE(read(output, line, sizeof line - 1) > 0);
  const pid_t grandchild = std::stoi(line);
  CHECK(metrics::descends_from(grandchild, getpid()) == true);
  child->kill(SIGKILL);
  child->wait();
  close(output);
  CHECK(metrics::descends_from(child->pid(), getpid()) == std::nullopt);
  kill(grandchild, SIGKILL);
}

TEST_CASE("readings come from a child process, and stay away where there is no NVML") {
  boost::asio::io_context loop;
  std::vector<metrics::GpuReading> seen;
  const std::vector<metrics::GpuReading> gpus = {
      {.device = "cuda:1", .name = "NVIDIA H200", .identifier = "GPU-1"}};
  metrics::ReadingsWatcher watcher(
      loop.get_executor(),
      {"/bin/sh", "-c",
       "echo no json; echo '[{\"identifier\":\"GPU-0\",\"power_watts\":100},"
       "{\"identifier\":\"GPU-1\",\"power_watts\":400}]'; exec sleep 60"},
      gpus, [&](const auto &readings) { seen = readings; });
  const auto has_power = [&] { return !seen.empty() && seen[0].power_watts; };
  for (int i = 0; i < 60 && !has_power(); ++i)
    loop.run_one_for(std::chrono::seconds(1));
  REQUIRE(has_power());
  CHECK(seen[0].device == "cuda:1");
  CHECK(*seen[0].power_watts == 400);
  CHECK(!seen[0].temperature_celsius);
  bool told = false;
  boost::asio::io_context quiet;
  metrics::ReadingsWatcher none(quiet.get_executor(), {"/bin/false"}, gpus,
                                [&](const auto &) { told = true; });
  quiet.run(); // ends: there is nothing to wait for
  CHECK(!told);
}

/// A runner on a unix socket with metrics on a free port, its stderr read.
class ServingRunner {
public:
  explicit ServingRunner(const std::vector<std::string> &options = {}) {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    folder_ = mkdtemp(name);
    std::vector<std::string> command = {WARPWRIGHT_BINARY_DIR "/warpwright-runner",
                                        "serve",
                                        "--socket",
                                        socket(),
                                        "--metrics",
                                        "127.0.0.1:0"};
    command.insert(command.end(), options.begin(), options.end());
    auto process =
        Process::spawn(command, {.environment = {"WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR
                                                 "/runner_fake_worker",
                                                 "WARPWRIGHT_FAKE_WORKER="},
                                 .pipe_stderr = true});
    REQUIRE(process.has_value());
    process_ = std::move(*process);
    errors_ = process_->release_stderr();
    read_until("listening on");
    const auto at = said_.find("http://127.0.0.1:");
    REQUIRE(at != std::string::npos);
    port_ = std::stoi(said_.substr(at + 17));
  }
  ~ServingRunner() {
    close(errors_);
    std::filesystem::remove_all(folder_);
  }

  std::string socket() const { return (folder_ / "runner.sock").string(); }
  int port() const { return port_; }

  /// Ends the runner. @return all that it wrote to stderr
  std::string end() {
    process_->kill(SIGTERM);
    char block[4096];
    for (ssize_t count; (count = read(errors_, block, sizeof block)) > 0;)
      said_.append(block, static_cast<std::size_t>(count));
    CHECK(process_->wait().code == 0);
    return said_;
  }

  /// One request on a connection of its own: the whole answer.
  std::string ask(const std::string &request) const {
    const int peer = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(peer, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
    REQUIRE(send(peer, request.data(), request.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(request.size()));
    std::string answer;
    char block[4096];
    for (ssize_t count; (count = recv(peer, block, sizeof block, 0)) > 0;)
      answer.append(block, static_cast<std::size_t>(count));
    close(peer);
    return answer;
  }
  std::string get(const std::string &path) const {
    return ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  std::map<std::string, double> samples() const {
    const std::string answer = get("/metrics");
    REQUIRE(answer.starts_with("HTTP/1.1 200 OK"));
    CHECK(answer.find("text/plain; version=0.0.4") != std::string::npos);
    return parse(answer.substr(answer.find("\r\n\r\n") + 4));
  }

private:
  void read_until(const std::string &part) {
    for (char c; said_.find(part) == std::string::npos && read(errors_, &c, 1) == 1;)
      said_ += c;
  }

  std::filesystem::path folder_;
  std::optional<Process> process_;
  int errors_ = -1, port_ = 0;
  std::string said_;
};

void run_jobs(const ServingRunner &runner, const std::vector<std::string> &kernels) {
  auto client = BlockingClient::connect("unix:" + runner.socket());
  REQUIRE_MESSAGE(client.has_value(), (client ? "" : describe(client.error())));
  Task task = square_task(4096);
  task.reference = plan_of("reference", "square", {"x", "y"});
  VerifyOptions options;
  options.device = "cpu";
  options.timeout = std::chrono::milliseconds(20'000);
  for (const std::string &kernel : kernels) {
    const auto verdict =
        (*client)->verify(task, plan_of("candidate", kernel, {"x", "y"}), options, {});
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  }
}

TEST_CASE("a scrape shows what a runner did") {
  ServingRunner runner;
  auto before = runner.samples();
  CHECK(before.at(R"(warpwright_jobs_total{device="cpu",outcome="verified"})") == 0);
  CHECK(before.at("warpwright_clients") == 0);
  {
    auto client = BlockingClient::connect("unix:" + runner.socket());
    REQUIRE(client.has_value());
    REQUIRE((*client)->info().has_value());
    CHECK(runner.samples().at("warpwright_clients") == 1);
  }
  run_jobs(runner, {"square", "skip_last", "crash", "square"});
  const auto after = runner.samples();
  CHECK(after.at("warpwright_jobs_accepted_total") == 4);
  CHECK(after.at(R"(warpwright_jobs_total{device="cpu",outcome="verified"})") == 2);
  CHECK(after.at(R"(warpwright_jobs_total{device="cpu",outcome="wrong_result"})") == 1);
  CHECK(after.at(R"(warpwright_jobs_total{device="cpu",outcome="crash"})") == 1);
  CHECK(after.at(R"(warpwright_queue_jobs{device="cpu"})") == 0);
  CHECK(after.at(R"(warpwright_worker_starts_total{device="cpu"})") == 2);
  CHECK(after.at(R"(warpwright_worker_restarts_total{device="cpu"})") == 1);
  CHECK(after.at(R"(warpwright_worker_losses_total{device="cpu"})") == 1);
  CHECK(after.at(R"(warpwright_job_seconds_count{device="cpu"})") == 4);
  for (const char *stage : {"queued", "compiling", "verifying"})
    CHECK(after.at(R"(warpwright_stage_seconds_count{device="cpu",stage=")" + std::string(stage) +
                   "\"}") == 4);
  CHECK(after.at("process_start_time_seconds") > 1.7e9);
}

TEST_CASE("the endpoint answers what it knows and nothing else, whatever it is sent") {
  ServingRunner runner;
  CHECK(runner.get("/healthz").ends_with("\r\n\r\nok\n"));
  CHECK(runner.get("/healthz?verbose=1").starts_with("HTTP/1.1 200"));
  CHECK(runner.get("/../etc/passwd").starts_with("HTTP/1.1 404"));
  CHECK(runner
            .ask("POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                 "Content-Length: 0\r\n\r\n")
            .starts_with("HTTP/1.1 405"));
  const std::string head =
      runner.ask("HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(head.ends_with("\r\n\r\n"));
  CHECK(runner.ask("\x16\x03\x01 this is no HTTP\r\n\r\n") == "");
  CHECK(runner.ask("GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n") == "");
  // Two requests on one connection.
  const std::string two =
      runner.ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                 "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(two.find("ok\n") != two.rfind("ok\n"));
  const auto taken = run_captured({WARPWRIGHT_BINARY_DIR "/warpwright-runner", "serve", "--metrics",
                                   "127.0.0.1:" + std::to_string(runner.port())},
                                  "", std::chrono::seconds(60));
  REQUIRE(taken.has_value());
  CHECK(taken->status.code == 2);
  CHECK(taken->errors.find("cannot listen on 127.0.0.1:") != std::string::npos);
}

TEST_CASE("the log says as JSON which job of which client ended how") {
  ServingRunner runner({"--log-format", "json", "--log-level", "info"});
  run_jobs(runner, {"square", "crash"});
  std::istringstream lines(runner.end());
  int finished = 0, lost = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto document = nlohmann::json::parse(line, nullptr, false);
    if (!document.is_object())
      continue; // what workers print goes by as it is
    CHECK(document.contains("time"));
    CHECK(document.contains("level"));
    if (document["message"] == "job finished") {
      ++finished;
      CHECK(document["device"] == "cpu");
      CHECK(document["client"].get<std::string>() != "");
      CHECK(document["seconds"].get<double>() > 0);
      CHECK((document["outcome"] == "verified" || document["outcome"] == "crash"));
    }
    lost += document["message"] == "worker lost";
  }
  CHECK(finished == 2);
  CHECK(lost == 1);
}

} // namespace
} // namespace warpwright::runner
