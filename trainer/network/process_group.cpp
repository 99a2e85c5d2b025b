// Process group of c10d over a TCP store: Gloo on CPUs, NCCL on GPUs, as far as this LibTorch has them with headers.
#include "trainer/network/process_group.h"

#include <ATen/ATen.h>
#include <cstdlib>

#if __has_include(<gloo/rendezvous/store.h>)
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#if defined(WARPWRIGHT_NCCL)
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace warpwright::trainer {
namespace {

using Reduce = std::function<void(at::Tensor &)>;

struct Joined {
  World world;
  at::Device device = at::kCPU; ///< device of tensors to reduce
  Reduce sum;                   ///< sums in place; empty with one process
};

/// The world of this process. It is global because every average needs it and a process is in one world only.
Joined &joined() {
  static Joined value;
  return value;
}

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

template <class Group>
Reduce sum_with(c10::intrusive_ptr<Group> group) {
  return [group](at::Tensor &tensor) {
    std::vector<at::Tensor> tensors{tensor};
    group->allreduce(tensors)->wait();
  };
}

c10::intrusive_ptr<c10d::Store> store_of(const World &world) {
  c10d::TCPStoreOptions options;
  options.port = std::uint16_t(std::atoi(variable("MASTER_PORT").c_str()));
  // The agent of torchrun may serve the store already.
  options.isServer = world.rank == 0 && variable("TORCHELASTIC_USE_AGENT_STORE") != "True";
  options.numWorkers = world.size;
  options.waitWorkers = false;
  auto store = c10::make_intrusive<c10d::TCPStore>(variable("MASTER_ADDR"), options);
  return c10::make_intrusive<c10d::PrefixStore>("warpwright", store);
}

Reduce connect(const World &world, const at::Device &device, std::string &problem) {
  [[maybe_unused]] const auto store = [&] { return store_of(world); };
#if defined(WARPWRIGHT_NCCL)
  if (device.is_cuda())
    return sum_with(c10::make_intrusive<c10d::ProcessGroupNCCL>(store(), world.rank, world.size));
#endif
#if defined(USE_C10D_GLOO)
  if (device.is_cpu()) {
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
    return sum_with(
        c10::make_intrusive<c10d::ProcessGroupGloo>(store(), world.rank, world.size, options));
  }
#endif
  problem = "this build has no c10d backend for " + device.str();
  return {};
}

} // namespace

World join_world(const std::string &device, std::string &problem) {
  World world;
  const std::string size = variable("WORLD_SIZE"), rank = variable("RANK");
  if (size.empty() || rank.empty() || size == "1")
    return world;
  world.size = std::atoi(size.c_str());
  world.rank = std::atoi(rank.c_str());
  try {
    joined().device = at::Device(device);
    joined().sum = connect(world, joined().device, problem);
  } catch (const std::exception &error) { // thrown by LibTorch
    problem = error.what();
  }
  if (!joined().sum)
    return {};
  joined().world = world;
  return world;
}

void average_over_world(std::vector<at::Tensor> &tensors) {
  if (!joined().sum)
    return;
  std::vector<at::Tensor> flat;
  for (const at::Tensor &tensor : tensors)
    flat.push_back(tensor.reshape({-1}));
  at::Tensor all = at::cat(flat);
  joined().sum(all);
  all.div_(double(joined().world.size));
  std::int64_t start = 0;
  for (at::Tensor &tensor : tensors) {
    tensor = all.narrow(0, start, tensor.numel()).view(tensor.sizes());
    start += tensor.numel();
  }
}

std::vector<double> average_over_world(const std::vector<double> &values) {
  if (!joined().sum || values.empty())
    return values;
  at::Tensor all = at::tensor(values, at::kDouble).to(joined().device);
  joined().sum(all);
  all = (all / double(joined().world.size)).to(at::kCPU);
  return {all.data_ptr<double>(), all.data_ptr<double>() + all.numel()};
}

} // namespace warpwright::trainer
