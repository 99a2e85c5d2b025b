// Structures of the Language Server Protocol 3.18 that this server uses, with the specification's
// names.
//
// A struct lists only members that are read or written. Unknown members of a client's messages are
// ignored. Names in camelCase appear only in the field lists of this folder. Thread: values, any.
#pragma once

#include "server/protocol/wire.h"

#include <cstdint>

namespace warpwright::server::protocol {

#define WARPWRIGHT_FIELDS(...)                                                                     \
  template <class Self, class Visit>                                                               \
  static void fields(Self &self, Visit &&visit) {                                                  \
    __VA_ARGS__                                                                                    \
  }

struct Position {
  std::uint32_t line = 0, character = 0; ///< from 0; character in units of the position encoding
  auto operator<=>(const Position &) const = default;
  WARPWRIGHT_FIELDS(visit("line", self.line); visit("character", self.character);)
};

struct Range {
  Position start, end;
  bool operator==(const Range &) const = default;
  WARPWRIGHT_FIELDS(visit("start", self.start); visit("end", self.end);)
};

// Documents

struct TextDocumentIdentifier {
  std::string uri;
  WARPWRIGHT_FIELDS(visit("uri", self.uri);)
};

struct VersionedTextDocumentIdentifier {
  std::string uri;
  std::int64_t version = 0;
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("version", self.version);)
};

struct OptionalVersionedTextDocumentIdentifier {
  std::string uri;
  Json version; ///< null: the document is not open
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("version", self.version);)
};

struct TextDocumentItem {
  std::string uri;
  std::int64_t version = 0;
  std::string text;
  std::optional<std::string> language_id;
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("languageId", self.language_id);
                    visit("version", self.version); visit("text", self.text);)
};

struct DidOpenParams {
  TextDocumentItem text_document;
  WARPWRIGHT_FIELDS(visit("textDocument", self.text_document);)
};

struct ContentChange {
  std::optional<Range> range; ///< absent: `text` is the whole document
  std::string text;
  WARPWRIGHT_FIELDS(visit("range", self.range); visit("text", self.text);)
};

struct DidChangeParams {
  VersionedTextDocumentIdentifier text_document;
  std::vector<ContentChange> content_changes;
  WARPWRIGHT_FIELDS(visit("textDocument", self.text_document);
                    visit("contentChanges", self.content_changes);)
};

/// Parameters of didClose, codeLens and the diagnostic request.
struct TextDocumentParams {
  TextDocumentIdentifier text_document;
  WARPWRIGHT_FIELDS(visit("textDocument", self.text_document);)
};

struct FileEvent {
  std::string uri;
  std::int64_t type = 0; ///< 1 created, 2 changed, 3 deleted
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("type", self.type);)
};

struct DidChangeWatchedFilesParams {
  std::vector<FileEvent> changes;
  WARPWRIGHT_FIELDS(visit("changes", self.changes);)
};

struct TextDocumentPositionParams {
  TextDocumentIdentifier text_document;
  Position position;
  WARPWRIGHT_FIELDS(visit("textDocument", self.text_document); visit("position", self.position);)
};

// Diagnostics

struct CodeDescription {
  std::string href;
  WARPWRIGHT_FIELDS(visit("href", self.href);)
};

struct Location {
  std::string uri;
  Range range;
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("range", self.range);)
};

/// Another place that explains a diagnostic.
struct RelatedInformation {
  Location location;
  std::string message;
  WARPWRIGHT_FIELDS(visit("location", self.location); visit("message", self.message);)
};

struct Diagnostic {
  Range range;
  std::optional<int> severity;
  std::optional<Json> code;
  std::optional<CodeDescription> code_description;
  std::optional<std::string> source;
  Json message;
  std::optional<std::vector<RelatedInformation>> related; ///< absent: none
  WARPWRIGHT_FIELDS(visit("range", self.range); visit("severity", self.severity);
                    visit("code", self.code); visit("codeDescription", self.code_description);
                    visit("source", self.source); visit("message", self.message);
                    visit("relatedInformation", self.related);)
};

