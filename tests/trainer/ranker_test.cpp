// The learned cost model in parts: trees, losses, the weights file, the choice of candidates, own records.
#include "trainer/ranker/boosting.h"
#include "trainer/ranker/candidate_pool.h"
#include "trainer/ranker/own_records.h"
#include "trainer/ranker/ranker_file.h"
#include "trainer/ranker/source_shape.h"

#include "tests/trainer/simple_ranker.h"
#include "tests/trainer/temporary_folder.h"

#include <cmath>
#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::trainer;
using trainer::testing::simple_weights;

namespace {

double unit(std::mt19937_64 &random) { return double(random() >> 11) * 0x1p-53; }

/// Rows of three numbers, of which the third says nothing and is often absent.
Matrix32 drawn_rows(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Matrix32 rows{.columns = 3, .values = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const float row[] = {float(unit(random)), float(unit(random)),
                         unit(random) < 0.3 ? kAbsent : float(unit(random))};
    rows.add(row);
  }
  return rows;
}

double step_and_slope(std::span<const float> row) {
  return (row[0] > 0.4F ? 2 : 0) + double(row[1]);
}

std::vector<float> targets_of(const Matrix32 &rows, double (*function)(std::span<const float>)) {
  std::vector<float> targets;
  for (std::size_t i = 0; i < rows.rows(); ++i)
    targets.push_back(float(function(rows.row(i))));
  return targets;
}

Forest fitted(std::uint64_t seed) {
  const Matrix32 rows = drawn_rows(600, 1);
  const auto targets = targets_of(rows, step_and_slope);
  return boost(rows, huber_loss(targets, std::vector<float>(600, 1), 0.5),
               {.trees = 200, .depth = 4, .column_share = 0.7, .seed = seed});
}

model::Verdict verified(double ratio) {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Verified;
  verdict.speedup = model::Speedup{ratio, ratio * 0.99, ratio * 1.01, 30, "GPU"};
  return verdict;
}

} // namespace

TEST_CASE("boosted trees fit a function on rows that they did not see") {
  const Forest forest = fitted(1);
  const Matrix32 unseen = drawn_rows(300, 2);
  double square = 0;
  for (std::size_t i = 0; i < unseen.rows(); ++i)
    square += std::pow(double(forest.value(unseen.row(i))) - step_and_slope(unseen.row(i)), 2);
  CHECK(std::sqrt(square / 300) < 0.2);
  CHECK(forest.trees() == 200);
  CHECK(forest.depth() <= 4);
}

TEST_CASE("training again gives the same bits, and another seed gives others") {
  CHECK(fitted(1) == fitted(1));
  CHECK_FALSE(fitted(1) == fitted(2));
}

TEST_CASE("an absent feature is a value of its own") {
  const Matrix32 rows = drawn_rows(600, 3);
  const auto targets =
      targets_of(rows, [](std::span<const float> row) { return std::isnan(row[2]) ? 1.0 : 0.0; });
  const Forest forest =
      boost(rows, huber_loss(targets, std::vector<float>(600, 1), 0.5), {.trees = 100, .depth = 2});
  CHECK(forest.value(std::vector<float>{0.5F, 0.5F, kAbsent}) == doctest::Approx(1).epsilon(0.1));
  CHECK(std::abs(forest.value(std::vector<float>{0.5F, 0.5F, 0.0F})) < 0.1);
}

TEST_CASE("the pairwise loss orders the rows of a group, whatever the groups' levels") {
  Matrix32 rows = drawn_rows(400, 4);
  std::vector<float> targets;
  std::vector<RowGroup> groups;
  for (std::size_t group = 0; group < 40; ++group) {
    groups.push_back({group * 10, group * 10 + 10, 1});
    for (std::size_t i = 0; i < 10; ++i)
      targets.push_back(rows.row(group * 10 + i)[0] + 100 * float(group % 7));
  }
  const Forest forest = boost(rows, pairwise_loss(targets, groups, 0.015), {.trees = 100});
  int right = 0, pairs = 0;
  const Matrix32 unseen = drawn_rows(40, 5);
  for (std::size_t a = 0; a < 40; ++a)
    for (std::size_t b = 0; b < 40; ++b)
      if (unseen.row(a)[0] > unseen.row(b)[0] + 0.05F) {
        ++pairs;
        right += forest.value(unseen.row(a)) > forest.value(unseen.row(b));
      }
  CHECK(right > pairs * 9 / 10);
}

