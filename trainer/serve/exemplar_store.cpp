#include "trainer/serve/exemplar_store.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kMostVersions = 256; ///< of a task

bool is_same(const Exemplar &left, const Exemplar &right) {
  return left.moves == right.moves && left.plan == right.plan;
}

double order_of(const Exemplar &version) { return score_of(version.measured).value_or(0); }

/// Drops the version in the middle of the order by score: prompts need good and bad ones.
void drop_one(std::vector<Exemplar> &versions) {
  const auto middle = versions.begin() + std::ptrdiff_t(versions.size() / 2);
  std::ranges::nth_element(versions, middle, {}, order_of);
  versions.erase(middle);
}

} // namespace

void ExemplarStore::add(const std::string &task, Exemplar version) {
  tasks_.with([&](auto &tasks) {
    std::vector<Exemplar> &versions = tasks[task].versions;
    if (std::ranges::any_of(versions, [&](const Exemplar &known) { return is_same(known, version); }))
      return;
    versions.push_back(std::move(version));
    if (versions.size() > kMostVersions)
      drop_one(versions);
  });
}

void ExemplarStore::set_original(const std::string &task, const Measured &original) {
  tasks_.with([&](auto &tasks) { tasks[task].original = original; });
}

std::vector<Exemplar> ExemplarStore::of(const std::string &task) {
  return tasks_.with([&](auto &tasks) {
    const auto found = tasks.find(task);
    return found == tasks.end() ? std::vector<Exemplar>() : found->second.versions;
  });
}

std::optional<Measured> ExemplarStore::original_of(const std::string &task) {
  return tasks_.with([&](auto &tasks) {
    const auto found = tasks.find(task);
    return found == tasks.end() ? std::nullopt : found->second.original;
  });
}

double ExemplarStore::best(const std::string &task) {
  double best = 1;
  for (const Exemplar &version : of(task))
    best = std::max(best, order_of(version));
  return best;
}

} // namespace warpwright::trainer
