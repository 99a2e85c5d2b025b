// The fp64 twin of a slice, token by token: types, literals, functions and conversions of narrower
// floats become those of double.
//
// A text that depends on the bits or the layout of a float (reinterpretation as integers, unions,
// inline PTX, tensor core fragments) has no twin. float4 becomes double4 with an alignment of 16
// bytes, so vector accesses stay legal. Functions are not renamed: a kernel with overloads for both
// float and double does not compile afterwards, and the runner then treats it as one without a
// twin. Thread: any.
#include "analysis/slicer/source_text.h"
#include "analysis/task/infer_task.h"

#include <algorithm>
#include <map>

namespace warpwright::analysis {
namespace {

using slicer::SourceText;

const std::map<std::string_view, std::string_view> &renames() {
  static const std::map<std::string_view, std::string_view> kRenames{
      {"float", "double"},
      {"float1", "double1"},
      {"float2", "double2"},
      {"float3", "double3"},
      {"float4", "double4"},
      {"make_float1", "make_double1"},
      {"make_float2", "make_double2"},
      {"make_float3", "make_double3"},
      {"make_float4", "make_double4"},
      {"__half", "double"},
      {"__half2", "double2"},
      {"half2", "double2"},
      {"__nv_bfloat16", "double"},
      {"nv_bfloat16", "double"},
      {"__nv_bfloat162", "double2"},
      {"nv_bfloat162", "double2"},
      {"__expf", "exp"},
      {"__exp10f", "exp10"},
      {"__logf", "log"},
      {"__log2f", "log2"},
      {"__log10f", "log10"},
      {"__powf", "pow"},
      {"__sinf", "sin"},
      {"__cosf", "cos"},
      {"__tanf", "tan"},
      {"__sincosf", "sincos"},
      {"__fsqrt_rn", "sqrt"},
      {"__frsqrt_rn", "rsqrt"},
      {"__fdividef", "warpwright_divide"},
      {"fdividef", "warpwright_divide"},
      {"__fdiv_rn", "warpwright_divide"},
      {"__frcp_rn", "warpwright_reciprocal"},
      {"__saturatef", "warpwright_saturate"},
      {"__fadd_rn", "warpwright_add"},
      {"__fsub_rn", "warpwright_subtract"},
      {"__fmul_rn", "warpwright_multiply"},
      {"__fmaf_rn", "fma"},
      {"__hadd", "warpwright_add"},
      {"__hsub", "warpwright_subtract"},
      {"__hmul", "warpwright_multiply"},
      {"__hdiv", "warpwright_divide"},
      {"__hfma", "fma"},
      {"__hmax", "fmax"},
      {"__hmin", "fmin"},
      {"__habs", "fabs"},
      {"__hneg", "warpwright_negate"},
      {"hexp", "exp"},
      {"hlog", "log"},
      {"hsqrt", "sqrt"},
      {"hrsqrt", "rsqrt"},
      {"hrcp", "warpwright_reciprocal"},
      {"htanh", "tanh"},
      {"__hadd2", "warpwright_add"},
      {"__hsub2", "warpwright_subtract"},
      {"__hmul2", "warpwright_multiply"},
      {"__hfma2", "warpwright_fma"},
      {"__half2float", "warpwright_same"},
      {"__float2half", "warpwright_same"},
      {"__float2half_rn", "warpwright_same"},
      {"__bfloat162float", "warpwright_same"},
      {"__float2bfloat16", "warpwright_same"},
      {"__float2bfloat16_rn", "warpwright_same"},
      {"__half22float2", "warpwright_same"},
      {"__float22half2_rn", "warpwright_same"},
      {"__bfloat1622float2", "warpwright_same"},
      {"__float22bfloat162_rn", "warpwright_same"},
      {"__floats2half2_rn", "make_double2"},
      {"__halves2half2", "make_double2"},
      {"__half2half2", "warpwright_pair"},
      {"__float2half2_rn", "warpwright_pair"},
      {"__bfloat162bfloat162", "warpwright_pair"},
      {"__low2half", "warpwright_low"},
      {"__high2half", "warpwright_high"},
      {"__low2float", "warpwright_low"},
      {"__high2float", "warpwright_high"},
      {"__int2float_rn", "__int2double_rn"},
      {"__uint2float_rn", "__uint2double_rn"},
      {"__float2int_rn", "__double2int_rn"},
      {"__float2int_rz", "__double2int_rz"},
      {"__float2int_rd", "__double2int_rd"},
      {"__float2int_ru", "__double2int_ru"},
      {"__float2uint_rn", "__double2uint_rn"},
      {"__float2uint_rz", "__double2uint_rz"},
      {"normcdff", "normcdf"}};
  return kRenames;
}

/// Functions of <cmath> that exist as NAMEf for float and NAME for double.
constexpr std::string_view kMath[] = {
    "acos",     "acosh",  "asin",      "asinh", "atan",  "atan2",  "atanh", "cbrt",   "ceil",
    "copysign", "cos",    "cosh",      "cospi", "erf",   "erfc",   "exp",   "exp10",  "exp2",
    "expm1",    "fabs",   "fdim",      "floor", "fma",   "fmax",   "fmin",  "fmod",   "hypot",
    "ldexp",    "lgamma", "log",       "log10", "log1p", "log2",   "lrint", "lround", "nearbyint",
    "pow",      "powi",   "remainder", "rint",  "round", "rsqrt",  "rcbrt", "sin",    "sincos",
    "sinh",     "sinpi",  "sqrt",      "tan",   "tanh",  "tgamma", "trunc", "norm3d", "rhypot"};

/// A text with one of these names has no twin.
constexpr std::string_view kRefused[] = {"asm",
                                         "__asm__",
                                         "__asm",
                                         "union",
                                         "wmma",
                                         "nvcuda",
                                         "__float_as_int",
                                         "__float_as_uint",
                                         "__uint_as_float",
                                         "__half_as_ushort",
                                         "__half_as_short",
                                         "__ushort_as_half",
                                         "__short_as_half",
                                         "__builtin_bit_cast",
                                         "bit_cast",
                                         "__nv_fp8_e4m3",
                                         "__nv_fp8_e5m2",
                                         "frexpf",
                                         "modff",
                                         "tex2D",
                                         "tex1Dfetch",
                                         "curand_uniform",
                                         "curand_normal"};

constexpr std::string_view kHelpers = R"(
template <class T> __device__ __forceinline__ T warpwright_same(T a) { return a; }
__device__ __forceinline__ double warpwright_divide(double a, double b) { return a / b; }
__device__ __forceinline__ double warpwright_reciprocal(double a) { return 1.0 / a; }
__device__ __forceinline__ double warpwright_saturate(double a) { return a < 0.0 ? 0.0 : a > 1.0 ? 1.0 : a; }
__device__ __forceinline__ double warpwright_add(double a, double b) { return a + b; }
__device__ __forceinline__ double warpwright_subtract(double a, double b) { return a - b; }
__device__ __forceinline__ double warpwright_multiply(double a, double b) { return a * b; }
__device__ __forceinline__ double warpwright_negate(double a) { return -a; }
__device__ __forceinline__ double2 warpwright_add(double2 a, double2 b) { return make_double2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ double2 warpwright_subtract(double2 a, double2 b) { return make_double2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ double2 warpwright_multiply(double2 a, double2 b) { return make_double2(a.x * b.x, a.y * b.y); }
__device__ __forceinline__ double2 warpwright_fma(double2 a, double2 b, double2 c) { return make_double2(a.x * b.x + c.x, a.y * b.y + c.y); }
__device__ __forceinline__ double2 warpwright_pair(double a) { return make_double2(a, a); }
__device__ __forceinline__ double warpwright_low(double2 a) { return a.x; }
__device__ __forceinline__ double warpwright_high(double2 a) { return a.y; }
)";

bool is_integer_type(std::string_view name) {
  static constexpr std::string_view kTypes[] = {
      "int",      "unsigned", "char",     "short",   "long",   "uint",     "int2",
      "int4",     "uint2",    "uint4",    "uint8_t", "int8_t", "uint16_t", "int16_t",
      "uint32_t", "int32_t",  "uint64_t", "int64_t", "ushort", "uchar"};
  return std::ranges::find(kTypes, name) != std::end(kTypes);
}

class Rewriter {
public:
  explicit Rewriter(const SourceText &source)
      : source_(source), has_half_(source.text.contains("cuda_fp16")) {}

  std::optional<std::vector<TextEdit>> run() {
    for (const slicer::Directive &directive : source_.directives)
      if (directive.kind == slicer::Directive::Kind::Include &&
          (directive.name == "cuda_fp16.h" || directive.name == "cuda_bf16.h"))
        edits_.push_back({directive.range, ""});
    for (index_ = 0; index_ < source_.tokens.size(); ++index_)
      if (!inside_edit(source_.tokens[index_].range) && !rewrite(source_.tokens[index_]))
        return std::nullopt;
    return std::move(edits_);
  }

  bool needs_helpers = false;

private:
  std::string_view next(std::size_t distance) const {
    return index_ + distance < source_.tokens.size() ? source_.of(source_.tokens[index_ + distance])
                                                     : std::string_view();
  }
  bool inside_edit(Range range) const {
    return std::ranges::any_of(
        edits_, [&](const TextEdit &edit) { return edit.range.contains(range.begin); });
  }

  /// Returns false if the text has no twin.
  bool rewrite(const slicer::Token &token) {
    const std::string_view text = source_.of(token);
    if (!token.is_identifier)
      return literal(token, text);
    if (std::ranges::find(kRefused, text) != std::end(kRefused))
      return false;
    if (text == "reinterpret_cast" && reinterprets_as_integer())
      return false;
    if (text == "__int_as_float")
      return special_value(token);
    if (text == "WARPWRIGHT_LIMITS" && next(2) == "float") {
      edits_.push_back({{token.range.begin, source_.text.find('\n', token.range.begin)}, ""});
      return true;
    }
    if (const auto renamed = renames().find(text); renamed != renames().end())
      return replace(token, renamed->second);
    if (text == "half" && has_half_)
      return replace(token, "double");
    if (text.ends_with('f') &&
        std::ranges::find(kMath, text.substr(0, text.size() - 1)) != std::end(kMath))
      return replace(token, text.substr(0, text.size() - 1));
    const bool is_unknown_intrinsic = text.starts_with("__float") || text.starts_with("__half") ||
                                      text.starts_with("__bfloat") ||
                                      (text.starts_with("__h") && next(1) == "(");
    return !is_unknown_intrinsic || text.starts_with("__host");
  }

  bool replace(const slicer::Token &token, std::string_view by) {
    needs_helpers = needs_helpers || by.starts_with("warpwright_");
    edits_.push_back({token.range, std::string(by)});
    return true;
  }

  bool literal(const slicer::Token &token, std::string_view text) {
    const bool is_number =
        std::isdigit(static_cast<unsigned char>(text[0])) ||
        (text.size() > 1 && text[0] == '.' && std::isdigit(static_cast<unsigned char>(text[1])));
    const bool is_hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
    if (is_number && !is_hexadecimal && (text.ends_with('f') || text.ends_with('F')))
      edits_.push_back({{token.range.end - 1, token.range.end}, ""});
    return true;
  }

  /// Whether the cast reads the bits of a float, as in reinterpret_cast<const int *>.
  bool reinterprets_as_integer() const {
    for (std::size_t i = 1; i < 8 && next(i) != ">"; ++i)
      if (is_integer_type(next(i)))
        return true;
    return false;
  }

  /// Rewrites __int_as_float of infinity or NaN, as in the constants of <cmath>.
  bool special_value(const slicer::Token &token) {
    static const std::map<std::string_view, std::string_view> kValues{
        {"0x7f800000", "0x7ff0000000000000LL"},
        {"0xff800000", "0xfff0000000000000LL"},
        {"0x7fffffff", "0x7fffffffffffffffLL"}};
    const auto value = kValues.find(next(2));
    if (next(1) != "(" || value == kValues.end() || next(3) != ")")
      return false;
    edits_.push_back({{token.range.begin, source_.tokens[index_ + 3].range.end},
                      "__longlong_as_double(" + std::string(value->second) + ")"});
    return true;
  }

  const SourceText &source_;
  bool has_half_;
  std::size_t index_ = 0;
  std::vector<TextEdit> edits_;
};

} // namespace

std::optional<std::string> double_precision(const std::string &slice) {
  const SourceText source = slicer::read_source("", "", slice);
  Rewriter rewriter(source);
  auto edits = rewriter.run();
  if (!edits)
    return std::nullopt;
  const Result<std::string> text = apply_edits(slice, std::move(*edits));
  if (!text)
    return std::nullopt;
  return rewriter.needs_helpers ? std::string(kHelpers) + *text : *text;
}

} // namespace warpwright::analysis
