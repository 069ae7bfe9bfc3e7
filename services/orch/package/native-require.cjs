'use strict'
// Nodes that are too old must be able to parse this file, and run it to where it says so.
if (!require('./node-version.cjs').isNewEnough(process.versions.node)) {
  throw new Error(`orch needs Node 22.19, 24, 26 or newer, this is ${process.versions.node}`)
}

// A test framework may give a file a `require` and a `process` of its own, which load modules into a context of theirs and no
// ES modules. A function of Node itself leads to the process outside of it, and so to Node's own `require`: the program is loaded
// once per process.
const { getBuiltinModule } = process.nextTick.constructor('return process')()

module.exports = getBuiltinModule('module').createRequire(__filename)
