'use strict'
/* global beforeAll, beforeEach, afterAll */
const native = require('./native-require.cjs')
const { start } = native('./dist/index.js')
const { createForkHook, createServerHook, matchers, startGlobalServer } = native('./dist/testing.js')

module.exports = {
  matchers,
  start,
  startGlobalServer,
  useForks: createForkHook({ beforeAll, afterAll }),
  useServer: createServerHook({ beforeAll, beforeEach, afterAll }),
}
