// Small texts that once kept analysis busy for ever, crashed it or filled the memory, each as reduced from a public
// program (corpus_test.cpp), from the fuzzer, or made for the purpose. All have their facts within the editor's limits.
#include "analysis/guard/guard.h"

#include <doctest/doctest.h>

namespace warpwright::analysis {
namespace {

constexpr char kKernel[] = "__global__ void first(float *x, int n) { x[threadIdx.x] = n; }\n";

FileFacts held_facts(const std::string &text) {
  FileFacts facts = analyze_guarded({"/test/nasty.cu", kKernel + text}, {}, {}, kEditorLimits);
  const Diagnostic *why = why_not_analysed(facts);
  CHECK_MESSAGE(!why, why->message);
  REQUIRE(!facts.kernels.empty());
  CHECK(facts.kernels[0].name == "first");
  return facts;
}

/// "f0" returns its argument, each later one calls the one before twice.
std::string doubling_helpers(const std::string &qualifier) {
  std::string text = qualifier + "int f0(int x) { return x; }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string name = "f" + std::to_string(i), before = "f" + std::to_string(i - 1);
    text += qualifier + "int " + name + "(int x) { return " + before + "(x) + " + before + "(x + 1); }\n";
  }
  return text;
}

TEST_CASE("helpers that call the one before twice are not followed for ever") {
  held_facts(doubling_helpers("__device__ ") + "__global__ void k(int *x) { x[f39(threadIdx.x)] = f39(1); }\n");
  held_facts(doubling_helpers("") + "void go(float *x) { first<<<f39(1), f39(2)>>>(x, f39(3)); }\n");
}

TEST_CASE("variables that name themselves or one another have no value") {
  held_facts("void go(float *x) { dim3 grid = grid; first<<<grid, 32>>>(x, 4); }\n");
  held_facts("void go(float *x) { dim3 grid(grid); first<<<grid, 32>>>(x, 4); }\n");
  held_facts("void go(float *x) { int n = n; float *y = y; first<<<n, n>>>(y, n); }\n");
  held_facts("template <class T> void go(T *x, int n) { dim3 g(n), b(g); first<<<g, b>>>(x, n); }\n");
  held_facts("dim3 shape() { return shape(); }\nvoid go(float *x) { first<<<shape(), 32>>>(x, 4); }\n");
}

TEST_CASE("a file that is none is not read") {
  held_facts("#include \"/dev/zero\"\n#include \"/dev/stdin\"\nint after;\n");
}

TEST_CASE("a task whose source no runner takes is not complete") {
  // Found by the fuzzer: half an #include in the kernel, with all that a task needs.
  const FileFacts facts = held_facts("// warpwright: n = 64, x: inout float[n]\n"
                                     "__global__ void k(float *x, int n) {\n  x[threadIdx.x] = 1;\n"
                                     "#include + n];\n}\n"
                                     "void run(float *x, int n) { k<<<1, 64>>>(x, n); }\n");
  REQUIRE(facts.kernels.size() == 2);
  const InferredTask &task = facts.kernels[1].task;
  CHECK(!task.inferred);
  REQUIRE(task.missing.size() == 1);
  CHECK(task.missing[0].name == "source");
  CHECK(task.missing[0].question.contains("Only headers of the CUDA toolkit may be included"));
}

} // namespace
} // namespace warpwright::analysis
