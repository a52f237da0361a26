#!/usr/bin/env bash
# Install torch, torch_geometric and safetensors if a build without CUDA is at hand; otherwise
# say so and succeed: the tests that need them are skipped. Usage: tools/install_torch.sh PYTHON
set -euo pipefail
python=$1
constraints="$(dirname "${BASH_SOURCE[0]}")/../constraints.txt"
version=$(sed -n 's/^torch==\([0-9.]*\).*/\1/p' "$constraints")

# Asking for the exact "+cpu" build means that pip never looks at the gigabytes of CUDA.
case "$(uname -s)" in
  Darwin) torch="torch==$version" ;;
  *) torch="torch==$version+cpu" ;;
esac

if ! "$python" -m pip install --quiet -c "$constraints" "$torch" torch_geometric safetensors; then
  echo "no $torch for this Python (see above): the tests that need torch are skipped." \
    "To try again: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make torch"
fi
