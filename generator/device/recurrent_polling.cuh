// States of recurrent layers passed between blocks that run at the same time (recurrent.cuh): a reader polls the words that it wants.
#ifndef WARPWRIGHT_RECURRENT_POLLING
#define WARPWRIGHT_RECURRENT_POLLING

namespace warpwright_recurrent {

// All bits of a place that nobody has written yet are ones: a NaN that arithmetic does not give.
struct Polled {
  static __device__ __forceinline__ float4 read(const float4 *place) {
    float4 value;
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(place)
                 : "memory");
    return value;
  }
  static __device__ __forceinline__ bool is_there(float value) { return __float_as_uint(value) != ~0u; }
  static __device__ __forceinline__ void wait(float4 &value, const float4 *place) {
    while (!(is_there(value.x) && is_there(value.y) && is_there(value.z) && is_there(value.w)))
      value = read(place);
  }
  static __device__ __forceinline__ void publish(float *place, float value) {
    const unsigned bits = is_there(value) ? __float_as_uint(value) : 0x7fffffffu;
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(place), "r"(bits) : "memory");
  }
};

} // namespace warpwright_recurrent
#endif
