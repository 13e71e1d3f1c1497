#!/bin/sh
# Makes the two lock files anew: hashes, no addresses. Needs uv on the PATH.
set -eu
cd "$(dirname "$0")/.."
lock="uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url"
$lock pyproject.toml --all-extras --output-file deploy/requirements.lock "$@"
printf 'uv\nhatchling\neditables\nsetuptools\nwheel\n' | $lock - --constraints deploy/requirements.lock --output-file deploy/bootstrap.lock "$@"
$lock pyproject.toml --constraints deploy/requirements.lock --output-file deploy/service.lock "$@"
