#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# predicates_rejects.sh DIRECTORY: predicates.sh fails, and names the place, if a predicate of an algorithm
# calls query() or is_reached(), and accepts such calls elsewhere.
set -euo pipefail
command -v perl >/dev/null || { echo "perl was not found"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
tree=$1/tree
rm -rf "$tree"
mkdir -p "$tree/src" "$tree/include/roc"

cat >"$tree/src/accepted.cpp" <<'END'
bool a = std::all_of(v.begin(), v.end(), [](auto& x) { return x.done(); }) && event.query();
// std::all_of(v.begin(), v.end(), [](auto& x) { return x.query(); });
auto b = std::find_if(v.begin(), v.end(), [](char x) { return x == '('; });
wait.until([&] { return stream.query(); });
auto c = std::count_if(v.begin(), v.end(), [&](int x) { return scheduler.query(x); });
char const* d = "std::erase_if(", * e = "event.query()";
END
bash "$here/predicates.sh" "$tree"

cat >"$tree/include/roc/rejected.hpp" <<'END'

bool a = std::all_of(v.begin(), v.end(), [](auto& x) {
  return x.ready() || (x.event->query());
});
END
echo 'auto n = std::ranges::count_if(v, [](auto& x) { return x.query(); });' >"$tree/src/rejected.cpp"
echo 'auto m = std::any_of(v.begin(), v.end(), [](auto& x) { return x.copy.is_reached(); });' >>"$tree/src/rejected.cpp"
if output=$(bash "$here/predicates.sh" "$tree"); then
  echo "predicates.sh accepted predicates that call query()" >&2
  exit 1
fi
expected="include/roc/rejected.hpp:2: a function object of std::all_of calls query(), which may throw: write a loop
src/rejected.cpp:1: a function object of std::ranges::count_if calls query(), which may throw: write a loop
src/rejected.cpp:2: a function object of std::any_of calls is_reached(), which may throw: write a loop"
diff <(echo "$expected") <(echo "$output")
