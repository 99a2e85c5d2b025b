// Arguments of a call: patterns that the inputs must match, as when the plan was verified.
// Thread: any that holds the GIL.
#pragma once

#include "objects.h"

#include <torch/csrc/Dtype.h>
#include <torch/csrc/autograd/python_variable.h>

#include <c10/util/SmallVector.h>

namespace warpwright {

struct Tensor {
  at::ScalarType dtype;
  std::vector<int64_t> shape;
};

inline std::vector<Tensor> tensors_of(PyObject *list) {
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < length(list); ++i) {
    const Object one = item(list, i), dtype = item(one.get(), 0), shape = item(one.get(), 1);
    if (!THPDtype_Check(dtype.get()))
      throw std::invalid_argument("a tensor's description has no dtype");
    tensors.push_back(
        {reinterpret_cast<THPDtype *>(dtype.get())->scalar_type, integers(shape.get())});
  }
  return tensors;
}

using Given = c10::SmallVector<PyObject *, 32>;

/// Pattern of one argument: `...` stands for a tensor; lists, tuples and dicts contain patterns;
/// any other value is a constant.
class Pattern {
public:
  explicit Pattern(PyObject *description) : value_(shared(description)) {
    if (PyDict_Check(description)) {
      PyObject *key = nullptr, *part = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(description, &at, &key, &part);) {
        keys_.push_back(shared(key));
        parts_.emplace_back(part);
      }
    } else if (PyList_Check(description) || PyTuple_Check(description)) {
      for (Py_ssize_t i = 0; i < length(description); ++i)
        parts_.emplace_back(item(description, i).get());
    }
  }

  /// Whether `value` matches the pattern. Appends the value's tensors to `given`.
  bool take(PyObject *value, Given &given) const {
    if (value_.get() == Py_Ellipsis) {
      given.push_back(value);
      return THPVariable_CheckExact(value);
    }
    if (value == value_.get())
      return parts_.empty();
    if (Py_TYPE(value) != Py_TYPE(value_.get()))
      return false;
    if (PyDict_Check(value)) {
      if (PyDict_Size(value) != static_cast<Py_ssize_t>(keys_.size()))
        return false;
      for (size_t i = 0; i < keys_.size(); ++i) {
        PyObject *part = PyDict_GetItem(value, keys_[i].get());
        if (!part || !parts_[i].take(part, given))
          return false;
      }
      return true;
    }
    if (PyList_Check(value) || PyTuple_Check(value)) {
      if (PySequence_Fast_GET_SIZE(value) != static_cast<Py_ssize_t>(parts_.size()))
        return false;
      for (size_t i = 0; i < parts_.size(); ++i)
        if (!parts_[i].take(PySequence_Fast_GET_ITEM(value, static_cast<Py_ssize_t>(i)), given))
          return false;
      return true;
    }
    const int same = PyObject_RichCompareBool(value, value_.get(), Py_EQ);
    if (same < 0)
      PyErr_Clear();
    return same == 1;
  }

private:
  Object value_;
  std::vector<Object> keys_;
  std::vector<Pattern> parts_;
};

} // namespace warpwright
