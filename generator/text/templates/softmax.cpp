// The online softmax as CUDA text; see softmax.h.
//
// A thread without elements keeps the sum 0 and the lowest float as its maximum, which do not change
// the result when combined. The second read of the row comes from the cache.
#include "generator/text/templates/softmax.h"

namespace warpwright::templates {
namespace {

constexpr std::string_view kBody = R"cuda(const $index $row = blockIdx.x$rows_a_block;
if ($row >= $rows)
  return;
const int $lane = threadIdx.x$in_group;
const float *$source = $input + static_cast<size_t>($row) * $input_stride;
float *$target = $output + static_cast<size_t>($row) * $output_stride;
const bool $aligned = reinterpret_cast<size_t>($source) % 16 == 0 && reinterpret_cast<size_t>($target) % 16 == 0;
const $index $vectors = $aligned ? $cols / 4 : 0;

float $largest = -3.402823466e+38f, $total = 0.0f;
auto $merge = [&](float maximum, float sum) {
  const float both = fmaxf($largest, maximum);
  $total = $total * expf($largest - both) + sum * expf(maximum - both);
  $largest = both;
};
for ($index $v = $lane; $v < $vectors; $v += $group) {
  const float4 $four = reinterpret_cast<const float4 *>($source)[$v];
  const float maximum = fmaxf(fmaxf($four.x, $four.y), fmaxf($four.z, $four.w));
  $merge(maximum, expf($four.x - maximum) + expf($four.y - maximum) + expf($four.z - maximum) + expf($four.w - maximum));
}
for ($index $j = $vectors * 4 + $lane; $j < $cols; $j += $group)
  $merge($source[$j], 1.0f);
#pragma unroll
for (int offset = 16; offset > 0; offset >>= 1) {
  const float maximum = __shfl_xor_sync(0xffffffffu, $largest, offset);
  const float sum = __shfl_xor_sync(0xffffffffu, $total, offset);
  $merge(maximum, sum);
}
$across$for ($index $v = $lane; $v < $vectors; $v += $group) {
  float4 $four = reinterpret_cast<const float4 *>($source)[$v];
  $four.x = expf($four.x - $largest) / $total;
  $four.y = expf($four.y - $largest) / $total;
  $four.z = expf($four.z - $largest) / $total;
  $four.w = expf($four.w - $largest) / $total;
  reinterpret_cast<float4 *>($target)[$v] = $four;
}
for ($index $j = $vectors * 4 + $lane; $j < $cols; $j += $group)
  $target[$j] = expf($source[$j] - $largest) / $total;
)cuda";

constexpr std::string_view kAcrossWarps = R"cuda(__shared__ float $maxima[$warps], $sums[$warps];
if (threadIdx.x % 32 == 0) {
  $maxima[threadIdx.x / 32] = $largest;
  $sums[threadIdx.x / 32] = $total;
}
__syncthreads();
$largest = $maxima[0];
$total = $sums[0];
for (int warp = 1; warp < $warps; ++warp)
  $merge($maxima[warp], $sums[warp]);
)cuda";

} // namespace

std::string render_softmax(const MatrixTask &task, int threads, int threads_a_row,
                           const std::set<std::string> &taken) {
  const bool a_warp_a_row = threads_a_row < threads;
  source::Bindings bindings = task.bindings();
  bindings.insert(
      {{"group", std::to_string(threads_a_row)},
       {"for", "for"},
       {"warps", std::to_string(threads / 32)},
       {"in_group", a_warp_a_row ? " % 32" : ""},
       {"rows_a_block",
        a_warp_a_row ? " * " + std::to_string(threads / 32) + " + threadIdx.x / 32" : ""}});
  bindings["across"] = a_warp_a_row ? "" : source::render(kAcrossWarps, bindings, taken);
  return source::render(kBody, bindings, taken);
}

} // namespace warpwright::templates
