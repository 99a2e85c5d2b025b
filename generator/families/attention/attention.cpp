// Attention of 16-bit operands in one kernel: softmax(mask(cap(scale * q k^T))) v, with scores in
// registers. Long prompts multiply by wgmma where the device has it (attention_wgmma.h).
//
// Heads that share keys are rows of one group, so that keys are read once for all of them. The mask is
// any value of the graph, computed where a score needs it. Keys that no row of a tile sees are not
// read. Few rows split their keys among warps and blocks. A second kernel then joins the parts. Keys
// that are a `cat` of a cache and new ones are read from both, and stored where others want them.
// Omits: float32; gradients; dropout.
#include "generator/families/attention/attention.h"

#include "arch/generations.h"
#include "generator/elements/window_text.h"
#include "generator/families/attention/attention_problem.h"
#include "generator/families/attention/attention_text.h"
#include "generator/families/attention/attention_wgmma.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace warpwright::families::attention {
namespace {

constexpr int kMostDepth = 256, kJoinThreads = 128, kWide = 4;

bool claims(const ops::GraphIndex &graph, const model::Node &anchor) {
  if (anchor.op != op::attention || !ops::is_half(anchor.type().dtype) ||
      anchor.type().shape.size() < 3)
    return false;
  const auto fits = [&](const std::string &value) {
    const model::TensorType &type = graph.node(value).type();
    const std::int64_t size = type.shape.back();
    return type.dtype == anchor.type().dtype && size % 8 == 0 && size <= kMostDepth &&
           model::elements_of(type.shape) > 0;
  };
  return std::ranges::all_of(std::vector(anchor.inputs.begin(), anchor.inputs.begin() + 3), fits) &&
         ops::number_attribute(anchor, "scale", 1) > 0;
}

/// Configurations of both kernels, the best first.
std::vector<Guess> guesses(const AttentionProblem &problem, const elements::DeviceFacts &device) {
  std::vector<Guess> result = mma_guesses(problem, device);
  std::ranges::move(wgmma_guesses(problem, device), std::back_inserter(result));
  std::ranges::stable_sort(result, {}, &Guess::us);
  return result;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &graph,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  constexpr std::size_t kMost = 24;
  constexpr int kAlike =
      2; // of the same tiles, with other numbers of stages or parts, or without turns
  std::vector<elements::Configuration> result;
  std::map<elements::Configuration, int> listed;
  if (const auto problem = attention_problem(graph, region))
    for (const Guess &guess : guesses(*problem, device)) {
      elements::Configuration tiles = guess.configuration;
      tiles.erase("stages");
      tiles.erase("parts");
      tiles.erase("turns");
      if (result.size() < kMost && listed[tiles]++ < kAlike)
        result.push_back(guess.configuration);
    }
  if (result.empty())
    result.emplace_back(); // lower() tells the error
  return result;
}

constexpr std::string_view kKernel = R"cuda(
struct @PREFIX@_sizes {
  static constexpr int @SIZES@;
  static constexpr bool kBFloat16 = @BFLOAT16@;
  static __device__ __forceinline__ float factor() { return @FACTOR@; }
};
extern "C" __global__ void __launch_bounds__(@THREADS@) @PREFIX@_attend(@PARAMETERS@) {
  using Half = unsigned short;
  constexpr int kTiles = @TILES@;
  const int batch = blockIdx.x / (kTiles * @PARTS@), place = blockIdx.x % (kTiles * @PARTS@);
  const int part = place / kTiles, tile = kTiles - 1 - place % kTiles; // those with most keys first
@BASES@  warpwright_attention::Attention<@PREFIX@_sizes>::run(tile, part,
      [&](const int row) { return base_q + @QUERY_PLACE@; },
      [&](const int row) { return @KEY@; },
      [&](const int row) { return @VALUE@; },
      [&]([[maybe_unused]] const int row) { return @KEEP_KEY@; },
      [&]([[maybe_unused]] const int row) { return @KEEP_VALUE@; },
      [&]([[maybe_unused]] const int row) { return warpwright_attention::Window{@WINDOW@}; },
      [&]([[maybe_unused]] const int row, [[maybe_unused]] const int pair, float (&values)[2]) {
@SCORE@      },
      [&](const int row, const int column, const float (&values)[4]) {
@STORE@      },
      [&](const int row, const int column, const float (&values)[4]) {
@KEEP@      },
      [&](const int row, const float most, const float sum) {
@KEEP_SUM@      });
}
)cuda";

