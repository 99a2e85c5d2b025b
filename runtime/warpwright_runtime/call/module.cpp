// Extension module of the user's interpreter that calls plans from Python with little host work.
//
// The package warpwright_runtime compiles this code for exported classes. The runner's worker
// compiles it too, so that as-called times are those of an export. make() takes a description
// (description.py) and returns a function (module, *inputs). The function looks up the module's own
// tensors, checks that everything is as verified, makes outputs and scratch memory with at::empty,
// starts groups of kernels through a C function, calls ATen for library steps, and returns the
// outputs. It returns NotImplemented if anything differs from the verified state.
#include "executor.h"
#include "plan.h"
#include "region_operator.h"

#include <torch/csrc/Exceptions.h>

namespace {

using namespace warpwright;

template <class Function>
PyObject *guarded(Function function) {
  HANDLE_TH_ERRORS
  try {
    return function();
  } catch (const PythonError &) {
    return nullptr;
  }
  END_HANDLE_TH_ERRORS
}

PyObject *call(PyObject *capsule, PyObject *const *values, Py_ssize_t count) {
  return guarded([&] {
    return static_cast<Plan *>(PyCapsule_GetPointer(capsule, nullptr))->call(values, count);
  });
}

PyMethodDef call_method = {"call",
                           reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                           METH_FASTCALL, "call(module, *inputs): the outputs, or NotImplemented"};

PyObject *counts(PyObject *, PyObject *function) {
  return guarded([&]() -> PyObject * {
    if (!PyCFunction_Check(function) || PyCFunction_GET_FUNCTION(function) != call_method.ml_meth)
      throw std::invalid_argument("counts() takes what make() gave");
    PyObject *const capsule = PyCFunction_GET_SELF(function);
    return static_cast<Plan *>(PyCapsule_GetPointer(capsule, nullptr))->counts();
  });
}

PyObject *make(PyObject *, PyObject *description) {
  return guarded([&] {
    auto plan = std::make_unique<Plan>(description);
    const Object capsule = owned(PyCapsule_New(plan.get(), nullptr, [](PyObject *held) {
      delete static_cast<Plan *>(PyCapsule_GetPointer(held, nullptr));
    }));
    plan.release();
    return PyCFunction_NewEx(&call_method, capsule.get(), nullptr);
  });
}

/// executor(([[launches of a group]], places, cuLaunchKernel, cuLaunchCooperativeKernel,
/// cuMemsetD8Async, cuCtxSetCurrent, cuTensorMapEncodeTiled or 0, cuTensorMapEncodeIm2col or 0,
/// cuLaunchKernelEx or 0, context)):
/// a handle, which lives as long as the process.
PyObject *executor(PyObject *, PyObject *description) {
  return guarded([&] {
    auto made = std::make_unique<Executor>();
    const Object groups = item(description, 0);
    for (Py_ssize_t group = 0; group < length(groups.get()); ++group) {
      auto &launches = made->groups.emplace_back();
      const Object list = item(groups.get(), group);
      for (Py_ssize_t i = 0; i < length(list.get()); ++i)
        launches.push_back(launch_of(item(list.get(), i).get()));
      for (Launch &launch : launches)
        for (std::string &value : launch.values)
          launch.pointers.push_back(value.data());
    }
    made->places = static_cast<size_t>(integer_at(description, 1));
    made->launch_kernel = reinterpret_cast<Executor::LaunchKernel>(integer_at(description, 2));
    made->launch_together = reinterpret_cast<Executor::LaunchTogether>(integer_at(description, 3));
    made->fill = reinterpret_cast<Executor::Fill>(integer_at(description, 4));
    made->set_context = reinterpret_cast<Executor::SetContext>(integer_at(description, 5));
    made->encode_map = reinterpret_cast<TensorMap::Encode>(integer_at(description, 6));
    made->encode_window =
        reinterpret_cast<TensorMap::EncodeWindow>(integer_at(description, 7));
    made->launch_configured =
        reinterpret_cast<Executor::LaunchConfigured>(integer_at(description, 8));
    made->context = reinterpret_cast<void *>(integer_at(description, 9));
    return PyLong_FromLongLong(reinterpret_cast<int64_t>(made.release()));
  });
}

/// install_operator(otherwise), with a function otherwise(inputs, sizes, plan).
PyObject *install_operator(PyObject *, PyObject *otherwise) {
  return guarded([&]() -> PyObject * {
    RegionOperator::get().install(otherwise);
    Py_RETURN_NONE;
  });
}

/// bind_region((the operator's plan, sizes, result of make())); bind_region(()) forgets all plans.
PyObject *bind_region(PyObject *, PyObject *binding) {
  return guarded([&]() -> PyObject * {
    if (length(binding) == 0) {
      RegionOperator::get().unbind_all();
      Py_RETURN_NONE;
    }
    const Object name = item(binding, 0), sizes = item(binding, 1), function = item(binding, 2);
    if (!PyCFunction_Check(function.get()) || PyCFunction_GET_FUNCTION(function.get()) != call_method.ml_meth)
      throw std::invalid_argument("bind_region() takes what make() gave");
    RegionOperator::get().bind(text(name.get()), integers(sizes.get()), static_cast<Plan *>(PyCapsule_GetPointer(PyCFunction_GET_SELF(function.get()), nullptr)), function.get());
    Py_RETURN_NONE;
  });
}

PyMethodDef methods[] = {
    {"install_operator", install_operator, METH_O, "install_operator(otherwise): warpwright::call on GPUs"},
    {"bind_region", bind_region, METH_O, "bind_region((plan, sizes, function)): what the operator calls for a plan"},
    {"make", make, METH_O, "make(description): a function (module, *inputs)"},
    {"counts", counts, METH_O, "counts(function): (calls that ran the kernels, {why not: calls})"},
    {"executor", executor, METH_O, "executor((groups, places, driver functions...)): a handle"},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "direct_call", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace

#define WARPWRIGHT_JOINED(prefix, name) prefix##name
#define WARPWRIGHT_INIT(name) WARPWRIGHT_JOINED(PyInit_, name)
PyMODINIT_FUNC WARPWRIGHT_INIT(TORCH_EXTENSION_NAME)() {
  PyObject *module = PyModule_Create(&definition);
  if (module &&
      PyModule_AddIntConstant(module, "start", reinterpret_cast<long>(start_by_driver)) != 0)
    Py_CLEAR(module);
  return module;
}
