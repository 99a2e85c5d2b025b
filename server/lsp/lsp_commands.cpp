// Commands of the server: optimize, cancel, apply, insert facts, trust.
#include "server/lsp/lsp_server.h"

#include "server/protocol/uri.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::server {

namespace {

using protocol::Json;

Json summary_json(const std::string &kernel, const OptimizeSummary &summary) {
  Json best;
  if (summary.best)
    best = {{"ratio", summary.best->ratio},
            {"low", summary.best->low},
            {"high", summary.best->high},
            {"device", summary.best->device}};
  Json result = {{"kernel", kernel}, {"tried", summary.tried},   {"verified", summary.verified},
                 {"best", best},     {"policy", summary.policy}, {"analysis", summary.analysis}};
  if (!summary.keep.empty())
    result["keep"] = summary.keep;
  if (!summary.profile.empty())
    result["profile"] = summary.profile;
  return result;
}

std::string summary_text(const OptimizeSummary &summary) {
  if (!summary.profile.empty())
    return summary.profile;
  const std::string by = summary.policy.empty() ? "" : "; proposed by " + summary.policy;
  if (!summary.keep.empty())
    return summary.keep + by;
  if (summary.best)
    return "best verified " + speedup_on_device(*summary.best) + by;
  return std::to_string(summary.verified) + " of " + std::to_string(summary.tried) +
         " variants verified, none measured faster" + by;
}

/// Time between two displays of running jobs. Stages change faster than a user reads, and the
/// editor requests all lenses again for each display.
constexpr std::chrono::milliseconds kStatusInterval{150};

/// Link from a canceled request to its optimization, kept while the optimization runs.
using CancelLink = std::stop_callback<std::function<void()>>;

} // namespace

void LspServer::execute_command(protocol::ExecuteCommandParams params, Reply<Json> reply) {
  const Json argument =
      params.arguments && !params.arguments->empty() ? params.arguments->front() : Json::object();
  if (params.command == protocol::kTrustCommand)
    return review_trust(protocol::decode<protocol::TrustParams>(argument).uri, reply);
  const auto reference = protocol::decode<protocol::KernelReference>(argument);
  if (params.command == protocol::kOptimizeCommand || params.command == protocol::kProfileCommand)
    return start_job(params.command, reference, params.work_done_token, reply);
  if (params.command == protocol::kReviewCommand || params.command == protocol::kDetailsCommand)
    return open_page({params.command == protocol::kReviewCommand ? features::Page::Review
                                                                 : features::Page::Details,
                      reference},
                     reply);
  if (params.command == protocol::kApplyCommand || params.command == protocol::kInsertFactsCommand)
    return run_edit_command(params.command, reference, reply);
  if (params.command != protocol::kCancelCommand)
    return reply(refuse(rpc::kInvalidParams, "no command '" + params.command + "' here"));
  const Document *document = documents_.find(reference.uri);
  optimizer_.cancel(document ? document->path : protocol::path_of(reference.uri), reference.kernel);
  reply(Json());
}

void LspServer::cancel_progress(protocol::ProgressToken params) {
  client_.cancel_progress(params.token);
}

void LspServer::start_job(const std::string &command, const protocol::KernelReference &reference,
                          std::optional<Json> token, Reply<Json> reply) {
  if (!documents_.find(reference.uri))
    return reply(refuse(rpc::kInvalidParams, "the document " + reference.uri + " is not open"));
  const auto run = [=, this](const SnapshotPtr &snapshot) {
    const analysis::Kernel *kernel = snapshot ? snapshot->find_kernel(reference.kernel) : nullptr;
    if (!kernel)
      return reply(refuse(rpc::kInvalidParams,
                          "there is no kernel '" + reference.kernel + "' in " + reference.uri));
    run_job(command, snapshot, reference, token, reply);
  };
  scheduler_.with_snapshot(reference.uri, [=, this](const SnapshotPtr &snapshot) {
    if (!snapshot || !snapshot->find_kernel(reference.kernel))
      return run(snapshot); // reports the missing kernel
    trust_.permit(snapshot, settings_.trusted, [=, this](const Result<Trust::Answer> &answer) {
      if (!answer || *answer == Trust::Answer::Refused)
        return reply(refuse(kRequestFailed, answer ? kUntrusted : describe(answer.error())));
      if (*answer == Trust::Answer::Granted)
        return run(snapshot);
      analyse_all();
      scheduler_.with_next_snapshot(reference.uri, run);
    });
  });
}

