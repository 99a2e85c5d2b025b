#include "generator/families/recurrent/recurrent_text.h"

#include "generator/elements/window_text.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

/// One kernel for all cells. Four neighbouring columns of inputs, states and weights lie together ("group"), the batch's or the
/// units' groups next to each other. The lanes of a warp are the block's units times slices of the columns.
constexpr std::string_view kKernel = R"cuda(

extern "C" __global__ void __launch_bounds__(@T@, 1)
    @P@_recurrent(@PARAMETERS@, float *states, int first_layer) {
  constexpr int kThreads = @T@, kBatch = @B@, kSteps = @STEPS@, kUnits = @H@, kOwn = @U@;
  constexpr int kGates = @GATES@, kSums = @SUMS@, kDirections = @DIRECTIONS@, kLayers = @LAYERS@;
  constexpr int kParts = kUnits / kOwn, kSlices = kThreads / kOwn, kInWarp = 32 / kOwn;
  constexpr int kGroups = kUnits / 4, kInputGroups = @INPUT_GROUPS@;
  constexpr int kPlace = kGroups * kBatch; // of a step's states, in groups
  constexpr int kEach = (kSums * kBatch + kInWarp - 1) / kInWarp, kAll = kEach * kInWarp;
  constexpr int kInputLoads = (kInputGroups * kBatch + kThreads - 1) / kThreads;
  constexpr int kStateLoads = (kPlace + kThreads - 1) / kThreads;
  constexpr int kOwned = (kOwn * kBatch + kThreads - 1) / kThreads;
  extern __shared__ float4 @P@_shared[];
  float4 *const weights = @P@_shared;                                      // [group][gate][unit]
  float4 *const inputs = weights + (kInputGroups + kGroups) * kGates * kOwn; // [group][batch]
  float4 *const before = inputs + kInputGroups * kBatch;                   // [group][batch]
  float *const partial = (float *)(before + kPlace);                       // [warp][sum][lane]
  float *const biases = partial + kThreads / 32 * kEach * 32;              // [sum][unit]

  const int part = blockIdx.x % kParts, direction = blockIdx.x / kParts % kDirections;
  const int layer = first_layer + blockIdx.x / (kParts * kDirections * @CHUNKS@);
  const int chunk = blockIdx.x / (kParts * kDirections) % @CHUNKS@;
  const int line = layer * kDirections + direction, from = chunk * kBatch;
  const int columns = layer == 0 ? @FEATURES@ : kDirections * kUnits;
  const int groups = (columns + 3) / 4;
  const int unit = threadIdx.x % kOwn, slice = threadIdx.x / 32 * kInWarp + threadIdx.x % 32 / kOwn;

  for (int e = threadIdx.x; e < groups * 4 * kGates * kOwn; e += kThreads) {
    const int k = e % (groups * 4), gate = e / (groups * 4) / kOwn, own = e / (groups * 4) % kOwn;
    const int row = gate * kUnits + part * kOwn + own;
    float weight = 0;
    if (k < columns)
      switch (line) {
@INPUT_WEIGHTS@      }
    ((float *)(weights + (k / 4 * kGates + gate) * kOwn + own))[k % 4] = weight;
  }
  for (int e = threadIdx.x; e < kUnits * kGates * kOwn; e += kThreads) {
    const int k = e % kUnits, gate = e / kUnits / kOwn, own = e / kUnits % kOwn;
    const int row = gate * kUnits + part * kOwn + own;
    float weight = 0;
    switch (line) {
@STATE_WEIGHTS@    }
    ((float *)(weights + ((groups + k / 4) * kGates + gate) * kOwn + own))[k % 4] = weight;
  }
  for (int e = threadIdx.x; e < kSums * kOwn; e += kThreads) {
    const int sum = e / kOwn, row = min(sum, kGates - 1) * kUnits + part * kOwn + e % kOwn;
    // Of a GRU's last gate the state's part is multiplied before the input's is added.
    const bool of_input = sum < kGates, of_state = kSums == kGates || sum != kGates - 1;
    float input_bias = 0, state_bias = 0;
    switch (line) {
@BIASES@    }
    biases[e] = (of_input ? input_bias : 0.0f) + (of_state ? state_bias : 0.0f);
  }

  // What a thread finishes: elements of the block's states, in the order in which they lie in a place.
  float memory[kOwned], own_state[kOwned];
#pragma unroll
  for (int i = 0; i < kOwned; ++i) {
    const int e = i * kThreads + threadIdx.x, b = from + e / 4 % kBatch;
    const int column = part * kOwn + e / (4 * kBatch) * 4 + e % 4;
    memory[i] = own_state[i] = 0;
    if (e < kOwn * kBatch && b < @BATCH@) {
@FIRST_STATES@    }
  }

  float4 next[kInputLoads], arriving[kStateLoads];
  const auto place_of = [&](int of_line, int t) {
    return (float4 *)states + (((long)of_line * @CHUNKS@ + chunk) * kSteps + t) * kPlace;
  };
  const auto input_place = [&](int e, int t) {
    const int below = e / kPlace; // a direction of the layer below
    return place_of((layer - 1) * kDirections + below, t) + (e - below * kPlace);
  };
  const auto load_input = [&](int t) {
#pragma unroll
    for (int i = 0; i < kInputLoads; ++i) {
      const int e = i * kThreads + threadIdx.x;
      next[i] = make_float4(0, 0, 0, 0);
      if (e >= groups * kBatch)
        continue;
      if (layer > 0) {
        next[i] = @P@_read(input_place(e, t));
      } else {
        const int group = e / kBatch, b = from + e % kBatch;
        if (b < @BATCH@) {
@INPUT@        }
      }
    }
  };

  int t = direction == 0 ? 0 : kSteps - 1;
  const int forward = direction == 0 ? 1 : -1;
  load_input(t);
  for (int step = 0; step < kSteps; ++step, t += forward) {
#pragma unroll
    for (int i = 0; i < kInputLoads; ++i) {
      const int e = i * kThreads + threadIdx.x;
      if (e < groups * kBatch) {
        if (layer > 0)
          @P@_wait(next[i], input_place(e, t));
        inputs[e] = next[i];
      }
    }
    __syncthreads();

    float sums[kAll];
#pragma unroll
    for (int i = 0; i < kAll; ++i)
      sums[i] = 0;
    const int half = (groups / kSlices + 1) / 2 * kSlices;
    for (int g = slice; g < half && g < groups; g += kSlices)
      @P@_multiply<false>(sums, weights + g * kGates * kOwn + unit, inputs + g * kBatch);
    if (step > 0) {
#pragma unroll
      for (int i = 0; i < kStateLoads; ++i)
        if (const int e = i * kThreads + threadIdx.x; e < kPlace)
          arriving[i] = @P@_read(place_of(line, t - forward) + e);
    }
    for (int g = half + slice; g < groups; g += kSlices)
      @P@_multiply<false>(sums, weights + g * kGates * kOwn + unit, inputs + g * kBatch);
#pragma unroll
    for (int i = 0; i < kStateLoads; ++i) {
      const int e = i * kThreads + threadIdx.x;
      if (e >= kPlace)
        continue;
      if (step > 0) {
        @P@_wait(arriving[i], place_of(line, t - forward) + e);
      } else {
        const int group = e / kBatch, b = from + e % kBatch;
        arriving[i] = make_float4(0, 0, 0, 0);
        if (b < @BATCH@) {
@STATE@        }
      }
      before[e] = arriving[i];
    }
    if (step + 1 < kSteps)
      load_input(t + forward);
    __syncthreads();
#pragma unroll
    for (int g = slice; g < kGroups; g += kSlices)
      @P@_multiply<true>(sums, weights + (groups + g) * kGates * kOwn + unit, before + g * kBatch);

    // Slices in a warp halve what they add up until each holds the sums of its own part.
#pragma unroll
    for (int slices = kInWarp / 2, left = kAll / 2; slices > 0; slices /= 2, left /= 2) {
      const bool upper = threadIdx.x % 32 / kOwn & slices;
#pragma unroll
      for (int i = 0; i < kAll / 2; ++i)
        if (i < left) {
          const float given = upper ? sums[i] : sums[i + left];
          const float kept = upper ? sums[i + left] : sums[i];
          sums[i] = kept + __shfl_xor_sync(0xffffffffu, given, slices * kOwn);
        }
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      partial[(threadIdx.x / 32 * kEach + i) * 32 + threadIdx.x % 32] = sums[i];
    __syncthreads();

#pragma unroll
    for (int i = 0; i < kOwned; ++i) {
      const int e = i * kThreads + threadIdx.x;
      if (e >= kOwn * kBatch)
        continue;
      const int in_chunk = e / 4 % kBatch, own = e / (4 * kBatch) * 4 + e % 4;
      float gate[kSums];
#pragma unroll
      for (int sum = 0; sum < kSums; ++sum) {
        const int at = sum * kBatch + in_chunk;
        gate[sum] = biases[sum * kOwn + own];
#pragma unroll
        for (int warp = 0; warp < kThreads / 32; ++warp)
          gate[sum] += partial[(warp * kEach + at % kEach) * 32 + at / kEach * kOwn + own];
      }
      float state;
@CELL@
      own_state[i] = state;
      @P@_publish((float *)(place_of(line, t) + part * kOwn / 4 * kBatch) + e, state);
      const int b = from + in_chunk, column = part * kOwn + own;
      if (b >= @BATCH@)
        continue;
      if (layer == kLayers - 1) {
        const int feature = direction * kUnits + column;
@OUTPUT@      }
      if (step == kSteps - 1) {
@LAST@      }
    }
  }
}
)cuda";

