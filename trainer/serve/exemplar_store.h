// Tried versions of each task, shared by all episodes of a service, so that later prompts show
// what earlier answers found.
//
// They come from the answers of all clients, from records, and from the trajectories of earlier
// runs. Thread: any.
#pragma once

#include "support/exclusive.h"
#include "trainer/policy/policy.h"

#include <map>

namespace warpwright::trainer {

class ExemplarStore {
public:
  /// Takes a version, unless an equal one is known. Of too many, the one with the middling score goes.
  void add(const std::string &task, Exemplar version);
  /// The unchanged source's measurement, as the reference's side of a verdict shows it.
  void set_original(const std::string &task, const Measured &original);

  std::vector<Exemplar> of(const std::string &task);
  std::optional<Measured> original_of(const std::string &task);
  /// Largest score of a task's versions; 1, the unchanged source, if none is better.
  double best(const std::string &task);

private:
  struct Known {
    std::vector<Exemplar> versions;
    std::optional<Measured> original;
  };
  Exclusive<std::map<std::string, Known>> tasks_;
};

} // namespace warpwright::trainer
