// JSON of tasks, plans and verdicts: round trips, the schemas on good and bad documents, plan
// checks, hashes.
#include "support/model/json.h"

#include <doctest/doctest.h>
#include <limits>

namespace warpwright::model {
namespace {

using nlohmann::json;

json plan_document() {
  return json::parse(R"json({
    "source": "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n) {}",
    "options": ["-std=c++17", "-DTILE=16"],
    "temporaries": [{"name": "scratch", "dtype": "float32", "extent": "n / 2"}],
    "steps": [
      {"fill": {"buffer": "scratch", "byte": 255}},
      {"launch": {"kernel": "saxpy", "grid": ["(n + 255) / 256"], "block": [256, 1, 1], "shared_bytes": 1024,
                  "arguments": [{"scalar": "a"}, {"buffer": "x", "offset": 1}, {"buffer": "y"},
                                {"size": "n - 1", "dtype": "int32"}, {"constant": 0.5, "dtype": "float32"}]}}],
    "moves": ["vectorize(width=4)"]})json");
}

json task_document() {
  json task = json::parse(R"({
    "name": "saxpy", "file": "/a.cu", "sizes": {"n": 1024}, "check_sizes": [{"n": 1000}, {"n": 257}],
    "buffers": [{"name": "x", "dtype": "float32", "extent": "n", "direction": "in", "distribution": {"kind": "normal"}},
                {"name": "keys", "dtype": "int32", "extent": "n", "direction": "in", "distribution": {"kind": "integers", "lower": 0, "upper": "n"}},
                {"name": "y", "dtype": "float32", "extent": "n", "direction": "inout"}],
    "scalars": [{"name": "a", "dtype": "float32", "value": 2.5}, {"name": "m", "dtype": "int64", "value": "n * 2"}],
    "tolerance": {"absolute": 1e-6, "relative": 1e-5, "error_factor": 3},
    "work": {"bytes": "12 * n"}})");
  task["reference"] = plan_document();
  return task;
}

TEST_CASE("a task and its plans come back as they were") {
  const auto task = task_from_json(task_document());
  REQUIRE_MESSAGE(task.has_value(), (task ? "" : describe(task.error())));
  CHECK(task->buffers[1].distribution.upper.text() == "n");
  CHECK(task->buffers[2].direction == Direction::InOut);
  CHECK(std::get<double>(task->scalars[0].value) == 2.5);
  CHECK(std::get<symbolic::Expression>(task->scalars[1].value).text() == "n * 2");
  CHECK(task->tolerance.error_factor == 3);
  CHECK(task->work.bytes->evaluate(task->sizes).value() == 12288);
  CHECK(!task->work.flops);
  CHECK(!task->reference_fp64);
  const auto again = task_from_json(to_json(*task));
  REQUIRE_MESSAGE(again.has_value(), (again ? "" : describe(again.error())));
  CHECK(*again == *task);
  const auto plan = plan_from_json(to_json(task->reference));
  REQUIRE(plan.has_value());
  CHECK(*plan == task->reference);
  CHECK(std::get<LaunchStep>(plan->steps[1]).block[0].text() == "256");
}

TEST_CASE("a launch says that its blocks must be on the device at once, and others say nothing") {
  const auto plain = plan_from_json(plan_document());
  REQUIRE(plain.has_value());
  CHECK_FALSE(std::get<LaunchStep>(plain->steps[1]).cooperative);
  CHECK_FALSE(to_json(*plain)["steps"][1]["launch"].contains("cooperative"));
  json document = plan_document();
  document["steps"][1]["launch"]["cooperative"] = true;
  const auto together = plan_from_json(document);
  REQUIRE(together.has_value());
  CHECK(std::get<LaunchStep>(together->steps[1]).cooperative);
  const auto again = plan_from_json(to_json(*together));
  REQUIRE(again.has_value());
  CHECK(*again == *together);
  CHECK(hash(*again) != hash(*plain));
  document["steps"][1]["launch"]["cooperative"] = 1;
  CHECK_FALSE(plan_from_json(document).has_value());
}

