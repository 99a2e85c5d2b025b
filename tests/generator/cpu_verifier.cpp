// Connection to the runner of this build, and verdicts as checks; see cpu_verifier.h.
#include "tests/generator/cpu_verifier.h"

#include "support/model/json.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <iostream>

namespace warpwright::test {

std::unique_ptr<runner::BlockingClient> connect_or_skip() {
  const std::string runner = WARPWRIGHT_BINARY_DIR "/warpwright-runner";
  if (!std::filesystem::exists(runner) ||
      !std::filesystem::exists(WARPWRIGHT_BINARY_DIR "/warpwright-worker-cpu")) {
    std::cout << "runner or CPU worker is not built: all cases skipped\n";
    return nullptr;
  }
  auto client = runner::BlockingClient::connect("stdio:" + runner + " serve");
  REQUIRE_MESSAGE(client, (client ? "" : describe(client.error())));
  return std::move(*client);
}

void check_verified(runner::BlockingClient &client, const model::Task &task, const source::State &state) {
  auto plan = states::render_plan(state, task);
  REQUIRE_MESSAGE(plan, moves_text(state), ": ", (plan ? "" : describe(plan.error())));
  runner::VerifyOptions options;
  options.device = "cpu";
  options.measure = false;
  auto verdict = client.verify(task, *plan, options, {});
  REQUIRE_MESSAGE(verdict, (verdict ? "" : describe(verdict.error())));
  CHECK_MESSAGE(verdict->outcome == model::Outcome::Verified, moves_text(state), ": ",
                verdict->message);
}

} // namespace warpwright::test
