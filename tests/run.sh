#!/usr/bin/env bash
# Installs all that the tests need, the browser too, and runs them: style, imports, tests.
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    as_root apt-get update -q && as_root apt-get install -y -q python3-venv
fi
if ! command -v chromium >/dev/null; then
    as_root apt-get update -q && as_root apt-get install -y -q chromium
fi
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt

.venv/bin/ruff check .
.venv/bin/lint-imports
# The browser tests need the cores for themselves, so they come last and one by one. They wait for
# what is seen, not for a time; one that a busy machine still loses is tried again, and said.
.venv/bin/python -m pytest -q -n auto --ignore=tests/browser "$@"
.venv/bin/python -m pytest -q --reruns 2 tests/browser "$@"
