// Attention of 16-bit operands in one kernel: softmax(mask(cap(scale * q k^T))) v, with scores in
// registers.
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
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

std::vector<elements::Configuration> configurations(const ops::GraphIndex &graph,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  const auto problem = attention_problem(graph, region);
  auto result =
      problem ? attention_configurations(*problem, device) : std::vector<elements::Configuration>{};
  if (result.empty())
    result.emplace_back(); // lower() tells the error
  return result;
}

constexpr const char *kDevice = "\n"
#include "generator/device/half_mma.cuh.inc"
                                "\n"
#include "generator/device/attention.cuh.inc"
    ;

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

/// Texts of one problem's kernels.
class AttentionText {
public:
  AttentionText(const ops::GraphIndex &graph, const elements::Region &region,
                const AttentionProblem &problem)
      : graph_(graph), region_(region), problem_(problem), writer_(graph, region) {
    writer_.bound("batch", problem.batches());
    writer_.bound("query", problem.queries);
    writer_.bound("head", problem.heads);
    writer_.bound("key", problem.keys);
    writer_.bound("pair", elements::ceil_divide(problem.keys, 2));
    writer_.bound("column", problem.width);
    writer_.bound("column_group", problem.width / kWide);
  }

  elements::ElementWriter &writer() { return writer_; }

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

  std::string window() const {
    const std::string keys = std::to_string(problem_.keys);
    if (!problem_.causal)
      return "0, " + keys;
    const std::string query = "row / " + std::to_string(problem_.heads);
    return "0, " + query + " < " + keys + " ? " + query + " + 1 : " + keys;
  }

  /// True if scores are scaled where they are changed, and not by the softmax.
  bool changes_scores() const { return problem_.softcap != 0 || !problem_.mask.empty(); }

  std::string score() {
    if (!changes_scores())
      return {};
    std::string text;
    for (const char *one : {"values[0]", "values[1]"})
      text += problem_.softcap == 0
                  ? "        " + std::string(one) + " *= " + number(problem_.scale) + ";\n"
                  : "        " + std::string(one) + " = " + number(problem_.softcap) +
                        " * warpwright_attention::tanh_of(" + one + " * " +
                        number(problem_.scale / problem_.softcap) + ");\n";
    if (problem_.mask.empty())
      return text;
    text += place();
    const bool is_even = problem_.keys % 2 == 0;
    if (is_even) {
      text += "        if (pair < " + std::to_string(problem_.keys / 2) + ") {\n";
      const std::vector<elements::Index> lanes{score_index("(2 * pair)"),
                                               score_index("(2 * pair + 1)")};
      const auto values = writer_.load(problem_.mask, lanes, text);
      return text + changed("values[0]", values[0]) + changed("values[1]", values[1]) +
             "        }\n";
    }
    for (const std::string lane : {"0", "1"}) {
      text += "        if (const int key = 2 * pair + " + lane + "; key < " +
              std::to_string(problem_.keys) + ") {\n";
      const std::string value = writer_.load(problem_.mask, score_index("key"), text);
      text += changed("values[" + lane + "]", value) + "        }\n";
    }
    return text;
  }

  std::string store() {
    std::string text = place();
    const int wide = writer_.store_width() >= kWide ? kWide : 1;
    if (wide == kWide)
      text += "    const int column_group = column / 4;\n";
    std::vector<elements::Index> lanes;
    std::vector<std::string> values;
    for (int i = 0; i < kWide; ++i) {
      const std::string column = wide == kWide ? "(4 * column_group + " + std::to_string(i) + ")"
                                               : "(column + " + std::to_string(i) + ")";
      lanes.push_back(result_index(column));
      values.push_back("values[" + std::to_string(i) + "]");
    }
    if (wide == kWide)
      return text + writer_.store(lanes, values);
    for (int i = 0; i < kWide; ++i)
      text += "    {\n" + writer_.store(lanes[i], values[i]) + "    }\n";
    return text;
  }

