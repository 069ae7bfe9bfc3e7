import { expect, it } from 'vitest'
import { parseStructural } from '../parse.ts'
import { evaluateRules } from './evaluate.ts'
import { RuleTree } from './rule-tree.ts'

/** The number of pauses during an evaluation of rules. */
function pausesOf(rules: readonly string[], value: unknown): number {
  const map = { type: 'object', additionalProperties: { type: 'integer' } }
  const lists = { type: 'array', items: map }
  const schema = { type: 'object', properties: { a: lists, b: lists }, 'x-kubernetes-validations': rules.map((rule) => ({ rule })) }
  const steps = evaluateRules(RuleTree.of(parseStructural(schema), { isResource: false })!, { value })
  let pauses = 0
  for (;;) {
    const { done, value: found } = steps.next()
    if (done === true) {
      expect(found.errors).toEqual([])
      return pauses
    }
    pauses += 1
  }
}

it('rules with uncounted work let other work run between them', () => {
  const map = Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`key${key}`, key]))
  const value = { a: [map], b: [{ ...map }] }
  expect(pausesOf(Array(20).fill('self.a == self.b'), value)).toBeGreaterThan(10)
  expect(pausesOf(Array(20).fill('self.a.size() == self.b.size()'), value)).toBe(0)
})
