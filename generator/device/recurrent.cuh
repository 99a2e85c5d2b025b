// Layers of LSTMs, GRUs and plain RNNs over all time steps in one launch (families/recurrent).
//
// Four neighbouring columns of inputs, states and weights lie together ("group"), the batch's or the units' groups next to each other. The
// lanes of a warp are the block's units times slices of the columns.
#ifndef WARPWRIGHT_RECURRENT
#define WARPWRIGHT_RECURRENT

namespace warpwright_recurrent {

enum class Cell { Lstm, Gru, Tanh, Relu };

// States are passed on through memory that earlier launches and the block itself have written. Blocks that run at the same time pass them
// on as recurrent_polling.cuh does.
struct Written {
  static __device__ __forceinline__ float4 read(const float4 *place) { return *place; }
  static __device__ __forceinline__ void wait(float4 &value, const float4 *place) { value = *place; }
  static __device__ __forceinline__ void publish(float *place, float value) { *place = value; }
};

// The new state of a unit, from the sums of its gates in PyTorch's order.
template <Cell kCell, int kSums>
__device__ __forceinline__ float next_state(const float (&gate)[kSums], float state, float &memory) {
  if constexpr (kCell == Cell::Lstm) {
    const float keep = 1.0f / (1.0f + expf(-gate[1])), take = 1.0f / (1.0f + expf(-gate[0]));
    memory = keep * memory + take * tanhf(gate[2]);
    return tanhf(memory) / (1.0f + expf(-gate[3]));
  } else if constexpr (kCell == Cell::Gru) {
    const float reset = 1.0f / (1.0f + expf(-gate[0])), keep = 1.0f / (1.0f + expf(-gate[1]));
    const float fresh = tanhf(gate[2] + reset * gate[3]);
    return fresh + keep * (state - fresh);
  } else if constexpr (kCell == Cell::Tanh) {
    return tanhf(gate[0]);
  } else {
    return gate[0] > 0.0f || gate[0] != gate[0] ? gate[0] : 0.0f;
  }
}

// @tparam Config the sizes of the layers and how a launch divides them:
//   Passing, kCell; kThreads; kLayers, kDirections, kSteps, kAllBatch, kFeatures, kUnits: of the layers;
//   kOwn: units of a block; kChunks, kBatch: parts of the batch, and the elements of each; kInputGroups: groups of the widest layer's input
template <class Config> struct Layers {
  using Passing = typename Config::Passing;
  static constexpr Cell kCell = Config::kCell;
  static constexpr int kThreads = Config::kThreads, kBatch = Config::kBatch, kSteps = Config::kSteps;
  static constexpr int kUnits = Config::kUnits, kOwn = Config::kOwn;
  static constexpr int kGates = kCell == Cell::Lstm ? 4 : kCell == Cell::Gru ? 3 : 1;
  // A GRU multiplies the state's part of its last gate before it adds the input's, and therefore keeps the two sums apart.
  static constexpr int kSums = kCell == Cell::Gru ? 4 : kGates;
  static constexpr int kDirections = Config::kDirections, kLayers = Config::kLayers;
  static constexpr int kParts = kUnits / kOwn, kSlices = kThreads / kOwn, kInWarp = 32 / kOwn;
  static constexpr int kGroups = kUnits / 4, kInputGroups = Config::kInputGroups;
  static constexpr int kPlace = kGroups * kBatch; // groups of a step's states
  static constexpr int kEach = (kSums * kBatch + kInWarp - 1) / kInWarp, kAll = kEach * kInWarp;
  static constexpr int kInputLoads = (kInputGroups * kBatch + kThreads - 1) / kThreads;
  static constexpr int kStateLoads = (kPlace + kThreads - 1) / kThreads;
  static constexpr int kOwned = (kOwn * kBatch + kThreads - 1) / kThreads;

  // Adds the products of one group of columns to a unit's sums, for all elements of the batch.
  template <bool kState>
  static __device__ __forceinline__ void multiply(float *sums, const float4 *weights, const float4 *values) {
    float4 weight[kGates];
#pragma unroll
    for (int gate = 0; gate < kGates; ++gate)
      weight[gate] = weights[gate * kOwn];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const float4 value = values[b];
#pragma unroll
      for (int gate = 0; gate < kGates; ++gate) {
        const int sum = kState && gate == kGates - 1 ? kSums - 1 : gate;
        float &to = sums[sum * kBatch + b];
        to = fmaf(weight[gate].x, value.x, to);
        to = fmaf(weight[gate].y, value.y, to);
        to = fmaf(weight[gate].z, value.z, to);
        to = fmaf(weight[gate].w, value.w, to);
      }
    }
  }

