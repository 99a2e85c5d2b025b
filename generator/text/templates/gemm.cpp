// The register-tiled GEMM as CUDA text; see gemm.h.
//
// A warp covers 4 x 8 thread tiles, so that a fragment load is one broadcast pass. Each thread tile
// is split into groups of four rows and columns a quarter tile apart, so that float4 loads from
// shared memory use distinct banks (CUTLASS, "efficient GEMM in CUDA"). The next tile is loaded into
// registers while the current tile is multiplied. One barrier a step is enough because the buffers
// alternate.
#include "generator/text/templates/gemm.h"

namespace warpwright::templates {
namespace {

constexpr std::string_view kHead = R"cuda(constexpr int $tile_m = $BM, $tile_n = $BN, $tile_k = $BK;
constexpr int $thread_m = $TM, $thread_n = $TN;
constexpr int $threads = ($tile_m / $thread_m) * ($tile_n / $thread_n);
constexpr int $loads_a = $tile_m * $tile_k / 4 / $threads;
constexpr int $loads_b = $tile_n * $tile_k / 4 / $threads;
alignas(16) __shared__ float $tile_a[2][$tile_k][$tile_m + 4];
alignas(16) __shared__ float $tile_b[2][$tile_k][$tile_n + 4];

const int $thread = threadIdx.x;
const int $warp = $thread / 32, $lane = $thread % 32;
constexpr int $warps_n = $tile_n / $thread_n / 8;
const int $group_m = ($warp / $warps_n * 4 + $lane / 8) * 4;
const int $group_n = ($warp % $warps_n * 8 + $lane % 8) * 4;
const $index $first_row = blockIdx.y * $tile_m;
const $index $first_col = blockIdx.x * $tile_n;
const bool $vector_a = reinterpret_cast<size_t>($a) % 16 == 0 && $lda % 4 == 0;
const bool $vector_b = reinterpret_cast<size_t>($b) % 16 == 0 && $ldb % 4 == 0;

// Four neighbours in memory, zeros beyond the matrix.
auto $load4 = [](const float *source, int valid, bool vector) {
  float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (vector && valid >= 4) {
    value = *reinterpret_cast<const float4 *>(source);
  } else {
    if (valid > 0) value.x = source[0];
    if (valid > 1) value.y = source[1];
    if (valid > 2) value.z = source[2];
    if (valid > 3) value.w = source[3];
  }
  return value;
};

float4 $next_a[$loads_a], $next_b[$loads_b];
auto $fetch = [&](int step) {
)cuda";

// The operand's memory runs along k: a float4 becomes a column of the tile.
constexpr std::string_view kFetchAlongK = R"cuda(  #pragma unroll
  for (int load = 0; load < $loads; ++load) {
    const int vector = $thread + load * $threads;
    const $index outer = $first + vector / ($tile_k / 4);
    const $index inner = step + vector % ($tile_k / 4) * 4;
    const int valid = outer < $limit ? static_cast<int>($depth - inner) : 0;
    $next[load] = $load4($pointer + static_cast<size_t>(outer) * $ld + inner, valid, $vectorised);
  }
)cuda";
constexpr std::string_view kStoreAlongK = R"cuda(  #pragma unroll
  for (int load = 0; load < $loads; ++load) {
    const int vector = $thread + load * $threads;
    const int outer = vector / ($tile_k / 4);
    const int inner = vector % ($tile_k / 4) * 4;
    $tile[buffer][inner + 0][outer] = $next[load].x;
    $tile[buffer][inner + 1][outer] = $next[load].y;
    $tile[buffer][inner + 2][outer] = $next[load].z;
    $tile[buffer][inner + 3][outer] = $next[load].w;
  }
)cuda";

// The operand's memory runs along the tile's rows: a float4 goes in as it is.
constexpr std::string_view kFetchAcrossK = R"cuda(  #pragma unroll
  for (int load = 0; load < $loads; ++load) {
    const int vector = $thread + load * $threads;
    const $index outer = step + vector / ($extent / 4);
    const $index inner = $first + vector % ($extent / 4) * 4;
    const int valid = outer < $depth ? static_cast<int>($limit - inner) : 0;
    $next[load] = $load4($pointer + static_cast<size_t>(outer) * $ld + inner, valid, $vectorised);
  }
)cuda";
constexpr std::string_view kStoreAcrossK = R"cuda(  #pragma unroll
  for (int load = 0; load < $loads; ++load) {
    const int vector = $thread + load * $threads;
    *reinterpret_cast<float4 *>(&$tile[buffer][vector / ($extent / 4)][vector % ($extent / 4) * 4]) = $next[load];
  }
)cuda";

constexpr std::string_view kMain = R"cuda(};

