// Built-in stand-ins of cooperative_groups.h, its reduce, scan and memcpy_async.
#pragma once
namespace cooperative_groups {
#define WW_GROUP_MEMBERS \
  WW_D void sync() const; WW_D unsigned long long size() const; WW_D unsigned long long num_threads() const; \
  WW_D unsigned thread_rank() const; WW_D bool is_valid() const;
struct thread_group { WW_GROUP_MEMBERS };
struct thread_block : thread_group {
  WW_GROUP_MEMBERS
  WW_D static dim3 group_index(); WW_D static dim3 thread_index(); WW_D static dim3 group_dim(); WW_D static dim3 dim_threads();
};
struct grid_group : thread_group {
  WW_GROUP_MEMBERS
  WW_D dim3 group_dim() const; WW_D dim3 dim_blocks() const; WW_D unsigned block_rank() const; WW_D unsigned num_blocks() const; WW_D dim3 block_index() const;
};
struct cluster_group : thread_group {
  WW_GROUP_MEMBERS
  WW_D static unsigned block_rank(); WW_D static unsigned num_blocks(); WW_D static dim3 block_index(); WW_D static dim3 dim_blocks();
  template <class T> WW_D static T *map_shared_rank(T *, int);
};
template <unsigned N, class Parent = void> struct thread_block_tile : thread_block_tile<N, void> {};
template <unsigned N> struct thread_block_tile<N, void> : thread_group {
  WW_GROUP_MEMBERS
  WW_D unsigned meta_group_rank() const; WW_D unsigned meta_group_size() const;
  template <class T> WW_D T shfl(T, int) const;
  template <class T> WW_D T shfl_up(T, unsigned) const;
  template <class T> WW_D T shfl_down(T, unsigned) const;
  template <class T> WW_D T shfl_xor(T, unsigned) const;
  WW_D int any(int) const; WW_D int all(int) const; WW_D unsigned ballot(int) const;
  template <class T> WW_D unsigned match_any(T) const;
};
struct coalesced_group : thread_block_tile<32> {};
#undef WW_GROUP_MEMBERS
WW_D thread_block this_thread_block(); WW_D grid_group this_grid(); WW_D cluster_group this_cluster(); WW_D coalesced_group coalesced_threads();
template <unsigned N, class G> WW_D thread_block_tile<N, G> tiled_partition(const G &);
template <class G> WW_D thread_group tiled_partition(const G &, unsigned);
template <class G> WW_D coalesced_group binary_partition(const G &, bool);
template <class G> WW_D coalesced_group labeled_partition(const G &, int);
template <class G> WW_D void sync(const G &);
template <class T> struct plus { WW_D T operator()(T, T) const; };
template <class T> struct less { WW_D T operator()(T, T) const; };
template <class T> struct greater { WW_D T operator()(T, T) const; };
template <class T> struct bit_and { WW_D T operator()(T, T) const; };
template <class T> struct bit_or { WW_D T operator()(T, T) const; };
template <class T> struct bit_xor { WW_D T operator()(T, T) const; };
template <class G, class T, class Op> WW_D T reduce(const G &, T, Op &&);
template <class G, class T, class Op> WW_D T inclusive_scan(const G &, T, Op &&);
template <class G, class T> WW_D T inclusive_scan(const G &, T);
template <class G, class T, class Op> WW_D T exclusive_scan(const G &, T, Op &&);
template <class G, class T> WW_D T exclusive_scan(const G &, T);
template <class G, class T, class U, class N> WW_D void memcpy_async(const G &, T *, const U *, N);
template <class G> WW_D void wait(const G &);
template <unsigned N, class G> WW_D void wait_prior(const G &);
template <class G, class F> WW_D void invoke_one(const G &, F &&);
}