TEST_CASE("a verdict carries its counters and all that a re-run needs") {
  Verdict verdict;
  verdict.device.kind = "cuda";
  Record record{*task_from_json(task_document()), *plan_from_json(plan_document()), {}, "0.1.0"};
  record.options.seed = 18446744073709551615u;
  record.options.timeout = std::chrono::milliseconds(1234);
  verdict.record = record;
  PlanCounters candidate{{{"dram_throughput_percent", 91.5}, {"kernels", 2}}, "memory"};
  verdict.counters = Counters{.candidate = candidate, .tool = "ncu 2025.3.1", .sizes = "n=1024"};
  auto again = verdict_from_json(json::parse(to_json(verdict).dump()));
  REQUIRE_MESSAGE(again.has_value(), (again ? "" : describe(again.error())));
  CHECK(*again == verdict);
  json broken = to_json(verdict);
  broken["record"]["plan"]["source"] = 3;
  again = verdict_from_json(broken);
  REQUIRE(!again.has_value());
  CHECK(again.error().message.find("record") != std::string::npos);
  broken = to_json(verdict);
  broken["counters"]["candidate"]["bound"] = "luck";
  CHECK(!verdict_from_json(broken).has_value());
}

TEST_CASE("a verdict comes back as it was, with what is absent and what is infinite") {
  Verdict verdict;
  verdict.outcome = Outcome::WrongResult;
  verdict.message = "y[3] is nan";
  verdict.device = {.kind = "cuda", .name = "NVIDIA H200", .copy_bytes_per_s = 4e12};
  verdict.kernels.push_back(
      {.kernel = "k", .registers = 32, .occupancy = 0.5, .compile_ms = 12.5, .log = "a\nb"});
  verdict.checks.push_back({"matches the reference", false, "no"});
  verdict.errors.max_relative = std::numeric_limits<double>::infinity();
  verdict.candidate_time = Time{10, 9, 11, 30};
  const auto again = verdict_from_json(to_json(verdict));
  REQUIRE_MESSAGE(again.has_value(), (again ? "" : describe(again.error())));
  CHECK(*again == verdict);
  CHECK(!to_json(verdict).contains("speedup"));
  CHECK(to_json(verdict)["errors"] == json{{"max_relative", "inf"}});
  verdict.speedup = Speedup{2, 1.9, 2.1, 40, "NVIDIA H200"};
  CHECK(verdict_from_json(to_json(verdict)).value() == verdict);
  verdict.device.tf32_flops_per_s = 4e14;
  verdict.device.bf16_flops_per_s = 8e14;
  verdict.device.peak_bytes_per_s = 4.9e12;
  verdict.device.bracket_ns = 900;
  verdict.device.probe_ns = 700;
  verdict.candidate_time->kernel_ns = 8.5;
  verdict.library_share = 0.25;
  verdict.host_code = true;
  verdict.baselines = {
      {"eager", Time{30, 29, 31, 21}, Time{15, 14, 16, 21}, Speedup{2, 1.9, 2.1, 21, "H200"}, ""},
      {"torch.compile", {}, {}, {}, "its results are wrong", true},
      {"torch.compile+graph", {}, {}, {}, "it waits for the GPU"}};
  verdict.framework = {{"torch", "2.11.0+cu130"}, {"backends.cudnn.allow_tf32", "True"}};
  verdict.as_called = AsCalled{{20, 19, 21, 30}, {15, 14, 16, 30}, {1.3, 1.2, 1.4, 30, "H200"}};
  verdict.clocks =
      ClockRecord{.sm_mhz = Range{1700, 1980}, .power_capped = true, .discarded_pairs = 2};
  verdict.candidate_evidence =
      Evidence{.bytes_per_s = 3e12, .memory_share = 0.75, .bound = Bound::Memory};
  CHECK(verdict_from_json(to_json(verdict)).value() == verdict);
  CHECK(!to_json(verdict)["clocks"].contains("temperature_c"));
  CHECK(!to_json(verdict)["evidence"].contains("reference"));
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::Unsupported); ++outcome) {
    verdict.outcome = static_cast<Outcome>(outcome);
    CHECK(verdict_from_json(to_json(verdict))->outcome == verdict.outcome);
  }
  const auto device = device_from_json(to_json(verdict.device));
  REQUIRE(device.has_value());
  CHECK(*device == verdict.device);
  CHECK(!device_from_json({{"kind", "tpu"}, {"name", "x"}}).has_value());
}

/// `patch` (RFC 6902) of the good document is refused with all of `parts` in its message.
void refused(const json &good, Schema schema, const json &patch,
             const std::vector<std::string> &parts) {
  const json document = good.patch(patch);
  std::string message;
  if (schema == Schema::Task) {
    auto task = task_from_json(document);
    message = task ? "" : describe(task.error());
  } else {
    auto plan = plan_from_json(document);
    message = plan ? "" : describe(plan.error());
  }
  INFO(patch.dump() << " gave: " << message);
  for (const std::string &part : parts)
    CHECK(message.find(part) != std::string::npos);
}

