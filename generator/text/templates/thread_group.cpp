// Texts of a group's shuffles and barriers; see thread_group.h.
#include "generator/text/templates/thread_group.h"

#include "generator/text/source/render.h"


namespace warpwright::templates {
namespace {

std::string shuffles_text(const ThreadGroup &group, const GroupValue &value, const std::string &place, int threads) {
  const std::string mask = group.mask.empty() ? "0xffffffffu" : group.mask;
  return source::render("#pragma unroll\nfor (int $offset = $half; $offset > 0; $offset >>= 1)\n  $place = $combined;",
                        {{"half", std::to_string(threads / 2)},
                         {"place", place},
                         {"combined", source::combine_text(value.combine, value.type, place,
                                                           "__shfl_xor_sync(" + mask + ", " + place + ", " +
                                                               source::fresh_name("offset", group.taken) + ")")}},
                        group.taken);
}

constexpr std::string_view kGroupBlock = R"cuda({
  __shared__ $type $partials[$warps];
  $inside
  if (threadIdx.x % 32 == 0)
    $partials[threadIdx.x / 32] = $place;
  __syncthreads();
  $place = $partials[threadIdx.x % $warps];
  $across
  __syncthreads();
})cuda";

std::string place_text(const ThreadGroup &group, const GroupValue &value, const std::string &place) {
  if (!value.constant.empty()) {
    const std::string is_set = place + " == " + value.constant;
    const std::string any = group.is_block() ? "__syncthreads_or(" + is_set + ")"
                                             : "__any_sync(" + (group.mask.empty() ? "0xffffffffu" : group.mask) +
                                                   ", " + is_set + ")";
    return "if (" + any + ")\n  " + place + " = " + value.constant + ";";
  }
  if (!group.is_block())
    return shuffles_text(group, value, place, group.threads);
  const int warps = group.threads / 32;
  return source::render(kGroupBlock, {{"type", value.type},
                                 {"warps", std::to_string(warps)},
                                 {"place", place},
                                 {"inside", source::deepen(shuffles_text(group, value, place, 32), "  ")},
                                 {"across", source::deepen(shuffles_text(group, value, place, warps), "  ")}},
                        group.taken);
}

/// `text` of the value's place, in loops over the elements where the value is an array.
std::string for_elements(const ThreadGroup &group, const GroupValue &value,
                         const std::function<std::string(const std::string &)> &text) {
  std::string place = value.place;
  const auto index_of = [&](std::size_t d) {
    return source::fresh_name(d == 0 ? "element" : "element" + std::to_string(d), group.taken);
  };
  for (std::size_t d = 0; d < value.extents.size(); ++d)
    place += "[" + index_of(d) + "]";
  std::string all = text(place);
  for (std::size_t d = value.extents.size(); d-- > 0;) {
    const std::string index = index_of(d);
    const bool is_plain = all.find('\n') == std::string::npos;
    all = "#pragma unroll\nfor (int " + index + " = 0; " + index + " < " + std::to_string(value.extents[d]) + "; ++" +
          index + ")" + (is_plain ? "\n  " : " {\n  ") + source::deepen(all, "  ") + (is_plain ? "" : "\n}");
  }
  return all;
}

} // namespace

std::string ThreadGroup::declarations() const {
  if (is_block())
    return "const int " + lane + " = threadIdx.x;\n";
  std::string text = "const int " + lane + " = threadIdx.x % " + std::to_string(threads) + ";\n";
  if (!mask.empty())
    text += "const unsigned " + mask + " = 0x" + (threads < 4 ? "3" : std::string(threads / 4, 'f')) + "u << (" +
            lane_in_warp + " - " + lane + ");\n";
  return text;
}

std::string ThreadGroup::barrier() const {
  return is_block() ? "__syncthreads();" : "__syncwarp(" + mask + ");";
}

std::string start_text(const ThreadGroup &group, const GroupValue &value) {
  using source::Combine;
  const bool counts_twice =
      value.combine == Combine::Sum || value.combine == Combine::Product || value.combine == Combine::Xor;
  if (!counts_twice || !value.constant.empty())
    return {};
  const std::string identity = source::identity_text(value.combine, value.type);
  return "if (" + group.lane + " != 0)\n  " +
         source::deepen(for_elements(group, value, [&](const std::string &place) { return place + " = " + identity + ";"; }),
                        "  ");
}

std::string select_text(const ThreadGroup &group, const GroupSelection &selection) {
  const std::string mask = group.mask.empty() ? "0xffffffffu" : group.mask;
  const auto named = [&](const std::string &name) { return source::fresh_name(name, group.taken); };
  auto values = selection.chosen;
  values.insert(values.begin(), {{selection.best, selection.type}, {selection.place, selection.place_type}});
  std::string loads, moves;
  for (const auto &[name, type] : values) {
    const std::string other = named("other_" + name);
    loads += "  const " + type + " " + other + " = __shfl_xor_sync(" + mask + ", " + name + ", $offset);\n";
    moves += "    " + name + " = " + other + ";\n";
  }
  const std::string best = named("other_" + selection.best), place = named("other_" + selection.place);
  return source::render("#pragma unroll\nfor (int $offset = " + std::to_string(group.threads / 2) +
                            "; $offset > 0; $offset >>= 1) {\n" + loads + "  if (" + best +
                            (selection.is_maximum ? " > " : " < ") + selection.best + " || (" + best +
                            " == " + selection.best + " && " + place +
                            (selection.prefers_larger_place ? " > " : " < ") + selection.place + ")) {\n" + moves +
                            "  }\n}",
                        {}, group.taken);
}

std::string combine_text(const ThreadGroup &group, const GroupValue &value) {
  return for_elements(group, value, [&](const std::string &place) { return place_text(group, value, place); });
}

} // namespace warpwright::templates
