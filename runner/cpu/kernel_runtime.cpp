// Sanitizer handlers, assert, trap and printf for kernel code. The handlers' data has the layout of
// compiler-rt's ubsan_handlers.h.
#include "runner/cpu/kernel_runtime.h"

#include "runner/cpu/faults.h"
#include "runner/cpu/header_files.h"
#include "runner/cpu/scheduler.h"

#include <cstdint>
#include <cstring>
#include <string>

namespace warpwright::runner::cpu {
namespace {

struct SourceLocation {
  const char *file;
  std::uint32_t line, column;
};
struct TypeDescriptor {
  std::uint16_t kind, info;
  char name[1]; ///< quoted: "'float4'"
};
struct OutOfBoundsData {
  SourceLocation location;
  const TypeDescriptor *array_type, *index_type;
};
struct TypeMismatchData {
  SourceLocation location;
  const TypeDescriptor *type;
  unsigned char log_alignment, access_kind;
};
struct OverflowData {
  SourceLocation location;
  const TypeDescriptor *type;
};

/// " at line 12", " at other.cuh:12", or "" inside the backend's own headers.
std::string at(const SourceLocation &location) {
  if (!location.file || std::strncmp(location.file, kHeaderFolder, std::strlen(kHeaderFolder)) == 0)
    return {};
  if (std::strcmp(location.file, kMainFile) == 0)
    return " at line " + std::to_string(location.line);
  return " at " + std::string(location.file) + ":" + std::to_string(location.line);
}

void record_out_of_bounds(const OutOfBoundsData *data, std::uint64_t index) {
  std::string number = data->index_type->info & 1 ? std::to_string(static_cast<std::int64_t>(index))
                                                  : std::to_string(index);
  if (data->index_type->info >> 1 == 5 &&
      data->index_type->info & 1) // a 32-bit index is not sign-extended yet
    number = std::to_string(static_cast<std::int32_t>(index));
  record_fault(Fault::Kind::Crash, "index " + number + " is out of bounds of an array " +
                                       data->array_type->name + at(data->location));
}
void record_misaligned(const TypeMismatchData *data, std::uint64_t pointer) {
  const std::uint64_t alignment = 1ull << data->log_alignment;
  record_fault(Fault::Kind::Crash,
               std::string("misaligned address: ") + data->type->name + " needs a multiple of " +
                   std::to_string(alignment) + " bytes, the address is " +
                   std::to_string(pointer % alignment) + " bytes past one" + at(data->location));
}
void record_misaligned_copy(std::uint64_t rest, std::uint64_t alignment, const char *location) {
  record_fault(Fault::Kind::Crash, "misaligned address: a vector access needs a multiple of " +
                                       std::to_string(alignment) + " bytes, the address is " +
                                       std::to_string(rest) + " bytes past one" +
                                       (*location ? std::string(" at ") + location : ""));
}
void record_division(const OverflowData *data) {
  record_fault(Fault::Kind::Crash, "integer division by zero" + at(data->location));
}
void record_assert(const char *expression, const char *file, int line) {
  record_fault(Fault::Kind::Crash, std::string("assertion failed: ") + expression +
                                       at({file, static_cast<std::uint32_t>(line), 0}));
}

[[noreturn]] void out_of_bounds(const OutOfBoundsData *data, std::uint64_t index) {
  record_out_of_bounds(data, index);
  leave_launch();
}
[[noreturn]] void misaligned(const TypeMismatchData *data, std::uint64_t pointer) {
  record_misaligned(data, pointer);
  leave_launch();
}
[[noreturn]] void misaligned_copy(std::uint64_t rest, std::uint64_t alignment,
                                  const char *location) {
  record_misaligned_copy(rest, alignment, location);
  leave_launch();
}
[[noreturn]] void division(const OverflowData *data, std::uint64_t, std::uint64_t) {
  record_division(data);
  leave_launch();
}
[[noreturn]] void assert_failed(const char *expression, const char *file, int line) {
  record_assert(expression, file, line);
  leave_launch();
}
[[noreturn]] void trap() {
  record_fault(Fault::Kind::Crash, "the kernel called __trap()");
  leave_launch();
}
/// CUDA's printf returns the number of arguments, but kernels do not use that value.
int print_nothing(const char *, ...) { return 0; }

template <class Function>
void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

} // namespace

std::vector<std::pair<const char *, void *>> runtime_symbols() {
  std::vector<std::pair<const char *, void *>> symbols = {
      {"__ubsan_handle_out_of_bounds_abort", address(&out_of_bounds)},
      {"__ubsan_handle_type_mismatch_v1_abort", address(&misaligned)},
      {"__ubsan_handle_divrem_overflow_abort", address(&division)},
      {"__ww_misaligned_copy", address(&misaligned_copy)},
      {"__ww_assert_failed", address(&assert_failed)},
      {"__ww_trap", address(&trap)},
      {"printf", address(&print_nothing)},
      {"puts", address(&print_nothing)},
      {"putchar", address(&print_nothing)}};
  for (auto symbol : scheduler_symbols())
    symbols.push_back(symbol);
  return symbols;
}

} // namespace warpwright::runner::cpu
