// What a call is given: inputs that must look as they did when the plan was verified, and tensors that the module holds.
// Thread: any that holds the interpreter's lock.
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

/// How one argument looks: `...` stands for a tensor; lists, tuples and dicts hold such; all else is a constant.
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

  /// Whether `value` looks so; its tensors are added to `given`.
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

/// Where a module keeps a tensor of its own: "net.0.weight", looked up anew at each call, for it may have been replaced.
class Path {
public:
  explicit Path(PyObject *names) {
    for (Py_ssize_t i = 0; i < length(names); ++i)
      names_.push_back(item(names, i));
  }

  /// nullptr: it has none now. What is found lives in `alive` where nobody else is sure to hold it.
  PyObject *find(PyObject *module, c10::SmallVectorImpl<Object> &alive) const {
    static PyObject *const modules = PyUnicode_InternFromString("_modules");
    static PyObject *const parameters = PyUnicode_InternFromString("_parameters");
    static PyObject *const buffers = PyUnicode_InternFromString("_buffers");
    PyObject *holder = module;
    for (size_t i = 0; i + 1 < names_.size(); ++i) {
      holder = entry(holder, modules, names_[i].get());
      if (!holder)
        return nullptr;
    }
    PyObject *const last = names_.back().get();
    for (PyObject *const table : {parameters, buffers})
      if (PyObject *found = entry(holder, table, last))
        return found;
    alive.push_back(Object(PyObject_GetAttr(holder, last)));
    if (!alive.back())
      PyErr_Clear();
    return alive.back().get();
  }

private:
  static PyObject *entry(PyObject *holder, PyObject *table, PyObject *name) {
    const Object dict(PyObject_GetAttr(holder, table));
    if (!dict || !PyDict_Check(dict.get())) {
      PyErr_Clear();
      return nullptr;
    }
    return PyDict_GetItem(dict.get(), name); // borrowed of the dict, which the holder keeps
  }

  std::vector<Object> names_;
};

} // namespace warpwright
