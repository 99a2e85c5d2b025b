#include "plan/program.h"

#include <doctest/doctest.h>

namespace warpwright::plan {
namespace {

using model::Dtype;
using model::Plan;
using model::Task;

symbolic::Expression parsed(const std::string &text) {
  return symbolic::Expression::parse(text).value();
}

/// Two launches of `k` on x[n] and scratch[2 * n], with a fill between them.
struct Example {
  Task task;
  Plan plan;

  Example() {
    task.sizes = {{"n", 8}};
    task.buffers = {{.name = "x", .extent = parsed("n")},
                    {.name = "y", .extent = parsed("n"), .direction = model::Direction::Out}};
    task.scalars = {{"count", Dtype::Int32, parsed("n * n")}, {"scale", Dtype::Float32, 0.5}};
    plan.temporaries = {{"scratch", Dtype::Float16, parsed("2 * n")}};
    model::LaunchStep launch{.kernel = "k<4>"};
    launch.grid[0] = parsed("n / 4");
    launch.block[0] = 64;
    launch.shared_bytes = parsed("16 * n");
    launch.arguments = {model::BufferArgument{"x", parsed("n / 2")}, model::BufferArgument{"scratch", {}},
                        model::ScalarArgument{"count"}, model::ScalarArgument{"scale"},
                        model::SizeArgument{parsed("n + 1"), Dtype::Int64},
                        model::ConstantArgument{2, Dtype::Float32}};
    model::LaunchStep again = launch;
    again.block[0] = 32;
    again.shared_bytes = 0;
    again.cooperative = true;
    plan.steps = {launch, model::FillStep{"scratch", 255}, again, model::LaunchStep{.kernel = "other"}};
  }
  Result<Program> program() const { return program_of(plan, task, task.sizes); }
  model::LaunchStep &launch() { return std::get<model::LaunchStep>(plan.steps[0]); }
  std::string error() const {
    const auto made = program();
    return made ? "none" : made.error().message;
  }
};

} // namespace

TEST_CASE("expressions become numbers at the sizes") {
  const Example example;
  const auto program = example.program();
  REQUIRE(program);
  REQUIRE(program->places.size() == 3);
  CHECK(program->places[0].kind == Place::Kind::Argument);
  CHECK(program->places[1].kind == Place::Kind::Output);
  CHECK(program->places[2].name == "scratch");
  CHECK(program->places[2].elements == 16);
  CHECK(program->places[0].is_used);
  CHECK_FALSE(program->places[1].is_used);
  const auto &launch = std::get<Launch>(program->steps.at(0));
  CHECK(launch.grid == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(launch.block == std::array<std::uint32_t, 3>{64, 1, 1});
  CHECK(launch.shared_bytes == 128);
  REQUIRE(launch.arguments.size() == 6);
  CHECK(std::get<PlaceArgument>(launch.arguments[0]).offset == 4);
  const auto number = [&](std::size_t i) { return std::get<NumberArgument>(launch.arguments[i]); };
  CHECK(std::get<std::int64_t>(number(2).value) == 64);
  CHECK(number(3).is_of_task);
  CHECK(std::get<double>(number(3).value) == 0.5);
  CHECK(number(4).dtype == Dtype::Int64);
  CHECK(std::get<std::int64_t>(number(4).value) == 9);
  CHECK_FALSE(number(5).is_of_task);
  CHECK(std::get<Fill>(program->steps.at(1)).place == 2);
  CHECK(std::get<Fill>(program->steps.at(1)).byte == 255);
}

TEST_CASE("a struct has the numbers and addresses of its fields") {
  Example example;
  example.launch().arguments = {model::StructArgument{
      24,
      {{0, model::BufferArgument{"x", parsed("n / 2")}}, {8, model::SizeArgument{parsed("n + 1"), Dtype::Int64}},
       {16, model::ScalarArgument{"scale"}}}}};
  const auto program = example.program();
  REQUIRE(program);
  const auto &whole = std::get<StructArgument>(std::get<Launch>(program->steps.at(0)).arguments.at(0));
  CHECK(whole.size_bytes == 24);
  REQUIRE(whole.fields.size() == 3);
  CHECK(std::get<PlaceArgument>(whole.fields[0].second).offset == 4);
  CHECK(whole.fields[1].first == 8);
  CHECK(std::get<std::int64_t>(std::get<NumberArgument>(whole.fields[1].second).value) == 9);
  CHECK(std::get<double>(std::get<NumberArgument>(whole.fields[2].second).value) == 0.5);
  CHECK(program->places[0].is_used);
}

TEST_CASE("a kernel needs what the largest of its launches needs") {
  const auto program = Example().program();
  REQUIRE(program);
  REQUIRE(program->kernels.size() == 2);
  CHECK(program->kernels[0].name == "k<4>");
  CHECK(program->kernels[0].shared_bytes == 128);
  CHECK(program->kernels[0].threads == 64);
  CHECK(program->kernels[0].resident_blocks == 2);
  CHECK(program->kernels[1].resident_blocks == 0);
  CHECK(std::get<Launch>(program->steps.at(3)).kernel == 1);
}

TEST_CASE("operators make the memory of their results and use what their views name") {
  Example example;
  model::AtenStep step{.op = "aten::cat"};
  step.arguments = {std::vector<model::TensorView>{{.buffer = "x"}, {.buffer = ""}}};
  step.results = {{.buffer = "y"}};
  example.plan.steps = {step};
  const auto program = example.program();
  REQUIRE(program);
  CHECK(program->places[0].is_used);
  CHECK_FALSE(program->places[0].is_an_operators);
  CHECK(program->places[1].is_an_operators);
  CHECK(std::get<const model::AtenStep *>(program->steps.at(0)) ==
        &std::get<model::AtenStep>(example.plan.steps[0]));
}

TEST_CASE("a tensor map has its numbers, and the driver's words for them") {
  Example example;
  auto &argument = std::get<model::BufferArgument>(example.launch().arguments[1]);
  argument.offset = parsed("n");
  argument.map = model::TensorMap{{parsed("n"), parsed("2")}, {parsed("n / 2")}, {8, 2}, 128};
  const auto program = example.program();
  REQUIRE(program);
  const auto &place = std::get<PlaceArgument>(std::get<Launch>(program->steps[0]).arguments[1]);
  CHECK(place.offset == 8);
  REQUIRE(place.map);
  CHECK(*place.map == TensorMap{Dtype::Float16, {8, 2}, {4}, {8, 2}, 128});
  CHECK(place.map->driver_dtype() == 6);
  CHECK(place.map->driver_swizzle() == 3);
  CHECK(place.map->strides_bytes() == std::vector<std::int64_t>{8});
  argument.map->extents[0] = parsed("m");
  CHECK(example.error().find("the map of scratch") == 0);
}

TEST_CASE("what CUDA refuses at the sizes is said") {
  const auto changed = [](auto change) {
    Example example;
    change(example);
    return example.error();
  };
  CHECK(changed([](Example &) {}) == "none");
  CHECK(changed([](Example &one) { one.launch().grid[1] = parsed("n - 8"); }) ==
        "the grid of k<4> is 0 at n=8, which CUDA refuses (1 to 65535)");
  CHECK(changed([](Example &one) { one.launch().block = {64, 32, 1}; }) ==
        "the block of k<4> holds 2048 threads at n=8; CUDA allows 1024");
  CHECK(changed([](Example &one) { one.launch().shared_bytes = parsed("n * 100000"); }) ==
        "the shared memory of k<4> is 800000 at n=8, which CUDA refuses (0 to 262144)");
  CHECK(changed([](Example &one) { one.launch().arguments = {model::BufferArgument{"x", parsed("n + 1")}}; }) ==
        "the offset into x is 9 at n=8, which CUDA refuses (0 to 8)");
  CHECK(changed([](Example &one) { one.launch().arguments = {model::BufferArgument{"z", {}}}; }) ==
        "k<4> is given the unknown buffer z");
  CHECK(changed([](Example &one) { one.launch().arguments = {model::ScalarArgument{"z"}}; }) ==
        "k<4> is given the unknown scalar z");
  CHECK(changed([](Example &one) { one.launch().arguments = {model::SizeArgument{parsed("n * n * n"), Dtype::Int8}}; }) ==
        "an argument of k<4> is 512 at n=8, which does not fit int8");
  CHECK(changed([](Example &one) { one.plan.steps = {model::FillStep{"z", 0}}; }) ==
        "a fill names the unknown buffer z");
}

} // namespace warpwright::plan
