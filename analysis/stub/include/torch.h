// Built-in stand-ins of PyTorch's C++ API: at::, c10::, torch::, pybind11 and the extension macros.
// Kernels, their launches and the functions around them parse; nothing here computes.
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
template <class T> struct ArrayRef { ArrayRef(); template <class V> ArrayRef(const V &); template <size_t N> ArrayRef(const T (&)[N]); ArrayRef(std::initializer_list<T>); const T &operator[](size_t) const; size_t size() const; const T *begin() const; const T *end() const; std::vector<T> vec() const; T back() const; T front() const; bool empty() const; ArrayRef slice(size_t) const; ArrayRef slice(size_t, size_t) const; bool equals(ArrayRef) const; };
template <class T> bool operator==(ArrayRef<T>, ArrayRef<T>); template <class T> bool operator!=(ArrayRef<T>, ArrayRef<T>);
typedef ArrayRef<int64_t> IntArrayRef;
template <class T> using optional = std::optional<T>;
using std::nullopt_t;
using std::nullopt;
template <class T, class... A> std::string str(A &&...);
struct Error : std::exception {};
bool ww_check(bool);
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
// ATen's operators by name. Arguments convert to Any, so one declaration covers all overloads with one
// tensor as the result. A runner's trace tells what the operators compute.
struct Any { Any(); template <class T> Any(const T &); Any(std::initializer_list<Any>); };
#define WW_ARGUMENTS Any = {}, Any = {}, Any = {}, Any = {}, Any = {}, Any = {}, Any = {}, Any = {}, Any = {}, Any = {}
#define WW_OPERATORS(X) \
  X(abs) X(absolute) X(acos) X(adaptive_avg_pool1d) X(adaptive_avg_pool2d) X(adaptive_avg_pool3d) X(add) X(addbmm) X(addcdiv) X(addcmul) \
  X(addmm) X(addmv) X(addr) X(alias) X(all) X(alpha_dropout) X(amax) X(amin) X(any) X(arctan) X(argmax) X(argmin) X(argsort) X(as_strided) \
  X(asin) X(atan) X(atan2) X(avg_pool1d) X(avg_pool2d) X(avg_pool3d) X(baddbmm) X(batch_norm) X(binary_cross_entropy) \
  X(binary_cross_entropy_with_logits) X(bitwise_and) X(bitwise_not) X(bitwise_or) X(bitwise_xor) X(bmm) X(broadcast_to) X(cat) X(cdist) \
  X(ceil) X(celu) X(clamp) X(clamp_max) X(clamp_min) X(clip) X(clone) X(concat) X(constant_pad_nd) X(contiguous) X(conv1d) X(conv2d) X(conv3d) \
  X(conv_transpose1d) X(conv_transpose2d) X(conv_transpose3d) X(convolution) X(copy) X(cos) X(cosh) X(cosine_similarity) X(cpu) \
  X(cross_entropy) X(cross_entropy_loss) X(cumprod) X(cumsum) X(detach) X(diag) X(diag_embed) X(diagonal) X(div) X(divide) X(dot) \
  X(dropout) X(einsum) X(elu) X(embedding) X(eq) X(erf) X(erfc) X(exp) X(exp2) X(expand) X(expand_as) X(expm1) X(fill) X(flatten) X(flip) \
  X(floor) X(floor_divide) X(fmod) X(frac) X(gather) X(ge) X(gelu) X(glu) X(greater) X(greater_equal) X(group_norm) X(gt) X(hardshrink) \
  X(hardsigmoid) X(hardswish) X(hardtanh) X(huber_loss) X(index_add) X(index_copy) X(index_select) X(instance_norm) X(interpolate) X(isfinite) \
  X(isinf) X(isnan) X(item) X(kl_div) X(l1_loss) X(layer_norm) X(le) X(leaky_relu) X(lerp) X(less) X(less_equal) X(linalg_norm) \
  X(linalg_vector_norm) X(linear) X(log) X(log10) X(log1p) X(log2) X(log_sigmoid) X(log_softmax) X(logical_and) X(logical_not) X(logical_or) \
  X(logical_xor) X(logsigmoid) X(logsumexp) X(lt) X(masked_fill) X(masked_select) X(matmul) X(max_pool1d) X(max_pool2d) X(max_pool3d) X(maximum) X(mean) \
  X(minimum) X(mish) X(mm) X(movedim) X(mse_loss) X(mul) X(multiply) X(mv) X(nan_to_num) X(narrow) X(ne) X(neg) X(negative) X(new_empty) \
  X(new_full) X(new_ones) X(new_zeros) X(nll_loss) X(nonzero) X(norm) X(normalize) X(normal) X(not_equal) X(one_hot) X(outer) X(pad) X(pairwise_distance) \
  X(permute) X(pixel_shuffle) X(pixel_unshuffle) X(pow) X(prelu) X(prod) X(reciprocal) X(relu) X(relu6) X(remainder) X(repeat) \
  X(repeat_interleave) X(reshape) X(reshape_as) X(roll) X(round) X(rrelu) X(rsqrt) X(rsub) X(scaled_dot_product_attention) X(scatter) \
  X(scatter_add) X(select) X(selu) X(sgn) X(sigmoid) X(sign) X(silu) X(sin) X(sinh) X(slice) X(smooth_l1_loss) X(softmax) X(softmin) \
  X(softplus) X(softshrink) X(softsign) X(sqrt) X(square) X(squeeze) X(stack) X(std) X(sub) X(subtract) X(sum) X(swapaxes) X(swapdims) X(t) \
  X(take) X(tan) X(tanh) X(tanhshrink) X(threshold) X(tile) X(to) X(toType) X(transpose) X(tril) X(triu) X(true_divide) X(trunc) X(type_as) \
  X(unflatten) X(unfold) X(unsqueeze) X(upsample_nearest1d) X(upsample_nearest2d) X(upsample_nearest3d) X(upsample_bilinear2d) X(var) \
  X(view) X(view_as) X(where) X(xlogy) X(zero) X(index) X(index_put) X(uniform) X(bernoulli) X(rms_norm) \
  X(bincount) X(argwhere) X(combinations) X(is_nonzero)
