// Layout and filling of guarded buffers.
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
  buffer.base_ = TRY(device.allocate(buffer.total_bytes_));
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
  TRY(device_->fill({base_, byte, front_bytes_}));
  const std::size_t back = total_bytes_ - front_bytes_ - size_bytes_;
  return back == 0 ? DeviceResult<void>{} : device_->fill({address() + size_bytes_, byte, back});
}

std::vector<element::Guard> GuardedBuffer::guards() const {
  std::vector<element::Guard> all{{base_, front_bytes_}};
  if (const std::size_t back = total_bytes_ - front_bytes_ - size_bytes_; back > 0)
    all.push_back({address() + size_bytes_, back});
  return all;
}

std::string GuardedBuffer::damage_text(std::size_t which, const element::Marks &marks) const {
  return which == 0 ? std::to_string(front_bytes_ - marks.last) + " bytes before its start"
                    : std::to_string(marks.first) + " bytes past its end";
}

} // namespace warpwright::runner
