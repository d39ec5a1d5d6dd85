#!/bin/sh
# SPDX-License-Identifier: MIT
[ "$1" = --option ] && shift && exec "$@"
