import { expect, test } from 'vitest'
import { createEnvironment } from './libraries.ts'

const compiles = (text: string, age: 'stored' | number) => createEnvironment(age).compile(text).kind !== 'invalid'

/** A function of each library, and the first release of Kubernetes that has it. */
const functions = [
  ["'a'.find('[a-z]') == 'a'", 25],
  ["quantity('1') == quantity('1')", 28],
  ['optional.none().hasValue()', 28],
  ["'a'.replace('a', 'b') == 'b'", 25],
  ["strings.quote('a') == 'a'", 29],
  ['sets.contains([1], [1])', 29],
  ["ip('10.0.0.1').family() == 4", 30],
  ["!format.named('dns1123Label').hasValue()", 31],
  ['[1].all(i, v, v > 0)', 32],
  ["semver('1.2.3') == semver('1.2.3')", 33],
  ['[1].distinct() == [1]', 34],
] as const

test.each(functions)(
  'CEL-08: %s of 1.%i may be used by new expressions from the next release on, and by stored expressions always',
  (text, since) => {
    const first = since < 28 ? since : since + 1
    const levels = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]
    expect(levels.filter((level) => compiles(text, level))).toEqual(levels.filter((level) => level >= first))
    expect(compiles(text, 'stored')).toBe(true)
  },
)
