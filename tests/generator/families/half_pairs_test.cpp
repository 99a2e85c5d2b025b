// FP32 products of half pairs over the whole range of FP32: the device text that packs and judges them, on the CPU device.
//
// Only the tensor cores are stood in for, by sums in double precision, so that what is checked is the pairs: |error| is at most 17 * 2^-24 *
// sum |a||b|, and infinities, NaN and overflow come out as FP32 gives them. bench/matmul/range_run.py asks the same of a GPU, where tensor
// cores truncate. Thread: one.
#include "tests/generator/families/region_run.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

using namespace warpwright;
using namespace warpwright::test;

namespace {

constexpr const char *kHalfPairs =
#include "generator/device/half_pairs.cuh.inc"
#include "generator/device/sum_again.cuh.inc"
    ;

/// One warp a product of rows of `a` and `b`, which lie along k.
constexpr const char *kKernel = R"cuda(
struct Row {
  warpwright_split::RowScale scale;
  unsigned largest;
};
__device__ Row row_of(const float *values, int depth) {
  using namespace warpwright_split;
  Row row;
  row.largest = 0;
  for (int k = 0; k < depth; ++k)
    row.largest = max(row.largest, __float_as_uint(values[k]) & 0x7fffffffu);
  int small = 0;
  unsigned short high, low;
  for (int k = 0; k < depth; ++k)
    small += split_any(values[k], row.largest, high, low);
  row.scale = scale_of(row.largest, small);
  return row;
}
extern "C" __global__ void products(const float *a, const float *b, float *c, int *again, int depth) {
  using namespace warpwright_split;
  a += blockIdx.y * depth;
  b += blockIdx.x * depth;
  const Row row_a = row_of(a, depth), row_b = row_of(b, depth);
  double small = 0, large = 0;
  for (int k = 0; k < depth; ++k) {
    unsigned short high_a, low_a, high_b, low_b;
    split_any(a[k], row_a.largest, high_a, low_a);
    split_any(b[k], row_b.largest, high_b, low_b);
    const auto number = [](unsigned short half) { return (double)__half2float(__ushort_as_half(half)); };
    small += number(high_a) * number(low_b) + number(low_a) * number(high_b);
    large += number(high_a) * number(high_b);
  }
  const float sum = (float)(small / 2048 + large);
  float value;
  const bool doubtful = value_of(sum, row_a.scale.shift + row_b.scale.shift,
                                 row_a.scale.doubt + row_b.scale.doubt, value);
  if (doubtful) {
    float sums[1];
    warpwright_again::add(0, depth, [&](int k) { return a[k]; }, [&](int k, int) { return b[k]; }, sums);
    value = sums[0];
  }
  if (threadIdx.x == 0) {
    c[blockIdx.y * gridDim.x + blockIdx.x] = value;
    again[blockIdx.y * gridDim.x + blockIdx.x] = doubtful;
  }
}
)cuda";

constexpr int kRows = 12, kColumns = 10;

struct Products {
  std::vector<float> c;
  int again = 0; ///< sums that were in doubt
};

template <class T>
struct Memory {
  runner::Address address = 0;
  std::size_t count;
  explicit Memory(std::size_t elements) : count(elements) {
    address = cpu_device()
                  .allocate((count * sizeof(T) / runner::kAlignment + 1) * runner::kAlignment)
                  .value();
  }
  Memory(const std::vector<T> &values) : Memory(values.size()) {
    cpu_device().upload(address, values.data(), count * sizeof(T)).value();
  }
  Memory(const Memory &) = delete;
  ~Memory() { cpu_device().free(address); }
  std::vector<T> read() const {
    std::vector<T> values(count);
    cpu_device().download(values.data(), address, count * sizeof(T)).value();
    return values;
  }
};

