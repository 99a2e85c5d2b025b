// Guards of a plan: checks that a module is in the state in which its plan was verified, apart from
// its tensors. The state comprises submodules with their classes and modes, the attributes that
// forward reads, hooks, and the framework's flags (call_guards.py makes the description).
//
// The first call of a module compares everything. CPython's dicts have a version that changes at
// each write. While the same module is called and no dict that contains a compared value has
// changed, later calls compare only the versions, mutable values such as lists, and flags. Python
// 3.13 and later have no reliable versions, so every call compares everything there. Thread: any
// that holds the GIL.
#pragma once

#include "known.h"

#include <torch/csrc/Dtype.h>

#include <ATen/Context.h>
#include <c10/core/DefaultDtype.h>

#include <map>
#include <optional>

namespace warpwright {

struct Names {
  PyObject *training = PyUnicode_InternFromString("training");
  PyObject *forward = PyUnicode_InternFromString("forward");
  PyObject *modules = PyUnicode_InternFromString("_modules");
  PyObject *parameters = PyUnicode_InternFromString("_parameters");
  PyObject *buffers = PyUnicode_InternFromString("_buffers");
  PyObject *hooks = PyUnicode_InternFromString("_forward_hooks");
  PyObject *pre_hooks = PyUnicode_InternFromString("_forward_pre_hooks");
  static const Names &get() {
    static const Names names;
    return names;
  }
};

/// The framework's flags that matter to a plan.
class Flags {
public:
  explicit Flags(PyObject *description) {
    matmul_tf32_ = is_set(description, "matmul_tf32");
    cudnn_tf32_ = is_set(description, "cudnn_tf32");
    if (PyObject *value = PyDict_GetItemString(description, "deterministic"))
      may_vary_ = value != Py_True;
    if (PyObject *dtype = PyDict_GetItemString(description, "default_dtype"))
      default_dtype_ = reinterpret_cast<THPDtype *>(dtype)->scalar_type;
  }

  /// The reason why the current flags exclude the plan; nullptr if they do not. A plan that was
  /// verified without TF32 stays valid when the flags allow TF32.
  const char *why_not() const {
    if (default_dtype_ && c10::get_default_dtype_as_scalartype() != *default_dtype_)
      return "the default dtype is another";
    const at::Context &context = at::globalContext();
    if (may_vary_ && context.deterministicAlgorithms())
      return "deterministic algorithms are requested";
    try {
      if (matmul_tf32_ && !context.allowTF32CuBLAS())
        return "TF32 is not allowed for matrix products";
      if (cudnn_tf32_ && !context.allowTF32CuDNN())
        return "TF32 is not allowed for convolutions";
    } catch (const std::exception &) { // both the old and the new flags were set
      return "the flags of TF32 contradict each other";
    }
    return nullptr;
  }

private:
  static bool is_set(PyObject *description, const char *name) {
    return PyDict_GetItemString(description, name) == Py_True;
  }

  bool matmul_tf32_ = false, cudnn_tf32_ = false; ///< whether the plan may use TF32
  bool may_vary_ = false; ///< whether it was verified without deterministic algorithms
  std::optional<at::ScalarType> default_dtype_;
};

/// Place of a module's own tensor: the submodule, and the name in it.
struct StatePlace {
  size_t module = 0;
  Object name;
};

class Guards {
public:
  /// @param state names of the module's own tensors, each a list: ["net", "0", "weight"]
  Guards(PyObject *description, PyObject *state)
      : is_class_(shared(field(description, "is_class"))),
        is_value_(shared(field(description, "is_value"))), flags_(field(description, "flags")) {
    PyObject *modules = field(description, "modules");
    const std::string training = text(field(description, "training"));
    for (Py_ssize_t i = 0; i < length(modules); ++i) {
      const Object one = item(modules, i);
      add_module(one.get(), training.at(static_cast<size_t>(i)) == 'T');
    }
    PyObject *attributes = field(description, "attributes");
    for (Py_ssize_t i = 0; i < length(attributes); ++i)
      add_attribute(item(attributes, i).get());
    PyObject *hooks = field(description, "global_hooks");
    for (Py_ssize_t i = 0; i < length(hooks); ++i)
      global_hooks_.push_back(item(hooks, i));
    for (Py_ssize_t i = 0; i < length(state); ++i)
      add_state(item(state, i).get());
  }

  /// Appends the module's own tensors to `tensors` as borrowed references.
  /// @return whether everything is as verified; else `why` is the reason
  template <class Tensors>
  bool hold(PyObject *module, Tensors &tensors, std::string &why) {
    if (const char *other = flags_.why_not()) {
      why = other;
      return false;
    }
    if (!is_unchanged(module) && !look(module, why))
      return false;
    for (PyObject *tensor : tensors_)
      tensors.push_back(tensor);
    return true;
  }

