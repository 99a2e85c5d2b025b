// Numbers that depend on sizes, moved out of device source.
#include "server/regions/size_constants.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace warpwright;
using warpwright::server::with_size_constants;

namespace {

const symbolic::Sizes kSizes = {{"n0", 1000}};

/// The source in which `@` stands for 8 * n0, moved.
Result<server::SizedSource> moved(const std::string &source) {
  symbolic::FittedText text;
  std::size_t from = 0;
  for (std::size_t at = source.find('@'); at != std::string::npos; at = source.find('@', from)) {
    text.parts.push_back(source.substr(from, at - from));
    text.values.push_back(symbolic::Expression::parse("8 * n0").value());
    from = at + 1;
  }
  text.parts.push_back(source.substr(from));
  return with_size_constants(text, kSizes);
}

std::string text_of(const std::string &source) { return moved(source).value().text.at(kSizes).value(); }

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("A number in a function reads a variable, and a constant of it is no constant expression any more") {
  const std::string text = text_of("__global__ void k(float *x) {\n  constexpr int rows = @;\n  if (threadIdx.x < @) x[0] = rows;\n}\n");
  CHECK(has(text, "__constant__ int warpwright_size_0 = 8000;"));
  CHECK(has(text, "  const int rows = warpwright_size_0;\n"));
  CHECK(has(text, "threadIdx.x < warpwright_size_0)"));
  CHECK(!has(text, "warpwright_size_1"));
}

TEST_CASE("A member becomes one that reads the variable; its neighbors stay constants") {
  CHECK(has(text_of("struct S {\n  static constexpr int kA = 1, kRows = @, kB = 2;\n};\n"),
            "  static constexpr int kA = 1, kB = 2;\n  static constexpr of_warpwright_size_0 kRows{};\n"));
  CHECK(has(text_of("struct S {\n  static constexpr int kA = 1, kRows = @;\n};\n"),
            "  static constexpr int kA = 1;\n  static constexpr of_warpwright_size_0 kRows{};\n"));
  CHECK(has(text_of("struct S {\n  static constexpr int kRows = @, kB = 2, kMore = @;\n};\n"),
            "  static constexpr int kB = 2;\n  static constexpr of_warpwright_size_0 kMore{};\n  static constexpr of_warpwright_size_0 kRows{};\n"));
  CHECK(has(text_of("struct S {\n  static constexpr int kRows = @;\n};\n"), "\n  static constexpr of_warpwright_size_0 kRows{};\n"));
}

TEST_CASE("A literal with a suffix has 64 bits; a comment keeps the expression") {
  const std::string text = text_of("__device__ long long f() { return @LL; } // over @ elements\n");
  CHECK(has(text, "__constant__ long long warpwright_size_0 = 8000;"));
  CHECK(has(text, "return warpwright_size_0; } // over 8 * n0 elements"));
}

TEST_CASE("A number outside of functions, and an unsigned one, are refused") {
  CHECK(!moved("constexpr int kRows = @;\n").has_value());
  CHECK(!moved("__device__ unsigned f() { return @u; }\n").has_value());
  CHECK(!moved("struct S {\n  static constexpr int kRows = 2 * @;\n};\n").has_value());
}

TEST_CASE("A range's plan at given sizes has its numbers, and none outside") {
  regions::ShapeRange range;
  range.symbols = {"n0"};
  range.low = {2};
  range.high = {64};
  range.literal = {{"[", ", 4]"}, {symbolic::Expression::parse("12 * n0").value()}};
  range.constants = {{"warpwright_size_0", model::Dtype::Int32, symbolic::Expression::parse("1 << (n0 - 2)").value()}};
  const auto read = regions::range_from_json(to_json(range));
  REQUIRE(read.has_value());
  const auto found = instance_of(*read, {5}).value();
  CHECK(found.at("plan") == "[60, 4]");
  CHECK(found.at("constants") == nlohmann::json::parse(R"([["warpwright_size_0", "int32", 8]])"));
  CHECK(!instance_of(*read, {65}).has_value());
  CHECK(!instance_of(*read, {1}).has_value());
  CHECK(instance_of(*read, {40}).error().message.find("32 bits") != std::string::npos);
}
