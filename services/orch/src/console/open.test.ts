import { expect, test } from 'vitest'
import { consoleOf } from './open.ts'

const plainHostOf = (console: 'auto' | 'true' | 'false', bindAddress: string, hasUsualConsole = false) =>
  consoleOf({ serving: { console, bindAddress }, hasUsualConsole })?.plainHost ?? 'none'

test.each([
  ['auto', '127.0.0.1', true, '127.0.0.1'],
  ['auto', '::1', true, '::1'],
  ['auto', '127.0.0.1', false, undefined],
  ['auto', '0.0.0.0', true, undefined],
  ['false', '127.0.0.1', true, undefined],
] as const)('the console is %s at %s, tried out: %s, on the plain host %s', (console, bindAddress, hasUsualConsole, plainHost) => {
  expect(plainHostOf(console, bindAddress, hasUsualConsole)).toBe(plainHost ?? 'none')
})

test('a console on an address that other machines reach has no port without TLS', () => {
  for (const bindAddress of ['0.0.0.0', '::', '192.0.2.1', 'localhost.example']) {
    expect(consoleOf({ serving: { console: 'true', bindAddress } })).toMatchObject({ plainHost: undefined })
  }
})
