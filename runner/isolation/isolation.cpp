// Kinds of workers, switches and reports of isolation. guest.cpp enters the layers.
#include "runner/isolation/isolation.h"
#include "runner/isolation/requirement.h"
#include "runner/isolation/supervisor.h"
#include "runner/isolation/system_calls.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace warpwright::runner {

using nlohmann::json;

const char *name(WorkerKind kind) {
  switch (kind) {
  case WorkerKind::Cpu:
    return "cpu";
  case WorkerKind::Compiler:
    return "compiler";
  case WorkerKind::Cuda:
    return "cuda";
  case WorkerKind::Python:
    return "python";
  default:
    return "candidate";
  }
}

const std::vector<std::string> &inherited_variables() {
  static const std::vector<std::string> names = {"PATH",
                                                 "HOME",
                                                 "USER",
                                                 "LANG",
                                                 "LC_*",
                                                 "TZ",
                                                 "TMPDIR",
                                                 "XDG_CACHE_HOME",
                                                 "VIRTUAL_ENV",
                                                 "LD_LIBRARY_PATH",
                                                 "LD_PRELOAD",
                                                 "CUDA_*",
                                                 "NVIDIA_*",
                                                 "PYTHON*",
                                                 "CONDA_PREFIX",
                                                 "TORCH*",
                                                 "PYTORCH_*",
                                                 "TRITON_*",
                                                 "OMP_NUM_THREADS",
                                                 "CC",
                                                 "CXX",
                                                 "ASAN_OPTIONS",
                                                 "UBSAN_OPTIONS",
                                                 "WARPWRIGHT_ISOLATION*",
                                                 "WARPWRIGHT_REQUIRED_ISOLATION",
                                                 "WARPWRIGHT_PYTHON",
                                                 "WARPWRIGHT_WORKER_*",
                                                 "WARPWRIGHT_FAKE_*",
                                                 "WARPWRIGHT_TEST_*"};
  return names;
}

Result<bool> is_isolation_on() {
  const char *chosen = std::getenv("WARPWRIGHT_ISOLATION");
  const std::string mode = chosen ? chosen : "";
  if (mode.empty() || mode == "builtin")
    return true;
  if (mode == "off")
    return false;
  return fail("WARPWRIGHT_ISOLATION is \"" + mode + "\"", "Set it to builtin or off");
}

bool is_wanted(const std::string &layer) {
  const char *without = std::getenv("WARPWRIGHT_ISOLATION_WITHOUT");
  std::stringstream text(without ? without : "");
  for (std::string name; std::getline(text, name, ',');)
    if (name == layer)
      return false;
  return true;
}

Result<Isolation> Isolation::enter(const Sandbox &sandbox) {
  return Supervisor({}).enclose(sandbox);
}

Isolation Isolation::resume(WorkerKind kind) {
  Isolation isolation;
  isolation.kind_ = kind;
  const char *told = std::getenv(kEnclosedVariable);
  isolation.layers_ = layers_from_json(json::parse(told ? told : "", nullptr, false));
  isolation.off_ = !is_isolation_on().value_or(true);
  if (isolation.layers_.empty())
    isolation.layers_.push_back({"isolation", false,
                                 isolation.off_ ? "turned off by WARPWRIGHT_ISOLATION"
                                                : "started outside of an enclosure"});
  return isolation;
}

void Isolation::seal() {
  if (off_)
    return;
  IsolationLayer whole = {"system calls", false, "turned off by WARPWRIGHT_ISOLATION_WITHOUT"};
  if (is_wanted(whole.name))
    whole = filter_system_calls(kind_, FilterPart::Whole);
  add_filter(layers_, whole);
}

std::string Isolation::missing() const {
  const Requirement required = requirement_from_environment();
  // An operator may turn isolation off only for this machine's own work.
  return off_ && required != Requirement::Remote ? "" : what_is_missing(kind_, required, layers_);
}

void add_filter(std::vector<IsolationLayer> &layers, const IsolationLayer &filter) {
  const auto entered = std::ranges::find(layers, filter.name, &IsolationLayer::name);
  (entered == layers.end() ? layers.emplace_back() : *entered) = filter;
  for (IsolationLayer &layer : layers)
    if (filter.active && layer.name == "network" && !layer.active)
      layer = {"network", true, "sockets that reach out are refused; " + layer.detail};
}

json to_json(const std::vector<IsolationLayer> &layers) {
  json list = json::array();
  for (const IsolationLayer &layer : layers)
    list.push_back({{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return list;
}

std::vector<IsolationLayer> layers_from_json(const json &document) {
  std::vector<IsolationLayer> layers;
  for (const json &layer : document.is_array() ? document : json::array())
    if (layer.is_object() && layer.value("name", json()).is_string())
      layers.push_back({layer["name"], layer.value("active", json()) == true,
                        layer.value("detail", json()).is_string() ? layer["detail"] : ""});
  return layers;
}

} // namespace warpwright::runner
