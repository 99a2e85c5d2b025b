// CUDA text of row and array reductions: loops, shuffles and kernel bodies; see reduce.h.
#include "generator/text/templates/reduce.h"

#include "support/model/dtype.h"

#include <algorithm>

namespace warpwright::templates {
namespace {

constexpr std::string_view kWarp = R"cuda(#pragma unroll
for (int $offset = 16; $offset > 0; $offset >>= 1)
  $value = $combined;
)cuda";

constexpr std::string_view kBlock = R"cuda(__shared__ $type $partials[32];
if (threadIdx.x % 32 == 0)
  $partials[threadIdx.x / 32] = $value;
__syncthreads();
if (threadIdx.x < 32) {
  $value = threadIdx.x < blockDim.x / 32 ? $partials[threadIdx.x] : $identity;
$warp}
)cuda";

constexpr std::string_view kScalarLoop =
    R"cuda(for ($index $counter = $first; $counter < $extent; $counter += $step)
  $accumulate($elements);
)cuda";

constexpr std::string_view kVectorLoop = R"cuda(if ($aligned) {
  const $index $vectors = $extent / $width;
  #pragma unroll 4
  for ($index $vector = $first; $vector < $vectors; $vector += $step) {
    $loads
    #pragma unroll
    for (int $part = 0; $part < $width; ++$part)
      $accumulate($parts);
  }
  for ($index $counter = $vectors * $width + $first; $counter < $extent; $counter += $step)
    $accumulate($elements);
} else {
  $scalar
}
)cuda";

constexpr std::string_view kRow = R"cuda(const $index $row = blockIdx.x$rows_a_block;
$guard$type $accumulator = $initial;
$loop$combine
if ($leader) {
  $epilogue
}
)cuda";

constexpr std::string_view kArray = R"cuda($type $accumulator = $initial;
const $index $first = static_cast<$index>(blockIdx.x) * blockDim.x + threadIdx.x;
const $index $stride = static_cast<$index>(gridDim.x) * blockDim.x;
$loop$combine
if (threadIdx.x == 0) {
  $epilogue
}
)cuda";

struct LoopTexts {
  std::string first, step; ///< start and step of the running index
  std::string base;        ///< offset added to every pointer; empty for none
};

/// Smallest number of elements in a 16-byte load of a task's arrays; 0 if an array has no such load.
int vector_width(const ReduceTask &task) {
  int width = 0;
  for (const ReducedArray &array : task.arrays) {
    const int bytes = element_bytes(array.element);
    if (bytes == 0 || 16 % bytes != 0 || bytes < 2)
      return 0;
    width = width == 0 ? 16 / bytes : std::min(width, 16 / bytes);
  }
  return width;
}

/// Pointer to the reduced elements: the parameter, or a local added to `declarations`.
std::string pointer_of(const ReducedArray &array, const LoopTexts &texts,
                       const std::set<std::string> &taken, std::string &declarations) {
  if (texts.base.empty())
    return array.pointer;
  const std::string name = source::fresh_name(array.pointer + "_row", taken);
  declarations +=
      "const " + array.element + " *" + name + " = " + array.pointer + " + " + texts.base + ";\n";
  return name;
}

/// The accumulation as a lambda of the elements and the index, and the loops that call it.
std::string render_loop(const ReduceTask &task, const LoopTexts &texts,
                        const std::set<std::string> &taken) {
  const std::string counter = task.counter, accumulate = source::fresh_name("accumulate", taken),
                    part = source::fresh_name("part", taken),
                    vector = source::fresh_name("vector", taken);
  const int width = vector_width(task);
  source::Bindings elements;
  std::string declarations, parameters, scalars, parts, loads, aligned;
  int number = 0;
  for (const ReducedArray &array : task.arrays) {
    const std::string suffix = task.arrays.size() > 1 ? "_" + array.pointer : "";
    const std::string element = source::fresh_name("element" + suffix, taken),
                      quad = source::fresh_name("quad" + suffix, taken);
    const std::string pointer = pointer_of(array, texts, taken, declarations);
    elements[array.name] = element;
    const std::string comma = number ? ", " : "";
    parameters += comma + array.element + " " + element;
    scalars += comma + pointer + "[" + counter + "]";
    parts += comma + quad + "[" + part + "]";
    const std::string type = vector_type(width * element_bytes(array.element));
    loads += (number++ ? "\n    " : "") + std::string("alignas(16) ") + array.element + " " + quad +
             "[" + std::to_string(width) + "];\n    *reinterpret_cast<" + type + " *>(" + quad +
             ") = reinterpret_cast<const " + type + " *>(" + pointer + ")[" + vector + "];";
    aligned += (aligned.empty() ? "" : " && ") + std::string("reinterpret_cast<size_t>") + "(" +
               pointer + ") % 16 == 0";
  }
  if (mentions(task.statement, counter)) {
    parameters += ", " + task.index_type + " " + counter;
    scalars += ", " + counter;
    parts += ", " + vector + " * " + std::to_string(width) + " + " + part;
  }
  source::Bindings bindings{{"index", task.index_type},
                            {"counter", counter},
                            {"first", texts.first},
                            {"step", texts.step},
                            {"extent", source::parenthesised(task.extent)},
                            {"width", std::to_string(width)},
                            {"loads", loads},
                            {"aligned", aligned},
                            {"elements", scalars},
                            {"parts", parts}};
  std::string text = declarations + "auto " + accumulate + " = [&](" + parameters + ") { " +
                     source::render(task.statement, elements, taken) + " };\n";
  std::string scalar = source::render(kScalarLoop, bindings, taken);
  if (width < 2)
    return text + scalar;
  scalar.pop_back();
  bindings["scalar"] = source::deepen(scalar, "  ");
  return text + source::render(kVectorLoop, bindings, taken);
}

} // namespace

