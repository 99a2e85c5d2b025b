// Built-in stand-ins of PyTorch's C++ side: at::, c10::, torch::, pybind11 and the macros of extensions.
// Enough that kernels, their launches and the functions around them parse; nothing here computes.
#pragma once
namespace c10 {
enum class ScalarType : signed char { Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, BFloat16, Float8_e4m3fn, Float8_e5m2, Undefined };
enum class DeviceType : signed char { CPU, CUDA };
enum class Layout : signed char { Strided };
enum class MemoryFormat : signed char { Contiguous, Preserve, ChannelsLast };
#define WW_SMALL(name) \
  struct alignas(2) name { \
    unsigned short x; \
    name() = default; WW_HD name(float); WW_HD operator float() const; \
    WW_HD name &operator+=(name); WW_HD name &operator-=(name); WW_HD name &operator*=(name); WW_HD name &operator/=(name); \
  };
WW_SMALL(Half) WW_SMALL(BFloat16)
#undef WW_SMALL
struct Float8_e4m3fn { unsigned char x; WW_HD operator float() const; };
template <class T> struct complex { T real_, imag_; WW_HD complex(T = 0, T = 0); WW_HD T real() const; WW_HD T imag() const; };
struct Device { Device(DeviceType, int = -1); Device(const char *); bool is_cuda() const; bool is_cpu() const; int index() const; DeviceType type() const; bool operator==(const Device &) const; bool operator!=(const Device &) const; };
struct Scalar { Scalar(double); Scalar(int); Scalar(long); Scalar(float); Scalar(bool); template <class T> T to() const; double toDouble() const; long toLong() const; };
template <class T> struct ArrayRef { ArrayRef(); template <class V> ArrayRef(const V &); template <size_t N> ArrayRef(const T (&)[N]); ArrayRef(std::initializer_list<T>); const T &operator[](size_t) const; size_t size() const; const T *begin() const; const T *end() const; std::vector<T> vec() const; };
typedef ArrayRef<int64_t> IntArrayRef;
template <class T> using optional = std::optional<T>;
typedef std::nullptr_t nullopt_t;
constexpr std::nullptr_t nullopt = nullptr;
template <class T, class... A> std::string str(A &&...);
struct Error : std::exception {};
namespace cuda {
struct CUDAStream { operator cudaStream_t() const; cudaStream_t stream() const; };
CUDAStream getCurrentCUDAStream(int = -1), getDefaultCUDAStream(int = -1), getStreamFromPool(bool = false, int = -1);
struct CUDAGuard { explicit CUDAGuard(int); explicit CUDAGuard(Device); };
struct OptionalCUDAGuard { OptionalCUDAGuard(); explicit OptionalCUDAGuard(int); explicit OptionalCUDAGuard(Device); };
int current_device(), device_count();
}
}
namespace at {
using namespace c10;
using c10::ScalarType; using c10::Device; using c10::Scalar; using c10::IntArrayRef; using c10::Half; using c10::BFloat16; using c10::ArrayRef; using c10::DeviceType;
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong, kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
struct TensorOptions {
  TensorOptions(); TensorOptions(ScalarType); TensorOptions(Device); TensorOptions(DeviceType);
  TensorOptions dtype(ScalarType) const; TensorOptions device(Device) const; TensorOptions device(DeviceType, int = -1) const; TensorOptions layout(Layout) const;
  TensorOptions requires_grad(bool = true) const; TensorOptions memory_format(MemoryFormat) const;
};
template <class T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };
template <class T> struct DefaultPtrTraits { typedef T *PtrType; };
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> struct PackedTensorAccessor {
  WW_HD PackedTensorAccessor<T, N - 1, P, I> operator[](I) const; WW_HD I size(int) const; WW_HD I stride(int) const; WW_HD T *data() const;
};
template <class T, template <class> class P, class I> struct PackedTensorAccessor<T, 1, P, I> {
  WW_HD T &operator[](I) const; WW_HD I size(int) const; WW_HD I stride(int) const; WW_HD T *data() const;
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = PackedTensorAccessor<T, N, P, int>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = PackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using GenericPackedTensorAccessor = PackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N> using TensorAccessor = PackedTensorAccessor<T, N>;
struct WwDtype { bool operator==(ScalarType) const; bool operator!=(ScalarType) const; bool operator==(WwDtype) const; operator ScalarType() const; };
struct Tensor {
  Tensor();
  int64_t size(int64_t) const; IntArrayRef sizes() const; IntArrayRef strides() const; int64_t stride(int64_t) const; int64_t dim() const; int64_t ndimension() const;
  int64_t numel() const; int64_t nbytes() const; int64_t element_size() const; int64_t itemsize() const; int64_t storage_offset() const;
  ScalarType scalar_type() const; WwDtype dtype() const; Device device() const; TensorOptions options() const; ScalarType type() const; int64_t get_device() const;
  bool is_cuda() const; bool is_cpu() const; bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const; bool defined() const; bool requires_grad() const; bool is_floating_point() const;
  template <class T> T *data_ptr() const; void *data_ptr() const; template <class T> const T *const_data_ptr() const; template <class T> T *mutable_data_ptr() const; template <class T> T *data() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor32<T, N, P> packed_accessor32() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor64<T, N, P> packed_accessor64() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> PackedTensorAccessor<T, N, P, I> packed_accessor() const;
  template <class T, size_t N> TensorAccessor<T, N> accessor() const;
  template <class T> T item() const; Scalar item() const;
  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const; Tensor clone() const; Tensor detach() const; Tensor cuda() const; Tensor cpu() const; Tensor t() const; Tensor flatten(int64_t = 0, int64_t = -1) const;
  Tensor to(ScalarType) const; Tensor to(Device) const; Tensor to(DeviceType) const; Tensor to(TensorOptions) const; Tensor toType(ScalarType) const; Tensor type_as(const Tensor &) const;
  Tensor view(IntArrayRef) const; Tensor reshape(IntArrayRef) const; Tensor permute(IntArrayRef) const; Tensor expand(IntArrayRef) const; Tensor transpose(int64_t, int64_t) const; Tensor unsqueeze(int64_t) const; Tensor squeeze(int64_t) const; Tensor squeeze() const; Tensor select(int64_t, int64_t) const; Tensor slice(int64_t, int64_t = 0, int64_t = 0, int64_t = 1) const; Tensor index_select(int64_t, const Tensor &) const; Tensor expand_as(const Tensor &) const; Tensor view_as(const Tensor &) const;
  Tensor sum() const; Tensor sum(IntArrayRef, bool = false) const; Tensor mean() const; Tensor mean(IntArrayRef, bool = false) const; Tensor max() const; Tensor min() const; Tensor matmul(const Tensor &) const; Tensor mm(const Tensor &) const; Tensor bmm(const Tensor &) const; Tensor pow(Scalar) const; Tensor exp() const; Tensor sqrt() const; Tensor relu() const; Tensor sigmoid() const; Tensor tanh() const; Tensor softmax(int64_t) const; Tensor mul(const Tensor &) const; Tensor add(const Tensor &, Scalar = 1) const; Tensor sub(const Tensor &) const; Tensor div(const Tensor &) const; Tensor abs() const; Tensor neg() const;
  Tensor &zero_(); Tensor &fill_(Scalar); Tensor &copy_(const Tensor &); Tensor &add_(const Tensor &); Tensor &mul_(const Tensor &); Tensor &resize_(IntArrayRef);
  Tensor operator[](int64_t) const; Tensor operator-() const; Tensor &operator+=(const Tensor &);
};
Tensor operator+(const Tensor &, const Tensor &), operator-(const Tensor &, const Tensor &), operator*(const Tensor &, const Tensor &), operator/(const Tensor &, const Tensor &);
Tensor operator+(const Tensor &, Scalar), operator-(const Tensor &, Scalar), operator*(const Tensor &, Scalar), operator/(const Tensor &, Scalar), operator*(Scalar, const Tensor &), operator+(Scalar, const Tensor &);
#define WW_NEW(name) Tensor name(IntArrayRef, TensorOptions = {}); Tensor name##_like(const Tensor &, TensorOptions = {});
WW_NEW(empty) WW_NEW(zeros) WW_NEW(ones) WW_NEW(rand) WW_NEW(randn)
#undef WW_NEW
Tensor full(IntArrayRef, Scalar, TensorOptions = {}), arange(Scalar, TensorOptions = {}), full_like(const Tensor &, Scalar), empty_strided(IntArrayRef, IntArrayRef, TensorOptions = {});
Tensor matmul(const Tensor &, const Tensor &), mm(const Tensor &, const Tensor &), bmm(const Tensor &, const Tensor &), linear(const Tensor &, const Tensor &, const Tensor & = {}), addmm(const Tensor &, const Tensor &, const Tensor &);
Tensor relu(const Tensor &), sigmoid(const Tensor &), tanh(const Tensor &), gelu(const Tensor &), silu(const Tensor &), exp(const Tensor &), log(const Tensor &), sqrt(const Tensor &), rsqrt(const Tensor &), abs(const Tensor &), neg(const Tensor &), pow(const Tensor &, Scalar), softmax(const Tensor &, int64_t), log_softmax(const Tensor &, int64_t), sum(const Tensor &), sum(const Tensor &, IntArrayRef, bool = false), mean(const Tensor &), mean(const Tensor &, IntArrayRef, bool = false), cat(ArrayRef<Tensor>, int64_t = 0), stack(ArrayRef<Tensor>, int64_t = 0), transpose(const Tensor &, int64_t, int64_t), mul(const Tensor &, const Tensor &), add(const Tensor &, const Tensor &), sub(const Tensor &, const Tensor &), div(const Tensor &, const Tensor &), clamp(const Tensor &, Scalar, Scalar), where(const Tensor &, const Tensor &, const Tensor &), maximum(const Tensor &, const Tensor &), conv2d(const Tensor &, const Tensor &, const Tensor & = {}, IntArrayRef = {}, IntArrayRef = {}), layer_norm(const Tensor &, IntArrayRef, const Tensor & = {}, const Tensor & = {}, double = 1e-5);
namespace cuda { using namespace c10::cuda; struct OptionalCUDAGuard : c10::cuda::OptionalCUDAGuard { using c10::cuda::OptionalCUDAGuard::OptionalCUDAGuard; }; struct WwProperties : cudaDeviceProp {}; WwProperties *getCurrentDeviceProperties(), *getDeviceProperties(int); template <class T> WW_HD T ATenCeilDiv(T, T); }
template <class T> WW_HD T ceil_div(T, T);
template <class T, bool = true> struct AccumulateType { typedef float type; };
template <bool C> struct AccumulateType<double, C> { typedef double type; };
template <class T, bool C> using acc_type = typename AccumulateType<T, C>::type;
template <class T> struct OpMathType { typedef float type; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T> WW_D void gpuAtomicAdd(T *, T);
template <class T> WW_D void gpuAtomicAddNoReturn(T *, T);
}
using at::gpuAtomicAdd;
namespace torch {
using namespace at;
using at::Tensor; using at::TensorOptions; using at::kFloat; using at::kHalf; using at::kInt; using at::kLong; using at::kCUDA; using at::kFloat32; using at::Device; using at::ScalarType;
using at::PackedTensorAccessor32; using at::PackedTensorAccessor64; using at::RestrictPtrTraits;
struct NoGradGuard {}; struct Library { template <class... A> Library &def(A &&...); template <class... A> Library &impl(A &&...); };
namespace nn { namespace functional = ::at; }
namespace cuda { using namespace at::cuda; bool is_available(); }
namespace autograd { struct AutogradContext; typedef std::vector<Tensor> variable_list, tensor_list; template <class T> struct Function { template <class... A> static Tensor apply(A &&...); }; }
TensorOptions dtype(ScalarType), device(at::DeviceType);
}
namespace pybind11 { struct module_ { template <class... A> module_ &def(A &&...); const char *doc(); }; typedef module_ module; struct arg { arg(const char *); template <class T> arg &operator=(T); }; struct object {}; }
namespace py = pybind11;
#define TORCH_EXTENSION_NAME extension
#define PYBIND11_MODULE(name, variable) static void ww_module_##name(::pybind11::module_ &variable)
#define TORCH_LIBRARY(name, m) static void ww_library_##name(::torch::Library &m)
#define TORCH_LIBRARY_IMPL(name, key, m) static void ww_library_##name##_##key(::torch::Library &m)
#define TORCH_LIBRARY_FRAGMENT(name, m) static void ww_library_fragment_##name(::torch::Library &m)
#define TORCH_CHECK(...) ((void)0)
#define TORCH_CHECK_EQ(a, b) ((void)0)
#define TORCH_INTERNAL_ASSERT(...) ((void)0)
#define TORCH_WARN(...) ((void)0)
#define AT_ASSERTM(...) ((void)0)
#define AT_ASSERT(...) ((void)0)
#define AT_ERROR(...) ((void)0)
#define AT_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define TORCH_CUDA_CHECK(...) ((void)(__VA_ARGS__))
#define C10_LAUNCH_BOUNDS_1(n) __launch_bounds__(n)
#define C10_LAUNCH_BOUNDS_2(n, m) __launch_bounds__(n, m)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define AT_DISPATCH_WW(...) [&] { typedef float scalar_t; (void)sizeof(scalar_t); __VA_ARGS__(); }()
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(t1, type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(t1, t2, type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(t1, type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(t1, t2, type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(t1, t2, t3, type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(type, name, ...) [&] { typedef int index_t; __VA_ARGS__(); }()
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) AT_DISPATCH_WW(__VA_ARGS__)
