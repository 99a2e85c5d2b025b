// Implementation of Recording.
#include "runner/capture/recording.h"

#include <algorithm>

namespace warpwright::capture {
namespace {

/// A graph's GPU records come within this many launches of graphs.
constexpr std::size_t kGraphLaunchesKept = 1 << 16;
constexpr char kLongOrder[] = "the order has more lines than a capture keeps";
constexpr char kTooMany[] = "there are more distinct operations than a capture keeps";

template <class T>
void append(std::string &key, const T &value) {
  key.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Adds what distinguishes pointers: place and size, and which of them share an allocation.
/// Allocations themselves do not count, so buffers that a program swaps are one operation.
void append(std::string &key, const Pointer &pointer, std::vector<std::uint64_t> &allocations) {
  const auto found = std::ranges::find(allocations, pointer.allocation);
  append(key, found - allocations.begin());
  if (found == allocations.end())
    allocations.push_back(pointer.allocation);
  append(key, pointer.at);
  append(key, pointer.offset);
  append(key, pointer.extent_bytes);
  key += pointer.memory;
}

std::string rough_key(const Launch &launch) {
  std::string key = "launch " + launch.kernel + '\0';
  append(key, launch.grid);
  append(key, launch.block);
  append(key, launch.cluster);
  append(key, launch.cooperative);
  append(key, launch.shared_bytes);
  return key;
}

std::string rough_key(const Copy &copy) {
  std::string key = "copy " + copy.call + '\0' + copy.direction + '\0';
  append(key, copy.size_bytes.value_or(~0ull));
  return key;
}

std::string exact_key(const Launch &launch) {
  std::string key = rough_key(launch);
  std::vector<std::uint64_t> allocations;
  key += launch.parameters ? 'p' : '-';
  for (const Parameter &parameter : launch.parameters.value_or(std::vector<Parameter>())) {
    append(key, parameter.bytes.size());
    key += parameter.bytes;
    for (const Pointer &pointer : parameter.pointers)
      append(key, pointer, allocations);
  }
  return key;
}

std::string exact_key(const Copy &copy) {
  std::string key = rough_key(copy);
  std::vector<std::uint64_t> allocations;
  for (const auto *pointer : {&copy.to, &copy.from}) {
    key += *pointer ? 'p' : '-';
    if (*pointer)
      append(key, **pointer, allocations);
  }
  return key;
}

} // namespace

std::optional<Id>
Recording::find_locked(const std::string &exact, const std::string &rough,
                       const std::function<std::variant<Launch, Copy, Graph>(bool varied)> &make) {
  if (const auto found = ids_.find(exact); found != ids_.end())
    return found->second;
  std::size_t &variants = variants_[rough];
  const bool varied = variants >= limits_.variants;
  const std::string key = varied ? rough + "varied" : exact;
  if (const auto found = ids_.find(key); found != ids_.end())
    return found->second;
  if (entries_.size() >= limits_.operations)
    return std::nullopt;
  ++variants;
  const Id id = static_cast<Id>(entries_.size());
  entries_.push_back({.operation = make(varied), .statistics = {}, .samples_ns = {}});
  return ids_[key] = id;
}

std::uint64_t Recording::number_of(std::uint64_t driver_number) {
  return allocations_.try_emplace(driver_number, allocations_.size()).first->second;
}

std::optional<Id> Recording::find(Launch launch) {
  const std::string exact = exact_key(launch), rough = rough_key(launch);
  const std::lock_guard lock(mutex_);
  const auto id = find_locked(exact, rough, [&](bool varied) {
    if (varied)
      launch.parameters.reset();
    launch.varied = varied;
    for (std::size_t i = 0; launch.parameters && i < launch.parameters->size(); ++i)
      for (Pointer &pointer : (*launch.parameters)[i].pointers)
        pointer.allocation = number_of(pointer.allocation);
    return std::move(launch);
  });
  if (!id)
    skip_locked("launches", kTooMany);
  return id;
}

std::optional<Id> Recording::find(Copy copy) {
  const std::string exact = exact_key(copy), rough = rough_key(copy);
  const std::lock_guard lock(mutex_);
  const auto id = find_locked(exact, rough, [&](bool varied) {
    for (auto *pointer : {&copy.to, &copy.from})
      if (varied)
        pointer->reset();
      else if (*pointer)
        (*pointer)->allocation = number_of((*pointer)->allocation);
    copy.varied = varied;
    return std::move(copy);
  });
  if (!id)
    skip_locked("copies", kTooMany);
  return id;
}

std::optional<Id> Recording::find_graph(std::uint64_t number) {
  const std::string key = "graph " + std::to_string(number);
  const std::lock_guard lock(mutex_);
  const auto id = find_locked(key, key, [](bool) { return Graph(); });
  if (!id)
    skip_locked("graph launches", kTooMany);
  return id;
}

void Recording::begun(Id id, std::uint32_t correlation) {
  const std::lock_guard lock(mutex_);
  if (std::holds_alternative<Graph>(entries_[id].operation)) {
    graph_launches_[correlation] = id;
    graph_launch_order_.push_back(correlation);
    if (graph_launch_order_.size() > kGraphLaunchesKept) {
      graph_launches_.erase(graph_launch_order_.front());
      graph_launch_order_.pop_front();
    }
  } else if (pending_.size() < limits_.pending) {
    pending_[correlation] = id;
  } else {
    skip_locked("times", "too many launches wait for their GPU records");
  }
}

void Recording::ended(Id id, std::uint32_t correlation, Outcome outcome) {
  const std::lock_guard lock(mutex_);
  Entry &entry = entries_[id];
  if (outcome != Outcome::Ran) {
    pending_.erase(correlation);
    ++(outcome == Outcome::Failed ? entry.statistics.failed : entry.statistics.captured);
    return;
  }
  ++entry.statistics.count;
  ++(std::holds_alternative<Launch>(entry.operation) ? totals_.launches
     : std::holds_alternative<Copy>(entry.operation) ? totals_.copies
                                                     : totals_.graph_launches);
  entry.statistics.first = entry.statistics.first.value_or(place_);
  entry.statistics.last = place_++;
  add_to_order(id);
}

void Recording::add_to_order(Id id) {
  if (is_order_full_) {
    skip_locked("places in the order", kLongOrder);
  } else if (!order_.empty() && order_.back().first == id) {
    ++order_.back().second;
  } else if (order_lines_ < limits_.order_lines) {
    ++order_lines_;
    order_.emplace_back(id, 1);
  } else {
    is_order_full_ = true; // a later run must not join the last one
    skip_locked("places in the order", kLongOrder);
  }
}

void Recording::add_node(Id id, std::uint64_t node) {
  const std::lock_guard lock(mutex_);
  if (nodes_.size() < limits_.graph_nodes)
    nodes_[node] = id;
  else
    skip_locked("parameters of launches in graphs",
                "the graphs have more nodes than a capture keeps");
}

void Recording::add_cloned_node(std::uint64_t original, std::uint64_t node) {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(original);
  if (found != nodes_.end() && nodes_.size() < limits_.graph_nodes)
    nodes_[node] = found->second;
}

std::optional<Id> Recording::operation_of(const Timed &record) {
  if (record.graph_node != 0) {
    const auto found = nodes_.find(record.graph_node);
    return found == nodes_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto found = pending_.find(record.correlation);
  if (found == pending_.end())
    return std::nullopt;
  const Id id = found->second;
  pending_.erase(found);
  return id;
}

bool Recording::timed(const Timed &record) {
  const std::lock_guard lock(mutex_);
  const auto id = operation_of(record);
  if (id)
    add_run(*id, record);
  return id.has_value();
}

void Recording::timed_unexplained(const Timed &record, const Launch &launch) {
  const std::lock_guard lock(mutex_);
  const auto id = find_locked(exact_key(launch), rough_key(launch), [&](bool) { return launch; });
  if (!id) {
    totals_.gpu_ns += record.ns;
    return skip_locked("launches", kTooMany);
  }
  if (record.graph_node == 0) {
    ++entries_[*id].statistics.count;
    ++totals_.launches;
  }
  add_run(*id, record);
}

void Recording::add_run(Id id, const Timed &record) {
  if (record.graph_node != 0) {
    ++entries_[id].statistics.in_graphs;
    if (const auto graph = graph_launches_.find(record.correlation); graph != graph_launches_.end())
      ++std::get<Graph>(entries_[graph->second].operation).operations[id];
  }
  add_time(entries_[id], record.ns);
}

void Recording::add_time(Entry &entry, double ns) {
  if (ns <= 0) {
    skip_locked("times", "the GPU records were incomplete");
    return;
  }
  totals_.gpu_ns += ns;
  Statistics &statistics = entry.statistics;
  ++statistics.timed;
  statistics.total_ns += ns;
  statistics.min_ns = std::min(statistics.min_ns.value_or(ns), ns);
  // Reservoir sampling: each run is kept with the same probability.
  if (entry.samples_ns.size() < limits_.samples)
    entry.samples_ns.push_back(static_cast<float>(ns));
  else if (const std::uint64_t place =
               std::uniform_int_distribution<std::uint64_t>(0, statistics.timed - 1)(random_);
           place < entry.samples_ns.size())
    entry.samples_ns[place] = static_cast<float>(ns);
}

void Recording::skip_locked(const std::string &what, const std::string &why) {
  ++skipped_[{what, why}];
}

void Recording::skip(const std::string &what, const std::string &why) {
  const std::lock_guard lock(mutex_);
  skip_locked(what, why);
}

std::vector<Snapshot> Recording::snapshot() {
  std::vector<Snapshot> all;
  std::vector<std::vector<float>> samples;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry &entry : entries_) {
      const auto *graph = std::get_if<Graph>(&entry.operation);
      all.push_back({.id = static_cast<Id>(all.size()),
                     .operation = &entry.operation,
                     .graph = graph ? *graph : Graph(),
                     .statistics = entry.statistics});
      samples.push_back(entry.samples_ns);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (auto &sorted = samples[i]; !sorted.empty()) {
      const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
      std::ranges::nth_element(sorted, middle);
      all[i].statistics.median_ns = *middle;
    }
  return all;
}

std::string Recording::take_order() {
  std::vector<std::pair<Id, std::uint64_t>> runs;
  {
    const std::lock_guard lock(mutex_);
    runs.swap(order_);
  }
  std::string text;
  for (const auto &[id, count] : runs)
    text += "[" + std::to_string(id) + "," + std::to_string(count) + "]\n";
  return text;
}

Totals Recording::totals() {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::vector<Skipped> Recording::skipped() {
  const std::lock_guard lock(mutex_);
  std::vector<Skipped> all;
  for (const auto &[key, count] : skipped_)
    all.push_back({key.first, key.second, count});
  return all;
}

} // namespace warpwright::capture