TEST_CASE("weights are the same after they were saved and loaded") {
  const testing::TemporaryFolder folder;
  const RankerWeights weights = simple_weights();
  REQUIRE(save_ranker(weights, folder.path / "ranker.bin"));
  const auto loaded = load_ranker(folder.path / "ranker.bin");
  REQUIRE_MESSAGE(loaded, (loaded ? "" : describe(loaded.error())));
  CHECK(loaded->weights() == weights);
  const Ranker ranker(weights);
  for (const Moves &moves :
       {Moves{}, Moves{"vectorize(width=4)"}, Moves{"unroll(factor=2)", "vectorize(width=2)"}}) {
    const Prediction one = ranker.predict(ranker.rows({}), moves),
                     other = loaded->predict(loaded->rows({}), moves);
    CHECK(one.order == other.order);
    CHECK(one.log_speedup == other.log_speedup);
    CHECK(one.half_width == other.half_width);
    CHECK(one.verifies == other.verifies);
  }
}

TEST_CASE("a damaged, torn or foreign file of weights is refused with a reason") {
  const std::string bytes = to_file(simple_weights());
  REQUIRE(ranker_from_file(bytes));
  const auto refused = [](const std::string &file) {
    const auto weights = ranker_from_file(file);
    REQUIRE_FALSE(weights);
    CHECK_FALSE(weights.error().remedy.empty());
    return weights.error().message;
  };
  for (std::size_t length = 0; length < bytes.size(); length += 7)
    refused(bytes.substr(0, length));
  for (std::size_t place = 20; place < bytes.size(); place += 5) {
    std::string damaged = bytes;
    damaged[place] = char(damaged[place] ^ 1);
    refused(damaged);
  }
  CHECK(refused(bytes + "x").find("damaged") != std::string::npos);
  CHECK(refused("PK\3\4").find("holds no ranker") != std::string::npos);
  CHECK(refused("warpwright-ranker 999 ").find("another version") != std::string::npos);
  CHECK(load_ranker("/no/such/ranker.bin").error().message.find("/no/such/ranker.bin") !=
        std::string::npos);
}

TEST_CASE("a forest whose indices lead outside, back or twice to a node is refused") {
  const TreeNode leaf{1, TreeNode::kLeaf, 0};
  const auto is_tree = [](std::vector<TreeNode> nodes) {
    return bool(Forest::checked(std::move(nodes), {0}, 2));
  };
  CHECK(is_tree({{0.5F, 1, 1}, leaf, leaf}));
  CHECK_FALSE(is_tree({{0.5F, 2, 1}, leaf, leaf}));         // no such feature
  CHECK_FALSE(is_tree({{0.5F, 1, 2}, leaf, leaf}));         // a child outside
  CHECK_FALSE(is_tree({{0.5F, 1, 0}, leaf, leaf}));         // a circle
  CHECK_FALSE(is_tree({{0.5F, 1, 1}, {0.5F, 0, 1}, leaf})); // a child of two
  CHECK_FALSE(is_tree({leaf, leaf}));                       // a node that nothing reaches
  CHECK_FALSE(is_tree({{std::numeric_limits<float>::infinity(), TreeNode::kLeaf, 0}}));
  CHECK_FALSE(Forest::checked({leaf}, {1}, 2));
  CHECK_FALSE(Forest::checked({leaf}, {}, 2));
}

TEST_CASE("a prediction says what is expected, and how little is known of a new pair of moves") {
  const Ranker ranker(simple_weights());
  const Ranker::Rows rows = ranker.rows({});
  const Prediction wide = ranker.predict(rows, {"vectorize(width=4)"});
  CHECK(wide.log_speedup == doctest::Approx(1));
  CHECK(wide.supported);
  CHECK(wide.verifies == doctest::Approx(1 / (1 + std::exp(-3))));
  CHECK(ranker.predict(rows, {"unroll(factor=4)"}).log_speedup == doctest::Approx(-1));
  const Prediction unknown = ranker.predict(rows, {"vectorize(width=4)", "levitate()"});
  CHECK_FALSE(unknown.supported);
  CHECK(unknown.half_width == doctest::Approx(wide.half_width + 0.3));
  TaskFacts elsewhere;
  elsewhere.device = "another GPU";
  CHECK_FALSE(ranker.predict(ranker.rows(elsewhere), {"vectorize(width=4)"}).supported);
  Correction own;
  own.moves = {{"vectorize", -0.25}};
  CHECK(ranker.predict(rows, {"vectorize(width=4)"}, nullptr, &own).log_speedup ==
        doctest::Approx(0.75));
}

