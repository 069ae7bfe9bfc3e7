'use strict'
/* global afterAll, beforeAll, beforeEach, expect */
const native = require('./native-require.cjs')
const { start } = native('./dist/index.js')
const { createForkHook, createServerHook, matchers, startGlobalServer } = native('./dist/testing.js')

// A first start takes seconds on a machine under load, and jest gives hooks five.
const startMs = 60_000
const hooks = {
  beforeAll: (hook) => beforeAll(hook, startMs),
  beforeEach: (hook) => beforeEach(hook, startMs),
  afterAll: (hook) => afterAll(hook, startMs),
}

function testName() {
  const { currentConcurrentTestName, currentTestName } = expect.getState()
  return currentConcurrentTestName?.() ?? currentTestName
}

module.exports.matchers = matchers
module.exports.start = start
module.exports.startGlobalServer = startGlobalServer
module.exports.useForks = createForkHook({ ...hooks, testName })
module.exports.useServer = createServerHook(hooks)
