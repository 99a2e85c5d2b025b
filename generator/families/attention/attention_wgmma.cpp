#include "generator/families/attention/attention_wgmma.h"

#include "arch/generations.h"
#include "generator/elements/tensor_map.h"
#include "generator/elements/wgmma_text.h"
#include "generator/elements/window_text.h"
#include "generator/families/attention/attention_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpwright::families::attention {
namespace {

constexpr int kGroupRows = 64; ///< queries of four warps
constexpr int kPanel = 64;     ///< 16-bit elements of a row of 128 bytes
constexpr int kLeastStages = 2, kLoadRegisters = 24;
constexpr int kLeastGroups = 2, kMostGroups = 4; ///< of four warps
constexpr int kRegisters[] = {240, 160, 112};    ///< of a thread, with two groups and more

constexpr const char *kDevice = "\n"
#include "generator/device/tensor_copies.cuh.inc"
                                "\n"
#include "generator/device/attention_wgmma.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
struct @PREFIX@_sizes {
  using Scores = @PREFIX@_scores;
  using Values = @PREFIX@_values;
  static constexpr int @SIZES@;
  static constexpr bool kBFloat16 = @BFLOAT16@;
  static __device__ __forceinline__ float factor() { return @FACTOR@; }
};
extern "C" __global__ void __launch_bounds__(@THREADS@, 1) @PREFIX@_attend(@PARAMETERS@) {
  warpwright_attention::Flash<@PREFIX@_sizes>::run(map_q, map_k, map_v,
      [&]([[maybe_unused]] const int row) { return warpwright_attention::Window{@WINDOW@}; },
      [&]([[maybe_unused]] const int batch, [[maybe_unused]] const int row, [[maybe_unused]] const int pair,
          [[maybe_unused]] float (&values)[2]) {
@SCORE@      },
      [&](const int batch, const int row, const int column, const float (&values)[4]) {
@STORE@      });
}
)cuda";

struct Sizes {
  int groups = 0, keys = 0, stages = 0, turns = 0;

  int rows() const { return groups * kGroupRows; }
  int threads() const { return (groups + 1) * 128; }
  int registers() const { return kRegisters[groups - kLeastGroups]; }
};

std::int64_t panels(std::int64_t elements) { return elements::ceil_divide(elements, kPanel); }

std::int64_t shared_bytes(const AttentionProblem &problem, const Sizes &sizes) {
  constexpr int kAlignment = 1024, kRowBytes = 128;
  const std::int64_t stage = (panels(problem.depth) + panels(problem.width)) * sizes.keys;
  return kAlignment + kRowBytes * (panels(problem.depth) * sizes.rows() + stage * sizes.stages) +
         16 * (2 * sizes.stages + 1);
}

/// About the registers of a thread: scores, weights and results.
int registers(const AttentionProblem &problem, const Sizes &sizes) {
  constexpr int kOther = 28, kChanged = 16; // more where scores are changed
  return kOther + (problem.changes_scores() ? kChanged : 0) + sizes.keys * 3 / 4 +
         problem.width / 2;
}

Result<Sizes> sizes_of(const elements::Configuration &configuration,
                       const AttentionProblem &problem, const elements::DeviceFacts &device) {
  const auto settings = elements::settings_of(configuration, {{"groups", kLeastGroups, kMostGroups},
                                                              {"keys", 16, 256},
                                                              {"stages", kLeastStages, 6},
                                                              {"turns", 0, 1}});
  if (!settings)
    return std::unexpected(settings.error());
  const Sizes sizes{settings->at("groups"), settings->at("keys"), settings->at("stages"),
                    settings->at("turns")};
  if (device.tensor_cores != arch::TensorCores::Wgmma)
    return fail("these tiles need the tensor cores of compute capability 9.0");
  if (sizes.keys % 16 != 0)
    return fail("keys of a stage do not divide into steps of wgmma");
  if (shared_bytes(problem, sizes) > device.shared_bytes_block)
    return fail("the tiles need " + std::to_string(shared_bytes(problem, sizes)) +
                " bytes of shared memory");
  if (registers(problem, sizes) > sizes.registers())
    return fail("the tiles need more registers than a thread has");
  return sizes;
}

