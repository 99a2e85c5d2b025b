// The real `warpwright` on real files: what it prints, writes and returns, above all on bad input.
//
// Everything runs on the CPU backend, in a folder of its own, so that the tests need no GPU and
// touch nothing.
#include "support/files.h"
#include "support/process.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

using namespace warpwright;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr char kScale[] = R"cu(__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * 2.0f;
}
)cu";

constexpr char kMain[] = R"cu(int main() {
  const int n = 1000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, n);
  return cudaDeviceSynchronize();
}
)cu";

struct Ended {
  int code = 0;
  std::string output, errors;
  Json json() const { return Json::parse(output); }
};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// A folder, and the program run inside it with a ledger of its own.
struct Workplace {
  fs::path path;
  Workplace() {
    std::string name = (fs::temp_directory_path() / "warpwright-e2e-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Workplace() { fs::remove_all(path); }

  std::string add(const std::string &name, const std::string &text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return name;
  }
  std::string text(const std::string &name) const {
    std::stringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }
  Ended run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), WARPWRIGHT_BINARY_DIR "/warpwright");
    ProcessOptions options{.environment = {"XDG_STATE_HOME=" + path.string(), "NO_COLOR=1"},
                           .working_directory = path.string(),
                           .pipe_stderr = true};
    const auto run = run_captured(arguments, "", std::chrono::seconds(120), options);
    REQUIRE_MESSAGE(run, (run ? "" : describe(run.error())));
    INFO(run->errors);
    REQUIRE(run->status.signal == 0);
    return {run->status.code, run->output, run->errors};
  }
  /// On the CPU, with few variants.
  Ended optimize(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"optimize", "--device", "cpu", "--max-variants", "4", "--budget", "20s"});
    return run(std::move(arguments));
  }
};

} // namespace

TEST_CASE("help and version are no errors; unknown arguments are") {
  const Workplace place;
  CHECK(place.run({"--help"}).code == 0);
  CHECK(has(place.run({"optimize", "--help"}).output, "--max-variants"));
  CHECK(place.run({}).code == 2);
  CHECK(place.run({"optimize", "x.cu"}).code == 2);
  CHECK(place.run({"optimize"}).code == 2);
}

TEST_CASE("the version names the build: commit, date, system, C library and compiler") {
  const std::regex line(R"(warpwright (\S+) \((unknown commit|[0-9a-f]{12}(-dirty)?, \d{4}-\d{2}-\d{2})\), )"
                        R"(linux-\w+, glibc \d+\.\d+, (Clang|GCC) [0-9.]+\n)");
  const std::string output = Workplace().run({"--version"}).output;
  std::smatch parts;
  REQUIRE_MESSAGE(std::regex_match(output, parts, line), output);
  CHECK(parts[1].str() + "\n" == read_file(WARPWRIGHT_SOURCE_DIR "/VERSION").value());
}

TEST_CASE("wrong option values are refused with the text to write instead") {
  const Workplace place;
  const std::string file = place.add("a.cu", kScale);
  const Ended budget = place.run({"optimize", file, "--budget", "soon"});
  CHECK(budget.code == 2);
  CHECK(has(budget.errors, "'soon' is not a time. Write 30s, 500ms or 2m"));
  const Ended device = place.run({"optimize", file, "--device", "tpu"});
  CHECK(device.code == 2);
  CHECK(has(device.errors, "'tpu' is no device; write cpu or cuda:0"));
  CHECK(place.run({"optimize", file, "--max-variants", "0"}).code == 2);
  const Ended apply = place.run({"optimize", file, "--apply=always"});
  CHECK(apply.code == 2);
  CHECK(has(apply.errors, "--apply=checked"));
}

TEST_CASE("a missing file and an empty directory are named") {
  const Workplace place;
  const Ended missing = place.optimize({"none.cu"});
  CHECK(missing.code == 2);
  CHECK(has(missing.errors, "none.cu: no such file or directory. Check the path"));
  place.add("sub/readme.txt", "");
  const Ended empty = place.optimize({"sub"});
  CHECK(empty.code == 2);
  CHECK(has(empty.errors, "no CUDA source in sub"));
  const Ended analysis = place.run({"analyze", "none.cu", "--json"});
  CHECK(analysis.code == 2);
  CHECK(analysis.json()["files"].empty());
}

