'use strict'
const { after, afterEach, before, beforeEach } = require('node:test')
const native = require('./native-require.cjs')
const { start } = native('./dist/index.js')
const { createForkHook, createServerHook } = native('./dist/testing.js')

const hooks = {
  beforeAll: before,
  beforeEach,
  afterAll: after,
  afterFailed: (hook) => afterEach((test) => (test.passed ? undefined : hook({ name: test.fullName, failure: test.error }))),
}

module.exports.start = start
module.exports.useForks = createForkHook({ ...hooks, testName: (context) => context?.fullName })
module.exports.useServer = createServerHook(hooks)
