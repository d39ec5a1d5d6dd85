// SPDX-License-Identifier: MIT
#include "platform/host/capture.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/no_destructor.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {

struct stream_capture {
  unsigned long long id = 0;
  void const* origin = nullptr;  // the stream that the capture began with
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::thread::id thread;
  std::shared_ptr<graph_object> graph = std::make_shared<graph_object>();
  bool is_invalid = false;
  bool has_failed_to_end = false;  // under the rules of ROCm

  // Invalidates the capture.
  [[noreturn]] void fail(hipError_t code) {
    is_invalid = true;
    throw capture_error{code};
  }
};

namespace {

// Returns true if each of `nodes` is one of `ends` or comes before one of them.
bool are_before(std::vector<std::size_t> const& nodes, std::vector<std::size_t> ends,
                graph_object const& graph) {
  std::vector<bool> is_found(graph.nodes.size());
  while (!ends.empty()) {
    std::size_t const node = ends.back();
    ends.pop_back();
    if (is_found[node]) continue;
    is_found[node] = true;
    auto const& earlier = graph.nodes[node].dependencies;
    ends.insert(ends.end(), earlier.begin(), earlier.end());
  }
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](std::size_t node) { return bool{is_found[node]}; });
}

}  // namespace

void graph_object::run() const {
  for (node const& next : nodes) {
    if (next.work) next.work();
  }
}

// Never destroyed: static destructors of the program still enqueue work.
stream_captures& stream_captures::instance() {
  static base::no_destructor<stream_captures> captures;
  return *captures;
}

hipError_t stream_captures::begin(captured_stream const& stream, hipStreamCaptureMode mode) {
  std::lock_guard const lock(mutex_);
  auto const captured = streams_.find(stream.key);
  bool const is_captured = captured != streams_.end();
  // ROCm refuses only streams whose capture is valid.
  if (is_captured &&
      !(captured->second.capture->has_failed_to_end && captured->second.capture->is_invalid &&
        captured->second.capture->origin == stream.key)) {
    return hipErrorIllegalState;
  }
  auto capture = std::make_shared<stream_capture>();
  if (is_captured) {
    // The streams of the former capture leave it when this one ends.
    auto const former = captured->second.capture;
    for (auto& [key, other] : streams_) {
      if (other.capture == former) other = {other.stream, capture, {}};
    }
  }
  capture->id = next_id_++;
  capture->origin = stream.key;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  streams_.insert_or_assign(stream.key, participant{stream, std::move(capture), {}});
  active_.store(static_cast<unsigned>(streams_.size()));
  return hipSuccess;
}

hipError_t stream_captures::end(void const* key, std::shared_ptr<graph_object const>& graph) {
  std::lock_guard const lock(mutex_);
  auto const origin = streams_.find(key);
  if (origin == streams_.end()) return hipErrorIllegalState;
  auto const capture = origin->second.capture;
  if (capture->origin != key) {
    capture->is_invalid = true;
    return hipErrorStreamCaptureUnmatched;
  }
  if (capture->mode != hipStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return hipErrorStreamCaptureWrongThread;
  }
  // The capture ends in any case, also if there is no memory to check it. ROCm ends valid ones.
  bool are_joined = true;
  bool has_memory = true;
  try {
    for (auto const& [other_key, other] : streams_) {
      if (other.capture != capture) continue;
      are_joined = are_joined && are_before(other.last, origin->second.last, *capture->graph);
    }
  } catch (std::bad_alloc const&) {
    has_memory = false;
  }
  if (emulates_rocm() && (capture->is_invalid || !are_joined)) {
    capture->has_failed_to_end = true;
    return capture->is_invalid ? hipErrorStreamCaptureInvalidated : hipErrorStreamCaptureUnjoined;
  }
  std::erase_if(streams_, [&](auto const& entry) { return entry.second.capture == capture; });
  active_.store(static_cast<unsigned>(streams_.size()));
  bool const was_invalid = std::exchange(capture->is_invalid, true);  // events refer to it still
  if (was_invalid) return hipErrorStreamCaptureInvalidated;
  if (!has_memory) return hipErrorOutOfMemory;
  if (!are_joined) return hipErrorStreamCaptureUnjoined;
  graph = capture->graph;
  return hipSuccess;
}

stream_captures::information stream_captures::query(void const* key) {
  std::lock_guard const lock(mutex_);
  auto const found = streams_.find(key);
  if (found == streams_.end()) return {};
  stream_capture const& capture = *found->second.capture;
  return {capture.is_invalid ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive,
          capture.id, capture.has_failed_to_end};
}

bool stream_captures::is_default_stream_ordered(int device) {
  if (!is_any_active()) return false;
  std::lock_guard const lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [device](auto const& entry) {
    captured_stream const& stream = entry.second.stream;
    return stream.device == device && stream.is_blocking;
  });
}

