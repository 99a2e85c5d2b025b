// The jobs that the fleet's tests send to fake workers and fake devices.
#pragma once

#include "runner/connect/connect.h"
#include "tests/runner/tasks.h"

namespace warpwright::runner::testing {

/// What fake_device.h computes quickly.
inline Task small_task() {
  Task task = square_task(64);
  task.reference = plan_of("reference", "square", {"x", "y"});
  return task;
}

inline Plan plan_with(const std::string &kernel) {
  return plan_of("candidate", kernel, {"x", "y"});
}

/// Mostly right, sometimes wrong, seldom a crash of the worker. No two are the same plan.
inline Plan numbered_plan(int number) {
  Plan plan = plan_with(number % 50 == 13 ? "crash" : number % 10 == 7 ? "skip_last" : "square");
  plan.source = "candidate " + std::to_string(number);
  return plan;
}

inline VerifyOptions on_cpu() {
  VerifyOptions options;
  options.device = "cpu";
  options.timeout = std::chrono::minutes(2);
  options.measure = false;
  return options;
}

} // namespace warpwright::runner::testing
