// Move shared_tiling(tile, padding): a matrix product reads its operands through square tiles in
// shared memory, still with one thread for each element of C.
//
// Each element of A and B is read from global memory once a tile and not once a thread. The move
// gemm goes further. Offered for operands that are not transposed, whose tiles load coalesced.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/launches.h"
#include "generator/text/lift/matmul.h"

namespace warpwright::moves {
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

Result<Offer> offer_shared_tiling(const source::KernelSource &source) {
  const auto matmul = lift::match_matmul(source);
  if (!matmul)
    return std::unexpected(matmul.error());
  if (matmul->task.a_transposed || matmul->task.b_transposed)
    return fail("an operand is transposed");
  return Offer{choice_table({"tile", "padding"}, {{16, 0}, {16, 1}, {32, 0}, {32, 1}}),
               [&source, matmul = *matmul](const Parameters &choice) {
                 const std::string padding = choice.at("padding");
                 source::Bindings bindings = matrix_bindings(matmul.task);
                 bindings["T"] = choice.at("tile");
                 bindings["pad"] = padding == "0" ? "" : " + " + padding;
                 bindings["epilogue"] = source::deepen(matmul.task.epilogue, "  ");
                 const int tile = number(choice, "tile");
                 return lift::replace_by_tiles(
                     source, source::render(kBody, bindings, source.taken_names()),
                     {matmul.rows, matmul.cols, tile, tile, tile, tile});
               }};
}

} // namespace warpwright::moves
