#include "generator/planning/memory_plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace warpwright::planning {
namespace {

void visit_argument(model::AtenArgument &argument,
                    const std::function<void(std::string &)> &visit) {
  if (auto *view = std::get_if<model::TensorView>(&argument))
    visit(view->buffer);
  if (auto *views = std::get_if<std::vector<model::TensorView>>(&argument))
    for (model::TensorView &view : *views)
      if (!view.buffer.empty())
        visit(view.buffer);
}

struct Life {
  std::size_t first = 0, last = 0;
};

struct Slot {
  std::string name; ///< of the temporary that owns it
  model::Dtype dtype;
  std::int64_t extent = 0;
  std::size_t busy_until = 0;
};

} // namespace

void for_each_buffer(model::Step &step, const std::function<void(std::string &)> &visit) {
  if (auto *launch = std::get_if<model::LaunchStep>(&step)) {
    for (model::Argument &argument : launch->arguments)
      if (auto *buffer = std::get_if<model::BufferArgument>(&argument))
        visit(buffer->buffer);
  } else if (auto *fill = std::get_if<model::FillStep>(&step)) {
    visit(fill->buffer);
  } else if (auto *aten = std::get_if<model::AtenStep>(&step)) {
    for (model::AtenArgument &argument : aten->arguments)
      visit_argument(argument, visit);
    for (auto &[name, argument] : aten->keywords)
      visit_argument(argument, visit);
    for (model::TensorView &result : aten->results)
      if (!result.buffer.empty())
        visit(result.buffer);
  }
}

void share_memory(model::Plan &plan) {
  std::map<std::string, Life> lives;
  std::set<std::string> owned;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for_each_buffer(plan.steps[i], [&](std::string &name) {
      const auto [life, added] = lives.try_emplace(name, Life{i, i});
      life->second.last = i;
    });
    if (const auto *aten = std::get_if<model::AtenStep>(&plan.steps[i]))
      for (const model::TensorView &result : aten->results)
        owned.insert(result.buffer);
  }
  std::vector<const model::Temporary *> open;
  for (const model::Temporary &temporary : plan.temporaries)
    if (!owned.contains(temporary.name) && temporary.extent.is_constant() &&
        lives.contains(temporary.name))
      open.push_back(&temporary);
  std::ranges::stable_sort(open, {}, [&](const auto *t) { return lives.at(t->name).first; });
  std::vector<Slot> slots;
  std::map<std::string, std::string> renamed;
  for (const model::Temporary *temporary : open) {
    const std::int64_t extent = temporary->extent.evaluate({}).value_or(0);
    const Life life = lives.at(temporary->name);
    Slot *best = nullptr;
    const auto waste = [&](const Slot &slot) { return std::abs(slot.extent - extent); };
    for (Slot &slot : slots)
      if (slot.dtype == temporary->dtype && slot.busy_until < life.first &&
          (!best || waste(slot) < waste(*best)))
        best = &slot;
    if (!best) {
      slots.push_back({temporary->name, temporary->dtype, extent, life.last});
      continue;
    }
    best->extent = std::max(best->extent, extent);
    best->busy_until = life.last;
    renamed.emplace(temporary->name, best->name);
  }
  for (model::Step &step : plan.steps)
    for_each_buffer(step, [&](std::string &name) {
      if (const auto other = renamed.find(name); other != renamed.end())
        name = other->second;
    });
  std::erase_if(plan.temporaries, [&](const model::Temporary &t) {
    return renamed.contains(t.name) || !lives.contains(t.name);
  });
  for (model::Temporary &temporary : plan.temporaries)
    for (const Slot &slot : slots)
      if (slot.name == temporary.name)
        temporary.extent = slot.extent;
}

} // namespace warpwright::planning
