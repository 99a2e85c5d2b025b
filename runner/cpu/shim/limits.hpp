// The part of std::numeric_limits that kernels use.
#pragma once
#pragma clang force_cuda_host_device begin
#include "climits.hpp"
namespace std {
template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = false;
};
#define __WW_INTEGER_LIMITS(type, low, high)                                                       \
  template <> struct numeric_limits<type> {                                                        \
    static constexpr bool is_specialized = true, is_integer = true;                                \
    static constexpr type min() { return low; }                                                    \
    static constexpr type lowest() { return low; }                                                 \
    static constexpr type max() { return high; }                                                   \
  };
__WW_INTEGER_LIMITS(signed char, -128, 127) __WW_INTEGER_LIMITS(unsigned char, 0, 255)
__WW_INTEGER_LIMITS(char, -128, 127) __WW_INTEGER_LIMITS(bool, false, true)
__WW_INTEGER_LIMITS(short, -32768, 32767) __WW_INTEGER_LIMITS(unsigned short, 0, 65535)
__WW_INTEGER_LIMITS(int, -__INT_MAX__ - 1, __INT_MAX__) __WW_INTEGER_LIMITS(unsigned, 0, ~0u)
__WW_INTEGER_LIMITS(long, -__LONG_MAX__ - 1, __LONG_MAX__) __WW_INTEGER_LIMITS(unsigned long, 0, ~0ul)
__WW_INTEGER_LIMITS(long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
__WW_INTEGER_LIMITS(unsigned long long, 0, ~0ull)
#undef __WW_INTEGER_LIMITS
#define __WW_REAL_LIMITS(type, prefix, infinity_value, nan_value)                                  \
  template <> struct numeric_limits<type> {                                                        \
    static constexpr bool is_specialized = true, is_integer = false;                               \
    static constexpr type min() { return __##prefix##_MIN__; }                                     \
    static constexpr type lowest() { return -__##prefix##_MAX__; }                                 \
    static constexpr type max() { return __##prefix##_MAX__; }                                     \
    static constexpr type epsilon() { return __##prefix##_EPSILON__; }                             \
    static constexpr type infinity() { return infinity_value; }                                    \
    static constexpr type quiet_NaN() { return nan_value; }                                        \
  };
__WW_REAL_LIMITS(float, FLT, __builtin_inff(), __builtin_nanf(""))
__WW_REAL_LIMITS(double, DBL, __builtin_inf(), __builtin_nan(""))
#undef __WW_REAL_LIMITS
} // namespace std
namespace cuda { namespace std { using ::std::numeric_limits; } }
#pragma clang force_cuda_host_device end
