import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allKinds } from './index.ts'

/** The kinds that the files of the folders below define, by file path without extension. */
function definedKinds(): ReadonlyMap<string, readonly string[]> {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const paths = folders.flatMap(({ name }) => readdirSync(join(import.meta.dirname, name)).map((file) => `./${name}/${file}`))
  const sources = paths.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  return new Map(
    sources
      .map((path): [string, string[]] => {
        const text = readFileSync(join(import.meta.dirname, path), 'utf8')
        return [path.slice(0, -'.ts'.length), [...text.matchAll(/^export const (\w+) = defineResource\(/gm)].map(([, name = '']) => name)]
      })
      .filter(([, names]) => names.length > 0),
  )
}

/** The text of `all-kinds.ts`. */
function printList(defined: ReadonlyMap<string, readonly string[]>): string {
  const inOrder = [...defined].sort(([one], [other]) => (one < other ? -1 : 1))
  const lines = inOrder.map(([path, names]) => `export { ${[...names].sort().join(', ')} } from '${path}.ts'\n`)
  return `/** Every kind, of all levels. \`npm run golden\` writes this file from the files that define kinds. */\n${lines.join('')}`
}

test('every kind that a file defines is in the list', async () => {
  await expect(printList(definedKinds())).toMatchFileSnapshot('all-kinds.ts')
})

test('kinds are listed by their plurals, as discovery lists the resources of a group version', () => {
  const plurals = allKinds.map(({ plural }) => plural)
  expect(plurals).toEqual([...plurals].sort())
})
