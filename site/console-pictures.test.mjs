import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pictures } from './console-pictures.mjs'

const docs = join(import.meta.dirname, '../docs')
const bytesMax = 60 * 1024

test('each picture of the console is part of the walk, small, and shown on its page', () => {
  const page = readFileSync(join(docs, 'how-to/console.md'), 'utf8')
  const names = pictures.map(({ name }) => `${name}.webp`)
  expect(readdirSync(join(docs, 'console')).sort()).toEqual([...names].sort())
  for (const name of names) {
    const bytes = readFileSync(join(docs, 'console', name))
    expect([name, bytes.subarray(8, 12).toString(), bytes.length < bytesMax]).toEqual([name, 'WEBP', true])
    expect(page).toContain(`](../console/${name})`)
  }
})
