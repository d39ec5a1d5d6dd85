// SPDX-License-Identifier: MIT
// The fault matrix: scenarios over the whole public interface, in which every HIP call, every
// operator new and every start of a thread fails in turn. Each run must end with the right data or
// with a typed error; nothing may crash, hang, leak or get lost, and the library works on.
//
//   fault_matrix                      all faults of all scenarios
//   fault_matrix --seconds 8          a sample that takes about so long; --seed N repeats it
//   fault_matrix --every 10           every tenth case, beginning with one that the seed chooses
//   fault_matrix --jobs 16            as many cases at the same time, each in a process
//   fault_matrix --part 2/5           one of five disjoint parts, which have all cases together
//   fault_matrix --counts FILE        reads how often the scenarios use what can fail, or writes it
//                                     if there is no such file: parts agree in mode threaded, too.
//                                     The file belongs to one mode. It serves all parts, and
//                                     any --scenario and --state within those it was written for.
//   fault_matrix --scenario "map" --fault hipEventRecord:3:later --state warm
//
// A scenario runs `warm`, in a process that has run it before, with the fault in its calls; and
// `cold`, in a process of its own, with the fault in everything that it does. The mode is that of
// ROCARRAY_HOST_MODE.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <list>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "campaigns/fault_matrix.hpp"
#include "copy/staging/staging_pool.hpp"
#include "support/environment.hpp"

// Replaces the function of the C library for the whole program: std::thread throws if it fails.
extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes,
                              void* (*start)(void*), void* argument) {
  namespace faults = roc::test::faults;
  unsigned const number = ++faults::thread_starts;
  unsigned const first = faults::first_failing_start;
  if (first != 0 && (number == first || (number > first && faults::all_later_starts_fail))) {
    ++faults::failed_starts;
    return EAGAIN;
  }
  static auto* const original =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return original(thread, attributes, start, argument);
}

#if defined(__SANITIZE_ADDRESS__)
// The campaign counts allocations itself. Memory that the library leaks after an error on purpose,
// because work may still use it, is no finding.
extern "C" char const* __asan_default_options() { return "detect_leaks=0"; }
#endif

// The driver. It does not use the library itself: it forks processes that run the cases, and
// notices those that crash or hang.

