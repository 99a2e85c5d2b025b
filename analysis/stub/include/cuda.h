// Built-in CUDA declarations, part 1: keywords, vector types, built-in variables, the C library.
// Declarations have no bodies: user code must parse, not link.
#pragma once
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __CUDA_RUNTIME_H__
#define __CUDACC_EXTENDED_LAMBDA__ 1

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __grid_constant__ __attribute__((grid_constant))
#define __nv_pure__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __restrict__ __restrict
#define __nv_is_extended_device_lambda_closure_type(type) false
#define CUDART_CB
#define CUDARTAPI
#define CUDA_CB

#define WW_HD __attribute__((host)) __attribute__((device))
#define WW_D __attribute__((device))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t, ssize_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

struct char1 { signed char x; };
struct alignas(2) char2 { signed char x, y; };
struct char3 { signed char x, y, z; };
struct alignas(4) char4 { signed char x, y, z, w; };
struct uchar1 { unsigned char x; };
struct alignas(2) uchar2 { unsigned char x, y; };
struct uchar3 { unsigned char x, y, z; };
struct alignas(4) uchar4 { unsigned char x, y, z, w; };
struct short1 { short x; };
struct alignas(4) short2 { short x, y; };
struct short3 { short x, y, z; };
struct alignas(8) short4 { short x, y, z, w; };
struct ushort1 { unsigned short x; };
struct alignas(4) ushort2 { unsigned short x, y; };
struct ushort3 { unsigned short x, y, z; };
struct alignas(8) ushort4 { unsigned short x, y, z, w; };
struct int1 { int x; };
struct alignas(8) int2 { int x, y; };
struct int3 { int x, y, z; };
struct alignas(16) int4 { int x, y, z, w; };
struct uint1 { unsigned x; };
struct alignas(8) uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct long1 { long x; };
struct alignas(16) long2 { long x, y; };
struct long3 { long x, y, z; };
struct alignas(16) long4 { long x, y, z, w; };
struct ulong1 { unsigned long x; };
struct alignas(16) ulong2 { unsigned long x, y; };
struct ulong3 { unsigned long x, y, z; };
struct alignas(16) ulong4 { unsigned long x, y, z, w; };
struct longlong1 { long long x; };
struct alignas(16) longlong2 { long long x, y; };
struct longlong3 { long long x, y, z; };
struct alignas(16) longlong4 { long long x, y, z, w; };
struct ulonglong1 { unsigned long long x; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct ulonglong3 { unsigned long long x, y, z; };
struct alignas(16) ulonglong4 { unsigned long long x, y, z, w; };
struct float1 { float x; };
struct alignas(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct double1 { double x; };
struct alignas(16) double2 { double x, y; };
struct double3 { double x, y, z; };
struct alignas(16) double4 { double x, y, z, w; };
#define WW_MAKE(type, name) \
  WW_HD name##1 make_##name##1(type); \
  WW_HD name##2 make_##name##2(type, type); \
  WW_HD name##3 make_##name##3(type, type, type); \
  WW_HD name##4 make_##name##4(type, type, type, type);
WW_MAKE(signed char, char) WW_MAKE(unsigned char, uchar) WW_MAKE(short, short) WW_MAKE(unsigned short, ushort)
WW_MAKE(int, int) WW_MAKE(unsigned, uint) WW_MAKE(long, long) WW_MAKE(unsigned long, ulong)
WW_MAKE(long long, longlong) WW_MAKE(unsigned long long, ulonglong) WW_MAKE(float, float) WW_MAKE(double, double)
#undef WW_MAKE

struct dim3 {
  unsigned x, y, z;
  WW_HD constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  WW_HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  WW_HD constexpr operator uint3() const { return {x, y, z}; }
};
extern const WW_D uint3 threadIdx, blockIdx;
extern const WW_D dim3 blockDim, gridDim;
extern const WW_D int warpSize;

#ifndef NULL
#define NULL __null
#endif
#define assert(...) ((void)(__VA_ARGS__))
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (~0u)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1)
#define ULLONG_MAX (~0ull)
#define INT32_MAX __INT_MAX__
#define INT32_MIN (-__INT_MAX__ - 1)
#define INT64_MAX __LONG_MAX__
#define INT64_MIN (-__LONG_MAX__ - 1)
#define UINT32_MAX (~0u)
#define UINT64_MAX (~0ul)
#define SIZE_MAX (~0ul)
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647

typedef struct WwFile FILE;
typedef __builtin_va_list va_list;
typedef long time_t;
typedef long clock_t;
#define CLOCKS_PER_SEC 1000000l
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define EOF (-1)
extern FILE *stdin, *stdout, *stderr;
extern "C" {
WW_HD int printf(const char *, ...);
int fprintf(FILE *, const char *, ...), sprintf(char *, const char *, ...), snprintf(char *, size_t, const char *, ...);
int puts(const char *), putchar(int), fflush(FILE *), fclose(FILE *), fputs(const char *, FILE *), fseek(FILE *, long, int);
int scanf(const char *, ...), sscanf(const char *, const char *, ...), fscanf(FILE *, const char *, ...);
int fgetc(FILE *), getc(FILE *), getchar(), putc(int, FILE *), fputc(int, FILE *), feof(FILE *), ferror(FILE *);
char *fgets(char *, int, FILE *);
void rewind(FILE *);
long ftell(FILE *);
FILE *fopen(const char *, const char *);
size_t fread(void *, size_t, size_t, FILE *), fwrite(const void *, size_t, size_t, FILE *);
WW_HD void *malloc(size_t);
WW_HD void free(void *);
void *calloc(size_t, size_t), *realloc(void *, size_t), *aligned_alloc(size_t, size_t);
int posix_memalign(void **, size_t, size_t);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
[[noreturn]] void exit(int);
[[noreturn]] void abort();
int rand(), atoi(const char *), strcmp(const char *, const char *), strncmp(const char *, const char *, size_t);
void srand(unsigned), perror(const char *);
double atof(const char *), drand48(), strtod(const char *, char **);
float strtof(const char *, char **);
int strcasecmp(const char *, const char *), isspace(int), isdigit(int), isalpha(int), isalnum(int), tolower(int), toupper(int);
char *strtok(char *, const char *), *strcat(char *, const char *), *strncpy(char *, const char *, size_t);
long long atoll(const char *), strtoll(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
long random();
void srand48(long);
long atol(const char *), strtol(const char *, char **, int);
char *getenv(const char *), *strcpy(char *, const char *), *strdup(const char *), *strstr(const char *, const char *);
size_t strlen(const char *);
WW_HD void *memcpy(void *, const void *, size_t);
WW_HD void *memset(void *, int, size_t);
void *memmove(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
time_t time(time_t *);
WW_HD clock_t clock();
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; long tv_usec; };
int clock_gettime(int, timespec *), gettimeofday(timeval *, void *);
}
#define CLOCK_MONOTONIC 1