struct Maps {
  elements::Mapped q, k, v;
};

Result<elements::Mapped> map_of(const Rows &rows, std::int64_t count, int length,
                                const model::Shape &batch, const model::Shape &strides, int box) {
  return elements::map_of_lines({.count = count,
                                 .length = length,
                                 .stride = rows.row,
                                 .offset = rows.offset,
                                 .batch = batch,
                                 .batch_strides = strides},
                                kPanel, box);
}

Result<Maps> maps_of(const AttentionProblem &problem, const Sizes &sizes) {
  if (problem.k.second || problem.v.second)
    return fail("keys lie in two memories");
  model::Shape heads = problem.batch, head_strides = problem.q.batches;
  heads.push_back(problem.heads);
  head_strides.push_back(problem.q.head);
  return Maps{
      TRY(map_of(problem.q, problem.queries, problem.depth, heads, head_strides, sizes.rows())),
      TRY(map_of(problem.k.first, problem.keys, problem.depth, problem.batch,
                 problem.k.first.batches, sizes.keys)),
      TRY(map_of(problem.v.first, problem.keys, problem.width, problem.batch,
                 problem.v.first.batches, sizes.keys))};
}

/// Keys that fill half of the second-level cache together with their values.
std::int64_t cached_keys(const AttentionProblem &problem, const elements::DeviceFacts &device) {
  return device.rates.rows.cache_bytes / 2 / (2 * (problem.depth + problem.width));
}

/// Microseconds: products, weights, and the start of each tile, as if nothing hid anything, which agrees with
/// measurements better than their maximum.
double microseconds(const AttentionProblem &problem, const Sizes &sizes,
                    const elements::DeviceFacts &device) {
  const arch::AttentionRates &own = device.rates.attention;
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const std::int64_t tiles = elements::ceil_divide(problem.queries, sizes.rows());
  std::int64_t stages = 0;
  for (std::int64_t tile = 1; tile <= tiles; ++tile)
    stages += elements::ceil_divide(
        problem.causal ? std::min(tile * sizes.rows(), problem.keys) : problem.keys, sizes.keys);
  const double scores = number(sizes.rows()) * sizes.keys;
  const double flops =
      2 * scores * number(elements::ceil_divide(problem.depth, 16) * 16 + problem.width);
  const double stage_us =
      flops / own.wgmma_flops +
      scores * own.weigh_us * (problem.changes_scores() ? own.changed_scores : 1) + own.stage_us;
  const double rounds = number(tiles * problem.batches() * problem.heads) / device.multiprocessors;
  const double waves = rounds <= 1 ? 1 : problem.causal ? rounds + 0.5 : std::ceil(rounds);
  return device.rates.matmul.launch_us + own.start_us +
         waves * (stage_us * number(stages) / number(tiles) + own.item_us);
}

} // namespace

bool is_wgmma(const elements::Configuration &configuration) {
  return configuration.contains("groups");
}

std::vector<Guess> wgmma_guesses(const AttentionProblem &problem,
                                 const elements::DeviceFacts &device) {
  constexpr int kLeastQueries = kGroupRows; // fewer leave most of a tile empty
  std::vector<Guess> result;
  if (problem.queries < kLeastQueries)
    return result;
  for (int groups = kLeastGroups; groups <= kMostGroups; ++groups)
    for (const int keys : {32, 48, 64, 80, 96, 112, 128, 160, 176, 192})
      for (const int stages : {4, 3, 2}) {
        elements::Configuration one{
            {"groups", groups}, {"keys", keys}, {"stages", stages}, {"turns", 1}};
        const auto sizes = sizes_of(one, problem, device);
        if (!sizes || !maps_of(problem, *sizes))
          continue;
        const double us = microseconds(problem, *sizes, device);
        result.push_back({us, one});
        one["turns"] = 0; // sometimes faster with many keys a stage
        result.push_back({us, one});
        break; // the most stages that fit
      }
  std::ranges::stable_sort(result, {}, &Guess::us);
  return result;
}

