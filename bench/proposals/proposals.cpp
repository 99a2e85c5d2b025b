// How long a whole proposal of the builtin policy takes on this CPU: prompt, analysis, moves, and the states that the moves lead to.
//
//   build/release/bin/proposals_bench WEIGHTS FILE.cu... [--rounds N]
//
// For each kernel a search's worth of proposals by the code that editor and command line run, each with those before it as tried; verdicts
// without times stand for measured ones, so no runner is needed. Prints a row a kernel and one of all: the first proposal, the median and
// the 95th percentile, and how much of the median are states (parsing, legal moves), the rest being the network; then the 95th percentile
// in time of this thread, which other work on the machine does not lengthen.
#include "analysis/analyze.h"
#include "server/optimize/space_environment.h"
#include "support/hash.h"
#include "support/model/json.h"
#include "trainer/inference/matrix.h"
#include "trainer/inference/plain_network.h"
#include "trainer/policy/builtin.h"
#include "trainer/policy/proposer.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace warpwright;
using namespace warpwright::trainer;

namespace {

using Clock = std::chrono::steady_clock;

double thread_milliseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
}

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// States of a text, with the time that they took.
class TimedSpace final : public search::Space {
public:
  explicit TimedSpace(const TrainingTask &task)
      : space_({{task.path, task.text}, {}, task.kernel, {}}) {}
  Result<Moves> legal(const Moves &moves) override {
    const auto start = Clock::now();
    auto legal = space_.legal(moves);
    milliseconds += milliseconds_since(start);
    return legal;
  }
  bool is_candidate(const Moves &moves) override { return space_.is_candidate(moves); }

  double milliseconds = 0;

private:
  search::TextSpace space_;
};

struct Times {
  std::vector<double> whole, environment, of_thread;
  double first = 0;
};

double quantile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, std::size_t(share * double(values.size())))];
}

void print_row(const std::string &name, const Times &times) {
  std::printf("| %-28s | %5zu | %7.1f | %7.1f | %7.1f | %7.1f | %7.1f |\n", name.c_str(),
              times.whole.size(), times.first, quantile(times.whole, 0.5),
              quantile(times.whole, 0.95), quantile(times.environment, 0.5),
              quantile(times.of_thread, 0.95));
}

Result<Times> measure(const PlainPolicy &policy, const TrainingTask &task,
                      const model::Task &definition, int rounds) {
  Times times;
  TimedSpace space(task);
  server::SpaceEnvironment environment(space, model::to_json(definition), "", std::nullopt);
  BuiltinPolicy builtin(policy.network, policy.vocabulary, {}, 1);
  Proposer proposer(builtin, {}, 1);
  std::vector<TriedVersion> tried;
  for (int round = 0; round < rounds; ++round) {
    space.milliseconds = 0;
    const auto start = Clock::now();
    const double thread = thread_milliseconds();
    auto proposal = proposer.propose(task, tried, environment);
    const double whole = milliseconds_since(start), of_thread = thread_milliseconds() - thread;
    if (!proposal)
      return std::unexpected(proposal.error());
    if (proposal->exhausted)
      break;
    times.whole.push_back(whole);
    times.environment.push_back(space.milliseconds);
    times.of_thread.push_back(of_thread);
    model::Verdict verdict;
    verdict.outcome = model::Outcome::Verified;
    verdict.device.kind = "cpu";
    tried.push_back({proposal->moves, {}, verdict});
  }
  times.first = times.whole.empty() ? 0 : times.whole.front();
  return times;
}

TrainingTask task_of(const std::string &path, const std::string &kernel, const std::string &text) {
  TrainingTask task;
  task.path = path;
  task.text = text;
  task.kernel = kernel;
  task.id = kernel + "/" + sha256_hex(text);
  return task;
}

} // namespace

int main(int count, char **values) {
  std::vector<std::string> arguments(values + 1, values + count);
  int rounds = 16;
  if (const auto option = std::ranges::find(arguments, "--rounds");
      option != arguments.end() && option + 1 != arguments.end()) {
    rounds = std::stoi(option[1]);
    arguments.erase(option, option + 2);
  }
  if (arguments.size() < 2) {
    std::cerr << "usage: proposals_bench WEIGHTS FILE.cu... [--rounds N]\n";
    return 2;
  }
  const auto start = Clock::now();
  auto policy = load_plain_policy(arguments[0]);
  if (!policy) {
    std::cerr << describe(policy.error()) << "\n";
    return 1;
  }
  std::printf("Weights read in %.1f ms; products run on %s. Times in ms.\n\n",
              milliseconds_since(start), vector_unit());
  std::printf("| kernel | proposals | first | median | p95 | of it states | p95 of the thread |\n"
              "|---|---|---|---|---|---|---|\n");
  Times all;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    std::ifstream input(arguments[i]);
    const std::string text(std::istreambuf_iterator<char>(input), {});
    for (const analysis::Kernel &kernel :
         analysis::analyze({arguments[i], text}, {}, {.tasks = true, .rules = false}).kernels) {
      if (!kernel.task.inferred)
        continue;
      const auto times =
          measure(*policy, task_of(arguments[i], kernel.name, text), kernel.task.task, rounds);
      if (!times) {
        std::cerr << kernel.name << ": " << describe(times.error()) << "\n";
        continue;
      }
      print_row(kernel.name, *times);
      all.whole.insert(all.whole.end(), times->whole.begin(), times->whole.end());
      all.environment.insert(all.environment.end(), times->environment.begin(),
                             times->environment.end());
      all.of_thread.insert(all.of_thread.end(), times->of_thread.begin(), times->of_thread.end());
      all.first = std::max(all.first, times->first);
    }
  }
  print_row("all (first: the slowest)", all);
}