  // `line` is a layer in one direction, `b` an element of the whole batch, `group` four columns, `row` a row of the weights.
  // @param states a place for every line, part of the batch and step
  // @param weight_of, state_weight_of (line, row, k, float &weight)
  // @param biases_of (line, row, float &input_bias, float &state_bias)
  // @param first_of (line, b, column, float &state, float &memory)
  // @param input_of, state_of (b, t, group, float4 &) and (line, b, group, float4 &)
  // @param output (b, t, feature, state), of the last layer
  // @param last (line, b, column, state, memory), after the last step
  template <typename WeightOf, typename StateWeightOf, typename BiasesOf, typename FirstOf, typename InputOf,
            typename StateOf, typename Output, typename Last>
  static __device__ __forceinline__ void run(float *states, int first_layer, WeightOf weight_of,
                                             StateWeightOf state_weight_of, BiasesOf biases_of, FirstOf first_of,
                                             InputOf input_of, StateOf state_of, Output output, Last last) {
    extern __shared__ float4 shared[];
    float4 *const weights = shared;                                            // [group][gate][unit]
    float4 *const inputs = weights + (kInputGroups + kGroups) * kGates * kOwn; // [group][batch]
    float4 *const before = inputs + kInputGroups * kBatch;                     // [group][batch]
    float *const partial = (float *)(before + kPlace);                         // [warp][sum][lane]
    float *const biases = partial + kThreads / 32 * kEach * 32;                // [sum][unit]

    const int part = blockIdx.x % kParts, direction = blockIdx.x / kParts % kDirections;
    const int layer = first_layer + blockIdx.x / (kParts * kDirections * Config::kChunks);
    const int chunk = blockIdx.x / (kParts * kDirections) % Config::kChunks;
    const int line = layer * kDirections + direction, from = chunk * kBatch;
    const int columns = layer == 0 ? Config::kFeatures : kDirections * kUnits;
    const int groups = (columns + 3) / 4;
    const int unit = threadIdx.x % kOwn, slice = threadIdx.x / 32 * kInWarp + threadIdx.x % 32 / kOwn;

    for (int e = threadIdx.x; e < groups * 4 * kGates * kOwn; e += kThreads) {
      const int k = e % (groups * 4), gate = e / (groups * 4) / kOwn, own = e / (groups * 4) % kOwn;
      float weight = 0;
      if (k < columns)
        weight_of(line, gate * kUnits + part * kOwn + own, k, weight);
      ((float *)(weights + (k / 4 * kGates + gate) * kOwn + own))[k % 4] = weight;
    }
    for (int e = threadIdx.x; e < kUnits * kGates * kOwn; e += kThreads) {
      const int k = e % kUnits, gate = e / kUnits / kOwn, own = e / kUnits % kOwn;
      float weight = 0;
      state_weight_of(line, gate * kUnits + part * kOwn + own, k, weight);
      ((float *)(weights + ((groups + k / 4) * kGates + gate) * kOwn + own))[k % 4] = weight;
    }
    for (int e = threadIdx.x; e < kSums * kOwn; e += kThreads) {
      const int sum = e / kOwn, row = min(sum, kGates - 1) * kUnits + part * kOwn + e % kOwn;
      const bool of_input = sum < kGates, of_state = kSums == kGates || sum != kGates - 1;
      float input_bias = 0, state_bias = 0;
      biases_of(line, row, input_bias, state_bias);
      biases[e] = (of_input ? input_bias : 0.0f) + (of_state ? state_bias : 0.0f);
    }

    // The states that a thread finishes, in the order in which they lie in a place.
    float own_state[kOwned], memory[kOwned];
#pragma unroll
    for (int i = 0; i < kOwned; ++i) {
      const int e = i * kThreads + threadIdx.x, b = from + e / 4 % kBatch;
      const int column = part * kOwn + e / (4 * kBatch) * 4 + e % 4;
      memory[i] = own_state[i] = 0;
      if (e < kOwn * kBatch && b < Config::kAllBatch)
        first_of(line, b, column, own_state[i], memory[i]);
    }

    float4 next[kInputLoads], arriving[kStateLoads];
    const auto place_of = [&](int of_line, int t) {
      return (float4 *)states + (((long)of_line * Config::kChunks + chunk) * kSteps + t) * kPlace;
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
          next[i] = Passing::read(input_place(e, t));
        } else {
          const int b = from + e % kBatch;
          if (b < Config::kAllBatch)
            input_of(b, t, e / kBatch, next[i]);
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
            Passing::wait(next[i], input_place(e, t));
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
        multiply<false>(sums, weights + g * kGates * kOwn + unit, inputs + g * kBatch);
      if (step > 0) {
#pragma unroll
        for (int i = 0; i < kStateLoads; ++i)
          if (const int e = i * kThreads + threadIdx.x; e < kPlace)
            arriving[i] = Passing::read(place_of(line, t - forward) + e);
      }
      for (int g = half + slice; g < groups; g += kSlices)
        multiply<false>(sums, weights + g * kGates * kOwn + unit, inputs + g * kBatch);
#pragma unroll
      for (int i = 0; i < kStateLoads; ++i) {
        const int e = i * kThreads + threadIdx.x;
        if (e >= kPlace)
          continue;
        if (step > 0) {
          Passing::wait(arriving[i], place_of(line, t - forward) + e);
        } else {
          const int b = from + e % kBatch;
          arriving[i] = make_float4(0, 0, 0, 0);
          if (b < Config::kAllBatch)
            state_of(line, b, e / kBatch, arriving[i]);
        }
        before[e] = arriving[i];
      }
      if (step + 1 < kSteps)
        load_input(t + forward);
      __syncthreads();
#pragma unroll
      for (int g = slice; g < kGroups; g += kSlices)
        multiply<true>(sums, weights + (groups + g) * kGates * kOwn + unit, before + g * kBatch);

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
        const float state = next_state<kCell>(gate, own_state[i], memory[i]);
        own_state[i] = state;
        Passing::publish((float *)(place_of(line, t) + part * kOwn / 4 * kBatch) + e, state);
        const int b = from + in_chunk, column = part * kOwn + own;
        if (b >= Config::kAllBatch)
          continue;
        if (layer == kLayers - 1)
          output(b, t, direction * kUnits + column, state);
        if (step == kSteps - 1)
          last(line, b, column, state, memory[i]);
      }
    }
  }
};

} // namespace warpwright_recurrent
#endif
