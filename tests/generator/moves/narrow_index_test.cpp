// narrow_index: the exact text it makes, and what it refuses.
#include "generator/text/states/generator.h"
#include "tests/generator/check_move.h"

using namespace warpwright;
using namespace warpwright::test;

namespace {

const std::string kGather = R"cuda(__global__ void ^gather(const float *in, float *out, size_t n, long width) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long column = i % width;
  for (long j = 0; j < width; ++j)
    out[i] += in[column * width + j];
}
)cuda";

source::State gather_state(std::int64_t width) {
  source::State state = state_of(kGather);
  state.arguments = {std::nullopt, std::nullopt, 1000, width};
  state.extents = {4, 1, 1, 256, 1, 1};
  return state;
}

} // namespace

TEST_CASE("narrow_index: what fits in the launch is 32-bit in a copy of the body") {
  const auto after = states::apply_move(gather_state(10), {"narrow_index", {}});
  REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
  CHECK(after->file.text == R"cuda(static __device__ __forceinline__ void gather_narrow(const float *in, float *out, unsigned n, int width) {
  const unsigned i = (unsigned)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int column = i % width;
  for (int j = 0; j < width; ++j)
    out[i] += in[column * width + j];
}

__global__ void gather(const float *in, float *out, size_t n, long width) {
  if (n == 1000 && width == 10 && blockDim.x <= 256 && gridDim.x <= 4) {
    gather_narrow(in, out, 1000, 10);
    return;
  }
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long column = i % width;
  for (long j = 0; j < width; ++j)
    out[i] += in[column * width + j];
}
)cuda");
  CHECK(parse_errors(*after) == "");
}

TEST_CASE("narrow_index: variables of a product that may not fit stay") {
  const auto after = states::apply_move(gather_state(3'000'000), {"narrow_index", {}});
  REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
  CHECK(after->file.text.contains("long column = i % width;\n  for (int j = 0"));
}

TEST_CASE("narrow_index: nothing is offered where the launch is not known, or nothing is wide") {
  check_refused(kGather, "narrow_index()", "the kernel has no 64-bit index that is known to fit into 32 bits");
  check_refused(R"cuda(__global__ void ^k(float *x) { x[threadIdx.x] = 1; }
)cuda",
                "narrow_index()", "the kernel has no 64-bit index that is known to fit into 32 bits");
}
