#include "analysis/task/host_memory.h"

namespace warpwright::analysis {
namespace {

constexpr const char *kZeroed = "#zeroed"; ///< cell of a block whose absent cells are zero

/// Returns true if a path names the cell `above` or a part of it.
bool is_below(const std::string &path, const std::string &above) {
  if (!path.starts_with(above))
    return false;
  return path.size() == above.size() || above.empty() ||
         std::string_view(".[#").contains(path[above.size()]);
}

} // namespace

HostPlace RunValue::pointee(std::int64_t elements) const {
  if (kind != Kind::Pointer || !place.is_known())
    return {};
  if (is_element)
    return place.element(integer + elements);
  return elements == 0 ? place : HostPlace{};
}

std::optional<double> RunValue::number() const {
  if (kind == Kind::Integer)
    return static_cast<double>(integer);
  return kind == Kind::Floating ? std::optional(floating) : std::nullopt;
}

RunValue integer_value(std::int64_t value) {
  RunValue result;
  result.kind = RunValue::Kind::Integer;
  result.integer = value;
  return result;
}

RunValue floating_value(double value) {
  RunValue result;
  result.kind = RunValue::Kind::Floating;
  result.floating = value;
  return result;
}

RunValue text_value(std::string text) {
  RunValue result;
  result.kind = RunValue::Kind::Text;
  result.text = std::move(text);
  return result;
}

RunValue pointer_value(HostPlace place, bool is_element, std::int64_t index) {
  RunValue result;
  if (!place.is_known())
    return result;
  result.kind = RunValue::Kind::Pointer;
  result.place = std::move(place);
  result.is_element = is_element;
  result.integer = index;
  return result;
}

RunValue record_value(HostPlace place) {
  RunValue result;
  if (!place.is_known())
    return result;
  result.kind = RunValue::Kind::Record;
  result.place = std::move(place);
  return result;
}

HostPlace HostMemory::allocate(bool is_zeroed) {
  blocks_.emplace_back();
  escaped_.push_back(false);
  if (is_zeroed)
    blocks_.back()[kZeroed] = integer_value(1);
  return {static_cast<int>(blocks_.size()) - 1, ""};
}

RunValue HostMemory::read(const HostPlace &place) const {
  if (!place.is_known())
    return {};
  const Cells &cells = blocks_[static_cast<std::size_t>(place.block)];
  if (const auto found = cells.find(place.path); found != cells.end())
    return found->second;
  return cells.contains(kZeroed) && !place.path.contains('#') ? integer_value(0) : RunValue{};
}

void HostMemory::set(int block, const std::string &path, const std::optional<RunValue> &value) {
  Cells &cells = blocks_[static_cast<std::size_t>(block)];
  const auto found = cells.find(path);
  if (!records_.empty())
    records_.back().try_emplace({block, path}, found == cells.end()
                                                   ? std::nullopt
                                                   : std::optional<RunValue>(found->second));
  if (value)
    cells[path] = *value;
  else if (found != cells.end())
    cells.erase(found);
}

void HostMemory::write(const HostPlace &place, const RunValue &value) {
  if (!place.is_known())
    return forget_escaped();
  if (blocks_[static_cast<std::size_t>(place.block)].size() >= kMostCells)
    return forget({place.block, ""});
  if (!value.is(RunValue::Kind::Record))
    return set(place.block, place.path, value);
  if (value.place == place)
    return;
  const Cells source = blocks_[static_cast<std::size_t>(value.place.block)];
  const bool is_zeroed = source.contains(kZeroed);
  forget(place);
  if (is_zeroed && place.path.empty())
    set(place.block, kZeroed, integer_value(1));
  for (const auto &[path, cell] : source)
    if (path != kZeroed && is_below(path, value.place.path))
      set(place.block, place.path + path.substr(value.place.path.size()), cell);
}

void HostMemory::forget(const HostPlace &place) {
  if (!place.is_known())
    return forget_escaped();
  std::vector<std::string> gone;
  for (const auto &[path, cell] : blocks_[static_cast<std::size_t>(place.block)])
    if (path != "#bytes" && (path == kZeroed || is_below(path, place.path)))
      gone.push_back(path);
  for (const std::string &path : gone) {
    const RunValue old = read({place.block, path});
    if (old.is(RunValue::Kind::Pointer) && old.place.is_known())
      escaped_[static_cast<std::size_t>(old.place.block)] = true;
    set(place.block, path, std::nullopt);
  }
  // The cell itself may be absent and still be written by others.
  set(place.block, place.path, std::nullopt);
}

void HostMemory::forget_escaped() {
  for (std::size_t block = 0; block < blocks_.size(); ++block)
    if (escaped_[block])
      forget({static_cast<int>(block), ""});
}

void HostMemory::escape(const HostPlace &place) {
  if (place.is_known())
    escaped_[static_cast<std::size_t>(place.block)] = true;
}

HostMemory::Record HostMemory::end_record() {
  Record record = std::move(records_.back());
  records_.pop_back();
  if (!records_.empty())
    for (const auto &[cell, old] : record)
      records_.back().try_emplace(cell, old);
  return record;
}

HostMemory::Record HostMemory::values_of(const Record &record) const {
  Record values;
  for (const auto &[cell, old] : record) {
    const Cells &cells = blocks_[static_cast<std::size_t>(cell.first)];
    const auto found = cells.find(cell.second);
    values[cell] = found == cells.end() ? std::nullopt : std::optional<RunValue>(found->second);
  }
  return values;
}

void HostMemory::restore(const Record &record) {
  for (const auto &[cell, old] : record)
    set(cell.first, cell.second, old);
}

void HostMemory::forget(const Record &record) {
  for (const auto &[cell, old] : record) {
    if (cell.second == "#bytes")
      continue;
    const RunValue now = read({cell.first, cell.second});
    if (now.is(RunValue::Kind::Pointer) && now.place.is_known())
      escaped_[static_cast<std::size_t>(now.place.block)] = true;
    // A zeroed block whose cell is unknown keeps no zeros.
    if (blocks_[static_cast<std::size_t>(cell.first)].contains(kZeroed))
      set(cell.first, kZeroed, std::nullopt);
    set(cell.first, cell.second, std::nullopt);
  }
}

} // namespace warpwright::analysis