constexpr std::string_view kMultiply = R"cuda(
template <bool kState>
__device__ __forceinline__ void @P@_multiply(float *sums, const float4 *weights, const float4 *values) {
  float4 weight[@GATES@];
#pragma unroll
  for (int gate = 0; gate < @GATES@; ++gate)
    weight[gate] = weights[gate * @U@];
#pragma unroll
  for (int b = 0; b < @B@; ++b) {
    const float4 value = values[b];
#pragma unroll
    for (int gate = 0; gate < @GATES@; ++gate) {
      const int sum = kState && gate == @GATES@ - 1 ? @SUMS@ - 1 : gate;
      float &to = sums[sum * @B@ + b];
      to = fmaf(weight[gate].x, value.x, to);
      to = fmaf(weight[gate].y, value.y, to);
      to = fmaf(weight[gate].z, value.z, to);
      to = fmaf(weight[gate].w, value.w, to);
    }
  }
}
)cuda";

/// The pattern of a place that nobody has written yet is all ones, a NaN that arithmetic does not give.
constexpr std::string_view kPolling = R"cuda(
__device__ __forceinline__ float4 @P@_read(const float4 *place) {
  float4 value;
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "l"(place)
               : "memory");
  return value;
}
__device__ __forceinline__ bool @P@_is_there(float value) { return __float_as_uint(value) != ~0u; }
__device__ __forceinline__ void @P@_wait(float4 &value, const float4 *place) {
  while (!(@P@_is_there(value.x) && @P@_is_there(value.y) && @P@_is_there(value.z) &&
           @P@_is_there(value.w)))
    value = @P@_read(place);
}
__device__ __forceinline__ void @P@_publish(float *place, float value) {
  const unsigned bits = @P@_is_there(value) ? __float_as_uint(value) : 0x7fffffffu;
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(place), "r"(bits) : "memory");
}
)cuda";

