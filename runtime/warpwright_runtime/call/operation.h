// Call of an ATen operator through torch's dispatcher, with boxed values, so that any operator of a
// plan is possible. Thread: any that holds the GIL.
#pragma once

#include "arguments.h"

#include <torch/csrc/Device.h>
#include <torch/csrc/Layout.h>
#include <torch/csrc/MemoryFormat.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_strided.h>

#include <optional>

namespace warpwright {

/// View of the tensor in a place.
struct View {
  size_t place = 0;
  int64_t offset = 0; ///< in elements
  std::vector<int64_t> shape, strides;

  at::Tensor of(const at::Tensor &held) const {
    if (offset == 0 && held.sizes() == shape && held.strides() == strides)
      return held;
    return at::as_strided(held, shape, strides, held.storage_offset() + offset);
  }
};

inline View view_of(PyObject *description) { // ("view", place, offset, shape, strides)
  return {static_cast<size_t>(integer_at(description, 1)), integer_at(description, 2),
          integers(item(description, 3).get()), integers(item(description, 4).get())};
}
inline bool is_view(PyObject *description) { return PyTuple_Check(description); }

/// Argument of an operator: a constant, a tensor, or a list of tensors, which may have gaps.
struct Argument {
  c10::IValue value;
  std::vector<std::optional<View>> views;
  bool is_list = false, is_optional = false; ///< a list of tensors; a list of optional tensors
};

inline bool is_view_list(PyObject *value) {
  if (!PyList_Check(value))
    return false;
  for (Py_ssize_t i = 0; i < length(value); ++i)
    if (is_view(item(value, i).get()))
      return true;
  return false;
}

inline bool is_optional_list(const c10::TypePtr &type) { // `Tensor?[]`, as for index()
  const auto *list = type->castRaw<c10::ListType>();
  return list && list->getElementType()->kind() == c10::TypeKind::OptionalType;
}

inline c10::IValue constant(PyObject *value, c10::TypePtr type) {
  while (type->kind() == c10::TypeKind::OptionalType)
    type = type->castRaw<c10::OptionalType>()->getElementType();
  const bool is_float = type->kind() == c10::TypeKind::FloatType;
  if (value == Py_None)
    return {};
  if (PyBool_Check(value))
    return value == Py_True;
  if (PyLong_Check(value))
    return is_float ? c10::IValue(PyLong_AsDouble(value)) : c10::IValue(integer(value));
  if (PyFloat_Check(value))
    return PyFloat_AsDouble(value);
  if (PyUnicode_Check(value))
    return text(value);
  if (THPDtype_Check(value))
    return static_cast<int64_t>(reinterpret_cast<THPDtype *>(value)->scalar_type);
  if (THPMemoryFormat_Check(value))
    return static_cast<int64_t>(reinterpret_cast<THPMemoryFormat *>(value)->memory_format);
  if (THPLayout_Check(value))
    return static_cast<int64_t>(reinterpret_cast<THPLayout *>(value)->layout);
  if (THPDevice_Check(value))
    return reinterpret_cast<THPDevice *>(value)->device;
  if (!PyList_Check(value))
    throw std::invalid_argument("an operator's argument is of no known kind");
  const auto *list = type->castRaw<c10::ListType>();
  const auto element = list ? list->getElementType()->kind() : c10::TypeKind::IntType;
  if (element == c10::TypeKind::FloatType) {
    c10::List<double> numbers;
    for (Py_ssize_t i = 0; i < length(value); ++i)
      numbers.push_back(PyFloat_AsDouble(item(value, i).get()));
    return numbers;
  }
  if (element == c10::TypeKind::BoolType) {
    c10::List<bool> flags;
    for (Py_ssize_t i = 0; i < length(value); ++i)
      flags.push_back(item(value, i).get() == Py_True);
    return flags;
  }
  return c10::List<int64_t>(integers(value));
}

using Held = c10::SmallVector<const at::Tensor *, 32>;

/// Call of an operator through torch's dispatcher.
class Operation {
public:
  /// @param description the result of description.py's operation()
  explicit Operation(PyObject *description)
      : operator_(c10::Dispatcher::singleton().findSchemaOrThrow(
            text(field(description, "name")).c_str(),
            text(field(description, "overload")).c_str())) {
    PyObject *arguments = field(description, "arguments");
    const auto &schema = operator_.schema().arguments();
    for (Py_ssize_t i = 0; i < length(arguments); ++i) {
      const Object given = item(arguments, i);
      Argument argument;
      if (is_view(given.get())) {
        argument.views.push_back(view_of(given.get()));
      } else if (is_view_list(given.get())) {
        argument.is_list = true;
        argument.is_optional = is_optional_list(schema.at(i).type());
        for (Py_ssize_t part = 0; part < length(given.get()); ++part) {
          const Object one = item(given.get(), part);
          argument.views.push_back(is_view(one.get()) ? std::optional(view_of(one.get()))
                                                      : std::nullopt);
        }
      } else if (given.get() == Py_Ellipsis) {
        argument.value = schema.at(i).default_value().value();
      } else {
        argument.value = constant(given.get(), schema.at(i).type());
      }
      arguments_.push_back(std::move(argument));
    }
    results = integers(field(description, "results"));
    copies = integers(field(description, "copies"));
    PyObject *layouts = field(description, "layouts");
    layouts_ = tensors_of(layouts);
    for (Py_ssize_t i = 0; i < length(layouts); ++i)
      strides_.push_back(integers(item(item(layouts, i).get(), 2).get()));
  }