std::string ReduceTask::placeholder(const std::string &pointer, const std::string &element_type) {
  auto known = std::ranges::find(arrays, pointer, &ReducedArray::pointer);
  if (known == arrays.end())
    known = arrays.insert(known, {pointer, element_type, "e" + std::to_string(arrays.size())});
  return "$" + known->name;
}

std::string vector_type(int bytes) {
  return bytes == 16  ? "uint4"
         : bytes == 8 ? "uint2"
         : bytes == 4 ? "unsigned int"
                      : "unsigned short";
}

int element_bytes(const std::string &type) {
  const auto dtype = model::dtype_from_c_type(type);
  return dtype ? static_cast<int>(model::size_bytes(*dtype)) : 0;
}

std::string render_warp_combine(source::Combine combine, const std::string &type,
                                const std::string &name) {
  const std::string other = "__shfl_xor_sync(0xffffffffu, " + name + ", offset)";
  return source::render(kWarp,
                        {{"value", name}, {"combined", combine_text(combine, type, name, other)}});
}

std::string render_block_combine(source::Combine combine, const std::string &type,
                                 const std::string &name) {
  const std::string warp = render_warp_combine(combine, type, name);
  return warp + source::render(kBlock, {{"type", type},
                                        {"value", name},
                                        {"identity", identity_text(combine, type)},
                                        {"warp", source::indent(warp, "  ", "  ")}});
}

std::string render_row_reduction(const ReduceTask &task, int threads, int threads_a_row,
                                 const std::set<std::string> &taken) {
  const bool a_warp_a_row = threads_a_row < threads;
  const std::string rows_a_block = std::to_string(threads / threads_a_row);
  const LoopTexts texts{
      a_warp_a_row ? "threadIdx.x % 32" : "threadIdx.x", std::to_string(threads_a_row),
      "static_cast<size_t>(" + task.row + ") * " + source::parenthesised(task.stride)};
  const std::string guard =
      "if (" + task.row + " >= " + source::parenthesised(task.rows) + ")\n  return;\n";
  return source::render(
      kRow,
      {{"index", task.index_type},
       {"row", task.row},
       {"rows_a_block", a_warp_a_row ? " * " + rows_a_block + " + threadIdx.x / 32" : ""},
       {"guard", guard},
       {"type", task.accumulator_type},
       {"accumulator", task.accumulator},
       {"initial", task.initial},
       {"loop", render_loop(task, texts, taken)},
       {"combine",
        source::without_trailing_space(
            a_warp_a_row
                ? render_warp_combine(task.combine, task.accumulator_type, task.accumulator)
                : render_block_combine(task.combine, task.accumulator_type, task.accumulator))},
       {"leader", a_warp_a_row ? "threadIdx.x % 32 == 0" : "threadIdx.x == 0"},
       {"epilogue", source::deepen(task.epilogue, "  ")}},
      taken);
}

std::string render_array_reduction(const ReduceTask &task, const std::set<std::string> &taken) {
  const LoopTexts texts{source::fresh_name("first", taken), source::fresh_name("stride", taken),
                        ""};
  return source::render(kArray,
                        {{"index", task.index_type},
                         {"type", task.accumulator_type},
                         {"accumulator", task.accumulator},
                         {"initial", task.initial},
                         {"loop", render_loop(task, texts, taken)},
                         {"combine", source::without_trailing_space(render_block_combine(
                                         task.combine, task.accumulator_type, task.accumulator))},
                         {"epilogue", source::deepen(task.epilogue, "  ")}},
                        taken);
}

} // namespace warpwright::templates
