#include "server/cli/program_time.h"

#include "arch/rates.h"
#include "server/program/kernel_savings.h"
#include "support/model/verdict_text.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

using Json = nlohmann::json;

/// Least time of a launch; nullopt: its work is not known.
std::optional<double> floor_ns(const analysis::InferredTask &task) {
  if (!task.inferred)
    return std::nullopt;
  const arch::NodeRates rates;
  double longest_s = 0;
  const auto add = [&](const std::optional<symbolic::Expression> &work, double rate) {
    if (const auto amount = work ? work->evaluate(task.task.sizes) : fail("not known"))
      longest_s = std::max(longest_s, static_cast<double>(*amount) / rate);
  };
  add(task.task.work.bytes, rates.bytes_per_second);
  add(task.task.work.flops, rates.flops_per_second);
  return longest_s > 0 ? std::optional(longest_s * 1e9) : std::nullopt;
}

} // namespace

Json program_time(const analysis::FileFacts &facts) {
  Json kernels = Json::array();
  for (const analysis::Kernel &kernel : facts.kernels) {
    if (!kernel.captured)
      continue;
    const double mean_ns = kernel.captured->total_ns / static_cast<double>(kernel.captured->runs);
    const double saving =
        program::possible_saving(kernel.captured->launch_ns.value_or(mean_ns), floor_ns(kernel.task));
    kernels.push_back(
        {{"kernel", kernel.qualified_name},
         {"file", facts.path},
         {"run", kernel.captured->source},
         {"launches", kernel.captured->runs},
         {"mean_ns", mean_ns},
         {"share", kernel.captured->share},
         {"could_save", kernel.captured->share * saving}});
  }
  return kernels;
}

void sort_by_saving(Json &kernels) {
  std::ranges::stable_sort(kernels.get_ref<Json::array_t &>(), [](const Json &one, const Json &other) {
    return one.at("could_save").get<double>() > other.at("could_save").get<double>();
  });
}

std::string render_program_time(const Json &kernels) {
  if (kernels.empty())
    return {};
  std::string text = "Kernels by the part of GPU time that they could save, in " +
                     kernels.front().at("run").get<std::string>() +
                     "\n  could save  of GPU time  launches  mean time\n";
  const auto padded = [](const std::string &cell, std::size_t width) {
    return std::string(cell.size() < width ? width - cell.size() : 0, ' ') + cell;
  };
  for (const Json &kernel : kernels)
    text += "  " + padded(printed("%.1f%%", 100 * kernel.at("could_save").get<double>()), 10) + "  " +
            padded(printed("%.1f%%", 100 * kernel.at("share").get<double>()), 11) + "  " +
            padded(std::to_string(kernel.at("launches").get<std::uint64_t>()), 8) + "  " +
            padded(model::time_text(kernel.at("mean_ns").get<double>()), 9) + "  " +
            kernel.at("kernel").get<std::string>() + " (" + kernel.at("file").get<std::string>() + ")\n";
  return text;
}

} // namespace warpwright::cli
