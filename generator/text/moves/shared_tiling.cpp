// shared_tiling(tile, padding): a recognised matrix product reads its operands through square shared-memory tiles,
// one element of C a thread as before.
//
// The textbook step before gemm: each element of A and B is read from global memory once a tile instead of once a
// thread. Offered for operands that are not transposed, whose tiles load coalesced.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/matmul.h"
#include "generator/text/source/render.h"

namespace warpwright::generator {

namespace {

constexpr std::string_view kBody = R"cuda(__shared__ float $tile_a[$T][$T$pad];
__shared__ float $tile_b[$T][$T$pad];
const int $row = blockIdx.y * $T + threadIdx.y;
const int $col = blockIdx.x * $T + threadIdx.x;
float $sum = 0.0f;
for (int $step = 0; $step < $depth; $step += $T) {
  const int $left = $step + threadIdx.x;
  const int $top = $step + threadIdx.y;
  $tile_a[threadIdx.y][threadIdx.x] =
      $row < $rows && $left < $depth ? $a[static_cast<size_t>($row) * $lda + $left] : 0.0f;
  $tile_b[threadIdx.y][threadIdx.x] =
      $top < $depth && $col < $cols ? $b[static_cast<size_t>($top) * $ldb + $col] : 0.0f;
  __syncthreads();
  #pragma unroll
  for (int $k = 0; $k < $T; ++$k)
    $sum += $tile_a[threadIdx.y][$k] * $tile_b[$k][threadIdx.x];
  __syncthreads();
}
if ($row < $rows && $col < $cols) {
  $epilogue
}
)cuda";

} // namespace

Choices check_shared_tiling(const KernelSource &source) {
  auto matmul = match_matmul(source);
  if (!matmul)
    return Choices::none(matmul.error().message);
  if (matmul->task.a_transposed || matmul->task.b_transposed)
    return Choices::none("an operand is transposed");
  Choices legal;
  for (int tile : {16, 32})
    for (int padding : {0, 1})
      legal.choices.push_back(
          {{"tile", std::to_string(tile)}, {"padding", std::to_string(padding)}});
  return legal;
}

Result<Edits> apply_shared_tiling(const KernelSource &source, const Parameters &parameters) {
  auto matmul = match_matmul(source);
  if (!matmul)
    return std::unexpected(matmul.error());
  const GemmTask &task = matmul->task;
  const int tile = number(parameters, "tile");
  const std::string text = parameters.at("tile"), padding = parameters.at("padding");
  auto edits = reshape_launches(
      source, [&](const clang::CUDAKernelCallExpr *launch) -> std::optional<ShapeTexts> {
        auto rows = at_launch(source, launch, matmul->rows),
             cols = at_launch(source, launch, matmul->cols);
        if (!rows || !cols)
          return std::nullopt;
        return ShapeTexts{{ceil_div_text(*cols, tile), ceil_div_text(*rows, tile), "1"},
                          {text, text, "1"}};
      });
  if (!edits)
    return edits;
  edits->push_back(source.body_edit(render(kBody,
                                           {{"T", text},
                                            {"pad", padding == "0" ? "" : " + " + padding},
                                            {"a", task.a},
                                            {"b", task.b},
                                            {"lda", parenthesised(task.lda)},
                                            {"ldb", parenthesised(task.ldb)},
                                            {"rows", parenthesised(task.rows)},
                                            {"cols", parenthesised(task.cols)},
                                            {"depth", parenthesised(task.depth)},
                                            {"row", task.row_name},
                                            {"col", task.col_name},
                                            {"sum", task.sum_name},
                                            {"epilogue", deepen(task.epilogue, "  ")}},
                                           source.taken_names())));
  return edits;
}

} // namespace warpwright::generator
