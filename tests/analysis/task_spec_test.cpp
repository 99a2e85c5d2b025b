// The structured comment and the file form of a task spec; the fp64 twin of a slice.
#include "analysis/task/infer_task.h"
#include "nvrtc_probe.h"

#include <doctest/doctest.h>

namespace warpwright::analysis {
namespace {

using Kind = model::Distribution::Kind;

Spec parsed(const std::string &text) {
  const Result<Spec> spec = parse_spec(text);
  REQUIRE_MESSAGE(spec, (spec ? "" : describe(spec.error())));
  return *spec;
}

TEST_CASE("a tensor has one extent a dimension, or none") {
  const Spec spec = parsed("n = 8, x: float[n, 3 * n, 4] positive, s: half[], v: int64[n]");
  const auto &shape = *spec.buffers.at("x").shape;
  REQUIRE(shape.size() == 3);
  CHECK(shape[1].evaluate(spec.sizes) == 24);
  CHECK(spec.buffers.at("x").extent->evaluate(spec.sizes) == 8 * 24 * 4);
  CHECK(spec.buffers.at("x").distribution->kind == Kind::Positive);
  CHECK(spec.buffers.at("s").shape->empty());
  CHECK(spec.buffers.at("s").extent->evaluate({}) == 1);
  CHECK(spec.buffers.at("v").extent->text() == "n");
  CHECK(parse_spec("x: float[2, ]").error().message.contains("column 13"));
}

TEST_CASE("a spec names sizes, checks, buffers, scalars, launch, fills and tolerance") {
  const Spec spec =
      parsed("# of a file\nn = 1<<24, m = n / 4, check n = 1000 m = 3 | n = 12345 m = 1\n"
             "x: in float[n] normal, idx: in int[n * 2] integers 0..m, out: out half[m]\nalpha: "
             "float = 2.5, beta = 1e-3\n"
             "launch reduce<float, 256> grid((n + 255) / 256, 2) block(256) shared(n * 4), fill "
             "out = 0, tolerance 1e-4 1e-3");
  CHECK(spec.sizes == symbolic::Sizes{{"n", 1 << 24}, {"m", 1 << 22}});
  CHECK(spec.check_sizes ==
        std::vector<symbolic::Sizes>{{{"n", 1000}, {"m", 3}}, {{"n", 12345}, {"m", 1}}});
  CHECK(spec.buffers.at("x").direction == model::Direction::In);
  CHECK(spec.buffers.at("idx").distribution->kind == Kind::Integers);
  CHECK(spec.buffers.at("idx").distribution->upper.text() == "m");
  CHECK(spec.buffers.at("idx").extent->text() == "n * 2");
  CHECK(spec.buffers.at("out").dtype == model::Dtype::Float16);
  CHECK(spec.scalars.at("alpha") == 2.5);
  CHECK(spec.scalars.at("beta") == 1e-3);
  REQUIRE(spec.launch);
  CHECK(spec.launch->kernel == "reduce<float, 256>");
  CHECK(spec.launch->grid[1].text() == "2");
  CHECK(spec.launch->shared_bytes.text() == "n * 4");
  CHECK(spec.fills.at("out") == 0);
  CHECK(spec.tolerance->relative == 1e-3);
}

TEST_CASE("one size needs no name in further checks") {
  CHECK(parsed("check n = 1000 | 12345").check_sizes ==
        std::vector<symbolic::Sizes>{{{"n", 1000}}, {{"n", 12345}}});
}

TEST_CASE("errors of a spec say line, column and what was expected") {
  const auto check = [](const std::string &text, const std::string &place,
                        const std::string &expected) {
    const Result<Spec> spec = parse_spec(text);
    REQUIRE(!spec);
    CHECK_MESSAGE(spec.error().message.contains(place), spec.error().message);
    CHECK_MESSAGE(spec.error().message.contains(expected), spec.error().message);
  };
  check("n = 5\nx: in flaot[n]", "line 2, column 7", "a type");
  check("n 5", "line 1, column 3", "'=' or ':'");
  check("launch block(4)", "line 1", "grid(...)");
  check("x: in float[n", "line 1, column 14", "']'");
  check("n = ?", "line 1, column 5", "a value for n");
  check("x: in int[4] integers 0", "line 1", "'..'");
  check("check n = 0", "line 1", "positive integer");
}

TEST_CASE("the comment above a kernel is a spec, and its errors are diagnostics in the file") {
  const std::string kernel =
      "__global__ void k(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n";
  auto unit = parse_stub(
      {"/test/spec.cu",
       "// Fills.\n// warpwright: n = 100,\n//   x: out float[n]\n// More words.\n" + kernel});
  REQUIRE(unit);
  const CommentSpec above = spec_above(**unit, *(*unit)->find_kernel("k"));
  CHECK(!above.error);
  CHECK(above.spec.sizes == symbolic::Sizes{{"n", 100}});
  CHECK(above.spec.buffers.at("x").direction == model::Direction::Out);
  auto broken =
      parse_stub({"/test/spec.cu", "int a;\n// warpwright: n = 100, x: oops[n]\n" + kernel});
  REQUIRE(broken);
  const auto diagnostics = spec_diagnostics(**broken);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].rule == "task-spec");
  CHECK(diagnostics[0].line == 2);
  CHECK(diagnostics[0].column == 28);
}

