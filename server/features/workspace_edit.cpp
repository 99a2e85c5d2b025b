// Byte edits of a snapshot as a workspace edit.
#include "server/features/features.h"

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

} // namespace

protocol::WorkspaceEdit workspace_edit(const Context &context, const std::vector<TextEdit> &edits) {
  const Snapshot &snapshot = context.snapshot;
  std::vector<protocol::TextEdit> wire;
  bool is_annotated = false;
  for (const TextEdit &edit : edits) {
    protocol::TextEdit &one = wire.emplace_back();
    one.range = snapshot.positions.range(edit.range);
    one.new_text = edit.replacement;
    if (context.client.change_annotations && is_outside_kernels(snapshot.facts, edit.range)) {
      one.annotation_id = kOutside;
      is_annotated = true;
    }
  }
  protocol::WorkspaceEdit result;
  if (!context.client.document_changes) {
    result.changes = protocol::Json{{snapshot.uri, protocol::encode(wire)}};
    return result;
  }
  result.document_changes = {{{snapshot.uri, snapshot.version}, std::move(wire)}};
  if (is_annotated)
    result.change_annotations = protocol::Json{
        {kOutside, protocol::encode(protocol::ChangeAnnotation{
                       "Host code and declarations",
                       "The kernel needs these changes outside of its definition", false})}};
  return result;
}

} // namespace warpwright::server::features