#define WW_PAIRS(X) X(_unique) X(sort) X(topk) X(var_mean) X(std_mean) X(aminmax) X(max_pool2d_with_indices) X(cummax) X(cummin)
#define WW_SEVERAL(X) X(split) X(split_with_sizes) X(chunk) X(unbind) X(tensor_split)
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
  template <class T> T item() const;
#define X(name) Tensor name(WW_ARGUMENTS) const; Tensor &name##_(WW_ARGUMENTS) const;
  WW_OPERATORS(X)
#undef X
#define X(name) std::tuple<Tensor, Tensor> name(WW_ARGUMENTS) const;
  WW_PAIRS(X)
#undef X
#define X(name) std::vector<Tensor> name(WW_ARGUMENTS) const;
  WW_SEVERAL(X)
#undef X
  Tensor max() const; Tensor min() const; Tensor max(const Tensor &) const; Tensor min(const Tensor &) const;
  std::tuple<Tensor, Tensor> max(int64_t, bool = false) const; std::tuple<Tensor, Tensor> min(int64_t, bool = false) const;
  Tensor &resize_(IntArrayRef) const; Tensor &requires_grad_(bool = true) const; Tensor mT() const; bool is_same(const Tensor &) const; bool is_same_size(const Tensor &) const; bool equal(const Tensor &) const; bool is_sparse() const; bool is_complex() const; bool is_non_overlapping_and_dense() const;
  Tensor half() const; Tensor cuda(WW_ARGUMENTS) const;
  Tensor operator[](int64_t) const; Tensor operator[](const Tensor &) const; Tensor operator-() const; Tensor operator~() const; Tensor operator!() const;
