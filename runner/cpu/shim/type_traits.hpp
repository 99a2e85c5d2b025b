// The part of <type_traits>, <utility> and <algorithm> that device code uses, also as cuda::std.
#pragma once
#pragma clang force_cuda_host_device begin
namespace std {
template <class T, T v>
struct integral_constant {
  static constexpr T value = v;
  using type = integral_constant;
  constexpr operator T() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <bool condition, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool condition, class T = void> using enable_if_t = typename enable_if<condition, T>::type;
template <bool condition, class T, class U> struct conditional { using type = T; };
template <class T, class U> struct conditional<false, T, U> { using type = U; };
template <bool condition, class T, class U> using conditional_t = typename conditional<condition, T, U>::type;
template <class T> using remove_reference_t = __remove_reference_t(T);
template <class T> using remove_cv_t = __remove_cv(T);
template <class T> using remove_const_t = __remove_const(T);
template <class T> using remove_pointer_t = __remove_pointer(T);
template <class T> using decay_t = __decay(T);
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class T> using make_signed_t = __make_signed(T);
template <class T> struct remove_reference { using type = __remove_reference_t(T); };
template <class T> struct remove_cv { using type = __remove_cv(T); };
template <class T> struct decay { using type = __decay(T); };
template <class...> using void_t = void;
#define __WW_TRAIT(name)                                                                           \
  template <class T> inline constexpr bool name##_v = __##name(T);                                 \
  template <class T> struct name : bool_constant<__##name(T)> {};
__WW_TRAIT(is_integral) __WW_TRAIT(is_floating_point) __WW_TRAIT(is_arithmetic) __WW_TRAIT(is_unsigned)
__WW_TRAIT(is_signed) __WW_TRAIT(is_pointer) __WW_TRAIT(is_const) __WW_TRAIT(is_void) __WW_TRAIT(is_class)
__WW_TRAIT(is_enum) __WW_TRAIT(is_trivially_copyable)
#undef __WW_TRAIT
template <class T, class U> inline constexpr bool is_same_v = __is_same(T, U);
template <class T, class U> struct is_same : bool_constant<__is_same(T, U)> {};
template <class T> constexpr remove_reference_t<T> &&move(T &&value) {
  return static_cast<remove_reference_t<T> &&>(value);
}
template <class T> constexpr T &&forward(remove_reference_t<T> &value) { return static_cast<T &&>(value); }
template <class T> constexpr void swap(T &a, T &b) {
  T old = a;
  a = b;
  b = old;
}
template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
} // namespace std
namespace cuda { namespace std { using namespace ::std; } }
#pragma clang force_cuda_host_device end
