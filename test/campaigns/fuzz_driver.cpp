// SPDX-License-Identifier: MIT
// Runs a fuzzer without libFuzzer: first the kept inputs, then inputs made at random and from the
// kept ones, for a time. Each batch runs in a child process, so that a crash, an abort or a hang is
// seen here; the input that did it is cut to the shortest that still does and is printed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "campaigns/fuzz_input.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t max_bytes = 1024;
constexpr unsigned seconds_per_input = 20;  // a longer run is a hang

constexpr char const* usage =
    "[options] [corpus-directory...]\n"
    "  --seconds N  how long to run new inputs (default: 2)\n"
    "  --seed N     seed of the inputs (default: ROCARRAY_TEST_SEED, or at random)\n"
    "  --input HEX  run only this input, in this process\n";

// What a child shows its parent.
struct progress {
  std::uint64_t runs;
  std::size_t size;  // of the current input
  std::uint8_t input[max_bytes];
};

struct outcome {
  bool has_failed = false;
  bool was_skipped = false;
  std::string problem;
};

class fuzzer {
 public:
  explicit fuzzer(std::uint64_t seed) : random_(seed) {
    void* const memory =
        mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    progress_ = new (memory) progress{};
  }

  void add_corpus(std::filesystem::path const& directory) {
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (auto const& file : files) {
      std::ifstream stream(file, std::ios::binary);
      bytes input{std::istreambuf_iterator<char>(stream), {}};
      if (input.size() > max_bytes) input.resize(max_bytes);
      corpus_.push_back(std::move(input));
    }
  }

  std::size_t corpus_size() const { return corpus_.size(); }
  std::uint64_t runs() const { return progress_->runs; }
  bytes last_input() const { return {progress_->input, progress_->input + progress_->size}; }

  // Runs the corpus, then new inputs for `seconds`, in a child process.
  outcome run_all(double seconds) {
    return in_child(false, [&] {
      for (bytes const& input : corpus_) run(input);
      auto const end = clock_type::now() + std::chrono::duration<double>(seconds);
      while (clock_type::now() < end) run(new_input());
    });
  }

  // Runs one input in a child process.
  outcome run_one(bytes const& input, bool is_shown) {
    return in_child(!is_shown, [&] { run(input); });
  }

  // Returns the shortest input found, within a minute, that still fails.
  bytes reduced(bytes input) {
    auto const end = clock_type::now() + std::chrono::minutes(1);
    auto const replace_if_failing = [&](bytes const& shorter) {
      bool const fails = run_one(shorter, false).has_failed;
      if (fails) input = shorter;
      return fails;
    };
    for (std::size_t length = std::max<std::size_t>(input.size() / 2, 1); length != 0;
         length /= 2) {
      for (std::size_t begin = 0; begin < input.size() && clock_type::now() < end;) {
        bytes shorter = input;
        auto const first = shorter.begin() + static_cast<std::ptrdiff_t>(begin);
        shorter.erase(first,
                      first + static_cast<std::ptrdiff_t>(std::min(length, input.size() - begin)));
        if (!replace_if_failing(shorter)) begin += length;
      }
    }
    for (std::size_t i = 0; i < input.size() && clock_type::now() < end; ++i) {
      bytes simpler = input;
      simpler[i] = 0;
      if (input[i] != 0) replace_if_failing(simpler);
    }
    return input;
  }

 private:
  void run(bytes const& input) {
    progress_->size = input.size();
    std::copy(input.begin(), input.end(), progress_->input);
    alarm(seconds_per_input);
    // An exact copy, so that AddressSanitizer sees reads beyond its end.
    bytes const copy(input.begin(), input.end());
    LLVMFuzzerTestOneInput(copy.data(), copy.size());
    ++progress_->runs;
  }

