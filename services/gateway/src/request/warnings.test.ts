import { expect, test } from 'vitest'
import { Warnings } from './warnings.ts'

function told(texts: readonly string[]): readonly string[] {
  const warnings = new Warnings()
  for (const text of texts) warnings.add(text)
  return warnings.texts
}

test('each warning is sent once and unchanged, and empty warnings are dropped', () => {
  expect(told(['a', '', 'b', 'a', 'c'.repeat(4000)])).toEqual(['a', 'b', 'c'.repeat(4000)])
})

test('LIM-07: warnings are cut when all together are too long, also earlier warnings, and warnings beyond the limit are omitted', () => {
  const long = (index: number) => `${String(index).padStart(3, '0')}${'😀'.repeat(997)}`
  const texts = told(Array.from({ length: 40 }, (_, index) => long(index)))
  expect(texts).toHaveLength(16)
  expect(texts[0]).toBe(`000${'😀'.repeat(253)}`)
  expect(texts.at(-1)).toBe(`015${'😀'.repeat(253)}`)
})

test('a short warning after the cut is sent unchanged', () => {
  expect(told(['a'.repeat(4096), 'b'])).toEqual(['a'.repeat(256), 'b'])
})
