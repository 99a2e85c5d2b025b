# Writes commit and date of the source tree as C++ to OUTPUT, if they differ from those in it.
# usage: cmake -D SOURCE=FOLDER -D OUTPUT=FILE -P cmake/commit.cmake
# They come from git. In an archive that `git archive` made they stand in support/build/commit.txt.
# SOURCE_DATE_EPOCH (seconds, as in reproducible-builds.org) replaces the date.
set(commit "unknown commit")
set(date "")
file(STRINGS ${SOURCE}/support/build/commit.txt archived LIMIT_COUNT 1)
if(archived MATCHES "^([0-9a-f]+) ([0-9-]+)$")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
  set(date ${CMAKE_MATCH_2})
elseif(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${found})
    execute_process(COMMAND git -C ${SOURCE} log -1 --format=%cs OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
endif()
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP date "%Y-%m-%d" UTC)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// Written by cmake/commit.cmake.
namespace warpwright {
extern const char kCommit[], kCommitDate[];
const char kCommit[] = "@commit@", kCommitDate[] = "@date@";
} // namespace warpwright
]] @ONLY)
