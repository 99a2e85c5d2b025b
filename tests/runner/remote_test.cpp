// The real client and the real runner over TLS: what is refused and in which words, and what happens
// to jobs when the line or the service is lost.
#include "tests/runner/background_job.h"
#include "tests/runner/remote_fixture.h"

#include <boost/asio/io_context.hpp>
#include <csignal>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

Result<model::Verdict> ask(BlockingClient &client, const std::string &kernel,
                           VerifyOptions options = fake_options(),
                           Client::StageCallback on_stage = {}) {
  return client.verify(fake_task(), fake_plan(kernel), options, {}, std::move(on_stage));
}

void check_verified(const Result<model::Verdict> &verdict) {
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  INFO(verdict->message);
  CHECK(verdict->outcome == Outcome::Verified);
}

/// How often a job of "slow_square" starts its kernel anew, counted on a job that nothing disturbs.
int starts_of_one_job(const RunningService &service, const std::string &url) {
  const int before = count(service.log(), "slow_square starts");
  check_verified(ask(*connect_to(url), "slow_square"));
  return count(service.log(), "slow_square starts") - before;
}

TEST_CASE("a job is verified over TLS, and its stages arrive") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  const auto client = connect_to(url_of(service.address(), folder.path));
  std::vector<std::string> stages;
  check_verified(ask(*client, "square", fake_options(),
                     [&](const std::string &stage) { stages.push_back(stage); }));
  CHECK(std::find(stages.begin(), stages.end(), "verifying") != stages.end());
  const auto info = client->info();
  REQUIRE(info.has_value());
  CHECK(info->url.find(kToken) == std::string::npos);
  CHECK(info->url.starts_with("tls://" + service.address()));
}

Task torch_task() {
  Task task = square_task(4096);
  task.module = model::TorchModule{.source = "class Model: pass\n"};
  task.reference = Plan{};
  task.reference.steps.push_back(model::ModuleStep{});
  return task;
}

void check_refused(const Result<model::Verdict> &verdict, const std::string &part) {
  REQUIRE(!verdict.has_value());
  INFO(describe(verdict.error()));
  CHECK(verdict.error().message.starts_with("the runner refused: "));
  CHECK(verdict.error().message.find(part) != std::string::npos);
}

std::string detail_of(const Result<model::Verdict> &verdict, const std::string &check) {
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  for (const model::Check &one : verdict->checks)
    if (one.name == check)
      return one.detail;
  return "there is no such check";
}

TEST_CASE("what the operator switched off is refused by its switch, and told in info") {
  const TemporaryFolder folder;
  const RunningService service(folder.path, {"--no-python", "--no-host-code"});
  const auto client = connect_to(url_of(service.address(), folder.path));
  const Task torch = torch_task();
  check_refused(client->verify(torch, torch.reference, fake_options(), {}), "--no-python");
  const auto traced = client->trace(*torch.module);
  REQUIRE(!traced.has_value());
  CHECK(traced.error().message.find("--no-python") != std::string::npos);
  Plan module;
  module.steps.push_back(model::ModuleStep{.source = "class ModelNew: pass\n"});
  VerifyOptions options = fake_options();
  options.host_code = true;
  check_refused(client->verify(fake_task(), module, options, {}), "--no-host-code");
  check_verified(ask(*client, "square"));
  const auto info = client->info();
  REQUIRE(info.has_value());
  REQUIRE(info->off.size() == 3);
  CHECK(info->off[0].first == "python");
  CHECK(info->off[1].first == "host code");
  CHECK(info->off[2].second.find("--tools-for-remote") != std::string::npos);
  const auto doctor = run_captured({WARPWRIGHT_BINARY_DIR "/warpwright-runner", "doctor", "--runner",
                                    url_of(service.address(), folder.path)},
                                   "", kPatience);
  REQUIRE(doctor.has_value());
  CHECK(doctor->status.code == 0);
  CHECK(doctor->output.find("off      python: ") != std::string::npos);
  CHECK(doctor->output.find("off      tools: ") != std::string::npos);
}

TEST_CASE("tools run for a remote client only where the operator says so") {
  const TemporaryFolder folder;
  VerifyOptions options = fake_options();
  options.deep = true;
  for (const auto &[arguments, note] :
       {std::pair{std::vector<std::string>{}, "clients of the same machine only"},
        std::pair{std::vector<std::string>{"--no-tools", "--tools-for-remote"}, "--no-tools"},
        std::pair{std::vector<std::string>{"--tools-for-remote"}, "the tools examine GPUs"}}) {
    const RunningService service(folder.path, arguments);
    const auto client = connect_to(url_of(service.address(), folder.path));
    const auto verdict = ask(*client, "square", options);
    check_verified(verdict);
    const std::string detail = detail_of(verdict, "memcheck");
    CHECK(detail.starts_with("not run: "));
    CHECK_MESSAGE(detail.find(note) != std::string::npos, detail);
    CHECK(client->info()->off.size() == (arguments == std::vector<std::string>{"--tools-for-remote"} ? 0 : 1));
  }
}

