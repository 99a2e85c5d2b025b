// The pointwise family: each thread computes a few consecutive
// elements of every output, as vectors where memory allows.
//
// If a permute makes the loads of a large operand or the stores uncoalesced, the
// "transpose" configuration moves tiles of 32 x 32 elements through shared memory
// (pointwise_transpose.cpp). All outputs of a region have the same number of elements.
#include "generator/families/pointwise/pointwise.h"

#include "generator/families/pointwise/pointwise_transpose.h"

namespace warpwright::families::pointwise {
namespace {

constexpr std::int64_t kSmall = 1 << 18; ///< number of elements up to which a tensor counts as small

bool claims(const ops::GraphIndex &, const model::Node &) { return false; }

std::vector<elements::Configuration> configurations(const ops::GraphIndex &graph,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &facts) {
  const elements::ElementWriter writer(graph, region);
  const int width = writer.flat_width();
  const std::int64_t elements = model::elements_of(writer.stored_shape());
  std::vector<elements::Configuration> result;
  for (const elements::Configuration &transpose : transpose_configurations(graph, region))
    result.push_back(transpose);
  // Small tensors: blocks for every multiprocessor matter more than wide accesses.
  int threads = 256, best = width;
  while (threads > 64 && elements / best < std::int64_t{threads} * facts.multiprocessors)
    threads /= 2;
  while (best > 1 && elements <= kSmall &&
         elements / best < std::int64_t{threads} * facts.multiprocessors)
    best /= 2;
  result.push_back({{"width", best}, {"threads", threads}, {"items", 1}});
  if (elements > kSmall) {
    result.push_back({{"width", width}, {"threads", 512}, {"items", 1}});
    result.push_back({{"width", width}, {"threads", 256}, {"items", 2}});
    result.push_back({{"width", width}, {"threads", 128}, {"items", 4}});
  } else if (best != width) {
    result.push_back({{"width", width}, {"threads", threads}, {"items", 1}});
  }
  if (width > 1 && best != 1)
    result.push_back({{"width", 1}, {"threads", 256}, {"items", 1}});
  // Each block counts in kernels of a few microseconds, and only a run shows which block size is fastest.
  if (elements <= kSmall)
    for (const int other : {threads / 2, threads * 2})
      if (other >= 64 && other <= 512)
        result.push_back({{"width", best}, {"threads", other}, {"items", 1}});
  return result;
}

Result<elements::Lowering> lower(const ops::GraphIndex &graph, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &, const std::string &prefix) {
  if (configuration.contains("transpose"))
    return lower_transpose(graph, region, configuration, prefix);
  elements::ElementWriter writer(graph, region);
  const int width = configuration.at("width"), threads = configuration.at("threads"),
            items = configuration.at("items");
  const std::int64_t elements = model::elements_of(writer.stored_shape());
  if (elements == 0)
    return fail("a region without elements needs no kernel");
  if (elements < width)
    return fail("there are fewer elements than a vector of " + std::to_string(width) + " has");
  // Threads behind those of whole vectors take the elements that are left, one each.
  const bool has_rest = elements % width != 0;
  const std::int64_t groups = elements / width, a_block = std::int64_t{threads} * items,
                     most_threads = groups + (has_rest ? width - 1 : 0);
  const bool wide = (has_rest ? elements : groups) + a_block > INT32_MAX;
  const bool whole = groups % a_block == 0 && !has_rest;
  std::string body, stores;
  for (int item = 0; item < items; ++item) {
    const std::string i = "i" + std::to_string(item);
    const std::string integer = wide ? "long long" : "int";
    body += "  const " + integer + " " + i + " = (" + integer + ")block * " +
            std::to_string(a_block) + " + " + std::to_string(item * threads) + " + threadIdx.x;\n";
    const std::vector<elements::Index> lanes = writer.row_major_index(i, width);
    const std::vector<std::string> none(lanes.size());
    const auto text = writer.values_and_stores(lanes, none);
    if (whole)
      stores += text.stores; // behind the loads of all items
    body += whole ? text.values
                  : "  if (" + i + " < " + std::to_string(groups) + ") {\n" + text.values +
                        text.stores + "  }\n";
    if (has_rest) {
      const std::string left = "r" + std::to_string(item);
      const std::vector<elements::Index> last = writer.row_major_index(left, 1);
      body += "  const " + integer + " " + left + " = " + std::to_string(width - 1) + " * " +
              std::to_string(groups) + " + " + i + ";\n  if (" + i +
              " >= " + std::to_string(groups) + " && " + left + " < " + std::to_string(elements) +
              ") {\n" + writer.store(last, std::vector<std::string>(1)) + "  }\n";
    }
  }
  elements::Lowering lowering;
  const std::string parameters = writer.parameters();
  elements::KernelBody alone{prefix + "_body", elements::parameters_in(parameters), {}, true};
  alone.kernel_text = "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
                      ") " + prefix + "(" + parameters + ") {\n  " + alone.function +
                      "(blockIdx.x, gridDim.x, " + elements::names_of(alone.parameters) + ");\n}\n";
  lowering.source = "__device__ __forceinline__ void " + alone.function +
                    "(const int block, const int, " + parameters + ") {\n" + body + stores + "}\n" +
                    alone.kernel_text;
  lowering.bodies.emplace(prefix, std::move(alone));
  model::LaunchStep launch;
  launch.kernel = prefix;
  launch.grid = {(most_threads + a_block - 1) / a_block, 1, 1};
  launch.block = {threads, 1, 1};
  launch.arguments = writer.arguments();
  lowering.steps.push_back(std::move(launch));
  return lowering;
}

} // namespace

const elements::Family kPointwiseFamily{"pointwise", claims, false, false, configurations, lower};

} // namespace warpwright::families::pointwise
