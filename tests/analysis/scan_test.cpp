// The token scanner: kernels and launches of text that no parser accepts.
// Thread: one.
#include "analysis/analyze.h"

#include <doctest/doctest.h>

namespace {

using namespace warpwright;
using namespace warpwright::analysis;

/// One line a fact: "kernel NAME(parameters) launches", "launch
/// NAME<template>[grid|block|shared|stream](arguments) in FUNCTION".
std::string described(const std::string &text) {
  const FileFacts facts = scan({"/test/file.cu", text});
  std::string result;
  for (const Kernel &kernel : facts.kernels) {
    result += "kernel " + kernel.qualified_name + "(";
    for (const Parameter &parameter : kernel.parameters)
      result += parameter.type + ":" + parameter.name + (parameter.is_pointer ? "*" : "") + ";";
    result += ") line " + std::to_string(kernel.line) + " launches " +
              std::to_string(kernel.launches.size()) + "\n";
  }
  for (const Launch &launch : facts.launches) {
    result += "launch " + launch.kernel + "<";
    for (const std::string &argument : launch.template_arguments)
      result += argument + ";";
    result +=
        ">[" + launch.grid + "|" + launch.block + "|" + launch.shared + "|" + launch.stream + "](";
    for (const std::string &argument : launch.arguments)
      result += argument + ";";
    result += ") in " + launch.enclosing_function + "\n";
  }
  return result;
}

} // namespace

TEST_CASE("the scanner finds kernels and launches whose types nobody knows") {
  CHECK(described(R"(
namespace a::b {
template <typename T, int N = 4>
__global__ void __launch_bounds__(256) scale(Tensor<T, N> const *__restrict__ in, lib::Shape shape, float *out) {
  if (shape.ok()) { out[0] = 1; }
}
}
void run(float *x) {
  if (x) {
    a::b::scale<float, 4><<<dim3(1, 2), f<3, 2>(x), 0, stream>>>(x, {1, 2}, a < b);
  }
}
)") == "kernel a::b::scale(Tensor<T, N> const *__restrict__:in*;lib::Shape:shape;float *:out*;) "
       "line 4 launches 1\n"
       "launch scale<float;4;>[dim3(1, 2)|f<3, 2>(x)|0|stream](x;{1, 2};a < b;) in run\n");
}

TEST_CASE("the scanner ignores comments, strings, directives and what is switched off") {
  CHECK(described(R"(
// __global__ void a() {}
const char *text = "__global__ void b() {}";
#define MAKE(name) __global__ void name() {} \
  void launch() { name<<<1, 1>>>(); }
#if 0
__global__ void c() {}
#else
__global__ void d() {}
#endif
__global__ void declared_only();
)") == "kernel d() line 9 launches 0\n");
}

TEST_CASE("the scanner accepts text that ends in the middle") {
  CHECK(described("__global__ void k(float *x) { if (x) { x[0") ==
        "kernel k(float *:x*;) line 1 launches 0\n");
  CHECK(described("__global__ void k(float *x") == "");
  CHECK(described("void f() { k<<<1, ") == "");
  CHECK(described("__global__") == "");
  CHECK(described("<<<") == "");
  CHECK(described("") == "");
}

TEST_CASE("the range of a scanned kernel starts at its template head and its extern \"C\"") {
  const std::string text =
      "int before;\n#include <x>\nextern \"C\" __global__ void k() {}\nint after;";
  const FileFacts facts = scan({"/test/file.cu", text});
  REQUIRE(facts.kernels.size() == 1);
  const Kernel &kernel = facts.kernels[0];
  CHECK(text.substr(kernel.range.begin, kernel.range.size()) ==
        "extern \"C\" __global__ void k() {}");
  CHECK(text.substr(kernel.name_range.begin, kernel.name_range.size()) == "k");
  CHECK(text.substr(kernel.body_range.begin, kernel.body_range.size()) == "{}");
}
