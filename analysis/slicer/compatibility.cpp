// Declarations of standard names for slices: small ones, or those of libcu++. Integer types match
// NVRTC's own headers (64-bit types are `long long` there), so they agree with headers that are
// included later. Thread: any.
#include "analysis/slicer/compatibility.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace warpwright::analysis::slicer {
namespace {

constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"int8_t", "signed char"},    {"uint8_t", "unsigned char"},
    {"int16_t", "short"},         {"uint16_t", "unsigned short"},
    {"int32_t", "int"},           {"uint32_t", "unsigned int"},
    {"int64_t", "long long"},     {"uint64_t", "unsigned long long"},
    {"intptr_t", "long long"},    {"uintptr_t", "unsigned long long"},
    {"uint", "unsigned int"},     {"uchar", "unsigned char"},
    {"ushort", "unsigned short"}, {"ulong", "unsigned long"},
    {"ssize_t", "long"}};

constexpr std::pair<std::string_view, std::string_view> kMacros[] = {
    {"FLT_MAX", "3.402823466e+38F"},
    {"FLT_MIN", "1.175494351e-38F"},
    {"FLT_EPSILON", "1.192092896e-07F"},
    {"DBL_MAX", "1.7976931348623158e+308"},
    {"DBL_MIN", "2.2250738585072014e-308"},
    {"DBL_EPSILON", "2.2204460492503131e-16"},
    {"INT_MAX", "2147483647"},
    {"INT_MIN", "(-2147483647 - 1)"},
    {"UINT_MAX", "4294967295u"},
    {"SCHAR_MIN", "(-128)"},
    {"SCHAR_MAX", "127"},
    {"UCHAR_MAX", "255"},
    {"SHRT_MIN", "(-32768)"},
    {"SHRT_MAX", "32767"},
    {"USHRT_MAX", "65535"},
    {"LONG_MIN", "(-9223372036854775807L - 1)"},
    {"LONG_MAX", "9223372036854775807L"},
    {"ULONG_MAX", "18446744073709551615ul"},
    {"LLONG_MIN", "(-9223372036854775807LL - 1)"},
    {"LLONG_MAX", "9223372036854775807LL"},
    {"ULLONG_MAX", "18446744073709551615ull"},
    {"CHAR_BIT", "8"},
    {"INT8_MIN", "(-128)"},
    {"INT8_MAX", "127"},
    {"INT16_MIN", "(-32768)"},
    {"INT16_MAX", "32767"},
    {"INT32_MAX", "2147483647"},
    {"INT32_MIN", "(-2147483647 - 1)"},
    {"INT64_MIN", "(-9223372036854775807LL - 1)"},
    {"INT64_MAX", "9223372036854775807LL"},
    {"UINT64_MAX", "18446744073709551615ull"},
    {"SIZE_MAX", "18446744073709551615ull"},
    {"UINT8_MAX", "255"},
    {"UINT16_MAX", "65535"},
    {"UINT32_MAX", "4294967295u"},
    {"INFINITY", "__int_as_float(0x7f800000)"},
    {"NAN", "__int_as_float(0x7fffffff)"},
    {"HUGE_VALF", "__int_as_float(0x7f800000)"},
    {"M_PI", "3.14159265358979323846"},
    {"M_E", "2.7182818284590452354"},
    {"M_LN2", "0.69314718055994530942"},
    {"M_LOG2E", "1.4426950408889634074"},
    {"M_SQRT2", "1.41421356237309504880"},
    {"M_SQRT1_2", "0.70710678118654752440"},
    {"M_2_SQRTPI", "1.12837916709551257390"},
    {"M_1_PI", "0.31830988618379067154"},
    {"M_2_PI", "0.63661977236758134308"},
    {"NULL", "0"},
    {"__const__", "const"},
    {"INT8_C", "(digits) digits"},
    {"INT16_C", "(digits) digits"},
    {"UINT8_C", "(digits) digits"},
    {"UINT16_C", "(digits) digits"},
    {"INT32_C", "(digits) digits"},
    {"INT64_C", "(digits) digits##LL"},
    {"UINT32_C", "(digits) digits##U"},
    {"UINT64_C", "(digits) digits##ULL"},
    {"assert", "(condition) ((void)0)"},
    {"CUDART_VERSION", "(__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)"},
    {"CUDA_VERSION", "(__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)"}};

/// Names that exist in the global namespace of both compilers.
constexpr std::string_view kGlobals[] = {
    "abs",   "fabs",  "sqrt",  "exp",   "exp2",     "log",      "log2",   "log10",
    "log1p", "expm1", "pow",   "sin",   "cos",      "tan",      "asin",   "acos",
    "atan",  "atan2", "sinh",  "cosh",  "tanh",     "erf",      "erfc",   "floor",
    "ceil",  "trunc", "round", "rint",  "fmod",     "fma",      "fmin",   "fmax",
    "hypot", "cbrt",  "isnan", "isinf", "isfinite", "copysign", "size_t", "ptrdiff_t"};