/// Answer to textDocument/diagnostic: always the whole list.
struct DiagnosticReport {
  std::string kind = "full";
  std::vector<Diagnostic> items;
  WARPWRIGHT_FIELDS(visit("kind", self.kind); visit("items", self.items);)
};

struct PublishDiagnosticsParams {
  std::string uri;
  std::optional<std::int64_t> version;
  std::vector<Diagnostic> diagnostics;
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("version", self.version);
                    visit("diagnostics", self.diagnostics);)
};

// Hover, lens, hints

struct MarkupContent {
  std::string kind = "markdown";
  std::string value;
  WARPWRIGHT_FIELDS(visit("kind", self.kind); visit("value", self.value);)
};

struct Hover {
  MarkupContent contents;
  std::optional<Range> range;
  WARPWRIGHT_FIELDS(visit("contents", self.contents); visit("range", self.range);)
};

struct Command {
  std::string title;
  std::string command;
  std::vector<Json> arguments;
  WARPWRIGHT_FIELDS(visit("title", self.title); visit("command", self.command);
                    visit("arguments", self.arguments);)
};

struct CodeLens {
  Range range;
  std::optional<Command> command;
  std::optional<Json> data;
  WARPWRIGHT_FIELDS(visit("range", self.range); visit("command", self.command);
                    visit("data", self.data);)
};

struct InlayHintParams {
  TextDocumentIdentifier text_document;
  Range range;
  WARPWRIGHT_FIELDS(visit("textDocument", self.text_document); visit("range", self.range);)
};

struct InlayHint {
  Position position;
  std::string label;
  std::optional<std::string> tooltip;
  std::optional<bool> padding_left;
  WARPWRIGHT_FIELDS(visit("position", self.position); visit("label", self.label);
                    visit("tooltip", self.tooltip); visit("paddingLeft", self.padding_left);)
};

// Edits and code actions

struct TextEdit {
  Range range;
  std::string new_text;
  std::optional<std::string> annotation_id; ///< a member of WorkspaceEdit::change_annotations
  WARPWRIGHT_FIELDS(visit("range", self.range); visit("newText", self.new_text);
                    visit("annotationId", self.annotation_id);)
};

struct TextDocumentEdit {
  OptionalVersionedTextDocumentIdentifier text_document;
  std::vector<TextEdit> edits;
  WARPWRIGHT_FIELDS(visit("textDocument", self.text_document); visit("edits", self.edits);)
};

/// Label of a group of edits that the user can review and decline.
struct ChangeAnnotation {
  std::string label, description;
  bool needs_confirmation = false;
  WARPWRIGHT_FIELDS(visit("label", self.label); visit("description", self.description);
                    visit("needsConfirmation", self.needs_confirmation);)
};

/// Either `document_changes` or, for clients without versioned edits, `changes` is set.
struct WorkspaceEdit {
  std::optional<std::vector<TextDocumentEdit>> document_changes;
  std::optional<Json> changes;
  std::optional<Json> change_annotations; ///< ChangeAnnotation by its identifier
  WARPWRIGHT_FIELDS(visit("documentChanges", self.document_changes);
                    visit("changes", self.changes);
                    visit("changeAnnotations", self.change_annotations);)
};

struct ApplyEditParams {
  std::string label;
  WorkspaceEdit edit;
  WARPWRIGHT_FIELDS(visit("label", self.label); visit("edit", self.edit);)
};

struct CodeActionContext {
  std::vector<Json> diagnostics; ///< as the client sent them, echoed in quick fixes
  std::optional<std::vector<std::string>> only;
  WARPWRIGHT_FIELDS(visit("diagnostics", self.diagnostics); visit("only", self.only);)
};

struct CodeActionParams {
  TextDocumentIdentifier text_document;
  Range range;
  CodeActionContext context;
  WARPWRIGHT_FIELDS(visit("textDocument", self.text_document); visit("range", self.range);
                    visit("context", self.context);)
};

