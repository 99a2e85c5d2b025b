// The text of the tiled transpose (NVIDIA, "An efficient matrix transpose in CUDA"); see transpose.h.
#include "generator/text/templates/transpose.h"

namespace warpwright::generator {
namespace {

constexpr std::string_view kBody = R"cuda(__shared__ $type $tile[$T][$T$pad];
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

std::string render_transpose(const TransposeTask &task, int tile, int block_rows, int padding,
                             const std::set<std::string> &taken) {
  auto fresh = [&](const std::string &name) { return render("$" + name, {}, taken); };
  const std::string element = fresh("tile") + "[threadIdx.x][" + fresh("i") + "]";
  return render(kBody,
                {{"type", task.element},
                 {"T", std::to_string(tile)},
                 {"R", std::to_string(block_rows)},
                 {"pad", padding ? " + " + std::to_string(padding) : ""},
                 {"index", task.index_type},
                 {"row", task.row_name},
                 {"col", task.col_name},
                 {"rows", parenthesised(task.rows)},
                 {"cols", parenthesised(task.cols)},
                 {"input", task.input},
                 {"output", task.output},
                 {"input_stride", parenthesised(task.input_stride)},
                 {"output_stride", parenthesised(task.output_stride)},
                 {"store", task.store},
                 {"value", render(task.value, {{"element", element}}, taken)}},
                taken);
}

} // namespace warpwright::generator
