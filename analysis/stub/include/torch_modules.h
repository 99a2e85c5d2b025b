// Built-in stand-ins of torch::nn's modules, only for files that mention modules: they take as long to
// parse as torch.h. A runner's trace tells what the library's modules hold and compute.
#pragma once
#ifdef WW_ARGUMENTS // defined in torch.h, which files about other modules may not include
namespace torch {
namespace nn {
struct Module; template <class T> class ModuleHolder;
template <class T> struct OrderedDict { size_t size() const; T &operator[](const std::string &) const; T &operator[](size_t) const; bool contains(const std::string &) const; struct Item { const std::string &key() const; T &value() const; T &operator*() const; T *operator->() const; }; Item *begin() const; Item *end() const; std::vector<T> values() const; std::vector<std::string> keys() const; };
struct Module : std::enable_shared_from_this<Module> {
  Module(); explicit Module(std::string); virtual ~Module();
  template <class T> std::shared_ptr<T> register_module(std::string, std::shared_ptr<T>); template <class T> std::shared_ptr<T> register_module(std::string, ModuleHolder<T>);
  template <class T> std::shared_ptr<T> replace_module(const std::string &, std::shared_ptr<T>); void unregister_module(const std::string &);
  Tensor &register_parameter(std::string, Tensor, bool = true); Tensor &register_buffer(std::string, Tensor);
  bool is_training() const noexcept; virtual void train(bool = true); void eval(); const std::string &name() const noexcept;
  std::vector<Tensor> parameters(bool = true) const, buffers(bool = true) const; OrderedDict<Tensor> named_parameters(bool = true) const, named_buffers(bool = true) const;
  std::vector<std::shared_ptr<Module>> children() const, modules(bool = true) const; OrderedDict<std::shared_ptr<Module>> named_children() const, named_modules(const std::string & = {}, bool = true) const;
  void to(WW_ARGUMENTS); void zero_grad(bool = true); virtual void pretty_print(std::ostream &) const; template <class F> void apply(const F &); template <class A> void save(A &) const; template <class A> void load(A &);
  typedef void WwIsModule; template <class T, class = typename T::WwIsModule> T *as() const noexcept; template <class T, class C = typename T::ContainedType, int = 0> C *as() const noexcept;
};
template <class T> struct Cloneable : Module { using Module::Module; virtual void reset() = 0; };
template <class T> class ModuleHolder {
public:
  using ContainedType = T;
  ModuleHolder(); ModuleHolder(std::nullptr_t); ModuleHolder(std::shared_ptr<T>); template <class H, class... A> explicit ModuleHolder(const H &, const A &...);
  T *operator->() const; T &operator*() const; const std::shared_ptr<T> &ptr() const; T *get() const; bool is_empty() const noexcept; explicit operator bool() const noexcept;
  template <class... A, class M = T> auto operator()(const A &...a) const -> decltype(std::declval<M &>().forward(a...));
};
#define TORCH_MODULE_IMPL(Name, ImplType) class Name : public torch::nn::ModuleHolder<ImplType> { public: using torch::nn::ModuleHolder<ImplType>::ModuleHolder; using Impl = ImplType; Name(); }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
// Modules of the library whose forward returns one tensor.
#define WW_MODULE(name) \
  struct name##Impl : Module { template <class... A> explicit name##Impl(const A &...); Tensor forward(WW_ARGUMENTS); Tensor operator()(WW_ARGUMENTS); void reset(); void reset_parameters(); Tensor weight, bias, running_mean, running_var, num_batches_tracked; WwOptions options; }; \
  typedef WwOptions name##Options; TORCH_MODULE(name);
#define X(name) WW_MODULE(name)
X(Linear) X(Bilinear) X(Conv1d) X(Conv2d) X(Conv3d) X(ConvTranspose1d) X(ConvTranspose2d) X(ConvTranspose3d) X(BatchNorm1d) X(BatchNorm2d) X(BatchNorm3d) X(InstanceNorm1d) X(InstanceNorm2d) X(InstanceNorm3d) X(LayerNorm) X(GroupNorm) X(LocalResponseNorm) X(Embedding) X(EmbeddingBag)
X(Dropout) X(Dropout2d) X(Dropout3d) X(AlphaDropout) X(FeatureAlphaDropout) X(Identity) X(Flatten) X(Unflatten) X(ReLU) X(ReLU6) X(LeakyReLU) X(PReLU) X(RReLU) X(ELU) X(CELU) X(SELU) X(GLU) X(GELU) X(SiLU) X(Mish) X(Sigmoid) X(Tanh) X(Softplus) X(Softshrink) X(Softsign) X(Hardshrink) X(Hardtanh) X(Tanhshrink) X(Threshold) X(LogSigmoid) X(Softmax) X(Softmin) X(LogSoftmax) X(Softmax2d)
X(MaxPool1d) X(MaxPool2d) X(MaxPool3d) X(AvgPool1d) X(AvgPool2d) X(AvgPool3d) X(AdaptiveAvgPool1d) X(AdaptiveAvgPool2d) X(AdaptiveAvgPool3d) X(AdaptiveMaxPool1d) X(AdaptiveMaxPool2d) X(AdaptiveMaxPool3d) X(PixelShuffle) X(PixelUnshuffle) X(Upsample) X(ReflectionPad1d) X(ReflectionPad2d) X(ReplicationPad1d) X(ReplicationPad2d) X(ConstantPad1d) X(ConstantPad2d) X(ConstantPad3d) X(ZeroPad2d)
X(CosineSimilarity) X(PairwiseDistance) X(MSELoss) X(L1Loss) X(SmoothL1Loss) X(HuberLoss) X(CrossEntropyLoss) X(NLLLoss) X(KLDivLoss) X(BCELoss) X(BCEWithLogitsLoss)
#undef X
// Modules of the library whose forward returns several results.
#define X(name, result) struct name##Impl : Module { template <class... A> explicit name##Impl(const A &...); result forward(WW_ARGUMENTS); void flatten_parameters(); }; typedef WwOptions name##Options; TORCH_MODULE(name);
typedef std::tuple<Tensor, Tensor> WwPair; typedef std::tuple<Tensor, std::tuple<Tensor, Tensor>> WwStates;
X(RNN, WwPair) X(GRU, WwPair) X(LSTM, WwStates) X(RNNCell, Tensor) X(GRUCell, Tensor) X(LSTMCell, WwPair) X(MultiheadAttention, WwPair) X(Functional, Tensor)
#undef X
struct AnyModule { AnyModule(); template <class M> AnyModule(const M &); Tensor forward(WW_ARGUMENTS); template <class T> T &get() const; std::shared_ptr<Module> ptr() const; };
struct NamedAnyModule { template <class M> NamedAnyModule(std::string, const M &); };
struct SequentialImpl : Module {
  SequentialImpl(); SequentialImpl(std::initializer_list<NamedAnyModule>); template <class... A> explicit SequentialImpl(const A &...);
  Tensor forward(WW_ARGUMENTS); template <class M> void push_back(const M &); template <class M> void push_back(std::string, const M &); template <class C> void extend(const C &); size_t size() const; bool is_empty() const;
  template <class T> T &at(size_t) const; std::shared_ptr<Module> ptr(size_t) const; template <class T> std::shared_ptr<T> ptr(size_t) const; std::shared_ptr<Module> operator[](size_t) const; AnyModule *begin(); AnyModule *end();
};
class Sequential : public ModuleHolder<SequentialImpl> { public: using ModuleHolder<SequentialImpl>::ModuleHolder; Sequential(); Sequential(std::initializer_list<NamedAnyModule>); };
struct ModuleListImpl : Module {
  ModuleListImpl(); template <class... A> explicit ModuleListImpl(const A &...); template <class M> void push_back(const M &); template <class C> void extend(const C &); size_t size() const; bool is_empty() const;
  template <class T> T &at(size_t) const; std::shared_ptr<Module> ptr(size_t) const; template <class T> std::shared_ptr<T> ptr(size_t) const; std::shared_ptr<Module> operator[](size_t) const; std::shared_ptr<Module> *begin() const; std::shared_ptr<Module> *end() const;
};
TORCH_MODULE(ModuleList);
namespace init {
using namespace ::at;
#define X(name) Tensor name(Tensor, WW_ARGUMENTS);
X(constant_) X(dirac_) X(eye_) X(kaiming_normal_) X(kaiming_uniform_) X(normal_) X(ones_) X(orthogonal_) X(sparse_) X(uniform_) X(xavier_normal_) X(xavier_uniform_) X(zeros_)
#undef X
}
}
}
#endif
