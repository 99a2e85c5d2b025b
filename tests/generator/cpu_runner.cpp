// Connection to the runner, and verification; see cpu_runner.h.
#include "tests/generator/cpu_runner.h"

#include "support/model/json.h"
#include "tests/generator/check_move.h"

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

void check_moves_on_cpu(runner::BlockingClient &client, const std::string &marked, const MoveLists &lists) {
  source::State state = state_of(marked);
  const auto facts = analysis::analyze(state.file);
  REQUIRE(facts.kernels.size() == 1);
  const auto &task = facts.kernels[0].task;
  REQUIRE_MESSAGE(task.inferred, (task.missing.empty() ? "" : task.missing.front().question));
  state.arguments = states::argument_values(task.task);
  for (const std::vector<std::string> &moves : lists) {
    source::State changed = state;
    for (const std::string &move : moves) {
      auto next = states::apply_move(changed, *source::move_from_string(move));
      REQUIRE_MESSAGE(next, move, ": ", (next ? "" : describe(next.error())));
      changed = *next;
    }
    CAPTURE(changed.file.text);
    CHECK(parse_errors(changed) == "");
    check_verified(client, task.task, changed);
  }
}

} // namespace warpwright::test
