// sm_80 sm_90a sm_100a sm_120
#include "../recurrent.cuh"

using namespace warpwright_recurrent;

template <Cell kKind> struct LayersConfig {
  using Passing = Written;
  static constexpr Cell kCell = kKind;
  static constexpr int kThreads = 256, kLayers = 2, kDirections = 2, kSteps = 8, kAllBatch = 3, kFeatures = 10, kUnits = 16;
  static constexpr int kOwn = 8, kChunks = 2, kBatch = 2, kInputGroups = 8;
};

template <Cell kKind> __device__ void layers(const float *from, float *states, float *to) {
  Layers<LayersConfig<kKind>>::run(
      states, 0, [&](int line, int row, int k, float &weight) { weight = from[line + row * 16 + k]; },
      [&](int line, int row, int k, float &weight) { weight = from[line + row * 16 + k]; },
      [&](int line, int row, float &input_bias, float &state_bias) { input_bias = state_bias = from[line + row]; },
      [&](int line, int b, int column, float &state, float &memory) { state = memory = from[line + b + column]; },
      [&](int b, int t, int group, float4 &values) { values.x = from[b + t + group]; },
      [&](int line, int b, int group, float4 &values) { values.x = from[line + b + group]; },
      [&](int b, int t, int feature, float state) { to[b + t + feature] = state; },
      [&](int line, int b, int column, float state, float memory) { to[line + b + column] = state + memory; });
}

__global__ void lstm(const float *from, float *states, float *to) { layers<Cell::Lstm>(from, states, to); }
__global__ void gru(const float *from, float *states, float *to) { layers<Cell::Gru>(from, states, to); }
__global__ void tanh_layers(const float *from, float *states, float *to) { layers<Cell::Tanh>(from, states, to); }
__global__ void relu_layers(const float *from, float *states, float *to) { layers<Cell::Relu>(from, states, to); }
