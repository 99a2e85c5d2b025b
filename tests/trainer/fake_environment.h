// A task of three moves in memory, each legal until it was made: scores multiply, and "break()" breaks.
#pragma once

#include "trainer/environment/environment.h"

#include <algorithm>

namespace warpwright::trainer::testing {

class FakeEnvironment final : public Environment {
public:
  std::string_view name() const override { return "recorded"; }
  Result<TaskView> open(const TrainingTask &task) override {
    return TaskView{
        task.id,
        task.family,
        {{"sizes", {{"n", 4096}}},
         {"buffers",
          {{{"direction", "in"}, {"dtype", "float32"}, {"extent", "n"}},
           {{"direction", "out"}, {"dtype", "float32"}, {"extent", "n"}}}},
         {"work", {{"bytes", "n * 8"}}},
         {"reference",
          {{"source", "__global__ void copy(const float *x, float *y, int n) {}"},
           {"steps",
            {{{"launch", {{"grid", {"n / 256", "1", "1"}}, {"block", {"256", "1", "1"}}}}}}}}}},
        score({})};
  }
  Result<StateRecord> state(const TrainingTask &, const Moves &moves) override {
    ++states_asked;
    Moves sorted = moves;
    std::ranges::sort(sorted);
    StateRecord state{moves, "", {}};
    for (const std::string &move : sorted)
      state.text_hash += move;
    for (const char *move : {"wide(n=2)", "wide(n=4)", "unroll(n=2)", "break()"})
      if (std::ranges::find(moves, move) == moves.end())
        state.legal.push_back(move);
    return state;
  }
  bool can_measure(const TrainingTask &, const Moves &) override { return true; }
  Result<Measured> measure(const TrainingTask &, const Moves &moves, std::stop_token) override {
    ++measured;
    return score(moves);
  }
  Result<Measured> confirm(const TrainingTask &task, const Moves &moves,
                           std::stop_token stop) override {
    ++confirmed;
    auto again = measure(task, moves, stop);
    again->confirmed = true;
    return again;
  }
  Result<Measured> measure_plan(const TrainingTask &, const model::Plan &,
                                std::stop_token) override {
    return fail("no plans here");
  }
  std::optional<model::DeviceInfo> device() override { return std::nullopt; }

  static Measured score(const Moves &moves) {
    Measured measured;
    measured.outcome = model::Outcome::Verified;
    double ratio = 1;
    for (const std::string &move : moves) {
      ratio *= move == "wide(n=4)"     ? 2
               : move == "wide(n=2)"   ? 1.5
               : move == "unroll(n=2)" ? 0.9
                                       : 1;
      if (move == "break()")
        measured.outcome = model::Outcome::WrongResult;
    }
    if (measured.outcome == model::Outcome::Verified)
      measured.speedup = MeasuredRatio{ratio, ratio * 0.99, ratio * 1.01, 30};
    measured.reference_bound = model::Bound::Memory;
    return measured;
  }

  int states_asked = 0, measured = 0, confirmed = 0;
};

} // namespace warpwright::trainer::testing
