// Pages of kernels: the diff of a variant, and all that is known of a kernel.
#include "server/lsp/lsp_server.h"

#include "server/features/kernel_page.h"
#include "server/protocol/uri.h"
#include "support/model/verdict.h"
#include "support/text.h"

namespace warpwright::server {

namespace {

using Code = Result<features::MachineCode>;

/// Markdown.
std::string code_block(const Code &code) {
  if (!code)
    return describe(code.error()) + "\n";
  return (code->sass_missing.empty() ? "" : "No machine code: " + code->sass_missing + ".\n\n") +
         "```\n" + features::interleaved(*code) + "```\n";
}

protocol::MachineCodeItem item_of(const Code &code) {
  if (!code)
    return {.missing = describe(code.error())};
  protocol::MachineCodeItem item{code->source, code->ptx, code->sass, code->sass_missing, {}};
  for (const features::CodeRow &row : code->rows)
    item.rows.push_back({static_cast<std::int64_t>(row.address), static_cast<std::int64_t>(row.ptx_line),
                         static_cast<std::int64_t>(row.source_line)});
  return item;
}

} // namespace

void LspServer::text_document_content(protocol::TextDocumentContentParams params,
                                      Reply<protocol::TextDocumentContent> reply) {
  const auto page = features::parse_page_uri(params.uri);
  if (!page)
    return reply(refuse(rpc::kInvalidParams, describe(page.error())));
  make_page(*page, [reply](auto text) {
    if (!text)
      return reply(std::unexpected(text.error()));
    reply(protocol::TextDocumentContent{std::move(*text)});
  });
}

void LspServer::open_page(const features::PageReference &page, Reply<Json> reply) {
  const auto show = [this, reply](const std::string &uri) {
    client_.show_document(uri, [reply](const Result<void> &shown) {
      if (shown)
        return reply(Json());
      reply(refuse(kRequestFailed, describe(shown.error())));
    });
  };
  if (client_.capabilities.text_document_content || !client_.capabilities.show_document)
    return show(features::page_uri(page)); // where nothing can be shown, the client's answer says so
  make_page(page, [=, this](const auto &text) {
    if (!text)
      return reply(std::unexpected(text.error()));
    if (!environment_.write_page)
      return reply(refuse(kRequestFailed, "this session writes no pages"));
    pool_.post([=, this, text = *text, write = environment_.write_page] {
      const auto path = write(features::page_name(page), text);
      boost::asio::post(strand_, [=] {
        if (!path)
          return reply(refuse(kRequestFailed, describe(path.error())));
        show(protocol::uri_of(*path));
      });
    });
  });
}

void LspServer::make_page(const features::PageReference &page, PageCallback callback) {
  if (page.page == features::Page::Review)
    return make_review(page.kernel, std::move(callback));
  make_details(page.kernel, std::move(callback));
}

void LspServer::make_review(const protocol::KernelReference &reference, PageCallback callback) {
  make_edits(protocol::kApplyCommand, reference, [callback](const auto &made) {
    if (!made)
      return callback(std::unexpected(made.error()));
    const std::string &before = *made->snapshot->text;
    const auto after = apply_edits(before, made->edits);
    if (!after)
      return callback(refuse(kRequestFailed, describe(after.error())));
    const std::string &path = made->snapshot->facts.path;
    std::string diff = unified_diff(before, *after, "a" + path, "b" + path);
    if (const auto &includer = made->includer)
      if (const auto launching = apply_edits(includer->text, includer->edits))
        diff += unified_diff(includer->text, *launching, "a" + includer->path, "b" + includer->path);
    callback(std::move(diff));
  });
}

void LspServer::make_details(const protocol::KernelReference &reference, PageCallback callback) {
  with_files({{reference.uri}}, [=, this](const std::vector<SnapshotPtr> &files) {
    const SnapshotPtr file = files.empty() ? nullptr : files.front();
    const analysis::Kernel *kernel = file ? file->find_kernel(reference.kernel) : nullptr;
    if (!kernel)
      return callback(refuse(kRequestFailed, "there is no kernel '" + reference.kernel + "' in " +
                                                 reference.uri));
    load_measurements(*file);
    const KernelStatus known = status(*file, *kernel);
    const runner::LedgerEntry *entry = features::explained_entry(known);
    const auto show = [=, this](const std::string &code) {
      callback(features::kernel_page(context(*file), *file->find_kernel(reference.kernel), code));
    };
    if (!entry || !environment_.machine_code || settings_.trusted == false)
      return show("");
    compile_both(*entry, [show](const CodeOfBoth &code) {
      show("### Before\n\n" + code_block(code.before) + "\n### After\n\n" + code_block(code.after));
    });
  });
}

void LspServer::compile_both(const runner::LedgerEntry &entry,
                             std::function<void(const CodeOfBoth &)> callback) {
  pool_.post([=, this, compile = environment_.machine_code] {
    const int capability = model::capability_of(entry.verdict.device);
    const auto both = std::make_shared<const CodeOfBoth>(
        compile(entry.task.reference, capability), compile(entry.plan, capability));
    boost::asio::post(strand_, [callback, both] { callback(*both); });
  });
}

void LspServer::details(protocol::KernelReference reference,
                        Reply<protocol::DetailsResult> reply) {
  with_files({{reference.uri}}, [=, this](const std::vector<SnapshotPtr> &files) {
    if (files.empty() || !environment_.machine_code || settings_.trusted == false)
      return reply(refuse(kRequestFailed, "there is no machine code of '" + reference.kernel + "'"));
    const SnapshotPtr &file = files.front();
    load_measurements(*file);
    const auto entry = entry_of(*file, reference);
    if (!entry)
      return reply(std::unexpected(entry.error()));
    const ReportedKernel kernel{file, reference.kernel,
                                status(*file, *file->find_kernel(reference.kernel))};
    const std::string roofline = environment_.roofline ? environment_.roofline(kernel) : "";
    compile_both(*entry, [reply, roofline](const CodeOfBoth &code) {
      reply(protocol::DetailsResult{roofline, item_of(code.before), item_of(code.after)});
    });
  });
}

} // namespace warpwright::server
