#include "trainer/cli/policies.h"

namespace warpwright::trainer {

Result<std::unique_ptr<Policy>> make_policy(const Config &config, const std::string &name,
                                            std::uint64_t seed) {
  if (name == "random")
    return make_random_policy(seed, config.collect.longest);
  if (name == "evolve")
    return make_evolution_policy(seed, config.collect.longest);
  if (name == "dense")
    return make_dense_policy(config.collect.deepest);
  return fail("no policy is called " + name, "There are random, evolve, dense and builtin");
}

} // namespace warpwright::trainer
