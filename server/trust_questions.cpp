#include "server/trust_questions.h"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

namespace warpwright::server {
namespace {

constexpr const char *kTrust = "Trust", *kIgnore = "Ignore", *kNotNow = "Not Now";
constexpr const char *kTrustBoth = "Trust Folder and File", *kTrustFolder = "Trust Folder Only";

bool holds(const std::string &folder, const std::string &path) {
  return path == folder || path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

std::string folder_of(const std::string &path, const std::vector<std::string> &folders) {
  std::string best;
  for (const std::string &folder : folders)
    if (holds(folder, path) && folder.size() > best.size())
      best = folder;
  const std::string parent = std::filesystem::path(path).parent_path();
  return !best.empty() ? best : is_too_wide(parent) ? path : parent;
}

std::string file_question(const consent::ProjectFile &file) {
  return file.path + " asks for:\n" + consent::requests_text(file.requests);
}

} // namespace

OpenTrust open_trust(const consent::Approved &approved, const consent::ProjectFile &file,
                     const std::string &path, const std::vector<std::string> &folders) {
  const bool withheld = file.is_withheld() && file.unapprovable.empty();
  const bool now = withheld && approved.approves(file.identity, file.content_hash);
  return {.folder = approved.trusts(path) ? "" : folder_of(path, folders),
          .file = withheld && !now,
          .file_was_approved_meanwhile = now};
}

TrustQuestion trust_question(const OpenTrust &open, const consent::ProjectFile &file) {
  if (open.folder.empty())
    return {"Warpwright ignores this until you approve it. " + file_question(file) +
                "Do you trust this file?",
            {kTrust, kIgnore}};
  const std::string runs =
      "When you optimize a kernel or a module, Warpwright builds and runs it on your runner. ";
  const std::string asked = "Do you trust " + open.folder + "?";
  if (open.file)
    return {runs + "Besides, " + file_question(file) + asked, {kTrustBoth, kTrustFolder, kNotNow}};
  return {runs + asked, {kTrust, kNotNow}};
}

TrustAnswer trust_answer(const OpenTrust &open, const std::string &answer) {
  if (answer == kTrust || answer == kTrustBoth)
    return {.folder = !open.folder.empty(), .file = open.file};
  return {.folder = answer == kTrustFolder && !open.folder.empty()};
}

Result<void> keep_trust(const consent::ApprovalStore &store, const std::string &folder,
                        const consent::ProjectFile *file) {
  return store.update([&](consent::Approved &approved) {
    if (!folder.empty())
      approved.folders.insert(folder);
    if (file) // the shown content; changed content needs a new approval
      approved.files[file->identity] = file->content_hash;
  });
}

bool is_too_wide(const std::string &folder) {
  const char *home = std::getenv("HOME");
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && (status.st_mode & S_IWOTH))
    return true; // else files of any user would be trusted
  return folder == "/" || folder.empty() || (home && holds(folder, consent::real_path(home)));
}

} // namespace warpwright::server