  template <class F>
  outcome in_child(bool is_quiet, F work) {
    std::fflush(nullptr);
    pid_t const child = fork();
    if (child < 0) std::abort();
    if (child == 0) {
      if (is_quiet && std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
      if (LLVMFuzzerInitialize != nullptr) {
        int count = 0;
        char** arguments = nullptr;
        LLVMFuzzerInitialize(&count, &arguments);
      }
      work();
      _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) std::abort();
    outcome result;
    if (WIFSIGNALED(status)) {
      result.has_failed = true;
      result.problem =
          WTERMSIG(status) == SIGALRM ? "it ran too long" : strsignal(WTERMSIG(status));
    } else if (WEXITSTATUS(status) == 77) {
      result.was_skipped = true;
    } else if (WEXITSTATUS(status) != 0) {
      result.has_failed = true;
      result.problem = "exit status " + std::to_string(WEXITSTATUS(status));
    }
    return result;
  }

  std::size_t below(std::size_t n) { return random_() % n; }

  std::uint8_t random_byte() {
    constexpr std::uint8_t likely[] = {0, 1, 2, 3, 4, 7, 8, 16, 64, 127, 128, 254, 255};
    return below(2) == 0 ? likely[below(std::size(likely))] : static_cast<std::uint8_t>(random_());
  }

  // Returns random bytes, or a kept input with up to four changes.
  bytes new_input() {
    if (corpus_.empty() || below(4) == 0) {
      bytes result(below(below(4) == 0 ? 256 : 40));
      for (auto& byte : result) byte = random_byte();
      return result;
    }
    bytes result = corpus_[below(corpus_.size())];
    for (std::size_t changes = 1 + below(4); changes != 0; --changes) {
      std::size_t const place = below(result.size() + 1);
      auto const position = result.begin() + static_cast<std::ptrdiff_t>(place);
      std::size_t const rest = result.size() - place;
      switch (below(5)) {
        case 0: result.insert(position, random_byte()); break;
        case 1:
          if (rest != 0) *position = random_byte();
          break;
        case 2:
          if (rest != 0) *position ^= static_cast<std::uint8_t>(1u << below(8));
          break;
        case 3:
          if (rest != 0) {
            std::size_t const length = 1 + below(std::min<std::size_t>(rest, 8));
            result.erase(position, position + static_cast<std::ptrdiff_t>(length));
          }
          break;
        default: {  // the end of another input
          bytes const& other = corpus_[below(corpus_.size())];
          std::size_t const from = below(other.size() + 1);
          result.resize(place);
          result.insert(result.end(), other.begin() + static_cast<std::ptrdiff_t>(from),
                        other.end());
        }
      }
    }
    if (result.size() > max_bytes) result.resize(max_bytes);
    return result;
  }

  std::mt19937_64 random_;
  std::vector<bytes> corpus_;
  progress* progress_;
};

std::string to_hex(bytes const& input) {
  std::string text;
  for (auto const byte : input) {
    for (int const digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

bytes from_hex(std::string_view text) {
  bytes result;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    result.push_back(static_cast<std::uint8_t>(
        std::strtoul(std::string(text.substr(i, 2)).c_str(), nullptr, 16)));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 2;
  char const* const seed_of_tests = std::getenv("ROCARRAY_TEST_SEED");
  std::uint64_t seed =
      seed_of_tests != nullptr ? std::strtoull(seed_of_tests, nullptr, 10) : std::random_device{}();
  std::vector<char const*> directories;
  for (int i = 1; i < argc; ++i) {
    std::string_view const option = argv[i];
    char const* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (option.starts_with("--") && value == nullptr) {
      std::fprintf(stderr, "%s %s", argv[0], usage);
      return 2;
    }
    if (option == "--seconds") {
      seconds = std::atof(value);
    } else if (option == "--seed") {
      seed = std::strtoull(value, nullptr, 10);
    } else if (option == "--input") {
      if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
      bytes const input = from_hex(value);
      return LLVMFuzzerTestOneInput(input.data(), input.size());
    } else if (option.starts_with("--")) {
      std::fprintf(stderr, "%s %s", argv[0], usage);
      return 2;
    } else {
      directories.push_back(argv[i]);
      continue;
    }
    ++i;
  }
  fuzzer subject(seed);
  for (char const* directory : directories) subject.add_corpus(directory);
  std::printf("--seed %llu, %zu kept inputs\n", static_cast<unsigned long long>(seed),
              subject.corpus_size());
  if (!directories.empty() && subject.corpus_size() == 0) {
    std::fprintf(stderr, "the directory of kept inputs is empty: %s\n", directories.front());
    return 2;
  }
  outcome const all = subject.run_all(seconds);
  if (all.was_skipped) return 77;
  if (!all.has_failed) {
    std::printf("%llu inputs\n", static_cast<unsigned long long>(subject.runs()));
    return subject.runs() > subject.corpus_size() ? 0 : 2;
  }
  bytes const found = subject.last_input();
  if (!subject.run_one(found, false).has_failed) {
    std::fprintf(
        stderr,
        "FAILED (%s) with --seed %llu after %llu inputs, but its last input alone does not "
        "fail:\n  --input %s\n",
        all.problem.c_str(), static_cast<unsigned long long>(seed),
        static_cast<unsigned long long>(subject.runs()), to_hex(found).c_str());
    return 1;
  }
  bytes const shortest = subject.reduced(found);
  outcome const shown = subject.run_one(shortest, true);
  std::fprintf(stderr,
               "FAILED (%s) with --seed %llu; the input of %zu bytes, cut to %zu, is\n"
               "  --input %s\n",
               shown.problem.c_str(), static_cast<unsigned long long>(seed), found.size(),
               shortest.size(), to_hex(shortest).c_str());
  return 1;
}
