#include "analysis/task/task_work.h"

namespace warpwright::analysis {

bool covers(const std::optional<symbolic::Interval> &bytes, const model::Buffer &buffer,
            const symbolic::Sizes &sizes) {
  const auto extent = buffer.extent.evaluate(sizes);
  return bytes && extent && bytes->low <= 0 &&
         bytes->high >= *extent * static_cast<std::int64_t>(model::size_bytes(buffer.dtype)) - 1;
}

model::Work work_of(const model::Task &task, bool is_product, const SizeProbe &prober,
                    const std::vector<Probe> &probes) {
  model::Work work;
  std::string bytes;
  for (const model::Buffer &buffer : task.buffers) {
    const auto use = probes.front().uses.find(buffer.name);
    if (use == probes.front().uses.end())
      continue;
    const int times = (use->second.is_read && covers(use->second.read, buffer, task.sizes)) +
                      (use->second.is_written && covers(use->second.written, buffer, task.sizes));
    if (times == 0)
      continue;
    bytes += (bytes.empty() ? "" : " + ") + ("(" + buffer.extent.text() + ") * ") +
             std::to_string(times * static_cast<int>(model::size_bytes(buffer.dtype)));
  }
  if (const auto parsed = symbolic::Expression::parse(bytes); parsed && !bytes.empty())
    work.bytes = *parsed;
  if (!is_product)
    return work;
  const auto depth = prober.explain(
      probes, [](const Probe &probe) { return std::optional(probe.ranges.reduction_length); });
  for (const model::Buffer &buffer : task.buffers)
    if (buffer.direction != model::Direction::In && depth)
      if (const auto parsed = symbolic::Expression::parse("2 * (" + buffer.extent.text() + ") * (" +
                                                          depth->text() + ")"))
        work.flops = *parsed;
  return work;
}

} // namespace warpwright::analysis
