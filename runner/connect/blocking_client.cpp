// Blocking client with its own event loop and thread. This thread also starts the runner's process,
// because a child dies with the thread that started it (PR_SET_PDEATHSIG).
#include "runner/connect/connect.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>

namespace warpwright::runner {
namespace {

constexpr std::chrono::seconds kFarewellLimit{2};

class ThreadedClient final : public BlockingClient {
public:
  ThreadedClient() : work_(loop_.get_executor()), thread_([this] { run(); }) {}
  ~ThreadedClient() override {
    boost::asio::post(loop_, [this] {
      client_.reset();
      work_.reset();
      loop_.stop();
    });
    thread_.join();
  }

  Result<void> open(const std::string &url) {
    return on_loop<void>([&](auto done) {
      auto connected = runner::connect(url, loop_.get_executor());
      if (!connected)
        return done(std::unexpected(connected.error()));
      client_ = std::move(*connected);
      client_->open(done);
    });
  }

  Result<RunnerInfo> info() override {
    return on_loop<RunnerInfo>([&](auto done) { client_->info(done); });
  }

  Result<std::vector<DeviceIsolation>> isolation() override {
    return on_loop<std::vector<DeviceIsolation>>([&](auto done) { client_->isolation(done); });
  }

  Result<model::Verdict> verify(const model::Task &task, const model::Plan &plan,
                                const VerifyOptions &options, std::stop_token stop,
                                Client::StageCallback on_stage) override {
    std::int64_t id = 0;
    const std::stop_callback cancel(
        stop, [this, &id] { boost::asio::post(loop_, [this, &id] { client_->cancel(id); }); });
    auto verdict = on_loop<model::Verdict>([&](auto done) {
      if (stop.stop_requested())
        return done(fail("the job was cancelled"));
      id = client_->verify(task, plan, options, on_stage, done);
    });
    // A cancel posted meanwhile holds a reference to `id`, so wait until it has run.
    std::promise<void> passed;
    boost::asio::post(loop_, [&] { passed.set_value(); });
    passed.get_future().wait();
    return verdict;
  }

  Result<std::vector<Result<TracedModule>>>
  trace(const std::vector<model::TorchModule> &modules) override {
    return on_loop<std::vector<Result<TracedModule>>>(
        [&](auto done) { client_->trace(modules, done); });
  }

private:
  void run() {
    loop_.run();
    loop_.restart();
    loop_.run_for(kFarewellLimit); // for messages that the client's destructor still sends
  }

  /// Runs `start(done)` on the loop and waits until done(result) is called.
  template <class T, class Start>
  Result<T> on_loop(Start start) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    // `start` is copied, because an immediate answer ends this function while `start` still runs.
    boost::asio::post(loop_, [start, promise] {
      start([promise](Result<T> result) { promise->set_value(std::move(result)); });
    });
    return future.get();
  }

  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::shared_ptr<Client> client_;
  std::thread thread_;
};

} // namespace

Result<std::unique_ptr<BlockingClient>> BlockingClient::connect(const std::string &url) {
  auto client = std::make_unique<ThreadedClient>();
  TRY(client->open(url));
  return client;
}

Result<TracedModule> BlockingClient::trace(const model::TorchModule &module) {
  auto traces = trace(std::vector{module});
  if (!traces)
    return std::unexpected(traces.error());
  return std::move(traces->front());
}

} // namespace warpwright::runner
