'use strict'

module.exports = async () => {
  await globalThis[Symbol.for('orch.jest.teardown')]?.()
}
