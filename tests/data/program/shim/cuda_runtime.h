// CUDA for a C++ compiler: each thread of a launch is a call, and the driver of tests/runner/capture hears of each launch.
#pragma once

extern "C" {
#include "fake_cuda.h"
}

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

namespace shim {

/// The driver's addresses of allocations, by ours.
inline std::map<void *, Address> addresses;

template <class Parameter>
Parameter told(Parameter value) {
  if constexpr (std::is_pointer_v<Parameter>)
    if (const auto known = addresses.find((void *)value); known != addresses.end())
      return (Parameter)known->second;
  return value;
}

template <class... Parameters>
struct Launcher {
  void (*kernel)(Parameters...);
  const char *name;
  dim3 grid, block;

  void tell(Parameters... values) const {
    static std::map<std::string, Kernel> kernels; // the driver keeps pointers to them
    Kernel &known = kernels[name];
    if (!known.name) {
      static std::map<std::string, std::string> symbols;
      symbols[name] = "_Z" + std::to_string(std::strlen(name)) + name + "v";
      known = {symbols[name].c_str(), sizeof...(Parameters), {sizeof(Parameters)...}, 1000};
    }
    void *parameters[] = {&values...};
    cuLaunchKernel(&known, grid.x, grid.y, grid.z, block.x, block.y, block.z, 0, nullptr, parameters, nullptr);
  }

  template <class... Values>
  void operator()(Values... values) const {
    tell(told<Parameters>(values)...);
    gridDim = grid;
    blockDim = block;
    for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
      for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
          for (threadIdx.z = 0; threadIdx.z < block.z; ++threadIdx.z)
            for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
              for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x)
                kernel(values...);
  }
};

template <class... Parameters>
Launcher<Parameters...> launcher(void (*kernel)(Parameters...), const char *name, dim3 grid, dim3 block) {
  return {kernel, name, grid, block};
}

} // namespace shim

#define LAUNCH(kernel, ...) shim::launcher(kernel, #kernel, __VA_ARGS__)

template <class T>
int cudaMalloc(T **pointer, std::size_t size_bytes) {
  Address address = 0;
  cuInit(0);
  cuMemAlloc_v2(&address, size_bytes);
  *pointer = (T *)std::aligned_alloc(256, (size_bytes + 255) / 256 * 256);
  shim::addresses[*pointer] = address;
  return 0;
}

inline int cudaMemcpy(void *to, const void *from, std::size_t size_bytes, int direction) {
  std::memcpy(to, from, size_bytes);
  if (direction == cudaMemcpyHostToDevice)
    cuMemcpyHtoDAsync_v2(shim::addresses[to], from, size_bytes, nullptr);
  else
    cuMemcpyDtoH_v2(to, shim::addresses[(void *)from], size_bytes);
  return 0;
}
