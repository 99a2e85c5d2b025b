// The table of jobs with a runner that ends jobs when the test reports this.
#include "runner/service/job_table.h"
#include "tests/runner/manual_runner.h"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

namespace warpwright::runner {
namespace {

using rpc::Json;
using testing::ManualRunner;

struct Fixture {
  explicit Fixture(JobTableLimits limits = {}) : table(loop.get_executor(), runner, limits) {}

  std::expected<JobTable::Ticket, rpc::RpcError>
  take(const std::string &owner, const std::string &key, const std::string &plan = "plan") {
    QueuedJob job;
    job.task_hash = "task";
    job.plan_hash = plan;
    job.options.job = key;
    job.request = {{"plan", plan}};
    return table.take(
        owner, std::move(job),
        {[this](const std::string &stage, const std::string &) { heard += stage + ";"; },
         [this](const rpc::Outcome &outcome) {
           heard += (outcome ? outcome->dump() : outcome.error().message) + ";";
         }});
  }
  void run_until(const std::function<bool()> &done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(20));
    }
    CHECK(done());
  }

  boost::asio::io_context loop;
  ManualRunner runner;
  JobTable table;
  std::string heard;
};

TEST_CASE("a quota of jobs and bytes is an owner's own, and device seconds come back at their rate") {
  using namespace std::chrono_literals;
  Quotas quotas({.jobs = 2, .bytes = 100, .device_seconds = 36});
  const auto start = Quotas::Clock::now();
  CHECK(quotas.why_not("alice", 60, start).empty());
  quotas.begin("alice", 60);
  CHECK(quotas.why_not("alice", 50, start).find("its quota is 100") != std::string::npos);
  quotas.begin("alice", 10);
  CHECK(quotas.why_not("alice", 1, start).find("alice has 2 jobs") == 0);
  CHECK(quotas.why_not("bob", 100, start).empty());
  quotas.use_device("alice", 46, start);
  quotas.end("alice", 60, start);
  quotas.end("alice", 10, start);
  // 10 s too many; 0.01 s come back in a second.
  const std::string why = quotas.why_not("alice", 1, start);
  CHECK(why.find("36 device seconds an hour") != std::string::npos);
  CHECK(why.find("Try again in 1001 s") != std::string::npos);
  CHECK(!quotas.why_not("alice", 1, start + 999s).empty());
  CHECK(quotas.why_not("alice", 1, start + 1001s).empty());
  CHECK(quotas.why_not("bob", 1, start).empty());
  quotas.begin("alice", 1);
  quotas.end("alice", 1, start + 2h);
  CHECK(quotas.owners() == 0); // nothing is left to remember
  CHECK(Quotas({}).why_not("alice", 1 << 30, start).empty());
}

TEST_CASE("a job that is sent twice runs once, and both who wait get the verdict") {
  Fixture fixture;
  const auto first = fixture.take("alice", "key");
  fixture.runner.jobs.begin()->second.on_stage("verifying", "");
  const auto second = fixture.take("alice", "key");
  REQUIRE(second.has_value());
  CHECK(first->job == second->job);
  CHECK(fixture.heard == "verifying;verifying;");
  fixture.runner.end(first->job, Json("verdict"));
  CHECK(fixture.heard == "verifying;verifying;\"verdict\";\"verdict\";");
  CHECK(fixture.runner.submitted == 1);
}

TEST_CASE("a verdict is kept until it is acknowledged") {
  Fixture fixture;
  const auto ticket = fixture.take("alice", "key");
  fixture.table.leave(*ticket, true);
  CHECK(fixture.runner.cancelled == 0);
  fixture.runner.end(ticket->job, Json("verdict"));
  CHECK(fixture.heard == "");
  CHECK(fixture.take("alice", "key").has_value());
  CHECK(fixture.heard == "\"verdict\";");
  CHECK(fixture.table.stored_bytes() > 0);
  fixture.table.received("bob", "key");
  CHECK(fixture.table.stored_bytes() > 0);
  fixture.table.received("alice", "key");
  CHECK(fixture.table.stored_bytes() == 0);
  CHECK(fixture.take("alice", "key").has_value());
  CHECK(fixture.runner.submitted == 2);
}