Products multiply(const std::vector<float> &a, const std::vector<float> &b, int depth) {
  const std::string source = std::string(kHalfPairs) + kKernel;
  static const auto program = cpu_device().compile({source, {}, {"products"}});
  REQUIRE_MESSAGE(program, (program ? "" : program.error().message + program.error().log));
  const Memory<float> in_a(a), in_b(b), out(kRows * kColumns);
  const Memory<std::int32_t> again(kRows * kColumns);
  cpu_device().set_deadline(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  runner::LaunchOperation launch;
  launch.program = program->get();
  launch.kernel_name = "products";
  launch.grid = {kColumns, kRows, 1};
  launch.block = {32, 1, 1};
  for (const runner::Address address : {in_a.address, in_b.address, out.address, again.address})
    launch.arguments.push_back(runner::ArgumentValue::of(address));
  launch.arguments.push_back(runner::ArgumentValue::of(std::int32_t{depth}));
  const auto ran = cpu_device().launch(launch);
  REQUIRE_MESSAGE(ran, (ran ? "" : ran.error().message));
  Products result{out.read(), 0};
  for (const std::int32_t one : again.read())
    result.again += one;
  return result;
}

/// @return how many sums were in doubt
int check(const std::vector<float> &a, const std::vector<float> &b, int depth) {
  const Products products = multiply(a, b, depth);
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t column = 0; column < kColumns; ++column) {
      long double exact = 0, magnitude = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k) {
        const long double product =
            static_cast<long double>(a[row * static_cast<std::size_t>(depth) + k]) *
            static_cast<long double>(b[column * static_cast<std::size_t>(depth) + k]);
        exact += product;
        magnitude += std::abs(product);
      }
      const float value = products.c[row * kColumns + column];
      CAPTURE(row);
      CAPTURE(column);
      CAPTURE(value);
      CAPTURE(static_cast<double>(exact));
      CAPTURE(static_cast<double>(magnitude));
      if (std::isnan(exact)) {
        CHECK(std::isnan(value));
        continue;
      }
      if (std::isinf(exact)) {
        CHECK(value == static_cast<float>(exact));
        continue;
      }
      // The last term: what is rounded among denormals.
      const long double bound =
          17 * std::ldexp(magnitude, -24) + static_cast<long double>(depth) * 0x1p-149L;
      if (!std::isfinite(value)) { // a sum of FP32 may overflow before its end
        CHECK(magnitude + bound >= std::numeric_limits<float>::max());
        continue;
      }
      CHECK(std::abs(static_cast<long double>(value) - exact) <= bound);
    }
  return products.again;
}

using Random = std::mt19937_64;
using Element = std::function<float(int row, int k)>;

std::vector<float> matrix(int rows, int depth, const Element &element) {
  std::vector<float> values;
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < depth; ++k)
      values.push_back(element(row, k));
  return values;
}

struct Draw {
  Random random{17};
  float normal() { return static_cast<float>(std::normal_distribution<double>()(random)); }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  /// Any bits of the mantissa, and an exponent of [low, high].
  float wide(int low, int high) {
    const float value = std::ldexp(1 + static_cast<float>(integer(0, (1 << 23) - 1)) * 0x1p-23f,
                                   integer(low, high));
    return integer(0, 1) ? value : -value;
  }
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

} // namespace

TEST_CASE("numbers as layers have them are pairs, and hardly a sum is added again") {
  Draw draw;
  for (const int depth : {1, 33, 256}) {
    const auto normal = [&](int, int) { return draw.normal(); };
    CHECK(check(matrix(kRows, depth, normal), matrix(kColumns, depth, normal), depth) == 0);
    const auto scaled = [&](int row, int) { return std::ldexp(draw.normal(), 3 * row); };
    CHECK(check(matrix(kRows, depth, scaled), matrix(kColumns, depth, scaled), depth) == 0);
    const auto relu = [&](int, int) { return std::max(0.0f, draw.normal()); };
    CHECK(check(matrix(kRows, depth, relu), matrix(kColumns, depth, normal), depth) == 0);
  }
  // Probabilities of a softmax, tails of which are far below the largest.
  const auto tails = [&](int, int k) {
    return k == 3 ? 1.0f : std::exp(-60.0f * std::abs(draw.normal()));
  };
  const auto normal = [&](int, int) { return draw.normal(); };
  CHECK(check(matrix(kRows, 256, tails), matrix(kColumns, 256, normal), 256) <= 1);
  // Columns of zeros, as pruning leaves them, are no reason for doubt.
  const auto pruned = [&](int row, int) { return row % 2 ? 0.0f : draw.normal(); };
  CHECK(check(matrix(kRows, 256, tails), matrix(kColumns, 256, pruned), 256) <= 1);
}

