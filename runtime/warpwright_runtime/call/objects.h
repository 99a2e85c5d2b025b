// Python objects in C++: ownership, and access to the values of a description. Errors are
// exceptions: PythonError if a Python error is set, else std::exception. Thread: any that holds the
// GIL.
#pragma once

#include <Python.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpwright {

struct Release {
  void operator()(PyObject *object) const { Py_DECREF(object); }
};
using Object = std::unique_ptr<PyObject, Release>;

struct PythonError {}; ///< a Python error is set

inline Object owned(PyObject *object) {
  if (!object)
    throw PythonError();
  return Object(object);
}
inline Object shared(PyObject *object) {
  Py_INCREF(object);
  return Object(object);
}
inline Object item(PyObject *sequence, Py_ssize_t index) {
  return owned(PySequence_GetItem(sequence, index));
}
inline Py_ssize_t length(PyObject *sequence) {
  const Py_ssize_t size = PySequence_Size(sequence);
  if (size < 0)
    throw PythonError();
  return size;
}
inline int64_t integer(PyObject *object) {
  const int64_t value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred())
    throw PythonError();
  return value;
}
inline int64_t integer_at(PyObject *sequence, Py_ssize_t index) {
  return integer(item(sequence, index).get());
}
inline std::vector<int64_t> integers(PyObject *sequence) {
  std::vector<int64_t> values;
  for (Py_ssize_t i = 0; i < length(sequence); ++i)
    values.push_back(integer_at(sequence, i));
  return values;
}
inline std::string text(PyObject *object) {
  const char *value = PyUnicode_AsUTF8(object);
  if (!value)
    throw PythonError();
  return value;
}
inline std::vector<std::string> texts(PyObject *sequence) {
  std::vector<std::string> values;
  for (Py_ssize_t i = 0; i < length(sequence); ++i)
    values.push_back(text(item(sequence, i).get()));
  return values;
}
/// A field of a description, which is a dict. The reference is borrowed.
inline PyObject *field(PyObject *description, const char *name) {
  if (PyObject *value = PyDict_GetItemString(description, name))
    return value;
  throw std::invalid_argument(std::string("the description lacks ") + name);
}

} // namespace warpwright
