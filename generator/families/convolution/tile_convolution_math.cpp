// How a block of the tile convolution multiplies: straight code for the taps of each height phase, on tensor cores by wgmma, or with scalars where
// there are none (the CPU backend, which so tests everything around the arithmetic).
//
// wgmma takes its first operand from registers, read right out of the block's input in shared memory: lane (quad, t) holds positions quad and
// quad + 8 of its warp's sixteen at channels t and t + 4. Taps go in batches that fit registers. FP32-accurate products are three of TF32 (high *
// high, high * low, low * high), whose sums leave the tensor core every few taps, because it truncates. Thread: pure functions.
#include "generator/families/convolution/tile_convolution.h"

#include "generator/families/convolution/convolution_math.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

using Math = ConvolutionTile::Math;

constexpr std::string_view kFunctions = R"cuda(
__device__ __forceinline__ unsigned long long @PREFIX@_describe(const float *tile) {
  const unsigned long long address = (unsigned)__cvta_generic_to_shared(tile);
  return (address & 0x3ffff) >> 4 | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}
// Values stay where they are until here: the compiler does not see that wgmma goes on reading and writing registers.
template <int kA, int kB, int kC> __device__ __forceinline__ void @PREFIX@_pin(float (&values)[kA][kB][kC]) {
#pragma unroll
  for (int a = 0; a < kA; ++a)
#pragma unroll
    for (int b = 0; b < kB; ++b)
#pragma unroll
      for (int c = 0; c < kC; ++c)
        asm volatile("" : "+f"(values[a][b][c])::"memory");
}
__device__ __forceinline__ void @PREFIX@_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void @PREFIX@_finish() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ __forceinline__ void @PREFIX@_multiply(float (&d)[@N@ / 2], const float (&a)[4], unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n@N@k8.f32.tf32.tf32 {@REGISTERS@}, "
               "{%@HALF_0@, %@HALF_1@, %@HALF_2@, %@HALF_3@}, %@HALF_4@, 1, 1, 1;"
               : @OPERANDS@
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
                 "r"(__float_as_uint(a[3])), "l"(b));
}
)cuda";

constexpr std::string_view kSetup = R"cuda(
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4, t = lane % 4;
  int at[kM][2];
#pragma unroll
  for (int i = 0; i < kM; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int position = (warp / 4 * kM + i) * 64 + warp % 4 * 16 + half * 8 + quad;
      at[i][half] = t * kPlane + position / kWidth * (@ISH@ * kLine) + position % kWidth * @ISW@;
    }
  float sums[kTogether * kM][1][kN / 2];
#pragma unroll
  for (int i = 0; i < kTogether * kM; ++i)
#pragma unroll
    for (int j = 0; j < kN / 2; ++j)
      sums[i][0][j] = 0;
  auto load = [&](float (&a)[kM][4], const float *from) {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        a[i][j] = @LOAD_ROUND@(from[at[i][j % 2] + j / 2 * (4 * kPlane)]);
  };
)cuda";

constexpr std::string_view kUnload = R"cuda(
#pragma unroll
  for (int i = 0; i < kTogether * kM; ++i)
#pragma unroll
    for (int j = 0; j < kN / 2; ++j) {
      const int column = j / 4 * 8 + 2 * t + j % 2;
      const int position = (warp / 4 * kM + i % kM) * 64 + warp % 4 * 16 + j / 2 % 2 * 8 + quad;
      shared[(i / kM * kN + column) * (kPositions + 4) + position] = sums[i][0][j];
    })cuda";

constexpr std::string_view kScalarSetup = R"cuda(
  const int at = (int)threadIdx.x / kWidth * (@ISH@ * kLine) + (int)threadIdx.x % kWidth * @ISW@;
  float sums[kTogether][kN];
#pragma unroll
  for (int i = 0; i < kTogether * kN; ++i)
    sums[i / kN][i % kN] = 0;
  auto multiply = [&](float (&sum)[kN], const float *from, const float *by) {
    for (int k = 0; k < 8; ++k) {
      const float x = from[at + k * kPlane];
#pragma unroll
      for (int n = 0; n < kN; ++n)
        sum[n] += x * by[n / 8 * 64 + k / 4 * 32 + n % 8 * 4 + k % 4];
    }
  };
)cuda";

constexpr std::string_view kScalarUnload = R"cuda(
#pragma unroll
  for (int i = 0; i < kTogether * kN; ++i)
    shared[i * (kPositions + 4) + threadIdx.x] = sums[i / kN][i % kN];)cuda";

