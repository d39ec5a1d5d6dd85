// SPDX-License-Identifier: MIT
// Tests with a second process: the same program is started again and plays a role.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace roc::test {

/// One end of a connection between two processes. Values are sent as their bytes.
class channel {
 public:
  explicit channel(int descriptor) : descriptor_(descriptor) {}
  channel(channel const&) = delete;
  channel& operator=(channel const&) = delete;
  ~channel() { close(); }

  template <class T>
  void send(T const& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(&value, sizeof value);
  }
  /// Blocks until the value has arrived. Throws std::runtime_error after a minute, or if the other
  /// process has ended.
  template <class T>
  T receive() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    receive_bytes(&value, sizeof value);
    return value;
  }
  void close();

 private:
  void send_bytes(void const* data, std::size_t bytes);
  void receive_bytes(void* data, std::size_t bytes);

  int descriptor_;
};

/// What the second process does. It may use the macros of GoogleTest.
using role = void (*)(channel& parent);

/// Defines the role of a name: one variable of this type in each program and role.
struct role_definition {
  role_definition(char const* name, role function);
};

/// A second process that plays a role.
class other_process {
 public:
  /// Starts it. Throws std::runtime_error.
  explicit other_process(char const* role_name);
  /// Kills the process if it has not ended.
  ~other_process();
  other_process(other_process const&) = delete;
  other_process& operator=(other_process const&) = delete;

  template <class T>
  void send(T const& value) {
    channel_.send(value);
  }
  /// As channel::receive. The text of the exception tells how the process has ended.
  template <class T>
  T receive() {
    try {
      return channel_.receive<T>();
    } catch (std::runtime_error const& error) {
      throw std::runtime_error(error.what() + how_it_ended());
    }
  }
  pid_t pid() const { return pid_; }

  /// Kills the process without giving it time for anything. If `reap` is false, its entry in the
  /// process table stays.
  void kill(bool reap = true);
  /// Waits for the end of the role. Returns false if one of its checks has failed.
  bool join();

 private:
  struct ends;
  other_process(char const* role_name, ends const& descriptors);
  /// Returns ": " and the exit status or the signal, after up to a second; "" if it still runs.
  std::string how_it_ended();

  channel channel_;
  pid_t pid_ = -1;
};

/// Returns true if the program was started to play a role, and sets the result of main.
bool play_role(int count, char** arguments, int& result);

}  // namespace roc::test
