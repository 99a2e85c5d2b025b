// The shipped cost model on the recorded verdicts: better than the search on tasks that it did not learn from, honest
// intervals, and no source of a benchmark among what it learned from. Replays are exact: nothing is measured here.
#include "trainer/ranker/choose.h"
#include "trainer/ranker/kernel_facts.h"
#include "trainer/ranker/ranker_file.h"
#include "trainer/ranker/replay_report.h"
#include "trainer/ranker/source_shape.h"

#include "support/files.h"

#include <doctest/doctest.h>
#include <filesystem>

using namespace warpwright;
using namespace warpwright::trainer;

namespace {

const std::string kRoot = WARPWRIGHT_SOURCE_DIR;

/// What all cases read once.
struct Recorded {
  RecordBook book;
  KernelFacts facts;
  std::vector<RankedTask> tasks;
};

const Recorded &recorded() {
  static const Recorded kRecorded = [] {
    auto book = RecordBook::read(kRoot + "/bench/results/trainer/records.jsonl.xz");
    REQUIRE_MESSAGE(book, (book ? "" : describe(book.error())));
    const auto later = RecordBook::read(kRoot + "/bench/results/ranker/records_2026-11-27.jsonl.xz");
    REQUIRE_MESSAGE(later, (later ? "" : describe(later.error())));
    const auto added = book->add(*later);
    REQUIRE_MESSAGE(added, (added ? "" : describe(added.error())));
    auto facts = read_kernel_facts(kRoot + "/bench/results/ranker/kernels.jsonl");
    REQUIRE_MESSAGE(facts, (facts ? "" : describe(facts.error())));
    auto tasks = ranked_tasks(*book, *facts, book->devices().front());
    REQUIRE_MESSAGE(tasks, (tasks ? "" : describe(tasks.error())));
    return Recorded{std::move(*book), std::move(*facts), std::move(*tasks)};
  }();
  return kRecorded;
}

const Ranker &shipped() {
  static const Ranker kRanker = [] {
    auto ranker = load_ranker(kRoot + "/trainer/weights/ranker.bin");
    REQUIRE_MESSAGE(ranker, (ranker ? "" : describe(ranker.error())));
    return std::move(*ranker);
  }();
  return kRanker;
}

std::vector<const RankedTask *> tasks_of(Split split) {
  std::vector<const RankedTask *> found;
  for (const RankedTask &task : recorded().tasks)
    if (task.split == split)
      found.push_back(&task);
  return found;
}

const nlohmann::json &row(const nlohmann::json &set, const std::string &policy) {
  for (const nlohmann::json &one : set.at("policies"))
    if (one.at("policy") == policy)
      return one;
  FAIL("no row " << policy);
  return set;
}

ExcludedSources excluded() {
  auto sources = read_excluded_sources(kRoot + "/trainer/weights/excluded_sources.txt");
  REQUIRE(sources);
  return *sources;
}

} // namespace

TEST_CASE("on held-out tasks the shipped ranker finds more than the search at equal measured "
          "candidates") {
  const auto held_out = tasks_of(Split::HeldOut);
  REQUIRE(held_out.size() == 227);
  const MoveTable table(tasks_of(Split::Training));
  const nlohmann::json set = replay_set(
      {recorded().tasks, shipped(), table, recorded().facts.templates, {}, {}}, held_out);
  const nlohmann::json &ranker = row(set, "ranker"), &search = row(set, "search");
  for (const char *k : {"1", "2", "4"}) {
    CAPTURE(k);
    CHECK(ranker.at("share").at(k) > search.at("share").at(k));
    CHECK(ranker.at("share").at(k) > row(set, "random order").at("share").at(k));
  }
  CHECK(ranker.at("share").at("1") > 0.88);
  CHECK(ranker.at("share").at("4") > 0.97);
  CHECK(ranker.at("first_verified") > 0.94);
  for (const nlohmann::json &ratio : set.at("ratios"))
    if (ratio.at("against") == "search")
      CHECK(ratio.at("1").at("ratio").at(1) > 1.0); // the lower end of the interval
}

TEST_CASE("intervals of the shipped ranker hold what they say on held-out tasks") {
  const nlohmann::json found = calibration(shipped(), tasks_of(Split::HeldOut));
  CHECK(found.at("inside_of_90_percent_interval") > 0.82);
  CHECK(found.at("inside_of_90_percent_interval") < 0.97);
  const nlohmann::json &quarters = found.at("quarters_by_width");
  CHECK(quarters.at(0).at("mean_error") < quarters.at(3).at("mean_error"));
}