  std::vector<at::Tensor> run(const Held &held) const {
    torch::jit::Stack stack;
    stack.reserve(arguments_.size());
    for (const Argument &argument : arguments_)
      if (argument.is_optional) {
        c10::impl::GenericList list(c10::OptionalType::ofTensor());
        for (const std::optional<View> &view : argument.views)
          list.push_back(view ? c10::IValue(view->of(*held[view->place])) : c10::IValue());
        stack.emplace_back(std::move(list));
      } else if (argument.is_list) {
        c10::List<at::Tensor> list;
        for (const std::optional<View> &view : argument.views)
          list.push_back(view.value().of(*held[view->place]));
        stack.emplace_back(std::move(list));
      } else if (!argument.views.empty()) {
        stack.emplace_back(argument.views[0]->of(*held[argument.views[0]->place]));
      } else {
        stack.push_back(argument.value);
      }
    operator_.callBoxed(&stack);
    std::vector<at::Tensor> tensors;
    for (const c10::IValue &value : stack)
      if (value.isTensor() && value.toTensor().defined()) // undefined tensors are None in Python
        tensors.push_back(value.toTensor());
      else if (value.isTensorList())
        for (const at::Tensor &tensor : value.toTensorVector())
          tensors.push_back(tensor);
    lay_out(tensors);
    return tensors;
  }

  std::vector<int64_t> results; ///< the place of each result; -1: the result is not needed
  std::vector<int64_t> copies;  ///< the argument that each result updates; -1: none

private:
  /// Brings each result into the plan's layout. Some operators choose a layout by their kernel;
  /// their results are copied.
  void lay_out(std::vector<at::Tensor> &tensors) const {
    if (tensors.size() < results.size())
      throw std::runtime_error(operator_.schema().name() +
                               " gives fewer tensors than the plan was verified with");
    for (size_t i = 0; i < results.size(); ++i) {
      at::Tensor &tensor = tensors[i];
      if (results[i] < 0)
        continue;
      if (tensor.scalar_type() != layouts_[i].dtype || tensor.sizes() != layouts_[i].shape)
        throw std::runtime_error(operator_.schema().name() +
                                 " gives another tensor than the plan was verified with");
      bool same = true;
      for (size_t axis = 0; same && axis < layouts_[i].shape.size(); ++axis)
        same = layouts_[i].shape[axis] <= 1 || tensor.stride(axis) == strides_[i][axis];
      if (!same)
        tensor = at::empty_strided(tensor.sizes(), strides_[i], tensor.options()).copy_(tensor);
    }
  }

  c10::OperatorHandle operator_;
  std::vector<Argument> arguments_;
  std::vector<Tensor> layouts_;
  std::vector<std::vector<int64_t>> strides_;
};

} // namespace warpwright