constexpr std::string_view kPlain = R"cuda(
__device__ __forceinline__ float4 @P@_read(const float4 *place) { return *place; }
__device__ __forceinline__ void @P@_wait(float4 &value, const float4 *place) { value = *place; }
__device__ __forceinline__ void @P@_publish(float *place, float value) { *place = value; }
)cuda";

constexpr std::string_view kLstm = R"cuda(
      const float keep = 1.0f / (1.0f + expf(-gate[1])), take = 1.0f / (1.0f + expf(-gate[0]));
      memory[i] = keep * memory[i] + take * tanhf(gate[2]);
      state = tanhf(memory[i]) / (1.0f + expf(-gate[3]));)cuda";
constexpr std::string_view kGru = R"cuda(
      const float reset = 1.0f / (1.0f + expf(-gate[0])), keep = 1.0f / (1.0f + expf(-gate[1]));
      const float fresh = tanhf(gate[2] + reset * gate[3]);
      state = fresh + keep * (own_state[i] - fresh);)cuda";

std::string_view cell_text(Cell cell) {
  switch (cell) {
  case Cell::Lstm:
    return kLstm;
  case Cell::Gru:
    return kGru;
  case Cell::Tanh:
    return "      state = tanhf(gate[0]);";
  case Cell::Relu:
    return "      state = gate[0] > 0.0f || gate[0] != gate[0] ? gate[0] : 0.0f;";
  }
  return {};
}

/// "case 3: { ... weight = element; break; }" for each layer and direction.
std::string cases(const RecurrentShape &shape, ElementWriter &writer, const std::string &variable,
                  std::string RecurrentLine::*operand, const Index &index) {
  std::string text;
  for (std::size_t line = 0; line < shape.lines.size(); ++line) {
    const std::string &value = shape.lines[line].*operand;
    if (value.empty())
      continue;
    std::string before;
    const std::string element = writer.load(value, index, before);
    text += "      case " + std::to_string(static_cast<std::int64_t>(line)) + ": {\n" + before + variable +
            " = " + element + ";\n break; }\n";
  }
  return text;
}

