// A callable plan: it checks that everything is as verified, allocates memory, and starts kernels
// and operators in order. Thread: any that holds the GIL.
#pragma once

#include "guards.h"
#include "operation.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <deque>
#include <map>

namespace warpwright {

/// Function that starts a group of kernels.
/// @param addresses one per place, then the stream @return a CUresult
using Start = int32_t (*)(int64_t executor, int64_t group, const uint64_t *addresses);

struct Step {
  int64_t group = -1; ///< number of the executor's group; -1: an operator
  size_t operation = 0;
};

class Plan {
public:
  explicit Plan(PyObject *description)
      : name_(text(field(description, "name"))), names_(texts(field(description, "names"))),
        prepare_(shared(field(description, "prepare"))),
        stream_(shared(field(description, "stream"))), inputs_(field(description, "inputs")),
        arguments_(tensors_of(field(description, "arguments"))),
        outputs_(tensors_of(field(description, "outputs"))),
        flats_(tensors_of(field(description, "flats"))),
        flat_places_(integers(field(description, "flat_places"))),
        offsets_(integers(field(description, "workspace_offsets"))),
        offset_places_(integers(field(description, "workspace_places"))),
        workspace_bytes_(integer(field(description, "workspace_bytes"))),
        places_(static_cast<size_t>(integer(field(description, "places")))),
        made_(integers(field(description, "made"))),
        returned_(integers(field(description, "returned"))),
        results_as_(tensors_of(field(description, "results"))),
        device_(reinterpret_cast<THPDevice *>(field(description, "device"))->device.type()),
        start_(reinterpret_cast<Start>(integer(field(description, "start")))) {
    PyObject *guards = field(description, "guards"), *state = field(description, "state");
    for (Py_ssize_t i = 0; i < length(guards); ++i)
      guards_.emplace_back(item(guards, i).get(), state);
    PyObject *steps = field(description, "steps");
    for (Py_ssize_t i = 0; i < length(steps); ++i) {
      const Object step = item(steps, i);
      if (PyLong_Check(step.get())) {
        steps_.push_back({integer(step.get()), 0});
      } else {
        steps_.push_back({-1, operations_.size()});
        results_ += operations_.emplace_back(step.get()).results.size();
      }
    }
  }

  /// Calls the plan. @param values the module, then its inputs
  /// @return the outputs or NotImplemented
  PyObject *call(PyObject *const *values, Py_ssize_t count) {
    Given given;
    std::string why;
    if (count < 1 || !is_plain_context(why) || !take(values, count, given, why))
      return refuse(why);
    Held tensors;
    for (PyObject *value : given)
      tensors.push_back(&THPVariable_Unpack(value));
    std::vector<at::Tensor> outputs;
    if (!run_on(tensors, outputs, why))
      return refuse(why);
    if (outputs.size() == 1)
      return THPVariable_Wrap(std::move(outputs[0]));
    Object all = owned(PyTuple_New(static_cast<Py_ssize_t>(outputs.size())));
    for (size_t i = 0; i < outputs.size(); ++i)
      PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), THPVariable_Wrap(std::move(outputs[i])));
    return all.release();
  }

  /// Calls the plan without a module, for an operator of a graph.
  /// @return false if something is not as verified, which is counted and reported
  bool call_region(at::TensorList inputs, std::vector<at::Tensor> &outputs) {
    std::string why;
    Held tensors;
    for (const at::Tensor &input : inputs)
      tensors.push_back(&input);
    const char *flags = guards_.empty() ? nullptr : guards_[0].other_flags();
    if (is_plain_context(why) && !flags && run_on(tensors, outputs, why))
      return true;
    Py_DECREF(refuse(flags ? flags : why));
    return false;
  }

  /// (number of calls that ran the kernels, {reason: number of other calls})
  PyObject *counts() const {
    const Object fallbacks = owned(PyDict_New());
    for (const auto &[why, count] : fallbacks_) {
      const Object number = owned(PyLong_FromUnsignedLongLong(count));
      if (PyDict_SetItemString(fallbacks.get(), why.c_str(), number.get()) != 0)
        throw PythonError();
    }
    return Py_BuildValue("(KO)", static_cast<unsigned long long>(ran_), fallbacks.get());
  }

