// The transformer and its losses against small truths. C++17 without the rest of the project, so that it can also be built by hand
// against another LibTorch: $WARPWRIGHT_TEST_DEVICE says where it runs.
#include "trainer/network/network.h"

#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace warpwright::trainer;

namespace {

std::string device() {
  const char *chosen = std::getenv("WARPWRIGHT_TEST_DEVICE");
  return chosen ? chosen : "cpu";
}

NetworkShape small_shape() {
  NetworkShape shape;
  shape.vocabulary = 24;
  shape.width = 32;
  shape.layers = 2;
  shape.heads = 2;
  shape.context = 64;
  return shape;
}

Target target_at(int position, float weight, std::vector<int> allowed = {}) {
  Target target;
  target.position = position;
  target.weight = weight;
  target.allowed = std::move(allowed);
  return target;
}

/// "copy": the token after a marker is the first one.
std::vector<Sequence> copies() {
  std::vector<Sequence> batch;
  for (int token = 1; token <= 8; ++token) {
    Sequence sequence;
    sequence.tokens = {token, 20, 21, token};
    sequence.targets = {target_at(3, 1.0f / 8)};
    batch.push_back(sequence);
  }
  return batch;
}

StepOptions fast() {
  StepOptions options;
  options.learning_rate = 3e-3;
  return options;
}

} // namespace

TEST_CASE("imitation learns to copy a token over a distance") {
  auto network = Network::make(small_shape(), 1, device());
  StepReport report;
  for (int i = 0; i < 150; ++i)
    report = network->train(copies(), fast());
  CHECK(report.imitation_accuracy == 1);
  CHECK(report.imitation_loss < 0.1);
  CHECK(network->steps() == 150);
}

TEST_CASE("the same seed gives the same network and another seed another") {
  const std::vector<int> all{0, 1, 2, 3, 4, 5};
  const auto logs = [&](std::uint64_t seed) {
    return Network::make(small_shape(), seed, device())
        ->decode({1, 2, 3})
        ->log_probabilities(all, 1);
  };
  CHECK(logs(5) == logs(5));
  CHECK(logs(5) != logs(6));
}

TEST_CASE("reading token by token says what reading at once says") {
  auto network = Network::make(small_shape(), 3, device());
  Sequence sequence;
  sequence.tokens = {4, 9, 2, 17, 6, 11};
  const std::vector<int> allowed{3, 6, 11, 17};
  sequence.targets = {target_at(3, 1, allowed), target_at(5, 1, allowed)};
  const std::vector<float> at_once = network->log_probabilities({sequence}, 0.7);
  auto decoding = network->decode({4, 9, 2});
  CHECK(decoding->log_probabilities(allowed, 0.7)[3] == doctest::Approx(at_once[0]).epsilon(1e-4));
  auto fork = decoding->fork();
  decoding->push(17);
  decoding->push(6);
  CHECK(decoding->log_probabilities(allowed, 0.7)[2] == doctest::Approx(at_once[1]).epsilon(1e-4));
  CHECK(decoding->length() == 5);
  CHECK(fork->length() == 3);
  CHECK(fork->log_probabilities(allowed, 0.7)[3] == doctest::Approx(at_once[0]).epsilon(1e-4));
}

TEST_CASE("what comes later does not change what is predicted before") {
  auto network = Network::make(small_shape(), 3, device());
  Sequence first, second;
  first.tokens = {1, 2, 3, 4};
  second.tokens = {1, 2, 3, 19, 18, 17, 16};
  first.targets = {target_at(2, 1)};
  second.targets = {target_at(2, 1)};
  const std::vector<float> logs = network->log_probabilities({first, second}, 1);
  CHECK(logs[0] == doctest::Approx(logs[1]).epsilon(1e-4));
}

TEST_CASE("a mask leaves no probability outside it") {
  auto network = Network::make(small_shape(), 3, device());
  const std::vector<float> logs = network->decode({1})->log_probabilities({2, 7}, 1);
  CHECK(std::exp(logs[0]) + std::exp(logs[1]) == doctest::Approx(1));
  CHECK(network->decode({1})->log_probabilities({5}, 1)[0] == doctest::Approx(0));
}

TEST_CASE("reinforcement raises what was rewarded, within the clip") {
  auto network = Network::make(small_shape(), 7, device());
  const std::vector<int> allowed{2, 3};
  const auto sequence = [&](int token, float advantage, float old) {
    Sequence made;
    made.tokens = {1, token};
    Target target = target_at(1, 0.5f, allowed);
    target.reinforced = true;
    target.advantage = advantage;
    target.old_log = target.reference_log = old;
    made.targets = {target};
    return made;
  };
  const auto logs = [&] { return network->decode({1})->log_probabilities(allowed, 1); };
  const std::vector<float> before = logs();
  StepReport report;
  for (int i = 0; i < 60; ++i)
    report = network->train({sequence(2, 1, before[0]), sequence(3, -1, before[1])}, fast());
  const double ratio = std::exp(double(logs()[0] - before[0]));
  CHECK(ratio > 1.1);
  CHECK(ratio < 1.5); // without the clip it goes on until the other token is gone
  CHECK(report.clipped > 0);
  CHECK(report.kl > 0);
  CHECK(report.reinforced == 2);
}

TEST_CASE("the divergence from the reference holds the policy back") {
  const auto ratio_with = [](double kl) {
    auto network = Network::make(small_shape(), 7, device());
    const std::vector<int> allowed{2, 3};
    const float before = network->decode({1})->log_probabilities(allowed, 1)[0];
    Sequence sequence;
    sequence.tokens = {1, 2};
    Target target = target_at(1, 1, allowed);
    target.reinforced = true;
    target.advantage = 1;
    target.old_log = target.reference_log = before;
    sequence.targets = {target};
    StepOptions options = fast();
    options.clip_high = 10;
    options.kl = kl;
    for (int i = 0; i < 40; ++i)
      network->train({sequence}, options);
    return std::exp(double(network->decode({1})->log_probabilities(allowed, 1)[0] - before));
  };
  CHECK(ratio_with(20) < ratio_with(0) - 0.1);
}

TEST_CASE("tensors taken into another network make it the same, and what does not fit is named") {
  auto network = Network::make(small_shape(), 1, device());
  network->train(copies(), fast());
  auto other = Network::make(small_shape(), 2, device());
  CHECK(other->take(network->tensors(true)) == "");
  other->set_steps(network->steps());
  const StepReport a = network->train(copies(), fast()), b = other->train(copies(), fast());
  CHECK(a.loss == doctest::Approx(b.loss).epsilon(1e-5));
  CHECK(network->train(copies(), fast()).loss ==
        doctest::Approx(other->train(copies(), fast()).loss).epsilon(1e-5));
  NetworkShape wide = small_shape();
  wide.width = 64;
  CHECK(Network::make(wide, 1, device())->take(network->tensors(false)) ==
        "tensor embedding has another shape");
}
