// The files of a content: names, sizes, and how much of each is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/app/page/form_markup.h"
#include "client/content/file_choice.h"
#include "client/core/view/swarm_view.h"
#include "proto/content/manifest.h"

namespace firn::app {

// A content's first entries: a content may have a million.
struct ListedFiles {
  static constexpr std::size_t kListedMax = 100;

  std::vector<FileEntry> entries;  // kListedMax at most, in content order
  std::size_t count = 0;           // of all entries
  std::uint64_t generation_bytes = 0;
  std::vector<bool> chosen;  // of each of the entries
};

// A choice that does not fit counts as that of all.
ListedFiles list_files(const Info& info, const content::FileChoice& choice = {});

// The part of a file's bytes that is verified or can be computed from the rows that are here; 0
// to 1. An empty file is there.
double share_of(const FileEntry& file, std::uint64_t generation_bytes, const core::SwarmView& view);

// `name`: of the content, which its single file has. `view`: null while it has no session, and
// then its files have a progress only if it is `complete`. `play`: the path behind which its files
// are played by their numbers; empty: none is.
std::string files_section(const ListedFiles& files, const std::string& name,
                          const core::SwarmView* view, bool complete, const std::string& play);

// The files with boxes, ticked at those that are chosen or, in a form that comes back, that its
// user had ticked: field "fileN" of number N. Without a button.
std::string file_boxes(const ListedFiles& files, const std::string& name, const FormMarkup& form);

// A bar. `label`: HTML.
std::string progress_bar(double share, const char* label);

}  // namespace firn::app
