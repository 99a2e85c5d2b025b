// Byte edits of a snapshot as a workspace edit.
#include "server/features/features.h"
#include "server/protocol/uri.h"

#include <algorithm>

namespace warpwright::server::features {

namespace {

constexpr const char *kOutside = "warpwright.outside";

/// Whether the edit changes host code or declarations of a CUDA file: text outside of each kernel.
bool is_outside_kernels(const analysis::FileFacts &facts, const Range &range) {
  return !facts.kernels.empty() &&
         std::ranges::none_of(facts.kernels, [&](const analysis::Kernel &kernel) {
           return kernel.task.task.module ||
                  (kernel.range.begin <= range.begin && range.end <= kernel.range.end);
         });
}

protocol::TextEdit wire_edit(const protocol::PositionMap &positions, const TextEdit &edit, bool is_outside) {
  protocol::TextEdit wire;
  wire.range = positions.range(edit.range);
  wire.new_text = edit.replacement;
  if (is_outside)
    wire.annotation_id = kOutside;
  return wire;
}

} // namespace

protocol::WorkspaceEdit workspace_edit(const Context &context, const std::vector<TextEdit> &edits,
                                       const std::optional<FileEdits> &includer,
                                       std::optional<std::int64_t> version) {
  const Snapshot &snapshot = context.snapshot;
  const bool annotates = context.client.change_annotations;
  std::vector<protocol::TextEdit> own, launches;
  bool is_annotated = false;
  for (const TextEdit &edit : edits) {
    own.push_back(wire_edit(snapshot.positions, edit, annotates && is_outside_kernels(snapshot.facts, edit.range)));
    is_annotated |= own.back().annotation_id.has_value();
  }
  if (includer) {
    const protocol::PositionMap positions(includer->text, snapshot.positions.encoding());
    for (const TextEdit &edit : includer->edits)
      launches.push_back(wire_edit(positions, edit, annotates));
    is_annotated |= annotates;
  }
  const std::string launching = includer ? protocol::uri_of(includer->path) : "";
  protocol::WorkspaceEdit result;
  if (!context.client.document_changes) {
    result.changes = protocol::Json{{snapshot.uri, protocol::encode(own)}};
    if (includer)
      (*result.changes)[launching] = protocol::encode(launches);
    return result;
  }
  result.document_changes = {{{snapshot.uri, snapshot.version}, std::move(own)}};
  if (includer)
    result.document_changes->push_back({{launching, version ? protocol::Json(*version) : protocol::Json()}, std::move(launches)});
  if (is_annotated)
    result.change_annotations = protocol::Json{
        {kOutside, protocol::encode(protocol::ChangeAnnotation{
                       "Host code and declarations",
                       "The kernel needs these changes outside of its definition", false})}};
  return result;
}

} // namespace warpwright::server::features
