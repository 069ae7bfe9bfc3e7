'use strict'
/* global afterAll, beforeAll, beforeEach, expect */
const native = require('./native-require.cjs')
const { start } = native('./dist/index.js')
const { createForkHook, createServerHook, matchers, startGlobalServer } = native('./dist/testing.js')

module.exports.matchers = matchers
module.exports.start = start
module.exports.startGlobalServer = startGlobalServer
module.exports.useForks = createForkHook({ beforeAll, afterAll, testName: () => expect.getState().currentTestName })
module.exports.useServer = createServerHook({ beforeAll, beforeEach, afterAll })
