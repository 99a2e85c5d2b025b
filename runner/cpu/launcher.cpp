// Launch limits and the loop over blocks. Limits: CUDA programming guide, "Technical Specifications
// per Compute Capability", column 9.0.
#include "runner/cpu/launcher.h"

#include "arch/gpu.h"

#include "runner/cpu/faults.h"

#include <cstring>
#include <sys/mman.h>

namespace warpwright::runner::cpu {
namespace {

constexpr std::uint64_t kMaxThreads = 1024, kMaxBlockZ = 64, kMaxGridX = 2147483647,
                        kMaxGridYz = 65535;
const std::uint64_t kMaxShared =
    static_cast<std::uint64_t>(arch::gpu_named("cpu")->shared_bytes_block);

char *dynamic_shared = nullptr; // read by kernel code

std::string triple(const std::uint32_t *v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::unexpected<Fault> refuse(const LaunchOperation &operation, const std::string &why) {
  return fault(Fault::Kind::BadLaunch, "cannot launch '" + operation.kernel_name + "': " + why);
}

DeviceResult<void> check_shape(const LaunchOperation &operation, const KernelForm &form) {
  const auto &grid = operation.grid, &block = operation.block;
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads == 0 || std::uint64_t{grid[0]} * grid[1] * grid[2] == 0)
    return refuse(operation, "invalid configuration, grid " + triple(grid.data()) + " of blocks " +
                                 triple(block.data()) + " has no threads");
  if (threads > kMaxThreads || block[0] > kMaxThreads || block[1] > kMaxThreads ||
      block[2] > kMaxBlockZ)
    return refuse(operation, "invalid configuration, block " + triple(block.data()) +
                                 " exceeds 1024 threads or (1024,1024,64)");
  if (grid[0] > kMaxGridX || grid[1] > kMaxGridYz || grid[2] > kMaxGridYz)
    return refuse(operation, "invalid configuration, grid " + triple(grid.data()) +
                                 " exceeds (2147483647,65535,65535)");
  if (operation.cooperative && std::uint64_t{grid[0]} * grid[1] * grid[2] > 1)
    return fault(Fault::Kind::Unsupported,
                 "'" + operation.kernel_name + "' needs " +
                     std::to_string(std::uint64_t{grid[0]} * grid[1] * grid[2]) +
                     " resident blocks, and the CPU backend runs one block after the other");
  const std::uint64_t shared = operation.shared_bytes + form.shared_bytes();
  if (shared > kMaxShared)
    return refuse(operation, "too many resources requested, " + std::to_string(shared) +
                                 " bytes of shared memory, at most " + std::to_string(kMaxShared));
  return {};
}

DeviceResult<void> pack(const LaunchOperation &operation, const std::vector<std::uint32_t> &sizes,
                        std::vector<unsigned char> &packed) {
  if (operation.arguments.size() != sizes.size())
    return refuse(operation, "it takes " + std::to_string(sizes.size()) +
                                 " arguments, the launch passes " +
                                 std::to_string(operation.arguments.size()));
  packed.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ArgumentValue &argument = operation.arguments[i];
    if (argument.map)
      return fault(Fault::Kind::Unsupported,
                   operation.kernel_name +
                       " copies tiles by a tensor map, which the CPU backend does not have");
    if (argument.size_bytes != sizes[i])
      return refuse(operation, "argument " + std::to_string(i + 1) + " has " +
                                   std::to_string(argument.size_bytes) + " bytes, the parameter " +
                                   std::to_string(sizes[i]));
    const std::size_t offset = packed.size();
    packed.resize(offset + (argument.bytes.size() + 15) / 16 * 16);
    std::memcpy(packed.data() + offset, argument.bytes.data(), argument.size_bytes);
  }
  return {};
}

} // namespace

std::vector<std::pair<const char *, void *>> launcher_symbols() {
  return {{kDynamicShared, &dynamic_shared}};
}

