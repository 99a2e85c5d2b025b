// C++ implementation of the operator warpwright::call: a lookup, then the plan's call. Calls that
// it cannot answer go to a Python function.
//
// The Python package (warpwright/calls.py) defines the operator's schema and registers this
// implementation once per process. Thread: any.
#pragma once

#include "plan.h"

#include <torch/csrc/Exceptions.h>
#include <torch/library.h>

#include <unordered_map>

namespace warpwright {

/// Holds the GIL for its lifetime.
class Locked {
public:
  Locked() : state_(PyGILState_Ensure()) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  const PyGILState_STATE state_;
};

class RegionOperator {
public:
  static RegionOperator &get() {
    static auto *const one = new RegionOperator; // never deleted: the interpreter outlives static objects
    return *one;
  }

  /// Registers the operator for GPUs.
  /// @param otherwise function (inputs, plan) -> outputs, for unbound plans and calls that do not
  ///        fit
  void install(PyObject *otherwise) {
    otherwise_ = shared(otherwise);
    static torch::Library library(torch::Library::IMPL, "warpwright", c10::DispatchKey::CUDA, __FILE__, __LINE__);
    library.impl("call", [](at::TensorList inputs, at::IntArrayRef sizes, std::string plan) {
      return get().call(inputs, sizes, plan);
    });
    // AOTAutograd has differentiated the graph already, so PyTorch's fallback for operators without
    // a derivative is skipped.
    static torch::Library past(torch::Library::IMPL, "warpwright", c10::DispatchKey::Autograd,
                               __FILE__, __LINE__);
    past.impl("call", torch::CppFunction::makeFallthrough());
  }

  /// Makes the operator call `plan` for this name.
  /// @param function the result of make() that owns `plan`; a reference is kept
  void bind(const std::string &name, std::vector<int64_t> sizes, Plan *plan, PyObject *function) {
    plans_[name].insert_or_assign(std::move(sizes), plan);
    kept_.push_back(shared(function));
  }
  void unbind_all() { plans_.clear(); }

private:
  std::vector<at::Tensor> call(at::TensorList inputs, at::IntArrayRef sizes, const std::string &name) {
    const Locked locked;
    try {
      return call_locked(inputs, sizes, name);
    } catch (const PythonError &) {
      python_error error;
      error.persist();
      throw error;
    }
  }

  Plan *plan_of(const std::string &name, at::IntArrayRef sizes) const {
    const auto found = plans_.find(name);
    if (found == plans_.end())
      return nullptr;
    const auto plan = found->second.find(sizes);
    return plan == found->second.end() ? nullptr : plan->second;
  }

  std::vector<at::Tensor> call_locked(at::TensorList inputs, at::IntArrayRef sizes, const std::string &name) {
    std::vector<at::Tensor> outputs;
    if (Plan *plan = plan_of(name, sizes); plan && plan->call_region(inputs, outputs))
      return outputs;
    const Object list = owned(PyList_New(static_cast<Py_ssize_t>(inputs.size())));
    for (size_t i = 0; i < inputs.size(); ++i)
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), THPVariable_Wrap(inputs[i]));
    const Object numbers = owned(PyTuple_New(static_cast<Py_ssize_t>(sizes.size())));
    for (size_t i = 0; i < sizes.size(); ++i)
      PyTuple_SET_ITEM(numbers.get(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(sizes[i]));
    const Object text = owned(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
    const Object results = owned(PyObject_CallFunctionObjArgs(otherwise_.get(), list.get(), numbers.get(), text.get(), nullptr));
    for (Py_ssize_t i = 0; i < length(results.get()); ++i)
      outputs.push_back(THPVariable_Unpack(item(results.get(), i).get()));
    return outputs;
  }

  /// Hash of the first 64 characters of a plan's name, which are its record's key. The rest is a
  /// program of kilobytes.
  struct HashOfKey {
    size_t operator()(const std::string &name) const {
      return std::hash<std::string_view>()(std::string_view(name).substr(0, 64));
    }
  };
  /// Compares sizes without a copy.
  struct Before {
    using is_transparent = void;
    bool operator()(at::IntArrayRef a, at::IntArrayRef b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  using PlansBySizes = std::map<std::vector<int64_t>, Plan *, Before>;
  std::unordered_map<std::string, PlansBySizes, HashOfKey> plans_;
  std::vector<Object> kept_;
  Object otherwise_;
};

} // namespace warpwright
