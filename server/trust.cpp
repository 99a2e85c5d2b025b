// Implementation of questions about trust, and of their answers.
#include "server/trust.h"

namespace warpwright::server {

void Trust::set_folders(std::vector<std::string> folders) {
  folders_.clear();
  for (const std::string &folder : folders)
    if (const std::string real = consent::real_path(folder); !is_too_wide(real))
      folders_.push_back(real);
}

void Trust::look(const SnapshotPtr &snapshot, std::optional<bool> said,
                 std::function<void(Result<OpenTrust>)> done) {
  pool_.post([this, snapshot, said, done = std::move(done)] {
    const auto approved = store_.read();
    const std::string path = consent::real_path(snapshot->facts.path);
    boost::asio::post(strand_, [this, snapshot, said, done, approved, path] {
      if (!approved)
        return done(std::unexpected(approved.error()));
      OpenTrust open = open_trust(*approved, snapshot->project.file, path, folders_);
      if (said.value_or(false))
        open.folder.clear();
      done(open);
    });
  });
}

void Trust::permit(const SnapshotPtr &snapshot, std::optional<bool> said, Done done) {
  if (said == false)
    return done(Answer::Refused);
  look(snapshot, said, [this, snapshot, done = std::move(done)](Result<OpenTrust> open) {
    if (!open)
      return done(std::unexpected(open.error()));
    const consent::ProjectFile &file = snapshot->project.file;
    if (declined_.contains({file.identity, file.content_hash}))
      open->file = false;
    if (open->is_settled())
      return done(open->file_was_approved_meanwhile ? Answer::GrantedMore : Answer::Granted);
    ask(snapshot, *open, done);
  });
}

void Trust::mention(const SnapshotPtr &snapshot, std::optional<bool> said, Done done) {
  const consent::ProjectFile &file = snapshot->project.file;
  if (said == false || !file.is_withheld() || !file.unapprovable.empty() ||
      !mentioned_.insert({file.identity, file.content_hash}).second)
    return;
  if (client_.capabilities.questions)
    return ask(snapshot, {.folder = {}, .file = true}, std::move(done));
  client_.show_message(protocol::MessageType::Warning,
                       "Warpwright: " + describe(*consent::withheld_notice(file)));
}

void Trust::review(const SnapshotPtr &snapshot, std::optional<bool> said, Done done) {
  if (said == false)
    return done(Answer::Refused);
  look(snapshot, said, [this, snapshot, done = std::move(done)](Result<OpenTrust> open) {
    if (!open)
      return done(std::unexpected(open.error()));
    if (open->is_settled())
      return done(Answer::GrantedMore);
    ask(snapshot, *open, done);
  });
}

void Trust::ask(const SnapshotPtr &snapshot, const OpenTrust &open, Done done) {
  const consent::ProjectFile &file = snapshot->project.file;
  mentioned_.insert({file.identity, file.content_hash});
  const TrustQuestion question = trust_question(open, file);
  client_.ask(question.text, question.answers,
              [this, snapshot, open, question, done](const std::optional<std::string> &answer) {
                const consent::ProjectFile &file = snapshot->project.file;
                const TrustAnswer given = trust_answer(open, answer.value_or(""));
                if (open.file && !given.file && answer && (given.folder || open.folder.empty()))
                  declined_.insert({file.identity, file.content_hash});
                if (given.folder || given.file)
                  return approve(snapshot, given.folder ? open.folder : "", given.file, done);
                // An empty folder was trusted before; the file's requests then stay ignored.
                done(open.folder.empty() ? Answer::Granted : Answer::Refused);
              });
}

void Trust::approve(const SnapshotPtr &snapshot, const std::string &folder, bool file, Done done) {
  pool_.post([this, snapshot, folder, file, done = std::move(done)] {
    const auto kept = keep_trust(store_, folder, file ? &snapshot->project.file : nullptr);
    boost::asio::post(strand_, [done, kept, file] {
      if (!kept)
        return done(std::unexpected(kept.error()));
      done(file ? Answer::GrantedMore : Answer::Granted);
    });
  });
}

} // namespace warpwright::server
