// PyTorch's maximum and minimum give NaN where either operand is NaN.
template <class T> __device__ __forceinline__ T warpwright_maximum(T a, T b) {
  return a < b || b != b ? b : a;
}
template <class T> __device__ __forceinline__ T warpwright_minimum(T a, T b) {
  return b < a || b != b ? b : a;
}
// Python's %: the sign of the divisor.
__device__ __forceinline__ float warpwright_remainder(float a, float b) {
  const float r = fmodf(a, b);
  return r != 0.0f && (r < 0.0f) != (b < 0.0f) ? r + b : r;
}
__device__ __forceinline__ double warpwright_remainder(double a, double b) {
  const double r = fmod(a, b);
  return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}
template <class T> __device__ __forceinline__ T warpwright_remainder(T a, T b) {
  const T r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <class T> __device__ __forceinline__ T warpwright_power(T base, T exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  T result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}
