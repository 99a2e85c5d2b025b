// Every plan that up to two legal moves make of the examples compiles with the real NVRTC.
//
// NVRTC is opened with dlopen, so the test builds without a toolkit and reports that it was skipped where there
// is none. Sources that occur twice are compiled once; a second move is tried with its first parameters only.
#include "tests/generator/example_states.h"

#include <chrono>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <iostream>
#include <set>
#include <thread>

using namespace warpwright;
using namespace warpwright::source;
using namespace warpwright::states;

using namespace warpwright::test;

namespace {

constexpr auto kBudget = std::chrono::seconds(40);

struct Nvrtc {
  int (*create)(void **, const char *, const char *, int, const char *const *,
                const char *const *) = nullptr;
  int (*compile)(void *, int, const char *const *) = nullptr;
  int (*log_size)(void *, std::size_t *) = nullptr;
  int (*log)(void *, char *) = nullptr;
  int (*destroy)(void **) = nullptr;

  bool open() {
    void *library = nullptr;
    for (const char *name :
         {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"})
      if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    create = reinterpret_cast<decltype(create)>(dlsym(library, "nvrtcCreateProgram"));
    compile = reinterpret_cast<decltype(compile)>(dlsym(library, "nvrtcCompileProgram"));
    log_size = reinterpret_cast<decltype(log_size)>(dlsym(library, "nvrtcGetProgramLogSize"));
    log = reinterpret_cast<decltype(log)>(dlsym(library, "nvrtcGetProgramLog"));
    destroy = reinterpret_cast<decltype(destroy)>(dlsym(library, "nvrtcDestroyProgram"));
    return create && compile && log_size && log && destroy;
  }

  /// The log of a compilation that failed; empty when it succeeded. To PTX: that is where the source is judged.
  std::string errors(const std::string &source) const {
    void *program = nullptr;
    if (create(&program, source.c_str(), "plan.cu", 0, nullptr, nullptr) != 0)
      return "nvrtcCreateProgram failed";
    const char *options[] = {"-arch=compute_90", "-std=c++17"};
    const int status = compile(program, 2, options);
    std::size_t size = 0;
    log_size(program, &size);
    std::string text(size, '\0');
    log(program, text.data());
    destroy(&program);
    return status == 0 ? std::string() : text;
  }
};

bool is_balanced(const std::string &text) {
  int round = 0, curly = 0, square = 0;
  for (char c : text) {
    round += (c == '(') - (c == ')');
    curly += (c == '{') - (c == '}');
    square += (c == '[') - (c == ']');
    if (round < 0 || curly < 0 || square < 0)
      return false;
  }
  return round == 0 && curly == 0 && square == 0;
}

} // namespace

TEST_CASE("every plan of up to two legal moves compiles") {
  Nvrtc nvrtc;
  if (!nvrtc.open()) {
    std::cout << "no libnvrtc here: all cases skipped\n";
    return;
  }
  const auto deadline = std::chrono::steady_clock::now() + kBudget;
  std::set<std::string> compiled;
  int late = 0;
  const auto check = [&](const Example &example, const State &state, bool is_always) {
    auto plan = render_plan(state, example.task);
    REQUIRE_MESSAGE(plan, moves_text(state), ": ", (plan ? "" : describe(plan.error())));
    CHECK_MESSAGE(is_balanced(state.file.text), moves_text(state));
    if (!is_always && std::chrono::steady_clock::now() > deadline) {
      ++late;
      return;
    }
    if (compiled.insert(plan->source).second) {
      const std::string errors = nvrtc.errors(plan->source);
      CHECK_MESSAGE(errors == "", moves_text(state), "\n", errors);
    }
  };
  const auto examples = all_examples();
  for (const Example &example : examples)
    for_each_state(example, false, [&](const State &state) { check(example, state, true); });
  CHECK(compiled.size() > 60);
  for (const Example &example : examples)
    for_each_state(example, true, [&](const State &state) { check(example, state, false); });
  std::cout << compiled.size() << " sources compiled, " << late
            << " left out when the time was up\n";
}
