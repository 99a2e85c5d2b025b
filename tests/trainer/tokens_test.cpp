// Words of sources, moves and prompts; and the answers that the grammar admits.
#include "tests/trainer/fake_environment.h"
#include "tests/trainer/temporary_folder.h"
#include "trainer/network/safetensors.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/builtin.h"
#include "trainer/tokens/source_words.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::trainer;
using testing::FakeEnvironment;

namespace {

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Every token is as likely as another.
class EvenNetwork final : public Network {
public:
  class EvenDecoding final : public Decoding {
  public:
    explicit EvenDecoding(int length) : length_(length) {}
    std::vector<float> log_probabilities(const std::vector<int> &allowed, double) override {
      return std::vector<float>(allowed.size(), -std::log(float(allowed.size())));
    }
    void push(int) override { ++length_; }
    int length() const override { return length_; }
    std::unique_ptr<Decoding> fork() const override {
      return std::make_unique<EvenDecoding>(*this);
    }

  private:
    int length_;
  };

  explicit EvenNetwork(int context = 256) { shape_.context = context; }
  const NetworkShape &shape() const override { return shape_; }
  std::unique_ptr<Decoding> decode(const std::vector<int> &prompt) override {
    return std::make_unique<EvenDecoding>(int(prompt.size()));
  }
  std::vector<float> log_probabilities(const std::vector<Sequence> &, double) override {
    return {};
  }
  StepReport train(const std::vector<Sequence> &, const StepOptions &) override { return {}; }
  std::vector<NamedTensor> tensors(bool) const override { return {}; }
  std::string take(const std::vector<NamedTensor> &) override { return {}; }
  std::int64_t steps() const override { return 0; }
  void set_steps(std::int64_t) override {}

private:
  NetworkShape shape_;
};

Vocabulary vocabulary() {
  return Vocabulary({"move:wide", "move:unroll", "move:break", "n=2", "n=4"});
}

struct Scene {
  FakeEnvironment environment;
  TrainingTask task;
  TaskView view = *environment.open(task);
  std::vector<Exemplar> tried{{{}, FakeEnvironment::score({}), {}},
                              {{"wide(n=4)"}, FakeEnvironment::score({"wide(n=4)"}), {}}};
  Context context{task, view, std::nullopt, tried, tried};
};

} // namespace

TEST_CASE("a source keeps its calls and keywords and loses its names") {
  CHECK(
      joined(
          source_words("#line 3 \"a.cu\"\n__global__ void scale(float *x, int n) { // text\n"
                       "  int i = threadIdx.x; /* more */ if (i < n) x[i] = expf(x[i]) * 1.5f; }",
                       100)) ==
      "__global__ void scale float * v0 int v1 int v2 = threadIdx . x if v2 < v1 v0 [ v2 ] = expf "
      "v0 [ v2 ] * 1.5f");
}

TEST_CASE("sources that differ in names only have the same words") {
  CHECK(source_words("int a = b + c;", 9) == source_words("int q=r+s;", 9));
  CHECK(source_words("int a = b + c;", 3).size() == 3);
  CHECK(source_words("/* never closed", 9).empty());
  CHECK(source_words("// no line end", 9).empty());
}

TEST_CASE("moves and numbers have words") {
  CHECK(joined(move_words("gemm(bk=8,bm=128)")) == "move:gemm bk=8 bm=128");
  CHECK(joined(move_words("restrict_const()")) == "move:restrict_const");
  CHECK(size_word(4096) == "2^12");
  CHECK(size_word(5000) == "2^12");
  CHECK(size_word(0) == "0");
  CHECK(score_word(2) == "x+4");
  CHECK(score_word(0.5) == "x-4");
  CHECK(score_word(0) == "x0");
}

TEST_CASE("a vocabulary gives every word a number of its own and unknown ones none") {
  const Vocabulary words = vocabulary();
  CHECK(words.id("move:wide") != words.id("move:unroll"));
  CHECK(words.word(words.id("n=4")) == "n=4");
  CHECK(words.id("never seen") == words.id(Vocabulary::kUnknown));
  CHECK(Vocabulary(words.words()).words() == words.words());
}

