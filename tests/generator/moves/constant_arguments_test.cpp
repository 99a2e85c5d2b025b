// constant_arguments: the exact text it makes, and what it refuses.
#include "generator/text/states/generator.h"
#include "tests/generator/check_move.h"

using namespace warpwright;
using namespace warpwright::test;

namespace {

const std::string kFilter = R"cuda(// Box filter.
__global__ void ^box(const float *x, float *out, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < width; ++j)
    sum += x[i + j];
  out[i] = sum;
}
)cuda";

} // namespace

TEST_CASE("constant_arguments: the body becomes a function, called with numbers where they are right") {
  source::State before = state_of(kFilter);
  before.arguments = {std::nullopt, std::nullopt, 1000, 5};
  const auto after = states::apply_move(before, {"constant_arguments", {{"width", "5"}}});
  REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
  CHECK(after->file.text == R"cuda(// Box filter.
static __device__ __forceinline__ void box_body(const float *x, float *out, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < width; ++j)
    sum += x[i + j];
  out[i] = sum;
}

__global__ void box(const float *x, float *out, int n, int width) {
  if (width == 5)
    box_body(x, out, n, 5);
  else
    box_body(x, out, n, width);
}
)cuda");
  CHECK(parse_errors(*after) == "");
}

TEST_CASE("constant_arguments: nothing is offered where the values are not known") {
  check_refused(kFilter, "constant_arguments(width=5)",
                "no integer argument with a known value bounds a loop or divides");
}