constexpr std::string_view kJoin = R"cuda(
extern "C" __global__ void __launch_bounds__(@JOIN_THREADS@) @PREFIX@_join(@PARAMETERS@) {
  const int vector = blockIdx.x * @JOIN_THREADS@ + threadIdx.x;
  if (vector >= @VECTORS@)
    return;
  const int column = vector % (@WIDTH@ / 4) * 4, row = vector / (@WIDTH@ / 4) % @ROWS@, batch = vector / (@WIDTH@ / 4 * @ROWS@);
  float values[4] = {};
  warpwright_attention::Attention<@PREFIX@_sizes>::join(
      values,
      [&](const int part) { return partial + ((batch * @PARTS@ + part) * @ROWS@ll + row) * @WIDTH@ + column; },
      [&](const int part) { return sums + ((batch * @PARTS@ + part) * @ROWS@ll + row) * 2; });
@STORE@}
)cuda";

/// Texts of the addresses of rows.
class AddressText {
public:
  AddressText(const ops::GraphIndex &graph, const elements::Region &region,
              const AttentionProblem &problem)
      : graph_(graph), region_(region), problem_(problem) {}

  /// Declares the addresses of the first rows.
  std::string bases() const {
    std::string text = base("q", problem_.q);
    for (const auto &[name, parts] : {std::pair{"k", &problem_.k}, {"v", &problem_.v}}) {
      text += base(name, parts->first);
      if (parts->second)
        text += base(std::string(name) + "_second", *parts->second);
      if (parts->kept)
        text += base(std::string(name) + "_kept", *parts->kept);
    }
    return text;
  }

  /// Address of a row of keys ("k") or values ("v").
  static std::string row_text(const std::string &name, const Parts &parts) {
    const std::string first = place_text(name, "row", parts.first);
    if (!parts.second)
      return first;
    const std::string limit = std::to_string(parts.rows_of_first);
    return "row < " + limit + " ? " + first + " : " +
           place_text(name + "_second", "(row - " + limit + ")", *parts.second);
  }

  /// Address of the place where a row is stored.
  static std::string kept_text(const std::string &name, const Parts &parts) {
    return parts.kept ? place_text(name + "_kept", "row", *parts.kept)
                      : "static_cast<Half *>(nullptr)";
  }

  /// Parameters of the kernel besides the region's, and the buffers for them.
  std::vector<std::string> kept_parameters() const {
    std::vector<std::string> result;
    for (const std::string &buffer : kept_buffers())
      result.push_back(ops::memory_type_of(graph_.node(buffer).type().dtype) +
                       " *__restrict__ kept_" + buffer_name(buffer));
    return result;
  }

  std::vector<std::string> kept_buffers() const {
    std::vector<std::string> result;
    for (const Parts *parts : {&problem_.k, &problem_.v})
      if (parts->kept && std::ranges::find(result, parts->kept->buffer) == result.end())
        result.push_back(parts->kept->buffer);
    return result;
  }

  /// Offset of a row of queries.
  std::string query_place() const {
    const std::string heads = std::to_string(problem_.heads);
    if (problem_.heads == 1)
      return "row * " + std::to_string(problem_.q.row) + "ll";
    return "(row / " + heads + ") * " + std::to_string(problem_.q.row) + "ll + row % " + heads +
           " * " + std::to_string(problem_.q.head) + "ll";
  }

private:
  static std::string place_text(const std::string &name, const std::string &row, const Rows &rows) {
    return "base_" + name + " + " + row + " * " + std::to_string(rows.row) + "ll";
  }

