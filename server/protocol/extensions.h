// Requests beyond the specification, all named `warpwright/...`. docs/use/editors.md
// describes them for authors of clients.
//
// Clients may ignore these requests. They serve views without a request in the protocol: the list
// of kernels, the text of a variant for a diff, the state of the runner, a report. Thread: values,
// any.
#pragma once

#include "server/protocol/types.h"

namespace warpwright::server::protocol {

/// Parameters of `warpwright/kernels` and `warpwright/report`: the files; absent: all open files.
struct KernelsParams {
  std::optional<std::vector<std::string>> uris;
  WARPWRIGHT_FIELDS(visit("uris", self.uris);)
};

/// A measured speedup, as in lens and hover.
struct SpeedupItem {
  double ratio = 0, low = 0, high = 0;
  std::string device;
  WARPWRIGHT_FIELDS(visit("ratio", self.ratio); visit("low", self.low); visit("high", self.high);
                    visit("device", self.device);)
};

/// A verified variant of the current code.
struct VariantItem {
  std::string plan;  ///< hash, for KernelReference::plan
  std::string title; ///< title of the action that applies the variant
  std::vector<std::string> moves;
  std::string device, date;
  std::optional<SpeedupItem> speedup; ///< absent: correct, speed not measured
  std::optional<std::string> proposed_by, analysis; ///< by a policy; absent: by the search
  WARPWRIGHT_FIELDS(visit("plan", self.plan); visit("title", self.title);
                    visit("moves", self.moves); visit("device", self.device);
                    visit("date", self.date); visit("speedup", self.speedup);
                    visit("proposedBy", self.proposed_by);
                    visit("analysis", self.analysis);)
};

/// One kernel or torch module of a list.
struct KernelItem {
  std::string uri, kernel;
  std::string language; ///< "cuda", "python", "cpp"
  /// "notMeasured", "missingFacts", "queued", "measuring", "faster", "checked", "nothingFaster",
  /// "applied", "stale"
  std::string state;
  std::string text;                  ///< text of the lens without the action of a click
  Range range;                       ///< range of the name
  std::vector<VariantItem> variants; ///< best first
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("kernel", self.kernel);
                    visit("language", self.language); visit("state", self.state);
                    visit("text", self.text); visit("range", self.range);
                    visit("variants", self.variants);)
};

struct KernelsResult {
  std::vector<KernelItem> kernels;
  WARPWRIGHT_FIELDS(visit("kernels", self.kernels);)
};

/// Result of `warpwright/variant`: the whole document with the variant.
struct VariantText {
  std::string text;
  std::int64_t version = 0; ///< version of the source document
  WARPWRIGHT_FIELDS(visit("text", self.text); visit("version", self.version);)
};

/// Parameters of `warpwright/runner` (`again`: asks the runner again) and of
/// `warpwright/testRunner` (`url`: the runner to try).
struct RunnerParams {
  std::optional<std::string> url;
  std::optional<bool> again;
  WARPWRIGHT_FIELDS(visit("url", self.url); visit("again", self.again);)
};

struct DeviceItem {
  std::string kind, name, detail;
  WARPWRIGHT_FIELDS(visit("kind", self.kind); visit("name", self.name);
                    visit("detail", self.detail);)
};

/// A waiting or running job of this session.
struct JobItem {
  std::string kernel;
  bool queued = false;
  std::string text; ///< "variant 3 of 20 (measuring)"; empty while it waits
  WARPWRIGHT_FIELDS(visit("kernel", self.kernel); visit("queued", self.queued);
                    visit("text", self.text);)
};

struct RunnerItem {
  std::string state =
      "unknown";       ///< "unknown": not asked yet; "connecting", "ready", "failed", "untrusted"
  std::string label;   ///< place of the runner, without secrets
  std::string message; ///< why it failed, and what to do
  std::vector<DeviceItem> devices; ///< best first
  std::vector<std::string> notes;  ///< why a backend is missing
  std::vector<JobItem> jobs;       ///< of this session, the running one first
  WARPWRIGHT_FIELDS(visit("state", self.state); visit("label", self.label);
                    visit("message", self.message); visit("devices", self.devices);
                    visit("notes", self.notes); visit("jobs", self.jobs);)
};

/// PTX and machine code of one side beside its source.
struct MachineCodeItem {
  std::string source, ptx;
  std::string sass;    ///< empty: `missing` says why
  std::string missing; ///< why a part is missing; empty: none is
  std::vector<std::vector<std::int64_t>> rows; ///< [address, line of PTX, line of source], lines from 1
  WARPWRIGHT_FIELDS(visit("source", self.source); visit("ptx", self.ptx); visit("sass", self.sass);
                    visit("missing", self.missing); visit("rows", self.rows);)
};

/// Result of `warpwright/details`: the code before, and that of the variant; see also the kernel's page.
struct DetailsResult {
  std::string roofline; ///< SVG with both points; empty: times or rates are unknown
  MachineCodeItem before, after;
  WARPWRIGHT_FIELDS(visit("roofline", self.roofline); visit("before", self.before);
                    visit("after", self.after);)
};

/// Argument of the command `warpwright.trust`: an open document.
struct TrustParams {
  std::string uri;
  WARPWRIGHT_FIELDS(visit("uri", self.uri);)
};

/// Result of `warpwright/report`: a self-contained page.
struct ReportResult {
  std::string html;
  std::int64_t kernels = 0; ///< number of kernels on the page
  WARPWRIGHT_FIELDS(visit("html", self.html); visit("kernels", self.kernels);)
};

} // namespace warpwright::server::protocol
