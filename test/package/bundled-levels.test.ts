import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { levelsOfAllTypes, typeNameAt } from '../../shared/core/src/schema/resolve.ts'

const bundle = join(import.meta.dirname, '../../services/orch/dist/bundle')

/** The table of levels in a bundled file. */
function tablesIn(text: string): Record<string, number>[] {
  return [...text.matchAll(/presetLevels\w*\s*=\s*JSON\.parse\((['"`])(.*?)\1\)/g)].map(([, , table = '']) =>
    JSON.parse(table.replaceAll('\\"', '"')),
  )
}

test('the bundle has the levels of all types, so that a server does not compute them', () => {
  const files = readdirSync(bundle).filter((name) => name.endsWith('.js'))
  const tables = files.flatMap((name) => tablesIn(readFileSync(join(bundle, name), 'utf8')))
  expect(tables).toEqual([levelsOfAllTypes()])
})

test('a type is in the table with the levels at which its name changes', () => {
  const levels = Array.from({ length: 12 }, (_, index) => 26 + index)
  const table = levelsOfAllTypes()
  for (const name of ['core/v1.Pod', 'core/v1.PodSpec', 'batch/v1.Job', 'core/v1.ConfigMap']) {
    const changed = levels.filter((level) => typeNameAt(name, level) === `${name}@${level}`)
    expect({ name, bits: table[name] ?? 0 }).toEqual({ name, bits: changed.reduce((bits, level) => bits | (1 << (level - 25)), 0) })
  }
})