TEST_CASE("a source that does not parse is reported with its line") {
  const Workplace place;
  const std::string file =
      place.add("broken.cu",
                "__global__ void scale(float *x, int n) {\n  x[0] = ;\n}\n" + std::string(kMain));
  const Ended ended = place.optimize({file, "--json"});
  CHECK(ended.code == 1);
  const Json kernel = ended.json()["kernels"][0];
  CHECK(has(kernel["error"]["message"], "cannot parse scale"));
  CHECK(has(kernel["error"]["message"], "broken.cu:2:"));
  CHECK(has(kernel["error"]["remedy"], "compile_commands.json"));
}

TEST_CASE("a file without a kernel says what a kernel is") {
  const Workplace place;
  const Ended ended = place.optimize({place.add("empty.cu", "int main() {}\n")});
  CHECK(ended.code == 1);
  CHECK(has(ended.errors, "no kernel in empty.cu. A kernel is a function declared __global__"));
}

TEST_CASE("a kernel that is never launched says so and what to do") {
  const Workplace place;
  const Ended ended = place.optimize({place.add("lonely.cu", kScale)});
  CHECK(ended.code == 1);
  CHECK(has(ended.output, "scale is never launched in"));
  CHECK(has(ended.output, "Add the launch"));
}

TEST_CASE("unknown sizes are asked for, with the comment to insert") {
  const Workplace place;
  const std::string file = place.add(
      "unknown.cu", std::string(kScale) +
                        "void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, n); }\n");
  const Ended ended = place.optimize({file, "--json"});
  CHECK(ended.code == 1);
  const Json kernel = ended.json()["kernels"][0];
  CHECK(has(kernel["error"]["message"], "not all that a run of scale needs is known"));
  REQUIRE(!kernel["missing"].empty());
  CHECK(has(kernel["missing"][0]["question"], "?"));
  CHECK(has(kernel["comment"], "warpwright"));
}

TEST_CASE("a spec answers what is unknown; one with errors is refused with the place") {
  const Workplace place;
  const std::string file = place.add(
      "unknown.cu", std::string(kScale) +
                        "void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, n); }\n");
  const Ended wrong =
      place.optimize({file, "--spec", place.add("bad.spec", "n = 1000\nx: in flaot[n]\n")});
  CHECK(wrong.code == 2);
  CHECK(has(wrong.errors, "bad.spec: line 2, column "));
  CHECK(place.optimize({file, "--spec", "none.spec"}).code == 2);

  const Ended right = place.optimize(
      {file, "--json", "--spec", place.add("good.spec", "n = 1000, x: inout float[n]\n")});
  CHECK(right.code == 0);
  const Json kernel = right.json()["kernels"][0];
  CHECK(kernel["error"].is_null());
  CHECK(kernel["sizes"] == "n=1000");
  CHECK(!kernel["variants"].empty());
}

TEST_CASE("the project's .warpwright.toml gives sizes that the source does not") {
  const Workplace place;
  place.add(".warpwright.toml", "[sizes]\nn = 2000\n");
  const std::string file = place.add(
      "unknown.cu", std::string(kScale) +
                        "void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, n); }\n");
  const Json kernel = place.run({"analyze", file, "--json"}).json()["files"][0]["kernels"][0];
  CHECK(kernel["task"]["task"]["sizes"]["n"] == 2000);
}

TEST_CASE("a construct that the backend cannot run is called unsupported with the reason") {
  const Workplace place;
  std::string source = kScale;
  source.replace(source.find("x[i] = x[i] * 2.0f;"), 19,
                 "asm volatile(\"membar.gl;\"); x[i] = x[i] * 2.0f;");
  const Ended ended = place.optimize({place.add("ptx.cu", source + kMain), "--json"});
  const Json kernel = ended.json()["kernels"][0];
  std::string told = kernel["error"].is_null() ? "" : kernel["error"]["message"].get<std::string>();
  for (const Json &variant : kernel["variants"]) {
    CHECK(variant["outcome"] == "unsupported");
    told += variant["message"];
  }
  CHECK(has(told, "PTX"));
  CHECK(kernel["best"].is_null());
}