TEST_CASE("a token that is withdrawn ends its clients and their jobs, others go on") {
  const TemporaryFolder folder;
  RunningService service(folder.path);
  const auto alice = connect_to(url_of(service.address(), folder.path));
  const auto bob = connect_to(url_of(service.address(), folder.path, kOtherToken));
  BackgroundJob endless(*bob, "hang", fake_options());
  REQUIRE(eventually([&] { return endless.had("verifying"); }));
  BackgroundJob waiting(*alice, "square", fake_options());
  REQUIRE(eventually([&] { return waiting.stage_count() > 0; }));
  write_tokens(folder.path, {{"alice", kToken}});
  service.send(SIGHUP);
  const auto lost = endless.verdict.get();
  REQUIRE(!lost.has_value());
  INFO(describe(lost.error()));
  CHECK(lost.error().message.find("does not know this token") != std::string::npos);
  check_verified(waiting.verdict.get()); // the device is free again
  CHECK(service.log().find("read 1 tokens again") != std::string::npos);
  // What cannot be used changes nothing.
  std::filesystem::permissions(folder.path / "tokens", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  service.send(SIGHUP);
  REQUIRE(eventually(
      [&] { return service.log().find("the tokens stay as they were") != std::string::npos; }));
  check_verified(ask(*alice, "square"));
}

TEST_CASE("serve refuses a key and a token file that others may read") {
  const TemporaryFolder folder;
  make_certificate(folder.path, {});
  write_tokens(folder.path, {{"alice", kToken}});
  for (const char *name : {"server.key", "tokens"}) {
    std::filesystem::permissions(folder.path / name, std::filesystem::perms::others_read,
                                 std::filesystem::perm_options::add);
    const auto run = run_captured(
        {WARPWRIGHT_BINARY_DIR "/warpwright-runner", "serve", "--listen", "tls://127.0.0.1:0",
         "--cert", folder.path / "server.pem", "--key", folder.path / "server.key", "--token-file",
         folder.path / "tokens"},
        "", kPatience);
    REQUIRE(run.has_value());
    CHECK(run->status.code == 2);
    CHECK_MESSAGE(run->errors.find("chmod 600 " + (folder.path / name).string()) !=
                      std::string::npos,
                  run->errors);
    std::filesystem::permissions(folder.path / name, std::filesystem::perms::others_read,
                                 std::filesystem::perm_options::remove);
  }
}

TEST_CASE("an owner's quota holds over all its clients, and leaves others alone") {
  const TemporaryFolder folder;
  const RunningService service(folder.path, {"--quota-jobs", "1", "--quota-device-seconds", "0.001"});
  const auto first = connect_to(url_of(service.address(), folder.path));
  const auto second = connect_to(url_of(service.address(), folder.path));
  const auto bob = connect_to(url_of(service.address(), folder.path, kOtherToken));
  BackgroundJob endless(*first, "hang", fake_options());
  REQUIRE(eventually([&] { return endless.had("verifying"); }));
  check_refused(ask(*second, "square"), "alice has 1 jobs here, which is its quota");
  endless.stop.request_stop();
  CHECK(!endless.verdict.get().has_value());
  check_refused(ask(*second, "square"), "device seconds an hour");
  check_verified(ask(*bob, "square"));
}

TEST_CASE("who may not in is told why, and what to do") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  make_certificate(folder.path, {.name = "stranger"});
  const std::string ca = "?ca=" + (folder.path / "server.pem").string();
  const std::string address = service.address();
  const std::string with_token = "tls://" + std::string(kToken) + "@" + address;
  for (const auto &[url, message, remedy] : {
           std::tuple{"tls://" + address + ca, "wants a token", "WARPWRIGHT_RUNNER_TOKEN_FILE"},
           std::tuple{"tls://0123456789abcdef@" + address + ca, "does not know this token",
                      "Copy the runner's token file"},
           std::tuple{with_token, "not signed by an authority that this machine trusts", "?ca=FILE"},
           std::tuple{with_token + "?ca=" + (folder.path / "stranger.pem").string(),
                      "not signed by an authority", "?ca=FILE"},
           std::tuple{with_token + ca + "&server-name=runner.example.org",
                      "is made out to localhost, 127.0.0.1, not to runner.example.org",
                      "server-name"},
           std::tuple{"tls://" + std::string(kToken) + "@127.0.0.1:1" + ca, "connection refused",
                      "Start a runner there"},
           std::tuple{"tls://" + std::string(kToken) + "@" + address + "?ca=/nonexistent.pem",
                      "cannot read the authority's certificate", "PEM file"},
           std::tuple{"tls://" + std::string(kToken) + "@" + address + "?oops=1",
                      "'oops', which is not understood", "Write tls://"},
           std::tuple{std::string("tls://") + kToken + "@localhost", "is no HOST:PORT", "[::1]"},
           std::tuple{"tcp://" + address, "is not understood", "Plain TCP is not offered"},
       }) {
    const auto client = BlockingClient::connect(url);
    REQUIRE(!client.has_value());
    INFO(url, ": ", describe(client.error()));
    CHECK(client.error().message.find(message) != std::string::npos);
    CHECK(client.error().remedy.find(remedy) != std::string::npos);
    CHECK(client.error().message.find(kToken) == std::string::npos);
  }
  check_verified(ask(*connect_to(url_of(address, folder.path)), "square"));
}