  static std::string number(double value) { return ops::literal(value, model::Dtype::Float32); }

private:
  static std::string changed(const std::string &score, const std::string &lane, bool is_bool) {
    return is_bool ? "        if (!" + lane + ")\n          " + score +
                         " = warpwright_attention::hidden();\n"
                   : "        " + score + " += (float)" + lane + ";\n";
  }
  std::string changed(const std::string &score, const std::string &lane) const {
    return changed(score, lane, graph_.node(problem_.mask).type().dtype == model::Dtype::Bool);
  }

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

  /// Declares query and head of a row.
  std::string place() const {
    const std::string heads = std::to_string(problem_.heads);
    return "    [[maybe_unused]] const int query = row / " + heads + ", head = row % " + heads +
           ";\n";
  }

  /// Index of the dimensions before rows, with the heads of queries.
  elements::Index lead() const {
    elements::Index index = elements::unflatten("batch", problem_.batch);
    if (problem_.heads > 1)
      index.back() = "(" + index.back() + " * " + std::to_string(problem_.heads) + " + head)";
    return index;
  }
  elements::Index result_index(const std::string &column) const {
    elements::Index index = lead();
    index.push_back("query");
    index.push_back(column);
    return index;
  }
  /// Index of the mask, which broadcasts to the scores.
  elements::Index score_index(const std::string &key) const {
    elements::Index all = lead();
    all.push_back("query");
    all.push_back(key);
    const model::Shape &shape = graph_.node(problem_.mask).type().shape;
    elements::Index index(all.end() - std::ssize(shape), all.end());
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == 1)
        index[i] = "0";
    return index;
  }

  const ops::GraphIndex &graph_;
  const elements::Region &region_;
  const AttentionProblem &problem_;
  elements::ElementWriter writer_;
};

Result<elements::Lowering> lower(const ops::GraphIndex &graph, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const AttentionProblem problem = TRY(attention_problem(graph, region));
  const Tiles tiles = TRY(tiles_of(configuration, problem, device));
  if (device.inline_ptx && device.tensor_cores == arch::TensorCores::None)
    return fail("attention multiplies 16-bit tiles on tensor cores, which this device lacks");
  elements::Region own = region; // without the `cat` nodes, which are stored as they are read
  std::erase_if(own.outputs, [&](const std::string &output) {
    return (problem.k.kept && output == problem.k.kept->buffer) ||
           (problem.v.kept && output == problem.v.kept->buffer);
  });
  AttentionText text(graph, own, problem);
  const std::int64_t rows = problem.rows(), batches = problem.batches();
  const std::int64_t row_tiles = elements::ceil_divide(rows, tiles.rows());
  const std::string partial = prefix + "_partial", sums = prefix + "_sums";
  const bool has_parts = tiles.parts > 1;
  const double factor = (text.changes_scores() ? 1.0 : problem.scale) * std::numbers::log2e;
  const std::string score = text.score(), store = text.store();
  const std::string place = "((batch * " + std::to_string(tiles.parts) + " + part) * " +
                            std::to_string(rows) + "ll + row) * ";

  std::vector<std::string> parameters = text.kept_parameters(), buffers = text.kept_buffers();
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
      {"FACTOR", AttentionText::number(factor)},
      {"THREADS", std::to_string(tiles.threads())},
      {"TILES", std::to_string(row_tiles)},
      {"PARTS", std::to_string(tiles.parts)},
      {"BASES", text.bases()},
      {"QUERY_PLACE", text.query_place()},
      {"KEY", AttentionText::row_text("k", problem.k)},
      {"VALUE", AttentionText::row_text("v", problem.v)},
      {"KEEP_KEY", AttentionText::kept_text("k", problem.k)},
      {"KEEP_VALUE", AttentionText::kept_text("v", problem.v)},
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
  lowering.source = std::string(kDevice) + elements::fill_places(kKernel, places);
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
  return problem ? attention_estimate(*problem, device) : INFINITY;
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
