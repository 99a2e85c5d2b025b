#include "generator/planning/overlapped_launches.h"

#include "generator/elements/family.h"

namespace warpwright::planning {
namespace {

constexpr std::string_view kKernel = "extern \"C\" __global__ ";
constexpr std::string_view kWait =
    "\n  asm volatile(\"griddepcontrol.launch_dependents;\\ngriddepcontrol.wait;\" ::: \"memory\");\n";

/// The assembler takes loads through `const __restrict__` parameters of a kernel for loads of constant memory and moves
/// them before the wait. It cannot follow a pointer through this.
constexpr std::string_view kHidden = R"cuda(template <class T>
__device__ __forceinline__ T *warpwright_after_wait(T *pointer) {
  auto address = __cvta_generic_to_global(pointer);
  asm volatile("" : "+l"(address) :: "memory");
  return static_cast<T *>(__cvta_global_to_generic(address));
}
)cuda";

/// Writes the kernel as a function after the wait, whose `__restrict__` parameters keep what the compiler knows of them.
/// Tensor maps cannot be passed on.
std::string waiting(const std::string &head, const std::string &name, const std::string &list) {
  const bool has_maps = list.find("__grid_constant__") != std::string::npos;
  std::string hidden, arguments;
  for (const auto &[type, parameter] : elements::parameters_in(list)) {
    const bool pointer = type.find('*') != std::string::npos;
    const std::string value = pointer ? "warpwright_after_wait(" + parameter + ")" : parameter;
    arguments += (arguments.empty() ? "" : ", ") + value;
    if (has_maps && pointer)
      hidden += "  " + parameter + " = " + value + ";\n";
  }
  const std::string begin = head + "{" + kWait.data() + hidden;
  if (has_maps)
    return begin;
  const std::string function =
      "static __device__ __forceinline__ void " + name + "_after_wait(" + list + ")";
  return function + ";\n" + begin + "  " + name + "_after_wait(" + arguments + ");\n}\n" +
         function + " {";
}

} // namespace

void overlap_launches(model::Plan &plan) {
  std::string source(kHidden);
  std::size_t done = 0;
  for (std::size_t at = plan.source.find(kKernel); at != std::string::npos;
       at = plan.source.find(kKernel, done)) {
    source += plan.source.substr(done, at - done);
    const std::size_t body = plan.source.find('{', at);
    const std::string head = plan.source.substr(at, body - at);
    const std::size_t close = head.rfind(')'), open = head.rfind('(', close),
                      name_end = head.find_last_not_of(" \n", open - 1) + 1,
                      name = head.find_last_of(" \n", name_end - 1) + 1;
    source += waiting(head, head.substr(name, name_end - name), head.substr(open + 1, close - open - 1));
    done = body + 1;
  }
  plan.source = source + plan.source.substr(done);
  for (model::Step &step : plan.steps)
    if (auto *launch = std::get_if<model::LaunchStep>(&step))
      launch->overlapped = !launch->cooperative && !launch->kernel.starts_with("written_");
}

} // namespace warpwright::planning
