// What the parts of a session find out that decides what becomes of it.
#pragma once

#include <string>

#include "client/app/session/store_opening.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

// Called on the main thread.
class LifeEvents {
 public:
  virtual ~LifeEvents() = default;
  virtual void manifest_arrived(Manifest manifest) = 0;
  virtual void store_opened(Result<OpenedStore> opened) = 0;
  // The content is complete: final names, durable.
  virtual void store_finished() = 0;
  // Instead: everything is done but for files that were changed under their final names, or the
  // file system cannot do what is left.
  virtual void store_spoiled(const Error& error) = 0;
  // Each address given by hand has proved another identity; `source` was the last to do so.
  virtual void all_sources_wrong(const std::string& source) = 0;
  // The core has said its goodbyes and decides nothing more.
  virtual void core_finished() = 0;
};

}  // namespace firn::app
