/**
 * Reports which requirements have been shown. A requirement is shown by a passed test of the last whole `npm test` whose title, or whose group's title,
 * begins with its ID (`RV-12: …`, `RV-12, RV-13: …` or `RV-12…RV-14: …`). The runner fails a test
 * without assertions. A title that names more than four shows too little of each, and is refused.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, SetupError } from './bootstrap.mjs'
import { root } from './root.mjs'

const textLengthMax = 110
const idsInTitleMax = 4

/** The command: prints the report. Returns 1 if a title names too many IDs, or with `--strict` if a statement is not shown. */
export function main(args) {
  const options = parseOptions(args)
  const report = join(cacheFolder, 'test-report.json')
  if (!existsSync(report)) throw new SetupError('There is no test report yet: run npm test first.')
  const statements = parseStatements(readFileSync(join(root, 'docs/reference/requirements.md'), 'utf8'))
  // With separate services the same tests run again.
  const tests = JSON.parse(readFileSync(report, 'utf8')).tests.filter(({ mode }) => mode === undefined)
  const result = judge(statements, tests)
  const known = new Set(statements.map((statement) => statement.area))
  const strange = options.areas.filter((area) => !known.has(area))
  if (strange.length > 0) throw new SetupError(`Unknown area ${strange.join(', ')}: one of ${[...known].join(', ')} was expected.`)
  const selected = result.statements.filter(({ area }) => options.areas.length === 0 || options.areas.includes(area))
  process.stdout.write(`${print({ ...result, statements: selected })}\n`)
  if (result.crowded.length > 0) return 1
  const isMissing = selected.some(({ state }) => state === 'missing') || result.unknown.length > 0
  return options.isStrict && isMissing ? 1 : 0
}

/** The numbered statements of a requirements document, in order. `kind` marks statements that no server test can show. */
export function parseStatements(text) {
  return text.split('\n').flatMap((line) => {
    const match = /^- \*\*((?:[A-Z]+-)+\d+)\*\* (.*)$/.exec(line)
    if (match === null) return []
    const [, id, statement] = match
    const kind = /^\((policy|client|open)\b/.exec(statement)?.[1] ?? 'testable'
    const sameAs = [...statement.matchAll(/\(= ([^)]+)\)/g)].flatMap(([, ids]) => ids.split(/,\s*/))
    return [{ id, area: id.replace(/-\d+$/, ''), kind, sameAs, text: statement.replace(/ — \[[^\]]*\]$/, '') }]
  })
}

/** The IDs at the beginning of a title. */
export function idsOf(title) {
  const match = /^((?:[A-Z]+-)+\d+(?:(?:,\s*|\s+|\/|…)(?:[A-Z]+-)+\d+)*)\s*:/.exec(title)
  return match === null ? [] : match[1].split(/[,\s/]+/).flatMap(idsFromTo)
}

/** `RV-12…RV-14` includes the statements in between. */
function idsFromTo(text) {
  const [first, last] = text.split('…')
  if (last === undefined) return [first]
  const area = first.replace(/\d+$/, '')
  const digits = first.slice(area.length)
  const count = Number(last.replace(/^.*-/, '')) - Number(digits) + 1
  if (!last.startsWith(area) || !(count > 0)) return [first, last]
  return Array.from({ length: count }, (_, index) => `${area}${String(Number(digits) + index).padStart(digits.length, '0')}`)
}

/** Each statement with its state, with skipped tests, unknown IDs in titles, and titles with too many IDs. */
export function judge(statements, tests) {
  const byId = new Map(statements.map((statement) => [statement.id, statement]))
  const passed = new Set()
  const unknown = new Set()
  const crowded = new Set()
  for (const test of tests) {
    for (const title of test.titles) if (idsOf(title).length > idsInTitleMax) crowded.add(`${test.file} > ${title}`)
    for (const id of test.titles.flatMap(idsOf)) {
      if (!byId.has(id)) unknown.add(id)
      else if (test.outcome === 'passed') passed.add(id)
    }
  }
  for (const { id, sameAs } of statements) {
    const group = [id, ...sameAs.filter((other) => byId.has(other))]
    if (group.some((member) => passed.has(member))) for (const member of group) passed.add(member)
  }
  return {
    statements: statements.map((statement) => ({ ...statement, state: passed.has(statement.id) ? 'shown' : stateWithoutTest(statement) })),
    skipped: tests.filter((test) => test.outcome === 'skipped'),
    unknown: [...unknown].sort(),
    crowded: [...crowded].sort(),
  }
}

function stateWithoutTest({ kind }) {
  return kind === 'testable' ? 'missing' : 'apart'
}

function print({ statements, skipped, unknown, crowded }) {
  const missing = statements.filter(({ state }) => state === 'missing')
  const lines = missing.map(({ id, text }) => `${id}  ${shorten(text)}`)
  if (lines.length > 0) lines.unshift('Without a passing test:')
  if (skipped.length > 0) lines.push('', 'Skipped tests:')
  for (const { titles, skipReason } of skipped) lines.push(`${titles.join(' > ')}  (${skipReason ?? 'no reason given'})`)
  if (unknown.length > 0) lines.push('', `Titles name IDs that no requirement has: ${unknown.join(', ')}`)
  if (crowded.length > 0) lines.push('', `Titles name more than ${idsInTitleMax} requirements; divide these tests:`, ...crowded)
  const testable = statements.filter(({ kind }) => kind === 'testable')
  const shown = testable.filter(({ state }) => state === 'shown').length
  const apart = ['policy', 'client', 'open'].map((kind) => {
    const all = statements.filter((statement) => statement.kind === kind)
    return `${kind} ${all.filter(({ state }) => state === 'shown').length} of ${all.length}`
  })
  lines.push('', ...areaLines(testable), '', `${shown} of ${testable.length} shown; apart from these: ${apart.join(', ')}`)
  return lines.join('\n').trimStart()
}

function areaLines(testable) {
  const areas = [...new Set(testable.map(({ area }) => area))]
  return areas.map((area) => {
    const inArea = testable.filter((statement) => statement.area === area)
    return `${area.padEnd(12)} ${inArea.filter(({ state }) => state === 'shown').length} of ${inArea.length}`
  })
}

function shorten(text) {
  return text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax - 1)}…`
}

function parseOptions(args) {
  const options = { areas: [], isStrict: false }
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index]
    if (argument === '--strict') options.isStrict = true
    else if (argument === '--area' && args[index + 1] !== undefined) options.areas.push(...args[++index].split(','))
    else if (argument.startsWith('--area=')) options.areas.push(...argument.slice('--area='.length).split(','))
    else throw new SetupError(`Unknown option ${argument}: --area RV,WATCH or --strict was expected.`)
  }
  return options
}