#define X(sign) Tensor &operator sign(const Tensor &) const; Tensor &operator sign(Scalar) const;
  X(+=) X(-=) X(*=) X(/=) X(&=) X(|=)
#undef X
};
#define X(sign) Tensor operator sign(const Tensor &, const Tensor &); Tensor operator sign(const Tensor &, Scalar); Tensor operator sign(Scalar, const Tensor &);
X(+) X(-) X(*) X(/) X(%) X(==) X(!=) X(<) X(<=) X(>) X(>=) X(&) X(|) X(^)
#undef X
#define WW_NEW(name) Tensor name(IntArrayRef, TensorOptions = {}); Tensor name##_like(const Tensor &, TensorOptions = {});
WW_NEW(empty) WW_NEW(zeros) WW_NEW(ones) WW_NEW(rand) WW_NEW(randn)
#undef WW_NEW
Tensor full(IntArrayRef, Scalar, TensorOptions = {}), arange(Scalar, TensorOptions = {}), arange(Scalar, Scalar, TensorOptions = {}), arange(Scalar, Scalar, Scalar, TensorOptions = {}), eye(int64_t, TensorOptions = {}), full_like(const Tensor &, Scalar, TensorOptions = {}), empty_strided(IntArrayRef, IntArrayRef, TensorOptions = {}), tensor(Any, TensorOptions = {}), scalar_tensor(Scalar, TensorOptions = {}), linspace(Scalar, Scalar, int64_t, TensorOptions = {}), randint(int64_t, IntArrayRef, TensorOptions = {}), randperm(int64_t, TensorOptions = {});
#define X(name) Tensor name(WW_ARGUMENTS); Tensor name##_(WW_ARGUMENTS);
WW_OPERATORS(X)
#undef X
#define X(name) std::tuple<Tensor, Tensor> name(WW_ARGUMENTS);
WW_PAIRS(X)
#undef X
#define X(name) std::vector<Tensor> name(WW_ARGUMENTS);
WW_SEVERAL(X)
#undef X
std::tuple<Tensor, Tensor, Tensor> _unique2(WW_ARGUMENTS), unique_consecutive(WW_ARGUMENTS), unique_dim(WW_ARGUMENTS), unique_dim_consecutive(WW_ARGUMENTS);
#define X(name) Tensor &name##_out(Tensor &, WW_ARGUMENTS);
X(mm) X(matmul) X(add) X(sub) X(mul) X(div) X(bmm) X(addmm) X(sum) X(mean) X(relu) X(sigmoid) X(tanh) X(exp) X(softmax) X(log_softmax) X(cat)
#undef X
Tensor max(const Tensor &), min(const Tensor &), max(const Tensor &, const Tensor &), min(const Tensor &, const Tensor &);
std::tuple<Tensor, Tensor> max(const Tensor &, int64_t, bool = false), min(const Tensor &, int64_t, bool = false);
bool equal(const Tensor &, const Tensor &), allclose(const Tensor &, const Tensor &, double = 0, double = 0);
typedef ArrayRef<Tensor> TensorList;
namespace indexing { struct None_ {}; struct Ellipsis_ {}; constexpr None_ None{}; constexpr Ellipsis_ Ellipsis{}; struct Slice { Slice(Any = {}, Any = {}, Any = {}); }; }
// Options of torch::nn::functional and of modules: the setters accept any arguments.
struct WwOptions {
  WwOptions(); template <class... A> explicit WwOptions(const A &...); WwOptions(std::initializer_list<Any>);
#define X(name) WwOptions &name(WW_ARGUMENTS);
  X(affine) X(align_corners) X(alpha) X(approximate) X(beta) X(bias) X(ceil_mode) X(count_include_pad) X(delta) X(dilation) X(dim) X(divisor_override) X(dtype)
  X(elementwise_affine) X(end_dim) X(eps) X(groups) X(ignore_index) X(in_channels) X(inplace) X(kernel_size) X(label_smoothing) X(lambda) X(log_target) X(lower) X(margin) X(max_val) X(min_val) X(mode)
  X(momentum) X(negative_slope) X(num_classes) X(num_groups) X(num_parameters) X(normalized_shape) X(out_channels) X(output_padding) X(output_size) X(p) X(pad) X(padding) X(padding_idx)
  X(padding_mode) X(pos_weight) X(reduction) X(return_indices) X(running_mean) X(running_var) X(scale_factor) X(size) X(size_average) X(start_dim) X(stride) X(threshold)
  X(track_running_stats) X(training) X(transposed) X(upper) X(upscale_factor) X(value) X(weight) X(num_embeddings) X(embedding_dim) X(num_features) X(num_channels) X(in_features) X(out_features) X(num_layers) X(hidden_size) X(input_size) X(batch_first) X(bidirectional) X(dropout) X(nonlinearity) X(keepdim) X(full) X(max_norm) X(norm_type) X(sparse) X(num_heads) X(embed_dim) X(upper_bound)
#undef X
};
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
enum WwReduction { kMean, kSum, kNone, kBatchMean }; enum WwMode { kNearest, kBilinear, kLinear, kBicubic, kTrilinear, kArea, kConstant, kReflect, kReplicate, kCircular, kZeros, kSame, kValid };
namespace nn {
namespace functional {
using namespace ::at;
#define X(name) typedef WwOptions name##FuncOptions;
X(Softmax) X(LogSoftmax) X(Softmin) X(GELU) X(ELU) X(CELU) X(SELU) X(LeakyReLU) X(ReLU) X(ReLU6) X(Hardtanh) X(Softplus) X(Softshrink) X(Hardshrink) X(Threshold) X(GLU) X(RReLU) X(Dropout) X(Conv1d) X(Conv2d) X(Conv3d) X(ConvTranspose1d) X(ConvTranspose2d) X(ConvTranspose3d)
X(MaxPool1d) X(MaxPool2d) X(MaxPool3d) X(AvgPool1d) X(AvgPool2d) X(AvgPool3d) X(AdaptiveAvgPool1d) X(AdaptiveAvgPool2d) X(AdaptiveAvgPool3d) X(LayerNorm) X(GroupNorm) X(BatchNorm) X(InstanceNorm) X(Normalize) X(Pad) X(Interpolate) X(MSELoss) X(L1Loss) X(SmoothL1Loss) X(HuberLoss) X(CrossEntropy) X(NLLLoss) X(KLDiv) X(BinaryCrossEntropy) X(BinaryCrossEntropyWithLogits) X(CosineSimilarity) X(PairwiseDistance) X(PixelShuffle) X(OneHot) X(Embedding)
#undef X
}
}
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
#define TORCH_CHECK(condition, ...) ((void)::c10::ww_check(static_cast<bool>(condition)))
#define TORCH_CHECK_EQ(a, b) ((void)::c10::ww_check((a) == (b)))
#define TORCH_CHECK_NE(a, b) ((void)::c10::ww_check((a) != (b)))
#define TORCH_CHECK_LT(a, b) ((void)::c10::ww_check((a) < (b)))
#define TORCH_CHECK_LE(a, b) ((void)::c10::ww_check((a) <= (b)))
#define TORCH_CHECK_GT(a, b) ((void)::c10::ww_check((a) > (b)))
#define TORCH_CHECK_GE(a, b) ((void)::c10::ww_check((a) >= (b)))
#define TORCH_INTERNAL_ASSERT(condition, ...) ((void)::c10::ww_check(static_cast<bool>(condition)))
#define TORCH_WARN(...) ((void)0)
#define AT_ASSERTM(condition, ...) ((void)::c10::ww_check(static_cast<bool>(condition)))
#define AT_ASSERT(condition) ((void)::c10::ww_check(static_cast<bool>(condition)))
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