/// The steps of one batch: loads, then the products of all of it.
std::string batch_text(const std::vector<BlockTap> &taps, std::size_t begin, std::size_t end,
                       const BlockPlan &plan, const ConvolutionBlock &block,
                       const std::string &prefix) {
  const bool split = block.math == Math::Split;
  std::string loads, products[3];
  std::size_t loaded = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const bool again =
        i > begin && taps[i].down == taps[i - 1].down && taps[i].across == taps[i - 1].across;
    if (!again) {
      loads += "      load(a[" + std::to_string(loaded) + "], tile + " +
               std::to_string(taps[i].down * plan.line + taps[i].across) + ");\n";
      ++loaded;
    }
    const std::string from = "[" + std::to_string(loaded - 1) + "]";
    const std::string by =
        prefix + "_describe(by + " + std::to_string(i * 8 * block.columns * block.copies());
    for (int m = 0; m < block.m_tiles; ++m) {
      const std::string sum =
          (split ? "parts[" : "sums[") + std::to_string(taps[i].phase * block.m_tiles + m) + "][0], ";
      const auto product = [&](const char *operand, const std::string &more) {
        return "      " + prefix + "_multiply(" + sum + operand + from + "[" + std::to_string(m) + "], " +
               by + more + "));\n";
      };
      products[2] += product("a", "");
      if (split) {
        products[0] += product("low", "");
        products[1] += product("a", " + " + std::to_string(8 * block.columns));
      }
    }
  }
  const std::string count = std::to_string(loaded);
  std::string text = "    {\n      float a[" + count + "][kM][4];\n" + loads;
  if (split)
    text += "      float low[" + count + "][kM][4];\n#pragma unroll\n      for (int i = 0; i < " +
            count +
            " * kM * 4; ++i) {\n        const float value = a[i / (kM * 4)][i / 4 % kM][i % 4], "
            "high = " +
            prefix + "_high(value);\n        a[i / (kM * 4)][i / 4 % kM][i % 4] = high;\n        " +
            "low[i / (kM * 4)][i / 4 % kM][i % 4] = " + prefix + "_round(value - high);\n      }\n";
  const std::string pins =
      "      " + prefix + "_pin(a);\n" +
      (split ? "      " + prefix + "_pin(low);\n      " + prefix + "_pin(parts);\n"
             : "      " + prefix + "_pin(sums);\n");
  return text + pins + "      " + prefix + "_begin();\n" + products[0] + products[1] + products[2] +
         "      " + prefix + "_finish();\n" + pins + "    }\n";
}

/// After so many taps the sums of split products leave the tensor core.
constexpr std::size_t kTapsAPart = 8;

std::string taps_text(const std::vector<BlockTap> &taps, const BlockPlan &plan,
                      const ConvolutionBlock &block, const std::string &prefix) {
  if (block.math == Math::Scalar) {
    std::string text;
    for (std::size_t i = 0; i < taps.size(); ++i)
      text += "    multiply(sums[" + std::to_string(taps[i].phase) + "], tile + " +
              std::to_string(taps[i].down * plan.line + taps[i].across) + ", by + " +
              std::to_string(static_cast<std::int64_t>(i) * 8 * block.columns) + ");\n";
    return text;
  }
  const bool split = block.math == Math::Split;
  const std::size_t batch = static_cast<std::size_t>(std::max(1, (split ? 4 : 8) / block.m_tiles));
  std::string text;
  for (std::size_t i = 0; i < taps.size();) {
    const std::size_t part = split ? std::min(taps.size(), i + kTapsAPart) : taps.size();
    if (split)
      text +=
          "    {\n    float parts[kTogether * kM][1][kN / 2];\n#pragma unroll\n    for (int i = 0; "
          "i < "
          "kTogether * kM; ++i)\n#pragma unroll\n      for (int j = 0; j < kN / 2; ++j)\n        "
          "parts[i][0][j] = 0;\n";
    for (; i < part; i += batch)
      text += batch_text(taps, i, std::min(part, i + batch), plan, block, prefix);
    i = part;
    if (split)
      text += "#pragma unroll\n    for (int i = 0; i < kTogether * kM; ++i)\n#pragma unroll\n      "
              "for (int j = 0; "
              "j < kN / 2; ++j)\n        sums[i][0][j] += parts[i][0][j];\n    }\n";
  }
  return text;
}

} // namespace

BlockMath block_math(const BlockPlan &plan, const ConvolutionBlock &block,
                     const std::string &prefix) {
  BlockMath math;
  for (std::size_t phase = 0; phase < plan.taps.size(); ++phase) {
    const std::string text = taps_text(plan.taps[phase], plan, block, prefix);
    math.compute += plan.taps.size() == 1
                        ? text
                        : "    if (height_phase == " + std::to_string(static_cast<std::int64_t>(phase)) +
                              ") {\n" + text + "    }\n";
  }
  if (block.math == Math::Scalar) {
    math.setup = kScalarSetup;
    math.unload = kScalarUnload;
    return math;
  }
  const int half = block.columns / 2;
  Places places{{"PREFIX", prefix}, {"N", std::to_string(block.columns)}};
  for (int i = 0; i < half; ++i) {
    places["REGISTERS"] += (i ? ", %" : "%") + std::to_string(i);
    places["OPERANDS"] += (i ? ", " : "") + ("\"+f\"(d[" + std::to_string(i) + "])");
  }
  for (int i = 0; i < 5; ++i)
    places["HALF_" + std::to_string(i)] = std::to_string(half + i);
  places["LOAD_ROUND"] = block.math == Math::Split ? "" : prefix + "_round";
  math.functions = fill_places(tf32_functions(), places) + fill_places(kFunctions, places);
  math.setup = fill_places(kSetup, places);
  math.unload = kUnload;
  return math;
}

} // namespace warpwright::generator