constexpr std::string_view kLimits = R"(template <class T> struct numeric_limits;
#define WARPWRIGHT_LIMITS(T, LOWEST, MIN, MAX, EPSILON, INFINITE)                                                      \
  template <> struct numeric_limits<T> {                                                                               \
    static __host__ __device__ constexpr T lowest() { return LOWEST; }                                                 \
    static __host__ __device__ constexpr T min() { return MIN; }                                                       \
    static __host__ __device__ constexpr T max() { return MAX; }                                                       \
    static __host__ __device__ constexpr T epsilon() { return EPSILON; }                                               \
    static __host__ __device__ T infinity()           { return INFINITE; }                                             \
  };
WARPWRIGHT_LIMITS(float, -3.402823466e+38F, 1.175494351e-38F, 3.402823466e+38F, 1.192092896e-07F, __int_as_float(0x7f800000))
WARPWRIGHT_LIMITS(double, -1.7976931348623158e+308, 2.2250738585072014e-308, 1.7976931348623158e+308, 2.2204460492503131e-16, __longlong_as_double(0x7ff0000000000000LL))
WARPWRIGHT_LIMITS(int, (-2147483647 - 1), (-2147483647 - 1), 2147483647, 0, 0)
WARPWRIGHT_LIMITS(unsigned int, 0, 0, 4294967295u, 0, 0)
WARPWRIGHT_LIMITS(char, -128, -128, 127, 0, 0)
WARPWRIGHT_LIMITS(signed char, -128, -128, 127, 0, 0)
WARPWRIGHT_LIMITS(unsigned char, 0, 0, 255, 0, 0)
WARPWRIGHT_LIMITS(short, -32768, -32768, 32767, 0, 0)
WARPWRIGHT_LIMITS(unsigned short, 0, 0, 65535, 0, 0)
WARPWRIGHT_LIMITS(long, (-9223372036854775807L - 1), (-9223372036854775807L - 1), 9223372036854775807L, 0, 0)
WARPWRIGHT_LIMITS(unsigned long, 0, 0, 18446744073709551615ul, 0, 0)
WARPWRIGHT_LIMITS(long long, (-9223372036854775807LL - 1), (-9223372036854775807LL - 1), 9223372036854775807LL, 0, 0)
WARPWRIGHT_LIMITS(unsigned long long, 0, 0, 18446744073709551615ull, 0, 0)
)";

struct Template {
  std::string_view name;
  std::string_view text;
};
constexpr Template kTemplates[] = {
    {"min", "template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b) "
            "{ return b < a ? b : a; }\n"},
    {"max", "template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b) "
            "{ return a < b ? b : a; }\n"},
    {"swap",
     "template <class T> __host__ __device__ void swap(T &a, T &b) { T c = a; a = b; b = c; }\n"},
    {"numeric_limits", kLimits},
    {"is_same",
     "template <class A, class B> struct is_same { static constexpr bool value = false; };\n"
     "template <class A> struct is_same<A, A> { static constexpr bool value = true; };\n"},
    {"is_same_v", "template <class A, class B> constexpr bool is_same_v = false;\n"
                  "template <class A> constexpr bool is_same_v<A, A> = true;\n"},
    {"conditional",
     "template <bool C, class A, class B> struct conditional { using type = A; };\n"
     "template <class A, class B> struct conditional<false, A, B> { using type = B; };\n"},
    {"conditional_t",
     "template <bool C, class A, class B> struct conditional_t_of { using type = A; };\n"
     "template <class A, class B> struct conditional_t_of<false, A, B> { using type = B; };\n"
     "template <bool C, class A, class B> using conditional_t = typename conditional_t_of<C, A, "
     "B>::type;\n"},
    {"enable_if", "template <bool C, class T = void> struct enable_if {};\n"
                  "template <class T> struct enable_if<true, T> { using type = T; };\n"},
    {"enable_if_t", "template <bool C, class T = void> struct enable_if_t_of {};\n"
                    "template <class T> struct enable_if_t_of<true, T> { using type = T; };\n"
                    "template <bool C, class T = void> using enable_if_t = typename "
                    "enable_if_t_of<C, T>::type;\n"}};