TEST_CASE("a certificate that has expired, or is not valid yet, is refused with its date") {
  for (const auto &[from, until, part] : {std::tuple{-90'000L, -3'600L, "expired on"},
                                          std::tuple{86'400L, 172'800L, "not valid before"}}) {
    const TemporaryFolder folder;
    make_certificate(folder.path, {.valid_from_s = from, .valid_until_s = until});
    const RunningService service(folder.path);
    CHECK(service.log().find("clients will refuse it") != std::string::npos);
    const auto client = BlockingClient::connect(url_of(service.address(), folder.path));
    REQUIRE(!client.has_value());
    INFO(describe(client.error()));
    CHECK(client.error().message.find(part) != std::string::npos);
    CHECK(client.error().message.find("GMT") != std::string::npos);
  }
}

TEST_CASE("a service that asks for client certificates takes only those of its authority") {
  const TemporaryFolder folder;
  make_certificate(folder.path, {.name = "authority", .alternatives = ""});
  make_certificate(folder.path, {.name = "member", .alternatives = "", .issuer = "authority"});
  make_certificate(
      folder.path,
      {.name = "former", .alternatives = "", .valid_until_s = -60, .issuer = "authority"});
  make_certificate(folder.path, {.name = "stranger", .alternatives = ""});
  const RunningService service(folder.path,
                               {"--client-ca", (folder.path / "authority.pem").string()});
  const auto with = [&](const std::string &name) {
    return url_of(service.address(), folder.path) +
           "&cert=" + (folder.path / (name + ".pem")).string() +
           "&key=" + (folder.path / (name + ".key")).string();
  };
  for (const auto &[url, part] :
       {std::pair{url_of(service.address(), folder.path), "wants a client certificate"},
        std::pair{with("former"), "refuses this client certificate"},
        std::pair{with("stranger"), "refuses this client certificate"}}) {
    const auto client = BlockingClient::connect(url);
    REQUIRE(!client.has_value());
    INFO(describe(client.error()));
    CHECK(client.error().message.find(part) != std::string::npos);
  }
  check_verified(ask(*connect_to(with("member")), "square"));
}

TEST_CASE("a job whose line is cut runs on, and its verdict arrives once over the next line") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  Relay relay(service.address());
  const int starts = starts_of_one_job(service, url_of(service.address(), folder.path));
  const auto client = connect_to(url_of(relay.address(), folder.path));
  BackgroundJob job(*client, "slow_square", fake_options());
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  relay.cut(/*stays_down=*/false);
  REQUIRE(eventually([&] { return job.had("reconnecting"); }));
  check_verified(job.verdict.get());
  CHECK(job.answers == 1);
  CHECK(count(service.log(), "slow_square starts") == 2 * starts);
}

TEST_CASE("a verdict that was finished while the line was down is delivered after") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  Relay relay(service.address());
  const auto other = connect_to(url_of(service.address(), folder.path));
  const int starts = starts_of_one_job(service, url_of(service.address(), folder.path));
  const auto client = connect_to(url_of(relay.address(), folder.path));
  BackgroundJob job(*client, "slow_square", fake_options());
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  relay.cut(/*stays_down=*/true);
  // The one device takes jobs in their order: when this one has its verdict, the other has ended.
  check_verified(ask(*other, "square"));
  CHECK(job.answers == 0);
  relay.restore();
  check_verified(job.verdict.get());
  CHECK(count(service.log(), "slow_square starts") == 2 * starts);
  check_verified(ask(*client, "square"));
}

TEST_CASE("progress is streamed, and a cancel reaches the worker, after a resume too") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  Relay relay(service.address());
  const auto client = connect_to(url_of(relay.address(), folder.path));
  BackgroundJob job(*client, "hang", fake_options());
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  relay.cut(/*stays_down=*/false);
  REQUIRE(eventually([&] { return job.had("reconnecting"); }));
  const std::size_t before = job.stage_count();
  REQUIRE(eventually([&] { return job.had("verifying", before - 1); }));
  job.stop.request_stop();
  const auto verdict = job.verdict.get();
  REQUIRE(!verdict.has_value());
  CHECK(verdict.error().message == "the job was cancelled");
  check_verified(ask(*client, "square")); // the worker hangs no longer
}

