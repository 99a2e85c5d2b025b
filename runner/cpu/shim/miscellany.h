// assert, printf and traps, and declarations of the functions that the backend refuses.
#pragma once

__WW_RUNTIME void __ww_assert_failed(const char *expression, const char *file, int line)
    __attribute__((noreturn));
__WW_RUNTIME void __ww_trap() __attribute__((noreturn));
/// Prints nothing, because the runner's protocol uses stdout.
__WW_RUNTIME int printf(const char *format, ...);

#ifdef NDEBUG
#define assert(expression) ((void)0)
#else
#define assert(expression)                                                                         \
  ((expression) ? (void)0 : __ww_assert_failed(#expression, __FILE__, __LINE__))
#endif
__WW_FUNCTION void __trap() { __ww_trap(); }
__WW_FUNCTION void __brkpt() {}
__WW_FUNCTION void __nanosleep(unsigned) {}
__WW_FUNCTION void __assume(bool condition) { __builtin_assume(condition); }
__WW_FUNCTION void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
__WW_FUNCTION void *memset(void *to, int byte, size_t n) { return __builtin_memset(to, byte, n); }

typedef long long clock_t;
clock_t clock() __WW_UNSUPPORTED("clock(), a CPU has no GPU clock");
long long clock64() __WW_UNSUPPORTED("clock64(), a CPU has no GPU clock");
unsigned long long __globaltimer() __WW_UNSUPPORTED("the GPU's global timer");
void *malloc(size_t) __WW_UNSUPPORTED("device-side malloc");
void free(void *) __WW_UNSUPPORTED("device-side free");
size_t __cvta_generic_to_shared(const void *) __WW_UNSUPPORTED("shared-window addresses");
size_t __cvta_generic_to_global(const void *) __WW_UNSUPPORTED("global-window addresses");

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
template <class T> T tex1D(cudaTextureObject_t, float) __WW_UNSUPPORTED("textures");
template <class T> T tex1Dfetch(cudaTextureObject_t, int) __WW_UNSUPPORTED("textures");
template <class T> T tex2D(cudaTextureObject_t, float, float) __WW_UNSUPPORTED("textures");
template <class T> T tex3D(cudaTextureObject_t, float, float, float) __WW_UNSUPPORTED("textures");
template <class T> T tex2DLod(cudaTextureObject_t, float, float, float) __WW_UNSUPPORTED("textures");
template <class T> void surf2Dread(T *, cudaSurfaceObject_t, int, int) __WW_UNSUPPORTED("surfaces");
template <class T> void surf2Dwrite(T, cudaSurfaceObject_t, int, int) __WW_UNSUPPORTED("surfaces");

cudaError_t cudaDeviceSynchronize() __WW_UNSUPPORTED("dynamic parallelism");
unsigned cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0) __WW_UNSUPPORTED("dynamic parallelism");
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0)
    __WW_UNSUPPORTED("dynamic parallelism");