json replace(const std::string &path, const json &value) {
  return json::array({{{"op", "replace"}, {"path", path}, {"value", value}}});
}
json add(const std::string &path, const json &value) {
  return json::array({{{"op", "add"}, {"path", path}, {"value", value}}});
}
json remove(const std::string &path) { return json::array({{{"op", "remove"}, {"path", path}}}); }

TEST_CASE("bad plans are refused with the member and what was expected") {
  const auto plan = [](const json &patch, const std::vector<std::string> &parts) {
    refused(plan_document(), Schema::Plan, patch, parts);
  };
  plan(remove("/source"), {"the document", "source"});
  plan(replace("/source", 3), {"source:", "CUDA C++ device source"});
  plan(replace("/source", std::string((8 << 20) + 1, 'x')), {"source:", "at most 8 MiB"});
  plan(replace("/steps", json::array()), {"steps:"});
  plan(add("/host_code", "int main() {}"), {"host_code"});
  plan(replace("/steps/0/fill/byte", 256), {"steps[0].fill.byte", "maximum 255"});
  plan(replace("/steps/0", {{"copy", {}}}), {"steps[0]"});
  plan(replace("/steps/1/launch/grid", json::array()),
       {"steps[1].launch.grid", "one to three expressions"});
  plan(replace("/steps/1/launch/grid/0", "(n + "), {"steps[1].launch.grid[0]"});
  plan(replace("/steps/1/launch/grid/0", 1.5),
       {"steps[1].launch.grid[0]", "an integer, or an expression"});
  plan(replace("/steps/1/launch/arguments/0", {{"scalar", "a"}, {"buffer", "x"}}),
       {"steps[1].launch.arguments[0]", "an argument is one of"});
  plan(replace("/steps/1/launch/arguments/0", {{"offset", 1}}),
       {"steps[1].launch.arguments[0]", "an argument is one of"});
  plan(replace("/steps/1/launch/arguments/3/dtype", "float32"),
       {"arguments[3].dtype", "a size argument is an integer"});
  plan(replace("/steps/1/launch/arguments/3/dtype", "float"), {"arguments[3].dtype", "float32"});
  plan(replace("/temporaries/0/name", "a b"), {"temporaries[0].name", "a C identifier"});
}

TEST_CASE("a struct passed by value comes back as it was, and its fields lie in it") {
  const auto task = task_from_json(task_document());
  REQUIRE(task.has_value());
  const auto with = [](const json &argument) {
    json document = plan_document();
    document["steps"][1]["launch"]["arguments"][0] = argument;
    return plan_from_json(document);
  };
  const json whole = {{"struct_bytes", 24},
                      {"fields",
                       {{{"at", 0}, {"buffer", "x"}, {"offset", "1"}},
                        {{"at", 8}, {"size", "n"}, {"dtype", "int64"}},
                        {{"at", 16}, {"scalar", "a"}},
                        {{"at", 20}, {"constant", 0.5}, {"dtype", "float32"}}}}};
  const auto plan = with(whole);
  REQUIRE_MESSAGE(plan.has_value(), (plan ? "" : describe(plan.error())));
  CHECK(check_plan(*plan, *task));
  CHECK(*plan_from_json(to_json(*plan)) == *plan);
  const auto &argument = std::get<LaunchStep>(plan->steps[1]).arguments[0];
  CHECK(std::get<ScalarArgument>(std::get<StructArgument>(argument).fields[2].value).scalar == "a");

  const auto problem = [&](json changed) {
    const auto one = with(std::move(changed));
    const auto checked = one ? check_plan(*one, *task) : std::unexpected(one.error());
    return checked ? std::string() : checked.error().message;
  };
  json other = whole;
  other["struct_bytes"] = 23;
  CHECK(problem(other).contains("fields at 20: the field ends behind the struct of 23 bytes"));
  other = whole;
  other["fields"][0]["buffer"] = "z";
  CHECK(problem(other).contains("there is no buffer or temporary \"z\""));
  other = whole;
  other["fields"][0] = whole;
  CHECK(problem(other).contains("an argument is one of"));
  CHECK(problem({{"scalar", "a"}, {"at", 8}}).contains("only fields of a struct have a place"));
}

TEST_CASE("an array of structs has the dtypes of a struct's elements, of one width") {
  json document = task_document();
  document["buffers"][0]["lanes"] = {"int32", "float32", "uint32"};
  const auto task = task_from_json(document);
  REQUIRE_MESSAGE(task.has_value(), (task ? "" : describe(task.error())));
  CHECK(task->buffers[0].lanes == std::vector{Dtype::Int32, Dtype::Float32, Dtype::UInt32});
  CHECK(*task_from_json(to_json(*task)) == *task);
  document["buffers"][0]["lanes"] = {"int32", "float64"};
  const auto refused = task_from_json(document);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message.contains("buffers.x.lanes: they have not the width of float32"));
}