TEST_CASE("the next candidate is the one with the largest expected improvement") {
  CHECK(expected_improvement(1, 0, 0.4) == doctest::Approx(0.6));
  CHECK(expected_improvement(0, 0, 0.4) == 0);
  CHECK(expected_improvement(0.3, 0.5, 0.4) > expected_improvement(0.3, 0.1, 0.4));
  CHECK(
      alike({"coarsen(factor=2)", "unroll(factor=4)"}, {"coarsen(factor=4)", "unroll(factor=4)"}));
  CHECK_FALSE(
      alike({"coarsen(factor=2)", "unroll(factor=2)"}, {"coarsen(factor=4)", "unroll(factor=4)"}));
  CHECK_FALSE(alike({"coarsen(factor=2)"}, {"unroll(factor=2)"}));

  const Moves a{"coarsen(factor=2)"}, b{"coarsen(factor=4)"}, c{"vectorize(width=2)"};
  const Scored pool[] = {{&a, {.log_speedup = 0.5, .half_width = 0.1}},
                         {&b, {.log_speedup = 0.49, .half_width = 0.1}},
                         {&c, {.log_speedup = 0.4, .half_width = 0.1}}};
  CHECK(*choose(pool, 0, {}) == 0);
  // A candidate like one that is in work counts half.
  CHECK(*choose(std::span(pool).subspan(1), 0, std::span(pool).first(1)) == 1);
  Scored doubtful[] = {pool[0], pool[2]};
  doubtful[0].prediction.verifies = 0.1;
  CHECK(*choose(doubtful, 0, {}) == 1);
  CHECK_FALSE(choose({}, 0, {}));
}

TEST_CASE("one in four candidates may be of a kind that no record has") {
  const Moves a{"a()"}, b{"b()"};
  std::vector<Scored> taken;
  const Scored pool[] = {{&a, {.log_speedup = 2, .half_width = 0.5, .supported = false}},
                         {&b, {.log_speedup = 0.1, .half_width = 0.1}}};
  std::string order;
  for (int i = 0; i < 8; ++i) {
    const std::size_t next = *choose(pool, 0, taken);
    order += next == 0 ? 'u' : 's';
    taken.push_back(pool[next]);
    taken.back().moves = nullptr;
    static const Moves kOther;
    taken.back().moves = &kOther; // like none
  }
  CHECK(order == "sssusssu");
  CHECK(*choose(std::span(pool).first(1), 0, {}) == 0); // better than nothing
}

namespace {

/// A space of three moves, each of which may come once.
Result<Moves> three_moves(const Moves &moves) {
  Moves legal;
  for (const char *move : {"unroll(factor=2)", "vectorize(width=2)", "vectorize(width=4)"})
    if (std::ranges::none_of(moves, [&](const std::string &made) {
          return parsed_move(made).name == parsed_move(move).name;
        }))
      legal.push_back(move);
  return legal;
}

std::vector<Moves> all_of(CandidatePool &pool,
                          const std::function<std::optional<double>(const Moves &)> &verdict) {
  std::vector<Moves> found;
  std::vector<CandidatePool::Tried> tried;
  while (auto moves = pool.next(tried)) {
    found.push_back(*moves);
    tried.push_back({*moves, verdict(*moves)});
  }
  return found;
}

} // namespace

TEST_CASE("the pool hands out each list once, the best first") {
  const Ranker ranker(simple_weights());
  CandidatePool pool(ranker, {}, {}, three_moves);
  const auto found = all_of(pool, [](const Moves &) { return 0.0; });
  REQUIRE(found.size() == 5); // three single moves, and two pairs
  CHECK(found[0] == Moves{"vectorize(width=4)"});
  std::set<std::set<std::string>> distinct;
  for (const Moves &moves : found)
    distinct.emplace(moves.begin(), moves.end());
  CHECK(distinct.size() == 5);
}

TEST_CASE(
    "the pool drops lists that contain a failed one, and begins with what is known to be fast") {
  const Ranker ranker(simple_weights());
  CandidatePool pool(ranker, {}, {}, three_moves);
  const auto found = all_of(pool, [](const Moves &moves) {
    return moves == Moves{"vectorize(width=4)"} ? std::nullopt : std::optional(0.0);
  });
  CHECK(found.size() == 4);

  CandidatePool informed(ranker, {}, {}, three_moves,
                         {{{"unroll(factor=2)"}, 2.0}, {{"vectorize(width=4)"}, std::nullopt}});
  const auto known = all_of(informed, [](const Moves &) { return 0.0; });
  CHECK(known.front() == Moves{"unroll(factor=2)"});
  CHECK(known.size() == 5);
  CHECK(known.back() == Moves{"vectorize(width=4)"});
}

TEST_CASE("a move that no record has is tried although the order puts many candidates before it") {
  const Ranker ranker(simple_weights());
  CandidatePool pool(ranker, {}, {}, [](const Moves &moves) -> Result<Moves> {
    if (!moves.empty())
      return Moves{};
    Moves legal{"another_move()"};
    for (int width = 4; width < 40; ++width)
      legal.push_back("vectorize(width=" + std::to_string(width) + ")");
    return legal;
  });
  const auto found = all_of(pool, [](const Moves &) { return 0.0; });
  const auto place = std::ranges::find(found, Moves{"another_move()"});
  CHECK(place - found.begin() < 8);
}