  /// Letter by which the parameter of a kept `cat` ends.
  std::string buffer_name(const std::string &buffer) const {
    return buffer == (problem_.k.kept ? problem_.k.kept->buffer : "") ? "k" : "v";
  }

  std::string base(const std::string &name, const Rows &rows) const {
    const auto input = std::ranges::find(region_.inputs, rows.buffer);
    const bool is_read = input != region_.inputs.end();
    const std::string text =
        std::string("  ") + (is_read ? "const Half *const base_" : "Half *const base_") + name +
        " = reinterpret_cast<" + (is_read ? "const Half *>(in" : "Half *>(kept_") +
        (is_read ? std::to_string(input - region_.inputs.begin()) : buffer_name(rows.buffer)) +
        ") + " + std::to_string(rows.offset) + "ll";
    return text +
           elements::strided_terms(elements::unflatten("batch", problem_.batch), rows.batches) +
           ";\n";
  }

  const ops::GraphIndex &graph_;
  const elements::Region &region_;
  const AttentionProblem &problem_;
};

Result<elements::Lowering> lower(const ops::GraphIndex &graph, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const AttentionProblem problem = TRY(attention_problem(graph, region));
  if (is_wgmma(configuration))
    return lower_wgmma(graph, region, problem, configuration, device, prefix);
  const Tiles tiles = TRY(tiles_of(configuration, problem, device));
  if (device.inline_ptx && device.tensor_cores == arch::TensorCores::None)
    return fail("attention multiplies 16-bit tiles on tensor cores, which this device lacks");
  elements::Region own = region; // without the `cat` nodes, which are stored as they are read
  std::erase_if(own.outputs, [&](const std::string &output) {
    return (problem.k.kept && output == problem.k.kept->buffer) ||
           (problem.v.kept && output == problem.v.kept->buffer);
  });
  AttentionText text(graph, own, problem);
  const AddressText addresses(graph, own, problem);
  const std::int64_t rows = problem.rows(), batches = problem.batches();
  const std::int64_t row_tiles = elements::ceil_divide(rows, tiles.rows());
  const std::string partial = prefix + "_partial", sums = prefix + "_sums";
  const bool has_parts = tiles.parts > 1;
  const std::string score = text.score(), store = text.store();
  const std::string place = "((batch * " + std::to_string(tiles.parts) + " + part) * " +
                            std::to_string(rows) + "ll + row) * ";

  std::vector<std::string> parameters = addresses.kept_parameters(),
                           buffers = addresses.kept_buffers();
  if (has_parts) {
    parameters.insert(parameters.end(),
                      {"float *__restrict__ partial", "float *__restrict__ sums"});
    buffers.insert(buffers.end(), {partial, sums});
  }
  elements::Substitutions places{
      {"PREFIX", prefix},
      {"SIZES", elements::constants_text({{"kDepth", problem.depth},
                                          {"kWidth", problem.width},
                                          {"kRows", rows},
                                          {"kLength", problem.keys},
                                          {"kRowWarps", tiles.row_warps},
                                          {"kKeyWarps", tiles.key_warps},
                                          {"kRowTiles", tiles.row_tiles},
                                          {"kKeys", tiles.keys},
                                          {"kStages", tiles.stages},
                                          {"kParts", tiles.parts},
                                          {"kKeepsKeys", problem.k.kept.has_value()},
                                          {"kKeepsValues", problem.v.kept.has_value()}})},
      {"BFLOAT16", problem.bfloat16 ? "true" : "false"},
      {"FACTOR", text.factor()},
      {"THREADS", std::to_string(tiles.threads())},
      {"TILES", std::to_string(row_tiles)},
      {"PARTS", std::to_string(tiles.parts)},
      {"BASES", addresses.bases()},
      {"QUERY_PLACE", addresses.query_place()},
      {"KEY", AddressText::row_text("k", problem.k)},
      {"VALUE", AddressText::row_text("v", problem.v)},
      {"KEEP_KEY", AddressText::kept_text("k", problem.k)},
      {"KEEP_VALUE", AddressText::kept_text("v", problem.v)},
      {"WINDOW", text.window()},
      {"SCORE", score},
      {"STORE", has_parts ? std::string() : store},
      {"KEEP", has_parts
                   ? "        *reinterpret_cast<float4 *>(partial + " + place +
                         std::to_string(problem.width) +
                         " + column) = make_float4(values[0], values[1], values[2], values[3]);\n"
                   : std::string()},
      {"KEEP_SUM", has_parts ? "        *reinterpret_cast<float2 *>(sums + " + place +
                                   "2) = make_float2(most, sum);\n"
                             : std::string()},
      {"PARAMETERS", elements::parameters_with(text.writer(), parameters)}};
  elements::Lowering lowering;
  lowering.source = kAttentionDevice + elements::fill_places(kKernel, places);
  lowering.steps.push_back(
      elements::launch_of(prefix + "_attend", row_tiles * tiles.parts * batches, tiles.threads(),
                          elements::arguments_with(text.writer(), buffers), tiles.shared(problem)));
  if (!has_parts)
    return lowering;
  const std::int64_t vectors = batches * rows * problem.width / kWide;
  for (const auto &[name, size] : {std::pair{partial, problem.width}, {sums, 2}})
    lowering.temporaries.push_back(
        {name, model::Dtype::Float32, symbolic::Expression(batches * tiles.parts * rows * size)});
  places["STORE"] = store;
  places["ROWS"] = std::to_string(rows);
  places["WIDTH"] = std::to_string(problem.width);
  places["VECTORS"] = std::to_string(vectors);
  places["JOIN_THREADS"] = std::to_string(kJoinThreads);
  places["PARAMETERS"] = elements::parameters_with(
      text.writer(), {"const float *__restrict__ partial", "const float *__restrict__ sums"});
  lowering.source += elements::fill_places(kJoin, places);
  lowering.steps.push_back(
      elements::launch_of(prefix + "_join", elements::ceil_divide(vectors, kJoinThreads),
                          kJoinThreads, elements::arguments_with(text.writer(), {partial, sums})));
  return lowering;
}

