// Which processes a test has below it, orphans included. Thread: one.
#pragma once
#include "support/files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace warpwright::runner::testing {

/// From now on, orphans among this process's descendants become its children instead of init's.
inline void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

struct ProcessEntry {
  pid_t parent = 0;
  char state = '?'; ///< as in /proc/PID/stat: 'Z' has ended and was not waited for
};

inline std::map<pid_t, ProcessEntry> all_processes() {
  std::map<pid_t, ProcessEntry> found;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const auto after_name = line.rfind(") ");
    if (after_name != std::string::npos && line.size() > after_name + 4)
      found[std::stoi(name)] = {std::atoi(line.c_str() + after_name + 4), line[after_name + 2]};
  }
  return found;
}

/// Processes below `root`, itself left out.
inline std::vector<pid_t> descendants(pid_t root) {
  const auto all = all_processes();
  std::vector<pid_t> found;
  for (const auto &[pid, entry] : all)
    for (auto at = all.find(entry.parent); at != all.end() && at->first > 1;
         at = all.find(at->second.parent))
      if (at->first == root) {
        found.push_back(pid);
        break;
      }
  return found;
}

/// "1234 warpwright-worker-cpu --device cpu"
inline std::string command_of(pid_t pid) {
  std::string text = read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or(""); // it may just have ended
  for (char &letter : text)
    if (letter == '\0')
      letter = ' ';
  return std::to_string(pid) + " " + text;
}

} // namespace warpwright::runner::testing
