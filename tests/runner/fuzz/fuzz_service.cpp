// The service with a fake in the devices' place: any messages, before and after authentication, from
// a client that comes back once with the same keys.
//
// An input is a byte of choices and then messages, one a line, which are framed here, or bytes that
// are not. Must hold: nothing runs and nothing is told before authentication; every job that was
// taken ends when its clients are gone.
#include "runner/service/service.h"
#include "support/log.h"
#include "tests/runner/fuzz/fuzz_target.h"
#include "tests/runner/fuzz/memory_stream.h"

namespace warpwright::fuzz {
namespace {

using rpc::Json;

constexpr std::size_t kMaxStoredBytes = 100;
constexpr const char *kToken = "00112233445566778899aabbccddeeff";

/// Answers jobs at once, a turn of the loop later, or only when they are cancelled, in turn.
class FakeRunner final : public runner::JobRunner {
public:
  Json describe() const override {
    return {{"devices", Json::array()}, {"names", Json::array()}, {"notes", Json::array()}};
  }
  Result<void> submit(runner::QueuedJob job) override {
    ++submitted;
    if (job.options.device == "none")
      return fail("no such device");
    job.on_stage("queued", "");
    const std::int64_t id = job.id;
    jobs_[id] = std::move(job);
    if (submitted % 3 == 0)
      finish(id, Json{{"outcome", "verified"}});
    else if (submitted % 3 == 1)
      boost::asio::post(loop(), [this, id] { finish(id, Json{{"outcome", "wrong_result"}}); });
    return {};
  }
  void cancel(std::int64_t id) override {
    finish(id, std::unexpected(rpc::RpcError{rpc::kRequestCancelled, "cancelled", {}}));
  }
  void stop() override {}

  int submitted = 0;

private:
  void finish(std::int64_t id, rpc::Outcome outcome) {
    auto job = jobs_.extract(id);
    if (!job.empty())
      job.mapped().done(std::move(outcome));
  }

  std::map<std::int64_t, runner::QueuedJob> jobs_;
};

std::string frame(const std::string &body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string framed_lines(const std::string &text) {
  std::string frames;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    frames += frame(text.substr(start, end - start));
    start = end + 1;
  }
  return frames;
}

/// @param known whether kToken is one of them; the other is in no input
runner::net::TokenList tokens(bool known) {
  auto list = runner::net::TokenList::parse(
      known ? std::string("alice ") + kToken : "nobody 7b1f0a9c55e3d2468f90ab12cd34ef56", "tokens");
  require(list.has_value(), "the token list is read");
  return *list;
}

runner::ServiceLimits limits() {
  runner::ServiceLimits limits;
  limits.jobs = {.max_unfinished = 4,
                 .max_unfinished_bytes = 1 << 16,
                 .max_stored_bytes = kMaxStoredBytes,
                 .linger = std::chrono::milliseconds(0)};
  limits.max_message_bytes = 1 << 16;
  limits.max_jobs_of_client = 3;
  limits.refusal_delay = std::chrono::milliseconds(0);
  return limits;
}

struct Choices {
  bool knows_token, is_framed, comes_back;
  std::size_t block_bytes;
};

void serve(const Choices &choices, const std::string &input) {
  FakeRunner jobs;
  std::string output;
  {
    runner::Service service(loop().get_executor(), jobs, limits(), tokens(choices.knows_token));
    const Json hello = {{"jsonrpc", "2.0"},
                        {"id", "hello"},
                        {"method", "authenticate"},
                        {"params", runner::net::authentication(kToken)}};
    const std::string bytes = (choices.knows_token ? frame(hello.dump()) : "") +
                              (choices.is_framed ? framed_lines(input) : input);
    for (int visit = 0; visit < (choices.comes_back ? 2 : 1); ++visit) {
      service.add_client(std::make_unique<MemoryStream>(bytes, choices.block_bytes, output),
                         {runner::Arrival::Kind::Remote, "fuzz"});
      run_loop();
    }
    require(service.clients() == 0, "clients that are gone are not counted");
    require(service.jobs().unfinished() == 0, "jobs end when their clients are gone for good");
    require(service.jobs().stored_bytes() <= kMaxStoredBytes, "stored verdicts are bounded");
  }
  run_loop(); // what the service cancelled
  if (!choices.knows_token) {
    require(jobs.submitted == 0, "nothing runs before authentication");
    require(output.find("\"devices\"") == std::string::npos,
            "nothing is told before authentication");
  }
}

} // namespace
} // namespace warpwright::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace warpwright;
  static const bool quiet = [] {
    log::configure(log::Format::Text, log::Level::Error);
    return true;
  }();
  if (size < 2 || !quiet)
    return 0;
  fuzz::serve({.knows_token = (data[0] & 1) != 0,
               .is_framed = (data[0] & 2) != 0,
               .comes_back = (data[0] & 4) != 0,
               .block_bytes = data[0] & 8 ? 7 + size / 64 : std::size_t{1} << 16},
              std::string(reinterpret_cast<const char *>(data) + 1, size - 1));
  return 0;
}
