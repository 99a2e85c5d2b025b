// Implementation of GuardedMemory: mappings, and the search for the name nearest to an address.
#include "runner/cpu/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace warpwright::runner::cpu {
namespace {

constexpr std::size_t kGuardBytes = 64u << 20;

std::size_t most_bytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) / 4 *
         static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::string bytes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string relative_to(Address address, Address start, std::size_t size_bytes,
                        const std::string &what) {
  const std::string whole = what + " (" + bytes(size_bytes) + ")";
  if (address < start)
    return bytes(start - address) + " before the start of " + whole;
  if (address < start + size_bytes)
    return "at byte " + std::to_string(address - start) + " of " + whole;
  if (address == start + size_bytes)
    return "just past the end of " + whole;
  return bytes(address - start - size_bytes) + " past the end of " + whole;
}

std::uint64_t distance(Address address, Address start, std::size_t size_bytes) {
  if (address < start)
    return start - address;
  return address < start + size_bytes ? 0 : address - start - size_bytes + 1;
}

} // namespace

GuardedMemory::~GuardedMemory() {
  for (const auto &[address, allocation] : allocations_)
    ::munmap(allocation.mapping, allocation.mapping_bytes);
}

DeviceResult<Address> GuardedMemory::allocate(std::size_t size_bytes) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t inner = (size_bytes + page - 1) / page * page;
  if (inner > most_bytes() - std::min(most_bytes(), allocated_bytes_))
    return fault(Fault::Kind::OutOfMemory,
                 "cannot allocate " + bytes(size_bytes) + ": the CPU backend gives a job at most " +
                     bytes(most_bytes()) + ", a quarter of this machine's memory");
  Allocation allocation;
  allocation.size_bytes = size_bytes;
  allocation.mapping_bytes = inner + 2 * kGuardBytes;
  allocation.mapping = ::mmap(nullptr, allocation.mapping_bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (allocation.mapping == MAP_FAILED)
    return fault(Fault::Kind::OutOfMemory,
                 "cannot reserve " + bytes(size_bytes) + " of memory: " + std::strerror(errno));
  char *start = static_cast<char *>(allocation.mapping) + kGuardBytes;
  if (!commit(allocation, start, inner)) {
    std::string reason = std::strerror(errno);
    ::munmap(allocation.mapping, allocation.mapping_bytes);
    return fault(Fault::Kind::OutOfMemory,
                 "cannot allocate " + bytes(size_bytes) + " of memory: " + reason);
  }
  std::memset(start, 0xFF, inner - size_bytes);
  const Address address = reinterpret_cast<Address>(start + inner - size_bytes);
  allocations_.emplace(address, std::move(allocation));
  allocated_bytes_ += inner;
  return address;
}

/// Makes the pages between the guards accessible. The pages are private, or the first free range of
/// the shared memory that is large enough.
bool GuardedMemory::commit(Allocation &allocation, char *start, std::size_t inner) {
  if (shared_.descriptor < 0)
    return ::mprotect(start, inner, PROT_READ | PROT_WRITE) == 0;
  std::uint64_t offset = 0;
  for (const auto &[taken, bytes] : taken_) {
    if (taken - offset >= inner)
      break;
    offset = taken + bytes;
  }
  if (offset + inner > shared_.size_bytes) {
    errno = ENOMEM;
    return false;
  }
  if (::mmap(start, inner, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared_.descriptor,
             static_cast<off_t>(offset)) == MAP_FAILED)
    return false;
  taken_.emplace(offset, inner);
  allocation.offset = offset;
  return true;
}

std::uint64_t GuardedMemory::offset_of(Address address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin())
    return 0;
  const Allocation &allocation = std::prev(after)->second;
  const auto first = reinterpret_cast<Address>(allocation.mapping) + kGuardBytes;
  return allocation.offset + (address - first);
}

void GuardedMemory::free(Address address) {
  auto found = allocations_.find(address);
  if (found == allocations_.end())
    return;
  if (shared_.descriptor >= 0) {
    char *start = static_cast<char *>(found->second.mapping) + kGuardBytes;
    ::madvise(start, found->second.mapping_bytes - 2 * kGuardBytes, MADV_REMOVE);
    taken_.erase(found->second.offset);
  }
  ::munmap(found->second.mapping, found->second.mapping_bytes);
  allocated_bytes_ -= found->second.mapping_bytes - 2 * kGuardBytes;
  allocations_.erase(found);
}

void GuardedMemory::set_name(Address address, std::size_t size_bytes, std::string name) {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin())
    return;
  Allocation &allocation = std::prev(after)->second;
  allocation.names[address] = Named{size_bytes, std::move(name)};
}

std::string GuardedMemory::describe(Address address) const {
  for (const auto &[start, allocation] : allocations_) {
    const Address from = reinterpret_cast<Address>(allocation.mapping);
    if (address < from || address >= from + allocation.mapping_bytes)
      continue;
    std::string best = relative_to(address, start, allocation.size_bytes, "an allocation");
    std::uint64_t nearest = ~0ull;
    for (const auto &[named_start, named] : allocation.names)
      if (std::uint64_t away = distance(address, named_start, named.size_bytes); away < nearest) {
        nearest = away;
        best = relative_to(address, named_start, named.size_bytes, "'" + named.name + "'");
      }
    return best;
  }
  if (address < 4096)
    return "through a null pointer";
  char text[32];
  std::snprintf(text, sizeof(text), "%#llx", static_cast<unsigned long long>(address));
  return std::string("at address ") + text + ", far from any buffer";
}

} // namespace warpwright::runner::cpu
