#include "runner/deep/examined_sizes.h"
#include "runner/verify/main_sizes.h"

#include <algorithm>

namespace warpwright::runner::deep {

std::vector<symbolic::Sizes> examined_sizes(const model::Task &task, std::int64_t max_elements) {
  std::vector<symbolic::Sizes> all = task.check_sizes;
  all.push_back(task.sizes);
  std::stable_sort(all.begin(), all.end(),
                   [&](const symbolic::Sizes &left, const symbolic::Sizes &right) {
                     return cost_at(task, left) < cost_at(task, right);
                   });
  std::vector<symbolic::Sizes> chosen = {all.front()};
  const auto largest = std::find_if(all.rbegin(), all.rend(), [&](const symbolic::Sizes &sizes) {
    return cost_at(task, sizes) <= max_elements;
  });
  if (largest != all.rend() && *largest != all.front())
    chosen.push_back(*largest);
  return chosen;
}

symbolic::Sizes profiled_sizes(const model::Task &task, std::int64_t max_elements) {
  return cost_at(task, task.sizes) <= max_elements ? task.sizes
                                                   : examined_sizes(task, max_elements).back();
}

std::string size_argument(const symbolic::Sizes &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

} // namespace warpwright::runner::deep