void LspServer::review_trust(const std::string &uri, Reply<Json> reply) {
  if (!documents_.find(uri))
    return reply(refuse(rpc::kInvalidParams, "the document " + uri + " is not open"));
  scheduler_.with_snapshot(uri, [=, this](const SnapshotPtr &snapshot) {
    if (!snapshot)
      return reply(refuse(rpc::kContentModified, "the document " + uri + " was closed"));
    trust_.review(snapshot, settings_.trusted, [=, this](const Result<Trust::Answer> &answer) {
      if (!answer || *answer == Trust::Answer::Refused)
        return reply(refuse(kRequestFailed, answer ? kUntrusted : describe(answer.error())));
      if (*answer == Trust::Answer::GrantedMore)
        analyse_all();
      reply(Json());
    });
  });
}

void LspServer::run_job(const std::string &command, SnapshotPtr snapshot,
                        const protocol::KernelReference &reference, std::optional<Json> token,
                        Reply<Json> reply) {
  const std::string &kernel = reference.kernel;
  const std::string path = snapshot->facts.path;
  const auto cancel = [this, path, kernel] { optimizer_.cancel(path, kernel); };
  const Settings settings = settings_for(*snapshot);
  OptimizeRequest request{snapshot, kernel, settings};
  if (command == protocol::kProfileCommand) {
    auto entry = entry_of(*snapshot, reference);
    if (!entry)
      return reply(std::unexpected(entry.error()));
    request.profiled = std::make_shared<const runner::LedgerEntry>(std::move(*entry));
  }
  if (settings_of(snapshot->uri).runner.empty() && snapshot->project.runner_error)
    return reply(refuse(kRequestFailed, describe(*snapshot->project.runner_error)));
  if (asked_runner_ != settings.runner)
    expect_runner(settings.runner);
  const auto link = std::make_shared<CancelLink>(reply.stop(), cancel);
  if (!request.profiled)
    problems_.erase({path, kernel});
  const auto started =
      optimizer_.start(std::move(request), [this, path, kernel, reply,
                                                      link](Result<OptimizeSummary> result) {
        const auto running = running_.extract({path, kernel});
        if (!running.empty())
          running.mapped().progress->end(result ? summary_text(*result) : result.error().message);
        if (result)
          return reply(summary_json(kernel, *result));
        reply(refuse(kRequestFailed, describe(result.error())));
      });
  if (!started)
    return reply(refuse(kRequestFailed, describe(started.error())));
  running_[{path, kernel}].progress =
      client_.begin_progress(std::string("Warpwright: ") +
                                 (command == protocol::kProfileCommand ? "profiling " : "optimizing ") +
                                 kernel,
                             std::move(token), cancel);
}

void LspServer::show_status(const std::string &path, const std::string &kernel) {
  const auto status = optimizer_.status(path, kernel);
  if (status && is_holding_statuses_) {
    held_statuses_.insert({path, kernel});
    return;
  }
  const auto running = running_.find({path, kernel});
  if (running != running_.end() && status && !status->queued) {
    const std::size_t percentage =
        100 * status->tried / std::max<std::size_t>(1, status->max_variants);
    running->second.progress->report(
        job_text(*status),
        static_cast<std::uint32_t>(std::min<std::size_t>(percentage, 99)));
  }
  client_.refresh();
  if (status)
    hold_statuses();
}

void LspServer::hold_statuses() {
  is_holding_statuses_ = true;
  status_timer_.expires_after(kStatusInterval);
  status_timer_.async_wait([this](boost::system::error_code error) {
    if (error)
      return;
    is_holding_statuses_ = false;
    for (const auto &[path, kernel] : std::exchange(held_statuses_, {}))
      show_status(path, kernel);
  });
}