TEST_CASE("compiler options are an allow-list, with no way to a path") {
  for (const char *good :
       {"-std=c++20", "--std=c++17", "-DX", "-DTILE=16", "-DT=unsigned int", "-UX",
        "--use_fast_math", "--maxrregcount=64", "-fmad=false", "--prec-div=false",
        "--prec-sqrt=false", "--extra-device-vectorization", "--restrict"}) {
    CAPTURE(good);
    json document = plan_document();
    document["options"] = {good};
    CHECK(plan_from_json(document).has_value());
  }
  for (const char *bad :
       {"-I/etc", "--include-path=/", "-include=/etc/passwd", "--pre-include=x", "-arch=sm_90",
        "--gpu-architecture=sm_90", "-dlto", "--ptxas-options=-O0", "-DX=\"/etc\"", "-DX\n-I/",
        "-std=c++17 -I/", "--pch-dir=/tmp", "", "-D", "@file", "--maxrregcount=99999"}) {
    CAPTURE(bad);
    json document = plan_document();
    document["options"] = {bad};
    const auto plan = plan_from_json(document);
    REQUIRE(!plan.has_value());
    CHECK(plan.error().message.find("options[0]") != std::string::npos);
  }
}

TEST_CASE("bad tasks are refused with the member and what was expected") {
  const auto task = [](const json &patch, const std::vector<std::string> &parts) {
    refused(task_document(), Schema::Task, patch, parts);
  };
  task(remove("/sizes"), {"the document", "sizes"});
  task(replace("/sizes/n", "many"), {"sizes.n"});
  task(replace("/buffers/0/dtype", "float128"), {"buffers[0].dtype", "bfloat16"});
  task(replace("/buffers/0/direction", "sideways"), {"buffers[0].direction", "inout"});
  task(replace("/buffers/0/extent", "n * unknown"), {"buffers.x.extent", "unknown"});
  task(replace("/buffers/0/extent", "n * 1000000000"), {"buffers.x.extent", "between 0 and"});
  task(replace("/buffers/0/extent", "0 - n"), {"buffers.x.extent", "-1024"});
  task(replace("/buffers/0/name", "y"), {"the name is taken"});
  task(replace("/buffers/1/distribution/kind", "cauchy"),
       {"buffers[1].distribution.kind", "uniform"});
  task(replace("/scalars/0/value", "n"),
       {"scalars.a.value", "a floating-point scalar needs a number"});
  task(replace("/scalars/1/value", 2.5), {"scalars.m.value", "an integer scalar needs an integer"});
  task(replace("/tolerance/relative", -1), {"tolerance.relative", "minimum"});
  task(replace("/reference/steps/1/launch/kernel", ""), {"reference.steps[1].launch.kernel"});
  task(replace("/work/bytes", "n +"), {"work.bytes"});
}

