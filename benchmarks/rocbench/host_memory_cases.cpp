// SPDX-License-Identifier: MIT
// Cases of pageable host memory as programs use it: a source that another core has just written,
// and a destination that is a new array, or memory of the program that nobody has accessed yet.
// Copies within host memory, for comparison.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "stopwatch.hpp"
#include "transfer.hpp"

namespace rocbench {
namespace {

using enum memory_kind;

// ---- A source that was just written ----

// A thread that writes an image to host memory when it is told to. The caller keeps its own core
// busy meanwhile, so the bytes are in the caches of another core.
class writer {
 public:
  writer() : thread_([this] { serve(); }) {}
  ~writer() {
    memory_ = nullptr;
    request();
  }
  writer(writer const&) = delete;
  writer& operator=(writer const&) = delete;

  // Writes the whole image to `memory`. Blocks until it is written.
  void write(std::byte* memory, image const& contents) {
    memory_ = memory;
    contents_ = contents;
    request();
    while (!is_written_) std::this_thread::yield();
  }

 private:
  void request() {
    is_written_ = false;
    requests_.fetch_add(1);
    requests_.notify_one();
  }

  void serve() {
    for (unsigned served = 0;; ++served) {
      requests_.wait(served);
      if (memory_ == nullptr) return;
      write_image_range(memory_, contents_, 0, contents_.size());
      is_written_ = true;
    }
  }

  std::byte* memory_ = nullptr;
  image contents_{};
  std::atomic<unsigned> requests_{0};
  std::atomic<bool> is_written_{false};
  std::jthread thread_;  // declared last: it uses the others
};

// Copies pageable memory to the device, each time after another core has written the source. Only
// the copies are timed, including the wait for the stream if `call` is on_stream or borrowed.
class just_written_experiment final : public experiment {
 public:
  just_written_experiment(api_kind api, call_kind call, std::size_t bytes)
      : experiment({timing_method::own_clock, bytes, bytes, ""}),
        transfer_(make_transfer({"", pageable, device}, api, call, contiguous_layout(bytes))) {
    properties_.path = transfer_->properties().path;
  }

  roc::stream_ref stream() const override { return transfer_->stream(); }
  void prepare(std::uint64_t sample) override { transfer_->prepare(sample); }
  void run(std::size_t times) override {
    timed_seconds_ = 0;
    image const contents = transfer_->expected_source(transfer_->sample());
    for (std::size_t i = 0; i < times; ++i) {
      writer_.write(transfer_->source.allocation(), contents);
      stopwatch const elapsed_time;
      transfer_->run(1);
      timed_seconds_ += elapsed_time.seconds();
    }
  }
  double timed_seconds() const override { return timed_seconds_; }
  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    return transfer_->check(sample, inject);
  }

 private:
  std::unique_ptr<buffer_experiment> transfer_;
  writer writer_;
  double timed_seconds_ = 0;
};

constexpr struct {
  char const* name;
  char const* description;
  call_kind call;
  bool by_default = false;
} just_written_cases[] = {
    {"h2d/just_written", "pageable host, just written, to device", call_kind::blocking, true},
    {"async/h2d/just_written", "pageable host, just written, on a stream", call_kind::on_stream},
    {"async/h2d/written_borrowed", "pageable host, just written, borrowed", call_kind::borrowed},
};

// ---- New destinations ----

// Copies device memory to host memory that is new for each copy.
class new_memory_experiment : public experiment {
 public:
  new_memory_experiment(api_kind api, std::size_t bytes, char const* path)
      : experiment({timing_method::own_clock, bytes, bytes, path}),
        is_raw_(api == api_kind::raw),
        source_(device, bytes) {}

  void prepare(std::uint64_t sample) override {
    sample_ = sample;
    discard();
    std::size_t const bytes = source_.bytes();
    verifier_.write(source_, {{{}, bytes}, guard_bytes, bytes, sample, poison_byte(sample)});
  }

  void run(std::size_t times) override {
    timed_seconds_ = 0;
    roc::device_view<std::byte const> const source(
        source_.payload(), roc::shape<1>{source_.bytes()}, roc::order::c, source_.device_ordinal());
    for (std::size_t i = 0; i < times; ++i) {
      discard();
      make(source.size());
      stopwatch const elapsed_time;
      copy(source);
      timed_seconds_ += elapsed_time.seconds();
    }
  }
  double timed_seconds() const override { return timed_seconds_; }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    if (inject > injection_site::data)
      throw case_not_supported("new memory has no gaps or guard bands to corrupt a byte in");
    auto const found = destination();
    if (found.size() != source_.bytes())
      return "there is no destination of " + std::to_string(source_.bytes()) + " bytes";
    if (inject == injection_site::data) found[source_.bytes() / 2] ^= std::byte{1};
    image const expected = pattern_image(source_.bytes(), sample);
    auto const offset = find_first_mismatch(found.data(), expected);
    if (!offset) return std::nullopt;
    return describe_mismatch(expected, *offset, found[*offset]);
  }

 protected:
  bool is_raw() const { return is_raw_; }
  std::uint64_t sample() const { return sample_; }

 private:
  // Does what precedes the copy and is not timed.
  virtual void make(std::size_t /*bytes*/) {}
  virtual void copy(roc::device_view<std::byte const> const& source) = 0;
  // Returns the memory; empty if there is none.
  virtual std::span<std::byte> destination() = 0;
  // Frees the memory, if there is any.
  virtual void discard() = 0;

  bool is_raw_;
  std::uint64_t sample_ = 0;
  guarded_buffer source_;
  buffer_verifier verifier_;
  double timed_seconds_ = 0;
};

