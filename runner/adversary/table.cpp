// The table of families. A new family is one file and one line here.
#include "runner/adversary/families.h"

#include <iterator>

namespace warpwright::runner::adversary {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto family : {global_cache_cases, stale_answer_cases, buffer_cases, race_cases,
                      precision_cases, shape_cases, value_cases, clock_cases, plan_cases,
                      fault_cases, source_cases, honest_cases}) {
    std::vector<Case> cases = family();
    std::move(cases.begin(), cases.end(), std::back_inserter(all));
  }
  return all;
}

} // namespace warpwright::runner::adversary
