#!/usr/bin/env bash
# Install torch and torch_geometric if a build without CUDA is at hand; otherwise say so and
# succeed: the tests that need them are skipped. Usage: tools/install_torch.sh PYTHON
set -euo pipefail
python=$1
constraints="$(dirname "${BASH_SOURCE[0]}")/../constraints.txt"
version=$(sed -n 's/^torch==\([0-9.]*\).*/\1/p' "$constraints")

# Asking for the exact "+cpu" build means that pip never looks at the gigabytes of CUDA.
case "$(uname -s)" in
  Darwin) torch="torch==$version" ;;
  *) torch="torch==$version+cpu" ;;
esac

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if "$python" -m pip install --quiet -c "$constraints" "$torch" torch_geometric >"$log" 2>&1; then
  echo "installed $torch and torch_geometric"
elif grep -q "No matching distribution found for torch==" "$log"; then
  echo "no $torch for this Python: tests that need torch are skipped." \
    "To install it: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make torch"
else
  tail -n 5 "$log" >&2
  echo "torch could not be installed (see above): tests that need it are skipped"
fi