// A new host array: the time includes the allocation, and the first access to its pages. The raw
// case allocates by operator new and copies by hipMemcpy. Before an array is freed, it is filled
// with poison: if the next array has the same memory, its bytes are not those of the copy before.
class new_array_experiment final : public new_memory_experiment {
 public:
  new_array_experiment(api_kind api, std::size_t bytes)
      : new_memory_experiment(api, bytes,
                              api == api_kind::raw ? "new, hipMemcpy" : "copy_to_host") {}

 private:
  void copy(roc::device_view<std::byte const> const& source) override {
    if (!is_raw()) {
      array_ = source.copy_to_host();
      return;
    }
    raw_.reset(new std::byte[source.size()]);
    raw_bytes_ = source.size();
    ROCARRAY_HIP(hipMemcpy, raw_.get(), source.data(), source.size(), hipMemcpyDeviceToHost);
  }
  std::span<std::byte> destination() override {
    if (array_) return {array_->data(), array_->size()};
    return {raw_.get(), raw_bytes_};
  }
  void discard() override {
    if (destination().empty()) return;
    fill_bytes(destination().data(), destination().size(), poison_byte(sample()));
    raw_.reset();
    raw_bytes_ = 0;
    array_.reset();
  }

  std::unique_ptr<std::byte[]> raw_;
  std::size_t raw_bytes_ = 0;
  std::optional<roc::host_array<std::byte>> array_;
};

// Memory of which the system has given no page to the program yet.
class new_pages {
 public:
  explicit new_pages(std::size_t bytes)
      : data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        bytes_(bytes) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~new_pages() { ::munmap(data_, bytes_); }
  new_pages(new_pages const&) = delete;
  new_pages& operator=(new_pages const&) = delete;

  std::span<std::byte> memory() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  void* data_;
  std::size_t bytes_;
};

// New pages: the time includes the first access to them, but not the system's calls that make and
// free the mapping.
class new_pages_experiment final : public new_memory_experiment {
 public:
  new_pages_experiment(api_kind api, std::size_t bytes)
      : new_memory_experiment(api, bytes, api == api_kind::raw ? "hipMemcpy" : "copy") {}

 private:
  void make(std::size_t bytes) override { pages_.emplace(bytes); }
  void copy(roc::device_view<std::byte const> const& source) override {
    std::byte* const data = destination().data();
    if (is_raw()) {
      ROCARRAY_HIP(hipMemcpy, data, source.data(), source.size(), hipMemcpyDeviceToHost);
    } else {
      roc::copy(source, roc::host_view<std::byte>(data, source.shape()));
    }
  }
  std::span<std::byte> destination() override {
    return pages_ ? pages_->memory() : std::span<std::byte>();
  }
  void discard() override { pages_.reset(); }

  std::optional<new_pages> pages_;
};

// ---- Within host memory ----

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Copies pageable memory by memcpy: one thread for each processor takes parts of 1 MiB in turns.
// The start of the threads is not timed.
class host_memcpy_experiment final : public buffer_experiment {
 public:
  explicit host_memcpy_experiment(std::size_t bytes)
      : buffer_experiment({timing_method::own_clock, bytes, bytes, "memcpy"},
                          {pageable, bytes, {{}, bytes}}, {pageable, bytes, {{}, bytes}}) {
    work = [this](std::size_t times) { copy(times); };
  }
  double timed_seconds() const override { return timed_seconds_; }

 private:
  void copy(std::size_t times) {
    std::size_t const threads = std::max(std::thread::hardware_concurrency(), 1u);
    std::atomic<std::size_t> next_offset{0};
    std::barrier all(static_cast<std::ptrdiff_t>(threads), [&]() noexcept { next_offset = 0; });
    auto const copy_parts = [&] {
      std::size_t const bytes = properties_.bytes;
      for (std::size_t i = 0; i < times; ++i) {
        for (std::size_t at = 0; (at = next_offset.fetch_add(mebibyte)) < bytes;) {
          std::memcpy(destination.payload() + at, source.payload() + at,
                      std::min(mebibyte, bytes - at));
        }
        all.arrive_and_wait();
      }
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) {
      others.emplace_back([&] {
        all.arrive_and_wait();
        copy_parts();
      });
    }
    all.arrive_and_wait();
    stopwatch const elapsed_time;
    copy_parts();
    timed_seconds_ = elapsed_time.seconds();
  }

  double timed_seconds_ = 0;
};

}  // namespace

void add_host_memory_cases(case_vector& cases) {
  for (auto const& definition : just_written_cases) {
    std::string const description = definition.description;
    add_with_raw(cases,
                 {definition.name,
                  description,
                  accounting::payload,
                  limiting_resource::link,
                  definition.by_default,
                  {},
                  mebibyte},
                 description + ", by HIP", [&](api_kind api, case_parameters const& parameters) {
                   return std::make_unique<just_written_experiment>(api, definition.call,
                                                                    parameters.bytes);
                 });
  }
  add_with_raw(cases,
               {"d2h/new_array", "device to a new array of host memory", accounting::payload,
                limiting_resource::link, true},
               "device to a new array of host memory, by HIP",
               [](api_kind api, case_parameters const& parameters) {
                 return std::make_unique<new_array_experiment>(api, parameters.bytes);
               });
  add_with_raw(cases,
               {"d2h/new_pages", "device to host memory not accessed before", accounting::payload,
                limiting_resource::link, false},
               "device to host memory not accessed before, by HIP",
               [](api_kind api, case_parameters const& parameters) {
                 return std::make_unique<new_pages_experiment>(api, parameters.bytes);
               });
  cases.push_back({"raw/host/memcpy", "host to host, memcpy, a thread per processor",
                   accounting::payload, limiting_resource::none, false,
                   [](case_parameters const& parameters) {
                     return std::make_unique<host_memcpy_experiment>(parameters.bytes);
                   }});
}

}  // namespace rocbench