/// Reason why a shown action is disabled.
struct CodeActionDisabled {
  std::string reason;
  WARPWRIGHT_FIELDS(visit("reason", self.reason);)
};

struct CodeAction {
  std::string title;
  std::string kind;
  std::optional<std::vector<Json>> diagnostics;
  std::optional<bool> is_preferred;
  std::optional<WorkspaceEdit> edit;
  std::optional<Command> command;
  std::optional<Json> data;
  std::optional<CodeActionDisabled> disabled;
  WARPWRIGHT_FIELDS(visit("title", self.title); visit("kind", self.kind);
                    visit("diagnostics", self.diagnostics); visit("isPreferred", self.is_preferred);
                    visit("edit", self.edit); visit("command", self.command);
                    visit("data", self.data); visit("disabled", self.disabled);)
};

struct ExecuteCommandParams {
  std::string command;
  std::optional<std::vector<Json>> arguments;
  std::optional<Json> work_done_token;
  WARPWRIGHT_FIELDS(visit("command", self.command); visit("arguments", self.arguments);
                    visit("workDoneToken", self.work_done_token);)
};

// Documents of the server

/// Parameters of workspace/textDocumentContent.
struct TextDocumentContentParams {
  std::string uri;
  WARPWRIGHT_FIELDS(visit("uri", self.uri);)
};

struct TextDocumentContent {
  std::string text;
  WARPWRIGHT_FIELDS(visit("text", self.text);)
};

struct ShowDocumentParams {
  std::string uri;
  bool take_focus = true;
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("takeFocus", self.take_focus);)
};

// Progress and messages

struct ProgressToken {
  Json token;
  WARPWRIGHT_FIELDS(visit("token", self.token);)
};

/// Value of $/progress: kind "begin" (with title), "report" or "end".
struct WorkDoneProgress {
  std::string kind;
  std::optional<std::string> title;
  std::optional<bool> cancellable;
  std::optional<std::string> message;
  std::optional<std::uint32_t> percentage;
  WARPWRIGHT_FIELDS(visit("kind", self.kind); visit("title", self.title);
                    visit("cancellable", self.cancellable); visit("message", self.message);
                    visit("percentage", self.percentage);)
};

struct ProgressParams {
  Json token;
  WorkDoneProgress value;
  WARPWRIGHT_FIELDS(visit("token", self.token); visit("value", self.value);)
};

enum class MessageType { Error = 1, Warning = 2, Info = 3, Log = 4 };

struct ShowMessageParams {
  MessageType type = MessageType::Info;
  std::string message;
  WARPWRIGHT_FIELDS(visit("type", self.type); visit("message", self.message);)
};

struct MessageActionItem {
  std::string title;
  WARPWRIGHT_FIELDS(visit("title", self.title);)
};

struct ShowMessageRequestParams {
  MessageType type = MessageType::Info;
  std::string message;
  std::vector<MessageActionItem> actions;
  WARPWRIGHT_FIELDS(visit("type", self.type); visit("message", self.message);
                    visit("actions", self.actions);)
};

struct CancelParams {
  Json id;
  WARPWRIGHT_FIELDS(visit("id", self.id);)
};

// Warpwright's own structures, inside `data` and command arguments, which clients return unchanged

/// A kernel of a document as the client saw it.
struct KernelReference {
  std::string uri;
  std::string kernel;
  std::optional<std::int64_t> version;
  std::optional<std::string> plan; ///< hash of the plan to apply; absent: the best one
  std::optional<std::string> form; ///< "in-place": how a module's variant is applied
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("kernel", self.kernel);
                    visit("version", self.version); visit("plan", self.plan);
                    visit("form", self.form);)
};

/// Data of a lens: a kernel, and which of its lenses it is.
struct LensData {
  std::string uri;
  std::string kernel;
  std::optional<std::int64_t> version;
  std::string part; ///< "state", "review", "apply" or "profile"
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("kernel", self.kernel);
                    visit("version", self.version); visit("part", self.part);)
};

} // namespace warpwright::server::protocol