TEST_CASE("keys of others are others' jobs, and a key stays with its task and plan") {
  Fixture fixture;
  CHECK(fixture.take("alice", "key").has_value());
  CHECK(fixture.take("bob", "key").has_value());
  CHECK(fixture.runner.submitted == 2);
  const auto other = fixture.take("alice", "key", "another plan");
  REQUIRE(!other.has_value());
  CHECK(other.error().message.find("another task or plan") != std::string::npos);
  fixture.table.cancel("bob", "no such key");
  fixture.table.cancel("carol", "key");
  CHECK(fixture.runner.cancelled == 0);
  fixture.table.cancel("bob", "key");
  CHECK(fixture.runner.cancelled == 1);
  CHECK(fixture.table.unfinished() == 1);
}

TEST_CASE("a job without a key, or of a client that cannot come back, ends with its client") {
  Fixture fixture;
  fixture.table.leave(*fixture.take("alice", ""), true);
  fixture.table.leave(*fixture.take("alice", "key"), false);
  CHECK(fixture.runner.cancelled == 2);
  CHECK(fixture.table.unfinished() == 0);
}

TEST_CASE("a job goes on while one who waits for it is left") {
  Fixture fixture({.linger = std::chrono::milliseconds(0)});
  const auto first = fixture.take("alice", "key"), second = fixture.take("alice", "key");
  fixture.table.leave(*first, true);
  fixture.loop.poll();
  CHECK(fixture.runner.cancelled == 0);
  fixture.table.leave(*second, true);
  fixture.run_until([&] { return fixture.runner.cancelled == 1; });
  CHECK(fixture.table.unfinished() == 0);
}

TEST_CASE("one who comes back in time keeps the job alive") {
  Fixture fixture({.linger = std::chrono::milliseconds(50)});
  fixture.table.leave(*fixture.take("alice", "key"), true);
  CHECK(fixture.take("alice", "key").has_value());
  fixture.table.leave(*fixture.take("alice", "other"), true);
  fixture.run_until([&] { return fixture.runner.cancelled == 1; });
  CHECK(fixture.table.unfinished() == 1);
  CHECK(fixture.runner.jobs.begin()->second.options.job == "key");
}

TEST_CASE("verdicts that nobody fetches go, by age and by room") {
  Fixture fixture({.max_stored_bytes = 25, .linger = std::chrono::milliseconds(50)});
  for (const char *key : {"one", "two", "three"})
    fixture.runner.end(fixture.take("alice", key)->job, Json("ten bytes"));
  CHECK(fixture.table.stored_bytes() == 22);
  CHECK(fixture.take("alice", "one").has_value()); // the oldest went: it runs again
  CHECK(fixture.runner.submitted == 4);
  CHECK(fixture.take("alice", "three").has_value());
  CHECK(fixture.runner.submitted == 4);
  fixture.run_until([&] { return fixture.table.stored_bytes() == 0; });
}

TEST_CASE("the queue is bounded by jobs and by bytes, and errors are not kept") {
  Fixture fixture({.max_unfinished = 2, .max_unfinished_bytes = 60});
  CHECK(fixture.take("alice", "one").has_value());
  CHECK(fixture.take("alice", "two", std::string(30, 'x')).has_value());
  const auto full = fixture.take("alice", "three");
  REQUIRE(!full.has_value());
  CHECK(full.error().message.find("2 jobs wait or run") != std::string::npos);
  fixture.runner.end(1, std::unexpected(rpc::RpcError{rpc::kInternalError, "no device", {}}));
  CHECK(fixture.table.unfinished() == 1);
  const auto large = fixture.take("alice", "four", std::string(30, 'x'));
  REQUIRE(!large.has_value());
  CHECK(large.error().message.find("bytes") != std::string::npos);
  CHECK(fixture.take("alice", "one").has_value());
  CHECK(fixture.runner.submitted == 3);
}

} // namespace
} // namespace warpwright::runner