namespace roc::test::faults {
namespace {

struct test_case {
  std::size_t scenario;
  bool is_cold;
  fault failure;
};

enum class outcome : unsigned char { not_reached, succeeded, failed, finding };

// Shared by the driver and one of its children.
struct shared_state {
  std::atomic<unsigned long> progress;
  std::atomic<std::size_t> current;  // index of the case that runs
  use_counts counts;                 // of the last run
  bool has_device;
  bool is_on_cpu;
  mode device_mode;
  std::atomic<long> outcomes[4];
  std::atomic<long> leaks_on_purpose;
  char finding[4000];
  bool is_finished;
};

// The state of the child that runs or is to be started.
shared_state* shared = nullptr;
int error_file = -1;  // receives stderr of the child

// Runs of a scenario, successful or not, must not make these grow.
enum resource {
  device_memory,
  pinned_memory,
  registrations,
  native_streams,
  native_events,
  textures,
  opened_memory,
  pool_bytes,
  pool_reserved,
  allocations,
  threads,
  resource_count
};
constexpr char const* resource_names[] = {"allocations of device memory",
                                          "allocations of pinned memory",
                                          "registrations",
                                          "streams",
                                          "events",
                                          "textures",
                                          "open allocations of other processes",
                                          "bytes in use of the pool",
                                          "bytes that the pool keeps",
                                          "allocations of host memory",
                                          "threads"};
using resources = std::array<long, resource_count>;

long thread_count() {
  FILE* const file = std::fopen("/proc/self/stat", "r");
  if (file == nullptr) return 0;
  char line[1024];
  long result = 0;
  if (std::fgets(line, sizeof line, file) != nullptr) {
    char const* const end_of_name = std::strrchr(line, ')');
    if (end_of_name != nullptr) {
      std::sscanf(end_of_name + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                  &result);
    }
  }
  std::fclose(file);
  return result;
}

// Waits for all work, lets the library free what it keeps, and returns what exists.
resources measure() {
  synchronize_devices();
  trim_pinned_cache();
  trim_pageable_cache();
  resources result{};
  for (int i = 0; i != device::count(); ++i) {
    memory_resource& pool = device_resource(i);
    // One call waits up to 10 ms for the streams, which is short for a busy machine.
    for (int calls = 0; calls == 0 || (calls < 20 && pool.statistics().reserved_bytes != 0);
         ++calls) {
      pool.trim();
    }
    result[pool_bytes] += static_cast<long>(pool.statistics().current_bytes);
    result[pool_reserved] += static_cast<long>(pool.statistics().reserved_bytes);
  }
  auto const successes = [](char const* call) -> long {
    static std::map<std::string_view, std::size_t> indices;
    auto const [entry, is_new] = indices.emplace(call, 0);
    if (is_new) entry->second = index_of_call(call);
    return call_successes[entry->second];
  };
  result[device_memory] = successes("hipMalloc") + successes("hipMallocAsync") +
                          successes("hipMallocFromPoolAsync") + successes("hipMallocManaged") -
                          successes("hipFree") - successes("hipFreeAsync");
  result[pinned_memory] = successes("hipHostMalloc") - successes("hipHostFree");
  // Each is an allocation of HIP on the CPU, too.
  long const kept_registrations = registrations_of_collectives();
  result[registrations] =
      successes("hipHostRegister") - successes("hipHostUnregister") - kept_registrations;
  // The library keeps its native streams, and creates one only if none of them is known to be idle.
  result[native_streams] = successes("hipStreamCreateWithFlags") +
                           successes("hipStreamCreateWithPriority") - successes("hipStreamDestroy");
  result[native_events] = successes("hipEventCreateWithFlags") +
                          successes("hipIpcOpenEventHandle") - successes("hipEventDestroy");
  result[textures] = successes("hipCreateTextureObject") - successes("hipDestroyTextureObject");
  result[opened_memory] = successes("hipIpcOpenMemHandle") - successes("hipIpcCloseMemHandle");
  result[allocations] = live_allocations() - kept_registrations;
  result[threads] = thread_count();
  return result;
}

// Returns true if errors of HIP explain that the resource grows, which is no finding:
// - the call that frees it failed: nothing can free it. Without host memory HIP on the CPU fails
// so.
// - the collective library of the host platform could not enqueue the host function that frees an
// operation.
// - the device cannot be made current, for ever, and the log says so: freeing needs the device.
bool is_explained(fault const& f, int grown) {
  auto const has_failed = [](char const* call) { return call_errors[index_of_call(call)] != 0; };
  if (f.all_later && f.kind == fault_kind::call && log_lines != 0 &&
      (has_failed("hipGetDevice") || has_failed("hipSetDevice"))) {
    return true;
  }
  bool const freeing_fails = has_failed("hipFree") || has_failed("hipFreeAsync");
  switch (grown) {
    case device_memory:
    case pool_bytes:
    case pool_reserved: return freeing_fails;
    case pinned_memory: return has_failed("hipHostFree");
    case registrations: return has_failed("hipHostUnregister");
    // A native stream is used again only after its last event is known to be reached.
    case native_streams:
      return has_failed("hipEventRecord") || has_failed("hipEventQuery") ||
             has_failed("hipStreamDestroy");
    case native_events: return has_failed("hipEventDestroy");
    case textures: return has_failed("hipDestroyTextureObject");
    case opened_memory: return has_failed("hipIpcCloseMemHandle");
    // Memory and streams that HIP on the CPU keeps are host memory and threads of the process.
    default:
      return freeing_fails || lost_operations != 0 || has_failed("hipHostFree") ||
             has_failed("hipHostUnregister") || has_failed("hipStreamDestroy") ||
             has_failed("hipEventDestroy") || has_failed("hipGraphDestroy") ||
             has_failed("hipGraphExecDestroy");
  }
}

// Copies of all kinds through all staging memory. Returns what is wrong.
std::string probe() {
  try {
    stream s;
    words const from = make_words(count, 5);
    words to(count);
    array const a = to_device(from);
    a.copy_to_host(to);
    if (to != from) return "a staged copy afterwards is wrong";
    array const b({count}, order::c, s);
    b.copy_to_device(from, s);
    b.copy_to_host(to, s);
    s.synchronize();
    if (to != from) return "a copy on a stream afterwards is wrong";
    auto const guard = register_host(to);
    b.fill(3, s);
    b.copy_to_host(to, s);
    s.synchronize();
    if (std::count(to.begin(), to.end(), 3u) != static_cast<std::ptrdiff_t>(count)) {
      return "a registered copy afterwards is wrong";
    }
  } catch (std::exception const& error) {
    return std::string("a copy afterwards fails: ") + error.what();
  }
  std::size_t const blocks = transfer::staging_pool::count_lost_blocks();
  return blocks == 0 ? "" : std::to_string(blocks) + " blocks of staging memory are lost";
}

void prepare_process() {
  // Staging memory is small, so that copies need many chunks and memory that is lost is missed.
  set_options({.copy_threads = 2,
               .staging_threshold = 0,
               .staging_limit = 64 << 10,
               .staging_block = 16 << 10,
               .staging_chunk = 4 << 10,
               .log = log_level::error});
  set_log_hook(count_log_line);
  platform::set_call_hook(count_call);
}

struct run_result {
  outcome kind;
  std::string finding;
  bool may_leak;  // the library said so
};

run_result run_once(test_case const& t) {
  has_logged_leak = false;
  log_lines = 0;
  context c(t.failure, t.is_cold);
  c.execute(scenarios()[t.scenario].run);
  run_result result{outcome::succeeded, c.finding(), has_logged_leak};
  if (!c.has_failed()) result.kind = outcome::not_reached;
  if (c.has_thrown()) result.kind = outcome::failed;
  shared->counts = c.counts();
  return result;
}

// Runs a case, and again if something has grown: a leak grows over every two runs. Over a
// single run, memory that is freed late can hide a small one.
run_result run_case(test_case const& t) {
  // The library removes what it knows of finished work when there is much of it: after more than 40
  // runs of some scenarios.
  constexpr int most_runs = 200;
  // A cold run is the first of its process: what it creates is not known.
  resources before = t.is_cold ? resources{} : measure();
  resources earlier = before;  // before the previous run
  resources const first = before;
  run_result result = run_once(t);
  std::set<int> grown;
  for (int i = 0; i != resource_count; ++i) grown.insert(i);
  for (int runs = 1; result.finding.empty(); ++runs) {
    resources const after = measure();
    ++shared->progress;
    if (t.is_cold) {
      if (after[pool_bytes] != 0 && !result.may_leak && !is_explained(t.failure, pool_bytes)) {
        result.finding = std::to_string(after[pool_bytes]) + " bytes of the pool are lost";
      }
      if (after[registrations] != 0 && !is_explained(t.failure, registrations)) {
        result.finding = "a range is registered still";
      }
      break;
    }
    // A native stream on the CPU consists of host memory and a thread.
    bool const adds_streams = after[native_streams] > before[native_streams];
    std::erase_if(grown, [&](int i) {
      return after[static_cast<std::size_t>(i)] <= earlier[static_cast<std::size_t>(i)] ||
             is_explained(t.failure, i) ||
             (adds_streams && is_explained(t.failure, native_streams));
    });
    if (result.may_leak) {
      if (!grown.empty()) ++shared->leaks_on_purpose;
      break;
    }
    if (grown.empty()) break;
    if (runs == most_runs) {
      // If the call fails in each run before the library removes what it knows of finished work,
      // that grows too. A run without the failure removes it; a leak stays.
      static_cast<void>(run_once({t.scenario, false, {}}));
      resources const healthy = measure();
      std::erase_if(grown, [&](int i) {
        auto const k = static_cast<std::size_t>(i);
        return healthy[k] < first[k] + (after[k] - first[k]) / 2;
      });
      for (int i : grown) {
        result.finding += (result.finding.empty() ? "leaked in every two runs: " : ", ") +
                          std::string(resource_names[i]);
      }
      break;
    }
    earlier = std::exchange(before, after);
    auto const again = run_once(t);
    result.finding = again.finding;
    result.may_leak = result.may_leak || again.may_leak;
  }
  if (result.finding.empty()) result.finding = probe();
  if (result.finding.empty() && t.is_cold) {
    auto const again = run_once({t.scenario, false, {}});
    result.finding = again.finding;
    if (again.kind == outcome::failed && result.finding.empty()) {
      result.finding = "the scenario fails afterwards";
    }
  }
  if (!result.finding.empty()) result.kind = outcome::finding;
  return result;
}

// Ends the process. The parent process reads the finding; with --here, where there is no parent,
// the finding is printed.
[[noreturn]] void exit_with_finding(std::string const& finding) {
  std::snprintf(shared->finding, sizeof shared->finding, "%s", finding.c_str());
  std::printf("%s\n", finding.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

// Runs cases in the child. Ends the process after a finding, because it may be damaged.
[[noreturn]] void run_cases(std::vector<test_case> const& cases, std::size_t first,
                            std::size_t last) {
  prepare_process();
  std::size_t warm_scenario = scenarios().size();
  for (std::size_t i = first; i != last; ++i) {
    shared->current = i;
    ++shared->progress;
    static_cast<void>(::ftruncate(error_file, 0));
    test_case const& t = cases[i];
    if (!t.is_cold && warm_scenario != t.scenario) {
      warm_scenario = t.scenario;
      for (int run = 0; run != 2; ++run) {
        auto const result = run_once({t.scenario, false, {}});
        if (result.kind == outcome::failed || !result.finding.empty()) {
          exit_with_finding("without a fault: " + result.finding);
        }
        measure();
      }
      static_cast<void>(probe());
    }
    run_result const result = run_case(t);
    ++shared->outcomes[static_cast<int>(result.kind)];
    if (result.kind == outcome::finding) {
      exit_with_finding(result.finding);
    }
  }
  shared->is_finished = true;
  std::exit(0);  // runs the exit handlers of the library, too
}

// Finds out whether there is a device.
[[noreturn]] void find_device() {
  shared->has_device = device::count() != 0;
  shared->is_on_cpu = shared->has_device && on_cpu();
  if (shared->has_device) shared->device_mode = run_mode();
  std::_Exit(0);
}

// Measures how often a scenario uses what can fail, and writes it to shared->counts.
[[noreturn]] void count_uses(std::size_t scenario, bool is_cold) {
  prepare_process();
  if (!is_cold) {
    for (int run = 0; run != 2; ++run) {
      static_cast<void>(run_once({scenario, false, {}}));
      measure();
    }
  }
  auto const result = run_once({scenario, is_cold, {}});
  if (result.kind == outcome::failed || !result.finding.empty()) {
    std::snprintf(shared->finding, sizeof shared->finding, "%s", result.finding.c_str());
  }
  std::_Exit(0);
}

struct settings {
  double seconds = 0;     // 0: all cases
  std::size_t every = 1;  // runs one of so many cases
  std::optional<unsigned long> seed;
  std::string scenario;
  std::string fault;
  std::string state;
  std::string counts_file;
  unsigned long part = 1;   // from 1
  unsigned long parts = 1;  // the cases are divided into so many
  std::size_t jobs = 1;     // cases at the same time
  double hang_seconds = 30;
  bool lists = false;
  bool lists_cases = false;
  bool runs_here = false;  // without a child, for a debugger
};

// A child of the driver, and what the driver knows of it.
class child_process {
 public:
  child_process()
      : state_(new(::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) shared_state{}),
        errors_(::memfd_create("stderr", MFD_CLOEXEC)) {}
  child_process(child_process const&) = delete;
  child_process& operator=(child_process const&) = delete;

  // Makes `shared` and `error_file` those of this child.
  void select() const {
    shared = state_;
    error_file = errors_;
  }

  // Runs f() in a child.
  template <class F>
  void start(F const& f) {
    select();
    state_->finding[0] = 0;
    state_->is_finished = false;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    std::fflush(nullptr);
    static_cast<void>(::ftruncate(errors_, 0));
    id_ = ::fork();
    if (id_ == -1) std::abort();
    if (id_ == 0) {
      ::close(ends[0]);
      ::dup2(errors_, STDERR_FILENO);
      f();
    }
    ::close(ends[1]);
    end_ = ends[0];
    progress_ = state_->progress;
    last_progress_ = std::chrono::steady_clock::now();
  }

  bool is_running() const { return id_ != 0; }
  // Becomes readable when the child ends.
  int end() const { return end_; }
  shared_state const& state() const { return *state_; }

  // Returns true if the child has ended, as `has_ended` says, or hangs; it is then killed.
  // `what()` is what went wrong.
  bool finish(bool has_ended, double hang_seconds) {
    auto const now = std::chrono::steady_clock::now();
    if (!has_ended) {
      if (state_->progress != progress_) {
        progress_ = state_->progress;
        last_progress_ = now;
      }
      if (std::chrono::duration<double>(now - last_progress_).count() <= hang_seconds) return false;
      ::kill(id_, SIGKILL);
    }
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = 0;
    ::close(end_);
    what_ = describe(has_ended ? std::optional<int>(status) : std::nullopt);
    return true;
  }
  // Describes the failure; empty if the child ended normally.
  std::string const& what() const { return what_; }

  // The cases that the child runs, and for a count the scenario and its state.
  std::size_t first = 0;
  std::size_t last = 0;

 private:
  std::string describe(std::optional<int> const& status) const;

  shared_state* state_;
  int errors_;  // receives stderr
  pid_t id_ = 0;
  int end_ = -1;
  unsigned long progress_ = 0;
  std::chrono::steady_clock::time_point last_progress_;
  std::string what_;
};

std::string child_process::describe(std::optional<int> const& status) const {
  if (state_->finding[0] != 0) return state_->finding;
  if (!status) return "hangs";
  if (*status == 0) return "";
  char text[600] = {};
  auto const size = ::lseek(errors_, 0, SEEK_END);
  auto const begin = std::max<off_t>(0, size > 500 && size < 1500 ? 0 : size - 500);
  static_cast<void>(::pread(errors_, text, sizeof text - 1, begin));
  // AddressSanitizer's first lines say more than its last.
  char all[4000] = {};
  static_cast<void>(::pread(errors_, all, sizeof all - 1, 0));
  std::string message = text;
  if (char const* const report = std::strstr(all, "ERROR: AddressSanitizer")) {
    message = std::string(report).substr(0, 1200);
  }
  std::string const how = WIFSIGNALED(*status)
                              ? "ends by signal " + std::to_string(WTERMSIG(*status))
                              : "ends with status " + std::to_string(WEXITSTATUS(*status));
  return how + (state_->is_finished ? " at exit" : "") + (message.empty() ? "" : ": " + message);
}

constexpr std::string_view end_of_capture = "hipStreamEndCapture";

// Adds the faults of a scenario to `cases`.
void add_cases(std::vector<test_case>& cases, std::size_t scenario, bool is_cold, bool is_on_cpu,
               use_counts const& counts) {
  auto const add = [&](fault f) {
    // If a capture cannot be ended, the device cannot be synchronized, and the matrix cannot go on.
    bool const is_end = f.kind == fault_kind::call && call_names[f.call] == end_of_capture;
    for (bool const all_later : {false, true}) {
      if (is_end && all_later) continue;
      f.all_later = all_later;
      cases.push_back({scenario, is_cold, f});
    }
  };
  unsigned const limit = scenarios()[scenario].most_uses;
  auto const most_of = [&](unsigned uses) { return limit == 0 ? uses : std::min(uses, limit); };
  for (std::size_t i = 0; i != call_names.size(); ++i) {
    std::string_view const name = call_names[i];
    bool const allocates = name.find("Malloc") != name.npos || name.find("Create") != name.npos ||
                           name == "hipHostRegister";
    for (unsigned nth = 1; nth <= most_of(counts.calls[i]); ++nth) {
      add({fault_kind::call, i, nth, false, hipErrorUnknown});
      if (allocates) add({fault_kind::call, i, nth, false, hipErrorOutOfMemory});
    }
  }
  // A vendor's runtime may not survive these.
  if (!is_on_cpu) return;
  for (unsigned nth = 1; nth <= most_of(static_cast<unsigned>(counts.allocations)); ++nth) {
    add({fault_kind::allocation, 0, nth, false, hipErrorUnknown});
  }
  for (unsigned nth = 1; nth <= counts.threads; ++nth) {
    add({fault_kind::thread, 0, nth, false, hipErrorUnknown});
  }
#if ROCARRAY_PLATFORM_HOST
  for (unsigned nth = 1; nth <= 3; ++nth) {
    add({fault_kind::launch, 0, nth, false, hipErrorUnknown});
  }
#endif
}

// Keeps a few cases of each kind: the first use, the last, and one between.
std::vector<test_case> sample(std::vector<test_case> const& cases, std::mt19937_64& random) {
  std::map<std::array<std::size_t, 4>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i != cases.size(); ++i) {
    fault const& f = cases[i].failure;
    groups[{cases[i].scenario, cases[i].is_cold, static_cast<std::size_t>(f.kind), f.call}]
        .push_back(i);
  }
  std::set<std::size_t> chosen;
  for (auto const& [key, members] : groups) {
    auto const any = [&, &members = members] { return members[random() % members.size()]; };
    if (key[1] == 0) {
      chosen.insert(members[random() % std::min<std::size_t>(members.size(), 2)]);
      chosen.insert(
          members[members.size() - 1 - random() % std::min<std::size_t>(members.size(), 2)]);
      chosen.insert(any());
    } else if (random() % 4 == 0) {
      chosen.insert(any());  // each costs a process
    }
  }
  std::vector<test_case> result;
  for (std::size_t i : chosen) result.push_back(cases[i]);
  return result;
}

std::string case_name(test_case const& t) {
  return "--scenario \"" + std::string(scenarios()[t.scenario].name) + "\" --fault " +
         fault_name(t.failure) + " --state " + (t.is_cold ? "cold" : "warm");
}

// Returns the part that a case belongs to, from 1. It depends on nothing but the case, so that
// parts are disjoint although processes may count different numbers of cases.
unsigned long part_of(test_case const& t, unsigned long parts) {
  if (parts == 1) return 1;
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (char const c : case_name(t)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return static_cast<unsigned long>((hash >> 20) % parts) + 1;
}

std::optional<fault> parse_fault(std::string const& text) {
  fault f;
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    auto const end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() < 2) return std::nullopt;
  static std::map<std::string, fault_kind> const kinds{{"new", fault_kind::allocation},
                                                       {"thread", fault_kind::thread},
                                                       {"launch", fault_kind::launch},
                                                       {"none", fault_kind::none}};
  auto const kind = kinds.find(parts[0]);
  f.kind = kind == kinds.end() ? fault_kind::call : kind->second;
  f.call = index_of_call(parts[0]);
  if (f.kind == fault_kind::call && f.call == call_names.size()) return std::nullopt;
  f.nth = static_cast<unsigned>(std::strtoul(parts[1].c_str(), nullptr, 10));
  for (std::size_t i = 2; i != parts.size(); ++i) {
    if (parts[i] == "later") f.all_later = true;
    if (parts[i] == "memory") f.code = hipErrorOutOfMemory;
  }
  return f;
}

settings parse_arguments(int size, char** arguments) {
  settings s;
  for (int i = 1; i < size; ++i) {
    std::string_view const name = arguments[i];
    char const* const value = i + 1 < size ? arguments[i + 1] : "";
    if (name == "--list") {
      s.lists = true;
      continue;
    }
    if (name == "--list-cases") {
      s.lists_cases = true;
      continue;
    }
    if (name == "--here") {
      s.runs_here = true;
      continue;
    }
    ++i;
    if (name == "--seconds") {
      s.seconds = std::strtod(value, nullptr);
    } else if (name == "--every") {
      s.every = std::max(1ul, std::strtoul(value, nullptr, 10));
    } else if (name == "--seed") {
      s.seed = std::strtoul(value, nullptr, 10);
    } else if (name == "--scenario") {
      s.scenario = value;
    } else if (name == "--fault") {
      s.fault = value;
    } else if (name == "--state") {
      s.state = value;
    } else if (name == "--hang") {
      s.hang_seconds = std::strtod(value, nullptr);
    } else if (name == "--jobs") {
      s.jobs = std::max(1ul, std::strtoul(value, nullptr, 10));
    } else if (name == "--counts") {
      s.counts_file = value;
    } else if (name == "--part" && std::sscanf(value, "%lu/%lu", &s.part, &s.parts) == 2 &&
               s.part >= 1 && s.part <= s.parts) {
    } else {
      std::fprintf(stderr,
                   "usage: fault_matrix [--seconds N] [--every N] [--seed N] [--scenario NAME] "
                   "[--fault CALL:N[:later][:memory]] [--state warm|cold] [--hang SECONDS] "
                   "[--jobs N] [--part I/N] [--counts FILE] [--list] [--list-cases] [--here]\n");
      std::exit(2);
    }
  }
  return s;
}

constexpr char const* mode_name(mode m) {
  if (m == mode::inline_) return "inline";
  return m == mode::deferred ? "deferred" : "threaded";
}

class campaign {
 public:
  explicit campaign(settings const& s) : settings_(s) {}

  int run() {
    std::mt19937_64 random(seed());
    if (!settings_.lists_cases) {
      // At the start, because a run that is ended early has no summary.
      std::printf("fault matrix: --seed %lu\n", seed());
      std::fflush(stdout);
    }
    children_.emplace_front().start(find_device);
    run_children([](child_process&) { return false; }, [](child_process const&) {});
    if (!children_.front().what().empty()) {
      std::printf("the device is not found: %s\n", children_.front().what().c_str());
      return 1;
    }
    if (!children_.front().state().has_device) {
      std::puts("there is no device; the fault matrix is skipped");
      return 77;
    }
    is_on_cpu_ = children_.front().state().is_on_cpu;
    mode_ = !is_on_cpu_ ? "device" : mode_name(children_.front().state().device_mode);
    while (children_.size() < settings_.jobs) children_.emplace_front();
    children_.front().select();
    if (settings_.counts_file.empty() || !read_counts()) {
      count(random);
      if (!settings_.counts_file.empty()) write_counts();
    }
    for (counted_scenario const& item : counted_) {
      for (std::size_t k = 0; k != call_names.size(); ++k) {
        if (item.counts.calls[k] != 0) calls_.emplace(call_names[k]);
      }
      add_cases(cases_, item.scenario, item.is_cold, is_on_cpu_, item.counts);
    }
    std::size_t const all = cases_.size();
    if (!settings_.fault.empty()) choose_fault();
    if (settings_.seconds != 0) {
      cases_ = sample(cases_, random);
      shuffle_scenarios(random);
    }
    if (settings_.every != 1) {
      std::size_t index = seed() % settings_.every;
      std::erase_if(cases_, [&](test_case const&) { return index++ % settings_.every != 0; });
    }
    std::erase_if(
        cases_, [&](test_case const& t) { return part_of(t, settings_.parts) != settings_.part; });
    if (settings_.lists_cases) {
      for (test_case const& t : cases_) std::puts(case_name(t).c_str());
      return findings_.empty() ? 0 : 1;
    }
    auto const start = std::chrono::steady_clock::now();
    std::size_t const ran = run_cases_in_children(start);
    std::array<long, 4> outcomes{};
    long leaks_on_purpose = 0;
    for (child_process const& child : children_) {
      for (std::size_t i = 0; i != outcomes.size(); ++i) outcomes[i] += child.state().outcomes[i];
      leaks_on_purpose += child.state().leaks_on_purpose;
    }
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
    std::printf(
        "fault matrix: %zu scenarios, %zu HIP calls, %zu of %zu cases; %ld succeeded, %ld failed "
        "as documented, %ld were not reached, %ld leaked on purpose; %zu findings; seed %lu; "
        "part %lu of %lu; %.1f s\n",
        scenarios().size(), calls_.size(), ran, all, outcomes[1], outcomes[2], outcomes[0],
        leaks_on_purpose, findings_.size(), seed(), settings_.part, settings_.parts,
        elapsed.count());
    for (auto const& [what, names] : findings_) {
      std::printf("finding: %s\n  %zu cases, such as", what.c_str(), names.size());
      for (std::size_t i = 0; i != std::min<std::size_t>(names.size(), 8); ++i) {
        std::printf("\n    %s", names[i].c_str());
      }
      std::puts("");
    }
    if (ran == 0) {
      std::fputs("no case was run: see --list for the scenarios, and give more --seconds\n",
                 stderr);
      return 2;
    }
    return findings_.empty() ? 0 : 1;
  }

 private:
  // Until `next` returns false, it starts the child that it is given; `done` is called when the
  // child has ended. As many children as there are run at the same time.
  template <class Next, class Done>
  void run_children(Next next, Done done) {
    bool has_more = true;
    for (;;) {
      std::vector<pollfd> ends;
      for (child_process& child : children_) {
        if (!child.is_running() && has_more) has_more = next(child);
        if (child.is_running()) ends.push_back({child.end(), POLLIN, 0});
      }
      if (ends.empty()) return;
      ::poll(ends.data(), ends.size(), 200);
      auto end = ends.begin();
      for (child_process& child : children_) {
        if (!child.is_running()) continue;
        bool const has_ended = end++->revents != 0;
        if (!child.finish(has_ended, settings_.hang_seconds)) continue;
        done(child);
        has_more = true;  // what a finding has left of its cases
      }
    }
  }

  // Returns true if the options choose this scenario in this state.
  bool is_selected(std::size_t scenario, bool is_cold) const {
    if (!settings_.scenario.empty() && settings_.scenario != scenarios()[scenario].name) {
      return false;
    }
    if (!settings_.state.empty()) return (settings_.state == "cold") == is_cold;
    return !is_cold || is_on_cpu_;  // GPUs start slowly
  }

  // Counts the uses of the chosen scenarios.
  void count(std::mt19937_64& random) {
    std::vector<std::size_t> order(scenarios().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (settings_.seconds != 0) std::shuffle(order.begin(), order.end(), random);
    std::vector<counted_scenario> chosen;
    for (std::size_t const i : order) {
      for (bool const is_cold : {false, true}) {
        if (is_selected(i, is_cold)) chosen.push_back({i, is_cold, {}, false});
      }
    }
    auto const start = std::chrono::steady_clock::now();
    std::size_t index = 0;
    run_children(
        [&](child_process& child) {
          if (index == chosen.size() || (is_time_up(start) && index != 0)) return false;
          counted_scenario const& item = chosen[index];
          child.first = index++;
          child.start([&] { count_uses(item.scenario, item.is_cold); });
          return true;
        },
        [&](child_process const& child) {
          counted_scenario& item = chosen[child.first];
          if (!child.what().empty()) {
            report({item.scenario, item.is_cold, {}}, child.what());
            return;
          }
          item.counts = child.state().counts;
          item.is_counted = true;
        });
    uncounted_ =
        std::erase_if(chosen, [](counted_scenario const& item) { return !item.is_counted; });
    counted_ = std::move(chosen);
  }

  // Ends the program: the file cannot be used, for this reason.
  [[noreturn]] void refuse_counts(std::string const& reason) const {
    std::fprintf(stderr, "%s: %s\n", settings_.counts_file.c_str(), reason.c_str());
    std::exit(2);
  }

  // The first line of the file has the number of calls and the mode. Then there is a line for each
  // scenario and state: the state, the allocations, the threads and the calls in the order of
  // `call_names`, and the name. Returns false if there is no file.
  bool read_counts() {
    FILE* const file = std::fopen(settings_.counts_file.c_str(), "r");
    if (file == nullptr) return false;
    std::size_t size = 0;
    char mode[20] = {};
    if (std::fscanf(file, "calls %zu mode %19s", &size, mode) != 2 || size != call_names.size()) {
      refuse_counts("not written by this version of the program; remove it");
    }
    if (std::string_view(mode) != mode_) {
      refuse_counts(std::string("written in mode ") + mode + ", but this run is in mode " + mode_ +
                    "; use a file for each mode");
    }
    std::set<std::pair<std::size_t, bool>> found;
    for (int is_cold = 0; std::fscanf(file, "%d", &is_cold) == 1;) {
      counted_scenario item{0, is_cold != 0, {}, true};
      bool right = std::fscanf(file, "%ld %u", &item.counts.allocations, &item.counts.threads) == 2;
      for (unsigned& uses : item.counts.calls) right = right && std::fscanf(file, "%u", &uses) == 1;
      char name[100] = {};
      right = right && std::fscanf(file, " %99[^\n]", name) == 1;
      if (!right) refuse_counts("a line is not complete; remove the file");
      while (item.scenario != scenarios().size() &&
             std::string_view(scenarios()[item.scenario].name) != name) {
        ++item.scenario;
      }
      if (item.scenario == scenarios().size()) {
        refuse_counts("has the scenario \"" + std::string(name) +
                      "\", which this program lacks; use a file for each program");
      }
      if (!is_selected(item.scenario, item.is_cold)) continue;
      found.emplace(item.scenario, item.is_cold);
      counted_.push_back(item);
    }
    std::fclose(file);
    require_counts_of_selection(found);
    return true;
  }

  // Without this, a run with a file that another selection wrote would leave out cases silently.
  void require_counts_of_selection(std::set<std::pair<std::size_t, bool>> const& found) const {
    std::size_t missing = 0;
    std::string first;
    for (std::size_t i = 0; i != scenarios().size(); ++i) {
      for (bool const is_cold : {false, true}) {
        if (!is_selected(i, is_cold) || found.contains({i, is_cold})) continue;
        if (missing++ == 0) {
          first = std::string("\"") + scenarios()[i].name + "\" in state " +
                  (is_cold ? "cold" : "warm");
        }
      }
    }
    if (missing == 0) return;
    refuse_counts("written for another --scenario or --state: of the counts of this run it lacks " +
                  std::to_string(missing) + ", the first for " + first + "; use another file");
  }

  // The file appears with all its lines, because another process may read it. A part of the counts
  // is not written: no other run could use it.
  void write_counts() const {
    if (uncounted_ != 0) {
      std::fprintf(stderr, "%s: not written, because %zu scenarios were not counted\n",
                   settings_.counts_file.c_str(), uncounted_);
      return;
    }
    std::string const unfinished =
        settings_.counts_file + "." + std::to_string(static_cast<long>(::getpid()));
    FILE* const file = std::fopen(unfinished.c_str(), "w");
    bool right = file != nullptr;
    if (right) {
      std::fprintf(file, "calls %zu mode %s\n", call_names.size(), mode_);
      for (counted_scenario const& item : counted_) {
        std::fprintf(file, "%d %ld %u", item.is_cold ? 1 : 0, item.counts.allocations,
                     item.counts.threads);
        for (unsigned const uses : item.counts.calls) std::fprintf(file, " %u", uses);
        std::fprintf(file, " %s\n", scenarios()[item.scenario].name);
      }
      right = std::fclose(file) == 0 &&
              std::rename(unfinished.c_str(), settings_.counts_file.c_str()) == 0;
    }
    if (!right) refuse_counts("cannot be written");
  }

  struct case_range {
    std::size_t first;
    std::size_t last;
  };

  // Removes and returns the cases of the next process; none if no case is left. The warm cases of
  // one scenario share a process.
  case_range take_cases(std::vector<case_range>& ranges) {
    auto const is_left_out = [&](std::size_t i) {
      return equal_findings_[group_of(cases_[i])] >= most_equal_findings_;
    };
    while (!ranges.empty()) {
      auto& [next, limit] = ranges.back();
      while (next != limit && is_left_out(next)) ++next;
      if (next == limit) {
        ranges.pop_back();
        continue;
      }
      case_range result{next, next + 1};
      if (!cases_[next].is_cold) {
        while (result.last != limit && !cases_[result.last].is_cold && !is_left_out(result.last) &&
               cases_[result.last].scenario == cases_[next].scenario &&
               result.last - result.first < 500) {
          ++result.last;
        }
      }
      next = result.last;
      return result;
    }
    return {0, 0};
  }

  // Runs all cases, or those for which there is time. Returns how many ran.
  std::size_t run_cases_in_children(std::chrono::steady_clock::time_point start) {
    std::size_t ran = 0;
    std::vector<case_range> ranges{{0, cases_.size()}};
    run_children(
        [&](child_process& child) {
          if (is_time_up(start)) return false;
          auto const [first, last] = take_cases(ranges);
          if (first == last) return false;
          child.first = first;
          child.last = last;
          child.select();
          shared->current = first;
          child.start([&] { run_cases(cases_, child.first, child.last); });
          return true;
        },
        [&](child_process const& child) {
          std::size_t const current = child.state().current;
          bool const is_complete = child.what().empty() || child.state().is_finished;
          std::size_t const end = is_complete ? child.last : current + 1;
          if (!child.what().empty()) report(cases_[current], child.what());
          ran += end - child.first;
          if (end != child.last) ranges.push_back({end, child.last});
        });
    return ran;
  }

  // Returns true if --seconds have passed since `start`.
  bool is_time_up(std::chrono::steady_clock::time_point start) const {
    std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
    return settings_.seconds != 0 && elapsed.count() > settings_.seconds;
  }

  unsigned long seed() {
    if (!settings_.seed) {
      char const* const text = std::getenv("ROCARRAY_TEST_SEED");
      settings_.seed = text == nullptr ? std::random_device{}() : std::strtoul(text, nullptr, 10);
    }
    return *settings_.seed;
  }

  void choose_fault() {
    auto const f = parse_fault(settings_.fault);
    if (!f) {
      std::fprintf(stderr, "no fault: %s\n", settings_.fault.c_str());
      std::exit(2);
    }
    std::vector<test_case> chosen;
    for (test_case const& t : cases_) {
      bool const is_new = chosen.empty() || chosen.back().scenario != t.scenario ||
                          chosen.back().is_cold != t.is_cold;
      if (is_new) chosen.push_back({t.scenario, t.is_cold, *f});
    }
    cases_ = std::move(chosen);
    if (settings_.runs_here && !cases_.empty()) run_cases(cases_, 0, 1);
  }

  // Changes the order of scenarios and states, and keeps the cases of each together.
  void shuffle_scenarios(std::mt19937_64& random) {
    std::map<std::pair<std::size_t, bool>, unsigned long> order;
    for (test_case const& t : cases_) {
      auto const [entry, is_new] = order.try_emplace({t.scenario, t.is_cold}, 0);
      if (is_new) entry->second = random();
    }
    std::stable_sort(cases_.begin(), cases_.end(), [&](test_case const& a, test_case const& b) {
      return order[{a.scenario, a.is_cold}] < order[{b.scenario, b.is_cold}];
    });
  }

  // After some findings in a group of cases that differ in n only, the others are left out.
  using group = std::tuple<std::size_t, bool, fault_kind, std::size_t, bool, int>;
  static group group_of(test_case const& t) {
    fault const& f = t.failure;
    return {t.scenario, t.is_cold, f.kind, f.call, f.all_later, static_cast<int>(f.code)};
  }

  void report(test_case const& t, std::string const& what) {
    std::string const name = case_name(t);
    std::printf("%s: %s\n", name.c_str(), what.c_str());
    std::fflush(stdout);
    ++equal_findings_[group_of(t)];
    findings_[std::string(scenarios()[t.scenario].name) + ": " + what.substr(0, 160)].push_back(
        name);
  }

  struct counted_scenario {
    std::size_t scenario;
    bool is_cold;
    use_counts counts;
    bool is_counted;
  };

  settings settings_;
  bool is_on_cpu_ = true;
  char const* mode_ = "";      // as the file of counts has it
  std::size_t uncounted_ = 0;  // of the chosen scenarios and states
  std::list<child_process> children_;
  std::vector<counted_scenario> counted_;
  std::vector<test_case> cases_;
  std::set<std::string> calls_;
  static constexpr int most_equal_findings_ = 3;
  std::map<group, int> equal_findings_;
  std::map<std::string, std::vector<std::string>> findings_;
};

}  // namespace
}  // namespace roc::test::faults

int roc::test::faults::run_fault_matrix(int size, char** arguments) {
  if (size == 3 && std::string_view(arguments[1]) == "--exporter") {
    return run_exporter(std::atoi(arguments[2]));
  }
  auto const settings = parse_arguments(size, arguments);
  if (settings.lists) {
    for (auto const& scenario : scenarios()) std::puts(scenario.name);
    return 0;
  }
  ::setenv("ROCARRAY_HOST_DEVICES", "2", 0);
  return campaign(settings).run();
}
