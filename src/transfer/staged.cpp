// SPDX-License-Identifier: MIT
#include "transfer/staged.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include <roc/event.hpp>

#include "kernels/strided_copy.hpp"
#include "memory/block_pool.hpp"
#include "platform/call.hpp"
#include "runtime/own_stream.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream.hpp"
#include "transfer/direct.hpp"
#include "transfer/pack.hpp"
#include "transfer/workers.hpp"

namespace roc::transfer {
namespace {

using memory::block_pool;
using holder = block_pool::holder;

// Pieces grow with the copy, so that a small one is spread over the workers too, and a large one
// costs few calls.
class division {
 public:
  explicit division(std::size_t total) : total_(total) {
    constexpr std::size_t least = std::size_t{128} << 10;
    constexpr std::size_t alignment = 256;
    std::size_t const most = runtime::settings().chunk;
    std::size_t const shares = 2 * (worker_team::instance().size() + 1);
    std::size_t const wanted = (total / shares + alignment - 1) / alignment * alignment;
    size_ = std::clamp(wanted, std::min(least, most), most);
  }
  std::size_t count() const noexcept { return (total_ + size_ - 1) / size_; }
  piece at(std::size_t index) const noexcept {
    return {index * size_, std::min((index + 1) * size_, total_)};
  }

 private:
  std::size_t total_;
  std::size_t size_;
};

using lease_ptr = std::unique_ptr<block_pool::lease>;

lease_ptr take(block_pool& from, std::size_t bytes, stream_ref stream, bool may_wait) {
  return may_wait ? from.acquire(bytes, stream) : from.try_acquire(bytes, stream);
}

// From staging memory to its place on the device: directly where that is contiguous, else through
// scratch memory and a kernel. False where there is none, and it must not wait.
bool send(plan const& p, piece part, std::byte const* staging, stream_ref stream, holder by,
          bool may_wait) {
  hipStream_t const native = runtime::handle(stream);
  std::size_t const bytes = part.end - part.begin;
  if (p.form.is_dense(side::destination)) {
    ROC_HIP(hipMemcpyAsync, p.form.destination + part.begin, staging, bytes, kind_of(p), native);
    return true;
  }
  auto const scratch = take(block_pool::scratch(by), bytes, stream, may_wait);
  if (scratch == nullptr) return false;
  ROC_HIP(hipMemcpyAsync, scratch->data(), staging, bytes, hipMemcpyHostToDevice, native);
  kernels::scatter(p.form, part, scratch->data(), native);
  return true;
}

// From its place on the device to staging memory.
void fetch(plan const& p, piece part, std::byte* staging, stream_ref stream, holder by) {
  hipStream_t const native = runtime::handle(stream);
  std::size_t const bytes = part.end - part.begin;
  if (p.form.is_dense(side::source)) {
    ROC_HIP(hipMemcpyAsync, staging, p.form.source + part.begin, bytes, kind_of(p), native);
    return;
  }
  auto const scratch = block_pool::scratch(by).acquire(bytes, stream);
  kernels::gather(p.form, part, scratch->data(), native);
  ROC_HIP(hipMemcpyAsync, staging, scratch->data(), bytes, hipMemcpyDeviceToHost, native);
}

void wait_for_all_on(stream_ref stream) {
  event reached;
  reached.record(stream);
  reached.synchronize();
}

// To the device, all pieces behind each other on one stream: the source has been read when they are
// done. On a user's stream, work before them may not be over, and what is in flight does not come
// back before it is.
class upload final : public pieces {
 public:
  upload(plan const& p, division const& parts, stream_ref stream, holder by)
      : plan_(p), parts_(parts), stream_(stream), by_(by), reached_(by == holder::passing) {
    if (!reached_) before_.record(stream);
  }

  bool run(std::size_t index, bool may_wait) override {
    piece const part = parts_.at(index);
    auto const staging =
        take(block_pool::staging(by_), part.end - part.begin, stream_, may_wait);
    if (staging == nullptr) return false;
    pack(plan_.form, part, staging->data());
    return send(plan_, part, staging->data(), stream_, by_, may_wait);
  }
  bool may_wait() const override {
    if (!reached_) reached_ = before_.query();
    return reached_;
  }

