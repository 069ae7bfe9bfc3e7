import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { failed } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { type Failure, requestFailures, serverFailures } from '../../shared/core/src/meta/status-table.ts'

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

/** A case in which a request ends without a failure. */
interface Outcome {
  readonly when: string
  readonly code: string
  readonly body: string
}

/** The successful outcomes. */
const outcomes: readonly Outcome[] = [
  {
    when: 'get, list, watch, update, patch or apply of an object that exists',
    code: '200',
    body: 'the object, the list, or the stream of events',
  },
  { when: 'create; update, patch or apply that creates the object', code: '201', body: 'the object' },
  { when: 'create of an eviction, a binding or another subresource that keeps nothing', code: '201', body: 'a `Status`' },
  { when: 'delete that removes the object at once', code: '200', body: 'a `Status`, or the object where its kind returns it' },
  {
    when: 'delete of an object that remains for now: finalizers, a grace period',
    code: '200; 202 with `orphanDependents: false`',
    body: 'the object with `deletionTimestamp`',
  },
  { when: 'deletecollection', code: '200', body: 'the list of the objects, in their last states' },
  { when: 'an OpenAPI 3 document under a hash that is not its present one', code: '301', body: 'none; `Location` has the present hash' },
  { when: 'an OpenAPI document whose ETag is in `If-None-Match`', code: '304', body: 'none' },
]

/** All failures with a Status as their body. */
const failuresWithStatus: readonly Failure[] = [...requestFailures, ...serverFailures].filter(({ reason }) => reason !== 'plain text')

/** Prints docs/reference/status-codes.md. */
function printStatusPage(): string {
  return [
    '# Status codes',
    '',
    'For authors of clients.',
    '',
    'Codes of responses, and their causes. Errors of resources are `Status` objects, in the format that the client accepts; clients branch on `reason`, never on the message. Errors outside resources are plain text where the table says so.',
    '',
    '## Success',
    '',
    '| Situation | Code | Body |',
    '|---|---|---|',
    ...outcomes.map(({ when, code, body }) => `| ${when} | ${code} | ${body} |`),
    '',
    'A dry run has the code of the request without it.',
    '',
    '## The request is wrong',
    '',
    ...tableOf(requestFailures),
    '',
    'An admission webhook may choose the code and the reason of its refusal: a code below 400 becomes 400, one that HTTP does not have 500.',
    '',
    '## The server cannot do it',
    '',
    ...tableOf(serverFailures),
    '',
    'A watch that has begun has code 200. A later failure is an event of type `ERROR` whose object is the `Status`, with the codes of these tables; 410 means that the client lists again.',
    '',
  ].join('\n')
}

function tableOf(failures: readonly Failure[]): string[] {
  return [
    '| Situation | Code | Reason |',
    '|---|---|---|',
    ...failures.map(({ when, code, reason }) => `| ${when} | ${code} | ${printReason(reason)} |`),
  ]
}

function printReason(reason: Failure['reason']): string {
  if (reason === '') return 'none'
  return reason === 'plain text' ? reason : `\`${reason}\``
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
