import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { failed } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { failuresWithStatus, printStatusPage } from '../../shared/core/src/meta/status-table.ts'

const root = join(import.meta.dirname, '../..')
/** The packages that answer requests or produce the answers. */
const packages = ['shared/core', 'shared/platform', 'services/gateway', 'services/storage', 'services/admission', 'services/watch']

/** `404 NotFound` of each failure that the code makes with a given code and reason. */
function madeByCode(): Set<string> {
  const files = packages.flatMap((name) => {
    const folder = join(root, name, 'src')
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => join(folder, file))
  })
  const found = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\b(?:failed|failure)\(\s*(\d{3}),\s*'(\w*)'/g)])
  return new Set(found.map(([, code = '', reason = '']) => `${code} ${reason}`.trim()))
}

test('the page of status codes equals the table that creates failures', async () => {
  await expect(printStatusPage()).toMatchFileSnapshot('../../docs/reference/status-codes.md')
})

test('each code with each reason of the table is used by a failure in the code', () => {
  const listed = new Set(failuresWithStatus.map(({ code, reason }) => `${code} ${reason}`.trim()))
  expect(listed.size).toBeGreaterThan(15)
  expect([...listed].sort()).toEqual([...madeByCode()].sort())
})

test('a failure with a code or a reason outside of the table does not compile', () => {
  const made = [
    failed(404, 'NotFound', 'no such object'),
    // @ts-expect-error the table has no 418
    failed(418, '', 'a teapot'),
    // @ts-expect-error 404 has another reason
    failed(404, 'Conflict', 'no such object'),
  ]
  expect(made.map(({ code }) => code)).toEqual([404, 418, 404])
})