TEST_CASE("own verdicts move the ranker where they help on kernels that they do not have") {
  const Ranker ranker(simple_weights());
  const Ranker::Rows rows = ranker.rows({});
  const std::vector<std::pair<Moves, double>> found{// here unroll is what helps
                                                    {{"unroll(factor=2)"}, 2.0},
                                                    {{"vectorize(width=4)"}, 0.8},
                                                    {{"vectorize(width=2)"}, 0.7}};
  std::vector<OwnRecord> records;
  for (int task = 0; task < 18; ++task)
    for (const auto &[moves, ratio] : found)
      records.push_back(*own_record(ranker, rows, "source" + std::to_string(task % 6),
                                    "task" + std::to_string(task), moves, verified(ratio)));
  const Learned learned = learn(records);
  CHECK(learned.sources == 6);
  CHECK(learned.pairs_after > learned.pairs_before);
  REQUIRE_FALSE(learned.correction.empty());
  CHECK(ranker.predict(rows, {"unroll(factor=2)"}, nullptr, &learned.correction).log_speedup >
        ranker.predict(rows, {"vectorize(width=4)"}, nullptr, &learned.correction).log_speedup);
}

TEST_CASE("own verdicts that say nothing new, or are few, change nothing") {
  const Ranker ranker(simple_weights());
  const Ranker::Rows rows = ranker.rows({});
  std::vector<OwnRecord> records;
  for (int source = 0; source < 6; ++source)
    for (const auto &[moves, ratio] :
         {std::pair(Moves{"unroll(factor=2)"}, 0.5), std::pair(Moves{"vectorize(width=4)"}, 2.7)})
      records.push_back(*own_record(ranker, rows, "source" + std::to_string(source),
                                    "task" + std::to_string(source), moves, verified(ratio)));
  CHECK(learn(records).correction.empty());
  CHECK(learn(records).why.find("not order") != std::string::npos);
  records.resize(4);
  CHECK(learn(records).why.find("too few") != std::string::npos);
  model::Verdict untimed;
  untimed.outcome = model::Outcome::Verified;
  CHECK_FALSE(own_record(ranker, rows, "s", "t", {"unroll(factor=2)"}, untimed));
  CHECK_FALSE(own_record(ranker, rows, "s", "t", {}, verified(2)));
}

TEST_CASE("200 verdicts of ten sources teach trees what moves alone do not say") {
  RankerWeights weights = simple_weights();
  weights.features.push_back("size0");
  const Ranker ranker(weights);
  std::vector<OwnRecord> records;
  for (int source = 0; source < 12; ++source)
    for (int task = 0; task < 4; ++task) {
      const bool large = task >= 2;
      TaskFacts facts;
      facts.numbers = {{"size0", large ? 20.0F : 10.0F}};
      const Ranker::Rows rows = ranker.rows(facts);
      // Width 2 is the better one on large sizes here, and unroll harms them only.
      for (const auto &[moves, ratio] :
           {std::pair(Moves{"vectorize(width=4)"}, large ? 1.0 : 2.0),
            std::pair(Moves{"vectorize(width=2)"}, large ? 2.0 : 1.0),
            std::pair(Moves{"unroll(factor=2)"}, large ? 0.5 : 1.5),
            std::pair(Moves{"unroll(factor=4)"}, large ? 0.5 : 1.5),
            std::pair(Moves{"unroll(factor=2)", "vectorize(width=4)"}, large ? 0.6 : 2.4)})
        records.push_back(*own_record(ranker, rows, std::to_string(source),
                                      std::to_string(source * 4 + task), moves, verified(ratio)));
    }
  const Learned learned = learn(records);
  REQUIRE(learned.records == 240);
  CHECK(learned.correction.trees.trees() > 0);
  CHECK(learned.pairs_after > 0.9);
  CHECK(learned.pairs_before < 0.8);
}

TEST_CASE("sources have one shape under other names, numbers, texts and comments") {
  const std::string one =
      source_shape("__global__ void f(float *x, int n) { x[threadIdx.x] = n * 2.5f; } // a", false);
  CHECK(one ==
        source_shape(
            "/* b */ __global__ void g(float *yy, int m) {\n yy[threadIdx.x] = m * 117.0f; }",
            false));
  CHECK(one !=
        source_shape("__global__ void f(float *x, int n) { x[threadIdx.x] = n + 2.5f; }", false));
  CHECK(source_shape("x = f(1)  # note\n\"\"\"long\ntext\"\"\"", true) ==
        source_shape("y = f(22)\n'other'", true));
  CHECK(source_shape("x = f(1)", true) != source_shape("x = g(1)", true));
}
