// The version of the program, as the build knows it.
#pragma once

namespace firn::app {

#ifdef FIRN_VERSION
inline constexpr const char* kVersion = FIRN_VERSION;
#else
inline constexpr const char* kVersion = "unversioned";
#endif

}  // namespace firn::app