TEST_CASE("the cost of a prediction is bounded by the sizes of the forests") {
  CHECK(shipped().order_cost() <= 300 * 6);
  CHECK(64 * shipped().order_cost() + kLookedAt * shipped().predict_cost() < 220'000);
  CHECK(std::filesystem::file_size(kRoot + "/trainer/weights/ranker.bin") < 1'500'000);
}

TEST_CASE("a ranker that is trained again on a part of the records has the same bits") {
  std::vector<const RankedTask *> some = tasks_of(Split::Training);
  some.resize(40);
  RankerTraining quick;
  quick.order.trees = quick.speedup.trees = quick.failure.trees = 10;
  const std::string first = to_file(train_ranker(some, quick));
  CHECK(first == to_file(train_ranker(some, quick)));
  quick.seed = 2;
  CHECK(first != to_file(train_ranker(some, quick)));
}

TEST_CASE("every feature of the shipped weights is one that this program makes") {
  std::set<std::string> made;
  for (const RankedTask &task : recorded().tasks) {
    for (const auto &[name, value] : task.facts.numbers)
      made.insert(name);
    for (const RecordedCandidate &candidate : task.candidates) {
      const CompileFacts compiled = compile_facts(candidate.measured);
      for (const auto &[name, value] : candidate_numbers(task.facts, candidate.moves, &compiled))
        made.insert(name);
    }
  }
  for (const std::string &name : shipped().weights().features)
    CHECK_MESSAGE(made.contains(name), name);
}

TEST_CASE("no source of a benchmark that judges the result is among the records") {
  const ExcludedSources sources = excluded();
  for (const auto &[id, task] : recorded().book.tasks()) {
    const bool torch = task.language == kTorchLanguage;
    const std::string source = torch ? task.definition.at("module").at("source")
                                     : task.definition.at("reference").at("source");
    const auto found = sources.find(source_shape(source, torch));
    CHECK_MESSAGE(found == sources.end(),
                  id << " is " << (found == sources.end() ? "" : found->second));
  }
}

TEST_CASE(
    "the list of benchmarks has KernelBench, bench/real and the held-out half of bench/modules") {
  std::map<std::string, std::size_t> counts;
  const ExcludedSources sources = excluded();
  for (const auto &[shape, path] : sources)
    ++counts[path.substr(0, path.find('/'))];
  CHECK(counts["KernelBench"] == 244); // its 270 modules, of which some have one shape
  const auto listed = [&](const std::string &path) {
    const auto text = read_file(path);
    REQUIRE(text);
    return sources.contains(source_shape(*text, true));
  };
  std::size_t modules = 0, real = 0;
  namespace fs = std::filesystem;
  for (const auto &entry : fs::recursive_directory_iterator(kRoot + "/bench/modules"))
    if (entry.path().extension() == ".py" &&
        std::string("02468").contains(entry.path().filename().string()[1])) {
      CHECK_MESSAGE(listed(entry.path()), entry.path());
      ++modules;
    }
  for (const auto &entry : fs::recursive_directory_iterator(kRoot + "/bench/real"))
    if (entry.path().extension() == ".py" &&
        entry.path().parent_path().filename().string().starts_with("level")) {
      CHECK_MESSAGE(listed(entry.path()), entry.path());
      ++real;
    }
  CHECK(modules == 40);
  CHECK(real >= 48);
}

TEST_CASE(
    "a replay of the search takes templates first, then one choice of each move, then the rest") {
  RankedTask task;
  const auto add = [&](const Moves &moves, const std::string &text, double score, Moves legal) {
    task.states[moves] = {moves, text, std::move(legal)};
    if (!moves.empty())
      task.candidates.push_back({moves, text, {}, score, std::log(score)});
  };
  add({}, "0", 1, {"gemm(a=1)", "gemm(a=2)", "unroll(f=2)", "unroll(f=4)", "vectorize(w=2)"});
  add({"gemm(a=1)"}, "1", 3, {});
  add({"gemm(a=2)"}, "2", 2, {});
  add({"unroll(f=2)"}, "3", 1.1, {});
  add({"unroll(f=4)"}, "4", 1.2, {});
  add({"vectorize(w=2)"}, "5", 4, {"unroll(f=2)"});
  add({"vectorize(w=2)", "unroll(f=2)"}, "6", 5, {});
  CHECK(search_order(task, {"gemm"}) == Order{0, 1, 2, 4, 5, 3});
  task.best = 5;
  CHECK(best_logs(task, {0, 1, 2, 4})[0] == doctest::Approx(std::log(3)));
  CHECK(best_logs(task, {0, 1, 2, 4})[2] == doctest::Approx(std::log(4)));
  // Of random orders: the mean over all first candidates.
  CHECK(random_best_logs(task)[0] == doctest::Approx((std::log(3) + std::log(2) + std::log(1.1) +
                                                      std::log(1.2) + std::log(4) + std::log(5)) /
                                                     6));
}
