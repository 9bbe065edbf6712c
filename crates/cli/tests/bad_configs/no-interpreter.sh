#!/usr/bin/env no-such-interpreter
exit 2