TEST_CASE("a cancel while the line is down reaches the worker when it is up again") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  Relay relay(service.address());
  const auto client = connect_to(url_of(relay.address(), folder.path));
  BackgroundJob job(*client, "hang", fake_options(600'000));
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  relay.cut(/*stays_down=*/true);
  REQUIRE(eventually([&] { return job.had("reconnecting"); }));
  job.stop.request_stop();
  CHECK(!job.verdict.get().has_value());
  relay.restore();
  check_verified(ask(*connect_to(url_of(service.address(), folder.path)), "square"));
}

TEST_CASE("jobs of a lost client end after the linger time") {
  const TemporaryFolder folder;
  const RunningService service(folder.path, {"--linger", "0"});
  Relay relay(service.address());
  const auto client = connect_to(url_of(relay.address(), folder.path) + "&retry-s=0");
  BackgroundJob job(*client, "hang", fake_options(600'000));
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  relay.cut(/*stays_down=*/true);
  const auto verdict = job.verdict.get();
  REQUIRE(!verdict.has_value());
  CHECK(verdict.error().message.find("is gone") != std::string::npos);
  check_verified(ask(*connect_to(url_of(service.address(), folder.path)), "square"));
}

TEST_CASE("a client that ends in an orderly way takes its jobs along") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  boost::asio::io_context loop;
  auto client = connect(url_of(service.address(), folder.path), loop.get_executor());
  REQUIRE(client.has_value());
  bool is_running = false;
  (*client)->verify(
      fake_task(), fake_plan("hang"), fake_options(600'000),
      [&](const std::string &stage) { is_running |= stage == "verifying"; },
      [](const Result<model::Verdict> &) {});
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!is_running && std::chrono::steady_clock::now() < deadline)
    loop.run_one_for(std::chrono::milliseconds(100));
  CHECK(is_running);
  client->reset();
  loop.run_for(std::chrono::seconds(2));
  check_verified(ask(*connect_to(url_of(service.address(), folder.path)), "square"));
}

TEST_CASE("a unix socket resumes as TLS does") {
  const TemporaryFolder folder;
  const std::string socket = (folder.path / "runner.sock").string();
  auto service =
      std::make_unique<RunningService>(folder.path, std::vector<std::string>{"--socket", socket});
  const auto client = connect_to("unix:" + socket);
  BackgroundJob job(*client, "slow_square", fake_options());
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  service->kill(SIGKILL);
  service =
      std::make_unique<RunningService>(folder.path, std::vector<std::string>{"--socket", socket});
  check_verified(job.verdict.get());
  CHECK(job.answers == 1);
}

TEST_CASE("a service that is killed and started again runs the job again, for one verdict") {
  const TemporaryFolder folder;
  auto service = std::make_unique<RunningService>(folder.path);
  const std::string address = service->address();
  const auto client = connect_to(url_of(address, folder.path));
  BackgroundJob job(*client, "slow_square", fake_options());
  REQUIRE(eventually([&] { return job.had("verifying"); }));
  service->kill(SIGKILL);
  service.reset();
  service = std::make_unique<RunningService>(folder.path, std::vector<std::string>{}, address);
  check_verified(job.verdict.get());
  CHECK(job.answers == 1);
  CHECK(count(service->log(), "slow_square starts") > 0);
}

TEST_CASE("a key belongs to its token: the same key of another is another job") {
  const TemporaryFolder folder;
  const RunningService service(folder.path);
  const auto alice = connect_to(url_of(service.address(), folder.path));
  const auto alice_again = connect_to(url_of(service.address(), folder.path));
  const auto bob = connect_to(url_of(service.address(), folder.path, kOtherToken));
  VerifyOptions options = fake_options();
  options.job = "the one key";
  BackgroundJob running(*alice, "hang", options);
  REQUIRE(eventually([&] { return running.had("verifying"); }));
  const auto refused = ask(*alice_again, "square", options);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message.find("was used for another task or plan") != std::string::npos);
  BackgroundJob same(*alice_again, "hang", options);
  REQUIRE(eventually([&] { return same.had("verifying"); }));
  BackgroundJob others(*bob, "square", options);
  REQUIRE(eventually([&] { return others.had("queued"); }));
  running.stop.request_stop();
  CHECK(!running.verdict.get().has_value());
  CHECK(!same.verdict.get().has_value());
  check_verified(others.verdict.get());
}

} // namespace
} // namespace warpwright::runner