DynamicShared::DynamicShared() {
  void *mapping = ::mmap(nullptr, kBytes + 2 * kGuard, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return;
  memory_ = static_cast<char *>(mapping) + kGuard;
  ::mprotect(memory_, kBytes, PROT_READ | PROT_WRITE);
}

DynamicShared::~DynamicShared() {
  if (memory_)
    ::munmap(memory_ - kGuard, kBytes + 2 * kGuard);
}

char *DynamicShared::place(std::size_t size_bytes) const {
  return memory_ + kBytes - (size_bytes + 15) / 16 * 16;
}

bool DynamicShared::contains(Address address) const {
  const Address start = reinterpret_cast<Address>(memory_);
  return memory_ && address >= start - kGuard && address < start + kBytes + kGuard;
}

DeviceResult<void> Launcher::run(const Request &request) {
  const LaunchOperation &operation = request.operation;
  TRY(check_shape(operation, request.form));
  TRY(pack(operation, request.parameter_sizes, arguments_));
  if (request.form.fibers &&
      !scheduler_.prepare(std::size_t{operation.block[0]} * operation.block[1] * operation.block[2],
                          request.barrier_sites))
    return fault(Fault::Kind::OutOfMemory, "no memory for the stacks of a block's threads");
  std::memcpy(shape_ + 3, operation.block.data(), sizeof(operation.block));
  std::memcpy(shape_ + 6, operation.grid.data(), sizeof(operation.grid));
  dynamic_shared = dynamic_.place(operation.shared_bytes);
  set_active_scheduler(&scheduler_);
  request_ = &request;
  std::optional<Fault> ended =
      guarded(&Launcher::body, this, {request.deadline, &Launcher::describe_address, this});
  if (!ended)
    return {};
  if (ended->kind == Fault::Kind::Timeout)
    ended->message = "kernel '" + operation.kernel_name + "' did not end before the deadline";
  else
    ended->message = "kernel '" + operation.kernel_name + "': " + ended->message + where();
  return std::unexpected(std::move(*ended));
}

void Launcher::body(void *self) { static_cast<Launcher *>(self)->run_blocks(); }

void Launcher::run_blocks() {
  const auto &grid = request_->operation.grid;
  const bool forward = request_->order == ThreadOrder::Forward;
  for (std::uint32_t z = 0; z < grid[2]; ++z)
    for (std::uint32_t y = 0; y < grid[1]; ++y)
      for (std::uint32_t x = 0; x < grid[0]; ++x)
        forward ? run_block(x, y, z) : run_block(grid[0] - 1 - x, grid[1] - 1 - y, grid[2] - 1 - z);
}

void Launcher::run_block(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  shape_[0] = x, shape_[1] = y, shape_[2] = z;
  poison_shared();
  const LinkedKernel &kernel = request_->kernel;
  if (request_->form.fibers)
    scheduler_.run_block(kernel.thread, arguments_.data(), shape_, request_->order);
  else
    (request_->order == ThreadOrder::Forward ? kernel.block_forward
                                             : kernel.block_reverse)(arguments_.data(), shape_);
}

void Launcher::poison_shared() const {
  // Must differ from the poison of the outputs in the same run (verify/guarded_buffer.h). Otherwise
  // a kernel that copies uninitialized shared memory would look like one that writes nothing.
  const int byte = request_->order == ThreadOrder::Forward ? 0x7B : 0xFF;
  for (auto [address, size_bytes] : request_->kernel.shared)
    std::memset(address, byte, size_bytes);
  if (request_->operation.shared_bytes)
    std::memset(dynamic_shared, byte, (request_->operation.shared_bytes + 15) / 16 * 16);
}

std::string Launcher::where() const {
  std::string text = " in block " + triple(shape_);
  if (request_->form.fibers)
    text = ", " + scheduler_.running_thread() + text;
  return text;
}

std::string Launcher::describe_address(void *raw, std::uintptr_t address) {
  const Launcher &self = *static_cast<Launcher *>(raw);
  if (self.scheduler_.stacks().is_guard(address))
    return "below the thread's stack: recursion too deep, or local arrays above " +
           std::to_string(FiberStacks::kStackBytes / 1024) + " KiB";
  if (self.dynamic_.contains(address)) {
    const std::uint32_t size_bytes = self.request_->operation.shared_bytes;
    const Address end = self.dynamic_.end();
    return address < end
               ? "before dynamic shared memory"
               : std::to_string(address - end) + " bytes past the end of dynamic shared memory (" +
                     std::to_string(size_bytes) + " bytes)";
  }
  return self.memory_.describe(address);
}

} // namespace warpwright::runner::cpu
