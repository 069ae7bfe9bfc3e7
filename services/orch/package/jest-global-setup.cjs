'use strict'
const { startGlobalServer } = require('./native-require.cjs')('./dist/testing.js')

module.exports = async () => {
  globalThis[Symbol.for('orch.jest.teardown')] = await startGlobalServer()
}
