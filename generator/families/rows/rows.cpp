// The row family: turns guesses into configurations, and configurations into kernels; see rows.h.
#include "generator/families/rows/rows.h"

#include "generator/families/rows/row_guesses.h"
#include "generator/families/rows/row_kernel.h"
#include "generator/families/rows/row_regions.h"

#include <algorithm>

namespace warpwright::families::rows {
namespace {

bool claims(const ops::GraphIndex &, const model::Node &anchor) { return is_row_anchor(anchor); }

std::vector<elements::Configuration> configurations(const ops::GraphIndex &graph,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  const auto program = make_row_program(graph, region);
  if (!program)
    return {{}}; // lower() reports the error
  const ops::GraphIndex expanded(program->expanded.graph);
  std::vector<elements::Configuration> result;
  for (const RowGuess &guess : guess_row_shapes(*program, expanded, device)) {
    result.push_back({{"threads", guess.shape.threads},
                      {"group", guess.shape.group},
                      {"vector", guess.shape.vector},
                      {"unroll", guess.shape.unroll},
                      {"splits", guess.shape.splits},
                      {"cluster", guess.shape.cluster},
                      {"gang", guess.shape.gang},
                      {"hold", guess.shape.hold},
                      {"online", guess.online_softmax}});
    if (guess.shape.gang > 1)
      result.back()["resident"] = guess.shape.resident;
  }
  return result;
}

int value_of(const elements::Configuration &configuration, const std::string &name, int fallback) {
  const auto found = configuration.find(name);
  return found == configuration.end() ? fallback : found->second;
}

Result<elements::Lowering> lower(const ops::GraphIndex &graph, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const auto program = make_row_program(
      graph, region, {.online_softmax = value_of(configuration, "online", 0) != 0});
  if (!program)
    return std::unexpected(program.error());
  RowShape shape;
  shape.threads = value_of(configuration, "threads", 256);
  shape.group = value_of(configuration, "group", 32);
  shape.vector = value_of(configuration, "vector", 1);
  shape.unroll = value_of(configuration, "unroll", 1);
  shape.splits = value_of(configuration, "splits", 1);
  shape.cluster = value_of(configuration, "cluster", 1);
  shape.gang = value_of(configuration, "gang", 1);
  shape.hold = value_of(configuration, "hold", 0) != 0;
  if (shape.gang > 1) {
    shape.resident = value_of(configuration, "resident", 1);
    const std::int64_t at_once = std::int64_t{device.multiprocessors} * shape.resident / shape.gang;
    if (shape.resident < 1 || shape.resident > 4 || at_once < 1)
      return fail("gangs of " + std::to_string(shape.gang) + " blocks do not fit the device");
    shape.gangs = static_cast<int>(std::min(at_once, program->rows));
  }
  return write_row_kernels(*program, shape, prefix);
}

} // namespace

const elements::Family kRowFamily{.name = "rows",
                                  .claims = claims,
                                  .takes_prologue = true,
                                  .takes_epilogue = true,
                                  .configurations = configurations,
                                  .lower = lower,
                                  .grow = grow_row_region};

} // namespace warpwright::families::rows