  /// The reason why the framework's flags exclude the plan; nullptr if they do not.
  const char *other_flags() const { return flags_.why_not(); }

private:
  struct Submodule {
    size_t parent = 0;
    Object name, type_name, type; ///< type: the last class that is_class() accepted
    std::string path;
    bool training = false;
    Py_ssize_t children = 0;
    bool has_hooks = false, has_pre_hooks = false, has_forward = false; ///< verified with these
    PyObject *object = nullptr, *dict = nullptr;                        ///< from the last look()
    PyObject *children_dict = nullptr, *parameters = nullptr, *buffers = nullptr; ///< in `dict`
  };
  struct Attribute {
    size_t module = 0;
    Object name;
    enum class Where { Own, NotOwn, Constant } where = Where::Own;
    Known value;
  };
  /// A dict that contains a compared value.
  struct Watch {
    PyObject *owner; ///< object whose __dict__ it is; nullptr if another watched dict holds it
    PyObject *dict;
    uint64_t version;
  };

  void add_module(PyObject *description, bool training) {
    Submodule one;
    const int64_t parent = integer_at(description, 0);
    one.parent = parent < 0 ? 0 : static_cast<size_t>(parent);
    one.name = item(description, 1);
    one.type_name = item(description, 2);
    one.children = static_cast<Py_ssize_t>(integer_at(description, 3));
    one.training = training;
    if (!modules_.empty()) {
      const std::string &above = modules_.at(one.parent).path;
      one.path = (above.empty() ? "" : above + ".") + text(one.name.get());
    }
    modules_.push_back(std::move(one));
  }

  void add_attribute(PyObject *description) {
    const size_t module = static_cast<size_t>(integer_at(description, 0));
    Object name = item(description, 1), value = item(description, 2);
    auto where = Attribute::Where::Own;
    if (PyTuple_Check(value.get())) {
      const std::string kind = text(item(value.get(), 0).get());
      if (kind == "class")
        where = Attribute::Where::NotOwn;
      else if (kind == "constant")
        where = Attribute::Where::Constant;
    }
    if (where == Attribute::Where::NotOwn)
      value = shared(Py_None);
    else if (where == Attribute::Where::Constant)
      value = item(value.get(), 1);
    const std::string known = text(name.get());
    Submodule &holder = modules_.at(module);
    holder.has_hooks |= known == "_forward_hooks";
    holder.has_pre_hooks |= known == "_forward_pre_hooks";
    holder.has_forward |= known == "forward";
    attributes_.push_back(
        {module, std::move(name), where, Known(value.get(), is_class_.get(), is_value_.get())});
  }

  void add_state(PyObject *names) {
    std::string path;
    const Py_ssize_t count = length(names);
    for (Py_ssize_t i = 0; i + 1 < count; ++i)
      path += (i ? "." : "") + text(item(names, i).get());
    for (size_t i = 0; i < modules_.size(); ++i)
      if (modules_[i].path == path) {
        state_.push_back({i, item(names, count - 1)});
        return;
      }
    throw std::invalid_argument("the description has no module " + path);
  }

  // ---- Comparison of versions

#if PY_VERSION_HEX < 0x030D0000
  static uint64_t version_of(PyObject *dict) {
    return reinterpret_cast<PyDictObject *>(dict)->ma_version_tag;
  }
  static constexpr bool kHasVersions = true;
#else
  static uint64_t version_of(PyObject *) { return 0; }
  static constexpr bool kHasVersions = false;
#endif

  /// Whether nothing changed since the last look() at this module. The watched dicts are alive:
  /// earlier ones hold later ones, and the earlier ones are checked first.
  bool is_unchanged(PyObject *module) {
    if (!kHasVersions || module != looked_at_ || Py_TYPE(module) != looked_at_type_)
      return false;
    for (const Watch &watch : watches_)
      if ((watch.owner && dict_of(watch.owner) != watch.dict) ||
          version_of(watch.dict) != watch.version)
        return false;
    for (const Submodule &one : modules_)
      if (reinterpret_cast<PyObject *>(Py_TYPE(one.object)) != one.type.get())
        return false;
    for (const size_t index : asked_always_)
      if (!is_attribute(attributes_[index]))
        return false;
    for (const Object &hooks : global_hooks_)
      if (PyDict_GET_SIZE(hooks.get()) != 0 && modules_.size() > 1)
        return false;
    return true;
  }

  void watch(PyObject *owner, PyObject *dict) {
    if (kHasVersions)
      watches_.push_back({owner, dict, version_of(dict)});
  }

  // ---- Comparison of everything

  bool look(PyObject *module, std::string &why) {
    looked_at_ = nullptr;
    watches_.clear();
    tensors_.clear();
    asked_always_.clear();
    for (size_t i = 0; i < modules_.size(); ++i)
      if (!look_at(i, module, why))
        return false;
    for (const Object &hooks : global_hooks_)
      if (PyDict_GET_SIZE(hooks.get()) != 0 && modules_.size() > 1) {
        why = "there are hooks for all modules";
        return false;
      }
    for (size_t i = 0; i < attributes_.size(); ++i) {
      Attribute &one = attributes_[i];
      if (!is_attribute(one)) {
        why = "another " + path_to(one.module, one.name.get());
        return false;
      }
      if (one.where == Attribute::Where::Constant || one.value.is_mutable())
        asked_always_.push_back(i);
    }
    for (const StatePlace &place : state_) {
      PyObject *tensor = tensor_at(place);
      if (!tensor) {
        why = "no tensor " + path_to(place.module, place.name.get());
        return false;
      }
      tensors_.push_back(tensor);
    }
    looked_at_ = module;
    looked_at_type_ = Py_TYPE(module);
    return true;
  }

