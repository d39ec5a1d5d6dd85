// SPDX-License-Identifier: MIT
#include "transfer/staged.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <roc/event.hpp>

#include "kernels/strided_copy.hpp"
#include "memory/block_pool.hpp"
#include "platform/call.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream.hpp"
#include "transfer/direct.hpp"
#include "transfer/pack.hpp"

namespace roc::transfer {
namespace {

using memory::block_pool;

std::size_t chunk_bytes(std::size_t total) { return std::min(total, runtime::settings().chunk); }

// The next piece after `done` bytes of `total`.
piece next_piece(std::size_t done, std::size_t total) {
  return {done, std::min(done + chunk_bytes(total), total)};
}

// From staging memory to its place on the device: directly where that is contiguous, else through
// scratch memory and a kernel.
void send(plan const& p, piece part, std::byte const* staging, stream_ref stream) {
  hipStream_t const native = runtime::handle(stream);
  std::size_t const bytes = part.end - part.begin;
  if (p.form.is_dense(side::destination)) {
    ROC_HIP(hipMemcpyAsync, p.form.destination + part.begin, staging, bytes, kind_of(p), native);
    return;
  }
  auto const scratch = block_pool::scratch().acquire(bytes, stream);
  ROC_HIP(hipMemcpyAsync, scratch->data(), staging, bytes, hipMemcpyHostToDevice, native);
  kernels::scatter(p.form, part, scratch->data(), native);
}

// From its place on the device to staging memory.
void fetch(plan const& p, piece part, std::byte* staging, stream_ref stream) {
  hipStream_t const native = runtime::handle(stream);
  std::size_t const bytes = part.end - part.begin;
  if (p.form.is_dense(side::source)) {
    ROC_HIP(hipMemcpyAsync, staging, p.form.source + part.begin, bytes, kind_of(p), native);
    return;
  }
  auto const scratch = block_pool::scratch().acquire(bytes, stream);
  kernels::gather(p.form, part, scratch->data(), native);
  ROC_HIP(hipMemcpyAsync, staging, scratch->data(), bytes, hipMemcpyDeviceToHost, native);
}

// A piece on its way to the host; the default stream of the current device brings it.
struct download {
  download(plan const& p, piece which, std::unique_ptr<block_pool::lease> memory)
      : part(which), staging(std::move(memory)) {
    fetch(p, part, staging->data(), {});
    arrived.record();
  }

  void finish(plan const& p) const {
    arrived.synchronize();
    unpack(p.form, part, staging->data());
  }

  piece part;
  std::unique_ptr<block_pool::lease> staging;
  event arrived;
};

// The device brings one piece while the CPU unpacks the one before.
void download_now(plan const& p) {
  auto& pool = block_pool::staging();
  std::size_t const total = p.form.bytes();
  std::unique_ptr<download> before;
  for (std::size_t done = 0; done < total;) {
    piece const part = next_piece(done, total);
    std::size_t const bytes = part.end - part.begin;
    auto memory = before ? pool.try_acquire(bytes, {}) : pool.acquire(bytes, {});
    if (memory == nullptr) {
      // Who waits for memory holds none, or many copies at once would wait for each other.
      before->finish(p);
      before.reset();
      memory = pool.acquire(bytes, {});
    }
    auto current = std::make_unique<download>(p, part, std::move(memory));
    if (before) before->finish(p);
    before = std::move(current);
    done = part.end;
  }
  before->finish(p);
}

// One piece of work of the CPU, in the order of a stream.
struct host_work {
  normal_form form;
  piece part;
  std::byte* staging;
  bool packs;

  static void run(void* argument) {
    std::unique_ptr<host_work> const work(static_cast<host_work*>(argument));
    if (work->packs) {
      pack(work->form, work->part, work->staging);
    } else {
      unpack(work->form, work->part, work->staging);
    }
  }
};

void enqueue_host_work(plan const& p, piece part, std::byte* staging, bool packs,
                       hipStream_t stream) {
  auto work = std::make_unique<host_work>(host_work{p.form, part, staging, packs});
  ROC_HIP(hipLaunchHostFunc, stream, &host_work::run, work.get());
  static_cast<void>(work.release());  // deleted by run
}

}  // namespace

void upload_staged(plan const& p, stream_ref stream) {
  std::size_t const total = p.form.bytes();
  for (std::size_t done = 0; done < total;) {
    piece const part = next_piece(done, total);
    auto const staging = block_pool::staging().acquire(part.end - part.begin, stream);
    pack(p.form, part, staging->data());
    send(p, part, staging->data(), stream);
    done = part.end;
  }
}

void copy_staged_now(plan const& p) {
  if (p.way == direction::device_to_host) return download_now(p);
  upload_staged(p, {});
  stream_ref().synchronize();
}

void enqueue_staged(plan const& p, stream_ref stream) {
  // One piece of staging memory is enough: the stream's order keeps its uses apart.
  std::size_t const total = p.form.bytes();
  hipStream_t const native = runtime::handle(stream);
  auto const staging = block_pool::staging().acquire(chunk_bytes(total), stream);
  for (std::size_t done = 0; done < total;) {
    piece const part = next_piece(done, total);
    if (p.way == direction::host_to_device) {
      enqueue_host_work(p, part, staging->data(), true, native);
      send(p, part, staging->data(), stream);
    } else {
      fetch(p, part, staging->data(), stream);
      enqueue_host_work(p, part, staging->data(), false, native);
    }
    done = part.end;
  }
}

}  // namespace roc::transfer