/// The problem of an anchor by itself.
Result<AttentionProblem> problem_alone(const ops::GraphIndex &graph, const model::Node &anchor) {
  elements::Region alone{.nodes = {anchor.name}, .anchor = anchor.name};
  for (std::size_t i = 0; i < 3; ++i)
    alone.inputs.push_back(
        elements::view_of(graph, elements::unrepeated_operand(graph, anchor, i), {}).root);
  return attention_problem(graph, alone);
}

double estimate(const ops::GraphIndex &graph, const model::Node &anchor,
                const elements::DeviceFacts &device) {
  const auto problem = problem_alone(graph, anchor);
  if (!problem)
    return INFINITY;
  const std::vector<Guess> found = guesses(*problem, device);
  return found.empty() ? INFINITY : found.front().us;
}

double library_estimate(const ops::GraphIndex &graph, const model::Node &anchor,
                        const elements::DeviceFacts &device) {
  const auto problem = problem_alone(graph, anchor);
  return problem ? attention_of_library(*problem, device) : 0;
}

} // namespace

const elements::Family kAttentionFamily{.name = "attention",
                                        .claims = claims,
                                        .takes_prologue = true,
                                        .takes_epilogue = true,
                                        .configurations = configurations,
                                        .lower = lower,
                                        .estimate = estimate,
                                        .library_estimate = library_estimate,
                                        .strided_operands = 3,
                                        .cats = cats_of};

} // namespace warpwright::families::attention
