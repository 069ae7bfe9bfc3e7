#!/usr/bin/env -S node --max-semi-space-size=16 --min-semi-space-size=8
'use strict'
process.argv.splice(2, 0, 'ctl')
require('./bin.cjs')
