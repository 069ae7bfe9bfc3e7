'use strict'
// A test framework may give a file a `require` and a `process` of its own, which load modules into a context of theirs and no
// ES modules. A function of Node itself leads to the process outside of it, and so to Node's own `require`: the program is loaded
// once per process.
const { getBuiltinModule } = process.nextTick.constructor('return process')()

module.exports = getBuiltinModule('module').createRequire(__filename)
