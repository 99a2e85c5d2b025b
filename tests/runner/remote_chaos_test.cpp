// Two hundred jobs of four clients while lines are cut again and again and the service is killed
// amid them: none is lost, none is answered twice.
#include "tests/runner/remote_fixture.h"

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <map>

namespace warpwright::runner {
namespace {

using namespace testing;

constexpr int kClients = 4, kJobsOfClient = 50, kJobs = kClients * kJobsOfClient;

TEST_CASE("no job is lost and none is answered twice while lines and the service break") {
  const TemporaryFolder folder;
  auto service = std::make_unique<RunningService>(folder.path);
  const std::string address = service->address();
  Relay relay(address);
  boost::asio::io_context loop;
  std::vector<std::shared_ptr<Client>> clients;
  std::map<int, int> answers;
  int answered = 0, verified = 0, cuts = 0, kills = 0;
  for (int i = 0; i < kClients; ++i) {
    auto client = connect(url_of(relay.address(), folder.path), loop.get_executor());
    REQUIRE(client.has_value());
    clients.push_back(std::move(*client));
    for (int j = 0; j < kJobsOfClient; ++j)
      clients.back()->verify(
          fake_task(), fake_plan("square"), fake_options(), {},
          [&, job = i * kJobsOfClient + j](const Result<model::Verdict> &verdict) {
            ++answers[job];
            ++answered;
            verified += verdict && verdict->outcome == model::Outcome::Verified;
          });
  }
  const auto deadline = std::chrono::steady_clock::now() + 4 * kPatience;
  while (answered < kJobs && std::chrono::steady_clock::now() < deadline) {
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds(100));
    if (answered / 8 > cuts) {
      relay.cut(/*stays_down=*/false);
      ++cuts;
    }
    if (answered / 70 > kills) {
      service->kill(SIGKILL);
      service.reset();
      service = std::make_unique<RunningService>(folder.path, std::vector<std::string>{}, address);
      ++kills;
    }
  }
  CHECK(verified == kJobs);
  CHECK(answers.size() == kJobs);
  CHECK(answered == kJobs);
  CHECK(cuts >= 15);
  CHECK(kills >= 2);
  clients.clear();
  loop.restart();
  loop.run_for(std::chrono::seconds(2));
}

} // namespace
} // namespace warpwright::runner
