// Values with which a plan was verified, described by guard_values.py, and their comparison with
// current values. Thread: any that holds the GIL.
#pragma once

#include "objects.h"

#include <utility>

namespace warpwright {

/// An object's own attributes, borrowed from the object; nullptr if it has none.
inline PyObject *dict_of(PyObject *object) {
  PyObject **place = _PyObject_GetDictPtr(object);
  return place && *place && PyDict_Check(*place) ? *place : nullptr;
}

/// Whether two constants have the same type and are equal; NaN equals NaN.
inline bool equal(PyObject *value, PyObject *wanted) {
  if (value == wanted)
    return true;
  if (Py_TYPE(value) != Py_TYPE(wanted))
    return false;
  if (PyFloat_CheckExact(value) && PyFloat_AS_DOUBLE(value) != PyFloat_AS_DOUBLE(value) &&
      PyFloat_AS_DOUBLE(wanted) != PyFloat_AS_DOUBLE(wanted))
    return true;
  const int same = PyObject_RichCompareBool(value, wanted, Py_EQ);
  if (same < 0)
    PyErr_Clear();
  return same == 1;
}

/// The answer of a Python predicate: question(object, text) or question(object, text, root), where
/// `root` is the module that holds the object. Errors count as no.
inline bool agrees(PyObject *question, PyObject *object, PyObject *text, PyObject *root = nullptr) {
  const Object answer(PyObject_CallFunctionObjArgs(question, object, text, root, nullptr));
  if (!answer)
    PyErr_Clear();
  return answer.get() == Py_True;
}

class Known {
public:
  /// @param is_class, is_value Python predicates (guard_values.for_call)
  Known(PyObject *description, PyObject *is_class, PyObject *is_value)
      : is_class_(is_class), is_value_(is_value) {
    if (!PyTuple_Check(description)) {
      value_ = shared(description);
      return;
    }
    const std::string kind = text(item(description, 0).get());
    const Object second = item(description, 1);
    if (kind == "is") {
      kind_ = Kind::Is;
      value_ = shared(second.get());
    } else if (kind == "object") {
      kind_ = Kind::Object;
      value_ = shared(second.get());
      add_pairs(item(description, 2).get());
    } else if (kind == "dict") {
      kind_ = Kind::Dict;
      add_pairs(second.get());
    } else {
      kind_ = kind == "list" ? Kind::List : kind == "tuple" ? Kind::Tuple : Kind::Values;
      for (Py_ssize_t i = 0; i < length(second.get()); ++i)
        parts_.emplace_back(item(second.get(), i).get(), is_class, is_value);
    }
  }

  /// Whether the value may change without a change of the dict that holds it.
  bool is_mutable() const {
    if (kind_ == Kind::Constant || kind_ == Kind::Is)
      return false;
    if (kind_ != Kind::Tuple)
      return true;
    for (const Known &part : parts_)
      if (part.is_mutable())
        return true;
    return false;
  }

  /// Whether `value` is as verified.
  /// @param root the module that the plan is for
  bool is(PyObject *value, PyObject *root) {
    switch (kind_) {
    case Kind::Constant:
      return equal(value, value_.get());
    case Kind::Is:
      if (value != seen_.get() || !is_seen_root(root)) {
        if (!agrees(is_value_, value, value_.get(), root))
          return false;
        seen_ = shared(value);
        seen_root_ = Object(PyWeakref_NewRef(root, nullptr));
        if (!seen_root_)
          PyErr_Clear();
      }
      return true;
    case Kind::List:
      return PyList_CheckExact(value) && are(value, root);
    case Kind::Tuple:
      return PyTuple_CheckExact(value) && are(value, root);
    case Kind::Values:
      return PyDict_Check(value) && are_values(value, root);
    case Kind::Dict:
      return PyDict_Check(value) && are_entries(value, root);
    case Kind::Object:
      return is_object(value, root);
    }
    return false;
  }

private:
  enum class Kind { Constant, Is, List, Tuple, Values, Dict, Object };

  void add_pairs(PyObject *pairs) {
    for (Py_ssize_t i = 0; i < length(pairs); ++i) {
      const Object pair = item(pairs, i);
      keys_.push_back(item(pair.get(), 0));
      parts_.emplace_back(item(pair.get(), 1).get(), is_class_, is_value_);
    }
  }

  bool are(PyObject *sequence, PyObject *root) {
    if (PySequence_Fast_GET_SIZE(sequence) != static_cast<Py_ssize_t>(parts_.size()))
      return false;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (!parts_[i].is(PySequence_Fast_GET_ITEM(sequence, static_cast<Py_ssize_t>(i)), root))
        return false;
    return true;
  }

  bool are_values(PyObject *dict, PyObject *root) {
    if (PyDict_GET_SIZE(dict) != static_cast<Py_ssize_t>(parts_.size()))
      return false;
    PyObject *key = nullptr, *value = nullptr;
    size_t i = 0;
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value); ++i)
      if (i >= parts_.size() || !parts_[i].is(value, root))
        return false;
    return true;
  }

  bool are_entries(PyObject *dict, PyObject *root) {
    if (PyDict_GET_SIZE(dict) != static_cast<Py_ssize_t>(parts_.size()))
      return false;
    for (size_t i = 0; i < parts_.size(); ++i) {
      PyObject *value = PyDict_GetItem(dict, keys_[i].get());
      if (!value || !parts_[i].is(value, root))
        return false;
    }
    return true;
  }

  bool is_object(PyObject *value, PyObject *root) {
    PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
    if (type != seen_.get()) {
      if (!agrees(is_class_, type, value_.get()))
        return false;
      seen_ = shared(type);
    }
    PyObject *own = dict_of(value);
    return own && are_entries(own, root);
  }

  /// Whether `root` is the module of the last agreement. A weak reference is needed, because
  /// another module may have the same address by now.
  bool is_seen_root(PyObject *root) const {
    return seen_root_ && PyWeakref_GetObject(seen_root_.get()) == root;
  }

  Kind kind_ = Kind::Constant;
  Object value_; ///< the constant, the text of `Is`, the class of an object
  Object seen_;  ///< the last value, or object's class, that Python agreed to
  Object seen_root_; ///< weak reference to the module of that agreement
  std::vector<Object> keys_;
  std::vector<Known> parts_;
  PyObject *is_class_, *is_value_; ///< owned by the guards
};

} // namespace warpwright
