// Line tables of real machine code: NVRTC compiles without a GPU. Passes with a message without
// NVRTC.
#include "runner/cuda/compiler.h"
#include "runner/deep/line_table.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <sstream>

using namespace warpwright;
using namespace warpwright::runner;

namespace {

const char *const kSource = R"(extern "C" __device__ float half_of(float v) { return v * 0.5f; }
extern "C" __global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = half_of(x[i]) + 1.0f;
}
extern "C" __global__ void fill(float *x) {
  x[threadIdx.x] = 3.0f;
}
)";

/// Cubin for Hopper; empty without NVRTC.
std::string compiled(std::vector<std::string> options) {
  auto compiler = cuda::Compiler::make({90, nullptr});
  if (!compiler) {
    MESSAGE(describe(compiler.error()));
    return {};
  }
  const auto output = (*compiler)->compile({kSource, std::move(options), {"scale", "fill"}});
  REQUIRE(output.has_value());
  return output->code.cubin;
}

std::string line_of(const std::string &text, std::size_t number) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t i = 0; i < number; ++i)
    std::getline(lines, line);
  return line;
}

bool leads_to(const std::vector<deep::LineRow> &rows, const std::string &kernel, std::size_t line) {
  return std::ranges::any_of(rows, [&](const deep::LineRow &row) {
    return row.kernel == kernel && row.line == line;
  });
}

} // namespace

TEST_CASE("machine code leads to the lines of its source and of its PTX, in each kernel") {
  const std::string cubin = compiled({"-lineinfo"});
  if (cubin.empty())
    return;
  const auto tables = deep::read_line_tables(cubin);
  REQUIRE_MESSAGE(tables.has_value(), (tables ? "" : tables.error().message));
  CHECK(leads_to(tables->source, "scale", 5));
  CHECK(leads_to(tables->source, "fill", 8));
  CHECK_FALSE(leads_to(tables->source, "fill", 5));
  const auto store = std::ranges::find_if(tables->ptx, [&](const deep::LineRow &row) {
    return row.kernel == "fill" && line_of(tables->ptx_text, row.line).starts_with("st.global");
  });
  CHECK(store != tables->ptx.end());
  for (const auto *rows : {&tables->source, &tables->ptx})
    CHECK(std::ranges::all_of(*rows, [](const deep::LineRow &row) { return row.address % 16 == 0; }));
}

TEST_CASE("machine code without line tables is an error that says so") {
  const std::string cubin = compiled({});
  if (cubin.empty())
    return;
  const auto table = deep::read_line_tables(cubin);
  REQUIRE_FALSE(table.has_value());
  CHECK(table.error().remedy.contains("-lineinfo"));
}

TEST_CASE("damaged machine code is an error") {
  std::string cubin = compiled({"-lineinfo"});
  CHECK_FALSE(deep::read_line_tables("").has_value());
  CHECK_FALSE(deep::read_line_tables("text").has_value());
  for (std::size_t size = 0; size < cubin.size(); size += 97) // must not read beyond the end
    (void)deep::read_line_tables(std::string_view(cubin).substr(0, size));
}