 private:
  plan const& plan_;
  division const& parts_;
  stream_ref stream_;
  holder by_;
  event before_;
  mutable std::atomic<bool> reached_;
};

// To the host on a stream of the library's own; each piece is over when its thread is.
class download final : public pieces {
 public:
  download(plan const& p, division const& parts) : plan_(p), parts_(parts) {}

  bool run(std::size_t index, bool) override {
    piece const part = parts_.at(index);
    stream_ref const stream = runtime::own_stream(runtime::own_use::download);
    auto const staging =
        block_pool::staging(holder::passing).acquire(part.end - part.begin, stream);
    try {
      fetch(plan_, part, staging->data(), stream, holder::passing);
      wait_for_all_on(stream);
    } catch (...) {
      // Part of it may be on its way from the caller's memory on the device.
      runtime::drain(stream);
      throw;
    }
    unpack(plan_.form, part, staging->data());
    return true;
  }
  bool may_wait() const override { return true; }

 private:
  plan const& plan_;
  division const& parts_;
};

// A piece of work of the CPU in the order of a stream, shared with the workers. It runs on a thread
// of the runtime, which must not call HIP nor wait for a thread that does: a call elsewhere, hipFree
// for one, may hold the runtime until this very piece is done.
struct host_work final : public pieces {
  normal_form form;
  piece part;
  std::byte* staging = nullptr;
  bool packs = false;
  worker_team* team = nullptr;

  static constexpr std::size_t share = std::size_t{256} << 10;

  static void run_all(void* argument) {
    std::unique_ptr<host_work> const work(static_cast<host_work*>(argument));
    std::size_t const bytes = work->part.end - work->part.begin;
    work->team->run((bytes + share - 1) / share, *work);
  }

  bool run(std::size_t index, bool) override {
    piece const mine{part.begin + index * share,
                     std::min(part.begin + (index + 1) * share, part.end)};
    if (packs) {
      pack(form, mine, staging + index * share);
    } else {
      unpack(form, mine, staging + index * share);
    }
    return true;
  }
  bool may_wait() const override { return true; }
};

void enqueue_host_work(plan const& p, piece part, std::byte* staging, bool packs,
                       hipStream_t stream) {
  auto work = std::make_unique<host_work>();
  work->form = p.form;
  work->part = part;
  work->staging = staging;
  work->packs = packs;
  work->team = &worker_team::instance();
  ROC_HIP(hipLaunchHostFunc, stream, &host_work::run_all, work.get());
  static_cast<void>(work.release());  // deleted by run_all
}

}  // namespace

void copy_staged_now(plan const& p) {
  division const parts(p.form.bytes());
  auto& team = worker_team::instance();
  if (p.way == direction::device_to_host) {
    download work(p, parts);
    return team.run(parts.count(), work);
  }
  stream_ref const stream = runtime::own_stream(runtime::own_use::upload);
  upload work(p, parts, stream, holder::passing);
  try {
    team.run(parts.count(), work);
    wait_for_all_on(stream);
  } catch (...) {
    // Pieces may be on their way to memory that the caller frees now.
    runtime::drain(stream);
    throw;
  }
}

void upload_staged(plan const& p, stream_ref stream) {
  division const parts(p.form.bytes());
  upload work(p, parts, stream, holder::behind_work);
  worker_team::instance().run(parts.count(), work);
}

void enqueue_staged(plan const& p, stream_ref stream) {
  // One piece of staging memory is enough: the stream's order keeps its uses apart.
  std::size_t const total = p.form.bytes();
  std::size_t const most = std::min(total, runtime::settings().chunk);
  hipStream_t const native = runtime::handle(stream);
  auto const staging = block_pool::staging(holder::behind_work).acquire(most, stream);
  for (std::size_t done = 0; done < total;) {
    piece const part{done, std::min(done + most, total)};
    if (p.way == direction::host_to_device) {
      enqueue_host_work(p, part, staging->data(), true, native);
      static_cast<void>(send(p, part, staging->data(), stream, holder::behind_work, true));
    } else {
      fetch(p, part, staging->data(), stream, holder::behind_work);
      enqueue_host_work(p, part, staging->data(), false, native);
    }
    done = part.end;
  }
}

}  // namespace roc::transfer
