#include "trainer/ranker/features.h"

#include "arch/gpu.h"
#include "trainer/ranker/source_numbers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kMostSizes = 4, kMostBuffers = 4;

float logarithm(double value) { return value > 0 ? float(std::log2(value)) : kAbsent; }

/// Exponent of the largest power of two, at most 2^7, that divides a size.
float alignment(std::int64_t size) {
  return size == 0 ? 7 : float(std::min(7, std::countr_zero(std::uint64_t(size))));
}

double value_or(const symbolic::Expression &expression, const symbolic::Sizes &sizes,
                double otherwise) {
  const auto value = expression.evaluate(sizes);
  return value ? double(*value) : otherwise;
}

void add_sizes(TaskFacts &facts, const model::Task &task) {
  for (const auto &[name, size] : task.sizes)
    facts.sizes.push_back(size);
  std::ranges::sort(facts.sizes, std::greater());
  facts.numbers.emplace_back("sizes", float(facts.sizes.size()));
  for (std::size_t i = 0; i < std::min(facts.sizes.size(), kMostSizes); ++i) {
    facts.numbers.emplace_back("size" + std::to_string(i), logarithm(double(facts.sizes[i])));
    facts.numbers.emplace_back("align" + std::to_string(i), alignment(facts.sizes[i]));
  }
}

void add_buffers(TaskFacts &facts, const model::Task &task) {
  std::vector<double> in, out;
  int integers = 0;
  double smallest = 64, largest = 0;
  for (const model::Buffer &buffer : task.buffers) {
    const double extent = value_or(buffer.extent, task.sizes, 0);
    if (buffer.direction != model::Direction::Out)
      in.push_back(extent);
    if (buffer.direction != model::Direction::In)
      out.push_back(extent);
    const auto bytes = double(model::size_bytes(buffer.dtype));
    smallest = std::min(smallest, bytes), largest = std::max(largest, bytes);
    integers += buffer.distribution.kind == model::Distribution::Kind::Integers;
  }
  std::ranges::sort(in, std::greater());
  std::ranges::sort(out, std::greater());
  const auto add = [&](const std::string &name, const std::vector<double> &extents) {
    facts.numbers.emplace_back(name + "s", float(extents.size()));
    for (std::size_t i = 0; i < std::min(extents.size(), kMostBuffers); ++i)
      facts.numbers.emplace_back(name + std::to_string(i), logarithm(extents[i]));
  };
  add("input", in);
  add("output", out);
  if (!in.empty() && !out.empty())
    facts.numbers.emplace_back("reduces", logarithm(in[0]) - logarithm(std::max(1.0, out[0])));
  facts.numbers.emplace_back("smallest_bytes", float(smallest));
  facts.numbers.emplace_back("largest_bytes", float(largest));
  facts.numbers.emplace_back("index_buffers", float(integers));
}

void add_work(TaskFacts &facts, const model::Task &task) {
  const auto amount = [&](const std::optional<symbolic::Expression> &work) {
    return work ? value_or(*work, task.sizes, 0) : 0;
  };
  const double bytes = amount(task.work.bytes), flops = amount(task.work.flops);
  facts.numbers.emplace_back("work_bytes", logarithm(bytes));
  facts.numbers.emplace_back("work_flops", logarithm(flops));
  facts.numbers.emplace_back("work_intensity", logarithm(bytes > 0 ? flops / bytes : 0));
}

void add_launch(TaskFacts &facts, const model::Task &task) {
  int launches = 0;
  for (const model::Step &step : task.reference.steps) {
    const auto *launch = std::get_if<model::LaunchStep>(&step);
    if (!launch || launches++ > 0)
      continue;
    for (std::size_t i = 0; i < 3; ++i) {
      facts.block[i] = std::max(1.0, value_or(launch->block[i], task.sizes, 1));
      facts.grid[i] = std::max(1.0, value_or(launch->grid[i], task.sizes, 1));
    }
    facts.numbers.emplace_back("dynamic_shared",
                               float(value_or(launch->shared_bytes, task.sizes, 0)));
  }
  facts.numbers.emplace_back("launches", float(launches));
  const char *axes[] = {"x", "y", "z"};
  for (std::size_t i = 0; i < 3; ++i) {
    facts.numbers.emplace_back(std::string("block_") + axes[i], logarithm(facts.block[i]));
    facts.numbers.emplace_back(std::string("grid_") + axes[i], logarithm(facts.grid[i]));
  }
}

void add_device(TaskFacts &facts, const std::optional<model::DeviceInfo> &device) {
  if (!device || device->kind != "cuda")
    return;
  facts.device = device->name;
  facts.multiprocessors = device->multiprocessors;
  if (const auto gpu = arch::gpu_of(*device))
    facts.threads_multiprocessor = gpu->threads_multiprocessor;
  facts.numbers.emplace_back("multiprocessors", float(device->multiprocessors));
  facts.numbers.emplace_back("capability", float(model::capability_of(*device)));
  facts.numbers.emplace_back("l2", logarithm(double(device->l2_bytes)));
  facts.numbers.emplace_back("copy_rate", logarithm(device->copy_bytes_per_s.value_or(0)));
  facts.numbers.emplace_back("fp32_rate", logarithm(device->fp32_flops_per_s.value_or(0)));
}