float $result[$thread_m][$thread_n] = {};
$fetch(0);
$store(0);
__syncthreads();
int $buffer = 0;
for (int $step = 0; $step < $depth; $step += $tile_k) {
  const bool $more = $step + $tile_k < $depth;
  if ($more)
    $fetch($step + $tile_k);
  #pragma unroll
  for (int $k = 0; $k < $tile_k; ++$k) {
    float $left[$thread_m], $right[$thread_n];
    #pragma unroll
    for (int i = 0; i < $thread_m; i += 4)
      *reinterpret_cast<float4 *>(&$left[i]) =
          *reinterpret_cast<const float4 *>(&$tile_a[$buffer][$k][i * ($tile_m / $thread_m) + $group_m]);
    #pragma unroll
    for (int j = 0; j < $thread_n; j += 4)
      *reinterpret_cast<float4 *>(&$right[j]) =
          *reinterpret_cast<const float4 *>(&$tile_b[$buffer][$k][j * ($tile_n / $thread_n) + $group_n]);
    #pragma unroll
    for (int i = 0; i < $thread_m; ++i)
      #pragma unroll
      for (int j = 0; j < $thread_n; ++j)
        $result[i][j] += $left[i] * $right[j];
  }
  if ($more)
    $store($buffer ^ 1);
  __syncthreads();
  $buffer ^= 1;
}

)cuda";

constexpr std::string_view kPlainStore =
    R"cuda(const bool $vector_c = reinterpret_cast<size_t>($c) % 16 == 0 && $ldc % 4 == 0;
#pragma unroll
for (int $i = 0; $i < $thread_m; ++$i) {
  const $index $row = $first_row + $i / 4 * 4 * ($tile_m / $thread_m) + $group_m + $i % 4;
  if ($row >= $rows)
    continue;
  #pragma unroll
  for (int $j = 0; $j < $thread_n; $j += 4) {
    const $index $col = $first_col + $j * ($tile_n / $thread_n) + $group_n;
    float *$target = $c + static_cast<size_t>($row) * $ldc + $col;
    if ($vector_c && $col + 3 < $cols) {
      *reinterpret_cast<float4 *>($target) =
          make_float4($result[$i][$j], $result[$i][$j + 1], $result[$i][$j + 2], $result[$i][$j + 3]);
    } else {
      #pragma unroll
      for (int $offset = 0; $offset < 4; ++$offset)
        if ($col + $offset < $cols)
          $target[$offset] = $result[$i][$j + $offset];
    }
  }
}
)cuda";

constexpr std::string_view kUserStore = R"cuda(#pragma unroll
for (int $i = 0; $i < $thread_m; ++$i) {
  const $index $row = $first_row + $i / 4 * 4 * ($tile_m / $thread_m) + $group_m + $i % 4;
  #pragma unroll
  for (int $j = 0; $j < $thread_n; ++$j) {
    const $index $col = $first_col + $j / 4 * 4 * ($tile_n / $thread_n) + $group_n + $j % 4;
    if ($row < $rows && $col < $cols) {
      float $sum = $result[$i][$j];
      $epilogue
    }
  }
}
)cuda";

/// Bindings of one operand: its matrix, and the locals of its tile.
source::Bindings operand_bindings(const GemmTask &task, bool is_a,
                                  const std::set<std::string> &taken) {
  const auto local = [&](const char *name) {
    return source::fresh_name(std::string(name) + (is_a ? "_a" : "_b"), taken);
  };
  return {{"loads", local("loads")},
          {"next", local("next")},
          {"tile", local("tile")},
          {"vectorised", local("vector")},
          {"first", source::fresh_name(is_a ? "first_row" : "first_col", taken)},
          {"extent", source::fresh_name(is_a ? "tile_m" : "tile_n", taken)},
          {"pointer", is_a ? task.a : task.b},
          {"ld", source::parenthesised(is_a ? task.lda : task.ldb)},
          {"limit", source::parenthesised(is_a ? task.rows : task.cols)}};
}

} // namespace

source::Bindings matrix_bindings(const GemmTask &task) {
  return {{"a", task.a},
          {"b", task.b},
          {"c", task.c},
          {"lda", source::parenthesised(task.lda)},
          {"ldb", source::parenthesised(task.ldb)},
          {"ldc", source::parenthesised(task.ldc)},
          {"rows", source::parenthesised(task.rows)},
          {"cols", source::parenthesised(task.cols)},
          {"depth", source::parenthesised(task.depth)},
          {"row", task.row_name},
          {"col", task.col_name},
          {"sum", task.sum_name}};
}

std::string render_gemm(const GemmTask &task, const GemmShape &shape,
                        const std::set<std::string> &names) {
  std::set<std::string> taken = names;
  taken.insert({task.row_name, task.col_name, task.sum_name});
  source::Bindings common = matrix_bindings(task);
  common.insert({{"BM", std::to_string(shape.m)},
                 {"BN", std::to_string(shape.n)},
                 {"BK", std::to_string(shape.k)},
                 {"TM", std::to_string(shape.thread_m)},
                 {"TN", std::to_string(shape.thread_n)},
                 {"index", task.index_type},
                 {"epilogue", source::deepen(task.epilogue, "      ")}});
  std::string text = source::render(kHead, common, taken);
  std::string store = source::render("};\nauto $store = [&](int buffer) {\n", common, taken);
  for (const bool is_a : {true, false}) {
    const bool along_k = is_a != (is_a ? task.a_transposed : task.b_transposed);
    source::Bindings bindings = operand_bindings(task, is_a, taken);
    bindings.insert(common.begin(), common.end());
    text += source::render(along_k ? kFetchAlongK : kFetchAcrossK, bindings, taken);
    store += source::render(along_k ? kStoreAlongK : kStoreAcrossK, bindings, taken);
  }
  text += store + source::render(kMain, common, taken);
  return text + source::render(task.plain_store ? kPlainStore : kUserStore, common, taken);
}

} // namespace warpwright::templates