struct Header {
  std::string_view header; ///< of libcu++, which comes with the toolkit
  std::string_view names;  ///< of namespace std, by spaces
};
constexpr Header kHeaders[] = {
    {"cuda/std/type_traits",
     " common_type common_type_t make_signed make_signed_t make_unsigned make_unsigned_t is_signed is_signed_v is_unsigned "
     "is_unsigned_v is_integral is_integral_v is_floating_point is_floating_point_v is_arithmetic is_arithmetic_v is_pointer "
     "is_pointer_v is_const is_const_v is_enum is_enum_v is_convertible is_convertible_v is_base_of is_base_of_v is_void "
     "is_void_v is_trivially_copyable is_trivially_copyable_v remove_cv remove_cv_t remove_const remove_const_t "
     "remove_reference remove_reference_t remove_pointer remove_pointer_t add_const add_const_t decay decay_t void_t "
     "integral_constant bool_constant true_type false_type underlying_type underlying_type_t invoke_result invoke_result_t "
     "conjunction conjunction_v disjunction disjunction_v negation negation_v "},
    {"cuda/std/utility", " pair make_pair declval index_sequence make_index_sequence integer_sequence "
                         "make_integer_sequence exchange "},
    {"cuda/std/tuple", " tuple make_tuple get tie tuple_size tuple_element tuple_element_t apply "},
    {"cuda/std/array", " array "},
    {"cuda/std/bit", " bit_cast popcount countl_zero countr_zero has_single_bit bit_ceil bit_floor rotl rotr "},
    {"cuda/std/functional",
     " plus minus multiplies divides modulus negate less greater less_equal greater_equal equal_to not_equal_to logical_and "
     "logical_or bit_and bit_or bit_xor hash "},
    {"cuda/std/complex", " complex "},
    {"cuda/std/optional", " optional nullopt "},
    {"cuda/std/limits", " float_denorm_style "},
    {"cuda/std/cstddef", " byte max_align_t nullptr_t "}};

std::string_view header_of(std::string_view name) {
  for (const Header &one : kHeaders)
    if (one.names.contains(" " + std::string(name) + " "))
      return one.header;
  return {};
}

/// Names that NVRTC declares itself.
constexpr std::string_view kBuiltIn[] = {"move", "forward", "initializer_list"};

bool is_type(std::string_view name) {
  return std::ranges::any_of(kTypes, [&](const auto &entry) { return entry.first == name; });
}

std::string std_declarations(const std::set<std::string> &std_names) {
  std::string text, includes;
  std::set<std::string_view> headers;
  for (const std::string &name : std_names) {
    if (const std::string_view header = header_of(name); !header.empty()) {
      headers.insert(header);
      text += "using ::cuda::std::" + name + ";\n";
    }
    if (is_type(name) || std::ranges::find(kGlobals, name) != std::end(kGlobals))
      text += "using ::" + name + ";\n";
    for (const Template &entry : kTemplates)
      if (entry.name == name)
        text += entry.text;
  }
  for (const std::string_view header : headers)
    includes += "#include <" + std::string(header) + ">\n";
  return text.empty() ? text : includes + "namespace std {\n" + text + "} // namespace std\n";
}

/// CUB's headers for device code. Each declares names that begin like the header: block_scan has BlockScan,
/// BlockScanAlgorithm and BLOCK_SCAN_RAKING.
constexpr std::string_view kCub[] = {
    "block/block_adjacent_difference", "block/block_discontinuity", "block/block_exchange", "block/block_histogram",
    "block/block_load",                "block/block_merge_sort",    "block/block_radix_rank", "block/block_radix_sort",
    "block/block_reduce",              "block/block_run_length_decode", "block/block_scan",  "block/block_shuffle",
    "block/block_store",               "thread/thread_load",        "thread/thread_store",    "warp/warp_exchange",
    "warp/warp_load",                  "warp/warp_merge_sort",      "warp/warp_reduce",       "warp/warp_scan",
    "warp/warp_store"};

/// Lower case without underscores.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != '_')
      result += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

} // namespace

std::string cub_includes(const std::set<std::string> &identifiers) {
  std::string text;
  for (const std::string_view header : kCub) {
    const std::string name = plain(header.substr(header.find('/') + 1));
    if (std::ranges::any_of(identifiers, [&](const std::string &one) { return plain(one).starts_with(name); }))
      text += "#include <cub/" + std::string(header) + ".cuh>\n";
  }
  if (!text.empty() || identifiers.contains("cub"))
    text += "#include <cub/thread/thread_operators.cuh>\n#include <cub/util_ptx.cuh>\n";
  return text;
}

std::string compatibility_declarations(const std::set<std::string> &identifiers,
                                       const std::set<std::string> &std_names,
                                       const std::set<std::string> &defined) {
  std::string types, macros;
  for (const auto &[name, type] : kTypes)
    if (identifiers.contains(std::string(name)) && !defined.contains(std::string(name)))
      types += "typedef " + std::string(type) + " " + std::string(name) + ";\n";
  for (const auto &[name, value] : kMacros)
    if (identifiers.contains(std::string(name)) && !defined.contains(std::string(name)))
      macros += "#ifndef " + std::string(name) + "\n#define " + std::string(name) +
                (value.starts_with("(condition)") || value.starts_with("(digits)") ? "" : " ") + std::string(value) +
                "\n#endif\n";
  if (!types.empty())
    types = "#ifdef __CUDACC_RTC__\n" + types + "#endif\n";
  return types + macros + std_declarations(std_names);
}

bool is_supported_std(std::string_view name) {
  return is_type(name) || !header_of(name).empty() || std::ranges::find(kGlobals, name) != std::end(kGlobals) ||
         std::ranges::find(kBuiltIn, name) != std::end(kBuiltIn) ||
         std::ranges::any_of(kTemplates, [&](const Template &entry) { return entry.name == name; });
}

} // namespace warpwright::analysis::slicer
