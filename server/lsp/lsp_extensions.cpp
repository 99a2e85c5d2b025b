// Handlers of requests beyond the specification: kernels of a workspace, text of a variant, runner,
// report.
#include "server/lsp/lsp_server.h"

#include "runner/shell/shell_url.h"
#include "server/protocol/uri.h"

#include <algorithm>

namespace warpwright::server {

namespace {

/// State of a runner that answered.
protocol::RunnerItem ready_runner(const runner::RunnerInfo &info, const std::string &label) {
  protocol::RunnerItem item{.state = "ready", .label = label, .notes = info.notes};
  for (const model::DeviceInfo &device : info.devices)
    item.devices.push_back(
        {device.kind, device.name,
         device.compute_capability.empty()
             ? device.driver
             : "compute capability " + device.compute_capability + ", " + device.driver});
  return item;
}

} // namespace

std::string runner_label(const std::string &url) {
  if (url.empty() || url.starts_with("local:"))
    return "on this machine";
  if (runner::is_shell_url(url))
    return url.substr(0, url.find('?'));
  const auto scheme = url.find("://");
  if (scheme == std::string::npos)
    return url;
  std::string authority = url.substr(scheme + 3);
  authority.resize(std::min(authority.find_first_of("/?"), authority.size()));
  return authority.substr(authority.rfind('@') + 1);
}

void LspServer::note_runner(const Result<runner::RunnerInfo> &info) {
  const std::string label = runner_label(asked_runner_.value_or(""));
  if (info) {
    runner_ = ready_runner(*info, label);
    if (!info->devices.empty())
      runner_name_ =
          info->devices.front().kind == "cpu" ? "CPU backend" : info->devices.front().name;
  } else {
    runner_ = {.state = "failed", .label = label, .message = describe(info.error())};
  }
  client_.refresh();
}

void LspServer::expect_runner(const std::string &url) {
  asked_runner_ = url;
  runner_name_ = runner_label(url);
  runner_ = {.state = "connecting", .label = runner_name_};
}

void LspServer::ask_runner(const std::string &url) {
  expect_runner(url);
  optimizer_.request_info(url);
}

/// Follows a change of the runner setting. The result of a runner that was just tried is reused.
/// Another runner is asked at once only if the user has used a runner in this session, because
/// nothing is contacted before.
void LspServer::follow_runner_setting() {
  if (probed_ && probed_->first == settings_.runner) {
    expect_runner(settings_.runner);
    note_runner(probed_->second);
  } else if (asked_runner_ && settings_.trusted != false) {
    ask_runner(settings_.runner);
  }
}

std::string LspServer::runner_name(const Snapshot &snapshot) const {
  const std::string url = settings_for(snapshot).runner;
  return url == asked_runner_ ? runner_name_ : runner_label(url);
}

void LspServer::runner(protocol::RunnerParams params, Reply<protocol::RunnerItem> reply) {
  if (settings_.trusted == false)
    return reply(protocol::RunnerItem{.state = "untrusted", .message = kUntrusted});
  if (params.again.value_or(false))
    ask_runner(asked_runner_.value_or(settings_.runner));
  protocol::RunnerItem item =
      asked_runner_ ? runner_ : protocol::RunnerItem{.label = runner_label(settings_.runner)};
  for (const auto &[kernel, status] : optimizer_.jobs())
    item.jobs.push_back({kernel, status.queued, job_text(status)});
  std::ranges::stable_sort(item.jobs, {}, &protocol::JobItem::queued);
  reply(std::move(item));
}

void LspServer::test_runner(protocol::RunnerParams params, Reply<protocol::RunnerItem> reply) {
  if (settings_.trusted == false)
    return reply(refuse(kRequestFailed, kUntrusted));
  const std::string url = params.url.value_or("");
  probes_.post([this, url, reply, connect = environment_.connect_runner] {
    const auto client = connect(url);
    const Result<runner::RunnerInfo> info =
        client ? (*client)->info() : std::unexpected(client.error());
    boost::asio::post(strand_, [this, url, reply, info] {
      probed_.emplace(url, info);
      if (url == settings_.runner && url != asked_runner_)
        expect_runner(url);
      if (url == asked_runner_)
        note_runner(info); // newer than the known state
      reply(info ? ready_runner(*info, runner_label(url))
                 : protocol::RunnerItem{.state = "failed",
                                        .label = runner_label(url),
                                        .message = describe(info.error())});
    });
  });
}

void LspServer::with_files(std::optional<std::vector<std::string>> uris,
                           std::function<void(const std::vector<SnapshotPtr> &)> callback) {
  struct Gathering {
    std::vector<SnapshotPtr> found;
    std::size_t waiting = 1;
    std::function<void(const std::vector<SnapshotPtr> &)> callback;
    void arrive() {
      if (--waiting == 0)
        callback(found);
    }
  };
  const auto gathering = std::make_shared<Gathering>();
  gathering->callback = std::move(callback);
  std::vector<std::string> closed;
  if (!uris) {
    uris.emplace();
    for (const auto &[uri, document] : documents_.all())
      uris->push_back(uri);
  }
  for (const std::string &uri : *uris) {
    if (!documents_.find(uri)) {
      closed.push_back(uri);
      continue;
    }
    ++gathering->waiting;
    const auto take = [gathering](const SnapshotPtr &snapshot) {
      if (snapshot)
        gathering->found.push_back(snapshot);
      gathering->arrive();
    };
    if (const SnapshotPtr latest = scheduler_.latest(uri))
      take(latest);
    else
      scheduler_.with_snapshot(uri, take);
  }
  files_.read(std::move(closed), documents_.encoding(),
              [gathering](const std::vector<SnapshotPtr> &files) {
                gathering->found.insert(gathering->found.end(), files.begin(), files.end());
                gathering->arrive();
              });
}

void LspServer::kernels(protocol::KernelsParams params, Reply<protocol::KernelsResult> reply) {
  with_files(std::move(params.uris), [this, reply](const std::vector<SnapshotPtr> &files) {
    protocol::KernelsResult result;
    for (const SnapshotPtr &file : files) {
      load_measurements(*file);
      for (protocol::KernelItem &item : features::kernel_items(context(*visible(file))))
        result.kernels.push_back(std::move(item));
    }
    reply(std::move(result));
  });
}

void LspServer::variant(protocol::KernelReference reference, Reply<protocol::VariantText> reply) {
  make_edits(protocol::kApplyCommand, reference, [reply](auto made) {
    if (!made)
      return reply(std::unexpected(made.error()));
    auto text = apply_edits(*made->snapshot->text, made->edits);
    if (!text)
      return reply(refuse(kRequestFailed, describe(text.error())));
    reply(protocol::VariantText{std::move(*text), made->snapshot->version});
  });
}

void LspServer::report(protocol::KernelsParams params, Reply<protocol::ReportResult> reply) {
  with_files(std::move(params.uris), [this, reply](const std::vector<SnapshotPtr> &files) {
    std::vector<ReportedKernel> kernels;
    for (const SnapshotPtr &file : files) {
      load_measurements(*file);
      for (const analysis::Kernel &kernel : file->facts.kernels)
        if (KernelStatus known = status(*file, kernel); !known.current.empty())
          kernels.push_back({file, kernel.name, std::move(known)});
    }
    if (kernels.empty() || !environment_.report)
      return reply(refuse(kRequestFailed, "nothing was measured in these files as they stand. "
                                          "Optimize a kernel first"));
    pool_.post([this, reply, kernels = std::move(kernels), make = environment_.report] {
      auto page = make(kernels);
      boost::asio::post(strand_, [reply, count = kernels.size(), page = std::move(page)]() mutable {
        reply(protocol::ReportResult{std::move(page), static_cast<std::int64_t>(count)});
      });
    });
  });
}

} // namespace warpwright::server