TEST_CASE("no runner, no such device and an unwritable ledger are said before anything runs") {
  const Workplace place;
  const std::string file = place.add("a.cu", std::string(kScale) + kMain);
  const Ended runner = place.optimize({file, "--runner", "unix:/nonexistent/socket"});
  CHECK(runner.code == 1);
  CHECK(has(runner.errors, "/nonexistent/socket"));
  const Ended url = place.optimize({file, "--runner", "carrier-pigeon"});
  CHECK(url.code == 1);
  CHECK(has(url.errors, "carrier-pigeon"));
  const Ended device = place.run({"optimize", file, "--device", "cuda:99"});
  CHECK(device.code == 1);
  CHECK(has(device.errors, "cuda:99"));
  CHECK(has(device.errors, "--device cpu"));
  const Ended ledger = place.optimize({file, "--ledger", "/proc/none/ledger.sqlite"});
  CHECK(ledger.code == 1);
  CHECK(has(ledger.errors, "/proc/none"));
}

TEST_CASE("a kernel name that is not there is told") {
  const Workplace place;
  const Ended ended =
      place.optimize({place.add("a.cu", std::string(kScale) + kMain), "--kernel", "skale"});
  CHECK(ended.code == 1);
  CHECK(has(ended.errors, "no kernel named skale"));
}

