// Templates for the entry functions that compiler.cpp appends to a source: calls of kernels with
// packed arguments, and the sizes of the parameters. Arguments are packed in order, each at a
// multiple of 16 bytes.
#pragma once

template <size_t... I> struct __ww_indices {};
template <unsigned n, size_t... I> struct __ww_range : __ww_range<n - 1, n - 1, I...> {};
template <size_t... I> struct __ww_range<0, I...> { using type = __ww_indices<I...>; };
template <unsigned n> struct __ww_numbers { unsigned value[n + 1]; };
template <class... P> constexpr unsigned __ww_count(void (*)(P...)) { return sizeof...(P); }
template <class... P> constexpr __ww_numbers<sizeof...(P)> __ww_measure(void (*)(P...)) {
  return {{sizeof(P)..., sizeof...(P)}};
}
template <class... P> constexpr size_t __ww_offset(size_t index) {
  size_t sizes[] = {sizeof(P)..., 0}, offset = 0;
  for (size_t i = 0; i < index; ++i)
    offset += (sizes[i] + 15) / 16 * 16;
  return offset;
}
template <auto kernel, class... P, size_t... I>
__attribute__((device, always_inline)) inline void __ww_call(const char *a, void (*)(P...), __ww_indices<I...>) {
  kernel(*reinterpret_cast<const P *>(a + __ww_offset<P...>(I))...);
}
