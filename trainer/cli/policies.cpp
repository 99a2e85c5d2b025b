#include "trainer/cli/policies.h"

#include "trainer/endpoint/endpoint_policy.h"
#include "trainer/inference/plain_network.h"
#include "trainer/inference/shipped_weights.h"
#include "trainer/policy/builtin.h"

#include <filesystem>
#include <iostream>
#ifdef WARPWRIGHT_LIBTORCH
#include "trainer/network/checkpoint.h"
#endif

namespace warpwright::trainer {
namespace {

/// Weights of the last finished stage in a run's folder; empty if there are none.
std::string latest_weights(const std::string &folder) {
  for (const char *stage : {"rl", "selfsup", "sft"})
    if (const std::string path = folder + "/" + stage + ".safetensors";
        std::filesystem::exists(path))
      return path;
  return {};
}

/// @param name "builtin" or "builtin:WEIGHTS". The suffix "?analysis" hides scores and always takes the likeliest
/// answer. The suffix "?plain" leaves out exemplars, as `rl --variant grpo` trains.
Result<std::unique_ptr<Policy>> make_builtin(const Config &config, std::string name,
                                             std::uint64_t seed) {
  SamplingOptions options;
  options.temperature = config.eval.temperature;
  options.longest = config.collect.longest;
  if (const auto mark = name.find("?analysis"); mark != std::string::npos) {
    options.temperature = 0;
    options.prompt.hides_scores = true;
    name.resize(mark);
  }
  if (const auto mark = name.find("?plain"); mark != std::string::npos) {
    options.ignores_exemplars = true;
    name.resize(mark);
  }
  std::string weights = name.size() > 8 ? name.substr(8) : config.eval.weights;
  if (weights.empty())
    weights = config.collect.weights;
  if (weights.empty())
    weights = latest_weights(config.run.out);
  if (weights.empty())
    weights = shipped_weights();
  if (weights.empty())
    return fail("there are no weights for the builtin policy", "Name them: builtin:WEIGHTS");
#ifdef WARPWRIGHT_LIBTORCH
  if (config.run.device != "cpu") {
    auto model = TRY(load_model(weights, config.run.device));
    return std::make_unique<BuiltinPolicy>(model.network, model.vocabulary, options, seed);
  }
#endif
  auto plain = load_plain_policy(weights); // faster than LibTorch for single tokens
  if (!plain)
    return std::unexpected(plain.error());
  return std::make_unique<BuiltinPolicy>(plain->network, plain->vocabulary, options, seed);
}

/// @param name "endpoint:URL#MODEL", or "endpoint": settings from the table [endpoint] of the configuration file
Result<std::unique_ptr<Policy>> make_endpoint(const Config &config, const std::string &name,
                                              std::uint64_t seed) {
  auto settings =
      TRY(name == "endpoint" ? read_endpoint_file(config.path) : endpoint_from_policy(name));
  auto policy = make_endpoint_policy(settings, seed,
                                     [](const std::string &line) { std::cerr << line << "\n"; });
  return policy ? Result<std::unique_ptr<Policy>>(std::move(*policy))
                : std::unexpected(policy.error());
}

} // namespace

Result<std::unique_ptr<Policy>> make_policy(const Config &config, const std::string &name,
                                            std::uint64_t seed) {
  if (name == "random")
    return make_random_policy(seed, config.collect.longest);
  if (name == "evolve")
    return make_evolution_policy(seed, config.collect.longest);
  if (name == "dense")
    return make_dense_policy(config.collect.deepest);
  if (name.starts_with("endpoint"))
    return make_endpoint(config, name, seed);
  if (name.starts_with("builtin"))
    return make_builtin(config, name, seed);
  return fail("there is no policy " + name,
              "There are random, evolve, dense, builtin and endpoint:URL#MODEL");
}

} // namespace warpwright::trainer
