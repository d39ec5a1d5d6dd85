// SPDX-License-Identifier: MIT
#include "c_interface/call.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <roc/config.hpp>
#include <roc/error.hpp>

namespace roc::c_interface {
namespace {

// The last error of a thread. Holds the text itself, so that an error is stored without an
// allocation.
struct last_error {
  roc_status status = ROCARRAY_SUCCESS;
  std::int32_t hip_code = 0;
  char message[2048] = "";
};

constinit thread_local last_error error_of_thread;

roc_status store(roc_status status, char const* message, std::int32_t hip_code = 0) noexcept {
  error_of_thread.status = status;
  error_of_thread.hip_code = hip_code;
  std::snprintf(error_of_thread.message, sizeof error_of_thread.message, "%s", message);
  return status;
}

roc_status status_of(error const& exception) noexcept {
  if (dynamic_cast<shape_error const*>(&exception)) return ROCARRAY_ERROR_SHAPE;
  if (dynamic_cast<layout_error const*>(&exception)) return ROCARRAY_ERROR_LAYOUT;
  if (dynamic_cast<overlap_error const*>(&exception)) return ROCARRAY_ERROR_OVERLAP;
  if (dynamic_cast<lifetime_error const*>(&exception)) return ROCARRAY_ERROR_LIFETIME;
  if (dynamic_cast<registration_error const*>(&exception)) return ROCARRAY_ERROR_REGISTRATION;
  std::error_code const code = exception.code();
  if (code == std::errc::not_enough_memory) return ROCARRAY_ERROR_OUT_OF_MEMORY;
  if (code == std::errc::not_supported) return ROCARRAY_ERROR_NOT_SUPPORTED;
  if (code == std::errc::no_such_device) return ROCARRAY_ERROR_NO_DEVICE;
  // Busy: a call of HIP that waits has failed; the log has its error.
  bool const is_busy = code == std::errc::device_or_resource_busy;
  if (code.category() == hip_category() || is_busy) return ROCARRAY_ERROR_HIP;
  // Denied: a destination is in pages that must not be written.
  bool const is_denied = code == std::errc::permission_denied;
  if (code == std::errc::invalid_argument || is_denied) return ROCARRAY_ERROR_INVALID_ARGUMENT;
  return ROCARRAY_ERROR_UNKNOWN;
}

}  // namespace

roc_status store_current_exception() noexcept {
  try {
    throw;
  } catch (error const& exception) {
    bool const is_of_hip = exception.code().category() == hip_category();
    return store(status_of(exception), exception.what(), is_of_hip ? exception.code().value() : 0);
  } catch (std::bad_alloc const&) {
    return store(ROCARRAY_ERROR_OUT_OF_MEMORY,
                 "out of memory: an allocation of the library failed; free host memory");
  } catch (std::exception const& exception) {
    return store(ROCARRAY_ERROR_UNKNOWN, exception.what());
  } catch (...) {
    return store(
        ROCARRAY_ERROR_UNKNOWN,
        "an exception that is not a std::exception was thrown, such as by a host function");
  }
}

void throw_invalid(std::string const& message) {
  throw error(std::make_error_code(std::errc::invalid_argument), message);
}

void require(void const* pointer, char const* parameter) {
  if (pointer != nullptr) return;
  throw_invalid(std::string(parameter) + " is null; pass an address");
}

void check_flags(std::uint32_t flags, std::uint32_t known, char const* type) {
  if ((flags & ~known) == 0) return;
  throw_invalid("unknown flags: " + std::to_string(flags & ~known) + "; combine those of " + type);
}

}  // namespace roc::c_interface

using namespace roc::c_interface;

char const* roc_status_name(roc_status status) {
#define ROCARRAY_CASE(name) \
  case name: return #name
  switch (status) {
    ROCARRAY_CASE(ROCARRAY_SUCCESS);
    ROCARRAY_CASE(ROCARRAY_ERROR_INVALID_ARGUMENT);
    ROCARRAY_CASE(ROCARRAY_ERROR_SHAPE);
    ROCARRAY_CASE(ROCARRAY_ERROR_LAYOUT);
    ROCARRAY_CASE(ROCARRAY_ERROR_OVERLAP);
    ROCARRAY_CASE(ROCARRAY_ERROR_LIFETIME);
    ROCARRAY_CASE(ROCARRAY_ERROR_REGISTRATION);
    ROCARRAY_CASE(ROCARRAY_ERROR_OUT_OF_MEMORY);
    ROCARRAY_CASE(ROCARRAY_ERROR_NOT_SUPPORTED);
    ROCARRAY_CASE(ROCARRAY_ERROR_NO_DEVICE);
    ROCARRAY_CASE(ROCARRAY_ERROR_HIP);
    ROCARRAY_CASE(ROCARRAY_ERROR_UNKNOWN);
    default: return "unknown status";
  }
#undef ROCARRAY_CASE
}

roc_status roc_last_error(void) { return error_of_thread.status; }
char const* roc_last_error_message(void) { return error_of_thread.message; }
int32_t roc_last_hip_error(void) { return error_of_thread.hip_code; }

void roc_get_version(int32_t* major_version, int32_t* minor_version, int32_t* patch_version) {
  if (major_version != nullptr) *major_version = ROCARRAY_VERSION_MAJOR;
  if (minor_version != nullptr) *minor_version = ROCARRAY_VERSION_MINOR;
  if (patch_version != nullptr) *patch_version = ROCARRAY_VERSION_PATCH;
}
