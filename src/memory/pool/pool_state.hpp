// SPDX-License-Identifier: MIT
// What is behind a pool_resource. Threads that keep blocks of it keep it alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <roc/error.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pool_resource.hpp>

#include "memory/pool/free_list.hpp"
#include "memory/pool/pool_chunk.hpp"
#include "memory/pool/thread_cache.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

class pool_state : public std::enable_shared_from_this<pool_state> {
 public:
  pool_state(memory_resource& upstream, pool_options const& options);
  ~pool_state();

  void* allocate(std::size_t bytes, stream_ref stream);
  void deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept;
  void trim();
  /// The pool has gone: gives back what is not in use.
  void close() noexcept;

  memory_statistics statistics();
  int device() const noexcept { return device_; }
  std::size_t limit();
  void set_limit(std::size_t bytes);

  /// A thread ends, and leaves its cache.
  void leave(thread_cache& cache) noexcept;
  bool is_closed();

 private:
  using lock = std::unique_lock<std::mutex>;
  using stream_id = runtime::stream_id;

  // Blocks given back on one stream. Work enqueued before `checkpoint` may use those marked.
  struct bin {
    stream_id stream;
    free_list fresh;
    free_list marked;
    runtime::shared_event checkpoint;
    bool behind_default = false;  // work of the default stream may use some of it too
  };
  // A block given back that work of several streams may use.
  struct pending_block {
    pool_block* block;
    stream_id stream;  // where it was given back; none for a foreign stream
    std::vector<runtime::shared_event> events;
  };
  // What is asked for: blocks of a class, or pages for one large block.
  struct demand {
    std::size_t bytes;
    bool small;
    unsigned which;
    std::size_t pages;
  };
  struct upstream_block {
    std::byte* data;
    std::size_t bytes;
  };

  // pool_cache.cpp: what each thread keeps
  thread_cache* cache_of(stream_ref stream);
  thread_cache* make_cache(stream_id stream);
  void* hand_out(pool_block& block, std::size_t bytes, stream_id stream, bool inherits) noexcept;
  pool_block* find_block(void const* data) noexcept;
  pool_block* checked_block(void* data, std::size_t bytes) noexcept;
  void put_idle(pool_block& block) noexcept;
  void give_back_half(thread_cache& cache, unsigned which);
  void empty(thread_cache& cache);
  void empty_caches(bool ended_only);
  pool_block* steal(demand const& wanted, stream_id stream);

  // pool_state.cpp
  pool_block* allocate_slowly(demand const& wanted, stream_id stream, bool& inherits);
  void deallocate_slowly(pool_block& block, stream_id stream);
  void put(pool_block& block, stream_id stream);
  void count_peak();
  [[noreturn]] void throw_out_of_memory(demand const& wanted);
  std::size_t current_bytes();
  memory_statistics statistics_locked();

  // pool_wait.cpp: free memory that work may still use
  bin& bin_of(stream_id stream);
  bool poll();
  bool mark_others(demand const& wanted, stream_id stream);
  bool retire_others();
  bool retire(bin& of, bool by_event);
  void mark(bin& of);
  bool settle(bin& of);
  void wait_for_pending(lock& held);

  // pool_heap.cpp: memory that nothing uses, and the upstream's
  pool_block* take(demand const& wanted, stream_id stream, bool& inherits);
  pool_block* take_grown(demand const& wanted, stream_id stream, bool& inherits);
  pool_block* take_from(free_list& store, demand const& wanted, bool cautious);
  pool_block* cut(free_list& store, pool_span& span, demand const& wanted);
  void close_all(free_list const& store) noexcept;
  void settle_into_clean(free_list& store);
  void join_free_spans();
  bool grow(demand const& wanted);
  bool add_chunk(std::size_t bytes);
  std::vector<upstream_block> take_idle_chunks();
  void give_back(std::vector<upstream_block> const& blocks) noexcept;

  memory_resource& upstream_;
  int const device_;
  bool const upstream_is_idle_;  // nothing uses what it hands out, on any stream
  std::uint64_t const number_;  // no other pool has it

  std::mutex mutex_;
  std::size_t limit_;
  std::size_t const chunk_bytes_;
  bool closed_ = false;
  std::vector<std::unique_ptr<pool_chunk>> chunks_;
  std::vector<std::unique_ptr<thread_cache>> caches_;
  std::list<bin> bins_;
  std::list<pending_block> pending_;
  free_list clean_;
  std::size_t reserved_ = 0;     // bytes of the chunks
  std::size_t out_ = 0;          // bytes handed out or kept by threads
  std::size_t pending_bytes_ = 0;  // in pending_
  std::size_t peak_ = 0;
  std::size_t allocations_ = 0;  // not from a thread's cache
  std::size_t blocks_out_ = 0;   // as out_, in blocks
  std::string refusal_;          // why the upstream gave nothing last
  std::error_code refusal_code_;
  char const* refusal_call_ = "";
};

}  // namespace roc::memory
