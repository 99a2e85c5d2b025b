// Per-element functions of the verifier: reading elements, judging outputs. draw_math.h draws inputs.
//
// The host includes this text, and NVRTC compiles it into the runner's own kernels (CMake embeds the text), so that
// both paths judge alike. Hence it has no includes under NVRTC and no library types, and its arithmetic gives the same
// bits on both: integers, explicit conversions, and single float operations that no compiler can contract differently.
#pragma once

#ifdef __CUDACC_RTC__
#define WARPWRIGHT_ELEMENT __device__ inline
#else
#include <cstring>
#define WARPWRIGHT_ELEMENT inline
#endif

namespace warpwright::runner::element {

using u64 = unsigned long long;
using u32 = unsigned int;

/// model::Dtype's order; checked on the host side in checker.cpp.
enum Type {
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64
};
constexpr u64 kNone = ~0ull;

/// The type of an element. `types` is a Type, or up to kMostLanes of them in turn, as in an array of structs: 4 bits
/// for each, and their number in the highest 4 bits.
constexpr int kMostLanes = 14;
WARPWRIGHT_ELEMENT int type_at(u64 types, u64 index) {
  const u64 lanes = types >> 60;
  return static_cast<int>(types >> (lanes ? 4 * (index % lanes) : 0) & 15);
}

/// Bytes of an element; all types in turn have the same.
WARPWRIGHT_ELEMENT int width(u64 types) {
  switch (type_at(types, 0)) {
  case Bool:
  case Int8:
  case UInt8:
    return 1;
  case Int16:
  case UInt16:
  case Float16:
  case BFloat16:
    return 2;
  case Int32:
  case UInt32:
  case Float32:
    return 4;
  default:
    return 8;
  }
}

template <class To, class From>
WARPWRIGHT_ELEMENT To bit_copy(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// SplitMix64's finalizer (Steele et al., 2014): a counter-based generator, so each element can be drawn alone.
WARPWRIGHT_ELEMENT u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

WARPWRIGHT_ELEMENT u32 half_from_float(float value) {
  const u32 bits = bit_copy<u32>(value), sign = bits >> 16 & 0x8000u,
            magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) // rounds to infinity
    return sign | 0x7c00u;
  if (magnitude < 0x33000001u) // at most half of the smallest subnormal
    return sign;
  const int exponent = static_cast<int>(magnitude >> 23) - 112;
  u32 mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const int shift = exponent > 0 ? 13 : 14 - exponent;
  u32 result = mantissa >> shift;
  const u32 rest = mantissa & ((1u << shift) - 1), tie = 1u << (shift - 1);
  result += rest > tie || (rest == tie && (result & 1));
  return sign | (exponent > 0 ? result + (static_cast<u32>(exponent - 1) << 10) : result);
}

WARPWRIGHT_ELEMENT float float_from_half(u32 half) {
  const u32 sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, mantissa = half & 0x3ffu;
  if (exponent == 31)
    return bit_copy<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent)
    return bit_copy<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float tiny = static_cast<float>(mantissa) * 5.9604644775390625e-8f; // 2^-24
  return bit_copy<float>(bit_copy<u32>(tiny) | sign);
}

