import { expect, test } from 'vitest'
import { managerOfUserAgent } from './ownership.ts'

test.each<[string, string | undefined, string]>([
  ['the name before the version', 'kubectl/v1.30 (linux/amd64)', 'kubectl'],
  ['a name without version', 'my tool', 'my tool'],
  ['nothing', undefined, 'unknown'],
  ['an empty text', '', 'unknown'],
  ['no name', '/1.0', 'unknown'],
  ['control characters', 'a\u0000b\tc/1', 'abc'],
  ['letters beyond ASCII of the most bytes that there may be', 'é'.repeat(64), 'é'.repeat(64)],
  ['too many letters beyond ASCII', 'é'.repeat(100), 'é'.repeat(64)],
  ['control characters only', '\u0000\u0001', 'unknown'],
  ['a long name', 'x'.repeat(200), 'x'.repeat(128)],
  ['a long name that would end in half a character', `${'x'.repeat(127)}é`, 'x'.repeat(127)],
])('SSA-17 SSA-18: the manager of a write that names none: %s', (_name, userAgent, manager) => {
  expect(managerOfUserAgent(userAgent)).toBe(manager)
})
