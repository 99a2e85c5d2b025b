// Table of the functions that kernel code may call. Kernel code is untrusted and cannot call any
// other function of this process: a source that declares `extern "C" int system(const char *)` does
// not link.
#include "runner/cpu/jit.h"
#include "runner/cpu/kernel_runtime.h"
#include "runner/cpu/launcher.h"

#include <cmath>
#include <cstring>

// libgcc's conversions, which the compiler calls on x86-64 without F16C (arm64 always has
// instructions for them), and GNU extensions of libm.
extern "C" {
#ifdef __x86_64__
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
#endif
double exp10(double) noexcept;
float exp10f(float) noexcept;
void sincos(double, double *, double *) noexcept;
void sincosf(float, float *, float *) noexcept;
}

namespace warpwright::runner::cpu {
namespace {

template <class Function>
void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

void *one(double (*function)(double)) { return address(function); }
void *onef(float (*function)(float)) { return address(function); }
void *two(double (*function)(double, double)) { return address(function); }
void *twof(float (*function)(float, float)) { return address(function); }

} // namespace

std::vector<std::pair<const char *, void *>> kernel_symbols() {
  std::vector<std::pair<const char *, void *>> symbols = runtime_symbols();
  for (auto symbol : launcher_symbols())
    symbols.push_back(symbol);
#define WARPWRIGHT_ONE(name) {#name, one(&::name)}, {#name "f", onef(&::name##f)}
#define WARPWRIGHT_TWO(name) {#name, two(&::name)}, {#name "f", twof(&::name##f)}
  symbols.insert(
      symbols.end(),
      {WARPWRIGHT_ONE(sin),
       WARPWRIGHT_ONE(cos),
       WARPWRIGHT_ONE(tan),
       WARPWRIGHT_ONE(asin),
       WARPWRIGHT_ONE(acos),
       WARPWRIGHT_ONE(atan),
       WARPWRIGHT_ONE(sinh),
       WARPWRIGHT_ONE(cosh),
       WARPWRIGHT_ONE(tanh),
       WARPWRIGHT_ONE(asinh),
       WARPWRIGHT_ONE(acosh),
       WARPWRIGHT_ONE(atanh),
       WARPWRIGHT_ONE(exp),
       WARPWRIGHT_ONE(exp2),
       WARPWRIGHT_ONE(exp10),
       WARPWRIGHT_ONE(expm1),
       WARPWRIGHT_ONE(log),
       WARPWRIGHT_ONE(log2),
       WARPWRIGHT_ONE(log10),
       WARPWRIGHT_ONE(log1p),
       WARPWRIGHT_ONE(logb),
       WARPWRIGHT_ONE(sqrt),
       WARPWRIGHT_ONE(cbrt),
       WARPWRIGHT_ONE(floor),
       WARPWRIGHT_ONE(ceil),
       WARPWRIGHT_ONE(trunc),
       WARPWRIGHT_ONE(round),
       WARPWRIGHT_ONE(rint),
       WARPWRIGHT_ONE(nearbyint),
       WARPWRIGHT_ONE(fabs),
       WARPWRIGHT_ONE(erf),
       WARPWRIGHT_ONE(erfc),
       WARPWRIGHT_ONE(tgamma),
       WARPWRIGHT_ONE(lgamma),
       WARPWRIGHT_TWO(pow),
       WARPWRIGHT_TWO(atan2),
       WARPWRIGHT_TWO(fmod),
       WARPWRIGHT_TWO(remainder),
       WARPWRIGHT_TWO(fmin),
       WARPWRIGHT_TWO(fmax),
       WARPWRIGHT_TWO(fdim),
       WARPWRIGHT_TWO(hypot),
       WARPWRIGHT_TWO(nextafter),
       {"sincos", address(&::sincos)},
       {"sincosf", address(&::sincosf)},
       {"fma", address(static_cast<double (*)(double, double, double)>(&::fma))},
       {"fmaf", address(&::fmaf)},
       {"ldexp", address(static_cast<double (*)(double, int)>(&::ldexp))},
       {"ldexpf", address(&::ldexpf)},
       {"scalbn", address(static_cast<double (*)(double, int)>(&::scalbn))},
       {"scalbnf", address(&::scalbnf)},
       {"frexp", address(static_cast<double (*)(double, int *)>(&::frexp))},
       {"frexpf", address(&::frexpf)},
       {"modf", address(static_cast<double (*)(double, double *)>(&::modf))},
       {"modff", address(&::modff)},
       {"ilogb", address(static_cast<int (*)(double)>(&::ilogb))},
       {"ilogbf", address(&::ilogbf)},
       {"lround", address(static_cast<long (*)(double)>(&::lround))},
       {"lroundf", address(&::lroundf)},
       {"llround", address(static_cast<long long (*)(double)>(&::llround))},
       {"llroundf", address(&::llroundf)},
       {"lrint", address(static_cast<long (*)(double)>(&::lrint))},
       {"lrintf", address(&::lrintf)},
       {"llrint", address(static_cast<long long (*)(double)>(&::llrint))},
       {"llrintf", address(&::llrintf)},
       {"memcpy", address(static_cast<void *(*)(void *, const void *, std::size_t)>(&::memcpy))},
       {"memmove", address(static_cast<void *(*)(void *, const void *, std::size_t)>(&::memmove))},
#ifdef __x86_64__
       {"__extendhfsf2", address(&__extendhfsf2)},
       {"__truncsfhf2", address(&__truncsfhf2)},
       {"__truncdfhf2", address(&__truncdfhf2)},
#endif
       {"memset", address(static_cast<void *(*)(void *, int, std::size_t)>(&::memset))}});
#undef WARPWRIGHT_ONE
#undef WARPWRIGHT_TWO
  return symbols;
}

} // namespace warpwright::runner::cpu
