#!/usr/bin/env bash
# Install Debian's chromium and its driver if this is possible without asking; otherwise say so
# and succeed: the tests that need a browser are skipped. Usage: tools/install_browser.sh
set -euo pipefail
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
  exit 0
fi

install() {
  command -v apt-get >/dev/null || return 1
  local become=()
  [ "$(id -u)" = 0 ] || become=(sudo -n)
  "${become[@]}" apt-get install -qq -y --no-install-recommends chromium chromium-driver ||
    { "${become[@]}" apt-get update -qq &&
      "${become[@]}" apt-get install -qq -y --no-install-recommends chromium chromium-driver; }
}

if ! install >/dev/null 2>&1; then
  echo "chromium could not be installed: the tests that need a browser are skipped." \
    "Where chromium and chromedriver are on the path, they are run."
fi