  bool look_at(size_t index, PyObject *root, std::string &why) {
    Submodule &one = modules_[index];
    one.object = index == 0 ? root : child_of(modules_[one.parent], one.name.get());
    one.dict = one.object ? dict_of(one.object) : nullptr;
    if (!one.dict) {
      why = "no submodule " + one.path;
      return false;
    }
    PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(one.object));
    if (type != one.type.get()) {
      if (!agrees(is_class_.get(), type, one.type_name.get())) {
        why = index == 0 ? "the module's class is derived from, or replaced"
                         : "another class of " + one.path;
        return false;
      }
      one.type = shared(type);
    }
    watch(one.object, one.dict);
    const Names &names = Names::get();
    if (PyDict_GetItem(one.dict, names.training) != (one.training ? Py_True : Py_False)) {
      why = (index == 0 ? std::string("the module") : one.path) + " is " +
            (one.training ? "not in training mode" : "in training mode");
      return false;
    }
    one.children_dict = table(one, names.modules);
    one.parameters = table(one, names.parameters);
    one.buffers = table(one, names.buffers);
    if (!one.children_dict || !one.parameters || !one.buffers ||
        PyDict_GET_SIZE(one.children_dict) != one.children) {
      why = "other submodules" + (index == 0 ? std::string() : " of " + one.path);
      return false;
    }
    for (PyObject *held : {one.children_dict, one.parameters, one.buffers})
      watch(nullptr, held);
    return index == 0 || is_called_plainly(one, why);
  }

  bool is_called_plainly(const Submodule &one, std::string &why) {
    const Names &names = Names::get();
    PyObject *hooks = table(one, names.hooks), *pre_hooks = table(one, names.pre_hooks);
    if (!hooks || !pre_hooks || (!one.has_hooks && PyDict_GET_SIZE(hooks) != 0) ||
        (!one.has_pre_hooks && PyDict_GET_SIZE(pre_hooks) != 0)) {
      why = "a hook of " + one.path;
      return false;
    }
    watch(nullptr, hooks);
    watch(nullptr, pre_hooks);
    if (!one.has_forward && PyDict_GetItem(one.dict, names.forward)) {
      why = "another forward of " + one.path;
      return false;
    }
    return true;
  }

  static PyObject *table(const Submodule &module, PyObject *name) {
    PyObject *found = PyDict_GetItem(module.dict, name);
    return found && PyDict_Check(found) ? found : nullptr;
  }
  static PyObject *child_of(const Submodule &parent, PyObject *name) {
    return PyDict_GetItem(parent.children_dict, name);
  }

  bool is_attribute(Attribute &attribute) {
    const Submodule &module = modules_[attribute.module];
    PyObject *own = PyDict_GetItem(module.dict, attribute.name.get());
    if (attribute.where == Attribute::Where::NotOwn)
      return !own;
    if (attribute.where == Attribute::Where::Constant) {
      const Object value(own ? nullptr : PyObject_GetAttr(module.object, attribute.name.get()));
      if (!value)
        PyErr_Clear();
      return value && attribute.value.is(value.get(), modules_[0].object);
    }
    for (PyObject *held : {module.parameters, module.buffers, module.children_dict})
      if (!own)
        own = PyDict_GetItem(held, attribute.name.get());
    return own && attribute.value.is(own, modules_[0].object);
  }

  PyObject *tensor_at(const StatePlace &place) const {
    const Submodule &module = modules_[place.module];
    for (PyObject *held : {module.parameters, module.buffers})
      if (PyObject *found = PyDict_GetItem(held, place.name.get()))
        return found;
    return PyDict_GetItem(module.dict, place.name.get());
  }

  std::string path_to(size_t module, PyObject *name) const {
    const std::string &path = modules_[module].path;
    return (path.empty() ? "" : path + ".") + text(name);
  }

  Object is_class_, is_value_;
  Flags flags_;
  std::vector<Submodule> modules_; ///< parents first
  std::vector<Attribute> attributes_;
  std::vector<Object> global_hooks_;
  std::vector<StatePlace> state_;
  PyObject *looked_at_ = nullptr; ///< the module of the last successful look()
  PyTypeObject *looked_at_type_ = nullptr;
  std::vector<Watch> watches_; ///< ordered: a dict comes after the dict that holds it
  std::vector<size_t> asked_always_;
  std::vector<PyObject *> tensors_; ///< from the last look(), in the order of the state
};

} // namespace warpwright
