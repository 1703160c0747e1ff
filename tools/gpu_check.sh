#!/usr/bin/env bash
# The check for a machine with an NVIDIA GPU, a CUDA toolkit and no network:
#
#     tools/gpu_check.sh [WHEEL]        PYTHON=python3 OUT=gpu_check to choose the interpreter and the folder of results
#
# Builds for the machine's GPU (or installs the given wheel), runs `python -m stator verify`, the whole suite with
# STATOR_REQUIRE_DEVICE=cuda, the C++ tests, compute-sanitizer on every op, the demo and the benchmarks, and writes
# OUT/summary.txt. Fails if no test ran on the GPU. The environment of PYTHON must hold the build and test requirements
# already.
set -uo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
out=${OUT:-gpu_check}
mkdir -p "$out"
summary="$out/summary.txt"
: >"$summary"
failed=0

note() { echo "$*" | tee -a "$summary"; }
step() {  # step NAME COMMAND...: output to OUT/NAME.log, one line in the summary
  local name=$1 start=$SECONDS
  shift
  if "$@" >"$out/$name.log" 2>&1; then
    note "$name: ok ($((SECONDS - start)) s)"
  else
    note "$name: FAILED, exit $? ($((SECONDS - start)) s), see $name.log"
    tail -n 20 "$out/$name.log"
    failed=1
  fi
}

note "gpu: $(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader | head -n 1)"
note "nvcc: $(nvcc --version | grep release || echo none)"
if [ $# -ge 1 ]; then
  step install "$python" -m pip install --no-deps --no-index --force-reinstall "$1"
else
  step install "$python" -m pip install --no-build-isolation --no-deps --no-index .
fi
step info "$python" -m stator info
cat "$out/info.log"

step verify "$python" -m stator verify --device cuda --output "$out"
note "$(grep -m 1 ' cells of ' "$out/stator-verify.md")"

export STATOR_REQUIRE_DEVICE=cuda
step pytest "$python" -m pytest -q
note "$(tail -n 1 "$out/pytest.log")"
on_gpu=$(sed -n 's/^tests passed on cuda: //p' "$out/pytest.log" | tail -n 1)
note "tests passed on cuda: ${on_gpu:-0}"
[ "${on_gpu:-0}" -gt 0 ] || failed=1

# The C++ tests are those of a build tree; the library in it has the cuda target where nvcc is found.
if command -v nvcc >/dev/null; then
  step cpp_build env PATH="$(dirname "$(command -v "$python")"):$PATH" bash -c \
    "cmake --preset dev -B '$out/cpp' -DSTATOR_CUDA=ON && cmake --build '$out/cpp'"
  step cpp ctest --test-dir "$out/cpp" --output-on-failure
else
  note "cpp: nvcc not installed"
fi

# Every op in two dtypes and two layouts, in a child process whose end has the sanitizer's verdict.
every_op=("$python" -m stator verify --device cuda --part ops --quick --layout contiguous --layout transposed
          --minutes 0 --silence 1200)
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck initcheck; do
    step "$tool" timeout 3600 compute-sanitizer --tool "$tool" --error-exitcode 9 --target-processes all \
      "${every_op[@]}" --output "$out/$tool"
    note "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$tool.log" | tail -n 1)"
  done
else
  note "compute-sanitizer: not installed"
fi

step demo "$python" -m stator demo --device cuda --json
note "$(tail -n 1 "$out/demo.log")"
step benchmarks "$python" -m benchmarks --device cuda --json
cp "$out/benchmarks.log" "$out/benchmarks.json" 2>/dev/null
[ "$failed" -eq 0 ] && note "result: passed" || note "result: FAILED"
exit "$failed"
