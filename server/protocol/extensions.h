// Requests beyond the specification, all named `warpwright/...`; docs/editors.md describes them for writers of clients.
//
// A client needs none of them: they serve views that the protocol has no request for (the list of kernels, the text of a variant
// for a diff, the state of the runner, a report). Thread: values, any.
#pragma once

#include "server/protocol/types.h"

namespace warpwright::server::protocol {

/// Of `warpwright/kernels`: which files; absent: the open ones.
struct KernelsParams {
  std::optional<std::vector<std::string>> uris;
  WARPWRIGHT_FIELDS(visit("uris", self.uris);)
};

/// A measured ratio as lens and hover show it.
struct SpeedupItem {
  double ratio = 0, low = 0, high = 0;
  std::string device;
  WARPWRIGHT_FIELDS(visit("ratio", self.ratio); visit("low", self.low); visit("high", self.high);
                    visit("device", self.device);)
};

/// A verified variant of the code as it stands.
struct VariantItem {
  std::string plan;  ///< hash; what KernelReference::plan takes
  std::string title; ///< that of the action which applies it
  std::vector<std::string> moves;
  std::string device, date;
  std::optional<SpeedupItem> speedup; ///< absent: correct, speed not measured
  std::optional<std::string> proposed_by, analysis; ///< of a policy; absent: the search proposed it
  WARPWRIGHT_FIELDS(visit("plan", self.plan); visit("title", self.title);
                    visit("moves", self.moves); visit("device", self.device);
                    visit("date", self.date); visit("speedup", self.speedup);
                    visit("proposedBy", self.proposed_by);
                    visit("analysis", self.analysis);)
};

/// One kernel, or torch module, as a list of them shows it.
struct KernelItem {
  std::string uri, kernel;
  std::string language; ///< "cuda", "python", "cpp"
  std::string
      state; ///< "notMeasured", "missingFacts", "queued", "measuring", "faster", "checked", "nothingFaster", "applied", "stale"
  std::string text;                  ///< what the lens says of the state, without what a click does
  Range range;                       ///< of the name
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

/// Of `warpwright/variant`: the whole document as the variant would leave it.
struct VariantText {
  std::string text;
  std::int64_t version = 0; ///< of the document that this was made from
  WARPWRIGHT_FIELDS(visit("text", self.text); visit("version", self.version);)
};

/// Of `warpwright/runner` (`again` asks a runner that failed once more) and, with the URL to try, of `warpwright/testRunner`.
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

struct RunnerItem {
  std::string state =
      "unknown";       ///< "unknown": not asked yet; "connecting", "ready", "failed", "untrusted"
  std::string label;   ///< where it is, without secrets
  std::string message; ///< why it failed, and what to do
  std::vector<DeviceItem> devices; ///< best first
  std::vector<std::string> notes;  ///< why a backend is missing
  WARPWRIGHT_FIELDS(visit("state", self.state); visit("label", self.label);
                    visit("message", self.message); visit("devices", self.devices);
                    visit("notes", self.notes);)
};

/// Of the command `warpwright.trust`: an open document.
struct TrustParams {
  std::string uri;
  WARPWRIGHT_FIELDS(visit("uri", self.uri);)
};

/// Of `warpwright/report`: a self-contained page.
struct ReportResult {
  std::string html;
  std::int64_t kernels = 0; ///< that it tells of
  WARPWRIGHT_FIELDS(visit("html", self.html); visit("kernels", self.kernels);)
};

} // namespace warpwright::server::protocol
