// Layout, filling and checking of guarded buffers. The guards are small: they are read back whole.
#include "runner/verify/guarded_buffer.h"

#include <algorithm>
#include <utility>

namespace warpwright::runner {
namespace {

constexpr std::size_t kGuardBytes = 64 * 1024, kWideGuardBytes = 1024 * 1024;

std::size_t rounded_up(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace

DeviceResult<GuardedBuffer> GuardedBuffer::make(Device &device, std::size_t size_bytes,
                                                std::size_t offset_bytes, bool wide) {
  GuardedBuffer buffer;
  const std::size_t guard = wide ? kWideGuardBytes : kGuardBytes;
  const std::size_t back = device.capabilities().has_guard_pages && !wide ? 0 : guard;
  buffer.front_bytes_ = guard + offset_bytes;
  buffer.size_bytes_ = size_bytes;
  buffer.total_bytes_ = rounded_up(buffer.front_bytes_ + size_bytes) + back;
  auto base = device.allocate(buffer.total_bytes_);
  if (!base)
    return std::unexpected(base.error());
  buffer.base_ = *base;
  buffer.device_ = &device;
  return buffer;
}

GuardedBuffer &GuardedBuffer::operator=(GuardedBuffer &&other) noexcept {
  std::swap(device_, other.device_);
  std::swap(base_, other.base_);
  std::swap(front_bytes_, other.front_bytes_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(total_bytes_, other.total_bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (device_)
    device_->free(base_);
}

DeviceResult<void> GuardedBuffer::poison_payload(unsigned char byte) const {
  return size_bytes_ == 0 ? DeviceResult<void>{} : device_->fill({address(), byte, size_bytes_});
}

DeviceResult<void> GuardedBuffer::poison_guards(unsigned char byte) const {
  if (auto front = device_->fill({base_, byte, front_bytes_}); !front)
    return front;
  const std::size_t back = total_bytes_ - front_bytes_ - size_bytes_;
  return back == 0 ? DeviceResult<void>{} : device_->fill({address() + size_bytes_, byte, back});
}

DeviceResult<std::optional<std::string>> GuardedBuffer::find_damage(unsigned char byte) const {
  const std::size_t back = total_bytes_ - front_bytes_ - size_bytes_;
  std::vector<unsigned char> bytes(std::max(front_bytes_, back));
  if (auto read = device_->download(bytes.data(), base_, front_bytes_); !read)
    return std::unexpected(read.error());
  for (std::size_t i = front_bytes_; i > 0; --i)
    if (bytes[i - 1] != byte)
      return std::to_string(front_bytes_ - i + 1) + " bytes before its start";
  if (back == 0)
    return std::nullopt;
  if (auto read = device_->download(bytes.data(), address() + size_bytes_, back); !read)
    return std::unexpected(read.error());
  for (std::size_t i = 0; i < back; ++i)
    if (bytes[i] != byte)
      return std::to_string(i) + " bytes past its end";
  return std::nullopt;
}

} // namespace warpwright::runner
