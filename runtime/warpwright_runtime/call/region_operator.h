// The operator warpwright::call in C++: one look-up, then the plan's call. What it cannot answer goes to the Python function beside it.
//
// The operator's schema is the Python package's (warpwright/calls.py), which also registers this, once for a process. Thread: any.
#pragma once

#include "plan.h"

#include <torch/csrc/Exceptions.h>
#include <torch/library.h>

#include <unordered_map>

namespace warpwright {

/// Holds the interpreter's lock.
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
    static auto *const one = new RegionOperator; // lives as long as the interpreter, which ends after static objects do
    return *one;
  }

  /// @param otherwise (inputs, plan): the outputs, for plans that are not bound and calls that they do not fit
  void install(PyObject *otherwise) {
    otherwise_ = shared(otherwise);
    static torch::Library library(torch::Library::IMPL, "warpwright", c10::DispatchKey::CUDA, __FILE__, __LINE__);
    library.impl("call", [](at::TensorList inputs, std::string plan) { return get().call(inputs, plan); });
    // AOTAutograd has differentiated the graph already, so PyTorch's fallback for operators without a derivative is skipped.
    static torch::Library past(torch::Library::IMPL, "warpwright", c10::DispatchKey::Autograd,
                               __FILE__, __LINE__);
    past.impl("call", torch::CppFunction::makeFallthrough());
  }

  /// @param function what make() gave; it is kept
  void bind(const std::string &name, Plan *plan, PyObject *function) {
    plans_.insert_or_assign(name, plan);
    kept_.push_back(shared(function));
  }
  void unbind_all() { plans_.clear(); }

private:
  std::vector<at::Tensor> call(at::TensorList inputs, const std::string &name) {
    const Locked locked;
    try {
      return call_locked(inputs, name);
    } catch (const PythonError &) {
      python_error error;
      error.persist();
      throw error;
    }
  }

  std::vector<at::Tensor> call_locked(at::TensorList inputs, const std::string &name) {
    std::vector<at::Tensor> outputs;
    if (const auto found = plans_.find(name); found != plans_.end() && found->second->call_region(inputs, outputs))
      return outputs;
    const Object list = owned(PyList_New(static_cast<Py_ssize_t>(inputs.size())));
    for (size_t i = 0; i < inputs.size(); ++i)
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), THPVariable_Wrap(inputs[i]));
    const Object text = owned(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
    const Object results = owned(PyObject_CallFunctionObjArgs(otherwise_.get(), list.get(), text.get(), nullptr));
    for (Py_ssize_t i = 0; i < length(results.get()); ++i)
      outputs.push_back(THPVariable_Unpack(item(results.get(), i).get()));
    return outputs;
  }

  /// Hash of the first 64 characters of a plan's name, which are its record's key. The rest holds a program of kilobytes.
  struct HashOfKey {
    size_t operator()(const std::string &name) const {
      return std::hash<std::string_view>()(std::string_view(name).substr(0, 64));
    }
  };
  std::unordered_map<std::string, Plan *, HashOfKey> plans_;
  std::vector<Object> kept_;
  Object otherwise_;
};

} // namespace warpwright