void LspServer::run_edit_command(const std::string &command,
                                 const protocol::KernelReference &reference, Reply<Json> reply) {
  make_edit(command, reference, [this, reply](auto edit) {
    if (!edit)
      return reply(std::unexpected(edit.error()));
    client_.apply_edit({"Warpwright", *edit}, [reply](const Result<void> &applied) {
      if (applied)
        return reply(Json());
      reply(refuse(kRequestFailed, describe(applied.error())));
    });
  });
}

void LspServer::make_edit(const std::string &command, const protocol::KernelReference &reference,
                          EditCallback callback) {
  make_edits(command, reference, [this, callback](auto made) {
    if (!made)
      return callback(std::unexpected(made.error()));
    const Document *open = made->includer ? documents_.find(protocol::uri_of(made->includer->path)) : nullptr;
    callback(features::workspace_edit(context(*made->snapshot), made->edits, made->includer,
                                      open ? std::optional(open->version) : std::nullopt));
  });
}

void LspServer::make_edits(const std::string &command, const protocol::KernelReference &reference,
                           EditsCallback callback) {
  const Document *document = documents_.find(reference.uri);
  if (!document)
    return callback(refuse(rpc::kInvalidParams, "the document " + reference.uri + " is not open"));
  const auto changed = [] {
    return refuse(rpc::kContentModified,
                  "the text changed meanwhile, so nothing was edited; ask again on the new text");
  };
  if (reference.version && *reference.version != document->version)
    return callback(changed());
  scheduler_.with_snapshot(reference.uri, [=, this](const SnapshotPtr &snapshot) {
    if (!snapshot || (reference.version && *reference.version != snapshot->version))
      return callback(changed());
    const auto maker = edit_maker(command, reference, snapshot);
    if (!maker)
      return callback(std::unexpected(maker.error()));
    pool_.post([=, this, make = *maker] {
      const auto edits = make();
      boost::asio::post(strand_, [=, this] {
        const Document *now = documents_.find(reference.uri);
        if (!now || now->text != snapshot->text)
          return callback(changed());
        if (!edits)
          return callback(refuse(kRequestFailed, describe(edits.error())));
        if (edits->includer)
          if (const Document *open = documents_.find(protocol::uri_of(edits->includer->path));
              open && *open->text != edits->includer->text)
            return callback(refuse(kRequestFailed, "the launch in " + edits->includer->path +
                                                       " changes too, and that file has unsaved changes. Save it first"));
        callback(MadeEdits{snapshot, edits->edits, edits->includer});
      });
    });
  });
}

std::expected<runner::LedgerEntry, rpc::RpcError>
LspServer::entry_of(const Snapshot &snapshot, const protocol::KernelReference &reference) const {
  const analysis::Kernel *kernel = snapshot.find_kernel(reference.kernel);
  const KernelStatus known = kernel ? status(snapshot, *kernel) : KernelStatus();
  const runner::LedgerEntry *entry = reference.plan ? nullptr : known.best;
  for (const runner::LedgerEntry *candidate : known.current)
    if (reference.plan && model::hash(candidate->plan) == *reference.plan &&
        candidate->verdict.outcome == model::Outcome::Verified)
      entry = candidate;
  if (entry)
    return *entry;
  return refuse(kRequestFailed, "no verified variant of '" + reference.kernel +
                                    "' fits the code as it stands. Optimize it again");
}

std::expected<LspServer::EditMaker, rpc::RpcError>
LspServer::edit_maker(const std::string &command, const protocol::KernelReference &reference,
                      const SnapshotPtr &snapshot) {
  const analysis::Kernel *kernel = snapshot->find_kernel(reference.kernel);
  if (!kernel)
    return refuse(rpc::kInvalidParams,
                  "there is no kernel '" + reference.kernel + "' in " + reference.uri);
  if (command == protocol::kInsertFactsCommand)
    return [snapshot, name = kernel->name, make = environment_.missing_facts_edits]() -> Result<VariantEdits> {
      return VariantEdits{TRY(make(*snapshot, name))};
    };
  auto entry = entry_of(*snapshot, reference);
  if (!entry)
    return std::unexpected(entry.error());
  return [snapshot, entry = std::move(*entry),
          form = VariantForm{reference.form == "in-place", settings_of(snapshot->uri).standalone},
          make = environment_.variant_edits] {
    return make(snapshot->facts.path, *snapshot->text, entry, form);
  };
}

} // namespace warpwright::server
