// The runner's own kernels over element_math.h, whose text stands before this one when NVRTC
// compiles them. Grid-stride loops; each thread keeps its findings in registers, and each block merges those of its threads
// once at its end: an atomic for each thread would take longer than the comparison.

using namespace warpwright::runner::element;

__device__ inline u64 first_index() {
  return blockIdx.x * static_cast<u64>(blockDim.x) + threadIdx.x;
}
__device__ inline u64 stride() { return static_cast<u64>(gridDim.x) * blockDim.x; }

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Least {
  __device__ u64 operator()(u64 a, u64 b) const { return a < b ? a : b; }
};
struct Largest {
  __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

// The combination of all threads' values, in thread 0. Blocks have 256 threads, all of which call it.
template <class T, class Operation>
__device__ inline T over_block(T value, Operation operation) {
  __shared__ T parts[8];
  for (int distance = 16; distance > 0; distance /= 2)
    value = operation(value, __shfl_down_sync(0xffffffffu, value, distance));
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int warp = 1; warp < 8; ++warp)
      value = operation(value, parts[warp]);
  __syncthreads();
  return value;
}

template <class T>
__device__ inline void merge_sum(T *into, T value) {
  value = over_block(value, Sum());
  if (threadIdx.x == 0 && value != 0)
    atomicAdd(into, value);
}
__device__ inline void merge_least(u64 *into, u64 value) {
  value = over_block(value, Least());
  if (threadIdx.x == 0 && value != kNone)
    atomicMin(into, value);
}
__device__ inline void merge_max(double *into, double value) { // not negative: ordered as integers
  value = over_block(value, Largest());
  if (threadIdx.x == 0 && value > 0)
    atomicMax(reinterpret_cast<u64 *>(into), bit_copy<u64>(value));
}

extern "C" __global__ void ww_generate(const Draw *draw, void *out, u64 count) {
  const Draw local = *draw;
  for (u64 i = first_index(); i < count; i += stride())
    generate(local, out, i);
}

extern "C" __global__ void ww_change(const Change *what, void *buffer, u64 count) {
  const Change local = *what;
  for (u64 i = first_index(); i < count; i += stride())
    apply(local, buffer, i);
}

extern "C" __global__ void ww_count_changed(const Draw *draw, const void *buffer, u64 count,
                                            u64 *changed) {
  const Draw local = *draw;
  for (u64 i = first_index(); i < count; i += stride())
    if (!is_as_drawn(local, buffer, i)) {
      atomicAdd(changed, 1ull);
      atomicMin(changed + 1, i);
    }
}

__device__ inline void merge_marks(Marks *into, const Marks &found) {
  if (found.count == 0)
    return;
  atomicAdd(&into->count, found.count);
  atomicMin(&into->first, found.first);
  atomicMax(&into->last, found.last);
}

// Blocks along y take the items, those along x an item's elements.
extern "C" __global__ void ww_check_guards(const Guard *guards, u64 count, u32 byte,
                                           Marks *marks) {
  for (u64 item = blockIdx.y; item < count; item += gridDim.y) {
    const Guard guard = guards[item];
    Marks found = no_marks();
    for (u64 i = first_index(); i < guard.bytes; i += stride())
      if (reinterpret_cast<const unsigned char *>(guard.begin)[i] != byte)
        mark(found, i);
    merge_marks(marks + item, found);
  }
}

extern "C" __global__ void ww_check_copies(const RotatedCopy *copies, u64 count, Marks *marks) {
  for (u64 item = blockIdx.y; item < count; item += gridDim.y) {
    const RotatedCopy copy = copies[item];
    Marks found = no_marks();
    for (u64 i = first_index(); i < copy.elements; i += stride())
      if (!is_as_copied(copy, reinterpret_cast<const void *>(copy.buffer),
                        reinterpret_cast<const void *>(copy.from), i))
        mark(found, i);
    merge_marks(marks + item, found);
  }
}

extern "C" __global__ void ww_survey(u64 type, const void *reference, u64 count, Survey *result) {
  Survey local{};
  for (u64 i = first_index(); i < count; i += stride())
    survey(local, type, reference, i);
  merge_sum(&result->sum_of_squares, local.sum_of_squares);
  merge_sum(&result->finite, local.finite);
  merge_sum(&result->nans, local.nans);
  merge_sum(&result->unlike_first, local.unlike_first);
  merge_sum(&result->digest, local.digest);
}

extern "C" __global__ void ww_compare(const Comparison *task, u64 count, Findings *result) {
  const Comparison local = *task;
  Findings found = no_findings();
  for (u64 i = first_index(); i < count; i += stride())
    compare(found, local, i);
  merge_sum(&result->unwritten, found.unwritten);
  merge_least(&result->first_unwritten, found.first_unwritten);
  merge_sum(&result->stray, found.stray);
  merge_least(&result->first_stray, found.first_stray);
  merge_sum(&result->wrong, found.wrong);
  merge_least(&result->first_wrong, found.first_wrong);
  merge_sum(&result->unstable, found.unstable);
  merge_least(&result->first_unstable, found.first_unstable);
  merge_max(&result->max_absolute, found.max_absolute);
  merge_max(&result->max_relative, found.max_relative);
  merge_max(&result->candidate_exact, found.candidate_exact);
  merge_max(&result->reference_exact, found.reference_exact);
  merge_sum(&result->candidate_squares, found.candidate_squares);
  merge_sum(&result->reference_squares, found.reference_squares);
  merge_sum(&result->exact_squares, found.exact_squares);
}
