import { readFileSync } from 'node:fs'
import { printJson } from '@orch/core/json'
import { parseYaml, repeatsProblems } from '@orch/core/yaml'
import { expect, test } from 'vitest'

interface Reading {
  readonly text: string
  readonly json?: string
  readonly error?: string
  readonly strict?: string
}

const lines = readFileSync(new URL('readings.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
const readings = lines.map((line): Reading => JSON.parse(line))

test.each(readings)('YAML is parsed like by sigs.k8s.io/yaml: %#', ({ text, json, error, strict }) => {
  const parsed = parseYaml(text)
  if (parsed.kind === 'malformed') {
    expect({ error: parsed.message }).toEqual({ error })
    return
  }
  expect(JSON.parse(printJson(parsed.value))).toEqual(JSON.parse(printJson(JSON.parse(json ?? '"refused"'))))
  expect(repeatsProblems(parsed.repeats).join('')).toBe(strict ?? '')
})
