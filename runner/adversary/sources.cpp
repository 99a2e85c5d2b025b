// Sources that attack the compiler, its host or the protocol instead of the measurement.
#include "runner/adversary/families.h"
#include "runner/adversary/tasks.h"

namespace warpwright::runner::adversary {
namespace {

constexpr const char *kFiles = "reading files of the host";
constexpr const char *kBombs = "compile bombs";
constexpr const char *kEscape = "leaving the kernel";

constexpr const char *kBody = "  if (i < n) y[i] = x[i] * x[i];";

Case both(const std::string &name, const char *family, const std::string &cheat, Plan candidate,
          std::vector<Expectation> cpu, std::vector<Expectation> gpu) {
  return {.name = name,
          .family = family,
          .cheat = cheat,
          .task = square_task(),
          .candidate = std::move(candidate),
          .cpu = {std::move(cpu), ""},
          .gpu = {std::move(gpu), ""}};
}

Case include(const std::string &name, const std::string &cheat, const std::string &text) {
  return both(name, kFiles, cheat, square(kBody, text), {kUnfit}, {kUnfit});
}

} // namespace

std::vector<Case> source_cases() {
  std::vector<Case> cases;
  cases.push_back(include("includes-a-host-file", "includes /etc/passwd to see it in an error",
                          "#include </etc/passwd>"));
  cases.push_back(include("includes-upwards", "includes a file by a path that climbs",
                          "#include <cuda/../../../../../../etc/passwd>"));
  cases.push_back(include("includes-through-a-macro", "builds the name of the header in a macro",
                          "#define FILE </etc/passwd>\n#include FILE"));
  cases.push_back(include("includes-behind-a-comment", "hides the directive behind a comment",
                          "/* a **/ # /* b * c */ include </etc/passwd>"));
  cases.push_back(include("includes-through-a-splice", "breaks the directive into two lines",
                          "#incl\\ \nude </etc/passwd>"));
  cases.push_back(include("includes-behind-a-form-feed", "puts a form feed before the directive",
                          "\f#include </etc/passwd>"));
  cases.push_back(include("embeds-a-host-file", "embeds the bytes of a file into an array",
                          "__device__ unsigned char bytes[] = {\n#embed \"/etc/passwd\"\n};"));
  cases.push_back(include("asks-whether-a-file-exists",
                          "asks with __has_include what there is on the host",
                          "#if __has_include(</etc/passwd>)\n#error it is there\n#endif"));

  for (const auto &[name, header] :
       {std::pair{"includes-a-file-beside-the-runner", "token"},
        std::pair{"includes-a-file-below-the-runner", "runner/token"}})
    cases.push_back(both(name, kFiles, "includes a file by a name relative to the runner's folder",
                         square(kBody, "#include \"" + std::string(header) + "\""),
                         {kUnsupported}, {kNoCompile}));
  cases.push_back(include("includes-above-the-runner", "includes a file above the runner's folder",
                          "#include \"../../token\""));
  cases.push_back(both("assembles-a-host-file", kFiles, "has the assembler include a file's bytes",
                       square_after("asm volatile(\".incbin \\\"/etc/passwd\\\"\");"),
                       {kUnsupported}, {kNoCompile}));
  cases.push_back(both("assembles-a-host-file-outside-functions", kFiles,
                       "has the assembler include a file's bytes next to the kernel",
                       square(kBody, "asm(\".incbin \\\"/etc/passwd\\\"\");"),
                       {kNoGain, kUnsupported}, {kNoGain, kNoCompile}));

  cases.push_back(both("endless-templates", kBombs, "instantiates a template that never ends",
                       square(kBody, "template <int n> struct Bomb { static const int value = "
                                     "Bomb<n + 1>::value + 1; };\n"
                                     "__device__ int bomb = Bomb<0>::value;"),
                       {kNoCompile}, {kNoCompile}));
  Case wide = both("exponential-templates", kBombs,
                   "instantiates two templates from each, until the compiler's time is up",
                   square(kBody, R"(
template <int depth, unsigned long long n> struct Bomb {
  static const int value = Bomb<depth - 1, 2 * n>::value + Bomb<depth - 1, 2 * n + 1>::value;
};
template <unsigned long long n> struct Bomb<0, n> { static const int value = 1; };
__device__ int bomb = Bomb<60, 1>::value;)"),
                   {kTimeout, kNoCompile}, {kTimeout, kNoCompile});
  wide.timeout_ms = 1'500;
  cases.push_back(std::move(wide));
  cases.push_back(both(
      "endless-constant", kBombs, "has the compiler evaluate an endless constant",
      square(kBody, "__device__ constexpr int spin() { int k = 1; while (k) k ^= 2; return k; }\n"
                    "__device__ int value[spin()];"),
      {kNoCompile}, {kNoCompile}));
  cases.push_back(both("no-source-at-all", kBombs, "is text that no compiler takes",
                       square("  this is not CUDA"), {kNoCompile}, {kNoCompile}));

  cases.push_back(both("calls-the-host", kEscape,
                       "declares a function of the C library and calls it",
                       square_after("if (i == 0) system(\"true\");",
                                    "extern \"C\" __device__ int system(const char *);"),
                       {kUnsupported, kNoCompile}, {kNoCompile}));
  cases.push_back(both("x86-assembly", kEscape, "contains a system call in x86 assembly",
                       square_after("asm volatile(\"syscall\");"), {kUnsupported}, {kNoCompile}));
  cases.push_back(both("assembly-that-closes-the-function", kEscape,
                       "closes its function in inline assembly and opens another",
                       square_after("asm volatile(\"ret; } .visible .entry other() {\");"),
                       {kUnsupported}, {kNoCompile, kWrong, kUnwritten}));
  cases.push_back(both("constructor-of-a-global", kEscape,
                       "computes a global before the first launch",
                       square(kBody, "__device__ int f(); \n__device__ int early = f();\n"
                                     "__device__ int f() { return 3; }"),
                       {kNoCompile}, {kNoCompile}));
  cases.push_back(
      both("prints-a-verdict", kEscape,
           "prints a verdict in the protocol's framing, and computes nothing",
           square_after("if (i < 4) printf(\"Content-Length: 60\\r\\n\\r\\n{\\\"jsonrpc\\\":"
                        "\\\"2.0\\\",\\\"id\\\":2,\\\"result\\\":{\\\"outcome\\\":"
                        "\\\"verified\\\"}}\\n\");\n  return;"),
           {kUnwritten}, {kUnwritten}));
  return cases;
}

} // namespace warpwright::runner::adversary
