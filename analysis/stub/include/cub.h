// Built-in stand-ins of CUB, Thrust and libcu++ (cuda::): the calls that are most common in CUDA
// files.
#pragma once
namespace cub {
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
struct Sum { template <class T> WW_HD T operator()(const T &, const T &) const; };
struct Max { template <class T> WW_HD T operator()(const T &, const T &) const; };
struct Min { template <class T> WW_HD T operator()(const T &, const T &) const; };
template <class T, int N = 32> struct WarpReduce {
  struct TempStorage { T slots[N]; };
  WW_D WarpReduce(TempStorage &);
  WW_D T Sum(T); WW_D T Sum(T, int); WW_D T Max(T); WW_D T Min(T);
  template <class Op> WW_D T Reduce(T, Op);
  template <class Op> WW_D T Reduce(T, Op, int);
};
template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1> struct BlockReduce {
  struct TempStorage { T slots[32]; };
  WW_D BlockReduce(TempStorage &); WW_D BlockReduce();
  WW_D T Sum(T); WW_D T Sum(T, int);
  template <int N> WW_D T Sum(T (&)[N]);
  template <class Op> WW_D T Reduce(T, Op);
  template <class Op> WW_D T Reduce(T, Op, int);
  template <int N, class Op> WW_D T Reduce(T (&)[N], Op);
};
#define WW_SCAN_MEMBERS \
  WW_D void ExclusiveSum(T, T &); WW_D void ExclusiveSum(T, T &, T &); WW_D void InclusiveSum(T, T &); WW_D void InclusiveSum(T, T &, T &); \
  template <int N> WW_D void ExclusiveSum(T (&)[N], T (&)[N]); \
  template <int N> WW_D void InclusiveSum(T (&)[N], T (&)[N]); \
  template <class Op> WW_D void InclusiveScan(T, T &, Op); \
  template <class Op> WW_D void ExclusiveScan(T, T &, T, Op); \
  template <int N, class Op> WW_D void InclusiveScan(T (&)[N], T (&)[N], Op);
template <class T, int Threads = 32> struct WarpScan { struct TempStorage { T slots[Threads]; }; WW_D WarpScan(TempStorage &); WW_SCAN_MEMBERS };
template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1> struct BlockScan {
  struct TempStorage { T slots[X]; };
  WW_D BlockScan(TempStorage &); WW_D BlockScan();
  WW_SCAN_MEMBERS
};
#undef WW_SCAN_MEMBERS
template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT> struct BlockLoad {
  struct TempStorage { T slots[X]; };
  WW_D BlockLoad(TempStorage &); WW_D BlockLoad();
  template <class I> WW_D void Load(I, T (&)[N]);
  template <class I> WW_D void Load(I, T (&)[N], int);
  template <class I, class D> WW_D void Load(I, T (&)[N], int, D);
};
template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT> struct BlockStore {
  struct TempStorage { T slots[X]; };
  WW_D BlockStore(TempStorage &); WW_D BlockStore();
  template <class I> WW_D void Store(I, T (&)[N]);
  template <class I> WW_D void Store(I, T (&)[N], int);
};
template <class K, int X, int N, class V = int> struct BlockRadixSort {
  struct TempStorage { K slots[X]; };
  WW_D BlockRadixSort(TempStorage &);
  WW_D void Sort(K (&)[N]);
  template <class U> WW_D void Sort(K (&)[N], U (&)[N]);
};
#define WW_CALLS(name) template <class... A> static cudaError_t name(A &&...);
struct DeviceReduce { WW_CALLS(Sum) WW_CALLS(Max) WW_CALLS(Min) WW_CALLS(Reduce) WW_CALLS(ArgMax) WW_CALLS(ArgMin) WW_CALLS(ReduceByKey) };
struct DeviceScan { WW_CALLS(ExclusiveSum) WW_CALLS(InclusiveSum) WW_CALLS(ExclusiveScan) WW_CALLS(InclusiveScan) };
struct DeviceRadixSort { WW_CALLS(SortKeys) WW_CALLS(SortPairs) WW_CALLS(SortPairsDescending) WW_CALLS(SortKeysDescending) };
struct DeviceSelect { WW_CALLS(If) WW_CALLS(Flagged) WW_CALLS(Unique) };
struct DeviceHistogram { WW_CALLS(HistogramEven) };
struct DeviceSegmentedReduce { WW_CALLS(Sum) WW_CALLS(Reduce) WW_CALLS(Max) };
#undef WW_CALLS
}
namespace thrust {
template <class T> class device_ptr { public: device_ptr(); device_ptr(T *); T *get() const; T &operator[](size_t) const; device_ptr operator+(size_t) const; };
template <class T> struct device_reference { operator T() const; device_reference &operator=(const T &); };
#define WW_VECTOR(name, pointer) \
  template <class T> class name { \
  public: \
    name(); explicit name(size_t); name(size_t, const T &); template <class I> name(I, I); template <class V> name(const V &); \
    pointer data(); pointer begin(); pointer end(); T &operator[](size_t); const T &operator[](size_t) const; size_t size() const; \
    void resize(size_t); void push_back(const T &); void clear(); bool empty() const; \
    template <class V> name &operator=(const V &); \
  };
WW_VECTOR(device_vector, device_ptr<T>)
WW_VECTOR(host_vector, T *)
#undef WW_VECTOR
template <class T> T *raw_pointer_cast(T *);
template <class T> T *raw_pointer_cast(device_ptr<T>);
template <class T> device_ptr<T> device_pointer_cast(T *);
template <class T = void> struct plus { WW_HD T operator()(const T &, const T &) const; };
template <class T = void> struct maximum { WW_HD T operator()(const T &, const T &) const; };
template <class T = void> struct minimum { WW_HD T operator()(const T &, const T &) const; };
template <class T = void> struct multiplies { WW_HD T operator()(const T &, const T &) const; };
#define WW_CALLS(name) template <class... A> void name(A &&...);
WW_CALLS(sort) WW_CALLS(sort_by_key) WW_CALLS(fill) WW_CALLS(sequence) WW_CALLS(copy) WW_CALLS(transform) WW_CALLS(inclusive_scan)
WW_CALLS(exclusive_scan) WW_CALLS(for_each) WW_CALLS(generate) WW_CALLS(stable_sort) WW_CALLS(gather) WW_CALLS(scatter)
#undef WW_CALLS
template <class I> int reduce(I, I);
template <class I, class T> T reduce(I, I, T);
template <class I, class T, class F> T reduce(I, I, T, F);
template <class I, class F, class T, class G> T transform_reduce(I, I, F, T, G);
template <class T> struct counting_iterator { counting_iterator(T = 0); };
struct WwPolicy { WwPolicy on(cudaStream_t) const; };
extern WwPolicy device, host;
namespace cuda { extern WwPolicy par; }
template <class A, class B> struct pair { A first; B second; };
template <class T> class complex { public: WW_HD complex(T = 0, T = 0); WW_HD T real() const; WW_HD T imag() const; };
}
namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <thread_scope S = thread_scope_system> class barrier {
public:
  struct arrival_token {};
  WW_HD barrier(int = 0);
  WW_D arrival_token arrive(int = 1); WW_D void wait(arrival_token &&); WW_D void arrive_and_wait();
};
template <thread_scope S> WW_D void init(barrier<S> *, int);
template <thread_scope S, unsigned char N> struct pipeline_shared_state {};
template <thread_scope S> class pipeline {
public:
  WW_D void producer_acquire(); WW_D void producer_commit(); WW_D void consumer_wait(); WW_D void consumer_release();
};
template <class G, class S> WW_D pipeline<thread_scope_block> make_pipeline(const G &, S *);
WW_D pipeline<thread_scope_thread> make_pipeline();
template <unsigned N, thread_scope S> WW_D void pipeline_consumer_wait_prior(pipeline<S> &);
template <class G, class T, class U, class N, class B> WW_D void memcpy_async(const G &, T *, const U *, N, B &);
template <class T, class U, class N, class B> WW_D void memcpy_async(T *, const U *, N, B &);
template <size_t N> struct aligned_size_t { WW_HD aligned_size_t(size_t); };
template <class T, thread_scope S = thread_scope_system> class atomic_ref { public: WW_HD atomic_ref(T &); WW_HD T fetch_add(T, int = 0); WW_HD T load(int = 0); WW_HD void store(T, int = 0); };
template <class T, thread_scope S = thread_scope_system> class atomic { public: WW_HD T fetch_add(T, int = 0); WW_HD T load(int = 0); WW_HD void store(T, int = 0); };
namespace std { constexpr int memory_order_relaxed = 0; template <class T> class complex; }
}
