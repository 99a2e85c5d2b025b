// A fleet of real processes on a real RabbitMQ node over TLS: who gets in, where jobs go, what becomes of
// jobs whose client or runner is gone.
#include "runner/fleet/amqp.h"
#include "runner/fleet/names.h"
#include "runner/fleet/runner_topology.h"
#include "support/version.h"
#include "tests/runner/fleet_fixture.h"

#include <boost/asio/io_context.hpp>
#include <fstream>
#include <future>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// What connecting fails with.
std::string refusal(const std::string &url) {
  const auto client = BlockingClient::connect(url);
  REQUIRE(!client.has_value());
  return describe(client.error());
}

void check_contains(const std::string &text, const std::string &part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

TEST_CASE("a job goes through the broker and its verdict says which host had it") {
  const std::string url = broker().url();
  const Process runner = start_runner(url);
  auto client = connect_to(url);
  const RunnerInfo info = await_devices(*client, 1);
  CHECK(info.devices[0].host == host_name());
  CHECK(info.version == version());
  std::vector<std::string> stages;
  const auto verdict = client->verify(small_task(), plan_with("square"), on_cpu(), {},
                                      [&](const std::string &stage) { stages.push_back(stage); });
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  CHECK(verdict->outcome == Outcome::Verified);
  CHECK(verdict->device.host == host_name());
  CHECK(std::ranges::find(stages, "verifying") != stages.end());
  VerifyOptions anywhere = on_cpu();
  anywhere.device.clear();
  const auto wrong = client->verify(small_task(), plan_with("skip_last"), anywhere, {});
  REQUIRE_MESSAGE(wrong.has_value(), (wrong ? "" : describe(wrong.error())));
  CHECK(wrong->outcome == Outcome::WrongResult);
}

TEST_CASE("a broker that cannot be used is refused in plain words") {
  const std::string url = broker().url(), password = fleet::parse_fleet_url(url)->password;
  check_contains(refusal(replaced(url, password, "wrong")), "refused user warpwright");
  check_contains(refusal(replaced(url, "/warpwright?", "/other?")), "virtual host");
  const std::string stranger = broker().file("certs/other-ca.pem");
  check_contains(refusal(replaced(url, broker().file("certs/ca.pem"), stranger)),
                 "signed by no trusted authority");
  check_contains(refusal(replaced(url, broker().file("certs/ca.pem"), "/nowhere/ca.pem")),
                 "cannot read the authority's certificate /nowhere/ca.pem");
  check_contains(refusal("amqps://a:b@localhost:1/x?patience=1"), "cannot connect to the broker");
  check_contains(refusal("amqp://a:b@broker.example/x"), "Use amqps://");
  check_contains(refusal("amqps://a:b@localhost/x?colour=red"), "unknown parameter colour");
  const auto runner = run_captured(
      {WARPWRIGHT_BINARY_DIR "/warpwright-runner", "serve", "--fleet",
       replaced(url, password, "wrong")},
      "", kGenerous,
      {.environment = {"WARPWRIGHT_CPU_WORKER=" WARPWRIGHT_TEST_DIR "/runner_fake_worker"}});
  REQUIRE(runner.has_value());
  CHECK(runner->status.code == 2);
  check_contains(runner->errors, "refused user warpwright");
}

TEST_CASE("a session belongs to one client at a time") {
  const std::string url = broker().url("&session=taken&patience=2");
  const auto first = connect_to(url);
  check_contains(refusal(url), "Another client uses this session");
}

void remove_queue(const std::string &url, const std::string &queue) {
  auto connection = fleet::AmqpConnection::open(*fleet::parse_fleet_url(url), "test");
  REQUIRE(connection.has_value());
  REQUIRE(connection->remove(queue).has_value());
  connection->close();
}

/// Messages that wait at the broker and are with no consumer.
std::uint32_t waiting_messages(const std::string &url, const fleet::QueueSpec &queue) {
  auto connection = fleet::AmqpConnection::open(*fleet::parse_fleet_url(url), "test");
  REQUIRE(connection.has_value());
  const auto states = connection->set_up({.queues = {queue}});
  REQUIRE_MESSAGE(states.has_value(), (states ? "" : describe(states.error().error)));
  connection->close();
  return states->at(0).ready;
}

std::uint32_t waiting_replies(const std::string &url, const std::string &session) {
  return waiting_messages(url,
                          {.name = fleet::replies_queue(session),
                           .durable = true,
                           .arguments = {{"x-queue-type", "quorum"}, {"x-expires", 86'400'000}}});
}

std::uint32_t waiting_jobs(const std::string &url, const std::string &type) {
  for (const auto &queue : fleet::runner_topology({{type, type}}, "test").topology.queues)
    if (queue.name == fleet::jobs_queue(type))
      return waiting_messages(url, queue);
  return 0;
}

TEST_CASE("a verdict that was finished while its client was away is delivered after") {
  const std::string url = broker().url("&session=returning");
  VerifyOptions options = on_cpu();
  options.job = "the job";
  {
    const Process runner = start_runner(url);
    await_devices(*connect_to(broker().url()), 1);
    { // a client that leaves when its job has begun
      boost::asio::io_context loop;
      auto client = connect(url, loop.get_executor());
      REQUIRE(client.has_value());
      (*client)->verify(
          small_task(), plan_with("square"), options, [&](const std::string &) { loop.stop(); },
          [](const auto &) {});
      loop.run();
    }
    CHECK(wait_until([&] { return waiting_replies(url, "returning") == 1; }));
  } // the runner is gone: nobody can run the job again
  auto client = connect_to(url);
  const auto verdict = client->verify(small_task(), plan_with("square"), options, {});
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  CHECK(verdict->outcome == Outcome::Verified);
  client.reset();
  CHECK(wait_until([&] { return waiting_replies(url, "returning") == 0; }));
}

/// Reads what a process writes until `part` is among it.
bool says(int descriptor, const std::string &part) {
  std::string said;
  return wait_until([&] {
    char block[4096];
    pollfd readable{descriptor, POLLIN, 0};
    if (::poll(&readable, 1, 100) > 0)
      if (const ssize_t size = ::read(descriptor, block, sizeof block); size > 0)
        said.append(block, static_cast<std::size_t>(size));
    return said.find(part) != std::string::npos;
  });
}

TEST_CASE("a client whose queue was lost with a verdict in it sends its job again") {
  const std::string url = broker().url();
  const fs::path log = broker().file("lost-verdicts");
  auto runner = std::make_optional(start_runner(url)); // makes the queue for the job
  await_devices(*connect_to(url), 1);
  runner.reset();
  auto client =
      Process::spawn({WARPWRIGHT_TEST_DIR "/runner_fleet_client", url + "&session=lost", "1", log});
  REQUIRE(client.has_value());
  CHECK(wait_until([&] { return waiting_jobs(url, "cpu") == 1; }));
  client->kill(SIGSTOP);
  remove_queue(url, fleet::replies_queue("lost"));
  runner = start_runner(url, /*pipe_stderr=*/true);
  CHECK(says(runner->release_stderr(), "the verdict has no more waiting clients"));
  CHECK(!fs::file_size(log));
  client->kill(SIGCONT);
  CHECK(client->wait().code == 0);
  CHECK(fs::file_size(log) == std::string("job-0 verified\n").size());
}

TEST_CASE("a session whose queue was made as the broker was killed gets one that works") {
  const std::string url = broker().url("&session=unlucky&patience=170");
  connect_to(url).reset();
  shared_broker().kill();
  shared_broker().start();
  auto client = connect_to(url);
  const Process runner = start_runner(broker().url());
  await_devices(*client, 1);
  const auto verdict = client->verify(small_task(), plan_with("square"), on_cpu(), {});
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  CHECK(verdict->outcome == Outcome::Verified);
}

TEST_CASE("cancelling reaches the worker, and the next job runs") {
  const std::string url = broker().url();
  const Process runner = start_runner(url);
  auto client = connect_to(url);
  await_devices(*client, 1);
  VerifyOptions patient = on_cpu();
  patient.timeout = std::chrono::hours(1);
  std::stop_source stop;
  const auto hung = client->verify(small_task(), plan_with("hang"), patient, stop.get_token(),
                                   [&](const std::string &stage) {
                                     if (stage == "verifying")
                                       stop.request_stop();
                                   });
  REQUIRE(!hung.has_value());
  CHECK(hung.error().message == "the job was cancelled");
  const auto next = client->verify(small_task(), plan_with("square"), patient, {});
  REQUIRE_MESSAGE(next.has_value(), (next ? "" : describe(next.error())));
  CHECK(next->outcome == Outcome::Verified);
}

TEST_CASE("jobs go to the type of device that they name") {
  const std::string url = broker().url();
  const Process h200 = start_fake_runner(url, "NVIDIA H200");
  const Process a100 = start_fake_runner(url, "NVIDIA A100-SXM4-80GB");
  auto client = connect_to(url);
  await_devices(*client, 2);
  for (const auto &[wanted, name] : {std::pair("H200", "NVIDIA H200"),
                                     std::pair("NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"),
                                     std::pair("a100", "NVIDIA A100-SXM4-80GB")}) {
    VerifyOptions options = on_cpu();
    options.device = wanted;
    const auto verdict = client->verify(small_task(), plan_with("square"), options, {});
    REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
    CHECK(verdict->device.name == name);
    CHECK(verdict->device.host == host_name());
  }
  VerifyOptions any_gpu = on_cpu();
  any_gpu.device = "cuda";
  const auto somewhere = client->verify(small_task(), plan_with("square"), any_gpu, {});
  REQUIRE_MESSAGE(somewhere.has_value(), (somewhere ? "" : describe(somewhere.error())));
  CHECK(somewhere->device.kind == "cuda");
  VerifyOptions unknown = on_cpu();
  unknown.device = "GTX 480";
  const auto nobody = client->verify(small_task(), plan_with("square"), unknown, {});
  REQUIRE(!nobody.has_value());
  check_contains(describe(nobody.error()), "warpwright.jobs.gtx-480");
  unknown.device = "cuda:0";
  const auto local = client->verify(small_task(), plan_with("square"), unknown, {});
  REQUIRE(!local.has_value());
  check_contains(describe(local.error()), "names a device of a single host");
}

TEST_CASE("the command line verifies on several types at once and prints each verdict") {
  const std::string url = broker().url();
  const Process h200 = start_fake_runner(url, "NVIDIA H200");
  const Process a100 = start_fake_runner(url, "NVIDIA A100-SXM4-80GB");
  await_devices(*connect_to(url), 2);
  const Folder folder;
  const std::string task = folder.path / "task.json", plan = folder.path / "plan.json";
  std::ofstream(task) << model::to_json(small_task());
  std::ofstream(plan) << model::to_json(plan_with("square"));
  const std::vector<std::string> verify = {
      WARPWRIGHT_BINARY_DIR "/warpwright-runner", "verify", task, plan, "--runner", url};
  auto as_json = verify;
  as_json.insert(as_json.end(), {"--on", "H200", "--on", "A100", "--json"});
  const auto both = run_captured(as_json, "", kGenerous);
  REQUIRE(both.has_value());
  INFO(both->errors);
  CHECK(both->status.code == 0);
  const auto verdicts = nlohmann::json::parse(both->output, nullptr, false);
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0]["device"]["name"] == "NVIDIA H200");
  CHECK(verdicts[1]["device"]["name"] == "NVIDIA A100-SXM4-80GB");
  auto as_table = verify;
  as_table.insert(as_table.end(), {"--device", "H200,A100"});
  const auto table = run_captured(as_table, "", kGenerous);
  REQUIRE(table.has_value());
  check_contains(table->output, "on NVIDIA H200");
  check_contains(table->output, "on NVIDIA A100-SXM4-80GB");
  check_contains(table->output, "host " + host_name());
}

TEST_CASE("a job that kills every runner ends with a verdict that says so") {
  const std::string url = broker().url();
  std::optional<Process> runner = start_fake_runner(url, "NVIDIA Poison 1");
  auto client = connect_to(url);
  await_devices(*client, 1);
  VerifyOptions options = on_cpu();
  options.device = "Poison 1";
  auto poison = std::async(std::launch::async, [&] {
    return client->verify(small_task(), plan_with("kill_runner"), options, {});
  });
  int deaths = 0;
  REQUIRE(wait_until([&] {
    if (runner->poll()) {
      ++deaths;
      runner = start_fake_runner(url, "NVIDIA Poison 1");
    }
    return poison.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }));
  const auto verdict = poison.get();
  REQUIRE_MESSAGE(verdict.has_value(), (verdict ? "" : describe(verdict.error())));
  CHECK(verdict->outcome == Outcome::Crash);
  check_contains(verdict->message, "given up: this job was delivered 7 times");
  CHECK(deaths == 7);
  const auto next = client->verify(small_task(), plan_with("square"), options, {});
  REQUIRE_MESSAGE(next.has_value(), (next ? "" : describe(next.error())));
  CHECK(next->outcome == Outcome::Verified);
}

} // namespace
} // namespace warpwright::runner
