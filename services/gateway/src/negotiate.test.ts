import { describe, expect, test } from 'vitest'
import { bodyFormat, negotiate } from './negotiate.ts'

const table = 'application/json;as=Table;v=v1;g=meta.orch.io'

describe('the format of an answer', () => {
  const rows: [title: string, accept: string | undefined, format: string | undefined][] = [
    ['NEG-01: without Accept it is JSON', undefined, 'json'],
    ['NEG-02: JSON when JSON is asked', 'application/json', 'json'],
    ['NEG-02: anything means JSON', '*/*', 'json'],
    ['NEG-02: any application type means JSON', 'application/*', 'json'],
    ['NEG-10: YAML when YAML is asked', 'application/yaml', 'yaml'],
    ['NEG-13: the first clause that can be met', 'application/vnd.other, application/yaml, application/json', 'yaml'],
    ['NEG-13: a form that is not offered is passed over', `${table},application/json`, 'json'],
    ['NEG-13: the greater weight comes first', 'application/json;q=0.5, application/yaml;q=0.9', 'yaml'],
    ['NEG-13: a weight of zero is a refusal', 'application/yaml;q=0, application/json', 'json'],
    ['NEG-09: nothing that is known', 'application/vnd.other', undefined],
    ['NEG-09: a form that is not offered, alone', table, undefined],
  ]
  for (const [title, accept, format] of rows) {
    test(title, () => {
      const negotiated = negotiate(accept)
      expect(negotiated.kind === 'format' ? negotiated.format : undefined).toBe(format)
    })
  }
})

test('NEG-02: the format of a body is that of its Content-Type, with or without parameters', () => {
  expect(bodyFormat(undefined)).toBe('json')
  expect(bodyFormat('application/json; charset=utf-8')).toBe('json')
  expect(bodyFormat('Application/YAML')).toBe('yaml')
  expect(bodyFormat('text/plain')).toBe('unknown')
})
