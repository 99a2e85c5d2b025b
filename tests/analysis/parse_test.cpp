// The stub pass and the helpers of ParsedUnit, on snippets held in memory.
// Thread: one.
#include "analysis/parsed_unit.h"

#include <clang/AST/ExprCXX.h>
#include <doctest/doctest.h>

#include <map>

namespace {

using namespace warpwright;
using namespace warpwright::analysis;

using Texts = std::map<std::string, std::string>;

std::unique_ptr<ParsedUnit> parsed(std::string text, const Texts &headers = {},
                                   const ParseSettings &settings = {}) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto &[path, header] : headers)
    files->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(header, path));
  auto unit = parse_stub({"/test/file.cu", std::move(text)}, settings, std::move(files));
  REQUIRE_MESSAGE(unit.has_value(), describe(unit.error()));
  return std::move(*unit);
}

/// Takes [[ ]] out of a text; they mark what range_of is expected to give.
std::pair<std::string, Range> marked(std::string text) {
  Range range;
  range.begin = text.find("[[");
  text.erase(range.begin, 2);
  range.end = text.find("]]");
  text.erase(range.end, 2);
  return {text, range};
}

/// The range of the only launch in a marked text must be what the marks enclose.
void check_launch_range(const std::string &marked_text) {
  const auto [text, expected] = marked(marked_text);
  auto unit = parsed(text);
  REQUIRE(unit->launches().size() == 1);
  CHECK(unit->range_of(unit->launches()[0]->getSourceRange()) == expected);
}

std::string names(const ParsedUnit &unit) {
  std::string result;
  for (const clang::FunctionDecl *kernel : unit.kernels())
    result += kernel->getQualifiedNameAsString() + " ";
  return result;
}

std::string complaints(const ParsedUnit &unit) {
  std::string result;
  for (const Diagnostic &diagnostic : unit.syntax_diagnostics())
    result += std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) + " " +
              diagnostic.message + "\n";
  return result;
}

} // namespace

TEST_CASE("a kernel and its launch are found without a toolkit and without any file") {
  auto unit = parsed(R"(
#include <cuda_runtime.h>
#include <vector>
__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, n); }
)");
  CHECK(complaints(*unit) == "");
  REQUIRE(unit->kernels().size() == 1);
  REQUIRE(unit->launches().size() == 1);
  const auto *launch = unit->launches()[0];
  CHECK(ParsedUnit::kernel_of(launch) == unit->kernels()[0]);
  CHECK(unit->text_of(launch->getSourceRange()) == "scale<<<(n + 255) / 256, 256>>>(x, n)");
  CHECK(unit->text_of(launch->getConfig()->getArg(0)->getSourceRange()) == "(n + 255) / 256");
}

TEST_CASE(
    "kernels in namespaces, extern C blocks and templates are found once each, declarations not") {
  auto unit = parsed(R"(
namespace a { namespace b { __global__ void one(int *x) { *x = 1; } } }
extern "C" { __global__ void two(int *x) { *x = 2; } }
template <class T> __global__ void three(T *x) { *x = 3; }
__global__ void four(int *x);
void run(int *x, float *y) { three<<<1, 1>>>(x); three<float><<<1, 1>>>(y); a::b::one<<<1, 1>>>(x); }
)");
  CHECK(names(*unit) == "a::b::one two three ");
  REQUIRE(unit->launches().size() == 3);
  const clang::FunctionDecl *three = unit->find_kernel("three");
  CHECK(ParsedUnit::kernel_of(unit->launches()[0]) == three);
  CHECK(ParsedUnit::kernel_of(unit->launches()[1]) == three);
  CHECK(ParsedUnit::kernel_of(unit->launches()[2]) == unit->find_kernel("a::b::one"));
  CHECK(unit->find_kernel("one") == unit->find_kernel("a::b::one"));
  CHECK(unit->find_kernel("four") == nullptr);
}

TEST_CASE("a launch inside a template, or through a variable, leads to its kernel") {
  auto unit = parsed(R"(
template <class T, int N> __global__ void k(T *x) { x[threadIdx.x] = N; }
template <class T> void run(T *x) { k<T, 4><<<1, 32>>>(x); }
void also(float *x) { auto kernel = k<float, 8>; kernel<<<1, 32>>>(x); }
)");
  REQUIRE(unit->launches().size() == 2);
  CHECK(ParsedUnit::kernel_of(unit->launches()[0]) == unit->kernels()[0]);
  CHECK(ParsedUnit::kernel_of(unit->launches()[1]) == unit->kernels()[0]);
}