TEST_CASE("a prompt shows the task and its exemplars, with scores or without") {
  Scene scene;
  const std::string shown = joined(prompt_words(scene.context, {"wide(n=2)", "wide(n=4)"}, {}));
  CHECK(shown.starts_with("<begin> in float32 2^12 out float32 2^12 sizes 2^12 bytes 2^15"));
  CHECK(
      shown.ends_with("<legal> move:wide <exemplar> x+0 <exemplar> x+4 move:wide n=4 <analysis>"));
  const std::string hidden = joined(prompt_words(scene.context, {}, {.hides_scores = true}));
  CHECK(hidden.ends_with("<exemplar> <hidden> <exemplar> <hidden> move:wide n=4 <analysis>"));
}

TEST_CASE("an answer is made of legal moves, whatever the network says") {
  Scene scene;
  EvenNetwork network;
  const Vocabulary words = vocabulary();
  std::mt19937_64 random(1);
  auto reading = PromptReading::read(network, words, scene.context, scene.environment, {});
  REQUIRE(reading);
  std::size_t longest = 0;
  for (int i = 0; i < 100; ++i) {
    auto rollout = reading->answer(scene.context, scene.environment, {}, random);
    REQUIRE(rollout);
    const Moves &moves = rollout->proposal.moves;
    CHECK(!moves.empty());
    CHECK(std::set<std::string>(moves.begin(), moves.end()).size() == moves.size());
    longest = std::max(longest, moves.size());
    CHECK(rollout->sequence.targets.size() > std::size_t(rollout->move_targets));
    CHECK(words.word(rollout->sequence.tokens.back()) == Vocabulary::kStop);
    for (const Target &target : rollout->sequence.targets)
      CHECK(std::ranges::find(target.allowed,
                              rollout->sequence.tokens[std::size_t(target.position)]) !=
            target.allowed.end());
    REQUIRE(rollout->proposal.analysis.explaining_move);
    const std::string why = *rollout->proposal.analysis.explaining_move;
    CHECK((why == "wide" || why == "none"));
  }
  CHECK(longest > 1);
}

TEST_CASE("an imitated answer has the tokens that sampling would give it") {
  Scene scene;
  const Vocabulary words = vocabulary();
  const AnalysisTruth truth = analysis_truth(scene.tried, scene.tried, scene.view.original);
  auto sequence = imitation_sequence(words, 256, scene.context, scene.environment, {},
                                     {"wide(n=4)", "unroll(n=2)"}, truth, 0.3f);
  REQUIRE(sequence);
  std::string answer;
  for (const Target &target : sequence->targets)
    answer += words.word(sequence->tokens[std::size_t(target.position)]) + " ";
  CHECK(answer == "<second> move:wide memory move:wide n=4 move:unroll n=2 <stop> ");
  CHECK(sequence->targets[0].weight == 0.3f);
  CHECK(sequence->targets[3].weight == 1);
}

TEST_CASE("a prompt that is too long loses its source, not its exemplars") {
  Scene scene;
  EvenNetwork narrow(110), too_narrow(80);
  const Vocabulary words = vocabulary();
  std::mt19937_64 random(1);
  auto reading = PromptReading::read(narrow, words, scene.context, scene.environment, {});
  REQUIRE(reading);
  auto rollout = reading->answer(scene.context, scene.environment, {}, random);
  CHECK(rollout->sequence.tokens.size() <= 110);
  const auto exemplar = words.id(Vocabulary::kExemplar);
  CHECK(std::ranges::count(rollout->sequence.tokens, exemplar) == 2);
  CHECK(!PromptReading::read(too_narrow, words, scene.context, scene.environment, {}));
}

TEST_CASE("safetensors come back as they were written, and damage is refused") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path / "weights.safetensors";
  const TensorFile file{{{"format", "test"}}, {{"a", {2, 2}, {1, 2, 3, 4}}, {"b", {1}, {-0.5f}}}};
  REQUIRE(write_safetensors(path, file));
  auto read = read_safetensors(path);
  REQUIRE(read);
  CHECK(read->metadata == file.metadata);
  REQUIRE(read->tensors.size() == 2);
  CHECK(read->tensors[0].values == file.tensors[0].values);
  CHECK(read->tensors[1].shape == file.tensors[1].shape);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  CHECK(!read_safetensors(path));
  std::filesystem::resize_file(path, 4);
  CHECK(!read_safetensors(path));
  CHECK(!write_safetensors("/proc/no/such/folder", file));
}
