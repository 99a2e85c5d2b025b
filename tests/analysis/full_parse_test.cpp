// The full pass against the real toolkit; reports this and passes over where there is none.
// Thread: one.
#include "analysis/analyze.h"
#include "analysis/parse/full_parser.h"

#include <clang/AST/ExprCXX.h>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace warpwright;
using namespace warpwright::analysis;

std::shared_ptr<const ResourceHeaders> resource_headers() {
  auto headers = ResourceHeaders::unpack();
  REQUIRE_MESSAGE(headers.has_value(), describe(headers.error()));
  return *headers;
}

/// The toolkit's root, or empty after saying that the test is skipped.
std::string toolkit() {
  const char *home = std::getenv("CUDA_HOME");
  const std::string path = home ? home : "/usr/local/cuda";
  if (std::filesystem::exists(path + "/include/cuda_runtime.h"))
    return path;
  MESSAGE("skipped: no CUDA toolkit at " << path);
  return "";
}

const char *kSource = R"(#include <cuda_runtime.h>
#include <cub/cub.cuh>
__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, n); }
)";

} // namespace

TEST_CASE("the built-in Clang headers unpack") { CHECK(resource_headers()->count() > 100); }

TEST_CASE("without a toolkit the full pass says what to set") {
  FullParser parser(resource_headers());
  auto unit = parser.parse({"/test/file.cu", "int x;"}, {});
  REQUIRE(!unit.has_value());
  CHECK(describe(unit.error()).contains("CUDA_HOME"));
}

TEST_CASE("the full pass reads the real headers and reuses them after an edit") {
  const std::string cuda_path = toolkit();
  if (cuda_path.empty())
    return;
  const ParseSettings settings{.cuda_path = cuda_path};
  FullParser parser(resource_headers());
  const SourceFile file{"/test/file.cu", kSource};
  CHECK(!parser.is_preamble_current(file, settings));
  auto first = parser.parse(file, settings);
  REQUIRE_MESSAGE(first.has_value(), describe(first.error()));
  for (const Diagnostic &diagnostic : (*first)->syntax_diagnostics())
    FAIL_CHECK(diagnostic.message);
  CHECK((*first)->pass() == Pass::Full);
  CHECK((*first)->kernels().size() == 1);
  CHECK((*first)->launches().size() == 1);

  const SourceFile edited{file.path,
                          file.text + "__global__ void more(int *y) { y[0] = unknown; }\n"};
  CHECK(parser.is_preamble_current(edited, settings));
  auto second = parser.parse(edited, settings);
  REQUIRE(second.has_value());
  CHECK((*second)->kernels().size() == 2);
  REQUIRE((*second)->syntax_diagnostics().size() == 1);
  CHECK((*second)->syntax_diagnostics()[0].message.contains("unknown"));
  CHECK((*first)->kernels().size() == 1);

  const SourceFile other_includes{file.path, "#include <cooperative_groups.h>\n" + file.text};
  CHECK(!parser.is_preamble_current(other_includes, settings));
}

TEST_CASE(
    "a header that does not exist is reported on its line after every edit, and parsing goes on") {
  const std::string cuda_path = toolkit();
  if (cuda_path.empty())
    return;
  FullParser parser(resource_headers());
  std::string text = "#include <cuda_runtime.h>\n#include \"absent.h\"\n__global__ void k(float "
                     "*x) { x[0] = 1; }\n";
  for (int edit = 0; edit < 2; ++edit) {
    auto unit = parser.parse({"/test/file.cu", text}, {.cuda_path = cuda_path});
    REQUIRE(unit.has_value());
    REQUIRE((*unit)->syntax_diagnostics().size() == 1);
    CHECK((*unit)->syntax_diagnostics()[0].line == 2);
    CHECK((*unit)->syntax_diagnostics()[0].message.contains("absent.h"));
    CHECK((*unit)->kernels().size() == 1);
    text += "// edit\n";
  }
}

TEST_CASE("the examples have the same facts after the full pass as after the stub pass") {
  const std::string cuda_path = toolkit();
  if (cuda_path.empty())
    return;
  const ParseSettings settings{.cuda_path = cuda_path};
  int compared = 0;
  for (const auto &entry : std::filesystem::directory_iterator(WARPWRIGHT_SOURCE_DIR "/examples")) {
    CAPTURE(entry.path().string());
    if (!entry.is_regular_file())
      continue; // of torch modules, which are not parsed
    std::ifstream stream(entry.path());
    const SourceFile file{entry.path().string(), {std::istreambuf_iterator<char>(stream), {}}};
    const FileFacts stub = analyze(file, settings);
    FullParser parser(resource_headers());
    auto unit = parser.parse(file, settings);
    REQUIRE_MESSAGE(unit.has_value(), describe(unit.error()));
    const FileFacts full = collect_facts(**unit);
    CHECK(full.pass == Pass::Full);
    REQUIRE(full.kernels.size() == stub.kernels.size());
    for (std::size_t i = 0; i < full.kernels.size(); ++i) {
      CHECK(full.kernels[i].slice == stub.kernels[i].slice);
      CHECK(full.kernels[i].accesses.size() == stub.kernels[i].accesses.size());
      ++compared;
    }
    std::vector<std::string> stub_rules, full_rules;
    for (const Diagnostic &diagnostic : stub.diagnostics)
      stub_rules.push_back(diagnostic.rule + " " + std::to_string(diagnostic.line));
    for (const Diagnostic &diagnostic : full.diagnostics)
      full_rules.push_back(diagnostic.rule + " " + std::to_string(diagnostic.line));
    CHECK(full_rules == stub_rules);
  }
  CHECK(compared > 0);
}