TEST_CASE("rows of 2^0 to 2^30, along k and across it, in one operand and against each other") {
  Draw draw;
  const int depth = 93;
  const auto up = [&](int, int k) { return std::ldexp(draw.normal(), k % 31); };
  const auto down = [&](int, int k) { return std::ldexp(draw.normal(), -(k % 31)); };
  const auto normal = [&](int, int) { return draw.normal(); };
  const auto sparse = [&](int row, int k) { return k % 31 < row ? draw.normal() : 0.0f; };
  check(matrix(kRows, depth, up), matrix(kColumns, depth, normal), depth);
  check(matrix(kRows, depth, up), matrix(kColumns, depth, down), depth);
  check(matrix(kRows, depth, sparse), matrix(kColumns, depth, up), depth);
  check(matrix(kRows, depth, up), matrix(kColumns, depth, sparse), depth);
  // One element against a row that is 2^60 larger elsewhere, where the other operand is nothing.
  const auto lone = [&](int, int k) { return k == 5 ? 1 + draw.normal() / 8 : 0.0f; };
  const auto hill = [&](int, int k) {
    return k == 5 ? draw.normal() : std::ldexp(draw.normal(), 60);
  };
  CHECK(check(matrix(kRows, depth, lone), matrix(kColumns, depth, hill), depth) ==
        kRows * kColumns);
}

TEST_CASE("any exponents, denormal numbers, zeros and sums that overflow") {
  Draw draw;
  for (int round = 0; round < 12; ++round) {
    const int depth = draw.integer(1, 200);
    const auto anything = [&](int, int) { return draw.wide(-149, 127); };
    const auto moderate = [&](int, int) { return draw.wide(-40, 0); };
    const auto some = [&](int, int) { return draw.integer(0, 3) ? 0.0f : draw.wide(-149, 127); };
    const auto tiny = [&](int, int) { return draw.wide(-149, -120); };
    const auto huge = [&](int, int) { return draw.wide(90, 127); };
    check(matrix(kRows, depth, anything), matrix(kColumns, depth, moderate), depth);
    check(matrix(kRows, depth, some), matrix(kColumns, depth, moderate), depth);
    check(matrix(kRows, depth, tiny), matrix(kColumns, depth, huge), depth);
    check(matrix(kRows, depth, tiny), matrix(kColumns, depth, moderate), depth);
    const auto one = [&](int, int k) { return k == 0 ? draw.wide(100, 127) : 0.0f; };
    check(matrix(kRows, depth, one), matrix(kColumns, depth, huge), depth);
  }
}

TEST_CASE("infinities and NaN come out as FP32 gives them") {
  Draw draw;
  const int depth = 64;
  for (int round = 0; round < 8; ++round) {
    const auto element = [&](int row, int k) {
      const int which = draw.integer(0, 40);
      if (row % 3 == 1 && k == (row + round) % depth)
        return draw.integer(0, 1) ? kInfinity : -kInfinity;
      if (row == 5 && k == round)
        return kNan;
      return which == 0 ? 0.0f : which < 4 ? draw.wide(-149, -100) : draw.normal();
    };
    check(matrix(kRows, depth, element), matrix(kColumns, depth, element), depth);
  }
  // Infinity times infinity, times zero, and of both signs.
  for (const float other : {kInfinity, -kInfinity, 0.0f, 1e-45f, 1e37f, kNan}) {
    const auto left = [&](int row, int k) { return k == row ? kInfinity : draw.normal(); };
    const auto right = [&](int row, int k) { return k == row ? other : 1.0f; };
    check(matrix(kRows, depth, left), matrix(kColumns, depth, right), depth);
  }
}