/// Four columns of a value at once, where the last group may reach beyond them: "to.x = ...".
std::string load_group(ElementWriter &writer, const std::string &value, std::int64_t columns,
                       const std::string &to, const auto &index_of) {
  constexpr std::string_view kLanes = "xyzw";
  std::string text;
  if (columns % 4 == 0) {
    std::vector<Index> lanes;
    for (std::size_t lane = 0; lane < 4; ++lane)
      lanes.push_back(index_of("4 * group + " + std::to_string(static_cast<std::int64_t>(lane))));
    const auto elements = writer.load(value, lanes, text);
    for (std::size_t lane = 0; lane < 4; ++lane)
      text += to + "." + kLanes[lane] + " = " + elements[lane] + ";\n";
    return text;
  }
  for (std::size_t lane = 0; lane < 4; ++lane) {
    const std::string at = "4 * group + " + std::to_string(static_cast<std::int64_t>(lane));
    std::string before;
    const std::string element = writer.load(value, index_of(at), before);
    text += "if (" + at + " < " + std::to_string(columns) + ") {\n" + before + to + "." + kLanes[lane] +
            " = " + element + ";\n}\n";
  }
  return text;
}

} // namespace

std::int64_t recurrent_shared_bytes(const RecurrentShape &shape, std::int64_t units,
                                    std::int64_t batch, std::int64_t threads) {
  const std::int64_t input_groups =
      ceil_divide(std::max(shape.width(0), shape.layers > 1 ? shape.width(1) : 0), 4);
  const std::int64_t groups = input_groups + shape.units / 4;
  const std::int64_t slices = 32 / units, each = ceil_divide(shape.sums() * batch, slices);
  return 16 * groups * (shape.gates() * units + batch) +
         4 * (threads * each + shape.sums() * units);
}

std::string recurrent_kernel(const RecurrentShape &shape, ElementWriter &writer,
                             const RecurrentText &text) {
  const std::int64_t input_width = std::max(shape.width(0), shape.layers > 1 ? shape.width(1) : 0);
  writer.bound("row", shape.gates() * shape.units);
  writer.bound("b", shape.batch);
  writer.bound("t", shape.steps);
  writer.bound("column", shape.units);
  writer.bound("line", std::ssize(shape.lines));
  const auto at_input = [&](const std::string &column) {
    return shape.batch_first ? Index{"b", "t", column} : Index{"t", "b", column};
  };
  std::string first, biases, output, last;
  {
    const Index index{"line", "b", "column"};
    std::string before;
    const std::string hidden = writer.load(shape.hidden, index, before);
    first += before + "own_state[i] = " + hidden + ";\n";
    if (shape.cell == Cell::Lstm) {
      before.clear();
      const std::string memory = writer.load(shape.memory, index, before);
      first += before + "memory[i] = " + memory + ";\n";
    }
    last = writer.store(index, "state", 1);
    if (shape.cell == Cell::Lstm)
      last += writer.store(index, "memory[i]", 2);
  }
  writer.bound("feature", shape.directions * shape.units);
  output = writer.store(at_input("feature"), "state", 0);
  for (std::size_t line = 0; line < shape.lines.size() && !shape.lines[line].input_bias.empty();
       ++line) {
    std::string before;
    const std::string input = writer.load(shape.lines[line].input_bias, {"row"}, before);
    const std::string state = writer.load(shape.lines[line].state_bias, {"row"}, before);
    biases += "    case " + std::to_string(static_cast<std::int64_t>(line)) + ": {\n" + before +
              "input_bias = " + input + ";\nstate_bias = " + state + ";\n break; }\n";
  }
  Places places{
      {"P", text.prefix},
      {"T", std::to_string(text.threads)},
      {"B", std::to_string(text.batch)},
      {"STEPS", std::to_string(shape.steps)},
      {"H", std::to_string(shape.units)},
      {"U", std::to_string(text.units)},
      {"GATES", std::to_string(shape.gates())},
      {"SUMS", std::to_string(shape.sums())},
      {"DIRECTIONS", std::to_string(shape.directions)},
      {"LAYERS", std::to_string(shape.layers)},
      {"CHUNKS", std::to_string(text.chunks)},
      {"BATCH", std::to_string(shape.batch)},
      {"FEATURES", std::to_string(shape.features)},
      {"INPUT_GROUPS", std::to_string(ceil_divide(input_width, 4))},
      {"PARAMETERS", writer.parameters()},
      {"INPUT_WEIGHTS", cases(shape, writer, "weight", &RecurrentLine::input_weight, {"row", "k"})},
      {"STATE_WEIGHTS", cases(shape, writer, "weight", &RecurrentLine::state_weight, {"row", "k"})},
      {"BIASES", biases},
      {"FIRST_STATES", first},
      {"INPUT", load_group(writer, shape.input, shape.features, "next[i]", at_input)},
      {"STATE", load_group(writer, shape.hidden, shape.units, "arriving[i]",
                           [](const std::string &column) { return Index{"line", "b", column}; })},
      {"CELL", std::string(cell_text(shape.cell))},
      {"OUTPUT", output},
      {"LAST", last}};
  return fill_places(text.polls ? kPolling : kPlain, places) + fill_places(kMultiply, places) +
         fill_places(kKernel, places);
}

} // namespace warpwright::generator
