import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** What answers requests, and what its answers are made with. */
const packages = ['shared/core', 'shared/platform', 'services/gateway', 'services/storage', 'services/admission', 'services/watch']

/** `404 NotFound` of each failure that the code makes with a code and a reason of its own. */
function madeByCode(): Set<string> {
  const files = packages.flatMap((name) => {
    const folder = join(root, name, 'src')
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => join(folder, file))
  })
  const found = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bfailed\(\s*(\d{3}),\s*'(\w*)'/g)])
  return new Set(found.map(([, code = '', reason = '']) => `${code} ${reason}`.trim()))
}

/** The same of the tables in docs/status-codes.md; what has no Status as its body is left out. */
function listedInDocument(): Set<string> {
  const text = readFileSync(join(root, 'docs/status-codes.md'), 'utf8')
  const rows = [...text.matchAll(/^\| .* \| ([45]\d\d) \| (`\w+`|none) \|$/gm)]
  return new Set(rows.map(([, code = '', reason = '']) => (reason === 'none' ? code : `${code} ${reason.replaceAll('`', '')}`)))
}

test('docs/status-codes.md lists each code with each reason that failures have, and no other', () => {
  const listed = [...listedInDocument()].sort()
  expect(listed.length).toBeGreaterThan(15)
  expect(listed).toEqual([...madeByCode()].sort())
})