TEST_CASE("a file that cannot be analysed is named, and the others have their facts") {
  const Workplace place;
  place.add("sub/a_deep.cu",
            std::string(kScale) + "int deep = " + std::string(200'000, '!') + "1;\n");
  place.add("sub/b_good.cu", std::string(kScale) + kMain);
  const Ended ended = place.run({"analyze", "sub", "--json"});
  CHECK(ended.code == 1);
  CHECK(has(ended.errors, "warpwright: sub/a_deep.cu: Warpwright could not analyze this file"));
  CHECK(has(ended.errors, "nested too deeply"));
  const Json document = ended.json();
  CHECK(document["failures"].size() == 1);
  REQUIRE(document["files"].size() == 2);
  CHECK(document["files"][0]["kernels"][0]["name"] == "scale"); // from the token scan
  CHECK(document["files"][1]["kernels"][0]["task"]["inferred"] == true);
  const Ended search = place.optimize({"sub/a_deep.cu"});
  CHECK(search.code == 1);
  CHECK(has(search.errors, "nested too deeply"));
}

TEST_CASE("analyze gives the promised members, and writes slices") {
  const Workplace place;
  const Ended ended = place.run(
      {"analyze", place.add("a.cu", std::string(kScale) + kMain), "--json", "--slices", "slices"});
  CHECK(ended.code == 0);
  const Json file = ended.json()["files"][0];
  CHECK(file["path"] == "a.cu");
  const Json kernel = file["kernels"][0];
  CHECK(kernel["name"] == "scale");
  CHECK(kernel["line"] == 1);
  CHECK(kernel["launches"][0]["line"] == 10);
  CHECK(kernel["accesses"][0]["buffer"] == "x");
  CHECK(kernel["accesses"][0]["space"] == "global");
  CHECK(kernel["accesses"][0]["pattern"] == "coalesced");
  CHECK(kernel["task"]["inferred"] == true);
  CHECK(kernel["task"]["missing"].empty());
  CHECK(has(kernel["slice"], "scale"));
  CHECK(has(place.text("slices/a.scale.cu"), "__global__"));
  CHECK(file["diagnostics"].is_array());
  CHECK(has(place.run({"analyze", "a.cu"}).output, "1 launch"));
}

TEST_CASE("on the CPU variants are verified, and no speedup is shown anywhere") {
  const Workplace place;
  const std::string file = place.add("a.cu", std::string(kScale) + kMain);
  const Ended ended = place.optimize({file, "--json", "--html", "report.html"});
  CHECK(ended.code == 0);
  const Json kernel = ended.json()["kernels"][0];
  int verified = 0;
  for (const Json &variant : kernel["variants"]) {
    CHECK(variant["speedup"].is_null());
    CHECK(variant["time"].is_null());
    verified += variant["outcome"] == "verified";
  }
  CHECK(verified > 0);
  CHECK(!kernel["best"].is_null());
  CHECK(has(kernel["diff"], "+++ b/a.cu"));
  const std::string html = place.text("report.html");
  CHECK(has(html, "not measured on a GPU"));
  CHECK(has(html, "scale"));

  const Ended text = place.optimize({file});
  CHECK(text.code == 0);
  CHECK(has(text.output, "That proves correctness and not GPU speed"));
  CHECK(has(text.output, "--apply=checked"));
}

TEST_CASE(
    "--apply on the CPU refuses, --apply=checked writes a program that still launches its kernel") {
  const Workplace place;
  const std::string source = std::string(kScale) + kMain;
  const std::string file = place.add("a.cu", source);
  const Ended refused = place.optimize({file, "--apply"});
  CHECK(refused.code == 1);
  CHECK(has(refused.output, "Not applied: scale was checked on the CPU only"));
  CHECK(place.text(file) == source);

  const Ended applied = place.optimize({file, "--apply=checked"});
  CHECK(applied.code == 0);
  CHECK(has(applied.output, "Applied to a.cu"));
  CHECK(place.text(file) != source);
  CHECK(has(place.text(file), "<<<"));
  CHECK(std::distance(fs::directory_iterator(place.path), {}) <= 2);
}

TEST_CASE("kernels of one file are applied one after the other, and both edits stay") {
  const Workplace place;
  const std::string file = place.add("two.cu", R"cu(__global__ void first(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] * 2.0f;
}

__global__ void second(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = x[i] + 1.0f;
}

int main() {
  const int n = 1000;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  first<<<(n + 255) / 256, 256>>>(x, n);
  second<<<(n + 255) / 256, 256>>>(x, n);
  return cudaDeviceSynchronize();
}
)cu");
  const Ended ended = place.optimize({file, "--apply=checked", "--json"});
  CHECK(ended.code == 0);
  const Json kernels = ended.json()["kernels"];
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0]["applied"]["applied"] == true);
  CHECK(kernels[1]["applied"]["applied"] == true);
  const Json facts = place.run({"analyze", file, "--json"}).json()["files"][0];
  CHECK(facts["kernels"].size() >= 2);
  for (const Json &diagnostic : facts["diagnostics"])
    CHECK_MESSAGE(diagnostic["rule"] != "syntax", diagnostic.dump());
}

TEST_CASE("doctor finds the CPU path and says what is missing") {
  const Workplace place;
  const Ended ended = place.run({"doctor", "--json"});
  CHECK(ended.code == 0);
  const Json document = ended.json();
  CHECK(document["ready"]["cpu"] == true);
  std::vector<std::string> names;
  for (const Json &check : document["checks"]) {
    names.push_back(check["name"]);
    if (check["state"] != "found")
      CHECK_MESSAGE(!check["remedy"].get<std::string>().empty(), check.dump());
  }
  for (const char *name : {"analysis", "CUDA toolkit", "runner", "GPU", "CPU worker", "ledger",
                           "compile_commands.json", "policy"})
    CHECK_MESSAGE(std::find(names.begin(), names.end(), name) != names.end(), name);
  const Ended no_runner = place.run({"doctor", "--runner", "unix:/nonexistent/socket"});
  CHECK(no_runner.code == 1);
  CHECK(has(no_runner.output, "/nonexistent/socket"));
}

TEST_CASE("the examples need no comment: every task is inferred or asked for by name") {
  const Workplace place;
  const Json files =
      place.run({"analyze", WARPWRIGHT_SOURCE_DIR "/examples", "--json"}).json()["files"];
  CHECK(files.size() >= 8);
  for (const Json &file : files)
    for (const Json &kernel : file["kernels"])
      CHECK_MESSAGE(kernel["task"]["inferred"] == true, file["path"].dump(), kernel["name"].dump(),
                    kernel["task"].dump());
}