bool stream_captures::add(void const* key, char const* kind, std::function<void()> work) {
  if (!is_any_active()) return false;
  std::lock_guard const lock(mutex_);
  auto const found = streams_.find(key);
  if (found == streams_.end()) return false;
  participant& stream = found->second;
  if (stream.capture->is_invalid) throw capture_error{hipErrorStreamCaptureInvalidated};
  auto& nodes = stream.capture->graph->nodes;
  stream.last.reserve(1);  // nothing below throws after the node was added
  nodes.push_back({kind, std::move(work), stream.last});
  stream.last.assign(1, nodes.size() - 1);
  return true;
}

tracked_work stream_captures::track(void const* key, char const* kind, hipStream_t stream,
                                    std::initializer_list<accessed_memory> memory) {
  if (!tracks_work()) return nullptr;
  if (is_any_active()) {
    std::lock_guard const lock(mutex_);
    if (auto const found = streams_.find(key); found != streams_.end()) {
      for (accessed_memory const& item : memory) {
        found->second.capture->graph->accesses.push_back({kind, item});
      }
      return nullptr;
    }
  }
  return track_work(kind, stream, memory);
}

std::shared_ptr<captured_point const> stream_captures::point(void const* key) {
  if (!is_any_active()) return nullptr;
  std::lock_guard const lock(mutex_);
  auto const found = streams_.find(key);
  if (found == streams_.end()) return nullptr;
  if (found->second.capture->is_invalid) throw capture_error{hipErrorStreamCaptureInvalidated};
  return std::make_shared<captured_point>(
      captured_point{found->second.capture, found->second.last});
}

void stream_captures::join(captured_stream const& stream, captured_point const& awaited) {
  std::lock_guard const lock(mutex_);
  if (awaited.capture->is_invalid) throw capture_error{captured_event};
  auto const found = streams_.find(stream.key);
  // If memory is exhausted, the stream is left as it was.
  participant joined =
      found == streams_.end() ? participant{stream, awaited.capture, {}} : found->second;
  if (joined.capture != awaited.capture) {
    joined.capture->is_invalid = true;
    awaited.capture->fail(hipErrorStreamCaptureMerge);
  }
  for (std::size_t const node : awaited.nodes) {
    if (std::find(joined.last.begin(), joined.last.end(), node) == joined.last.end()) {
      joined.last.push_back(node);
    }
  }
  streams_.insert_or_assign(stream.key, std::move(joined));
  active_.store(static_cast<unsigned>(streams_.size()));
}

void stream_captures::forget(void const* key) noexcept {
  if (!is_any_active()) return;
  std::lock_guard const lock(mutex_);
  auto const found = streams_.find(key);
  if (found == streams_.end()) return;
  auto const capture = found->second.capture;
  capture->is_invalid = true;
  std::erase_if(streams_, [&](auto const& entry) {
    return entry.first == key || (capture->origin == key && entry.second.capture == capture);
  });
  active_.store(static_cast<unsigned>(streams_.size()));
}

void stream_captures::refuse(void const* key, hipError_t code) {
  if (!is_any_active()) return;
  std::lock_guard const lock(mutex_);
  auto const found = streams_.find(key);
  if (found != streams_.end()) found->second.capture->fail(code);
}

void stream_captures::refuse_implicit(int device) {
  if (!is_any_active()) return;
  std::lock_guard const lock(mutex_);
  for (auto const& [key, other] : streams_) {
    if (other.stream.device == device && other.stream.is_blocking) {
      other.capture->fail(hipErrorStreamCaptureImplicit);
    }
  }
}

void stream_captures::refuse_device(int device) {
  if (!is_any_active()) return;
  bool const are_all = host_settings().emulated >= runtime_rules::rocm6;
  std::lock_guard const lock(mutex_);
  for (auto const& [key, other] : streams_) {
    if (are_all || other.stream.device == device) {
      other.capture->fail(hipErrorStreamCaptureUnsupported);
    }
  }
}

void stream_captures::refuse_unsafe_call() {
  if (!is_any_active()) return;
  std::lock_guard const lock(mutex_);
  for (auto const& [key, other] : streams_) {
    stream_capture& capture = *other.capture;
    bool const is_own = capture.thread == std::this_thread::get_id();
    bool const is_refused = capture.mode == hipStreamCaptureModeGlobal ||
                            (is_own && capture.mode == hipStreamCaptureModeThreadLocal);
    if (is_refused) capture.fail(hipErrorStreamCaptureUnsupported);
  }
}

void stream_captures::refuse_wait(captured_point const* point) {
  if (point == nullptr) return;
  std::lock_guard const lock(instance().mutex_);
  point->capture->fail(captured_event);
}

}  // namespace roc::host_hip
