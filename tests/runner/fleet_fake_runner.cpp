// A member of a fleet with one device of any name and no work: fleet_fake_runner URL DEVICE answers each
// job at once with a verdict from that device. A plan with the kernel "kill_runner" ends the process.
#include "runner/fleet/fleet_runner.h"
#include "runner/service/service.h"
#include "support/model/json.h"

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <iostream>
#include <sys/socket.h>

namespace {

using namespace warpwright;

class FakeJobs final : public runner::JobRunner {
public:
  explicit FakeJobs(const std::string &name) {
    device_.kind = "cuda";
    device_.name = name;
  }
  rpc::Json describe() const override {
    return {{"devices", {model::to_json(device_)}},
            {"names", {"cuda:0"}},
            {"notes", rpc::Json::array()}};
  }
  Result<void> submit(runner::QueuedJob job) override {
    job.on_stage("verifying", "");
    if (job.request["plan"].dump().find("\"kill_runner\"") != std::string::npos)
      raise(SIGKILL);
    model::Verdict verdict;
    verdict.outcome = model::Outcome::Verified;
    verdict.device = device_;
    verdict.task_hash = job.task_hash;
    verdict.plan_hash = job.plan_hash;
    job.done(model::to_json(verdict));
    return {};
  }
  void cancel(std::int64_t) override {}
  void stop() override {}

private:
  model::DeviceInfo device_;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "fleet_fake_runner URL DEVICE" << std::endl;
    return 2;
  }
  auto address = runner::fleet::parse_fleet_url(argv[1]);
  int ends[2];
  if (!address || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return 2;
  boost::asio::io_context loop;
  FakeJobs jobs(argv[2]);
  runner::Service service(loop.get_executor(), jobs);
  service.add_client(rpc::make_descriptor_stream(loop.get_executor(), ends[0], ends[0]),
                     {runner::Arrival::Kind::Fleet, "fleet"});
  const runner::fleet::FleetRunner member(
      loop.get_executor(), *address,
      rpc::make_descriptor_stream(loop.get_executor(), ends[1], ends[1]), [&](const Error &error) {
        std::cerr << describe(error) << std::endl;
        loop.stop();
      });
  loop.run();
  return 0;
}