std::optional<double> number_in(std::string_view text) {
  if (text == "warp")
    return 0;
  if (text == "block")
    return 1;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// The launch as a list of moves leaves it, as far as their parameters say.
struct LaunchAfter {
  double threads = 1, x = 1, coarsening = 1, width = 1, blocks = 0;
};

void take(LaunchAfter &launch, std::string_view move, std::string_view parameter, double value) {
  if (move == "block_size" && parameter == "x")
    launch.threads = launch.x = value;
  else if (move == "block_size" && parameter == "y")
    launch.threads *= value;
  else if (parameter == "threads" && move != "launch_bounds")
    launch.threads = launch.x = value;
  else if (move == "coarsen")
    launch.coarsening *= value;
  else if (move == "vectorize")
    launch.width = value;
  else if (move == "grid_stride" || (move == "array_reduction" && parameter == "blocks"))
    launch.blocks = value;
}

void add_launch_after(NamedNumbers &numbers, const TaskFacts &task, const LaunchAfter &launch) {
  const double before = task.block[0] * task.block[1] * task.block[2];
  const double threads = before * task.grid[0] * task.grid[1] * task.grid[2];
  const double blocks =
      launch.blocks > 0
          ? launch.blocks
          : threads / std::max(1.0, launch.threads * launch.coarsening * launch.width);
  numbers.emplace_back("after.threads", logarithm(launch.threads));
  numbers.emplace_back("after.x", logarithm(launch.x));
  numbers.emplace_back("after.blocks", logarithm(blocks));
  numbers.emplace_back("after.work", logarithm(threads / std::max(1.0, blocks * launch.threads)));
  if (task.multiprocessors > 0 && task.threads_multiprocessor > 0)
    numbers.emplace_back(
        "after.waves",
        logarithm(blocks * launch.threads / (task.multiprocessors * task.threads_multiprocessor)));
  if (launch.width > 1 && !task.sizes.empty()) {
    double aligned = 0;
    for (const std::int64_t size : task.sizes)
      aligned += size % std::int64_t(launch.width) == 0;
    numbers.emplace_back("after.aligned", float(aligned / double(task.sizes.size())));
  }
}

} // namespace

TaskFacts task_facts(const model::Task &task, const KernelNumbers &kernel,
                     const std::optional<model::DeviceInfo> &device) {
  TaskFacts facts;
  add_sizes(facts, task);
  add_buffers(facts, task);
  add_work(facts, task);
  add_launch(facts, task);
  add_device(facts, device);
  for (auto &number : source_numbers(task.reference.source))
    facts.numbers.push_back(std::move(number));
  for (const auto &[name, value] : kernel)
    facts.numbers.emplace_back("kernel." + name, float(value));
  return facts;
}

CompileFacts compile_facts(const Measured &measured) {
  return {measured.registers, measured.shared_bytes, measured.spill_bytes, measured.occupancy};
}

MoveText parsed_move(std::string_view move) {
  const std::size_t open = std::min(move.find('('), move.size());
  MoveText result{move.substr(0, open), {}};
  std::string_view rest = move.substr(std::min(open + 1, move.size()));
  if (rest.ends_with(')'))
    rest.remove_suffix(1);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    const std::size_t equal = std::min(one.find('='), one.size());
    result.parameters.emplace_back(one.substr(0, equal),
                                   one.substr(std::min(equal + 1, one.size())));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return result;
}

NamedNumbers candidate_numbers(const TaskFacts &task, const Moves &moves,
                               const CompileFacts *compiled) {
  NamedNumbers numbers{{"moves", float(moves.size())}};
  LaunchAfter launch{.threads = task.block[0] * task.block[1] * task.block[2], .x = task.block[0]};
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const MoveText move = parsed_move(moves[i]);
    numbers.emplace_back("move." + std::string(move.name), float(i + 1));
    for (const auto &[name, text] : move.parameters)
      if (const auto value = number_in(text)) {
        numbers.emplace_back(std::string(move.name) + "." + std::string(name), float(*value));
        take(launch, move.name, name, *value);
      }
  }
  add_launch_after(numbers, task, launch);
  if (compiled) {
    if (compiled->registers)
      numbers.emplace_back("registers", float(*compiled->registers));
    if (compiled->shared_bytes)
      numbers.emplace_back("shared_bytes", float(*compiled->shared_bytes));
    if (compiled->spill_bytes)
      numbers.emplace_back("spill_bytes", float(*compiled->spill_bytes));
    if (compiled->occupancy)
      numbers.emplace_back("occupancy", float(*compiled->occupancy));
  }
  return numbers;
}

FeatureColumns::FeatureColumns(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    columns_.emplace(names_[i], i);
}

void FeatureColumns::fill(const NamedNumbers &numbers, std::span<float> row) const {
  for (const auto &[name, value] : numbers)
    if (const auto found = columns_.find(name); found != columns_.end())
      row[found->second] = value;
}

} // namespace warpwright::trainer