TEST_CASE("a range maps to the text, through macro arguments, and not into macro bodies") {
  const std::string head = "#define CHECK(x) x\n__global__ void k(int *x) {}\n";
  check_launch_range(head + "void f(int *x) { [[k<<<1, 2>>>(x)]]; }");
  check_launch_range(head + "void f(int *x) { CHECK(([[k<<<1, 2>>>(x)]])); }");
  auto unit = parsed("#define LAUNCH(k, x) k<<<1, 2>>>(x)\n__global__ void k(int *x) {}\nvoid "
                     "f(int *x) { LAUNCH(k, x); }");
  REQUIRE(unit->launches().size() == 1);
  CHECK(unit->text_of(unit->launches()[0]->getConfig()->getArg(0)->getSourceRange()) == "");
  CHECK(ParsedUnit::kernel_of(unit->launches()[0]) == unit->kernels()[0]);
}

TEST_CASE("broken code is parsed as far as it goes, with its errors in place") {
  auto unit = parsed("#include <vector>\n__global__ void a(int *x) { *x = 1 }\n__global__ void "
                     "b(int *x) { *x = 2; }\n");
  CHECK(names(*unit) == "a b ");
  CHECK(complaints(*unit) == "2:35 expected ';' after expression\n");
  CHECK(names(*parsed("__global__ void a(int *x) { if (x) {")) == "a ");
  CHECK(names(*parsed("}}} ((( __global__")) == "");
  CHECK(names(*parsed("")) == "");
}

TEST_CASE("what a skipped header may have declared is not reported, what no header can mend is") {
  CHECK(complaints(
            *parsed("#include <absent.h>\nabsent::Thing x;\nvoid f() { absent_call(); }\n")) == "");
  CHECK(complaints(*parsed("#include <absent.h>\nint f( {\n")).contains("2:"));
  CHECK(complaints(*parsed("void f() { absent_call(); }\n")).contains("absent_call"));
}

TEST_CASE("the user's own headers are read, libraries are not") {
  const Texts headers{{"/test/own.cuh", "#define KERNEL_A void a() {}"},
                      {"/include/lib/own.h", "#define KERNEL_B void b() {}"},
                      {"/include/torch/extension.h", "#define KERNEL_C void c() {}"},
                      {"/usr/include/stdio.h", "#define KERNEL_C void c() {}"},
                      {"/cuda/include/cuda_fp16.h", "#define KERNEL_C void c() {}"}};
  const ParseSettings settings{.flags = {"-I/include", "-I/usr/include", "-I/cuda/include"},
                               .cuda_path = "/cuda"};
  auto unit = parsed(
      "#include \"own.cuh\"\n#include <lib/own.h>\n#include <torch/extension.h>\n"
      "#include <stdio.h>\n#include <cuda_fp16.h>\n__global__ KERNEL_A\n__global__ KERNEL_B\n"
      "#ifdef KERNEL_C\n__global__ KERNEL_C\n#endif\n",
      headers, settings);
  CHECK(names(*unit) == "a b ");
  CHECK(complaints(*unit) == "");
}

TEST_CASE("headers beyond the budget are passed over") {
  const std::string user = "#include \"size.h\"\n#ifdef READ\n__global__ void k() {}\n#endif\n";
  std::string large = "#define READ\n";
  CHECK(names(*parsed(user, {{"/test/size.h", large}})) == "k ");
  while (large.size() < 600 * 1024)
    large += "// filler filler filler filler filler filler filler filler filler filler filler "
             "filler filler\n";
  CHECK(names(*parsed(user, {{"/test/size.h", large}})) == "");
}

TEST_CASE("flags reach the parser, and one that Clang refuses is named") {
  CHECK(names(*parsed("#if N == 3\n__global__ void k() {}\n#endif\n", {}, {.flags = {"-DN=3"}})) ==
        "k ");
  auto unit = parse_stub({"/test/file.cu", "int x;"}, {.flags = {"-std=c++99"}},
                         llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  REQUIRE(!unit.has_value());
  CHECK(describe(unit.error()).contains("c++99"));
}

TEST_CASE("what the preprocessor leaves out is known") {
  const auto [text, expected] =
      marked("int a;\n[[#if 0\n__global__ void k() {}\n]]#endif\nint b;\n");
  auto unit = parsed(text);
  REQUIRE(unit->inactive_ranges().size() == 1);
  CHECK(unit->inactive_ranges()[0].contains(text.find("__global__")));
  CHECK(!unit->inactive_ranges()[0].contains(text.find("int b")));
}

TEST_CASE("a #line directive does not hide what follows it") {
  CHECK(names(*parsed("#line 1 \"other.cu\"\n__global__ void k() {}\n")) == "k ");
}
