// Inference without LibTorch against the LibTorch network of the same weights.
#include "tests/trainer/temporary_folder.h"
#include "trainer/inference/plain_network.h"
#include "trainer/network/checkpoint.h"

#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::trainer;

namespace {

/// Of log probabilities; float32 sums in another order differ by some 1e-6.
constexpr double kTolerance = 1e-4;

std::vector<int> random_tokens(int count, int vocabulary, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(int(random() % std::uint64_t(vocabulary)));
  return tokens;
}

/// Larger weights than fresh ones have, so that attention and gates matter.
std::vector<NamedTensor> sharpened(std::vector<NamedTensor> tensors) {
  for (NamedTensor &tensor : tensors)
    if (tensor.shape.size() > 1)
      for (float &value : tensor.values)
        value *= 4;
  return tensors;
}

void check_alike(Decoding &plain, Decoding &torch, const std::vector<int> &allowed) {
  const std::vector<float> ours = plain.log_probabilities(allowed, 0.8);
  const std::vector<float> theirs = torch.log_probabilities(allowed, 0.8);
  for (std::size_t i = 0; i < allowed.size(); ++i)
    CHECK(std::abs(ours[i] - theirs[i]) < kTolerance);
}

void compare(const NetworkShape &shape) {
  auto torch = Network::make(shape, 5, "cpu");
  REQUIRE(torch->take(sharpened(torch->tensors(false))) == "");
  auto plain = make_plain_network(shape, torch->tensors(false));
  REQUIRE(plain);
  std::vector<int> prompt = random_tokens(shape.context * 3 / 4, shape.vocabulary, 1);
  const std::vector<int> allowed = random_tokens(9, shape.vocabulary, 2);
  for (int round = 0; round < 3; ++round) {
    auto ours = (*plain)->decode(prompt);
    auto theirs = torch->decode(prompt);
    check_alike(*ours, *theirs, allowed);
    auto fork = ours->fork();
    for (const int token : random_tokens(6, shape.vocabulary, 3)) {
      ours->push(token);
      theirs->push(token);
      check_alike(*ours, *theirs, allowed);
    }
    CHECK(ours->length() == theirs->length());
    CHECK(fork->length() == int(prompt.size()));
    // The next prompt begins like this one, ends differently, and is longer or shorter.
    prompt[prompt.size() - 5] = 3;
    prompt.resize(prompt.size() + (round == 0 ? 7 : -std::size_t(9)), 4);
  }
}

} // namespace

TEST_CASE("inference without LibTorch says what the LibTorch network says") {
  SUBCASE("in the shape that ships") {
    NetworkShape shape;
    shape.vocabulary = 700;
    compare(shape);
  }
  SUBCASE("in a shape that fills no vectors") {
    NetworkShape shape;
    shape.vocabulary = 33;
    shape.width = 24;
    shape.layers = 2;
    shape.heads = 2;
    shape.context = 50;
    compare(shape);
  }
}

TEST_CASE("a prompt that is known is answered as it was at first") {
  NetworkShape shape;
  shape.vocabulary = 40;
  auto plain = make_plain_network(shape, Network::make(shape, 9, "cpu")->tensors(false));
  REQUIRE(plain);
  const std::vector<int> prompt = random_tokens(50, 40, 1), allowed{1, 2, 3, 4};
  const auto first = (*plain)->decode(prompt)->log_probabilities(allowed, 1);
  (*plain)->decode(random_tokens(80, 40, 2));
  CHECK((*plain)->decode(prompt)->log_probabilities(allowed, 1) == first);
  CHECK((*plain)->decode(prompt)->log_probabilities(allowed, 1) == first);
}

TEST_CASE("a file of weights is read, and what does not fit is named") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path / "policy.safetensors";
  Model model =
      make_model({.width = 32, .layers = 2, .heads = 2, .context = 64}, {"a", "b"}, 1, "cpu");
  model.stage = "sft";
  REQUIRE(save_model(path, model, true));
  auto loaded = load_plain_policy(path);
  REQUIRE(loaded);
  CHECK(loaded->stage == "sft");
  CHECK(loaded->vocabulary->id("b") == model.vocabulary->id("b"));
  check_alike(*loaded->network->decode({1, 2, 3}), *model.network->decode({1, 2, 3}), {4, 5});

  auto tensors = model.network->tensors(false);
  tensors.pop_back();
  auto broken = make_plain_network(model.network->shape(), tensors);
  REQUIRE(!broken);
  CHECK(broken.error().message == "there is no tensor last_norm");
  CHECK(!load_plain_policy(folder.write("other.safetensors", "not one")));
}
