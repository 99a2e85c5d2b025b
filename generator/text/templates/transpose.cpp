// The tiled transpose (NVIDIA, "An efficient matrix transpose in CUDA") as CUDA text; see
// transpose.h.
#include "generator/text/templates/transpose.h"

namespace warpwright::templates {
namespace {

constexpr std::string_view kTransposeBody = R"cuda(__shared__ $type $tile[$T][$T + 1];
const $index $first_row = blockIdx.y * $T;
const $index $first_col = blockIdx.x * $T;
{
  const $index $col = $first_col + threadIdx.x;
  #pragma unroll
  for (int $i = threadIdx.y; $i < $T; $i += $R) {
    const $index $row = $first_row + $i;
    if ($row < $rows && $col < $cols)
      $tile[$i][threadIdx.x] = $input[static_cast<size_t>($row) * $input_stride + $col];
  }
}
__syncthreads();
{
  const $index $row = $first_row + threadIdx.x;
  #pragma unroll
  for (int $i = threadIdx.y; $i < $T; $i += $R) {
    const $index $col = $first_col + $i;
    if ($row < $rows && $col < $cols)
      $output[static_cast<size_t>($col) * $output_stride + $row] $store $value;
  }
}
)cuda";

} // namespace

std::string render_transpose(const TransposeTask &task, int tile, int block_rows,
                             const std::set<std::string> &taken) {
  const std::string element =
      source::fresh_name("tile", taken) + "[threadIdx.x][" + source::fresh_name("i", taken) + "]";
  source::Bindings bindings = task.bindings();
  bindings.insert({{"type", task.element},
                   {"T", std::to_string(tile)},
                   {"R", std::to_string(block_rows)},
                   {"col", task.col_name},
                   {"store", task.store},
                   {"value", source::render(task.value, {{"element", element}}, taken)}});
  return source::render(kTransposeBody, bindings, taken);
}

} // namespace warpwright::templates
