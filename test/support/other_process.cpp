// SPDX-License-Identifier: MIT
#include "support/other_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

extern char** environ;

namespace roc::test {
namespace {

std::map<std::string_view, role>& roles() {
  static std::map<std::string_view, role> instance;
  return instance;
}

constexpr int time_limit_s = 60;

}  // namespace

struct other_process::ends {
  int own;
  int others;

  static ends make() {
    int descriptors[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors) != 0) {
      throw std::runtime_error("socketpair failed");
    }
    ::fcntl(descriptors[0], F_SETFD, FD_CLOEXEC);
    return {descriptors[0], descriptors[1]};
  }
};

void channel::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void channel::send_bytes(void const* data, std::size_t bytes) {
  auto const* next = static_cast<char const*>(data);
  while (bytes != 0) {
    ssize_t const count = ::send(descriptor_, next, bytes, MSG_NOSIGNAL);
    if (count <= 0) throw std::runtime_error("the other process does not receive");
    next += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

void channel::receive_bytes(void* data, std::size_t bytes) {
  auto* next = static_cast<char*>(data);
  while (bytes != 0) {
    pollfd entry{descriptor_, POLLIN, 0};
    bool const is_ready = ::poll(&entry, 1, time_limit_s * 1000) == 1;
    ssize_t const count = is_ready ? ::recv(descriptor_, next, bytes, 0) : -1;
    if (count <= 0) throw std::runtime_error("the other process does not send");
    next += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

role_definition::role_definition(char const* name, role function) {
  roles().emplace(name, function);
}

other_process::other_process(char const* role_name) : other_process(role_name, ends::make()) {}

other_process::other_process(char const* role_name, ends const& descriptors)
    : channel_(descriptors.own) {
  std::string name = std::string("--role=") + role_name;
  std::string descriptor = std::to_string(descriptors.others);
  char program[] = "/proc/self/exe";
  char* arguments[] = {program, name.data(), descriptor.data(), nullptr};
  int const error = ::posix_spawn(&pid_, program, nullptr, nullptr, arguments, environ);
  ::close(descriptors.others);
  if (error != 0) throw std::runtime_error("posix_spawn failed");
}

other_process::~other_process() { kill(); }

void other_process::kill(bool reap) {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  siginfo_t ended;
  if (!reap) {
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
    return;
  }
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string other_process::how_it_ended() {
  for (int i = 0; i < 100; ++i) {
    siginfo_t ended{};
    int const result =
        ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (result != 0) return "";
    if (ended.si_pid != 0) {
      return (ended.si_code == CLD_EXITED ? ": exit status " : ": signal ") +
             std::to_string(ended.si_status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "";
}

bool other_process::join() {
  channel_.close();
  int status = -1;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool play_role(int count, char** arguments, int& result) {
  constexpr std::string_view prefix = "--role=";
  if (count != 3 || !std::string_view(arguments[1]).starts_with(prefix)) return false;
  testing::InitGoogleTest();
  ::alarm(2 * time_limit_s);
  auto const found = roles().find(std::string_view(arguments[1]).substr(prefix.size()));
  result = 1;
  if (found == roles().end()) return true;
  try {
    channel parent(std::atoi(arguments[2]));
    found->second(parent);
    result = testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s: %s\n", arguments[1], error.what());
  }
  return true;
}

}  // namespace roc::test