TEST_CASE("a later spec replaces what it names and keeps the rest") {
  Spec spec = parsed("n = 5, x: in float[n] normal");
  merge(spec, parsed("n = 6, x: uniform"));
  CHECK(spec.sizes.at("n") == 6);
  CHECK(spec.buffers.at("x").extent->text() == "n");
  CHECK(spec.buffers.at("x").distribution->kind == Kind::Uniform);
}

void check_twin(const std::string &slice, const std::vector<std::string> &expected) {
  const auto twin = double_precision(slice);
  REQUIRE(twin);
  for (const std::string &part : expected)
    CHECK_MESSAGE(twin->contains(part), part << " in\n" << *twin);
  if (const auto errors = tests::nvrtc_errors(*twin))
    CHECK_MESSAGE(errors->empty(), *errors);
}

TEST_CASE("the fp64 twin replaces types, literals and functions") {
  check_twin("__global__ void k(float *x, float4 *v, unsigned u) { x[0] = expf(x[1]) * 0.5f + "
             "__expf(x[2]) + rsqrtf(fmaxf(x[3], 1e-5F)) + 0x1f;\n"
             "  float4 w = v[0]; v[1] = make_float4(w.x, w.y, w.z, __fdividef(w.w, 3.f)); x[4] = "
             "sizeof(float) + __frcp_rn(x[5]); }\n",
             {"double *x", "double4 w", "exp(x[1]) * 0.5 +", "exp(x[2])", "rsqrt(fmax(x[3], 1e-5))",
              "0x1f", "sizeof(double)"});
  check_twin("#include <cuda_fp16.h>\n__global__ void k(const __half *x, half2 *y, float *z) { "
             "z[0] = __half2float(x[0]); y[0] = __hadd2(y[1], __half2half2(__float2half(2.0f))); "
             "z[1] = __hmul(x[1], x[2]); }\n",
             {"const double *x", "double2 *y"});
  check_twin("#define INFINITY __int_as_float(0x7f800000)\n__global__ void k(float *x) { x[0] = "
             "-INFINITY; x[1] = reinterpret_cast<float2 *>(x)[1].y; }\n",
             {"__longlong_as_double(0x7ff0000000000000LL)"});
}

TEST_CASE("text that looks at bits has no fp64 twin") {
  for (const char *slice :
       {"__global__ void k(float *x, int *y) { y[0] = __float_as_int(x[0]); }",
        "__global__ void k(float *x) { asm(\"bar.sync 0;\"); }",
        "__global__ void k(float *x, int *y) { y[0] = *reinterpret_cast<int *>(x); }",
        "union U { float f; int i; };", "__global__ void k() { nvcuda::wmma::fragment<int> f; }",
        "__global__ void k(float *x) { x[0] = __half2ushort_rn(x[1]); }"})
    CHECK_MESSAGE(!double_precision(slice), slice);
}

} // namespace
} // namespace warpwright::analysis