Result<elements::Lowering> lower_wgmma(const ops::GraphIndex &graph, const elements::Region &region,
                                       const AttentionProblem &problem,
                                       const elements::Configuration &configuration,
                                       const elements::DeviceFacts &device,
                                       const std::string &prefix) {
  const Sizes sizes = TRY(sizes_of(configuration, problem, device));
  Maps maps = TRY(maps_of(problem, sizes));
  AttentionText text(graph, region, problem);
  const std::string score = text.score(), store = text.store();
  const std::int64_t items =
      elements::ceil_divide(problem.queries, sizes.rows()) * problem.heads * problem.batches();
  const model::Dtype dtype = problem.bfloat16 ? model::Dtype::BFloat16 : model::Dtype::Float16;
  std::vector<std::string> parameters, buffers;
  for (const char *name : {"map_q", "map_k", "map_v"})
    parameters.push_back(std::string("const __grid_constant__ warpwright_tensor::Map ") + name);
  const std::array operands{std::pair{&maps.q, &problem.q}, std::pair{&maps.k, &problem.k.first},
                            std::pair{&maps.v, &problem.v.first}};
  for (const auto &[map, rows] : operands)
    buffers.push_back(map->argument.buffer = rows->buffer);
  elements::Lowering lowering;
  lowering.source =
      std::string(kAttentionDevice) + kDevice +
      elements::wgmma_text(prefix + "_scores", sizes.keys, dtype, elements::Left::AlongK, true) +
      elements::wgmma_text(prefix + "_values", problem.width, dtype, elements::Left::Registers,
                           false) +
      elements::fill_places(
          kKernel,
          {{"PREFIX", prefix},
           {"SIZES", elements::constants_text({{"kDepth", problem.depth},
                                               {"kWidth", problem.width},
                                               {"kQueries", problem.queries},
                                               {"kLength", problem.keys},
                                               {"kHeads", problem.heads},
                                               {"kBatches", problem.batches()},
                                               {"kGroups", sizes.groups},
                                               {"kRegisters", sizes.registers()},
                                               {"kLoadRegisters", kLoadRegisters},
                                               {"kKeys", sizes.keys},
                                               {"kStages", sizes.stages},
                                               {"kTurns", sizes.turns},
                                               {"kCachedKeys", cached_keys(problem, device)},
                                               {"kInnerQ", maps.q.inner},
                                               {"kInnerStepQ", maps.q.inner_step},
                                               {"kOuterStepQ", maps.q.outer_step},
                                               {"kInnerKeys", maps.k.inner},
                                               {"kInnerStepKeys", maps.k.inner_step},
                                               {"kOuterStepKeys", maps.k.outer_step},
                                               {"kInnerValues", maps.v.inner},
                                               {"kInnerStepValues", maps.v.inner_step},
                                               {"kOuterStepValues", maps.v.outer_step}})},
           {"BFLOAT16", problem.bfloat16 ? "true" : "false"},
           {"FACTOR", text.factor()},
           {"THREADS", std::to_string(sizes.threads())},
           {"WINDOW", text.window()},
           {"SCORE", score},
           {"STORE", store},
           {"PARAMETERS", elements::parameters_with(text.writer(), parameters)}});
  model::LaunchStep launch = elements::launch_of(
      prefix + "_attend", std::min<std::int64_t>(items, device.multiprocessors), sizes.threads(),
      elements::arguments_with(text.writer(), buffers), shared_bytes(problem, sizes));
  auto argument =
      launch.arguments.begin() + static_cast<std::ptrdiff_t>(text.writer().arguments().size());
  for (const auto &[map, rows] : operands)
    *argument++ = map->argument;
  lowering.steps.push_back(std::move(launch));
  return lowering;
}

} // namespace warpwright::families::attention
