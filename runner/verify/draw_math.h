// Per-element functions of the verifier: drawing inputs by a distribution, each element alone.
//
// Text for the host and for NVRTC, as element_math.h, behind which it stands.
#pragma once

#ifndef __CUDACC_RTC__
#include "runner/verify/element_math.h"

#include <cmath>
#endif

namespace warpwright::runner::element {

/// model::Distribution::Kind's order.
enum Kind { Normal, Uniform, Positive, Integers, Zeros, Quantiles, Sorted, Permutation };

constexpr int kSteps = 32;       ///< between quantiles
constexpr u32 kWhole = 1u << 31; ///< in Draw::quantiles: the last integer

/// Parameters for drawing the elements of one buffer.
struct Draw {
  u64 type; ///< as in type_at()
  int kind;
  int promote;     ///< store floating-point elements as double, with their value in `type`
  float factor;    ///< scale; for Normal divided by the raw sum's standard deviation
  long long lower; ///< integers: the first value
  u64 range;       ///< integers: the number of values
  u64 seed;
  u64 first;   ///< index in the drawing of the buffer's first element
  Bands bands; ///< for Normal and Uniform values
  u64 count;   ///< Sorted and Permutation: elements of the buffer
  u32 quantiles[kSteps + 1]; ///< bits of floats; for integers parts of kWhole
};

/// A place between two quantiles.
struct Place {
  int step;
  u32 part; ///< of 2^32, on the way to the next quantile
};

/// @param index element's index in the drawing
WARPWRIGHT_ELEMENT Place place_of(const Draw &draw, u64 h, u64 index) {
  if (draw.kind != Sorted)
    return {static_cast<int>(h >> 59), static_cast<u32>(h >> 27)};
  const u64 steps = draw.count > 1 ? draw.count - 1 : 1;
  if (index >= steps)
    return {kSteps, 0};
  const u64 jitter = index ? h & 0xffff : 0; // of 2^16, so that neighbours keep their order
  const u64 at = (index << 21) + (jitter << 5);
  u64 whole = steps << 16, rest = at % whole;
  const int step = static_cast<int>(at / whole);
  for (; whole >> 32; whole >>= 1)
    rest >>= 1;
  const u64 part = (rest << 32) / whole;
  return {step, static_cast<u32>(part >> 32 ? ~0u : part)};
}

WARPWRIGHT_ELEMENT float quantile_float(const Draw &draw, Place place) {
  const float from = bit_copy<float>(draw.quantiles[place.step]);
  if (place.part == 0)
    return from;
  const float step = bit_copy<float>(draw.quantiles[place.step + 1]) - from;
  return fmaf(step, static_cast<float>(place.part) * 2.3283064365386963e-10f, from); // 2^-32
}

WARPWRIGHT_ELEMENT long long quantile_integer(const Draw &draw, Place place) {
  u64 part = draw.quantiles[place.step];
  if (place.part)
    part += (draw.quantiles[place.step + 1] - part) * place.part >> 32;
  const u64 last = draw.range - 1;
  return draw.lower + static_cast<long long>((last >> 31) * part + ((last % kWhole) * part >> 31));
}

/// Affine over a number of elements that the factor, a prime, does not divide.
WARPWRIGHT_ELEMENT long long permuted(const Draw &draw, u64 index) {
  const u64 primes[] = {2654435761u, 2246822519u, 3266489917u, 4294967291u};
  const u64 h = mix(draw.seed), count = draw.count ? draw.count : 1;
  return draw.lower + static_cast<long long>((index * primes[h & 3] + (h >> 32)) % count);
}

/// @param index element's index in the drawing
WARPWRIGHT_ELEMENT float draw_float(const Draw &draw, u64 h, u64 index) {
  const float factor = draw.bands.rows ? draw.factor * band_factor(draw.bands, index) : draw.factor;
  switch (draw.kind) {
  case Normal: { // Irwin-Hall: the sum of four 16-bit uniforms
    const int sum =
        static_cast<int>((h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) + (h >> 48)) -
        131070;
    return static_cast<float>(sum) * factor;
  }
  case Uniform:
    return static_cast<float>(h >> 40) * factor;
  case Positive:
    return static_cast<float>((h >> 41) + (1ull << 22)) * 1.1920928955078125e-7f; // 2^-23
  case Integers:
    return static_cast<float>(draw.lower + static_cast<long long>(h % draw.range));
  case Quantiles:
  case Sorted:
    return quantile_float(draw, place_of(draw, h, index));
  case Permutation:
    return static_cast<float>(permuted(draw, index));
  default:
    return 0;
  }
}

/// @param index element's index in the drawing
WARPWRIGHT_ELEMENT long long draw_integer(const Draw &draw, int type, u64 h, u64 index) {
  switch (draw.kind) {
  case Quantiles:
  case Sorted:
    return quantile_integer(draw, place_of(draw, h, index));
  case Permutation:
    return permuted(draw, index);
  default:
    break;
  }
  if (type == Bool)
    return draw.kind == Zeros ? 0 : static_cast<long long>(h >> 63);
  switch (draw.kind) {
  case Integers:
    return draw.lower + static_cast<long long>(h % draw.range);
  case Positive:
    return 1 + static_cast<long long>(h % 127);
  case Zeros:
    return 0;
  default:
    return static_cast<long long>(h % 128);
  }
}

/// The element's bits in the low bytes of the result.
WARPWRIGHT_ELEMENT u64 draw_bits(const Draw &draw, u64 index) {
  const u64 h = mix(draw.seed ^ mix(index + draw.first));
  const int type = type_at(draw.type, index + draw.first);
  switch (type) {
  case Float16: {
    const u32 half = half_from_float(draw_float(draw, h, index + draw.first));
    return draw.promote ? bit_copy<u64>(static_cast<double>(float_from_half(half))) : half;
  }
  case BFloat16: {
    const u32 bfloat = bfloat_from_float(draw_float(draw, h, index + draw.first));
    return draw.promote ? bit_copy<u64>(static_cast<double>(bit_copy<float>(bfloat << 16)))
                        : bfloat;
  }
  case Float32: {
    const float value = draw_float(draw, h, index + draw.first);
    return draw.promote ? bit_copy<u64>(static_cast<double>(value)) : bit_copy<u32>(value);
  }
  case Float64:
    return bit_copy<u64>(static_cast<double>(draw_float(draw, h, index + draw.first)));
  default:
    return static_cast<u64>(draw_integer(draw, type, h, index + draw.first));
  }
}

WARPWRIGHT_ELEMENT int stored_width(const Draw &draw) {
  return draw.promote && type_at(draw.type, 0) >= Float16 ? 8 : width(draw.type);
}

WARPWRIGHT_ELEMENT void generate(const Draw &draw, void *out, u64 index) {
  store_bits(out, stored_width(draw), index, draw_bits(draw, index));
}
WARPWRIGHT_ELEMENT bool is_as_drawn(const Draw &draw, const void *buffer, u64 index) {
  const int bytes = stored_width(draw);
  return load_bits(buffer, bytes, index) == low_bytes(draw_bits(draw, index), bytes);
}

} // namespace warpwright::runner::element