TEST_CASE("plans are checked against their task: names, expressions, CUDA's limits, includes") {
  const auto task = task_from_json(task_document());
  REQUIRE(task.has_value());
  const auto message = [&](const json &patch) {
    const auto plan = plan_from_json(plan_document().patch(patch));
    REQUIRE_MESSAGE(plan.has_value(), (plan ? "" : describe(plan.error())));
    const auto checked = check_plan(*plan, *task);
    return checked ? std::string() : describe(checked.error());
  };
  const auto has = [&](const json &patch, const std::string &part) {
    const std::string text = message(patch);
    INFO(patch.dump() << " gave: " << text);
    CHECK(text.find(part) != std::string::npos);
  };
  CHECK(message(json::array()) == "");
  has(replace("/steps/1/launch/arguments/1/buffer", "z"),
      "steps[1].launch.arguments[1].buffer: there is no buffer or temporary \"z\". There are: "
      "keys, scratch, x, y");
  has(replace("/steps/1/launch/arguments/1/offset", "n + 1"), "arguments[1].offset");
  const auto map = [](json extents, json strides, json box, int swizzle) {
    return json::array(
        {{{"op", "add"},
          {"path", "/steps/1/launch/arguments/1/map"},
          {"value",
           {{"extents", extents}, {"strides", strides}, {"box", box}, {"swizzle_bytes", swizzle}}}},
         {{"op", "replace"}, {"path", "/steps/1/launch/arguments/1/offset"}, {"value", 0}}});
  };
  CHECK(message(map({"n"}, json::array(), {4}, 0)) == "");
  CHECK(message(map({4, "n / 4"}, {4}, {4, 2}, 128)) == "");
  has(map({"n + 1"}, json::array(), {4}, 0),
      "its last element lies 1 elements behind the buffer x");
  has(map({4, "n / 4"}, {5}, {4, 2}, 0), "strides: 5 elements are not a multiple of 16 bytes");
  has(map({4, 4}, json::array(), {4, 2}, 0), "extents and box need as many numbers");
  has(map({"n"}, json::array(), {64}, 128), "a row of 256 bytes is wider than the swizzle");
  has(map({"n"}, json::array(), {3}, 0), "no multiple of 16 bytes");
  const auto window = [&](json first, json last, json steps, json box = {4, 512}) {
    json patch = map({4, 2, 2, "n / 16"}, {4, 8, 16}, box, 0);
    patch[0]["value"]["window"] = {{"first", first}, {"last", last}, {"steps", steps}};
    return patch;
  };
  CHECK(message(window({-1, -1}, {-1, -1}, {1, 2})) == "");
  has(window({-1}, {-1}, {1}), "need two extents more");
  has(window({-1, -129}, {-1, -1}, {1, 1}), "a corner or a step is out of range");
  has(window({-1, -1}, {-1, 128}, {1, 1}), "a corner or a step is out of range");
  has(window({-1, -1}, {-1, -1}, {1, 1}, {512, 8}), "more than 256 channels");
  has(map({"n"}, json::array(), {512}, 0), "more than 256 elements along a dimension");
  has(replace("/steps/1/launch/arguments/0/scalar", "b"), "there is no scalar \"b\"");
  has(replace("/steps/1/launch/arguments/3/size", "rows"), "rows");
  has(replace("/steps/0/fill/buffer", "z"), "steps[0].fill.buffer");
  has(replace("/temporaries/0/name", "x"), "temporaries.x: the name is taken");
  has(replace("/steps/1/launch/grid/0", "n - n"), "grid[0] \"n - n\" is 0");
  has(replace("/steps/1/launch/grid", json::array({1, 65536})), "grid[1]");
  has(replace("/steps/1/launch/block", json::array({1025})), "block[0]");
  has(replace("/steps/1/launch/block", json::array({64, 32})), "a block of 2048 threads");
  has(replace("/steps/1/launch/block", json::array({1, 1, 65})), "block[2]");
  has(replace("/steps/1/launch/shared_bytes", "n * 1024"), "shared_bytes");
  has(replace("/steps/1/launch/kernel", "k\n#include </a>\n"), "this is not the name of a kernel");
  for (const char *bad :
       {"#include \"/etc/passwd\"", "#include </etc/passwd>", "#include \"../x.h\"",
        "  #  include \"/a\"", "#inc\\\nlude \"/a\"", "%:include \"/a\"",
        "#define F \"/a\"\n#include F", "#include_next </a>", "#/**/include \"/a\"",
        "#import \"/a\"", "/**/ #include \"/a\"", "# /* * */ include \"/a\"", "\f#include \"/a\"",
        "\r#include \"/a\"", "#incl\\ \nude \"/a\"", "#if __has_include(</a>)\n#endif",
        "#define H __has_include\n", "#embed \"/a\""}) {
    CAPTURE(bad);
    has(replace("/source", bad), "the source includes");
  }
  for (const char *good :
       {"#include <cuda_fp16.h>\n", "#include <cooperative_groups/reduce.h> // \"/x\"\n",
        "#define includes 1\n", "// #included\n", "int include;\n",
        "#if __has_include ( <cuda_bf16.h> )\n#endif\n"}) {
    CAPTURE(good);
    CHECK(message(replace("/source", good)) == "");
  }
}

TEST_CASE("hashes cover what is computed and nothing else") {
  const auto task = task_from_json(task_document());
  REQUIRE(task.has_value());
  Task renamed = *task;
  renamed.name = "other";
  renamed.file = "/b.cu";
  CHECK(hash(renamed) == hash(*task));
  Task resized = *task;
  resized.sizes["n"] = 2048;
  CHECK(hash(resized) != hash(*task));
  Plan moved = task->reference;
  moved.moves = {"block_size(x=128)"};
  CHECK(hash(moved) == hash(task->reference));
  moved.options.push_back("-DX");
  CHECK(hash(moved) != hash(task->reference));
  CHECK(hash(moved).size() == 64);
}

} // namespace
} // namespace warpwright::model
