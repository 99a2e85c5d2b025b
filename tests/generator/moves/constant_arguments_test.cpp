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

TEST_CASE("constant_arguments: a number for an enumeration is cast") {
  source::State before = state_of(R"cuda(enum Mode { kPlain, kScaled };
__global__ void ^scale(float *x, int n, Mode mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = mode == kPlain ? x[i] : x[i] * 2;
}
)cuda");
  before.arguments = {std::nullopt, 1000, 1};
  const auto after = states::apply_move(before, {"constant_arguments", {{"mode", "1"}}});
  REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
  CHECK(after->file.text.contains("if (mode == 1)\n    scale_body(x, n, static_cast<Mode>(1));"));
}

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
                "no integer argument with a known value bounds a loop, divides or multiplies, or decides a branch");
}

TEST_CASE("constant_arguments: divisors that are computed from arguments count, in templates too") {
  source::State before = state_of(R"cuda(template <typename T, int kPad>
__global__ void ^planes(const T *x, T *out, int n, int h, int w, bool flip) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int plane = h * w;
  if (i < n)
    out[i] = flip ? x[i % plane] : x[i];
}
)cuda");
  before.arguments = {std::nullopt, std::nullopt, 1000, 5, 6, 1};
  const auto after = states::apply_move(before, {"constant_arguments", {{"h", "5"}, {"w", "6"}}});
  REQUIRE_MESSAGE(after, (after ? "" : describe(after.error())));
  CHECK(after->file.text == R"cuda(template <typename T, int kPad>
static __device__ __forceinline__ void planes_body(const T *x, T *out, int n, int h, int w, bool flip) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int plane = h * w;
  if (i < n)
    out[i] = flip ? x[i % plane] : x[i];
}

template <typename T, int kPad>
__global__ void planes(const T *x, T *out, int n, int h, int w, bool flip) {
  if (h == 5 && w == 6)
    planes_body<T, kPad>(x, out, n, 5, 6, flip);
  else
    planes_body<T, kPad>(x, out, n, h, w, flip);
}
)cuda");
  CHECK(parse_errors(*after) == "");
  CHECK(states::apply_move(before, {"constant_arguments", {{"h", "5"}, {"w", "6"}, {"flip", "1"}}}));
}
