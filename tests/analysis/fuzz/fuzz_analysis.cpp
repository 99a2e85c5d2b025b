// Analysis under the fuzzer: source text in, facts out, which must be of that text.
//
// Clang itself is as Debian built it, without instrumentation: only the project's code is watched and steers the
// search. Texts change by whole tokens and lines, as most changes of single bytes only give the parser one more error.
// No files are read. The budget ends what nests too deeply, as it does in a guard; libFuzzer's timeout ends the rest.
#include "analysis/analyze.h"
#include "support/budget.h"
#include "support/model/json.h"
#include "tests/runner/fuzz/fuzz_target.h"

#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <pthread.h>
#include <random>

namespace {

using namespace warpwright;
using namespace warpwright::analysis;
using fuzz::require;

constexpr Limits kLimits{std::chrono::minutes(10), std::size_t{1} << 30};

Budget budget_of_this_thread() {
  pthread_attr_t attributes;
  void *low = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {kLimits, reinterpret_cast<std::uintptr_t>(low), size};
}

void check_kernel(const Kernel &kernel, const FileFacts &facts, std::size_t size) {
  const auto inside = [&](Range range) { return range.begin <= range.end && range.end <= size; };
  require(inside(kernel.range) && inside(kernel.name_range) && inside(kernel.body_range),
          "a kernel lies in the text");
  for (const Access &access : kernel.accesses)
    require(inside(access.range), "an access lies in the text");
  for (const std::size_t launch : kernel.launches)
    require(launch < facts.launches.size(), "a kernel's launches are those of the file");
  if (!kernel.task.inferred)
    return;
  require(model::check_plan(kernel.task.task.reference, kernel.task.task).has_value(),
          "the plan of an inferred task is legal");
  // As rpc::Connection sends it: bytes that are no UTF-8 are replaced.
  const std::string sent =
      model::to_json(kernel.task.task).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  require(model::task_from_json(nlohmann::json::parse(sent)).has_value(),
          "an inferred task survives being sent");
}

void check_facts(const FileFacts &facts, const std::string &text) {
  for (const Kernel &kernel : facts.kernels)
    check_kernel(kernel, facts, text.size());
  for (const Diagnostic &diagnostic : facts.diagnostics) {
    require(diagnostic.range.end <= text.size(), "a diagnostic lies in the text");
    for (const QuickFix &fix : diagnostic.fixes)
      require(apply_edits(text, fix.edits).has_value(), "the edits of a fix fit together");
  }
}

void analyse(const std::string &text) {
  Result<std::unique_ptr<ParsedUnit>> unit =
      parse_stub({"/fuzz/input.cu", text}, {}, llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  if (unit)
    check_facts(collect_facts(**unit), text);
}

} // namespace

/// LLVM's inline allocators poison what they hold back where they are compiled for AddressSanitizer, and the library, which is not, writes there.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }

#ifdef WARPWRIGHT_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t most);

namespace {

/// Where words and other tokens begin, and the end of the text.
std::vector<std::size_t> token_places(const std::string &text) {
  std::vector<std::size_t> places;
  const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i == 0 || !is_word(static_cast<unsigned char>(text[i])) ||
        !is_word(static_cast<unsigned char>(text[i - 1])))
      places.push_back(i);
  places.push_back(text.size());
  return places;
}

constexpr const char *kWords[] = {
    "__global__ ", "__device__ ", "__shared__ ", "template <class T> ", "dim3 ", "<<<", ">>>",
    "threadIdx.x", "blockIdx.x", "blockDim.x", "__syncthreads();", "for (int i = 0; i < n; ++i) ",
    "if (n) ", "return ", "float *", "int ", "unsigned ", "n", "0", "1 << 31", "-1", "/", "%", "<<",
    ">>=", "*", "&", "[", "]", "(", ")", "{", "}", ";", ",", "sizeof(", "auto ", "struct S {",
    "const ", "__restrict__ ", "extern ", "#define N ", "\n", "atomicAdd(", "cudaMalloc(&",
    "__shfl_down_sync(", "// warpwright: ", "double ", "long long ", "decltype(", "[=](int i) {"};

} // namespace

/// Removes, repeats, moves or replaces runs of tokens; one time in eight what libFuzzer itself does.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char *>(data), size);
  for (unsigned change = random() % 4 + 1; change > 0; --change) {
    const std::vector<std::size_t> places = token_places(text);
    const auto place = [&] { return places[random() % places.size()]; };
    const std::size_t index = random() % places.size();
    const std::size_t begin = places[index];
    const std::size_t end = places[std::min(index + 1 + random() % 12, places.size() - 1)];
    const std::string run = text.substr(begin, end - begin);
    switch (random() % 4) {
    case 0:
      text.erase(begin, end - begin);
      break;
    case 1:
      text.insert(place(), run);
      break;
    case 2:
      text.replace(begin, end - begin, kWords[random() % std::size(kWords)]);
      break;
    default:
      text.insert(begin, kWords[random() % std::size(kWords)]);
    }
  }
  text.resize(std::min(text.size(), most));
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Budget budget = budget_of_this_thread();
  current_budget = &budget;
  try {
    analyse({reinterpret_cast<const char *>(data), size});
  } catch (const Interrupted &) { // nested too deeply: held
  }
  current_budget = nullptr;
  return 0;
}
