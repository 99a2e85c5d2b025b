// Implementation of questions about trust, and of their answers.
#include "server/trust.h"

#include <algorithm>
#include <cstdlib>
#include <sys/stat.h>

namespace warpwright::server {

namespace {

namespace fs = std::filesystem;

constexpr const char *kTrust = "Trust", *kIgnore = "Ignore", *kNotNow = "Not Now";
constexpr const char *kTrustBoth = "Trust Folder and File", *kTrustFolder = "Trust Folder Only";

bool holds(const std::string &folder, const std::string &path) {
  return path == folder || path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

std::string file_question(const consent::ProjectFile &file) {
  return file.path + " asks for:\n" + consent::requests_text(file.requests);
}

std::string question(const std::string &folder, const consent::ProjectFile *file) {
  if (folder.empty())
    return "Warpwright ignores this until you approve it. " + file_question(*file) +
           "Do you trust this file?";
  return "When you optimize a kernel or a module, Warpwright builds and runs it on your runner. " +
         (file ? "Besides, " + file_question(*file) : std::string()) + "Do you trust " + folder +
         "?";
}

} // namespace

bool is_too_wide(const std::string &folder) {
  const char *home = std::getenv("HOME");
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && (status.st_mode & S_IWOTH))
    return true; // else files of any user would be trusted
  return folder == "/" || folder.empty() || (home && holds(folder, consent::real_path(home)));
}

void Trust::set_folders(std::vector<std::string> folders) {
  folders_.clear();
  for (const std::string &folder : folders)
    if (const std::string real = consent::real_path(folder); !is_too_wide(real))
      folders_.push_back(real);
}

std::string Trust::folder_of(const std::string &path) const {
  std::string best;
  for (const std::string &folder : folders_)
    if (holds(folder, path) && folder.size() > best.size())
      best = folder;
  const std::string parent = fs::path(path).parent_path();
  return !best.empty() ? best : is_too_wide(parent) ? path : parent;
}

void Trust::look(const SnapshotPtr &snapshot, std::optional<bool> said,
                 std::function<void(Result<Open>)> done) {
  pool_.post([this, snapshot, said, done = std::move(done)] {
    const auto approved = store_.read();
    const std::string path = consent::real_path(snapshot->facts.path);
    boost::asio::post(strand_, [this, snapshot, said, done, approved, path] {
      if (!approved)
        return done(std::unexpected(approved.error()));
      const consent::ProjectFile &file = snapshot->project.file;
      const bool withheld = file.is_withheld() && file.unapprovable.empty();
      const bool now = withheld && approved->approves(file.identity, file.content_hash);
      done(Open{.folder = said.value_or(false) || approved->trusts(path) ? "" : folder_of(path),
                .file = withheld && !now,
                .file_was_approved_meanwhile = now});
    });
  });
}

void Trust::permit(const SnapshotPtr &snapshot, std::optional<bool> said, Done done) {
  if (said == false)
    return done(Answer::Refused);
  look(snapshot, said, [this, snapshot, done = std::move(done)](Result<Open> open) {
    if (!open)
      return done(std::unexpected(open.error()));
    const consent::ProjectFile &file = snapshot->project.file;
    if (declined_.contains({file.identity, file.content_hash}))
      open->file = false;
    if (open->folder.empty() && !open->file)
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
  look(snapshot, said, [this, snapshot, done = std::move(done)](Result<Open> open) {
    if (!open)
      return done(std::unexpected(open.error()));
    if (open->folder.empty() && !open->file)
      return done(Answer::GrantedMore);
    ask(snapshot, *open, done);
  });
}

void Trust::ask(const SnapshotPtr &snapshot, const Open &open, Done done) {
  const consent::ProjectFile &file = snapshot->project.file;
  mentioned_.insert({file.identity, file.content_hash});
  const bool folder = !open.folder.empty();
  std::vector<std::string> answers{kTrust, folder ? kNotNow : kIgnore};
  if (folder && open.file)
    answers = {kTrustBoth, kTrustFolder, kNotNow};
  client_.ask(question(open.folder, open.file ? &file : nullptr), answers,
              [this, snapshot, open, done](const std::optional<std::string> &answer) {
                const consent::ProjectFile &file = snapshot->project.file;
                if (answer == kTrust || answer == kTrustBoth)
                  return approve(snapshot, open.folder, open.file, done);
                if (answer == kIgnore || answer == kTrustFolder)
                  declined_.insert({file.identity, file.content_hash});
                if (answer == kTrustFolder)
                  return approve(snapshot, open.folder, false, done);
                // An empty folder was trusted before; the file's requests then stay ignored.
                done(open.folder.empty() ? Answer::Granted : Answer::Refused);
              });
}

void Trust::approve(const SnapshotPtr &snapshot, const std::string &folder, bool file, Done done) {
  pool_.post([this, snapshot, folder, file, done = std::move(done)] {
    const auto kept = store_.update([&](consent::Approved &approved) {
      if (!folder.empty())
        approved.folders.insert(folder);
      if (file) // the shown content; changed content needs a new approval
        approved.files[snapshot->project.file.identity] = snapshot->project.file.content_hash;
    });
    boost::asio::post(strand_, [done, kept, file] {
      if (!kept)
        return done(std::unexpected(kept.error()));
      done(file ? Answer::GrantedMore : Answer::Granted);
    });
  });
}

} // namespace warpwright::server