private:
  /// Counts a call that the user's own forward answers, and warns the first time for each reason.
  /// @return NotImplemented
  PyObject *refuse(const std::string &why) {
    if (++fallbacks_[why] == 1) {
      const std::string message = name_ + ": the verified kernels are not used, its own forward runs: " +
                                  why + " (said once, later calls are counted)";
      if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) != 0)
        throw PythonError();
    }
    Py_RETURN_NOTIMPLEMENTED;
  }

  /// Whether autocast is off and no mode is active that intercepts operators (fake tensors, vmap,
  /// tracing). Autocast and such modes would not see the plan's operators.
  static bool is_plain_context(std::string &why) {
    const auto keys = c10::impl::tls_local_dispatch_key_set();
    if (!keys.excluded_.has(c10::DispatchKey::AutocastCUDA))
      why = "autocast is on";
    else if (!is_within(keys.included_, c10::default_included_set))
      why = "a mode is active that sees operators";
    return why.empty();
  }
  static bool is_within(c10::DispatchKeySet keys, c10::DispatchKeySet all) {
    return (keys.raw_repr() & ~all.raw_repr()) == 0;
  }

  bool take(PyObject *const *values, Py_ssize_t count, Given &given, std::string &why) {
    if (!inputs_.take_all(values + 1, count - 1, given, why))
      return false;
    if (!guards_.empty() && !is_guarded(values[0], given, why))
      return false;
    for (size_t i = 0; i < given.size(); ++i)
      if (!THPVariable_CheckExact(given[i])) {
        why = name_of(i) + " is not a plain tensor";
        return false;
      }
    return true;
  }

  /// Whether one of the plan's guards holds. In `why`, other reasons take precedence over the
  /// training mode, because they are more informative.
  bool is_guarded(PyObject *module, Given &given, std::string &why) {
    for (size_t i = 0; i < guards_.size(); ++i) {
      std::string other;
      const size_t index = (last_guards_ + i) % guards_.size();
      if (guards_[index].hold(module, given, other)) {
        last_guards_ = index;
        return true;
      }
      if (why.empty() || why.find("training mode") != std::string::npos)
        why = other;
    }
    return false;
  }

  std::string name_of(size_t argument) const {
    return argument < names_.size() ? names_[argument] : "a tensor";
  }

  bool run_on(const Held &given, std::vector<at::Tensor> &outputs, std::string &why) {
    Held held(places_, nullptr);
    c10::SmallVector<uint64_t, 32> addresses(places_ + 1, 0);
    const c10::Device device = given.empty() ? c10::Device(device_, 0) : given[0]->device();
    if (!fit(given, device, held, addresses, why))
      return false;
    const c10::OptionalDeviceGuard guard(device);
    const int64_t executor = executor_of(device, why);
    if (executor == kNotHere)
      return false;
    const at::AutoDispatchBelowADInplaceOrView below;
    run(device, executor, held, addresses, outputs);
    ++ran_;
    return true;
  }

  bool fit(const Held &given, c10::Device device, Held &held,
           c10::SmallVectorImpl<uint64_t> &addresses, std::string &why) {
    if (given.size() != arguments_.size() || device.type() != device_) {
      why = "its tensors are on no GPU";
      return false;
    }
    const bool records = c10::GradMode::is_enabled();
    for (size_t i = 0; i < given.size(); ++i) {
      const at::Tensor &tensor = *given[i];
      if (const char *other = misfit(tensor, arguments_[i], device, records)) {
        why = name_of(i) + " " + other;
        return false;
      }
      held[i] = &tensor;
      addresses[i] = reinterpret_cast<uint64_t>(tensor.data_ptr());
      if (addresses[i] % kAlignment != 0) {
        why = name_of(i) + " begins at an address that is not a multiple of 16";
        return false;
      }
    }
    return true;
  }

  const char *misfit(const at::Tensor &tensor, const Tensor &wanted, c10::Device device,
                     bool records) {
    if (!tensor.defined() || tensor.layout() != c10::kStrided || !is_plain(tensor))
      return "is not a plain tensor";
    if (tensor.device() != device)
      return "is on another device";
    if (tensor.scalar_type() != wanted.dtype)
      return "has another dtype";
    if (tensor.sizes() != wanted.shape)
      return "has another shape";
    if (!tensor.is_contiguous())
      return "is not contiguous";
    if (records && tensor.requires_grad())
      return "needs a gradient";
    return nullptr;
  }

  /// Whether a tensor has only dispatch keys of a new tensor of this device. That excludes
  /// conjugates, functorch wrappers, fake tensors and Python tensors.
  bool is_plain(const at::Tensor &tensor) {
    if (plain_.empty())
      plain_ = at::empty({1}, tensor.options().requires_grad(false)).key_set() | tensor_keys();
    return is_within(tensor.key_set(), plain_);
  }
  static c10::DispatchKeySet tensor_keys() {
    return c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView) | c10::autograd_dispatch_keyset;
  }

  void run(c10::Device device, int64_t executor, Held &held,
           c10::SmallVectorImpl<uint64_t> &addresses, std::vector<at::Tensor> &outputs) {
    c10::SmallVector<at::Tensor, 16>
        own; // must not grow beyond the reserved size, because `held` points into it
    own.reserve(places_ + 1 + results_);
    const auto options = at::TensorOptions().device(device);
    const auto keep = [&](size_t place, at::Tensor tensor) {
      own.push_back(std::move(tensor));
      held[place] = &own.back();
      addresses[place] = reinterpret_cast<uint64_t>(own.back().data_ptr());
    };
    for (size_t i = 0; i < made_.size(); ++i)
      keep(static_cast<size_t>(made_[i]),
           at::empty(outputs_[i].shape, options.dtype(outputs_[i].dtype)));
    for (size_t i = 0; i < flats_.size(); ++i)
      keep(static_cast<size_t>(flat_places_[i]),
           at::empty(flats_[i].shape, options.dtype(flats_[i].dtype)));
    if (workspace_bytes_ > 0) {
      own.push_back(at::empty({workspace_bytes_}, options.dtype(at::kByte)));
      const auto base = reinterpret_cast<uint64_t>(own.back().data_ptr());
      for (size_t i = 0; i < offsets_.size(); ++i)
        addresses[static_cast<size_t>(offset_places_[i])] =
            base + static_cast<uint64_t>(offsets_[i]);
    }
    addresses[places_] = stream_of(device);
    for (const Step &step : steps_)
      if (step.group < 0)
        run_operation(operations_[step.operation], held, keep);
      else if (const int32_t status = start_(executor, step.group, addresses.data()))
        throw std::runtime_error("launching the plan's kernels: CUDA error " +
                                 std::to_string(status));
    for (size_t i = 0; i < returned_.size(); ++i)
      outputs.push_back(returned(i, held));
  }

  /// Output `i`. An operator may have made it with another shape of the same memory layout.
  at::Tensor returned(size_t i, const Held &held) const {
    const at::Tensor &tensor = *held[static_cast<size_t>(returned_[i])];
    const std::vector<int64_t> &shape = results_as_[i].shape;
    if (tensor.sizes() == shape && tensor.is_contiguous())
      return tensor;
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * std::max<int64_t>(shape[d], 1);
    return at::as_strided(tensor, shape, strides, tensor.storage_offset());
  }

  template <class Keep>
  void run_operation(const Operation &operation, const Held &held, const Keep &keep) const {
    std::vector<at::Tensor> results = operation.run(held);
    for (size_t i = 0; i < operation.results.size(); ++i) {
      if (const int64_t place = operation.copies[i]; place >= 0)
        held[static_cast<size_t>(place)]->copy_(
            results[i].reshape(arguments_[static_cast<size_t>(place)].shape));
      if (operation.results[i] >= 0)
        keep(static_cast<size_t>(operation.results[i]), std::move(results[i]));
    }
  }

  /// The executor of a device; the first call loads the kernels there. kNotHere if they cannot run
  /// on the device; `why` is then the reason.
  int64_t executor_of(c10::Device device, std::string &why) {
    const size_t index = device.has_index() ? static_cast<size_t>(device.index()) : 0;
    if (executors_.size() <= index) {
      executors_.resize(index + 1, 0);
      not_here_.resize(index + 1);
    }
    if (executors_[index] == 0) {
      const Object number = owned(PyLong_FromSize_t(index));
      const Object made =
          owned(PyObject_CallFunctionObjArgs(prepare_.get(), number.get(), nullptr));
      const bool is_refused = PyUnicode_Check(made.get());
      executors_[index] = is_refused ? kNotHere : integer(made.get());
      if (is_refused)
        not_here_[index] = text(made.get());
    }
    if (executors_[index] == kNotHere)
      why = not_here_[index];
    return executors_[index];
  }

  /// torch's current stream on the device, as the driver's handle.
  uint64_t stream_of(c10::Device device) const {
    if (stream_.get() == Py_None)
      return 0;
    const Object number = owned(PyLong_FromLong(device.has_index() ? device.index() : 0));
    return static_cast<uint64_t>(
        integer(owned(PyObject_CallFunctionObjArgs(stream_.get(), number.get(), nullptr)).get()));
  }

  class Inputs {
  public:
    explicit Inputs(PyObject *description) {
      for (Py_ssize_t i = 0; i < length(description); ++i)
        patterns_.emplace_back(item(description, i).get());
    }
    bool take_all(PyObject *const *values, Py_ssize_t count, Given &given,
                  std::string &why) const {
      if (count != static_cast<Py_ssize_t>(patterns_.size())) {
        why = "it is given another number of inputs";
        return false;
      }
      for (Py_ssize_t i = 0; i < count; ++i)
        if (!patterns_[static_cast<size_t>(i)].take(values[i], given)) {
          why = "another value of input " + std::to_string(i + 1);
          return false;
        }
      return true;
    }

  private:
    std::vector<Pattern> patterns_;
  };

  static constexpr int64_t kNotHere = -1;
  static constexpr uint64_t kAlignment = 16; ///< in bytes; the kernels' vector loads need it

  const std::string name_;                ///< name of the user's class
  const std::vector<std::string> names_; ///< names of the arguments
  Object prepare_, stream_;
  Inputs inputs_;
  std::deque<Guards> guards_; ///< one per verified state of the module; empty: no checks
  size_t last_guards_ = 0;    ///< index of the last guards that held
  std::vector<Tensor> arguments_, outputs_, flats_;
  std::vector<int64_t> flat_places_, offsets_, offset_places_;
  int64_t workspace_bytes_ = 0;
  size_t places_ = 0, results_ = 0;
  std::vector<int64_t> made_,
      returned_; ///< places of outputs that at::empty makes, and of all outputs in order
  std::vector<Tensor> results_as_; ///< dtypes and shapes of all outputs
  c10::DeviceType device_;
  Start start_;
  std::deque<Operation> operations_;
  std::vector<Step> steps_;
  c10::DispatchKeySet plain_;
  std::vector<int64_t> executors_;    ///< by device
  std::vector<std::string> not_here_; ///< reasons for kNotHere, by device
  uint64_t ran_ = 0;
  std::map<std::string, uint64_t> fallbacks_;
};

} // namespace warpwright