WARPWRIGHT_ELEMENT u32 bfloat_from_float(float value) {
  const u32 bits = bit_copy<u32>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return bits >> 16 | 0x40u;
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

/// Row scaling: a buffer's rows form kBands groups, each scaled by its own power of two from 2^low to 2^high.
struct Bands {
  u64 rows;     ///< 0: nothing is scaled
  u64 row_size; ///< elements
  int low, high;
};
constexpr u64 kBands = 8;

/// @param bands with rows
WARPWRIGHT_ELEMENT float band_factor(const Bands &bands, u64 index) {
  u64 row = index / bands.row_size;
  row = row < bands.rows ? row : bands.rows - 1;
  const int band = static_cast<int>(row * kBands / bands.rows);
  const int exponent = bands.low + (bands.high - bands.low) * band / static_cast<int>(kBands - 1);
  return bit_copy<float>(static_cast<u32>(exponent + 127) << 23);
}

/// Change of a buffer's elements in place.
struct Change {
  enum What {
    ScaleBands, ///< scales floating-point elements as Draw::bands would
    Round,      ///< moves each floating-point element by `unit` of itself, up or down
    Set,        ///< sets elements to `bits`
  };
  u64 type; ///< as stored, as in type_at()
  int what;
  Bands bands;
  double unit;
  u64 seed; ///< of Round's directions
  u64 bits;
};

WARPWRIGHT_ELEMENT u64 from_double(int type, double value) {
  switch (type) {
  case Float16:
    return half_from_float(static_cast<float>(value));
  case BFloat16:
    return bfloat_from_float(static_cast<float>(value));
  case Float32:
    return bit_copy<u32>(static_cast<float>(value));
  default:
    return bit_copy<u64>(value);
  }
}

/// Range of bytes from `begin` that must all hold one value.
struct Guard {
  u64 begin, bytes;
};

/// Buffer that must hold the elements of `from` rotated: element i is `from`'s i + offset, or in one part i +
/// part_offset, counted around that part's end. Members are addresses; offsets are less than `elements`.
struct RotatedCopy {
  u64 buffer, from, elements, width;
  u64 offset, part_first, part_count, part_offset;
};

/// Elements that violate a check.
struct Marks {
  u64 count, first, last;
};

WARPWRIGHT_ELEMENT Marks no_marks() { return {0, kNone, 0}; }

WARPWRIGHT_ELEMENT void mark(Marks &marks, u64 index) {
  ++marks.count;
  marks.first = index < marks.first ? index : marks.first;
  marks.last = index > marks.last ? index : marks.last;
}

WARPWRIGHT_ELEMENT u64 load_bits(const void *base, int bytes, u64 index) {
  switch (bytes) {
  case 1:
    return static_cast<const unsigned char *>(base)[index];
  case 2:
    return static_cast<const unsigned short *>(base)[index];
  case 4:
    return static_cast<const u32 *>(base)[index];
  default:
    return static_cast<const u64 *>(base)[index];
  }
}

/// @param buffer,from readable memory of the copy's two buffers
WARPWRIGHT_ELEMENT bool is_as_copied(const RotatedCopy &copy, const void *buffer, const void *from,
                                     u64 index) {
  const int bytes = static_cast<int>(copy.width);
  const bool in_part = index >= copy.part_first && index - copy.part_first < copy.part_count;
  u64 at = index + (in_part ? copy.part_offset : copy.offset);
  at -= at >= copy.elements ? copy.elements : 0;
  return load_bits(buffer, bytes, index) == load_bits(from, bytes, at);
}

WARPWRIGHT_ELEMENT void store_bits(void *base, int bytes, u64 index, u64 bits) {
  switch (bytes) {
  case 1:
    static_cast<unsigned char *>(base)[index] = static_cast<unsigned char>(bits);
    break;
  case 2:
    static_cast<unsigned short *>(base)[index] = static_cast<unsigned short>(bits);
    break;
  case 4:
    static_cast<u32 *>(base)[index] = static_cast<u32>(bits);
    break;
  default:
    static_cast<u64 *>(base)[index] = bits;
    break;
  }
}

WARPWRIGHT_ELEMENT u64 low_bytes(u64 bits, int bytes) {
  return bytes == 8 ? bits : bits & ((1ull << 8 * bytes) - 1);
}

WARPWRIGHT_ELEMENT double to_double(int type, u64 bits) {
  switch (type) {
  case Int8:
    return static_cast<signed char>(bits);
  case Int16:
    return static_cast<short>(bits);
  case Int32:
    return static_cast<int>(bits);
  case Int64:
    return static_cast<double>(static_cast<long long>(bits));
  case Float16:
    return float_from_half(static_cast<u32>(bits));
  case BFloat16:
    return bit_copy<float>(static_cast<u32>(bits) << 16);
  case Float32:
    return bit_copy<float>(static_cast<u32>(bits));
  case Float64:
    return bit_copy<double>(bits);
  default:
    return static_cast<double>(bits);
  }
}

WARPWRIGHT_ELEMENT bool is_nan(double x) { return x != x; }
WARPWRIGHT_ELEMENT bool is_finite(double x) { return x - x == 0; }
WARPWRIGHT_ELEMENT double magnitude(double x) { return x < 0 ? -x : x; }
WARPWRIGHT_ELEMENT double larger(double a, double b) { return a > b ? a : b; }
/// Raises `largest` to part / whole; it divides only if needed, as division is a GPU's slowest step here. @param whole
/// above 0
WARPWRIGHT_ELEMENT void keep_larger_ratio(double &largest, double part, double whole) {
  if (part > largest * whole)
    largest = part / whole;
}

WARPWRIGHT_ELEMENT void apply(const Change &change, void *buffer, u64 index) {
  const int bytes = width(change.type), type = type_at(change.type, index);
  u64 bits = change.bits;
  if (change.what != Change::Set) {
    const double value = to_double(type, load_bits(buffer, bytes, index));
    const double unit = mix(change.seed ^ mix(index)) >> 63 ? change.unit : -change.unit;
    bits = from_double(
        type,
        value * (change.what == Change::Round ? 1 + unit : band_factor(change.bands, index)));
  }
  store_bits(buffer, bytes, index, bits);
}

/// Statistics of the reference's output, made before the comparison.
struct Survey {
  double sum_of_squares; ///< of finite elements; of several types in turn, only of the floating-point ones
  u64 finite, nans;
  u64 unlike_first; ///< elements that differ from the first, or the first of their place in a struct, in any bit
  u64 digest;       ///< hash of all bits, independent of summation order
};

/// @param types as in type_at()
WARPWRIGHT_ELEMENT void survey(Survey &result, u64 types, const void *reference, u64 index) {
  const int bytes = width(types), type = type_at(types, index);
  const u64 bits = load_bits(reference, bytes, index), lanes = types >> 60;
  const double value = to_double(type, bits);
  if (is_finite(value) && (lanes == 0 || type >= Float16)) {
    result.sum_of_squares += value * value;
    ++result.finite;
  }
  result.nans += is_nan(value);
  result.unlike_first += bits != load_bits(reference, bytes, lanes ? index % lanes : 0);
  result.digest += mix(bits ^ mix(index));
}

/// Comparison of one output buffer: two runs of each side, each on its own poison.
struct Comparison {
  u64 type;         ///< as in type_at()
  int compare_runs; ///< the candidate's two runs must agree to the bit
  unsigned char poison[2];
  const void *candidate[2], *reference[2];
  const double *exact; ///< the fp64 reference's output, or null
  double absolute, relative;
  double scale;   ///< root mean square of the reference's output, above 0
  double allowed; ///< largest relative error against fp64; negative: unknown, judge by the
                  ///< reference
};

struct Findings {
  u64 unwritten, first_unwritten; ///< written by the reference, not by the candidate
  u64 stray, first_stray;         ///< written by the candidate, not by the reference
  u64 wrong, first_wrong;
  u64 unstable, first_unstable; ///< the candidate's runs differ
  double max_absolute, max_relative, candidate_exact, reference_exact;
  double candidate_squares,
      reference_squares; ///< sums of squared differences from the fp64 reference
  double exact_squares;  ///< and of its values, once per pair of runs
};

WARPWRIGHT_ELEMENT Findings no_findings() {
  return {0, kNone, 0, kNone, 0, kNone, 0, kNone, 0, 0, 0, 0, 0, 0, 0};
}

WARPWRIGHT_ELEMENT bool is_poison(u64 bits, int bytes, unsigned char poison) {
  return bits == low_bytes(0x0101010101010101ull * poison, bytes);
}

WARPWRIGHT_ELEMENT void note(u64 &count, u64 &first, u64 index) {
  ++count;
  if (index < first)
    first = index;
}

/// Judges one floating-point element of one run.
WARPWRIGHT_ELEMENT bool is_right(Findings &found, const Comparison &task, double got,
                                 double expected, bool has_exact, double exact) {
  const bool exact_counts = has_exact && is_finite(exact);
  const double weight = exact_counts ? larger(magnitude(exact), task.scale) : 1;
  const double got_error = exact_counts && is_finite(got) ? magnitude(got - exact) : 0;
  if (!is_finite(expected)) {
    if (got == expected || (is_nan(got) && is_nan(expected)))
      return true;
    // Finite where the reference overflowed: right only if the fp64 reference agrees.
    return exact_counts && is_finite(got) &&
           got_error <= larger(task.allowed, task.relative) * weight;
  }
  if (!is_finite(got))
    return false;
  const double difference = magnitude(got - expected);
  found.max_absolute = larger(found.max_absolute, difference);
  keep_larger_ratio(found.max_relative, difference, larger(magnitude(expected), task.scale));
  if (exact_counts) {
    keep_larger_ratio(found.candidate_exact, got_error, weight);
    keep_larger_ratio(found.reference_exact, magnitude(expected - exact), weight);
    found.candidate_squares += (got - exact) * (got - exact);
    found.reference_squares += (expected - exact) * (expected - exact);
    found.exact_squares += exact * exact;
    if (task.allowed >= 0)
      return got_error <= task.allowed * weight;
  }
  return difference <= task.absolute * task.scale + task.relative * magnitude(expected);
}

WARPWRIGHT_ELEMENT void compare(Findings &found, const Comparison &task, u64 index) {
  const int bytes = width(task.type), type = type_at(task.type, index);
  const u64 got[2] = {load_bits(task.candidate[0], bytes, index),
                      load_bits(task.candidate[1], bytes, index)};
  const u64 expected[2] = {load_bits(task.reference[0], bytes, index),
                           load_bits(task.reference[1], bytes, index)};
  const bool got_nothing =
      is_poison(got[0], bytes, task.poison[0]) && is_poison(got[1], bytes, task.poison[1]);
  const bool expected_nothing = is_poison(expected[0], bytes, task.poison[0]) &&
                                is_poison(expected[1], bytes, task.poison[1]);
  if (expected_nothing) {
    if (!got_nothing)
      note(found.stray, found.first_stray, index);
    return;
  }
  if (got_nothing)
    return note(found.unwritten, found.first_unwritten, index);
  if (task.compare_runs && got[0] != got[1])
    note(found.unstable, found.first_unstable, index);
  bool right = true;
  const int runs = got[0] == got[1] && expected[0] == expected[1] ? 1 : 2;
  for (int run = 0; run < runs; ++run) {
    if (type < Float16) {
      right = right && got[run] == expected[run];
      const double difference =
          magnitude(to_double(type, got[run]) - to_double(type, expected[run]));
      found.max_absolute = larger(found.max_absolute, difference);
      continue;
    }
    const double exact = task.exact ? task.exact[index] : 0;
    const bool ok = is_right(found, task, to_double(type, got[run]),
                             to_double(type, expected[run]), task.exact != nullptr, exact);
    right = right && ok;
  }
  if (!right)
    note(found.wrong, found.first_wrong, index);
}

} // namespace warpwright::runner::element
