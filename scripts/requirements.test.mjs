import { describe, expect, test } from 'vitest'
import { idsOf, judge, parseStatements } from './requirements.mjs'
import { countTests, describeFailures, describeSkipped, toPartialReport, toReport } from './test-report.mjs'

const statements = parseStatements(`
### RV: Versions
- **RV-01** First. — [conventions: Reading]
- **RV-02** Second. (= AUTHN-CERT-01) — [conventions: Reading]
- **RV-03** (policy) Advice. — [conventions]
- **AUTHN-CERT-01** A certificate. — [conventions]
`)

const passing = (...titles) => ({ titles, outcome: 'passed' })
const stateOf = (result, id) => result.statements.find((statement) => statement.id === id)?.state

test('statements are read with area, kind and the statement that they repeat', () => {
  expect(statements.map(({ id, area, kind, sameAs }) => ({ id, area, kind, sameAs }))).toEqual([
    { id: 'RV-01', area: 'RV', kind: 'testable', sameAs: [] },
    { id: 'RV-02', area: 'RV', kind: 'testable', sameAs: ['AUTHN-CERT-01'] },
    { id: 'RV-03', area: 'RV', kind: 'policy', sameAs: [] },
    { id: 'AUTHN-CERT-01', area: 'AUTHN-CERT', kind: 'testable', sameAs: [] },
  ])
})

test.each([
  ['RV-01: a', ['RV-01']],
  ['RV-01, AUTHN-CERT-01: a', ['RV-01', 'AUTHN-CERT-01']],
  ['RV-01…RV-03, AUTHN-CERT-09…AUTHN-CERT-10: a', ['RV-01', 'RV-02', 'RV-03', 'AUTHN-CERT-09', 'AUTHN-CERT-10']],
  ['RV-01…AUTHN-CERT-01: a', ['RV-01', 'AUTHN-CERT-01']],
  ['RV-01 and more', []],
  ['as RV-01: says', []],
])('a title names the IDs of %s', (title, ids) => {
  expect(idsOf(title)).toEqual(ids)
})

describe('judging', () => {
  test('a title that names more than four is reported', () => {
    const four = { file: 'a.test.ts', ...passing('RV-01…RV-03, AUTHN-CERT-01: four') }
    const five = { file: 'a.test.ts', ...passing('RV-01…RV-03, AUTHN-CERT-01, RV-09: five') }
    expect(judge(statements, [four]).crowded).toEqual([])
    expect(judge(statements, [four, five]).crowded).toEqual(['a.test.ts > RV-01…RV-03, AUTHN-CERT-01, RV-09: five'])
  })

  test('a passed test shows its statement, by its own title or the title of its group', () => {
    const result = judge(statements, [passing('RV-01: group', 'a'), passing('AUTHN-CERT-01: b')])
    expect(stateOf(result, 'RV-01')).toBe('shown')
    expect(stateOf(result, 'AUTHN-CERT-01')).toBe('shown')
  })

  test('a statement that repeats another is shown with it', () => {
    expect(stateOf(judge(statements, [passing('AUTHN-CERT-01: b')]), 'RV-02')).toBe('shown')
    expect(stateOf(judge(statements, [passing('RV-02: b')]), 'AUTHN-CERT-01')).toBe('shown')
  })

  test('a failing or skipped test does not count', () => {
    const tests = [
      { titles: ['RV-01: a'], outcome: 'failed' },
      { titles: ['RV-02: b'], outcome: 'skipped' },
    ]
    const result = judge(statements, tests)
    expect(stateOf(result, 'RV-01')).toBe('missing')
    expect(stateOf(result, 'RV-02')).toBe('missing')
    expect(result.skipped).toEqual([tests[1]])
  })

  test('policy statements are listed apart', () => {
    expect(stateOf(judge(statements, []), 'RV-03')).toBe('apart')
  })

  test('an unknown ID in a title is reported', () => {
    expect(judge(statements, [passing('RV-99: a'), passing('plain')]).unknown).toEqual(['RV-99'])
  })
})

describe('the report of a run', () => {
  const group = { type: 'suite', name: 'group', parent: { type: 'module' } }
  const ended = (name, state, note, parent = { type: 'module' }, errors = undefined) => ({
    type: 'test',
    name,
    parent,
    result: () => ({ state, note, errors }),
  })
  const ran = (relativeModuleId, tests, errors = []) => {
    const module = { relativeModuleId, children: { allTests: () => tests }, errors: () => errors }
    for (const test of tests) test.module = module
    return module
  }
  const report = toReport(
    [
      ran('a.test.ts', [
        ended('a', 'passed', undefined, group),
        ended('b', 'failed', undefined, group, [{ message: 'expected 1 to be 2' }]),
        ended('c [skipped: no strace]', 'skipped'),
        ended('d', 'skipped', 'no disk'),
        ended('e', 'skipped', 'no disk'),
      ]),
      ran('b.test.ts', [], [{ message: 'does not load' }]),
      ran('c.test.ts', [ended('f', 'passed'), ended('g', 'pending')]),
    ],
    [{ message: 'a worker', cause: { message: 'ended while it ran c.test.ts' } }],
  )

  test('counts a file that did not load as one failure, and likewise a file whose process ended', () => {
    expect(countTests(report)).toEqual({ passed: 2, failed: 4, skipped: 3 })
  })

  test('describes each failure by its file, its titles and its error', () => {
    expect(describeFailures(report)).toEqual([
      'a.test.ts > group > b\n  expected 1 to be 2',
      'b.test.ts\n  does not load',
      'c.test.ts\n  ended before a test had a result',
      'a worker: ended while it ran c.test.ts',
    ])
  })

  test('names a test by its groups', () => {
    expect(report.tests[0]).toEqual({ file: 'a.test.ts', titles: ['group', 'a'], outcome: 'passed' })
  })

  test('contains the reason of each skipped test', () => {
    expect(report.tests.map(({ skipReason }) => skipReason)).toEqual([undefined, undefined, 'no strace', 'no disk', 'no disk', undefined])
    expect(describeSkipped([report])).toEqual(['1 test: no strace', '2 tests: no disk'])
  })

  test('of an interrupted run contains the tests that had ended by then', () => {
    const lines = report.tests.map((test) => JSON.stringify(test)).join('\n')
    expect(toPartialReport(`${lines}\n{"file":"d.test.ts","titl`)).toEqual({ tests: report.tests, failures: [] })
  })
})
